//! Identities that hold for every tree of bodies, on random ones: from chains to bushes, with all kinds of joints, several
//! at one body, welded bodies, and masses from 10 mg to 100 kg.

mod common;
mod trees;

use common::robots::Random;
use pullback_engine::articulated::{Algorithm, JointPlace, Mechanism};
use pullback_engine::{Integrator, Memory, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::robot::{Body, Inertial, Joint, JointKind, Keyframe, Placement, Robot};
use pullback_scene::{Scene, World};
use trees::{ANY_MASS, EPSILON, LIKE_MASSES, Sample, joints, most, moved, samples};

fn vector(v: [f64; 3]) -> Vec3 {
    vec3(v[0], v[1], v[2])
}

/// Of each body: momentum (3), angular momentum about the world's origin (3), kinetic and potential energy.
fn per_body(mechanism: &mut Mechanism, q: &[f64], v: &[f64]) -> Vec<[f64; 8]> {
    let moving = mechanism.bodies(q, v).expect("bodies");
    let params = mechanism.params();
    let g = params.get("gravity").expect("gravity");
    let g = vec3(g[0], g[1], g[2]);
    let one = |(body, (pose, motion)): (&Body, &(Pose, Motion))| {
        let Inertial { mass, center, inertia } = body.inertial;
        let arm = pose.rotation * vector(center);
        let velocity = motion.linear + cross(motion.angular, arm);
        let place = pose.position + arm;
        let w = transpose_times(pose.rotation, motion.angular);
        let [xx, yy, zz, xy, xz, yz] = inertia;
        let spin = vec3(
            xx * w.x + xy * w.y + xz * w.z,
            xy * w.x + yy * w.y + yz * w.z,
            xz * w.x + yz * w.y + zz * w.z,
        );
        let momentum = velocity * mass;
        let angular = cross(place, momentum) + pose.rotation * spin;
        let kinetic = 0.5 * (mass * dot(velocity, velocity) + dot(w, spin));
        let [p, l] = [momentum, angular].map(|v| [v.x, v.y, v.z]);
        [p[0], p[1], p[2], l[0], l[1], l[2], kinetic, -mass * dot(g, place)]
    };
    mechanism.robot().description().bodies.iter().zip(&moving).map(one).collect()
}

/// The kinetic energy of rotors: ½ armature v² of each degree of freedom.
fn of_rotors(mechanism: &Mechanism, v: &[f64]) -> f64 {
    let description = mechanism.robot().description();
    let mut sum = 0.0;
    for (joint, (kind, place)) in description.joints.iter().zip(joints(mechanism)) {
        let linear = &v[place.velocity..place.velocity + kind.velocities().min(3)];
        let angular = &v[place.angular_velocity..][..if kind == JointKind::Free { 3 } else { 0 }];
        sum += 0.5 * joint.armature * linear.iter().chain(angular).map(|x| x * x).sum::<f64>();
    }
    sum
}

/// f'(0) of many numbers, by central differences with the errors of orders 2 and 4 taken out.
fn rates(mut f: impl FnMut(f64) -> Vec<f64>, h: f64) -> Vec<f64> {
    let mut difference = |h: f64| -> Vec<f64> {
        let (ahead, behind) = (f(h), f(-h));
        ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect()
    };
    let [a, b, c] = [difference(h), difference(h / 2.0), difference(h / 4.0)];
    let one = |i: usize| {
        let (ab, bc) = ((4.0 * b[i] - a[i]) / 3.0, (4.0 * c[i] - b[i]) / 3.0);
        (16.0 * bc - ab) / 15.0
    };
    (0..a.len()).map(one).collect()
}

/// The rates of what [`per_body`] gives, along the motion with accelerations `a`.
fn rates_along(sample: &mut Sample, a: &[f64]) -> Vec<[f64; 8]> {
    let Sample { mechanism, q, v, .. } = sample;
    let fastest =
        mechanism.bodies(q, v).expect("bodies").iter().map(|(_, m)| length(m.angular)).fold(1.0, f64::max);
    let at = |t: f64| -> Vec<f64> {
        let there = moved(mechanism, q, v, t);
        let faster: Vec<f64> = v.iter().zip(a).map(|(v, a)| v + t * a).collect();
        per_body(mechanism, &there, &faster).concat()
    };
    let rates = rates(at, 2e-3 / fastest);
    rates.chunks_exact(8).map(|r| std::array::from_fn(|i| r[i])).collect()
}

#[test]
fn forward_dynamics_undoes_inverse_dynamics() {
    for masses in [ANY_MASS, LIKE_MASSES] {
        for mut sample in samples(&[1, 2, 3, 5, 8, 13, 30, 80, 200], masses, false) {
            let summands = sample.summands();
            for algorithm in [Algorithm::Composite, Algorithm::Articulated, Algorithm::Fastest] {
                let found = sample.accelerations(algorithm);
                let error = |i: usize| (found[i] - sample.a[i]).abs() / summands[i];
                let error = most((0..found.len()).map(error));
                assert!(error < 100.0 * EPSILON, "{}, {algorithm:?}: {error:.2e}", sample.name);
            }
            // With masses that are alike and few joints, that is exact to the digits that are shown.
            if masses == LIKE_MASSES && sample.v.len() < 20 {
                let found = sample.accelerations(Algorithm::Fastest);
                let error = most(found.iter().zip(&sample.a).map(|(f, a)| (f - a).abs()));
                assert!(error < 1e-10, "{}: {error:.2e}", sample.name);
            }
        }
    }
}

/// The mass matrix is that of the bodies: symmetric, positive, the inverse of what forward dynamics applies, and it gives
/// their kinetic energy.
#[test]
fn mass_matrix_is_that_of_the_bodies() {
    for mut sample in samples(&[1, 2, 3, 5, 8, 13, 30, 80, 200], ANY_MASS, false) {
        let Sample { name, mechanism, q, v, tau, .. } = &mut sample;
        let n = v.len();
        let m = mechanism.mass_matrix(q).expect("a matrix");
        let size = |i: usize, j: usize| (m[i * n + i] * m[j * n + j]).sqrt();
        let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let unlike = most(pairs().map(|(i, j)| (m[i * n + j] - m[j * n + i]).abs() / size(i, j)));
        assert!(unlike < 20.0 * EPSILON, "{name}: not symmetric by {unlike:.2e}");
        assert!(cholesky(&m, n), "{name}: not positive");
        let inverse = mechanism.jacobians(q, v, tau).expect("Jacobians").by_force;
        let off = |(i, j): (usize, usize)| {
            let terms = || (0..n).map(|k| m[i * n + k] * inverse[k * n + j]);
            let wanted = if i == j { 1.0 } else { 0.0 };
            (terms().sum::<f64>() - wanted).abs() / terms().map(f64::abs).sum::<f64>().max(wanted)
        };
        let off = most(pairs().map(off));
        assert!(off < 200.0 * EPSILON, "{name}: M M⁻¹ is off by {off:.2e}");
        let terms: Vec<f64> = pairs().map(|(i, j)| 0.5 * v[i] * m[i * n + j] * v[j]).collect();
        let bodies: f64 = per_body(mechanism, q, v).iter().map(|b| b[6]).sum();
        let wanted = bodies + of_rotors(mechanism, v);
        let error = (terms.iter().sum::<f64>() - wanted).abs() / terms.iter().map(|t| t.abs()).sum::<f64>();
        assert!(error < 20.0 * EPSILON, "{name}: kinetic energy {wanted:.3e} is off by {error:.2e}");
    }
}

/// Is a symmetric matrix positive? M = L Lᵀ has no negative pivot.
fn cholesky(m: &[f64], n: usize) -> bool {
    let mut l = m.to_vec();
    for j in 0..n {
        for k in 0..j {
            let factor = l[j * n + k];
            for i in j..n {
                l[i * n + j] -= l[i * n + k] * factor;
            }
        }
        let pivot = l[j * n + j];
        // NaN is not positive.
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        for i in j..n {
            l[i * n + j] /= pivot.sqrt();
        }
    }
    true
}

/// Momentum changes by gravity alone, whatever joints do to each other: P' = Σ m g,  L' = Σ c × m g.
#[test]
fn joints_change_no_momentum() {
    for (i, mut sample) in samples(&[1, 2, 3, 5, 8, 13, 30, 80], ANY_MASS, true).into_iter().enumerate() {
        let mut params = sample.mechanism.params();
        // Every second one is weightless.
        if i % 2 == 0 {
            params.values_mut()[..3].fill(0.0);
            sample.mechanism.set_params(params.values()).expect("params");
        }
        let g = vec3(params.values()[0], params.values()[1], params.values()[2]);
        let description = sample.mechanism.robot().description().clone();
        for (joint, (_, place)) in description.joints.iter().zip(joints(&sample.mechanism)) {
            if description.bodies[joint.body].parent.is_none() {
                sample.tau[place.velocity..place.velocity + 3].fill(0.0);
                sample.tau[place.angular_velocity..place.angular_velocity + 3].fill(0.0);
            }
        }
        let a = sample.accelerations(Algorithm::Fastest);
        let rates = rates_along(&mut sample, &a);
        let moving = sample.mechanism.bodies(&sample.q, &sample.v).expect("bodies");
        let (mut wanted, mut sizes) = ([0.0; 6], [0.0; 2]);
        for ((body, (pose, _)), rate) in description.bodies.iter().zip(&moving).zip(&rates) {
            let place = pose.rotation * vector(body.inertial.center) + pose.position;
            let weight = g * body.inertial.mass;
            let torque = cross(place, weight);
            for (i, x) in [weight.x, weight.y, weight.z, torque.x, torque.y, torque.z].iter().enumerate() {
                wanted[i] += x;
                sizes[i / 3] += x.abs() + rate[i].abs();
            }
        }
        for i in 0..6 {
            let sum: f64 = rates.iter().map(|rate| rate[i]).sum();
            let error = (sum - wanted[i]).abs() / sizes[i / 3];
            assert!(error < 1e-10, "{}: number {i} is off by {error:.2e}", sample.name);
        }
    }
}

/// The power of joint forces becomes energy: τ · v = E'.
#[test]
fn power_becomes_energy() {
    for mut sample in samples(&[1, 2, 3, 5, 8, 13, 30, 80], ANY_MASS, false) {
        let a = sample.accelerations(Algorithm::Fastest);
        let rates = rates_along(&mut sample, &a);
        let mut size: f64 = rates.iter().map(|r| r[6].abs() + r[7].abs()).sum();
        let mut gained: f64 = rates.iter().map(|r| r[6] + r[7]).sum();
        // ½ A v² is not a sum over bodies: (½ A v²)' = A v a.
        let of_sum = |v: &[f64]| of_rotors(&sample.mechanism, v);
        let (ahead, behind): (Vec<f64>, Vec<f64>) =
            sample.v.iter().zip(&a).map(|(v, a)| (v + a, v - a)).unzip();
        gained += 0.5 * (of_sum(&ahead) - of_sum(&behind));
        let power: Vec<f64> = sample.tau.iter().zip(&sample.v).map(|(tau, v)| tau * v).collect();
        size += power.iter().map(|p| p.abs()).sum::<f64>();
        let error = (gained - power.iter().sum::<f64>()).abs() / size;
        assert!(error < 1e-10, "{}: {error:.2e}", sample.name);
    }
}

/// Two observers see the same accelerations: one that moves along, and one that is turned and stands elsewhere.
#[test]
fn every_observer_sees_the_same() {
    for (i, mut sample) in samples(&[1, 2, 3, 5, 8, 13, 30, 80], ANY_MASS, true).into_iter().enumerate() {
        let summands = sample.summands();
        let seen = |sample: &mut Sample, algorithm, wanted: &[f64]| {
            let found = sample.accelerations(algorithm);
            let error = most((0..found.len()).map(|i| (found[i] - wanted[i]).abs() / summands[i]));
            assert!(error < 3e-12, "{}, {algorithm:?}: {error:.2e}", sample.name);
        };
        let mut random = Random::new(i as u64);
        let (turn, away, along) = (random.turn(), random.vector(3.0), random.vector(5.0));
        for algorithm in [Algorithm::Composite, Algorithm::Articulated] {
            let (q, v, tau) = (sample.q.clone(), sample.v.clone(), sample.tau.clone());
            let params = sample.mechanism.params();
            let mut wanted = sample.a.clone();
            let roots = roots(&sample.mechanism);
            for place in &roots {
                (0..3).for_each(|k| sample.v[place.velocity + k] += along[k]);
            }
            seen(&mut sample, algorithm, &wanted);
            sample.v = v.clone();
            let r = quat(turn[0], vec3(turn[1], turn[2], turn[3]));
            let turned = |numbers: &mut [f64]| {
                let v = rotate(r, vec3(numbers[0], numbers[1], numbers[2]));
                numbers.copy_from_slice(&[v.x, v.y, v.z]);
            };
            for place in &roots {
                let position = place.position..place.position + 3;
                let velocity = place.velocity..place.velocity + 3;
                turned(&mut sample.q[position.clone()]);
                (0..3).for_each(|k| sample.q[position.start + k] += away[k]);
                let o = &mut sample.q[place.orientation..place.orientation + 4];
                let both = r * quat(o[0], vec3(o[1], o[2], o[3]));
                o.copy_from_slice(&[both.w, both.x, both.y, both.z]);
                turned(&mut sample.v[velocity.clone()]);
                turned(&mut sample.tau[velocity.clone()]);
                turned(&mut wanted[velocity]);
            }
            let mut elsewhere = params.clone();
            turned(&mut elsewhere.values_mut()[..3]);
            sample.mechanism.set_params(elsewhere.values()).expect("params");
            seen(&mut sample, algorithm, &wanted);
            sample.mechanism.set_params(params.values()).expect("params");
            (sample.q, sample.v, sample.tau) = (q, v, tau);
        }
    }
}

/// Where the numbers of the joints at the roots lie, which are free.
fn roots(mechanism: &Mechanism) -> Vec<JointPlace> {
    let description = mechanism.robot().description();
    let at_root = |body: usize| description.bodies[body].parent.is_none();
    let all = description.joints.iter().zip(joints(mechanism));
    all.filter(|(joint, _)| at_root(joint.body)).map(|(_, (_, place))| place).collect()
}

/// A turned and moved fixed base with turned gravity: joints accelerate the same.
#[test]
fn a_turned_base_with_turned_gravity_is_the_same() {
    use JointKind::{Ball, Hinge, Slide};
    let mut robot = common::robots::chain("arm", &[Hinge, Ball, Slide, Hinge]);
    let of = |robot: &Robot| {
        let mut mechanism = Mechanism::<f64>::new(robot).expect("a mechanism");
        let built = mechanism.robot();
        let (q, v) =
            (built.positions_of(&robot.start.positions), built.velocities_of(&robot.start.velocities));
        mechanism.forward_dynamics(&q, &v, &vec![0.3; v.len()]).expect("accelerations")
    };
    robot.options.gravity = Some([0.3, -0.2, -9.81]);
    let wanted = of(&robot);
    let r = quat(0.6, vec3(0.0, 0.64, 0.48));
    let turned = |v: [f64; 3]| {
        let v = rotate(r, vector(v));
        [v.x, v.y, v.z]
    };
    robot.options.gravity = Some(turned([0.3, -0.2, -9.81]));
    let Placement { position, orientation: [w, x, y, z] } = robot.bodies[0].placement;
    let both = r * quat(w, vec3(x, y, z));
    let [x, y, z] = turned(position);
    robot.bodies[0].placement =
        Placement { position: [x + 0.3, y - 2.0, z + 4.0], orientation: [both.w, both.x, both.y, both.z] };
    let found = of(&robot);
    let error = most(found.iter().zip(&wanted).map(|(f, w)| (f - w).abs()));
    assert!(error < 1e-12, "{error:.2e}");
}

/// Single precision has the first digits of double precision, where masses are alike.
#[test]
fn single_precision_agrees() {
    for wood in samples(&[1, 2, 3, 5, 8], LIKE_MASSES, false) {
        let Sample { name, mechanism, q, v, a, tau } = wood;
        let short = |x: &[f64]| -> Vec<f32> { x.iter().map(|x| *x as f32).collect() };
        let mut single = Mechanism::<f32>::new(mechanism.robot().description()).expect("a mechanism");
        let compare = |found: &[f32], wanted: &[f64]| {
            let size = most(wanted.iter().map(|w| w.abs()));
            let error = most(found.iter().zip(wanted).map(|(f, w)| (f64::from(*f) - w).abs() / size));
            assert!(error < 1e-4, "{name}: {error:.2e}");
        };
        let (q, v) = (short(&q), short(&v));
        let mut out = vec![0.0; v.len()];
        for algorithm in [Algorithm::Composite, Algorithm::Articulated] {
            single.forward_dynamics_into(algorithm, (&q, &v, &short(&tau)), &mut out).expect("accelerations");
            compare(&out, &a);
        }
        single.inverse_dynamics_into((&q, &v, &short(&a)), &mut out).expect("forces");
        compare(&out, &tau);
    }
}

/// Nineteen worlds, which fill lanes and leave some over, give the same bits as each alone.
#[test]
fn worlds_of_a_batch_are_as_each_alone() {
    const WORLDS: usize = 19;
    for (i, mut one) in samples(&[1, 3, 8, 40], ANY_MASS, false).into_iter().enumerate() {
        let description = one.mechanism.robot().description().clone();
        let mut all = Mechanism::<f64>::batch(&description, WORLDS, RunOptions::default()).expect("a batch");
        let mut random = Random::new(i as u64);
        let n = one.v.len();
        let (mut q, mut v, mut tau) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..WORLDS {
            q.extend(moved(&one.mechanism, &one.q, &random.numbers(n, 1.0), 1.0));
            v.extend(random.numbers(n, 2.0));
            tau.extend(one.tau.iter().map(|tau| tau * random.within(0.5, 1.5)));
        }
        let (forward, mut out) =
            (all.forward_dynamics(&q, &v, &tau).expect("accelerations"), vec![0.0; v.len()]);
        let inverse = all.inverse_dynamics(&q, &v, &tau).expect("forces");
        all.forward_dynamics_into(Algorithm::Articulated, (&q, &v, &tau), &mut out).expect("accelerations");
        for (world, q) in q.chunks_exact(q.len() / WORLDS).enumerate() {
            let part = world * n..(world + 1) * n;
            let (v, tau) = (&v[part.clone()], &tau[part.clone()]);
            let alone = one.mechanism.forward_dynamics(q, v, tau).expect("accelerations");
            assert_eq!(alone, forward[part.clone()], "{}, world {world}", one.name);
            let alone = one.mechanism.inverse_dynamics(q, v, tau).expect("forces");
            assert_eq!(alone, inverse[part.clone()], "{}, world {world}", one.name);
            let mut alone = vec![0.0; n];
            one.mechanism
                .forward_dynamics_into(Algorithm::Articulated, (q, v, tau), &mut alone)
                .expect("accelerations");
            assert_eq!(alone, out[part], "{}, world {world}", one.name);
        }
    }
}

const GRAIN: f64 = 1e-5;

/// Grains of sand of 10 mg, all turning and flying.
fn sand(count: usize, inertia: impl Fn(&mut Random) -> [f64; 3]) -> Robot {
    let mut random = Random::new(count as u64);
    let mut robot = Robot { name: "sand".into(), loose: true, ..Robot::default() };
    let mut start = Keyframe::default();
    for i in 0..count {
        let [xx, yy, zz] = inertia(&mut random);
        let inertial = Inertial { mass: GRAIN, center: [0.0; 3], inertia: [xx, yy, zz, 0.0, 0.0, 0.0] };
        let placement = Placement { position: random.vector(10.0), orientation: random.turn() };
        start.positions.extend(placement.position);
        start.positions.extend(placement.orientation);
        start.velocities.extend(random.vector(3.0));
        start.velocities.extend(random.vector(5.0));
        let name = format!("sand[{i}]");
        robot.joints.push(Joint::new(name.clone(), i, JointKind::Free, [0.0, 0.0, 1.0]));
        robot.bodies.push(Body { name, parent: None, placement, inertial });
    }
    robot.start = start;
    robot
}

/// The first and the last state.
fn fly(robot: &Robot, integrator: Integrator, (dt, steps): (f64, usize)) -> [Vec<f64>; 2] {
    let scene = Scene { robots: vec![robot.clone()], ..Scene::default() };
    let model = Model::new(&scene).expect("a scene");
    let step = Step::new(&model, Scheme::new(integrator, dt)).expect("a step");
    let options = Options { memory: Memory::Binomial { snapshots: 1 }, ..Options::new(steps) };
    let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let mut last = Vec::new();
    let see = |m: &pullback_engine::rollout::Moment<'_>| {
        if m.last {
            last = m.state.to_vec();
        }
    };
    rollout.watch(&Start::new(&state, &[], &params), see).expect("a rollout");
    [state.values().to_vec(), last]
}

