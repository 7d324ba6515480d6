//! Rollouts of articulated bodies in phyz: the peer of `cargo xtask bench phyz`.
//!
//! A double pendulum, gymnasium's ant and Laikago (below `PULLBACK_MODELS_DIR`), without contact and without control,
//! semi-implicit Euler. The loss is the first joint position (of a free base: its height) after the last step; the
//! gradient is with respect to the ten inertial parameters of every body, by phyz's exact adjoint. Its adjoint ignores
//! armature, so the ant has none here. Hinges start in the middle of their ranges, a tenth of it aside, and turn.
//!
//! Prints one JSON object a line:
//! * MODEL/forward and MODEL/gradient: microseconds a step; the gradient's with the forward pass that it needs;
//! * double-pendulum/gradient-norm: |d loss / d masses|. The other side must print the same number. (Free bases are
//!   integrated in other coordinates here and there, so their gradients differ by as much as the step is long.)

use phyz_diff::rollout::DofLayout;
use phyz_diff::{AdjointRollout, FinalStateObjective, adjoint_rollout_gradient, rollout_objective};
use phyz_math::{DVec, Mat3, SpatialInertia, SpatialTransform, Vec3};
use phyz_mjcf::MjcfLoader;
use phyz_model::{Joint, JointType, Model, ModelBuilder};
use phyz_urdf::{BaseKind, UrdfOptions};
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

const TIME_STEP: f64 = 1e-3;
const GRAVITY: f64 = 9.81;

/// A model, how it starts, and how long it runs.
struct Case {
    name: &'static str,
    model: Model,
    q: Vec<f64>,
    v: Vec<f64>,
    /// The number of q that is the loss.
    loss: usize,
    steps: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    for case in [double_pendulum(), ant()?, laikago()?] {
        measure(&case, if quick { 0.3 } else { 2.0 });
    }
    Ok(())
}

/// Two rods of 1 kg and 1 m that swing about y.
fn double_pendulum() -> Case {
    let rod = || {
        let across = Vec3::new(1.0 / 12.0, 1.0 / 12.0, 1e-4);
        SpatialInertia::new(1.0, Vec3::new(0.0, 0.0, -0.5), Mat3::from_diagonal(&across))
    };
    let joint = |height: f64| Joint {
        joint_type: JointType::Revolute,
        parent_to_joint: SpatialTransform::from_translation(Vec3::new(0.0, 0.0, height)),
        axis: Vec3::new(0.0, 1.0, 0.0),
        ..Joint::default()
    };
    let model = ModelBuilder::new()
        .gravity(Vec3::new(0.0, 0.0, -GRAVITY))
        .dt(TIME_STEP)
        .add_body("upper", -1, joint(0.0), rod())
        .add_body("lower", 0, joint(-1.0), rod())
        .build();
    Case { name: "double-pendulum", model, q: vec![1.0, 0.5], v: vec![0.0; 2], loss: 0, steps: 500 }
}

fn ant() -> Result<Case, Box<dyn Error>> {
    let mut model = MjcfLoader::from_file(models()?.join("gymnasium/ant.xml"))?.build_model();
    model.dt = TIME_STEP;
    for joint in &mut model.joints {
        joint.armature = 0.0;
    }
    Ok(floating("ant", model, 200))
}

fn laikago() -> Result<Case, Box<dyn Error>> {
    let gravity = Some(Vec3::new(0.0, 0.0, -GRAVITY));
    let options = UrdfOptions { base: BaseKind::Floating, dt: Some(TIME_STEP), gravity };
    let file = models()?.join("pybullet/laikago/laikago_toes_zup.urdf");
    Ok(floating("laikago", phyz_urdf::load_file(file, &options)?.model, 200))
}

fn models() -> Result<PathBuf, Box<dyn Error>> {
    let dir = std::env::var_os("PULLBACK_MODELS_DIR");
    Ok(dir.ok_or("PULLBACK_MODELS_DIR is not set; `cargo xtask oracle` says what it should be")?.into())
}

/// A robot with a free base that is at rest.
fn floating(name: &'static str, model: Model, steps: usize) -> Case {
    let layout = DofLayout::of(&model);
    let (mut q, mut v) = (layout.neutral_q(&model), vec![0.0; layout.nv]);
    for (index, joint) in model.joints.iter().enumerate().filter(|(_, joint)| joint.ndof() == 1) {
        let [low, high] = joint.limits.unwrap_or([-1.0, 1.0]);
        q[layout.q_offsets[index]] = low + 0.6 * (high - low);
        v[layout.v_offsets[index]] = 0.1;
    }
    Case { name, model, q, v, loss: 2, steps }
}

fn measure(case: &Case, min_seconds: f64) {
    let control = |_: usize| DVec::zeros(case.model.nv);
    let loss = FinalStateObjective {
        value: &|q: &[f64], _: &[f64]| q[case.loss],
        gradient: &|q: &[f64], v: &[f64]| {
            let mut q_bar = vec![0.0; q.len()];
            q_bar[case.loss] = 1.0;
            (q_bar, vec![0.0; v.len()])
        },
    };
    let rollout = AdjointRollout {
        model: &case.model,
        contact: None,
        q0: case.q.clone(),
        v0: case.v.clone(),
        steps: case.steps,
        ctrl: &control,
    };
    let each = 1e6 / case.steps as f64;
    let forward = each * best_seconds(min_seconds, || rollout_objective(&rollout, &loss));
    let gradient = each * best_seconds(min_seconds, || adjoint_rollout_gradient(&rollout, &loss).objective);
    row(case.name, "forward", "us/step", forward);
    row(case.name, "gradient", "us/step", gradient);
    if case.model.joints.iter().all(|joint| joint.ndof() == 1) {
        let bodies = adjoint_rollout_gradient(&rollout, &loss).d_inertia;
        let norm = bodies.iter().map(|by| by[0] * by[0]).sum::<f64>().sqrt();
        row(case.name, "gradient-norm", "1", norm);
    }
}

/// The fastest of at least three calls: noise only ever adds time.
fn best_seconds(min_seconds: f64, work: impl Fn() -> f64) -> f64 {
    let start = Instant::now();
    let (mut best, mut calls) = (f64::INFINITY, 0);
    while calls < 3 || start.elapsed().as_secs_f64() < min_seconds {
        let before = Instant::now();
        let loss = black_box(work());
        best = best.min(before.elapsed().as_secs_f64());
        assert!(loss.is_finite(), "the loss is {loss}");
        calls += 1;
    }
    best
}

fn row(model: &str, pass: &str, unit: &str, value: f64) {
    println!(r#"{{"case": "{model}/{pass}", "unit": "{unit}", "value": {value}}}"#);
}
