//! Nothing is allocated by detection, contacts and pullbacks: an allocator that counts for each thread.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Random, ground_state, grounds, solids, state};
use pullback_geometry::{Bounds, Broad, Contact, Feature, Kind, Pair};
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
    let mut kinds: Vec<(Kind, Vec<f64>)> = grounds().into();
    kinds.extend(solids().into_iter().chain([Kind::Plane]).map(|kind| (kind, Vec::new())));
    let mut random = Random::seeded(1);
    let mut touched = 0;
    for (a, _) in &kinds {
        for (b, ground) in &kinds {
            let Some(pair) = Pair::new(a, b) else { continue };
            if matches!(a, Kind::Heights(_) | Kind::Surface(_)) {
                continue;
            }
            for _ in 0..50 {
                let [x, y] = if ground.is_empty() {
                    state([a, b], &mut random)
                } else {
                    ground_state(a, ground, &mut random)
                };
                let zero = Pose { rotation: Mat3::default(), position: Vec3::default() };
                let (mut x_bar, mut y_bar) = (vec![0.0; x.sizes.len()], vec![0.0; y.sizes.len()]);
                let (mut x_pose, mut y_pose) = (zero, zero);
                let mut features = [Feature(0, 0); 8];
                let before = ALLOCATIONS.get();
                let count = pair.detect(x.at(), y.at(), 0.1, &mut features);
                for &feature in &features[..count] {
                    let contact: Contact = pair.contact(feature, x.at(), y.at());
                    let into = ((&mut x_pose, &mut x_bar[..]), (&mut y_pose, &mut y_bar[..]));
                    pair.pullback(feature, x.at(), y.at(), &contact, into.0, into.1);
                }
                assert_eq!(ALLOCATIONS.get(), before, "{}-{}", a.name(), b.name());
                touched += count;
            }
        }
    }
    assert!(touched > 1000);
}

#[test]
fn the_broad_phase_allocates_no_more_than_it_reserved() {
    let mut random = Random::seeded(6);
    let count = 500;
    let mut broad = Broad::new(count, 20 * count);
    let mut boxes = vec![Bounds::NONE; count];
    for step in 0..30 {
        for bounds in &mut boxes {
            let at = [random.next(), random.next(), random.next()];
            bounds.low = at.map(|x| 5.0 * x);
            bounds.high = bounds.low.map(|x| x + 1.0);
        }
        boxes[step].high[2] = f64::INFINITY;
        let before = ALLOCATIONS.get();
        let found = broad.pairs(&boxes, |_, _| true).len();
        assert_eq!(ALLOCATIONS.get(), before);
        assert!(found > 100, "{found}");
    }
}
