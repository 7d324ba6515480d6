//! `cargo xtask bench NAME`: Pullback and its peer, measured in turn in one run.
//!
//! A benchmark is a binary of the bench crate, and, where there is a peer, bench/peers/NAME.py with its pinned
//! packages in xtask/requirements/bench-NAME.txt, or the package bench/NAME. Both print one JSON object a line.

mod peer;
mod report;
mod rows;

use crate::workspace::Workspace;
use crate::{Command, process, robots};
use anyhow::{Context, Result, bail};
use peer::Peer;
use rows::Measurement;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

pub const COMMAND: Command = Command {
    name: "bench",
    usage: "NAME [--quick] [--json FILE] | --list",
    about: "Measure Pullback and its peer in turn; print a table with the ratio, and one JSON object a line.",
    run,
};

const PACKAGE: &str = "pullback-bench";

/// These read robots and what the oracles say of them, on both sides.
const WITH_ROBOTS: &[&str] = &["articulated", "phyz", "quadruped"];

fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    let workspace = Workspace::load()?;
    let names = benchmarks(&workspace);
    let Some(name) = options.name else {
        println!("{}", names.join("\n"));
        return Ok(());
    };
    if !names.contains(&name) {
        bail!("there is no benchmark `{name}`; there is: {}", names.join(", "));
    }
    let json = options.json.map(|path| create(&path)).transpose()?;

    let mut build = process::cargo();
    build.args(["build", "--release", "--package", PACKAGE, "--bin", &name]).current_dir(&workspace.root);
    process::run(&mut build)?;
    let peer = peer::ready(&workspace, &name)?;
    let robots = if WITH_ROBOTS.contains(&name.as_str()) { Some(robots::ready(&workspace)?) } else { None };

    let rounds = if options.quick { 2 } else { 5 };
    let run = |mut command: Process| {
        if let Some(robots) = &robots {
            robots.name_to(&mut command);
        }
        rows_of(command, options.quick)
    };
    let (ours, theirs) = measure(&workspace.target.join("release").join(&name), peer.as_ref(), rounds, run)?;
    let joined = rows::join(
        &rows::with_quotients(&ours),
        peer.as_ref().map_or("", |peer| &peer.name),
        &rows::with_quotients(&theirs),
    )?;

    match &peer {
        Some(peer) => println!("{name} against {} {}, best of {rounds} rounds", peer.name, peer.version),
        None => println!("{name}, best of {rounds} rounds"),
    }
    print!("{}", report::table(&joined));
    if let Some((path, mut file)) = json {
        file.write_all(report::json_lines(&name, &joined).as_bytes())
            .with_context(|| format!("writing {}", path.display()))?;
    }
    rows::check_agreement(&joined)
}

#[derive(Debug, Default, PartialEq)]
struct Options {
    /// None: list the benchmarks.
    name: Option<String>,
    quick: bool,
    json: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut list = false;
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--list" => list = true,
                "--quick" => options.quick = true,
                "--json" => {
                    options.json = Some(rest.next().context("--json wants the name of a file")?.into());
                }
                name if !name.starts_with('-') && options.name.is_none() => {
                    options.name = Some(name.to_owned())
                }
                other => bail!("unknown argument `{other}`; usage: cargo xtask bench {}", COMMAND.usage),
            }
        }
        if list {
            options.name = None;
        } else if options.name.is_none() {
            bail!("which benchmark? usage: cargo xtask bench {}", COMMAND.usage);
        }
        Ok(options)
    }
}

fn benchmarks(workspace: &Workspace) -> Vec<String> {
    let binaries = workspace.targets("bin").into_iter();
    binaries.filter(|target| target.package == PACKAGE).map(|target| target.name).collect()
}

/// Opened before measuring: a wrong path should not cost a minute.
fn create(path: &PathBuf) -> Result<(PathBuf, File)> {
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    Ok((path.clone(), file))
}

/// Both sides in turn, so that a busy moment of the machine does not hit only one of them; the best of each case.
fn measure(
    binary: &Path,
    peer: Option<&Peer>,
    rounds: usize,
    run: impl Fn(Process) -> Result<Vec<Measurement>>,
) -> Result<(Vec<Measurement>, Vec<Measurement>)> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}: pullback");
        let mut command = Process::new(binary);
        // How many threads a case uses is part of its name, not of the caller's environment.
        command.env_remove("PULLBACK_BENCH_THREADS");
        rows::keep_best(&mut ours, run(command)?)?;
        if let Some(peer) = peer {
            eprintln!("round {round} of {rounds}: {}", peer.name);
            rows::keep_best(&mut theirs, run(peer.command())?)?;
        }
    }
    Ok((ours, theirs))
}

fn rows_of(mut command: Process, quick: bool) -> Result<Vec<Measurement>> {
    if quick {
        command.arg("--quick");
    }
    rows::parse(&process::output(&mut command)?).with_context(|| process::shown(&command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options> {
        Options::parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn options_come_in_any_order() -> Result<()> {
        let expected = Options { name: Some("tets".into()), quick: true, json: Some("rows.json".into()) };
        assert_eq!(parse(&["tets", "--quick", "--json", "rows.json"])?, expected);
        assert_eq!(parse(&["--json", "rows.json", "--quick", "tets"])?, expected);
        assert_eq!(parse(&["--list"])?, Options::default());
        Ok(())
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (arguments, message) in [
            (&[][..], "which benchmark?"),
            (&["tets", "--json"], "--json wants the name of a file"),
            (&["tets", "fluid"], "unknown argument `fluid`"),
            (&["tets", "--fast"], "unknown argument `--fast`"),
        ] {
            let error = parse(arguments).expect_err("wrong arguments");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
