//! Bad input, rollouts that fail, and what truncation and clipping do: every failure has an error that says where.

mod common;

use common::{Everywhere, robots};
use pullback_engine::force::{Force, Site};
use pullback_engine::names::{Block, Quantity};
use pullback_engine::rollout::{Bars, Moment, NoLoss};
use pullback_engine::{Error, Integrator, Loss, Memory, Model, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;
use pullback_scene::robot::{JointKind, Load};
use pullback_scene::soft::{Diagonals, SheetMesh};
use pullback_scene::{Actuator, Controller, Elastic, Particles, Robot, Scene, Sheet, SoftContact, Springs};

const STEPS: usize = 5;

fn model() -> Model {
    let ball = Particles::single("ball", [1.0, 2.0, 3.0], 0.5);
    let actuators = vec![Actuator::new("thruster", 0)];
    Model::new(&Scene { particles: vec![ball], actuators, ..Scene::default() }).expect("a scene")
}

fn rollout(model: &Model, options: Options) -> Rollout {
    let step = Step::new(model, Scheme::new(Integrator::SemiImplicitEuler, 0.1)).expect("a step");
    Rollout::new(&step, options).expect("a rollout")
}

#[test]
fn time_steps_that_make_no_sense() {
    for dt in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let error = Step::new(&model(), Scheme::new(Integrator::RungeKutta4, dt)).err().expect("an error");
        assert!(error.to_string().starts_with(&format!("dt is {dt}:")), "{error}");
    }
    let scheme = Scheme { substeps: 0, ..Scheme::new(Integrator::RungeKutta4, 0.1) };
    let error = Step::new(&model(), scheme).err().expect("an error").to_string();
    assert!(error.starts_with("substeps is 0:"), "{error}");
}

#[test]
fn options_that_make_no_sense() {
    let step = Step::new(&model(), Scheme::new(Integrator::SemiImplicitEuler, 0.1)).expect("a step");
    let options = Options::new(STEPS);
    for (options, start) in [
        (Options { worlds: 0, ..options }, "worlds is 0"),
        (Options { truncate: Some(0), ..options }, "truncate is 0"),
        (Options { memory: Memory::Binomial { snapshots: 0 }, ..options }, "binomial snapshots is 0"),
        (Options { clip: Some(0.0), ..options }, "clip is 0"),
        (Options { clip: Some(-1.0), ..options }, "clip is -1"),
        (Options { clip: Some(f64::NAN), ..options }, "clip is NaN"),
    ] {
        let error = Rollout::<f64>::new(&step, options).err().expect("an error").to_string();
        assert!(error.starts_with(start), "{error}");
    }
}

/// No step at all: the loss of the first state, and its own gradient.
#[test]
fn rollout_of_no_steps() {
    let model = model();
    let memories = [Memory::EveryStep, Memory::Binomial { snapshots: 3 }, Memory::Dense];
    for memory in memories {
        let mut rollout = rollout(&model, Options { memory, ..Options::new(0) });
        let (state, params) = (model.state(), model.params());
        let start = Start::new(&state, &[], &params);
        let g = rollout.gradient(&start, &LinearLoss).expect("a gradient");
        assert_eq!(g.states, (0..6).map(|i| weight(0, i)).collect::<Vec<_>>());
        assert!(g.params.iter().all(|bar| *bar == 0.0));
    }
}

