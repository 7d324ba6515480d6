//! `cargo xtask COMMAND`: everything that a newcomer and CI run.
//!
//! A command is a file with a `COMMAND`, and a line in [`COMMANDS`].

mod bench;
mod binaries;
mod doc_paths;
mod expand;
mod process;
mod python;
mod robots;
#[cfg(test)]
mod scratch;
mod study;
mod test;
mod venv;
mod workspace;

use std::process::ExitCode;

/// One subcommand.
struct Command {
    name: &'static str,
    /// Its arguments, as the help shows them.
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const COMMANDS: &[Command] =
    &[test::COMMAND, bench::COMMAND, study::COMMAND, expand::COMMAND, robots::COMMAND];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return ExitCode::FAILURE;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("error: there is no command `{name}`\n\n{}", help());
        return ExitCode::FAILURE;
    };
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("cargo xtask {} {}\n\n{}", command.name, command.usage, command.about);
        return ExitCode::SUCCESS;
    }
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = String::from("Usage: cargo xtask COMMAND\n\n");
    for command in COMMANDS {
        text += &format!("  {} {}\n      {}\n", command.name, command.usage, command.about);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_command() {
        let text = help();
        for command in COMMANDS {
            assert!(text.contains(&format!("  {} ", command.name)), "{text}");
        }
    }
}
