//! What a GPU keeps of many steps: the numbers of some buffers, a row for each step, and sums of squares of cotangents.

use std::ops::Range;

use super::super::by_hand::BufferUse;
use super::super::flow;
use super::super::layout::ranges;
use super::text::SUM_THREADS;
use super::{DeviceError, DeviceFloat, DeviceWorkspace};
use crate::cuda::{Arguments, Memory, Shape};

/// Rows of numbers on a device, as they lie in the arena: those of some buffers of a program in all worlds.
pub struct Rows<S: DeviceFloat> {
    memory: Memory<S>,
    /// Where they lie in the arena.
    pieces: Vec<Range<usize>>,
    len: usize,
    count: usize,
}

impl<S: DeviceFloat> Rows<S> {
    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.memory.len() * size_of::<S>()
    }

    /// Where a row begins, and each of its pieces in it.
    fn pieces(&self, row: usize) -> impl Iterator<Item = (usize, &Range<usize>)> {
        self.pieces.iter().scan(row * self.len, |at, piece| {
            let from = *at;
            *at += piece.len();
            Some((from, piece))
        })
    }

    /// Where a buffer that lies at `offset` in the arena lies in a row.
    fn place(&self, offset: usize) -> Option<usize> {
        let (at, piece) = self.pieces(0).find(|(_, piece)| piece.contains(&offset))?;
        Some(at + offset - piece.start)
    }
}

/// Sums of squares of cotangents on a device, of many steps.
pub struct Sums {
    memory: Memory<f64>,
    /// Of each buffer.
    blocks: usize,
    buffers: Vec<usize>,
    worlds: usize,
}

impl Sums {
    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.memory.len() * size_of::<f64>()
    }

    fn len(&self) -> usize {
        self.buffers.len() * self.blocks * self.worlds
    }
}

impl<S: DeviceFloat> DeviceWorkspace<S> {
    /// Room for `count` rows of some buffers, without those that no operation reads.
    pub fn rows(&self, buffers: &[BufferUse], count: usize) -> Result<Rows<S>, DeviceError> {
        let mut chosen = vec![false; self.program.inner.buffers.len()];
        buffers.iter().for_each(|buffer| chosen[buffer.id] = self.is_read(buffer.id));
        self.rows_of(&chosen, count)
    }

    /// Room for `count` states, the carried inputs, and for some buffers beside them.
    pub fn rows_of_states(&self, beside: &[BufferUse], count: usize) -> Result<Rows<S>, DeviceError> {
        let mut chosen = vec![false; self.program.inner.buffers.len()];
        let states = self.program.inner.carried.iter().map(|&(input, _)| input);
        states.chain(beside.iter().map(|buffer| buffer.id)).for_each(|id| chosen[id] = true);
        self.rows_of(&chosen, count)
    }

    /// Room for `count` times what a pullback reads, parameters left out, and the state: with it a pullback needs no forward pass.
    pub fn rows_of_values(&self, count: usize) -> Result<Rows<S>, DeviceError> {
        let [read, states] = flow::kept(&self.program.inner);
        let chosen: Vec<bool> = read.iter().zip(&states).map(|(read, state)| *read || *state).collect();
        self.rows_of(&chosen, count)
    }

    fn rows_of(&self, chosen: &[bool], count: usize) -> Result<Rows<S>, DeviceError> {
        let pieces = ranges(&self.program.inner.buffers, &self.layouts, self.worlds, chosen);
        let len = pieces.iter().map(Range::len).sum::<usize>();
        let memory = Memory::zeroed(&self.device, len.saturating_mul(count))?;
        Ok(Rows { memory, pieces, len, count })
    }

    fn is_read(&self, id: usize) -> bool {
        let inner = &self.program.inner;
        inner.stages.iter().any(|stage| {
            let info = stage.info();
            let at = |port| flow::sources(port).contains(&id);
            info.inputs.iter().any(at)
        })
    }

    /// Copies values into a row. Returns at once, as all that follow do.
    pub fn keep(&self, rows: &Rows<S>, row: usize) -> Result<(), DeviceError> {
        self.keep_of(&self.values, rows, row)
    }

    /// Copies cotangents into a row.
    pub fn keep_bars(&self, rows: &Rows<S>, row: usize) -> Result<(), DeviceError> {
        self.keep_of(&self.bars, rows, row)
    }

    fn keep_of(&self, arena: &Memory<S>, rows: &Rows<S>, row: usize) -> Result<(), DeviceError> {
        rows.pieces(row).try_for_each(|(at, piece)| Ok(rows.memory.copy_at(at, arena, piece.clone())?))
    }