#[test]
fn starts_with_numbers_that_are_none() {
    let model = model();
    let mut rollout = rollout(&model, Options::new(STEPS));
    let (state, controls, params) =
        (model.state().values().to_vec(), model.controls(STEPS), model.params().values().to_vec());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (which, index) in [(0, 4), (1, 14), (2, 1)] {
            let mut numbers = [state.clone(), controls.clone(), params.clone()];
            numbers[which][index] = bad;
            let start = Start { states: &numbers[0], controls: &numbers[1], params: &numbers[2] };
            for result in [
                rollout.value(&start, &NoLoss).map(|_| ()),
                rollout.gradient(&start, &NoLoss).map(|_| ()),
                rollout.watch(&start, |_| ()),
            ] {
                let error = result.expect_err("an error");
                assert!(matches!(error, Error::StartNotFinite { index: i, .. } if i == index), "{error}");
                let name =
                    ["`ball.velocity.y` is", "`thruster.force.z` of step 4 is", "`gravity.x` is"][which];
                assert!(error.to_string().contains(name), "{error}");
            }
        }
    }
    let start = Start { states: &state, controls: &controls, params: &params };
    assert!(rollout.gradient(&start, &Everywhere).is_ok(), "bad input leaves no trace");
}

#[test]
fn starts_of_other_lengths() {
    let model = model();
    let (states, controls, params) =
        (model.state().values().to_vec(), model.controls(STEPS), model.params().values().to_vec());
    for worlds in [1, 3] {
        let mut rollout = rollout(&model, Options { worlds, ..Options::new(STEPS) });
        let (states, controls, params) =
            (states.repeat(worlds), controls.repeat(worlds), params.repeat(worlds));
        let start = Start { states: &states, controls: &controls, params: &params };
        assert!(rollout.value(&start, &NoLoss).is_ok());
        for (start, what) in [
            (Start { states: &states[1..], ..start }, "the first states"),
            (Start { controls: &[], ..start }, "the controls of all steps"),
            (Start { params: &[&params[..], &[1.0]].concat(), ..start }, "the params"),
        ] {
            let error = rollout.value(&start, &NoLoss).expect_err("an error");
            assert!(error.to_string().starts_with(what), "{error}");
        }
    }
}

/// A force of these params and kind, to try out.
#[derive(Debug)]
struct Odd {
    declares: Vec<Block>,
    asks: &'static str,
    as_vector: bool,
    /// How many particles it pushes.
    size: Option<usize>,
}

/// `-k x`
#[kernel]
fn pull_back<R: Real>(x: Vec3<R>, k: R) -> Vec3<R> {
    x * (-k)
}

impl Force for Odd {
    fn params(&self) -> Vec<Block> {
        self.declares.clone()
    }
    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        if self.as_vector {
            site.param::<Vec3>(self.asks)?;
        }
        let (x, k, name) = (site.x, site.param::<f64>(self.asks)?, site.name("odd"));
        if let Some(size) = self.size {
            return Ok(site.program.input::<Vec3>(&name, size));
        }
        Ok(site.program.map::<pull_back>(&name, (x.own(), k.shared())))
    }
}

fn stiffness(name: &str) -> Block {
    Block::scalar(name, 2.0, Quantity::new("N/m", "stiffness"))
}

fn build(force: Odd) -> Result<Step, Error> {
    Step::new(&model().with_force(force)?, Scheme::new(Integrator::SemiImplicitEuler, 0.1))
}

#[test]
fn forces_that_ask_for_the_wrong_thing() {
    let odd = |asks| Odd { declares: vec![stiffness("odd.stiffness")], asks, as_vector: false, size: None };
    assert!(build(odd("odd.stiffness")).is_ok());
    let error = build(odd("odd.stifness")).err().expect("an error").to_string();
    assert!(error.contains("`odd.stifness`") && error.contains("`odd.stiffness`"), "{error}");
    let error = build(Odd { as_vector: true, ..odd("odd.stiffness") }).err().expect("an error");
    assert!(matches!(&error, Error::WrongType { key, .. } if key == "odd.stiffness"), "{error}");
    // A force on other particles than there are.
    let error = build(Odd { size: Some(2), ..odd("odd.stiffness") }).err().expect("an error");
    assert!(matches!(error, Error::Build(_)), "{error}");
}

