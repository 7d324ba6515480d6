//! The tree of bodies, and what is on them.

use std::collections::HashSet;

use super::asset::Assets;
use super::class::{Classes, MAIN};
use super::compiler::{InertiaFromGeom, Switches};
use super::geom::{GeomPart, Spot};
use super::inertia;
use super::joint::{JointPart, JointSpec};
use super::parts::Tree;
use super::turn;
use crate::error::Error;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::robot::{Base, Body, Frame, Inertial, Joint, JointKind, Placement};
use crate::words;

/// Most bodies of a robot.
const MOST_BODIES: usize = 50_000;

/// A body, until all that is on it is known.
#[derive(Clone, Debug)]
pub(super) struct BodyPart<'x> {
    pub element: Element<'x>,
    pub name: &'x str,
    pub parent: Option<usize>,
    pub placement: Placement,
    /// Its `pos`, without frames around it.
    pub own_position: [f64; 3],
    /// What `<inertial>` says.
    pub inertial: Option<Inertial>,
    /// The sum over its geoms, and how many they are.
    pub geoms: (Inertial, usize),
}

/// Everything that `<worldbody>` holds.
#[derive(Debug, Default)]
pub(super) struct Bodies<'x> {
    pub parts: Vec<BodyPart<'x>>,
    pub joints: Vec<JointPart<'x>>,
    pub geoms: Vec<GeomPart<'x>>,
    pub frames: Vec<Frame>,
    /// Free joints of the file, by their place among its joints, that were left out.
    pub left_out: Vec<&'x str>,
    /// All joints of the file, in its order.
    pub layout: Vec<Place>,
}

/// Where a joint of the file is, or a joint is that the file does not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// A joint of the robot.
    Kept(JointKind),
    /// One that the robot is without.
    LeftOut(JointKind),
    /// One that the file is without: its body's place.
    Added(Placement),
}

/// Where an element stands.
#[derive(Clone, Copy)]
struct Around {
    body: Option<usize>,
    frame: Placement,
    class: usize,
}

/// Reads bodies.
pub(super) struct Reader<'a, 'x, 'f> {
    pub tree: &'a Tree<'x>,
    pub classes: &'a Classes,
    pub switches: &'a Switches,
    pub assets: Assets<'x, 'f>,
    pub base: Base,
}

