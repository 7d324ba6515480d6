//! Scenes that are built in code: names, constructors, and the same checks as for files.

use pullback_scene::{
    Actuator, AppliedForce, Bounds, Ground, LossKind, LossTerm, Memory, Optimiser, Particles, Problem, Scene,
    Source, Springs, Table, Track, Tracked, Variable, When,
};

/// Particles 0: ball; 1 to 4: chain; springs along the chain and to the ball.
fn scene() -> Scene {
    Scene {
        particles: vec![
            Particles::single("ball", [0.0, 0.0, 1.0], 0.2).velocity([1.0, 0.0, 0.0]).drag(0.1),
            Particles::line("chain", [0.0; 3], [3.0, 0.0, 0.0], 4, 0.1),
        ],
        springs: vec![
            Springs::between("tether", [0, 1], 50.0, 1.0),
            Springs::chain("links", 1..5, 100.0, 1.0).damping(0.5),
        ],
        forces: vec![AppliedForce::constant("push", vec![0, 4], [1.0, 0.0, 0.0]).oscillating(2.0, 0.0)],
        actuators: vec![Actuator::new("thruster", 0)],
        ground: Some(Ground {
            height: 0.0,
            ke: Some(1e4),
            kd: Some(1.0),
            kf: Some(1.0),
            mu: Some(0.5),
            material: None,
        }),
        ..Scene::default()
    }
}

fn problem() -> Problem {
    Problem {
        scene: scene(),
        variables: vec![Variable::new("initial.ball.velocity")],
        losses: vec![LossTerm::position(0, [1.0, 0.0, 0.0]), LossTerm::effort("thruster")],
        optimiser: Optimiser::default(),
        source: Source::default(),
    }
}

#[test]
fn constructors_say_what_they_build() {
    let scene = scene();
    assert_eq!(scene.check(), Ok(()));
    assert_eq!(scene.particles[1].positions, [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]]);
    assert_eq!(scene.particles[0].velocities, [[1.0, 0.0, 0.0]]);
    assert_eq!(scene.particles[0].drag, Some(vec![0.1]));
    assert_eq!(scene.springs[1].ends, [[1, 2], [2, 3], [3, 4]]);
    assert_eq!(scene.springs[1].damping, Some(vec![0.5; 3]));
    assert_eq!(Particles::single("a", [0.0; 3], 1.0).fix().fixed, [[true; 3]]);
    let line = Particles::line("line", [0.1, 0.0, 0.3], [0.7, 0.0, 0.9], 7, 1.0);
    assert_eq!((line.positions[0], line.positions[6]), ([0.1, 0.0, 0.3], [0.7, 0.0, 0.9]));
}

#[test]
fn particles_by_name() {
    let scene = scene();
    assert_eq!(scene.particle_count(), 5);
    let names = ["ball", "chain[0]", "chain[1]", "chain[2]", "chain[3]"];
    for (index, name) in names.into_iter().enumerate() {
        assert_eq!(scene.particle_name(index), name);
        assert_eq!(scene.particle_index(name), Ok(index));
    }
    assert_eq!(scene.particle_name(5), "#5");
    for name in ["", "chain", "chain[4]", "chain[-1]", "chain[]", "ball[0]", "chain[0", "Ball", "chain[1][1]"]
    {
        assert!(scene.particle_index(name).is_err(), "{name}");
    }
    assert_eq!(scene.particles_matching("*"), [0, 1, 2, 3, 4]);
    assert_eq!(scene.particles_matching("chain"), [1, 2, 3, 4]);
    assert_eq!(scene.particles_matching("chain[2]"), [3]);
    assert_eq!(scene.particles_matching("*[?]"), [1, 2, 3, 4]);
    assert_eq!(scene.particles_matching("*l*"), [0]);
    assert_eq!(scene.particles_matching("rope*"), [0; 0]);
}