/// Angular momentum in world axes of body `i` of so many.
fn angular_momentum(robot: &Robot, state: &[f64], i: usize) -> Vec3 {
    let n = robot.bodies.len();
    let (o, w) = (&state[3 * n + 4 * i..], &state[7 * n + 3 * n + 3 * i..]);
    let [xx, yy, zz, ..] = robot.bodies[i].inertial.inertia;
    rotate(quat(o[0], vec3(o[1], o[2], o[3])), vec3(xx * w[0], yy * w[1], zz * w[2]))
}

#[test]
fn sand_flies_as_gravity_says() {
    const COUNT: usize = 5000;
    let (dt, steps) = (1e-3, 1000);
    // Cubes of 2 mm: m s²/6.
    let robot = sand(COUNT, |_| [GRAIN * 4e-6 / 6.0; 3]);
    let [first, last] = fly(&robot, Integrator::SemiImplicitEuler, (dt, steps));
    let (g, n) = (World::default().gravity, steps as f64);
    for i in 0..COUNT {
        for k in 0..3 {
            let (at, rate) = (3 * i + k, 7 * COUNT + 3 * i + k);
            // v_n = v + n h g,  x_n = x + n h v + h² g n (n + 1)/2
            let v = first[rate] + n * dt * g[k];
            let x = first[at] + n * dt * first[rate] + dt * dt * g[k] * n * (n + 1.0) / 2.0;
            assert!((last[rate] - v).abs() < 1e-12 && (last[at] - x).abs() < 1e-12, "grain {i}");
        }
        let [before, after] = [&first, &last].map(|state| angular_momentum(&robot, state, i));
        let error = length(after - before) / length(before);
        assert!(error < 1e-9, "grain {i}: {error:.2e}");
    }
}

/// Grains without symmetry tumble, and keep their angular momentum too: to the order of the rule.
#[test]
fn tumbling_sand_keeps_angular_momentum() {
    let box_of = |random: &mut Random| {
        let [a, b, c] = [(); 3].map(|()| random.within(1e-3, 3e-3).powi(2) * GRAIN / 12.0);
        [b + c, a + c, a + b]
    };
    let robot = sand(200, box_of);
    let [first, last] = fly(&robot, Integrator::RungeKutta4, (1e-3, 1000));
    let mut tumbled = 0.0f64;
    for i in 0..robot.bodies.len() {
        let [before, after] = [&first, &last].map(|state| angular_momentum(&robot, state, i));
        let error = length(after - before) / length(before);
        assert!(error < 1e-9, "grain {i}: {error:.2e}");
        let at = 10 * robot.bodies.len() + 3 * i;
        tumbled = tumbled.max((first[at] - last[at]).abs());
    }
    assert!(tumbled > 1.0);
}
