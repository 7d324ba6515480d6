//! Buffers of any type as flat arrays of numbers: value by value, without padding.

use super::super::operation::{BufferUse, Scalar};
use super::{AccessError, Machine, Role, RunOptions, Workspace};

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
        if !matches!(info.role, Role::Input | Role::Parameter) {
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
        let (arena, lane, layout) = self.find(id, world)?;
        let arena = &self.arenas[arena];
        let array = if bars { arena.bars.pointer } else { arena.values.pointer };
        let info = &self.program.inner.buffers[id];
        let mut numbers = Vec::with_capacity(info.len * info.numbers);
        for e in 0..info.len {
            for c in 0..info.numbers {
                // SAFETY: a number of the buffer.
                numbers.push(unsafe { array.add(layout.at(e) + c * layout.stride + lane).read() });
            }
        }
        Ok(numbers)
    }

    pub(crate) fn set_numbers(
        &mut self,
        id: usize,
        world: usize,
        numbers: &[S],
        bars: bool,
    ) -> Result<(), AccessError> {
        let (arena, lane, layout) = self.find(id, world)?;
        let info = &self.program.inner.buffers[id];
        let (wanted, found) = (info.len * info.numbers, numbers.len());
        if wanted != found {
            return Err(AccessError::Length { buffer: info.name.clone(), wanted, found });
        }
        let arena = &mut self.arenas[arena];
        let array = if bars { arena.bars.pointer } else { arena.values.pointer };
        for (i, &number) in numbers.iter().enumerate() {
            let at = layout.at(i / info.numbers) + i % info.numbers * layout.stride + lane;
            // SAFETY: a number of the buffer.
            unsafe { array.add(at).write(number) };
        }
        Ok(())
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
            if !matches!(info.role, Role::Input | Role::Parameter) {
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
