//! Programs with tests, as many at once as there are cores: `cargo test` runs them one after the other, and many of them spend
//! most of their time in one test.

use crate::process;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::Instant;

/// A program with tests, and the folder of its package, in which it runs.
#[derive(Debug, PartialEq)]
struct Binary {
    name: String,
    program: PathBuf,
    package: PathBuf,
}

/// Those that take longest, which start first.
const LONG: [&str; 4] = ["matrix", "scenes", "memory", "pairs"];

/// Builds the programs by a `cargo test` with all its arguments, and runs each with the variables that cargo was given.
pub fn run(cargo: &mut Command) -> Result<()> {
    let said = process::output(cargo.args(["--no-run", "--message-format", "json-render-diagnostics"]))?;
    let mut waiting = said.lines().filter_map(binary).collect::<Vec<_>>();
    if waiting.is_empty() {
        bail!("`{}` built no tests", process::shown(cargo));
    }
    // The last one is taken first.
    waiting.sort_by_key(|it| LONG.iter().rev().position(|long| *long == it.name));
    let (count, libraries) = (waiting.len(), libraries()?);
    let (waiting, failed) = (Mutex::new(waiting), Mutex::new(Vec::new()));
    let take = || waiting.lock().ok().and_then(|mut it| it.pop());
    let work = || {
        while let Some(binary) = take() {
            let (start, name) = (Instant::now(), binary.name.clone());
            let result = binary.command(cargo, &libraries).output();
            let passed = report(&name, start.elapsed().as_secs_f64(), result);
            if !passed && let Ok(mut failed) = failed.lock() {
                failed.push(name);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    match failed.into_inner().unwrap_or_default() {
        failed if failed.is_empty() => Ok(()),
        failed => bail!("{} of {count} programs with tests failed: {}", failed.len(), failed.join(", ")),
    }
}

impl Binary {
    fn command(&self, cargo: &Command, libraries: &Path) -> Command {
        let mut command = Command::new(&self.program);
        let given = cargo.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(given).env("CARGO_MANIFEST_DIR", &self.package).current_dir(&self.package);
        let path = if cfg!(target_os = "macos") { "DYLD_FALLBACK_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };
        command.env(path, libraries);
        command
    }
}

/// What cargo says of a program with tests, in a line of JSON.
fn binary(line: &str) -> Option<Binary> {
    let said: Value = serde_json::from_str(line).ok()?;
    let is_test = said["reason"] == "compiler-artifact" && said["profile"]["test"] == true;
    let manifest = Path::new(said["manifest_path"].as_str()?);
    Some(Binary {
        name: said["target"]["name"].as_str()?.to_owned(),
        program: said["executable"].as_str().filter(|_| is_test)?.into(),
        package: manifest.parent()?.to_owned(),
    })
}

/// The folder of the compiler's own libraries, which tests of macros are linked with.
fn libraries() -> Result<PathBuf> {
    Ok(process::output(Command::new("rustc").args(["--print", "target-libdir"]))?.trim().into())
}

/// Prints one line of a program that passed, and all that one said that did not.
fn report(name: &str, seconds: f64, result: std::io::Result<Output>) -> bool {
    let said = match result.with_context(|| format!("could not start {name}")) {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout);
            let passed = said.lines().filter_map(passed).sum::<usize>();
            println!("-- {name}: {passed} passed in {seconds:.1} s");
            return true;
        }
        Ok(output) => {
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat()
        }
        Err(error) => format!("{error:#}"),
    };
    println!("-- {name}: FAILED after {seconds:.1} s\n{said}");
    false
}

/// `test result: ok. 12 passed; ...`
fn passed(line: &str) -> Option<usize> {
    line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_what_cargo_says() {
        let line = |test: bool, executable: &str| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/it/crates/one/Cargo.toml\",\
                 \"target\":{{\"name\":\"matrix\"}},\"profile\":{{\"test\":{test}}},\"executable\":{executable}}}"
            )
        };
        let wanted = Binary {
            name: "matrix".into(),
            program: "/it/matrix-1".into(),
            package: "/it/crates/one".into(),
        };
        assert_eq!(binary(&line(true, "\"/it/matrix-1\"")), Some(wanted));
        assert_eq!(binary(&line(false, "\"/it/matrix-1\"")), None);
        assert_eq!(binary(&line(true, "null")), None);
        assert_eq!(binary("Compiling"), None);
    }

    #[test]
    fn what_passed_is_counted() {
        assert_eq!(passed("test result: ok. 12 passed; 0 failed"), Some(12));
        assert_eq!(passed("test result: FAILED. 12 passed; 1 failed"), None);
    }

    #[test]
    fn a_program_that_is_not_there_fails() {
        let result = Command::new("no-such-program").output();
        assert!(!report("it", 0.0, result));
    }
}
