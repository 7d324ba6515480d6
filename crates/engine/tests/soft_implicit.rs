//! Soft bodies in implicit steps: equilibria and their derivatives, frequencies, and what is stiff.
//!
//! One step of backward Euler that is much longer than the slowest period finds a static equilibrium, z = dt a: but for M/dt², which is
//! nothing beside the stiffness. Its pullback is the derivative of that equilibrium.

use faer::{Mat, Side};
use pullback_engine::rollout::{Bars, Gradient, Loss, Moment};
use pullback_engine::{Integrator, Model, Options, Params, Rollout, Scheme, Start, State, Step};
use pullback_scene::soft::{Diagonals, SheetMesh, SolidMesh};
use pullback_scene::{AppliedForce, Elastic, Scene, Sheet, Solid, World};

/// The weighed sum of numbers of the last state.
struct Weighed(Vec<(usize, f64)>);

impl Loss for Weighed {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { self.0.iter().map(|(i, weight)| weight * moment.state[*i]).sum() } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            self.0.iter().for_each(|(i, weight)| bars.state[*i] += weight);
        }
    }
}

/// The exponent p and the limit of three values with errors c rᵖ, where the size of elements is divided by r from one to the next.
fn richardson([coarse, middle, fine]: [f64; 3], r: f64) -> (f64, f64) {
    let ratio = (middle - coarse) / (fine - middle);
    (ratio.ln() / r.ln(), fine + (fine - middle) / (ratio - 1.0))
}

fn still() -> Scene {
    Scene { world: World { gravity: [0.0; 3], ..World::default() }, ..Scene::default() }
}

const YOUNG: f64 = 1e6;
const POISSON: f64 = 0.3;

/// A beam of 1 × 0.1 × 0.1 m along x, of cubes with so many across, held at x = 0. The points at its end come with it.
fn cantilever(across: usize) -> (Scene, Vec<u32>) {
    let mesh = SolidMesh::beam(1.0, 0.1, 0.1, [10 * across, across, across]).expect("a beam");
    let plane = |x: f64| mesh.points_near_plane([x, 0.0, 0.0], [1.0, 0.0, 0.0], 1e-9).expect("an end");
    let beam = Solid::new("beam", &mesh, Elastic::of_young(YOUNG, POISSON).expect("matter"), 1000.0);
    let points = beam.points().fix_points(&plane(0.0));
    let mut scene = still();
    scene.add_solid(beam, points);
    (scene, plane(1.0))
}

/// How far a load at the end [N] moves it, by a static step, with the derivatives.
fn bend(across: usize, load: f64) -> (f64, Gradient, Model) {
    let (mut scene, end) = cantilever(across);
    let part = 1.0 / end.len() as f64;
    let on = end.iter().map(|&i| i as usize).collect();
    scene.forces = vec![AppliedForce::constant("load", on, [0.0, 0.0, -load * part])];
    let model = Model::new(&scene).expect("a scene that makes sense");
    // ω₁ dt = 3e4: inertia is 1e-9 of the stiffness, and nothing after the second step.
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1e4)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(2)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let tip = Weighed(end.iter().map(|&i| (3 * i as usize + 2, part)).collect());
    let gradient = rollout.gradient(&Start::new(&state, &[], &params), &tip).expect("a gradient").clone();
    let at_rest: f64 = end.iter().map(|&i| part * state.values()[3 * i as usize + 2]).sum();
    (at_rest - gradient.value(), gradient, model)
}

