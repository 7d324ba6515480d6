//! Values of a file with their key paths, and what is said when they are of the wrong type.

use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use crate::check::not_finite;
use crate::error::Invalid;
use crate::path::Path;
use crate::robot::orientation::unit;
use crate::words;

/// The keys that a table may have, each with an example of how it is written.
pub(super) type Keys = &'static [(&'static str, &'static str)];

/// A value of the file.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    value: &'a DeValue<'a>,
    path: Path<'a>,
    /// How such a value is written.
    example: &'a str,
}

impl<'a> Node<'a> {
    /// An error here.
    pub fn invalid(&self, what: impl Into<String>, fix: impl Into<String>) -> Invalid {
        Invalid::new(self.path.to_string(), what, fix)
    }

    /// The same value, which is written like this.
    pub fn like(self, example: &'a str) -> Self {
        Self { example, ..self }
    }

    /// Where this is, for checks.
    pub fn path(&self) -> String {
        self.path.to_string()
    }

    /// An error of something else, moved here.
    pub fn moved(&self, invalid: Invalid) -> Invalid {
        invalid.at(self.path.to_string())
    }

    /// The value is none of what is wanted.
    pub fn wrong(&self, wanted: &str) -> Invalid {
        let what = format!("{} was found, and {wanted} is wanted", found(self.value));
        self.invalid(what, format!("write it like `{}`", self.example))
    }

    pub fn text(&self) -> Result<&'a str, Invalid> {
        self.value.as_str().ok_or_else(|| self.wrong("a text"))
    }

    pub fn flag(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// `true` or `false`.
    pub fn yes(&self) -> Result<bool, Invalid> {
        self.flag().ok_or_else(|| self.wrong("`true` or `false`"))
    }

    pub fn is_text(&self) -> bool {
        self.value.is_str()
    }

    pub fn is_table(&self) -> bool {
        self.value.is_table()
    }

    pub fn is_whole(&self) -> bool {
        self.value.is_integer()
    }

    /// A finite number; integers are numbers too.
    pub fn number(&self) -> Result<f64, Invalid> {
        let value = match self.value {
            DeValue::Float(float) => float_value(float),
            DeValue::Integer(integer) => integer_value(integer),
            DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        };
        match value {
            Some(value) if value.is_finite() => Ok(value),
            Some(_) => Err(self.moved(not_finite(&found(self.value)))),
            None => Err(self.wrong("a number")),
        }
    }

    /// A whole number, 0 or more.
    pub fn whole(&self) -> Result<usize, Invalid> {
        let wanted = "a whole number, 0 or more,";
        let integer = self.value.as_integer().ok_or_else(|| self.wrong(wanted))?;
        if integer.as_str().starts_with('-') {
            return Err(self.wrong(wanted));
        }
        usize::from_str_radix(integer.as_str().trim_start_matches('+'), integer.radix()).map_err(|_| {
            self.invalid(
                format!("{} is too large", found(self.value)),
                format!("write it like `{}`", self.example),
            )
        })
    }

    /// How many items the list has.
    pub fn len(&self) -> Result<usize, Invalid> {
        self.value.as_array().map(|array| array.len()).ok_or_else(|| self.wrong("a list"))
    }

    /// The first item of a list, if this is one.
    pub fn first(&self) -> Option<Node<'_>> {
        let value = self.value.as_array()?.first()?;
        Some(Node { value: value.get_ref(), path: Path::Item(&self.path, 0), example: self.example })
    }

    /// Reads each item of a list.
    pub fn items<T, E: From<Invalid>>(
        &self,
        wanted: &str,
        mut read: impl FnMut(&Node<'_>) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let array = self.value.as_array().ok_or_else(|| self.wrong(wanted))?;
        let item = |(i, value)| read(&Node { value, path: Path::Item(&self.path, i), example: self.example });
        array.iter().map(|value| value.get_ref()).enumerate().map(item).collect()
    }

    /// Three numbers.
    pub fn vector(&self) -> Result<[f64; 3], Invalid> {
        self.array("a list of three numbers")
    }

    /// A list of so many numbers.
    pub fn array<const N: usize>(&self, wanted: &str) -> Result<[f64; N], Invalid> {
        let array = self.value.as_array().ok_or_else(|| self.wrong(wanted))?;
        if array.len() != N {
            return Err(self.wrong(wanted));
        }
        let mut numbers = [0.0; N];
        for (i, number) in numbers.iter_mut().enumerate() {
            let path = Path::Item(&self.path, i);
            *number = Node { value: array[i].get_ref(), path, example: self.example }.number()?;
        }
        Ok(numbers)
    }

    /// A direction: three numbers of any length but zero, made a unit vector.
    pub fn direction(&self) -> Result<[f64; 3], Invalid> {
        self.unit("a list of three numbers", "direction")
    }

    /// An orientation: a quaternion (w, x, y, z) of any length but zero, made a unit quaternion.
    pub fn orientation(&self) -> Result<[f64; 4], Invalid> {
        self.unit("a list of four numbers, a quaternion (w, x, y, z),", "orientation")
    }

    fn unit<const N: usize>(&self, wanted: &str, word: &str) -> Result<[f64; N], Invalid> {
        let numbers: [f64; N] = self.array(wanted)?;
        unit(numbers).ok_or_else(|| {
            let fix = format!("write it like `{}`", self.example);
            self.invalid(format!("this {word} is zero"), fix)
        })
    }

    /// Numbers in a list.
    pub fn numbers(&self) -> Result<Vec<f64>, Invalid> {
        self.items("a list of numbers", |it| it.number())
    }

    /// A list of some of "x", "y" and "z".
    pub fn axes(&self) -> Result<[bool; 3], Invalid> {
        let mut axes = [false; 3];
        self.items("a list of axes", |node| {
            let axis = node.choose("axis", &[("x", 0), ("y", 1), ("z", 2)])?;
            axes[axis] = true;
            Ok::<(), Invalid>(())
        })?;
        Ok(axes)
    }

    /// Keys that are names of something else, with their values, in the order of the file.
    pub fn entries(&self) -> Result<Vec<(&'a str, Node<'_>)>, Invalid> {
        let table = self.value.as_table().ok_or_else(|| self.wrong("a table"))?;
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let entry =
            |(key, value): (&'a toml::Spanned<std::borrow::Cow<'a, str>>, &'a toml::Spanned<DeValue<'a>>)| {
                let key: &'a str = key.get_ref();
                (
                    key,
                    Node { value: value.get_ref(), path: Path::Key(&self.path, key), example: self.example },
                )
            };
        Ok(keys.into_iter().map(entry).collect())
    }

    /// One of a few named things.
    pub fn choose<T: Copy>(&self, word: &str, choices: &[(&str, T)]) -> Result<T, Invalid> {
        crate::names::choose(word, self.text()?, choices).map_err(|invalid| self.moved(invalid))
    }

    /// A table with these keys and no others.
    pub fn table(&self, keys: Keys) -> Result<Table<'_>, Invalid> {
        match self.value {
            DeValue::Table(table) => Table::new(table, &self.path, keys),
            DeValue::Array(_) if !self.example.starts_with("[[") && self.example.starts_with('[') => {
                Err(self.invalid(
                    "this section stands here as one of many",
                    format!("write `{}` once", self.example),
                ))
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => Err(self.wrong("a table")),
        }
    }
}

