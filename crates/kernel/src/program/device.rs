//! A program on a GPU: its operations as CUDA kernels, compiled once, and run as one graph per pass. Data stays on the
//! device between passes.

mod host;
mod numbers;
mod record;
mod rows;
mod text;

use std::sync::{Arc, Mutex};

use super::buffer::{AnyBuffer, Buffer, Role};
use super::by_hand::{flat, flat_mut, read, write};
use super::error::AccessError;
use super::layout::{Layout, extent};
use super::plan::Pass;
use super::table::Table;
use super::workspace::RunOptions;
use super::{List, Program};
use crate::cuda::{Compile, Device, Error, Function, Graph, Memory, Module, Plain};
use crate::patterns::c_text::Ints;
use crate::scalar::Float;
use crate::{Value, With};
use host::Host;
use record::{Carry, Recorder, Segment};
pub use rows::{Rows, Sums};
use text::{SQUARES, Text, positions, vertices_of};

/// Why a program cannot run on a GPU.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum DeviceError {
    /// CUDA says no.
    #[error(transparent)]
    Cuda(#[from] Error),
    /// A buffer cannot be set or read so.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// Threads and indices are counted in 32 bits.
    #[error("{count} threads or indices: a GPU program has at most {most}; use fewer worlds or elements", most = u32::MAX)]
    TooLarge {
        /// How many there would be.
        count: usize,
    },
}

crate::debug_as_display!(DeviceError);

/// A number that GPUs compute with: `f32` or `f64`.
pub trait DeviceFloat: Float + super::Scalar + Plain {}
impl DeviceFloat for f32 {}
impl DeviceFloat for f64 {}

/// The memory of a program that runs on a GPU, for one world or for many. Operations that are written by hand run on the CPU in between, to and
/// from which what they read and write is copied then.
pub struct DeviceWorkspace<S: DeviceFloat> {
    program: Program,
    device: Arc<Device>,
    values: Memory<S>,
    bars: Memory<S>,
    ints: Memory<u32>,
    scratch: Memory<S>,
    layouts: Vec<Layout>,
    ints_layout: Ints,
    lists: Vec<Table>,
    /// Worlds side by side; 0 when there is one alone.
    worlds: usize,
    forward: Vec<Segment>,
    pullback: Vec<Segment>,
    /// The same, with what is carried before them.
    advance: Vec<Segment>,
    retreat: Vec<Segment>,
    /// What runs on the CPU, if anything does.
    host: Option<Mutex<Host<S>>>,
    carry: Graph,
    carry_back: Graph,
    /// Sums squares.
    squares: Function,
    traffic: [usize; 2],
    compile_seconds: f64,
    compiled_before: bool,
}

impl Program {
    /// The CUDA C++ of the program for `S`, with `worlds` side by side (none: one alone): what a GPU compiles.
    pub fn cuda_source<S: DeviceFloat>(&self, worlds: Option<usize>) -> Result<String, DeviceError> {
        Ok(Text::new::<S>(&self.inner, worlds.unwrap_or(0))?.source)
    }

    /// Memory on a GPU to run the program for one world.
    pub fn on_device<S: DeviceFloat>(&self, device: &Arc<Device>) -> Result<DeviceWorkspace<S>, DeviceError> {
        DeviceWorkspace::new(self, device, None, &Compile::default(), RunOptions::default())
    }

    /// Memory on a GPU to run the program for many worlds at once.
    pub fn batch_on_device<S: DeviceFloat>(
        &self,
        device: &Arc<Device>,
        worlds: usize,
    ) -> Result<DeviceWorkspace<S>, DeviceError> {
        DeviceWorkspace::new(self, device, Some(worlds), &Compile::default(), RunOptions::default())
    }
}

