//! The memory a program runs in.

mod numbers;
mod state;

use std::ops::Range;
use std::sync::Arc;

use super::buffer::{AnyBuffer, Buffer, BufferInfo, Role};
use super::by_hand::{read, write};
use super::error::AccessError;
use super::layout::{Layout, extent, layouts, ranges};
use super::operation::Scalar;
use super::plan::{Context, Machine, Pass, PassPlan, held};
use super::planner::DeviceKind;
use super::pool::{Part, Pool};
use super::table::{Partition, Table};
use super::{List, Program, flow, planner};
use crate::scalar::lanes::{Isa, Width};
use crate::{Value, With};

/// Worlds side by side in one arena of a batch: any lane width divides it.
const WORLDS: usize = 16;

/// How to run a program.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// How many threads; 0 means one per core.
    pub threads: usize,
    /// How many elements, or worlds, at once.
    pub width: Width,
    /// Which instructions to use at most.
    pub isa: Isa,
    /// Run the macro's pullbacks, also where a fragment names its own: to test those.
    pub derived: bool,
}

impl Default for RunOptions {
    /// One thread, lanes, the best instructions of this machine.
    fn default() -> Self {
        RunOptions { threads: 1, width: Width::Narrow, isa: Isa::detect(), derived: false }
    }
}

/// The memory of a program that runs for one world, or for many.
///
/// Nothing is allocated after it is made.
pub struct Workspace<S: Scalar> {
    program: Program,
    arenas: Vec<Arena<S>>,
    partitions: Vec<Partition>,
    /// Where buffers lie, and the plans that follow, before and after an odd number of carries: carried inputs and outputs
    /// change places, and nothing is copied.
    sides: [Side; 2],
    side: usize,
    /// Worlds in each arena; 0 when there is one alone.
    side_by_side: usize,
    worlds: usize,
    pool: Arc<Pool>,
    machine: Machine,
    derived: bool,
    /// Inputs whose cotangents nothing writes.
    unwritten: Vec<usize>,
    /// Scratch memory, one for each thread that runs arenas of its own.
    scratch: Vec<Aligned<S>>,
}

struct Side {
    layouts: Vec<Layout>,
    /// Where values are that [`Workspace::see_values`] shows: those that pullbacks read, and states that they do not.
    kept: [Vec<Range<usize>>; 2],
    forward: Vec<PassPlan>,
    pullback: Vec<PassPlan>,
}

impl Side {
    fn bytes(&self) -> usize {
        let plans = |plans: &Vec<PassPlan>| held(plans) + plans.iter().map(PassPlan::bytes).sum::<usize>();
        held(&self.layouts)
            + self.kept.iter().map(held).sum::<usize>()
            + plans(&self.forward)
            + plans(&self.pullback)
    }
}

struct Arena<S> {
    values: Aligned<S>,
    bars: Aligned<S>,
    lists: Vec<Table>,
}

/// Numbers that start on a cache line.
struct Aligned<S> {
    /// Owns the memory; everything goes through the pointer.
    lines: Vec<Line>,
    pointer: *mut S,
}
// SAFETY: the memory is its own.
unsafe impl<S: Send> Send for Aligned<S> {}
// SAFETY: whoever writes through the pointer sees to it that nobody else uses the same numbers.
unsafe impl<S: Sync> Sync for Aligned<S> {}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl<S: Scalar> Aligned<S> {
    fn zeros(numbers: usize) -> Self {
        let bytes = numbers * size_of::<S>();
        // Zero bytes are the number zero in every scalar.
        let mut lines = vec![Line([0; 64]); bytes.div_ceil(64)];
        Aligned { pointer: lines.as_mut_ptr().cast(), lines }
    }
}

/// How many worlds run at once.
fn lanes<S: Scalar>(side_by_side: usize, machine: Machine) -> usize {
    if side_by_side == 0 { 1 } else { S::lanes(machine.isa, machine.width) }
}

