//! Python virtual environments under target/venv, one for each file of xtask/requirements.

use crate::process;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Names the folder that holds libnvrtc.so.13, for the tests that compile CUDA text without a GPU. Whoever sets it
/// beforehand brings their own NVRTC.
pub const NVRTC_DIR: &str = "PULLBACK_NVRTC_DIR";

const NVRTC_LIBRARY: &str = "libnvrtc.so.13";

/// A virtual environment whose packages are installed.
pub struct Venv {
    pub dir: PathBuf,
}

impl Venv {
    pub fn python(&self) -> PathBuf {
        self.dir.join("bin/python")
    }
}

/// Where the pinned requirements of an environment are written.
pub fn requirements_file(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root.join("xtask/requirements").join(format!("{name}.txt"))
}

/// The environment of this name, made now unless it already stands with the same requirements.
pub fn ready(workspace: &Workspace, name: &str) -> Result<Venv> {
    let requirements = requirements_file(workspace, name);
    let wanted =
        fs::read_to_string(&requirements).with_context(|| format!("reading {}", requirements.display()))?;
    ready_as(workspace, name, &wanted)
}

/// The same, with a text that changes whenever it has to be made anew.
pub fn ready_as(workspace: &Workspace, name: &str, wanted: &str) -> Result<Venv> {
    let requirements = requirements_file(workspace, name);
    let venv = Venv { dir: workspace.target.join("venv").join(name) };
    if is_current(&venv, wanted) {
        return Ok(venv);
    }

    println!("setting up the Python environment `{name}`: {}", packages(wanted).join(", "));
    if venv.dir.exists() {
        fs::remove_dir_all(&venv.dir).with_context(|| format!("removing {}", venv.dir.display()))?;
    }
    process::require(Command::new("python3").arg("--version"), "install it with: apt-get install python3")?;
    process::run(Command::new("python3").args(["-m", "venv"]).arg(&venv.dir))
        .context("no virtual environment could be made; on Debian: apt-get install python3-venv")?;
    process::run(
        Command::new(venv.python())
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .arg(&requirements),
    )?;
    // Written last: an interrupted set-up has no stamp, and starts again.
    fs::write(stamp(&venv.dir), wanted).context("writing the stamp of the environment")?;
    Ok(venv)
}

/// The folder that holds NVRTC: from the environment variable if it is set, else from PyPI.
pub fn nvrtc_dir(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(given) = env::var_os(NVRTC_DIR) {
        return given_nvrtc_dir(given);
    }
    let venv = ready(workspace, "nvrtc")?;
    find_nvrtc(&venv.dir).with_context(|| {
        format!("{} holds no {NVRTC_LIBRARY}; remove this folder and try again", venv.dir.display())
    })
}

fn given_nvrtc_dir(given: OsString) -> Result<PathBuf> {
    let dir = PathBuf::from(given);
    if !dir.join(NVRTC_LIBRARY).exists() {
        bail!("{NVRTC_DIR} is {}, which holds no {NVRTC_LIBRARY}; correct or unset it", dir.display());
    }
    Ok(dir)
}

/// The package puts its libraries into lib/pythonX.Y/site-packages/nvidia/cuNN/lib.
fn find_nvrtc(venv: &Path) -> Option<PathBuf> {
    let folders = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    folders(venv.join("lib"))
        .flat_map(|python| folders(python.join("site-packages/nvidia")))
        .map(|cuda| cuda.join("lib"))
        .find(|dir| dir.join(NVRTC_LIBRARY).exists())
}

fn is_current(venv: &Venv, wanted: &str) -> bool {
    venv.python().exists() && fs::read_to_string(stamp(&venv.dir)).is_ok_and(|installed| installed == wanted)
}

fn stamp(venv: &Path) -> PathBuf {
    venv.join("requirements.txt")
}

/// The lines of a requirements file that name packages.
pub fn packages(requirements: &str) -> Vec<&str> {
    requirements.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn an_environment_is_current_only_with_the_same_requirements() -> Result<()> {
        let scratch = Scratch::new("stamp")?;
        let venv = Venv { dir: scratch.0.clone() };
        assert!(!is_current(&venv, "a==1\n"));
        fs::create_dir_all(scratch.0.join("bin"))?;
        fs::write(venv.python(), "")?;
        assert!(!is_current(&venv, "a==1\n"), "an interrupted set-up has no stamp");
        fs::write(stamp(&venv.dir), "a==1\n")?;
        assert!(is_current(&venv, "a==1\n"));
        assert!(!is_current(&venv, "a==2\n"));
        Ok(())
    }

    #[test]
    fn finds_nvrtc_whatever_the_python_and_the_cuda() -> Result<()> {
        let scratch = Scratch::new("nvrtc")?;
        assert_eq!(find_nvrtc(&scratch.0), None);
        let lib = scratch.0.join("lib/python3.11/site-packages/nvidia/cu13/lib");
        fs::create_dir_all(&lib)?;
        assert_eq!(find_nvrtc(&scratch.0), None);
        fs::write(lib.join(NVRTC_LIBRARY), "")?;
        assert_eq!(find_nvrtc(&scratch.0), Some(lib));
        Ok(())
    }

    #[test]
    fn a_wrong_nvrtc_folder_is_refused() {
        let error = given_nvrtc_dir("/nowhere".into()).expect_err("there is no such folder");
        assert!(error.to_string().contains("PULLBACK_NVRTC_DIR is /nowhere"), "{error}");
    }

    #[test]
    fn packages_are_the_lines_that_are_not_comments() {
        assert_eq!(
            packages("# why\nwarp-lang==1.19.0\n\n  numpy==2.4.6\n"),
            ["warp-lang==1.19.0", "numpy==2.4.6"]
        );
    }
}
