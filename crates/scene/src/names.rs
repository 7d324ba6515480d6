//! Names: which are allowed, and the particles that they stand for.

use std::collections::HashMap;

use crate::error::Invalid;
use crate::particles::Particles;
use crate::words;

/// Names with a meaning of their own in the names of parameters.
pub(crate) const RESERVED: [&str; 5] = ["gravity", "wind", "ground", "initial", "control"];

/// Whether something may be called this.
pub(crate) fn allowed(name: &str) -> Result<(), Invalid> {
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
        Invalid::new(
            word,
            what,
            words::suggest(name, &names, format!("choose one of {}", words::list(&names))),
        )
    })
}

/// Finds particles by name. Of groups with one name it knows the first.
pub(crate) struct Names<'p> {
    groups: &'p [Particles],
    /// For each group, its first particle.
    firsts: Vec<usize>,
    by_name: HashMap<&'p str, usize>,
}

impl<'p> Names<'p> {
    pub fn new(groups: &'p [Particles]) -> Self {
        let mut firsts = Vec::with_capacity(groups.len());
        let mut by_name = HashMap::with_capacity(groups.len());
        let mut first = 0;
        for (at, group) in groups.iter().enumerate() {
            firsts.push(first);
            first += group.positions.len();
            by_name.entry(group.name.as_str()).or_insert(at);
        }
        Self { groups, firsts, by_name }
    }

    /// The particle of a name such as `ball` or `chain[3]`.
    pub fn index(&self, name: &str) -> Result<usize, Invalid> {
        let (base, index) = split(name);
        let Some(&at) = self.by_name.get(base) else {
            return Err(self.unknown(name));
        };
        let group = &self.groups[at];
        let invalid = |what: String, fix: String| Err(Invalid::new(name, what, fix));
        match (group.indexed, index) {
            (false, None) => Ok(self.firsts[at]),
            (true, Some(index)) if index < group.positions.len() => Ok(self.firsts[at] + index),
            (true, Some(_)) => invalid(format!("there is no particle {}", words::quoted(name)), range(group)),
            (true, None) => {
                let count = words::counted(group.positions.len(), "particle");
                invalid(
                    format!("{} is a group of {count}, and one is wanted", words::quoted(name)),
                    range(group),
                )
            }
            (false, Some(_)) => invalid(
                format!("{} is a single particle, and has no index", words::quoted(base)),
                format!("write {}", words::quoted(base)),
            ),
        }
    }

    /// The particles of the group of this name.
    pub fn group(&self, name: &str) -> Result<std::ops::Range<usize>, Invalid> {
        let at = *self.by_name.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
            let what = format!("there is no group of particles {}", words::quoted(name));
            let fix = words::suggest(name, &names, format!("the groups are {}", words::list(&names)));
            Invalid::new(name, what, fix)
        })?;
        Ok(self.firsts[at]..self.firsts[at] + self.groups[at].positions.len())
    }

    /// The particles that a name or a glob stands for; the name of a group stands for all of it.
    pub fn matching(&self, pattern: &str) -> Vec<usize> {
        if let Ok(index) = self.index(pattern) {
            return vec![index];
        }
        let mut found = Vec::new();
        for (group, &first) in self.groups.iter().zip(&self.firsts) {
            let all = words::glob(pattern, &group.name);
            let one = |i: usize| group.indexed && words::glob(pattern, &format!("{}[{i}]", group.name));
            found.extend((0..group.positions.len()).filter(|&i| all || one(i)).map(|i| first + i));
        }
        found
    }

    /// No particle has this name.
    pub fn unknown(&self, name: &str) -> Invalid {
        let (base, index) = split(name);
        let names: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
        let near = words::nearest(base, &names).map(|near| {
            let group = &self.groups[self.by_name[near]];
            match index {
                Some(index) if group.indexed && index < group.positions.len() => {
                    format!("`{near}[{index}]`")
                }
                Some(_) | None if group.indexed => format!("one of `{near}`"),
                Some(_) | None => format!("`{near}`"),
            }
        });
        let all = words::joined(self.groups.len(), self.groups.iter().map(span));
        let what = format!("there is no particle {}", words::quoted(name));
        Invalid::new(name, what, words::did_you_mean(near, format!("the particles are {all}")))
    }
}

/// `chain[3]` as `chain` and 3.
fn split(name: &str) -> (&str, Option<usize>) {
    name.strip_suffix(']')
        .and_then(|name| name.split_once('['))
        .and_then(|(base, index)| Some((base, Some(index.parse().ok()?))))
        .unwrap_or((name, None))
}

/// The names of a group's particles.
fn span(group: &Particles) -> String {
    match (group.indexed, group.positions.len()) {
        (false, _) => words::quoted(&group.name),
        (true, 0 | 1) => format!("`{}[0]`", group.name),
        (true, count) => format!("`{0}[0]` to `{0}[{1}]`", group.name, count - 1),
    }
}

fn range(group: &Particles) -> String {
    match group.positions.len() {
        0 => format!("the group {} is empty: give it particles", words::quoted(&group.name)),
        1 => format!("write `{}[0]`", group.name),
        count => format!("choose from `{0}[0]` to `{0}[{1}]`", group.name, count - 1),
    }
}
