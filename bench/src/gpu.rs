//! What the benchmarks on a GPU share: the device's own clock, and a copy as the yardstick.

use std::sync::Arc;

use pullback_kernel::cuda::{Device, Memory};
use pullback_kernel::program::DeviceError;

/// How often each is measured.
const ROUNDS: usize = 10;

/// Seconds of device time that a pass takes: the least of several rounds, of `repeats` passes one after the other, as in a rollout.
///
/// # Errors
/// Those of the pass, and of the device.
pub fn seconds(
    device: &Arc<Device>,
    repeats: u32,
    pass: impl Fn() -> Result<(), DeviceError>,
) -> Result<f64, DeviceError> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut result = Ok(());
        let all = device.time(|| {
            result = (0..repeats).try_for_each(|_| pass());
            Ok(())
        })?;
        result?;
        best = best.min(all / f64::from(repeats));
    }
    Ok(best)
}

/// Bytes a second, read and written, of a large copy on the device.
///
/// # Errors
/// Those of the device.
pub fn copy_bandwidth(device: &Arc<Device>) -> Result<f64, DeviceError> {
    let numbers = 1 << 28;
    let (from, to) = (Memory::<f32>::zeroed(device, numbers)?, Memory::<f32>::zeroed(device, numbers)?);
    let best = seconds(device, 1, || Ok(to.copy_from(&from)?))?;
    Ok(2.0 * 4.0 * numbers as f64 / best)
}
