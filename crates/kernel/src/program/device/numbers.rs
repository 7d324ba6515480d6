//! Buffers on a GPU as flat arrays of numbers, of all worlds at once: value by value, without padding.

use super::super::by_hand::BufferUse;
use super::super::copies;
use super::super::error::{AccessError, NonFinite};
use super::super::health;
use super::super::layout::Layout;
use super::{DeviceError, DeviceFloat, DeviceWorkspace};
use crate::cuda::Memory;

impl<S: DeviceFloat> DeviceWorkspace<S> {
    /// How many worlds.
    pub fn worlds(&self) -> usize {
        self.worlds.max(1)
    }

    /// Sets an input or parameter from its numbers in each world.
    pub fn write_numbers<'a>(
        &self,
        buffer: impl Into<BufferUse>,
        of: impl Fn(usize) -> &'a [S],
    ) -> Result<(), DeviceError> {
        let id = buffer.into().id;
        let info = &self.program.inner.buffers[id];
        if !info.role.is_set() {
            return Err(AccessError::Computed { buffer: info.name.clone() }.into());
        }
        (0..self.worlds()).try_for_each(|world| self.mirror(&self.values, id, world, of(world)))?;
        self.set_numbers(&self.values, id, of)
    }

    /// Shows a buffer's numbers in each world.
    pub fn read_numbers(
        &self,
        buffer: impl Into<BufferUse>,
        see: impl FnMut(usize, &[S]),
    ) -> Result<(), DeviceError> {
        self.see_numbers(&self.values, buffer.into().id, see)
    }

    /// Sets the cotangent of an output from its numbers in each world.
    pub fn seed_numbers<'a>(
        &self,
        buffer: impl Into<BufferUse>,
        of: impl Fn(usize) -> &'a [S],
    ) -> Result<(), DeviceError> {
        let id = buffer.into().id;
        if !self.program.inner.outputs.contains(&id) {
            let buffer = self.program.inner.buffers[id].name.clone();
            return Err(AccessError::NoOutput { buffer }.into());
        }
        self.set_numbers(&self.bars, id, of)
    }

    /// Shows the numbers of a buffer's cotangent in each world.
    pub fn bar_numbers(
        &self,
        buffer: impl Into<BufferUse>,
        mut see: impl FnMut(usize, &[S]),
    ) -> Result<(), DeviceError> {
        let (id, mut result) = (buffer.into().id, Ok(()));
        self.see_numbers(&self.bars, id, |world, numbers| {
            let mut numbers = numbers.to_vec();
            if result.is_ok() {
                result = self.add_bars_by_hand(id, world, &mut numbers);
            }
            see(world, &numbers);
        })?;
        Ok(result?)
    }

    /// The first value, in the order of the operations, that is infinite or not a number, if there is one.
    pub fn check_values(&self) -> Result<Option<NonFinite>, DeviceError> {
        self.check(&self.values, false)
    }

    /// The first cotangent, in the reverse order of the operations, that is infinite or not a number, if there is one.
    pub fn check_bars(&self) -> Result<Option<NonFinite>, DeviceError> {
        self.check(&self.bars, true)
    }

    fn check(&self, memory: &Memory<S>, bars: bool) -> Result<Option<NonFinite>, DeviceError> {
        // Worlds of a buffer are asked for one after the other, and come all at once.
        let mut held = (usize::MAX, vec![Vec::new(); self.worlds()]);
        health::first::<S, DeviceError>(&self.program.inner, self.worlds(), bars, |b, world| {
            if held.0 != b {
                held.0 = b;
                self.see_numbers(memory, b, |world, numbers| held.1[world] = numbers.to_vec())?;
            }
            Ok(std::mem::take(&mut held.1[world]))
        })
    }

    /// Where a buffer lies in a stretch of numbers that is its own.
    pub(super) fn alone(&self, id: usize) -> Layout {
        Layout { offset: 0, ..self.layouts[id] }
    }

    /// Where its numbers lie in one world, from its beginning.
    pub(super) fn put<'a>(
        &self,
        id: usize,
        to: &mut [S],
        of: impl Fn(usize) -> &'a [S],
    ) -> Result<(), AccessError> {
        let info = &self.program.inner.buffers[id];
        debug_assert!(to.len() >= self.extent(id));
        for world in 0..self.worlds() {
            let numbers = of(world);
            let (wanted, found) = (info.len * info.numbers, numbers.len());
            if wanted != found {
                return Err(AccessError::Length { buffer: info.name.clone(), wanted, found });
            }
            if wanted == 0 {
                continue;
            }
            let to = to[world..].as_mut_ptr();
            // SAFETY: the length was checked, and `to` has room for the buffer, of which worlds lie side by side.
            unsafe { copies::scatter(numbers, to, self.alone(id), info.numbers) };
        }
        Ok(())
    }

    /// Shows its numbers in each world, of a stretch that has it alone.
    pub(super) fn see(&self, id: usize, from: &[S], mut see: impl FnMut(usize, &[S])) {
        let info = &self.program.inner.buffers[id];
        debug_assert!(from.len() >= self.extent(id));
        let mut numbers = vec![S::default(); info.len * info.numbers];
        for world in 0..self.worlds() {
            if !numbers.is_empty() {
                let from = from[world..].as_ptr();
                // SAFETY: there is the whole buffer, of which worlds lie side by side.
                unsafe { copies::gather(from, self.alone(id), info.numbers, &mut numbers) };
            }
            see(world, &numbers);
        }
    }

    pub(super) fn set_numbers<'a>(
        &self,
        memory: &Memory<S>,
        id: usize,
        of: impl Fn(usize) -> &'a [S],
    ) -> Result<(), DeviceError> {
        let mut host = vec![S::default(); self.extent(id)];
        self.put(id, &mut host, of)?;
        Ok(memory.write_at(self.layouts[id].offset, &host)?)
    }

    pub(super) fn see_numbers(
        &self,
        memory: &Memory<S>,
        id: usize,
        see: impl FnMut(usize, &[S]),
    ) -> Result<(), DeviceError> {
        let mut host = vec![S::default(); self.extent(id)];
        memory.read_at(self.layouts[id].offset, &mut host)?;
        self.see(id, &host, see);
        Ok(())
    }
}
