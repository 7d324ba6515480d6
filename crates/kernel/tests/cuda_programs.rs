//! A program with every pattern, on a GPU against the CPU. Without a GPU its CUDA text is compiled all the same.

use pullback_kernel::cuda::{Compile, Device, Target, check, compile};
use pullback_kernel::prelude::*;
use pullback_kernel::program::{DeviceFloat, DeviceWorkspace, List};

#[derive(Clone, Copy, Debug, Kind)]
enum Shape {
    Soft,
    Stiff,
}

/// A spring that hardens with its stretch, if it is of the stiff kind.
#[kernel]
fn spring<R: Real>(x: [Vec3<R>; 2], v: [Vec3<R>; 2], kind: Shape, k: R, damping: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let n = normalize(d);
    let stretch = length(d) - 0.5;
    let pull = match kind {
        Shape::Soft => k * stretch,
        Shape::Stiff => k * stretch * (1.0 + stretch * stretch),
    };
    let f = n * (pull + damping * dot(v[1] - v[0], n));
    [f, -f]
}

/// Two points that are too close push each other apart.
#[kernel]
fn contact<R: Real>(x: [Vec3<R>; 2], k: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let gap = length(d) - 0.8;
    let mut f = vec3(0.0, 0.0, 0.0);
    if gap < 0.0 {
        f = normalize(d) * (k * gap);
    }
    [f, -f]
}

/// A child is turned and shifted from its parent.
#[kernel]
fn below<R: Real>(parent: Vec3<R>, own: Vec3<R>, angle: R) -> Vec3<R> {
    parent + vec3(cos(angle) * own.x - sin(angle) * own.y, sin(angle) * own.x + cos(angle) * own.y, own.z)
}

/// What a subtree pulls with.
#[kernel]
fn above<R: Real>(children: Vec3<R>, own: Vec3<R>, angle: R) -> Vec3<R> {
    own * angle + cross(own, children) * 0.1 + children
}

#[kernel]
fn advance<R: Real>(x: Vec3<R>, v: Vec3<R>, f: Vec3<R>, g: Vec3<R>, a: Vec3<R>, dt: R) -> (Vec3<R>, Vec3<R>) {
    let v_next = v + (f + g + a) * dt;
    (x + v_next * dt, v_next)
}

#[kernel]
fn energy<R: Real>(x: Vec3<R>, v: Vec3<R>, m: R) -> R {
    0.5 * m * dot(v, v) + m * x.z
}

struct Everything {
    program: Program,
    x: Buffer<Vec3>,
    v: Buffer<Vec3>,
    angle: Buffer<f64>,
    root: Buffer<Vec3>,
    stiffness: Buffer<f64>,
    damping: Buffer<f64>,
    mass: Buffer<f64>,
    contacts: List<2>,
    x_next: Buffer<Vec3>,
    v_next: Buffer<Vec3>,
    energy: Buffer<f64>,
    n: usize,
}

fn everything(n: usize) -> Everything {
    let mut p = Program::builder();
    let (x, v) = (p.input::<Vec3>("x", n), p.input::<Vec3>("v", n));
    let (angle, root) = (p.input::<f64>("angle", n), p.input::<Vec3>("root", 1));
    let stiffness = p.parameter::<f64>("stiffness", n - 1);
    let (damping, mass) = (p.parameter::<f64>("damping", 1), p.parameter::<f64>("mass", 1));
    let dt = p.constant::<f64>("dt", &[0.01]);
    let springs: Vec<[usize; 2]> = (0..n - 1).map(|i| [i, (i * 7 + 1) % n]).collect();
    let springs = p.corners("springs", &springs, n);
    let kinds: Vec<Shape> = (0..n - 1).map(|i| if i % 3 == 0 { Shape::Stiff } else { Shape::Soft }).collect();
    let kinds = p.indices(&kinds);
    let contacts = p.list::<2>("contacts", n + 4, n);
    let parents: Vec<Option<usize>> = (0..n).map(|i| (i % 50 != 0).then(|| i - 1 - (i % 50) / 7)).collect();
    let tree = p.tree("tree", &parents);

    let chain = p.tree_down::<below, _>("chain", tree, root, (x.own(), angle.own()));
    let weight = p.tree_up::<above, _>("weight", tree, (chain.own(), angle.own()));
    let f = p.elements::<spring, Vec3, 2>(
        "f",
        springs,
        (x.at(springs), v.at(springs), kinds.own(), stiffness.own(), damping.shared()),
    );
    let g = p.pairs::<contact, Vec3, 2>("g", contacts, (x.at(contacts.corners()), mass.shared()));
    let (x_next, v_next) =
        p.map::<advance>("x next, v next", (x.own(), v.own(), f.own(), g.own(), weight.own(), dt.shared()));
    let energy = p.reduce::<energy>("energy", (x_next.own(), v_next.own(), mass.shared()));
    p.carry(x, x_next);
    p.carry(v, v_next);
    p.output(energy);
    let program = p.finish().expect("a right program");
    Everything { program, x, v, angle, root, stiffness, damping, mass, contacts, x_next, v_next, energy, n }
}

