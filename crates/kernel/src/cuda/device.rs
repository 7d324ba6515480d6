//! A CUDA device, its one stream, and the turns that threads take on it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute, CUresult};

use super::error::Error;

/// A CUDA device.
///
/// All its work runs in the order in which it was asked for. Any thread may use it; they take turns.
pub struct Device {
    ordinal: usize,
    name: String,
    compute_capability: (u32, u32),
    multiprocessors: u32,
    total_memory: usize,
    raw: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    capture: Mutex<Option<Capture>>,
    captured: Condvar,
}

// SAFETY: the handles are the driver's, which may be used from every thread with the context bound (`Bound` does),
// and the stream is used only by the thread that holds the `capture` lock.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// What must live as long as a graph.
pub(super) type Keep = Arc<dyn Any + Send + Sync>;

/// A graph on its way: what launches would do is recorded instead.
pub(super) struct Capture {
    thread: ThreadId,
    /// What the recorded launches use.
    pub(super) keep: Vec<Keep>,
    /// What was dropped meanwhile: destroying it would break the capture.
    dropped: Vec<Handle>,
}

/// What the driver made for us, and must destroy.
pub(super) enum Handle {
    Memory(sys::CUdeviceptr),
    Module(sys::CUmodule),
    Graph(sys::CUgraphExec),
}

/// The driver's version in which everything that is called here exists (`cuEventElapsedTime_v2` came last).
const NEEDED: (u32, u32) = (12, 8);

impl Device {
    /// The device with this number, counting from 0.
    pub fn new(ordinal: usize) -> Result<Arc<Device>, Error> {
        let count = Device::count()?;
        let Some(number) = i32::try_from(ordinal).ok().filter(|_| ordinal < count) else {
            return Err(Error::NoDevice { ordinal, count });
        };
        open(ordinal, number).map(Arc::new).map_err(|error| Error::driver("opening the device", error))
    }

    /// How many devices there are.
    pub fn count() -> Result<usize, Error> {
        // cudarc panics where the library is missing.
        // SAFETY: loading the driver has no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        let mut version = 0;
        // SAFETY: writes the version; works before `cuInit`.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }
            .result()
            .map_err(|error| Error::driver("asking for the driver's version", error))?;
        let version = version.unsigned_abs();
        let found = (version / 1000, version % 1000 / 10);
        if found < NEEDED {
            return Err(Error::OldDriver { found, needed: NEEDED });
        }
        match result::init().and_then(|()| result::device::get_count()) {
            Ok(count) => Ok(count.unsigned_abs() as usize),
            Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
            Err(error) => Err(Error::driver("starting the driver", error)),
        }
    }

    /// The number it was opened by.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The name of its model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its compute capability, major and minor.
    pub fn compute_capability(&self) -> (u32, u32) {
        self.compute_capability
    }

    /// How many multiprocessors it has.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// Its memory, in bytes.
    pub fn total_memory(&self) -> usize {
        self.total_memory
    }

    /// What no program uses of its memory now, in bytes.
    pub fn free_memory(&self) -> Result<usize, Error> {
        self.work("asking for the free memory", |_| result::mem_get_info()).map(|(free, _)| free)
    }

