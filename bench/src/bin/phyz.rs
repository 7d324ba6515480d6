//! Rollouts of articulated bodies, against phyz: the models, starts and steps of `bench/phyz`, without contact and
//! without control, semi-implicit Euler.
//!
//! The loss is the first joint position (of a free base: its height) after the last step. The gradient is with respect
//! to all params and the first state; phyz's is with respect to inertial params.

use std::error::Error;

use pullback_bench::robots::{chain, load};
use pullback_bench::rollouts::{AtTheEnd, times};
use pullback_bench::row;
use pullback_engine::{Integrator, Model, Options, Scheme, Step};
use pullback_scene::Scene;
use pullback_scene::robot::{Base, Joint, JointKind, Keyframe, Robot};

const TIME_STEP: f64 = 1e-3;

fn main() -> Result<(), Box<dyn Error>> {
    let pendulum = measured("double-pendulum", double_pendulum(), AtTheEnd(0), 500)?;
    let masses = pendulum.iter().map(|by| by * by).sum::<f64>().sqrt();
    row("double-pendulum/gradient-norm", "1", masses);
    measured("ant", floating(load("gymnasium/ant.xml", Base::Free)?), AtTheEnd(2), 200)?;
    let laikago = load("pybullet/laikago/laikago_toes_zup.urdf", Base::Free)?;
    measured("laikago", floating(laikago), AtTheEnd(2), 200)?;
    Ok(())
}

/// Two rods of 1 kg and 1 m that swing about y.
fn double_pendulum() -> Robot {
    let mut robot = chain(2);
    for joint in &mut robot.joints {
        joint.axis = [0.0, 1.0, 0.0];
    }
    robot.start = Keyframe { positions: vec![1.0, 0.5], velocities: vec![0.0; 2], ..Keyframe::default() };
    robot
}

/// A robot with a free base that is at rest. Hinges start in the middle of their ranges, a tenth of it aside, and turn.
fn floating(mut robot: Robot) -> Robot {
    let start = |joint: &Joint| match joint.kind {
        JointKind::Hinge | JointKind::Slide => {
            let [low, high] = joint.range.unwrap_or([-1.0, 1.0]);
            (vec![low + 0.6 * (high - low)], vec![0.1])
        }
        JointKind::Ball => (vec![1.0, 0.0, 0.0, 0.0], vec![0.0; 3]),
        JointKind::Free => (vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], vec![0.0; 6]),
    };
    let (positions, velocities): (Vec<_>, Vec<_>) = robot.joints.iter().map(start).unzip();
    let (positions, velocities) = (positions.concat(), velocities.concat());
    robot.start = Keyframe { positions, velocities, ..Keyframe::default() };
    // What the peer does not have: armature, limits, motors.
    robot.motors.clear();
    for joint in &mut robot.joints {
        (joint.armature, joint.range) = (0.0, None);
    }
    robot
}

/// Prints the rows of a model; returns the derivatives by masses.
fn measured(name: &str, robot: Robot, loss: AtTheEnd, steps: usize) -> Result<Vec<f64>, Box<dyn Error>> {
    let scene = Scene { robots: vec![robot], ..Scene::default() };
    let step = Step::new(&Model::new(&scene)?, Scheme::new(Integrator::SemiImplicitEuler, TIME_STEP))?;
    let times = times(&step, Options::new(steps), &loss)?;
    row(&format!("{name}/forward"), "us/step", 1e6 * times.forward);
    row(&format!("{name}/gradient"), "us/step", 1e6 * times.gradient);
    let by_params = times.result.params(0)?;
    Ok(by_params.select("*.mass")?.iter().flat_map(|(_, by)| by.to_vec()).collect())
}
