//! Every scene of the repository: it loads, runs, has the right gradient, and solves to what the file says of itself.

use std::path::{Path, PathBuf};

use pullback_scene as scene;
use pullback_solve::Problem;
use pullback_solve::check::{Agreement, check};
use pullback_solve::optimise::Objective;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let entries = folder.read_dir().expect("there are scenes").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    files
}

fn problem(file: &Path) -> Problem {
    let description = scene::Problem::load(file).unwrap_or_else(|error| panic!("{error}"));
    Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
}

/// `# Solves to: loss < 1e-12 in at most 20 iterations.` in the file: the loss, and the iterations.
fn promise(file: &Path) -> (f64, usize) {
    let text = std::fs::read_to_string(file).expect("it is there");
    let promise = text.lines().find_map(|line| line.strip_prefix("# Solves to: loss < "));
    let promise = promise.unwrap_or_else(|| panic!("{} promises nothing", file.display()));
    let words: Vec<&str> = promise.split(' ').collect();
    assert_eq!(words[1..4], ["in", "at", "most"], "{promise}");
    (words[0].parse().expect("a loss"), words[4].parse().expect("a number of iterations"))
}

#[test]
fn scenes_run_and_have_the_right_gradient() {
    for file in files() {
        let mut problem = problem(&file);
        let name = problem.description().scene.name.clone();
        assert_eq!(Some(name.as_str()), file.file_stem().and_then(|stem| stem.to_str()));
        assert!(!problem.description().scene.description.is_empty(), "{name} says what it is");
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

#[test]
fn scenes_solve_to_what_they_promise() {
    for file in files() {
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
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/chain.toml");
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
