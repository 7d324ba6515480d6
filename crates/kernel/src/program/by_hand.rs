//! Operations written by hand, for what no pattern should express: a sparse or dense solve, an iteration.

use std::marker::PhantomData;

use super::buffer::{AnyBuffer, Memory};
use super::layout::Layout;
use super::operation::{Count, Scalar, Stage, StageInfo};
use super::plan::{Context, Pass, Ports};
use super::pool::Part;
use crate::patterns::port::{PortInfo, Reach, load_side_by_side, plus, store_side_by_side};
use crate::scalar::Real;
use crate::scalar::lanes::{Driver, Lane, Width};
use crate::{Argument, Value, With, numbers, numbers_mut};

/// An operation written by hand, for what no pattern should express: a sparse or dense solve, an iteration.
///
/// It is generic over its lanes: a number, or several worlds of a batch side by side; a forward pass on duals is the
/// pushforward. Mark both passes `#[inline(always)]`, and what they call in their loops: code that is not inlined, and
/// any closure, is compiled without the instructions of the lanes. What the pullback needs of the forward pass (a
/// factorisation) is left in [`World::memory`], or in a buffer that the operation writes.
pub trait Operation: Send + Sync + 'static {
    /// What errors call it.
    fn name(&self) -> String;
    /// The buffers that it reads.
    fn reads(&self) -> Vec<BufferUse>;
    /// The buffers that it writes; nothing else may.
    fn writes(&self) -> Vec<BufferUse>;
    /// How many numbers of working memory it wants; what they hold is lost between passes.
    fn scratch(&self) -> usize {
        0
    }
    /// Its memory, if it has some. Operations may share one: what an earlier one leaves there, later ones find, and in the
    /// pullback the other way round; all of them run in lanes, or all alone.
    fn memory(&self) -> Option<Memory> {
        None
    }
    /// Do worlds of a batch run in lanes? Not where it decides by values; and where its speed does not matter, it compiles
    /// in less time without.
    const LANES: bool = true;
    /// Does this one run world by world, although its kind runs in lanes? Where worlds would share little of their work, and
    /// each pay for that of all.
    fn alone(&self) -> bool {
        !Self::LANES
    }
    /// How many bytes it keeps for a thread that runs it in so many lanes, besides its numbers.
    fn own_bytes(&self, _lanes: usize) -> usize {
        0
    }
    /// Does each value of `write`, which it writes, depend on no other value of `read`, which it reads, than the one in its place?
    /// [`Program::dependence`](super::Program::dependence) takes it to depend on all otherwise.
    fn is_own(&self, _write: BufferUse, _read: BufferUse) -> bool {
        false
    }
    /// Outputs from inputs.
    fn forward<L: Lane>(&self, world: &mut World<'_, L>);
    /// Adds to the cotangents of inputs, from those of outputs.
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>);
}

/// A buffer that a hand-written operation uses.
#[derive(Clone, Copy, Debug)]
pub struct BufferUse {
    pub(crate) id: usize,
    pub(crate) numbers: usize,
}

impl BufferUse {
    /// How many numbers a value of it has.
    pub fn numbers(self) -> usize {
        self.numbers
    }

    /// Is it the same buffer?
    pub fn is(self, other: BufferUse) -> bool {
        self.id == other.id
    }
}

impl<T: Value> From<super::Buffer<T>> for BufferUse {
    fn from(buffer: super::Buffer<T>) -> Self {
        BufferUse { id: buffer.id, numbers: T::LEN }
    }
}

/// One world, or several side by side, as a hand-written operation sees it.
pub struct World<'a, L: Lane> {
    values: *mut L::Element,
    bars: *mut L::Element,
    layouts: &'a [(Layout, usize)],
    /// Which of these a buffer of the program is.
    at: &'a Ports,
    /// How many numbers the values of each of these buffers have; none for memory.
    numbers: &'a [usize],
    world: usize,
    /// The working memory that [`Operation::scratch`] asked for.
    pub scratch: &'a mut [L],
    /// The operation's memory: what its forward pass leaves there, its pullback finds.
    pub memory: &'a mut [L],
}

/// The values, or the cotangents, of a buffer in a world.
pub struct View<'a, T: Value, L: Lane> {
    array: *mut L::Element,
    layout: Layout,
    len: usize,
    ty: PhantomData<(&'a L, T)>,
}