    /// Copies values back from a row.
    pub fn bring(&self, rows: &Rows<S>, row: usize) -> Result<(), DeviceError> {
        rows.pieces(row).try_for_each(|(at, piece)| {
            Ok(self.values.copy_at(piece.start, &rows.memory, at..at + piece.len())?)
        })
    }

    /// Sets some buffers in all rows, of which it has those that are read: `of` has a buffer's numbers (by its place among these) in
    /// a row and world.
    pub fn write_rows<'a>(
        &self,
        rows: &Rows<S>,
        buffers: &[BufferUse],
        of: impl Fn(usize, usize, usize) -> &'a [S],
    ) -> Result<(), DeviceError> {
        let mut host = vec![S::default(); rows.memory.len()];
        for (b, buffer) in buffers.iter().enumerate() {
            let Some(place) = rows.place(self.layouts[buffer.id].offset) else { continue };
            for row in 0..rows.count {
                let at = row * rows.len + place;
                let to = &mut host[at..at + self.extent(buffer.id)];
                self.put(buffer.id, to, |world| of(b, row, world))?;
            }
        }
        Ok(rows.memory.write(&host)?)
    }

    /// Shows some buffers in all rows, of which it has those that are read: a buffer's place among these, row, world and numbers.
    pub fn read_rows(
        &self,
        rows: &Rows<S>,
        buffers: &[BufferUse],
        mut see: impl FnMut(usize, usize, usize, &[S]),
    ) -> Result<(), DeviceError> {
        let host = rows.memory.to_vec()?;
        for (b, buffer) in buffers.iter().enumerate() {
            let Some(place) = rows.place(self.layouts[buffer.id].offset) else { continue };
            for row in 0..rows.count {
                let at = row * rows.len + place;
                let from = &host[at..at + self.extent(buffer.id)];
                self.see(buffer.id, from, |world, numbers| see(b, row, world, numbers));
            }
        }
        Ok(())
    }

    /// Room for `count` sums of squares of some buffers' cotangents in each world.
    pub fn sums(&self, buffers: &[BufferUse], count: usize) -> Result<Sums, DeviceError> {
        let most = buffers.iter().map(|buffer| self.program.inner.buffers[buffer.id].len).max().unwrap_or(0);
        // A thread has four values or more; of a batch, those of one world.
        let threads = if self.worlds > 0 { 1 } else { SUM_THREADS as usize };
        let blocks = most.div_ceil(4 * threads).clamp(1, 256);
        let buffers: Vec<usize> = buffers.iter().map(|buffer| buffer.id).collect();
        let numbers = buffers.len() * blocks * self.worlds();
        let memory = Memory::zeroed(&self.device, numbers.saturating_mul(count))?;
        Ok(Sums { memory, blocks, buffers, worlds: self.worlds() })
    }

    /// Sums the squares of cotangents, as they are now.
    pub fn sum_squares(&self, sums: &Sums, row: usize) -> Result<(), DeviceError> {
        for (b, &id) in sums.buffers.iter().enumerate() {
            let (info, layout) = (&self.program.inner.buffers[id], self.layouts[id]);
            let to = row * sums.len() + b * sums.blocks * sums.worlds;
            let numbers =
                [info.len, info.numbers, layout.shift as usize, layout.row, layout.stride, self.worlds];
            let place = Arguments::new().pointer_at(&self.bars, layout.offset).pointer_at(&sums.memory, to);
            let arguments = numbers.into_iter().fold(place, |all, number| all.u64(number as u64));
            let blocks = match self.worlds {
                0 => [sums.blocks as u32, 1, 1],
                worlds => [worlds.div_ceil(SUM_THREADS as usize) as u32, sums.blocks as u32, 1],
            };
            let shape = Shape { blocks, threads: [SUM_THREADS, 1, 1], shared_bytes: 0 };
            // SAFETY: `SQUARES` reads the buffer, and writes as many sums as there are blocks or worlds.
            unsafe { self.squares.launch_shape(shape, &arguments)? };
        }
        Ok(())
    }

    /// The sums of each row: of worlds one after the other.
    pub fn read_sums(&self, sums: &Sums) -> Result<Vec<f64>, DeviceError> {
        let all = sums.memory.to_vec()?;
        let of_row = |row: &[f64]| -> Vec<f64> {
            (0..sums.worlds).map(|world| row[world..].iter().step_by(sums.worlds).sum()).collect()
        };
        Ok(all.chunks_exact(sums.len().max(1)).flat_map(of_row).collect())
    }
}
