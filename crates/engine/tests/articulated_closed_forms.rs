//! Articulated bodies against closed forms and tables that were computed with independent code: pendulums, a double pendulum
//! with its state-transition matrix, a tumbling body, a top; and the order of every integrator on them.

mod common;
mod measure;

use std::f64::consts::{FRAC_PI_2, TAU};

use common::robots::chain;
use measure::{LastNumber, gradient, has_order, integrators, measure, order};
use pullback_engine::{Integrator, Memory, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::robot::{Body, Inertial, Joint, JointKind, Keyframe, Placement, Robot};
use pullback_scene::{Scene, World};

const G: f64 = 9.81;
const RK4: Integrator = Integrator::RungeKutta4;

fn body(name: &str, parent: Option<usize>, position: [f64; 3], inertial: Inertial) -> Body {
    Body { name: name.into(), parent, placement: Placement { position, ..Placement::default() }, inertial }
}

fn model(robot: Robot, gravity: [f64; 3]) -> Model {
    let world = World { gravity, ..World::default() };
    Model::new(&Scene { robots: vec![robot], world, ..Scene::default() }).expect("a scene")
}

/// One body with one joint, in a state.
fn single(kind: JointKind, inertial: Inertial, start: (&[f64], &[f64]), gravity: [f64; 3]) -> Model {
    let bodies = vec![body("body", None, [0.0; 3], inertial)];
    let joints = vec![Joint::new("joint", 0, kind, [0.0, 1.0, 0.0])];
    let start = Keyframe { positions: start.0.into(), velocities: start.1.into(), ..Keyframe::default() };
    model(Robot { name: "robot".into(), bodies, joints, start, ..Robot::default() }, gravity)
}

/// 1 kg in a point, 1 m below a hinge.
const BOB: Inertial = Inertial { mass: 1.0, center: [0.0, 0.0, -1.0], inertia: [0.0; 6] };

/// A rod of 1 m, 2 kg, below a hinge at its end.
const ROD: Inertial =
    Inertial { mass: 2.0, center: [0.0, 0.0, -0.5], inertia: [2.0 / 12.0, 2.0 / 12.0, 1e-9, 0.0, 0.0, 0.0] };

fn pendulum(inertial: Inertial, degrees: f64) -> Model {
    single(JointKind::Hinge, inertial, (&[degrees.to_radians()], &[0.0]), [0.0, 0.0, -G])
}

/// Shows every state.
fn watch(model: &Model, scheme: Scheme, steps: usize, mut see: impl FnMut(f64, &[f64])) {
    let step = Step::new(model, scheme).expect("a step");
    let options = Options { memory: Memory::Binomial { snapshots: 1 }, ..Options::new(steps) };
    let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    rollout.watch(&Start::new(&state, &[], &params), |m| see(m.time, m.state)).expect("a rollout");
}

/// The larger one, and what is not a number rather than any.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

/// The state after a time, in so many steps.
fn last(model: &Model, integrator: Integrator, time: f64, steps: usize) -> Vec<f64> {
    let mut last = Vec::new();
    watch(model, Scheme::new(integrator, time / steps as f64), steps, |_, state| last = state.to_vec());
    last
}

/// The times at which a number is zero, from its values and rates: cubic interpolation (Hermite), solved by Newton's method.
fn crossings(samples: &[(f64, f64, f64)]) -> Vec<f64> {
    let mut times = Vec::new();
    for pair in samples.windows(2) {
        let [(t0, x0, r0), (t1, x1, r1)] = [pair[0], pair[1]];
        if x0 * x1 >= 0.0 {
            continue;
        }
        let h = t1 - t0;
        let (r0, r1) = (h * r0, h * r1);
        let [c2, c3] = [3.0 * (x1 - x0) - 2.0 * r0 - r1, 2.0 * (x0 - x1) + r0 + r1];
        let mut s = x0 / (x0 - x1);
        for _ in 0..5 {
            s -= (x0 + s * (r0 + s * (c2 + s * c3))) / (r0 + s * (2.0 * c2 + s * 3.0 * c3));
        }
        times.push(t0 + s * h);
    }
    times
}

/// T = 2π √(I / m g d) / agm(1, cos(θ/2)): the complete elliptic integral by the arithmetic-geometric mean.
fn exact_period(small: f64, degrees: f64) -> f64 {
    let (mut a, mut b) = (1.0f64, (0.5 * degrees.to_radians()).cos());
    while (a - b).abs() > 1e-15 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    small / a
}

/// Periods of the point mass [s], computed with independent code to 12 digits.
const PERIODS: [(f64, f64); 7] = [
    (1.0, 2.006104874056),
    (10.0, 2.009892627299),
    (45.0, 2.086255872614),
    (90.0, 2.367841947576),
    (135.0, 3.065164746629),
    (170.0, 4.893524274105),
    (179.0, 7.825796837538),
];

/// The times of a quarter and three quarters of a period.
fn check_period(model: &Model, wanted: f64, name: &str) {
    let mut samples = Vec::new();
    let dt = 1e-3;
    watch(model, Scheme::new(RK4, dt), (0.8 * wanted / dt) as usize, |t, x| samples.push((t, x[0], x[1])));
    let times = crossings(&samples);
    assert_eq!(times.len(), 2);
    for found in [4.0 * times[0], 2.0 * (times[1] - times[0])] {
        let error = (found / wanted - 1.0).abs();
        assert!(error < 1e-10, "{name}: {found:.12} s and not {wanted:.12}, off by {error:.1e}");
    }
}

#[test]
fn pendulums_have_their_periods() {
    let small = TAU * (1.0 / G).sqrt();
    for (degrees, wanted) in PERIODS {
        assert!((exact_period(small, degrees) / wanted - 1.0).abs() < 1e-12);
        check_period(&pendulum(BOB, degrees), wanted, &format!("point mass from {degrees}°"));
    }
    // I = m L²/3 about the end, with d = L/2.
    let small = TAU * (2.0 / (3.0 * G)).sqrt();
    assert!(
        (small - 1.637946585913).abs() < 1e-12 && (exact_period(small, 90.0) - 1.933334854373).abs() < 1e-12
    );
    for degrees in [1.0, 30.0, 60.0, 90.0, 120.0, 150.0, 175.0, 179.0] {
        let wanted = exact_period(small, degrees);
        check_period(&pendulum(ROD, degrees), wanted, &format!("rod from {degrees}°"));
    }
}

/// dT/dL = T/2L and dT/dg = -T/2g, and none by mass: from θ(T/4) = 0,  dT = -4 (∂θ/∂p) / ω.
#[test]
fn periods_change_with_length_and_gravity() {
    for (inertial, name) in [(BOB, "point mass"), (ROD, "rod")] {
        let square = inertial.center[2] * inertial.center[2] + inertial.inertia[1] / inertial.mass;
        let small = TAU * (square / (G * -inertial.center[2])).sqrt();
        for degrees in [1.0, 45.0, 90.0, 135.0, 170.0, 179.0] {
            let model = pendulum(inertial, degrees);
            let (period, steps) = (exact_period(small, degrees), 2000);
            let scheme = Scheme::new(RK4, 0.25 * period / steps as f64);
            let speed = last(&model, RK4, 0.25 * period, steps)[1];
            let g = gradient(&model, scheme, steps, &LastNumber(0));
            let by = g.params(0).expect("a world");
            let by = |name: &str| -4.0 * by.number(name).expect("a name") / speed;
            // The centre lies at -L or -L/2, and the inertia is 0 or m L²/12; by ln L.
            let by_inertia = 2.0 * inertial.inertia[1] * by("robot.body.inertia.y");
            let by_length = inertial.center[2] * by("robot.body.center.z") + by_inertia;
            let by_gravity = -by("gravity.z");
            let by_mass =
                by("robot.body.mass") + inertial.inertia[1] / inertial.mass * by("robot.body.inertia.y");
            for (what, found, wanted) in [
                ("length", by_length, 0.5 * period),
                ("gravity", by_gravity, -0.5 * period / G),
                ("mass", by_mass, 0.0),
            ] {
                let error = (found - wanted).abs() / period;
                assert!(
                    error < 1e-9,
                    "{name} from {degrees}° by {what}: {found} and not {wanted}, off by {error:.1e}"
                );
            }
        }
    }
}

/// Two points of 1 kg on rods of 1 m, both level and at rest.
fn double_pendulum() -> Model {
    let bodies = vec![body("upper", None, [0.0; 3], BOB), body("lower", Some(0), [0.0, 0.0, -1.0], BOB)];
    let joint = |name: &str, body| Joint::new(name, body, JointKind::Hinge, [0.0, 1.0, 0.0]);
    let joints = vec![joint("shoulder", 0), joint("elbow", 1)];
    let start = Keyframe { positions: vec![FRAC_PI_2, 0.0], ..Keyframe::default() };
    model(Robot { name: "arm".into(), bodies, joints, start, ..Robot::default() }, [0.0, 0.0, -G])
}

/// (t, [θ1, θ2, ω1, ω2]) with angles from the vertical, computed with independent code to 16 digits.
const DOUBLE_PENDULUM: [(f64, [f64; 4]); 4] = [
    (0.5, [0.5704720512329922, 1.203875111158244, -2.789645766167374, -3.18806274665121]),
    (1.0, [-0.6250876998063906, -1.034585085680012, -3.922279572887977, -1.303099248696331]),
    (2.0, [-0.4829715342517544, -1.324048712302363, 3.065288192073401, 2.949271547571619]),
    (3.0, [1.785795522077417, 1.118107461205155, 0.3279806195144561, -0.504455103945312]),
];

/// (t, ∂(θ1, θ2, ω1, ω2)(t) by θ1, θ2, ω1 and ω2 at the start).
const TRANSITIONS: [(f64, [[f64; 4]; 4]); 2] = [
    (
        1.0,
        [
            [0.1799492298896, -0.30640864990177, -1.1429964181799, -1.9912179133069],
            [-0.13017178373594, 0.36984088496922, -2.4558209527576, 2.4042642368411],
            [0.39982462516697, 0.13283376643184, 0.22435357789063, -1.6898404531199],
            [0.30864618883293, -0.025655795955194, -0.3527503771456, -0.16703888600154],
        ],
    ),
    (
        2.0,
        [
            [-1.3955377007012, -1.0671163766549, 3.3037629759816, -6.4512984543815],
            [-0.25377568296396, -1.0040562952476, 0.70649390130062, -0.54447805795072],
            [-0.31246566687802, -0.30063930148538, 0.54929446398325, -2.0498101786097],
            [-0.35861377339425, 0.015653143934685, 1.2798820949267, -3.2053327430469],
        ],
    ),
];

/// Angles from the vertical, from those of the joints: the second is counted from the first.
fn absolute(x: &[f64]) -> [f64; 4] {
    [x[0], x[0] + x[1], x[2], x[2] + x[3]]
}

#[test]
fn double_pendulum_goes_as_computed() {
    let model = double_pendulum();
    for (time, wanted) in DOUBLE_PENDULUM {
        let found = absolute(&last(&model, RK4, time, (4000.0 * time) as usize));
        for i in 0..4 {
            let error = (found[i] - wanted[i]).abs();
            assert!(error < 1e-11, "number {i} after {time} s: off by {error:.1e}");
        }
    }
}

#[test]
fn double_pendulum_depends_on_its_start_as_computed() {
    let model = double_pendulum();
    for (time, wanted) in TRANSITIONS {
        let steps = (4000.0 * time) as usize;
        let rows = [0, 1, 2, 3]
            .map(|i| gradient(&model, Scheme::new(RK4, time / steps as f64), steps, &LastNumber(i)));
        // The other way round for cotangents: an angle of the first rod moves the first joint forth and the second back.
        let rows =
            rows.map(|g| [g.states[0] - g.states[1], g.states[1], g.states[2] - g.states[3], g.states[3]]);
        for by in 0..4 {
            let found = absolute(&[rows[0][by], rows[1][by], rows[2][by], rows[3][by]]);
            for i in 0..4 {
                let error = (found[i] - wanted[by][i]).abs();
                assert!(error < 2e-11, "number {i} by {by} after {time} s: off by {error:.1e}");
            }
        }
    }
}

/// I = (1, 2, 3) kg·m², turning almost about the middle axis: (ω, 2E, L², period), computed with independent code.
const TUMBLING: [([f64; 3], f64, f64, f64); 3] = [
    ([0.01, 1.0, 0.01], 2.0004, 4.001, 39.105734197288),
    ([0.001, 5.0, 0.001], 50.000004, 100.00001, 13.242447960672),
    ([0.1, 1.0, 0.0], 2.01, 4.01, 25.510977876635),
];

#[test]
fn body_tumbles_about_its_middle_axis() {
    let inertial = Inertial { mass: 1.0, center: [0.0; 3], inertia: [1.0, 2.0, 3.0, 0.0, 0.0, 0.0] };
    let positions = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    for (w, twice_energy, square, period) in TUMBLING {
        let model =
            single(JointKind::Free, inertial, (&positions, &[0.0, 0.0, 0.0, w[0], w[1], w[2]]), [0.0; 3]);
        let (dt, first) = (0.01 / w[1], vec3(w[0], 2.0 * w[1], 3.0 * w[2]));
        let (mut samples, mut worst) = (Vec::new(), [0.0; 3]);
        watch(&model, Scheme::new(RK4, dt), (1.3 * period / dt) as usize, |t, x| {
            let (o, w) = (quat(x[3], vec3(x[4], x[5], x[6])), &x[10..13]);
            let l = vec3(w[0], 2.0 * w[1], 3.0 * w[2]);
            let energy = w[0] * l.x + w[1] * l.y + w[2] * l.z;
            let errors = [
                energy / twice_energy - 1.0,
                dot(l, l) / square - 1.0,
                length(rotate(o, l) - first) / square.sqrt(),
            ];
            (0..3).for_each(|i| worst[i] = larger(worst[i], errors[i].abs()));
            // ω2' = (I3 - I1)/I2 ω3 ω1
            samples.push((t, w[1], w[2] * w[0]));
        });
        assert!(worst.iter().all(|error| *error < 1e-8), "ω = {w:?}: {worst:?}");
        let times = crossings(&samples);
        assert!(times.len() >= 2);
        for half in times.windows(2) {
            let error = (2.0 * (half[1] - half[0]) / period - 1.0).abs();
            assert!(error < 1e-8, "ω = {w:?}: the period is off by {error:.1e}");
        }
    }
}

/// A top that precesses steadily at Ω, tilted by θ: I1 Ω² cos θ - I3 ω3 Ω + m g l = 0 (Goldstein, Classical Mechanics, 5.7).
#[test]
fn top_precesses_steadily() {
    let (mass, arm, [i1, i3]) = (0.7, 0.12, [3.1e-3, 1.4e-3]);
    // About the centre of mass.
    let inertia = [i1, i1, i3, 0.0, 0.0, 0.0];
    let pivot = i1 + mass * arm * arm;
    let inertial = Inertial { mass, center: [0.0, 0.0, arm], inertia };
    for (tilt, rate) in [(0.5, 3.0), (1.1, 6.0), (2.0, 4.0), (FRAC_PI_2, 2.0)] {
        let tilt: f64 = tilt;
        let spin = (mass * G * arm + pivot * rate * rate * tilt.cos()) / (i3 * rate);
        // Tilted about y: in the body's axes, the vertical is (-sin θ, 0, cos θ).
        let turn = [(0.5 * tilt).cos(), 0.0, (0.5 * tilt).sin(), 0.0];
        let model =
            single(JointKind::Ball, inertial, (&turn, &[-rate * tilt.sin(), 0.0, spin]), [0.0, 0.0, -G]);
        let mut worst = 0.0;
        watch(&model, Scheme::new(RK4, 5e-5), 20_000, |t, x| {
            let axis = rotate(quat(x[0], vec3(x[1], x[2], x[3])), vec3(0.0, 0.0, 1.0));
            let (sin, cos) = (rate * t).sin_cos();
            let wanted = vec3(tilt.sin() * cos, tilt.sin() * sin, tilt.cos());
            worst = larger(worst, length(axis - wanted));
        });
        assert!(worst < 1e-8, "tilt {tilt}: the axis is off by {worst:.1e}");
    }
}

/// Largest |E - E0| [J/kg] of a pendulum of 1 m from 90° in 100 s, for steps of 0.01, 0.005 and 0.0025 s; computed with
/// independent code. The acceleration of one hinge depends on its angle alone, so that every rule is what it is for a
/// particle.
const DRIFTS: [(Integrator, [f64; 3]); 5] = [
    (Integrator::ExplicitEuler, [48.9, 25.0, 13.3]),
    (Integrator::SemiImplicitEuler, [1.361e-1, 6.773e-2, 3.378e-2]),
    (Integrator::VelocityVerlet, [2.005e-3, 5.012e-4, 1.253e-4]),
    (Integrator::ImplicitMidpoint, [4.009e-4, 1.002e-4, 2.506e-5]),
    (Integrator::RungeKutta4, [7.649e-7, 2.496e-8, 8.455e-10]),
];

#[test]
fn pendulum_drifts_as_published() {
    let model = pendulum(BOB, 90.0);
    for (integrator, drifts) in DRIFTS {
        for (i, wanted) in drifts.into_iter().enumerate() {
            let (steps, mut drift) = (10_000 << i, 0.0);
            watch(&model, Scheme::new(integrator, 100.0 / steps as f64), steps, |_, x| {
                drift = larger(drift, (0.5 * x[1] * x[1] - G * x[0].cos()).abs());
            });
            let name = format!("{} with {steps} steps: {drift:.4e} J/kg", integrator.name());
            assert!((drift / wanted - 1.0).abs() < 0.05, "{name}, and not {wanted:.3e}");
        }
    }
}

fn check_orders(name: &str, model: &Model) {
    let truth = measure(model, RK4, 4000, 1);
    for integrator in integrators(false) {
        // Short enough for the order to show, long enough for rounding not to.
        let steps = match order(integrator) as usize {
            1 => 3200,
            2 => 400,
            _ => 160,
        };
        let (coarse, fine) = (measure(model, integrator, steps, 1), measure(model, integrator, 2 * steps, 1));
        has_order(&format!("{name}, {}", integrator.name()), order(integrator), [&coarse, &fine, &truth]);
    }
}

#[test]
fn double_pendulum_has_every_order() {
    check_orders("double pendulum", &double_pendulum());
}

/// A free body whose origin is not its centre of mass.
fn tumbling() -> Model {
    model(chain("box", &[JointKind::Free]), [0.0, 0.0, -G])
}

/// A ball joint with a body without symmetry.
fn ball_pendulum() -> Model {
    model(chain("arm", &[JointKind::Ball]), [0.0, 0.0, -G])
}

#[test]
fn tumbling_body_has_every_order() {
    check_orders("tumbling body", &tumbling());
}

#[test]
fn ball_joint_has_every_order() {
    check_orders("ball joint", &ball_pendulum());
}

#[test]
fn quaternions_stay_unit() {
    for (name, model, at) in [("tumbling body", tumbling(), 3), ("ball joint", ball_pendulum(), 0)] {
        for integrator in integrators(false) {
            let mut worst = 0.0;
            watch(&model, Scheme::new(integrator, 1e-3), 10_000, |_, x| {
                let length = x[at..at + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
                worst = larger(worst, (length - 1.0).abs());
            });
            assert!(worst < 1e-12, "{name} with {}: {worst:.1e}", integrator.name());
        }
    }
}
