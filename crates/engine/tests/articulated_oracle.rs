//! Robots of other people, against what MuJoCo and Pinocchio say of them: `cargo xtask oracle` asks (tests/oracle).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use pullback_engine::articulated::{Algorithm, Mechanism};
use pullback_engine::{Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::robot::{Base, JointKind, Load, Robot};
use pullback_scene::{Error, Scene};
use serde_json::Value as Json;

/// The folders of models and answers; none where nobody has asked.
fn folders() -> Option<(PathBuf, PathBuf)> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let found = folder("PULLBACK_MODELS_DIR").zip(folder("PULLBACK_ORACLE_DIR"));
    assert!(
        found.is_some() || std::env::var_os("CI").is_none(),
        "`cargo xtask test` sets PULLBACK_ORACLE_DIR"
    );
    found
}

fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        Json::Number(number) => vec![number.as_f64().expect("a number")],
        other => panic!("{other} is no number"),
    }
}

/// One model with its answers.
struct Subject {
    name: String,
    json: Json,
    robot: Robot,
    /// Where the oracle's numbers lie in ours.
    positions: Vec<usize>,
    velocities: Vec<usize>,
    /// The oracle's bodies in ours.
    bodies: Vec<usize>,
}

/// A model that is not read, and why.
type Refused = (String, Error);

/// All models that can be read; and why the others cannot.
fn subjects() -> Option<(Vec<Subject>, Vec<Refused>)> {
    let (models, answers) = folders()?;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(answers).expect("answers").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let (mut subjects, mut refused) = (Vec::new(), Vec::new());
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "json") && !file.ends_with("skipped.json"))
    {
        let text = std::fs::read_to_string(file).expect("answers");
        let json: Json = serde_json::from_str(&text).expect("JSON");
        let name = json["model"].as_str().expect("a name").to_owned();
        match read(&models, &json) {
            Ok(robot) => subjects.push(subject(name, json, robot)),
            Err(error) => refused.push((name, error)),
        }
    }
    Some((subjects, refused))
}

fn read(models: &Path, json: &Json) -> Result<Robot, Error> {
    let urdf = json["format"] == "urdf";
    let base = match (urdf, json["floating"] == true) {
        (true, true) => Base::Free,
        (true, false) => Base::Fixed,
        (false, _) => Base::AsWritten,
    };
    // Meshes of URDFs are for looks and contact alone; MJCF takes inertia from them.
    let load = Load { base, lenient: urdf, meshes: !urdf, allow: vec![models.to_owned()], ..Load::default() };
    let mut robot = Robot::load(models.join(json["file"].as_str().expect("a file")), &load)?.robot;
    // The oracle lets mimicking joints move on their own.
    robot.joints.iter_mut().for_each(|joint| joint.mimic = None);
    robot.name = "robot".into();
    Ok(robot)
}

fn subject(name: String, json: Json, robot: Robot) -> Subject {
    let mechanism = Mechanism::<f64>::new(&robot).unwrap_or_else(|error| panic!("{name}: {error}"));
    let places = mechanism.robot().tree().places().to_vec();
    let by_name: HashMap<&str, usize> =
        robot.joints.iter().enumerate().map(|(j, joint)| (joint.name.as_str(), j)).collect();
    let urdf = json["format"] == "urdf";
    let (mut positions, mut velocities) = (Vec::new(), Vec::new());
    let joints = json["joints"].as_array().expect("joints");
    assert_eq!(joints.len(), robot.joints.len(), "{name}: joints");
    for (k, asked) in joints.iter().enumerate() {
        let called = asked["name"].as_str().expect("a name");
        let j = match (urdf, called) {
            (true, "root_joint") => robot.joints.iter().position(|joint| joint.kind == JointKind::Free),
            (true, called) => by_name.get(called).copied(),
            (false, _) => Some(k),
        };
        let j = j.unwrap_or_else(|| panic!("{name}: no joint {called}"));
        let (place, kind) = (places[j], robot.joints[j].kind);
        let word = match kind {
            JointKind::Hinge => "hinge",
            JointKind::Slide => "slide",
            JointKind::Ball => "ball",
            JointKind::Free => "free",
        };
        assert_eq!(asked["kind"], word, "{name}: {called}");
        match kind {
            JointKind::Hinge | JointKind::Slide => {
                positions.push(place.position);
                velocities.push(place.velocity);
            }
            JointKind::Ball => {
                positions.extend(place.orientation..place.orientation + 4);
                velocities.extend(place.velocity..place.velocity + 3);
            }
            JointKind::Free => {
                positions.extend(place.position..place.position + 3);
                positions.extend(place.orientation..place.orientation + 4);
                velocities.extend(place.velocity..place.velocity + 3);
                velocities.extend(place.angular_velocity..place.angular_velocity + 3);
            }
        }
    }
    let of_body = |(k, asked): (usize, &Json)| {
        let called = asked["name"].as_str().expect("a name");
        let found = if urdf { robot.bodies.iter().position(|body| body.name == called) } else { Some(k) };
        found.unwrap_or_else(|| panic!("{name}: no body {called}"))
    };
    let bodies = json["states"][0]["bodies"].as_array().expect("bodies").iter().enumerate().map(of_body);
    let bodies = bodies.collect();
    Subject { name, json, robot, positions, velocities, bodies }
}

