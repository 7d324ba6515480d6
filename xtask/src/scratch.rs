//! Folders for tests.

use anyhow::Result;
use std::path::PathBuf;
use std::{env, fs};

/// A folder of its own for one test, removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Result<Self> {
        let dir = env::temp_dir().join(format!("pullback-xtask-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
