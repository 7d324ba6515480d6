//! Contact: closed forms, and gradients against differences.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Options, Rollout, Start, Step};
use pullback_scene::Scene;

fn step(text: &str) -> Step {
    Step::of(&Scene::parse(text, "contact.toml").expect("a scene")).expect("a step")
}

/// A weight for each number of the last state.
struct Weighted(Vec<f64>);

impl Loss for Weighted {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if !moment.last {
            return 0.0;
        }
        self.0.iter().zip(moment.state).map(|(w, x)| w * x).sum()
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state.iter_mut().zip(&self.0).for_each(|(bar, w)| *bar += w);
        }
    }
}

/// The last state.
fn run(step: &Step, steps: usize) -> Vec<f64> {
    let model = step.model();
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps)).expect("a rollout");
    let (states, params) = (model.state(), model.params());
    let start = Start { states: states.values(), controls: &model.controls(steps), params: params.values() };
    let mut last = Vec::new();
    rollout.watch(&start, |moment| last = moment.state.to_vec()).expect("a run");
    last
}

const WORLD: &str = "[simulation]\nsteps = 1\ndt = 0.001\n[ground]\nmu = 0.3\n[contact]\nmu = 0.3\n";

#[test]
fn a_sphere_rests() {
    let text = format!(
        "{WORLD}[[bodies]]\nname = \"ball\"\nmass = 2\nshape = {{ sphere = 0.1 }}\nposition = [0.3, 0.2, 0.1]\n"
    );
    let step = step(&text);
    let last = run(&step, 1000);
    let first = step.model().state();
    for (now, before) in last.iter().zip(first.values()) {
        assert!((now - before).abs() < 1e-12, "{last:?}");
    }
}

/// d = v² / (2 μ g), and its derivatives by the speed and by μ; the step adds terms of its own order.
#[test]
fn a_box_slides_to_rest() {
    let text = format!(
        "{WORLD}[[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.02] }}\nposition = [0, 0, 0.02]\n\
         velocity = [2, 0, 0]\n"
    );
    let step = step(&text);
    let last = run(&step, 1000);
    let wanted = 4.0 / (2.0 * 0.3 * 9.81);
    println!("{last:?} {wanted}");
    assert!((last[0] - wanted).abs() < 2e-3, "{} {wanted}", last[0]);
    assert!(last[7].abs() < 1e-12, "{last:?}");
}

/// Every derivative against central differences on the manifold.
fn check(name: &str, text: &str, steps: usize) {
    let step = step(text);
    let model = step.model();
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let controls = model.controls(steps);
    let (state, params) = (model.state(), model.params());
    let weights = (0..state.values().len()).map(|i| (1.3 * i as f64 + 0.4).sin()).collect();
    let loss = Weighted(weights);
    let start = Start { states: state.values(), controls: &controls, params: params.values() };
    let gradient = rollout.gradient(&start, &loss).expect("a gradient").clone();
    let h = 1e-6;
    let mut value = |state: &[f64], params: &[f64]| {
        let start = Start { states: state, controls: &controls, params };
        rollout.value(&start, &loss).expect("a value")[0]
    };
    let mut worst: f64 = 0.0;
    let state_bar = state.to_tangent(&gradient.states).expect("a tangent");
    for i in 0..state_bar.len() {
        let moved = |h: f64| {
            let (mut moved, mut tangent) = (state.clone(), vec![0.0; state_bar.len()]);
            tangent[i] = h;
            moved.retract(&tangent).expect("moved");
            moved
        };
        let wanted = (value(moved(h).values(), params.values()) - value(moved(-h).values(), params.values()))
            / (2.0 * h);
        let error = (state_bar[i] - wanted).abs() / (1.0 + wanted.abs());
        println!("{name} state {i}: {} {wanted}", state_bar[i]);
        worst = worst.max(error);
    }
    for i in 0..params.values().len() {
        let moved = |h: f64| {
            let mut moved = params.values().to_vec();
            moved[i] += h;
            moved
        };
        let wanted = (value(state.values(), &moved(h)) - value(state.values(), &moved(-h))) / (2.0 * h);
        let error = (gradient.params[i] - wanted).abs() / (1.0 + wanted.abs());
        if error > 1e-6 {
            println!("{name} {}: {} {wanted}", model.params_layout().name_of(i), gradient.params[i]);
        }
        worst = worst.max(error);
    }
    assert!(worst < 1e-6, "{name}: {worst}");
}

#[test]
fn gradients_of_bodies_on_the_ground() {
    let ball =
        "[[bodies]]\nname = \"ball\"\nmass = 2\nshape = { sphere = 0.1 }\nposition = [0.3, 0.2, 0.0995]\n";
    check(
        "rolling ball",
        &format!("{WORLD}{ball}velocity = [0.5, 0.1, -0.2]\nangular_velocity = [0.3, 4, 0.2]\n"),
        3,
    );
    check(
        "sliding ball",
        &format!("{WORLD}{ball}velocity = [3, 0.5, -0.2]\nangular_velocity = [0.3, 0.2, 0.1]\n"),
        3,
    );
    let cube = "[[bodies]]\nname = \"cube\"\nmass = 2\nshape = { box = [0.1, 0.15, 0.02] }\nposition = [0.3, 0.2, 0.0195]\n";
    check("sticking box", &format!("{WORLD}{cube}velocity = [0.0, 0.0, -0.2]\n"), 3);
    check(
        "sliding box",
        &format!("{WORLD}{cube}velocity = [2, 0.3, -0.2]\nangular_velocity = [0, 0, 0.5]\n"),
        3,
    );
}
