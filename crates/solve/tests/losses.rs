//! Losses: values by hand, gradients by differences, and terms that do not depend on the time step.

use pullback_engine::Loss;
use pullback_engine::rollout::{Bars, Moment};
use pullback_kernel::prelude::*;
use pullback_scene::{self as scene, LossKind, LossTerm, Table, Track, Tracked, Variable, When};
use pullback_solve::Problem;
use pullback_solve::check::{Agreement, check};
use pullback_solve::loss::KernelLoss;
use pullback_solve::optimise::{Failure, Method, Objective};

/// A ball in free fall from (1, 2, 3) with velocity (4, 5, 6), for one second: Runge-Kutta is exact there.
fn falling(dt: f64, losses: Vec<LossTerm>) -> Problem {
    let steps = (1.0 / dt).round() as usize;
    let scene = scene::Scene {
        name: "fall".into(),
        particles: vec![scene::Particles::single("ball", [1.0, 2.0, 3.0], 2.0).velocity([4.0, 5.0, 6.0])],
        actuators: vec![scene::Actuator { name: "push".into(), on: 0, control: vec![[0.0; 3]] }],
        simulation: scene::Simulation {
            dt,
            steps,
            integrator: scene::Integrator::RungeKutta4,
            ..scene::Simulation::default()
        },
        ..scene::Scene::default()
    };
    let description = scene::Problem {
        scene,
        variables: ["initial.ball.position", "initial.ball.velocity", "control.push.force"]
            .map(|name| Variable { scale: Some(1.0), ..Variable::new(name) })
            .to_vec(),
        losses,
        optimiser: scene::Optimiser::default(),
        source: scene::Source::default(),
    };
    Problem::new(description).expect("it can be run")
}

fn value(problem: &mut Problem) -> f64 {
    let z = problem.variables().start();
    problem.value(&z).expect("it has a value")
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-10 * wanted.abs().max(1.0), "{found} instead of {wanted}");
}

/// Where the ball is after t, and how fast.
fn position(t: f64) -> [f64; 3] {
    [1.0 + 4.0 * t, 2.0 + 5.0 * t, 3.0 + 6.0 * t - 0.5 * 9.81 * t * t]
}

fn velocity(t: f64) -> [f64; 3] {
    [4.0, 5.0, 6.0 - 9.81 * t]
}

fn at(kind: LossKind, at: When, weight: f64) -> LossTerm {
    LossTerm { kind, at, weight }
}

#[test]
fn values_by_hand() {
    // At the end, along two axes.
    let kind = LossKind::Position { of: 0, target: [4.0, 9.0, 9.0], axes: [true, false, true] };
    let z = position(1.0)[2] - 9.0;
    close(value(&mut falling(0.1, vec![at(kind.clone(), When::End, 2.0)])), 2.0 * (1.0 + z * z));

    // After two steps of choice, the initial state among them; at given steps no dt comes in.
    let z = [0.0, 0.3].map(|t| (position(t)[0] - 4.0).powi(2) + (position(t)[2] - 9.0).powi(2));
    close(value(&mut falling(0.1, vec![at(kind, When::Steps(vec![0, 3]), 1.0)])), z[0] + z[1]);

    // Always: every step but the first state, times dt.
    let kind = LossKind::Velocity { of: 0, target: [0.0; 3], axes: [false, false, true] };
    let sum: f64 = (1..=10).map(|i| velocity(0.1 * f64::from(i))[2].powi(2)).sum();
    close(value(&mut falling(0.1, vec![at(kind, When::Always, 3.0)])), 3.0 * 0.1 * sum);

    // A table of measurements.
    let tracks = vec![
        Track { of: Tracked::Particle { particle: 0, axis: 1 }, velocity: false, column: 1 },
        Track { of: Tracked::Particle { particle: 0, axis: 2 }, velocity: true, column: 2 },
    ];
    let data = Table {
        columns: ["time", "ball.y", "ball.vz"].map(str::to_owned).to_vec(),
        rows: vec![vec![0.2, 1.0, 2.0], vec![0.7, 3.0, 4.0]],
    };
    let kind = LossKind::Trajectory { data, file: "fall.csv".into(), tracks };
    let off = |t: f64, y: f64, vz: f64| (position(t)[1] - y).powi(2) + (velocity(t)[2] - vz).powi(2);
    let wanted = 0.5 * (off(0.2, 1.0, 2.0) + off(0.7, 3.0, 4.0));
    close(value(&mut falling(0.1, vec![at(kind, When::Steps(vec![2, 7]), 0.5)])), wanted);
}