impl<T: Value, L: Lane> Clone for View<'_, T, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Value, L: Lane> Copy for View<'_, T, L> {}

impl<T: Value, L: Lane> View<'_, T, L> {
    /// How many values.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is there none?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn at(&self, i: usize) -> *mut L::Element {
        assert!(i < self.len, "a value that the buffer does not have");
        // SAFETY: the value is in the buffer.
        unsafe { self.array.add(self.layout.at(i)) }
    }

    /// Value `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> With<T, L> {
        // SAFETY: all numbers of the value are in the buffer, and one thread runs the operation.
        unsafe { load_side_by_side::<T, L>(self.at(i), self.layout.stride) }
    }

    /// Sets value `i`: of a buffer that the operation writes.
    #[inline(always)]
    pub fn set(&self, i: usize, value: With<T, L>) {
        // SAFETY: as above.
        unsafe { store_side_by_side::<T, L>(self.at(i), self.layout.stride, value) }
    }

    /// Sets numbers from value `i` on: of a buffer of numbers that the operation writes.
    #[inline(always)]
    pub fn set_all(&self, i: usize, numbers: &[L])
    where
        T: Value + Argument<With<L> = L>,
    {
        assert!(i + numbers.len() <= self.len, "values that the buffer does not have");
        // SAFETY: the values are in the buffer; alone in an arena, numbers lie side by side.
        unsafe {
            if L::WIDTH == 1 && self.layout.step() == Some(1) {
                let target = self.array.add(self.layout.at(i)).cast::<L>();
                std::ptr::copy_nonoverlapping(numbers.as_ptr(), target, numbers.len());
                return;
            }
            for (k, number) in numbers.iter().enumerate() {
                number.store(self.array.add(self.layout.at(i + k)));
            }
        }
    }

    /// Adds to value `i`: to the cotangent of a buffer that the operation reads.
    #[inline(always)]
    pub fn add(&self, i: usize, contribution: With<T, L>) {
        self.set(i, plus::<T, L>(self.get(i), contribution));
    }
}

impl<'a, L: Lane> World<'a, L> {
    #[inline(always)]
    fn view<B: AnyBuffer>(&self, array: *mut L::Element, buffer: B) -> View<'a, B::Item, L> {
        let Some(k) = self.at.find(buffer.id()) else {
            panic!("an operation uses only buffers of its `reads` and `writes`")
        };
        assert!(self.numbers[k] == B::Item::LEN, "a buffer of another program");
        let (mut layout, len) = self.layouts[k];
        layout.offset += self.world;
        View { array, layout, len, ty: PhantomData }
    }

    /// The values of a buffer that the operation names in `reads` or `writes`.
    #[inline(always)]
    pub fn values<B: AnyBuffer>(&self, buffer: B) -> View<'a, B::Item, L> {
        self.view(self.values, buffer)
    }

    /// The cotangents of such a buffer.
    #[inline(always)]
    pub fn bars<B: AnyBuffer>(&self, buffer: B) -> View<'a, B::Item, L> {
        self.view(self.bars, buffer)
    }

    /// Value `i` of a buffer.
    #[inline(always)]
    pub fn get<B: AnyBuffer>(&self, buffer: B, i: usize) -> With<B::Item, L> {
        self.values(buffer).get(i)
    }

    /// Sets value `i` of a buffer that the operation writes.
    #[inline(always)]
    pub fn set<B: AnyBuffer>(&mut self, buffer: B, i: usize, value: With<B::Item, L>) {
        self.values(buffer).set(i, value);
    }

    /// The cotangent of value `i` of a buffer.
    #[inline(always)]
    pub fn bar<B: AnyBuffer>(&self, buffer: B, i: usize) -> With<B::Item, L> {
        self.bars(buffer).get(i)
    }

    /// Adds to the cotangent of value `i` of a buffer that the operation reads.
    #[inline(always)]
    pub fn add_bar<B: AnyBuffer>(&mut self, buffer: B, i: usize, contribution: With<B::Item, L>) {
        self.bars(buffer).add(i, contribution);
    }
}

/// Cuts `count` values off the front of a stretch of numbers.
///
/// # Panics
/// When there are too few numbers.
#[inline(always)]
pub fn carve<'a, T: Value, L: Real>(numbers: &mut &'a mut [L], count: usize) -> &'a mut [With<T, L>] {
    let (front, rest) = std::mem::take(numbers).split_at_mut(count * T::LEN);
    *numbers = rest;
    // SAFETY: a `Value` at `L` has the layout of `[L; LEN]`, and any numbers make a value.
    unsafe { std::slice::from_raw_parts_mut(front.as_mut_ptr().cast(), count) }
}

