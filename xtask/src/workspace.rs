//! Where things are: the repository, its target folder, and the targets of its packages.

use crate::process;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An example or a binary, and the package that it belongs to.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    pub package: String,
    pub name: String,
}

pub struct Workspace {
    pub root: PathBuf,
    /// Cargo's target folder: everything that we make goes below it.
    pub target: PathBuf,
    metadata: Value,
}

impl Workspace {
    /// Ask cargo.
    pub fn load() -> Result<Self> {
        let mut command = process::cargo();
        command.args(["metadata", "--no-deps", "--format-version=1"]).current_dir(root());
        let metadata: Value = serde_json::from_str(&process::output(&mut command)?)
            .context("`cargo metadata` printed no JSON")?;
        let target =
            metadata["target_directory"].as_str().context("`cargo metadata` names no target folder")?;
        Ok(Self { root: root(), target: target.into(), metadata })
    }

    /// All targets of one kind ("example", "bin"), in the order of their packages and names.
    pub fn targets(&self, kind: &str) -> Vec<Target> {
        targets(&self.metadata, kind)
    }
}

/// The repository's root: the folder above this package.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn targets(metadata: &Value, kind: &str) -> Vec<Target> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for package in list(&metadata["packages"]) {
        for target in list(&package["targets"]) {
            if list(&target["kind"]).iter().any(|k| k == kind) {
                found.push(Target { package: text(&package["name"]), name: text(&target["name"]) });
            }
        }
    }
    found.sort_by(|a, b| (&a.package, &a.name).cmp(&(&b.package, &b.name)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_targets_of_a_kind() {
        let metadata = serde_json::json!({"packages": [
            {"name": "b", "targets": [{"kind": ["lib"], "name": "b"}, {"kind": ["example"], "name": "two"}]},
            {"name": "a", "targets": [{"kind": ["example"], "name": "one"}]},
        ]});
        let target = |package: &str, name: &str| Target { package: package.into(), name: name.into() };
        assert_eq!(targets(&metadata, "example"), [target("a", "one"), target("b", "two")]);
        assert_eq!(targets(&metadata, "bin"), []);
    }

    #[test]
    fn this_package_has_a_binary() -> Result<()> {
        let bins = Workspace::load()?.targets("bin");
        assert!(bins.contains(&Target { package: "xtask".into(), name: "xtask".into() }), "{bins:?}");
        Ok(())
    }
}
