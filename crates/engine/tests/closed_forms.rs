//! Rollouts against closed forms: values and gradients, with errors that shrink at each integrator's order.

mod measure;

use std::f64::consts::TAU;

use measure::{LastNumber, Problem, gradient, integrators};
use pullback_engine::{Integrator, Model, Options, Rollout, Scheme, Start, Step, Stepper};
use pullback_kernel::prelude::RunOptions;
use pullback_scene::{AppliedForce, Ground, Particles, Scene, Springs, World};

const G: f64 = 9.81;

fn weightless() -> Scene {
    Scene { world: World { gravity: [0.0; 3], ..World::default() }, ..Scene::default() }
}

fn model(scene: &Scene) -> Model {
    Model::new(scene).expect("a scene that makes sense")
}

/// x = x0 + v0 t + ½ (g + F/m) t²
#[test]
fn projectile_with_a_constant_force() {
    let ball = Particles::single("ball", [0.3, 0.0, 2.0], 0.8).velocity([1.5, 0.0, 4.0]);
    let push = AppliedForce::constant("gust", vec![0], [0.6, 0.0, 2.0]);
    let model = model(&Scene { particles: vec![ball], forces: vec![push], ..Scene::default() });
    let problem = Problem {
        name: "projectile",
        model,
        time: 0.9,
        measured: "ball.position.z",
        by: &["ball.position.z", "ball.velocity.z", "gravity.z", "gust.force.z", "ball.mass"],
        exact: &|p| p[0] + p[1] * 0.9 + 0.5 * (p[2] + p[3] / p[4]) * 0.9 * 0.9,
    };
    for integrator in integrators(true) {
        // A parabola is what rules of order 2 and more are exact for, on the lattice up to its 1e-12 a step.
        problem.converges(integrator, 60, 2e-10);
        if measure::order(integrator) >= 2.0 {
            let error = problem.measure(integrator, 60)[0] - problem.truth()[0];
            assert!(error.abs() < 1e-10, "{}: {error:.2e}", integrator.name());
        }
    }
}

/// The same in the air, in the plane: the other axes do not matter.
#[test]
fn projectile_without_drag_goes_straight_sideways() {
    let ball = Particles::single("ball", [0.3, -1.0, 2.0], 0.8).velocity([1.5, -0.7, 4.0]);
    let model = model(&Scene { particles: vec![ball], ..Scene::default() });
    for integrator in integrators(true) {
        let g = gradient(&model, Scheme::new(integrator, 0.01), 90, &LastNumber(1));
        assert!((g.value() - (-1.0 - 0.7 * 0.9)).abs() < 1e-10, "{}", integrator.name());
        let state = g.state(0).expect("a world");
        assert!((state.number("ball.velocity.y").expect("a name") - 0.9).abs() < 1e-12);
        assert!((state.number("ball.position.y").expect("a name") - 1.0).abs() < 1e-12);
        assert_eq!(state.number("ball.velocity.x").expect("a name"), 0.0);
        assert_eq!(g.params(0).expect("a world").number("gravity.z").expect("a name"), 0.0);
    }
}

/// Where a spring rests [m].
const REST: f64 = 2.5;

/// m x'' + c x' + k x = 0 with m = 1, k = 100, c = 1, x0 = 1, v0 = 0, as a particle on a spring with a damper along x.
fn oscillator(damping: Option<f64>) -> Scene {
    let wall = Particles::single("wall", [0.0; 3], 1.0).fix();
    let mass = Particles::single("mass", [REST + 1.0, 0.0, 0.0], 1.0);
    let mut spring = Springs::between("spring", [0, 1], 100.0, REST);
    spring.damping = damping.map(|c| vec![c]);
    Scene { particles: vec![wall, mass], springs: vec![spring], ..weightless() }
}