impl<S: Scalar> Workspace<S> {
    pub(super) fn new(program: Program, worlds: Option<usize>, options: RunOptions) -> Self {
        let inner = &program.inner;
        let side_by_side = if worlds.is_some() { WORLDS } else { 0 };
        let count = worlds.unwrap_or(1);
        let pool = Arc::new(Pool::new(options.threads));
        // In a batch a thread has worlds of its own, and shares no vertices.
        let sharing = if side_by_side == 0 { pool.threads() } else { 1 };
        let mut partitions = Vec::new();
        if sharing > 1 {
            for table in &inner.tables {
                let mut partition = table.room_for_partition();
                // The roots of a forest are summed from slots, and share nothing.
                if !table.corners.is_empty() {
                    table.share(sharing, &mut partition);
                }
                partitions.push(partition);
            }
        }
        // What planning reads of the buffers: neither names nor data.
        let extra_rows = planner::extra_rows(inner, &partitions, sharing);
        let buffers: Vec<BufferInfo> = inner
            .buffers
            .iter()
            .zip(extra_rows)
            .map(|(info, extra_rows)| BufferInfo { name: String::new(), data: None, extra_rows, ..*info })
            .collect();
        let (layouts, numbers) = layouts(&buffers, side_by_side);
        let mut exchanged = layouts.clone();
        for &(input, output) in &inner.carried {
            exchanged.swap(input, output);
        }
        let kept = flow::kept(inner);
        let sides = [layouts, exchanged].map(|layouts| {
            let kept = kept.each_ref().map(|kept| ranges(&buffers, &layouts, side_by_side, kept));
            let plans = |pass| {
                planner::plans(
                    inner,
                    &buffers,
                    &layouts,
                    side_by_side,
                    pass,
                    DeviceKind::Cpu,
                    options.derived,
                )
            };
            Side { forward: plans(Pass::Forward), pullback: plans(Pass::Pullback), kept, layouts }
        });
        // What is needed for planning goes before the arenas come, which are larger: so it adds nothing to the peak.
        let unwritten = flow::unwritten(inner);
        drop(buffers);
        let plans = sides[0].forward.iter().chain(&sides[0].pullback);
        let lanes = lanes::<S>(side_by_side, Machine { isa: options.isa, width: options.width });
        let by_hand = inner.stages.iter().map(|stage| stage.own_scratch(lanes));
        let scratch = plans.map(|p| p.scratch).chain(by_hand).max().unwrap_or(0) + 16;
        let list = |table: &Table| {
            let mut table = table.clone();
            if sharing > 1 {
                table.partition = table.room_for_partition();
            }
            table
        };
        let arenas = (0..if side_by_side == 0 { 1 } else { count.div_ceil(WORLDS) })
            .map(|_| Arena {
                values: Aligned::zeros(numbers),
                bars: Aligned::zeros(numbers),
                lists: (0..side_by_side.max(1)).flat_map(|_| inner.lists.iter().map(list)).collect(),
            })
            .collect::<Vec<_>>();
        let scratches = if side_by_side == 0 { 1 } else { pool.threads() };
        let mut workspace = Workspace {
            arenas,
            partitions,
            sides,
            side: 0,
            side_by_side,
            worlds: count,
            pool,
            machine: Machine { isa: options.isa, width: options.width },
            derived: options.derived,
            unwritten,
            scratch: (0..scratches).map(|_| Aligned::zeros(scratch)).collect(),
            program: program.clone(),
        };
        workspace.fill_constants();
        workspace
    }

    /// Sets constants to what the builder gave: in all worlds, those included that only fill an arena.
    fn fill_constants(&mut self) {
        for (b, info) in self.program.inner.buffers.iter().enumerate() {
            let Some(data) = &info.data else { continue };
            for arena in &self.arenas {
                for (i, number) in data.iter().enumerate() {
                    let (e, c) = (i / info.numbers, i % info.numbers);
                    let at = self.layouts()[b].at(e) + c * self.layouts()[b].stride;
                    for world in 0..self.side_by_side.max(1) {
                        // SAFETY: a number of the buffer.
                        unsafe { arena.values.pointer.add(at + world).write(S::from_f64(*number)) };
                    }
                }
            }
        }
    }

    /// The program that runs here.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How many worlds.
    pub fn worlds(&self) -> usize {
        self.worlds
    }

    /// How many threads.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// How many bytes of memory it holds: values, cotangents and scratch, and the plans by which they are used. The program
    /// itself, which workspaces share, is not among them.
    pub fn bytes(&self) -> usize {
        let lines = |a: &Aligned<S>| held(&a.lines);
        let arena = |a: &Arena<S>| {
            lines(&a.values)
                + lines(&a.bars)
                + held(&a.lists)
                + a.lists.iter().map(Table::bytes).sum::<usize>()
        };
        self.arenas.iter().map(arena).sum::<usize>()
            + held(&self.arenas)
            + self.scratch.iter().map(lines).sum::<usize>()
            + held(&self.scratch)
            + self.partitions.iter().map(Partition::bytes).sum::<usize>()
            + held(&self.partitions)
            + self.sides.iter().map(Side::bytes).sum::<usize>()
            + held(&self.unwritten)
            + self.pool.bytes()
            + self.own_bytes()
    }

