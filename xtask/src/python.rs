//! The Python package: installed into a virtual environment of its own, linted, type-checked and tested.

use crate::process;
use crate::venv::{self, Venv, requirements_file};
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// Where it is set, the environment has torch, and its tests run. They run anywhere else where torch is installed.
const TORCH: &str = "PULLBACK_TEST_TORCH";

/// How the package is built for tests: as tests build the engine, so that it is compiled once.
const TEST_PROFILE: &str = "dev";

/// The stage of `cargo xtask test`.
pub fn check(workspace: &Workspace) -> Result<()> {
    let venv = ready(workspace, TEST_PROFILE)?;
    let package = workspace.root.join("python");
    let tool = |name: &str| {
        let mut command = Command::new(venv.dir.join("bin").join(name));
        // What they remember goes where everything goes that we make.
        for (variable, folder) in [("MYPY_CACHE_DIR", "mypy"), ("RUFF_CACHE_DIR", "ruff")] {
            command.env(variable, workspace.target.join("cache").join(folder));
        }
        command.current_dir(&package).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    let examples = "../examples/python";
    process::run(tool("ruff").args(["check", "--quiet", ".", examples]))?;
    process::run(tool("ruff").args(["format", "--quiet", "--check", ".", examples]))?;
    process::run(tool("mypy").args(["pullback", "tests", examples]))?;
    // From where nothing but the installed package is called `pullback`.
    let mut stubtest = tool("stubtest");
    stubtest.current_dir(&workspace.target).arg("--mypy-config-file").arg(package.join("pyproject.toml"));
    process::run(stubtest.arg("pullback._core"))?;
    let tests = ["-c", "python/pyproject.toml", "-p", "no:cacheprovider", "python/tests"];
    process::run(tool("pytest").current_dir(&workspace.root).args(tests))?;
    if with_torch() { as_a_user(workspace) } else { Ok(()) }
}

fn with_torch() -> bool {
    env::var_os(TORCH).is_some_and(|set| !set.is_empty())
}

/// What someone does who has just cloned the repository: `pip install`, with the tools and packages that pip gets by itself, into an
/// environment with nothing in it; then the Python example of the README.
fn as_a_user(workspace: &Workspace) -> Result<()> {
    let venv = Venv { dir: workspace.target.join("venv/fresh") };
    if venv.dir.exists() {
        fs::remove_dir_all(&venv.dir).with_context(|| format!("removing {}", venv.dir.display()))?;
    }
    process::run(Command::new("python3").args(["-m", "venv"]).arg(&venv.dir))?;
    let mut pip = Command::new(venv.python());
    pip.current_dir(&workspace.root)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "./python[torch]",
            "--constraint",
        ])
        .arg(requirements_file(workspace, "bench-python"))
        // Built as the tests are, and where: it is the same but for the profile.
        .arg(format!("--config-settings=build-args=--profile {TEST_PROFILE}"));
    process::run(&mut pip)
        .context("`pip install ./python[torch]` fails in an environment with nothing in it")?;
    let readme = fs::read_to_string(workspace.root.join("README.md")).context("reading README.md")?;
    let example = example(&readme).context("README.md has no example in Python")?;
    let printed =
        process::output(Command::new(venv.python()).current_dir(&workspace.root).args(["-c", example]))?;
    anyhow::ensure!(printed.starts_with("by mass: -74."), "the example of README.md prints: {printed}");
    Ok(())
}

/// The first block of Python in a text.
fn example(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```python\n")?;
    rest.split_once("```").map(|(code, _)| code)
}

/// An environment with the package in it.
fn ready(workspace: &Workspace, profile: &str) -> Result<Venv> {
    let name = if with_torch() { "python-torch" } else { "python" };
    let venv = with_parts(workspace, name)?;
    install(workspace, &venv, profile)?;
    Ok(venv)
}

/// The environment of this name. A requirements file that includes another is made anew when that changes, too.
fn with_parts(workspace: &Workspace, name: &str) -> Result<Venv> {
    let parts = [name, "python"].map(|name| fs::read_to_string(requirements_file(workspace, name)));
    let parts: Vec<String> =
        parts.into_iter().collect::<std::io::Result<_>>().context("reading requirements")?;
    venv::ready_as(workspace, name, &parts.concat())
}

/// `pip install ./python`, built with a profile of cargo.
pub fn install(workspace: &Workspace, venv: &Venv, profile: &str) -> Result<()> {
    let mut command = Command::new(venv.python());
    command
        .current_dir(&workspace.root)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--no-build-isolation", "--force-reinstall", "./python"])
        .arg(format!("--config-settings=build-args=--profile {profile}"))
        .env("PATH", with_tools(venv)?);
    process::run(&mut command).context("the Python package could not be installed")
}

/// The search path with the programs of an environment in front: pip runs maturin by its name.
fn with_tools(venv: &Venv) -> Result<std::ffi::OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(venv.dir.join("bin")).chain(env::split_paths(&path).collect::<Vec<PathBuf>>());
    Ok(env::join_paths(all)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_first_block_of_python() {
        assert_eq!(example("a\n```sh\nls\n```\n```python\nb\nc\n```\n```python\nd\n```"), Some("b\nc\n"));
        assert_eq!(example("```sh\nls\n```"), None);
    }

    #[test]
    fn programs_of_the_environment_are_found_first() -> Result<()> {
        let venv = Venv { dir: "/somewhere/venv".into() };
        let path = with_tools(&venv)?;
        let folders: Vec<PathBuf> = env::split_paths(&path).collect();
        assert_eq!(folders.first(), Some(&PathBuf::from("/somewhere/venv/bin")));
        assert!(folders.len() > 1, "the programs of the machine are still there");
        Ok(())
    }
}