    /// Waits until all work asked for so far is done. Failures of kernels come out here.
    pub fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: the stream lives as long as the device.
        self.work("waiting for the device", |stream| unsafe { result::stream::synchronize(stream) })
    }

    /// Seconds on the device between the start and the end of the work that the closure asks for.
    ///
    /// Other threads' work in between counts too. Waits for the end.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        const DOING: &str = "timing";
        let (start, end) = (Event::new(self)?, Event::new(self)?);
        // SAFETY: both events and the stream live to the end of this function.
        self.work(DOING, |stream| unsafe { result::event::record(start.raw, stream) })?;
        work()?;
        self.work(DOING, |stream| {
            // SAFETY: as above; both events have been recorded when their times are asked for.
            unsafe {
                result::event::record(end.raw, stream)?;
                result::event::synchronize(end.raw)?;
                result::event::elapsed(start.raw, end.raw)
            }
        })
        .map(|milliseconds| f64::from(milliseconds) * 1e-3)
    }

    /// Waits for this thread's turn: while another thread captures, what is launched would become part of its graph.
    fn turn(&self) -> MutexGuard<'_, Option<Capture>> {
        let me = thread::current().id();
        let guard = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        self.captured
            .wait_while(guard, |capture| capture.as_ref().is_some_and(|capture| capture.thread != me))
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what cannot be part of a graph.
    pub(super) fn work<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(sys::CUstream) -> Result<T, DriverError>,
    ) -> Result<T, Error> {
        let turn = self.turn();
        if turn.is_some() {
            return Err(Error::WhileCapturing { doing });
        }
        self.bound(|| work(self.stream)).map_err(|error| Error::driver(doing, error))
    }

    /// Puts work at the end of the stream, or into the graph that this thread captures, which then keeps `used` alive.
    pub(super) fn enqueue<'a>(
        &self,
        used: impl IntoIterator<Item = &'a Keep>,
        work: impl FnOnce(sys::CUstream) -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        let mut turn = self.turn();
        if let Some(capture) = turn.as_mut() {
            capture.keep.extend(used.into_iter().cloned());
        }
        self.bound(|| work(self.stream))
    }

    /// Destroys what nobody owns any more, once the work that may use it is done.
    pub(super) fn release(&self, handle: Handle) {
        let mut capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        match capture.as_mut() {
            Some(capture) => capture.dropped.push(handle),
            None => self.destroy(&[handle]),
        }
    }

    fn destroy(&self, handles: &[Handle]) {
        if handles.is_empty() {
            return;
        }
        // A failure here has been, or will be, an error elsewhere: a crashed kernel, or the end of the process.
        let _ = self.bound(|| {
            // SAFETY: the stream lives as long as the device.
            let _ = unsafe { result::stream::synchronize(self.stream) };
            for handle in handles {
                // SAFETY: each comes from the driver, its owner is gone, and the work that used it is done.
                let _ = unsafe {
                    match *handle {
                        Handle::Memory(address) => result::free_sync(address),
                        Handle::Module(module) => result::module::unload(module),
                        Handle::Graph(graph) => result::graph::exec_destroy(graph),
                    }
                };
            }
            Ok(())
        });
    }

    /// From here until `end_capture`, this thread's launches are recorded.
    pub(super) fn begin_capture(&self) -> Result<(), Error> {
        let mut turn = self.turn();
        if turn.is_some() {
            return Err(Error::WhileCapturing { doing: "capturing a second graph" });
        }
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives, is not the default one, and is not capturing.
        self.bound(|| unsafe { result::stream::begin_capture(self.stream, mode) })
            .map_err(|error| Error::driver("starting to capture a graph", error))?;
        *turn = Some(Capture { thread: thread::current().id(), keep: Vec::new(), dropped: Vec::new() });
        Ok(())
    }

    /// Ends what `begin_capture` began, on the same thread. The graph, and what it uses.
    pub(super) fn end_capture(&self) -> (Result<sys::CUgraph, DriverError>, Vec<Keep>) {
        let mut turn = self.turn();
        // SAFETY: the stream lives; if it does not capture, that is an error and no more.
        let graph = self.bound(|| unsafe { result::stream::end_capture(self.stream) });
        let capture = turn.take();
        if let Some(capture) = &capture {
            self.destroy(&capture.dropped);
        }
        drop(turn);
        self.captured.notify_all();
        (graph, capture.map(|capture| capture.keep).unwrap_or_default())
    }

    /// Calls with the device's context on this thread, and leaves the thread as it was: other libraries (PyTorch)
    /// keep theirs there.
    pub(super) fn bound<T>(&self, call: impl FnOnce() -> Result<T, DriverError>) -> Result<T, DriverError> {
        // SAFETY: the context is retained as long as the device lives.
        unsafe { sys::cuCtxPushCurrent_v2(self.context) }.result()?;
        let _pop = Pop;
        call()
    }
}

/// Takes the context off the thread, also when a call panics.
struct Pop;

impl Drop for Pop {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: made only after a push.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}

fn open(ordinal: usize, number: i32) -> Result<Device, DriverError> {
    let raw = result::device::get(number)?;
    // SAFETY: `raw` is a device.
    let attribute = |which| unsafe { result::device::get_attribute(raw, which) }.map(i32::unsigned_abs);
    let mut device = Device {
        ordinal,
        name: result::device::get_name(raw)?,
        compute_capability: (
            attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        // SAFETY: as above.
        total_memory: unsafe { result::device::total_mem(raw) }?,
        raw,
        // SAFETY: as above; released when the `Device` is dropped.
        context: unsafe { result::primary_ctx::retain(raw) }?,
        stream: std::ptr::null_mut(),
        capture: Mutex::new(None),
        captured: Condvar::new(),
    };
    // Not the default stream: that one cannot be captured.
    device.stream = device.bound(|| result::stream::create(result::stream::StreamKind::NonBlocking))?;
    Ok(device)
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: whatever uses the stream or the context holds the device, so nothing does any more.
        let _ = self.bound(|| unsafe {
            if self.stream.is_null() { Ok(()) } else { result::stream::destroy(self.stream) }
        });
        // SAFETY: as above, and this device retained it once.
        let _ = unsafe { result::primary_ctx::release(self.raw) };
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.compute_capability;
        write!(f, "Device({}: {}, sm_{major}{minor})", self.ordinal, self.name)
    }
}

/// A moment on the device.
struct Event<'a> {
    device: &'a Device,
    raw: sys::CUevent,
}

impl Event<'_> {
    fn new(device: &Device) -> Result<Event<'_>, Error> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT;
        let raw = device.work("timing", |_| result::event::create(flags))?;
        Ok(Event { device, raw })
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and used no more.
        let _ = self.device.bound(|| unsafe { result::event::destroy(self.raw) });
    }
}
