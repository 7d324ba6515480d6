//! Where the numbers of a buffer lie in the arena.
//!
//! Number c of value e is at `offset + (e >> shift) * row + c * stride + (e & mask)`:
//!
//! | layout | when | shift | row | stride |
//! |---|---|---|---|---|
//! | rows | elements reach the buffer through indices | 0 | numbers, padded to 4 | 1 |
//! | blocks | values are read in order: 32 at a time, number by number | 5 | 32 numbers | 32 |
//! | worlds | a batch: each number for all worlds side by side | 0 | numbers × worlds | worlds |
//!
//! Rows are loaded whole and turned in registers; blocks and worlds are loaded as they lie.

use std::ops::Range;

use super::buffer::BufferInfo;

/// Values per block, and the padding of every buffer: any lane width divides it.
pub const BLOCK: usize = 32;
const BLOCK_SHIFT: u32 = BLOCK.trailing_zeros();

/// Buffers start at multiples of so many numbers.
pub const ALIGNED: usize = 16;

/// Where the numbers of a buffer lie.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    pub offset: usize,
    pub shift: u32,
    pub row: usize,
    pub stride: usize,
}

impl Layout {
    /// Where value `e` starts.
    #[inline(always)]
    pub fn at(&self, e: usize) -> usize {
        self.offset + (e >> self.shift) * self.row + (e & ((1 << self.shift) - 1))
    }

    /// How far values of one number are apart.
    #[inline(always)]
    pub fn step(&self) -> Option<usize> {
        match self.shift {
            0 => Some(self.row),
            _ if self.row == BLOCK => Some(1),
            _ => None,
        }
    }
}

/// How many numbers of the arena a buffer takes.
pub fn extent(buffer: &BufferInfo, layout: &Layout, worlds: usize) -> usize {
    let values = if worlds == 0 && buffer.len != 1 { buffer.len.next_multiple_of(BLOCK) } else { buffer.len };
    ((values >> layout.shift) + if layout.shift == 0 { buffer.extra_rows } else { 0 }) * layout.row
}

/// Where the chosen buffers lie, those that follow each other as one.
pub fn ranges(
    buffers: &[BufferInfo],
    layouts: &[Layout],
    worlds: usize,
    chosen: &[bool],
) -> Vec<Range<usize>> {
    let of = |(b, layout): (&BufferInfo, &Layout)| layout.offset..layout.offset + extent(b, layout, worlds);
    let mut all: Vec<Range<usize>> = buffers.iter().zip(layouts).map(of).collect();
    let mut chosen = chosen.iter();
    all.retain(|_| *chosen.next().unwrap_or(&false));
    all.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start < last.end + ALIGNED => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// The padded length of a row of numbers.
pub const fn padded(numbers: usize) -> usize {
    if numbers == 1 { 1 } else { numbers.next_multiple_of(4) }
}

/// The layouts of all buffers, and the length of the arena, for `worlds` side by side (0: one world alone).
pub fn layouts(buffers: &[BufferInfo], worlds: usize) -> (Vec<Layout>, usize) {
    let mut offset = 0;
    let layouts = buffers
        .iter()
        .map(|buffer| {
            let mut layout = match (worlds, buffer.gathered) {
                (0, true) => Layout { offset, shift: 0, row: padded(buffer.numbers), stride: 1 },
                (0, false) => {
                    Layout { offset, shift: BLOCK_SHIFT, row: BLOCK * buffer.numbers, stride: BLOCK }
                }
                (w, _) => Layout { offset, shift: 0, row: buffer.numbers * w, stride: w },
            };
            // A single value needs no block around it.
            if worlds == 0 && buffer.len == 1 {
                layout = Layout { offset, shift: 0, row: padded(buffer.numbers), stride: 1 };
            }
            offset = (offset + extent(buffer, &layout, worlds)).next_multiple_of(ALIGNED);
            layout
        })
        .collect();
    // Rows of one number are read four at a time, so the last may be read past its end.
    (layouts, offset + 16)
}
