//! Soft things that fall and come to rest, ten seconds each: nothing goes through anything, nothing stays inside out, and the gradient
//! through all steps is finite.

mod meeting;

use meeting::{points, surface};
use pullback_collide::crossings;
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Model, Options, Rollout, Start, Step};
use pullback_scene::Scene;

const DURATION: f64 = 10.0;

/// The mean height of all points at the end [m].
struct Height;

impl Loss for Height {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        let points = points(moment.state, moment.state.len() / 6);
        if moment.last { points.iter().map(|x| x[2]).sum::<f64>() / points.len() as f64 } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            let count = moment.state.len() / 6;
            bars.state[..3 * count].iter_mut().skip(2).step_by(3).for_each(|bar| *bar += 1.0 / count as f64);
        }
    }
}

/// The least volume of a tetrahedron, relative to that at rest.
fn least_growth(scene: &Scene, at: &[[f64; 3]]) -> f64 {
    let volume = |points: &[[f64; 3]], corners: &[u32; 4]| {
        let edge = |k: usize| {
            let (a, b) = (points[corners[k] as usize], points[corners[0] as usize]);
            [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
        };
        let (a, b, c) = (edge(1), edge(2), edge(3));
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let solid = &scene.solids[0];
    let growths = solid.elements.iter().map(|t| volume(at, t) / volume(&solid.rest, t));
    growths.fold(f64::INFINITY, f64::min)
}

/// Runs a scene for ten seconds, and back. `look` sees the positions ten times a second, and those at the end. Returns the greatest speed at
/// the end [m/s].
fn ten_seconds(text: &str, mut look: impl FnMut(&Scene, &[[f64; 3]])) -> f64 {
    let scene = Scene::parse(text, "resting.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let step = Step::of(&scene).expect("a step");
    let model: &Model = step.model();
    let steps = scene.simulation.steps;
    assert!((steps as f64 * scene.simulation.dt - DURATION).abs() < 1e-9);
    let every = steps / 100;
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let start = Start::new(&state, &controls, &params);
    let surface = surface(&scene);
    let mut fastest = 0.0;
    let see = |moment: &Moment<'_>| {
        if moment.step.is_multiple_of(every) {
            let at = points(moment.state, moment.state.len() / 6);
            let through = crossings(&surface, &at);
            assert_eq!(through, 0, "{} s: {through} edges go through triangles", moment.time);
            look(&scene, &at);
        }
        if moment.last {
            let speeds = moment.state[moment.state.len() / 2..].chunks_exact(3);
            fastest = speeds.map(|v| v.iter().map(|v| v * v).sum::<f64>().sqrt()).fold(0.0, f64::max);
        }
    };
    rollout.watch(&start, see).expect("ten seconds");
    // An error if anything of it is not finite.
    let gradient = rollout.gradient(&start, &Height).expect("a gradient");
    assert!(gradient.params.iter().any(|x| *x != 0.0) && gradient.states.iter().any(|x| *x != 0.0));
    fastest
}

/// A cloth falls on a ball, hangs over it, slides off, and lies on the ground in folds.
#[test]
fn a_cloth_on_a_ball() {
    let text = r#"
        [simulation]
        dt = 0.001
        duration = 10
        integrator = "semi-implicit-euler"

        [contact]
        model = "penalty"
        mu = 0.8
        ke = 800
        kd = 0.6
        kf = 0.5

        [soft_contact]
        thickness = 0.02
        ke = 60
        kd = 0.05
        kf = 0.1
        mu = 0.3
        most = 5000

        [ground]

        [[shapes]]
        name = "ball"
        shape = { sphere = 0.25 }
        position = [0, 0, 0.3]

        [[sheets]]
        name = "cloth"
        mesh = { sheet = [0.9, 0.9], cells = [9, 9] }
        position = [0.02, 0.01, 0.6]
        thickness = 2e-3
        young = 2e4
        poisson = 0.3
        density = 300
        viscosity = 60
        bending = 2e-4
        bending_damping = 2e-5
        radius = 0.01
    "#;
    let (mut least, mut highest) = (f64::INFINITY, 0.0);
    let fastest = ten_seconds(text, |_, at| {
        highest = 0.0;
        for x in at {
            let from_ball = (x[0] * x[0] + x[1] * x[1] + (x[2] - 0.3) * (x[2] - 0.3)).sqrt() - 0.26;
            least = f64::min(least, from_ball.min(x[2] - 0.01));
            highest = f64::max(highest, x[2]);
        }
    });
    // A point of 6 g that comes with 2 m/s is let in by v √(m/ke) = 5.5 mm.
    assert!(least > -0.006, "it is {least} m inside the ball or the ground");
    assert!(highest < 0.3 && fastest < 0.5, "it lies on the ground: up to {highest} m, {fastest} m/s");
}

/// A soft cube tumbles down stairs.
#[test]
fn a_cube_on_stairs() {
    let text = r#"
        [simulation]
        dt = 0.001
        duration = 10
        integrator = "semi-implicit-euler"

        [contact]
        model = "penalty"
        mu = 0.6
        ke = 2000
        kd = 2
        kf = 5

        [soft_contact]
        thickness = 0.01
        ke = 200
        kd = 0.05

        [ground]

        [[shapes]]
        name = "low"
        shape = { box = [2, 2, 0.15] }
        position = [-0.7, 0, 0.075]

        [[shapes]]
        name = "middle"
        shape = { box = [2, 2, 0.15] }
        position = [-1.0, 0, 0.225]

        [[shapes]]
        name = "high"
        shape = { box = [2, 2, 0.15] }
        position = [-1.3, 0, 0.375]

        [[solids]]
        name = "cube"
        mesh = { block = [0.2, 0.2, 0.2], cells = [3, 3, 3] }
        position = [0.4, 0, 0.75]
        orientation = [0.95, 0.1, 0.3, 0.05]
        velocity = [1.2, 0, 0]
        young = 3e4
        poisson = 0.35
        density = 300
        viscosity = 30
        radius = 0.005
    "#;
    // How deep points of a radius of 5 mm are in a box of 4 m by 4 m by 30 cm; less than 0 outside.
    let depth = |[x, y, z]: [f64; 3], [middle, height]: [f64; 2]| {
        (2.005 - (x - middle).abs()).min(2.005 - y.abs()).min(0.155 - (z - height).abs())
    };
    let steps = [[-0.7, 0.075], [-1.0, 0.225], [-1.3, 0.375]];
    let (mut low, mut left, mut deepest) = (f64::INFINITY, f64::INFINITY, [f64::NEG_INFINITY; 3]);
    let fastest = ten_seconds(text, |scene, at| {
        low = at.iter().map(|x| x[2] - 0.005).fold(low, f64::min);
        left = least_growth(scene, at);
        for (deepest, step) in deepest.iter_mut().zip(steps) {
            *deepest = at.iter().map(|&x| depth(x, step)).fold(*deepest, f64::max);
        }
    });
    assert!(low > -0.02 && left > 0.5 && fastest < 0.2, "{low} m, growth {left}, {fastest} m/s");
    // A point of 40 g that comes with 3 m/s is let in by v √(m/ke) = 13 mm, and the cube behind it comes with it.
    assert!(deepest.iter().all(|&deepest| deepest < 0.03), "{deepest:?} m inside of the stairs");
    assert!(deepest.iter().all(|&deepest| deepest > 0.0), "{deepest:?} m: it did not meet each of them");
}

/// A cloth falls on another that is held at its corners.
#[test]
fn a_cloth_on_a_cloth() {
    let text = r#"
        [simulation]
        dt = 0.002
        duration = 10
        integrator = "semi-implicit-euler"

        [soft_contact]
        thickness = 0.02
        ke = 100
        kd = 0.1
        kf = 0.2
        mu = 0.5

        [[sheets]]
        name = "held"
        mesh = { sheet = [0.8, 0.8], cells = [8, 8] }
        thickness = 2e-3
        young = 1e5
        poisson = 0.3
        density = 300
        viscosity = 60
        bending = 2e-4
        bending_damping = 2e-5
        fixed = [0, 8, 72, 80]

        [[sheets]]
        name = "falling"
        mesh = { sheet = [0.5, 0.5], cells = [5, 5] }
        position = [0.013, 0.021, 0.2]
        orientation = [0.98, 0.05, 0.1, 0.1]
        velocity = [0, 0, -1]
        thickness = 2e-3
        young = 2e4
        poisson = 0.3
        density = 200
        viscosity = 40
        bending = 2e-4
        bending_damping = 2e-5
    "#;
    let mut lowest = 0.0;
    let fastest = ten_seconds(text, |_, at| {
        lowest = at[81..].iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
    });
    assert!(lowest > -0.6 && fastest < 0.3, "it lies on the other: down to {lowest} m, {fastest} m/s");
}