/// P L³/(3 E I) of Euler and Bernoulli, and P L/(k G A) of Timoshenko's shear.
///
/// Tetrahedra of constant strain cannot bend without shear: that adds to the energy, and so to the stiffness P/δ, in proportion to the
/// square of their size. It is the stiffness that is extrapolated; with 1, 2 and 4 elements across it is 4.6, 2.0 and 1.27 times that of
/// the beam. Beyond Timoshenko's, a clamped end that cannot become thinner makes a solid beam stiffer by some 0.3 %.
#[test]
fn a_cantilever_under_a_load() {
    let wanted = 4.0e-4 + 3.12e-6;
    let bent = [1, 2, 4].map(|across| bend(across, 0.01));
    let tips = [0, 1, 2].map(|i: usize| bent[i].0);
    let (order, stiffness) = richardson(tips.map(|tip| 0.01 / tip), 2.0);
    let limit = 0.01 / stiffness;
    println!("cantilever: {tips:.6?}, order {order:.2}, limit {limit:.4e}: {:+.4}", limit / wanted - 1.0);
    assert!(tips[0] < tips[1] && tips[1] < tips[2] && tips[2] < wanted, "{tips:?}");
    assert!((1.7..2.1).contains(&order), "order {order}");
    assert!((limit / wanted - 1.0).abs() < 0.01, "{limit}, and not {wanted}");
    // The derivative of the closed form, -w/E, as the mesh is refined.
    let slopes = [0, 1, 2].map(|i: usize| by_young(&bent[i].1, &bent[i].2));
    let (order, per) = richardson(slopes.map(|slope| -1.0 / slope), 2.0);
    let (slope, wanted) = (-1.0 / per, -wanted / YOUNG);
    println!("d(tip)/dE: {slopes:?}, order {order:.2}, limit {slope:.4e}: {:+.4}", slope / wanted - 1.0);
    assert!((1.7..2.1).contains(&order) && (slope / wanted - 1.0).abs() < 0.01, "{slope}, and not {wanted}");
}

/// By Young's modulus, to which μ and λ are in proportion.
fn by_young(gradient: &Gradient, model: &Model) -> f64 {
    let (by, params) = (gradient.params(0).expect("names"), model.params());
    let part = |name: &str| by.number(name).expect("a param") * params.number(name).expect("a param");
    -(part("beam.mu") + part("beam.lambda")) / YOUNG
}

/// By Young's modulus (μ and λ are in proportion to it) and by the load. That of a beam is in proportion to P/E: exactly for any strain as a
/// function of P/E, and linearly but for the strain, 1e-7 here.
#[test]
fn derivatives_of_a_cantilever() {
    let load = 1e-5;
    let (tip, gradient, model) = bend(2, load);
    let params = gradient.params(0).expect("names");
    let of = |name: &str| params.number(name).expect("a param");
    let by_young = by_young(&gradient, &model);
    let by_load = of("load.force.z") / 9.0;
    println!(
        "derivatives of a cantilever: by E {:+.1e}, by load {:+.1e}, both {:+.1e}",
        by_young / (-tip / YOUNG) - 1.0,
        by_load / (tip / load) - 1.0,
        by_young / (-by_load * load / YOUNG) - 1.0
    );
    // Rounding of places, 1e-16 m, of a deflection of 2e-7 m.
    assert!((by_young / (-by_load * load / YOUNG) - 1.0).abs() < 2e-8, "{by_young}, {by_load}");
    assert!((by_young / (-tip / YOUNG) - 1.0).abs() < 1e-6, "{by_young}, and not {}", -tip / YOUNG);
    assert!((by_load / (tip / load) - 1.0).abs() < 1e-6, "{by_load}, and not {}", tip / load);
    // What is at rest does not know how heavy it was.
    assert!(of("beam.density").abs() < 1e-9 * tip, "{}", of("beam.density"));
}

/// A symmetric matrix with a narrow band: row i from its diagonal on.
struct Banded {
    width: usize,
    rows: Vec<Vec<f64>>,
}

impl Banded {
    /// Becomes its own factor Uᵀ U.
    fn factorise(&mut self) {
        let n = self.rows.len();
        for i in 0..n {
            let pivot = self.rows[i][0].sqrt();
            assert!(pivot > 0.0, "a stiffness that is positive");
            self.rows[i].iter_mut().for_each(|x| *x /= pivot);
            let row = self.rows[i].clone();
            for j in 1..self.width.min(n - i) {
                let times = row[j];
                if times != 0.0 {
                    let to = &mut self.rows[i + j];
                    row[j..].iter().zip(to).for_each(|(x, y)| *y -= times * x);
                }
            }
        }
    }

