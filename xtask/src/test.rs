//! `cargo xtask test`: every check of the repository, cheapest first.

use crate::workspace::Workspace;
use crate::{Command, binaries, doc_paths, process, python, robots, venv};
use anyhow::{Result, bail};
use std::process::Command as Process;
use std::time::Instant;

pub const COMMAND: Command = Command {
    name: "test",
    usage: "[--list] [--only STAGE]...",
    about: "Set up what the checks need and run them all, cheapest first, stopping at the first that fails.",
    run,
};

/// One check.
struct Stage {
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

/// In order of cost; what a stage needs of an earlier one it makes itself, so that it can run alone.
const STAGES: &[Stage] = &[
    Stage { name: "format", about: "the code is formatted", run: format },
    Stage { name: "doc-paths", about: "documents name only paths that exist", run: doc_paths::check },
    Stage { name: "tools", about: "g++ and NVRTC are there, to check CUDA text without a GPU", run: tools },
    Stage {
        name: "robots",
        about: "files of robots, and what MuJoCo and Pinocchio say of them",
        run: fetch_robots,
    },
    Stage { name: "clippy", about: "no compiler or clippy warning in any target", run: clippy },
    Stage { name: "test", about: "unit and integration tests", run: test },
    Stage { name: "doctest", about: "the examples in the documentation run", run: doctest },
    Stage {
        name: "python",
        about: "the Python package: installed, linted, type-checked, tested",
        run: python::check,
    },
    Stage { name: "assembly", about: "no call in an optimised loop over lanes", run: assembly },
    Stage { name: "examples", about: "every example runs to its end", run: examples },
    Stage { name: "doc", about: "the documentation builds without warnings", run: doc },
];

fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if options.list {
        for stage in STAGES {
            println!("{:<10} {}", stage.name, stage.about);
        }
        return Ok(());
    }
    let stages = options.stages()?;
    let workspace = Workspace::load()?;
    for (passed, stage) in stages.iter().enumerate() {
        println!("== {}: {}", stage.name, stage.about);
        let start = Instant::now();
        let result = (stage.run)(&workspace);
        let seconds = start.elapsed().as_secs_f64();
        if let Err(error) = result {
            println!("== {}: FAILED after {seconds:.1} s", stage.name);
            println!("{passed} passed, 1 failed");
            bail!("{error:#}\nrerun only this stage with: cargo xtask test --only {}", stage.name);
        }
        println!("== {}: ok in {seconds:.1} s", stage.name);
    }
    println!("{} passed, 0 failed", stages.len());
    Ok(())
}

#[derive(Debug, Default, PartialEq)]
struct Options {
    list: bool,
    only: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match (argument.as_str(), rest.as_slice().first()) {
                ("--list", _) => options.list = true,
                ("--only", Some(name)) => {
                    options.only.push(name.clone());
                    rest.next();
                }
                ("--only", None) => bail!("--only wants the name of a stage: {}", names()),
                (other, _) => bail!("unknown argument `{other}`; usage: cargo xtask test {}", COMMAND.usage),
            }
        }
        Ok(options)
    }

    /// The stages asked for, in the order in which they always run.
    fn stages(&self) -> Result<Vec<&'static Stage>> {
        if let Some(unknown) = self.only.iter().find(|name| STAGES.iter().all(|stage| stage.name != **name)) {
            bail!("there is no stage `{unknown}`; the stages are: {}", names());
        }
        let wanted = |stage: &&Stage| self.only.is_empty() || self.only.iter().any(|name| name == stage.name);
        Ok(STAGES.iter().filter(wanted).collect())
    }
}

fn names() -> String {
    STAGES.iter().map(|stage| stage.name).collect::<Vec<_>>().join(", ")
}

fn format(workspace: &Workspace) -> Result<()> {
    process::require(
        cargo(workspace).args(["fmt", "--version"]),
        "install it with: rustup component add rustfmt",
    )?;
    process::run(cargo(workspace).args(["fmt", "--all", "--check"]))
}

