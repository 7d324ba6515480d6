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
    /// A run of this very problem that has not ended.
    Unfinished,
    /// Something else.
    Other(String),
}

/// The folder that was asked for, or a new one in `runs/`.
pub fn open(
    name: &str,
    out: Option<&Path>,
    replace: bool,
    look: impl Fn(&Path) -> Found,
) -> Result<RunFolder> {
    if let Some(path) = out {
        let existing = match look(path) {
            Found::Nothing => Existing::Refuse,
            Found::Unfinished if !replace => Existing::Resume,
            Found::Other(what) if !replace => {
                let fix = "give another folder with --out, or write over it with --replace";
                return Err(Refused::new(path, what, fix).into());
            }
            Found::Unfinished | Found::Other(_) => Existing::Replace,
        };
        return Ok(RunFolder::create(path, existing)?);
    }
    let first = default_path(name);
    for number in 1.. {
        let path = match number {
            1 => first.clone(),
            n => first
                .with_file_name(format!("{}-{n}", first.file_name().unwrap_or_default().to_string_lossy())),
        };
        match look(&path) {
            Found::Nothing => return Ok(RunFolder::create(path, Existing::Refuse)?),
            Found::Unfinished if !replace => return Ok(RunFolder::create(path, Existing::Resume)?),
            Found::Unfinished | Found::Other(_) if replace => {
                return Ok(RunFolder::create(path, Existing::Replace)?);
            }
            Found::Unfinished | Found::Other(_) => {}
        }
    }
    unreachable!("some number is free")
}

/// For commands that cannot be resumed: whatever is there is something else.
pub fn anything(path: &Path) -> Found {
    match path.read_dir().map(|mut entries| entries.next().is_none()) {
        Ok(true) => Found::Nothing,
        Ok(false) => Found::Other("there is a run already".into()),
        Err(_) if path.exists() => Found::Other("this is no folder".into()),
        Err(_) => Found::Nothing,
    }
}
