//! Soft solids against closed forms: materials, the patch test, and what is conserved.

mod common;

use common::solids;
use pullback_engine::rollout::Moment;
use pullback_engine::soft::{
    Corotated, Elasticity, Material, NeoHookean, Solid, StVenantKirchhoff, corotated, neo_hookean,
    st_venant_kirchhoff,
};
use pullback_engine::{Energy, Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::{Particles, Scene, World};

/// V Ψ = ½ μ (|F|² - 3) - μ ln J + ½ λ ln² J: a material that the engine does not know.
#[kernel]
pub fn rubber<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let ln_j = ln(determinant(f)) - actuation;
    0.5 * mu * (contract(f, f) - 3.0) - mu * ln_j + 0.5 * lambda * ln_j * ln_j
}

pullback_engine::material!(
    /// Of [`rubber`].
    pub Rubber = rubber, "rubber"
);

/// Lamé's numbers of E = 1, ν = 0.3.
const MU: f64 = 1.0 / 2.6;
const LAMBDA: f64 = 0.3 / (1.3 * 0.4);

type Density = fn(Mat3, f64, f64, f64) -> f64;
type Stress = fn(Mat3, f64, f64, f64, f64) -> (Mat3, f64, f64, f64);

fn materials() -> [(&'static str, Density, Stress); 4] {
    [
        ("neo-Hookean", neo_hookean::<f64>, neo_hookean::pullback::<f64>),
        ("St. Venant-Kirchhoff", st_venant_kirchhoff::<f64>, st_venant_kirchhoff::pullback::<f64>),
        ("corotated", corotated::<f64>, corotated::pullback::<f64>),
        ("rubber", rubber::<f64>, rubber::pullback::<f64>),
    ]
}

fn bent() -> Mat3 {
    mat3(vec3(1.2, 0.3, -0.1), vec3(-0.2, 0.8, 0.25), vec3(0.15, -0.05, 1.1))
}

/// A turn about an axis.
fn turn(axis: Vec3, angle: f64) -> Mat3 {
    let k = skew(normalize(axis));
    identity() + k * angle.sin() + k * k * (1.0 - angle.cos())
}

fn size(a: Mat3) -> f64 {
    contract(a, a).sqrt()
}

/// Small deformations are those of linear elasticity: P = 2 μ ε + λ tr ε, with no stress at rest.
#[test]
fn small_deformations_are_linear() {
    for (name, density, stress) in materials() {
        assert!(density(identity(), MU, LAMBDA, 0.0).abs() < 1e-15, "{name}: no energy at rest");
        let (at_rest, ..) = stress(identity(), MU, LAMBDA, 0.0, 1.0);
        assert!(size(at_rest) < 1e-15, "{name}: {at_rest:?}");
        let strain = mat3(vec3(0.3, 0.1, -0.2), vec3(-0.4, 0.5, 0.2), vec3(0.1, 0.6, -0.1));
        let h = 1e-5;
        let at = |h: f64| stress(identity() + strain * h, MU, LAMBDA, 0.0, 1.0).0;
        let slope = (at(h) - at(-h)) * (0.5 / h);
        let even = (strain + transpose(strain)) * 0.5;
        let wanted = even * (2.0 * MU) + identity() * (LAMBDA * trace(even));
        assert!(size(slope - wanted) < 1e-9, "{name}: {slope:?}, and not {wanted:?}");
    }
}

/// Ψ(Q F) = Ψ(F) = Ψ(F Q): the same in every frame, and in every direction.
#[test]
fn energies_do_not_see_turns() {
    for (name, density, _) in materials() {
        let wanted = density(bent(), MU, LAMBDA, 0.1);
        for (axis, angle) in [(vec3(1.0, 2.0, -0.5), 2.1), (vec3(0.0, -1.0, 0.3), -0.7)] {
            let q = turn(axis, angle);
            for turned in [q * bent(), bent() * q] {
                let found = density(turned, MU, LAMBDA, 0.1);
                assert!((found - wanted).abs() < 1e-14, "{name}: {found}, and not {wanted}");
            }
        }
    }
}

/// Uniaxial stress of W = ½ μ (I - 3) - μ ln J + ½ λ ln² J with E = 1 and ν = 0.3: stretch, lateral stretch, nominal stress.
#[test]
fn a_material_of_ones_own_has_the_stress_of_its_closed_form() {
    for (stretch, lateral, wanted) in [
        (0.7, 1.1079347328, -0.4052304243),
        (0.9, 1.0317024344, -0.1087221851),
        (1.1, 0.9714929459, 0.0930774322),
        (1.5, 0.8801745918, 0.3782801764),
        (2.0, 0.7980775445, 0.6467446602),
    ] {
        let (p, ..) = rubber::pullback(diagonal(vec3(stretch, lateral, lateral)), MU, LAMBDA, 0.0, 1.0);
        assert!((p.x.x - wanted).abs() < 1e-9, "{stretch}: {}, and not {wanted}", p.x.x);
        assert!(p.y.y.abs() < 1e-9 && p.z.z.abs() < 1e-9, "{stretch}: {p:?}");
    }
}

/// The turn of F = R S is known for F = Q diag(a, b, c): |F - R|² = (a - 1)² + (b - 1)² + (c - 1)², also inside out, where the
/// shortest stretch counts as less than nothing.
#[test]
fn the_corotated_energy_by_its_stretches() {
    for stretches in [[1.0, 1.0, 1.0], [1.3, 0.7, 1.1], [0.2, 2.5, 0.9], [1.4, 1.2, -0.3], [3.0, 0.5, 0.01]] {
        let [a, b, c] = stretches;
        let f = turn(vec3(0.3, -1.0, 0.8), 1.3) * diagonal(vec3(a, b, c)) * turn(vec3(1.0, 0.2, 0.4), -0.6);
        let distance: f64 = stretches.iter().map(|s| (s - 1.0).powi(2)).sum();
        let wanted = MU * distance + 0.5 * LAMBDA * (a * b * c - 1.0).powi(2);
        let found = corotated(f, MU, LAMBDA, 0.0);
        assert!((found - wanted).abs() < 1e-12 * (1.0 + wanted), "{stretches:?}: {found}, and not {wanted}");
    }
}

/// A body that may grow by a tenth of its volume has no stress there.
#[test]
fn actuation_is_a_volume() {
    let grown = diagonal(vec3(1.0, 1.0, 1.0) * 1.1f64.cbrt());
    for (name, _, stress) in materials().into_iter().skip(1).take(2) {
        let (p, ..) = stress(grown, MU, LAMBDA, 0.1, 1.0);
        assert!(size(p) < 1e-14, "{name}: {p:?}");
    }
    // The stable neo-Hookean one shares it out between volume and shear: it grows, and not by all of it.
    let (at_rest, ..) = neo_hookean::pullback(identity(), MU, LAMBDA, 0.1, 1.0);
    let (beyond, ..) = neo_hookean::pullback(grown, MU, LAMBDA, 0.1, 1.0);
    assert!(at_rest.x.x < 0.0 && beyond.x.x > 0.0, "{at_rest:?}, {beyond:?}");
}

/// A block without gravity, at these positions and velocities.
fn free(
    (material, elasticity): (impl Material, Elasticity),
    place: impl Fn([f64; 3]) -> [f64; 3],
    velocity: impl Fn(usize) -> [f64; 3],
    cells: [usize; 3],
) -> Model {
    let (points, elements) = solids::block(cells, 0.3);
    let mut corners = Particles::many("corner", points.iter().copied().map(place).collect(), 1.0);
    let solid = Solid::new("block", (&points, elements), material, elasticity).expect("a good mesh");
    corners.masses = solid.masses(1000.0, points.len());
    corners.velocities = (0..points.len()).map(velocity).collect();
    let world = World { gravity: [0.0; 3], ..World::default() };
    let scene = Scene { particles: vec![corners], world, ..Scene::default() };
    Model::new(&scene).and_then(|model| model.with_force(solid)).expect("a model")
}

/// The states of a rollout.
fn run(model: &Model, integrator: Integrator, dt: f64, steps: usize) -> Vec<Vec<f64>> {
    let step = Step::new(model, Scheme::new(integrator, dt)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let mut states = Vec::new();
    let (state, params) = (model.state(), model.params());
    let see = |m: &Moment<'_>| states.push(m.state.to_vec());
    rollout.watch(&Start::new(&state, &[], &params), see).expect("it runs");
    states
}

/// Where all corners move by one affine map, stress is the same everywhere and corners inside feel no force.
#[test]
fn the_patch_test() {
    fn check(material: impl Material) {
        let name = material.name();
        let f = mat3(vec3(1.3, 0.2, -0.1), vec3(0.15, 0.8, 0.1), vec3(-0.05, 0.3, 1.1));
        let place = |[x, y, z]: [f64; 3]| {
            let p = f * vec3(x, y, z) + vec3(0.3, -0.2, 5.0);
            [p.x, p.y, p.z]
        };
        let model = free((material, Elasticity::of_young(1.0, 0.3)), place, |_| [0.0; 3], [3, 3, 3]);
        let states = run(&model, Integrator::SemiImplicitEuler, 1.0, 1);
        let (n, masses) = (model.particles(), model.params());
        // v = f/m after a second.
        let force = |i: usize| {
            let mass = masses.number(&format!("corner[{i}].mass")).expect("a mass");
            let v = &states[1][3 * (n + i)..3 * (n + i) + 3];
            mass * v.iter().map(|v| v * v).sum::<f64>().sqrt()
        };
        let inside = |i: usize| [i % 4, i / 4 % 4, i / 16].iter().all(|&at| at == 1 || at == 2);
        let outside = (0..n).filter(|&i| !inside(i)).map(force).fold(0.0, f64::max);
        let within = (0..n).filter(|&i| inside(i)).map(force).fold(0.0, f64::max);
        assert_eq!((0..n).filter(|&i| inside(i)).count(), 8);
        assert!(outside > 1e-3, "{}: {outside}", name);
        assert!(within < 1e-12 * outside.max(1.0), "{}: {within} of {outside}", name);
    }
    check(NeoHookean);
    check(StVenantKirchhoff);
    check(Corotated);
    check(Rubber);
}

/// (Σ m v, Σ x × m v) of a state.
fn momenta(model: &Model, state: &[f64]) -> ([f64; 3], [f64; 3]) {
    let (n, params) = (model.particles(), model.params());
    let (mut linear, mut angular) = ([0.0; 3], [0.0; 3]);
    for i in 0..n {
        let m = params.number(&format!("corner[{i}].mass")).expect("a mass");
        let (x, v) = (&state[3 * i..3 * i + 3], &state[3 * (n + i)..3 * (n + i) + 3]);
        for a in 0..3 {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            linear[a] += m * v[a];
            angular[a] += m * (x[b] * v[c] - x[c] * v[b]);
        }
    }
    (linear, angular)
}

/// Nothing from outside acts on a body that flies, turns, swings and is damped: both momenta stay.
#[test]
fn momentum_is_kept() {
    fn check(material: impl Material, elasticity: Elasticity) {
        let name = material.name();
        let place = |[x, y, z]: [f64; 3]| [1.1 * x, y + 0.1 * x, z - 0.05 * y];
        let velocity =
            |i: usize| std::array::from_fn(|a| ((i * 5 + a * 3) % 7) as f64 / 7.0 + 0.2 * a as f64);
        let model = free((material, elasticity), place, velocity, [2, 1, 1]);
        let states = run(&model, Integrator::SemiImplicitEuler, 1e-3, 500);
        let (first, last) = (momenta(&model, &states[0]), momenta(&model, &states[500]));
        let scale = first.0.iter().chain(&first.1).map(|x| x.abs()).fold(0.0, f64::max);
        for (a, b) in first.0.iter().chain(&first.1).zip(last.0.iter().chain(&last.1)) {
            assert!((a - b).abs() < 1e-12 * scale, "{}: {first:?}, then {last:?}", name);
        }
    }
    let stiff = Elasticity::of_young(1e5, 0.3);
    check(NeoHookean, stiff.clone().viscous(50.0));
    check(StVenantKirchhoff, stiff.clone());
    check(Corotated, stiff.clone().viscous(50.0));
    check(Rubber, stiff);
}

/// A rigid motion is not damped.
#[test]
fn what_turns_as_a_whole_is_not_damped() {
    let points = solids::block([2, 1, 1], 0.3).0;
    let spin = vec3(0.3, -0.2, 0.5);
    let velocity = |i: usize| {
        let v = cross(spin, vec3(points[i][0], points[i][1], points[i][2])) + vec3(4.0, 5.0, 6.0);
        [v.x, v.y, v.z]
    };
    let soft = Elasticity { mu: vec![0.0], lambda: vec![1e-300], ..Elasticity::of_young(1.0, 0.0) };
    let model = free((StVenantKirchhoff, soft.viscous(1e6)), |p| p, velocity, [2, 1, 1]);
    let states = run(&model, Integrator::SemiImplicitEuler, 1e-6, 1);
    let n = 3 * model.particles();
    for (a, b) in states[0][n..].iter().zip(&states[1][n..]) {
        assert!((a - b).abs() < 1e-12, "{a}, then {b}");
    }
}

/// Energy is kept to the order of the integrator: halving the step makes the drift a quarter.
#[test]
fn energy_is_kept_to_second_order() {
    fn check(material: impl Material) {
        let name = material.name();
        let place = |[x, y, z]: [f64; 3]| [1.2 * x, 0.95 * y + 0.1 * x, z];
        let model = free((material, Elasticity::of_young(1e4, 0.3)), place, |_| [0.1, 0.2, -0.1], [2, 1, 1]);
        let mut energy = Energy::new(&model).expect("an energy");
        let mut drift = |dt: f64| {
            let states = run(&model, Integrator::VelocityVerlet, dt, (0.2 / dt) as usize);
            let params = model.params();
            let mut at = |state: &[f64]| {
                let found = energy.of(state, params.values()).expect("an energy");
                found.0 + found.1
            };
            let first = at(&states[0]);
            states.iter().map(|state| (at(state) - first).abs()).fold(0.0, f64::max)
        };
        let (coarse, fine) = (drift(1e-3), drift(5e-4));
        assert!(fine > 0.0 && (3.5..4.5).contains(&(coarse / fine)), "{}: {coarse}, {fine}", name);
    }
    check(NeoHookean);
    check(StVenantKirchhoff);
    check(Corotated);
    check(Rubber);
}

#[test]
fn bad_solids_are_refused() {
    let (points, elements) = solids::block([1, 1, 1], 0.0);
    let young = || Elasticity::of_young(1.0, 0.3);
    let refused = |points: &[[f64; 3]], elements: Vec<[usize; 4]>, elasticity: Elasticity| {
        Solid::new("block", (points, elements), NeoHookean, elasticity).expect_err("it is bad").to_string()
    };
    let mut turned = elements.clone();
    turned[4].swap(0, 1);
    let said = refused(&points, turned, young());
    assert!(said.contains("of tetrahedron 4") && said.contains("inside out"), "{said}");
    let said = refused(&points, vec![[0, 1, 2, 99]], young());
    assert!(said.contains("[0, 1, 2, 99] of tetrahedron 0, with 8 points"), "{said}");
    let mut nan = points.clone();
    nan[0][1] = f64::NAN;
    assert!(refused(&nan, elements.clone(), young()).contains("NaN"));
    let uneven = Elasticity { lambda: vec![1.0; 2], ..young() };
    assert!(refused(&points, elements, uneven).contains("the numbers of a solid's material"));
}
