//! The tetrahedra of `tets` on a GPU: rates, and how much of the device's copy bandwidth each pass uses.
//!
//! There is no peer here: the yardstick is a copy. Prints the rows of `cargo xtask bench`, and a table for docs/gpu.md.

use std::sync::Arc;

use pullback_bench::gpu::{copy_bandwidth, seconds};
use pullback_bench::row;
use pullback_bench::scene::{Mesh, Tets, step};
use pullback_kernel::cuda::Device;
use pullback_kernel::program::DeviceError;

const CASES: [[usize; 3]; 4] = [[20, 10, 10], [50, 20, 20], [100, 50, 40], [200, 100, 100]];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(0)?;
    let copy = copy_bandwidth(&device)?;
    println!("{}: a copy moves {:.0} GB/s, bytes read and written", device.name(), copy / 1e9);
    let mut table = String::from(
        "| elements | forward [us] | pullback [us] | ratio | forward, of copy | pullback, of copy | device memory |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for cells in CASES {
        let mesh = Mesh::block(cells);
        let tets = step(&mesh)?;
        let size = mesh.corners.len();
        let before = device.free_memory()?;
        let case = run(&tets, &mesh, &device)?;
        let of_copy = |pass: usize| case.bytes[pass] as f64 / case.seconds[pass] / copy;
        for (pass, name) in ["forward", "pullback"].into_iter().enumerate() {
            row(&format!("{size}/{name}/gpu"), "steps/s", 1.0 / case.seconds[pass]);
            row(&format!("{size}/{name}-of-copy-bandwidth/gpu"), "1", of_copy(pass));
        }
        table += &format!(
            "| {size} | {:.1} | {:.1} | {:.2} | {:.2} | {:.2} | {:.0} MB |\n",
            case.seconds[0] * 1e6,
            case.seconds[1] * 1e6,
            case.seconds[1] / case.seconds[0],
            of_copy(0),
            of_copy(1),
            (before - case.free) as f64 / 1e6
        );
    }
    println!("{table}");
    Ok(())
}

struct Case {
    /// Forward and pullback [s].
    seconds: [f64; 2],
    bytes: [usize; 2],
    free: usize,
}

fn run(tets: &Tets, mesh: &Mesh, device: &Arc<Device>) -> Result<Case, DeviceError> {
    let w = tets.program.on_device::<f32>(device)?;
    let start = mesh.at_rest();
    w.write(0, tets.particles, &start)?;
    w.forward()?;
    w.seed(0, tets.next, &start)?;
    let free = device.free_memory()?;
    let repeats = if mesh.corners.len() > 100_000 { 20 } else { 200 };
    let seconds = [seconds(device, repeats, || w.forward())?, seconds(device, repeats, || w.pullback())?];
    Ok(Case { seconds, bytes: w.traffic(), free })
}
