//! Buffers of numbers on a device.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};

use super::device::{Device, Handle, Keep};
use super::error::Error;

/// Numbers that are the same bytes on the host and on the device, and for which all bytes zero is zero.
pub trait Plain: sealed::Plain + Copy + Default + Send + Sync + 'static {}

mod sealed {
    /// Any bytes are a value, none of them padding: what `Memory` reads back is one, whatever a kernel wrote.
    pub trait Plain {}
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl sealed::Plain for $t {}
        impl Plain for $t {}
    )*};
}
plain!(f32, f64, u8, u32, i32, u64);

/// A buffer of numbers on a device; freed when dropped and no graph uses it any more.
///
/// Kernels write to it behind a shared reference, and so does every method here: all of them run in the order in which
/// they were asked for, with the device's other work.
pub struct Memory<T> {
    device: Arc<Device>,
    /// `None` when the length is 0, which CUDA does not allocate.
    allocation: Option<Keep>,
    address: sys::CUdeviceptr,
    length: usize,
    numbers: PhantomData<fn(T) -> T>,
}

/// Bytes on the device.
struct Allocation {
    device: Arc<Device>,
    address: sys::CUdeviceptr,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.device.release(Handle::Memory(self.address));
    }
}

impl<T: Plain> Memory<T> {
    /// So many zeros.
    pub fn zeroed(device: &Arc<Device>, length: usize) -> Result<Memory<T>, Error> {
        let memory = Memory::new(device, length)?;
        memory.zero()?;
        Ok(memory)
    }

    /// A copy of the numbers.
    pub fn from_slice(device: &Arc<Device>, numbers: &[T]) -> Result<Memory<T>, Error> {
        let memory = Memory::new(device, numbers.len())?;
        memory.write(numbers)?;
        Ok(memory)
    }

    fn new(device: &Arc<Device>, length: usize) -> Result<Memory<T>, Error> {
        let (mut allocation, mut address) = (None, 0);
        if length > 0 {
            let bytes = length.saturating_mul(size_of::<T>());
            address = allocate(device, bytes)?;
            allocation = Some(Arc::new(Allocation { device: Arc::clone(device), address }) as Keep);
        }
        Ok(Memory { device: Arc::clone(device), allocation, address, length, numbers: PhantomData })
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The device it is on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Where it is on the device; 0 when empty.
    ///
    /// An address does not keep the buffer alive; an argument made by `Arguments::pointer` does.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Takes as many numbers as it holds. On return they have been read.
    pub fn write(&self, numbers: &[T]) -> Result<(), Error> {
        self.same_length("writing to GPU memory", numbers.len())?;
        self.write_at(0, numbers)
    }

    /// Takes numbers from an offset on. On return they have been read.
    pub fn write_at(&self, offset: usize, numbers: &[T]) -> Result<(), Error> {
        const DOING: &str = "writing to GPU memory";
        let at = self.place(DOING, offset, numbers.len())?;
        if numbers.is_empty() {
            return Ok(());
        }
        // SAFETY: `place` checked the range. The numbers are borrowed until the copy has been waited for.
        self.device.work(DOING, |stream| unsafe {
            result::memcpy_htod_async(at, numbers, stream)?;
            result::stream::synchronize(stream)
        })
    }

    /// Fills as many numbers as it holds, once the work before is done.
    pub fn read(&self, numbers: &mut [T]) -> Result<(), Error> {
        self.same_length("reading GPU memory", numbers.len())?;
        self.read_at(0, numbers)
    }

    /// Fills the numbers from an offset on, once the work before is done.
    pub fn read_at(&self, offset: usize, numbers: &mut [T]) -> Result<(), Error> {
        const DOING: &str = "reading GPU memory";
        let at = self.place(DOING, offset, numbers.len())?;
        if numbers.is_empty() {
            return Ok(());
        }
        // SAFETY: `place` checked the range, all bytes are valid numbers (`Plain`), and the copy is waited for.
        self.device.work(DOING, |stream| unsafe {
            let copied = result::memcpy_dtoh_async(numbers, at, stream);
            copied.and(result::stream::synchronize(stream))
        })
    }

    /// All its numbers, once the work before is done.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let mut numbers = vec![T::default(); self.length];
        self.read(&mut numbers)?;
        Ok(numbers)
    }

