//! Ranges, and whether they are limits.

use super::compiler::Compiler;
use crate::error::Error;
use crate::robot::xml::Element;

/// Two numbers, and whether they limit something; `None`: if the first is the smaller one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    pub ends: [f64; 2],
    pub limited: Option<bool>,
}

impl Range {
    /// Reads both attributes, where they are.
    pub fn read(&mut self, element: Element<'_>, ends: &str, limited: &str) -> Result<(), Error> {
        if let Some(numbers) = element.numbers(ends)? {
            self.ends = numbers;
        }
        if let Some(said) =
            element.choice(limited, &[("true", Some(true)), ("false", Some(false)), ("auto", None)])?
        {
            self.limited = said;
        }
        Ok(())
    }

    /// The limits, if it is limited.
    pub fn resolve(
        &self,
        element: Element<'_>,
        ends: &str,
        limited: &str,
        compiler: &Compiler,
    ) -> Result<Option<[f64; 2]>, Error> {
        let [least, greatest] = self.ends;
        match self.limited {
            Some(false) => Ok(None),
            None if !compiler.autolimits && self.ends != [0.0; 2] => Err(element.error_at(
                ends,
                format!("there is a range, and `{limited}` does not say whether it is a limit"),
                format!("write {limited}=\"true\", or leave autolimits=\"false\" of `<compiler>` out"),
            )),
            None if least < greatest => Ok(Some(self.ends)),
            None => Ok(None),
            Some(true) if least < greatest => Ok(Some(self.ends)),
            Some(true) => Err(element.error_at(
                ends,
                format!("it is limited from {least} to {greatest}"),
                format!("write {ends}=\"LEAST GREATEST\", the smaller number first"),
            )),
        }
    }
}
