//! XML with typed attributes; every error names the file, the line, the element and the fix.

use roxmltree::{Attribute, Document, Node, ParsingOptions};

use crate::error::{Error, Invalid, Position};
use crate::robot::xml_text::Text;
use crate::{names, words};

/// Most elements, texts and comments of a file.
const MOST_NODES: u32 = 1_000_000;

/// Longest list of numbers in an attribute.
const MOST_NUMBERS: usize = 3_000_000;

/// A parsed file.
#[derive(Debug)]
pub(crate) struct Xml<'t> {
    file: &'t str,
    document: Document<'t>,
}

/// An element of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'x> {
    file: &'x str,
    node: Node<'x, 'x>,
}

impl<'t> Xml<'t> {
    /// Parses a text.
    pub fn parse(text: &'t Text) -> Result<Self, Error> {
        let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, entity_resolver: None };
        let document = Document::parse_with_options(text.as_str(), options)
            .map_err(|error| not_xml(text.file(), text.as_str(), &error))?;
        Ok(Self { file: text.file(), document })
    }

    /// The outermost element.
    pub fn root(&self) -> Element<'_> {
        Element { file: self.file, node: self.document.root_element() }
    }
}

fn not_xml(file: &str, text: &str, error: &roxmltree::Error) -> Error {
    use roxmltree::Error as Wrong;
    let end = crate::source::position(text.as_bytes(), text.len());
    let at = error.pos();
    let mut position = Position { line: at.row as usize, column: at.col as usize };
    let (what, fix) = match error {
        Wrong::UnknownNamespace(prefix, _) if prefix == "xacro" => return xacro(file, Some(position)),
        Wrong::UnknownNamespace(prefix, _) => (
            format!("the prefix {} is not declared", words::quoted(prefix)),
            format!("declare it at the outermost element, `xmlns:{prefix}=\"...\"`, or leave it out"),
        ),
        Wrong::DtdDetected => (
            "the file has a document type (`<!DOCTYPE`), which is not read".into(),
            "remove it, and write its entities out".into(),
        ),
        Wrong::NodesLimitReached | Wrong::AttributesLimitReached | Wrong::NamespacesLimitReached => (
            format!("the file has more than {MOST_NODES} elements and texts"),
            "divide it, or check its name".into(),
        ),
        Wrong::UnclosedRootNode | Wrong::UnexpectedEndOfStream => {
            position = end;
            (
                "the file ends within an element".into(),
                "close it: `</robot>`, or check that the file is complete".into(),
            )
        }
        Wrong::NoRootNode => ("the file has no element".into(), "write a `<robot>` or a `<mujoco>`".into()),
        Wrong::UnexpectedCloseTag(expected, actual, _) => (
            format!("{} is closed by {}", words::quoted(expected), words::quoted(actual)),
            format!("close {} first, or remove one of the two", words::quoted(expected)),
        ),
        Wrong::DuplicatedAttribute(name, _) => {
            (format!("the attribute {} is written twice", words::quoted(name)), "keep one of the two".into())
        }
        other => {
            let whole = other.to_string();
            let message = whole.rsplit_once(" at ").map_or(whole.as_str(), |(message, _)| message);
            (
                format!("this is not XML: {}", words::quoted(message).trim_matches('`')),
                "elements are written `<link name=\"arm\"/>`".into(),
            )
        }
    };
    Error { file: file.into(), position: Some(position), path: String::new(), what, fix }
}

/// Macros of ROS must be expanded before.
pub(crate) fn xacro(file: &str, position: Option<Position>) -> Error {
    Error {
        file: file.into(),
        position,
        path: String::new(),
        what: "this is a xacro file: its macros are not expanded here".into(),
        fix: "expand them first: `xacro robot.urdf.xacro > robot.urdf` (a program of ROS)".into(),
    }
}

