//! What a file says that is not supported, all of it in one error, and warnings.

use super::xml::Element;
use crate::error::Error;
use crate::words;

/// Most findings that are kept one by one.
const MOST_KEPT: usize = 100;

/// What is not supported in a file, and what its writer should know.
#[derive(Debug)]
pub(crate) struct Findings {
    lenient: bool,
    unsupported: Vec<Error>,
    unsupported_count: usize,
    warnings: Vec<Error>,
}

impl Findings {
    /// None yet. A lenient reader leaves out what is not supported, with a warning.
    pub fn new(lenient: bool) -> Self {
        Self { lenient, unsupported: Vec::new(), unsupported_count: 0, warnings: Vec::new() }
    }

    /// An element that is not supported, and why or what of it.
    pub fn unsupported(&mut self, element: Element<'_>, what: impl Into<String>) {
        self.unsupported_count += 1;
        if self.unsupported.len() < MOST_KEPT {
            self.unsupported.push(element.error(what, "remove it: it is left out"));
        }
    }

    /// An attribute that is not supported.
    pub fn unsupported_at(&mut self, element: Element<'_>, attribute: &str, what: impl Into<String>) {
        self.unsupported_count += 1;
        if self.unsupported.len() < MOST_KEPT {
            self.unsupported.push(element.error_at(attribute, what, "remove it: it is left out"));
        }
    }

    /// Something that its writer should know.
    pub fn warn(&mut self, warning: impl FnOnce() -> Error) {
        if self.warnings.len() < MOST_KEPT {
            self.warnings.push(warning());
        }
    }

    /// An error, which is only a warning to a lenient reader.
    pub fn refuse(&mut self, error: Error) -> Result<(), Error> {
        if !self.lenient {
            return Err(error);
        }
        self.warn(|| error);
        Ok(())
    }

    /// Elements and attributes of `element` that are not in the lists, as warnings.
    pub fn warn_of_unknown(&mut self, element: Element<'_>, attributes: &[&str], elements: &[&str]) {
        for attribute in element.attributes().filter(|name| !attributes.contains(name)) {
            let fix = || words::suggest(attribute, attributes, "it is not used: remove it");
            self.warn(|| element.error_at(attribute, "this attribute is not known", fix()));
        }
        for child in
            element.children().filter(|child| !child.is_foreign() && !elements.contains(&child.name()))
        {
            let fix = || words::suggest(child.name(), elements, "it is not used: remove it");
            self.warn(|| child.error(format!("{} has no such element", element.shown()), fix()));
        }
    }

    /// The warnings; or one error with everything that is not supported.
    pub fn finish(mut self, file: &str) -> Result<Vec<Error>, Error> {
        let more = self.unsupported_count - self.unsupported.len();
        if self.lenient || self.unsupported.is_empty() {
            self.unsupported.append(&mut self.warnings);
            return Ok(self.unsupported);
        }
        let things = match self.unsupported_count {
            1 => "1 thing in this file is not supported:".to_owned(),
            count => format!("{count} things in this file are not supported:"),
        };
        let mut lines = vec![things];
        for found in &self.unsupported {
            let position = found.position.map_or(String::new(), |at| format!("{}:{}:", at.line, at.column));
            lines.push(format!("  {}:{position} {}: {}", found.file, found.path, found.what));
        }
        if more > 0 {
            lines.push(format!("  and {more} more"));
        }
        Err(Error {
            file: file.to_owned(),
            position: None,
            path: String::new(),
            what: lines.join("\n"),
            fix: "remove what is listed, or load leniently (`--lenient`), which leaves it out".into(),
        })
    }
}
