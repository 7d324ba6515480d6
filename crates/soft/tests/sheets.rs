//! Sheets against closed forms: plane stress, plates, what is conserved, and derivatives.

mod common;

use common::{noises, resultants, turn};
use pullback_kernel::gradcheck;
use pullback_kernel::prelude::*;
use pullback_soft::air::Air;
use pullback_soft::membrane::{minus_sheet_stress, sheet_density};
use pullback_soft::plate::{self, Neighbours};
use pullback_soft::{Plates, Triangles, bending, hinge, membrane, rest, vertex};

/// Plane stress of E = 1, ν = 0.3.
const MU: f64 = 1.0 / 2.6;
const LAMBDA: f64 = 0.3 / (1.0 - 0.09);

/// Small strains of a sheet are those of plane stress: P = 2 μ ε + λ tr ε, so that a strip pulled along x with free sides has the stress
/// E ε and gets narrower by ν ε; there is no stress at rest.
#[test]
fn small_strains_are_those_of_plane_stress() {
    let (x, y) = (vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0));
    let at_rest = minus_sheet_stress([x, y], MU, LAMBDA, 0.0);
    assert!(length(at_rest[0]) + length(at_rest[1]) < 1e-15, "{at_rest:?}");
    assert!(sheet_density([x, y], MU, LAMBDA, 0.0).abs() < 1e-15);
    let slope = |a: Vec3, b: Vec3| {
        let h = 1e-5;
        let at = |h: f64| minus_sheet_stress([x + a * h, y + b * h], MU, LAMBDA, 0.0);
        let (up, down) = (at(h), at(-h));
        [(down[0] - up[0]) * (0.5 / h), (down[1] - up[1]) * (0.5 / h)]
    };
    // Young's modulus and Poisson's ratio.
    let pulled = slope(vec3(1.0, 0.0, 0.0), vec3(0.0, -0.3, 0.0));
    assert!((pulled[0].x - 1.0).abs() < 1e-9 && length(pulled[1]) < 1e-9, "{pulled:?}");
    // Shear, and what leaves the plane: that is a turn.
    let sheared = slope(vec3(0.0, 0.3, 0.0), vec3(0.5, 0.0, 0.0));
    assert!((sheared[0].y - 0.8 * MU).abs() < 1e-9 && (sheared[1].x - 0.8 * MU).abs() < 1e-9, "{sheared:?}");
    let lifted = slope(vec3(0.0, 0.0, 1.0), vec3(0.0, 0.0, -0.4));
    assert!(length(lifted[0]) + length(lifted[1]) < 1e-9, "{lifted:?}");
}

struct Mesh {
    points: Vec<Vec3>,
    triangles: Vec<[usize; 3]>,
    /// At all inner edges.
    hinges: Vec<[usize; 4]>,
    /// The two triangles of each hinge.
    sides: Vec<[usize; 2]>,
}

/// A strip of `columns` × `rows` cells of `dx` × `dy` m, with a diagonal each.
fn strip([columns, rows]: [usize; 2], [dx, dy]: [f64; 2], lean: f64) -> Mesh {
    let at = |i: usize, j: usize| i + j * (columns + 1);
    let points = (0..(columns + 1) * (rows + 1)).map(|k| {
        let (i, j) = ((k % (columns + 1)) as f64, (k / (columns + 1)) as f64);
        vec3(dx * i + lean * dx * j, dy * j, 0.0)
    });
    let mut triangles = Vec::new();
    for k in 0..columns * rows {
        let (i, j) = (k % columns, k / columns);
        triangles.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
        triangles.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
    }
    let (hinges, sides) = hinges(&triangles);
    Mesh { points: points.collect(), triangles, hinges, sides }
}

/// The inner edges, each with the corners across from it, and the triangles of each.
fn hinges(triangles: &[[usize; 3]]) -> (Vec<[usize; 4]>, Vec<[usize; 2]>) {
    let edges = |(n, t): (usize, &[usize; 3])| [0, 1, 2].map(|i| (n, [0, 1, 2].map(|k| t[(i + k) % 3])));
    let all: Vec<(usize, [usize; 3])> = triangles.iter().enumerate().flat_map(edges).collect();
    let inner = all.iter().filter(|(_, e)| e[0] < e[1]);
    let other = |e: &[usize; 3]| all.iter().find(|(_, o)| o[0] == e[1] && o[1] == e[0]);
    let found = inner.filter_map(|(n, e)| other(e).map(|(m, o)| ([e[0], e[1], e[2], o[2]], [*n, *m])));
    found.unzip()
}