/// x(t) = e^(-γ t) (x0 cos(ω t) + (v0 + γ x0)/ω sin(ω t)),  γ = c/2m,  ω² = k/m - γ²
fn damped(x0: f64, v0: f64, m: f64, k: f64, c: f64, t: f64) -> f64 {
    let decay = c / (2.0 * m);
    let omega = (k / m - decay * decay).sqrt();
    (-decay * t).exp() * (x0 * (omega * t).cos() + (v0 + decay * x0) / omega * (omega * t).sin())
}

#[test]
fn damped_oscillator() {
    let problem = Problem {
        name: "damped oscillator",
        model: model(&oscillator(Some(1.0))),
        time: 1.0,
        measured: "mass.position.x",
        by: &[
            "mass.position.x",
            "mass.velocity.x",
            "mass.mass",
            "spring.stiffness",
            "spring.damping",
            "spring.rest_length",
            "wall.position.x",
        ],
        exact: &|p| p[5] + p[6] + damped(p[0] - p[5] - p[6], p[1], p[2], p[3], p[4], 1.0),
    };
    // The closed form with 40 digits: x(1) and dx(1)/dk.
    let truth = problem.truth();
    assert!((truth[0] - REST - -0.52920881890702).abs() < 1e-13);
    assert!((truth[4] - 0.014994436587494).abs() < 1e-11);
    for integrator in integrators(false) {
        problem.converges(integrator, 4000, 1e-9);
    }
    let fine = problem.measure(Integrator::RungeKutta4, 2000);
    assert!((fine[0] - REST - -0.52920881890702).abs() < 1e-9, "{}", fine[0] - REST);
    assert!((fine[4] - 0.014994436587494).abs() < 1e-9, "{}", fine[4]);
}

#[test]
fn undamped_oscillator() {
    let problem = Problem {
        name: "undamped oscillator",
        model: model(&oscillator(None)),
        time: 1.0,
        measured: "mass.velocity.x",
        by: &["mass.position.x", "mass.velocity.x", "mass.mass", "spring.stiffness", "spring.rest_length"],
        exact: &|p| {
            let omega = (p[3] / p[2]).sqrt();
            p[1] * omega.cos() - (p[0] - p[4]) * omega * omega.sin()
        },
    };
    for integrator in integrators(true) {
        problem.converges(integrator, 4000, 1e-8);
    }
}

/// With u = v - w downwards:  u = u_t tanh(g t/u_t + a),  a = artanh(u0/u_t),  u_t = √(m g/c), and
/// z = z0 + w t - u_t²/g (ln cosh(g t/u_t + a) - ln cosh a).
fn fall(z0: f64, v0: f64, g: f64, m: f64, c: f64, wind: f64, t: f64) -> f64 {
    let terminal = (m * g / c).sqrt();
    let a = ((wind - v0) / terminal).atanh();
    z0 + wind * t - terminal * terminal / g * ((g * t / terminal + a).cosh().ln() - a.cosh().ln())
}

#[test]
fn fall_with_quadratic_drag() {
    for (velocity, wind) in [(0.0, 0.0), (-1.5, 0.0), (-2.0, 0.7)] {
        let ball = Particles::single("ball", [0.0, 0.0, 30.0], 0.6).velocity([0.0, 0.0, velocity]).drag(0.05);
        let mut scene = Scene { particles: vec![ball], ..Scene::default() };
        scene.world.wind = [0.0, 0.0, wind];
        let name = format!("fall from {velocity} m/s in wind of {wind} m/s");
        let by = ["ball.position.z", "gravity.z", "ball.mass", "ball.drag", "ball.velocity.z", "wind.z"];
        let problem = Problem {
            name: &name,
            model: model(&scene),
            time: 1.5,
            measured: "ball.position.z",
            // At rest in still air |v| v has a derivative, but the closed form's artanh starts at 0 from both sides.
            by: &by[..if velocity == 0.0 { 4 } else { 6 }],
            exact: &|p| {
                let (v0, w) = (*p.get(4).unwrap_or(&velocity), *p.get(5).unwrap_or(&wind));
                fall(p[0], v0, -p[1], p[2], p[3], w, 1.5)
            },
        };
        for integrator in integrators(false) {
            problem.converges(integrator, 100, 1e-9);
        }
    }
}

