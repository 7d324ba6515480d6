//! Functions that run on a device, and their arguments.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUfunction_attribute as Attribute, CUresult};

use super::device::{Device, Keep};
use super::error::{self, Error};
use super::memory::{Memory, Plain};
use super::module::Module;

/// A function that runs on a device, in many threads.
pub struct Function {
    module: Arc<Module>,
    /// The module again: what a graph that launches this keeps.
    keep: Keep,
    name: String,
    raw: sys::CUfunction,
    block: u32,
    most: u32,
    registers: u32,
    local_bytes: u32,
    shared_bytes: u32,
    /// The sizes of its parameters, in bytes.
    parameters: Vec<usize>,
}

// SAFETY: the handle is the driver's, usable from every thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// How many threads a launch has, and how they are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks along x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block along x, y and z.
    pub threads: [u32; 3],
    /// Shared memory of a block besides what the function declares \[bytes\].
    pub shared_bytes: u32,
}

/// Larger blocks fill a multiprocessor no better, and leave more of it idle at the end.
const LARGEST_BLOCK: i32 = 256;
/// Threads that run in step.
const WARP: usize = 32;

impl Function {
    pub(super) fn new(module: Arc<Module>, name: &str, raw: sys::CUfunction) -> Result<Function, Error> {
        let device = Arc::clone(module.device());
        let keep = Arc::clone(&module) as Keep;
        device.work("asking for a function's resources", |_| {
            // SAFETY: the function is one of the module, which is loaded.
            let get = |which| unsafe { result::function::get_function_attribute(raw, which) };
            let attribute = |which| get(which).map(i32::unsigned_abs);
            // SAFETY: as above.
            let (_, block) =
                unsafe { result::occupancy::max_potential_block_size(raw, None, 0, LARGEST_BLOCK) }?;
            Ok(Function {
                keep,
                name: String::from(name),
                raw,
                block: block.unsigned_abs().max(1),
                most: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
                registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
                local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
                shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
                parameters: parameters(raw)?,
                module,
            })
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module it is in.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Threads of a block with which it fills the device best (from the occupancy query; at most 256).
    pub fn block(&self) -> u32 {
        self.block
    }

    /// The most threads that a block can have.
    pub fn most_threads(&self) -> u32 {
        self.most
    }

    /// Registers of a thread.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// Local memory of a thread \[bytes\]: arrays and registers that did not fit; slow.
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }

    /// Shared memory that it declares, of a block \[bytes\].
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// How `launch` groups so many threads: few are spread over all multiprocessors. `None` for more than a launch
    /// can have.
    pub fn shape(&self, count: usize) -> Option<Shape> {
        shape(count, self.block as usize, self.module.device().multiprocessors() as usize)
    }

    /// Runs it in at least `count` threads, after the work before; does not wait for its end. A count of 0 does nothing.
    ///
    /// A thread's index is `blockIdx.x * size_t(blockDim.x) + threadIdx.x`; those from `count` on must do nothing.
    /// The number and the sizes of the arguments are checked.
    ///
    /// # Safety
    ///
    /// The arguments have the types of the function's parameters, and the function stays within the memory that they
    /// point to.
    pub unsafe fn launch(&self, count: usize, arguments: &Arguments) -> Result<(), Error> {
        let shape = self.shape(count).ok_or_else(|| {
            let problem = format!("{count} threads are more than a launch can have");
            Error::Launch { function: self.name.clone(), problem }
        })?;
        // SAFETY: the caller's promise is the same.
        unsafe { self.launch_shape(shape, arguments) }
    }

    /// Like `launch`, with blocks of the caller's choice. No blocks, or no threads, do nothing.
    ///
    /// # Safety
    ///
    /// As for `launch`.
    pub unsafe fn launch_shape(&self, shape: Shape, arguments: &Arguments) -> Result<(), Error> {
        let device = self.module.device();
        arguments
            .check(device, &self.parameters)
            .map_err(|problem| Error::Arguments { function: self.name.clone(), problem })?;
        if shape.blocks.contains(&0) || shape.threads.contains(&0) {
            return Ok(());
        }
        let threads = shape.threads.iter().fold(1u32, |product, n| product.saturating_mul(*n));
        if threads > self.most {
            // The driver would say so too, but in a capture only when it is too late.
            return Err(self.failure(DriverError(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), shape));
        }
        let mut pointers = arguments.pointers();
        let ([x, y, z], [tx, ty, tz]) = (shape.blocks, shape.threads);
        let used = arguments.keep.iter().chain([&self.keep]);
        device
            .enqueue(used, |stream| {
                // SAFETY: the function is one of a loaded module, the pointers are to as many arguments as it takes,
                // of the sizes it takes, which the driver copies; the caller promises the rest.
                unsafe {
                    let (blocks, threads) = ((x, y, z), (tx, ty, tz));
                    result::launch_kernel(
                        self.raw,
                        blocks,
                        threads,
                        shape.shared_bytes,
                        stream,
                        &mut pointers,
                    )
                }
            })
            .map_err(|error| self.failure(error, shape))
    }

    fn failure(&self, error: DriverError, shape: Shape) -> Error {
        let said = Error::driver("launching a function", error);
        if matches!(said, Error::Driver { lost: true, .. }) {
            // Not this function's fault.
            return said;
        }
        let Shape { blocks, threads, shared_bytes } = shape;
        let problem = format!(
            "{} ({:?}) for {blocks:?} blocks of {threads:?} threads with {} registers each and {} bytes of shared \
             memory; a block of it can have {} threads",
            error::message(error),
            error.0,
            self.registers,
            self.shared_bytes + shared_bytes,
            self.most,
        );
        Error::Launch { function: self.name.clone(), problem }
    }
}

fn shape(count: usize, block: usize, multiprocessors: usize) -> Option<Shape> {
    let share = count.div_ceil(multiprocessors.max(1)).next_multiple_of(WARP);
    let threads = share.clamp(WARP.min(block), block);
    // The driver's limit along x.
    let blocks = i32::try_from(count.div_ceil(threads)).ok()?.unsigned_abs();
    Some(Shape { blocks: [blocks, 1, 1], threads: [threads as u32, 1, 1], shared_bytes: 0 })
}

fn parameters(function: sys::CUfunction) -> Result<Vec<usize>, DriverError> {
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is one of a loaded module; both numbers are written.
        let got = unsafe {
            sys::cuFuncGetParamInfo(function, sizes.len(), &raw mut offset, &raw mut size).result()
        };
        match got {
            Ok(()) => sizes.push(size),
            // There are no more.
            Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)) => return Ok(sizes),
            Err(error) => return Err(error),
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Function({}: blocks of {}, {} registers, {} bytes local, {} bytes shared)",
            self.name, self.block, self.registers, self.local_bytes, self.shared_bytes
        )
    }
}

