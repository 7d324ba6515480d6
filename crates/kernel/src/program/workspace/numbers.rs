//! Buffers of any type as flat arrays of numbers: value by value, without padding.

use std::ops::Range;

use super::super::by_hand::BufferUse;
use super::super::copies;
use super::super::operation::Scalar;
use super::super::pool::Part;
use super::state::WAKE;
use super::{AccessError, Layout, Machine, RunOptions, Side, Workspace};

impl<S: Scalar> Workspace<S> {
    /// Sets an input or parameter in one world, from its numbers.
    pub fn write_numbers(
        &mut self,
        world: usize,
        buffer: impl Into<BufferUse>,
        numbers: &[S],
    ) -> Result<(), AccessError> {
        let id = buffer.into().id;
        let info = &self.program.inner.buffers[id];
        if !info.role.is_set() {
            return Err(AccessError::Computed { buffer: info.name.clone() });
        }
        self.set_numbers(id, world, numbers, false)
    }

    /// The numbers of a buffer in one world.
    pub fn read_numbers(&self, world: usize, buffer: impl Into<BufferUse>) -> Result<Vec<S>, AccessError> {
        self.numbers(buffer.into().id, world, false)
    }

    /// Sets the cotangent of an output in one world, from its numbers.
    pub fn seed_numbers(
        &mut self,
        world: usize,
        buffer: impl Into<BufferUse>,
        numbers: &[S],
    ) -> Result<(), AccessError> {
        let id = buffer.into().id;
        if !self.program.inner.outputs.contains(&id) {
            return Err(AccessError::NoOutput { buffer: self.program.inner.buffers[id].name.clone() });
        }
        self.set_numbers(id, world, numbers, true)
    }

    /// The numbers of a buffer's cotangent in one world.
    pub fn bar_numbers(&self, world: usize, buffer: impl Into<BufferUse>) -> Result<Vec<S>, AccessError> {
        self.numbers(buffer.into().id, world, true)
    }

    pub(crate) fn numbers(&self, id: usize, world: usize, bars: bool) -> Result<Vec<S>, AccessError> {
        let info = &self.program.inner.buffers[id];
        let mut numbers = vec![S::default(); info.len * info.numbers];
        self.get_numbers(id, world, bars, &mut numbers)?;
        Ok(numbers)
    }

    /// [`Workspace::read_numbers`] into memory of the caller.
    pub fn read_numbers_into(
        &self,
        world: usize,
        buffer: impl Into<BufferUse>,
        numbers: &mut [S],
    ) -> Result<(), AccessError> {
        self.get_numbers(buffer.into().id, world, false, numbers)
    }

    /// [`Workspace::bar_numbers`] into memory of the caller.
    pub fn bar_numbers_into(
        &self,
        world: usize,
        buffer: impl Into<BufferUse>,
        numbers: &mut [S],
    ) -> Result<(), AccessError> {
        self.get_numbers(buffer.into().id, world, true, numbers)
    }

    /// The sum of the squares of a buffer's cotangent in one world, each number converted by `value`.
    pub fn bar_squares(
        &self,
        world: usize,
        buffer: impl Into<BufferUse>,
        value: impl Fn(S) -> f64,
    ) -> Result<f64, AccessError> {
        let id = buffer.into().id;
        let info = &self.program.inner.buffers[id];
        let (array, layout) = self.place(id, world, true, info.len * info.numbers)?;
        // SAFETY: a buffer of this arena, to which nobody writes while the workspace is borrowed.
        Ok(unsafe { copies::squares(array, layout, [info.numbers, info.len], value) })
    }

    /// Where the buffer starts in one world's arena, if `found` is how many numbers it has.
    fn place(
        &self,
        id: usize,
        world: usize,
        bars: bool,
        found: usize,
    ) -> Result<(*mut S, Layout), AccessError> {
        let (arena, lane, layout) = self.find(id, world)?;
        let info = &self.program.inner.buffers[id];
        let wanted = info.len * info.numbers;
        if wanted != found {
            return Err(AccessError::Length { buffer: info.name.clone(), wanted, found });
        }
        let arena = &self.arenas[arena];
        let array = if bars { arena.bars.pointer } else { arena.values.pointer };
        Ok((array.wrapping_add(lane), layout))
    }

