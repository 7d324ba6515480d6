//! URDF, the format of ROS: links that joints connect to one tree.
//!
//! The frame of a link is that of the joint that it hangs from; the frame of the root is that of the world. A joint turns
//! about, or slides along, its axis through the origin of that frame.

mod joint;
mod link;

use std::collections::HashMap;

use super::files::{Base, Files, Load};
use super::findings::Findings;
use super::load::Loaded;
use super::mesh::Meshes;
use super::xml::{self, Element, Xml};
use super::xml_text::Text;
use super::{Body, Joint, JointKind, Placement, Robot, orientation};
use crate::error::Error;
use crate::words;
use joint::Connection;

/// What the joint is called that lets a robot move freely.
const FREE: &str = "root";

/// Elements of `<robot>`; the last three say nothing that is simulated.
const ELEMENTS: [&str; 6] = ["link", "joint", "material", "transmission", "gazebo", "sensor"];

/// Reads a robot.
pub(crate) fn read(text: &Text, files: &mut Files, load: &Load) -> Result<Loaded, Error> {
    let xml = Xml::parse(text)?;
    let root = xml.root();
    if let Some(macros) = root.macros() {
        return Err(xml::xacro(root.file(), Some(macros.position())));
    }
    let mut reader = Reader {
        files,
        load,
        findings: Findings::new(load.lenient),
        meshes: Meshes::default(),
        colors: HashMap::new(),
        robot: Robot::default(),
        bodies: Vec::new(),
        joints: Vec::new(),
        mimics: Vec::new(),
    };
    reader.read(root)?;
    let warnings = reader.findings.finish(text.file())?;
    Ok(Loaded { robot: reader.robot, warnings })
}

/// What is being read.
struct Reader<'r, 'x> {
    files: &'r mut Files,
    load: &'r Load,
    findings: Findings,
    meshes: Meshes,
    /// Colours of materials.
    colors: HashMap<&'x str, [f64; 4]>,
    robot: Robot,
    /// The elements that the bodies and joints of the robot come from.
    bodies: Vec<Element<'x>>,
    joints: Vec<Element<'x>>,
    /// Joints that follow others, whose names are looked up in the end.
    mimics: Vec<(usize, Element<'x>)>,
}

impl<'x> Reader<'_, 'x> {
    fn read(&mut self, root: Element<'x>) -> Result<(), Error> {
        self.findings.warn_of_unknown(root, &["name", "version"], &ELEMENTS);
        self.robot.name = match root.text("name") {
            Some(name) if !name.trim().is_empty() => name.to_owned(),
            Some(_) | None => {
                self.files.itself().file_stem().unwrap_or_default().to_string_lossy().into_owned()
            }
        };
        for material in root.all("material") {
            self.material(material)?;
        }
        let tree = Tree::new(root)?;
        let base = tree.base();
        let mut placed: Vec<usize> = vec![0; tree.links.len()];
        for link in tree.order() {
            let above = tree.above[link].map(|at| &tree.connections[at]);
            placed[link] = self.robot.bodies.len();
            self.body(tree.links[link], above, above.map(|above| placed[above.parent]))?;
            match (above, self.load.base) {
                (None, Base::Free) if base.is_none() => self.free(root),
                (Some(_), Base::Fixed) if base == Some(link) => {}
                (Some(above), _) => self.joints(above, placed[link])?,
                (None, _) => {}
            }
        }
        self.follow()?;
        let attach = |invalid| xml::attach(invalid, root, &self.bodies, &self.joints);
        self.robot.check().map_err(attach)?;
        self.robot.harden_limits().map_err(attach)
    }

    /// A link, where the joint above it is.
    fn body(
        &mut self,
        link: Element<'x>,
        above: Option<&Connection<'x>>,
        parent: Option<usize>,
    ) -> Result<(), Error> {
        let name = link.required_text("name")?.to_owned();
        let inertial = self.inertial(link)?;
        let at = self.robot.bodies.len();
        let placement = match above {
            Some(above) => origin(above.element)?,
            None => Placement::default(),
        };
        self.robot.bodies.push(Body { name, parent, placement, inertial });
        self.bodies.push(link);
        self.shapes(link, at)
    }

    /// Lets the first body move freely.
    fn free(&mut self, root: Element<'x>) {
        self.robot.joints.push(Joint::new(FREE, 0, JointKind::Free, [0.0, 0.0, 1.0]));
        self.joints.push(root);
    }
}