#[test]
fn fall_with_quadratic_drag_reaches_the_speed_of_the_closed_form() {
    let ball = Particles::single("ball", [0.0, 0.0, 30.0], 0.6).drag(0.05);
    let problem = Problem {
        name: "speed of a fall",
        model: model(&Scene { particles: vec![ball], ..Scene::default() }),
        time: 1.5,
        measured: "ball.velocity.z",
        by: &["gravity.z", "ball.mass", "ball.drag"],
        exact: &|p| {
            let terminal = (p[1] * -p[0] / p[2]).sqrt();
            -terminal * (-p[0] * 1.5 / terminal).tanh()
        },
    };
    for integrator in integrators(false) {
        problem.converges(integrator, 100, 1e-9);
    }
}

/// m x'' = F cos(ω t + φ):  x = x0 + v0 t - F/(m ω) sin φ t - F/(m ω²) (cos(ω t + φ) - cos φ),  ω = 2π f
#[test]
fn swinging_force_on_a_free_mass() {
    let ball = Particles::single("ball", [0.2, 0.0, 0.0], 0.7).velocity([-0.4, 0.0, 0.0]);
    let swing = AppliedForce::constant("swing", vec![0], [3.0, 0.0, 0.0]).oscillating(1.3, 0.4);
    let problem = Problem {
        name: "swinging force",
        model: model(&Scene { particles: vec![ball], forces: vec![swing], ..weightless() }),
        time: 1.1,
        measured: "ball.position.x",
        by: &[
            "ball.position.x",
            "ball.velocity.x",
            "ball.mass",
            "swing.force.x",
            "swing.frequency",
            "swing.phase",
        ],
        exact: &|p| {
            let (t, omega, phase) = (1.1, TAU * p[4], p[5]);
            let (per, swung) = (p[3] / (p[2] * omega), ((omega * t + phase).cos() - phase.cos()) / omega);
            p[0] + p[1] * t - per * (phase.sin() * t + swung)
        },
    };
    for integrator in integrators(true) {
        problem.converges(integrator, 200, 1e-9);
    }
}

/// Each world of a batch has a time of its own: a step of one that is ahead is that later step, with any integrator.
#[test]
fn a_world_that_is_ahead_makes_a_later_step() {
    let ball = Particles::single("ball", [0.2, 0.0, 0.0], 0.7).velocity([-0.4, 0.0, 0.0]);
    let swing = AppliedForce::constant("swing", vec![0], [3.0, 0.0, 0.0]).oscillating(1.3, 0.4);
    let model = model(&Scene { particles: vec![ball], forces: vec![swing], ..weightless() });
    let ahead = [0, 7, 2];
    for integrator in integrators(true) {
        let step = Step::new(&model, Scheme { integrator, dt: 0.05, substeps: 2 }).expect("it makes sense");
        let made = |worlds: usize, number: usize, ahead: &[usize]| -> Vec<f64> {
            let mut stepper = Stepper::<f64>::new(&step, worlds, RunOptions::default());
            (0..worlds).for_each(|w| stepper.set_params(w, model.params().values()).expect("params fit"));
            stepper.set_state(&model.state().values().repeat(worlds)).expect("states fit");
            stepper.set_ahead(|world| ahead[world]);
            stepper.advance(number).expect("the step is made");
            stepper.state().to_vec()
        };
        let together = made(3, 4, &ahead);
        for (world, state) in together.chunks_exact(together.len() / 3).enumerate() {
            assert_eq!(state, made(1, 4 + ahead[world], &[0]), "world {world}, {}", integrator.name());
        }
        assert_ne!(together[..6], together[6..12], "the force swings");
    }
}

