//! Implicit steps of many points that touch each other, or bodies that move.

mod meeting;

use meeting::{Weighed, points, scene, surface, weight};
use pullback_collide::crossings;
use pullback_engine::force::{Constraint, Site};
use pullback_engine::rollout::{Coordinate, Moment, Pushforward, Tangent};
use pullback_engine::{Error, Gradient, Model, Options, Parts, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::{Integrator, Scene};

fn gradient(model: &Model, scheme: Scheme, steps: usize) -> Gradient {
    let step = Step::new(model, scheme).expect("a step");
    let (state, params) = (model.state(), model.params());
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    rollout.gradient(&Start::new(&state, &[], &params), &Weighed).expect("a gradient").clone()
}

fn against_differences(model: &Model, scheme: Scheme, steps: usize, names: &[&str]) {
    meeting::against_differences(model, scheme, steps, (names, 1e-3));
}

/// Two sheets of so many cells a side, the upper of which falls on the lower, which hangs from its corners.
fn sheets(cells: usize, ke: f64, more: &str) -> String {
    format!(
        r#"
        [soft_contact]
        thickness = 0.01
        ke = {ke}
        mu = 0.4
        kf = 0.2
        {more}
        [[sheets]]
        name = "low"
        mesh = {{ sheet = [0.5, 0.5], cells = [{cells}, {cells}] }}
        fixed = [0, {cells}, {}, {}]
        thickness = 2e-3
        young = 3e4
        poisson = 0.3
        density = 300
        bending = 1e-4

        [[sheets]]
        name = "high"
        mesh = {{ sheet = [0.4, 0.4], cells = [{cells}, {cells}] }}
        position = [0.013, 0.021, 0.014]
        velocity = [0.2, 0.1, -0.3]
        thickness = 2e-3
        young = 3e4
        poisson = 0.3
        density = 300
        bending = 1e-4
        "#,
        cells * (cells + 1),
        (cells + 1) * (cells + 1) - 1,
    )
}

/// More than 200 points in steps of 1/60 s: nothing goes through anything, as it would without contact, and derivatives are those of
/// differences. The upper sheet is askew, so that there is no moment at which it is through the lower one all at once.
#[test]
fn sheets_that_fall_on_each_other() {
    let askew = "position = [0.013, 0.021, 0.085]\n        orientation = [0.99, 0.07, -0.1, 0]";
    let with = scene(&sheets(10, 40.0, "").replace("position = [0.013, 0.021, 0.014]", askew));
    let model = Model::new(&with).expect("a model");
    assert!(model.particles() > 200, "places of entries are found in each step");
    never::<f64>(&with, 16, "they fall");
    let mut without = with.clone();
    without.soft_contact = None;
    let crossed = most_crossings::<f64>(&without, 16).0;
    assert!(crossed > 10, "{crossed} crossings without contact");
    let names = ["soft_contact.ke", "soft_contact.mu", "soft_contact.thickness", "high.density", "low.mu"];
    against_differences(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0), 5, &names);
}

/// Implicit steps go to the motion of explicit ones as they become short, in their order, and so do the derivatives: what is left where the
/// order is extrapolated is little.
#[test]
fn sheets_as_explicit_steps_have_them() {
    for more in ["", "kd = 0.02"] {
        let model = Model::new(&scene(&sheets(5, 10.0, more))).expect("a model");
        assert!(model.particles() > 64, "places of entries are found in each step");
        let names = ["soft_contact.ke", "high.density", "low.mu"];
        let numbers = |integrator, steps: usize| {
            let g = gradient(&model, Scheme::new(integrator, 0.03 / steps as f64), steps);
            let by = g.params(0).expect("names");
            names.iter().map(|name| by.number(name).expect("a param")).chain([g.value()]).collect::<Vec<_>>()
        };
        let exact = numbers(Integrator::VelocityVerlet, 1500);
        let off = |found: &[f64]| {
            let each = found.iter().zip(&exact).map(|(found, exact)| (found / exact - 1.0).powi(2));
            each.sum::<f64>().sqrt()
        };
        for (integrator, factor) in [(Integrator::BackwardEuler, 2.0), (Integrator::ImplicitMidpoint, 4.0)] {
            let (coarse, fine) = (numbers(integrator, 40), numbers(integrator, 80));
            let limit: Vec<f64> =
                coarse.iter().zip(&fine).map(|(c, f)| f + (f - c) / (factor - 1.0)).collect();
            let (coarse, fine, limit) = (off(&coarse), off(&fine), off(&limit));
            let ratio = coarse / fine;
            println!(
                "{}: {coarse:.2e}, then {fine:.2e}, ratio {ratio:.2}, limit {limit:.2e}",
                integrator.name()
            );
            assert!((0.7 * factor..1.4 * factor).contains(&ratio), "{}", integrator.name());
            assert!(limit < 0.25 * fine && limit < 0.04, "{}", integrator.name());
        }
    }
}