impl Subject {
    fn mechanism(&self) -> Mechanism {
        let mut mechanism = Mechanism::new(&self.robot).expect("a mechanism");
        let mut params = mechanism.params();
        params.set("gravity", &numbers(&self.json["gravity"])).expect("gravity");
        mechanism.set_params(params.values()).expect("params");
        mechanism
    }

    /// The oracle's numbers in our order.
    fn ours(&self, order: &[usize], numbers: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; order.len()];
        order.iter().zip(numbers).for_each(|(&to, number)| out[to] = *number);
        out
    }

    fn vector(&self, json: &Json) -> Vec<f64> {
        self.ours(&self.velocities, &numbers(json))
    }

    fn matrix(&self, json: &Json) -> Vec<f64> {
        let (n, m) = (self.velocities.len(), numbers(json));
        let mut out = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                out[self.velocities[i] * n + self.velocities[j]] = m[i * n + j];
            }
        }
        out
    }

    /// Columns in our order.
    fn columns(&self, json: &Json) -> Vec<f64> {
        let (n, m) = (self.velocities.len(), numbers(json));
        let mut out = vec![0.0; m.len()];
        for row in 0..m.len() / n {
            for j in 0..n {
                out[row * n + self.velocities[j]] = m[row * n + j];
            }
        }
        out
    }
}

/// The larger one; not a number, if one is none.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// The largest difference, relative to the largest number, or to a size below which numbers are zero but for rounding.
fn error(found: &[f64], wanted: &[f64], size: f64) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let scale = largest(wanted).max(size).max(1e-300);
    found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, larger) / scale
}