/// A change that makes a scene or a problem wrong, and where the error is.
type Change<T> = (fn(&mut T), &'static str);

#[test]
fn every_field_of_a_scene_is_checked() {
    let changes: &[Change<Scene>] = &[
        (|s| s.simulation.dt = 0.0, "simulation.dt"),
        (|s| s.simulation.dt = f64::NAN, "simulation.dt"),
        (|s| s.simulation.steps = 0, "simulation.steps"),
        (|s| s.simulation.steps = 2_000_000_000, "simulation.steps"),
        (|s| s.simulation.substeps = 0, "simulation.substeps"),
        (|s| s.simulation.truncate = Some(0), "simulation.truncate"),
        (|s| s.simulation.clip = Some(0.0), "simulation.clip"),
        (|s| s.simulation.memory = Memory::Binomial { snapshots: 0 }, "simulation.memory.binomial"),
        (|s| s.simulation.memory = Memory::Budget { bytes: 0 }, "simulation.memory.budget"),
        (|s| s.world.gravity[2] = f64::INFINITY, "world.gravity[2]"),
        (|s| s.world.wind[0] = f64::NAN, "world.wind[0]"),
        (|s| s.particles.clear(), "particles"),
        (|s| s.particles[0].name = "chain".into(), "particles[1].name"),
        (|s| s.particles[0].name = "a b".into(), "particles[0].name"),
        (|s| s.springs[1].name = "wind".into(), "springs[1].name"),
        (|s| s.forces[0].name = "ball".into(), "forces[0].name"),
        (|s| s.actuators[0].name = "push".into(), "actuators[0].name"),
        (|s| s.particles[1].positions.clear(), "particles[1].positions"),
        (|s| s.particles[1].indexed = false, "particles[1].positions"),
        (|s| s.particles[1].positions[2][1] = f64::NAN, "particles[1].positions[2][1]"),
        (|s| s.particles[1].velocities[3][0] = f64::NAN, "particles[1].velocities[3][0]"),
        (|s| s.particles[1].velocities.truncate(3), "particles[1].velocities"),
        (|s| s.particles[1].masses[3] = 0.0, "particles[1].masses[3]"),
        (|s| s.particles[1].masses.push(1.0), "particles[1].masses"),
        (|s| s.particles[1].fixed.clear(), "particles[1].fixed"),
        (|s| s.particles[0].drag = Some(vec![-0.1]), "particles[0].drag[0]"),
        (|s| s.particles[0].drag = Some(vec![]), "particles[0].drag"),
        (|s| s.springs[1].ends.clear(), "springs[1].ends"),
        (|s| s.springs[1].indexed = false, "springs[1].ends"),
        (|s| s.springs[1].ends[2] = [3, 5], "springs[1].ends[2]"),
        (|s| s.springs[1].ends[2] = [3, 3], "springs[1].ends[2]"),
        (|s| s.springs[0].ends[0] = [3, 3], "springs[0].ends"),
        (|s| s.particles[0].positions[0] = [0.0; 3], "springs[0].ends"),
        (|s| s.springs[1].stiffness[1] = -1.0, "springs[1].stiffness[1]"),
        (|s| s.springs[1].stiffness.clear(), "springs[1].stiffness"),
        (|s| s.springs[1].damping = Some(vec![0.0, 0.0, -1.0]), "springs[1].damping[2]"),
        (|s| s.springs[1].damping = Some(vec![0.0]), "springs[1].damping"),
        (|s| s.springs[1].rest_lengths[0] = -1.0, "springs[1].rest_lengths[0]"),
        (|s| s.springs[1].rest_lengths.clear(), "springs[1].rest_lengths"),
        (|s| s.forces[0].on.clear(), "forces[0].on"),
        (|s| s.forces[0].on[1] = 5, "forces[0].on"),
        (|s| s.forces[0].force[1] = f64::NAN, "forces[0].force[1]"),
        (|s| s.forces[0].oscillation.iter_mut().for_each(|it| it.frequency = -1.0), "forces[0].frequency"),
        (|s| s.forces[0].oscillation.iter_mut().for_each(|it| it.phase = f64::NAN), "forces[0].phase"),
        (|s| s.actuators[0].on = 5, "actuators[0].on"),
        (|s| s.actuators[0].control.clear(), "actuators[0].controls"),
        (|s| s.actuators[0].control = vec![[0.0; 3]; 99], "actuators[0].controls"),
        (|s| s.actuators[0].control = vec![[0.0, f64::NAN, 0.0]], "actuators[0].controls[0][1]"),
        (|s| s.ground.iter_mut().for_each(|ground| ground.height = f64::NAN), "ground.height"),
        (|s| s.ground.iter_mut().for_each(|ground| ground.ke = Some(-1.0)), "ground.ke"),
        (|s| s.ground.iter_mut().for_each(|ground| ground.kd = Some(-1.0)), "ground.kd"),
        (|s| s.ground.iter_mut().for_each(|ground| ground.kf = Some(-1.0)), "ground.kf"),
        (|s| s.ground.iter_mut().for_each(|ground| ground.mu = Some(-1.0)), "ground.mu"),
    ];
    for (at, (change, path)) in changes.iter().enumerate() {
        let mut scene = scene();
        change(&mut scene);
        let invalid = scene.check().expect_err(&format!("change {at}, of {path}"));
        assert_eq!(invalid.path, *path, "{invalid}");
        assert!(!invalid.fix.is_empty(), "{invalid}");
    }
}

#[test]
fn every_field_of_a_problem_is_checked() {
    let changes: &[Change<Problem>] = &[
        (|p| p.scene.simulation.dt = -1.0, "simulation.dt"),
        (|p| p.variables.clear(), "variables"),
        (|p| p.losses.clear(), "loss"),
        (|p| p.variables[0].name = " ".into(), "variables[0].name"),
        (|p| p.variables[0].lower = Some(f64::NAN), "variables[0].lower"),
        (|p| p.variables[0].upper = Some(f64::NAN), "variables[0].upper"),
        (|p| p.variables[0].scale = Some(-1.0), "variables[0].scale"),
        (|p| p.variables[0].start = Some(vec![]), "variables[0].start"),
        (|p| p.variables[0].start = Some(vec![0.0, f64::NAN]), "variables[0].start[1]"),
        (|p| p.variables[0].bounds = Bounds::Transform, "variables[0].bounds"),
        (|p| p.variables.push(Variable::new("initial.ball.velocity")), "variables[1].name"),
        (
            |p| p.variables[0] = Variable { lower: Some(1.0), upper: Some(0.0), ..p.variables[0].clone() },
            "variables[0].lower",
        ),
        (
            |p| {
                p.variables[0] =
                    Variable { lower: Some(1.0), start: Some(vec![0.5]), ..p.variables[0].clone() }
            },
            "variables[0].start[0]",
        ),
        (|p| p.losses[0].weight = f64::NAN, "loss[0].weight"),
        (|p| p.losses[0].at = When::Steps(vec![]), "loss[0].at"),
        (|p| p.losses[0].at = When::Steps(vec![0, 100, 101]), "loss[0].at[2]"),
        (|p| p.losses[0].at = When::Steps(vec![1, 1]), "loss[0].at[1]"),
        (|p| p.losses[0] = LossTerm::velocity(5, [0.0; 3]), "loss[0].of"),
        (|p| p.losses[0] = LossTerm::velocity(0, [0.0, f64::NAN, 0.0]), "loss[0].target[1]"),
        (|p| p.losses[1] = LossTerm::effort("ball"), "loss[1].of"),
        (|p| p.losses[1].at = When::End, "loss[1].at"),
        (|p| p.optimiser.iterations = 0, "optimiser.iterations"),
        (|p| p.optimiser.tolerance = -1.0, "optimiser.tolerance"),
        (|p| p.optimiser.target = Some(f64::NAN), "optimiser.target"),
    ];
    assert_eq!(problem().check(), Ok(()));
    for (at, (change, path)) in changes.iter().enumerate() {
        let mut problem = problem();
        change(&mut problem);
        let invalid = problem.check().expect_err(&format!("change {at}, of {path}"));
        assert_eq!(invalid.path, *path, "{invalid}");
    }
}

#[test]
fn tables_of_trajectories_are_checked() {
    let term = |at: When, row: Vec<f64>, particle, axis, column| LossTerm {
        kind: LossKind::Trajectory {
            data: Table { columns: vec!["time".into(), "ball.x".into()], rows: vec![row] },
            file: "measured.csv".into(),
            tracks: vec![Track { of: Tracked::Particle { particle, axis }, velocity: false, column }],
        },
        at,
        weight: 1.0,
    };
    let one = || When::Steps(vec![1]);
    let check = |term| Problem { losses: vec![term], ..problem() }.check();
    assert_eq!(check(term(one(), vec![0.01, 2.0], 0, 0, 1)), Ok(()));
    for bad in [
        term(When::End, vec![0.01, 2.0], 0, 0, 1),
        term(When::Steps(vec![1, 2]), vec![0.01, 2.0], 0, 0, 1),
        term(one(), vec![0.01], 0, 0, 1),
        term(one(), vec![0.01, f64::NAN], 0, 0, 1),
        term(one(), vec![0.01, 2.0], 5, 0, 1),
        term(one(), vec![0.01, 2.0], 0, 3, 1),
        term(one(), vec![0.01, 2.0], 0, 0, 2),
    ] {
        assert_eq!(check(bad).expect_err("it is bad").path, "loss[0].data");
    }
}
