//! Files of a run: a state that is replaced whole, and a history that is only appended to.
//!
//! The state is two lines of JSON: a header, then the body that its checksum is of. It names the history file and how
//! many of its bytes belong to it. Order of a save: append to the history and flush it, write the state to a temporary
//! file and flush it, rename it over the old one, flush the folder. Until the rename the old state counts, and what was
//! appended behind its bytes is ignored; the next save cuts it off.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Error, Record};

const FORMAT: &str = "pullback run";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    fingerprint: String,
    history: Extent,
    checksum: String,
}

/// The part of a history file that belongs to a state.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Extent {
    file: String,
    records: usize,
    bytes: u64,
    checksum: String,
}

/// Where the history of a run was last written, and how far.
#[derive(Debug, Default)]
pub(super) struct Journal(Option<Written>);

#[derive(Debug)]
struct Written {
    state: PathBuf,
    file: String,
    records: usize,
    bytes: u64,
    hash: Hash,
}

impl Clone for Journal {
    /// A copy of a run goes its own way, so it starts a history file of its own.
    fn clone(&self) -> Self {
        Journal(None)
    }
}

/// Writes `body` and what is new in `history`.
pub(super) fn save(
    body: &impl Serialize,
    fingerprint: &str,
    history: &[Record],
    journal: &mut Journal,
    path: &Path,
) -> Result<(), Error> {
    let continued = match journal.0.take() {
        Some(written) if written.state == path => append(written, history)?,
        Some(_) | None => None,
    };
    let fresh = continued.is_none();
    let written = match continued {
        Some(written) => written,
        None => create(path, history)?,
    };

    let body = serde_json::to_vec(body)?;
    let header = Header {
        format: FORMAT.to_string(),
        version: VERSION,
        fingerprint: fingerprint.to_string(),
        history: written.extent(),
        checksum: Hash::of(&body).text(),
    };
    let mut text = serde_json::to_vec(&header)?;
    text.push(b'\n');
    text.extend(body);
    text.push(b'\n');
    replace(path, &text).map_err(|source| file_error(path, source))?;
    if fresh {
        remove_other_histories(path, &written.file);
    }
    journal.0 = Some(written);
    Ok(())
}

/// Reads a body, its history, and where to append to it.
pub(super) fn load<T: DeserializeOwned>(
    path: &Path,
    fingerprint: &str,
) -> Result<(T, Vec<Record>, Journal), Error> {
    let text = fs::read(path).map_err(|source| file_error(path, source))?;
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), why };
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    check_version(path, &text[..end])?;
    let header: Header = serde_json::from_slice(&text[..end]).map_err(|error| damaged(error.to_string()))?;
    let body = text.get(end + 1..).and_then(|rest| rest.strip_suffix(b"\n"));
    let body = body.ok_or_else(|| damaged("it ends too early".to_string()))?;
    if Hash::of(body).text() != header.checksum {
        return Err(damaged("its checksum does not fit".to_string()));
    }
    if header.fingerprint != fingerprint {
        let (found, expected) = (header.fingerprint, fingerprint.to_string());
        return Err(Error::OtherProblem { path: path.to_path_buf(), found, expected });
    }
    let (history, journal) = read_history(path, header.history)?;
    Ok((serde_json::from_slice(body).map_err(|error| damaged(error.to_string()))?, history, journal))
}

/// Only these two fields are the same in every version.
fn check_version(path: &Path, header: &[u8]) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct Any {
        format: String,
        version: u32,
    }
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), why };
    let any: Any = serde_json::from_slice(header).map_err(|error| damaged(error.to_string()))?;
    if any.format != FORMAT {
        return Err(damaged(format!("its format is \"{}\"", any.format)));
    }
    if any.version != VERSION {
        return Err(Error::Version { path: path.to_path_buf(), found: any.version, expected: VERSION });
    }
    Ok(())
}

