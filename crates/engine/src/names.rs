//! Flat vectors with named parts: `ball.mass`, `spring[12].stiffness`, `chain[3].position.z`.

mod find;
mod space;
mod vector;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use find::NameError;
pub use space::Space;
pub(crate) use vector::NO_ROTATION;
pub use vector::{Control, Named, Params, State};

/// What a number means: its unit, its range, and a sentence about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// `"N/m"`; `"1"` for a number without a unit.
    pub unit: String,
    /// What it is.
    pub doc: String,
    /// The least value that makes sense.
    pub lower: f64,
    /// The greatest value that makes sense.
    pub upper: f64,
    /// The space that values lie in.
    pub space: Space,
}

impl Quantity {
    /// Any number, with this unit and meaning.
    pub fn new(unit: &str, doc: &str) -> Self {
        let (unit, doc) = (unit.to_owned(), doc.to_owned());
        Quantity { unit, doc, lower: f64::NEG_INFINITY, upper: f64::INFINITY, space: Space::Flat }
    }

    /// At least `lower`.
    #[must_use]
    pub fn at_least(mut self, lower: f64) -> Self {
        self.lower = lower;
        self
    }

    /// Greater than zero.
    #[must_use]
    pub fn positive(self) -> Self {
        self.at_least(f64::MIN_POSITIVE)
    }

    /// Why a value makes no sense; none if it does.
    pub fn refuses(&self, value: f64) -> Option<String> {
        if !value.is_finite() {
            Some("it must be a finite number".to_owned())
        } else if value < self.lower && self.lower == f64::MIN_POSITIVE {
            Some("it must be greater than 0".to_owned())
        } else if value < self.lower {
            Some(format!("it must be at least {}", self.lower))
        } else if value > self.upper {
            Some(format!("it must be at most {}", self.upper))
        } else {
            None
        }
    }
}

/// Things that share a quantity: one called `ball`, or several called `chain[0]`, `chain[1]`, ...
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they are called.
    pub name: String,
    /// How many, if they are numbered.
    pub count: Option<usize>,
}

impl Group {
    /// One thing.
    pub fn one(name: &str) -> Self {
        Group { name: name.to_owned(), count: None }
    }

    /// How many things.
    pub fn len(&self) -> usize {
        self.count.unwrap_or(1)
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One quantity of many things: a buffer of a program, and a stretch of a flat vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What programs call it: `springs.stiffness`.
    pub key: String,
    /// The last part of its names; empty if the groups' names say it all (`gravity`).
    pub field: String,
    /// Whose quantity it is, in order.
    pub groups: Vec<Group>,
    /// How many numbers make a value: 1, 3 or 4.
    pub numbers: usize,
    /// What the numbers mean.
    pub quantity: Quantity,
    /// The values to start from.
    pub values: Vec<f64>,
}

impl Block {
    /// One number, called `name`.
    pub fn scalar(name: &str, value: f64, quantity: Quantity) -> Self {
        Self::single(name, &[value], quantity)
    }

    /// One vector, called `name`.
    pub fn vector(name: &str, value: [f64; 3], quantity: Quantity) -> Self {
        Self::single(name, &value, quantity)
    }

    fn single(name: &str, values: &[f64], quantity: Quantity) -> Self {
        let (group, field) = name.split_once('.').unwrap_or((name, ""));
        Block {
            key: name.to_owned(),
            field: field.to_owned(),
            groups: vec![Group::one(group)],
            numbers: values.len(),
            quantity,
            values: values.to_vec(),
        }
    }

    /// How many values.
    pub fn len(&self) -> usize {
        self.groups.iter().map(Group::len).sum()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where each name lies in a flat vector: blocks, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    blocks: Vec<Block>,
    starts: Vec<usize>,
    len: usize,
    tangent_len: usize,
    /// What the numbers of a group mean, where that is not what those of its block (the first index) mean.
    own: BTreeMap<(usize, usize), Quantity>,
}

/// One named value of a layout.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    block: &'a Block,
    group: &'a Group,
    index: Option<usize>,
    start: usize,
    own: Option<&'a Quantity>,
}

impl Part<'_> {
    /// Its whole name.
    pub fn name(&self) -> String {
        let index = self.index.map_or(String::new(), |i| format!("[{i}]"));
        let dot = if self.block.field.is_empty() { "" } else { "." };
        format!("{}{index}{dot}{}", self.group.name, self.block.field)
    }

