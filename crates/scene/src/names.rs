//! Names: which are allowed, and the particles and bodies that they stand for.

mod parts;
mod touchers;
mod tracked;

use std::collections::HashMap;

use crate::error::Invalid;
use crate::particles::Particles;
use crate::robot::Robot;
use crate::words;

pub(crate) use parts::{PartNames, Target};
pub(crate) use touchers::{TouchNames, missing};

/// Names with a meaning of their own in the names of parameters.
pub(crate) const RESERVED: [&str; 5] = ["gravity", "wind", "ground", "initial", "control"];

/// Whether a part of something may be called this.
pub(crate) fn legal(name: &str) -> Result<(), Invalid> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !name.chars().all(legal) {
        let what = match name {
            "" => "the name is empty".into(),
            _ => format!("{} is no name", words::quoted(name)),
        };
        return Err(Invalid::new(
            "name",
            what,
            "use the letters a to z, digits, `_` and `-`, and start with a letter",
        ));
    }
    Ok(())
}

/// Whether something may be called this.
pub(crate) fn allowed(name: &str) -> Result<(), Invalid> {
    legal(name)?;
    if RESERVED.contains(&name) {
        let fix = format!("choose another name; reserved are {}", words::list(&RESERVED));
        return Err(Invalid::new("name", format!("the name {} is reserved", words::quoted(name)), fix));
    }
    Ok(())
}

/// One of a few named things; the error is at `word`.
pub(crate) fn choose<T: Copy>(word: &str, name: &str, choices: &[(&str, T)]) -> Result<T, Invalid> {
    choices.iter().find(|(choice, _)| *choice == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
        let what = format!("there is no {word} {}", words::quoted(name));
        let fix = match names.as_slice() {
            [] => format!("there is no {word} at all: add one, or leave this out"),
            names => words::suggest(name, names, format!("choose one of {}", words::list(names))),
        };
        Invalid::new(word, what, fix)
    })
}

/// Things of one name: one, or several that are counted.
#[derive(Clone, Copy)]
struct Group<'p> {
    name: &'p str,
    indexed: bool,
    count: usize,
}

/// Finds particles or loose bodies by name. Of groups with one name it knows the first.
pub(crate) struct Names<'p> {
    /// What these are: `particle`, `body`.
    word: &'static str,
    groups: Vec<Group<'p>>,
    /// For each group, how many there are before it.
    firsts: Vec<usize>,
    by_name: HashMap<&'p str, usize>,
}

impl<'p> Names<'p> {
    /// The names of particles.
    pub fn new(groups: &'p [Particles]) -> Self {
        let group =
            |it: &'p Particles| Group { name: &it.name, indexed: it.indexed, count: it.positions.len() };
        Self::of("particle", groups.iter().map(group))
    }

    /// The names of loose bodies.
    pub fn loose(robots: impl Iterator<Item = &'p Robot>) -> Self {
        let group = |it: &'p Robot| Group { name: &it.name, indexed: it.indexed(), count: it.bodies.len() };
        Self::of("body", robots.map(group))
    }