    /// What operations keep themselves, where this workspace is the only one that they run in.
    fn own_bytes(&self) -> usize {
        let stages = self.program.inner.stages.iter();
        let lanes = lanes::<S>(self.side_by_side, self.machine);
        let a_thread: usize = stages.map(|stage| stage.own_bytes(lanes)).sum();
        a_thread * self.scratch.len()
    }

    /// Runs the operations in order.
    pub fn forward(&mut self) {
        self.run(Pass::Forward);
    }

    /// Runs the pullbacks of the operations in reverse order: from the cotangents of outputs, which are to be set
    /// before, to those of inputs, and added to those of parameters.
    ///
    /// It uses the values that the last forward pass has left.
    pub fn pullback(&mut self) {
        self.run(Pass::Pullback);
        for i in 0..self.unwritten.len() {
            self.clear(self.unwritten[i]);
        }
    }

    /// Runs one operation, by its place.
    pub(super) fn run_one(&mut self, pass: Pass, k: usize) {
        self.run_some(pass, k..k + 1);
    }

    fn run(&mut self, pass: Pass) {
        self.run_some(pass, 0..self.program.inner.stages.len());
    }

    /// Runs the operations of a range, or their pullbacks from its end to its beginning.
    fn run_some(&mut self, pass: Pass, range: Range<usize>) {
        let inner = &*self.program.inner;
        let plans = match pass {
            Pass::Forward => &self.sides[self.side].forward,
            Pass::Pullback => &self.sides[self.side].pullback,
        };
        let this = &*self;
        let context = |arena: usize, thread: usize, k: usize| Context {
            values: this.arenas[arena].values.pointer,
            bars: this.arenas[arena].bars.pointer,
            scratch: this.scratch[thread].pointer,
            plan: &plans[k],
            tables: &inner.tables,
            partitions: &this.partitions,
            lists: &this.arenas[arena].lists,
            lists_per_world: inner.lists.len(),
            forests: &inner.forests,
            indices: &inner.indices,
            worlds: this.side_by_side,
            machine: this.machine,
        };
        let count = range.len();
        let stage = |arena: usize, thread: usize, i: usize, part: Part, wait: &dyn Fn()| {
            let k = if pass == Pass::Forward { range.start + i } else { range.end - 1 - i };
            let context = context(arena, thread, k);
            for phase in 0..plans[k].phases {
                if plans[k].waits_before(phase) {
                    wait();
                }
                S::call(&*inner.stages[k], plans[k].run.unwrap_or(pass), phase, &context, part);
            }
        };
        if self.side_by_side == 0 {
            self.pool.run(&|part, barrier| {
                for k in 0..count {
                    stage(0, 0, k, part, &|| barrier.wait());
                }
            });
        } else {
            // Worlds need nothing of each other: each thread runs whole programs.
            self.pool.run(&|part, _| {
                for arena in part.range(self.arenas.len(), 1) {
                    for k in 0..count {
                        stage(arena, part.index, k, Part::WHOLE, &|| ());
                    }
                }
            });
        }
    }

    fn layouts(&self) -> &[Layout] {
        &self.sides[self.side].layouts
    }

    fn find(&self, id: usize, world: usize) -> Result<(usize, usize, Layout), AccessError> {
        if world >= self.worlds {
            return Err(AccessError::NoWorld { world, worlds: self.worlds });
        }
        Ok(match self.side_by_side {
            0 => (0, 0, self.layouts()[id]),
            n => (world / n, world % n, self.layouts()[id]),
        })
    }

    fn set<T: Value>(
        &mut self,
        id: usize,
        world: usize,
        values: &[With<T, S>],
        bars: bool,
    ) -> Result<(), AccessError> {
        let info = &self.program.inner.buffers[id];
        if values.len() != info.len {
            return Err(AccessError::Length {
                buffer: info.name.clone(),
                wanted: info.len,
                found: values.len(),
            });
        }
        let (arena, world, layout) = self.find(id, world)?;
        let arena = &mut self.arenas[arena];
        let array = if bars { arena.bars.pointer } else { arena.values.pointer };
        for (i, value) in values.iter().enumerate() {
            // SAFETY: a value of the buffer.
            unsafe { write::<T, S>(array, layout, i, world, *value) };
        }
        Ok(())
    }

    /// Is it a buffer of this program, with values of this type?
    fn knows<T: Value>(&self, id: usize) -> Result<(), AccessError> {
        match self.program.inner.buffers.get(id) {
            Some(info) if info.numbers == T::LEN => Ok(()),
            _ => Err(AccessError::OtherProgram),
        }
    }