    /// Solves with the factor, in place.
    fn solve(&self, b: &mut [f64]) {
        let n = self.rows.len();
        for i in 0..n {
            b[i] /= self.rows[i][0];
            let x = b[i];
            self.rows[i][1..].iter().zip(&mut b[i + 1..]).for_each(|(u, b)| *b -= u * x);
        }
        for i in (0..n).rev() {
            let sum: f64 = self.rows[i][1..].iter().zip(&b[i + 1..]).map(|(u, b)| u * b).sum();
            b[i] = (b[i] - sum) / self.rows[i][0];
        }
    }
}

/// Frequencies [Hz] of the cantilever's first modes of bending and along it, by ω² M x = K x.
///
/// K is the slope of the engine's forces: points (i, j, k) touch their neighbours only, so that every third along each axis can be moved at
/// once. The lowest modes come by iterations K⁻¹ M of a few vectors together (Bathe 1971).
fn frequencies(across: usize) -> ([f64; 6], f64) {
    let (scene, end) = cantilever(across);
    let masses = scene.solids[0].point_masses();
    let model = Model::new(&scene).expect("a scene that makes sense");
    let step = Step::new(&model, Scheme::new(Integrator::ExplicitEuler, 1.0)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let (along, side) = (10 * across + 1, across + 1);
    let (points, moved) = (along * side * side, 1e-7);
    // Numbers of the matrix: x slowest, without the points that are held.
    let place = |p: usize| [p % along, p / along % side, p / (along * side)];
    let row = |p: usize, a: usize| {
        let [i, j, k] = place(p);
        (i > 0).then(|| 3 * ((i - 1) * side * side + j * side + k) + a)
    };
    let n = 3 * (points - side * side);
    let width = 3 * (side * side + side + 2);
    let mut matrix = Banded { width, rows: (0..n).map(|i| vec![0.0; width.min(n - i)]).collect() };
    for colour in 0..27 {
        for a in 0..3 {
            let these = |p: usize| {
                let [i, j, k] = place(p);
                i % 3 + 3 * (j % 3) + 9 * (k % 3) == colour
            };
            let mut force = |by: f64| {
                let mut state = state.clone();
                (0..points).filter(|&p| these(p)).for_each(|p| state.values_mut()[3 * p + a] += by);
                let mut last = Vec::new();
                rollout
                    .watch(&Start::new(&state, &[], &params), |m| last = m.state.to_vec())
                    .expect("it runs");
                last.split_off(3 * points)
            };
            let (up, down) = (force(moved), force(-moved));
            for p in 0..points {
                let [i, j, k] = place(p);
                // The one neighbour that was moved.
                let near = |at: usize, of: usize, limit: usize| {
                    (at.saturating_sub(1)..(at + 2).min(limit)).find(move |x| x % 3 == of)
                };
                let found =
                    (near(i, colour % 3, along), near(j, colour / 3 % 3, side), near(k, colour / 9, side));
                let (Some(i), Some(j), Some(k)) = found else { continue };
                let Some(column) = row(i + along * (j + side * k), a) else { continue };
                for b in 0..3 {
                    let Some(at) = row(p, b).filter(|&at| at <= column) else { continue };
                    let slope = -masses[p] * (up[3 * p + b] - down[3 * p + b]) / (2.0 * moved);
                    matrix.rows[at][column - at] = slope;
                }
            }
        }
    }
    matrix.factorise();
    let mut mass = vec![0.0; n];
    for p in 0..points {
        (0..3).for_each(|a| row(p, a).into_iter().for_each(|at| mass[at] = masses[p]));
    }
    let (values, modes) = lowest(&matrix, &mass, 12);
    // Bending moves the end sideways, a wave along the beam lengthways, and a twist not at all.
    let (mut bending, mut lengthways) = (Vec::new(), Vec::new());
    for (value, mode) in values.iter().zip(&modes) {
        let mean = |a: usize| {
            end.iter().filter_map(|&p| row(p as usize, a)).map(|at| mode[at]).sum::<f64>().abs()
                / end.len() as f64
        };
        let frequency = value.sqrt() / std::f64::consts::TAU;
        let (long, wide) = (mean(0), mean(1).hypot(mean(2)));
        // Of unit modal mass, the end of a beam of 10 kg moves by 2/√10, that of a bar by √(2/10).
        let kind = if long > wide { &mut lengthways } else { &mut bending };
        kind.extend((long.max(wide) > 0.2).then_some(frequency));
    }
    println!("{across} across: bending {bending:.4?} Hz, lengthways {lengthways:.4?} Hz");
    (std::array::from_fn(|i| bending[i]), lengthways[0])
}

/// The lowest ω² of K x = ω² M x and their modes, by so many vectors.
fn lowest(factor: &Banded, mass: &[f64], count: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = mass.len();
    let mut modes: Vec<Vec<f64>> = (0..count)
        .map(|c| (0..n).map(|i| ((i + 1) as f64 * (c + 1) as f64 * 1.37).sin()).collect())
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let weighed = |x: &[f64]| x.iter().zip(mass).map(|(x, m)| x * m).collect::<Vec<f64>>();
    let mut values = vec![0.0; count];
    for _ in 0..8 {
        // Orthonormal by M, then the eigenvectors of Xᵀ M K⁻¹ M X.
        for c in 0..count {
            for _ in 0..2 {
                for d in 0..c {
                    let (before, after) = modes.split_at_mut(c);
                    let along = dot(&weighed(&before[d]), &after[0]);
                    after[0].iter_mut().zip(&before[d]).for_each(|(x, y)| *x -= along * y);
                }
            }
            let length = dot(&weighed(&modes[c]), &modes[c]).sqrt();
            modes[c].iter_mut().for_each(|x| *x /= length);
        }
        let solved: Vec<Vec<f64>> = modes
            .iter()
            .map(|mode| {
                let mut b = weighed(mode);
                factor.solve(&mut b);
                b
            })
            .collect();
        let small = Mat::from_fn(count, count, |i, j| dot(&weighed(&modes[i]), &solved[j]));
        let eigen = small.self_adjoint_eigen(Side::Lower).expect("eigenvalues of a symmetric matrix");
        let (u, s) = (eigen.U(), eigen.S().column_vector());
        // The largest of K⁻¹ M first.
        modes = (0..count)
            .rev()
            .map(|c| (0..n).map(|i| (0..count).map(|d| u[(d, c)] * solved[d][i]).sum()).collect())
            .collect();
        values = (0..count).rev().map(|c| 1.0 / s[c]).collect();
        for (mode, value) in modes.iter_mut().zip(&values) {
            mode.iter_mut().for_each(|x| *x *= value);
        }
    }
    (values, modes)
}

/// Squares of frequencies come down to those of the beam with the square of the size of elements, as its stiffness does. There are two of
/// each in bending, as the diagonals of cells make one direction stiffer, with the same limit.
///
/// Euler and Bernoulli's beam (0.51083, 3.20135, 8.96386 Hz) knows no shear and no turning of sections; Timoshenko's does, whose frequencies
/// for k = 5/6 are those below. What is left are fourth powers of the size: more for shorter waves. Along the beam it is √(E/ρ)/(4 L), but for
/// the clamped end, which cannot become thinner: stress has no bound at its edges, which costs some of the order, and 0.3 %.
#[test]
fn frequencies_of_a_cantilever() {
    let found = [2, 4, 8].map(frequencies);
    let check = |name: &str, of: [f64; 3], wanted: f64, tolerance: f64, least: f64| {
        let (order, square) = richardson(of.map(|f| f * f), 2.0);
        let off = square.sqrt() / wanted - 1.0;
        println!("{name}: {of:.5?} Hz, order {order:.2}, limit {:.5} Hz: {off:+.4}", square.sqrt());
        assert!(of[0] > of[1] && of[1] > of[2] && of[2] > wanted, "{name}: {of:?}");
        assert!((least..2.2).contains(&order), "{name}: order {order}");
        assert!(off.abs() < tolerance, "{name}: {}, and not {wanted}", square.sqrt());
    };
    for (mode, (wanted, tolerance)) in
        [(0.506816, 0.008), (3.037522, 0.008), (7.989147, 0.01)].into_iter().enumerate()
    {
        for direction in 0..2 {
            let of = found.map(|(bending, _)| bending[2 * mode + direction]);
            check(&format!("bending {}.{direction}", mode + 1), of, wanted, tolerance, 1.5);
        }
    }
    check("lengthways", found.map(|(_, lengthways)| lengthways), 7.90569415, 0.005, 1.0);
}

/// The sag of a cloth of length 1.2 that hangs over a span of 1, without bending.
fn sag(cells: usize) -> f64 {
    let mesh = SheetMesh::sheet([1.2, 0.1], [cells, 1], Diagonals::Alternating).expect("a strip");
    // Its weight of 0.12 kg stretches it by some 1e-5.
    let elastic = Elastic::of_young_in_plane(1e9, 0.0).expect("matter");
    let mut strip = Sheet::new("strip", &mesh, 1e-3, elastic, 1000.0);
    strip.hinges.clear();
    let columns = cells as u32 + 1;
    let mut points = strip.points().fix_points(&[0, columns - 1, columns, 2 * columns - 1]);
    // It starts as a V: both halves are straight.
    for x in &mut points.positions {
        x[2] = (x[0].abs() - 0.6) * (0.11f64.sqrt() / 0.6);
        x[0] *= 1.0 / 1.2;
    }
    let mut scene = Scene::default();
    scene.add_sheet(strip, points);
    let model = Model::new(&scene).expect("a scene that makes sense");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 0.02)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1000)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let mut last = Vec::new();
    rollout.watch(&Start::new(&state, &[], &params), |m| last = m.state.to_vec()).expect("it hangs");
    let speed = last[last.len() / 2..].iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let middle = cells / 2;
    println!("{cells} cells: still moving by {speed:.1e} m/s");
    -0.5 * (last[3 * middle + 2] + last[3 * (middle + cells + 1) + 2])
}

