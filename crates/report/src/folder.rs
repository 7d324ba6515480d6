//! The folder of one run. A file in it is whole or absent, whatever stops the run.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The file that tells a folder of ours from any other. It lists the files that the run wrote.
const MARKER: &str = ".pullback-run";
const PARTIAL: &str = ".partial";

/// What to do when the folder of an earlier run is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Stop with an error.
    Refuse,
    /// Keep its files and go on writing to it.
    Resume,
    /// Delete the files that the earlier run wrote. Files that someone else put there stay.
    Replace,
}

/// Why a run folder could not be made or written to. Each message names the path and what to do.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is a file where the folder should be.
    #[error("{} is a file, not a folder: choose another folder for this run", .0.display())]
    NotAFolder(PathBuf),
    /// The folder holds files and was not made by a run.
    #[error("{} holds files that no run wrote (it has no {MARKER}): choose an empty or a new folder", .0.display())]
    Foreign(PathBuf),
    /// The folder of an earlier run is there.
    #[error("{} holds an earlier run: choose another folder, or resume or replace that run", .0.display())]
    Exists(PathBuf),
    /// Another process writes to the folder.
    #[error("{} is in use by another run: wait for it to end, or choose another folder", .0.display())]
    InUse(PathBuf),
    /// A file name that is empty, hidden, or a path.
    #[error("\"{0}\" cannot name a file of a run: use a plain name such as loss.csv")]
    BadName(String),
    /// The system refused.
    #[error("cannot {doing} {}: {source}{}", path.display(), fix(source))]
    Io {
        /// What was tried: "create", "write", ...
        doing: &'static str,
        /// The path that it was tried on.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The contents of a file could not be made. Nothing of it was left behind.
    #[error("{} was not written: {source}{}", path.display(), fix_of(source.as_ref()))]
    Content {
        /// The file.
        path: PathBuf,
        /// What the writer said.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// What a user can do about an error of the system.
fn fix(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; choose a folder that you may write to",
        io::ErrorKind::ReadOnlyFilesystem => "; choose a folder on a disk that can be written to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free space or choose another disk",
        io::ErrorKind::NotADirectory => "; a part of the path is a file: choose another folder",
        io::ErrorKind::InvalidFilename => "; choose a shorter name without special characters",
        _ => "",
    }
}

/// The same for an error of a writer, which may hold an error of the system somewhere inside.
fn fix_of(error: &(dyn Error + 'static)) -> &'static str {
    let mut inner = Some(error);
    while let Some(error) = inner {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return fix(io);
        }
        inner = error.source();
    }
    ""
}

/// Adds path and purpose to an error of the system.
fn at<T>(doing: &'static str, path: &Path, result: io::Result<T>) -> Result<T, FolderError> {
    result.map_err(|source| FolderError::Io { doing, path: path.into(), source })
}

/// `runs/NAME`, where a problem of this name keeps its run when the user says nothing.
///
/// Characters that a file system may refuse become "-".
pub fn default_path(name: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = name.trim().chars().take(80).map(plain).collect();
    let name = name.trim_matches(['.', '-']);
    Path::new("runs").join(if name.is_empty() { "run" } else { name })
}

/// The folder of one run, held by this process until it is dropped.
///
/// ```no_run
/// use std::io::Write;
/// use pullback_report::{Existing, RunFolder, default_path};
/// let run = RunFolder::create(default_path("throw"), Existing::Refuse)?;
/// run.write("loss.csv", |out| out.write_all(b"iteration,loss\r\n"))?;
/// # Ok::<(), pullback_report::FolderError>(())
/// ```
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    marker: Mutex<Marker>,
}

/// The marker, open and locked as long as the run lasts, and the names that it lists.
#[derive(Debug)]
struct Marker {
    file: File,
    path: PathBuf,
    listed: BTreeSet<String>,
}

impl Marker {
    fn open(path: PathBuf) -> Result<Self, FolderError> {
        let opened = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let mut file = at("write", &path, opened)?;
        // Some file systems cannot lock; then two runs in one folder are the user's care.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(FolderError::InUse(path.with_file_name("")));
        }
        let mut text = String::new();
        at("read", &path, file.read_to_string(&mut text))?;
        let listed = text.lines().map(str::to_owned).collect();
        Ok(Marker { file, path, listed })
    }

    fn list(&mut self, name: &str) -> Result<(), FolderError> {
        if self.listed.insert(name.to_owned()) {
            at("write", &self.path, self.file.write_all(format!("{name}\n").as_bytes()))?;
        }
        Ok(())
    }

    /// Removes the files that are listed, then empties the list.
    fn remove_listed(&mut self, folder: &Path) -> Result<(), FolderError> {
        // A marker that someone edited must not reach out of the folder.
        for path in self.listed.iter().filter(|name| is_plain(name)).map(|name| folder.join(name)) {
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return at("remove", &path, Err(e)),
                _ => {}
            }
        }
        self.listed.clear();
        at("write", &self.path, self.file.set_len(0))
    }
}

