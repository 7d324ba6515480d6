//! Contact: closed forms, and gradients against differences.

mod common;

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Energy, Options, Rollout, Start, Step};
use pullback_scene::{Complementarity, Contact, ContactGradient, ContactModel, ContactSolver, Scene};

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
    // Its compliance c / m lets it in by c g h².
    let mut first = step.model().state().values().to_vec();
    first[2] -= 1e-4 * 9.81 * 1e-6;
    for (i, (now, before)) in last.iter().zip(first).enumerate() {
        // Heights are known to 1.4e-17 m: velocities, which take back what is left of them in a step, to a thousand times that.
        let known = if i < step.model().positions() { 1e-16 } else { 1.4e-14 };
        assert!((now - before).abs() < known, "{last:?}");
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

/// The derivative of f at 0: of extrapolated central differences, the two neighbours that agree best. Long steps change what
/// touches, short ones drown in rounding.
fn difference(mut f: impl FnMut(f64) -> f64) -> f64 {
    let mut central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    let coarse: Vec<f64> = (0..9).map(|k| central(1e-3 * 0.4f64.powi(k))).collect();
    let better: Vec<f64> =
        coarse.windows(2).map(|pair| pair[1] + (pair[1] - pair[0]) * 0.16 / 0.84).collect();
    let distance = |pair: &&[f64]| (pair[1] - pair[0]).abs();
    let best = better.windows(2).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    best.map_or(f64::NAN, |pair| pair[1])
}

/// Every derivative against differences on the manifold.
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
    let mut value = |state: &[f64], params: &[f64]| {
        let start = Start { states: state, controls: &controls, params };
        rollout.value(&start, &loss).expect("a value")[0]
    };
    let mut wrong = Vec::new();
    // Rounding of values is that of the largest derivatives.
    let largest =
        gradient.states.iter().chain(&gradient.params).fold(1.0, |most: f64, x| most.max(x.abs() * 1e-2));
    let mut compare = |what: String, found: f64, wanted: f64| {
        if (found - wanted).abs() > 1e-6 * (largest + wanted.abs()) {
            wrong.push(format!("{name}, {what}: {found} {wanted}"));
        }
    };
    let state_bar = state.to_tangent(&gradient.states).expect("a tangent");
    for i in 0..state_bar.len() {
        let wanted = difference(|h| {
            let (mut moved, mut tangent) = (state.clone(), vec![0.0; state_bar.len()]);
            tangent[i] = h;
            moved.retract(&tangent).expect("moved");
            value(moved.values(), params.values())
        });
        compare(format!("state {i}"), state_bar[i], wanted);
    }
    for i in 0..params.values().len() {
        let wanted = difference(|h| {
            let mut moved = params.values().to_vec();
            moved[i] += h;
            value(state.values(), &moved)
        });
        compare(model.params_layout().name_of(i), gradient.params[i], wanted);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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

#[test]
fn gradients_of_pairs_of_bodies() {
    let ball = |name: &str, at: &str, more: &str| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmass = 2\nshape = {{ sphere = 0.1 }}\nposition = {at}\n{more}"
        )
    };
    let two = ball("one", "[0, 0, 0.0995]", "velocity = [0.3, 0, -0.1]\n")
        + &ball("two", "[0.19, 0.02, 0.12]", "velocity = [-0.5, 0.1, -0.3]\nangular_velocity = [1, 2, 3]\n");
    check("two balls", &format!("{WORLD}{two}"), 3);
    let boxes = "[[bodies]]\nname = \"low\"\nmass = 2\nshape = { box = [0.1, 0.15, 0.02] }\nposition = [0, 0, 0.0195]\n\
                 [[bodies]]\nname = \"high\"\nmass = 1\nshape = { box = [0.07, 0.05, 0.03] }\nposition = [0.01, 0.02, 0.0692]\n\
                 velocity = [0.8, 0.2, -0.1]\nangular_velocity = [0, 0, 0.4]\n";
    check("boxes", &format!("{WORLD}{boxes}"), 3);
}

