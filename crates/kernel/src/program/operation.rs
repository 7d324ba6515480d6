//! Operations: what a program is a list of.

use super::plan::{Context, Pass, PassPlan};
use super::pool::Part;
use crate::patterns::c_text::CText;
use crate::patterns::port::{Place, PortInfo};
use crate::scalar::Dual;
use crate::scalar::lanes::Dispatch;

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
    /// [`Kernel::READS`](crate::Kernel::READS).
    pub reads: &'static [u32],
    pub count: Count,
    pub inputs: Vec<PortInfo>,
    pub outputs: Vec<PortInfo>,
}

/// An operation that runs in phases, on a share of its elements.
pub trait Stage: Send + Sync + 'static {
    fn info(&self) -> StageInfo;
    fn run<S: Scalar>(&self, pass: Pass, phase: usize, context: &Context<'_, S>, part: Part);
    fn is_by_hand(&self) -> bool {
        false
    }
    /// For a hand-written operation: does each value of one buffer depend on no other value of another than the one in its place?
    fn is_own(&self, _write: usize, _read: usize) -> bool {
        false
    }
    /// For a hand-written operation: the scratch memory that it wants in so many lanes, in numbers.
    fn own_scratch(&self, _lanes: usize) -> usize {
        0
    }
    /// The bytes that it keeps itself, for a thread.
    fn own_bytes(&self, _lanes: usize) -> usize {
        0
    }
    /// C++ that does the pass for element `e` in world `w`; none for an operation written by hand.
    fn c_element(&self, _pass: Pass, _plan: &PassPlan, _text: &mut CText<'_>) -> Option<String> {
        None
    }
}

/// A [`Stage`] for the scalars that there are, so that programs can hold any.
pub trait Erased: Send + Sync {
    fn info(&self) -> StageInfo;
    fn is_by_hand(&self) -> bool;
    fn is_own(&self, write: usize, read: usize) -> bool;
    fn own_scratch(&self, lanes: usize) -> usize;
    fn own_bytes(&self, lanes: usize) -> usize;
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
            #[inline(always)]
            fn is_finite(self) -> bool {
                $finite(self)
            }
        })*
        impl<T: Stage> Erased for T {
            fn info(&self) -> StageInfo {
                Stage::info(self)
            }
            fn is_by_hand(&self) -> bool {
                Stage::is_by_hand(self)
            }
            fn is_own(&self, write: usize, read: usize) -> bool {
                Stage::is_own(self, write, read)
            }
            fn own_scratch(&self, lanes: usize) -> usize {
                Stage::own_scratch(self, lanes)
            }
            fn own_bytes(&self, lanes: usize) -> usize {
                Stage::own_bytes(self, lanes)
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