/// Sheets that meet at 20 m/s in steps in which they go thirty thicknesses.
fn fast(ke: f64) -> String {
    let text = sheets(5, ke, "").replace("velocity = [0.2, 0.1, -0.3]", "velocity = [0.5, 0.2, -20]");
    text.replace("position = [0.013, 0.021, 0.014]", "position = [0.013, 0.021, 0.2]")
}

/// Steps of backward Euler: how often surfaces cross at most, and how the steps end.
fn most_crossings<S: Parts>(scene: &Scene, steps: usize) -> (usize, Result<(), Error>) {
    let (model, surface) = (Model::new(scene).expect("a model"), surface(scene));
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0)).expect("a step");
    let (state, params) = (model.state(), model.params());
    let mut rollout = Rollout::<S>::new(&step, Options::new(steps)).expect("a rollout");
    let mut most = 0;
    let see = |m: &Moment<'_>| {
        most = most.max(crossings(&surface, &points(m.state, scene.particle_count())));
    };
    let end = rollout.watch(&Start::new(&state, &[], &params), see);
    (most, end)
}

/// They never do, and all steps are found.
fn never<S: Parts>(scene: &Scene, steps: usize, what: &str) {
    let (most, end) = most_crossings::<S>(scene, steps);
    end.expect(what);
    assert_eq!(most, 0, "{what}");
}

/// Backward Euler steps do not let them through each other, in single precision either.
#[test]
fn sheets_that_meet_fast() {
    let scene = scene(&fast(40.0));
    never::<f64>(&scene, 12, "they meet");
    never::<f32>(&scene, 12, "they meet");
    let model = Model::new(&scene).expect("a model");
    let scheme = Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0);
    against_differences(&model, scheme, 2, &["soft_contact.ke", "high.density"]);
}

/// Where contact is too soft for what comes, the force that it has in the end holds nothing: no step is found, and none that goes through.
#[test]
fn sheets_that_push_too_little() {
    let heavy = fast(0.4).replace(
        "density = 300\n        bending = 1e-4\n        ",
        "density = 3e5\n        bending = 1e-4\n",
    );
    let scene = scene(&heavy);
    for (most, end) in [most_crossings::<f64>(&scene, 10), most_crossings::<f32>(&scene, 10)] {
        assert_eq!(most, 0);
        let error = end.expect_err("nothing holds it");
        let Error::NotConverged { held: Some(held), .. } = &error else { panic!("{error}") };
        assert!(held.iter().any(|name| name.starts_with("high[")), "{error}");
        assert!(error.to_string().contains("let it go no further: raise `ke`"), "{error}");
    }
}

