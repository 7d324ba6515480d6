//! What a program knows of itself as a whole: which values depend on which, and all its values at once.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;

use crate::kernels::{advance, energy, spring, stretch};

const N: usize = 5;

/// Springs between points, a step, and two sums.
struct Whole {
    program: Program,
    x: Buffer<Vec3>,
    v: Buffer<Vec3>,
    k: Buffer<f64>,
    m: Buffer<f64>,
    g: Buffer<Vec3>,
    x_next: Buffer<Vec3>,
    v_next: Buffer<Vec3>,
    stored: Buffer<f64>,
    weight: Buffer<f64>,
}

fn whole() -> Whole {
    whole_of(Builder::parameter, Builder::parameter, Builder::parameter)
}

/// With stiffness, masses and gravity that are parameters, or given.
fn whole_of(
    k: fn(&mut Builder, &str, usize) -> Buffer<f64>,
    m: fn(&mut Builder, &str, usize) -> Buffer<f64>,
    g: fn(&mut Builder, &str, usize) -> Buffer<Vec3>,
) -> Whole {
    let mut p = Program::builder();
    let (x, v) = (p.input::<Vec3>("x", N), p.input::<Vec3>("v", N));
    let (k, m, g) = (k(&mut p, "k", 3), m(&mut p, "m", N), g(&mut p, "g", 1));
    let [c, rest, dt] =
        [("c", 0.3), ("rest", 0.2), ("dt", 0.1)].map(|(name, x)| p.constant::<f64>(name, &[x]));
    // Point 4 is alone.
    let ends = p.corners("ends", &[[0, 1], [1, 2], [0, 3]], N);
    let ports = (x.at(ends), v.at(ends), k.own(), c.shared(), rest.shared());
    let f = p.elements::<spring, Vec3, 2>("f", ends, ports);
    let (x_next, v_next) =
        p.map::<advance>("x next, v next", (x.own(), v.own(), f.own(), m.own(), dt.shared()));
    let stored = p.reduce::<stretch>("stored", (x.at(ends), k.own()));
    let weight = p.reduce::<energy>("weight", (x_next.own(), m.own(), g.shared()));
    for buffer in [x_next, v_next] {
        p.output(buffer);
    }
    p.output(stored);
    p.output(weight);
    Whole { program: p.finish().expect("a program"), x, v, k, m, g, x_next, v_next, stored, weight }
}

#[test]
fn what_depends_on_what() {
    let w = whole();
    let all: Vec<u32> = (0..N as u32).collect();
    let neighbours = [vec![0, 1, 3], vec![0, 1, 2], vec![1, 2], vec![0, 3], vec![4]];
    // A point's own, and through springs those of its neighbours.
    assert_eq!(w.program.dependence(w.v_next, w.v), neighbours);
    assert_eq!(w.program.dependence(w.v_next, w.x), neighbours);
    assert_eq!(w.program.dependence(w.v_next, w.k), [vec![0, 2], vec![0, 1], vec![1], vec![2], vec![]]);
    assert_eq!(w.program.dependence(w.v_next, w.m), [[0], [1], [2], [3], [4]]);
    assert_eq!(w.program.dependence(w.v_next, w.g), vec![Vec::<u32>::new(); N]);
    // A sum depends on all that it is of.
    assert_eq!(w.program.dependence(w.stored, w.x), [[0, 1, 2, 3]]);
    assert_eq!(w.program.dependence(w.weight, w.x), [all]);
    assert_eq!(w.program.dependence(w.weight, w.g), [[0]]);
    assert_eq!(w.program.dependence(w.x, w.x), [[0], [1], [2], [3], [4]]);
}

fn fill(w: &Whole, workspace: &mut Workspace<f64>, salt: f64) {
    let point = |i: usize| Vec3 { x: i as f64 + salt, y: (i * i) as f64 * 0.3, z: salt * salt };
    let points: Vec<Vec3> = (0..N).map(point).collect();
    workspace.write(w.x, &points).expect("x");
    workspace.write(w.v, &points.iter().rev().copied().collect::<Vec<_>>()).expect("v");
    workspace.write(w.k, &[10.0 + salt, 20.0, 30.0]).expect("k");
    workspace.write(w.m, &[1.0, 2.0, 0.5, 1.5, 3.0]).expect("m");
    workspace.write(w.g, &[Vec3 { x: 0.0, y: salt, z: -9.81 }]).expect("g");
}

fn pulled(w: &Whole, workspace: &mut Workspace<f64>) -> Vec<Vec<f64>> {
    workspace.clear_parameters();
    workspace.seed(w.x_next, &[Vec3::default(); N]).expect("seeds");
    workspace.seed(w.v_next, &[Vec3 { x: 1.0, y: -2.0, z: 0.5 }; N]).expect("seeds");
    workspace.seed(w.stored, &[0.7]).expect("seeds");
    workspace.seed(w.weight, &[-1.3]).expect("seeds");
    workspace.pullback();
    let last = workspace.worlds() - 1;
    let bars = [w.x.into(), w.v.into(), w.k.into(), w.m.into(), w.g.into()];
    bars.map(|b: pullback_kernel::program::BufferUse| workspace.bar_numbers(last, b).expect("bars")).to_vec()
}

