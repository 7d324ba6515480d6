//! Joints that impulses hold: limits and dry friction against closed forms, where nothing else touches.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Model, Options, Rollout, Start, Step};
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

/// The last state, and the derivatives of one of its numbers.
struct Outcome {
    last: Vec<f64>,
    state: Vec<f64>,
    params: Vec<(String, f64)>,
    controls: Vec<f64>,
}

impl Outcome {
    fn by(&self, name: &str) -> f64 {
        self.params.iter().find(|(other, _)| other == name).expect("a param").1
    }
}

/// Runs a robot with one joint `j`, whose state is its position and its velocity.
fn run(text: &str, steps: usize, of: usize) -> Outcome {
    let scene = Scene::parse(text, "joints.toml").unwrap_or_else(|error| panic!("{error}"));
    let step = Step::of(&scene).expect("a step");
    let model = step.model();
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let start = Start::new(&state, &controls, &params);
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let mut last = Vec::new();
    rollout.watch(&start, |moment| last = moment.state.to_vec()).expect("a run");
    let gradient = rollout.gradient(&start, &Last(of)).expect("a gradient");
    let names = (0..params.values().len()).map(|i| model.params_layout().name_of(i));
    Outcome {
        last,
        state: gradient.states.clone(),
        params: names.zip(gradient.params.iter().copied()).collect(),
        controls: gradient.controls.clone(),
    }
}

/// A body of mass 2 kg on a joint of this kind, whose centre is 0.5 m from it along x; a motor pushes it. `start` are keys of the
/// robot, `keys` of the joint, `more` of contact.
fn robot(dt: f64, (kind, axis): (&str, &str), (start, keys): (&str, &str), more: &str, push: f64) -> String {
    format!(
        "[simulation]\nsteps = 1\ndt = {dt}\n[contact]\njoint_limits = \"hard\"\njoint_friction = \"hard\"\n{more}\
         [[robots]]\nname = \"it\"\ncontrols = {{ m = {push} }}\n{start}\
         [[robots.bodies]]\nname = \"body\"\nmass = 2\ncenter = [0.5, 0, 0]\ninertia = [0.1, 0.1, 0.1]\n\
         [[robots.joints]]\nname = \"j\"\nbody = \"body\"\nkind = \"{kind}\"\naxis = {axis}\n{keys}\
         [[robots.motors]]\nname = \"m\"\njoint = \"j\"\nkind = \"torque\"\n"
    )
}

/// Numbers of about 1 cancel to this.
const ROUNDING: f64 = 1e-15;

const HINGE: (&str, &str) = ("hinge", "[0, 1, 0]");
const SLIDE: (&str, &str) = ("slide", "[1, 0, 0]");
const BY_SWEEPS: &str = "gradient = \"reverse\"\nsolver = \"gauss-seidel\"\n";

/// It falls on its limit, stops there, and stays as long as a torque lifts it by less than m g l cos q.
#[test]
fn a_pendulum_falls_on_its_limit() {
    for more in ["", BY_SWEEPS, "friction_cone = \"box\"\n"] {
        let weight = 2.0 * G * 0.5 * 0.5_f64.cos();
        let text = |position: f64, push: f64| {
            let start = format!("positions = {{ j = {position} }}\n");
            robot(0.002, HINGE, (&start, "range = [-1, 0.5]\n"), more, push)
        };
        let fallen = run(&text(0.2, 0.0), 500, 0);
        assert!((fallen.last[0] - 0.5).abs() < 1e-15 && fallen.last[1].abs() < 1e-12, "{:?}", fallen.last);
        // Where it lies is where the limit is, whatever came before.
        assert!((fallen.by("it.j.upper") - 1.0).abs() < 1e-12);
        for (name, slope) in fallen.params.iter().filter(|(name, _)| name != "it.j.upper") {
            assert!(slope.abs() < 1e-12, "{name}: {slope}");
        }
        let held = run(&text(0.5, -0.999_999 * weight), 200, 0);
        assert!(held.last[0] == 0.5 && held.last[1].abs() < ROUNDING, "{:?}", held.last);
        assert!(held.controls.iter().all(|slope| slope.abs() < ROUNDING), "{:?}", held.controls);
        let lifted = run(&text(0.5, -1.000_001 * weight), 200, 0);
        assert!(lifted.last[0] < 0.5 && lifted.last[1] < 0.0, "{:?}", lifted.last);
        assert!(lifted.controls.iter().all(|slope| *slope > 0.0));
    }
}

