//! The sweep behind every pattern: for each element, gather, compute, scatter; then the sums.

use std::marker::PhantomData;

use super::elements::sum_vertices;
use super::port::{Field, Inputs, Outputs, Place, PortInfo};
use super::reduce::sum_chunks;
use crate::Kernel;
use crate::program::operation::{Count, Scalar, Stage, StageInfo};
use crate::program::plan::{CHUNK, Context, Pass};
use crate::program::pool::Part;
use crate::scalar::lanes::{Dispatch, Driver, Lane, Width};

/// A kernel with its ports.
pub struct Sweep<K, I, O> {
    pub(crate) name: String,
    pub(crate) count: Count,
    pub(crate) inputs: I,
    pub(crate) outputs: O,
    pub(crate) kernel: PhantomData<fn() -> K>,
}

impl<K, I, O> Stage for Sweep<K, I, O>
where
    K: Kernel,
    I: Inputs<Values = K::Arguments>,
    O: Outputs<Values = K::Output>,
{
    fn info(&self) -> StageInfo {
        let (inputs, outputs): (Vec<PortInfo>, Vec<PortInfo>) = (self.inputs.infos(), self.outputs.infos());
        StageInfo { name: self.name.clone(), kernel: K::NAME, arguments: K::ARGUMENTS, count: self.count, inputs, outputs }
    }

    fn run<S: Scalar>(&self, pass: Pass, phase: usize, context: &Context<'_, S>, part: Part) {
        let field = match pass {
            Pass::Forward => Field::Values,
            Pass::Pullback => Field::Bars,
        };
        let sweeps = context.plan.phases - usize::from(context.plan.has_sums());
        if phase < sweeps {
            let share = self.share(pass, phase, sweeps, context, part);
            let driver = SweepDriver { sweep: self, context, pass, share };
            S::dispatch(driver, context.machine.isa, self.width(context));
            return;
        }
        for sum in &context.plan.vertex_sums {
            sum_vertices(context, sum, field, part);
        }
        if part.index == 0 {
            for total in &context.plan.totals {
                sum_chunks(context, total, field, &|world| self.count.in_world(context, world));
            }
        }
    }
}

/// Which elements a thread sweeps in a phase.
#[derive(Clone)]
enum Share {
    /// A range of all.
    Range(std::ops::Range<usize>),
    /// A range of one level of a forest, by its order.
    Nodes { forest: usize, range: std::ops::Range<usize>, reverse: bool },
}

impl<K, I, O> Sweep<K, I, O>
where
    K: Kernel,
    I: Inputs<Values = K::Arguments>,
    O: Outputs<Values = K::Output>,
{
    /// Nodes of a tree are reached one by one; worlds side by side are always whole lanes.
    fn width<S>(&self, context: &Context<'_, S>) -> Width {
        match self.count {
            Count::Levels { .. } if context.worlds == 0 => Width::One,
            _ => context.machine.width,
        }
    }

    fn share<S>(&self, pass: Pass, phase: usize, sweeps: usize, context: &Context<'_, S>, part: Part) -> Share {
        match self.count {
            Count::Levels { forest, upwards, .. } => {
                let levels = &context.forests[forest].levels;
                let reverse = upwards != (pass == Pass::Pullback);
                if sweeps == 1 {
                    // Too narrow for threads: one of them does all levels.
                    let range = if part.index == 0 { 0..context.forests[forest].order.len() } else { 0..0 };
                    return Share::Nodes { forest, range, reverse };
                }
                let level = if reverse { sweeps - 1 - phase } else { phase };
                let (from, to) = (levels[level] as usize, levels[level + 1] as usize);
                let range = part.range(to - from, 32);
                Share::Nodes { forest, range: from + range.start..from + range.end, reverse }
            }
            _ => {
                let grain = if context.plan.totals.is_empty() { 32 } else { CHUNK };
                Share::Range(part.range(self.count.most(context), grain))
            }
        }
    }

    /// # Safety
    /// The place is in the thread's share.
    #[inline(always)]
    unsafe fn element<L: Lane>(&self, context: &Context<'_, L::Element>, pass: Pass, place: Place) {
        let (inputs, outputs) = context.plan.connections.split_at(context.plan.inputs);
        // SAFETY: the connections are the ports', and the place is in the thread's share.
        unsafe {
            let arguments = self.inputs.gather::<L>(context, inputs, Field::Values, place);
            match pass {
                Pass::Forward => {
                    let out = K::forward::<L>(arguments);
                    self.outputs.scatter::<L>(context, outputs, Field::Values, place, out);
                }
                Pass::Pullback => {
                    let out_bar = self.outputs.gather::<L>(context, outputs, Field::Bars, place);
                    let bars = K::pullback::<L>(arguments, out_bar);
                    self.inputs.scatter::<L>(context, inputs, Field::Bars, place, bars);
                }
            }
        }
    }
}