    /// Copies all numbers of a buffer of the same length and device. Can be part of a graph.
    pub fn copy_from(&self, source: &Memory<T>) -> Result<(), Error> {
        self.same_length("copying GPU memory", source.length)?;
        self.copy_at(0, source, 0..source.length)
    }

    /// Copies a range of a buffer to an offset in this one. Can be part of a graph.
    pub fn copy_at(&self, offset: usize, source: &Memory<T>, range: Range<usize>) -> Result<(), Error> {
        const DOING: &str = "copying GPU memory";
        if !Arc::ptr_eq(&self.device, &source.device) {
            return Err(Error::OtherDevice { doing: DOING });
        }
        let length = range.len();
        let from = source.place(DOING, range.start, length)?;
        let to = self.place(DOING, offset, length)?;
        let bytes = length * size_of::<T>();
        if bytes == 0 || from == to {
            return Ok(());
        }
        if from.abs_diff(to) < bytes as u64 {
            let problem = format!("the numbers from {} and those from {offset} on overlap", range.start);
            return Err(Error::Range { doing: DOING, problem });
        }
        let used = self.allocation.iter().chain(&source.allocation);
        // SAFETY: `place` checked both ranges, which do not overlap; a graph keeps both buffers.
        self.device
            .enqueue(used, |stream| unsafe { result::memcpy_dtod_async(to, from, bytes, stream) })
            .map_err(|error| Error::driver(DOING, error))
    }

    /// Sets all its numbers to zero. Can be part of a graph.
    pub fn zero(&self) -> Result<(), Error> {
        self.zero_at(0..self.length)
    }

    /// Sets a range of its numbers to zero. Can be part of a graph.
    pub fn zero_at(&self, range: Range<usize>) -> Result<(), Error> {
        const DOING: &str = "zeroing GPU memory";
        let at = self.place(DOING, range.start, range.len())?;
        let bytes = range.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `place` checked the range; a graph keeps the buffer.
        self.device
            .enqueue(&self.allocation, |stream| unsafe { result::memset_d8_async(at, 0, bytes, stream) })
            .map_err(|error| Error::driver(DOING, error))
    }

    /// The address of a number, from which on there are at least so many.
    pub(super) fn place(
        &self,
        doing: &'static str,
        offset: usize,
        length: usize,
    ) -> Result<sys::CUdeviceptr, Error> {
        if offset.checked_add(length).is_none_or(|end| end > self.length) {
            let problem = format!("{length} numbers from {offset} on do not fit into {}", self.length);
            return Err(Error::Range { doing, problem });
        }
        Ok(self.address + (offset * size_of::<T>()) as u64)
    }

    /// What keeps the buffer alive.
    pub(super) fn keep(&self) -> Option<&Keep> {
        self.allocation.as_ref()
    }

    fn same_length(&self, doing: &'static str, other: usize) -> Result<(), Error> {
        if other == self.length {
            return Ok(());
        }
        let problem =
            format!("{other} numbers were given for a buffer of {}; use a range for a part", self.length);
        Err(Error::Range { doing, problem })
    }
}

fn allocate(device: &Device, bytes: usize) -> Result<sys::CUdeviceptr, Error> {
    let mut free = 0;
    let allocated = device.work("allocating GPU memory", |_| {
        // SAFETY: bytes are not 0; whoever calls this frees the address once.
        match unsafe { result::malloc_sync(bytes) } {
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                free = result::mem_get_info()?.0;
                Ok(None)
            }
            other => other.map(Some),
        }
    })?;
    allocated.ok_or(Error::OutOfMemory { asked: bytes, free })
}

impl<T> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = std::any::type_name::<T>();
        write!(f, "Memory<{number}>({} at {:#x}, {:?})", self.length, self.address, self.device)
    }
}