/// a (cosh(1/(2a)) - 1) with the a of this length: a chain of links has a little more, in proportion to the square of their length.
#[test]
fn the_catenary() {
    let wanted = 0.292343797601;
    let found = [6, 12, 24].map(sag);
    let (order, limit) = richardson(found, 2.0);
    println!("catenary: {found:.6?}, order {order:.2}, limit {limit:.6} {:+.1e}", limit - wanted);
    assert!((1.9..2.2).contains(&order) && found[2] - wanted > 1e-4, "{found:?}");
    assert!((limit - wanted).abs() < 5e-5, "{limit}, and not {wanted}");
}

/// A stiff beam that is let go, held at one end.
fn falling(young: f64, cells: [usize; 3], viscosity: f64) -> Model {
    let mesh = SolidMesh::beam(1.0, 0.1, 0.1, cells).expect("a beam");
    let held = mesh.points_near_plane([0.0; 3], [1.0, 0.0, 0.0], 1e-9).expect("an end");
    let mut beam = Solid::new("beam", &mesh, Elastic::of_young(young, POISSON).expect("matter"), 1000.0);
    beam.viscosity = (viscosity > 0.0).then(|| vec![viscosity]);
    let points = beam.points().fix_points(&held);
    let mut scene = Scene::default();
    scene.add_solid(beam, points);
    Model::new(&scene).expect("a scene that makes sense")
}

