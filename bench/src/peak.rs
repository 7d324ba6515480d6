//! An allocator that weighs, for binaries that say how much memory something takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, and how many bytes are in use. A binary makes it its `#[global_allocator]`.
pub struct Weighing;

/// How many bytes are in use now, by all threads.
#[must_use]
pub fn live() -> usize {
    LIVE.load(Relaxed)
}

/// The most bytes that were in use at once since the last [`restart`].
#[must_use]
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// From now on, [`peak`] is the most from now on.
pub fn restart() {
    PEAK.store(live(), Relaxed);
}

fn more(bytes: usize) {
    PEAK.fetch_max(LIVE.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

fn less(bytes: usize) {
    LIVE.fetch_sub(bytes, Relaxed);
}

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Weighing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while it moves.
        more(size);
        less(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        less(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}
