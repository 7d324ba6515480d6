//! From step to step: outputs become inputs, and states are kept and brought back.

use super::super::error::AccessError;
use super::super::layout::extent;
use super::super::operation::Scalar;
use super::super::pool::Part;
use super::Workspace;

/// Waking other threads takes about as long as copying this many bytes.
pub(super) const WAKE: usize = 32_768;

impl<S: Scalar> Workspace<S> {
    /// The outputs become the inputs of the next step, in all worlds. What the outputs hold then is of no use.
    pub fn carry(&mut self) {
        self.side = 1 - self.side;
    }

    /// The cotangents of inputs become those of the outputs of the step before, in all worlds; those of other outputs become
    /// zero. What the inputs' hold then is of no use, and neither are values: [`Workspace::load_state`] and
    /// [`Workspace::forward`] make those of the step before.
    pub fn carry_back(&mut self) {
        self.side = 1 - self.side;
        for i in 0..self.program.inner.outputs.len() {
            let output = self.program.inner.outputs[i];
            if self.program.inner.carried.iter().all(|&(_, carried)| carried != output) {
                self.clear(output);
            }
        }
    }

    /// How many numbers the carried inputs take, padding included: what [`Workspace::save_state`] writes.
    pub fn state_len(&self) -> usize {
        let inner = &self.program.inner;
        let one = |&(b, _): &(usize, usize)| self.carried_extent(b);
        inner.carried.iter().map(one).sum::<usize>() * self.arenas.len()
    }

    /// Copies the carried inputs of all worlds, as they lie in memory.
    pub fn save_state(&self, state: &mut [S]) -> Result<(), AccessError> {
        let (wanted, found) = (self.state_len(), state.len());
        if wanted != found {
            return Err(AccessError::Length { buffer: "the state".into(), wanted, found });
        }
        let target = SentPointer(state.as_mut_ptr());
        self.each_carried(&|buffer, at, numbers| {
            let target = &target;
            // SAFETY: the length was checked, and threads have different numbers.
            unsafe { target.0.add(at).copy_from_nonoverlapping(buffer, numbers) };
        });
        Ok(())
    }

    /// Sets the carried inputs of all worlds from what [`Workspace::save_state`] wrote.
    pub fn load_state(&mut self, state: &[S]) -> Result<(), AccessError> {
        let (wanted, found) = (self.state_len(), state.len());
        if wanted != found {
            return Err(AccessError::Length { buffer: "the state".into(), wanted, found });
        }
        self.each_carried(&|buffer, at, numbers| {
            // SAFETY: the length was checked, and threads have different numbers.
            unsafe { buffer.copy_from_nonoverlapping(state.as_ptr().add(at), numbers) };
        });
        Ok(())
    }

    /// How many numbers of the arena a carried input takes, without the rows that threads need.
    fn carried_extent(&self, b: usize) -> usize {
        extent(&self.program.inner.buffers[b], &self.layouts()[b], self.side_by_side)
    }

    /// Visits the carried inputs in pieces: where a piece lies in memory and in a state, and how long it is.
    fn each_carried(&self, visit: &(dyn Fn(*mut S, usize, usize) + Sync)) {
        let walk = |part: Part| {
            let mut at = 0;
            for arena in &self.arenas {
                for &(b, _) in &self.program.inner.carried {
                    let numbers = self.carried_extent(b);
                    let range = part.range(numbers, 1024);
                    let buffer = arena.values.pointer.wrapping_add(self.layouts()[b].offset + range.start);
                    visit(buffer, at + range.start, range.len());
                    at += numbers;
                }
            }
        };
        match self.state_len() * size_of::<S>() > WAKE {
            true => self.pool.run(&|part, _| walk(part)),
            false => walk(Part::WHOLE),
        }
    }
}

/// A pointer that threads share: each uses another part of the memory.
struct SentPointer<S>(*mut S);
// SAFETY: see above.
unsafe impl<S: Send> Sync for SentPointer<S> {}
