//! The page of a run: one file, no network, nothing but what is in it.

use std::fmt::Write;

use crate::changes::{self, Change};
use crate::number::bytes;
use crate::playback::{self, Playback};
use crate::plot::{NARROW, Plot, THEME, WIDE};
use crate::table::Table;
use crate::xml::{escape, link};

const PAGE: &str = include_str!("page.css");
/// From this many sections on the page has a table of contents.
const CONTENTS: usize = 4;

/// A page that tells what a run did: `report.html`.
///
/// Every text may hold any characters: it is shown, never run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    title: String,
    summary: Vec<(String, String)>,
    sections: Vec<Section>,
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    name: String,
    about: String,
    bytes: Option<u64>,
}

/// A part of a page, filled from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Section {
    title: String,
    body: String,
    has_playback: bool,
}

impl Section {
    /// Adds text. A blank line starts a new paragraph.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
            let _ = writeln!(self.body, "<p>{}</p>", escape(paragraph));
        }
        self
    }

    /// Adds text as it is, with its line breaks and spaces: the problem's file, a message.
    pub fn code(&mut self, text: &str) -> &mut Self {
        let _ = writeln!(self.body, "<pre>{}</pre>", escape(text));
        self
    }

    /// Adds a plot, drawn once for wide and once for narrow screens.
    pub fn plot(&mut self, plot: &Plot) -> &mut Self {
        let (wide, narrow) = (plot.inline(WIDE), plot.inline(NARROW));
        let _ = writeln!(
            self.body,
            "<figure class=\"pb-figure\"><div class=\"pb-wide\">{wide}</div>\
             <div class=\"pb-narrow\">{narrow}</div></figure>"
        );
        self
    }

    /// Adds a table.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        self.body.push_str(&table.html());
        self
    }

    /// Adds a table of parameters before and after, with bars for the changes.
    pub fn changes(&mut self, changes: &[Change]) -> &mut Self {
        self.body.push_str(&changes::html(changes));
        self
    }

    /// Adds trajectories in space that the reader can play, turn and zoom.
    pub fn playback(&mut self, playback: &Playback) -> &mut Self {
        self.body.push_str(&playback.html());
        self.has_playback = true;
        self
    }
}

impl Report {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Report { title: title.into(), ..Report::default() }
    }

    /// Adds facts at the top of the page: what ran, with what, how it ended.
    pub fn summary<K: AsRef<str>, V: AsRef<str>>(mut self, facts: &[(K, V)]) -> Self {
        self.summary.extend(facts.iter().map(|(k, v)| (k.as_ref().to_owned(), v.as_ref().to_owned())));
        self
    }

    /// Adds a section, filled by `fill`.
    pub fn section(mut self, title: impl Into<String>, fill: impl FnOnce(&mut Section)) -> Self {
        let mut section = Section { title: title.into(), ..Section::default() };
        fill(&mut section);
        self.sections.push(section);
        self
    }

    /// Adds a file that lies beside the page: its name, its size in bytes where known, and what it holds.
    pub fn file(mut self, name: impl Into<String>, bytes: Option<u64>, about: impl Into<String>) -> Self {
        self.files.push(File { name: name.into(), about: about.into(), bytes });
        self
    }

    /// The page.
    pub fn html(&self) -> String {
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{THEME}{PAGE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
            title = escape(&self.title)
        );
        self.write_summary(&mut out);
        self.write_contents(&mut out);
        for (i, section) in self.sections.iter().enumerate() {
            let _ = write!(
                out,
                "<section id=\"s{i}\">\n<h2>{}</h2>\n{}</section>\n",
                escape(&section.title),
                section.body
            );
        }
        self.write_files(&mut out);
        out.push_str("</main>\n");
        if self.sections.iter().any(|s| s.has_playback) {
            let _ = write!(out, "<script>\n{}</script>\n", playback::SCRIPT);
        }
        out.push_str("</body>\n</html>\n");
        out
    }

    fn write_summary(&self, out: &mut String) {
        if self.summary.is_empty() {
            return;
        }
        out.push_str("<dl class=\"pb-summary\">\n");
        for (key, value) in &self.summary {
            let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(key), escape(value));
        }
        out.push_str("</dl>\n");
    }

    fn write_contents(&self, out: &mut String) {
        if self.sections.len() < CONTENTS {
            return;
        }
        out.push_str("<nav aria-label=\"contents\"><ol>\n");
        for (i, section) in self.sections.iter().enumerate() {
            let _ = writeln!(out, "<li><a href=\"#s{i}\">{}</a></li>", escape(&section.title));
        }
        if !self.files.is_empty() {
            out.push_str("<li><a href=\"#files\">Files of this run</a></li>\n");
        }
        out.push_str("</ol></nav>\n");
    }

    fn write_files(&self, out: &mut String) {
        if self.files.is_empty() {
            return;
        }
        out.push_str(
            "<section id=\"files\">\n<h2>Files of this run</h2>\n<div class=\"pb-scroll\"><table><thead><tr>\
             <th>file</th><th class=\"pb-n\">size</th><th>contents</th></tr></thead><tbody>\n",
        );
        for file in &self.files {
            let _ = writeln!(
                out,
                "<tr><td><a href=\"{}\">{}</a></td><td class=\"pb-n\">{}</td><td>{}</td></tr>",
                link(&file.name),
                escape(&file.name),
                file.bytes.map_or(String::new(), bytes),
                escape(&file.about)
            );
        }
        out.push_str("</tbody></table></div>\n</section>\n");
    }
}

#[cfg(test)]
mod tests;
