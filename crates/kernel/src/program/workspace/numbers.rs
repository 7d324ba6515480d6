//! Buffers of any type as flat arrays of numbers: value by value, without padding.

use std::ops::Range;

use super::super::by_hand::BufferUse;
use super::super::operation::Scalar;
use super::{AccessError, Layout, Machine, RunOptions, Workspace};

/// Calls `visit` with where each of `len` numbers lies, and its place among them, for values of `count` numbers. Scalars and vectors have loops
/// of their own, because states are copied in every step.
#[inline(always)]
fn each_number(layout: Layout, count: usize, len: usize, mut visit: impl FnMut(usize, usize)) {
    match (count, layout.step(), layout.stride) {
        (1, Some(step), _) => (0..len).for_each(|e| visit(layout.offset + e * step, e)),
        (3, Some(4), 1) => {
            for e in 0..len / 3 {
                let from = layout.offset + 4 * e;
                (0..3).for_each(|c| visit(from + c, 3 * e + c));
            }
        }
        _ => {
            for e in 0..len / count.max(1) {
                let from = layout.at(e);
                (0..count).for_each(|c| visit(from + c * layout.stride, count * e + c));
            }
        }
    }
}

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
        let count = self.program.inner.buffers[id].numbers;
        // SAFETY: numbers of the buffer, to which nobody writes while the workspace is borrowed.
        each_number(layout, count, numbers.len(), |at, i| unsafe {
            *numbers.get_unchecked_mut(i) = array.add(at).read();
        });
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
        let count = self.program.inner.buffers[id].numbers;
        // SAFETY: numbers of the buffer, and the workspace is borrowed alone.
        each_number(layout, count, numbers.len(), |at, i| unsafe {
            array.add(at).write(*numbers.get_unchecked(i));
        });
        Ok(())
    }

    /// How many numbers [`Workspace::save_values`] writes.
    pub fn values_len(&self) -> usize {
        self.arenas.len() * self.kept().iter().map(Range::len).sum::<usize>()
    }

    fn kept(&self) -> &[Range<usize>] {
        &self.sides[self.side].kept
    }

    /// Copies the values of all worlds that a pullback reads, parameters left out: one after [`Workspace::load_values`] needs no forward
    /// pass. Carries must stand as they did ([`Workspace::carry`] an even number of times in between).
    pub fn save_values(&self, values: &mut [S]) -> Result<(), AccessError> {
        self.check_values_len(values.len())?;
        let mut rest = values;
        for (arena, range) in self.arenas.iter().flat_map(|arena| self.kept().iter().map(move |r| (arena, r)))
        {
            let (now, later) = rest.split_at_mut(range.len());
            // SAFETY: numbers of the arena, to which nobody writes while it is borrowed.
            unsafe {
                now.as_mut_ptr().copy_from_nonoverlapping(arena.values.pointer.add(range.start), now.len())
            };
            rest = later;
        }
        Ok(())
    }

    /// Sets the values to what [`Workspace::save_values`] wrote.
    pub fn load_values(&mut self, values: &[S]) -> Result<(), AccessError> {
        self.check_values_len(values.len())?;
        let mut rest = values;
        for (arena, range) in self.arenas.iter().flat_map(|arena| self.kept().iter().map(move |r| (arena, r)))
        {
            let (now, later) = rest.split_at(range.len());
            // SAFETY: numbers of the arena, and the workspace is borrowed alone.
            unsafe {
                arena.values.pointer.add(range.start).copy_from_nonoverlapping(now.as_ptr(), now.len())
            };
            rest = later;
        }
        Ok(())
    }

    fn check_values_len(&self, found: usize) -> Result<(), AccessError> {
        let wanted = self.values_len();
        if wanted == found {
            return Ok(());
        }
        Err(AccessError::Length { buffer: "the values that are kept".into(), wanted, found })
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
