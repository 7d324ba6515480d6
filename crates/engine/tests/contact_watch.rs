//! Forces and penetration of contacts: their pullback against differences of the same in every world of the factory.

mod common;

use pullback_engine::{Between, ContactWatch, Error, Model, Options, Rollout, Scheme, Start, Step, Touching};
use pullback_kernel::prelude::*;
use pullback_scene::{Scene, Toucher};

/// Everything, each robot, and each robot with the ground.
fn groups(model: &Model) -> Vec<Between> {
    let robots = (0..model.robots().len()).flat_map(|robot| {
        let of = Some(Toucher::Robot(robot));
        [Between { of, with: None }, Between { of, with: Some(Toucher::Ground) }]
    });
    [Between::default()].into_iter().chain(robots).collect()
}

fn weights(group: usize) -> Touching {
    let of = |k: usize| (1.7 * (5 * group + k) as f64 + 0.4).sin();
    Touching {
        force: vec3(of(0), of(1), of(2)),
        normal: of(3),
        friction: of(4),
        penetration: 1e3 * of(5),
        ..Touching::default()
    }
}

/// Σ w y over all groups.
fn sum(watch: &ContactWatch, groups: usize) -> f64 {
    let of = |g: usize| {
        let (w, y) = (weights(g), watch.touching(g));
        dot(w.force, y.force) + w.normal * y.normal + w.friction * y.friction + w.penetration * y.penetration
    };
    (0..groups).map(of).sum()
}

/// Everything that forces of contacts depend on, as one vector of tangents: the state, the control, the params.
struct Point {
    model: Model,
    control: Vec<f64>,
}

impl Point {
    fn value(&self, watch: &mut ContactWatch, groups: usize, tangent: &[f64]) -> f64 {
        let (mut state, mut params) = (self.model.state(), self.model.params());
        let (of_state, rest) = tangent.split_at(self.lengths()[0]);
        let (of_control, of_params) = rest.split_at(self.control.len());
        state.retract(of_state).expect("as long");
        params.retract(of_params).expect("as long");
        let control: Vec<f64> = self.control.iter().zip(of_control).map(|(u, du)| u + du).collect();
        watch.run(0.3, state.values(), &control, params.values()).expect("it fits");
        sum(watch, groups)
    }

    fn lengths(&self) -> [usize; 3] {
        let (state, params) = (self.model.state(), self.model.params());
        let of_state = state.to_tangent(&vec![0.0; state.values().len()]).expect("as long").len();
        let of_params = params.to_tangent(&vec![0.0; params.values().len()]).expect("as long").len();
        [of_state, self.control.len(), of_params]
    }

    /// The number of a restitution of 0, where impacts have a kink (docs/nonsmooth.md).
    fn kink(&self) -> Option<usize> {
        let params = self.model.params();
        let at = self.model.params_layout().find("contact.restitution").ok()?.start;
        let mut one = vec![0.0; params.values().len()];
        one[at] = 1.0;
        let tangent = params.to_tangent(&one).expect("as long").iter().position(|x| *x != 0.0)?;
        let [of_state, of_control, _] = self.lengths();
        (params.values()[at] == 0.0).then_some(of_state + of_control + tangent)
    }

    fn gradient(&self, watch: &mut ContactWatch, groups: usize) -> Vec<f64> {
        let (state, params) = (self.model.state(), self.model.params());
        watch.run(0.3, state.values(), &self.control, params.values()).expect("it fits");
        (0..groups).for_each(|g| watch.seed(g, weights(g)));
        let mut state_bar = vec![0.0; state.values().len()];
        let mut control_bar = vec![0.0; self.control.len()];
        let mut params_bar = vec![0.0; params.values().len()];
        watch.pullback(&mut state_bar, &mut control_bar, &mut params_bar).expect("it fits");
        let (of_state, of_params) = (state.to_tangent(&state_bar), params.to_tangent(&params_bar));
        [of_state.expect("as long"), control_bar, of_params.expect("as long")].concat()
    }
}

/// The same world, with a force and a torque on every body as controls.
fn pushed(mut scene: Scene) -> Scene {
    for robot in &mut scene.robots {
        robot.pushed = (0..robot.bodies.len()).collect();
    }
    scene
}

fn check(name: &str, scene: Scene, sparse: bool) -> f64 {
    let scene = pushed(scene);
    let model = Model::new(&scene).unwrap_or_else(|error| panic!("{name}: {error}"));
    let model = if sparse { model.with_sparse_contact(1) } else { model };
    let groups = groups(&model);
    let mut watch = ContactWatch::new(&model, &Scheme::of(&scene), &groups).expect("contacts");
    let control = (0..model.control_layout().len()).map(|i| 0.1 * (i as f64 + 0.3).sin()).collect();
    let (point, n) = (Point { model, control }, groups.len());
    let gradient = point.gradient(&mut watch, n);
    let scale = gradient.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    let mut worst: f64 = 0.0;
    let (touching, kink) = (watch.touching(0).count > 0.0, point.kink());
    for (i, found) in gradient.iter().enumerate().filter(|(i, _)| Some(*i) != kink) {
        // Corners that share a load do so within a ten-millionth: the best of several lengths is the derivative.
        let error = |h: f64| {
            let mut tangent = vec![0.0; gradient.len()];
            let mut at = |by: f64| {
                tangent[i] = by;
                point.value(&mut watch, n, &tangent)
            };
            // Richardson's extrapolation of central differences.
            let (wide, narrow) = (at(h) - at(-h), at(0.5 * h) - at(-0.5 * h));
            ((8.0 * narrow - wide) / (6.0 * h) - found).abs() / scale
        };
        let best = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8].map(error).into_iter().fold(f64::INFINITY, f64::min);
        assert!(best < 1e-6, "{name}, number {i} of {:?}: {found}, off by {best:.1e}", point.lengths());
        worst = worst.max(best);
    }
    let [of_state, of_control, _] = point.lengths();
    let parts = [
        &gradient[..of_state],
        &gradient[of_state..of_state + of_control],
        &gradient[of_state + of_control..],
    ];
    let hard = !name.contains("soft");
    for (part, depends) in parts.into_iter().zip([true, hard, true]) {
        let found = part.iter().any(|x| x.abs() > 1e-3);
        assert_eq!(found, depends && touching, "{name}: what it depends on");
    }
    worst
}

