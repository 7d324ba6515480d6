//! Finding names: exact ones, globs, and the nearest to a wrong one.

use std::ops::Range;

use super::{Block, Layout, Part};

/// A name that is not there, or a value that does not fit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NameError {
    /// Nothing is called so.
    #[error("nothing is called `{name}`{}", nearest_text(.nearest))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest names that there are.
        nearest: Vec<String>,
    },
    /// There are fewer.
    #[error("`{name}`: there are {count}, from [0] to [{}]", .count - 1)]
    Index {
        /// What was asked for.
        name: String,
        /// How many there are.
        count: usize,
    },
    /// Another number of values.
    #[error("`{name}` has {wanted} numbers, and {found} were given")]
    Length {
        /// Whose they are.
        name: String,
        /// How many it has.
        wanted: usize,
        /// How many were given.
        found: usize,
    },
    /// A value that makes no sense.
    #[error("`{name}` cannot be {value}: {why}")]
    Range {
        /// Whose it is.
        name: String,
        /// What was given.
        value: f64,
        /// What is wanted.
        why: String,
    },
}

fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; the nearest names are `{}`", many.join("`, `")),
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl Layout {
    /// Where `name` lies: one value (`chain[3].mass`), one number of it (`chain[3].position.z`), or that of a whole group
    /// (`chain.mass`).
    pub fn find(&self, name: &str) -> Result<Range<usize>, NameError> {
        for (block, at) in self.ranges() {
            if let Some(range) = find_in(block, at.start, name)? {
                return Ok(range);
            }
        }
        Err(NameError::Unknown { name: name.to_owned(), nearest: self.nearest(name) })
    }

    /// The values whose names match a glob (`*` stands for anything), or the one with exactly this name; an error if there
    /// is none.
    pub fn select(&self, pattern: &str) -> Result<Vec<Range<usize>>, NameError> {
        if !pattern.contains('*') {
            return Ok(vec![self.find(pattern)?]);
        }
        let matching = |part: &Part<'_>| matches(pattern, &part.name());
        let found: Vec<_> = self.parts().filter(matching).map(|part| part.range()).collect();
        if found.is_empty() {
            return Err(NameError::Unknown { name: pattern.to_owned(), nearest: self.nearest(pattern) });
        }
        Ok(found)
    }

    /// The name of number `i`, with its axis.
    pub fn name_of(&self, i: usize) -> String {
        let Some(part) = self.parts().find(|part| part.range().contains(&i)) else { return String::new() };
        match part.range().len() {
            1 => part.name(),
            n => format!("{}.{}", part.name(), axis(i - part.range().start, n)),
        }
    }

    /// What number `i` means.
    pub fn quantity_of(&self, i: usize) -> Option<&super::Quantity> {
        self.ranges().find(|(_, range)| range.contains(&i)).map(|(block, _)| &block.quantity)
    }

    /// The names that are most like this one, best first.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for block in &self.blocks {
            for group in &block.groups {
                let index = if group.count.is_some() { "[0]" } else { "" };
                let dot = if block.field.is_empty() { "" } else { "." };
                names.push(format!("{}{index}{dot}{}", group.name, block.field));
            }
        }
        nearest(name, names)
    }
}

/// Of `names` the three that are most like `name`, if they are at all like it.
pub fn nearest(name: &str, names: Vec<String>) -> Vec<String> {
    let mut scored: Vec<(usize, String)> =
        names.into_iter().map(|other| (distance(name, &other), other)).collect();
    scored.sort();
    scored.dedup();
    let limit = (name.chars().count() * 2 / 3).max(3);
    scored.into_iter().filter(|(d, _)| *d <= limit).take(3).map(|(_, name)| name).collect()
}

fn axis(i: usize, of: usize) -> String {
    match of {
        3 => AXES[i].to_owned(),
        4 => ["w", "x", "y", "z"][i].to_owned(),
        _ => i.to_string(),
    }
}

fn find_in(block: &Block, mut start: usize, name: &str) -> Result<Option<Range<usize>>, NameError> {
    for group in &block.groups {
        let here = start;
        start += group.len() * block.numbers;
        let Some(rest) = name.strip_prefix(group.name.as_str()) else { continue };
        let (index, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((index, rest)) if group.count.is_some() => match index.parse::<usize>() {
                Ok(index) => (Some(index), rest),
                Err(_) => continue,
            },
            Some(_) => continue,
            None => (None, rest),
        };
        let rest = if block.field.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(block.field.as_str()))
        };
        let component = match rest {
            Some("") => None,
            Some(rest) => {
                match (0..block.numbers).find(|&i| rest == format!(".{}", axis(i, block.numbers))) {
                    Some(i) if block.numbers > 1 && (index.is_some() || group.count.is_none()) => Some(i),
                    _ => continue,
                }
            }
            None => continue,
        };
        if let Some(index) = index.filter(|index| *index >= group.len()) {
            let _ = index;
            return Err(NameError::Index { name: name.to_owned(), count: group.len() });
        }
        let value = match index {
            Some(i) => here + i * block.numbers..here + (i + 1) * block.numbers,
            None => here..start,
        };
        return Ok(Some(match component {
            Some(i) => value.start + i..value.start + i + 1,
            None => value,
        }));
    }
    Ok(None)
}

/// Does the name match the glob, in which `*` stands for any characters?
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(pieces.next().unwrap_or("")) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

/// How many letters must change (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        assert!(matches("*.mass", "ball.mass") && matches("chain[*].mass", "chain[3].mass"));
        assert!(matches("*", "anything") && matches("a*b*c", "a1b2c") && matches("gravity", "gravity"));
        assert!(!matches("*.mass", "ball.drag") && !matches("a*a", "a") && !matches("gravity", "gravit"));
    }

    #[test]
    fn distances() {
        assert_eq!((distance("mass", "mass"), distance("mas", "mass"), distance("", "abc")), (0, 1, 3));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