fn tools(workspace: &Workspace) -> Result<()> {
    process::require(Process::new("g++").arg("--version"), "install it with: apt-get install g++")?;
    let dir = venv::nvrtc_dir(workspace)?;
    println!("{}={}", venv::NVRTC_DIR, dir.display());
    Ok(())
}

fn fetch_robots(workspace: &Workspace) -> Result<()> {
    robots::print(&robots::ready(workspace)?);
    Ok(())
}

fn clippy(workspace: &Workspace) -> Result<()> {
    process::require(
        cargo(workspace).args(["clippy", "--version"]),
        "install it with: rustup component add clippy",
    )?;
    process::run(cargo(workspace).args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]))
}

fn test(workspace: &Workspace) -> Result<()> {
    let mut command = cargo_with_nvrtc(workspace)?;
    robots::ready(workspace)?.name_to(&mut command);
    // Not `--all-targets`: that compiles the engine once more, as a test that has no tests.
    binaries::run(command.args(["test", "--workspace", "--tests"]))
}

fn doctest(workspace: &Workspace) -> Result<()> {
    process::run(cargo_with_nvrtc(workspace)?.args(["test", "--workspace", "--doc"]))
}

/// These tests read their own machine code, which is only worth reading when optimised.
fn assembly(workspace: &Workspace) -> Result<()> {
    let tests = ["--test", "lanes_assembly", "--test", "sweep_assembly"];
    process::run(cargo(workspace).args(["test", "--release", "--package", "pullback-kernel"]).args(tests))
}

/// `cargo test` only builds them; they end in assertions, so they are run. They are built as `cargo test` builds them: with other
/// features, or in another mode, everything below would be compiled again.
fn examples(workspace: &Workspace) -> Result<()> {
    process::run(cargo(workspace).args(["test", "--quiet", "--workspace", "--no-run"]))?;
    for example in workspace.targets("example") {
        println!("-- example {}", example.name);
        let mut command = Process::new(workspace.target.join("debug/examples").join(&example.name));
        command.current_dir(&workspace.root).env(venv::NVRTC_DIR, venv::nvrtc_dir(workspace)?);
        process::run(&mut command)?;
    }
    Ok(())
}

fn doc(workspace: &Workspace) -> Result<()> {
    let arguments = ["doc", "--workspace", "--no-deps"];
    process::run(cargo(workspace).args(arguments).env("RUSTDOCFLAGS", "--deny warnings"))
}

fn cargo(workspace: &Workspace) -> Process {
    let mut command = process::cargo();
    command.current_dir(&workspace.root);
    command
}

fn cargo_with_nvrtc(workspace: &Workspace) -> Result<Process> {
    let mut command = cargo(workspace);
    command.env(venv::NVRTC_DIR, venv::nvrtc_dir(workspace)?);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options> {
        Options::parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn stage_names(arguments: &[&str]) -> Result<Vec<&'static str>> {
        Ok(parse(arguments)?.stages()?.iter().map(|stage| stage.name).collect())
    }

    #[test]
    fn without_arguments_all_stages_run() -> Result<()> {
        assert_eq!(stage_names(&[])?.len(), STAGES.len());
        Ok(())
    }

    #[test]
    fn only_keeps_the_order_of_cost() -> Result<()> {
        assert_eq!(stage_names(&["--only", "test", "--only", "format"])?, ["format", "test"]);
        Ok(())
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (arguments, message) in [
            (&["--only", "nothing"][..], "there is no stage `nothing`"),
            (&["--only"], "--only wants the name of a stage"),
            (&["--fast"], "unknown argument `--fast`"),
        ] {
            let error = stage_names(arguments).expect_err("wrong arguments");
            assert!(error.to_string().contains(message), "{error}");
        }
    }

    #[test]
    fn stage_names_are_distinct() {
        for (i, stage) in STAGES.iter().enumerate() {
            assert!(STAGES[..i].iter().all(|earlier| earlier.name != stage.name), "{}", stage.name);
        }
    }
}
