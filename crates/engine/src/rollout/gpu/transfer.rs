//! Flat vectors of the host, and buffers on a GPU.

use pullback_kernel::program::{BufferUse, DeviceError, DeviceFloat, DeviceWorkspace};

use crate::error::Error;
use crate::step::ranges;
use crate::stepper::Parts;

/// The buffers without their lengths.
pub(super) fn uses(buffers: &[(BufferUse, usize)]) -> Vec<BufferUse> {
    buffers.iter().map(|(buffer, _)| *buffer).collect()
}

pub(super) fn numbers<S: Parts>(values: &[f64]) -> Vec<S> {
    values.iter().map(|x| S::from_parts(*x, 0.0)).collect()
}

/// Sets buffers from flat vectors, of worlds one after the other.
pub(super) fn write<S: DeviceFloat>(
    workspace: &DeviceWorkspace<S>,
    buffers: &[(BufferUse, usize)],
    numbers: &[S],
    worlds: usize,
) -> Result<(), Error> {
    let len = numbers.len() / worlds;
    ranges(buffers).try_for_each(|(buffer, range)| {
        let of = |world: usize| &numbers[world * len + range.start..world * len + range.end];
        Ok(workspace.write_numbers(buffer, of)?)
    })
}

/// Sets the cotangents of outputs, likewise.
pub(super) fn seed<S: DeviceFloat>(
    workspace: &DeviceWorkspace<S>,
    buffers: &[(BufferUse, usize)],
    bars: &[S],
    worlds: usize,
) -> Result<(), Error> {
    let len = bars.len() / worlds;
    ranges(buffers).try_for_each(|(buffer, range)| {
        let of = |world: usize| &bars[world * len + range.start..world * len + range.end];
        Ok(workspace.seed_numbers(buffer, of)?)
    })
}

/// Reads buffers into flat vectors.
pub(super) fn read<S: DeviceFloat>(
    buffers: &[(BufferUse, usize)],
    numbers: &mut [S],
    worlds: usize,
    from: impl Fn(BufferUse, &mut dyn FnMut(usize, &[S])) -> Result<(), DeviceError>,
) -> Result<(), Error> {
    let len = numbers.len() / worlds;
    ranges(buffers).try_for_each(|(buffer, range)| {
        let mut take = |world: usize, some: &[S]| {
            numbers[world * len + range.start..world * len + range.end].copy_from_slice(some);
        };
        Ok(from(buffer, &mut take)?)
    })
}