impl<'x> Element<'x> {
    /// Its name, without the prefix of a namespace.
    pub fn name(&self) -> &'x str {
        self.node.tag_name().name()
    }

    /// Whether it belongs to an extension, `<gazebo:plugin>`.
    pub fn is_foreign(&self) -> bool {
        self.node.tag_name().namespace().is_some()
    }

    /// The first macro of xacro in it, if there is one.
    pub fn macros(&self) -> Option<Element<'x>> {
        let file = self.file;
        let mut all = self.node.descendants();
        all.find(|node| node.tag_name().namespace().is_some_and(|space| space.contains("xacro")))
            .map(|node| Element { file, node })
    }

    /// The file that it stands in.
    pub fn file(&self) -> &'x str {
        self.file
    }

    /// The byte of the file that it starts at.
    pub fn start(&self) -> usize {
        self.node.range().start
    }

    /// Itself and all elements inside, as they are written.
    pub fn descendants(&self) -> impl Iterator<Item = Element<'x>> + use<'x> {
        let file = self.file;
        self.node.descendants().filter(Node::is_element).map(move |node| Element { file, node })
    }

    /// Where it starts. Counts the lines before it: for messages only.
    pub fn position(&self) -> Position {
        self.place(self.node.range().start)
    }

    fn place(&self, byte: usize) -> Position {
        let at = self.node.document().text_pos_at(byte);
        Position { line: at.row as usize, column: at.col as usize }
    }

    /// What messages call it: `<joint name="elbow">`.
    pub fn shown(&self) -> String {
        let name = self.name();
        match self.node.attribute("name") {
            Some(called) => format!("<{name} name=\"{}\">", words::quoted(called).trim_matches('`')),
            None => format!("<{name}>"),
        }
    }

    /// An error of this element.
    pub fn error(&self, what: impl Into<String>, fix: impl Into<String>) -> Error {
        Error {
            file: self.file.into(),
            position: Some(self.position()),
            path: self.shown(),
            what: what.into(),
            fix: fix.into(),
        }
    }

    /// An error of one of its attributes; of the element, when it has no such attribute.
    pub fn error_at(&self, attribute: &str, what: impl Into<String>, fix: impl Into<String>) -> Error {
        let mut error = self.error(what, fix);
        error.path = format!("{} {attribute}", error.path);
        if let Some(found) = self.attribute(attribute) {
            error.position = Some(self.place(found.range_value().start));
        }
        error
    }

    fn attribute(&self, name: &str) -> Option<Attribute<'x, 'x>> {
        self.node.attribute_node(name)
    }

    /// The names of its attributes.
    pub fn attributes(&self) -> impl Iterator<Item = &'x str> + use<'x> {
        self.node
            .attributes()
            .filter(|attribute| attribute.namespace().is_none())
            .map(|attribute| attribute.name())
    }

    /// Its elements.
    pub fn children(&self) -> impl Iterator<Item = Element<'x>> + use<'x> {
        let file = self.file;
        self.node.children().filter(Node::is_element).map(move |node| Element { file, node })
    }

    /// Its elements of a name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = Element<'x>> {
        self.children().filter(move |child| child.name() == name && !child.is_foreign())
    }

    /// Its element of a name; two are an error.
    pub fn child(&self, name: &str) -> Result<Option<Element<'x>>, Error> {
        let mut all = self.all(name);
        let first = all.next();
        match all.next() {
            Some(second) => {
                Err(second.error(format!("{} has two of these", self.shown()), "keep one of the two"))
            }
            None => Ok(first),
        }
    }

    /// Its element of a name, which must be there.
    pub fn required_child(&self, name: &str) -> Result<Element<'x>, Error> {
        self.child(name)?
            .ok_or_else(|| self.error(format!("it has no `<{name}>`"), format!("write a `<{name}>` inside")))
    }

    /// An attribute as it is written.
    pub fn text(&self, attribute: &str) -> Option<&'x str> {
        self.node.attribute(attribute)
    }

    /// An attribute that must be there, and not empty.
    pub fn required_text(&self, attribute: &str) -> Result<&'x str, Error> {
        match self.text(attribute) {
            None => Err(self.missing(attribute)),
            Some(text) if text.trim().is_empty() => {
                Err(self.error_at(attribute, "it is empty", format!("write {attribute}=\"...\"")))
            }
            Some(text) => Ok(text),
        }
    }

    /// The error of an attribute that is not there.
    pub fn missing(&self, attribute: &str) -> Error {
        let names: Vec<&str> = self.attributes().collect();
        let what = format!("the attribute `{attribute}` is missing");
        // Short names, ixx and ixy, are always near each other.
        let near = words::nearest(attribute, names.iter().copied()).filter(|_| attribute.len() > 3);
        let fix = match near {
            Some(near) => format!("is {} meant? Write {attribute}=\"...\"", words::quoted(near)),
            None => format!("write {attribute}=\"...\""),
        };
        self.error(what, fix)
    }

    /// A number.
    pub fn number(&self, attribute: &str) -> Result<Option<f64>, Error> {
        Ok(self.numbers::<1>(attribute)?.map(|[number]| number))
    }

    /// A number that must be there.
    pub fn required_number(&self, attribute: &str) -> Result<f64, Error> {
        self.number(attribute)?.ok_or_else(|| self.missing(attribute))
    }

    /// So many numbers.
    pub fn numbers<const N: usize>(&self, attribute: &str) -> Result<Option<[f64; N]>, Error> {
        let Some(list) = self.list(attribute)? else {
            return Ok(None);
        };
        <[f64; N]>::try_from(list).map(Some).map_err(|list| {
            let found = self.text(attribute).unwrap_or_default();
            let wanted = if N == 1 { "one number is wanted".into() } else { format!("{N} are wanted") };
            let what = match list.len() {
                0 => format!("it is empty, and {wanted}"),
                count => {
                    format!("{} is {}, and {wanted}", words::quoted(found), words::counted(count, "number"))
                }
            };
            let like = ["1", "2", "3", "4", "5", "6", "7"][..N.min(7)].join(" ");
            self.error_at(attribute, what, format!("write {attribute}=\"{like}\""))
        })
    }

    /// One number or more, for the first places of `numbers`; the rest stays.
    pub fn fill<const N: usize>(&self, attribute: &str, numbers: &mut [f64; N]) -> Result<(), Error> {
        let Some(list) = self.list(attribute)? else {
            return Ok(());
        };
        if list.is_empty() || list.len() > N {
            let what = format!("it has {}, and 1 to {N} are wanted", words::counted(list.len(), "number"));
            return Err(self.error_at(attribute, what, format!("write 1 to {N} numbers")));
        }
        numbers[..list.len()].copy_from_slice(&list);
        Ok(())
    }

    /// Numbers with spaces between them, however many.
    pub fn list(&self, attribute: &str) -> Result<Option<Vec<f64>>, Error> {
        let Some(text) = self.text(attribute) else {
            return Ok(None);
        };
        let mut list = Vec::new();
        for word in text.split_ascii_whitespace() {
            let number: f64 = word.parse().map_err(|_| {
                let what = format!("{} is no number", words::quoted(word));
                let fix = if word.starts_with('$') {
                    "expand the macros of this file first: `xacro robot.urdf.xacro > robot.urdf`"
                } else {
                    "write numbers such as 0.5 or -1e-3, with spaces between them"
                };
                self.error_at(attribute, what, fix)
            })?;
            if !number.is_finite() {
                let what = format!("{} is no finite number", words::quoted(word));
                return Err(self.error_at(attribute, what, "write a finite number"));
            }
            if list.len() == MOST_NUMBERS {
                let what = format!("it has more than {MOST_NUMBERS} numbers");
                return Err(self.error_at(
                    attribute,
                    what,
                    "write fewer, or put them into a file of their own",
                ));
            }
            list.push(number);
        }
        Ok(Some(list))
    }

    /// true or false.
    pub fn flag(&self, attribute: &str) -> Result<Option<bool>, Error> {
        self.choice(attribute, &[("true", true), ("false", false), ("1", true), ("0", false)])
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&self, attribute: &str, choices: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(text) = self.text(attribute) else {
            return Ok(None);
        };
        names::choose(attribute, text.trim(), choices)
            .map(Some)
            .map_err(|invalid| self.error_at(attribute, invalid.what, invalid.fix))
    }
}

/// The error of a description at the element that it was read from: `bodies[2].inertial` is of the third of `bodies`,
/// `joints[1].axis` of the second of `joints`, and everything else of the file.
pub(crate) fn attach(
    invalid: Invalid,
    root: Element<'_>,
    bodies: &[Element<'_>],
    joints: &[Element<'_>],
) -> Error {
    let index = |list: &str| -> Option<usize> {
        invalid.path.strip_prefix(list)?.strip_prefix('[')?.split(']').next()?.parse().ok()
    };
    let element =
        index("bodies").and_then(|at| bodies.get(at)).or(index("joints").and_then(|at| joints.get(at)));
    element.unwrap_or(&root).error(invalid.what, invalid.fix)
}