#[test]
fn values_that_were_kept_are_pulled_back_through_without_a_forward_pass() {
    let w = whole();
    for worlds in [None, Some(3)] {
        let options = RunOptions::default();
        let mut workspace = match worlds {
            None => w.program.workspace::<f64>(options),
            Some(worlds) => w.program.batch::<f64>(worlds, options),
        };
        fill(&w, &mut workspace, 0.2);
        workspace.forward();
        let wanted = pulled(&w, &mut workspace);
        let mut kept = vec![0.0; workspace.values_len()];
        workspace.see_values(|at, values| kept[at..at + values.len()].copy_from_slice(values));
        fill(&w, &mut workspace, -0.9);
        workspace.forward();
        assert_ne!(pulled(&w, &mut workspace), wanted);
        // Parameters are not among what is kept; inputs, and what pullbacks read of what was computed, are.
        fill(&w, &mut workspace, 0.2);
        workspace.write(w.x, &[Vec3::default(); N]).expect("x");
        assert_ne!(pulled(&w, &mut workspace), wanted);
        workspace.bring_values(true, |at, values| values.copy_from_slice(&kept[at..at + values.len()]));
        assert_eq!(pulled(&w, &mut workspace), wanted);
    }
}

/// Which values pullbacks read: a sum reads none, a factor of what has a cotangent is read.
#[test]
fn what_pullbacks_read() {
    use crate::kernels::identity;
    assert_eq!(<identity as Kernel>::READS, [0]);
    // x and v are added to; f is read for m and dt, m for f, m and dt, dt for v, f and m, and v for dt alone.
    assert_eq!(<advance as Kernel>::READS, [0, 0b10000, 0b11000, 0b11100, 0b11110]);
    // A branch, or another kernel, may read everything that it is given.
    assert!(<spring as Kernel>::READS[..4].iter().all(|reads| *reads > 0));
    assert!(<crate::kernels::law as Kernel>::READS.iter().all(|reads| *reads == u32::MAX));
}

/// What nobody asks for changes nothing else, and stays zero: own values of elements, and shared ones.
#[test]
fn nothing_is_computed_for_the_cotangent_of_what_is_given() {
    let wholes = [
        (whole(), vec![]),
        (whole_of(Builder::given, Builder::parameter, Builder::parameter), vec![2]),
        (whole_of(Builder::parameter, Builder::given, Builder::given), vec![3, 4]),
    ];
    for worlds in [None, Some(3)] {
        let pulled = wholes.each_ref().map(|(w, muted)| {
            let options = RunOptions::default();
            let mut workspace = match worlds {
                None => w.program.workspace::<f64>(options),
                Some(worlds) => w.program.batch::<f64>(worlds, options),
            };
            fill(w, &mut workspace, 0.2);
            workspace.forward();
            (pulled(w, &mut workspace), muted)
        });
        let [(all, _), given @ ..] = &pulled;
        for (bars, muted) in given {
            for (i, (found, wanted)) in bars.iter().zip(all).enumerate() {
                assert!(wanted.iter().any(|x| *x != 0.0), "bars {i}");
                match muted.contains(&i) {
                    true => assert!(found.iter().all(|x| *x == 0.0), "bars {i}: {found:?}"),
                    false => assert_eq!(found, wanted, "bars {i}"),
                }
            }
        }
    }
}

#[test]
fn numbers_into_memory_of_the_caller() {
    let w = whole();
    let mut workspace = w.program.workspace::<f64>(RunOptions::default());
    fill(&w, &mut workspace, 0.4);
    let mut numbers = [0.0; 3 * N];
    workspace.read_numbers_into(0, w.x, &mut numbers).expect("as many as there are");
    assert_eq!(numbers.to_vec(), workspace.read_numbers(0, w.x).expect("x"));
    assert_eq!((numbers[3], numbers[4]), (1.4, 0.3));
    assert!(workspace.read_numbers_into(0, w.x, &mut numbers[1..]).is_err());
    assert!(workspace.bar_numbers_into(1, w.x, &mut numbers).is_err());
}

#[kernel]
fn doubled<R: Real>(x: Vec3<R>) -> Vec3<R> {
    x + x
}

#[kernel]
fn doubled_corner<R: Real>(x: [Vec3<R>; 1]) -> Vec3<R> {
    x[0] + x[0]
}

/// Numbers come out as they were put in, in whatever layout a buffer lies: in rows, blocks or beside those of other worlds, of which 32 have
/// the numbers of a row of blocks.
#[test]
fn numbers_of_vectors_in_every_layout() {
    for (count, gathered) in [(1, false), (31, false), (32, true), (33, false), (100, true), (100, false)] {
        let mut p = Program::builder();
        let x = p.input::<Vec3>("x", count);
        let out = match gathered {
            true => {
                let all: Vec<[usize; 1]> = (0..count).map(|i| [i]).collect();
                let all = p.corners("all", &all, count);
                p.map::<doubled_corner>("out", (x.at(all),))
            }
            false => p.map::<doubled>("out", (x.own(),)),
        };
        p.output(out);
        let program = p.finish().expect("a program");
        for worlds in [1, 3, 32, 64] {
            let mut workspace = match worlds {
                1 => program.workspace::<f64>(RunOptions::default()),
                n => program.batch::<f64>(n, RunOptions::default()),
            };
            let numbers = |world: usize| (0..3 * count).map(move |i| (1000 * world + i) as f64);
            for world in 0..worlds {
                workspace.write_numbers(world, x, &numbers(world).collect::<Vec<_>>()).expect("numbers");
            }
            workspace.forward();
            for world in 0..worlds {
                let found = workspace.read_numbers(world, out).expect("numbers");
                let vectors = workspace.read_in(world, out).expect("vectors");
                let typed = vectors.into_iter().flat_map(|Vec3 { x, y, z }| [x, y, z]);
                assert!(found.iter().copied().eq(numbers(world).map(|x| 2.0 * x)), "{count}, {worlds}");
                assert!(found.into_iter().eq(typed), "{count}, {worlds}");
            }
        }
    }
}