/// In single precision, high up, forces of stiff elements are rounded by more than the weight: a block falls all the same, as long steps
/// of backward Euler have it, z = -g h² n (n + 1)/2.
#[test]
fn stiff_things_fall_in_single_precision() {
    const STEPS: usize = 12;
    let mesh = SolidMesh::block([0.3; 3], [3; 3]).expect("a block").moved([0.0, 0.0, 5.0]);
    let block = Solid::new("block", &mesh, Elastic::of_young(1e7, 0.3).expect("matter"), 1000.0);
    let points = block.points();
    let (mut scene, count) = (Scene::default(), mesh.points.len());
    scene.add_solid(block, points);
    let h = 1.0 / 60.0;
    let model = Model::new(&scene).expect("a scene that makes sense");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, h)).expect("a step");
    let mut rollout = Rollout::<f32>::new(&step, Options::new(STEPS)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let height = Weighed((0..count).map(|i| (3 * i + 2, 1.0 / count as f64)).collect());
    let gradient = rollout.gradient(&Start::new(&state, &[], &params), &height).expect("a gradient");
    let per_g = h * h * (STEPS * (STEPS + 1)) as f64 / 2.0;
    let by_gravity = gradient.params(0).expect("names").number("gravity.z").expect("a param");
    let fallen = 5.0 - gradient.value();
    assert!((fallen / (9.81 * per_g) - 1.0).abs() < 1e-3, "{fallen} m, and not {}", 9.81 * per_g);
    assert!((by_gravity / per_g - 1.0).abs() < 1e-3, "{by_gravity}, and not {per_g}");
}