fn number<S: Float>(i: usize, k: usize, world: usize) -> S {
    S::from_f64((0.37 * i as f64 + 1.7 * k as f64 + 0.11 * world as f64).sin())
}

fn vector<S: Float>(i: usize, k: usize, world: usize) -> Vec3<S> {
    Vec3 { x: number(3 * i, k, world), y: number(3 * i + 1, k, world), z: number(3 * i + 2, k, world) }
}

type Answer = Vec<f64>;

fn vectors<S: Float>(values: &[Vec3<S>]) -> Answer {
    values.iter().flat_map(|v| [v.x.to_f64(), v.y.to_f64(), v.z.to_f64()]).collect()
}

fn contacts(n: usize, world: usize) -> Vec<[u32; 2]> {
    (0..n / 2 + world)
        .map(|i| [(i % n) as u32, ((i * 3 + 2 + world) % n) as u32])
        .filter(|[a, b]| a != b)
        .collect()
}

/// Every result and every gradient on the CPU, world by world.
fn on_cpu<S: DeviceFloat>(e: &Everything, worlds: usize, steps: usize) -> Vec<Vec<Answer>> {
    (0..worlds)
        .map(|world| {
            let mut w = e.program.workspace::<S>(RunOptions::default());
            let many = |k| (0..e.n).map(|i| vector::<S>(i, k, world)).collect::<Vec<_>>();
            let few = |k, n| (0..n).map(|i| number::<S>(i, k, world)).collect::<Vec<_>>();
            w.write(e.x, &many(0)).expect("x");
            w.write(e.v, &many(1)).expect("v");
            w.write(e.angle, &few(2, e.n)).expect("angle");
            w.write(e.root, &[vector(0, 3, world)]).expect("root");
            w.write(e.stiffness, &few(4, e.n - 1)).expect("stiffness");
            w.write(e.damping, &few(5, 1)).expect("damping");
            w.write(e.mass, &few(6, 1)).expect("mass");
            w.set_list(0, e.contacts, &contacts(e.n, world)).expect("contacts");
            for step in 0..steps {
                if step > 0 {
                    w.carry();
                }
                w.forward();
            }
            for _ in 0..2 {
                w.seed(e.x_next, &many(7)).expect("seed");
                w.seed(e.v_next, &many(8)).expect("seed");
                w.seed(e.energy, &[S::from_f64(0.7)]).expect("seed");
                w.pullback();
            }
            let flat = |values: Vec<S>| values.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
            vec![
                vectors(&w.read(e.x_next)),
                vectors(&w.read(e.v_next)),
                flat(w.read(e.energy)),
                vectors(&w.bars(e.x)),
                vectors(&w.bars(e.v)),
                flat(w.bars(e.angle)),
                vectors(&w.bars(e.root)),
                flat(w.bars(e.stiffness)),
                flat(w.bars(e.damping)),
                flat(w.bars(e.mass)),
            ]
        })
        .collect()
}

fn on_gpu<S: DeviceFloat>(
    e: &Everything,
    w: &mut DeviceWorkspace<S>,
    worlds: usize,
    steps: usize,
) -> Vec<Vec<Answer>> {
    let many = |k, world| (0..e.n).map(|i| vector::<S>(i, k, world)).collect::<Vec<_>>();
    let few = |k, n, world| (0..n).map(|i| number::<S>(i, k, world)).collect::<Vec<_>>();
    for world in 0..worlds {
        w.write(world, e.x, &many(0, world)).expect("x");
        w.write(world, e.v, &many(1, world)).expect("v");
        w.write(world, e.angle, &few(2, e.n, world)).expect("angle");
        w.write(world, e.root, &[vector(0, 3, world)]).expect("root");
        w.write(world, e.stiffness, &few(4, e.n - 1, world)).expect("stiffness");
        w.write(world, e.damping, &few(5, 1, world)).expect("damping");
        w.write(world, e.mass, &few(6, 1, world)).expect("mass");
        w.set_list(world, e.contacts, &contacts(e.n, world)).expect("contacts");
    }
    for step in 0..steps {
        if step > 0 {
            w.carry().expect("carry");
        }
        w.forward().expect("forward");
    }
    w.clear_parameters().expect("clear");
    for _ in 0..2 {
        for world in 0..worlds {
            w.seed(world, e.x_next, &many(7, world)).expect("seed");
            w.seed(world, e.v_next, &many(8, world)).expect("seed");
            w.seed(world, e.energy, &[S::from_f64(0.7)]).expect("seed");
        }
        w.pullback().expect("pullback");
    }
    let flat = |values: Vec<S>| values.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    (0..worlds)
        .map(|world| {
            vec![
                vectors(&w.read(world, e.x_next).expect("read")),
                vectors(&w.read(world, e.v_next).expect("read")),
                flat(w.read(world, e.energy).expect("read")),
                vectors(&w.bars(world, e.x).expect("read")),
                vectors(&w.bars(world, e.v).expect("read")),
                flat(w.bars(world, e.angle).expect("read")),
                vectors(&w.bars(world, e.root).expect("read")),
                flat(w.bars(world, e.stiffness).expect("read")),
                flat(w.bars(world, e.damping).expect("read")),
                flat(w.bars(world, e.mass).expect("read")),
            ]
        })
        .collect()
}