/// A chain of ten masses with k = m = 1 along x, displaced in a mode, and the shape of the mode. Along its axis a chain of
/// springs is linear whatever the amplitude.
fn chain(free_end: bool, mode: usize) -> (Scene, Vec<f64>) {
    let n = 10;
    let count = if free_end { n + 1 } else { n + 2 };
    let mut line = Particles::line("chain", [0.0; 3], [count as f64 - 1.0, 0.0, 0.0], count, 1.0);
    line.fixed[0] = [true; 3];
    if !free_end {
        line.fixed[count - 1] = [true; 3];
    }
    let angle = if free_end {
        (2 * mode - 1) as f64 * TAU / 2.0 / (2 * n + 1) as f64
    } else {
        mode as f64 * TAU / 2.0 / (n + 1) as f64
    };
    let mut shape: Vec<f64> = (0..count).map(|i| (angle * i as f64).sin()).collect();
    if !free_end {
        shape[count - 1] = 0.0;
    }
    let norm = shape.iter().map(|s| s * s).sum::<f64>().sqrt();
    shape.iter_mut().for_each(|s| *s /= norm);
    line.positions.iter_mut().zip(&shape).for_each(|(x, s)| x[0] += 0.01 * s);
    let springs = Springs::chain("link", 0..count, 1.0, 1.0);
    (Scene { particles: vec![line], springs: vec![springs], ..weightless() }, shape)
}

/// How far the chain is in its mode after each step.
fn in_mode(scene: &Scene, shape: &[f64], scheme: Scheme, steps: usize) -> Vec<[f64; 2]> {
    let model = model(scene);
    let step = Step::new(&model, scheme).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let mut amplitudes = Vec::new();
    let see = |moment: &pullback_engine::rollout::Moment<'_>| {
        let (x, v) = moment.state.split_at(moment.state.len() / 2);
        let q: f64 = (0..shape.len()).map(|i| shape[i] * (x[3 * i] - i as f64)).sum();
        let p: f64 = (0..shape.len()).map(|i| shape[i] * v[3 * i]).sum();
        amplitudes.push([q, p]);
    };
    rollout.watch(&Start::new(&state, &[], &params), see).expect("a rollout");
    amplitudes
}

/// Frequencies [rad/s] of the chain, 2 sin(π j/22) between two walls and 2 sin(π/42) with a free end, to twelve decimals.
const FREQUENCIES: [(bool, usize, f64); 3] =
    [(false, 1, 0.284629676547), (false, 10, 1.979642883762), (true, 1, 0.149460187173)];

#[test]
fn chain_swings_in_its_modes() {
    for (free_end, mode, omega) in FREQUENCIES {
        let (scene, shape) = chain(free_end, mode);
        let h = 0.02;
        let steps = (20.5 * TAU / 2.0 / omega / h) as usize;
        let path = in_mode(&scene, &shape, Scheme::new(Integrator::RungeKutta4, h), steps);
        // q = A cos(ω t) is zero for the 20th time at ω t = 19.5 π; between steps q is a cubic of values and slopes.
        let crossings: Vec<usize> = (0..steps).filter(|&i| path[i][0] * path[i + 1][0] < 0.0).collect();
        let at = crossings[19];
        let ([q0, p0], [q1, p1]) = (path[at], path[at + 1]);
        let cubic = |s: f64| {
            let (r, s2) = (1.0 - s, s * s);
            q0 * (1.0 + 2.0 * s) * r * r + p0 * h * s * r * r + q1 * s2 * (3.0 - 2.0 * s) - p1 * h * s2 * r
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle: f64 = 0.5 * (low + high);
            if cubic(middle) * q0 > 0.0 { low = middle } else { high = middle }
        }
        let measured = 19.5 * TAU / 2.0 / ((at as f64 + low) * h);
        let error = (measured / omega - 1.0).abs();
        // The rule's own error in ω is (ω h)⁴/120.
        assert!(error < (omega * h).powi(4) / 120.0 * 1.05 + 1e-11, "{omega}: {error:.2e}");
    }
}

