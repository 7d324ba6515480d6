//! The sweep behind every pattern: for each element, gather, compute, scatter; then the sums.

use std::marker::PhantomData;
use std::ops::Range;

use super::c_text::CText;
use super::elements::{add_shared, clear, sum_slots};
use super::port::{Field, Inputs, Outputs, Place, PortInfo};
use super::reduce::sum_chunks;
use crate::Kernel;
use crate::program::operation::{Count, Scalar, Stage, StageInfo};
use crate::program::plan::{CHUNK, Connection, Context, Pass, PassPlan};
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
        StageInfo {
            name: self.name.clone(),
            kernel: K::NAME,
            arguments: K::ARGUMENTS,
            reads: K::READS,
            count: self.count,
            inputs,
            outputs,
        }
    }

    fn c_element(&self, pass: Pass, plan: &PassPlan, text: &mut CText<'_>) -> Option<String> {
        let (inputs, outputs) = plan.connections.split_at(plan.inputs);
        let kernel = text.source.add_kernel(K::definition());
        let arguments: Vec<String> = (0..I::COUNT).map(|i| format!("a{i}")).collect();
        let arguments = arguments.join(", ");
        let gather = self.inputs.c_gather(text, inputs, "values", "a");
        Some(match pass {
            Pass::Forward => {
                let scatter = self.outputs.c_scatter(text, outputs, "values", "out");
                format!("{gather}auto out = {kernel}<R>({arguments});\n{scatter}")
            }
            Pass::Pullback => {
                let seeds = self.outputs.c_gather(text, outputs, "bars", "out_bar");
                let out_bar = if O::TUPLE {
                    let parts: Vec<String> = (0..O::COUNT).map(|i| format!("out_bar{i}")).collect();
                    format!("pb_make_tuple({})", parts.join(", "))
                } else {
                    "out_bar0".to_owned()
                };
                let scatter = self.inputs.c_scatter(text, inputs, "bars", "bar");
                format!("{gather}{seeds}auto bar = {kernel}_pullback<R>({arguments}, {out_bar});\n{scatter}")
            }
        })
    }

    fn run<S: Scalar>(&self, pass: Pass, phase: usize, context: &Context<'_, S>, part: Part) {
        let field = match pass {
            Pass::Forward => Field::Values,
            Pass::Pullback => Field::Bars,
        };
        let plan = context.plan;
        let sweeps = plan.phases - usize::from(plan.clears) - usize::from(plan.sums);
        let Some(phase) = phase.checked_sub(usize::from(plan.clears)) else {
            return plan.scatters.iter().for_each(|scatter| clear(context, scatter, field, part));
        };
        if phase < sweeps {
            let share = self.share(pass, phase, sweeps, context, part);
            // A loop for each way to run it: a test inside would hold up every element. Each is a function of its own, because
            // the time to compile one grows faster than its length.
            let dispatch = match (pass, context.worlds > 0) {
                (Pass::Forward, false) => Self::dispatch::<S, false, false>,
                (Pass::Forward, true) => Self::dispatch::<S, false, true>,
                (Pass::Pullback, false) => Self::dispatch::<S, true, false>,
                (Pass::Pullback, true) => Self::dispatch::<S, true, true>,
            };
            if matches!(self.count, Count::List { .. }) && context.worlds == 0 {
                // What follows the end of a list is no padding: whole lanes first, the others one by one.
                let Range { start, end } = share.range;
                let whole = start + (end - start) / 16 * 16;
                dispatch(self, context, Share { range: start..whole, ..share }, self.width(context));
                dispatch(self, context, Share { range: whole..end, ..share }, Width::One);
            } else {
                dispatch(self, context, share, self.width(context));
            }
            if part.index + 1 == part.of {
                self.clear_tails(context, field);
            }
            return;
        }
        plan.scatters.iter().for_each(|scatter| add_shared(context, scatter, field, part));
        plan.vertex_sums.iter().for_each(|sum| sum_slots(context, sum, field, part));
        if part.index == 0 {
            for total in &plan.totals {
                sum_chunks(context, total, field, &|world| self.count.in_world(context, world));
            }
        }
    }
}

/// Which elements a thread sweeps in a phase: a range of all, or of a forest's nodes in their order.
struct Share {
    range: Range<usize>,
    forest: Option<usize>,
    reverse: bool,
}