/// Waves take less than 1 ms through a cell, so that steps of 1/60 s by explicit rules blow up. Implicit ones do not: a beam that is let go
/// sinks by twice what it does at rest, q L⁴/(8 E I) = 0.147 m if it did not lock.
#[test]
fn a_stiff_beam_in_long_steps() {
    for integrator in [Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
        let model = falling(1e7, [6, 1, 1], 0.0);
        let step = Step::new(&model, Scheme::new(integrator, 1.0 / 60.0)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(120)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        let (mut lowest, mut highest) = (0.0f64, f64::NEG_INFINITY);
        let tip = model.state_layout().find("beam[6].position").expect("the end").start + 2;
        let at_rest = state.values()[tip];
        let see = |m: &Moment<'_>| {
            lowest = lowest.min(m.state[tip] - at_rest);
            highest = highest.max(m.state[tip] - at_rest);
        };
        rollout.watch(&Start::new(&state, &[], &params), see).expect("it falls");
        println!("{}: between {lowest:.4} and {highest:.4} m", integrator.name());
        assert!(-0.3 < lowest && lowest < -0.01 && highest < 0.01, "{lowest}, {highest}");
        // Every difference is two rollouts: shorter ones.
        let mut rollout = Rollout::<f64>::new(&step, Options::new(30)).expect("a rollout");
        let loss = Weighed(vec![(tip, 1.0), (tip - 2, 0.5)]);
        let gradient =
            rollout.gradient(&Start::new(&state, &[], &params), &loss).expect("a gradient").clone();
        let mut check = |name: &str, derivative: f64, h: f64, change: &dyn Fn(f64) -> (State, Params)| {
            let mut value = |h: f64| {
                let (state, params) = change(h);
                rollout.value(&Start::new(&state, &[], &params), &loss).expect("a value")[0]
            };
            let difference = (value(h) - value(-h)) / (2.0 * h);
            let off = (difference / derivative - 1.0).abs();
            println!("{}, {name}: {derivative:.6e}, differences {off:.1e} off", integrator.name());
            // Those of rounding over h and of h² together.
            assert!(
                derivative != 0.0 && off < 1e-5,
                "{}, {name}: {derivative}, {difference}",
                integrator.name()
            );
        };
        for name in ["beam.mu", "beam.density", "gravity.z"] {
            let i = model.params_layout().find(name).expect("a param").start;
            check(name, gradient.params[i], 1e-4 * params.values()[i].abs(), &|h| {
                let mut params = params.clone();
                params.values_mut()[i] += h;
                (state.clone(), params)
            });
        }
        let name = "beam[6].velocity.z";
        let i = model.state_layout().find(name).expect("a number of the state").start;
        check(name, gradient.states[i], 1e-3, &|h| {
            let mut state = state.clone();
            state.values_mut()[i] += h;
            (state, params.clone())
        });
    }
    let step =
        Step::new(&falling(1e7, [6, 1, 1], 0.0), Scheme::new(Integrator::SemiImplicitEuler, 1.0 / 60.0));
    let step = step.expect("a step");
    let (state, params) = (step.model().state(), step.model().params());
    let mut rollout = Rollout::<f64>::new(&step, Options::new(120)).expect("a rollout");
    assert!(
        rollout.watch(&Start::new(&state, &[], &params), |_| ()).is_err(),
        "an explicit rule does not hold"
    );
}