struct Sheet {
    w: Workspace<f64>,
    x: Buffer<Vec3>,
    v: Buffer<Vec3>,
    /// In the plane, of bending, in the plane and the air.
    forces: [Buffer<Vec3>; 3],
    /// In the plane, of bending.
    energies: [Buffer<f64>; 2],
    mass: Buffer<f64>,
}

const THICKNESS: f64 = 0.01;
const STIFFNESS: f64 = 0.02;

#[kernel]
fn both<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Vec3<R> {
    a + b
}

/// A sheet whose shape at rest, thickness, density and numbers are params; viscous if `damping` is not zero.
fn sheet(mesh: &Mesh, damping: f64) -> Sheet {
    let Mesh { points, triangles, hinges: edges, sides } = mesh;
    let n = points.len();
    let mut p = Program::builder();
    let (x, v) = (p.input::<Vec3>("x", n), p.input::<Vec3>("v", n));
    let at_rest = p.parameter::<Vec3>("points", n);
    let wind = p.parameter::<Vec3>("wind", 1);
    let names = ["mu", "lambda", "actuation", "viscosity", "thickness", "density", "drag", "lift"];
    let values = [MU, LAMBDA, 0.05, damping, THICKNESS, 2.0, 0.3, 0.2];
    let numbers = names.map(|name| p.parameter::<f64>(name, 1));
    let bend_names = ["stiffness", "bend", "damping"];
    let bend_values = [STIFFNESS, 0.0, damping];
    let bend_numbers = bend_names.map(|name| p.parameter::<f64>(name, 1));
    let corners = p.corners("triangles", triangles, n);
    let edge_corners = p.corners("hinges", edges, n);

    let (inverse_edges, area) = rest::triangles_at_rest(&mut p, "sheet", corners, at_rest);
    let (angle, weight) = rest::hinges_at_rest(&mut p, "hinges", edge_corners, at_rest);
    let mut each = |name: &str, number, count| rest::spread(&mut p, &format!("each {name}"), number, count);
    let spread: Vec<_> = names.iter().zip(numbers).map(|(name, b)| each(name, b, triangles.len())).collect();
    let bend: Vec<_> =
        bend_names.iter().zip(bend_numbers).map(|(name, b)| each(name, b, edges.len())).collect();
    let volume = rest::sheet_volumes(&mut p, "volume", area, spread[4]);
    let mass = rest::triangles_masses(&mut p, "mass", corners, (spread[5], volume), None);
    let (mu, lambda, actuation) = (spread[0], spread[1], spread[2]);
    let viscosity = (damping != 0.0).then_some(spread[3]);
    let vertices = vertex::vertices(&mut p, "vertices", x, v);
    let t = Triangles {
        corners,
        x,
        vertices,
        rest: inverse_edges,
        volume,
        mu,
        lambda,
        actuation,
        viscosity,
        air: None,
    };
    let (stiffness, actuation, damping) = (bend[0], bend[1], bend[2]);
    let neighbours = Neighbours::new(triangles, edges, sides);
    let plate_corners = p.corners("plates", neighbours.corners(), n);
    let hinges_of = neighbours.edges(&mut p, "hinges of triangles");
    let couplings = plate::couplings(
        &mut p,
        "couplings",
        (&neighbours, hinges_of),
        (corners, at_rest),
        (weight, stiffness),
    );
    let rest = plate::rest_angles(&mut p, "rest", hinges_of, (angle, actuation));
    let plates = Plates { corners: plate_corners, x, rest, couplings };
    let damping = hinge::weighted_damping(&mut p, "damped", damping, weight);
    let bent = bending::force(&mut p, "bent", &plates);
    let damped = hinge::damping(&mut p, "damping of hinges", (edge_corners, vertices), damping);
    let air = Air { wind, drag: spread[6], lift: spread[7] };
    let forces = [
        membrane::force(&mut p, "in plane", &t),
        p.map::<both>("bending", (bent.own(), damped.own())),
        membrane::force(&mut p, "in the air", &Triangles { air: Some(air), ..t }),
    ];
    let energies = [
        membrane::energy(&mut p, "energy in plane", &t),
        bending::energy(&mut p, "energy of bending", &plates),
    ];
    forces.into_iter().for_each(|f| p.output(f));
    energies.into_iter().for_each(|e| p.output(e));
    p.output(mass);
    let program = p.finish().expect("a program");
    let mut w = program.workspace::<f64>(RunOptions::default());
    w.write(x, points).expect("positions");
    w.write(at_rest, points).expect("points");
    w.write(wind, &[vec3(0.4, -0.3, 0.8)]).expect("wind");
    for (number, value) in numbers.into_iter().zip(values).chain(bend_numbers.into_iter().zip(bend_values)) {
        w.write(number, &[value]).expect("a number");
    }
    Sheet { w, x, v, forces, energies, mass }
}

