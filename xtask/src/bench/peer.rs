//! Who Pullback is measured against: a Python script in bench/peers, or a Rust package in bench/NAME.

use crate::workspace::Workspace;
use crate::{process, venv};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A peer that is ready to run.
pub struct Peer {
    /// The package that is measured, as its registry names it.
    pub name: String,
    pub version: String,
    program: PathBuf,
    script: Option<PathBuf>,
    /// What the peer compiles stays below target/, too.
    cache: PathBuf,
}

impl Peer {
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.script).env("XDG_CACHE_HOME", &self.cache);
        command
    }
}

/// The peer of a benchmark, if it has one; installed or built now.
pub fn ready(workspace: &Workspace, benchmark: &str) -> Result<Option<Peer>> {
    let script = workspace.root.join("bench/peers").join(format!("{benchmark}.py"));
    let manifest = workspace.root.join("bench").join(benchmark).join("Cargo.toml");
    if script.exists() {
        python(workspace, benchmark, script).map(Some)
    } else if manifest.exists() {
        rust(workspace, benchmark, &manifest).map(Some)
    } else {
        Ok(None)
    }
}

fn python(workspace: &Workspace, benchmark: &str, script: PathBuf) -> Result<Peer> {
    let environment = format!("bench-{benchmark}");
    let venv = venv::ready(workspace, &environment)?;
    if benchmark == "python" {
        // What is measured there is Pullback itself, called from Python.
        crate::python::install(workspace, &venv, "release")?;
    }
    let file = venv::requirements_file(workspace, &environment);
    let requirements = fs::read_to_string(&file)?;
    let (name, version) = first_requirement(&requirements)
        .with_context(|| format!("{} should begin with PEER==VERSION", file.display()))?;
    Ok(Peer {
        name: name.to_owned(),
        version: version.to_owned(),
        program: venv.python(),
        script: Some(script),
        cache: venv.dir.join("cache"),
    })
}

/// The first requirement of a benchmark is the package that is measured.
fn first_requirement(requirements: &str) -> Option<(&str, &str)> {
    venv::packages(requirements).first()?.split_once("==")
}

/// Built apart from the workspace, so that its dependencies never meet ours.
fn rust(workspace: &Workspace, benchmark: &str, manifest: &Path) -> Result<Peer> {
    let mut command = process::cargo();
    command.args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"]).arg(manifest);
    let metadata: Value =
        serde_json::from_str(&process::output(&mut command)?).context("`cargo metadata` printed no JSON")?;
    let (package, name, version) = described(&metadata)
        .with_context(|| format!("{} should have metadata: peer = \"NAME VERSION\"", manifest.display()))?;

    let target = workspace.target.join("peers").join(benchmark);
    let mut build = process::cargo();
    build.args(["build", "--release", "--locked", "--manifest-path"]).arg(manifest);
    process::run(build.env("CARGO_TARGET_DIR", &target))?;
    Ok(Peer { name, version, program: target.join("release").join(package), script: None, cache: target })
}

/// The name of the package, and of the peer with its version.
fn described(metadata: &Value) -> Option<(String, String, String)> {
    let package = &metadata["packages"][0];
    let (name, version) = package["metadata"]["peer"].as_str()?.split_once(' ')?;
    Some((package["name"].as_str()?.to_owned(), name.to_owned(), version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_requirement_is_the_peer() {
        assert_eq!(
            first_requirement("# why\nwarp-lang==1.19.0\nnumpy==2.4.6\n"),
            Some(("warp-lang", "1.19.0"))
        );
        assert_eq!(first_requirement("warp-lang\n"), None);
    }

    #[test]
    fn a_rust_peer_names_what_it_measures() {
        let metadata =
            |peer: &str| serde_json::json!({"packages": [{"name": "phyz-peer", "metadata": {"peer": peer}}]});
        let expected = ("phyz-peer".into(), "phyz".into(), "0.4.0".into());
        assert_eq!(described(&metadata("phyz 0.4.0")), Some(expected));
        assert_eq!(described(&metadata("phyz")), None);
        assert_eq!(
            described(&serde_json::json!({"packages": [{"name": "phyz-peer", "metadata": null}]})),
            None
        );
    }
}