#[test]
fn names_that_are_taken() {
    let odd = |declares| Odd { declares, asks: "odd.stiffness", as_vector: false, size: None };
    for blocks in [
        vec![stiffness("odd.stiffness"), stiffness("odd.stiffness")],
        vec![stiffness("odd.stiffness"), stiffness("gravity")],
        // Another key with the name of the ball's mass.
        vec![stiffness("odd.stiffness"), Block { key: "another".into(), ..stiffness("ball.mass") }],
    ] {
        let error = build(odd(blocks)).err().expect("an error");
        assert!(matches!(error, Error::SameName { .. }), "{error}");
    }
    let short = Block { values: vec![], ..stiffness("odd.stiffness") };
    assert!(matches!(build(odd(vec![short])), Err(Error::Length { wanted: 1, found: 0, .. })));
    let pair = Block { values: vec![1.0, 2.0], numbers: 2, ..stiffness("odd.stiffness") };
    let error = build(odd(vec![pair])).err().expect("an error").to_string();
    assert!(error.contains("is 2"), "{error}");
}

/// Explicit Euler on a stiff spring multiplies its swing in every step, until it is beyond all numbers.
#[test]
fn rollout_that_blows_up_names_step_and_operation() {
    let ball = Particles::single("ball", [1.5, 0.0, 0.0], 0.001);
    let wall = Particles::single("wall", [0.0; 3], 1.0).fix();
    let springs = vec![Springs::between("spring", [0, 1], 1e6, 1.0)];
    let model =
        Model::new(&Scene { particles: vec![ball, wall], springs, ..Scene::default() }).expect("a scene");
    let steps = 100;
    // The step in which the state stops being finite, from a run on each shorter length.
    let rollouts = |steps: usize, worlds: usize| {
        let options = Options { worlds, ..Options::new(steps) };
        let (states, params) =
            (model.state().values().repeat(worlds), model.params().values().repeat(worlds));
        let start = Start { states: &states, controls: &[], params: &params };
        rollout(&model, options).gradient(&start, &NoLoss).map(|_| ())
    };
    let error = rollouts(steps, 1).expect_err("it blows up");
    let Error::NotFinite { step, world: None, source, fast } = &error else { panic!("{error}") };
    // What had run away before says why.
    let fast = fast.as_ref().expect("it was fast");
    assert!(fast.name.starts_with("ball.velocity.") && fast.speed.abs() > 1e100 && fast.unit == "m/s");
    assert!(error.to_string().ends_with("so that it has blown up"), "{error}");
    assert!(*step > 2 && rollouts(*step, 1).is_ok() && rollouts(*step + 1, 1).is_err());
    assert!(!source.operation.is_empty() && !source.buffer.is_empty());
    assert!(error.to_string().starts_with(&format!("step {step}: ")), "{error}");
    let error = rollouts(steps, 20).expect_err("it blows up");
    assert!(matches!(error, Error::NotFinite { world: Some(0), .. }), "{error}");
}

#[test]
fn no_mass_is_an_error_of_the_acceleration() {
    let model = model();
    let (state, mut params, controls) = (model.state(), model.params(), model.controls(STEPS));
    params.values_mut()[0] = 0.0;
    let mut rollout = rollout(&model, Options::new(STEPS));
    let error = rollout.value(&Start::new(&state, &controls, &params), &NoLoss).expect_err("no mass");
    let Error::NotFinite { step: 0, source, fast: None, .. } = &error else { panic!("{error}") };
    assert!(source.operation.contains("acceleration"), "{error}");
    let params = model.params();
    assert!(rollout.value(&Start::new(&state, &controls, &params), &NoLoss).is_ok(), "it can run again");
}

/// Dry friction [N]: -1 forwards, 1 backwards, and nothing between. No velocity solves z = -h sign(z).
#[kernel]
fn dry<R: Real>(v: Vec3<R>) -> Vec3<R> {
    let mut f = vec3(-1.0, 0.0, 0.0);
    if v.x < 0.0 {
        f = vec3(1.0, 0.0, 0.0);
    }
    f
}

#[derive(Debug)]
struct Dry;

impl Force for Dry {
    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (v, name) = (site.v, site.name("dry"));
        Ok(site.program.map::<dry>(&name, (v.own(),)))
    }
}