/// A sheet that is bent to a cylinder about edges has the energy of a plate, ½ D κ² A: to rounding where its borders are in the
/// directions of the cylinder or across it, and where they lean, with a sixteenth less in the triangles there. The two outermost
/// columns have one hinge less.
#[test]
fn a_sheet_that_is_bent_to_a_cylinder_has_the_energy_of_a_plate() {
    let kappa = 0.5;
    let root = 3f64.sqrt() / 2.0;
    for (name, [dx, dy], lean, tolerance) in
        [("rectangles", [0.05, 0.08], 0.0, 1e-11), ("equilateral", [0.05, 0.05 * root], 0.5, 0.003)]
    {
        let mesh = strip([24, 16], [dx, dy], lean);
        let mut s = sheet(&mesh, 0.0);
        // Folds along y for rectangles; along x, the direction of an edge, for the leaning ones.
        let bent: Vec<Vec3> = mesh
            .points
            .iter()
            .map(|p| match lean == 0.0 {
                true => vec3((kappa * p.x).sin() / kappa, p.y, (1.0 - (kappa * p.x).cos()) / kappa),
                false => vec3(p.x, (kappa * p.y).sin() / kappa, (1.0 - (kappa * p.y).cos()) / kappa),
            })
            .collect();
        s.w.write(s.x, &bent).expect("positions");
        s.w.forward();
        let found = s.w.read(s.energies[1])[0];
        // Where there are hinges on both sides: one column, or row, less.
        let cells = if lean == 0.0 { 23.0 * 16.0 } else { 24.0 * 15.0 };
        let wanted = 0.5 * STIFFNESS * kappa * kappa * dx * dy * cells;
        println!("{name}: {:.1e} off", found / wanted - 1.0);
        assert!((found / wanted - 1.0).abs() < tolerance, "{name}: {found}, and not {wanted}");
    }
}

/// Where all diagonals have one direction, a sheet bends in every direction as a plate does, and twists as one: ½ D |κ|² A for the
/// curvatures κ of z = ½ x·κx. The error of the border goes with the size of cells, and is taken out by twice the fine less the coarse;
/// what is left is the square of slopes, 1e-9.
#[test]
fn a_sheet_bends_in_every_direction() {
    for sides in [[0.6, 0.6], [0.6, 0.25]] {
        for (name, [xx, xy, yy]) in [
            ("along x", [1.0, 0.0, 0.0]),
            ("along y", [0.0, 0.0, 1.0]),
            ("between", [0.3, 0.5, 0.7]),
            ("across diagonals", [0.5, 0.5, 0.5]),
            ("along diagonals", [0.5, -0.5, 0.5]),
            ("twisted", [0.0, 1.0, 0.0]),
            ("like a bowl", [1.0, 0.0, 1.0]),
        ] {
            let of = |cells: usize| {
                let mesh = strip([cells; 2], sides.map(|side| side / cells as f64), 0.0);
                let mut s = sheet(&mesh, 0.0);
                // So little that slopes are angles.
                let height = |p: &Vec3| 0.5e-4 * (xx * p.x * p.x + 2.0 * xy * p.x * p.y + yy * p.y * p.y);
                let bent: Vec<Vec3> = mesh.points.iter().map(|p| vec3(p.x, p.y, height(p))).collect();
                s.w.write(s.x, &bent).expect("positions");
                s.w.forward();
                s.w.read(s.energies[1])[0]
            };
            let found = 2.0 * of(16) - of(8);
            let wanted = 0.5e-8 * STIFFNESS * (xx * xx + 2.0 * xy * xy + yy * yy) * sides[0] * sides[1];
            println!("{name}, {sides:?}: {:.1e} off", found / wanted - 1.0);
            assert!((found / wanted - 1.0).abs() < 1e-7, "{name}: {found}, and not {wanted}");
        }
    }
}