/// A plate that a motion leads upwards, by more than what lies between, in each step: what moves with it stays on it, what it meets on its way
/// is pushed, and what is led into it is an error.
#[test]
fn what_lies_on_a_plate_that_is_led() {
    let led = |velocity: &str, more: &str| {
        let text = sheets(5, 40.0, "").replace("fixed = [0, 5, 30, 35]", "");
        let text = text.replace("velocity = [0.2, 0.1, -0.3]", &format!("velocity = {velocity}"));
        let lift = "[[motions]]\nname = \"lift\"\npoints = \"low\"\nvelocity = [0, 0, 1]\n";
        scene(&format!("{text}\n{lift}{more}"))
    };
    never::<f64>(&led("[0, 0, 1]", ""), 20, "it lies there");
    let mut above = led("[0, 0, 0]", "");
    above.particles[1].positions.iter_mut().for_each(|x| x[2] += 0.006);
    never::<f64>(&above, 20, "it is pushed");
    let down = "[[motions]]\nname = \"press\"\npoints = \"high\"\nvelocity = [0, 0, -1]\n";
    let (most, end) = most_crossings::<f64>(&led("[0, 0, 0]", down), 5);
    assert_eq!(most, 0);
    let error = end.expect_err("there is no other way");
    let Error::LedThrough { a, b, world: None, .. } = &error else { panic!("{error}") };
    assert!(
        [a, b].iter().any(|it| it.starts_with("high[")) && [a, b].iter().any(|it| it.starts_with("low[")),
        "{error}"
    );
}

/// What a motion comes upon is pushed by that motion, whatever others do elsewhere; and what two of them close on is pressed.
#[test]
fn what_motions_come_upon() {
    let low = |gap: f64, velocity: &str| {
        let text = sheets(5, 40.0, "").replace("fixed = [0, 5, 30, 35]", "");
        let text = text.replace("velocity = [0.2, 0.1, -0.3]", "");
        let text = text.replace("[0.013, 0.021, 0.014]", &format!("[0.013, 0.021, {gap}]"));
        let lead = format!("[[motions]]\nname = \"lift\"\npoints = \"low\"\nvelocity = {velocity}\n");
        format!("{text}\n{lead}")
    };
    let far = r#"
        [[sheets]]
        name = "far"
        mesh = { sheet = [0.5, 0.5], cells = [5, 5] }
        position = [0, 0, 50]
        thickness = 2e-3
        young = 3e4
        poisson = 0.3
        density = 300

        [[motions]]
        name = "sink"
        points = "far"
        velocity = [0, 0, -1]
    "#;
    for gap in [0.011, 0.012, 0.015] {
        never::<f64>(&scene(&format!("{}{far}", low(gap, "[0, 0, 1]"))), 4, "it is lifted");
    }
    let cube = r#"
        [[solids]]
        name = "cube"
        mesh = { beam = [0.12, 0.12, 0.12], cells = [3, 3, 3] }
        position = [-0.06, 0, 0.07]
        young = 3e4
        poisson = 0.3
        density = 300
    "#;
    // From 12 mm away on both sides: by 17 mm each in one step, and by 8 mm in each of three.
    for (speed, steps) in [(1.0, 1), (0.5, 3)] {
        let down = format!("[[motions]]\nname = \"press\"\npoints = \"high\"\nvelocity = [0, 0, -{speed}]\n");
        let low = low(0.142, &format!("[0, 0, {speed}]"));
        let low = low.replace("name = \"low\"", "name = \"low\"\n        position = [0, 0, -0.002]");
        never::<f64>(&scene(&format!("{low}{cube}{down}")), steps, "it is pressed");
    }
}

/// Two sheets that are pinned together at a corner fold onto each other: what touches there before a step does not hold the world.
#[test]
fn what_is_pinned_at_one_place() {
    // By 30° about an axis across that corner.
    let pinned = sheets(5, 40.0, "").replace(
        "position = [0.013, 0.021, 0.014]\n        velocity = [0.2, 0.1, -0.3]",
        "position = [-0.0767949192, -0.0767949192, 0.1414213562]\n        orientation = [0.9659258263, 0.1830127019, -0.1830127019, 0]\n        \
         fixed = [0]",
    );
    let mut scene = scene(&pinned);
    let corner = scene.particles[0].positions[0];
    let off = scene.particles[1].positions[0].iter().zip(corner).map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) < 1e-8, "it is there but for rounding");
    scene.particles[1].positions[0] = corner;
    never::<f64>(&scene, 12, "it falls");
    never::<f32>(&scene, 6, "it falls");
}