/// A table of the file, with the keys that it may have.
pub(super) struct Table<'a> {
    table: &'a DeTable<'a>,
    path: &'a Path<'a>,
    keys: Keys,
}

impl<'a> Table<'a> {
    /// The whole file.
    pub fn root(table: &'a DeTable<'a>, keys: Keys) -> Result<Self, Invalid> {
        Self::new(table, &Path::Root, keys)
    }

    /// Refuses unknown keys first: a slip in a key is better named than the key that is then missing.
    fn new(table: &'a DeTable<'a>, path: &'a Path<'a>, keys: Keys) -> Result<Self, Invalid> {
        let known = |key: &str| keys.iter().any(|(known, _)| *known == key);
        let unknown = table.keys().filter(|key| !known(key.get_ref())).min_by_key(|key| key.span().start);
        let Some(key) = unknown else {
            return Ok(Self { table, path, keys });
        };
        let key = key.get_ref();
        let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
        let fix = words::suggest(key, &names, format!("the keys here are {}", words::list(&names)));
        let thing = if matches!(path, Path::Root) { "key or section" } else { "key" };
        let what = format!("unknown {thing} {}", words::quoted(key));
        Err(Invalid::new(Path::Key(path, key).to_string(), what, fix))
    }

    /// How a key is written.
    fn example(&self, key: &str) -> &'static str {
        self.keys.iter().find(|(name, _)| *name == key).map_or("", |(_, example)| example)
    }

    /// An error at a key, which need not be there.
    pub fn invalid(&self, key: &str, what: impl Into<String>, fix: impl Into<String>) -> Invalid {
        Invalid::new(Path::Key(self.path, key).to_string(), what, fix)
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value of a key, if it is there.
    pub fn get<'b>(&'b self, key: &'b str) -> Option<Node<'b>> {
        let value = self.table.get(key)?.get_ref();
        Some(Node { value, path: Path::Key(self.path, key), example: self.example(key) })
    }

    /// The value of a key that must be there.
    pub fn need<'b>(&'b self, key: &'b str) -> Result<Node<'b>, Invalid> {
        self.get(key).ok_or_else(|| {
            self.invalid(key, format!("the key `{key}` is missing"), format!("add `{}`", self.example(key)))
        })
    }

    /// All that is missing, with examples.
    pub fn missing(&self, keys: &[&str], what: impl Into<String>) -> Invalid {
        let examples: Vec<&str> = keys.iter().map(|key| self.example(key)).collect();
        self.invalid(keys[0], what, format!("add {}", words::list(&examples)))
    }

    /// The name of the thing that the table describes.
    pub fn name(&self) -> Result<String, Invalid> {
        Ok(self.need("name")?.text()?.to_owned())
    }

    /// A key that is there or not.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Node<'_>) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Invalid> {
        self.get(key).map(|node| read(&node)).transpose()
    }

    /// Refuses keys that such a thing does not have: `a ball joint has no axis`.
    pub fn refuse(&self, thing: &str, keys: &[&str]) -> Result<(), Invalid> {
        match keys.iter().find(|key| self.has(key)) {
            Some(key) => Err(self.invalid(key, format!("{thing} has no `{key}`"), "leave it out")),
            None => Ok(()),
        }
    }

    /// Which one of several keys is there; two at a time contradict each other.
    pub fn one_of(&self, keys: &[&'static str]) -> Result<Option<&'static str>, Invalid> {
        let given: Vec<&str> = keys.iter().copied().filter(|key| self.has(key)).collect();
        match given.as_slice() {
            [] => Ok(None),
            [first, second, ..] => {
                let what = format!("`{first}` and `{second}` are both given");
                Err(self.invalid(second, what, "keep one of the two"))
            }
            [one] => Ok(keys.iter().copied().find(|key| key == one)),
        }
    }

    /// As [`Table::one_of`], but one must be there.
    pub fn need_one_of(&self, keys: &[&'static str]) -> Result<&'static str, Invalid> {
        self.one_of(keys)?.ok_or_else(|| {
            let examples: Vec<String> = keys.iter().map(|key| format!("`{}`", self.example(key))).collect();
            let what = format!("one of {} is missing", words::list(keys));
            self.invalid(keys[0], what, format!("add {}", examples.join(" or ")))
        })
    }

    /// A value for each of `count` things: one key gives the same for all, the other a list.
    pub fn each<T: Clone>(
        &self,
        [one, many]: [&'static str; 2],
        count: usize,
        read: impl Fn(&Node<'_>) -> Result<T, Invalid>,
    ) -> Result<Option<Vec<T>>, Invalid> {
        let Some(key) = self.one_of(&[one, many])? else {
            return Ok(None);
        };
        let node = self.need(key)?;
        if key == many { node.items("a list", read) } else { read(&node).map(|value| vec![value; count]) }
            .map(Some)
    }

    /// As [`Table::each`], but it must be there.
    pub fn need_each<T: Clone>(
        &self,
        keys: [&'static str; 2],
        count: usize,
        read: impl Fn(&Node<'_>) -> Result<T, Invalid>,
    ) -> Result<Vec<T>, Invalid> {
        self.need_one_of(&keys)?;
        Ok(self.each(keys, count, read)?.unwrap_or_default())
    }

    /// All sections of a kind that may stand many times.
    pub fn sections<T, E: From<Invalid>>(
        &self,
        key: &str,
        read: impl FnMut(&Node<'_>) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let Some(node) = self.get(key) else {
            return Ok(Vec::new());
        };
        if node.is_table() {
            let section = match self.path {
                Path::Root => key.to_owned(),
                // `[[robots.joints]]`: files do not write the index.
                Path::Item(Path::Key(_, outer), _) => format!("{outer}.{key}"),
                path @ (Path::Key(..) | Path::Item(..)) => Path::Key(path, key).to_string(),
            };
            let what =
                format!("`[{section}]` has one pair of brackets, and there may be many of these sections");
            return Err(node.invalid(what, format!("write `[[{section}]]`")).into());
        }
        node.items("a list of sections", read)
    }
}

/// A value in words.
fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.is_empty() => "an empty text".into(),
        DeValue::String(text) => format!("the text {}", words::quoted(text)),
        DeValue::Integer(integer) => format!("the number {}", words::quoted(&integer.to_string())),
        DeValue::Float(float) => format!("the number {}", words::quoted(float.as_str())),
        DeValue::Boolean(flag) => format!("`{flag}`"),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(array) => format!("a list of length {}", array.len()),
        DeValue::Table(_) => "a table".into(),
    }
}

fn float_value(float: &DeFloat<'_>) -> Option<f64> {
    float.as_str().parse().ok()
}

/// An integer as a number, rounded when it has more than 53 bits.
fn integer_value(integer: &DeInteger<'_>) -> Option<f64> {
    match integer.radix() {
        10 => integer.as_str().parse().ok(),
        radix => i128::from_str_radix(integer.as_str(), radix).ok().map(|value| value as f64),
    }
}
