//! What surfaces do to each other: numbers of materials, of the ground and of the scene, and their derivatives.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Between, ContactWatch, Error, Options, Rollout, Start, Step, Touching};
use pullback_scene::Scene;

/// One number of the last state.
struct Number(usize);

impl Loss for Number {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[self.0] } else { 0.0 }
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state[self.0] += 1.0;
        }
    }
}

fn scene(text: &str) -> Scene {
    Scene::parse(text, "surfaces.toml").expect("a scene")
}

/// A velocity of `body` after one step of 1 ms, and its derivative by a param.
fn after(text: &str, body: &str, axis: &str, param: &str) -> (f64, f64) {
    let step = Step::of(&scene(text)).expect("a step");
    let (state, params, controls) = (step.model().state(), step.model().params(), step.model().controls(1));
    let wanted = format!("{body}.velocity.{axis}");
    let names = (0..state.values().len()).map(|i| state.layout().name_of(i));
    let number = names.into_iter().position(|name| name == wanted).expect("a velocity");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
    let gradient =
        rollout.gradient(&Start::new(&state, &controls, &params), &Number(number)).expect("a gradient");
    (gradient.value(), gradient.params(0).expect("params").number(param).expect("it is a param"))
}

const STEP: &str = "[simulation]\ndt = 0.001\nsteps = 1\n";

#[test]
fn springs_of_a_ground_of_a_material() {
    for (says, own, whose) in [("ke = 800", "", "turf.ke"), ("mu = 0.1", "ke = 500\n", "ground.ke")] {
        let text = format!(
            "{STEP}[contact]\nmodel = \"penalty\"\nke = 2000\nkd = 0\n[[materials]]\nname = \"turf\"\n{says}\n\
             [ground]\nmaterial = \"turf\"\n{own}kd = 0\n\
             [[bodies]]\nname = \"ball\"\nmass = 2\nshape = {{ sphere = 0.1 }}\nposition = [0, 0, 0.099]\n"
        );
        let scene = scene(&text);
        let (shape, ground) = (&scene.robots[0].shapes[0], scene.ground.as_ref().expect("a ground"));
        let ke = scene.touch_with_ground(shape, ground).ke;
        let (v, by) = after(&text, "ball", "z", whose);
        // v = h (ke d / m - g), and ke is the mean of two.
        assert!((v - 1e-3 * (ke * 1e-3 / 2.0 - 9.81)).abs() < 1e-12, "{whose}: {v} with {ke}");
        let own = ke * ke / 2000.0;
        assert!((by - 1e-3 * 1e-3 / 2.0 * 0.5 * ke / own).abs() < 1e-12, "{whose}: {by}");
    }
}

/// A box that slides on ice loses μ g h of its speed.
#[test]
fn friction_of_a_ground_of_a_material() {
    let text = format!(
        "{STEP}[contact]\nmu = 0.4\n[[materials]]\nname = \"ice\"\nmu = 0.1\n[ground]\nmaterial = \"ice\"\n\
         [[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]\n\
         velocity = [1, 0, 0]\n"
    );
    let (v, by) = after(&text, "box", "x", "ice.mu");
    assert!((v - (1.0 - 0.2 * 9.81e-3)).abs() < 1e-6, "{v}");
    // √(0.1 · 0.4) has the slope 1 by the first.
    assert!((by + 9.81e-3).abs() < 1e-5, "{by}");
}

/// Two surfaces that have one number between them have its derivative, also where it is zero.
#[test]
fn one_friction_of_zero() {
    let text = |mu: f64| {
        format!(
            "{STEP}[contact]\nmu = {mu}\n[[shapes]]\nname = \"table\"\nshape = {{ box = [1, 1, 0.1] }}\n\
             [[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.15]\n\
             velocity = [1, 0, 0]\n"
        )
    };
    let (v, by) = after(&text(0.0), "box", "x", "contact.mu");
    let (more, _) = after(&text(1e-6), "box", "x", "contact.mu");
    assert!((v - 1.0).abs() < 1e-12, "{v}");
    assert!(
        (by + 9.81e-3).abs() < 1e-5 && (by - (more - v) / 1e-6).abs() < 1e-8,
        "{by} {}",
        (more - v) / 1e-6
    );
}