    /// Where its numbers lie.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.block.numbers
    }

    /// What its numbers mean.
    pub fn quantity(&self) -> &Quantity {
        self.own.unwrap_or(&self.block.quantity)
    }
}

impl Layout {
    /// These blocks, one after the other.
    pub fn new(blocks: Vec<Block>) -> Arc<Layout> {
        let mut layout = Layout::default();
        for block in &blocks {
            layout.starts.push(layout.len);
            layout.len += block.len() * block.numbers;
            layout.tangent_len += block.len() * block.quantity.space.tangent_numbers(block.numbers);
        }
        layout.blocks = blocks;
        Arc::new(layout)
    }

    /// The same with more blocks after its own.
    pub(crate) fn followed_by(&self, more: Vec<Block>) -> Arc<Layout> {
        let blocks = self.blocks.iter().cloned().chain(more).collect();
        let mut layout = Self::new(blocks);
        Arc::make_mut(&mut layout).own.clone_from(&self.own);
        layout
    }

    /// Gives groups quantities of their own. They tell what numbers mean and which are of use; what is allowed at all is
    /// still up to the block.
    pub(crate) fn refine(&mut self, own: impl Fn(&Block, &Group) -> Option<Quantity>) {
        for (b, block) in self.blocks.iter().enumerate() {
            for (g, group) in block.groups.iter().enumerate() {
                self.own.extend(own(block, group).map(|quantity| ((b, g), quantity)));
            }
        }
    }

    /// Lets vectors of a block, by their numbers, start from other values.
    pub(crate) fn start_from(&mut self, key: &str, values: &[(usize, [f64; 3])]) {
        let Some(block) = self.blocks.iter_mut().find(|block| block.key == key) else { return };
        for (i, value) in values {
            block.values[3 * i..3 * i + 3].copy_from_slice(value);
        }
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The blocks, and where each lies.
    pub fn ranges(&self) -> impl Iterator<Item = (&Block, std::ops::Range<usize>)> {
        let range = |(block, &start): (_, &usize)| -> (&Block, std::ops::Range<usize>) {
            let block: &Block = block;
            (block, start..start + block.len() * block.numbers)
        };
        self.blocks.iter().zip(&self.starts).map(range)
    }

    /// How many numbers a vector has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where a rotation begins that is none: four zeros.
    pub(crate) fn zero_rotation(&self, values: &[f64]) -> Option<usize> {
        let turning = self.ranges().filter(|(block, _)| block.quantity.space == Space::Rotation);
        let mut starts = turning.flat_map(|(block, range)| range.step_by(block.numbers.max(1)));
        starts.find(|&i| values[i..i + 4].iter().all(|x| *x == 0.0))
    }

    /// How many numbers a tangent has.
    pub fn tangent_len(&self) -> usize {
        self.tangent_len
    }

    /// The values that the blocks start from.
    pub fn values(&self) -> Vec<f64> {
        self.blocks.iter().flat_map(|block| block.values.iter().copied()).collect()
    }

    /// All named values, in order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        (0..self.blocks.len()).flat_map(|b| self.parts_of(b)).flatten()
    }

    /// The named values of a block, group by group.
    fn parts_of(&self, b: usize) -> impl Iterator<Item = impl Iterator<Item = Part<'_>>> {
        let (block, mut at) = (&self.blocks[b], self.starts[b]);
        block.groups.iter().enumerate().map(move |(g, group)| {
            let from = at;
            at += group.len() * block.numbers;
            let own = self.own.get(&(b, g));
            (0..group.len()).map(move |i| Part {
                block,
                group,
                index: group.count.map(|_| i),
                start: from + i * block.numbers,
                own,
            })
        })
    }

    /// The named value that number `i` is part of.
    fn part_of(&self, i: usize) -> Option<Part<'_>> {
        // The last block that begins there or before: those without values lie before the one that has some.
        let b = self.starts.partition_point(|start| *start <= i).checked_sub(1)?;
        let mut at = self.starts[b];
        for mut parts in self.parts_of(b) {
            let first = parts.next();
            let Some(Part { group, block, .. }) = first else { continue };
            let size = group.len() * block.numbers;
            if i < at + size {
                let index = (i - at) / block.numbers;
                return if index == 0 { first } else { parts.nth(index - 1) };
            }
            at += size;
        }
        None
    }
}