#[test]
fn sums_are_sums_of_their_parts() {
    let terms = vec![LossTerm::position(0, [0.0; 3]), LossTerm::velocity(0, [1.0; 3])];
    let mut problem = falling(0.1, terms);
    let z = problem.variables().start();
    let parts = problem.parts(&z).expect("they have values");
    let squares = |x: [f64; 3], target: f64| x.iter().map(|x| (x - target).powi(2)).sum::<f64>();
    close(parts[0], squares(position(1.0), 0.0));
    close(parts[1], squares(velocity(1.0), 1.0));
    close(parts.iter().sum(), value(&mut problem));
    let names: Vec<&str> = problem.losses().names().collect();
    assert_eq!(names, ["position of ball", "velocity of ball"]);
}

/// ∫ |u|² dt is the same for any step, and ∫ |v|² dt nearly: the error of the sum falls with dt.
#[test]
fn running_terms_do_not_depend_on_the_step() {
    let effort = |dt: f64| {
        let mut problem = falling(dt, vec![LossTerm::effort("push")]);
        let n = problem.variables().len();
        let z: Vec<f64> = (0..n).map(|i| if i < 6 { 0.0 } else { [1.0, 2.0, 3.0][i % 3] }).collect();
        problem.value(&z).expect("it has a value")
    };
    for dt in [0.1, 0.05, 0.01] {
        close(effort(dt), 14.0);
    }
    let kind = || LossKind::Velocity { of: 0, target: [0.0; 3], axes: [false, false, true] };
    let exact = 36.0 - 6.0 * 9.81 + 9.81 * 9.81 / 3.0;
    let error = |dt: f64| value(&mut falling(dt, vec![at(kind(), When::Always, 1.0)])) - exact;
    let (coarse, fine) = (error(0.02), error(0.01));
    assert!((coarse / fine - 2.0).abs() < 0.1 && fine.abs() < 0.2, "{coarse} {fine}");
}

/// How far a ball is outside a ball of radius 2 around the origin, and how it hurries.
#[kernel]
fn outside<R: Real>(x: Vec3<R>, v: Vec3<R>) -> R {
    let gap = length(x) - 2.0;
    gap * gap * gap + 0.1 * dot(v, v)
}

#[test]
fn kernels_are_losses() {
    let of = |t: f64| {
        let (x, v) = (position(t), velocity(t));
        let gap = x.iter().map(|x| x * x).sum::<f64>().sqrt() - 2.0;
        gap.powi(3) + 0.1 * v.iter().map(|v| v * v).sum::<f64>()
    };
    let with = |when: When| {
        let mut problem = falling(0.1, vec![LossTerm::effort("push")]);
        let loss = KernelLoss::<outside>::new(problem.model(), "ball", when, 0.5).expect("a particle");
        problem.add_loss(loss);
        problem
    };
    close(value(&mut with(When::End)), 0.5 * of(1.0));
    close(value(&mut with(When::Steps(vec![0, 4]))), 0.5 * (of(0.0) + of(0.4)));
    close(value(&mut with(When::Always)), 0.05 * (1..=10).map(|i| of(0.1 * f64::from(i))).sum::<f64>());
    let unknown = KernelLoss::<outside>::new(with(When::End).model(), "bal", When::End, 1.0);
    assert!(unknown.err().is_some_and(|error| error.to_string().contains("`ball.position`")));
    for when in [When::End, When::Always, When::Steps(vec![0, 4])] {
        audited(&mut with(when));
    }

    // It is no sum of squares, and says so.
    let mut problem = with(When::End);
    let (z, mut r, mut j) = (problem.variables().start(), Vec::new(), Vec::new());
    assert!(!problem.losses().is_least_squares());
    assert!(matches!(problem.residuals(&z, &mut r), Err(Failure::NotLeastSquares)));
    assert!(matches!(problem.jacobian(&z, &mut r, &mut j), Err(Failure::NotLeastSquares)));
    let mut run = problem.begin_with(Method::levenberg_marquardt()).expect("it can be begun");
    let error = run.iterate(&mut problem).expect_err("it cannot go on");
    assert!(error.is_input(), "{error}");
}

