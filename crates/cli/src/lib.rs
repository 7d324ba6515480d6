//! The `pullback` command, as a function: the binary and `python -m pullback` are both a call of [`run`].

mod audit;
mod folder;
mod load;
mod optimise;
mod page;
mod params;
mod place;
mod quality;
mod simulate;
mod solution;
mod solve;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use load::alone;
pub use page::played;

/// Simulate a world, write a loss over what happened, and follow its gradient.
#[derive(Parser)]
#[command(name = "pullback", version, max_term_width = 100, after_help = EXIT_CODES)]
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
    /// The problem or scene, a TOML file; `simulate` takes a URDF or MJCF file as well
    file: PathBuf,
    /// The folder to write to; by default one in `runs/`, named like the problem
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write over a run that is finished, or of another problem
    #[arg(long)]
    replace: bool,
    /// Where rollouts run: `cpu`, `gpu`, or a GPU by its number, such as `gpu:1`
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = place::parse)]
    device: place::Place,
}

/// All is well.
const DONE: u8 = 0;
/// Bad input: what is wrong in the file or on the command line, found before anything was run.
const BAD_INPUT: u8 = 2;
/// What was run went wrong: numbers that are not finite, derivatives that are wrong, a full disk.
const FAILED: u8 = 1;

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a run that went wrong (numbers that are not finite, a wrong derivative); 2 bad \
                          input (a file, a name, a folder), of which nothing was run";

/// Prints a line to stdout, also when nobody reads it any more, as after `| head`.
macro_rules! say {
    ($($what:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($what)*);
    }};
}
pub(crate) use say;

/// Runs the command with these arguments, the first of which is what it is called by. Returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match Command::try_parse_from(arguments) {
        Ok(command) => command,
        Err(told) => {
            // Also `--help` and `--version`, which go to stdout; where nobody reads that, there is no one to tell.
            let _ = told.print();
            return told.exit_code().try_into().unwrap_or(BAD_INPUT);
        }
    };
    let result = match command.verb {
        Verb::Solve(arguments) => solve::run(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Check(arguments) => audit::run(&arguments),
        Verb::Params(arguments) => params::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        if is_bad_input(&error) { BAD_INPUT } else { FAILED }
    })
}

/// Is it something that the user wrote?
fn is_bad_input(error: &anyhow::Error) -> bool {
    use pullback_solve::Error;
    let of_solve = match error.downcast_ref::<Error>() {
        Some(Error::Description(_) | Error::Engine(_)) => true,
        Some(Error::Optimiser(error)) => error.is_input(),
        Some(Error::Rollout(_)) | None => false,
    };
    of_solve
        || error.is::<pullback_scene::Error>()
        || error.is::<pullback_report::FolderError>()
        || error.is::<folder::Refused>()
}
