//! Passes as CUDA graphs, cut where an operation runs on the CPU.

use std::sync::Arc;

use super::super::Inner;
use super::super::layout::{ALIGNED, Layout, extent};
use super::DeviceFloat;
use super::text::{Launch, SUM_THREADS, Work};
use crate::cuda::{Arguments, Device, Error, Graph, Memory, Module, Shape};

/// A part of a pass.
pub enum Segment {
    /// Kernels and copies on the device.
    Graph(Graph),
    /// An operation written by hand, by its place.
    ByHand(usize),
}

/// What is copied between steps; the pass that follows has the same place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// Outputs become inputs.
    On,
    /// Cotangents of inputs become those of outputs.
    Back,
}

/// What recording needs.
pub struct Recorder<'a, S: DeviceFloat> {
    pub device: &'a Arc<Device>,
    pub inner: &'a Inner,
    pub module: &'a Arc<Module>,
    pub layouts: &'a [Layout],
    pub worlds: usize,
    /// Values, cotangents, scratch.
    pub arenas: [&'a Memory<S>; 3],
    pub ints: &'a Memory<u32>,
}

impl<S: DeviceFloat> Recorder<'_, S> {
    /// A pass, with copies before it.
    pub fn segments(&self, work: &[Work], carry: Option<Carry>) -> Result<Vec<Segment>, Error> {
        let mut carry = carry;
        let mut segments = Vec::new();
        for work in work {
            match work {
                Work::Kernels(launches) => segments.push(Segment::Graph(self.graph(carry.take(), launches)?)),
                Work::ByHand(k) => {
                    if carry.is_some() {
                        segments.push(Segment::Graph(self.graph(carry.take(), &[])?));
                    }
                    segments.push(Segment::ByHand(*k));
                }
            }
        }
        if carry.is_some() {
            segments.push(Segment::Graph(self.graph(carry, &[])?));
        }
        Ok(segments)
    }

    /// Copies, and kernels after them.
    pub fn graph(&self, carry: Option<Carry>, launches: &[Launch]) -> Result<Graph, Error> {
        let [values, bars, scratch] = self.arenas;
        let mut prepared = Vec::new();
        for launch in launches {
            let arguments = Arguments::new()
                .pointer(values)
                .pointer(bars)
                .pointer(scratch)
                .pointer(self.ints)
                .u32(launch.from)
                .u32(launch.count as u32);
            prepared.push((self.module.function(&launch.function)?, launch, arguments));
        }
        Graph::capture(self.device, || {
            carry.map_or(Ok(()), |carry| self.copies(carry))?;
            for (function, launch, arguments) in &prepared {
                // SAFETY: the text is ours, and stays inside the memory that its layouts describe.
                unsafe {
                    match launch.blocks {
                        Some(blocks) => {
                            let shape = Shape { blocks, threads: [SUM_THREADS, 1, 1], shared_bytes: 0 };
                            function.launch_shape(shape, arguments)?;
                        }
                        None => function.launch(launch.count, arguments)?,
                    }
                }
            }
            Ok(())
        })
    }

    /// Carried buffers that follow each other on both sides are one copy. Back, cotangents of other outputs become zero.
    fn copies(&self, carry: Carry) -> Result<(), Error> {
        let extent = |b: usize| extent(&self.inner.buffers[b], &self.layouts[b], self.worlds);
        let offset = |b: usize| self.layouts[b].offset;
        let memory = self.arenas[carry as usize];
        if carry == Carry::Back {
            let others = self.inner.outputs.iter().filter(|&&b| self.inner.carried.iter().all(|c| c.1 != b));
            others.copied().try_for_each(|b| memory.zero_at(offset(b)..offset(b) + extent(b)))?;
        }
        let mut pieces: Vec<[usize; 3]> = self
            .inner
            .carried
            .iter()
            .map(|&(input, output)| [offset(input), offset(output), extent(input)])
            .collect();
        pieces.sort_unstable();
        let mut joined: Vec<[usize; 3]> = Vec::new();
        for [input, output, numbers] in pieces {
            match joined.last_mut() {
                Some([i, o, n])
                    if input - *i < *n + ALIGNED && output.checked_sub(*o) == Some(input - *i) =>
                {
                    *n = input - *i + numbers;
                }
                _ => joined.push([input, output, numbers]),
            }
        }
        joined.into_iter().try_for_each(|[input, output, numbers]| {
            let (from, to) = if carry == Carry::Back { (input, output) } else { (output, input) };
            memory.copy_at(to, memory, from..from + numbers)
        })
    }
}
