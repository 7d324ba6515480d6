//! The kernels on a GPU, one thread at a time.

use std::sync::Arc;

use super::compare::{Machine, Tolerance, Ulps};
use super::{CheckError, Flat, Shape};
use crate::cuda::{Arguments, Compile, Device, Error, Memory, Module, Plain};

/// The kernels as a module on a device, and memory for their arguments.
pub struct Gpu {
    device: Arc<Device>,
    module: Arc<Module>,
}

impl Gpu {
    /// Compiles the text for the first GPU; none if there is none.
    pub fn new(text: &str) -> Result<Option<Gpu>, CheckError> {
        let Ok(device) = Device::new(0) else { return Ok(None) };
        let options = Compile { fmad: false, ..Compile::default() };
        let module = Module::compile(&device, text, &options).map_err(cuda)?;
        Ok(Some(Gpu { device, module }))
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        self.device.name()
    }
}

fn cuda(error: Error) -> CheckError {
    CheckError::Tool(error.to_string())
}

impl<S: Ulps + Plain> Machine<S> for Gpu {
    const NAME: &'static str = "the GPU";

    // A GPU's library functions are not those of the CPU.
    fn tolerance(_: bool) -> Tolerance {
        Tolerance::Relative(if size_of::<S>() == 8 { 1e-12 } else { 1e-5 })
    }

    fn run(
        &self,
        name: &str,
        shape: &Shape,
        inputs: &Flat<S>,
        y_bar: &[S],
    ) -> Result<(Flat<S>, Vec<S>), CheckError> {
        let run = || -> Result<(Flat<S>, Vec<S>), Error> {
            // At least one number each: a kernel may have no indices.
            let padded = |numbers: &[S]| [numbers, &[S::default()]].concat();
            let x = Memory::from_slice(&self.device, &padded(&inputs.0))?;
            let k = Memory::from_slice(&self.device, &[inputs.1.as_slice(), &[0]].concat())?;
            let seed = Memory::from_slice(&self.device, &padded(y_bar))?;
            let y = Memory::<S>::zeroed(&self.device, shape.out_numbers + 1)?;
            let j = Memory::<u32>::zeroed(&self.device, shape.out_indices + 1)?;
            let x_bar = Memory::<S>::zeroed(&self.device, shape.numbers + 1)?;
            let forward = Arguments::new().pointer(&x).pointer(&k).pointer(&y).pointer(&j);
            let back = Arguments::new().pointer(&x).pointer(&k).pointer(&seed).pointer(&x_bar);
            // SAFETY: the memory has the sizes of the kernel's arguments and result, and one thread runs.
            unsafe {
                self.module.function(name)?.launch(1, &forward)?;
                self.module.function(&format!("{name}_back"))?.launch(1, &back)?;
            }
            let (mut y, mut j, mut x_bar) = (y.to_vec()?, j.to_vec()?, x_bar.to_vec()?);
            y.pop();
            j.pop();
            x_bar.pop();
            Ok(((y, j), x_bar))
        };
        run().map_err(cuda)
    }
}
