//! Finding names: exact ones, globs, and the nearest to a wrong one.

use std::ops::Range;

use pullback_scene::words::{glob, nearest_few};

use super::{Block, Layout, Part};

/// A name that is not there, or a value that does not fit.
#[derive(Clone, PartialEq, thiserror::Error)]
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
        match self.look_up(name)? {
            Some(range) => Ok(range),
            None => Err(NameError::Unknown { name: name.to_owned(), nearest: self.nearest(name) }),
        }
    }

    fn look_up(&self, name: &str) -> Result<Option<Range<usize>>, NameError> {
        let mut blocks = self.ranges().map(|(block, at)| find_in(block, at.start, name));
        blocks.find(|found| !matches!(found, Ok(None))).unwrap_or(Ok(None))
    }

    fn has(&self, name: &str) -> bool {
        matches!(self.look_up(name), Ok(Some(_)))
    }

    /// The values whose names match a glob (`*` stands for anything, `?` for one character), or the one with exactly this name; an error if there
    /// is none.
    pub fn select(&self, pattern: &str) -> Result<Vec<Range<usize>>, NameError> {
        if !pattern.contains(['*', '?']) {
            return Ok(vec![self.find(pattern)?]);
        }
        let matching = |part: &Part<'_>| glob(pattern, &part.name());
        let found: Vec<_> = self.parts().filter(matching).map(|part| part.range()).collect();
        if found.is_empty() {
            return Err(NameError::Unknown { name: pattern.to_owned(), nearest: self.nearest(pattern) });
        }
        Ok(found)
    }

    /// The name of number `i`, with its axis.
    pub fn name_of(&self, i: usize) -> String {
        let Some(part) = self.part_of(i) else { return String::new() };
        match part.range().len() {
            1 => part.name(),
            n => format!("{}.{}", part.name(), axis(i - part.range().start, n)),
        }
    }

    /// What number `i` is called among those of many vectors, one after the other, as errors say it: `ball.mass` of world 2. Each of
    /// the `worlds` has one vector, or one of each of so many steps.
    pub fn called(&self, i: usize, steps: Option<usize>, worlds: usize) -> String {
        let (row, number) = (i / self.len().max(1), i % self.len().max(1));
        let step = steps.map(|steps| format!(" of step {}", row % steps.max(1))).unwrap_or_default();
        let world = row / steps.unwrap_or(1).max(1);
        let world = if worlds > 1 { format!(" of world {world}") } else { String::new() };
        format!("`{}`{step}{world}", self.name_of(number))
    }

    /// What number `i` means.
    pub fn quantity_of(&self, i: usize) -> Option<&super::Quantity> {
        let part = self.part_of(i)?;
        Some(part.own.unwrap_or(&part.block.quantity))
    }

    /// The names that are most like this one, best first.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        // What scenes may say in place of Lamé's numbers is no param.
        if let Some(thing) = name.strip_suffix(".young").or(name.strip_suffix(".poisson")) {
            let params = ["mu", "lambda"].map(|field| format!("{thing}.{field}"));
            if params.iter().all(|name| self.has(name)) {
                return params.to_vec();
            }
        }
        if let Some(name) = self.in_the_other_spelling(name) {
            return vec![name];
        }
        let asked = name.split_once('[').and_then(|(_, rest)| rest.split(']').next()?.parse::<usize>().ok());
        let mut names: Vec<String> = Vec::new();
        for block in &self.blocks {
            for group in &block.groups {
                let index = match (group.count, asked) {
                    (None, _) => String::new(),
                    (Some(count), Some(index)) if index < count => format!("[{index}]"),
                    (Some(_), _) => "[0]".to_owned(),
                };
                let dot = if block.field.is_empty() { "" } else { "." };
                names.push(format!("{}{index}{dot}{}", group.name, block.field));
            }
        }
        nearest_few(name, &names).into_iter().map(str::to_owned).collect()
    }
}

impl Layout {
    /// Numbers of soft things are one for all elements, `block.mu`, or one for each, `block.elements.mu`: the name that there is.
    fn in_the_other_spelling(&self, name: &str) -> Option<String> {
        let (thing, field) = name.rsplit_once('.')?;
        ["elements", "hinges"].into_iter().find_map(|kind| {
            let all =
                thing.rsplit_once(&format!(".{kind}")).filter(|(_, i)| i.is_empty() || i.starts_with('['));
            let other = match all {
                Some((thing, _)) => format!("{thing}.{field}"),
                None => format!("{thing}.{kind}.{field}"),
            };
            self.has(&other).then_some(other)
        })
    }
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
        if index.is_some_and(|index| index >= group.len()) {
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

/// What people should read, also where `main` returns it.
impl std::fmt::Debug for NameError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