impl<S: DeviceFloat> DeviceWorkspace<S> {
    /// Compiles the program for a device, or takes it from the cache: for many worlds, or one alone. `run`: how operations that are written by
    /// hand run on the CPU.
    pub fn new(
        program: &Program,
        device: &Arc<Device>,
        worlds: Option<usize>,
        options: &Compile,
        run: RunOptions,
    ) -> Result<Self, DeviceError> {
        let inner = &program.inner;
        let worlds = worlds.map_or(0, |worlds| worlds.max(1));
        let text = Text::new::<S>(inner, worlds)?;
        let module = Module::compile(device, &text.source, options)?;
        let values = Memory::<S>::zeroed(device, text.numbers)?;
        let bars = Memory::<S>::zeroed(device, text.numbers)?;
        let scratch = Memory::<S>::zeroed(device, text.scratch)?;
        let ints = Memory::from_slice(device, &text.ints_data)?;
        let recorder = Recorder {
            device,
            inner,
            module: &module,
            layouts: &text.layouts,
            worlds,
            arenas: [&values, &bars, &scratch],
            ints: &ints,
        };
        let [forward, pullback] = [0, 1].map(|pass| recorder.segments(&text.work[pass], None));
        let [advance, retreat] =
            [Carry::On, Carry::Back].map(|carry| recorder.segments(&text.work[carry as usize], Some(carry)));
        let [carry, carry_back] = [Carry::On, Carry::Back].map(|carry| recorder.graph(Some(carry), &[]));
        let (forward, pullback, advance, retreat) = (forward?, pullback?, advance?, retreat?);
        let (carry, carry_back) = (carry?, carry_back?);
        let by_hand = forward.iter().any(|segment| matches!(segment, Segment::ByHand(_)));
        let workspace = DeviceWorkspace {
            device: Arc::clone(device),
            lists: (0..worlds.max(1)).flat_map(|_| inner.lists.iter().cloned()).collect(),
            values,
            bars,
            ints,
            scratch,
            squares: module.function(SQUARES)?,
            layouts: text.layouts,
            ints_layout: text.ints,
            worlds,
            forward,
            pullback,
            advance,
            retreat,
            host: by_hand.then(|| Mutex::new(Host::new(program, worlds, run))),
            carry,
            carry_back,
            traffic: text.traffic,
            compile_seconds: module.seconds(),
            compiled_before: module.cached(),
            program: program.clone(),
        };
        workspace.fill_constants()?;
        Ok(workspace)
    }

    fn fill_constants(&self) -> Result<(), DeviceError> {
        for (b, info) in self.program.inner.buffers.iter().enumerate() {
            let Some(data) = &info.data else { continue };
            let layout = self.alone(b);
            let mut host = vec![S::default(); self.extent(b)];
            for (i, number) in data.iter().enumerate() {
                let at = layout.at(i / info.numbers) + i % info.numbers * layout.stride;
                for world in 0..self.worlds.max(1) {
                    host[at + world] = S::from_f64(*number);
                }
            }
            self.values.write_at(self.layouts[b].offset, &host)?;
        }
        Ok(())
    }

    /// Runs the operations in order. Returns at once, if none is written by hand: reading waits.
    pub fn forward(&self) -> Result<(), DeviceError> {
        self.run(&self.forward, Pass::Forward)
    }

    /// Runs the pullbacks of the operations in reverse order, from the values of the last forward pass. Returns at once, if none is written by
    /// hand: reading waits.
    pub fn pullback(&self) -> Result<(), DeviceError> {
        self.run(&self.pullback, Pass::Pullback)
    }

    /// [`DeviceWorkspace::carry`] and [`DeviceWorkspace::forward`], in less time than one after the other.
    pub fn advance(&self) -> Result<(), DeviceError> {
        self.run(&self.advance, Pass::Forward)
    }

    /// [`DeviceWorkspace::carry_back`] and [`DeviceWorkspace::pullback`], likewise.
    pub fn retreat(&self) -> Result<(), DeviceError> {
        self.run(&self.retreat, Pass::Pullback)
    }

    fn run(&self, segments: &[Segment], pass: Pass) -> Result<(), DeviceError> {
        segments.iter().try_for_each(|segment| match segment {
            Segment::Graph(graph) => Ok(graph.launch()?),
            Segment::ByHand(k) => self.run_by_hand(*k, pass),
        })
    }

    /// The outputs become the inputs of the next step.
    pub fn carry(&self) -> Result<(), DeviceError> {
        Ok(self.carry.launch()?)
    }

