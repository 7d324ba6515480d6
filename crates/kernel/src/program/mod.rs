//! Programs: a fixed list of operations on named buffers in one arena, run forwards, and backwards for cotangents.
//!
//! A program is built once ([`Builder`]), and run in a [`Workspace`], which holds all memory: nothing is allocated while
//! it runs. Its pullback is the list read backwards over the same arena.

mod barriers;
mod buffer;
mod builder;
mod by_hand;
mod checks;
mod copies;
mod dependence;
mod device;
mod error;
mod flow;
mod health;
pub(crate) mod layout;
pub(crate) mod operation;
pub(crate) mod plan;
pub(crate) mod planner;
pub(crate) mod pool;
mod spares;
pub(crate) mod table;
mod workspace;

use std::sync::Arc;

pub use buffer::{AnyBuffer, Buffer, BufferInfo, Constant, Indices, Memory, Role};
pub use builder::{After, Builder, Results, Tree};
pub use by_hand::{BufferUse, Operation, View, World, carve, carve_indices, lane_of, set_lane_of};
pub use copies::are_finite;
pub use device::{DeviceError, DeviceFloat, DeviceWorkspace, Rows, Sums};
pub use error::{AccessError, BuildError, NonFinite};
pub use operation::Scalar;
pub use spares::Spares;
pub use workspace::{RunOptions, Workspace};

pub use crate::patterns::elements::Corners;
pub use crate::patterns::pairs::List;
pub use crate::scalar::lanes::{Apart, Lane};

use operation::Erased;
use table::{Forest, Table};

/// When an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageRole {
    /// Forwards in the forward pass, backwards in the pullback.
    Both,
    /// Only in the forward pass: its fragment has its own pullback.
    Replaced,
    /// Only in the pullback, forwards: a part of a fragment's own pullback. They stand in reverse order, because the
    /// pullback reads the list backwards.
    InPullback,
}

/// A fixed list of operations.
#[derive(Clone)]
pub struct Program {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub buffers: Vec<BufferInfo>,
    pub outputs: Vec<usize>,
    pub carried: Vec<(usize, usize)>,
    pub stages: Vec<Box<dyn Erased>>,
    /// When each stage runs.
    pub roles: Vec<StageRole>,
    /// Buffers that depend on an input or a parameter.
    pub varies: Vec<bool>,
    /// Stages whose cotangents reach an input, by their place.
    pub live: Vec<bool>,
    pub tables: Vec<Table>,
    /// Lists made at run time, as they are before anything is in them.
    pub lists: Vec<Table>,
    pub forests: Vec<Forest>,
    pub indices: Vec<Vec<u32>>,
}

impl Program {
    /// A program with nothing in it yet.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Memory to run the program for one world.
    pub fn workspace<S: Scalar>(&self, options: RunOptions) -> Workspace<S> {
        Workspace::new(self.clone(), None, options)
    }

    /// Memory to run the program for many worlds at once, each with its own values.
    pub fn batch<S: Scalar>(&self, worlds: usize, options: RunOptions) -> Workspace<S> {
        Workspace::new(self.clone(), Some(worlds), options)
    }

    /// Its buffers.
    pub fn buffers(&self) -> &[BufferInfo] {
        &self.inner.buffers
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for buffer in self.buffers().iter().filter(|b| !matches!(b.role, Role::Computed | Role::Memory)) {
            writeln!(f, "{:?} {}: {} x {}", buffer.role, buffer.name, buffer.len, buffer.numbers)?;
        }
        for stage in &self.inner.stages {
            let info = stage.info();
            let names = |ports: &[crate::patterns::port::PortInfo]| {
                let name = |p: &crate::patterns::port::PortInfo| match p.reach {
                    crate::patterns::port::Reach::Index => format!("indices {}", p.buffer),
                    _ => self.inner.buffers[p.buffer].name.clone(),
                };
                ports.iter().map(name).collect::<Vec<_>>().join(", ")
            };
            writeln!(f, "{} = {}({})", names(&info.outputs), info.kernel, names(&info.inputs))?;
        }
        Ok(())
    }
}
