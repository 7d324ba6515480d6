//! Checks of numbers.

use crate::error::Invalid;

/// What a number is and what it may be.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    word: &'static str,
    unit: &'static str,
    least: Least,
}

#[derive(Clone, Copy)]
enum Least {
    None,
    Zero,
    AboveZero,
}

impl Number {
    /// Any finite number.
    pub const fn any(word: &'static str, unit: &'static str) -> Self {
        Self { word, unit, least: Least::None }
    }

    /// Zero or more.
    pub const fn not_negative(word: &'static str, unit: &'static str) -> Self {
        Self { word, unit, least: Least::Zero }
    }

    /// More than zero.
    pub const fn positive(word: &'static str, unit: &'static str) -> Self {
        Self { word, unit, least: Least::AboveZero }
    }

    /// Checks one.
    pub fn check(self, path: &str, value: f64) -> Result<(), Invalid> {
        self.fault(value).map_or(Ok(()), |invalid| Err(invalid.at(path)))
    }

    /// Checks each of a list.
    pub fn check_all(self, path: &str, values: &[f64]) -> Result<(), Invalid> {
        match values.iter().enumerate().find_map(|(i, &value)| Some((i, self.fault(value)?))) {
            Some((i, invalid)) => Err(invalid.at(format!("{path}[{i}]"))),
            None => Ok(()),
        }
    }

    /// Checks the components of a vector.
    pub fn check_vector(self, path: &str, vector: &[f64; 3]) -> Result<(), Invalid> {
        self.check_all(path, vector)
    }

    /// Checks the components of each vector of a list.
    pub fn check_vectors(self, path: &str, vectors: &[[f64; 3]]) -> Result<(), Invalid> {
        match vectors.iter().position(|vector| vector.iter().any(|&value| self.fault(value).is_some())) {
            Some(i) => self.check_vector(&format!("{path}[{i}]"), &vectors[i]),
            None => Ok(()),
        }
    }

    fn fault(self, value: f64) -> Option<Invalid> {
        let Self { word, unit, least } = self;
        if !value.is_finite() {
            return Some(not_finite(&format!("the number `{value}`")));
        }
        let (fine, rule) = match least {
            Least::None => (true, ""),
            Least::Zero => (value >= 0.0, "0 or more"),
            Least::AboveZero => (value > 0.0, "more than 0"),
        };
        let unit_after = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        (!fine).then(|| {
            Invalid::new("", format!("the {word} is {value}"), format!("give a {word} of {rule}{unit_after}"))
        })
    }
}

/// A number that is none; the error is nowhere yet.
pub(crate) fn not_finite(shown: &str) -> Invalid {
    Invalid::new("", format!("{shown} is not finite"), "write a finite number")
}
