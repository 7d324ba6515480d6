//! Rollouts: many steps, a loss over them, and its gradient, with as little memory as is asked for.

mod any;
mod gpu;
mod gradient;
mod keep;
mod loss;
mod moments;
mod options;
mod pushforward;
mod schedule;
mod store;

use pullback_kernel::prelude::Workspace;
use pullback_scene::{Integrator, Memory};

pub use any::AnyRollout;
pub use gpu::GpuRollout;
pub use gradient::{Gradient, Start};
pub use loss::{Bars, Loss, Moment, NoLoss};
pub use options::Options;
pub use pushforward::{Coordinate, Pushforward, Tangent};
pub use schedule::{Action, Schedule, steps_made};

use crate::error::Error;
use crate::integrate::LATTICE_LIMIT;
use crate::model::Model;
use crate::names::{NO_ROTATION, NameError};
use crate::step::Step;
use crate::stepper::{Ends, Parts, Stepper};
use keep::Keep;
use moments::Moments;
pub(crate) use store::room;

/// The memory in which rollouts of a step run.
pub struct Rollout<S: Parts = f64> {
    step: Step,
    options: Options,
    stepper: Stepper<S>,
    keep: Keep<S>,
    /// The states of all worlds on their way, or after the step that is pulled back through.
    moments: Moments,
    numbers: Vec<S>,
    next: Vec<S>,
    before_last: Vec<f64>,
    /// Cotangents of all worlds.
    bars: Vec<S>,
    /// Are they those that come next? Otherwise the stepper has them.
    bars_are_here: bool,
    control_bars: Vec<S>,
    controls: Vec<S>,
    /// How many bytes are kept for the way back, and how many everything else takes.
    kept: usize,
    fixed: usize,
    /// How many steps were made in the last gradient, those included that were made again.
    steps_made: usize,
}

impl<S: Parts> Rollout<S> {
    /// Sets aside all memory that rollouts of this kind need.
    pub fn new(step: &Step, options: Options) -> Result<Self, Error> {
        check(step, &options)?;
        step.settle::<S>(0, &mut [])?;
        let stepper = Stepper::new(step, options.worlds, options.run);
        let (worlds, model) = (options.worlds, step.model());
        let states = worlds * model.state_layout().len();
        let controls = worlds * model.control_layout().len();
        let most = states.max(worlds * model.params_layout().len());
        let numbers = [most, states, states, controls, model.control_layout().len()];
        let fixed = stepper.bytes()
            + step.bytes()
            + size_of::<S>() * numbers.iter().sum::<usize>()
            + 8 * (3 * states + worlds * (options.steps + 2) + controls * options.steps)
            + 8 * (states + worlds * model.params_layout().len());
        room(fixed - stepper.bytes())?;
        let keep = Keep::new(step, &options, &stepper, fixed)?;
        let zeros = |len: usize| vec![S::default(); len];
        Ok(Rollout {
            moments: Moments::new(step, options),
            kept: keep.bytes(),
            fixed,
            before_last: vec![0.0; states],
            numbers: zeros(numbers[0]),
            next: zeros(numbers[1]),
            bars: zeros(numbers[2]),
            bars_are_here: true,
            control_bars: zeros(numbers[3]),
            controls: zeros(numbers[4]),
            steps_made: 0,
            step: step.clone(),
            options,
            stepper,
            keep,
        })
    }

    /// The step that it makes.
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// How it runs.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How many bytes of memory it takes, and how many of these it keeps for the way back.
    pub fn bytes(&self) -> (usize, usize) {
        (self.fixed + self.kept, self.kept)
    }

    /// How many steps were made for the last value or gradient, those included that were made again on the way back.
    pub fn steps_made(&self) -> usize {
        self.steps_made
    }

