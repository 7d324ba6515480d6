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

/// Gives each buffer its numbers in each world, from flat vectors, of worlds one after the other.
fn give<'a, S>(
    buffers: &[(BufferUse, usize)],
    numbers: &'a [S],
    worlds: usize,
    to: impl Fn(BufferUse, &dyn Fn(usize) -> &'a [S]) -> Result<(), DeviceError>,
) -> Result<(), Error> {
    let len = numbers.len() / worlds;
    ranges(buffers).try_for_each(|(buffer, range)| {
        Ok(to(buffer, &|world| &numbers[world * len + range.start..world * len + range.end])?)
    })
}

/// Sets buffers.
pub(super) fn write<S: DeviceFloat>(
    workspace: &DeviceWorkspace<S>,
    buffers: &[(BufferUse, usize)],
    numbers: &[S],
    worlds: usize,
) -> Result<(), Error> {
    give(buffers, numbers, worlds, |buffer, of| workspace.write_numbers(buffer, of))
}

/// Sets the cotangents of outputs.
pub(super) fn seed<S: DeviceFloat>(
    workspace: &DeviceWorkspace<S>,
    buffers: &[(BufferUse, usize)],
    bars: &[S],
    worlds: usize,
) -> Result<(), Error> {
    give(buffers, bars, worlds, |buffer, of| workspace.seed_numbers(buffer, of))
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
