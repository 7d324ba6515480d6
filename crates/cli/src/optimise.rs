//! Running an optimiser: progress, and a state on disk that survives being killed.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use pullback_solve::Problem;
use pullback_solve::optimise::{Method, Run};

use crate::folder::Refused;

/// How often the state is written at most. What is done in between is done again after a kill, with the same bits.
const SAVE_EVERY: Duration = Duration::from_millis(200);
/// A save is followed by this many times as long without one: that of a large state, as a matrix of CMA-ES is, takes seconds.
const SAVE_REST: u32 = 20;

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
    let bar = bar(name, run, most);
    let (mut saved, mut rest) = (Instant::now(), SAVE_EVERY);
    while run.stopped().is_none() && most.is_none_or(|most| evaluations(run) < most) {
        let progress = run.iterate(problem)?;
        bar.set_message(format!("{:.4e}", progress.record.best));
        bar.set_position(match most {
            Some(_) => evaluations(run),
            None => progress.record.iteration,
        } as u64);
        if saved.elapsed() > rest {
            let begun = Instant::now();
            run.save(state)?;
            saved = Instant::now();
            rest = SAVE_EVERY.max(SAVE_REST * (saved - begun));
        }
    }
    run.save(state)?;
    bar.finish_and_clear();
    Ok(())
}

fn evaluations(run: &Run) -> usize {
    run.counts().values + run.counts().gradients + run.counts().jacobians
}

/// Iterations, or evaluations where these are limited, on a terminal; elsewhere nothing.
fn bar(name: &str, run: &Run, most: Option<usize>) -> ProgressBar {
    let template = match most {
        Some(_) => "{prefix} {wide_bar} {pos}/{len} evaluations  loss {msg}  {per_sec}  {eta}",
        None => "{prefix} {wide_bar} {pos}/{len} iterations  loss {msg}  {per_sec}  {eta}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let (length, done) = match most {
        Some(most) => (most, evaluations(run)),
        None => (run.stopping().iterations, run.history().last().map_or(0, |record| record.iteration)),
    };
    let bar = ProgressBar::new(length as u64).with_style(style).with_prefix(name.to_owned());
    bar.set_message(run.history().last().map_or("...".to_owned(), |record| format!("{:.4e}", record.best)));
    bar.set_position(done as u64);
    bar.reset_eta();
    bar
}