#[test]
fn gradients_of_a_robot_that_touches() {
    let arm = "[[robots]]\nname = \"arm\"\n\
               [[robots.bodies]]\nname = \"upper\"\nposition = [0, 0, 0.5]\nmass = 1\ncenter = [0.2, 0, 0]\ninertia = [0.01, 0.02, 0.02]\n\
               [[robots.bodies]]\nname = \"lower\"\nparent = \"upper\"\nposition = [0.4, 0, 0]\nmass = 0.7\n\
               shape = { capsule = { radius = 0.05, half_length = 0.2 } }\n\
               [[robots.bodies]]\nname = \"hand\"\nparent = \"lower\"\nposition = [0, 0, -0.395]\nmass = 0.3\n\
               shape = { sphere = 0.1055 }\n\
               [[robots.joints]]\nname = \"a\"\nbody = \"upper\"\nkind = \"hinge\"\naxis = [0, 1, 0]\ndamping = 0.1\n\
               [[robots.joints]]\nname = \"b\"\nbody = \"lower\"\nkind = \"hinge\"\naxis = [0, 1, 0.3]\narmature = 0.01\n\
               [[robots.joints]]\nname = \"c\"\nbody = \"hand\"\nkind = \"ball\"\n";
    let start = arm.replacen(
        "name = \"arm\"\n",
        "name = \"arm\"\npositions = { a = 0.02, b = 0.1 }\nvelocities = { a = 0.5, b = -0.4, c = [0.1, 0.2, 0.3] }\n",
        1,
    );
    check("arm", &format!("{WORLD}{start}"), 3);
    let free = arm.replacen(
        "name = \"a\"\nbody = \"upper\"\nkind = \"hinge\"\naxis = [0, 1, 0]",
        "name = \"a\"\nbody = \"upper\"\nkind = \"free\"",
        1,
    );
    let free = free.replacen(
        "name = \"arm\"\n",
        "name = \"arm\"\nvelocities = { a = [0.3, 0.1, -0.2, 0.4, 0.5, 0.6], b = -0.4 }\n",
        1,
    );
    check("free arm", &format!("{WORLD}{free}"), 3);
}

/// Whole steps of Newton's method go round in circles here: shorter ones come to what many sweeps come to, and have a derivative.
#[test]
fn a_grip_is_solved() {
    let text = include_str!("common/grip.toml");
    let newton = step(text);
    let sweeps =
        step(&text.replace("mu = 0.5\n", "mu = 0.5\nsolver = \"gauss-seidel\"\niterations = 100000\n"));
    for (i, (a, b)) in run(&newton, 2).iter().zip(run(&sweeps, 2)).enumerate() {
        assert!((a - b).abs() < 1e-9, "number {i} of the state: {a} {b}");
    }
    let model = newton.model();
    let mut rollout = Rollout::<f64>::new(&newton, Options::new(2)).expect("a rollout");
    let (state, params, controls) = (model.state(), model.params(), model.controls(2));
    let loss = Weighted(vec![1.0; state.values().len()]);
    rollout.gradient(&Start::new(&state, &controls, &params), &loss).expect("a gradient");
}

/// A quadruped that servos hold stands on its toes for 5,000 steps: its energy falls to what it keeps, and its gradient is finite,
/// grows no more and agrees with a difference.
#[test]
fn a_quadruped_stands() {
    const STEPS: usize = 5000;
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/quadruped.toml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let body = text.split("[[variables]]").next().expect("a scene");
    let step = step(body);
    let (model, controls) = (step.model().clone(), step.model().controls(STEPS));
    let (state, mut params) = (model.state(), model.params());
    let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
    let mut energy = Energy::new(&model).expect("an energy");
    let (mut energies, mut last) = (Vec::new(), Vec::new());
    let see = |moment: &Moment<'_>| {
        let (kinetic, potential) = energy.of(moment.state, moment.params).expect("an energy");
        energies.push(kinetic + potential);
        last = moment.state.to_vec();
    };
    rollout.watch(&Start::new(&state, &controls, &params), see).expect("a run");
    // It sags at first; then it sways, less in every second.
    let most = energies.iter().fold(f64::NEG_INFINITY, |most, e| most.max(*e));
    assert!(most <= energies[0], "{most} from {}", energies[0]);
    let swing = |second: &[f64]| second.iter().map(|e| (e - energies[STEPS]).abs()).fold(0.0, f64::max);
    let swings: Vec<f64> = energies[..STEPS].chunks(1000).map(swing).collect();
    assert!(swings.windows(2).all(|two| two[1] < 0.5 * two[0]), "{swings:?}");
    let speed = last[model.positions()..].iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    assert!(speed < 1e-4 && (last[2] - state.values()[2]).abs() < 0.02, "{last:?}");

    let mut weights = vec![0.0; last.len()];
    weights[2] = 1.0;
    let loss = Weighted(weights);
    let gradient =
        rollout.gradient(&Start::new(&state, &controls, &params), &loss).expect("a gradient").clone();
    let all = gradient.states.iter().chain(&gradient.controls).chain(&gradient.params);
    assert!(all.clone().all(|x| x.is_finite()));
    assert!(gradient.norms.iter().all(|norm| norm.is_finite() && *norm < 10.0), "{:?}", gradient.norms);
    let by_mass = gradient.params(0).expect("params").number("dog.trunk.mass").expect("it is a param");
    let mass = params.number("dog.trunk.mass").expect("a mass");
    let mut at = |mass: f64| {
        params.set("dog.trunk.mass", &[mass]).expect("a mass");
        rollout.value(&Start::new(&state, &controls, &params), &loss).expect("a value")[0]
    };
    let difference = (at(mass + 1e-4) - at(mass - 1e-4)) / 2e-4;
    assert!(by_mass < 0.0 && (by_mass - difference).abs() < 1e-6 * by_mass.abs(), "{by_mass} {difference}");
}