/// Cuts room for `count` indices off the front of a stretch of numbers: as many numbers at most. What they are is left open.
///
/// # Panics
/// When there are too few numbers.
#[inline(always)]
pub fn carve_indices<'a, L: Real>(numbers: &mut &'a mut [L], count: usize) -> &'a mut [u32] {
    const { assert!(size_of::<L>() >= size_of::<u32>() && align_of::<L>() >= align_of::<u32>()) };
    let (front, rest) =
        std::mem::take(numbers).split_at_mut((count * size_of::<u32>()).div_ceil(size_of::<L>()));
    *numbers = rest;
    // SAFETY: the numbers hold as many bytes and are aligned well enough; any bits are indices, and any bits are numbers.
    unsafe { std::slice::from_raw_parts_mut(front.as_mut_ptr().cast(), count) }
}

/// What lane `i` holds of a value.
#[inline(always)]
pub fn lane_of<T: Value, L: Lane>(value: &With<T, L>, i: usize) -> With<T, L::Element> {
    let mut out = <With<T, L::Element> as crate::scalar::Local<L::Element>>::zero();
    for (to, from) in numbers_mut::<T, L::Element>(&mut out).iter_mut().zip(numbers::<T, L>(value)) {
        *to = from.lane(i);
    }
    out
}

/// Sets what lane `i` holds of a value.
#[inline(always)]
pub fn set_lane_of<T: Value, L: Lane>(value: &mut With<T, L>, i: usize, part: &With<T, L::Element>) {
    for (to, from) in numbers_mut::<T, L>(value).iter_mut().zip(numbers::<T, L::Element>(part)) {
        to.set_lane(i, *from);
    }
}

/// The numbers of values, one value after the other.
pub(crate) fn flat<T: Value, S: Real>(values: &[With<T, S>]) -> &[S] {
    // SAFETY: a `Value` at `S` has the layout of `[S; LEN]`.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len() * T::LEN) }
}

/// The same, to be changed.
pub(crate) fn flat_mut<T: Value, S: Real>(values: &mut [With<T, S>]) -> &mut [S] {
    // SAFETY: as above, and any numbers make a value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len() * T::LEN) }
}

/// # Safety
/// Value `i` of the layout lies in the array.
pub(crate) unsafe fn read<T: Value, S: Real>(
    array: *const S,
    layout: Layout,
    i: usize,
    world: usize,
) -> With<T, S> {
    let mut value = <With<T, S> as crate::scalar::Local<S>>::zero();
    for (c, number) in numbers_mut::<T, S>(&mut value).iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *number = unsafe { array.add(layout.at(i) + c * layout.stride + world).read() };
    }
    value
}

/// # Safety
/// Value `i` of the layout lies in the array, and nobody else uses it.
pub(crate) unsafe fn write<T: Value, S: Real>(
    array: *mut S,
    layout: Layout,
    i: usize,
    world: usize,
    value: With<T, S>,
) {
    for (c, number) in numbers::<T, S>(&value).iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { array.add(layout.at(i) + c * layout.stride + world).write(*number) };
    }
}

/// A hand-written operation among the others: one thread runs it, in a batch with lanes over worlds.
///
/// What it says of its memory is asked once: what is made room for is what is used.
pub(crate) struct ByHand<O> {
    operation: O,
    scratch: usize,
    alone: bool,
}

impl<O: Operation> ByHand<O> {
    pub fn new(operation: O) -> Self {
        ByHand { scratch: operation.scratch(), alone: operation.alone() || !O::LANES, operation }
    }
}

impl<O: Operation> Stage for ByHand<O> {
    fn info(&self) -> StageInfo {
        let port = |b: BufferUse| PortInfo {
            buffer: b.id,
            reach: Reach::ByHand,
            active: true,
            numbers: b.numbers,
            arity: 1,
        };
        let memory = self.operation.memory().map(|memory| BufferUse { id: memory.id, numbers: 1 });
        StageInfo {
            name: self.operation.name(),
            kernel: "",
            arguments: &[],
            reads: &[],
            count: Count::Fixed(1),
            inputs: self.operation.reads().into_iter().map(port).collect(),
            outputs: self.operation.writes().into_iter().chain(memory).map(port).collect(),
        }
    }

