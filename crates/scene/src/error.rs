//! What is wrong with a description or a file, where, and what to do about it.

use std::fmt;

/// A place in a file: both numbers start at 1, and the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// What is wrong in a description, whether it was read from a file or built in code.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// The field, such as `springs[2].ends[1]`.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// How to put it right.
    pub fix: String,
}

impl Invalid {
    /// An error at a field.
    pub fn new(path: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into(), fix: fix.into() }
    }

    /// The same error at another field.
    pub fn at(self, path: impl Into<String>) -> Self {
        Self { path: path.into(), ..self }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}\n  fix: {}", self.what, self.fix)
    }
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The file; empty for a description that was built in code.
    pub file: String,
    /// The place in it, where one applies.
    pub position: Option<Position>,
    /// The key, such as `springs[2].ends[1]`; empty when the file as a whole is meant.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// How to put it right.
    pub fix: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
            if let Some(Position { line, column }) = self.position {
                write!(f, "{line}:{column}:")?;
            }
            write!(f, " ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}\n  fix: {}", self.what, self.fix)
    }
}

/// What people should read, also where `main` returns it.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What people should read, also where `main` returns it.
impl fmt::Debug for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