/// A box that rests where there is no friction moves on with any velocity.
#[test]
fn mu_of_zero() {
    for cone in ["circular", "box"] {
        let text = format!(
            "[simulation]\ndt = 0.001\nsteps = 1\n[ground]\nmu = 0\n[contact]\nmu = 0\nfriction_cone = \"{cone}\"\n\
             [[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]\n"
        );
        let step = step(&text);
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        let (state, params, controls) =
            (step.model().state(), step.model().params(), step.model().controls(1));
        let mut weights = vec![0.0; state.values().len()];
        weights[0] = 1.0;
        let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &Weighted(weights));
        let gradient = gradient.expect("a gradient");
        let names: Vec<String> = (0..state.values().len()).map(|i| state.layout().name_of(i)).collect();
        let by = |name: &str| gradient.states[names.iter().position(|n| n == name).expect("it is there")];
        assert!((by("box.position.x") - 1.0).abs() < 1e-15, "{cone}: {}", by("box.position.x"));
        assert!((by("box.velocity.x") - 1e-3).abs() < 1e-15, "{cone}: {}", by("box.velocity.x"));
        let mu = gradient.params(0).expect("params").number("ground.mu").expect("it is a param");
        assert_eq!(mu, 0.0, "{cone}");
    }
}

/// A ball that lands without bouncing closes its gap; with the least restitution it turns back before.
#[test]
fn restitution_of_zero() {
    let height = |restitution: f64| {
        let text = format!(
            "{}restitution = {restitution}\n[[bodies]]\nname = \"ball\"\nmass = 2\nshape = {{ sphere = 0.1 }}\n\
             position = [0, 0, 0.1005]\nvelocity = [0, 0, -1]\n",
            WORLD
        );
        let step = step(&text);
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        let (state, params, controls) =
            (step.model().state(), step.model().params(), step.model().controls(1));
        let mut weights = vec![0.0; state.values().len()];
        weights[2] = 1.0;
        let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &Weighted(weights));
        let gradient = gradient.expect("a gradient");
        let by = gradient.params(0).expect("params").number("contact.restitution").expect("it is a param");
        (gradient.value(), by)
    };
    // The impulse that brings the speed with which it would go on to what it may be, less the compliance.
    let (speed, compliance) = (1.0 + 9.81e-3, 1e-4);
    let wanted = |allowed: f64| 0.1005 + 1e-3 * ((speed + allowed) / (1.0 + compliance) - speed);
    for (restitution, allowed) in [(0.0, -0.5), (1e-9, 1e-9), (0.5, 0.5)] {
        let (found, by) = height(restitution);
        assert!((found - wanted(allowed)).abs() < 1e-15, "{restitution}: {found} {}", wanted(allowed));
        let slope = if restitution == 0.0 { 0.0 } else { 1e-3 / (1.0 + compliance) };
        assert!((by - slope).abs() < 1e-15, "{restitution}: {by} {slope}");
    }
}