/// The arguments of a function, in order; may be used for many launches.
#[derive(Clone, Default)]
pub struct Arguments {
    /// All values, each from a multiple of 8 bytes on.
    words: Vec<u64>,
    /// Each value's first word and its bytes.
    places: Vec<(usize, usize)>,
    /// The memory that is pointed to, of these devices.
    keep: Vec<Keep>,
    devices: Vec<Arc<Device>>,
    problem: Option<String>,
}

impl Arguments {
    /// None yet.
    pub fn new() -> Arguments {
        Arguments::default()
    }

    /// A pointer to the buffer, which lives until these arguments, and the graphs made of them, are gone.
    #[must_use]
    pub fn pointer<T: Plain>(self, memory: &Memory<T>) -> Arguments {
        self.pointer_at(memory, 0)
    }

    /// A pointer to the buffer's numbers from an offset on.
    #[must_use]
    pub fn pointer_at<T: Plain>(mut self, memory: &Memory<T>, offset: usize) -> Arguments {
        if let Some(keep) = memory.keep() {
            self.keep.push(Arc::clone(keep));
        }
        if !self.devices.iter().any(|device| Arc::ptr_eq(device, memory.device())) {
            self.devices.push(Arc::clone(memory.device()));
        }
        match memory.place("a pointer", offset, 0) {
            Ok(address) => self.u64(address),
            Err(problem) => {
                let number = self.places.len();
                self.problem.get_or_insert_with(|| format!("argument {number}, {problem}"));
                self.u64(0)
            }
        }
    }

