//! Running an optimiser: progress, and a state on disk that survives being killed.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use pullback_solve::Problem;
use pullback_solve::optimise::{Method, Run};

use crate::folder::Refused;

/// How often the state is written. What is done in between is done again after a kill, with the same bits.
const SAVE_EVERY: Duration = Duration::from_millis(200);

/// A run of `method`: from the state in the file, if there is one of this problem.
pub fn begin(problem: &Problem, method: Method, state: &Path) -> Result<(Run, bool)> {
    if state.exists() {
        let fix = "remove it, or start over with --replace";
        let refused = |error: pullback_solve::optimise::Error| Refused::new(state, error.to_string(), fix);
        let run = Run::load(state, &problem.fingerprint()).map_err(refused)?;
        return Ok((run, true));
    }
    Ok((problem.begin_with(method)?, false))
}

/// Runs to the end, or until `most` evaluations.
pub fn finish(
    problem: &mut Problem,
    run: &mut Run,
    state: &Path,
    name: &str,
    most: Option<usize>,
) -> Result<()> {
    let bar = bar(name, run);
    let mut saved = Instant::now();
    let evaluations = |run: &Run| run.counts().values + run.counts().gradients + run.counts().jacobians;
    while run.stopped().is_none() && most.is_none_or(|most| evaluations(run) < most) {
        let progress = run.iterate(problem)?;
        bar.set_position(progress.record.iteration as u64);
        bar.set_message(format!("{:.4e}", progress.record.best));
        if saved.elapsed() > SAVE_EVERY {
            run.save(state)?;
            saved = Instant::now();
        }
    }
    run.save(state)?;
    bar.finish_and_clear();
    Ok(())
}

fn bar(name: &str, run: &Run) -> ProgressBar {
    let template = "{prefix} {wide_bar} {pos}/{len}  loss {msg}  {per_sec}  {eta}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar =
        ProgressBar::new(run.stopping().iterations as u64).with_style(style).with_prefix(name.to_owned());
    let done = run.history().last().map_or(0, |record| record.iteration);
    bar.set_position(done as u64);
    bar.reset_eta();
    bar
}
