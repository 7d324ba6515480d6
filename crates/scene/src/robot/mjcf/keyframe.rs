//! Keyframes.

use super::body::Place;
use super::parts::Tree;
use crate::error::Error;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::robot::{JointKind, Keyframe, orientation};
use crate::words;

/// All `<key>`, with the numbers of the joints and motors that the robot has.
pub(super) fn read(
    tree: &Tree<'_>,
    layout: &[Place],
    motors: &[Option<usize>],
    findings: &mut Findings,
) -> Result<Vec<Keyframe>, Error> {
    let mut keyframes = Vec::new();
    for section in tree.sections("keyframe") {
        for element in tree.children(section) {
            let controls = numbers(element, "ctrl", motors.len(), "actuator")?;
            if element.list("act")?.is_some_and(|states| !states.is_empty()) {
                findings.unsupported_at(element, "act", "actuators have no states of their own");
            }
            keyframes.push(Keyframe {
                name: element.text("name").unwrap_or_default().to_owned(),
                positions: positions(element, layout)?,
                velocities: velocities(element, layout)?,
                controls: controls
                    .iter()
                    .zip(motors)
                    .filter(|(_, motor)| motor.is_some())
                    .map(|(&u, _)| u)
                    .collect(),
            });
        }
    }
    Ok(keyframes)
}

/// The numbers of an attribute, which are none or this many.
fn numbers(element: Element<'_>, attribute: &str, count: usize, of: &str) -> Result<Vec<f64>, Error> {
    let list = element.list(attribute)?.unwrap_or_default();
    if !list.is_empty() && list.len() != count {
        let found = words::counted(list.len(), "number");
        let what = format!("it has {found}, and the {of}s of the file have {count}");
        return Err(element.error_at(attribute, what, format!("write {}", words::counted(count, "number"))));
    }
    Ok(list)
}

/// The joints that the file has.
fn of_file(layout: &[Place]) -> impl Iterator<Item = JointKind> {
    layout.iter().filter_map(|place| match place {
        Place::Kept(kind) | Place::LeftOut(kind) => Some(*kind),
        Place::Added(_) => None,
    })
}

fn positions(element: Element<'_>, layout: &[Place]) -> Result<Vec<f64>, Error> {
    let list = numbers(element, "qpos", of_file(layout).map(JointKind::positions).sum(), "joint")?;
    let mut rest = list.as_slice();
    let mut kept = Vec::new();
    for place in layout.iter().filter(|_| !list.is_empty()) {
        let (kind, keep) = match place {
            Place::Kept(kind) => (*kind, true),
            Place::LeftOut(kind) => (*kind, false),
            Place::Added(placement) => {
                kept.extend(placement.position);
                kept.extend(placement.orientation);
                continue;
            }
        };
        let (own, others) = rest.split_at(kind.positions());
        rest = others;
        if !keep {
            continue;
        }
        let turned = match kind {
            JointKind::Hinge | JointKind::Slide => own.len(),
            JointKind::Ball => 0,
            JointKind::Free => 3,
        };
        kept.extend(&own[..turned]);
        if let Ok(quaternion) = <[f64; 4]>::try_from(&own[turned..]) {
            let unit = orientation::normalised(quaternion).ok_or_else(|| {
                let fix = "write four numbers that are not all zero, such as 1 0 0 0";
                element.error_at("qpos", "a quaternion of it is zero", fix)
            })?;
            kept.extend(unit);
        }
    }
    Ok(kept)
}

fn velocities(element: Element<'_>, layout: &[Place]) -> Result<Vec<f64>, Error> {
    let list = numbers(element, "qvel", of_file(layout).map(JointKind::velocities).sum(), "joint")?;
    let mut rest = list.as_slice();
    let mut kept = Vec::new();
    for place in layout.iter().filter(|_| !list.is_empty()) {
        match place {
            Place::Added(_) => kept.extend([0.0; 6]),
            Place::Kept(kind) | Place::LeftOut(kind) => {
                let (own, others) = rest.split_at(kind.velocities());
                rest = others;
                kept.extend(own.iter().filter(|_| matches!(place, Place::Kept(_))));
            }
        }
    }
    Ok(kept)
}
