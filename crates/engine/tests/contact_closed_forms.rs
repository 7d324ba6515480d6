//! Contact against closed forms: values and gradients, to the order of the step.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Energy, Model, Options, Rollout, Start, Step};
use pullback_scene::Scene;

const G: f64 = 9.81;

/// One number of the last state.
struct Last(usize);

impl Loss for Last {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[self.0] } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state[self.0] += 1.0;
        }
    }
}

/// A number of the last state, and how it changes with others: names of params, `initial.` for those of the state.
fn run(text: &str, steps: usize, of: &str, by: &[&str]) -> (f64, Vec<f64>) {
    let scene = Scene::parse(text, "contact.toml").unwrap_or_else(|error| panic!("{error}"));
    let step = Step::of(&scene).expect("a step");
    let model = step.model();
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let of = model.state_layout().find(of).expect("a number of the state").start;
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &Last(of)).expect("a gradient");
    let (initial, params) = (gradient.state(0).expect("states"), gradient.params(0).expect("params"));
    let derivative = |name: &&str| match name.strip_prefix("initial.") {
        Some(name) => initial.number(name).expect("a number of the state"),
        None => params.number(name).expect("a param"),
    };
    (gradient.value(), by.iter().map(derivative).collect())
}

fn near(what: &str, found: f64, wanted: f64, error: f64) {
    assert!((found - wanted).abs() <= error, "{what}: {found}, and not {wanted} within {error:.1e}");
}

/// A scene with steps of `dt`, gravity, friction μ everywhere, and bodies.
fn world(dt: f64, gravity: [f64; 3], mu: f64, more: &str, bodies: &str) -> String {
    format!(
        "[simulation]\nsteps = 1\ndt = {dt}\n[world]\ngravity = {gravity:?}\n[ground]\nmu = {mu}\n\
         [contact]\nmu = {mu}\n{more}{bodies}"
    )
}

/// d = v² / (2 μ g), and its derivatives v / (μ g) and -v² / (2 μ² g).
#[test]
fn a_box_slides_to_rest() {
    let (v, mu) = (2.0, 0.3);
    let brick = format!(
        "[[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.02] }}\nposition = [0, 0, 0.02]\n\
         velocity = [{v}, 0, 0]\n"
    );
    for dt in [2e-3, 5e-4] {
        let text = world(dt, [0.0, 0.0, -G], mu, "", &brick);
        let by = ["initial.box.velocity.x", "ground.mu", "contact.mu"];
        let (d, slopes) = run(&text, (0.75 / dt) as usize, "box.position.x", &by);
        // It stops within a step, and half a step of the first velocity is missing.
        near("distance", d, v * v / (2.0 * mu * G), 0.6 * v * dt);
        near("by the speed", slopes[0], v / (mu * G), 1.1 * dt);
        near("by μ", slopes[1] + slopes[2], -v * v / (2.0 * mu * mu * G), 1.1 * v / mu * dt);
    }
}

/// Ground that says nothing of its friction has that of the scene, one number for both, whose derivative is whole.
#[test]
fn one_friction_for_body_and_ground() {
    let (v, mu, dt) = (2.0, 0.3, 5e-4);
    let text = format!(
        "[simulation]\nsteps = 1\ndt = {dt}\n[ground]\n[contact]\nmu = {mu}\n[[bodies]]\nname = \"box\"\nmass = 2\n\
         shape = {{ box = [0.1, 0.1, 0.02] }}\nposition = [0, 0, 0.02]\nvelocity = [{v}, 0, 0]\n"
    );
    let (d, slopes) = run(&text, (0.75 / dt) as usize, "box.position.x", &["contact.mu"]);
    near("distance", d, v * v / (2.0 * mu * G), 0.6 * v * dt);
    near("by μ", slopes[0], -v * v / (2.0 * mu * mu * G), 1.1 * v / mu * dt);
    let scene = Scene::parse(&text, "box.toml").expect("a scene");
    let model = Model::new(&scene).expect("a model");
    assert!(model.params_layout().find("ground.mu").is_err());
    assert!(model.params_layout().find("ground.height").is_ok());
}

