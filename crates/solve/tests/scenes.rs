//! Every scene of the repository: it loads, runs, has the right gradient, and solves to what the file says of itself.

mod promises;

use std::path::{Path, PathBuf};

use pullback_scene as scene;
use pullback_solve::Problem;
use pullback_solve::check::{Agreement, check};
use pullback_solve::optimise::Objective;

use promises::{is_of_a_study, promise, scenes};

fn files() -> Vec<PathBuf> {
    let entries = scenes().read_dir().expect("there are scenes").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    files
}

/// Scenes that are run whole here.
fn short() -> impl Iterator<Item = PathBuf> {
    files().into_iter().filter(|file| !is_of_a_study(file))
}

fn description(file: &Path) -> scene::Problem {
    let description = scene::Problem::load(file).unwrap_or_else(|error| panic!("{error}"));
    let name = &description.scene.name;
    assert_eq!(Some(name.as_str()), file.file_stem().and_then(|stem| stem.to_str()));
    assert!(!description.scene.description.is_empty(), "{name} says what it is");
    description
}

fn problem(file: &Path) -> Problem {
    Problem::new(description(file)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn scenes_run_and_have_the_right_gradient() {
    for file in short() {
        let mut problem = problem(&file);
        let name = problem.description().scene.name.clone();
        let z = problem.variables().start();
        let mut moments = 0;
        problem.watch(&z, |_| moments += 1).expect("it runs");
        assert_eq!(moments, problem.description().scene.simulation.steps + 1);
        let health = check(&mut problem, &z).expect("it can be checked");
        assert!(!health.audit.is_empty());
        for audit in &health.audit {
            assert!(
                audit.difference.is_finite() && audit.agreement() == Agreement::Right,
                "{name}: {audit:?}"
            );
        }
        // The audit must be able to fail: something has a derivative, and it was not copied.
        let worst = health.audit.iter().map(|audit| audit.error).fold(0.0, f64::max);
        assert!(health.audit.iter().any(|audit| audit.derivative != 0.0), "{name}");
        assert!(worst > 0.0, "{name}");
        println!("{name}: worst error {worst:.1e} of {}, growth {}", health.audit.len(), health.growth);
    }
}

/// Those of studies, over their first steps: along the gradient the loss changes by what it says.
#[test]
fn long_scenes_begin_with_the_right_gradient() {
    const STEPS: usize = 200;
    let mut seen = 0;
    for file in files().into_iter().filter(|file| is_of_a_study(file)) {
        promise(&file);
        let mut description = description(&file);
        let name = description.scene.name.clone();
        description.scene.simulation.steps = STEPS;
        let mut problem = Problem::new(description).unwrap_or_else(|error| panic!("{error}"));
        let z = problem.variables().start();
        let mut gradient = vec![0.0; z.len()];
        problem.gradient(&z, &mut gradient).expect("it has one");
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let mut along = |h: f64| {
            let z: Vec<f64> = z.iter().zip(&gradient).map(|(z, g)| z + h * g / norm).collect();
            problem.value(&z).expect("it runs")
        };
        // Short enough that no other point comes to touch the ground.
        let h = 1e-4;
        let difference = (along(h) - along(-h)) / (2.0 * h);
        println!("{name}: {norm:.9e} along the gradient, {difference:.9e} by differences");
        assert!(norm > 0.0 && (difference / norm - 1.0).abs() < 1e-7, "{name}: {norm}, {difference}");
        seen += 1;
    }
    assert!(seen >= 2);
}

#[test]
fn scenes_solve_to_what_they_promise() {
    for file in short() {
        let (loss, most) = promise(&file);
        let mut problem = problem(&file);
        let mut run = problem.begin().expect("it can be begun");
        run.finish(&mut problem).expect("it can be solved");
        let (iterations, found) = (run.history().len() - 1, run.best().1);
        println!("{}: loss {found:.3e} in {iterations} iterations: {:?}", file.display(), run.stopped());
        assert!(found < loss, "{}: {found}", file.display());
        assert!(iterations <= most, "{}: {iterations} iterations", file.display());
    }
}

/// The chain is pulled back through in a twentieth of the memory, with the same bits.
#[test]
fn little_memory_gives_the_same_gradient() {
    let file = scenes().join("chain.toml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let gradient = |text: &str| {
        let description = scene::Problem::parse(text, &file).expect("it is a problem");
        let mut problem = Problem::new(description).expect("it can be run");
        let z = problem.variables().start();
        let mut gradient = vec![0.0; z.len()];
        problem.gradient(&z, &mut gradient).expect("it has one");
        gradient
    };
    let budget = "memory = { budget = \"120 KiB\" }";
    assert!(text.contains(budget));
    let all = gradient(&text.replace(budget, "memory = \"every-step\""));
    assert!(all.iter().all(|g| *g != 0.0));
    assert!(gradient(&text) == all);
}
