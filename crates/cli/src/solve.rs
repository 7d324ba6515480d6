//! `pullback solve`: find the variables that make the loss small.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use pullback_report::human;
use pullback_scene::words::nearest;
use pullback_solve::Problem;
use pullback_solve::optimise::{Error, Method, Reason, Run};

use crate::folder::{self, Found};
use crate::quality::Quality;
use crate::{DONE, FAILED, Where, load, optimise, page, say, simulate, solution};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Where,
    /// Solve the problem by another method as well, and show both in the report
    #[arg(long, value_name = "METHOD")]
    compare: Option<String>,
    /// The most evaluations of the comparison; by default 100 times those of the first, and 20000 at least
    #[arg(long, value_name = "NUMBER", requires = "compare")]
    compare_evaluations: Option<usize>,
    /// Threads for Jacobians; 0 for one per core
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// The state of the optimiser in a run folder.
const STATE: &str = "state.json";
/// The comparison is given this many times as many evaluations.
const PATIENCE: usize = 100;
const LEAST_EVALUATIONS: usize = 20_000;

pub fn run(arguments: &Arguments) -> Result<u8> {
    let mut problem = Problem::new(load::problem(&arguments.place.file)?)?;
    arguments.place.device.take(&mut problem)?;
    problem.set_threads(arguments.threads);
    let other = arguments.compare.as_deref().map(method).transpose()?;
    // A problem that cannot be begun leaves no folder behind, and neither does one that blows up at its start.
    problem.begin()?;
    let start = problem.variables().start();
    problem.watch(&start, |_| ())?;
    let name = problem.description().scene.name.clone();
    let look = |path: &Path| look(path, &problem.fingerprint());
    let folder = folder::open(&name, arguments.place.out.as_deref(), arguments.place.replace, look)?;
    if arguments.place.replace {
        remove_states(folder.path());
    }
    let start = Instant::now();
    let state = folder.path().join(STATE);
    let chosen = problem.description().optimiser.method;
    let (mut run, resumed) = optimise::begin(&problem, chosen, &state)?;
    if resumed {
        say!("going on after iteration {}", run.history().last().map_or(0, |record| record.iteration));
    }
    optimise::finish(&mut problem, &mut run, &state, &name, None)?;
    let seconds = start.elapsed().as_secs_f64();
    let comparison = match other {
        None => None,
        Some(other) => {
            let counts = run.counts();
            let most = PATIENCE * (counts.values + counts.gradients + counts.jacobians);
            let most = arguments.compare_evaluations.unwrap_or(most.max(LEAST_EVALUATIONS));
            Some(compare(&mut problem, &run, other, folder.path(), most)?)
        }
    };
    let recorded = simulate::record(&mut problem, &run)?;
    simulate::write_trajectory(&folder, &problem, &recorded)?;
    solution::write_history(&folder, &run)?;
    let quality = Quality::new(&mut problem, &run)?;
    solution::write_solution(&folder, &problem, &run, &quality)?;
    page::write_solved(&folder, &mut problem, &run, comparison.as_ref(), &recorded, &quality)?;
    summary(&problem, &run, comparison.as_ref(), seconds, folder.path(), &quality);
    Ok(if matches!(run.stopped(), Some(Reason::NotFinite { .. })) { FAILED } else { DONE })
}

/// The method with this name, and its defaults.
fn method(name: &str) -> Result<Method> {
    let found = Method::ALL.into_iter().find(|method| method.name() == name);
    found.ok_or_else(|| {
        let names: Vec<String> = Method::ALL.iter().map(|method| method.name().to_owned()).collect();
        let what = format!("there is no method `{name}`");
        let fix = match nearest(name, &names) {
            Some(near) => format!("did you mean `{near}`? The methods are {}", names.join(", ")),
            None => format!("the methods are {}", names.join(", ")),
        };
        folder::Refused::new(Path::new("--compare"), what, fix).into()
    })
}

