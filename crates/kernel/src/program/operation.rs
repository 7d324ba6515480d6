//! Operations: what a program is a list of.

use super::buffer::AnyBuffer;
use super::layout::Layout;
use super::plan::{Context, Pass, PassPlan};
use super::pool::Part;
use crate::patterns::c_text::CText;
use crate::patterns::port::{Place, PortInfo};
use crate::scalar::lanes::Dispatch;
use crate::scalar::{Dual, Real};
use crate::{Value, With, numbers, numbers_mut};

/// A number that programs run on: `f32`, `f64`, or a dual of `f64`. Each is compiled for every kernel.
pub trait Scalar: Dispatch + Default {
    #[doc(hidden)]
    fn call(stage: &dyn Erased, pass: Pass, phase: usize, context: &Context<'_, Self>, part: Part);
    /// Is it a number, and its tangent too?
    fn is_finite(self) -> bool;
}

/// How many elements an operation sweeps over.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// Always as many.
    Fixed(usize),
    /// As many as the list holds, at most `capacity`.
    List { list: usize, capacity: usize },
    /// The nodes of a forest, level by level: `nodes` of them.
    Levels { forest: usize, upwards: bool, nodes: usize },
}

impl Count {
    /// The most there can be.
    pub fn capacity(self) -> usize {
        match self {
            Count::Fixed(n) => n,
            Count::List { capacity, .. } => capacity,
            Count::Levels { nodes, .. } => nodes,
        }
    }

    /// As many as there are in a world now.
    pub fn in_world<S>(self, context: &Context<'_, S>, world: usize) -> usize {
        match self {
            Count::Fixed(n) => n,
            Count::List { list, .. } => context.lists[world * context.lists_per_world + list].count,
            Count::Levels { nodes, .. } => nodes,
        }
    }

    /// Is there no such element in a list of this world?
    #[inline(always)]
    pub fn is_past_the_end<S>(self, context: &Context<'_, S>, place: Place) -> bool {
        matches!(self, Count::List { .. }) && place.element >= self.in_world(context, place.world)
    }

    /// As many as there are in the world that has most.
    pub fn most<S>(self, context: &Context<'_, S>) -> usize {
        (0..context.worlds.max(1)).map(|world| self.in_world(context, world)).max().unwrap_or(0)
    }
}

/// What the program must know of an operation.
pub struct StageInfo {
    pub name: String,
    pub kernel: &'static str,
    pub arguments: &'static [&'static str],
    pub count: Count,
    pub inputs: Vec<PortInfo>,
    pub outputs: Vec<PortInfo>,
}

/// An operation that runs in phases, on a share of its elements.
pub trait Stage: Send + Sync + 'static {
    fn info(&self) -> StageInfo;
    fn run<S: Scalar>(&self, pass: Pass, phase: usize, context: &Context<'_, S>, part: Part);
    /// For a hand-written operation: the scratch memory it wants, in numbers.
    fn own_scratch(&self) -> Option<usize> {
        None
    }
    /// C++ that does the pass for element `e` in world `w`; none for an operation written by hand.
    fn c_element(&self, _pass: Pass, _plan: &PassPlan, _text: &mut CText<'_>) -> Option<String> {
        None
    }
}

