//! A file and the files that it includes, as one tree.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::robot::files::Files;
use crate::robot::xml::{Element, Xml};
use crate::robot::xml_text::Text;
use crate::words;

/// Most elements of all files together.
const MOST_ELEMENTS: usize = 1_000_000;

/// Most elements inside each other, over all files.
pub(super) const DEEPEST: usize = 300;

/// The texts of included files, and which `<include>` stands for which.
#[derive(Default)]
pub(super) struct Texts {
    texts: Vec<Text>,
    /// For the file and the first byte of an `<include>`: the number of its text.
    includes: HashMap<(String, usize), usize>,
    read: HashSet<PathBuf>,
}

impl Texts {
    /// Reads everything that a text includes, and what that includes.
    pub fn gather(main: &Text, files: &mut Files) -> Result<Self, Error> {
        let mut texts = Self::default();
        let folder = files.folder().to_owned();
        texts.follow(main, &folder, files)?;
        Ok(texts)
    }

    /// Reads what `text` includes; it stands in `folder`.
    fn follow(&mut self, text: &Text, folder: &Path, files: &mut Files) -> Result<(), Error> {
        let xml = Xml::parse(text)?;
        for include in xml.root().descendants().filter(|element| element.name() == "include") {
            let name = include.required_text("file")?;
            if let Some(other) = include.attributes().find(|&name| name != "file") {
                return Err(include.error_at(
                    other,
                    "`<include>` has no such attribute",
                    "write `file` only",
                ));
            }
            // MuJoCo looks beside the robot's file first, and then beside the file that includes.
            let main = files.folder().to_owned();
            let path = files
                .find(&main, name)
                .or_else(|first| files.find(folder, name).map_err(|_| first))
                .map_err(|unread| include.error_at("file", unread.what, unread.fix))?;
            files.enter(&path).map_err(|unread| include.error_at("file", unread.what, unread.fix))?;
            if !self.read.insert(path.clone()) {
                let what = format!("{} is included twice", words::quoted(name));
                return Err(include.error_at("file", what, "include it once"));
            }
            let shown = files.shown(&path).display().to_string();
            let inner = files.text(&path).map_err(|unread| match unread.position {
                Some(_) => unread.of(&shown),
                None => include.error_at("file", unread.what, unread.fix),
            })?;
            let inner = Text::new(shown, inner)?;
            self.follow(&inner, path.parent().unwrap_or(&main), files)?;
            files.leave();
            self.includes.insert((include.file().to_owned(), include.start()), self.texts.len());
            self.texts.push(inner);
        }
        Ok(())
    }

    /// The included files, parsed.
    pub fn parse(&self) -> Result<Vec<Xml<'_>>, Error> {
        self.texts.iter().map(Xml::parse).collect()
    }
}

/// The tree of all files.
pub(super) struct Tree<'x> {
    root: Element<'x>,
    includes: HashMap<(&'x str, usize), Element<'x>>,
}

impl<'x> Tree<'x> {
    /// Of the main file, and what [`Texts::parse`] made of the others.
    pub fn new(main: &'x Xml<'_>, texts: &'x Texts, parsed: &'x [Xml<'_>]) -> Result<Self, Error> {
        let includes = texts
            .includes
            .iter()
            .map(|((file, start), &text)| ((file.as_str(), *start), parsed[text].root()))
            .collect();
        let tree = Self { root: main.root(), includes };
        tree.check_size()?;
        Ok(tree)
    }

    /// The outermost element of the main file.
    pub fn root(&self) -> Element<'x> {
        self.root
    }

    /// The elements of an element; in place of an `<include>`, those of its file.
    pub fn children(&self, element: Element<'x>) -> Vec<Element<'x>> {
        let mut children = Vec::new();
        self.collect(element, &mut children);
        children
    }

    /// Includes lie only a few files deep in each other, so that this may recur.
    fn collect(&self, element: Element<'x>, children: &mut Vec<Element<'x>>) {
        for child in element.children() {
            match self.includes.get(&(child.file(), child.start())) {
                Some(&included) => self.collect(included, children),
                None => children.push(child),
            }
        }
    }

    /// The elements of a name in all sections of a name: all `<motor>` of `<actuator>`.
    pub fn sections(&self, name: &str) -> Vec<Element<'x>> {
        self.children(self.root).into_iter().filter(|section| section.name() == name).collect()
    }

    /// Refuses trees that would take long, or that are too deep.
    fn check_size(&self) -> Result<(), Error> {
        let mut waiting = vec![(self.root, 1)];
        let mut count = 0;
        while let Some((element, depth)) = waiting.pop() {
            count += 1;
            if depth > DEEPEST {
                return Err(element.error(
                    format!("elements are more than {DEEPEST} deep inside each other"),
                    "nest them less",
                ));
            }
            if count > MOST_ELEMENTS {
                return Err(element.error(
                    format!("the files have more than {MOST_ELEMENTS} elements together"),
                    "divide the robot",
                ));
            }
            waiting.extend(self.children(element).into_iter().map(|child| (child, depth + 1)));
        }
        Ok(())
    }
}