/// The worst errors of one model, by what was asked.
#[derive(Default)]
struct Errors(Vec<(&'static str, f64)>);

impl Errors {
    fn see(&mut self, what: &'static str, found: &[f64], wanted: &[f64]) {
        self.see_of(what, found, wanted, 0.0);
    }

    fn see_of(&mut self, what: &'static str, found: &[f64], wanted: &[f64], size: f64) {
        let error = error(found, wanted, size);
        match self.0.iter_mut().find(|(w, _)| *w == what) {
            Some((_, worst)) => *worst = worst.max(error),
            None => self.0.push((what, error)),
        }
    }
}

const EXACT: f64 = 1e-10;
const DERIVATIVES: f64 = 1e-8;

#[test]
fn robots_move_as_mujoco_and_pinocchio_say() {
    let Some((subjects, refused)) = subjects() else { return };
    for (name, error) in &refused {
        println!("{name} is not read: {error}");
    }
    let mut wrong = Vec::new();
    for subject in &subjects {
        let mut errors = Errors::default();
        let mut mechanism = subject.mechanism();
        for state in subject.json["states"].as_array().expect("states") {
            check(subject, &mut mechanism, state, &mut errors);
        }
        for (what, error) in errors.0 {
            let limit = if what.starts_with("∂") { DERIVATIVES } else { EXACT };
            if error.is_nan() || error >= limit {
                wrong.push(format!("{}: {what} differ by {error:.1e}", subject.name));
            }
        }
    }
    println!("{} robots are read, {} are not", subjects.len(), refused.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(subjects.len() >= 60, "{}", subjects.len());
}

fn check(subject: &Subject, mechanism: &mut Mechanism, state: &Json, errors: &mut Errors) {
    let q = subject.ours(&subject.positions, &numbers(&state["q"]));
    let [v, a, tau] = ["v", "a", "tau"].map(|key| subject.vector(&state[key]));
    let n = v.len();
    let m = mechanism.mass_matrix(&q).expect("M");
    errors.see("mass matrices", &m, &subject.matrix(&state["mass_matrix"]));
    let bias = mechanism.inverse_dynamics(&q, &v, &vec![0.0; n]).expect("bias");
    // A bias of nothing is zero beside the forces of accelerations, and so are derivatives beside accelerations.
    let size = 1e-3 * largest(&subject.vector(&state["inverse_dynamics"]));
    errors.see_of("biases", &bias, &subject.vector(&state["bias"]), size);
    let forces = mechanism.inverse_dynamics(&q, &v, &a).expect("ID");
    errors.see("inverse dynamics", &forces, &subject.vector(&state["inverse_dynamics"]));
    let wanted = subject.vector(&state["acceleration"]);
    // Two ways to solve with M agree to n ε κ, which is more than the limit for one robot, icub: 1e-9.
    let rounding = n as f64 * f64::EPSILON * condition(&m, &subject.matrix(&state["da_dtau"]), n);
    let size = largest(&wanted) * (rounding / EXACT).max(1.0);
    for (what, algorithm) in [
        ("accelerations", Algorithm::Composite),
        ("accelerations by articulated bodies", Algorithm::Articulated),
    ] {
        let mut found = vec![0.0; n];
        mechanism.forward_dynamics_into(algorithm, (&q, &v, &tau), &mut found).expect("FD");
        errors.see_of(what, &found, &wanted, size);
    }
    let j = mechanism.jacobians(&q, &v, &tau).expect("Jacobians");
    let size = 1e-3 * largest(&wanted);
    errors.see_of("∂a/∂q", &j.by_position, &subject.matrix(&state["da_dq"]), size);
    errors.see_of("∂a/∂v", &j.by_velocity, &subject.matrix(&state["da_dv"]), size);
    errors.see("∂a/∂τ", &j.by_force, &subject.matrix(&state["da_dtau"]));
    let bodies = mechanism.bodies(&q, &v).expect("bodies");
    for (asked, &b) in state["bodies"].as_array().expect("bodies").iter().zip(&subject.bodies) {
        let (pose, _) = bodies[b];
        let (p, r) = (pose.position, pose.rotation);
        errors.see(
            "positions of bodies",
            &[1.0, p.x, p.y, p.z],
            &[&[1.0], &numbers(&asked["position"])[..]].concat(),
        );
        let rows = [r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z];
        errors.see("rotations of bodies", &rows, &numbers(&asked["rotation"]));
    }
    for asked in state["jacobians"].as_array().expect("Jacobians") {
        let body = match asked["body_index"].as_u64() {
            Some(index) => subject.bodies[index as usize],
            None => {
                let called = asked["body"].as_str().expect("a name");
                subject.robot.bodies.iter().position(|body| body.name == called).expect("a body")
            }
        };
        let found = mechanism.body_jacobian(&q, body).expect("a Jacobian");
        errors.see("Jacobians of bodies", &found, &subject.columns(&asked["jacobian"]));
    }
    energies(subject, mechanism, &q, &v, &m, state, errors);
}

/// κ of a mass matrix whose diagonal is scaled to 1, |D M D| |(D M D)⁻¹| by sums of rows.
fn condition(m: &[f64], inverse: &[f64], n: usize) -> f64 {
    let d: Vec<f64> = (0..n).map(|i| m[i * n + i].sqrt()).collect();
    let most = |entry: &dyn Fn(usize, usize) -> f64| {
        (0..n).map(|i| (0..n).map(|j| entry(i, j).abs()).sum::<f64>()).fold(0.0, f64::max)
    };
    most(&|i, j| m[i * n + j] / (d[i] * d[j])) * most(&|i, j| inverse[i * n + j] * d[i] * d[j])
}

fn energies(
    subject: &Subject,
    mechanism: &mut Mechanism,
    q: &[f64],
    v: &[f64],
    m: &[f64],
    state: &Json,
    errors: &mut Errors,
) {
    let n = v.len();
    let number = |key: &str| state[key].as_f64().expect("a number");
    let (kinetic, _) = mechanism.energy(q, v).expect("energy");
    errors.see("kinetic energies", &[kinetic], &[number("kinetic_energy")]);
    let by_matrix: f64 = (0..n * n).map(|k| 0.5 * v[k / n] * m[k] * v[k % n]).sum();
    errors.see("kinetic energies by mass matrices", &[by_matrix], &[number("kinetic_energy")]);
    let of = mechanism.centroid(q, v).expect("the centroid");
    let g = numbers(&subject.json["gravity"]);
    let scale = of.mass * g.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let center = [of.center.x, of.center.y, of.center.z];
    let gravity: f64 = -(0..3).map(|i| of.mass * g[i] * center[i]).sum::<f64>();
    errors.see("energies of gravity", &[scale, gravity], &[scale, number("gravity_energy")]);
    errors.see(
        "centres of mass",
        &[&[1.0], &center[..]].concat(),
        &[&[1.0], &numbers(&state["center_of_mass"])[..]].concat(),
    );
    let vector = |v: Vec3| [v.x, v.y, v.z];
    errors.see("momenta", &vector(of.momentum.force), &numbers(&state["linear_momentum"]));
    let size = 1e-3 * of.mass;
    errors.see_of("angular momenta", &vector(of.momentum.torque), &numbers(&state["angular_momentum"]), size);
}

/// Springs, dampers and motors, from what the first step of a simulation does with velocities.
#[test]
fn joint_forces_are_those_of_mujoco() {
    let Some((subjects, _)) = subjects() else { return };
    let mut seen = 0;
    for subject in subjects.iter().filter(|s| s.json["format"] == "mjcf") {
        let mut mechanism = subject.mechanism();
        for state in subject.json["states"].as_array().expect("states") {
            if !numbers(&state["activation"]).is_empty() {
                continue;
            }
            let q = subject.ours(&subject.positions, &numbers(&state["q"]));
            let v = subject.vector(&state["v"]);
            let mut robot = subject.robot.clone();
            // Limits and dry friction are constraints for MuJoCo.
            for joint in &mut robot.joints {
                (joint.range, joint.friction) = (None, 0.0);
            }
            let mut scene = Scene { robots: vec![robot], ..Scene::default() };
            scene.world.gravity = std::array::from_fn(|i| numbers(&subject.json["gravity"])[i]);
            let model = Model::new(&scene).expect("a model");
            let dt = 1e-3;
            let step = Step::new(&model, Scheme::new(Integrator::ExplicitEuler, dt)).expect("a step");
            let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
            let states = [&q[..], &v].concat();
            let controls = numbers(&state["control"]);
            let params = model.params();
            let start = Start { states: &states, controls: &controls, params: params.values() };
            let mut last = Vec::new();
            rollout.watch(&start, |moment| last = moment.state.to_vec()).expect("a step");
            let a: Vec<f64> = last[q.len()..].iter().zip(&v).map(|(next, v)| (next - v) / dt).collect();
            // What it took beyond nothing: M a + bias.
            let found = mechanism.inverse_dynamics(&q, &v, &a).expect("ID");
            let sum = |keys: &[&str]| {
                let mut sum = vec![0.0; v.len()];
                for key in keys {
                    sum.iter_mut().zip(subject.vector(&state[*key])).for_each(|(s, x)| *s += x);
                }
                sum
            };
            let wanted = sum(&["spring_force", "damper_force", "motor_joint_force"]);
            let bias = mechanism.inverse_dynamics(&q, &v, &vec![0.0; v.len()]).expect("bias");
            let scale = wanted.iter().chain(&bias).fold(1e-3, |most: f64, x| most.max(x.abs()));
            let worst = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, larger);
            assert!(worst < 1e-8 * scale, "{}: {worst:.1e} of {scale}\n{found:?}\n{wanted:?}", subject.name);
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}