/// A strip that is uneven at rest, and where it is moved to.
fn crumpled(cells: [usize; 2]) -> (Mesh, Vec<Vec3>) {
    let mut mesh = strip(cells, [0.4, 0.5], 0.2);
    mesh.points.iter_mut().enumerate().for_each(|(k, x)| *x = *x + noises(k) * 0.05);
    let moved = mesh.points.iter().enumerate().map(|(k, &x)| x + noises(k + 70) * 0.08).collect();
    (mesh, moved)
}

/// Forces are minus the gradients of energies, inner forces sum to nothing and so do their torques, a rigid motion is not damped, and a
/// turned sheet has turned forces.
#[test]
fn forces_are_inner_and_those_of_the_energy() {
    let (mesh, moved) = crumpled([3, 2]);
    let mut s = sheet(&mesh, 0.7);
    let q = turn(vec3(0.4, -0.3, 1.0), 1.9);
    let turned: Vec<Vec3> = moved.iter().map(|&x| q * x).collect();
    for part in [0, 1] {
        let mut forces = |x: &[Vec3], v: &[Vec3]| {
            s.w.write(s.x, x).expect("positions");
            s.w.write(s.v, v).expect("velocities");
            s.w.forward();
            (s.w.read(s.forces[part]), s.w.read(s.energies[part])[0])
        };
        let zeros = vec![Vec3::default(); moved.len()];
        let still = forces(&moved, &zeros);
        let rigid: Vec<Vec3> =
            moved.iter().map(|&x| cross(vec3(30.0, -20.0, 50.0), x) + vec3(9.0, 8.0, 7.0)).collect();
        let spun = forces(&moved, &rigid);
        let elsewhere = forces(&turned, &zeros);
        assert!(still.1 > 1e-6 && (still.1 - elsewhere.1).abs() < 1e-14, "{} {}", still.1, elsewhere.1);
        for ((a, b), c) in still.0.iter().zip(&spun.0).zip(&elsewhere.0) {
            assert!(length(*a - *b) < 1e-12, "{a:?}, and spun {b:?}");
            assert!(length(q * *a - *c) < 1e-13, "{a:?}, and turned {c:?}");
        }
        for k in 0..moved.len() {
            let at = |h: f64| {
                let mut shifted = moved.clone();
                shifted[k].z += h;
                shifted
            };
            let slope = (forces(&at(1e-5), &zeros).1 - forces(&at(-1e-5), &zeros).1) / 2e-5;
            assert!((slope + still.0[k].z).abs() < 1e-9, "{part}: {slope}, {:?}", still.0[k]);
        }
        let shaken: Vec<Vec3> = (0..moved.len()).map(|k| noises(k + 30)).collect();
        let damped = forces(&moved, &shaken);
        assert!(length(damped.0[5] - still.0[5]) > 1e-4, "it is damped");
        let (sum, torque) = resultants(&moved, &damped.0);
        assert!(length(sum) < 1e-13 && length(torque) < 1e-13, "{sum:?}, {torque:?}");
    }
    let area = 3.0 * 0.4 * 2.0 * 0.5;
    let mass: f64 = s.w.read(s.mass).iter().sum();
    assert!((mass / (2.0 * THICKNESS * area) - 1.0).abs() < 0.2, "{mass}");
}

/// All forces, energies and masses by positions, velocities, the shape at rest, thickness, density, wind and all numbers.
#[test]
fn gradients_of_programs() {
    let (mesh, moved) = crumpled([2, 1]);
    let mut s = sheet(&mesh, 0.7);
    s.w.write(s.x, &moved).expect("positions");
    s.w.write(s.v, &(0..6).map(|k| noises(k + 9)).collect::<Vec<_>>()).expect("velocities");
    s.w.forward();
    gradcheck::program(&s.w).expect("all derivatives");
}
