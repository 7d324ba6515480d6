//! Buffers of any type as flat arrays of numbers: value by value, without padding.

use super::super::by_hand::BufferUse;
use super::super::operation::Scalar;
use super::{AccessError, Layout, Machine, Role, RunOptions, Workspace};

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
        if let (1, Some(step)) = (count, layout.step()) {
            let from = array.wrapping_add(layout.offset);
            for (e, number) in numbers.iter_mut().enumerate() {
                // SAFETY: a number of the buffer.
                *number = unsafe { from.add(e * step).read() };
            }
            return Ok(());
        }
        for (e, value) in numbers.chunks_exact_mut(count).enumerate() {
            let from = array.wrapping_add(layout.at(e));
            for (c, number) in value.iter_mut().enumerate() {
                // SAFETY: a number of the buffer.
                *number = unsafe { from.add(c * layout.stride).read() };
            }
        }
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
        if let (1, Some(step)) = (count, layout.step()) {
            let to = array.wrapping_add(layout.offset);
            for (e, number) in numbers.iter().enumerate() {
                // SAFETY: a number of the buffer.
                unsafe { to.add(e * step).write(*number) };
            }
            return Ok(());
        }
        for (e, value) in numbers.chunks_exact(count).enumerate() {
            let to = array.wrapping_add(layout.at(e));
            for (c, number) in value.iter().enumerate() {
                // SAFETY: a number of the buffer.
                unsafe { to.add(c * layout.stride).write(*number) };
            }
        }
        Ok(())
    }

    /// How many numbers [`Workspace::save_values`] writes: all values of all worlds, padding included.
    pub fn values_len(&self) -> usize {
        self.arenas.iter().map(|arena| arena.values.lines.len() * 64 / size_of::<S>()).sum()
    }

    /// Copies all values, those between operations included: a pullback after [`Workspace::load_values`] needs no forward
    /// pass. Carries must stand as they did ([`Workspace::carry`] an even number of times in between).
    pub fn save_values(&self, values: &mut [S]) -> Result<(), AccessError> {
        self.check_values_len(values.len())?;
        let mut rest = values;
        for arena in &self.arenas {
            let (now, later) = rest.split_at_mut(arena.values.lines.len() * 64 / size_of::<S>());
            // SAFETY: as many numbers as the arena holds, and nobody writes to it while it is borrowed.
            unsafe { now.as_mut_ptr().copy_from_nonoverlapping(arena.values.pointer, now.len()) };
            rest = later;
        }
        Ok(())
    }

    /// Sets all values to what [`Workspace::save_values`] wrote.
    pub fn load_values(&mut self, values: &[S]) -> Result<(), AccessError> {
        self.check_values_len(values.len())?;
        let mut rest = values;
        for arena in &mut self.arenas {
            let (now, later) = rest.split_at(arena.values.lines.len() * 64 / size_of::<S>());
            // SAFETY: as many numbers as the arena holds, and it is borrowed alone.
            unsafe { arena.values.pointer.copy_from_nonoverlapping(now.as_ptr(), now.len()) };
            rest = later;
        }
        Ok(())
    }

    fn check_values_len(&self, found: usize) -> Result<(), AccessError> {
        let wanted = self.values_len();
        if wanted == found {
            return Ok(());
        }
        Err(AccessError::Length { buffer: "all values".into(), wanted, found })
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
