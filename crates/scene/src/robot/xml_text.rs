//! The text of an XML file, before it is parsed: comments are blanked, and what would take the parser long is refused.

use crate::error::{Error, Position};
use crate::source;

/// Most elements inside each other.
const DEEPEST: usize = 200;

/// Most attributes of an element: the parser compares each with each.
const MOST_ATTRIBUTES: usize = 200;

/// Most namespaces of a file: the parser copies those around an element that declares one.
const MOST_NAMESPACES: usize = 100;

/// A text that can be parsed.
#[derive(Debug)]
pub(crate) struct Text {
    file: String,
    text: String,
}

impl Text {
    /// A file's text, and what errors call the file.
    pub fn new(file: impl Into<String>, text: String) -> Result<Self, Error> {
        let file = file.into();
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        match blanked(text) {
            Ok(text) => Ok(Self { file, text }),
            Err((position, what, fix)) => {
                Err(Error { file, position: Some(position), path: String::new(), what, fix })
            }
        }
    }

    /// What errors call the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The text, with comments blanked.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The text with `x` for each letter of its comments, and without declarations (`<?xml ... ?>`). XML allows no `--` in
/// comments, and declarations in the first line only; the parsers that robots are written for do. Lines and columns stay.
fn blanked(text: String) -> Result<String, (Position, String, String)> {
    let bytes = text.as_bytes();
    let mut blanks: Vec<(usize, usize, char)> = Vec::new();
    let (mut at, mut depth, mut namespaces) = (0, 0usize, 0);
    while let Some(start) = find(bytes, at, b"<") {
        let rest = &bytes[start..];
        if rest.starts_with(b"<!--") {
            let end = find(bytes, start + 4, b"-->").unwrap_or(bytes.len());
            blanks.push((start + 4, end, 'x'));
            at = end;
        } else if rest.starts_with(b"<![CDATA[") {
            at = find(bytes, start, b"]]>").unwrap_or(bytes.len());
        } else if rest.starts_with(b"<?") {
            at = find(bytes, start, b"?>").map_or(bytes.len(), |end| end + 2);
            blanks.push((start, at, ' '));
        } else {
            let tag = Tag::scan(bytes, start);
            namespaces += tag.namespaces;
            match tag.closes {
                Closes::Element => depth = depth.saturating_sub(1),
                Closes::Itself => {}
                Closes::Nothing => depth += 1,
            }
            let refuse =
                |what: String, fix: &str| Err((source::position(bytes, start), what, fix.to_owned()));
            if depth > DEEPEST {
                return refuse(
                    format!("elements are more than {DEEPEST} deep inside each other"),
                    "nest them less",
                );
            }
            if tag.attributes > MOST_ATTRIBUTES {
                return refuse(
                    format!("the element has more than {MOST_ATTRIBUTES} attributes"),
                    "write fewer",
                );
            }
            if namespaces > MOST_NAMESPACES {
                return refuse(
                    format!("more than {MOST_NAMESPACES} namespaces are declared"),
                    "declare fewer",
                );
            }
            at = tag.end;
        }
    }
    let mut parts = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end, blank) in blanks {
        parts.push_str(&text[from..start]);
        parts.extend(text[start..end].chars().map(|letter| if letter == '\n' { '\n' } else { blank }));
        from = end;
    }
    parts.push_str(&text[from..]);
    Ok(parts)
}

/// Where `wanted` is next.
fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    bytes.get(from..)?.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

enum Closes {
    Element,
    Itself,
    Nothing,
}

struct Tag {
    /// The byte after it.
    end: usize,
    attributes: usize,
    namespaces: usize,
    closes: Closes,
}

impl Tag {
    fn scan(bytes: &[u8], start: usize) -> Self {
        let mut quote = None;
        let (mut attributes, mut namespaces) = (0, 0);
        let mut end = bytes.len();
        for (at, &byte) in bytes.iter().enumerate().skip(start + 1) {
            match (quote, byte) {
                (None, b'>') => {
                    end = at + 1;
                    break;
                }
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => attributes += 1,
                (None, b'x') if bytes[at..].starts_with(b"xmlns") => namespaces += 1,
                (Some(open), close) if open == close => quote = None,
                (None | Some(_), _) => {}
            }
        }
        let closes = if bytes[start..].starts_with(b"</") {
            Closes::Element
        } else if bytes[start..end].ends_with(b"/>") {
            Closes::Itself
        } else {
            Closes::Nothing
        };
        Self { end, attributes, namespaces, closes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_keep_their_places() {
        let text = "<a><!-- é -- <b>\n - --><c d='>'/></a>";
        let blank = blanked(text.into()).expect("it is short");
        assert_eq!(blank, "<a><!--xxxxxxxxx\nxxx--><c d='>'/></a>");
    }

    #[test]
    fn what_takes_long_is_refused() {
        let wrong = |text: String| blanked(text).expect_err("it is large").1;
        assert!(wrong("<a>".repeat(201)).contains("deep"));
        assert!(wrong(format!("<a {}/>", "b=''".repeat(201))).contains("attributes"));
        assert!(wrong("<a xmlns:b=''/>".repeat(101)).contains("namespaces"));
        assert!(blanked("<a></a>".repeat(1000)).is_ok());
    }
}
