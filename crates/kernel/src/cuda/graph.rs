//! A list of launches that the device runs at one call.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::device::{Device, Handle, Keep};
use super::error::Error;

/// Launches, copies and zeroing, recorded once and run as often as wanted at the cost of one launch.
///
/// It keeps the memory and the functions that it uses.
pub struct Graph {
    device: Arc<Device>,
    executable: sys::CUgraphExec,
    nodes: usize,
    keep: Vec<Keep>,
}

// SAFETY: the executable is the driver's, usable from every thread, and used only by the thread whose turn it is on the
// device.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Records what the closure asks of the device, which does not run now.
    ///
    /// The closure may launch functions, copy on the device and zero memory; everything else is an error, as is an
    /// error of the closure. Other threads' work on the device waits for the end.
    pub fn capture(device: &Arc<Device>, work: impl FnOnce() -> Result<(), Error>) -> Result<Graph, Error> {
        device.begin_capture()?;
        let capturing = Capturing { device, ended: false };
        let worked = work();
        let (graph, keep) = capturing.end();
        // The closure's error comes first: it is why the capture broke, if it did.
        worked?;
        let graph = graph.map_err(|error| Error::driver("capturing a graph", error))?;
        let made = device.bound(|| graph.instantiate());
        let (executable, nodes) = made.map_err(|error| Error::driver("making a graph", error))?;
        let graph = Graph { device: Arc::clone(device), executable, nodes, keep };
        // Else the first launch would pay for it.
        // SAFETY: the executable lives as long as the graph.
        device.work("moving a graph to the device", |stream| unsafe {
            result::graph::upload(graph.executable, stream)
        })?;
        Ok(graph)
    }

    /// Runs it, after the work before; does not wait for its end.
    pub fn launch(&self) -> Result<(), Error> {
        // SAFETY: the executable lives as long as the graph, and keeps what it uses; this thread has the turn.
        self.device
            .work("launching a graph", |stream| unsafe { result::graph::launch(self.executable, stream) })
    }

    /// How many launches, copies and zeroings it has.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // What it keeps is dropped after this.
        self.device.release(Handle::Graph(self.executable));
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} nodes, keeps {}, {:?})", self.nodes, self.keep.len(), self.device)
    }
}

/// A capture that ends, whatever the closure does.
struct Capturing<'a> {
    device: &'a Device,
    ended: bool,
}

impl<'a> Capturing<'a> {
    fn end(mut self) -> (Result<Recorded<'a>, DriverError>, Vec<Keep>) {
        self.ended = true;
        let device = self.device;
        let (graph, keep) = device.end_capture();
        (graph.map(|raw| Recorded { device, raw }), keep)
    }
}

impl Drop for Capturing<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let (graph, _keep) = self.device.end_capture();
            drop(graph.map(|raw| Recorded { device: self.device, raw }));
        }
    }
}

/// The recorded graph: a pattern for the executable one, not needed after.
struct Recorded<'a> {
    device: &'a Device,
    raw: sys::CUgraph,
}

impl Recorded<'_> {
    fn instantiate(&self) -> Result<(sys::CUgraphExec, usize), DriverError> {
        let mut nodes = 0;
        // SAFETY: the graph lives; without an array, the number of nodes is written.
        unsafe { sys::cuGraphGetNodes(self.raw, std::ptr::null_mut(), &raw mut nodes) }.result()?;
        // SAFETY: the graph lives.
        let executable = unsafe { result::graph::instantiate(self.raw, sys::CUgraphInstantiate_flags(0)) }?;
        Ok((executable, nodes))
    }
}

impl Drop for Recorded<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: nothing else has this graph.
            let _ = self.device.bound(|| unsafe { result::graph::destroy(self.raw) });
        }
    }
}
