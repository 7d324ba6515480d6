//! Stiffness, damping and rest length of a spring, from a recording of the ball that hangs from it: a problem built in
//! code, and an optimiser run that is saved halfway, resumed, and ends with the same bits.

use pullback::prelude::*;

/// Stiffness [N/m], damping [N·s/m] and rest length [m]: what the recording was made with, and the first guess. The mass
/// is known: from positions alone only stiffness/mass and damping/mass can be told.
const TRUTH: [f64; 3] = [40.0, 0.3, 0.4];
const GUESS: [f64; 3] = [25.0, 0.1, 0.3];
const NAMES: [&str; 3] = ["spring.stiffness", "spring.damping", "spring.rest_length"];

fn hanging([stiffness, damping, rest_length]: [f64; 3]) -> Scene {
    Scene {
        name: "hanging ball".into(),
        particles: vec![
            Particles::single("nail", [0.0, 0.0, 1.0], 1.0).fix(),
            Particles::single("ball", [0.0, 0.0, 0.6], 0.25),
        ],
        springs: vec![Springs::between("spring", [0, 1], stiffness, rest_length).damping(damping)],
        simulation: Simulation {
            dt: 0.005,
            steps: 400,
            integrator: Integrator::RungeKutta4,
            ..Simulation::default()
        },
        ..Scene::default()
    }
}

/// The height of the ball, every tenth step, as a camera would give it: in whole millimetres.
fn record(scene: &Scene) -> Result<(scene::Table, Vec<usize>), Box<dyn std::error::Error>> {
    let step = Step::of(scene)?;
    let (state, params) = (step.model().state(), step.model().params());
    let ball = step.model().state_layout().find("ball.position.z")?.start;
    let (mut rows, mut steps) = (Vec::new(), Vec::new());
    Rollout::<f64>::new(&step, Options::of(scene))?.watch(&Start::new(&state, &[], &params), |moment| {
        if moment.step % 10 == 0 {
            rows.push(vec![moment.time, (moment.state[ball] * 1000.0).round() / 1000.0]);
            steps.push(moment.step);
        }
    })?;
    Ok((scene::Table { columns: vec!["time".into(), "ball.z".into()], rows }, steps))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (data, steps) = record(&hanging(TRUTH))?;
    let count = data.rows.len();
    let track =
        scene::Track { of: scene::Tracked::Particle { particle: 1, axis: 2 }, velocity: false, column: 1 };
    let description = scene::Problem {
        scene: hanging(GUESS),
        variables: NAMES.map(Variable::new).to_vec(),
        losses: vec![LossTerm {
            kind: LossKind::Trajectory { data, file: "recording.csv".into(), tracks: vec![track] },
            at: When::Steps(steps),
            weight: 1.0,
        }],
        optimiser: Optimiser { method: Method::levenberg_marquardt(), ..Optimiser::default() },
        source: scene::Source::default(),
    };
    let mut problem = Problem::new(description)?;

    let mut run = problem.begin()?;
    run.iterate(&mut problem)?;
    run.iterate(&mut problem)?;
    let folder = std::env::temp_dir().join(format!("pullback-identify-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    run.save(&folder.join("state.json"))?;
    run.finish(&mut problem)?;
    let mut resumed = Run::load(&folder.join("state.json"), &problem.fingerprint())?;
    resumed.finish(&mut problem)?;
    std::fs::remove_dir_all(&folder)?;
    assert_eq!(run.best(), resumed.best(), "a resumed run gives the same bits");
    assert_eq!(run.history(), resumed.history());

    let (z, loss) = run.best();
    let found = problem.variables().values(z);
    println!(
        "{count} heights in whole millimetres; {}",
        run.stopped().map_or(String::new(), ToString::to_string)
    );
    println!("loss {loss:.3e} m², a typical error of {:.2} mm", 1000.0 * (loss / count as f64).sqrt());
    println!("{:<18} {:>10} {:>10} {:>10}", "", "guess", "found", "truth");
    for i in 0..3 {
        println!("{:<18} {:>10.4} {:>10.4} {:>10.4}", NAMES[i], GUESS[i], found[i], TRUTH[i]);
    }
    let counts = run.counts();
    println!("{} iterations, {} Jacobians", run.history().len() - 1, counts.jacobians);

    // Rounding to millimetres is the only error in the data.
    for i in 0..3 {
        assert!((found[i] / TRUTH[i] - 1.0).abs() < 0.01, "{}", NAMES[i]);
    }
    assert!((loss / count as f64).sqrt() < 0.001);
    Ok(())
}
