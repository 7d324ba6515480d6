//! Nothing is allocated while stepping: an allocator that counts for each thread.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{LAW, Random, contact, loose};
use pullback_collide::Law;
use pullback_kernel::prelude::*;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn nothing_is_allocated() {
    let surface = loose(60);
    let contact = contact(&surface, 20_000);
    let mut random = Random::seeded(15);
    let zero = vec![Vec3::default(); 180];
    let mut w = contact.world(&zero, &zero, Law { thickness: 0.3, ..LAW });
    // The first step makes room.
    w.forward();
    let mut pushed = 0;
    for _ in 0..20 {
        let x: Vec<Vec3> = (0..180).map(|_| random.vec3() * 2.0).collect();
        contact.write(&mut w, &x, &zero);
        w.seed(contact.force, &x).expect("a seed for each force");
        let before = ALLOCATIONS.get();
        w.forward();
        w.pullback();
        assert_eq!(ALLOCATIONS.get(), before);
        pushed += w.read(contact.force).iter().filter(|force| length(**force) > 0.0).count();
    }
    assert!(pushed > 1000, "{pushed}");
}
