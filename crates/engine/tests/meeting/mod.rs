//! Soft things that meet: their surfaces, and derivatives through their meetings.

#![allow(dead_code)]

use pullback_collide::Surface;
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::Scene;

/// A smooth number of all positions and velocities of the last state, each of another weight.
pub struct Weighed;

pub fn weight(i: usize) -> f64 {
    (0.7 * i as f64).sin() + 0.2
}

impl Loss for Weighed {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        let terms = moment.state.iter().enumerate().map(|(i, x)| weight(i) * x);
        if moment.last { terms.sum() } else { 0.0 }
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state.iter_mut().enumerate().for_each(|(i, bar)| *bar += weight(i));
        }
    }
}

pub fn scene(text: &str) -> Scene {
    let text = format!("[simulation]\ndt = 0.001\nsteps = 1\n{text}");
    Scene::parse(&text, "meeting.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Derivatives by params against central differences of the rollout itself; a difference is a millionth of a number, or of `least`.
pub fn against_differences(model: &Model, scheme: Scheme, steps: usize, (names, least): (&[&str], f64)) {
    let step = Step::new(model, scheme).expect("a step");
    let (state, params) = (model.state(), model.params());
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let found = rollout.gradient(&Start::new(&state, &[], &params), &Weighed).expect("a gradient").clone();
    for name in names {
        let i = model.params_layout().find(name).expect("a param").start;
        let mut value = |h: f64| {
            let mut params = params.clone();
            params.values_mut()[i] += h;
            rollout.value(&Start::new(&state, &[], &params), &Weighed).expect("a value")[0]
        };
        let h = 1e-6 * params.values()[i].abs().max(least);
        let (found, wanted) = (found.params[i], (value(h) - value(-h)) / (2.0 * h));
        println!("{name} with {}: {found:.9e}, differences {wanted:.9e}", scheme.integrator.name());
        let what = || format!("{name} with {}: {found}, and not {wanted}", scheme.integrator.name());
        assert!(found != 0.0 && (found / wanted - 1.0).abs() < 1e-4, "{}", what());
        assert_ne!(found.to_bits(), wanted.to_bits(), "{}", what());
    }
}

/// The surfaces of all soft things of a scene, among all particles.
pub fn surface(scene: &Scene) -> Surface {
    let first =
        |group: usize| scene.particles[..group].iter().map(|it| it.positions.len()).sum::<usize>() as u32;
    let mut triangles = Vec::new();
    for solid in &scene.solids {
        let surface = solid.mesh().surface();
        let of = surface.mesh.elements.iter();
        triangles.extend(of.map(|t| t.map(|i| surface.points[i as usize] + first(solid.group))));
    }
    for sheet in &scene.sheets {
        triangles.extend(sheet.elements.iter().map(|t| t.map(|i| i + first(sheet.group))));
    }
    Surface::new(triangles, scene.particle_count()).expect("a surface")
}

/// The positions of the first so many particles in a state.
pub fn points(state: &[f64], count: usize) -> Vec<[f64; 3]> {
    state[..3 * count].as_chunks().0.to_vec()
}