    /// The cotangents of inputs become those of the outputs of the step before; those of other outputs become zero.
    pub fn carry_back(&self) -> Result<(), DeviceError> {
        Ok(self.carry_back.launch()?)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// How many bytes of the device's memory it takes.
    pub fn bytes(&self) -> usize {
        let numbers = self.values.len() + self.bars.len() + self.scratch.len();
        numbers * size_of::<S>() + self.ints.len() * size_of::<u32>()
    }

    /// How many numbers of an arena a buffer takes, of all worlds and with padding.
    fn extent(&self, id: usize) -> usize {
        extent(&self.program.inner.buffers[id], &self.layouts[id], self.worlds)
    }

    /// The bytes that a forward pass and a pullback move: each value once, contributions to vertices twice.
    pub fn traffic(&self) -> [usize; 2] {
        self.traffic
    }

    /// How long compiling took [s], and whether it was found in the cache instead.
    pub fn compiled(&self) -> (f64, bool) {
        (self.compile_seconds, self.compiled_before)
    }

    fn region(&self, id: usize, world: usize) -> Result<(Layout, usize), AccessError> {
        let worlds = self.worlds.max(1);
        if world >= worlds {
            return Err(AccessError::NoWorld { world, worlds });
        }
        Ok((self.alone(id), self.extent(id)))
    }

    fn set<T: Value>(
        &self,
        memory: &Memory<S>,
        id: usize,
        world: usize,
        values: &[With<T, S>],
    ) -> Result<(), DeviceError> {
        let info = &self.program.inner.buffers[id];
        if values.len() != info.len {
            let (wanted, found) = (info.len, values.len());
            return Err(AccessError::Length { buffer: info.name.clone(), wanted, found }.into());
        }
        let (layout, numbers) = self.region(id, world)?;
        self.mirror(memory, id, world, flat::<T, S>(values))?;
        let mut host = vec![S::default(); numbers];
        let offset = self.layouts[id].offset;
        if self.worlds > 1 {
            // The other worlds' numbers lie between.
            memory.read_at(offset, &mut host)?;
        }
        for (i, value) in values.iter().enumerate() {
            // SAFETY: a value of the buffer.
            unsafe { write::<T, S>(host.as_mut_ptr(), layout, i, world, *value) };
        }
        Ok(memory.write_at(offset, &host)?)
    }

    fn get<T: Value>(
        &self,
        memory: &Memory<S>,
        id: usize,
        world: usize,
    ) -> Result<Vec<With<T, S>>, DeviceError> {
        let (layout, numbers) = self.region(id, world)?;
        let mut host = vec![S::default(); numbers];
        memory.read_at(self.layouts[id].offset, &mut host)?;
        let len = self.program.inner.buffers[id].len;
        // SAFETY: values of the buffer.
        Ok((0..len).map(|i| unsafe { read::<T, S>(host.as_ptr(), layout, i, world) }).collect())
    }

    /// Sets an input or parameter in one world.
    pub fn write<T: Value>(
        &self,
        world: usize,
        buffer: Buffer<T>,
        values: &[With<T, S>],
    ) -> Result<(), DeviceError> {
        let info = &self.program.inner.buffers[buffer.id];
        if !info.role.is_set() {
            return Err(AccessError::Computed { buffer: info.name.clone() }.into());
        }
        self.set::<T>(&self.values, buffer.id, world, values)
    }

    /// The values of a buffer in one world.
    pub fn read<B: AnyBuffer>(&self, world: usize, buffer: B) -> Result<Vec<With<B::Item, S>>, DeviceError> {
        self.get::<B::Item>(&self.values, buffer.id(), world)
    }

    /// Sets the cotangent of an output in one world. To be done before every pullback.
    pub fn seed<T: Value>(
        &self,
        world: usize,
        buffer: Buffer<T>,
        bars: &[With<T, S>],
    ) -> Result<(), DeviceError> {
        if !self.program.inner.outputs.contains(&buffer.id) {
            let buffer = self.program.inner.buffers[buffer.id].name.clone();
            return Err(AccessError::NoOutput { buffer }.into());
        }
        self.set::<T>(&self.bars, buffer.id, world, bars)
    }

    /// The cotangents of a buffer in one world.
    pub fn bars<T: Value>(&self, world: usize, buffer: Buffer<T>) -> Result<Vec<With<T, S>>, DeviceError> {
        let mut bars = self.get::<T>(&self.bars, buffer.id, world)?;
        self.add_bars_by_hand(buffer.id, world, flat_mut::<T, S>(&mut bars))?;
        Ok(bars)
    }

    /// Sets the cotangents of all parameters to zero.
    pub fn clear_parameters(&self) -> Result<(), DeviceError> {
        if let Some(mut host) = self.host() {
            host.workspace.clear_parameters();
        }
        for (b, info) in self.program.inner.buffers.iter().enumerate() {
            if info.role == Role::Parameter {
                let offset = self.layouts[b].offset;
                self.bars.zero_at(offset..offset + self.extent(b))?;
            }
        }
        Ok(())
    }

    /// Sets the elements of a list in one world, and the order of their sums.
    pub fn set_list<const N: usize>(
        &mut self,
        world: usize,
        list: List<N>,
        elements: &[[u32; N]],
    ) -> Result<(), DeviceError> {
        let worlds = self.worlds.max(1);
        if world >= worlds {
            return Err(AccessError::NoWorld { world, worlds }.into());
        }
        let table = &mut self.lists[world * self.program.inner.lists.len() + list.list];
        table.check_and_set(elements)?;
        let (count, vertices, starts, slots) =
            (table.count as u32, vertices_of(table), table.starts.clone(), positions(table));
        if let Some(mut host) = self.host() {
            host.workspace.set_list(world, list, elements)?;
        }
        let at = |offset: usize| offset + world * self.ints_layout.list_stride;
        let place = self.ints_layout.lists[list.list];
        self.ints.write_at(at(place.count), &[count])?;
        self.ints.write_at(at(place.corners), &vertices)?;
        self.ints.write_at(at(place.starts), &starts)?;
        Ok(self.ints.write_at(at(place.slots), &slots)?)
    }
}