/// Many points touch a shape that stands still: what each feels of it is its own, so that the Jacobian is as sparse as without. A stiff cloth
/// lands on a ball in steps of 1/60 s; derivatives through that by params of the cloth and of the contact. There is no damping of contact, whose
/// force would not begin at zero: an implicit step need not have a solution then.
#[test]
fn a_stiff_cloth_on_a_ball_in_long_steps() {
    let text = r#"
        [simulation]
        dt = 0.016666666666666666
        steps = 8

        [contact]
        model = "penalty"
        mu = 0.5
        ke = 300
        kd = 0
        kf = 1

        [[shapes]]
        name = "ball"
        shape = { sphere = 0.25 }

        [[sheets]]
        name = "cloth"
        mesh = { sheet = [0.8, 0.8], cells = [14, 14] }
        position = [0.02, 0.01, 0.262]
        thickness = 2e-3
        young = 1e6
        poisson = 0.3
        density = 300
        bending = 1e-3
        radius = 0.01
    "#;
    let scene = Scene::parse(text, "cloth.toml").expect("a scene");
    let model = Model::new(&scene).expect("a model");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0)).expect("a step");
    let (state, params) = (model.state(), model.params());
    let mut rollout = Rollout::<f64>::new(&step, Options::new(8)).expect("a rollout");
    let (mut least, mut ends) = (f64::INFINITY, [0.0f64, f64::INFINITY]);
    let see = |m: &Moment<'_>| {
        let heights = m.state[..m.state.len() / 2].chunks_exact(3);
        let gaps = heights.clone().map(|x| (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt() - 0.26);
        least = gaps.fold(least, f64::min);
        let heights = heights.map(|x| x[2]);
        ends = [heights.clone().fold(f64::NEG_INFINITY, f64::max), heights.fold(f64::INFINITY, f64::min)];
    };
    rollout.watch(&Start::new(&state, &[], &params), see).expect("it falls");
    println!("{least:.4} m from the ball, between {:.3} and {:.3} m", ends[1], ends[0]);
    assert!(-0.01 < least && least < -1e-4, "it touches the ball: {least} m");
    assert!(ends[0] - ends[1] > 0.03, "its middle lies on the ball, and its corners sink: {ends:?}");

    let loss = Weighed((0..225).map(|i| (3 * i + 2, ((0.7 * i as f64).sin() + 0.2) / 225.0)).collect());
    let gradient = rollout.gradient(&Start::new(&state, &[], &params), &loss).expect("a gradient").clone();
    for name in ["cloth.mu", "contact.ke", "contact.mu"] {
        let i = model.params_layout().find(name).expect("a param").start;
        let mut value = |h: f64| {
            let mut params = params.clone();
            params.values_mut()[i] += h;
            rollout.value(&Start::new(&state, &[], &params), &loss).expect("a value")[0]
        };
        let h = 1e-5 * params.values()[i];
        let (found, wanted) = (gradient.params[i], (value(h) - value(-h)) / (2.0 * h));
        println!("{name}: {found:.6e}, differences {wanted:.6e}");
        assert!(found != 0.0 && (found / wanted - 1.0).abs() < 1e-4, "{name}: {found}, and not {wanted}");
    }
}

