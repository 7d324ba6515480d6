//! Checks of attachments; robots and particles are checked already.

use super::robot::part;
use super::scene::no_particle;
use super::{MOST, Number, too_many};
use crate::attachment::Attachment;
use crate::error::Invalid;
use crate::scene::Scene;
use crate::words;

type Checked = Result<(), Invalid>;

/// Checks all attachments.
pub(super) fn all(scene: &Scene) -> Checked {
    if scene.attachments.is_empty() {
        return Ok(());
    }
    // What else holds a particle fast.
    let fixed = scene.particles.iter().flat_map(|group| group.fixed.iter());
    let mut held: Vec<Option<&str>> = fixed.map(|axes| axes.contains(&true).then_some("fixed")).collect();
    let mut total = 0;
    for (i, it) in scene.attachments.iter().enumerate() {
        let path = format!("attachments[{i}]");
        total += it.points.len();
        if total > MOST {
            return Err(too_many(format!("{path}.points"), total, "attached points"));
        }
        attachment(&path, it, scene)?;
        if it.stiffness.is_none() {
            fast(&path, it, &mut held, scene)?;
        }
    }
    Ok(())
}

fn attachment(path: &str, it: &Attachment, scene: &Scene) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    if it.points.is_empty() {
        return Err(Invalid::new(of("points"), "nothing is attached", "name at least one particle"));
    }
    let count = scene.particle_count();
    if let Some(&at) = it.points.iter().find(|&&at| at >= count) {
        return Err(no_particle(of("points"), at, count));
    }
    part(&of("body"), scene, it.part)?;
    Number::positive("stiffness", "N/m").check(&of("stiffness"), it.stiffness.unwrap_or(1.0))?;
    Number::not_negative("damping", "N·s/m").check(&of("damping"), it.damping)?;
    if it.stiffness.is_none() && it.damping != 0.0 {
        let what = "what is held fast has no damping";
        return Err(Invalid::new(of("damping"), what, "give a stiffness too, or leave it out"));
    }
    Ok(())
}

/// What is held fast is held once.
fn fast<'s>(path: &str, it: &'s Attachment, held: &mut [Option<&'s str>], scene: &Scene) -> Checked {
    for &at in &it.points {
        if let Some(by) = held[at] {
            let name = words::quoted(&scene.particle_name(at));
            let what = format!("{name} is held fast by {} already", words::quoted(by));
            let fix = "keep one of the two, or give the attachment a stiffness";
            return Err(Invalid::new(format!("{path}.points"), what, fix));
        }
        held[at] = Some(&it.name);
    }
    Ok(())
}
