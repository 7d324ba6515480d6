//! Key paths such as `springs[2].ends[1]`: written by the reader, and found again in a file.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key path while a file is read: a chain of borrowed parts, because it is written only in errors.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    /// The whole file.
    Root,
    /// A key of a table.
    Key(&'p Path<'p>, &'p str),
    /// An item of a list.
    Item(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => write!(f, "{}", written(key)),
            Path::Key(parent, key) => write!(f, "{parent}.{}", written(key)),
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A key as a path has it: as it is, or quoted and cut when it is none that a scene could have.
pub(crate) fn written(key: &str) -> String {
    const LONGEST: usize = 60;
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.len() <= LONGEST && key.chars().all(bare) {
        return key.to_owned();
    }
    format!("{:?}", key.chars().take(LONGEST).collect::<String>())
}

/// Keys that say the same: the field of the description first, then how files may write it.
const SAME: [&[&str]; 14] = [
    &["positions", "position", "line", "grid"],
    &["orientations", "orientation"],
    &["velocities", "velocity"],
    &["angular_velocities", "angular_velocity"],
    &["masses", "mass"],
    &["drags", "drag"],
    &["radii", "radius"],
    &["ends", "chain"],
    &["stiffnesses", "stiffness"],
    &["dampings", "damping"],
    &["rest_lengths", "rest_length"],
    &["controls", "control"],
    &["losses", "loss"],
    &["steps", "duration"],
];

/// Keys that hold a list, of which an index picks one: all others of [`SAME`] hold one value for all.
const LISTS: [&str; 13] = [
    "positions",
    "orientations",
    "velocities",
    "angular_velocities",
    "masses",
    "drags",
    "radii",
    "ends",
    "stiffnesses",
    "dampings",
    "rest_lengths",
    "controls",
    "loss",
];

/// A part of a path in text form.
#[derive(Clone, Copy, PartialEq)]
enum Part<'t> {
    Key(&'t str),
    Item(usize),
}

/// Splits `a.b[2]."c d"`.
fn parts(path: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '.' => {
                rest = &rest[1..];
                continue;
            }
            '[' => rest.find(']').map_or(rest.len(), |at| at + 1),
            '"' => end_of_quoted(rest),
            _ => rest.find(['.', '[']).unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        match part.strip_prefix('[').and_then(|part| part.strip_suffix(']')).map(str::parse) {
            Some(Ok(index)) => parts.push(Part::Item(index)),
            Some(Err(_)) | None => parts.push(Part::Key(part)),
        }
    }
    parts
}

/// Where the quoted key at the start of `text` ends.
fn end_of_quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// A path as a file has it.
pub(crate) struct Found {
    /// The path with the file's own keys, as far as they are there; the asked one beyond.
    pub path: String,
    /// Where the last part that is there starts, in bytes; none when not even the first one is.
    pub start: Option<usize>,
}

/// Finds a path in a file: keys that say the same stand for each other (`masses[3]` finds `mass`), and a part that
/// is missing is found at the one before it.
pub(crate) fn find(root: &DeTable<'_>, path: &str) -> Found {
    let parts = parts(path);
    let mut found = Found { path: String::new(), start: None };
    let mut value: Option<&DeValue<'_>> = None;
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        let next = match *part {
            Part::Key(key) => value
                .map_or(Some(root), DeValue::as_table)
                .and_then(|table| entry(table, key))
                .map(|(name, child)| {
                    let one_for_all = name.get_ref() != key && !LISTS.contains(&name.get_ref().as_ref());
                    if one_for_all && matches!(parts.get(at), Some(Part::Item(_))) {
                        at += 1;
                    }
                    join(&mut found.path, &written(name.get_ref()));
                    (name.span().start, child)
                }),
            Part::Item(index) => {
                value.and_then(DeValue::as_array).and_then(|array| array.get(index)).map(|child| {
                    found.path += &format!("[{index}]");
                    (child.span().start, child)
                })
            }
        };
        let Some((start, child)) = next else {
            missing(&mut found.path, part, value);
            break;
        };
        found.start = Some(start);
        value = Some(child.get_ref());
    }
    found
}

/// Adds a part that the file does not have: a key is named all the same, an index only where there is a list.
fn missing(path: &mut String, part: &Part<'_>, value: Option<&DeValue<'_>>) {
    match part {
        Part::Key(key) => join(path, key),
        Part::Item(index) if value.is_none_or(DeValue::is_array) => *path += &format!("[{index}]"),
        Part::Item(_) => {}
    }
}

fn join(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

type Entry<'t, 'i> = (&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

/// The entry of a key, or of one that says the same.
fn entry<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<Entry<'t, 'i>> {
    let exact =
        |key: &str| table.iter().find(|(name, _)| name.get_ref() == key || written(name.get_ref()) == key);
    exact(key).or_else(|| SAME.iter().find(|same| same.contains(&key))?.iter().find_map(|other| exact(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[[particles]]\nmass = 1\nvelocity = [0, 1, 2]\npositions = [[0, 0, 0], [1, 0, 0]]\n\
                        [[particles]]\n\"a.b\" = { c = 1 }\n";

    #[test]
    fn paths_are_found_under_the_files_own_keys() {
        let table = DeTable::parse(TEXT).expect("valid TOML");
        for (asked, path, at) in [
            ("particles[0].mass", "particles[0].mass", "mass"),
            ("particles[0].masses[3]", "particles[0].mass", "mass"),
            ("particles[0].velocities[7][1]", "particles[0].velocity[1]", "1, 2]"),
            ("particles[0].velocity[1]", "particles[0].velocity[1]", "1, 2]"),
            ("particles[0].positions[1]", "particles[0].positions[1]", "[1, 0, 0]"),
            ("particles[0].drag", "particles[0].drag", "[[particles]]\nmass"),
            ("particles[1].\"a.b\".c", "particles[1].\"a.b\".c", "c = 1"),
            ("particles[1]", "particles[1]", "[[particles]]\n\"a.b\""),
        ] {
            let found = find(table.get_ref(), asked);
            assert_eq!(found.path, path);
            let start = found.start.expect("it is there");
            assert!(TEXT[start..].starts_with(at), "{asked}: {}", &TEXT[start..]);
        }
        assert_eq!(find(table.get_ref(), "springs[2].ends").start, None);
    }

    #[test]
    fn odd_paths_do_no_harm() {
        let table = DeTable::parse(TEXT).expect("valid TOML");
        for path in [
            "",
            ".",
            "[",
            "]",
            "[[",
            "a[",
            "a[-1]",
            "\"",
            "\"\\",
            "..a",
            "particles[99999999999999999999]",
            "é[é]",
        ] {
            find(table.get_ref(), path);
        }
    }
}