/// Is this the name of a file in the folder itself, and not one of ours that are hidden?
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0', '\n', '\r'])
}

impl RunFolder {
    /// Makes the folder, with its parents, or takes over one that is empty or an earlier run's.
    pub fn create(path: impl Into<PathBuf>, existing: Existing) -> Result<Self, FolderError> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(FolderError::NotAFolder(path));
        }
        at("create", &path, fs::create_dir_all(&path))?;
        let marker_path = path.join(MARKER);
        let is_ours = marker_path.is_file();
        if !is_ours && at("read", &path, fs::read_dir(&path))?.next().is_some() {
            return Err(FolderError::Foreign(path));
        }
        if is_ours && existing == Existing::Refuse {
            return Err(FolderError::Exists(path));
        }
        let mut marker = Marker::open(marker_path)?;
        remove_partial_files(&path)?;
        if existing == Existing::Replace {
            marker.remove_listed(&path)?;
        }
        Ok(RunFolder { path, marker: Mutex::new(marker) })
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file: `content` writes to a temporary file beside it, which takes the name only when it is complete
    /// and on disk. When `content` fails, what was there before stays. Gives the file's path.
    pub fn write<E: Into<Box<dyn Error + Send + Sync>>>(
        &self,
        name: &str,
        content: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<PathBuf, FolderError> {
        if !is_plain(name) {
            return Err(FolderError::BadName(name.into()));
        }
        let path = self.path.join(name);
        let partial = Partial(self.path.join(format!(".{name}{PARTIAL}")));
        let mut out = BufWriter::new(at("create", &partial.0, File::create(&partial.0))?);
        content(&mut out)
            .map_err(Into::into)
            .and_then(|()| out.flush().map_err(Into::into))
            .map_err(|source| FolderError::Content { path: path.clone(), source })?;
        at("write", &path, out.get_ref().sync_all())?;
        drop(out);
        // Listed first: a file that is there but not listed would survive `Replace`.
        self.marker.lock().unwrap_or_else(PoisonError::into_inner).list(name)?;
        at("write", &path, fs::rename(&partial.0, &path))?;
        self.sync();
        Ok(path)
    }

    /// Makes a rename last through a loss of power. Not every system can sync a folder, and the file is whole anyway.
    fn sync(&self) {
        if let Ok(folder) = File::open(&self.path) {
            let _ = folder.sync_all();
        }
    }
}

/// A temporary file that is removed when it was not renamed, also when the writer panics.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes what an earlier run was writing when it was stopped.
fn remove_partial_files(folder: &Path) -> Result<(), FolderError> {
    for entry in at("read", folder, fs::read_dir(folder))? {
        let entry = at("read", folder, entry)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(PARTIAL) {
            at("remove", &entry.path(), fs::remove_file(entry.path()))?;
        }
    }
    Ok(())
}
