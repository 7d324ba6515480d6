//! The `pullback` command.

mod audit;
mod folder;
mod optimise;
mod page;
mod params;
mod simulate;
mod solution;
mod solve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// Simulate a world, write a loss over what happened, and follow its gradient.
#[derive(Parser)]
#[command(name = "pullback", version, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Find the variables of a problem that make its loss small
    Solve(solve::Arguments),
    /// Run a scene once, and show what happens
    Simulate(simulate::Arguments),
    /// Hold the gradient of a problem against finite differences, and look at its energy and at how gradients grow
    Check(audit::Arguments),
    /// List everything that has a name: params, initial state, controls
    Params(params::Arguments),
}

/// A file, and where to write.
#[derive(Args)]
struct Where {
    /// The problem or scene, a TOML file
    file: PathBuf,
    /// The folder to write to; by default one in `runs/`, named like the problem
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write over a run that is finished, or of another problem
    #[arg(long)]
    replace: bool,
}

/// Bad input: what the user can mend.
const BAD_INPUT: u8 = 2;
/// Everything else that went wrong.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let result = match Command::parse().verb {
        Verb::Solve(arguments) => solve::run(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Check(arguments) => audit::run(&arguments),
        Verb::Params(arguments) => params::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if is_bad_input(&error) { BAD_INPUT } else { FAILED })
        }
    }
}

/// Is it something that the user wrote?
fn is_bad_input(error: &anyhow::Error) -> bool {
    error.is::<pullback_scene::Error>()
        || error.is::<pullback_report::FolderError>()
        || matches!(
            error.downcast_ref::<pullback_solve::Error>(),
            Some(pullback_solve::Error::Description(_) | pullback_solve::Error::Engine(_))
        )
        || matches!(
            error.downcast_ref::<pullback_solve::Error>(),
            Some(pullback_solve::Error::Optimiser(error)) if error.is_input()
        )
        || error.is::<folder::Refused>()
}
