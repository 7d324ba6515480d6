//! Where a number was first not finite.

use super::buffer::Role;
use super::error::{AccessError, NonFinite};
use super::operation::Scalar;
use super::workspace::Workspace;
use super::{Inner, StageRole, flow};

/// The first of all numbers, or of all cotangents, that is infinite or not a number: in the order of the operations, or in reverse.
/// `numbers`: those of a buffer in a world.
pub fn first<S: Scalar, E>(
    inner: &Inner,
    worlds: usize,
    bars: bool,
    mut numbers: impl FnMut(usize, usize) -> Result<Vec<S>, E>,
) -> Result<Option<NonFinite>, E> {
    for (operation, b) in made(inner, bars) {
        let info = &inner.buffers[b];
        for world in 0..worlds {
            if let Some(i) = numbers(b, world)?.iter().position(|x| !x.is_finite()) {
                let what = if bars { "the cotangent" } else { "the value" };
                let (buffer, element) = (info.name.clone(), i / info.numbers);
                return Ok(Some(NonFinite { operation, buffer, element, world, what }));
            }
        }
    }
    Ok(None)
}

/// Who makes the values, or the cotangents, of which buffers, in that order.
fn made(inner: &Inner, bars: bool) -> Vec<(String, usize)> {
    let by_caller = |(b, role): (usize, Role)| match bars {
        true => inner.outputs.contains(&b),
        false => !matches!(role, Role::Computed | Role::Memory),
    };
    let roles = inner.buffers.iter().map(|info| info.role).enumerate();
    let mut made: Vec<(String, usize)> =
        roles.filter(|at| by_caller(*at)).map(|(b, _)| ("the caller".to_owned(), b)).collect();
    if bars {
        made.extend(flow::makers_of_bars(inner));
    } else {
        let forwards = |(k, _): &(usize, _)| inner.roles[*k] != StageRole::InPullback;
        for (_, stage) in inner.stages.iter().enumerate().filter(forwards) {
            let info = stage.info();
            made.extend(info.outputs.iter().map(|port| (info.name.clone(), port.buffer)));
        }
    }
    made.retain(|(_, b)| inner.buffers[*b].role != Role::Memory);
    made
}

impl<S: Scalar> Workspace<S> {
    /// The first value, in the order of the operations, that is infinite or not a number.
    pub fn check_values(&self) -> Result<(), NonFinite> {
        self.check(false)
    }

    /// The first cotangent, in the reverse order of the operations, that is infinite or not a number.
    pub fn check_bars(&self) -> Result<(), NonFinite> {
        self.check(true)
    }

    fn check(&self, bars: bool) -> Result<(), NonFinite> {
        let numbers = |b: usize, world: usize| self.numbers(b, world, bars);
        match first::<S, AccessError>(&self.program().inner, self.worlds(), bars, numbers) {
            Ok(Some(found)) => Err(found),
            // Its own buffers and worlds can be read.
            Ok(None) | Err(_) => Ok(()),
        }
    }
}
