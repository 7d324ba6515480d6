//! Documents that describe the tree must not drift from it: every path that they name in backticks exists.

use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Fail with every named path that does not exist.
pub fn check(workspace: &Workspace) -> Result<()> {
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(workspace.root.join(document))
            .with_context(|| format!("reading {document}"))?;
        missing.extend(missing_paths(&text, &workspace.root).iter().map(|path| format!("{document}{path}")));
    }
    if !missing.is_empty() {
        bail!("named, but not there (correct the document or the tree):\n  {}", missing.join("\n  "));
    }
    Ok(())
}

/// The missing ones, as `:LINE: PATH`.
fn missing_paths(text: &str, root: &Path) -> Vec<String> {
    code_spans(text)
        .into_iter()
        .filter(|(_, span)| looks_like_a_path(span) && !root.join(span).exists())
        .map(|(line, span)| format!(":{line}: {span}"))
        .collect()
}

/// Words of path characters, with a slash inside or the ending of a source file. `NAME` stands for any name.
fn looks_like_a_path(span: &str) -> bool {
    let path_characters = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let ending = [".rs", ".md", ".toml"].iter().any(|ending| span.ends_with(ending));
    span.chars().all(path_characters)
        && span.starts_with(|c: char| c != '/')
        && (span.contains('/') || ending)
        && !span.contains("NAME")
}

/// What stands between single backticks, with its line number; fenced and indented blocks are code, not names.
fn code_spans(text: &str) -> Vec<(usize, &str)> {
    let mut spans = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (index + 1, span)));
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn the_documents_name_only_what_exists() -> Result<()> {
        check(&Workspace::load()?)
    }

    #[test]
    fn a_wrong_path_is_reported_with_its_line() {
        let text =
            "Read `xtask/src/main.rs`, `Cargo.toml`.\n\nThen `xtask/src/no_such_file.rs` and `NOTHING.md`.\n";
        let missing = missing_paths(text, &root());
        assert_eq!(missing, [":3: xtask/src/no_such_file.rs", ":3: NOTHING.md"]);
    }

    #[test]
    fn folders_are_paths_too() {
        assert_eq!(missing_paths("`xtask/` but not `no-such-crate/`", &root()), [":1: no-such-crate/"]);
    }

    #[test]
    fn code_is_not_a_path() {
        let text = "`cargo xtask test`, `x_bar`, `a / b`, `d/|d|`, `bench/peers/NAME.py`\n```\n`no/such/file.rs`\n```\n    `no/such/file.rs`\n";
        assert_eq!(missing_paths(text, &root()), [] as [String; 0]);
    }
}