/// Verlet turns a mode by ω' with sin(ω' h/2) = ω h/2, and the implicit midpoint rule with tan(ω' h/2) = ω h/2: both follow
/// from q(t + h) + q(t - h) = 2 cos(ω' h) q(t).
#[test]
fn chain_turns_as_far_as_the_integrator_says() {
    for (free_end, mode, omega) in FREQUENCIES {
        let (scene, shape) = chain(free_end, mode);
        let h = 0.1;
        for (integrator, turned) in [
            (Integrator::VelocityVerlet, 2.0 * (omega * h / 2.0).asin()),
            (Integrator::ReversibleVerlet, 2.0 * (omega * h / 2.0).asin()),
            (Integrator::SemiImplicitEuler, 2.0 * (omega * h / 2.0).asin()),
            (Integrator::ImplicitMidpoint, 2.0 * (omega * h / 2.0).atan()),
        ] {
            let path = in_mode(&scene, &shape, Scheme::new(integrator, h), 200);
            for at in 1..200 {
                let sum = path[at + 1][0] + path[at - 1][0];
                let error = sum - 2.0 * turned.cos() * path[at][0];
                // The lattice of the reversible integrator is 1e-12 fine.
                assert!(error.abs() < 2e-11, "{} at step {at}: {error:.2e}", integrator.name());
            }
        }
    }
}

/// q(T) = A cos(ω T), and ω goes with √(k/m) when all springs or all masses change alike: the derivatives by all of them
/// add up to dq/dk = -A T ω/(2 k) sin(ω T), and to dq/dm = A T ω/(2 m) sin(ω T).
#[test]
fn chain_gradient_by_all_stiffnesses_and_masses() {
    for (free_end, mode, omega) in FREQUENCIES {
        let (scene, shape) = chain(free_end, mode);
        let (model, time, steps) = (model(&scene), 7.0, 700);
        let i = shape.len() / 2;
        let scheme = Scheme::new(Integrator::RungeKutta4, time / steps as f64);
        let g = gradient(&model, scheme, steps, &LastNumber(3 * i)).params(0).expect("a world");
        let sum = |name: &str| g.get(name).expect("a name").iter().sum::<f64>();
        let wanted = -0.01 * shape[i] * time * omega / 2.0 * (omega * time).sin();
        assert!((sum("link.stiffness") - wanted).abs() < 1e-9, "{} {wanted}", sum("link.stiffness"));
        assert!((sum("chain.mass") + wanted).abs() < 1e-9, "{} {wanted}", sum("chain.mass"));
    }
}

/// A particle that slides along the ground from 2 m/s, in vertical balance.
///
/// The penalty model rubs with min(mu n, kf |v|): it decelerates with mu g like Coulomb's law down to the speed mu m g/kf, and
/// then like a damper, so that it comes further than v0²/(2 mu g) by mu m² g/(2 kf²).
const KE: f64 = 2e4;
const KF: f64 = 10.0;

fn slide(gravity: [f64; 3], speed: f64, mu: f64) -> Model {
    let depth = -gravity[2] / KE;
    let block = Particles::single("block", [0.0, 0.0, -depth], 1.0).velocity([speed, 0.0, 0.0]);
    let (ke, kd, kf, mu) = (Some(KE), Some(50.0), Some(KF), Some(mu));
    let ground = Some(Ground { ke, kd, kf, mu, ..Ground::default() });
    model(&Scene {
        particles: vec![block],
        ground,
        world: World { gravity, ..World::default() },
        ..Scene::default()
    })
}

