//! Solids and sheets that meet, with `[soft_contact]`: nothing goes through, momentum is kept, derivatives are those of differences, and a
//! sheet that a robot carries against another.

mod meeting;

use meeting::{Weighed, points, scene, surface};
use pullback_collide::crossings;
use pullback_engine::rollout::Moment;
use pullback_engine::{Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::{Integrator, Scene};

fn against_differences(scene: &Scene, scheme: Scheme, steps: usize, names: &[&str]) {
    meeting::against_differences(&Model::new(scene).expect("a model"), scheme, steps, (names, 0.1));
}

/// All states of a rollout.
fn run(scene: &Scene, scheme: Scheme, steps: usize) -> Vec<Vec<f64>> {
    let model = Model::new(scene).expect("a model");
    let step = Step::new(&model, scheme).expect("a step");
    let (state, params) = (model.state(), model.params());
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let mut states = Vec::new();
    let see = |moment: &Moment<'_>| states.push(moment.state.to_vec());
    rollout.watch(&Start::new(&state, &[], &params), see).expect("a run");
    states
}

/// How often surfaces cross at most, and how often without soft contact.
fn most_crossings(scene: &Scene, scheme: Scheme, steps: usize) -> [usize; 2] {
    let surface = surface(scene);
    [scene.soft_contact, None].map(|soft_contact| {
        let states = run(&Scene { soft_contact, ..scene.clone() }, scheme, steps);
        let of = |state: &Vec<f64>| crossings(&surface, &points(state, scene.particle_count()));
        states.iter().map(of).max().expect("a state")
    })
}

/// Nothing goes through anything, as it would without contact.
fn nothing_crosses(scene: &Scene, scheme: Scheme, steps: usize) {
    let [with, without] = most_crossings(scene, scheme, steps);
    println!("{}: {with} crossings, and {without} without contact", scheme.integrator.name());
    assert_eq!(with, 0);
    assert!(without > 0, "nothing would cross without contact");
}

fn soft_contact(thickness: f64, ke: f64) -> String {
    format!("[soft_contact]\nthickness = {thickness}\nke = {ke}\nkd = 0.02\nkf = 0.5\nmu = 0.4\n")
}

/// A block of 0.2 m, of 6 or of 48 elements, whose lowest corners are so high.
fn block(name: &str, cells: usize, at: [f64; 3], more: &str) -> String {
    let [x, y, z] = at;
    format!(
        "[[solids]]\nname = \"{name}\"\nmesh = {{ block = [0.2, 0.2, 0.2], cells = [{cells}, {cells}, {cells}] }}\n\
         position = [{x}, {y}, {}]\nyoung = 2e4\npoisson = 0.3\ndensity = 200\nviscosity = 5\n{more}",
        z + 0.1
    )
}

const NAMES: [&str; 6] = [
    "soft_contact.ke",
    "soft_contact.mu",
    "soft_contact.kf",
    "soft_contact.thickness",
    "high.density",
    "high.mu",
];

/// A block falls on another, of which points are held, and one on a sheet that is held at its corners.
fn falling() -> [(&'static str, Scene); 2] {
    let falls =
        "orientation = [0.995, 0.08, 0.05, 0.03]\nvelocity = [0.3, 0.1, -1]\nmaterial = \"corotated\"\n";
    let on_block = format!(
        "{}{}{}",
        soft_contact(0.02, 400.0),
        block("low", 1, [0.0; 3], "fixed = [0, 1, 2, 3]\n"),
        block("high", 1, [0.05, 0.04, 0.24], falls)
    );
    let sheet = "[[sheets]]\nname = \"sheet\"\nmesh = { sheet = [0.6, 0.6], cells = [4, 4] }\nfixed = [0, 4, 20, 24]\n\
                 thickness = 4e-3\nyoung = 1e5\npoisson = 0.3\ndensity = 500\nbending = 1e-3\n";
    let on_sheet =
        format!("{}{}{sheet}", soft_contact(0.02, 400.0), block("high", 1, [0.03, 0.02, 0.04], falls));
    [("a block", scene(&on_block)), ("a sheet", scene(&on_sheet))]
}

/// With explicit steps: surfaces move by less than a tenth of the thickness in each.
#[test]
fn a_block_that_falls() {
    for (name, scene) in falling() {
        println!("on {name}");
        let scheme = Scheme::new(Integrator::SemiImplicitEuler, 1e-3);
        nothing_crosses(&scene, scheme, 200);
        against_differences(&scene, scheme, 60, &NAMES);
    }
}

/// With long steps of backward Euler.
#[test]
fn a_block_that_falls_in_long_steps() {
    for (name, scene) in falling() {
        println!("on {name}");
        let scheme = Scheme::new(Integrator::BackwardEuler, 1.0 / 120.0);
        nothing_crosses(&scene, scheme, 14);
        against_differences(&scene, scheme, 7, &NAMES);
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Two blocks and a sheet fly into each other, without gravity: what pushes, damps and rubs changes neither momentum nor angular momentum,
/// to rounding, but their velocities.
#[test]
fn momentum_is_kept() {
    let text = format!(
        "[world]\ngravity = [0, 0, 0]\n{}{}{}\
         [[sheets]]\nname = \"sheet\"\nmesh = {{ sheet = [0.3, 0.3], cells = [2, 2] }}\nposition = [-0.05, 0.02, -0.05]\n\
         velocity = [0.1, 0.2, 1.5]\nthickness = 4e-3\nyoung = 1e5\npoisson = 0.3\ndensity = 500\nbending = 1e-3\n",
        soft_contact(0.02, 400.0),
        block("low", 1, [0.0; 3], "velocity = [0, 0.2, 0]\n"),
        block(
            "high",
            1,
            [0.05, 0.04, 0.24],
            "orientation = [0.995, 0.08, 0.05, 0.03]\nvelocity = [0.5, -0.3, -1]\n"
        ),
    );
    let mut with = scene(&text);
    // Elements have masses: a quarter at each corner of a tetrahedron, a third of a triangle.
    let mut masses = vec![0.0; with.particle_count()];
    let mut first = 0;
    for solid in &with.solids {
        for (element, volume) in solid.elements.iter().zip(solid.mesh().volumes()) {
            element.iter().for_each(|&i| masses[first + i as usize] += 0.25 * 200.0 * volume);
        }
        first += solid.rest.len();
    }
    for (element, area) in with.sheets[0].elements.iter().zip(with.sheets[0].mesh().areas()) {
        element.iter().for_each(|&i| masses[first + i as usize] += 500.0 * 4e-3 * area / 3.0);
    }
    for points in &with.particles {
        assert!(points.masses.iter().all(|mass| *mass == 0.0), "{:?}", points.masses);
    }
    let momenta = |state: &[f64]| {
        let (x, v) = state.split_at(state.len() / 2);
        let mut sums = [0.0; 6];
        for (i, m) in masses.iter().enumerate() {
            let at = |of: &[f64]| -> [f64; 3] { std::array::from_fn(|a| of[3 * i + a]) };
            let turning = cross(at(x), at(v));
            (0..3).for_each(|a| sums[a] += m * at(v)[a]);
            (0..3).for_each(|a| sums[3 + a] += m * turning[a]);
        }
        sums
    };
    let scheme = Scheme::new(Integrator::SemiImplicitEuler, 5e-4);
    let states = run(&with, scheme, 400);
    let (first, last) = (momenta(&states[0]), momenta(&states[400]));
    let scale = first.iter().fold(0.0, |most: f64, p| most.max(p.abs()));
    let off = first.iter().zip(&last).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale;
    println!("momenta {first:.4?}: off by {off:.1e}");
    assert!(off < 1e-12, "{first:?}, then {last:?}");
    // They met.
    with.soft_contact = None;
    let alone = run(&with, scheme, 400);
    let apart = states[400].iter().zip(&alone[400]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart > 0.1, "{apart}");
}

/// A sheet that an arm holds along one side, and turns down on another, which is held at its corners.
fn carried(speed: f64, ke: f64) -> Scene {
    scene(&format!(
        r#"
        [world]
        gravity = [0, 0, -1]
        {}
        [[robots]]
        name = "arm"
        position = [-0.3, 0, 0.03]
        velocities = {{ turn = {speed}, tip = 0.3 }}
        [[robots.bodies]]
        name = "upper"
        mass = 0.3
        inertia = [0.004, 0.005, 0.003]
        center = [0.05, 0, 0]
        [[robots.bodies]]
        name = "hand"
        parent = "upper"
        position = [0.1, 0, 0]
        mass = 0.2
        inertia = [0.002, 0.003, 0.001]
        center = [0.05, 0.01, 0]
        [[robots.joints]]
        name = "turn"
        body = "upper"
        kind = "hinge"
        axis = [0, 1, 0]
        [[robots.joints]]
        name = "tip"
        body = "hand"
        kind = "hinge"
        axis = [1, 0.2, 0]

        [[sheets]]
        name = "low"
        mesh = {{ sheet = [0.5, 0.5], cells = [3, 3] }}
        fixed = [0, 3, 12, 15]
        thickness = 3e-3
        young = 5e4
        poisson = 0.3
        density = 400
        bending = 1e-3

        [[sheets]]
        name = "high"
        mesh = {{ sheet = [0.3, 0.3], cells = [2, 2] }}
        position = [0.02, 0.01, 0.03]
        thickness = 3e-3
        young = 5e4
        poisson = 0.3
        density = 400
        bending = 1e-3

        [[attachments]]
        name = "glue"
        points = ["high[0]", "high[3]", "high[6]"]
        body = "arm.hand"
        "#,
        soft_contact(0.02, ke).replace("kd = 0.02\n", "")
    ))
}

const TOUCHED: [&str; 8] = [
    "soft_contact.ke",
    "soft_contact.mu",
    "soft_contact.thickness",
    "arm.upper.mass",
    "arm.turn.axis.x",
    "low.mu",
    "high.density",
    "glue[0].anchor.z",
];

/// Soft contact, particles that a body holds and a robot in one explicit step.
#[test]
fn derivatives_of_a_sheet_on_an_arm() {
    let scheme = Scheme::new(Integrator::SemiImplicitEuler, 1.0 / 960.0);
    against_differences(&carried(2.0, 40.0), scheme, 40, &TOUCHED);
}

/// The same in one implicit step.
#[test]
fn derivatives_of_a_sheet_on_an_arm_in_long_steps() {
    let scheme = Scheme::new(Integrator::BackwardEuler, 1.0 / 120.0);
    against_differences(&carried(2.0, 40.0), scheme, 5, &TOUCHED);
}

/// What an arm carries does not go through another sheet, and the arm feels it.
#[test]
fn a_sheet_on_an_arm_that_meets_another() {
    let scene = carried(2.0, 40.0);
    let scheme = Scheme::new(Integrator::BackwardEuler, 1.0 / 120.0);
    nothing_crosses(&scene, scheme, 12);
    let turned = |scene: &Scene| run(scene, scheme, 12)[12].clone();
    let (with, without) = (turned(&scene), turned(&Scene { soft_contact: None, ..scene.clone() }));
    let at = Model::new(&scene).expect("a model").state_layout().find("arm.turn.position").expect("it").start;
    assert!((with[at] - without[at]).abs() > 1e-3, "{} and {}", with[at], without[at]);
}

/// Two different worlds in a batch, against each alone, to the bit.
#[test]
fn worlds_that_meet_in_a_batch() {
    let scheme = Scheme::new(Integrator::BackwardEuler, 1.0 / 120.0);
    let steps = 4;
    let [a, b] = [(2.0, 40.0), (3.0, 25.0)].map(|(speed, ke)| {
        let model = Model::new(&carried(speed, ke)).expect("a model");
        let (state, params) = (model.state(), model.params());
        (model, state.values().to_vec(), params.values().to_vec())
    });
    let step = Step::new(&a.0, scheme).expect("a step");
    let mut alone = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let alone = [&a, &b].map(|(_, states, params)| {
        alone.gradient(&Start { states, controls: &[], params }, &Weighed).expect("a gradient").clone()
    });
    assert_ne!(alone[0].values, alone[1].values);
    let (states, params) = ([&a.1[..], &b.1].concat(), [&a.2[..], &b.2].concat());
    let mut batch =
        Rollout::<f64>::new(&step, Options { worlds: 2, ..Options::new(steps) }).expect("a batch");
    let batch = batch
        .gradient(&Start { states: &states, controls: &[], params: &params }, &Weighed)
        .expect("a gradient");
    for (w, alone) in alone.iter().enumerate() {
        let of = |numbers: &[f64]| numbers[w * numbers.len() / 2..(w + 1) * numbers.len() / 2].to_vec();
        assert_eq!(of(&batch.values), alone.values, "world {w}");
        assert_eq!(of(&batch.states), alone.states, "world {w}");
        assert_eq!(of(&batch.params), alone.params, "world {w}");
    }
}
