//! Good files give the descriptions that they say.

use pullback_scene::soft::{Diagonals, SheetMesh, SolidMesh};
use pullback_scene::{
    Actuator, AppliedForce, Bounds, Elastic, Ground, Integrator, LossKind, LossTerm, Memory, Method,
    Optimiser, Oscillation, Particles, Problem, Scene, Sheet, Simulation, Snapshots, Solid, Source, Springs,
    Table, Track, Tracked, Variable, When, World,
};

const SMALL: &str = r#"
[simulation]
dt = 0.1
steps = 10
[[particles]]
name = "ball"
position = [0, 0, 1]
mass = 1
[[particles]]
name = "chain"
line = { from = [0, 0, 0], to = [1, 0, 0], count = 3 }
mass = 1
[[actuators]]
name = "thruster"
on = "ball"
"#;

fn small_with(more: &str) -> Scene {
    Scene::parse(&format!("{SMALL}{more}"), "small.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn simulation_with(line: &str) -> Simulation {
    let text = SMALL.replace("steps = 10\n", &format!("steps = 10\n{line}\n"));
    Scene::parse(&text, "small.toml").unwrap_or_else(|error| panic!("{error}")).simulation
}

fn loss_with(lines: &str) -> LossTerm {
    let text = format!("{SMALL}[[variables]]\nname = \"ball.mass\"\n[[loss]]\n{lines}\n");
    let mut problem = Problem::parse(&text, "small.toml").unwrap_or_else(|error| panic!("{error}"));
    problem.losses.remove(0)
}

fn method_with(lines: &str) -> Method {
    let loss = "[[loss]]\nkind = \"position\"\nof = \"ball\"\ntarget = [0, 0, 0]\n";
    let text = format!("{SMALL}[[variables]]\nname = \"ball.mass\"\n{loss}[optimiser]\n{lines}\n");
    Problem::parse(&text, "small.toml").unwrap_or_else(|error| panic!("{error}")).optimiser.method
}

fn everything() -> Scene {
    let mesh = SolidMesh::block([0.2, 0.1, 0.1], [2, 1, 1]).expect("a block").moved([0.0, 0.0, 3.0]);
    let brick = Solid::new("brick", &mesh, Elastic::of_young(1e5, 0.4).expect("matter"), 900.0);
    let mesh = SheetMesh::sheet([0.3, 0.2], [1, 1], Diagonals::Alternating).expect("a sheet");
    let elastic = Elastic::of_young_in_plane(1e6, 0.3).expect("matter");
    let flag = Sheet::new("flag", &mesh.moved([1.0, 0.0, 3.0]), 1e-3, elastic, 200.0);
    let mut scene = without_soft();
    let (bricks, flags) = (brick.points(), flag.points().fix_points(&[0, 2]));
    assert_eq!(scene.add_solid(brick, bricks), 7);
    assert_eq!(scene.add_sheet(flag, flags), 19);
    scene
}

fn without_soft() -> Scene {
    Scene {
        name: "everything".into(),
        description: "A ball on a chain.".into(),
        world: World { gravity: [0.0, 0.0, -1.62], wind: [2.0, 0.0, 0.0] },
        particles: vec![
            Particles {
                name: "ball".into(),
                indexed: false,
                positions: vec![[0.0, 0.0, 1.0]],
                velocities: vec![[1.0, 0.0, 2.0]],
                masses: vec![0.2],
                drag: Some(vec![0.01]),
                fixed: vec![[false, true, false]],
                radii: Some(vec![0.05]),
                material: None,
            },
            Particles {
                name: "chain".into(),
                indexed: true,
                positions: vec![[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [2.0, 0.0, 2.0], [3.0, 0.0, 2.0]],
                velocities: vec![[0.0; 3]; 4],
                masses: vec![0.1, 0.2, 0.3, 0.4],
                drag: None,
                fixed: vec![[true; 3], [false; 3], [false; 3], [true; 3]],
                radii: None,
                material: None,
            },
            Particles {
                name: "corner".into(),
                indexed: true,
                positions: vec![[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]],
                velocities: vec![[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]],
                masses: vec![1.0, 1.0],
                drag: Some(vec![0.1, 0.0]),
                fixed: vec![[false; 3]; 2],
                radii: Some(vec![0.1, 0.2]),
                material: None,
            },
        ],
        springs: vec![
            Springs {
                name: "tether".into(),
                indexed: false,
                ends: vec![[0, 2]],
                stiffness: vec![50.0],
                damping: None,
                rest_lengths: vec![0.5],
            },
            Springs {
                name: "links".into(),
                indexed: true,
                ends: vec![[1, 2], [2, 3], [3, 4]],
                stiffness: vec![100.0; 3],
                damping: Some(vec![0.1; 3]),
                rest_lengths: vec![1.0; 3],
            },
            Springs {
                name: "braces".into(),
                indexed: true,
                ends: vec![[0, 5], [5, 6]],
                stiffness: vec![10.0, 20.0],
                damping: Some(vec![0.0, 0.5]),
                rest_lengths: vec![1.0, 1.5],
            },
        ],
        forces: vec![
            AppliedForce { name: "push".into(), on: vec![0], force: [0.0, 1.0, 0.0], oscillation: None },
            AppliedForce {
                name: "gust".into(),
                on: vec![1, 2, 3, 4, 5, 6],
                force: [1.0, 0.0, 0.0],
                oscillation: Some(Oscillation { frequency: 2.0, phase: 0.5 }),
            },
        ],
        actuators: vec![Actuator { name: "thruster".into(), on: 0, control: vec![[0.0, 0.0, 2.0]] }],
        ground: Some(Ground {
            height: -1.0,
            ke: Some(50.0),
            kd: Some(0.2),
            kf: Some(0.3),
            mu: Some(0.5),
            material: None,
        }),
        simulation: Simulation {
            dt: 0.01,
            steps: 100,
            substeps: 2,
            integrator: Integrator::VelocityVerlet,
            memory: Memory::Budget { bytes: 1_572_864 },
            snapshots: Snapshots::F32,
            truncate: Some(50),
            clip: Some(1e3),
        },
        ..Scene::default()
    }
}

#[test]
fn a_file_with_everything() {
    let file = "tests/good/everything.toml";
    let problem = Problem::load(file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(problem.scene, everything());
    assert_eq!(Scene::load(file), Ok(everything()));
    let velocity = Variable {
        name: "initial.ball.velocity".into(),
        lower: Some(-10.0),
        upper: Some(10.0),
        bounds: Bounds::Transform,
        scale: Some(5.0),
        start: Some(vec![1.0, 0.0, 1.0]),
        together: false,
    };
    assert_eq!(problem.variables, [velocity, Variable::new("*.stiffness").together()]);
    let optimiser = Optimiser {
        method: Method::Adam { rate: 0.1, beta1: 0.9, beta2: 0.999 },
        iterations: 200,
        tolerance: 1e-8,
        target: Some(1e-6),
    };
    assert_eq!(problem.optimiser, optimiser);
    assert_eq!(problem.source, Source::read(file).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(problem.check(), Ok(()));
}

#[test]
fn losses_of_the_file_with_everything() {
    let problem = Problem::load("tests/good/everything.toml").unwrap_or_else(|error| panic!("{error}"));
    let track = |particle, velocity, axis, column| Track {
        of: Tracked::Particle { particle, axis },
        velocity,
        column,
    };
    let table = Table {
        columns: ["time", "ball.x", "ball.vz", "chain[2].y"].map(String::from).to_vec(),
        rows: vec![vec![0.0, 0.0, 2.0, 0.0], vec![0.1, 0.1, 1.5, 0.0], vec![1.0, 1.0, -0.25, 0.125]],
    };
    let wanted = [
        LossTerm {
            kind: LossKind::Position { of: 0, target: [5.0, 0.0, 0.0], axes: [true, false, true] },
            at: When::Steps(vec![50, 100]),
            weight: 2.0,
        },
        LossTerm {
            kind: LossKind::Velocity { of: 3, target: [0.0; 3], axes: [true; 3] },
            at: When::End,
            weight: 1.0,
        },
        LossTerm {
            kind: LossKind::Trajectory {
                data: table,
                file: "tests/good/measured.csv".into(),
                tracks: vec![track(0, false, 0, 1), track(0, true, 2, 2), track(3, false, 1, 3)],
            },
            at: When::Steps(vec![0, 10, 100]),
            weight: 1.0,
        },
        LossTerm { kind: LossKind::Effort { actuator: "thruster".into() }, at: When::Always, weight: 1e-3 },
    ];
    assert_eq!(problem.losses, wanted);
}

#[test]
fn what_a_small_file_leaves_out() {
    let scene = small_with("");
    let wanted = Scene {
        name: "small".into(),
        particles: vec![
            Particles::single("ball", [0.0, 0.0, 1.0], 1.0),
            Particles::many("chain", vec![[0.0; 3], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]], 1.0),
        ],
        actuators: vec![Actuator { name: "thruster".into(), on: 0, control: vec![[0.0; 3]] }],
        simulation: Simulation {
            dt: 0.1,
            steps: 10,
            substeps: 1,
            integrator: Integrator::SemiImplicitEuler,
            memory: Memory::EveryStep,
            snapshots: Snapshots::F64,
            truncate: None,
            clip: None,
        },
        ..Scene::default()
    };
    assert_eq!(scene, wanted);
    assert_eq!(scene.world.gravity, [0.0, 0.0, -9.81]);
    let text = format!(
        "{SMALL}[[variables]]\nname = \"ball.mass\"\nstart = 3\n[[loss]]\nkind = \"position\"\nof = \"ball\"\n\
         target = [1, 2, 3]\n"
    );
    let problem = Problem::parse(&text, "small.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(problem.variables, [Variable { start: Some(vec![3.0]), ..Variable::new("ball.mass") }]);
    assert_eq!(problem.losses, [LossTerm::position(0, [1.0, 2.0, 3.0])]);
    assert_eq!(problem.optimiser.method, Method::Lbfgs { history: 10 });
    assert_eq!(problem.optimiser.tolerance, 1e-10);
}

#[test]
fn every_integrator_by_name() {
    let names = [
        "explicit-euler",
        "semi-implicit-euler",
        "rk4",
        "velocity-verlet",
        "reversible-verlet",
        "implicit-midpoint",
        "backward-euler",
    ];
    assert_eq!(Integrator::ALL.map(Integrator::name), names);
    for integrator in Integrator::ALL {
        assert_eq!(integrator.name().parse(), Ok(integrator));
        assert_eq!(simulation_with(&format!("integrator = \"{integrator}\"")).integrator, integrator);
    }
    assert_eq!(simulation_with("integrator = \"rk4\"").integrator, Integrator::RungeKutta4);
    let unknown = "euler".parse::<Integrator>().expect_err("there is none");
    assert!(unknown.fix.contains("`backward-euler`"), "{unknown}");
}

#[test]
fn every_memory() {
    for (text, memory) in [
        ("\"every-step\"", Memory::EveryStep),
        ("\"dense\"", Memory::Dense),
        ("\"reversible\"", Memory::Reversible),
        ("{ binomial = 30 }", Memory::Binomial { snapshots: 30 }),
        ("{ budget = 4096 }", Memory::Budget { bytes: 4096 }),
        ("{ budget = \"4096\" }", Memory::Budget { bytes: 4096 }),
        ("{ budget = \"2 MB\" }", Memory::Budget { bytes: 2_000_000 }),
        ("{ budget = \"2 GiB\" }", Memory::Budget { bytes: 2_147_483_648 }),
    ] {
        assert_eq!(simulation_with(&format!("memory = {text}")).memory, memory, "{text}");
    }
}

#[test]
fn durations_that_are_multiples_but_for_rounding() {
    for (dt, duration, steps) in
        [("0.1", "0.3", 3), ("0.001", "1.1", 1100), ("1e-3", "3600", 3_600_000), ("0.3", "0.9", 3)]
    {
        let text = SMALL.replace("dt = 0.1\nsteps = 10", &format!("dt = {dt}\nduration = {duration}"));
        let scene = Scene::parse(&text, "small.toml").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scene.simulation.steps, steps, "{dt} {duration}");
    }
}

#[test]
fn every_way_to_fix_particles() {
    for (text, fixed) in [
        ("true", [[true; 3]; 3]),
        ("false", [[false; 3]; 3]),
        ("[]", [[false; 3]; 3]),
        ("[\"z\", \"x\"]", [[true, false, true]; 3]),
        ("[1]", [[false; 3], [true; 3], [false; 3]]),
    ] {
        let scene = small_with(&format!(
            "[[particles]]\nname = \"more\"\nmass = 1\nfixed = {text}\npositions = [[1, 1, 1], [2, 2, 2], [3, 3, 3]]\n"
        ));
        assert_eq!(scene.particles[2].fixed, fixed, "{text}");
    }
}

#[test]
fn every_time_of_a_loss() {
    for (text, when) in [
        ("\"end\"", When::End),
        ("\"always\"", When::Always),
        ("0", When::Steps(vec![0])),
        ("[10, 3]", When::Steps(vec![10, 3])),
        ("{ times = [0.3, 0.7] }", When::Steps(vec![3, 7])),
    ] {
        let term =
            loss_with(&format!("kind = \"velocity\"\nof = \"chain[1]\"\ntarget = [0, 0, 0]\nat = {text}"));
        assert_eq!(term.at, when, "{text}");
    }
    assert_eq!(
        loss_with("kind = \"effort\"\nof = \"thruster\"\nat = \"always\""),
        LossTerm::effort("thruster")
    );
}

#[test]
fn every_method() {
    for (text, method) in [
        ("method = \"gradient-descent\"", Method::GradientDescent { rate: 0.01, momentum: 0.0 }),
        (
            "method = \"gradient-descent\"\nrate = 2\nmomentum = 0.5",
            Method::GradientDescent { rate: 2.0, momentum: 0.5 },
        ),
        (
            "method = \"adam\"\nbeta1 = 0.5\nbeta2 = 0.75",
            Method::Adam { rate: 0.01, beta1: 0.5, beta2: 0.75 },
        ),
        ("history = 3", Method::Lbfgs { history: 3 }),
        ("method = \"l-bfgs\"", Method::Lbfgs { history: 10 }),
        ("method = \"levenberg-marquardt\"\ndamping = 7", Method::LevenbergMarquardt { damping: 7.0 }),
        ("method = \"cma-es\"", Method::CmaEs { sigma: 0.3, population: None, seed: 0 }),
        (
            "method = \"cma-es\"\nsigma = 1\npopulation = 8\nseed = 42",
            Method::CmaEs { sigma: 1.0, population: Some(8), seed: 42 },
        ),
    ] {
        assert_eq!(method_with(text), method, "{text}");
    }
}

#[test]
fn numbers_in_every_notation() {
    let gravity = |text: &str| small_with(&format!("[world]\ngravity = {text}\n")).world.gravity;
    assert_eq!(gravity("[0x10, 0b11, 0o17]"), [16.0, 3.0, 15.0]);
    assert_eq!(gravity("[1_000, +2, -3.5e-1]"), [1000.0, 2.0, -0.35]);
}

#[test]
fn controls_for_each_step() {
    let controls: Vec<String> = (0..10).map(|i| format!("[{i}, 0, 0]")).collect();
    let text = SMALL.trim_end().to_owned() + &format!("\ncontrols = [{}]\n", controls.join(", "));
    let scene = Scene::parse(&text, "small.toml").unwrap_or_else(|error| panic!("{error}"));
    let wanted: Vec<[f64; 3]> = (0..10).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    assert_eq!(scene.actuators[0].control, wanted);
}
