//! Robots for tests: files of real robots, and what MuJoCo and Pinocchio say of their dynamics. Both are made once, below
//! the target folder, from packages of PyPI.

use crate::workspace::Workspace;
use crate::{Command, process, venv};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::{env, fs};

/// Names the folder of models, for tests that read robots.
pub const MODELS_DIR: &str = "PULLBACK_MODELS_DIR";

/// Names the folder of the oracles' answers, one JSON file a model.
pub const ORACLE_DIR: &str = "PULLBACK_ORACLE_DIR";

pub const COMMAND: Command = Command {
    name: "oracle",
    usage: "",
    about: "Fetch robots from PyPI and ask MuJoCo and Pinocchio about their dynamics, as the tests do.",
    run,
};

/// Shared by both folders: what to do without PyPI.
const OFFLINE: &str = "this needs PyPI. Without a network, run `cargo xtask oracle` where there is one, copy its \
                       folders, and name them in PULLBACK_MODELS_DIR and PULLBACK_ORACLE_DIR";

/// The folders that tests of robots need.
pub struct Robots {
    pub models: PathBuf,
    pub oracle: PathBuf,
}

impl Robots {
    /// Tell a test where they are.
    pub fn name_to(&self, command: &mut Process) {
        command.env(MODELS_DIR, &self.models).env(ORACLE_DIR, &self.oracle);
    }
}

fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("unknown argument `{argument}`; usage: cargo xtask oracle");
    }
    print(&ready(&Workspace::load()?)?);
    Ok(())
}

pub fn print(robots: &Robots) {
    println!("{MODELS_DIR}={}", robots.models.display());
    println!("{ORACLE_DIR}={}", robots.oracle.display());
}

/// Both folders: from the environment variables if they are set, else made now unless they already stand.
pub fn ready(workspace: &Workspace) -> Result<Robots> {
    let models = match env::var_os(MODELS_DIR) {
        Some(given) => given_dir(MODELS_DIR, given)?,
        None => models_dir(workspace)?,
    };
    let oracle = match env::var_os(ORACLE_DIR) {
        Some(given) => given_dir(ORACLE_DIR, given)?,
        None => oracle_dir(workspace, &models)?,
    };
    Ok(Robots { models, oracle })
}

fn given_dir(variable: &str, given: OsString) -> Result<PathBuf> {
    let dir = PathBuf::from(given);
    if !dir.is_dir() {
        bail!("{variable} is {}, which is no folder; correct or unset it", dir.display());
    }
    Ok(dir)
}

/// The models: unpacked from wheels, which is far quicker than installing what they come with.
fn models_dir(workspace: &Workspace) -> Result<PathBuf> {
    let requirements = venv::requirements_file(workspace, "models");
    let script = workspace.root.join("xtask/unpack_models.py");
    let dir = workspace.target.join("models");
    make(&dir, &[requirements.clone(), script.clone()], || {
        println!("fetching robots: {}", venv::packages(&read(&requirements)?).join(", "));
        let python = venv::ready(workspace, "robots").context(OFFLINE)?.python();
        let wheels = dir.join("wheels");
        process::run(
            Process::new(&python)
                .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
                // Only data is wanted: whatever Python runs here, the wheels of one are good.
                .args(["--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.11"])
                .args(["--platform", "manylinux2014_x86_64", "--requirement"])
                .arg(&requirements)
                .arg("--dest")
                .arg(&wheels),
        )
        .context(OFFLINE)?;
        process::run(Process::new(&python).arg(&script).arg(&wheels).arg(&dir))?;
        fs::remove_dir_all(&wheels).with_context(|| format!("removing {}", wheels.display()))
    })?;
    Ok(dir)
}

/// What the oracles say of the models.
fn oracle_dir(workspace: &Workspace, models: &Path) -> Result<PathBuf> {
    let scripts = workspace.root.join("crates/engine/tests/oracle");
    let mut sources = vec![
        venv::requirements_file(workspace, "models"),
        venv::requirements_file(workspace, "robots"),
        workspace.root.join("xtask/unpack_models.py"),
    ];
    sources.extend(python_files(&scripts)?);
    let dir = workspace.target.join("oracle");
    make(&dir, &sources, || {
        let python = venv::ready(workspace, "robots").context(OFFLINE)?.python();
        process::run(
            // Python's own cache would lie in the source tree.
            Process::new(python).arg("-B").arg(scripts.join("ask.py")).arg(models).arg(&dir),
        )
    })?;
    Ok(dir)
}

/// Make a folder anew with `work`, unless it was made from the same texts of `sources`.
fn make(dir: &Path, sources: &[PathBuf], work: impl FnOnce() -> Result<()>) -> Result<()> {
    let wanted = sources.iter().map(|path| read(path)).collect::<Result<String>>()?;
    let stamp = dir.join("made-from.txt");
    if fs::read_to_string(&stamp).is_ok_and(|made_from| made_from == wanted) {
        return Ok(());
    }
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("removing {}", dir.display()))?;
    }
    fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
    work()?;
    // Written last: an interrupted run has no stamp, and starts again.
    fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}

fn python_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_folder_is_made_again_only_when_its_sources_change() -> Result<()> {
        let scratch = Scratch::new("make")?;
        let (dir, source) = (scratch.0.join("out"), scratch.0.join("source.py"));
        let mut made = 0;
        let mut ask = |text: &str| -> Result<i32> {
            fs::write(&source, text)?;
            make(&dir, std::slice::from_ref(&source), || {
                made += 1;
                fs::write(dir.join(format!("{text}.json")), "")?;
                Ok(())
            })?;
            Ok(made)
        };
        assert_eq!(ask("one")?, 1);
        assert_eq!(ask("one")?, 1);
        assert_eq!(ask("two")?, 2);
        assert!(!dir.join("one.json").exists(), "what is out of date does not stay");
        Ok(())
    }

    #[test]
    fn a_failed_run_starts_again() -> Result<()> {
        let scratch = Scratch::new("failed")?;
        let dir = scratch.0.join("out");
        make(&dir, &[], || bail!("no network")).expect_err("the work fails");
        let mut made = false;
        make(&dir, &[], || {
            made = true;
            Ok(())
        })?;
        assert!(made);
        Ok(())
    }

    #[test]
    fn a_wrong_folder_is_refused() {
        let error = given_dir(MODELS_DIR, "/nowhere".into()).expect_err("there is no such folder");
        assert!(error.to_string().contains("PULLBACK_MODELS_DIR is /nowhere"), "{error}");
    }
}
