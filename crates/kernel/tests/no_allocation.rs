//! Nothing is allocated after a workspace is made: a counting allocator, in a process of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, Operation, World};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[kernel]
fn pull<R: Real>(x: [R; 2], k: R) -> [R; 2] {
    let f = k * (x[1] - x[0]);
    [f, -f]
}
#[kernel]
fn advance<R: Real>(x: R, f: R, g: R, above: R, dt: R) -> R {
    x + (f + g + above) * dt
}
#[kernel]
fn under<R: Real>(parent: R, x: R) -> R {
    0.5 * parent + x * x
}
#[kernel]
fn square<R: Real>(x: R) -> R {
    x * x
}

/// y = 2 x
struct Twice {
    x: Buffer<f64>,
    y: Buffer<f64>,
    n: usize,
}

impl Operation for Twice {
    fn name(&self) -> String {
        "twice".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.x.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.y.into()]
    }
    fn scratch(&self) -> usize {
        1
    }
    fn forward<S: Lane>(&self, world: &mut World<'_, S>) {
        for i in 0..self.n {
            let x = world.get(self.x, i);
            world.set(self.y, i, x + x);
        }
    }
    fn pullback<S: Lane>(&self, world: &mut World<'_, S>) {
        for i in 0..self.n {
            let bar = world.bar(self.y, i);
            world.add_bar(self.x, i, bar + bar);
        }
    }
}

// One test alone: another one would allocate at the same time.
#[test]
fn nothing_is_allocated_after_building() {
    let n = 700;
    let mut p = Program::builder();
    let x = p.input::<f64>("x", n);
    let k = p.parameter::<f64>("k", n);
    let dt = p.parameter::<f64>("dt", 1);
    let root = p.input::<f64>("root", 1);
    let table = p.corners("springs", &(0..n).map(|i| [i, (i + 1) % n]).collect::<Vec<_>>(), n);
    let contacts = p.list::<2>("contacts", n, n);
    let f = p.elements::<pull, _, 2>("f", table, (x.at(table), k.own()));
    let g = p.pairs::<pull, _, 2>("g", contacts, (x.at(contacts.corners()), k.own()));
    let tree = p.tree("tree", &(0..n).map(|i| (i > 0).then_some(i / 600)).collect::<Vec<_>>());
    let below = p.tree_down::<under, _>("below", tree, root, (x.own(),));
    let above = p.tree_up::<under, _>("above", tree, (below.own(),));
    let twice = p.computed::<f64>("twice", n);
    p.operation(Twice { x: above, y: twice, n });
    let x1 = p.map::<advance>("x1", (x.own(), f.own(), g.own(), twice.own(), dt.shared()));
    let energy = p.reduce::<square>("energy", (x1.own(),));
    p.carry(x, x1);
    p.output(energy);
    let program = p.finish().expect("a program");

    let values: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let pairs: Vec<[u32; 2]> = (0..n as u32).map(|i| [i, i * i % n as u32]).collect();
    for (threads, worlds) in [(1, None), (2, None), (1, Some(19)), (2, Some(19))] {
        let options = RunOptions { threads, ..RunOptions::default() };
        let mut workspace = match worlds {
            None => program.workspace::<f64>(options),
            Some(worlds) => program.batch::<f64>(worlds, options),
        };
        let mut states = vec![vec![0.0; workspace.state_len()]; 3];
        // Threads allocate when they start, which may be after the workspace was made.
        workspace.forward();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for world in 0..workspace.worlds() {
            workspace.write_in(world, x, &values).expect("x");
            workspace.write_in(world, k, &values).expect("k");
            workspace.write_in(world, dt, &[0.01]).expect("dt");
            workspace.write_in(world, root, &[0.3]).expect("root");
        }
        for (step, state) in states.iter_mut().enumerate() {
            for world in 0..workspace.worlds() {
                workspace.set_list(world, contacts, &pairs[..n / (step + 1 + world)]).expect("a list");
            }
            workspace.save_state(state).expect("a state");
            workspace.forward();
            workspace.carry();
        }
        workspace.clear_parameters();
        for state in states.iter().rev() {
            workspace.load_state(state).expect("a state");
            workspace.forward();
            for world in 0..workspace.worlds() {
                workspace.seed_in(world, energy, &[1.0]).expect("energy");
            }
            workspace.pullback();
            workspace.carry_back();
        }
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert_eq!(allocations, 0, "{threads} threads, {worlds:?} worlds");
        // It did something.
        assert!(workspace.bars(k).iter().any(|k| k.abs() > 1e-6));
    }
}
