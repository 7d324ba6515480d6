//! Compiled kernels on a device.

use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};

use super::compile::{self, Compile, Image, Target};
use super::device::{Device, Handle};
use super::error::Error;
use super::function::Function;

/// Compiled kernels on a device.
pub struct Module {
    device: Arc<Device>,
    raw: sys::CUmodule,
    cached: bool,
    seconds: f64,
}

// SAFETY: the handle is the driver's, usable from every thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles CUDA C++ for the device, or finds it in the cache.
    pub fn compile(device: &Arc<Device>, source: &str, options: &Compile) -> Result<Arc<Module>, Error> {
        let start = Instant::now();
        let target = Target::for_capability(device.compute_capability())?;
        let image = compile::compile(source, target, options)?;
        let (raw, cached) = match load(device, &image) {
            // An entry that is whole, but not what the driver wants.
            Err(Error::Driver { .. }) if image.cached => {
                (load(device, &compile::compile_again(source, target, options)?)?, false)
            }
            loaded => (loaded?, image.cached),
        };
        let seconds = start.elapsed().as_secs_f64();
        Ok(Arc::new(Module { device: Arc::clone(device), raw, cached, seconds }))
    }

    /// Takes an image to the device.
    pub fn load(device: &Arc<Device>, image: &Image) -> Result<Arc<Module>, Error> {
        let start = Instant::now();
        let raw = load(device, image)?;
        let seconds = image.seconds + start.elapsed().as_secs_f64();
        Ok(Arc::new(Module { device: Arc::clone(device), raw, cached: image.cached, seconds }))
    }

    /// The device it is on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether it came from the cache.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// How long compiling (or finding in the cache) and loading took \[s\].
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The function that the source calls `extern "C" __global__ void name(...)`.
    pub fn function(self: &Arc<Self>, name: &str) -> Result<Function, Error> {
        const DOING: &str = "looking up a CUDA function";
        let found = self.device.work(DOING, |_| {
            let Ok(c_name) = CString::new(name) else { return Ok(None) };
            // SAFETY: the module is loaded as long as this lives.
            match unsafe { result::module::get_function(self.raw, c_name) } {
                Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)) => Ok(None),
                function => function.map(Some),
            }
        })?;
        match found {
            Some(raw) => Function::new(Arc::clone(self), name, raw),
            None => Err(Error::NoFunction { name: String::from(name), found: self.functions()? }),
        }
    }

    /// The names of all its functions.
    pub fn functions(&self) -> Result<Vec<String>, Error> {
        self.device.work("listing the CUDA functions", |_| {
            let mut count = 0;
            // SAFETY: the module is loaded; the number is written.
            unsafe { sys::cuModuleGetFunctionCount(&raw mut count, self.raw) }.result()?;
            let mut functions = vec![std::ptr::null_mut(); count as usize];
            // SAFETY: there is room for as many as there are.
            unsafe { sys::cuModuleEnumerateFunctions(functions.as_mut_ptr(), count, self.raw) }.result()?;
            functions.into_iter().map(name_of).collect()
        })
    }
}

fn name_of(function: sys::CUfunction) -> Result<String, DriverError> {
    let mut name = std::ptr::null();
    // SAFETY: the function is one of a loaded module; the name's address is written.
    unsafe { sys::cuFuncGetName(&raw mut name, function) }.result()?;
    // SAFETY: the driver's names end with a zero and live as long as the module.
    Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

fn load(device: &Device, image: &Image) -> Result<sys::CUmodule, Error> {
    // SAFETY: the image is a whole cubin or PTX that ends with a zero: NVRTC made it, and the cache checks its entries.
    device.work("loading compiled kernels (is the driver older than NVRTC?)", |_| unsafe {
        result::module::load_data(image.bytes.as_ptr().cast())
    })
}

impl Drop for Module {
    fn drop(&mut self) {
        self.device.release(Handle::Module(self.raw));
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = if self.cached { "from the cache" } else { "compiled" };
        write!(f, "Module({origin} in {:.3} s, {:?})", self.seconds, self.device)
    }
}