    fn get_numbers(&self, id: usize, world: usize, bars: bool, numbers: &mut [S]) -> Result<(), AccessError> {
        let (array, layout) = self.place(id, world, bars, numbers.len())?;
        // SAFETY: a buffer of this arena, to which nobody writes while the workspace is borrowed.
        unsafe { copies::gather(array, layout, self.program.inner.buffers[id].numbers, numbers) };
        Ok(())
    }

    pub(crate) fn set_numbers(
        &mut self,
        id: usize,
        world: usize,
        numbers: &[S],
        bars: bool,
    ) -> Result<(), AccessError> {
        let (array, layout) = self.place(id, world, bars, numbers.len())?;
        // SAFETY: a buffer of this arena, and the workspace is borrowed alone.
        unsafe { copies::scatter(numbers, array, layout, self.program.inner.buffers[id].numbers) };
        Ok(())
    }

    /// How many numbers [`Workspace::see_values`] shows at most.
    pub fn values_len(&self) -> usize {
        let all = |side: &Side| side.kept.iter().flatten().map(Range::len).sum::<usize>();
        self.arenas.len() * self.sides.iter().map(all).max().unwrap_or(0)
    }

    /// Shows the values of all worlds that a pullback reads, parameters left out, and the state, with their place among all of these: where
    /// [`Workspace::bring_values`] has brought them back, a pullback needs no forward pass. Carries must stand as they did:
    /// after [`Workspace::carry`] follow as many of [`Workspace::carry_back`].
    pub fn see_values(&self, mut see: impl FnMut(usize, &[S])) {
        self.each_kept(true, |at, numbers, len| {
            // SAFETY: numbers of the arena, to which nobody writes while it is borrowed.
            see(at, unsafe { std::slice::from_raw_parts(numbers, len) });
        });
    }

    /// Has the values set to what [`Workspace::see_values`] showed, piece by piece; what of the state no pullback reads, only if the state is
    /// wanted.
    pub fn bring_values(&mut self, state: bool, bring: impl Fn(usize, &mut [S]) + Sync) {
        let walk = |part: Part| {
            self.each_kept(state, |at, numbers, len| {
                let range = part.range(len, 1024);
                let piece = numbers.wrapping_add(range.start);
                // SAFETY: numbers of the arena, the workspace is borrowed alone, and threads have different pieces.
                bring(at + range.start, unsafe { std::slice::from_raw_parts_mut(piece, range.len()) });
            });
        };
        match self.values_len() * size_of::<S>() > WAKE {
            true => self.pool.run(&|part, _| walk(part)),
            false => walk(Part::WHOLE),
        }
    }

    fn each_kept(&self, state: bool, mut visit: impl FnMut(usize, *mut S, usize)) {
        let [read, states] = &self.sides[self.side].kept;
        let mut at = 0;
        for ranges in [&read[..], if state { states } else { &[] }] {
            for arena in &self.arenas {
                for range in ranges {
                    visit(at, arena.values.pointer.wrapping_add(range.start), range.len());
                    at += range.len();
                }
            }
        }
    }

    /// Another workspace of the same program, with the same lists, inputs and parameters in another scalar.
    pub(crate) fn twin<Z: Scalar>(&self, convert: impl Fn(S) -> Z) -> Workspace<Z> {
        let Machine { isa, width } = self.machine;
        let options = RunOptions { threads: self.threads(), width, isa, derived: self.derived };
        let worlds = (self.side_by_side > 0).then_some(self.worlds);
        let mut twin = Workspace::new(self.program.clone(), worlds, options);
        for (to, from) in twin.arenas.iter_mut().zip(&self.arenas) {
            to.lists.clone_from(&from.lists);
        }
        for (id, info) in self.program.inner.buffers.iter().enumerate() {
            if !info.role.is_set() {
                continue;
            }
            for world in 0..self.worlds {
                let numbers = self.numbers(id, world, false).unwrap_or_default();
                let numbers: Vec<Z> = numbers.into_iter().map(&convert).collect();
                twin.set_numbers(id, world, &numbers, false).expect("the same buffers and worlds");
            }
        }
        twin
    }
}
