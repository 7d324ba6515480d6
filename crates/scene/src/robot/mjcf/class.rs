//! Default classes: what elements are before they say anything themselves.

use std::collections::HashMap;

use super::actuator::ActuatorSpec;
use super::asset::MeshSpec;
use super::compiler::Compiler;
use super::geom::GeomSpec;
use super::joint::JointSpec;
use super::parts::Tree;
use super::site::SiteSpec;
use super::tendon::TendonSpec;
use crate::error::Error;
use crate::robot::xml::Element;
use crate::words;

/// Most classes: each is a copy of the one around it.
const MOST_CLASSES: usize = 10_000;

/// What each kind of element starts from.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub joint: JointSpec,
    pub geom: GeomSpec,
    pub site: SiteSpec,
    pub mesh: MeshSpec,
    /// Colour of materials.
    pub material: Option<[f64; 4]>,
    pub tendon: TendonSpec,
    pub actuator: ActuatorSpec,
}

/// All classes; the first is `main`.
#[derive(Debug)]
pub(super) struct Classes {
    classes: Vec<Class>,
    by_name: HashMap<String, usize>,
}

/// The class of everything that names none.
pub(super) const MAIN: usize = 0;

impl Classes {
    /// Reads all `<default>`. A class starts as a copy of the class around it, with all that this says of itself.
    pub fn read(tree: &Tree<'_>, compiler: &Compiler) -> Result<Self, Error> {
        let mut classes =
            Self { classes: vec![Class::default()], by_name: HashMap::from([("main".to_owned(), MAIN)]) };
        for section in tree.sections("default") {
            if let Some(name) = section.text("class")
                && name != "main"
            {
                let what = format!("the outermost class is `main`, and not {}", words::quoted(name));
                return Err(section.error_at("class", what, "put a `<default>` around it"));
            }
            let mut waiting = vec![(section, MAIN)];
            while let Some((element, at)) = waiting.pop() {
                let children = tree.children(element);
                for child in &children {
                    classes.classes[at].read(*child, compiler)?;
                }
                for child in children.into_iter().filter(|child| child.name() == "default") {
                    waiting.push((child, classes.add(child, at)?));
                }
            }
        }
        Ok(classes)
    }

    fn add(&mut self, element: Element<'_>, around: usize) -> Result<usize, Error> {
        let name = element.required_text("class")?;
        let new = self.classes.len();
        if new == MOST_CLASSES {
            let what = format!("there are more than {MOST_CLASSES} default classes");
            return Err(element.error(what, "use fewer"));
        }
        if self.by_name.insert(name.to_owned(), new).is_some() {
            let what = format!("the class {} is there already", words::quoted(name));
            return Err(element.error_at("class", what, "give it another name"));
        }
        self.classes.push(self.classes[around].clone());
        Ok(new)
    }

    /// The class that an element names, if it does: by `class`, or for what is inside it, by `childclass`.
    pub fn named(&self, element: Element<'_>, attribute: &str) -> Result<Option<usize>, Error> {
        let Some(name) = element.text(attribute) else {
            return Ok(None);
        };
        self.by_name.get(name).copied().map(Some).ok_or_else(|| {
            let mut names: Vec<&String> = self.by_name.keys().collect();
            names.sort_unstable();
            let what = format!("there is no default class {}", words::quoted(name));
            let fix = words::suggest(
                name,
                names.iter().copied(),
                format!("the classes are {}", words::list(&names)),
            );
            element.error_at(attribute, what, fix)
        })
    }

    /// The class of an element inside of elements of the class `around`.
    pub fn of(&self, element: Element<'_>, around: usize) -> Result<&Class, Error> {
        Ok(&self.classes[self.named(element, "class")?.unwrap_or(around)])
    }
}

impl Class {
    fn read(&mut self, element: Element<'_>, compiler: &Compiler) -> Result<(), Error> {
        match element.name() {
            "joint" => self.joint.read(element),
            "geom" => self.geom.read(element, compiler),
            "site" => self.site.read(element, compiler),
            "mesh" => self.mesh.read(element),
            "tendon" => self.tendon.read(element),
            "material" => {
                self.material = element.numbers("rgba")?.or(self.material);
                Ok(())
            }
            "default" | "camera" | "light" | "pair" | "equality" => Ok(()),
            _ => self.actuator.read(element),
        }
    }
}