/// What rolls down a slope of 30°: a = g sin θ / (1 + k), k = I / (m r²), if μ ≥ tan θ k / (1 + k); and its derivative by the
/// slope's pull.
#[test]
fn round_things_roll() {
    let (sin, cos) = (0.5, 0.75_f64.sqrt());
    let (mass, radius) = (2.0, 0.1);
    for (name, k) in [("sphere", 0.4), ("hoop", 0.999)] {
        let inertia = k * mass * radius * radius;
        let body = format!(
            "[[bodies]]\nname = \"it\"\nmass = {mass}\ninertia = [{inertia}, {inertia}, {inertia}]\n\
             shape = {{ sphere = {radius} }}\nposition = [0, 0, {radius}]\n"
        );
        let needed = sin / cos * k / (1.0 + k);
        for dt in [2e-3, 5e-4] {
            let text = world(dt, [G * sin, 0.0, -G * cos], 1.05 * needed, "", &body);
            let by = ["gravity.x", "ground.mu", "it.mass", "initial.it.velocity.x"];
            let (x, slopes) = run(&text, (1.0 / dt) as usize, "it.position.x", &by);
            let a = G * sin / (1.0 + k);
            near(name, x, 0.5 * a, 0.51 * a * dt);
            near(&format!("{name} by gravity"), slopes[0], 0.5 / (1.0 + k), 0.51 * dt);
            assert_eq!(slopes[1], 0.0, "{name}: what sticks does not depend on friction");
            // a = m g sin θ / (m + I / r²): da/dm = g sin θ k / (1 + k)² / m.
            near(
                &format!("{name} by mass"),
                slopes[2],
                0.5 * G * sin * k / (1.0 + k).powi(2) / mass,
                0.51 * a * dt,
            );
            // It slides until it rolls: 1 / (1 + k) of the speed is left.
            near(&format!("{name} by speed"), slopes[3], 1.0 / (1.0 + k), 2.0 * dt);
        }
    }
}

/// v₁' = v (m₁ - e m₂) / (m₁ + m₂), v₂' = v m₁ (1 + e) / (m₁ + m₂): and their derivatives by e and by the masses.
#[test]
fn balls_exchange_momentum() {
    let (v, m1, m2, e) = (1.5, 2.0, 0.7, 0.6);
    let ball = |name: &str, mass: f64, x: f64, v: f64| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmass = {mass}\nshape = {{ sphere = 0.1 }}\nposition = [{x}, 0, 1]\n\
             velocity = [{v}, 0, 0]\n"
        )
    };
    let balls = ball("one", m1, 0.0, v) + &ball("two", m2, 0.3003, 0.0);
    let text = world(1e-3, [0.0; 3], 0.3, &format!("restitution = {e}\nregularisation = 1e-9\n"), &balls);
    let by = ["contact.restitution", "one.mass", "two.mass", "initial.one.velocity.x"];
    let sum = m1 + m2;
    let (first, slopes) = run(&text, 150, "one.velocity.x", &by);
    near("the first", first, v * (m1 - e * m2) / sum, 1e-8);
    let wanted = [-v * m2 / sum, v * m2 * (1.0 + e) / (sum * sum), -v * m1 * (1.0 + e) / (sum * sum)];
    for (i, wanted) in wanted.into_iter().enumerate() {
        near(by[i], slopes[i], wanted, 1e-7);
    }
    near(by[3], slopes[3], (m1 - e * m2) / sum, 1e-7);
    let (second, slopes) = run(&text, 150, "two.velocity.x", &by);
    near("the second", second, v * m1 * (1.0 + e) / sum, 1e-8);
    near("momentum", m1 * first + m2 * second, m1 * v, 1e-14);
    let wanted = [v * m1 / sum, v * m2 * (1.0 + e) / (sum * sum), -v * m1 * (1.0 + e) / (sum * sum)];
    for (i, wanted) in wanted.into_iter().enumerate() {
        near(by[i], slopes[i], wanted, 1e-7);
    }
}

/// Ten boxes on each other stand for ten seconds: nothing sinks, slides or turns, and the energy is constant.
#[test]
fn a_stack_stands() {
    let half = 0.1;
    let brick = |i: usize| {
        format!(
            "[[bodies]]\nname = \"box{i}\"\nmass = 1.5\nshape = {{ box = [0.15, 0.1, {half}] }}\nposition = [0, 0, {}]\n",
            half * (2 * i + 1) as f64
        )
    };
    let text = world(0.01, [0.0, 0.0, -G], 0.5, "", &(0..10).map(brick).collect::<String>());
    let scene = Scene::parse(&text, "stack.toml").expect("a scene");
    let step = Step::of(&scene).expect("a step");
    let model = step.model();
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1000)).expect("a rollout");
    let (state, params, controls) = (model.state(), model.params(), model.controls(1000));
    let mut energy = Energy::new(model).expect("an energy");
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut last = Vec::new();
    let see = |moment: &Moment<'_>| {
        let (kinetic, potential) = energy.of(moment.state, moment.params).expect("an energy");
        let now = kinetic + potential;
        (least, most) = (least.min(now), most.max(now));
        last = moment.state.to_vec();
    };
    rollout.watch(&Start::new(&state, &controls, &params), see).expect("a run");
    for (i, (now, before)) in last.iter().zip(state.values()).enumerate() {
        near(&format!("number {i} of the state"), *now, *before, 2e-5);
    }
    near("energy", most, least, 1e-3);
}
