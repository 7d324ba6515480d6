//! Solids of materials of one's own: an energy, and a line.

mod meeting;

use std::sync::Arc;

use meeting::Weighed;
use pullback_engine::soft::{Material, NeoHookean, material};
use pullback_engine::{Gradient, Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::soft::SolidMesh;
use pullback_scene::{Elastic, Scene, Solid};

/// The built-in neo-Hookean energy, as a user writes it: ½ m (I - 3) - ½ m ln((I + 1)/4) + ½ l (J - 1 - μ/l - a)² - μ²/(2 l).
#[kernel]
pub fn known<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let m = mu * 4.0 / 3.0;
    let l = lambda + mu * 5.0 / 6.0;
    let i = contract(f, f);
    let j = determinant(f) - 1.0 - mu / l - actuation;
    0.5 * m * (i - 3.0) - 0.5 * m * ln(0.25 * (i + 1.0)) + 0.5 * l * j * j - 0.5 * mu * mu / l
}

material!(
    /// Of [`known`].
    pub Known = known, "known"
);

/// ½ μ (|F|² - 3) - μ ln J + ½ λ ln² J, of which a grown body is J = exp a.
#[kernel]
pub fn rubber<R: Real>(f: Mat3<R>, mu: R, lambda: R, actuation: R) -> R {
    let ln_j = ln(determinant(f)) - actuation;
    0.5 * mu * (contract(f, f) - 3.0) - mu * ln_j + 0.5 * lambda * ln_j * ln_j
}

material!(
    /// Of [`rubber`].
    pub Rubber = rubber, "rubber"
);

/// A beam that is held at one end, bent, actuated and viscous, beside a block of the usual material.
fn scene() -> Scene {
    let mesh = SolidMesh::beam(0.6, 0.2, 0.2, [3, 1, 1]).expect("a beam");
    let end = mesh.points_near_plane([0.0; 3], [1.0, 0.0, 0.0], 1e-6).expect("an end");
    let matter = Elastic::of_young(3e4, 0.3).expect("matter");
    let beam = Solid { actuation: vec![0.05], ..Solid::new("beam", &mesh, matter, 800.0).viscosity(3.0) };
    let mut points = beam.points().fix_points(&end);
    for x in &mut points.positions {
        *x = [1.1 * x[0], 0.95 * x[1] + 0.1 * x[0] * x[2], x[2] + 0.2 * x[0] * x[0]];
    }
    let mut scene = Scene::default();
    scene.add_solid(beam, points);
    let block = Solid::new("block", &SolidMesh::block([0.2; 3], [1; 3]).expect("a block"), matter, 500.0);
    let mut points = block.points();
    points.positions.iter_mut().for_each(|x| *x = [1.2 * x[0] + 1.0, x[1], x[2]]);
    scene.add_solid(block, points);
    scene
}

fn made_of(material: impl Material) -> Model {
    Model::with_materials(&scene(), &[("beam", Arc::new(material))]).expect("a model")
}

/// All states of a rollout, and the gradient of its end.
fn run(model: &Model, scheme: Scheme, steps: usize) -> (Vec<f64>, Gradient) {
    let step = Step::new(model, scheme).expect("a step");
    let (state, params) = (model.state(), model.params());
    let start = Start::new(&state, &[], &params);
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let mut states = Vec::new();
    rollout.watch(&start, |moment| states.extend_from_slice(moment.state)).expect("a run");
    let gradient = rollout.gradient(&start, &Weighed).expect("a gradient").clone();
    (states, gradient)
}

/// The largest of |a - b|, relative to the largest number.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}

const SCHEMES: [(Scheme, usize); 4] = [
    (Scheme { integrator: Integrator::SemiImplicitEuler, dt: 1e-3, substeps: 1 }, 100),
    (Scheme { integrator: Integrator::RungeKutta4, dt: 1e-3, substeps: 1 }, 50),
    (Scheme { integrator: Integrator::BackwardEuler, dt: 0.02, substeps: 1 }, 5),
    (Scheme { integrator: Integrator::ImplicitMidpoint, dt: 0.02, substeps: 1 }, 5),
];

