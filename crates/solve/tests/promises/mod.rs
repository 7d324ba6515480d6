//! What scene files say of themselves in their comments.
#![allow(dead_code)] // No test uses all of it.

use std::path::{Path, PathBuf};

/// The folder of the scenes.
pub fn scenes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// `# Solves to: loss < 1e-12 in at most 20 iterations.` in the file: the loss, and the iterations.
pub fn promise(file: &Path) -> (f64, usize) {
    let text = std::fs::read_to_string(file).expect("it is there");
    let promise = text.lines().find_map(|line| line.strip_prefix("# Solves to: loss < "));
    let promise = promise.unwrap_or_else(|| panic!("{} promises nothing", file.display()));
    let words: Vec<&str> = promise.split(' ').collect();
    assert_eq!(words[1..4], ["in", "at", "most"], "{promise}");
    (words[0].parse().expect("a loss"), words[4].parse().expect("a number of iterations"))
}

/// `# Run by: cargo xtask study soft` in the file: it takes too long for every change, and that study holds it to its promise.
pub fn is_of_a_study(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).expect("it is there");
    let study = text.lines().find_map(|line| line.strip_prefix("# Run by: "));
    assert!(matches!(study, None | Some("cargo xtask study soft")), "{study:?}");
    study.is_some()
}