struct SweepDriver<'a, S, K, I, O> {
    sweep: &'a Sweep<K, I, O>,
    context: &'a Context<'a, S>,
    pass: Pass,
    share: Share,
}

impl<S, K, I, O> Driver<S> for SweepDriver<'_, S, K, I, O>
where
    S: Dispatch,
    K: Kernel,
    I: Inputs<Values = K::Arguments>,
    O: Outputs<Values = K::Output>,
{
    type Output = ();

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        // One copy of the loop for each pass: a test inside it would keep both kernels alive in one function.
        match self.pass {
            Pass::Forward => self.sweep_all::<L>(Pass::Forward),
            Pass::Pullback => self.sweep_all::<L>(Pass::Pullback),
        }
    }
}

impl<S, K, I, O> SweepDriver<'_, S, K, I, O>
where
    S: Dispatch,
    K: Kernel,
    I: Inputs<Values = K::Arguments>,
    O: Outputs<Values = K::Output>,
{
    #[inline(always)]
    fn sweep_all<L: Lane<Element = S>>(&self, pass: Pass) {
        let (sweep, context) = (self.sweep, self.context);
        match &self.share {
            Share::Range(range) if context.worlds == 0 => {
                let mut e = range.start;
                while e < range.end {
                    let lanes = L::WIDTH.min(range.end - e);
                    if I::INDEX && L::WIDTH > 1 && !sweep.inputs.uniform(context, e, lanes) {
                        // Lanes with different indices take different ways: one by one.
                        for element in e..e + lanes {
                            // SAFETY: the element is in the share.
                            unsafe { sweep.element::<S>(context, pass, Place { element, world: 0, lanes: 1 }) };
                        }
                    } else {
                        // SAFETY: the elements are in the share, or in the padding after the last one.
                        unsafe { sweep.element::<L>(context, pass, Place { element: e, world: 0, lanes }) };
                    }
                    e += L::WIDTH;
                }
            }
            Share::Range(range) => {
                let mut e = range.start;
                while e < range.end {
                    self.worlds::<L>(pass, e);
                    e += 1;
                }
            }
            Share::Nodes { forest, range, reverse } => {
                let order = &context.forests[*forest].order;
                let mut k = 0;
                while k < range.len() {
                    let at = if *reverse { range.end - 1 - k } else { range.start + k };
                    self.worlds::<L>(pass, order[at] as usize);
                    k += 1;
                }
            }
        }
    }

    /// One element in all worlds.
    #[inline(always)]
    fn worlds<L: Lane<Element = S>>(&self, pass: Pass, element: usize) {
        let (sweep, context) = (self.sweep, self.context);
        if context.worlds == 0 {
            // SAFETY: the element is in the share.
            return unsafe { sweep.element::<S>(context, pass, Place { element, world: 0, lanes: 1 }) };
        }
        let mut world = 0;
        while world < context.worlds {
            if let Count::List { .. } = sweep.count {
                // Every world has a list of its own, so that lanes would read different vertices.
                if element < sweep.count.in_world(context, world) {
                    // SAFETY: the element is in the share, and in this world's list.
                    unsafe { sweep.element::<S>(context, pass, Place { element, world, lanes: 1 }) };
                }
                world += 1;
            } else {
                // SAFETY: the element is in the share; worlds are whole lanes.
                unsafe { sweep.element::<L>(context, pass, Place { element, world, lanes: L::WIDTH }) };
                world += L::WIDTH;
            }
        }
    }
}