/// The built-in formula as a user's gives what the built-in one gives, in explicit and in implicit steps: states and gradients.
#[test]
fn a_known_formula_gives_the_known_motion() {
    let (built_in, own, named) =
        (Model::new(&scene()).expect("a model"), made_of(Known), made_of(NeoHookean));
    for (scheme, steps) in SCHEMES {
        let (states, gradient) = run(&built_in, scheme, steps);
        let (same, _) = run(&named, scheme, steps);
        assert_eq!(same, states, "the built-in one by its name");
        let (found, by) = run(&own, scheme, steps);
        let (off, by) = (
            apart(&states, &found),
            [apart(&gradient.states, &by.states), apart(&gradient.params, &by.params)],
        );
        println!("{}: states {off:.1e}, gradients {by:?}", scheme.integrator.name());
        assert!(off < 1e-12, "{}: {off:e}", scheme.integrator.name());
        assert!(by.iter().all(|by| *by < 1e-10), "{}: {by:?}", scheme.integrator.name());
        assert_ne!(found, states, "its forces are derived otherwise");
        let moved = states[..states.len() / 2].iter().zip(&states[states.len() - model_len(&own)..]);
        assert!(moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) > 0.01, "nothing moves");
    }
}

fn model_len(model: &Model) -> usize {
    model.state_layout().len()
}

/// A material that the engine does not know, by each of its numbers; what is beside it is of the usual one.
#[test]
fn derivatives_of_a_material_of_ones_own() {
    let (model, usual) = (made_of(Rubber), Model::new(&scene()).expect("a model"));
    for (scheme, steps) in SCHEMES {
        let (states, gradient) = run(&model, scheme, steps);
        let by = gradient.params(0).expect("names");
        let step = Step::new(&model, scheme).expect("a step");
        let (state, params) = (model.state(), model.params());
        let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
        for name in ["beam.mu", "beam.lambda", "beam.actuation", "beam.density", "beam.viscosity", "block.mu"]
        {
            let i = model.params_layout().find(name).expect("a param").start;
            let mut value = |h: f64| {
                let mut params = params.clone();
                params.values_mut()[i] += h;
                rollout.value(&Start::new(&state, &[], &params), &Weighed).expect("a value")[0]
            };
            let h = 1e-4 * params.values()[i];
            let (found, wanted) = (by.number(name).expect("a param"), (value(h) - value(-h)) / (2.0 * h));
            println!("{name}, {}: {found:.9e}, differences {wanted:.9e}", scheme.integrator.name());
            let what = || format!("{name} with {}: {found}, and not {wanted}", scheme.integrator.name());
            assert!(found != 0.0 && (found / wanted - 1.0).abs() < 1e-5, "{}", what());
            assert_ne!(found.to_bits(), wanted.to_bits(), "{}", what());
        }
        let (others, _) = run(&usual, scheme, steps);
        let last = states.len() - model.state_layout().len();
        let of = |name: &str| model.state_layout().find(name).expect("it is in the state");
        let both = |at: std::ops::Range<usize>| (&states[last..][at.clone()], &others[last..][at]);
        let (beam, block) = (both(of("beam[3].position")), both(of("block[1].position")));
        assert!(apart(beam.0, beam.1) > 1e-6);
        // Equations of both are solved together.
        assert!(apart(block.0, block.1) < 1e-12);
    }
}

/// Names of no solid are errors that say which there are.
#[test]
fn names_that_are_wrong() {
    let error = Model::with_materials(&scene(), &[("beem", Arc::new(Rubber))]).expect_err("no such solid");
    let text = error.to_string();
    assert!(text.contains("beem") && text.contains("solid") && text.contains("beam"), "{text}");
}
