//! Whether a description makes sense. Files and code are checked by the same functions: the reader adds file and line.

mod attachment;
mod contact;
mod motion;
mod number;
mod problem;
mod robot;
mod scene;
mod soft;
mod soft_contact;

pub(crate) use number::{Number, not_finite};
pub(crate) use problem::{complete, losses, optimiser, variables};
pub(crate) use robot::robot;
pub(crate) use scene::scene;

use crate::error::Invalid;
use crate::scene::Scene;
use crate::words;

/// Most particles, springs, or targets of forces: more is taken for a slip, before it is taken from memory.
pub(crate) const MOST: usize = 10_000_000;

/// Most steps and the like.
pub(crate) const MOST_STEPS: usize = 1_000_000_000;

/// Most loose bodies: each has a name, a joint and a shape.
pub(crate) const MOST_BODIES: usize = 1_000_000;

/// What is allowed, and probably not meant. Meshes of the scene are checked already.
pub(crate) fn doubts(scene: &Scene) -> impl Iterator<Item = Invalid> + use<> {
    soft::doubts(scene).into_iter().chain(contact::doubts(scene))
}

/// What more than [`MOST`] of something gives.
pub(crate) fn too_many(path: impl Into<String>, count: usize, what: &str) -> Invalid {
    more_than(MOST, count, what).at(path)
}

/// What more than `most` of something gives; the error is nowhere yet.
pub(crate) fn more_than(most: usize, count: usize, what: &str) -> Invalid {
    Invalid::new("", format!("{count} {what} are too many"), format!("use at most {most} in a scene"))
}

/// A whole number from 1 to [`MOST_STEPS`].
fn count(path: &str, word: &str, value: usize) -> Result<(), Invalid> {
    if value == 0 {
        return Err(Invalid::new(path, format!("{word} is 0"), "write 1 or more"));
    }
    if value > MOST_STEPS {
        let fix = format!("write at most {MOST_STEPS}; for long times, choose a larger dt");
        return Err(Invalid::new(path, format!("{word} is {value}, which no machine finishes"), fix));
    }
    Ok(())
}

/// A list with as many entries as the group has things.
pub(crate) fn length(path: String, found: usize, wanted: usize, thing: &str) -> Result<(), Invalid> {
    if found == wanted {
        return Ok(());
    }
    let what = format!("the list has length {found}, and the group has {}", words::counted(wanted, thing));
    Err(Invalid::new(path, what, format!("give one value for each {thing}, or one for all")))
}

/// A list with one entry for all things, or with one for each.
pub(crate) fn one_or_each(path: &str, found: usize, wanted: usize, thing: &str) -> Result<(), Invalid> {
    if found == 1 || found == wanted {
        return Ok(());
    }
    let are = if wanted == 1 { "is" } else { "are" };
    let what = format!("the list has length {found}, and there {are} {}", words::counted(wanted, thing));
    Err(Invalid::new(path, what, format!("give one value for each {thing}, or one for all")))
}