    /// The loss of each world.
    pub fn value(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<&[f64], Error> {
        self.begin(start)?;
        for step in 0..self.options.steps {
            self.moments.add_value(start, loss, step);
            self.advance(start, step)?;
        }
        self.moments.add_value(start, loss, self.options.steps);
        Ok(&self.moments.gradient.values)
    }

    /// Runs the rollout, and shows each moment of each world, from the first to the last.
    pub fn watch(&mut self, start: &Start<'_>, mut see: impl FnMut(&Moment<'_>)) -> Result<(), Error> {
        self.begin(start)?;
        for step in 0..=self.options.steps {
            (0..self.options.worlds).for_each(|world| see(&self.moments.moment(start, world, step)));
            if step < self.options.steps {
                self.advance(start, step)?;
            }
        }
        Ok(())
    }

    /// The loss of each world, and its derivatives by the first state, all controls and all params.
    pub fn gradient(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<&Gradient, Error> {
        self.begin(start)?;
        self.moments.gradient.clear();
        self.stepper.clear_params();
        self.forward_keeping(start, loss)?;
        self.bars.fill(S::default());
        self.bars_are_here = true;
        self.add_bars(start, loss, self.options.steps)?;
        self.way_back(start, loss)?;
        self.finish()?;
        Ok(&self.moments.gradient)
    }

    fn begin(&mut self, start: &Start<'_>) -> Result<(), Error> {
        check_start(self.step.model(), self.options.worlds, self.options.steps, start)?;
        self.moments.state.copy_from_slice(start.states);
        self.step.settle(0, &mut self.moments.state)?;
        self.set_state()?;
        let len = start.params.len() / self.options.worlds;
        for world in 0..self.options.worlds {
            let params = &start.params[world * len..(world + 1) * len];
            let numbers = &mut self.numbers[..len];
            numbers.iter_mut().zip(params).for_each(|(to, from)| *to = S::from_parts(*from, 0.0));
            self.stepper.set_params(world, &self.numbers[..len])?;
            if let Some(back) = self.keep.back() {
                back.set_params(world, &self.numbers[..len])?;
            }
        }
        self.moments.gradient.values.fill(0.0);
        self.steps_made = 0;
        Ok(())
    }

    fn set_state(&mut self) -> Result<(), Error> {
        let numbers = &mut self.numbers[..self.moments.state.len()];
        numbers.iter_mut().zip(&self.moments.state).for_each(|(to, from)| *to = S::from_parts(*from, 0.0));
        self.stepper.set_state(&self.numbers[..self.moments.state.len()])
    }

    fn set_controls(&mut self, start: &Start<'_>, step: usize) -> Result<(), Error> {
        let len = self.controls.len();
        for world in (0..self.options.worlds).filter(|_| len > 0) {
            let at = (world * self.options.steps + step) * len;
            let control = &start.controls[at..at + len];
            self.controls.iter_mut().zip(control).for_each(|(to, from)| *to = S::from_parts(*from, 0.0));
            self.stepper.set_control(world, &self.controls)?;
            if let Some(back) = self.keep.back() {
                back.set_control(world, &self.controls)?;
            }
        }
        Ok(())
    }

    /// Makes step `step` from the state that the stepper has.
    fn advance(&mut self, start: &Start<'_>, step: usize) -> Result<(), Error> {
        self.set_controls(start, step)?;
        self.stepper.advance(step)?;
        self.arrived(step, true)
    }

    /// After step `step`, with the state if it is wanted.
    fn arrived(&mut self, step: usize, wanted: bool) -> Result<(), Error> {
        self.steps_made += 1;
        if wanted {
            self.see_state();
        }
        if self.step.scheme().integrator == Integrator::ReversibleVerlet {
            self.check_lattice(step + 1)?;
        }
        Ok(())
    }

    /// Takes the stepper's states.
    fn see_state(&mut self) {
        self.moments.state.iter_mut().zip(self.stepper.state()).for_each(|(to, from)| *to = from.value());
    }

    fn check_lattice(&self, step: usize) -> Result<(), Error> {
        match self.moments.state.iter().find(|x| x.abs() > LATTICE_LIMIT) {
            None => Ok(()),
            Some(x) => Err(Error::OffLattice { step, value: *x, limit: LATTICE_LIMIT }),
        }
    }

    /// Are states among values that are kept, so that nothing but the loss needs them? A lattice does, which is looked after.
    fn keeps_values(&self) -> bool {
        matches!(self.keep, Keep::Values { .. })
            && self.step.scheme().integrator != Integrator::ReversibleVerlet
    }

    /// Forwards, keeping what the way back needs.
    fn forward_keeping(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<(), Error> {
        let steps = self.options.steps;
        self.keep.restart(steps);
        for step in 0..steps {
            self.moments.add_value(start, loss, step);
            self.keep.before(&self.moments.state);
            if step + 1 == steps && !self.keeps_values() {
                self.before_last.copy_from_slice(&self.moments.state);
            }
            self.set_controls(start, step)?;
            self.keep.advance(step, &mut self.stepper)?;
            let wanted = !self.keeps_values() || self.moments.sees(loss, step + 1);
            self.arrived(step, wanted)?;
        }
        self.moments.add_value(start, loss, steps);
        Ok(())
    }

    /// Backwards: each step's state, its pullback, the loss at its start.
    fn way_back(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<(), Error> {
        for step in (0..self.options.steps).rev() {
            if !matches!(self.keep, Keep::Values { .. }) {
                // The state after this step, which the last turn left.
                self.next
                    .iter_mut()
                    .zip(&self.moments.state)
                    .for_each(|(to, from)| *to = S::from_parts(*from, 0.0));
            }
            self.go_back_to(start, step)?;
            self.set_controls(start, step)?;
            self.control_bars.fill(S::default());
            self.pull(loss, step)?;
            self.moments.add_control_bars(step, &self.control_bars);
            if self.options.drops_before(step) {
                self.bars.fill(S::default());
            }
            self.add_bars(start, loss, step)?;
        }
        Ok(())
    }

    /// Brings the state before `step` back, here and in the stepper.
    fn go_back_to(&mut self, start: &Start<'_>, step: usize) -> Result<(), Error> {
        if step + 1 == self.options.steps && !self.keeps_values() {
            // The stepper still holds the last step.
            self.moments.state.copy_from_slice(&self.before_last);
            return Ok(());
        }
        match &mut self.keep {
            Keep::States { .. } => self.follow_schedule(start),
            // The state is among the values that the pullback brings back.
            Keep::Values { .. } => Ok(()),
            Keep::Back { .. } => {
                self.set_controls(start, step)?;
                if let Some(back) = self.keep.back() {
                    back.set_state(&self.next)?;
                    back.retreat(step)?;
                    self.moments.state.iter_mut().zip(back.state()).for_each(|(to, from)| *to = from.value());
                }
                self.set_state()
            }
        }
    }

    /// Pulls `self.bars` back through a step.
    fn pull(&mut self, loss: &dyn Loss, step: usize) -> Result<(), Error> {
        let seen = self.moments.sees(loss, step);
        if let Keep::Values { store, len } = &self.keep {
            let parts = self.stepper.parts();
            let mut load = |part: usize, workspace: &mut Workspace<S>, state: bool| {
                let at = (step * parts + part) * len;
                workspace.bring_values(state, |i, values| store.get(at + i, values));
            };
            // Nobody else looks at cotangents in between.
            let wanted = seen
                || step == 0
                || self.options.clip.is_some()
                || self.options.drops_before(step)
                || self.stepper.is_implicit();
            let given = std::mem::replace(&mut self.bars_are_here, wanted);
            let ends = Ends { state_bar: &mut self.bars, given, wanted };
            self.stepper.pull_kept(step, seen, &mut load, ends, &mut self.control_bars)?;
            if seen {
                self.see_state();
            }
            return Ok(());
        }
        if !self.stepper.holds(step) {
            self.steps_made += 1;
        }
        self.stepper.pull(step, Some(&self.next), &mut self.bars, &mut self.control_bars)
    }

    /// Does what the schedule says until it says to pull back.
    fn follow_schedule(&mut self, start: &Start<'_>) -> Result<(), Error> {
        while let Keep::States { schedule, store } = &mut self.keep {
            match schedule.next() {
                Some(Action::Keep { slot, .. }) => {
                    store.put(slot * self.moments.state.len(), &self.moments.state)
                }
                Some(Action::Return { slot, .. }) => {
                    store.get(slot * self.moments.state.len(), &mut self.moments.state);
                    self.set_state()?;
                }
                Some(Action::Advance { step }) => self.advance(start, step)?,
                Some(Action::Pull { .. }) | None => break,
            }
        }
        Ok(())
    }

    /// Adds the loss's cotangents at a moment to those of its state, which are recorded and clipped then.
    fn add_bars(&mut self, start: &Start<'_>, loss: &dyn Loss, step: usize) -> Result<(), Error> {
        if self.moments.sees(loss, step) {
            self.moments.pull_loss(start, loss, step, &mut self.bars);
        }
        let (worlds, steps) = (self.options.worlds, self.options.steps);
        let size = self.bars.len() / worlds;
        for world in 0..worlds {
            let bars = &mut self.bars[world * size..(world + 1) * size];
            self.moments.gradient.norms[world * (steps + 1) + step] = match self.bars_are_here {
                true => self.options.shorten(bars),
                false => self.stepper.bar_norm(step, world)?,
            };
        }
        Ok(())
    }

    /// Collects what the way back has left.
    fn finish(&mut self) -> Result<(), Error> {
        self.moments.gradient.states.iter_mut().zip(&self.bars).for_each(|(to, from)| *to = from.value());
        let len = self.moments.gradient.params.len() / self.options.worlds;
        for world in 0..self.options.worlds {
            self.stepper.params_bar(world, &mut self.numbers[..len])?;
            let sums = &mut self.moments.gradient.params[world * len..(world + 1) * len];
            sums.iter_mut().zip(&self.numbers).for_each(|(sum, bar)| *sum += bar.value());
        }
        self.moments.check()
    }
}

/// Are these as many numbers as worlds and steps want, and all of them finite?
fn check_start(model: &Model, worlds: usize, steps: usize, start: &Start<'_>) -> Result<(), Error> {
    for (what, layout, steps, found) in [
        ("the first states", model.state_layout(), None, start.states),
        ("the controls of all steps", model.control_layout(), Some(steps), start.controls),
        ("the params", model.params_layout(), None, start.params),
    ] {
        let wanted = layout.len() * steps.unwrap_or(1) * worlds;
        if found.len() != wanted {
            return Err(Error::Length { what, wanted, found: found.len() });
        }
        if let Some(index) = found.iter().position(|x| !x.is_finite()) {
            let (name, value) = (layout.called(index, steps, worlds), found[index]);
            return Err(Error::StartNotFinite { what, index, name, value });
        }
    }
    let layout = model.state_layout();
    for state in start.states.chunks_exact(layout.len().max(1)) {
        if let Some(i) = layout.zero_rotation(state) {
            let (name, why) = (layout.name_of(i), NO_ROTATION.to_owned());
            return Err(Error::Name(NameError::Range { name, value: 0.0, why }));
        }
    }
    Ok(())
}

fn check(step: &Step, options: &Options) -> Result<(), Error> {
    let wanted = "it has to be at least 1";
    for (what, found) in [("worlds", options.worlds), ("truncate", options.truncate.unwrap_or(1))] {
        if found == 0 {
            return Err(Error::Scheme { what, found: "0".into(), wanted });
        }
    }
    if let Some(clip) = options.clip.filter(|most| !(most.is_finite() && *most > 0.0)) {
        let wanted = "the greatest norm of a cotangent is a positive number";
        return Err(Error::Scheme { what: "clip", found: clip.to_string(), wanted });
    }
    if options.memory == (Memory::Binomial { snapshots: 0 }) {
        return Err(Error::Scheme { what: "binomial snapshots", found: "0".into(), wanted });
    }
    if options.memory == Memory::Reversible && step.scheme().integrator != Integrator::ReversibleVerlet {
        return Err(Error::Reversible(format!(
            "memory `reversible` needs the integrator `reversible-verlet`, and this is `{}`",
            step.scheme().integrator.name()
        )));
    }
    Ok(())
}