#[test]
fn implicit_step_without_a_solution() {
    let ball = Particles::single("ball", [0.0; 3], 1.0).velocity([0.37, 0.0, 0.0]);
    let scene = Scene { particles: vec![ball], ..Scene::default() };
    let model = Model::new(&scene).and_then(|m| m.with_force(Dry)).expect("a model");
    for integrator in [Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
        let step = Step::new(&model, Scheme::new(integrator, 0.1)).expect("a step");
        for worlds in [1, 2] {
            let options = Options { worlds, ..Options::new(10) };
            let mut rollout = Rollout::<f64>::new(&step, options).expect("a rollout");
            let (states, params) =
                (model.state().values().repeat(worlds), model.params().values().repeat(worlds));
            let start = Start { states: &states, controls: &[], params: &params };
            let error = rollout.value(&start, &NoLoss).expect_err("no solution");
            // 0.1 m/s are lost in each step, and the fourth (or, with half of it, the fifth) would have to stop midway.
            let Error::NotConverged { step, world, residual, .. } = &error else { panic!("{error}") };
            assert!((3..=4).contains(step) && *residual > 1e-3, "{error}");
            assert_eq!(*world, (worlds > 1).then_some(0));
            assert!(error.to_string().contains("did not converge"), "{error}");
        }
    }
}

/// Σ w_t · x_t over all moments.
struct LinearLoss;

fn weight(step: usize, i: usize) -> f64 {
    ((step * 5 + i * 3) % 7) as f64 - 2.5
}

impl Loss for LinearLoss {
    fn value(&self, m: &Moment<'_>) -> f64 {
        m.state.iter().enumerate().map(|(i, x)| weight(m.step, i) * x).sum()
    }
    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        bars.state.iter_mut().enumerate().for_each(|(i, bar)| *bar += weight(m.step, i));
    }
}

/// What the way back should give, by the chain rule: a free ball in steps of h, v' = v + h (g + u/m), x' = x + h v'.
struct ByHand {
    states: Vec<f64>,
    gravity: [f64; 3],
    controls: Vec<f64>,
    norms: Vec<f64>,
}

fn by_hand(steps: usize, h: f64, mass: f64, truncate: Option<usize>, clip: Option<f64>) -> ByHand {
    let mut bar = vec![0.0; 6];
    let mut result = ByHand {
        states: Vec::new(),
        gravity: [0.0; 3],
        controls: vec![0.0; 3 * steps],
        norms: vec![0.0; steps + 1],
    };
    let arrive = |bar: &mut Vec<f64>, norms: &mut Vec<f64>, step: usize| {
        bar.iter_mut().enumerate().for_each(|(i, b)| *b += weight(step, i));
        norms[step] = bar.iter().map(|b| b * b).sum::<f64>().sqrt();
        if let Some(most) = clip.filter(|most| norms[step] > *most) {
            let norm = norms[step];
            bar.iter_mut().for_each(|b| *b *= most / norm);
        }
    };
    arrive(&mut bar, &mut result.norms, steps);
    for step in (0..steps).rev() {
        for axis in 0..3 {
            // v' bears on x' too.
            let v_next = bar[3 + axis] + h * bar[axis];
            result.gravity[axis] += h * v_next;
            result.controls[3 * step + axis] = h * v_next / mass;
            bar[3 + axis] = v_next;
        }
        if truncate.is_some_and(|window| (steps - step).is_multiple_of(window)) {
            bar.fill(0.0);
        }
        arrive(&mut bar, &mut result.norms, step);
    }
    result.states = bar;
    result
}