    fn get<T: Value>(&self, id: usize, world: usize, bars: bool) -> Result<Vec<With<T, S>>, AccessError> {
        self.knows::<T>(id)?;
        let (arena, world, layout) = self.find(id, world)?;
        let arena = &self.arenas[arena];
        let array = if bars { arena.bars.pointer } else { arena.values.pointer };
        let len = self.program.inner.buffers[id].len;
        // SAFETY: values of the buffer.
        Ok((0..len).map(|i| unsafe { read::<T, S>(array, layout, i, world) }).collect())
    }

    /// Sets an input or parameter, in every world of a batch.
    pub fn write<T: Value>(&mut self, buffer: Buffer<T>, values: &[With<T, S>]) -> Result<(), AccessError> {
        (0..self.worlds).try_for_each(|world| self.write_in(world, buffer, values))
    }

    /// Sets an input or parameter in one world.
    pub fn write_in<T: Value>(
        &mut self,
        world: usize,
        buffer: Buffer<T>,
        values: &[With<T, S>],
    ) -> Result<(), AccessError> {
        self.knows::<T>(buffer.id)?;
        let info = &self.program.inner.buffers[buffer.id];
        if !info.role.is_set() {
            return Err(AccessError::Computed { buffer: info.name.clone() });
        }
        self.set::<T>(buffer.id, world, values, false)
    }

    /// The values of a buffer, in the first world of a batch.
    pub fn read<B: AnyBuffer>(&self, buffer: B) -> Vec<With<B::Item, S>> {
        self.get::<B::Item>(buffer.id(), 0, false).unwrap_or_default()
    }

    /// The values of a buffer in one world.
    pub fn read_in<B: AnyBuffer>(
        &self,
        world: usize,
        buffer: B,
    ) -> Result<Vec<With<B::Item, S>>, AccessError> {
        self.get::<B::Item>(buffer.id(), world, false)
    }

    /// Sets the cotangent of an output, in every world of a batch. To be done before every pullback.
    pub fn seed<T: Value>(&mut self, buffer: Buffer<T>, bars: &[With<T, S>]) -> Result<(), AccessError> {
        (0..self.worlds).try_for_each(|world| self.seed_in(world, buffer, bars))
    }

    /// Sets the cotangent of an output in one world.
    pub fn seed_in<T: Value>(
        &mut self,
        world: usize,
        buffer: Buffer<T>,
        bars: &[With<T, S>],
    ) -> Result<(), AccessError> {
        self.knows::<T>(buffer.id)?;
        if !self.program.inner.outputs.contains(&buffer.id) {
            let buffer = self.program.inner.buffers[buffer.id].name.clone();
            return Err(AccessError::NoOutput { buffer });
        }
        self.set::<T>(buffer.id, world, bars, true)
    }

    /// The cotangents of a buffer, in the first world of a batch.
    pub fn bars<T: Value>(&self, buffer: Buffer<T>) -> Vec<With<T, S>> {
        self.get::<T>(buffer.id, 0, true).unwrap_or_default()
    }

    /// The cotangents of a buffer in one world.
    pub fn bars_in<T: Value>(&self, world: usize, buffer: Buffer<T>) -> Result<Vec<With<T, S>>, AccessError> {
        self.get::<T>(buffer.id, world, true)
    }

    /// Sets the cotangents of all parameters to zero.
    pub fn clear_parameters(&mut self) {
        for b in 0..self.layouts().len() {
            if self.program.inner.buffers[b].role == Role::Parameter {
                self.clear(b);
            }
        }
    }

    /// Sets a cotangent to zero.
    fn clear(&mut self, b: usize) {
        let layout = &self.layouts()[b];
        let numbers = extent(&self.program.inner.buffers[b], layout, self.side_by_side);
        for arena in &self.arenas {
            // SAFETY: the buffer's part of the arena, and the workspace is borrowed alone.
            unsafe { std::slice::from_raw_parts_mut(arena.bars.pointer.add(layout.offset), numbers) }
                .fill(S::default());
        }
    }

    /// Sets the elements of a list in one world, and the order of their sums. Nothing is allocated.
    pub fn set_list<const N: usize>(
        &mut self,
        world: usize,
        list: List<N>,
        elements: &[[u32; N]],
    ) -> Result<(), AccessError> {
        if world >= self.worlds {
            return Err(AccessError::NoWorld { world, worlds: self.worlds });
        }
        let per_world = self.program.inner.lists.len();
        let (arena, world) = match self.side_by_side {
            0 => (0, 0),
            n => (world / n, world % n),
        };
        let table = &mut self.arenas[arena].lists[world * per_world + list.list];
        table.check_and_set(elements)?;
        if !table.partition.rows.is_empty() {
            let mut partition = std::mem::take(&mut table.partition);
            table.share(self.pool.threads(), &mut partition);
            table.partition = partition;
        }
        Ok(())
    }
}