/// Light points that stick and slide: what rubs has no energy that steps could go down, and after the tenth part of a second they went round in
/// circles.
#[test]
fn a_cloth_that_rubs_in_long_steps() {
    let text = r#"
        [simulation]
        dt = 0.016666666666666666
        steps = 24

        [contact]
        model = "penalty"
        ke = 200
        kd = 0
        kf = 0.1

        [[shapes]]
        name = "globe"
        shape = { sphere = 0.3 }
        position = [0, 0, 0.5]

        [[sheets]]
        name = "cloth"
        mesh = { sheet = [1, 1], cells = [10, 10] }
        position = [0, 0, 1]
        thickness = 1e-3
        young = 1e5
        poisson = 0.3
        density = 200
        radius = 0.02
    "#;
    let model = Model::new(&Scene::parse(text, "cloth.toml").expect("a scene")).expect("a model");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(24)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let loss = Weighed((0..121).map(|i| (3 * i + 2, 1.0 / 121.0)).collect());
    let i = model.params_layout().find("cloth.density").expect("a param").start;
    let found =
        rollout.gradient(&Start::new(&state, &[], &params), &loss).expect("it falls and rubs").params[i];
    let mut value = |h: f64| {
        let mut params = params.clone();
        params.values_mut()[i] += h;
        rollout.value(&Start::new(&state, &[], &params), &loss).expect("a value")[0]
    };
    let wanted = (value(1e-4) - value(-1e-4)) / 2e-4;
    assert!(found != 0.0 && (found / wanted - 1.0).abs() < 1e-4, "{found}, and not {wanted}");
}

/// At small steps implicit rules find the motion of explicit ones, to their orders: 1 of backward Euler, 2 of the midpoint; and so do the
/// derivatives.
#[test]
fn implicit_steps_find_the_motion_of_explicit_ones() {
    let model = falling(1e5, [4, 1, 1], 50.0);
    let ends = |integrator: Integrator, steps: usize| {
        let step = Step::new(&model, Scheme::new(integrator, 0.2 / steps as f64)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        let loss = Weighed(vec![(3 * 4, 0.5), (3 * 4 + 2, 1.0)]);
        let gradient =
            rollout.gradient(&Start::new(&state, &[], &params), &loss).expect("a gradient").clone();
        let names = gradient.params(0).expect("names");
        ["beam.mu", "beam.density", "beam.viscosity", "gravity.z"]
            .into_iter()
            .map(|name| names.number(name).expect("a param"))
            .chain([gradient.value()])
            .collect::<Vec<f64>>()
    };
    let exact = ends(Integrator::RungeKutta4, 2000);
    for (integrator, order) in [(Integrator::BackwardEuler, 1), (Integrator::ImplicitMidpoint, 2)] {
        let off = |steps: usize| {
            let each =
                ends(integrator, steps).into_iter().zip(&exact).map(|(found, exact)| found / exact - 1.0);
            each.collect::<Vec<f64>>()
        };
        let (coarse, fine) = (off(200), off(400));
        println!("{}: {coarse:.6?}, then {fine:.6?}", integrator.name());
        let norm = |off: &[f64]| off.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (ratio, wanted) = (norm(&coarse) / norm(&fine), f64::powi(2.0, order));
        println!("{}: {:.1e}, ratio {ratio:.3}", integrator.name(), norm(&fine));
        assert!((0.85 * wanted..1.15 * wanted).contains(&ratio), "{}: {ratio}", integrator.name());
        assert!(norm(&fine) < 0.1, "{}: {fine:?}", integrator.name());
    }
}