#[test]
fn truncation_and_clipping_do_what_the_chain_rule_says() {
    let model = model();
    let steps = 11;
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let mut different = Vec::new();
    for truncate in [None, Some(1), Some(2), Some(4), Some(11), Some(50)] {
        for clip in [None, Some(6.0), Some(0.1)] {
            for memory in [Memory::EveryStep, Memory::Binomial { snapshots: 2 }, Memory::Dense] {
                let mut rollout = rollout(&model, Options { truncate, clip, memory, ..Options::new(steps) });
                let start = Start::new(&state, &controls, &params);
                let g = rollout.gradient(&start, &LinearLoss).expect("a gradient");
                let wanted = by_hand(steps, 0.1, 0.5, truncate, clip);
                let near = |what: &str, a: &[f64], b: &[f64]| {
                    for (a, b) in a.iter().zip(b) {
                        assert!((a - b).abs() < 1e-12, "{truncate:?} {clip:?} {memory:?} {what}: {a} {b}");
                    }
                };
                let by = g.params(0).expect("a world");
                near("states", &g.states, &wanted.states);
                near("controls", &g.controls, &wanted.controls);
                near("gravity", by.get("gravity").expect("a name"), &wanted.gravity);
                near("norms", &g.norms, &wanted.norms);
                different.push(g.states[0].to_bits());
            }
        }
    }
    // Windows and clips matter: not all come to the same.
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > 4);
}

#[test]
fn norms_of_worlds_lie_one_after_the_other() {
    let model = model();
    let (steps, worlds) = (7, 3);
    let (states, params) = (model.state().values().repeat(worlds), model.params().values().repeat(worlds));
    let controls = model.controls(steps).repeat(worlds);
    let mut rollout = rollout(&model, Options { worlds, ..Options::new(steps) });
    let start = Start { states: &states, controls: &controls, params: &params };
    let g = rollout.gradient(&start, &LinearLoss).expect("a gradient");
    let wanted = by_hand(steps, 0.1, 0.5, None, None).norms.repeat(worlds);
    assert_eq!(g.norms.len(), worlds * (steps + 1));
    g.norms.iter().zip(&wanted).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
}

/// Four zeros are no rotation, wherever they are given.
#[test]
fn rotations_of_length_zero() {
    let scene = Scene { robots: vec![robots::chain("box", &[JointKind::Free])], ..Scene::default() };
    let model = Model::new(&scene).expect("a box");
    let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(2)).expect("a rollout");
    let (mut state, params) = (model.state(), model.params());
    assert!(state.check().is_ok());
    let at = model.state_layout().blocks().iter().position(|block| block.numbers == 4).expect("a rotation");
    let (_, range) = model.state_layout().ranges().nth(at).expect("a rotation");
    state.values_mut()[range].fill(0.0);
    let said = state.check().expect_err("no rotation").to_string();
    assert!(said.contains("cannot all be 0"), "{said}");
    let said = rollout.value(&Start::new(&state, &[], &params), &Everywhere).expect_err("none").to_string();
    assert!(said.contains("orientation") && said.contains("cannot all be 0"), "{said}");
}

/// A robot that only stands there, as a table does, is no reason to fail; what falls on it stays there.
#[test]
fn robots_without_joints() {
    let mut table = robots::chain("table", &[]);
    table.bodies.push(robots::body("top", None, 0.3));
    let scene = Scene { robots: vec![table, robots::chain("box", &[JointKind::Free])], ..Scene::default() };
    let model = Model::new(&scene).expect("a table and a box");
    for integrator in [Integrator::SemiImplicitEuler, Integrator::RungeKutta4] {
        let step = Step::new(&model, Scheme::new(integrator, 1e-3)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(5)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        let gradient = rollout.gradient(&Start::new(&state, &[], &params), &Everywhere).expect("a gradient");
        assert!(gradient.params(0).expect("one world").number("gravity.z").expect("gravity") != 0.0);
    }
}

/// A point of a soft thing that is held needs no mass; one that moves does, and the step says so.
#[test]
fn held_points_without_mass() {
    let mesh = SheetMesh::sheet([1.0, 1.0], [1, 1], Diagonals::One).expect("a sheet");
    let elastic = Elastic::of_young_in_plane(1e4, 0.3).expect("cloth");
    let sheet = Sheet::new("cloth", &mesh, 0.01, elastic, 0.0);
    let mut points = sheet.points().fix_points(&[0, 1]);
    points.masses = vec![0.0, 0.0, 0.1, 0.1];
    let mut scene = Scene::default();
    scene.add_sheet(sheet, points);
    let model = Model::new(&scene).expect("a cloth");
    let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(20)).expect("a rollout");
    let (state, mut params) = (model.state(), model.params());
    let gradient = rollout.gradient(&Start::new(&state, &[], &params), &Everywhere).expect("a gradient");
    let by = gradient.params(0).expect("one world");
    assert!(
        by.number("cloth.mu").expect("stiffness") != 0.0
            && by.number("cloth[0].mass").expect("mass").is_finite()
    );
    params.values_mut().iter_mut().take(4).for_each(|mass| *mass = 0.0);
    assert!(rollout.gradient(&Start::new(&state, &[], &params), &Everywhere).is_err());
}