/// Where surfaces that were set through each other hold a step up, that is the error, and no lack of stiffness.
#[test]
fn surfaces_that_cross_before_a_step() {
    let text = sheets(5, 40.0, "").replace("fixed = [0, 5, 30, 35]", "");
    let text = text.replace("velocity = [0.2, 0.1, -0.3]", "fixed = true");
    let lead = "[[motions]]\nname = \"sink\"\npoints = \"low\"\nvelocity = [0, 0, -1]\n";
    let scene = scene(&format!("{text}\n{lead}"));
    let model = Model::new(&scene).expect("a model");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0)).expect("a step");
    let (mut state, params) = (model.state(), model.params());
    let numbers = state.values_mut();
    for i in 36..72 {
        // A slope, half of which is below the other sheet.
        numbers[3 * i + 2] = 0.3 * (numbers[3 * i] - 0.02);
    }
    assert!(crossings(&surface(&scene), &points(numbers, scene.particle_count())) > 0);
    let mut rollout = Rollout::<f64>::new(&step, Options::new(2)).expect("a rollout");
    let error = rollout.watch(&Start::new(&state, &[], &params), |_| ()).expect_err("it is held");
    let Error::Crossed { a, b, world: None, .. } = &error else { panic!("{error}") };
    assert!([a, b].iter().all(|it| it.starts_with("high[") || it.starts_with("low[")), "{error}");
    assert!(error.to_string().contains("go through each other already"), "{error}");
}

/// Worlds in which other things touch have other places of entries: each has the same bits as alone.
#[test]
fn worlds_in_which_other_things_touch() {
    let model = Model::new(&scene(&sheets(5, 40.0, ""))).expect("a model");
    assert!(model.particles() > 64, "places of entries are found in each step");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0)).expect("a step");
    let (state, mut params) = (model.state(), model.params());
    let mut other = state.clone();
    for i in 36..72 {
        other.values_mut()[3 * i] += 0.2;
        other.values_mut()[3 * i + 2] += 0.02;
    }
    let first = params.values().to_vec();
    params.set("high.density", &[200.0]).expect("a param");
    let states = [state.values(), other.values()];
    let numbers = [&first[..], params.values()];
    let mut batch = Rollout::<f64>::new(&step, Options { worlds: 2, ..Options::new(5) }).expect("a batch");
    let start = Start { states: &states.concat(), controls: &[], params: &numbers.concat() };
    let batch = batch.gradient(&start, &Weighed).expect("a gradient").clone();
    let mut alone = Rollout::<f64>::new(&step, Options::new(5)).expect("a rollout");
    for w in 0..2 {
        let start = Start { states: states[w], controls: &[], params: numbers[w] };
        let g = alone.gradient(&start, &Weighed).expect("a gradient");
        let of = |all: &[f64]| all[w * all.len() / 2..(w + 1) * all.len() / 2].to_vec();
        assert_eq!((of(&batch.values), of(&batch.states)), (g.values.clone(), g.states.clone()), "world {w}");
        assert_eq!(of(&batch.params), g.params, "world {w}");
    }
    assert!(batch.values[0] != batch.values[1]);
}

