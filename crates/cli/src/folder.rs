//! Which folder a run writes to.

use std::path::{Path, PathBuf};

use anyhow::Result;
use pullback_report::{Existing, RunFolder, default_path};

/// A run that is there, and is not to be touched.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}\n  fix: {fix}", path.display())]
pub struct Refused {
    path: PathBuf,
    what: String,
    fix: String,
}

impl Refused {
    /// An error about a folder.
    pub fn new(path: &Path, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Refused { path: path.to_owned(), what: what.into(), fix: fix.into() }
    }
}

/// What is in a folder already.
pub enum Found {
    /// Nothing.
    Nothing,
    /// A run of this very problem that has not ended, or one that was stopped before it wrote anything.
    Unfinished,
    /// Something else.
    Other(String),
    /// Something that should be a run, and cannot be read.
    Damaged(String),
    /// Files that no run wrote.
    Foreign,
}

/// The folder that was asked for, or a new one in `runs/`.
pub fn open(
    name: &str,
    out: Option<&Path>,
    replace: bool,
    look: impl Fn(&Path) -> Found,
) -> Result<RunFolder> {
    if let Some(path) = out {
        return match look(path) {
            // What no run wrote is refused, with the reason, when the folder is made.
            Found::Nothing | Found::Foreign => create(path, Existing::Refuse),
            _ if replace => create(path, Existing::Replace),
            Found::Unfinished => create(path, Existing::Resume),
            Found::Other(what) | Found::Damaged(what) => Err(Refused::new(path, what, FIX).into()),
        };
    }
    let first = default_path(name);
    for number in 1.. {
        let path = match number {
            1 => first.clone(),
            n => first
                .with_file_name(format!("{}-{n}", first.file_name().unwrap_or_default().to_string_lossy())),
        };
        match look(&path) {
            Found::Nothing => return create(&path, Existing::Refuse),
            Found::Foreign => {}
            _ if replace => return create(&path, Existing::Replace),
            Found::Unfinished => return create(&path, Existing::Resume),
            Found::Damaged(what) => return Err(Refused::new(&path, what, FIX).into()),
            Found::Other(_) => {}
        }
    }
    unreachable!("some number is free")
}

const FIX: &str = "give another folder with --out, or write over it with --replace";

fn create(path: &Path, existing: Existing) -> Result<RunFolder> {
    Ok(RunFolder::create(path, existing)?)
}

/// For commands that cannot be resumed: whatever is there is something else.
pub fn nothing_else(path: &Path) -> Found {
    anything(path, |_| false)
}

/// What is in a folder without a whole state; `begun` tells the files that a run writes before it has one.
pub fn anything(path: &Path, begun: impl Fn(&str) -> bool) -> Found {
    // What is there and no folder is refused when the folder is made.
    let Ok(entries) = path.read_dir() else { return Found::Nothing };
    let names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    match &names[..] {
        [] => Found::Nothing,
        // The mark of a run is hidden.
        names if names.iter().all(|name| name.starts_with('.') || begun(name)) => Found::Unfinished,
        names if names.iter().all(|name| !name.starts_with(".pullback")) => Found::Foreign,
        _ => Found::Other("there is a run already".into()),
    }
}