/// Jacobians of implicit steps are dense for a robot: one with too many joints is refused, and told what to do.
#[test]
fn implicit_steps_of_a_long_chain() {
    let scene = Scene { robots: vec![robots::chain("snake", &[JointKind::Ball; 201])], ..Scene::default() };
    let model = Model::new(&scene).expect("a snake");
    let said = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 0.01)).err().expect("too many");
    assert!(said.to_string().contains("more than 600 degrees of freedom"), "{said}");
    assert!(Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 0.01)).is_ok());
}

/// Lamé's first number may be negative where it starts so, as with a Poisson's ratio below 0.
#[test]
fn negative_lambda() {
    for (poisson, allowed) in [(-0.2, true), (0.3, false)] {
        let mesh = SheetMesh::sheet([1.0, 1.0], [1, 1], Diagonals::One).expect("a sheet");
        let elastic = Elastic::of_young_in_plane(1e4, poisson).expect("cloth");
        let sheet = Sheet::new("cloth", &mesh, 0.01, elastic, 300.0);
        let points = sheet.points();
        let mut scene = Scene::default();
        scene.add_sheet(sheet, points);
        let mut params = Model::new(&scene).expect("a sheet").params();
        assert_eq!(params.set("cloth.lambda", &[-100.0]).is_ok(), allowed, "{poisson}");
    }
}

/// What a controller drives and sees by wrong names, and weights that are too few: the place, and what there is.
#[test]
fn controllers_of_nothing() {
    let mesh = SheetMesh::sheet([1.0, 1.0], [1, 1], Diagonals::One).expect("a sheet");
    let elastic = Elastic::of_young_in_plane(1e4, 0.3).expect("cloth");
    let sheet = Sheet::new("worm", &mesh, 0.01, elastic, 300.0).controlled();
    let points = sheet.points();
    let mut scene = Scene::default();
    scene.add_sheet(sheet, points);
    let said = |controller: Controller| {
        let scene = Scene { controllers: vec![controller], ..scene.clone() };
        Model::new(&scene).err().map_or(String::new(), |error| error.to_string())
    };
    let legs = Controller::new("legs", "worm.elements.actuation", 20.0, 2);
    assert_eq!(said(legs.clone()), "");
    let wrong = said(Controller { drives: "worm.actuation".into(), ..legs.clone() });
    assert!(
        wrong.contains("controllers[0].drives") && wrong.contains("write `worm.elements.actuation`"),
        "{wrong}"
    );
    let wrong = said(Controller { features: vec!["nothing".into()], ..legs.clone() });
    assert!(wrong.contains("controllers[0].features[0]") && wrong.contains("`nothing`"), "{wrong}");
    let wrong = said(Controller { weights: vec![1.0; 5], ..legs });
    assert!(wrong.contains("controllers[0].weights: 5 weights, for 2 controls and 2 sinusoids"), "{wrong}");
}