/// A [`Stage`] for the scalars that there are, so that programs can hold any.
pub trait Erased: Send + Sync {
    fn info(&self) -> StageInfo;
    fn own_scratch(&self) -> Option<usize>;
    fn c_element(&self, pass: Pass, plan: &PassPlan, text: &mut CText<'_>) -> Option<String>;
    fn run_f32(&self, pass: Pass, phase: usize, context: &Context<'_, f32>, part: Part);
    fn run_f64(&self, pass: Pass, phase: usize, context: &Context<'_, f64>, part: Part);
    fn run_dual_f64(&self, pass: Pass, phase: usize, context: &Context<'_, Dual<f64>>, part: Part);
}

macro_rules! scalars {
    ($($scalar:ty, $run:ident, $finite:expr;)*) => {
        $(impl Scalar for $scalar {
            fn call(stage: &dyn Erased, pass: Pass, phase: usize, context: &Context<'_, Self>, part: Part) {
                stage.$run(pass, phase, context, part);
            }
            fn is_finite(self) -> bool {
                $finite(self)
            }
        })*
        impl<T: Stage> Erased for T {
            fn info(&self) -> StageInfo {
                Stage::info(self)
            }
            fn own_scratch(&self) -> Option<usize> {
                Stage::own_scratch(self)
            }
            fn c_element(&self, pass: Pass, plan: &PassPlan, text: &mut CText<'_>) -> Option<String> {
                Stage::c_element(self, pass, plan, text)
            }
            $(fn $run(&self, pass: Pass, phase: usize, context: &Context<'_, $scalar>, part: Part) {
                self.run(pass, phase, context, part);
            })*
        }
    };
}
scalars! {
    f32, run_f32, f32::is_finite;
    f64, run_f64, f64::is_finite;
    Dual<f64>, run_dual_f64, |x: Dual<f64>| x.value.is_finite() && x.tangent.is_finite();
}

/// An operation written by hand, for what no pattern should express: a sparse or dense solve, an iteration.
///
/// It is generic over the scalar: a forward pass on duals is the pushforward. What the pullback needs of the forward
/// pass (a factorisation) goes into a buffer that the operation writes.
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
    /// Outputs from inputs.
    fn forward<S: Scalar>(&self, world: &mut World<'_, S>);
    /// Adds to the cotangents of inputs, from those of outputs.
    fn pullback<S: Scalar>(&self, world: &mut World<'_, S>);
}

/// A buffer that a hand-written operation uses.
#[derive(Clone, Copy, Debug)]
pub struct BufferUse {
    pub(crate) id: usize,
    pub(crate) numbers: usize,
}

impl<T: Value> From<super::Buffer<T>> for BufferUse {
    fn from(buffer: super::Buffer<T>) -> Self {
        BufferUse { id: buffer.id, numbers: T::LEN }
    }
}

/// One world, as a hand-written operation sees it.
pub struct World<'a, S> {
    pub(crate) values: *mut S,
    pub(crate) bars: *mut S,
    pub(crate) layouts: &'a [(usize, Layout, usize)],
    pub(crate) world: usize,
    /// The working memory that [`Operation::scratch`] asked for.
    pub scratch: &'a mut [S],
}

impl<S: Real> World<'_, S> {
    fn find<B: AnyBuffer>(&self, buffer: B, i: usize) -> Layout {
        let (_, layout, len) = self
            .layouts
            .iter()
            .find(|(id, ..)| *id == buffer.id())
            .expect("an operation uses only the buffers that it names in `reads` and `writes`");
        assert!(i < *len, "value {i} of a buffer with {len}");
        *layout
    }

    /// Value `i` of a buffer.
    pub fn get<B: AnyBuffer>(&self, buffer: B, i: usize) -> With<B::Item, S> {
        let at = self.find(buffer, i);
        // SAFETY: the value is in the buffer, and one thread runs the operation.
        unsafe { read::<B::Item, S>(self.values, at, i, self.world) }
    }

    /// Sets value `i` of a buffer that the operation writes.
    pub fn set<B: AnyBuffer>(&mut self, buffer: B, i: usize, value: With<B::Item, S>) {
        let at = self.find(buffer, i);
        // SAFETY: as above.
        unsafe { write::<B::Item, S>(self.values, at, i, self.world, value) }
    }

    /// The cotangent of value `i` of a buffer.
    pub fn bar<B: AnyBuffer>(&self, buffer: B, i: usize) -> With<B::Item, S> {
        let at = self.find(buffer, i);
        // SAFETY: as above.
        unsafe { read::<B::Item, S>(self.bars, at, i, self.world) }
    }

    /// Adds to the cotangent of value `i` of a buffer that the operation reads.
    pub fn add_bar<B: AnyBuffer>(&mut self, buffer: B, i: usize, contribution: With<B::Item, S>) {
        let at = self.find(buffer, i);
        let sum = crate::patterns::port::plus::<B::Item, S>(self.bar(buffer, i), contribution);
        // SAFETY: as above.
        unsafe { write::<B::Item, S>(self.bars, at, i, self.world, sum) }
    }
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

/// A hand-written operation among the others: one thread runs it, world by world.
pub(crate) struct ByHand<O>(pub O);

impl<O: Operation> Stage for ByHand<O> {
    fn info(&self) -> StageInfo {
        let port = |b: BufferUse| PortInfo {
            buffer: b.id,
            reach: crate::patterns::port::Reach::ByHand,
            active: true,
            numbers: b.numbers,
            arity: 1,
        };
        StageInfo {
            name: self.0.name(),
            kernel: "",
            arguments: &[],
            count: Count::Fixed(1),
            inputs: self.0.reads().into_iter().map(port).collect(),
            outputs: self.0.writes().into_iter().map(port).collect(),
        }
    }

    fn run<S: Scalar>(&self, pass: Pass, _: usize, context: &Context<'_, S>, part: Part) {
        if part.index != 0 {
            return;
        }
        let plan = context.plan;
        if pass == Pass::Pullback {
            for i in (0..plan.inputs).filter(|&i| plan.connections[i].first) {
                let (_, layout, len) = plan.by_hand[i];
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
        for world in 0..context.worlds.max(1) {
            // SAFETY: the scratch memory of this operation, which one thread runs.
            let scratch = unsafe { std::slice::from_raw_parts_mut(context.scratch, self.0.scratch()) };
            let mut world =
                World { values: context.values, bars: context.bars, layouts: &plan.by_hand, world, scratch };
            match pass {
                Pass::Forward => self.0.forward(&mut world),
                Pass::Pullback => self.0.pullback(&mut world),
            }
        }
    }

    fn own_scratch(&self) -> Option<usize> {
        Some(self.0.scratch())
    }
}
