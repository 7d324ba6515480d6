//! Where a description came from.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::DeTable;

use crate::error::{Error, Invalid, Position};
use crate::{path, words};

/// Largest file that is read [bytes].
pub const LARGEST_FILE: usize = 64_000_000;

/// Where a description came from: finds the line of a key path, so that later checks can name it too.
///
/// The default is no file at all, for what is built in code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    file: String,
    folder: PathBuf,
    text: String,
}

impl Source {
    /// A text, and the file that errors name; data files are looked for in the folder of that file.
    pub fn new(text: impl Into<String>, file_name: impl AsRef<Path>) -> Self {
        let file = file_name.as_ref();
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        Self { file: file.display().to_string(), folder, text: text.into() }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it is missing, a folder, too large or no text.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = read_text(path).map_err(|unread| unread.of(&path.display().to_string()))?;
        Ok(Self::new(text, path))
    }

    /// The file's name, as it was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The folder that data files are relative to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a key path such as `springs[2].ends[1]` stands. For a key that is not there, where its table starts; a
    /// field of a description is found under the key that the file has for it (`masses[3]` at `mass`).
    pub fn locate(&self, path: &str) -> Option<Position> {
        self.find(path).1
    }

    /// An error at a key path.
    pub fn error(&self, path: &str, what: impl Into<String>, fix: impl Into<String>) -> Error {
        let (path, position) = self.find(path);
        Error { file: self.file.clone(), position, path, what: what.into(), fix: fix.into() }
    }

    /// An error of a description, with its file and line.
    pub fn attach(&self, invalid: Invalid) -> Error {
        self.error(&invalid.path, invalid.what, invalid.fix)
    }

    /// The path with the file's own keys, and its place. Parses the text again: errors are rare, and an index of all
    /// places would cost every file that has none.
    fn find(&self, path: &str) -> (String, Option<Position>) {
        match DeTable::parse(&self.text) {
            Ok(table) if !self.text.is_empty() => {
                let found = path::find(table.get_ref(), path);
                (found.path, found.start.map(|start| position(self.text.as_bytes(), start)))
            }
            Ok(_) | Err(_) => (path.to_owned(), None),
        }
    }

    /// The file as a table.
    pub(crate) fn table(&self) -> Result<Spanned<DeTable<'_>>, Error> {
        DeTable::parse(&self.text).map_err(|error| {
            let message: String = error.message().chars().flat_map(char::escape_debug).collect();
            let fix = match error.message() {
                "duplicate key" => "keep one of the two; many of a kind are written `[[particles]]`, with two brackets",
                message if message.contains("recur") => "put fewer brackets or dots inside each other",
                _ => "keys are written `key = value`, text \"in quotes\", lists `[1, 2]`, sections `[simulation]`",
            };
            Error {
                file: self.file.clone(),
                position: error.span().map(|span| position(self.text.as_bytes(), span.start)),
                path: String::new(),
                what: format!("this is not TOML: {message}"),
                fix: fix.into(),
            }
        })
    }
}

/// The place of a byte.
pub(crate) fn position(text: &[u8], start: usize) -> Position {
    let before = &text[..start.min(text.len())];
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    Position {
        line: before.iter().filter(|&&b| b == b'\n').count() + 1,
        column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
    }
}

/// Why a file could not be read.
#[derive(Debug)]
pub(crate) struct Unread {
    pub position: Option<Position>,
    pub what: String,
    pub fix: String,
}

impl Unread {
    pub fn new(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { position: None, what: what.into(), fix: fix.into() }
    }

    /// The error of this file.
    pub fn of(self, file: &str) -> Error {
        let Unread { position, what, fix } = self;
        Error { file: file.to_owned(), position, path: String::new(), what, fix }
    }
}

/// Reads a text file of bounded size.
pub(crate) fn read_text(path: &Path) -> Result<String, Unread> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Unread::new("there is no such file", missing_fix(path)),
        io::ErrorKind::IsADirectory => folder(),
        _ => Unread::new(format!("the file cannot be read: {error}"), "check that you may read it"),
    };
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(folder());
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > LARGEST_FILE {
        let most = LARGEST_FILE / 1_000_000;
        return Err(Unread::new(
            format!("the file is larger than {most} MB"),
            "divide it, or check its name",
        ));
    }
    utf8(bytes)
}

/// Bytes of a file as text.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String, Unread> {
    String::from_utf8(bytes).map_err(|error| Unread {
        position: Some(position(error.as_bytes(), error.utf8_error().valid_up_to())),
        what: "the file is not UTF-8 text".into(),
        fix: "save it as UTF-8, or check its name".into(),
    })
}

fn folder() -> Unread {
    Unread::new("this is a folder", "name a file in it")
}

/// Names the file of the folder that was probably meant.
pub(crate) fn missing_fix(path: &Path) -> String {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    let Ok(entries) = folder.read_dir() else {
        return format!(
            "there is no folder {} either: check the path",
            words::quoted(&folder.display().to_string())
        );
    };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    words::suggest(&wanted, &names, "check the path")
}