/// What lands without restitution stays, also where a step covers more than the margin.
#[test]
fn what_lands_stays() {
    for shape in ["sphere = 0.1", "box = [0.1, 0.1, 0.1]", "capsule = { radius = 0.05, half_length = 0.05 }"]
    {
        for height in [0.05, 0.2, 0.5, 1.0, 3.0] {
            let text = format!(
                "[simulation]\ndt = 0.01\nsteps = 150\n[ground]\n[contact]\n[[bodies]]\nname = \"it\"\nmass = 2\n\
                 inertia = [0.01, 0.01, 0.01]\nshape = {{ {shape} }}\nposition = [0, 0, {}]\n",
                0.1 + height
            );
            let step = Step::of(&scene(&text)).expect("a step");
            let (state, params, controls) =
                (step.model().state(), step.model().params(), step.model().controls(150));
            let names: Vec<String> = (0..state.values().len()).map(|i| state.layout().name_of(i)).collect();
            let at = |name: &str| names.iter().position(|n| n == name).expect("it is there");
            let (z, v) = (at("it.position.z"), at("it.velocity.z"));
            let mut rollout = Rollout::<f64>::new(&step, Options::new(150)).expect("a rollout");
            let (mut highest, mut last) = (f64::NEG_INFINITY, [0.0; 2]);
            let see = |m: &Moment<'_>| {
                highest = highest.max(m.state[v]);
                last = [m.state[z], m.state[v]];
            };
            rollout.watch(&Start::new(&state, &controls, &params), see).expect("a run");
            assert!(highest < 1e-3, "{shape} from {height} m goes up with {highest} m/s");
            assert!(
                (last[0] - 0.1).abs() < 1e-3 && last[1].abs() < 1e-6,
                "{shape} from {height} m: {last:?}"
            );
        }
    }
}

/// A box that slides, whose solver gives up.
fn unsolved() -> Step {
    let text = format!(
        "{STEP}[contact]\nsolver = \"gauss-seidel\"\niterations = 1\ngradient = \"implicit\"\n[ground]\n\
         [[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]\n\
         velocity = [1, 0, 0]\n"
    );
    Step::of(&scene(&text)).expect("a step")
}

/// Tangents through contacts that are not solved are refused, as gradients are.
#[test]
fn unsolved_contacts_have_no_tangents() {
    let step = unsolved();
    let (state, params) = (step.model().state(), step.model().params());
    let error = step.linearise(0, state.values(), &[], params.values()).expect_err("not solved");
    assert!(matches!(error, Error::ContactNotSolved { .. }), "{error}");
}

/// Neither have their forces, which can be looked at.
#[test]
fn unsolved_contacts_have_forces_without_derivatives() {
    let step = unsolved();
    let (model, scheme) = (step.model(), step.scheme());
    let (state, params) = (model.state(), model.params());
    let mut watch = ContactWatch::new(model, &scheme, &[Between::default()]).expect("a watch");
    watch.run(0.0, state.values(), &[], params.values()).expect("forces");
    assert!(watch.touching(0).normal > 0.0);
    watch.seed(0, Touching { normal: 1.0, ..Touching::default() });
    let (mut state_bar, mut params_bar) = (vec![0.0; state.values().len()], vec![0.0; params.values().len()]);
    let error = watch.pullback(&mut state_bar, &mut [], &mut params_bar).expect_err("not solved");
    assert!(matches!(error, Error::ContactNotSolved { .. }), "{error}");
    assert!(state_bar.iter().chain(&params_bar).all(|bar| *bar == 0.0));
}

/// Sweeps that no machine can keep are refused before they are made room for.
#[test]
fn sweeps_without_end_are_refused() {
    let text = format!(
        "{STEP}[contact]\nsolver = \"gauss-seidel\"\nfixed_iterations = 1_000_000_000\ngradient = \"reverse\"\n[ground]\n\
         [[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]\n"
    );
    let error = Step::of(&scene(&text)).err().expect("no room");
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}