/// `<origin xyz rpy>`, or the newer `quat_xyzw`, of an element; without one, the frame itself.
fn origin(element: Element<'_>) -> Result<Placement, Error> {
    let Some(origin) = element.child("origin")? else {
        return Ok(Placement::default());
    };
    let position = origin.numbers("xyz")?.unwrap_or_default();
    let orientation = match origin.numbers::<4>("quat_xyzw")? {
        Some([x, y, z, w]) => orientation::normalised([w, x, y, z]).ok_or_else(|| {
            origin.error_at("quat_xyzw", "the quaternion is zero", "write \"0 0 0 1\" for no turn")
        })?,
        None => orientation::from_rpy(origin.numbers("rpy")?.unwrap_or_default()),
    };
    Ok(Placement { position, orientation })
}

/// Links, and how joints connect them.
struct Tree<'x> {
    links: Vec<Element<'x>>,
    connections: Vec<Connection<'x>>,
    /// For each link, the connection that it hangs from.
    above: Vec<Option<usize>>,
}

impl<'x> Tree<'x> {
    fn new(root: Element<'x>) -> Result<Self, Error> {
        let links: Vec<Element<'x>> = root.all("link").collect();
        let by_name = named(&links)?;
        let elements: Vec<Element<'x>> = root.all("joint").collect();
        named(&elements)?;
        let mut above: Vec<Option<usize>> = vec![None; links.len()];
        let mut connections: Vec<Connection<'x>> = Vec::new();
        for element in elements {
            let connection = Connection::new(element, &by_name)?;
            let child = &mut above[connection.child];
            if let Some(first) = *child {
                let name = words::quoted(links[connection.child].text("name").unwrap_or_default());
                let other = words::quoted(connections[first].element.text("name").unwrap_or_default());
                let what = format!("{name} hangs from two joints: this one, and {other}");
                return Err(element.error(what, "remove one of the two; closed loops are not supported"));
            }
            *child = Some(connections.len());
            connections.push(connection);
        }
        let tree = Self { links, connections, above };
        tree.check(root)?;
        Ok(tree)
    }

    /// One root, and everything hangs from it.
    fn check(&self, root: Element<'x>) -> Result<(), Error> {
        let name = |link: usize| words::quoted(self.links[link].text("name").unwrap_or_default());
        if self.links.is_empty() {
            return Err(root.error("the robot has no links", "write `<link name=\"base\">` elements inside"));
        }
        let roots: Vec<usize> = (0..self.links.len()).filter(|&link| self.above[link].is_none()).collect();
        if let [first, second, ..] = roots[..] {
            let names = words::joined(roots.len(), roots.iter().map(|&link| name(link)));
            let what = format!("{} links hang from no joint: {names}", roots.len());
            let fix = format!("connect {} to {} by a joint, `fixed` perhaps", name(second), name(first));
            return Err(self.links[second].error(what, fix));
        }
        let mut reached = vec![false; self.links.len()];
        self.order().into_iter().for_each(|link| reached[link] = true);
        if let Some(lost) = reached.iter().position(|reached| !reached) {
            // Up from it, as often as there are links, is within the loop.
            let up = |link: usize| self.above[link].map_or(link, |at| self.connections[at].parent);
            let within = (0..self.links.len()).fold(lost, |link, _| up(link));
            let what = format!("{} hangs from itself: the joints above it form a loop", name(within));
            return Err(self.links[within].error(what, "let one of these joints hang from another link"));
        }
        Ok(())
    }

    /// The link that a floating joint connects to the world: its parent is fixed there, as links called `world` are.
    fn base(&self) -> Option<usize> {
        let mut held = vec![false; self.links.len()];
        for link in self.order() {
            let above = self.above[link].map(|at| &self.connections[at]);
            let from_world = above.is_none_or(|above| held[above.parent]);
            if from_world && above.is_some_and(Connection::is_floating) {
                return Some(link);
            }
            held[link] = from_world && above.is_none_or(Connection::is_fixed);
        }
        None
    }

    /// Links from the root on, each after its parent, depth first, siblings in the order of their joints.
    fn order(&self) -> Vec<usize> {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.links.len()];
        for connection in self.connections.iter().rev() {
            below[connection.parent].push(connection.child);
        }
        let mut order = Vec::new();
        let mut waiting: Vec<usize> = self.above.iter().position(Option::is_none).into_iter().collect();
        while let Some(link) = waiting.pop() {
            order.push(link);
            waiting.append(&mut below[link]);
        }
        order
    }
}

/// The places of elements by their names; two of one name are an error.
fn named<'x>(elements: &[Element<'x>]) -> Result<HashMap<&'x str, usize>, Error> {
    let mut places = HashMap::with_capacity(elements.len());
    for (at, element) in elements.iter().enumerate() {
        let name = element.required_text("name")?;
        if let Some(before) = places.insert(name, at) {
            let line = elements[before].position().line;
            let what = format!("{} has this name already, in line {line}", elements[before].shown());
            return Err(element.error_at("name", what, "give each a name of its own"));
        }
    }
    Ok(places)
}