    /// An `unsigned int`.
    #[must_use]
    pub fn u32(self, value: u32) -> Arguments {
        self.bytes(&value.to_ne_bytes())
    }

    /// An `unsigned long long` or `size_t`, or an address.
    #[must_use]
    pub fn u64(self, value: u64) -> Arguments {
        self.bytes(&value.to_ne_bytes())
    }

    /// A `float`.
    #[must_use]
    pub fn f32(self, value: f32) -> Arguments {
        self.bytes(&value.to_ne_bytes())
    }

    /// A `double`.
    #[must_use]
    pub fn f64(self, value: f64) -> Arguments {
        self.bytes(&value.to_ne_bytes())
    }

    /// A struct passed by value, as the bytes that C++ has for it.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Arguments {
        self.places.push((self.words.len(), bytes.len()));
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.words.push(u64::from_ne_bytes(word));
        }
        self
    }

    fn check(&self, device: &Arc<Device>, parameters: &[usize]) -> Result<(), String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.devices.iter().any(|other| !Arc::ptr_eq(other, device)) {
            return Err(String::from(
                "memory of another `Device`; make one with Device::new and use it for all",
            ));
        }
        let sizes: Vec<usize> = self.places.iter().map(|(_, bytes)| *bytes).collect();
        if sizes != parameters {
            return Err(format!("they have {sizes:?} bytes, its parameters have {parameters:?}"));
        }
        Ok(())
    }

    /// Where each value is. The driver wants them mutable and does not write to them.
    fn pointers(&self) -> Vec<*mut c_void> {
        let start = self.words.as_ptr();
        let at = |(word, _): &(usize, usize)| start.wrapping_add(*word).cast_mut().cast();
        self.places.iter().map(at).collect()
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |(word, bytes): &(usize, usize)| (*bytes, &self.words[*word..word + bytes.div_ceil(8)]);
        f.debug_list().entries(self.places.iter().map(value)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_threads_are_spread_and_many_fill_blocks() {
        let of = |count, block| shape(count, block, 132).map(|shape| (shape.blocks[0], shape.threads[0]));
        assert_eq!(of(0, 256), Some((0, 32)));
        assert_eq!(of(1, 256), Some((1, 32)));
        assert_eq!(of(33, 256), Some((2, 32)));
        assert_eq!(of(10_000, 256), Some((105, 96)));
        assert_eq!(of(1_000_000, 256), Some((3907, 256)));
        assert_eq!(of(1_000_000, 96), Some((10_417, 96)));
        assert_eq!(of(100, 1), Some((100, 1)));
        assert_eq!(of(usize::MAX, 256), None);
    }

    #[test]
    fn arguments_lie_apart_and_in_order() {
        let arguments = Arguments::new().u32(7).f64(0.5).bytes(&[1; 12]).f32(2.0).u64(9);
        let sizes = [4, 8, 12, 4, 8];
        assert_eq!(arguments.places.iter().map(|place| place.1).collect::<Vec<_>>(), sizes);
        let pointers = arguments.pointers();
        // SAFETY: each points to a value of that type, aligned to 8 bytes.
        unsafe {
            assert_eq!(*pointers[0].cast::<u32>(), 7);
            assert_eq!(*pointers[1].cast::<f64>(), 0.5);
            assert_eq!(*pointers[2].cast::<[u8; 12]>(), [1; 12]);
            assert_eq!(*pointers[3].cast::<f32>(), 2.0);
            assert_eq!(*pointers[4].cast::<u64>(), 9);
        }
    }
}
