//! Which shapes may touch.

use std::collections::{BTreeSet, HashMap};

use super::geom::{GeomPart, unknown};
use super::parts::Tree;
use crate::error::Error;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::robot::{Body, Robot};

/// Most bodies whose pairs are looked at one by one.
const MOST_PAIRED: usize = 1000;

/// Fills in pairs of shapes that may touch, and pairs of bodies that do not: those of `<exclude>`, and those whose contype
/// and conaffinity have no bit in common.
pub(super) fn read(
    tree: &Tree<'_>,
    geoms: &[GeomPart<'_>],
    robot: &mut Robot,
    findings: &mut Findings,
) -> Result<(), Error> {
    let shapes: HashMap<&str, usize> =
        geoms.iter().enumerate().filter_map(|(at, part)| Some((part.element.text("name")?, at))).collect();
    let mut excluded = masked(geoms, robot.bodies.len());
    for section in tree.sections("contact") {
        for element in tree.children(section) {
            if element.name() == "pair" {
                let mut pair = [0; 2];
                for (attribute, at) in ["geom1", "geom2"].into_iter().zip(&mut pair) {
                    let name = element.required_text(attribute)?;
                    *at = *shapes.get(name).ok_or_else(|| {
                        let names = geoms.iter().map(|part| part.shape.name.as_str());
                        unknown(element, attribute, "geom", names)
                    })?;
                }
                robot.contact_pairs.push(pair);
                continue;
            }
            let pair = [body(element, "body1", &robot.bodies)?, body(element, "body2", &robot.bodies)?];
            match pair {
                [Some(a), Some(b)] => {
                    excluded.insert([a.min(b), a.max(b)]);
                }
                _ => findings.unsupported(element, "bodies are not kept from touching the world"),
            }
        }
    }
    robot.contact_excludes = excluded.into_iter().collect();
    Ok(())
}

/// `None`: the world.
fn body(element: Element<'_>, attribute: &str, bodies: &[Body]) -> Result<Option<usize>, Error> {
    let name = element.required_text(attribute)?;
    match bodies.iter().position(|body| body.name == name) {
        None if name == "world" => Ok(None),
        None => Err(unknown(element, attribute, "body", bodies.iter().map(|body| body.name.as_str()))),
        found => Ok(found),
    }
}

/// Pairs of bodies none of whose shapes may touch: contype_1 & conaffinity_2 = contype_2 & conaffinity_1 = 0.
fn masked(geoms: &[GeomPart<'_>], bodies: usize) -> BTreeSet<[usize; 2]> {
    let mut pairs = BTreeSet::new();
    let mut masks: Vec<BTreeSet<(u32, u32)>> = vec![BTreeSet::new(); bodies];
    for part in geoms.iter().filter(|part| part.shape.collides) {
        if let Some(body) = part.shape.body {
            masks[body].insert((part.contype, part.conaffinity));
        }
    }
    let solid: Vec<usize> = (0..bodies).filter(|&body| !masks[body].is_empty()).collect();
    if solid.len() > MOST_PAIRED {
        return pairs;
    }
    for (at, &a) in solid.iter().enumerate() {
        for &b in &solid[at + 1..] {
            let touch = masks[a].iter().any(|first| {
                masks[b].iter().any(|second| first.0 & second.1 != 0 || second.0 & first.1 != 0)
            });
            if !touch {
                pairs.insert([a, b]);
            }
        }
    }
    pairs
}