/// A slide against the end of its range: pressed harder it is where it was.
#[test]
fn a_slide_is_pressed_against_its_end() {
    for more in ["", BY_SWEEPS] {
        let joint = ("velocities = { j = -1 }\n", "range = [-0.3, 0.3]\n");
        let pressed = run(&robot(0.01, SLIDE, joint, more, -5.0), 100, 0);
        assert!((pressed.last[0] + 0.3).abs() < 1e-15 && pressed.last[1].abs() < 1e-12, "{:?}", pressed.last);
        assert!((pressed.by("it.j.lower") - 1.0).abs() < 1e-12);
        assert!(pressed.by("it.j.upper") == 0.0 && pressed.by("it.body.mass").abs() < ROUNDING);
        assert!(pressed.controls.iter().all(|slope| slope.abs() < ROUNDING), "{:?}", pressed.controls);
    }
}

/// d = m v² / (2 f), and its derivatives by v, m and f, to the order of the step; then it stands still.
#[test]
fn dry_friction_stops_a_slide() {
    let (m, v, f) = (2.0, 1.5, 3.0);
    for more in ["", BY_SWEEPS] {
        for dt in [0.01, 0.002] {
            // It stops between two steps, not at one.
            let (start, keys) = (format!("velocities = {{ j = {v} }}\n"), format!("friction = {f}\n"));
            let found = run(&robot(dt, SLIDE, (&start, &keys), more, 0.0), (1.2 / dt) as usize, 0);
            assert!(found.last[1].abs() < ROUNDING, "{:?}", found.last);
            let near = |what: &str, found: f64, wanted: f64, error: f64| {
                assert!((found - wanted).abs() <= error, "{what}: {found}, and not {wanted}");
            };
            near("distance", found.last[0], m * v * v / (2.0 * f), 0.6 * v * dt);
            near("by v", found.state[1], m * v / f, 1.1 * dt);
            near("by m", found.by("it.body.mass"), v * v / (2.0 * f), 1.1 * v / m * dt);
            near("by f", found.by("it.j.friction"), -m * v * v / (2.0 * f * f), 1.1 * v / f * dt);
        }
    }
}

/// A force below friction moves nothing, and has no derivative; one above it moves by (u - f) t² / 2m.
#[test]
fn friction_holds_what_is_pushed_less() {
    for (kind, inertia) in [(SLIDE, 2.0), (("hinge", "[0, 0, 1]"), 0.1 + 2.0 * 0.25)] {
        let at = |push: f64| run(&robot(0.001, kind, ("", "friction = 3\n"), "", push), 1000, 0);
        for push in [2.99, -2.99] {
            let held = at(push);
            assert!(held.last.iter().all(|x| x.abs() < ROUNDING), "{:?}", held.last);
            let all = held.controls.iter().chain(held.params.iter().map(|(_, slope)| slope));
            assert!(all.into_iter().all(|slope| slope.abs() < ROUNDING));
            assert_eq!(held.by("it.j.friction"), 0.0);
        }
        let moved = at(4.0);
        let wanted = 0.5 * (4.0 - 3.0) / inertia;
        assert!((moved.last[0] - wanted).abs() < 1.1e-3 * wanted, "{:?} {wanted}", moved.last);
        let by_friction = moved.by("it.j.friction");
        assert!((by_friction + 0.5 / inertia).abs() < 1.1e-3 * 0.5 / inertia, "{by_friction}");
    }
}