/// The height of the ball at the end, of a loss that is asked nowhere else.
struct LastHeight;

impl Loss for LastHeight {
    fn looks(&self, _: usize, last: bool) -> bool {
        last
    }
    fn value(&self, moment: &Moment<'_>) -> f64 {
        assert!(moment.last, "asked where it does not look");
        moment.state[2]
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        assert!(moment.last, "asked where it does not look");
        bars.state[2] += 1.0;
    }
}

#[test]
fn losses_are_asked_where_they_look() {
    let always = LossTerm { at: When::Always, weight: 0.5, ..LossTerm::velocity(0, [0.0; 3]) };
    let mut problem = falling(0.1, vec![always]);
    let alone = value(&mut problem);
    problem.add_loss(LastHeight);
    close(value(&mut problem), alone + position(1.0)[2]);
    audited(&mut problem);
}

/// All derivatives agree with differences, and are there.
fn audited(problem: &mut Problem) {
    let z: Vec<f64> = problem.variables().start().iter().map(|z| z + 0.1).collect();
    let health = check(problem, &z).expect("it can be checked");
    assert!(health.audit.iter().any(|audit| audit.derivative.abs() > 1e-3));
    for audit in health.audit {
        assert!(audit.agreement() == Agreement::Right && audit.error < 1e-8, "{audit:?}");
    }
}

#[test]
fn gradients_by_differences() {
    let axes = [true, false, true];
    let tracks = vec![Track { of: Tracked::Particle { particle: 0, axis: 0 }, velocity: true, column: 1 }];
    let data = Table { columns: vec!["time".into(), "ball.vx".into()], rows: vec![vec![0.3, 2.0]] };
    let terms = [
        LossTerm::position(0, [0.0; 3]),
        LossTerm::velocity(0, [1.0, 2.0, 3.0]),
        LossTerm::effort("push"),
        at(LossKind::Position { of: 0, target: [0.0; 3], axes }, When::Always, 0.3),
        at(LossKind::Velocity { of: 0, target: [0.0; 3], axes }, When::Steps(vec![0, 2, 9]), 0.3),
        at(LossKind::Trajectory { data, file: "x.csv".into(), tracks }, When::Steps(vec![3]), 2.0),
    ];
    for term in &terms {
        audited(&mut falling(0.1, vec![term.clone()]));
    }
    audited(&mut falling(0.1, terms.to_vec()));
}

/// Steps in any order are the same loss.
#[test]
fn steps_in_any_order() {
    let kind = || LossKind::Position { of: 0, target: [0.0; 3], axes: [true; 3] };
    let sorted = value(&mut falling(0.1, vec![at(kind(), When::Steps(vec![1, 5, 9]), 1.0)]));
    for steps in [vec![9, 1, 5], vec![9, 5, 1]] {
        assert_eq!(value(&mut falling(0.1, vec![at(kind(), When::Steps(steps), 1.0)])), sorted);
    }
}
