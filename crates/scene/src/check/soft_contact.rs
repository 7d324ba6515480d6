//! Checks of contact between soft surfaces.

use super::{MOST, Number, too_many};
use crate::error::Invalid;
use crate::scene::Scene;

/// Checks `[soft_contact]`.
pub fn check(scene: &Scene) -> Result<(), Invalid> {
    let Some(contact) = &scene.soft_contact else { return Ok(()) };
    if scene.solids.is_empty() && scene.sheets.is_empty() {
        let what = "there is nothing soft that could touch";
        return Err(Invalid::new("soft_contact", what, "add `[[solids]]` or `[[sheets]]`, or leave it out"));
    }
    Number::positive("thickness", "m").check("soft_contact.thickness", contact.thickness)?;
    for (key, unit, value) in [
        ("ke", "N/m", contact.ke),
        ("kd", "N·s/m", contact.kd),
        ("kf", "N·s/m", contact.kf),
        ("mu", "1", contact.mu),
    ] {
        Number::not_negative(key, unit).check(&format!("soft_contact.{key}"), value)?;
    }
    match contact.most {
        Some(0) => {
            let fix = "write how many pairs may touch at once, or leave it out";
            Err(Invalid::new("soft_contact.most", "there is no room for pairs that touch", fix))
        }
        Some(most) if most > MOST => Err(too_many("soft_contact.most", most, "pairs")),
        Some(_) | None => Ok(()),
    }
}