/// The same problem, solved by another method.
pub struct Comparison {
    /// The method.
    pub name: String,
    /// What it came to.
    pub run: Run,
    /// How long it took [s].
    pub seconds: f64,
}

/// Solves by another method, with at most so many evaluations.
fn compare(
    problem: &mut Problem,
    first: &Run,
    method: Method,
    folder: &Path,
    most: usize,
) -> Result<Comparison> {
    let start = Instant::now();
    let name = method.name().to_owned();
    let state = folder.join(format!("state-{name}.json"));
    let (mut run, resumed) = optimise::begin(problem, method, &state)?;
    if !resumed {
        let mut stopping = run.stopping().clone();
        // It may stop where the first has arrived, or when it has tried much longer.
        stopping.target = Some(first.best().1 * (1.0 + 1e-6) + f64::MIN_POSITIVE);
        stopping.iterations = usize::MAX;
        run.set_stopping(stopping)?;
    }
    optimise::finish(problem, &mut run, &state, &name, Some(most))?;
    Ok(Comparison { name, run, seconds: start.elapsed().as_secs_f64() })
}

/// Is there a run of this problem in the folder?
fn look(path: &Path, fingerprint: &str) -> Found {
    let state = path.join(STATE);
    if !state.exists() {
        return folder::anything(path, is_state);
    }
    match Run::load(&state, fingerprint) {
        Ok(run) if run.stopped().is_none() || !path.join(page::FILE).exists() => Found::Unfinished,
        Ok(_) => Found::Other("a run of this problem, which is finished".into()),
        Err(Error::OtherProblem { .. }) => {
            Found::Other("a run of another problem, or of another version of this one".into())
        }
        Err(error) => Found::Damaged(error.to_string()),
    }
}

/// Is this the name of a state, or of what is written for one: its history, its next version?
fn is_state(name: &str) -> bool {
    name.starts_with(STATE) || (name.starts_with("state-") && name.contains(".json"))
}

fn remove_states(folder: &Path) {
    let Ok(entries) = folder.read_dir() else { return };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // A state goes before its history: without one it would be damaged.
    names.sort();
    for name in names.iter().filter(|name| is_state(name)) {
        // Nothing depends on it: a state that stays is refused or resumed like any other.
        let _ = std::fs::remove_file(folder.join(name));
    }
}

fn summary(
    problem: &Problem,
    run: &Run,
    comparison: Option<&Comparison>,
    seconds: f64,
    folder: &Path,
    quality: &Quality,
) {
    let (z, best) = run.best();
    let iterations = run.history().last().map_or(0, |record| record.iteration);
    let first = run.history().first().map_or(f64::NAN, |record| record.value);
    say!(
        "{}: loss {} -> {} in {iterations} iterations, {seconds:.1} s",
        problem.model().name(),
        human(first),
        human(best)
    );
    if let Some(reason) = run.stopped() {
        say!("stopped: {reason}");
    }
    let variables = problem.variables();
    let (values, before) = (variables.values(z), variables.values(&variables.start()));
    const SHOWN: usize = 12;
    for (i, value) in values.iter().enumerate().take(SHOWN) {
        let (name, unit) = problem.variables().name(i);
        let unit = if matches!(unit, "1" | "-") { String::new() } else { format!(" {unit}") };
        say!("  {name} = {}{}{unit}  (was {})", human(*value), quality.plus_minus(i), human(before[i]));
    }
    if values.len() > SHOWN {
        say!("  and {} more in {}", values.len() - SHOWN, folder.join(solution::FILE).display());
    }
    quality.notes.iter().for_each(|note| say!("note: {note}"));
    if let Some(Comparison { name, run: other, seconds }) = comparison {
        let (a, b) = (run.counts(), other.counts());
        say!(
            "{name}: loss {} in {seconds:.1} s with {} evaluations, against {} values, {} gradients and {} Jacobians",
            human(other.best().1),
            b.values + b.gradients + b.jacobians,
            a.values,
            a.gradients,
            a.jacobians
        );
    }
    say!("report: {}", folder.join(page::FILE).display());
}
