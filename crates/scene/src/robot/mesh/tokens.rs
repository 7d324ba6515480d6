//! Words of a text mesh, with their lines.

use super::{DAMAGED, wrong};
use crate::source::Unread;
use crate::words;

/// Reads words one after the other.
pub(super) struct Tokens<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The line of the last word.
    pub line: usize,
}

impl<'b> Tokens<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0, line: 1 }
    }

    /// The next word; one that is no text reads as `?`.
    pub fn next(&mut self) -> Option<&'b str> {
        while let Some(&byte) = self.bytes.get(self.at)
            && byte.is_ascii_whitespace()
        {
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += length;
        if length == 0 { None } else { Some(std::str::from_utf8(&rest[..length]).unwrap_or("?")) }
    }

    /// The rest of the line is passed over.
    pub fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// The next word, which must be there.
    pub fn word(&mut self) -> Result<&'b str, Unread> {
        self.next().ok_or_else(|| wrong(self.line, "the file ends too early", DAMAGED))
    }

    /// The next word as a number.
    pub fn parse<T: std::str::FromStr>(&mut self) -> Result<T, Unread> {
        let word = self.word()?;
        word.parse().map_err(|_| {
            let what = format!("a number is wanted, and {} is found", words::quoted(word));
            wrong(self.line, what, DAMAGED)
        })
    }

    /// The next three words as a point.
    pub fn point(&mut self) -> Result<[f64; 3], Unread> {
        Ok([self.parse()?, self.parse()?, self.parse()?])
    }
}