/// Friction holds a box on a slope inside its cone: where it rests does not depend on the coefficient at all.
#[test]
fn nothing_depends_on_friction_inside_its_cone() {
    let (sin, cos) = (30.0_f64.to_radians().sin(), 30.0_f64.to_radians().cos());
    let text = |mu: f64| {
        format!(
            "[simulation]\nsteps = 1\ndt = 0.001\n[world]\ngravity = [{}, 0, {}]\n[ground]\nmu = {mu}\n[contact]\nmu = {mu}\n\
             [[bodies]]\nname = \"box\"\nmass = 2\nshape = {{ box = [0.1, 0.1, 0.02] }}\nposition = [0, 0, 0.02]\n",
            9.81 * sin,
            -9.81 * cos
        )
    };
    let run = |mu: f64| {
        let step = step(&text(mu));
        let steps = 1000;
        let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
        let (state, params, controls) =
            (step.model().state(), step.model().params(), step.model().controls(steps));
        let mut weights = vec![0.0; state.values().len()];
        weights[0] = 1.0;
        let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &Weighted(weights));
        let gradient = gradient.expect("a gradient");
        let params = gradient.params(0).expect("params");
        let by = |name: &str| params.number(name).expect("a param");
        // μ is √(ground.mu contact.mu): both share its derivative.
        (gradient.value(), by("ground.mu") + by("contact.mu"))
    };
    // The lower corners bear 1.115 times their share, the upper ones need tan 30° / 0.885 = 0.652.
    let (x, by_mu) = run(0.66);
    assert!(x.abs() < 1e-6 && by_mu == 0.0, "{x} {by_mu}");
    // Outside it slides: x = ½ g (sin - μ cos) t² and its derivative, to the order of the step.
    let (x, by_mu) = run(0.2);
    let wanted = [0.5 * 9.81 * (sin - 0.2 * cos), -0.5 * 9.81 * cos];
    assert!((x / wanted[0] - 1.0).abs() < 1.1e-3 && (by_mu / wanted[1] - 1.0).abs() < 1.1e-3, "{x} {by_mu}");
}

/// Sweeps that have converged have the derivative of the equations.
#[test]
fn reverse_agrees_with_implicit() {
    for (name, scene) in common::contacts::hard() {
        let ContactModel::Complementarity(law) = scene.contact.expect("contact").model else { continue };
        // What stands on several points takes a million sweeps: those share friction by their compliance alone.
        let flat = ["box", "capsule at rest", "cylinder at rest", "upright", "lies"];
        if law.gradient == ContactGradient::Reverse || flat.iter().any(|word| name.contains(word)) {
            continue;
        }
        let with = |gradient: ContactGradient| {
            let mut scene = scene.clone();
            let law = Complementarity {
                gradient,
                solver: ContactSolver::GaussSeidel,
                // Derivatives come after the values: a residual that is small enough does not end it.
                fixed_iterations: Some(1000),
                ..law
            };
            scene.contact = Some(Contact {
                model: ContactModel::Complementarity(law),
                ..scene.contact.expect("contact")
            });
            let step = Step::of(&scene).expect("a step");
            let model = step.model();
            let mut rollout = Rollout::<f64>::new(&step, Options::new(3)).expect("a rollout");
            let (state, params, controls) = (model.state(), model.params(), model.controls(3));
            let weights = (0..state.values().len()).map(|i| (1.3 * i as f64 + 0.4).sin()).collect();
            let g = rollout.gradient(&Start::new(&state, &controls, &params), &Weighted(weights));
            let g = g.unwrap_or_else(|error| panic!("{name}: {error}"));
            [&g.states[..], &g.params].concat()
        };
        let (implicit, reverse) = (with(ContactGradient::Implicit), with(ContactGradient::Reverse));
        let scale = implicit.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (i, (a, b)) in implicit.iter().zip(&reverse).enumerate() {
            assert!((a - b).abs() < 1e-8 * scale, "{name}, {i}: {a} {b}, of {scale}");
        }
    }
}

/// By Newton's method there are no sweeps.
#[test]
fn reverse_needs_sweeps() {
    let text = format!(
        "{WORLD}gradient = \"reverse\"\n[[bodies]]\nname = \"ball\"\nmass = 2\nshape = {{ sphere = 0.1 }}\n\
         position = [0, 0, 1]\n"
    );
    let scene = Scene::parse(&text, "contact.toml").expect("a scene");
    let error = Step::of(&scene).err().expect("no step").to_string();
    assert!(error.contains("gauss-seidel"), "{error}");
}