fn read_history(state: &Path, extent: Extent) -> Result<(Vec<Record>, Journal), Error> {
    let path = state.with_file_name(&extent.file);
    let mut text = fs::read(&path).map_err(|source| file_error(&path, source))?;
    let damaged = |why: String| Error::Damaged { path: path.clone(), why };
    let bytes = usize::try_from(extent.bytes).map_err(|error| damaged(error.to_string()))?;
    if text.len() < bytes {
        return Err(damaged(format!("it has {} bytes, its state counts on {bytes}", text.len())));
    }
    text.truncate(bytes);
    let hash = Hash::of(&text);
    if hash.text() != extent.checksum {
        return Err(damaged("its checksum does not fit".to_string()));
    }
    let records = serde_json::Deserializer::from_slice(&text).into_iter::<Record>();
    let records = records.collect::<Result<Vec<_>, _>>().map_err(|error| damaged(error.to_string()))?;
    if records.len() != extent.records {
        return Err(damaged(format!(
            "it has {} records, its state counts on {}",
            records.len(),
            extent.records
        )));
    }
    let state = state.to_path_buf();
    let Extent { file, records: count, bytes, .. } = extent;
    Ok((records, Journal(Some(Written { state, file, records: count, bytes, hash }))))
}

/// Adds what is new behind what the last state counts on. `None` if that is no longer there.
fn append(mut written: Written, history: &[Record]) -> Result<Option<Written>, Error> {
    let path = written.state.with_file_name(&written.file);
    let Ok(mut file) = OpenOptions::new().write(true).open(&path) else { return Ok(None) };
    let length = file.metadata().map_err(|source| file_error(&path, source))?.len();
    if length < written.bytes || history.len() < written.records {
        return Ok(None);
    }
    let text = lines(&history[written.records..])?;
    let write = |file: &mut File| -> io::Result<()> {
        file.set_len(written.bytes)?;
        file.seek(SeekFrom::Start(written.bytes))?;
        file.write_all(&text)?;
        file.sync_data()
    };
    if length > written.bytes || !text.is_empty() {
        write(&mut file).map_err(|source| file_error(&path, source))?;
    }
    written.add(&text, history.len());
    Ok(Some(written))
}

/// Writes a history file with a name that is not used yet, so that an older state keeps its own.
fn create(state: &Path, history: &[Record]) -> Result<Written, Error> {
    let name = file_name(state)?;
    let text = lines(history)?;
    for number in 0.. {
        let file_name = format!("{name}.history-{number}");
        let path = state.with_file_name(&file_name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(&text)
                    .and_then(|()| file.sync_data())
                    .map_err(|source| file_error(&path, source))?;
                let state = state.to_path_buf();
                let mut written = Written { state, file: file_name, records: 0, bytes: 0, hash: Hash::new() };
                written.add(&text, history.len());
                return Ok(written);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(source) => return Err(file_error(&path, source)),
        }
    }
    unreachable!("the numbers do not end")
}

/// Older history files belong to no state any more. One that cannot be removed does no harm.
fn remove_other_histories(state: &Path, keep: &str) {
    let Ok(name) = file_name(state) else { return };
    let prefix = format!("{name}.history-");
    let Ok(entries) = fs::read_dir(folder(state)) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let number = file.to_str().and_then(|file| file.strip_prefix(&prefix));
        let ours = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()));
        if ours && file.to_str() != Some(keep) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Puts `text` in the place of a file, all of it or nothing.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_os_string();
    temporary.push(".tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(text)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&temporary, path)?;
    // A rename lasts once its folder is flushed. Elsewhere than on Unix a folder cannot be opened as a file.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

fn file_name(path: &Path) -> Result<&str, Error> {
    path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        file_error(path, io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name in UTF-8"))
    })
}

fn file_error(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.to_path_buf(), source }
}

fn lines(history: &[Record]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    for record in history {
        serde_json::to_writer(&mut text, record)?;
        text.push(b'\n');
    }
    Ok(text)
}

impl Written {
    fn add(&mut self, text: &[u8], records: usize) {
        self.hash.add(text);
        self.bytes += text.len() as u64;
        self.records = records;
    }

    fn extent(&self) -> Extent {
        Extent {
            file: self.file.clone(),
            records: self.records,
            bytes: self.bytes,
            checksum: self.hash.text(),
        }
    }
}

/// FNV-1a with 64 bits (Fowler, Noll, Vo): finds damage, and can be continued when a file grows.
#[derive(Clone, Debug)]
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn of(text: &[u8]) -> Hash {
        let mut hash = Hash::new();
        hash.add(text);
        hash
    }

    fn add(&mut self, text: &[u8]) {
        for &byte in text {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Hash;

    /// From the test vectors that the authors of FNV publish.
    #[test]
    fn hash_is_fnv_1a() {
        assert_eq!(Hash::of(b"").text(), "cbf29ce484222325");
        assert_eq!(Hash::of(b"a").text(), "af63dc4c8601ec8c");
        assert_eq!(Hash::of(b"foobar").text(), "85944171f73967e8");
    }
}