/// The largest difference relative to the largest number of the same array.
fn distance(a: &[Vec<Answer>], b: &[Vec<Answer>]) -> f64 {
    let mut worst: f64 = 0.0;
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert_eq!(a.len(), b.len());
        let scale = a.iter().fold(1e-30, |s: f64, x| s.max(x.abs()));
        for (x, y) in a.iter().zip(b) {
            assert!(x.is_finite() && y.is_finite());
            worst = worst.max((x - y).abs() / scale);
        }
    }
    worst
}

/// The first GPU, if there is one.
fn gpu() -> Option<std::sync::Arc<Device>> {
    Device::new(0).map_err(|error| println!("no GPU, not tested there: {error}")).ok()
}

fn compare<S: DeviceFloat>(e: &Everything, worlds: Option<usize>, tolerance: f64) {
    let Some(device) = gpu() else { return };
    let options = Compile { fmad: false, ..Compile::default() };
    let mut w = DeviceWorkspace::<S>::new(&e.program, &device, worlds, &options, RunOptions::default())
        .expect("on the device");
    let (seconds, cached) = w.compiled();
    let count = worlds.unwrap_or(1);
    let (cpu, gpu) = (on_cpu::<S>(e, count, 3), on_gpu::<S>(e, &mut w, count, 3));
    let (name, far) = (S::C_NAME, distance(&cpu, &gpu));
    println!(
        "| every pattern, {name}, {worlds:?} worlds, {} nodes | {far:.1e} | {seconds:.2} s, cached {cached} |",
        e.n
    );
    assert!(far <= tolerance, "{name}, {worlds:?} worlds, {} nodes: {far:.1e}", e.n);
    // The same bits again.
    assert!(gpu == on_gpu::<S>(e, &mut w, count, 3));
}

#[test]
fn every_pattern_on_the_gpu_is_as_on_the_cpu() {
    for n in [2, 33, 1000, 5000] {
        let e = everything(n);
        compare::<f64>(&e, None, 1e-12);
        compare::<f32>(&e, None, 1e-5);
        if n <= 1000 {
            compare::<f64>(&e, Some(5), 1e-12);
            compare::<f32>(&e, Some(5), 1e-5);
        }
    }
}

#[test]
fn device_memory_does_not_grow() {
    let Some(device) = gpu() else { return };
    let e = everything(1000);
    let mut w = e.program.on_device::<f32>(&device).expect("on the device");
    on_gpu::<f32>(&e, &mut w, 1, 1);
    let run = |steps: usize| {
        for _ in 0..steps {
            w.forward().expect("forward");
            w.pullback().expect("pullback");
            w.carry().expect("carry");
            w.carry_back().expect("carry back");
        }
        device.synchronize().expect("done");
        device.free_memory().expect("free memory")
    };
    let before = run(100);
    let after = run(10_000);
    println!("| free device memory before and after 10,000 steps | {before} | {after} |");
    assert_eq!(before, after);
}

#[test]
fn the_text_compiles_without_a_gpu() {
    if std::env::var_os("PULLBACK_NVRTC_DIR").is_none() {
        assert!(std::env::var_os("CI").is_none(), "`cargo xtask test` sets PULLBACK_NVRTC_DIR");
        return println!("PULLBACK_NVRTC_DIR is not set: not compiled");
    }
    let e = everything(100);
    for worlds in [None, Some(3)] {
        for source in [e.program.cuda_source::<f32>(worlds), e.program.cuda_source::<f64>(worlds)] {
            let source = source.expect("no operation by hand");
            let image = compile(&source, Target::Cubin(90), &Compile::default());
            assert!(!image.expect("it compiles").bytes().is_empty());
        }
    }
}

#[test]
fn the_text_of_these_kernels_is_right() {
    println!("{}", check::all().expect("the kernels' CUDA text"));
}