/// Friction and a limit at one joint: it slides to its end and lies there; friction adds nothing to what the limit bears.
#[test]
fn friction_and_a_limit_at_one_joint() {
    let joint = ("velocities = { j = 1 }\n", "range = [-0.3, 0.2]\nfriction = 1\n");
    for push in [0.0, 5.0, 0.5, -0.9] {
        let found = run(&robot(0.01, SLIDE, joint, "", push), 100, 0);
        assert!((found.last[0] - 0.2).abs() < 1e-15 && found.last[1].abs() < 1e-12, "{:?}", found.last);
        assert!((found.by("it.j.upper") - 1.0).abs() < 1e-12);
    }
    let away = run(&robot(0.01, SLIDE, joint, "", -1.5), 100, 0);
    assert!(away.last[0] < 0.2, "{:?}", away.last);
}

/// With both hard there are no springs of limits and no width of friction among the params; soft ones have them.
#[test]
fn params_of_held_joints() {
    let text = robot(0.01, SLIDE, ("", "range = [-0.3, 0.2]\nfriction = 1\n"), "", 0.0);
    let names = |text: &str| {
        let model = Model::new(&Scene::parse(text, "joints.toml").expect("a scene")).expect("a model");
        let layout = model.params_layout().clone();
        let names: Vec<String> = (0..model.params().values().len()).map(|i| layout.name_of(i)).collect();
        ["limit_stiffness", "friction_width", "upper", "friction"]
            .map(|field| names.contains(&format!("it.j.{field}")))
    };
    assert_eq!(names(&text), [false, false, true, true]);
    assert_eq!(
        names(&text.replace("\"hard\"", "\"soft\"").replace("joint_friction = \"soft\"\n", "")),
        [true; 4]
    );
}

/// Pushed by exactly its friction, a joint sticks.
#[test]
fn friction_just_holds() {
    let held = run(&robot(0.5, SLIDE, ("", "friction = 3\n"), "", 3.0), 4, 0);
    assert_eq!(held.last, [0.0, 0.0]);
    assert!(held.controls.iter().all(|slope| *slope == 0.0) && held.by("it.j.friction") == 0.0);
}

/// A joint that comes to its end in exactly one step by itself is free in it.
#[test]
fn a_limit_without_a_load() {
    let joint = ("velocities = { j = 1 }\n", "range = [-1, 0.5]\n");
    let arrives = run(&robot(0.5, SLIDE, joint, "", 0.0), 1, 0);
    assert_eq!(arrives.last, [0.5, 1.0]);
    assert_eq!((arrives.state[0], arrives.state[1], arrives.by("it.j.upper")), (1.0, 0.5, 0.0));
    // x' = x + dt (v + dt u / m)
    assert!((arrives.controls[0] - 0.125).abs() < 1e-15, "{:?}", arrives.controls);
}

/// Friction of zero: at rest it has no derivative, in motion that of friction which slows a joint down.
#[test]
fn friction_of_zero() {
    let text = |velocity: f64| {
        robot(0.5, SLIDE, (&format!("velocities = {{ j = {velocity} }}\n"), "friction = 3\n"), "", 0.0)
    };
    for (velocity, wanted) in [(0.0, 0.0), (1.0, -0.125), (-1.0, 0.125)] {
        let scene = Scene::parse(&text(velocity), "joints.toml").expect("a scene");
        let step = Step::of(&scene).expect("a step");
        let model = step.model();
        let (state, mut params, controls) = (model.state(), model.params(), model.controls(1));
        params.set("it.j.friction", &[0.0]).expect("it is a param");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &Last(0));
        let gradient = gradient.expect("a gradient");
        assert_eq!(gradient.value(), 0.5 * velocity);
        let by = gradient.params(0).expect("params").number("it.j.friction").expect("it is a param");
        assert!((by - wanted).abs() < 1e-15, "{velocity}: {by} {wanted}");
    }
}

/// Positions count from the reference: a hard limit is where the soft one pushes, which gives way by 0.011 rad.
#[test]
fn ranges_of_a_joint_with_a_reference() {
    let keys = "range = [-1, 0.5]\nreference = 0.3\n";
    let hard = robot(0.002, HINGE, ("", keys), "", 0.0);
    let soft = hard.replace("joint_limits = \"hard\"\n", "");
    let (hard, soft) = (run(&hard, 1000, 0), run(&soft, 1000, 0));
    assert!((hard.last[0] - soft.last[0]).abs() < 0.02, "{:?} {:?}", hard.last, soft.last);
}