/// What has been met on the way through the tree.
#[derive(Default)]
struct Walk<'x> {
    bodies: Bodies<'x>,
    /// Joints, and whether they are kept.
    joints: Vec<(JointPart<'x>, bool)>,
    geoms: Vec<(Element<'x>, Around)>,
    sites: HashSet<String>,
}

impl<'x> Reader<'_, 'x, '_> {
    /// Reads all `<worldbody>`.
    pub fn read(mut self, findings: &mut Findings) -> Result<Bodies<'x>, Error> {
        let mut walk = Walk::default();
        let outside = Around { body: None, frame: Placement::default(), class: MAIN };
        let worlds = self.tree.sections("worldbody").into_iter();
        let mut waiting: Vec<(Element<'x>, Around)> =
            worlds.flat_map(|world| self.tree.children(world)).map(|element| (element, outside)).collect();
        waiting.reverse();
        while let Some((element, around)) = waiting.pop() {
            if let Some(inside) = self.visit(element, around, &mut walk, findings)? {
                waiting.extend(self.tree.children(element).into_iter().rev().map(|child| (child, inside)));
            }
        }
        // A body's own joints, geoms and sites come before those of the bodies inside it, wherever they are written.
        let Walk { mut bodies, mut joints, mut geoms, .. } = walk;
        joints.sort_by_key(|(part, _)| part.joint.body);
        geoms.sort_by_key(|(_, around)| around.body);
        bodies.frames.sort_by_key(|frame| frame.body);
        for (element, around) in geoms {
            self.geom(element, &around, &mut bodies, findings)?;
        }
        bodies.take_joints(joints)?;
        bodies.free_base(self.base);
        unique(&bodies)?;
        Ok(bodies)
    }

    /// Takes in one element; for bodies and frames, where the elements inside stand.
    fn visit(
        &self,
        element: Element<'x>,
        around: Around,
        walk: &mut Walk<'x>,
        findings: &mut Findings,
    ) -> Result<Option<Around>, Error> {
        let compiler = self.assets.compiler;
        let body_around = || around.body.ok_or_else(|| of_world(element));
        match element.name() {
            "body" => {
                let new = walk.bodies.parts.len();
                if new == MOST_BODIES {
                    let what = format!("there are more than {MOST_BODIES} bodies");
                    return Err(element.error(what, "divide the file"));
                }
                let (part, class) = self.body(element, &around, findings)?;
                walk.bodies.parts.push(part);
                return Ok(Some(Around { body: Some(new), frame: Placement::default(), class }));
            }
            "frame" => {
                let frame = around.frame.compose(&turn::placement(element, compiler)?);
                let class = self.classes.named(element, "childclass")?.unwrap_or(around.class);
                return Ok(Some(Around { frame, class, ..around }));
            }
            "inertial" => {
                let body = body_around()?;
                let read = inertia::read(element, compiler)?.moved(&around.frame);
                if walk.bodies.parts[body].inertial.replace(read).is_some() {
                    return Err(element.error("the body has two of these", "keep one of the two"));
                }
            }
            "joint" | "freejoint" => {
                let joint = self.joint(element, body_around()?, &around, &walk.bodies, findings)?;
                walk.joints.push(joint);
            }
            "geom" => walk.geoms.push((element, around)),
            "site" => {
                let mut spec = self.classes.of(element, around.class)?.site;
                spec.read(element, compiler)?;
                let frame = spec.build(element, around.body, &around.frame)?;
                if frame.as_ref().is_some_and(|frame| !walk.sites.insert(frame.name.clone())) {
                    return Err(twice(element, "sites"));
                }
                walk.bodies.frames.extend(frame);
            }
            "camera" | "light" => {}
            other => findings.unsupported(element, format!("`<{other}>` is not supported")),
        }
        Ok(None)
    }

    fn body(
        &self,
        element: Element<'x>,
        around: &Around,
        findings: &mut Findings,
    ) -> Result<(BodyPart<'x>, usize), Error> {
        let own = turn::placement(element, self.assets.compiler)?;
        if element.flag("mocap")? == Some(true) {
            findings.unsupported_at(
                element,
                "mocap",
                "bodies that are moved from outside: it stays where it is",
            );
        }
        if element.number("gravcomp")?.is_some_and(|share| share != 0.0) {
            findings.unsupported_at(element, "gravcomp", "gravity acts on all bodies alike");
        }
        let part = BodyPart {
            element,
            name: element.text("name").unwrap_or_default(),
            parent: around.body,
            placement: around.frame.compose(&own),
            own_position: own.position,
            inertial: None,
            geoms: (Inertial::default(), 0),
        };
        if part.name == "world" {
            return Err(element.error_at(
                "name",
                "`world` is the world itself",
                "give the body another name",
            ));
        }
        Ok((part, self.classes.named(element, "childclass")?.unwrap_or(around.class)))
    }

    /// A joint, and whether it is kept.
    fn joint(
        &self,
        element: Element<'x>,
        body: usize,
        around: &Around,
        bodies: &Bodies<'x>,
        findings: &mut Findings,
    ) -> Result<(JointPart<'x>, bool), Error> {
        let compiler = self.assets.compiler;
        let mut part = if element.name() == "joint" {
            let mut spec = self.classes.of(element, around.class)?.joint;
            spec.read(element)?;
            spec.build((element, body, &around.frame), compiler, self.switches, findings)?
        } else {
            let aligned =
                element.choice("align", &[("true", Some(true)), ("false", Some(false)), ("auto", None)])?;
            if aligned.flatten().unwrap_or(compiler.align_free) {
                let what = "the frame of the body stays as it is written";
                findings.unsupported(element, format!("alignment with the axes of inertia: {what}"));
            }
            JointSpec::default().build((element, body, &around.frame), compiler, self.switches, findings)?
        };
        if element.name() == "freejoint" {
            part.joint = Joint::new(part.joint.name, body, JointKind::Free, [0.0, 0.0, 1.0]);
        }
        if part.joint.kind == JointKind::Free && bodies.parts[body].parent.is_some() {
            let what = "a free joint is inside of another body";
            return Err(element.error(what, "put the body into `<worldbody>`, or use other joints"));
        }
        let kept = part.joint.kind != JointKind::Free || self.base != Base::Fixed;
        Ok((part, kept))
    }

    fn geom(
        &mut self,
        element: Element<'x>,
        around: &Around,
        bodies: &mut Bodies<'x>,
        findings: &mut Findings,
    ) -> Result<(), Error> {
        let mut spec = self.classes.of(element, around.class)?.geom.clone();
        spec.read(element, self.assets.compiler)?;
        let weighed = around.body.is_some_and(|body| match self.assets.compiler.inertia_from_geom {
            InertiaFromGeom::Never => false,
            InertiaFromGeom::Always => true,
            InertiaFromGeom::Auto => bodies.parts[body].inertial.is_none(),
        });
        let weighed = weighed && spec.counts(self.assets.compiler);
        let spot = Spot { body: around.body, frame: &around.frame, weighed };
        let built = spec.build(element, spot, &mut self.assets, findings)?;
        if let Some(body) = around.body.filter(|_| weighed) {
            let (sum, count) = &mut bodies.parts[body].geoms;
            *count += 1;
            if let Some((_, inertial)) = &built {
                // The first as it is: a mass of zero has a place too.
                *sum = if *count == 1 { *inertial } else { sum.plus(inertial) };
            }
        }
        bodies.geoms.extend(built.map(|(part, _)| part));
        Ok(())
    }
}

impl<'x> Bodies<'x> {
    /// Keeps the joints that are to be kept; a free joint has its body for itself.
    fn take_joints(&mut self, joints: Vec<(JointPart<'x>, bool)>) -> Result<(), Error> {
        for pair in joints.windows(2) {
            let free = pair.iter().any(|(part, _)| part.joint.kind == JointKind::Free);
            if free && pair[0].0.joint.body == pair[1].0.joint.body {
                let what = "a free joint and another move the same body";
                return Err(pair[1].0.element.error(what, "keep the free one: it moves in all ways"));
            }
        }
        for (part, kept) in joints {
            let kind = part.joint.kind;
            if kept {
                self.layout.push(Place::Kept(kind));
                self.joints.push(part);
            } else {
                self.layout.push(Place::LeftOut(kind));
                self.left_out.extend(part.element.text("name"));
            }
        }
        Ok(())
    }

    /// Gives the first body a free joint, if one is wanted and it has none.
    fn free_base(&mut self, base: Base) {
        let Some(part) = self.parts.first().filter(|_| base == Base::Free) else {
            return;
        };
        if self.joints.iter().any(|joint| joint.joint.body == 0) {
            return;
        }
        let joint = Joint::new("root", 0, JointKind::Free, [0.0, 0.0, 1.0]);
        self.layout.insert(0, Place::Added(part.placement));
        let element = part.element;
        let new = JointPart { joint, element, spring_damper: None, limit: [0.0; 2], force_range: None };
        self.joints.insert(0, new);
    }

    /// The bodies with their masses, and with names for those that have none.
    pub fn finish(&self, compiler: &super::compiler::Compiler) -> Result<Vec<Body>, Error> {
        let names = names(self.parts.iter().map(|part| part.name), "body");
        let bodies = self.parts.iter().zip(names).map(|(part, name)| {
            let inertial = inertia::of_body(part, compiler)?;
            Ok(Body { name, parent: part.parent, placement: part.placement, inertial })
        });
        let mut bodies = bodies.collect::<Result<Vec<Body>, Error>>()?;
        inertia::set_total(&mut bodies, compiler.total_mass);
        Ok(bodies)
    }
}

/// Names for things without: `body3` for the fourth.
pub(super) fn names<'n>(given: impl Iterator<Item = &'n str> + Clone, one: &str) -> Vec<String> {
    let mut taken: HashSet<String> = given.clone().map(str::to_owned).collect();
    given
        .enumerate()
        .map(|(at, name)| {
            if !name.is_empty() {
                return name.to_owned();
            }
            let mut new = format!("{one}{at}");
            while !taken.insert(new.clone()) {
                new.push('_');
            }
            new
        })
        .collect()
}

fn of_world(element: Element<'_>) -> Error {
    element.error("the world has no mass and does not move", "put it into a `<body>`")
}

fn twice(element: Element<'_>, kind: &str) -> Error {
    let what = format!("two {kind} are called {}", words::quoted(element.text("name").unwrap_or_default()));
    element.error_at("name", what, "give each a name of its own")
}

/// No two bodies, joints or geoms have one name.
fn unique(bodies: &Bodies<'_>) -> Result<(), Error> {
    let of = |kind: &str, elements: &mut dyn Iterator<Item = Element<'_>>| -> Result<(), Error> {
        let mut seen = HashSet::new();
        for element in elements {
            if let Some(name) = element.text("name").filter(|name| !name.is_empty())
                && !seen.insert(name.to_owned())
            {
                return Err(twice(element, kind));
            }
        }
        Ok(())
    };
    of("bodies", &mut bodies.parts.iter().map(|part| part.element))?;
    of("joints", &mut bodies.joints.iter().map(|part| part.element))?;
    of("geoms", &mut bodies.geoms.iter().map(|part| part.element))
}