#[test]
fn block_slides_to_rest() {
    let model = slide([0.0, 0.0, -G], 2.0, 0.3);
    let (kf, mu) = (KF, 0.3);
    let further = mu * G / (2.0 * kf * kf);
    for integrator in integrators(false) {
        // The force has a kink where sliding ends, somewhere within a step: no rule is better than of order 2 there, and no
        // gradient than of order 1.
        let (steps, of_values) = if measure::order(integrator) > 1.0 { (12000, 1e-6) } else { (24000, 1e-3) };
        let of_gradients = 1e-3;
        let g = gradient(&model, Scheme::new(integrator, 3.0 / steps as f64), steps, &LastNumber(0));
        let (state, params) = (g.state(0).expect("a world"), g.params(0).expect("a world"));
        let [by_mu, by_kf, by_mass, by_gravity] = ["ground.mu", "ground.kf", "block.mass", "gravity.z"]
            .map(|name| params.number(name).expect("a name"));
        let [by_speed, by_height] =
            ["block.velocity.x", "block.position.z"].map(|name| state.number(name).expect("a name"));
        let near = |what: &str, found: f64, wanted: f64| {
            let error = (found - wanted).abs();
            let tolerance = if what == "distance" { of_values } else { of_gradients };
            assert!(
                error < tolerance * wanted.abs().max(0.1),
                "{} {what}: {found} {wanted}",
                integrator.name()
            );
        };
        // Coulomb's law, v0 = 2, mu = 0.3, g = 9.81: d, dd/dv0 and dd/dmu.
        near("distance", g.value(), 0.6795786612 + further);
        near("by speed", by_speed, 0.6795786612);
        near("by friction", by_mu, -2.2652622041 + G / (2.0 * kf * kf));
        near("by kf", by_kf, -2.0 * further / kf);
        // In balance all the time: with the mass, or with gravity, the depth changes by g/ke, or m/ke.
        near("by mass in balance", by_mass - G / KE * by_height, 2.0 * further);
        let by_g = -0.6795786612 / G + further / G;
        near("by gravity in balance", -(by_gravity + by_height / KE), by_g);
    }
}

/// Down a slope of 30° (gravity is turned, not the ground): a = g (sin θ - mu cos θ).
#[test]
fn block_slides_down_a_slope() {
    let (angle, mu, speed): (f64, f64, f64) = (TAU / 12.0, 0.2, 0.2);
    let (sin, cos) = angle.sin_cos();
    // It starts faster than mu m g cos θ/kf, so that it slides from the beginning.
    assert!(speed > mu * G * cos / KF);
    let model = slide([G * sin, 0.0, -G * cos], speed, mu);
    for integrator in integrators(false) {
        let tolerance = if measure::order(integrator) > 1.0 { 1e-8 } else { 2e-3 };
        let g = gradient(&model, Scheme::new(integrator, 2.5e-4), 4000, &LastNumber(0));
        let (state, params) = (g.state(0).expect("a world"), g.params(0).expect("a world"));
        let number = |name: &str| params.number(name).expect("a name");
        let by_height = state.number("block.position.z").expect("a name");
        // Closed form, mu = 0.2, after 1 s from rest: x, dx/dmu, dx/dθ.
        let by_angle =
            number("gravity.x") * G * cos + number("gravity.z") * G * sin + by_height * G * sin / KE;
        for (what, found, wanted) in [
            ("way", g.value() - speed, 1.6029290789),
            ("by friction", number("ground.mu"), -4.2478546056),
            ("by angle", by_angle, 4.7383546056),
            ("by kf", number("ground.kf"), 0.0),
        ] {
            assert!((found - wanted).abs() < tolerance, "{} {what}: {found} {wanted}", integrator.name());
        }
    }
}

/// Inside the cone of friction, mu ≥ tan θ = 0.577, it sticks: it creeps like a damper, and mu does not matter.
#[test]
fn block_sticks_on_a_slope() {
    let (sin, cos) = (TAU / 12.0).sin_cos();
    let model = slide([G * sin, 0.0, -G * cos], 0.0, 0.6);
    for integrator in integrators(false) {
        let g = gradient(&model, Scheme::new(integrator, 2.5e-4), 4000, &LastNumber(0));
        assert_eq!(g.params(0).expect("a world").number("ground.mu").expect("a name"), 0.0);
        // m v' = m g sin θ - kf v from rest: x = u (t - τ (1 - e^(-t/τ))),  u = m g sin θ/kf,  τ = m/kf.
        let creep = G * sin / KF * (1.0 - 0.1 * (1.0 - (-10.0f64).exp()));
        let error = (g.value() / creep - 1.0).abs();
        assert!(error < 5e-4, "{}: {error:.2e}", integrator.name());
    }
}
