//! Implicit steps of many points that touch each other, or bodies that move.

use pullback_collide::{Surface, crossings};
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Error, Gradient, Model, Options, Parts, Rollout, Scheme, Start, Step};
use pullback_scene::{Integrator, Scene};

/// A smooth number of all positions and velocities of the last state, each of another weight.
struct Weighed;

fn weight(i: usize) -> f64 {
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

fn scene(text: &str) -> Scene {
    let text = format!("[simulation]\ndt = 0.001\nsteps = 1\n{text}");
    Scene::parse(&text, "touching.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn gradient(model: &Model, scheme: Scheme, steps: usize) -> Gradient {
    let step = Step::new(model, scheme).expect("a step");
    let (state, params) = (model.state(), model.params());
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    rollout.gradient(&Start::new(&state, &[], &params), &Weighed).expect("a gradient").clone()
}

/// Derivatives by params against central differences of the rollout itself.
fn against_differences(model: &Model, scheme: Scheme, steps: usize, names: &[&str]) {
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
        let h = 1e-6 * params.values()[i].abs().max(1e-3);
        let (found, wanted) = (found.params[i], (value(h) - value(-h)) / (2.0 * h));
        println!("{name}: {found:.9e}, differences {wanted:.9e}");
        assert!(found != 0.0 && (found / wanted - 1.0).abs() < 1e-4, "{name}: {found}, and not {wanted}");
        assert_ne!(found.to_bits(), wanted.to_bits());
    }
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
/// differences.
#[test]
fn sheets_that_fall_on_each_other() {
    let with = scene(&sheets(10, 40.0, ""));
    let model = Model::new(&with).expect("a model");
    assert!(model.particles() > 200, "places of entries are found in each step");
    never::<f64>(&with, 16, "they fall");
    let mut without = with.clone();
    without.soft_contact = None;
    let crossed = most_crossings::<f64>(&without, 16).0;
    assert!(crossed > 0, "{crossed} crossings without contact");
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
    let text = sheets(6, ke, "").replace("velocity = [0.2, 0.1, -0.3]", "velocity = [0.5, 0.2, -20]");
    text.replace("position = [0.013, 0.021, 0.014]", "position = [0.013, 0.021, 0.2]")
}

/// The surface of two sheets of as many points.
fn both(scene: &Scene) -> Surface {
    let points = scene.particle_count() as u32 / 2;
    let mut triangles: Vec<[u32; 3]> = scene.sheets[0].elements.clone();
    triangles.extend(scene.sheets[1].elements.iter().map(|t| t.map(|i| i + points)));
    Surface::new(triangles, 2 * points as usize).expect("a surface")
}

/// Steps of backward Euler: how often two sheets cross at most, and how the steps end.
fn most_crossings<S: Parts>(scene: &Scene, steps: usize) -> (usize, Result<(), Error>) {
    let (model, surface) = (Model::new(scene).expect("a model"), both(scene));
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1.0 / 60.0)).expect("a step");
    let (state, params) = (model.state(), model.params());
    let mut rollout = Rollout::<S>::new(&step, Options::new(steps)).expect("a rollout");
    let mut most = 0;
    let see = |m: &Moment<'_>| {
        let at: Vec<[f64; 3]> =
            m.state[..m.state.len() / 2].chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect();
        most = most.max(crossings(&surface, &at));
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
    never::<f64>(&scene, 20, "they meet");
    never::<f32>(&scene, 20, "they meet");
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
    let Error::LedThrough { a, b, .. } = &error else { panic!("{error}") };
    assert!(
        [a, b].iter().any(|it| it.starts_with("high[")) && [a, b].iter().any(|it| it.starts_with("low[")),
        "{error}"
    );
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
        12,
        &["contact.ke", "contact.mu", "ball.mass", "cloth.mu", "cloth.density"],
    );
}