    fn run<S: Scalar>(&self, pass: Pass, _: usize, context: &Context<'_, S>, part: Part) {
        if part.index != 0 {
            return;
        }
        if pass == Pass::Pullback {
            clear_bars(context);
        }
        match pass {
            Pass::Forward => HandDriver::<S, O, false> { by_hand: self, context }.dispatch(),
            Pass::Pullback => HandDriver::<S, O, true> { by_hand: self, context }.dispatch(),
        }
    }

    fn is_by_hand(&self) -> bool {
        true
    }

    fn is_own(&self, write: usize, read: usize) -> bool {
        let find = |uses: Vec<BufferUse>, id: usize| uses.into_iter().find(|b| b.id == id);
        match (find(self.operation.writes(), write), find(self.operation.reads(), read)) {
            (Some(write), Some(read)) => self.operation.is_own(write, read),
            _ => false,
        }
    }

    fn own_scratch(&self, lanes: usize) -> usize {
        self.scratch * if self.alone { 1 } else { lanes }
    }

    fn own_bytes(&self, lanes: usize) -> usize {
        self.operation.own_bytes(if self.alone { 1 } else { lanes })
    }
}

/// Cotangents that nobody has written to yet become zero, so that the operation can add to them.
fn clear_bars<S: Scalar>(context: &Context<'_, S>) {
    let plan = context.plan;
    for i in (0..plan.inputs).filter(|&i| plan.connections[i].first) {
        let (layout, len) = plan.by_hand[i];
        for e in 0..len {
            for k in 0..plan.numbers[i] * context.worlds.max(1) {
                let at = match context.worlds {
                    0 => layout.at(e) + k * layout.stride,
                    _ => layout.at(e) + k,
                };
                // SAFETY: numbers of the buffer.
                unsafe { context.bars.add(at).write(S::default()) };
            }
        }
    }
}

/// One pass: a compiler takes longer for one long function than for two short ones.
struct HandDriver<'a, S, O, const PULLBACK: bool> {
    by_hand: &'a ByHand<O>,
    context: &'a Context<'a, S>,
}

impl<S: Scalar, O: Operation, const PULLBACK: bool> HandDriver<'_, S, O, PULLBACK> {
    fn dispatch(self) {
        let machine = &self.context.machine;
        if O::LANES {
            let one = self.context.worlds == 0 || self.by_hand.alone;
            let width = if one { Width::One } else { machine.width };
            S::dispatch(self, machine.isa, width);
        } else {
            S::dispatch_one(self, machine.isa);
        }
    }
}

impl<S: Scalar, O: Operation, const PULLBACK: bool> Driver<S> for HandDriver<'_, S, O, PULLBACK> {
    type Output = ();
    type Home = O;

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        let (operation, context) = (&self.by_hand.operation, self.context);
        let memory = operation.memory().map(|memory| memory.id);
        let mut world = 0;
        while world < context.worlds.max(1) {
            // SAFETY: scratch memory for as many numbers in every lane, which one thread uses; any bits are numbers.
            let scratch =
                unsafe { std::slice::from_raw_parts_mut(context.scratch.cast::<L>(), self.by_hand.scratch) };
            let memory: &mut [L] = match memory {
                None => &mut [],
                // SAFETY: one operation at a time uses it, and its numbers for these worlds lie together, for all
                // operations that share it: nobody else knows how.
                Some(id) => unsafe {
                    let (offset, len) = place(context, id);
                    let start = context.values.add(offset + world * len).cast::<L>();
                    std::slice::from_raw_parts_mut(start, len)
                },
            };
            let (values, bars, layouts) = (context.values, context.bars, context.plan.by_hand.as_slice());
            let (numbers, at) = (context.plan.numbers.as_slice(), &context.plan.at);
            let mut lanes = World { values, bars, layouts, at, numbers, world, scratch, memory };
            if PULLBACK {
                operation.pullback(&mut lanes);
            } else {
                operation.forward(&mut lanes);
            }
            world += L::WIDTH;
        }
    }
}

/// Where a memory starts in the arena, and how many numbers it has for a world.
#[inline(always)]
fn place<S>(context: &Context<'_, S>, id: usize) -> (usize, usize) {
    let Some(k) = context.plan.at.find(id) else { panic!("a memory is among what an operation writes") };
    let (layout, len) = context.plan.by_hand[k];
    (layout.offset, len)
}
