//! The `pullback` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    pullback_cli::run(std::env::args_os()).into()
}