impl<K, I, O> Sweep<K, I, O>
where
    K: Kernel,
    I: Inputs<Values = K::Arguments>,
    O: Outputs<Values = K::Output>,
{
    /// Sweeps a share, forwards or back.
    fn dispatch<S: Scalar, const BACK: bool, const BATCH: bool>(
        &self,
        context: &Context<'_, S>,
        share: Share,
        width: Width,
    ) {
        let driver = SweepDriver::<S, K, I, O, BACK, BATCH> { sweep: self, context, share };
        if K::LANES {
            S::dispatch(driver, context.machine.isa, width);
        } else {
            S::dispatch_one(driver, context.machine.isa);
        }
    }

    /// What lies past the end of a list is zero: it was not when the list was longer.
    fn clear_tails<S: Scalar>(&self, context: &Context<'_, S>, field: Field) {
        for &(layout, numbers) in &context.plan.tails {
            for world in 0..context.worlds.max(1) {
                for e in self.count.in_world(context, world)..self.count.capacity() {
                    for c in 0..numbers {
                        // SAFETY: a number of the buffer, of an element that no thread sweeps.
                        unsafe {
                            *context.field(field).add(layout.at(e) + c * layout.stride + world) = S::default()
                        };
                    }
                }
            }
        }
    }

    /// Lanes are neighbours: elements of one world, or worlds of a batch. Nodes of one tree are no neighbours, and
    /// neither are worlds with lists of their own.
    fn width<S>(&self, context: &Context<'_, S>) -> Width {
        match self.count {
            Count::Levels { .. } if context.worlds == 0 => Width::One,
            Count::List { .. } if context.worlds > 0 => Width::One,
            // A single value has no padding that whole lanes could be written to.
            count if context.worlds == 0 && count.capacity() == 1 => Width::One,
            _ => context.machine.width,
        }
    }

    fn share<S>(
        &self,
        pass: Pass,
        phase: usize,
        sweeps: usize,
        context: &Context<'_, S>,
        part: Part,
    ) -> Share {
        match self.count {
            Count::Levels { forest, upwards, .. } => {
                let levels = &context.forests[forest].levels;
                let reverse = upwards != (pass == Pass::Pullback);
                if sweeps == 1 {
                    // Too narrow for threads: one of them does all levels.
                    let range = if part.index == 0 { 0..context.forests[forest].order.len() } else { 0..0 };
                    return Share { range, forest: Some(forest), reverse };
                }
                let level = if reverse { sweeps - 1 - phase } else { phase };
                let (from, to) = (levels[level] as usize, levels[level + 1] as usize);
                let range = part.range(to - from, 32);
                Share { range: from + range.start..from + range.end, forest: Some(forest), reverse }
            }
            _ => {
                let range = part.range(self.count.most(context), CHUNK);
                Share { range, forest: None, reverse: false }
            }
        }
    }

    /// # Safety
    /// The connections are those of the ports, and the place is in the thread's share.
    #[inline(always)]
    unsafe fn element<L: Lane, const BACK: bool, const BATCH: bool>(
        &self,
        context: &Context<'_, L::Element>,
        (inputs, outputs): (&[Connection], &[Connection]),
        place: Place,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let arguments = self.inputs.gather::<L, BATCH>(context, inputs, Field::Values, place);
            if BACK {
                let out_bar = self.outputs.gather::<L, BATCH>(context, outputs, Field::Bars, place);
                let bars = K::pullback::<L>(arguments, out_bar);
                self.inputs.scatter::<L, BATCH>(context, inputs, Field::Bars, place, bars);
            } else {
                let out = K::forward::<L>(arguments);
                self.outputs.scatter::<L, BATCH>(context, outputs, Field::Values, place, out);
            }
        }
    }
}

/// The loop over a share: of one world, or of a batch.
struct SweepDriver<'a, S, K, I, O, const BACK: bool, const BATCH: bool> {
    sweep: &'a Sweep<K, I, O>,
    context: &'a Context<'a, S>,
    share: Share,
}

impl<S, K, I, O, const BACK: bool, const BATCH: bool> Driver<S> for SweepDriver<'_, S, K, I, O, BACK, BATCH>
where
    S: Dispatch,
    K: Kernel,
    I: Inputs<Values = K::Arguments>,
    O: Outputs<Values = K::Output>,
{
    type Output = ();
    type Home = K;

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        let (sweep, context) = (self.sweep, self.context);
        let Share { range, forest, reverse } = &self.share;
        let order = forest.map(|forest| context.forests[forest].order.as_slice());
        let connections = context.plan.connections.split_at(context.plan.inputs);
        // One world: lanes are elements. A batch: lanes are worlds.
        let (worlds, step, world_step) = if BATCH { (context.worlds, 1, L::WIDTH) } else { (1, L::WIDTH, 1) };
        let mut k = range.start;
        while k < range.end {
            let element = match order {
                None => k,
                Some(order) => order[if *reverse { range.start + range.end - 1 - k } else { k }] as usize,
            };
            let mut world = 0;
            while world < worlds {
                let lanes = if BATCH { L::WIDTH } else { L::WIDTH.min(range.end - k) };
                let place = Place { element, world, lanes };
                if BATCH && sweep.count.is_past_the_end(context, place) {
                    // This world's list is shorter.
                } else if I::INDEX && L::WIDTH > 1 && !BATCH && !sweep.inputs.uniform(context, k, lanes) {
                    // Lanes with different indices take different ways: one by one.
                    for element in k..k + lanes {
                        let place = Place { element, world, lanes: 1 };
                        // SAFETY: the element is in the share.
                        unsafe { sweep.element::<S, BACK, BATCH>(context, connections, place) };
                    }
                } else {
                    // SAFETY: the elements are in the share, or in the padding after the last one.
                    unsafe { sweep.element::<L, BACK, BATCH>(context, connections, place) };
                }
                world += world_step;
            }
            k += step;
        }
    }
}