/// Gradients in single precision are nearly those of double precision, and tangents those of differences.
#[test]
fn single_precision_and_tangents() {
    const STEPS: usize = 4;
    let model = Model::new(&scene(&sheets(5, 40.0, ""))).expect("a model");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0)).expect("a step");
    let (state, mut params) = (model.state(), model.params());
    let names = ["soft_contact.ke", "soft_contact.thickness", "high.density", "low.mu"];
    let places = names.map(|name| model.params_layout().find(name).expect("a param").start);
    let mut exact = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
    let wanted = exact.gradient(&Start::new(&state, &[], &params), &Weighed).expect("a gradient").clone();
    let mut single = Rollout::<f32>::new(&step, Options::new(STEPS)).expect("a rollout");
    let found = single.gradient(&Start::new(&state, &[], &params), &Weighed).expect("a gradient");
    let scale = wanted.states.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    for (i, (found, wanted)) in found.states.iter().zip(&wanted.states).enumerate() {
        assert!((found - wanted).abs() < 1e-2 * scale, "state {i}: {found}, and not {wanted}");
    }
    for (name, i) in names.iter().zip(places) {
        let (found, wanted) = (found.params[i], wanted.params[i]);
        println!("{name}: {found:.6e} in single precision, {wanted:.6e} in double");
        assert!((found / wanted - 1.0).abs() < 1e-2, "{name}: {found}, and not {wanted}");
    }

    let directions = places.map(Coordinate::Param).to_vec();
    let mut slopes = [0.0; 4];
    let see = |moment: &Moment<'_>, tangent: &Tangent<'_>| {
        let terms = tangent.state.iter().enumerate().map(|(i, x)| weight(i) * x);
        slopes[tangent.direction] = if moment.last { terms.sum() } else { 0.0 };
    };
    let mut tangents = Pushforward::new(&step, STEPS, directions, RunOptions::default());
    tangents.run(&Start::new(&state, &[], &params), see).expect("tangents");
    for ((name, i), found) in names.iter().zip(places).zip(slopes) {
        let (at, h) = (params.values()[i], 1e-6 * params.values()[i]);
        let mut value = |x: f64| {
            params.values_mut()[i] = x;
            exact.value(&Start::new(&state, &[], &params), &Weighed).expect("a value")[0]
        };
        let wanted = (value(at + h) - value(at - h)) / (2.0 * h);
        params.values_mut()[i] = at;
        println!("{name}: tangent {found:.9e}, differences {wanted:.9e}");
        assert!(found != 0.0 && (found / wanted - 1.0).abs() < 1e-4, "{name}: {found}, and not {wanted}");
    }
}

/// A cloth of 225 points lies on a ball that may move, which lies on the ground: each point feels the ball, and the ball feels them all.
#[test]
fn a_cloth_on_a_ball_that_moves() {
    let text = r#"
        [contact]
        model = "penalty"
        mu = 0.5
        ke = 400
        kd = 0
        kf = 1

        [ground]

        [[bodies]]
        name = "ball"
        shape = { sphere = 0.25 }
        mass = 0.5
        position = [0, 0, 0.2488]
        velocity = [0.1, 0, 0]

        [[sheets]]
        name = "cloth"
        mesh = { sheet = [0.8, 0.8], cells = [14, 14] }
        position = [0.02, 0.01, 0.511]
        thickness = 2e-3
        young = 1e5
        poisson = 0.3
        density = 300
        bending = 1e-3
        radius = 0.01
    "#;
    let model = Model::new(&scene(text)).expect("a model");
    let scheme = Scheme::new(Integrator::BackwardEuler, 1.0 / 120.0);
    against_differences(
        &model,
        scheme,
        8,
        &["contact.ke", "contact.mu", "ball.mass", "cloth.mu", "cloth.density"],
    );
}

/// What is left of an acceleration along a ball around a point:  a - n (n·a),  n = (x - c)/|x - c|
#[kernel]
fn along_a_ball<R: Real>(a: Vec3<R>, x: Vec3<R>, center: Vec3<R>) -> Vec3<R> {
    let n = normalize(x - center);
    a - n * dot(n, a)
}

/// What starts on balls around a point stays on them.
#[derive(Debug)]
struct OnBalls {
    center: Vec3,
}

impl Constraint for OnBalls {
    fn constrain(&self, site: &mut Site<'_>, acceleration: Buffer<Vec3>) -> Result<Buffer<Vec3>, Error> {
        let center = site.program.constant::<Vec3>(&site.name("center"), &[self.center]);
        let (name, x) = (site.name("along a ball"), site.x);
        Ok(site.program.map::<along_a_ball>(&name, (acceleration.own(), x.own(), center.shared())))
    }
}

/// What a force does depends on where things are then, so that Jacobians have the forces of contact in them.
#[test]
fn sheets_that_touch_within_a_constraint() {
    let scene = scene(
        &sheets(8, 60.0, "").replace("position = [0.013, 0.021, 0.014]", "position = [0.013, 0.021, 0.006]"),
    );
    let center = Vec3 { x: 0.25, y: 0.2, z: -0.1 };
    let model = Model::new(&scene).expect("a model").with_constraint(OnBalls { center });
    for integrator in [Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
        let scheme = Scheme::new(integrator, 4e-3);
        let names = ["soft_contact.ke", "soft_contact.thickness", "high.density", "low.mu"];
        against_differences(&model, scheme, 4, &names);
    }
}