#[test]
fn the_pullback_of_impulses_is_that_of_differences() {
    for (name, scene) in common::contacts::hard() {
        check(name, scene, false);
    }
}

#[test]
fn the_pullback_of_impulses_of_sparse_equations_is_that_of_differences() {
    for (name, scene) in common::contacts::sparse() {
        check(name, scene, true);
    }
}

#[test]
fn the_pullback_of_penalties_is_that_of_differences() {
    for (name, scene) in common::contacts::soft() {
        check(name, scene, false);
    }
}

/// The momentum that a step gives a ball is what its forces say: those of gravity and of the contact.
#[test]
fn forces_are_those_of_the_step() {
    for scene in [common::contacts::hard(), common::contacts::soft()].concat() {
        let (name, scene) = scene;
        if !name.contains("ball that") {
            continue;
        }
        let step = Step::of(&scene).expect("a step");
        let model = step.model();
        let of = Some(Toucher::Robot(0));
        let mut watch =
            ContactWatch::new(model, &step.scheme(), &[Between { of, with: None }]).expect("contacts");
        let (state, params, controls) = (model.state(), model.params(), model.controls(1));
        watch.run(0.0, state.values(), &controls, params.values()).expect("it fits");
        let force = watch.touching(0).force;
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        let mut velocities = Vec::new();
        let name_of_velocity = format!("{}.velocity", scene.robots[0].name);
        let range = model.state_layout().find(&name_of_velocity).expect("a velocity");
        let see = |moment: &pullback_engine::rollout::Moment<'_>| {
            velocities.push(moment.state[range.clone()].to_vec());
        };
        rollout.watch(&Start::new(&state, &controls, &params), see).expect("a step");
        let forces = [force.x, force.y, force.z];
        for (axis, (force, gravity)) in forces.into_iter().zip(scene.world.gravity).enumerate() {
            let change = (velocities[1][axis] - velocities[0][axis]) / scene.simulation.dt;
            let wanted = 1.3 * (change - gravity);
            assert!((force - wanted).abs() < 1e-9, "{name}, {axis}: {force} {wanted}");
        }
    }
}

/// Contacts that bear a load, and those that slide, by the params that they read.
#[test]
fn contacts_are_counted_by_what_they_read() {
    for (name, scene) in [common::contacts::hard(), common::contacts::soft()].concat() {
        let model = Model::new(&scene).expect("a model");
        let Some(wanted) = [
            ("a ball that slides", [1.0, 1.0]),
            ("a soft ball that slides", [1.0, 1.0]),
            ("a ball that rolls", [1.0, 0.0]),
            ("a ball in the air", [0.0, 0.0]),
            ("a box that slides", [4.0, 4.0]),
        ]
        .into_iter()
        .find_map(|(of, wanted)| (of == name).then_some(wanted)) else {
            continue;
        };
        let number = |name: &str| model.params_layout().find(name).expect("a param").start;
        let params = [number("contact.mu"), number("ground.mu"), number("gravity.z")];
        let mut watch = ContactWatch::of_params(&model, &Scheme::of(&scene), &params).expect("contacts");
        let (state, values) = (model.state(), model.params());
        watch.run(0.0, state.values(), &[], values.values()).expect("it fits");
        for k in 0..2 {
            let found = watch.touching(k);
            assert_eq!([found.count, found.sliding], wanted, "{name}: {found:?}");
        }
        assert_eq!(watch.touching(2), Touching::default(), "{name}: no contact reads gravity");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (_, scene) = common::contacts::hard().swap_remove(0);
    let model = Model::new(&scene).expect("a model");
    let mut watch = ContactWatch::new(&model, &Scheme::of(&scene), &[Between::default()]).expect("contacts");
    let (state, params) = (model.state(), model.params());
    let short = watch.run(0.0, &state.values()[1..], &[], params.values());
    assert!(matches!(short, Err(Error::Length { what: "a state", .. })), "{short:?}");
    let mut broken = state.values().to_vec();
    broken[0] = f64::NAN;
    assert!(watch.run(0.0, &broken, &[], params.values()).is_err());
    let without = Model::new(&Scene { contact: None, ..scene.clone() }).expect("a model");
    assert!(ContactWatch::new(&without, &Scheme::of(&scene), &[]).is_err());
    assert!(model.may_touch(Between { of: Some(Toucher::Robot(0)), with: Some(Toucher::Ground) }));
    assert!(!model.may_touch(Between { of: Some(Toucher::Robot(0)), with: Some(Toucher::Fixed(0)) }));
    assert!(!without.may_touch(Between::default()));
}