/// Two sheets above each other: they push once they are nearer than the thickness, with gradients by it; and a thickness that is more than
/// what lies between parts of a mesh is refused.
#[test]
fn soft_surfaces_that_touch() {
    let mesh = SheetMesh::sheet([1.0, 1.0], [2, 2], Diagonals::One).expect("a sheet");
    let elastic = Elastic::of_young_in_plane(1e4, 0.3).expect("cloth");
    let mut scene = Scene::default();
    for (name, height) in [("low", 0.0), ("high", 0.03)] {
        let sheet = Sheet::new(name, &mesh.moved([0.03, 0.02, height]), 0.01, elastic, 300.0);
        let points = sheet.points();
        let points = if name == "low" { points.fix() } else { points };
        scene.add_sheet(sheet, points);
    }
    let contact = |thickness| SoftContact { thickness, ke: 500.0, kd: 0.1, kf: 0.5, mu: 0.3, most: None };
    let end = |scene: &Scene| {
        let model = Model::new(scene).expect("two sheets");
        let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(100)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        let gradient = rollout.gradient(&Start::new(&state, &[], &params), &Everywhere).expect("a gradient");
        let by = gradient.params(0).expect("one world");
        let by = by.number("soft_contact.ke").ok();
        let mut least = f64::INFINITY;
        let low = |m: &Moment<'_>| (9..18).for_each(|i| least = least.min(m.state[3 * i + 2]));
        rollout.watch(&Start::new(&state, &[], &params), low).expect("it falls");
        (least, by)
    };
    assert!(end(&scene).0 < -0.01, "without contact one falls through the other");
    scene.soft_contact = Some(contact(0.02));
    let (least, by) = end(&scene);
    assert!(least > 0.0 && by.is_some_and(|by| by != 0.0), "{least}, {by:?}");
    scene.soft_contact = Some(SoftContact { most: Some(2), ..contact(0.02) });
    let model = Model::new(&scene).expect("two sheets");
    let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(100)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let error = rollout.gradient(&Start::new(&state, &[], &params), &Everywhere).expect_err("no room");
    assert!(matches!(error, Error::TooManySoftContacts { most: 2, .. }), "{error}");
    assert!(error.to_string().contains("raise `most` in `[soft_contact]`"), "{error}");
    let mut crossed = scene.clone();
    crossed.soft_contact = Some(contact(0.02));
    crossed.particles[1].positions[4][2] = -0.1;
    let said = Model::new(&crossed).expect_err("they cross").to_string();
    assert!(
        said.contains("low[") && said.contains("high[") && said.contains("move what crosses apart"),
        "{said}"
    );
    scene.soft_contact = Some(contact(0.9));
    let said = Model::new(&scene).expect_err("too thick").to_string();
    assert!(said.contains("soft_contact.thickness") && said.contains("give a `thickness` below"), "{said}");
}

/// A table alone has no freedom: rollouts of it have nothing to move, under any integrator.
#[test]
fn worlds_without_freedom() {
    let text = "<robot name='table'><link name='top'><inertial><mass value='1'/>\
                <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>";
    let robot = Robot::parse(text, "table.urdf", &Load::default()).expect("a table").robot;
    let model = Model::new(&Scene { robots: vec![robot], ..Scene::default() }).expect("a table");
    let (state, params) = (model.state(), model.params());
    assert!(state.values().is_empty() && !params.values().is_empty());
    for integrator in [Integrator::SemiImplicitEuler, Integrator::RungeKutta4, Integrator::BackwardEuler] {
        let step = Step::new(&model, Scheme::new(integrator, 0.1)).expect("a step");
        for memory in [Memory::EveryStep, Memory::Dense] {
            let mut rollout =
                Rollout::<f64>::new(&step, Options { memory, ..Options::new(STEPS) }).expect("a rollout");
            let gradient = rollout.gradient(&Start::new(&state, &[], &params), &NoLoss).expect("a gradient");
            assert!(gradient.params.iter().all(|bar| *bar == 0.0), "{}", integrator.name());
        }
    }
}