    fn of(word: &'static str, groups: impl Iterator<Item = Group<'p>>) -> Self {
        let groups: Vec<Group<'p>> = groups.collect();
        let mut firsts = Vec::with_capacity(groups.len());
        let mut by_name = HashMap::with_capacity(groups.len());
        let mut first = 0;
        for (at, group) in groups.iter().enumerate() {
            firsts.push(first);
            first += group.count;
            by_name.entry(group.name).or_insert(at);
        }
        Self { word, groups, firsts, by_name }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether a name such as `ball` or `chain[3]` begins with one of a group.
    fn knows(&self, name: &str) -> bool {
        self.by_name.contains_key(split(name).0)
    }

    /// The one of a name such as `ball` or `chain[3]`, counted over all groups.
    pub fn index(&self, name: &str) -> Result<usize, Invalid> {
        self.find(name).map(|(group, index)| self.firsts[group] + index)
    }

    /// The group of a name such as `ball` or `chain[3]`, and which of it.
    fn find(&self, name: &str) -> Result<(usize, usize), Invalid> {
        let (base, index) = split(name);
        let Some(&at) = self.by_name.get(base) else {
            return Err(self.unknown(name));
        };
        let group = &self.groups[at];
        let word = self.word;
        let invalid = |what: String, fix: String| Err(Invalid::new(name, what, fix));
        match (group.indexed, index) {
            (false, None) => Ok((at, 0)),
            (true, Some(index)) if index < group.count => Ok((at, index)),
            (true, Some(_)) => {
                invalid(format!("there is no {word} {}", words::quoted(name)), self.range(group))
            }
            (true, None) => {
                let count = words::counted(group.count, word);
                invalid(
                    format!("{} is a group of {count}, and one is wanted", words::quoted(name)),
                    self.range(group),
                )
            }
            (false, Some(_)) => invalid(
                format!("{} is a single {word}, and has no index", words::quoted(base)),
                format!("write {}", words::quoted(base)),
            ),
        }
    }

    /// The particles of the group of this name.
    pub fn group(&self, name: &str) -> Result<std::ops::Range<usize>, Invalid> {
        let at = *self.by_name.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.groups.iter().map(|group| group.name).collect();
            let what = format!("there is no group of particles {}", words::quoted(name));
            let fix = words::suggest(name, &names, format!("the groups are {}", words::list(&names)));
            Invalid::new(name, what, fix)
        })?;
        Ok(self.firsts[at]..self.firsts[at] + self.groups[at].count)
    }

    /// The particles that a name or a glob stands for; the name of a group stands for all of it.
    pub fn matching(&self, pattern: &str) -> Vec<usize> {
        if let Ok(index) = self.index(pattern) {
            return vec![index];
        }
        let mut found = Vec::new();
        for (group, &first) in self.groups.iter().zip(&self.firsts) {
            let all = words::glob(pattern, group.name);
            let one = |i: usize| group.indexed && words::glob(pattern, &format!("{}[{i}]", group.name));
            found.extend((0..group.count).filter(|&i| all || one(i)).map(|i| first + i));
        }
        found
    }

    /// None has this name.
    pub fn unknown(&self, name: &str) -> Invalid {
        let what = format!("there is no {} {}", self.word, words::quoted(name));
        let all = format!("the {} are {}", words::plural(self.word), self.all());
        Invalid::new(name, what, words::did_you_mean(self.near(name), all))
    }

    /// The name that was probably meant.
    fn near(&self, name: &str) -> Option<String> {
        let (base, index) = split(name);
        let names: Vec<&str> = self.groups.iter().map(|group| group.name).collect();
        words::nearest(base, &names).map(|near| {
            let group = &self.groups[self.by_name[near]];
            match index {
                Some(index) if group.indexed && index < group.count => format!("`{near}[{index}]`"),
                Some(_) | None if group.indexed => format!("one of `{near}`"),
                Some(_) | None => format!("`{near}`"),
            }
        })
    }

    /// All names, in words.
    fn all(&self) -> String {
        words::joined(self.groups.len(), self.groups.iter().map(span))
    }

    fn range(&self, group: &Group<'_>) -> String {
        match group.count {
            0 => {
                let (name, things) = (words::quoted(group.name), words::plural(self.word));
                format!("the group {name} is empty: give it {things}")
            }
            1 => format!("write `{}[0]`", group.name),
            count => format!("choose from `{0}[0]` to `{0}[{1}]`", group.name, count - 1),
        }
    }
}

/// `chain[3]` as `chain` and 3.
fn split(name: &str) -> (&str, Option<usize>) {
    name.strip_suffix(']')
        .and_then(|name| name.split_once('['))
        .and_then(|(base, index)| Some((base, Some(index.parse().ok()?))))
        .unwrap_or((name, None))
}

/// The names of a group.
fn span(group: &Group<'_>) -> String {
    match (group.indexed, group.count) {
        (false, _) => words::quoted(group.name),
        (true, 0 | 1) => format!("`{}[0]`", group.name),
        (true, count) => format!("`{0}[0]` to `{0}[{1}]`", group.name, count - 1),
    }
}
