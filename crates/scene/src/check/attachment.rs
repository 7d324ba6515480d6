//! Checks of attachments and motions; robots and particles are checked already.

use super::motion::motion;
use super::robot::part;
use super::scene::no_particle;
use super::{MOST, Number, too_many};
use crate::attachment::Attachment;
use crate::error::Invalid;
use crate::scene::Scene;
use crate::words;

type Checked = Result<(), Invalid>;

/// What leads a particle already: how, and what it is called.
type Held<'s> = Option<(&'static str, &'s str)>;

/// Checks all attachments and motions.
pub(super) fn all(scene: &Scene) -> Checked {
    if scene.attachments.is_empty() && scene.motions.is_empty() {
        return Ok(());
    }
    let fixed = scene.particles.iter().flat_map(|group| group.fixed.iter());
    let fixed = fixed.map(|axes| axes.contains(&true).then_some(("held fast", "fixed")));
    let mut held: Vec<Held<'_>> = fixed.collect();
    let mut total = 0;
    for (i, it) in scene.attachments.iter().enumerate() {
        let path = format!("attachments[{i}]");
        points(&path, &it.points, ("attached", &mut total), scene)?;
        attachment(&path, it, scene)?;
        if it.stiffness.is_none() {
            let fix = "keep one of the two, or give the attachment a stiffness";
            once(&path, (&it.points, ("held fast", &it.name)), fix, &mut held, scene)?;
        }
    }
    for (i, it) in scene.motions.iter().enumerate() {
        let path = format!("motions[{i}]");
        points(&path, &it.points, ("moved", &mut total), scene)?;
        motion(&path, it, scene.simulation.steps)?;
        once(&path, (&it.points, ("moved", &it.name)), "keep one of the two", &mut held, scene)?;
    }
    Ok(())
}

/// Are there some, and are they all there? Those of all sections are counted.
fn points(path: &str, points: &[usize], (word, total): (&str, &mut usize), scene: &Scene) -> Checked {
    let path = format!("{path}.points");
    *total += points.len();
    if *total > MOST {
        return Err(too_many(path, *total, &format!("{word} points")));
    }
    if points.is_empty() {
        return Err(Invalid::new(path, format!("nothing is {word}"), "name at least one particle"));
    }
    let count = scene.particle_count();
    match points.iter().find(|&&at| at >= count) {
        Some(&at) => Err(no_particle(path, at, count)),
        None => Ok(()),
    }
}

fn attachment(path: &str, it: &Attachment, scene: &Scene) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    part(&of("body"), scene, it.part)?;
    Number::positive("stiffness", "N/m").check(&of("stiffness"), it.stiffness.unwrap_or(1.0))?;
    Number::not_negative("damping", "N·s/m").check(&of("damping"), it.damping)?;
    if it.stiffness.is_none() && it.damping != 0.0 {
        let what = "what is held fast has no damping";
        return Err(Invalid::new(of("damping"), what, "give a stiffness too, or leave it out"));
    }
    Ok(())
}

/// What is held fast or moved is so once.
fn once<'s>(
    path: &str,
    (points, by): (&[usize], (&'static str, &'s str)),
    fix: &str,
    held: &mut [Held<'s>],
    scene: &Scene,
) -> Checked {
    for &at in points {
        if let Some((how, by)) = held[at] {
            let name = words::quoted(&scene.particle_name(at));
            let what = format!("{name} is {how} by {} already", words::quoted(by));
            return Err(Invalid::new(format!("{path}.points"), what, fix));
        }
        held[at] = Some(by);
    }
    Ok(())
}
