//! Running steps, forwards and backwards, for one world or many.

mod causes;
mod equation;
mod newton;
mod parts;
mod progress;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{AccessError, BufferUse, NonFinite, Scalar, are_finite};

use crate::contact::{NO_ROOM, has_tangent};
use crate::error::Error;
use crate::preparation::Preparing;
use crate::step::{Io, Step, held, ranges};
use crate::stop;
pub(crate) use causes::Causes;
pub(crate) use equation::Equation;
use equation::OnCpu;
pub(crate) use newton::Newton;
pub use parts::Parts;

/// Looks at the values of a part of a step.
type See<'a, S> = dyn FnMut(usize, &Workspace<S>) + 'a;
/// Brings back the values of a part of a step, the state among them if that is wanted.
type Load<'a, S> = dyn FnMut(usize, &mut Workspace<S>, bool) + 'a;

/// The cotangents of the states of all worlds, of which those after a step become those before it.
pub(crate) struct Ends<'a, S> {
    pub state_bar: &'a mut [S],
    /// Are they here? Otherwise they are where the last pullback has left them.
    pub given: bool,
    /// Are they to be brought here? Otherwise they stay in the workspace.
    pub wanted: bool,
}

impl<'a, S> Ends<'a, S> {
    /// They are here, and will be.
    fn here(state_bar: &'a mut [S]) -> Self {
        Ends { state_bar, given: true, wanted: true }
    }
}

/// The memory in which steps run. Flat vectors of all worlds lie one after the other.
pub struct Stepper<S: Parts> {
    io: Io,
    parts: usize,
    /// The length of a part of a step [s].
    h: f64,
    worlds: usize,
    state_len: usize,
    control_len: usize,
    workspace: Workspace<S>,
    preparing: Option<Preparing<S>>,
    /// The cotangents of what was prepared have been pulled back.
    pulled: bool,
    /// Of an implicit step.
    newton: Option<Newton<S>>,
    /// The state that the last step ended with.
    state: Vec<S>,
    /// States at the starts of the parts of a step.
    starts: Vec<S>,
    /// The outputs are to become inputs before the next forward pass.
    to_carry: bool,
    /// The cotangents of the inputs are to become those of outputs before the next pullback through values that were kept.
    to_carry_back: bool,
    /// By how many steps each world is ahead, for forces that depend on time.
    ahead: Vec<usize>,
    /// When the part of a step that is made begins in each world [s].
    times: Vec<f64>,
    /// The step whose values the workspace holds.
    holds: Option<usize>,
    /// The cotangent of one world's control.
    control: Vec<S>,
    /// Of contacts that have a derivative.
    largest_residual: f64,
    causes: Causes,
}

impl<S: Parts> Stepper<S> {
    /// Memory for steps of `worlds` worlds.
    pub fn new(step: &Step, worlds: usize, options: RunOptions) -> Self {
        Self::with(step, &step.program, &step.io, worlds, options)
    }

    /// Memory for steps back, if the step has them.
    pub(crate) fn back(step: &Step, worlds: usize, options: RunOptions) -> Option<Self> {
        let (program, io) = step.back.as_ref()?;
        Some(Self::with(step, program, io, worlds, options))
    }

    fn with(step: &Step, program: &Program, io: &Io, worlds: usize, options: RunOptions) -> Self {
        // First: what it takes to see who depends on whom is gone before the rest is there.
        let newton = Newton::new(step, io, worlds, options);
        let workspace = match worlds {
            1 => program.workspace(options),
            n => program.batch(n, options),
        };
        let (state_len, control_len) =
            (step.model().state_layout().len(), step.model().control_layout().len());
        let scheme = step.scheme();
        let preparing = step.prepare.as_ref().map(|prepare| Preparing::new(prepare, worlds, options));
        let starts = if scheme.substeps > 1 { scheme.substeps * worlds * state_len } else { 0 };
        Stepper {
            io: io.clone(),
            parts: scheme.substeps,
            h: scheme.part(),
            worlds,
            state_len,
            control_len,
            workspace,
            preparing,
            pulled: false,
            newton,
            state: vec![S::default(); worlds * state_len],
            starts: vec![S::default(); starts],
            to_carry: false,
            to_carry_back: false,
            ahead: vec![0; worlds],
            times: vec![0.0; worlds],
            holds: None,
            control: vec![S::default(); control_len],
            largest_residual: step
                .model()
                .contact()
                .map_or(0.0, |contact| contact.largest_residual(S::EPSILON)),
            causes: Causes::of(step.model()),
        }
    }

    /// How many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        self.workspace.bytes()
            + self.newton.as_ref().map_or(0, Newton::bytes)
            + self.preparing.as_ref().map_or(0, Preparing::bytes)
            + self.io.bytes()
            + held(&self.state)
            + held(&self.starts)
            + held(&self.ahead)
            + held(&self.times)
            + held(&self.control)
    }

    /// How many worlds.
    pub fn worlds(&self) -> usize {
        self.worlds
    }

    /// Does it hold the values of this step?
    pub fn holds(&self, step: usize) -> bool {
        self.holds == Some(step)
    }

    /// The states of all worlds.
    pub fn state(&self) -> &[S] {
        &self.state
    }

    /// Sets the params of one world.
    pub fn set_params(&mut self, world: usize, params: &[S]) -> Result<(), Error> {
        wanted("the params of a world", numbers(&self.io.params), params)?;
        write_all(&mut self.workspace, world, &self.io.params, params)?;
        if let Some(preparing) = &mut self.preparing {
            preparing.set_params(world, params)?;
        }
        if let Some(newton) = &mut self.newton {
            newton.set_params(world, params)?;
        }
        self.holds = None;
        Ok(())
    }

    /// Sets the control of one world.
    pub fn set_control(&mut self, world: usize, control: &[S]) -> Result<(), Error> {
        wanted("the control of a world", self.control_len, control)?;
        write_all(&mut self.workspace, world, &self.io.control, control)?;
        if let Some(newton) = &mut self.newton {
            newton.set_control(world, control)?;
        }
        Ok(())
    }

    /// Sets by how many steps each world is ahead: what is step number `step` of others is its step `step + ahead`, which
    /// matters to forces that depend on time.
    pub fn set_ahead(&mut self, ahead: impl Fn(usize) -> usize) {
        self.ahead.iter_mut().enumerate().for_each(|(world, steps)| *steps = ahead(world));
        self.holds = None;
    }

    /// Sets the states of all worlds.
    pub fn set_state(&mut self, state: &[S]) -> Result<(), Error> {
        wanted("the states of all worlds", self.state.len(), state)?;
        self.state.copy_from_slice(state);
        self.write_state()?;
        self.holds = None;
        Ok(())
    }

    fn write_state(&mut self) -> Result<(), AccessError> {
        self.to_carry = false;
        for (world, state) in of_worlds(&self.state, self.worlds) {
            write_all(&mut self.workspace, world, &self.io.state, state)?;
        }
        Ok(())
    }

    /// Makes step number `step` from the state that is set. The result becomes the state.
    pub fn advance(&mut self, step: usize) -> Result<(), Error> {
        self.advance_to(step, None, &mut |_, _| {})
    }

    /// [`Stepper::advance`], and shows the values of each part.
    pub(crate) fn advance_showing(&mut self, step: usize, see: &mut See<'_, S>) -> Result<(), Error> {
        self.advance_to(step, None, see)
    }

    fn advance_to(&mut self, step: usize, known: Option<&[S]>, see: &mut See<'_, S>) -> Result<(), Error> {
        stop::go_on(step)?;
        self.holds = None;
        let size = self.state.len();
        for part in 0..self.parts {
            if self.parts > 1 {
                self.starts[part * size..(part + 1) * size].copy_from_slice(&self.state);
            }
            self.forward(step, part, known.filter(|_| part + 1 == self.parts))?;
            see(part, &self.workspace);
        }
        self.holds = Some(step);
        Ok(())
    }

    /// With a program of steps back: makes the state before step number `step` from that after it.
    pub(crate) fn retreat(&mut self, step: usize) -> Result<(), Error> {
        (0..self.parts).rev().try_for_each(|part| self.forward(step, part, None))
    }

    /// One part of a step, forwards; `known`: the state that it ends with.
    fn forward(&mut self, step: usize, part: usize, known: Option<&[S]>) -> Result<(), Error> {
        if std::mem::take(&mut self.to_carry) {
            self.workspace.carry();
        }
        self.to_carry_back = false;
        self.prepare()?;
        self.tell_times(step, part)?;
        if !self.make(step, known)? {
            return Err(self.not_finite(step));
        }
        let mut finite = true;
        for (world, state) in self.state.chunks_exact_mut(self.state_len.max(1)).enumerate() {
            for (next, range) in ranges(&self.io.next) {
                let numbers = &mut state[range];
                self.workspace.read_numbers_into(world, next, numbers)?;
                finite &= are_finite(numbers);
            }
        }
        self.to_carry = true;
        if !finite {
            return Err(self.not_finite(step));
        }
        if const { has_tangent::<S>() } {
            // Tangents are derivatives, too.
            self.check_residuals(step)?;
        }
        Ok(())
    }

    /// Sets when a part of a step begins [s].
    fn tell_times(&mut self, step: usize, part: usize) -> Result<(), Error> {
        for (world, (time, ahead)) in self.times.iter_mut().zip(&self.ahead).enumerate() {
            *time = ((step + ahead) * self.parts + part) as f64 * self.h;
            self.workspace.write_numbers(world, self.io.time, &[S::from_parts(*time, 0.0)])?;
        }
        Ok(())
    }

    /// Makes the values of a part of a step. False if an implicit one finds numbers that are not finite.
    fn make(&mut self, step: usize, known: Option<&[S]>) -> Result<bool, Error> {
        let Some(newton) = &mut self.newton else {
            self.workspace.forward();
            return Ok(true);
        };
        let mut equation = OnCpu { workspace: &mut self.workspace, io: &self.io };
        newton.forward(&mut equation, (step, &self.state, &self.times), known)
    }

    fn not_finite(&self, step: usize) -> Error {
        match self.workspace.check_values() {
            Err(source) if self.contacts_are_too_many(&source) => {
                self.causes.too_many_contacts(step, self.worlds, &source)
            }
            Err(source) => match self.state_before(source.world) {
                Ok(before) => self.causes.of_value(step, self.worlds, source, &before),
                Err(error) => error,
            },
            // The workspace knows of every number of the state, so that this cannot be.
            Ok(()) => Error::NothingToPullBack,
        }
    }

    fn bar_not_finite(&self, step: usize) -> Error {
        match self.workspace.check_bars() {
            Err(source) => Causes::of_bar(step, self.worlds, source),
            Ok(()) => Error::NothingToPullBack,
        }
    }

    /// The state of a world before the part of a step that was just made.
    fn state_before(&self, world: usize) -> Result<Vec<f64>, Error> {
        let mut numbers = vec![S::default(); self.state_len];
        for (buffer, range) in ranges(&self.io.state) {
            self.workspace.read_numbers_into(world, buffer, &mut numbers[range])?;
        }
        Ok(numbers.iter().map(|x| x.value()).collect())
    }

    /// Is that why there is no number? The residual of contacts says so.
    fn contacts_are_too_many(&self, found: &NonFinite) -> bool {
        let no_room = |buffer: &Buffer<f64>| {
            let mut residual = [S::default()];
            let read = self.workspace.read_numbers_into(found.world, *buffer, &mut residual);
            read.is_ok() && residual[0].value() == NO_ROOM
        };
        self.io.residuals.iter().any(no_room)
    }

    /// Pulls cotangents back through step number `step`, which begins at the state that is set: `state_bar`, of the state
    /// that it ends with, becomes that of the state that it begins with; `control_bar` is added to. Cotangents of params
    /// add up inside. `known`: the state that the step ends with, if it is known; an implicit step need not be solved
    /// again then.
    pub fn pull(
        &mut self,
        step: usize,
        known: Option<&[S]>,
        state_bar: &mut [S],
        control_bar: &mut [S],
    ) -> Result<(), Error> {
        wanted("the cotangents of states", self.state.len(), state_bar)?;
        wanted("the cotangents of controls", self.worlds * self.control_len, control_bar)?;
        match self.holds == Some(step) {
            true => stop::go_on(step)?,
            false => self.advance_to(step, known, &mut |_, _| {})?,
        }
        self.holds = None;
        let size = self.state.len();
        for part in (0..self.parts).rev() {
            if part + 1 < self.parts {
                let starts = std::mem::take(&mut self.starts);
                self.state.copy_from_slice(&starts[part * size..(part + 1) * size]);
                self.write_state()?;
                let result = self.forward(step, part, Some(&starts[(part + 1) * size..(part + 2) * size]));
                self.starts = starts;
                result?;
            }
            self.pull_part(step, Ends::here(state_bar), control_bar)?;
        }
        Ok(())
    }

    /// Pulls back through the part of a step whose values the workspace holds.
    fn pull_part(&mut self, step: usize, ends: Ends<'_, S>, control_bar: &mut [S]) -> Result<(), Error> {
        self.check_residuals(step)?;
        let Ends { state_bar, given, wanted } = ends;
        if given {
            for (world, bars) in of_worlds(state_bar, self.worlds) {
                for (next, range) in ranges(&self.io.next) {
                    self.workspace.seed_numbers(world, next, &bars[range])?;
                }
            }
        }
        if let Some(newton) = &mut self.newton {
            let mut equation = OnCpu { workspace: &mut self.workspace, io: &self.io };
            newton.seed(&mut equation, step, state_bar)?;
        }
        self.workspace.pullback();
        self.pulled = false;
        // Of many contacts, the equations of the pullback are solved by iterations, too.
        self.check_residuals(step)?;
        if self.control_len > 0 {
            for (world, bars) in control_bar.chunks_exact_mut(self.control_len).enumerate() {
                for (buffer, range) in ranges(&self.io.control) {
                    let numbers = &mut self.control[range.clone()];
                    self.workspace.bar_numbers_into(world, buffer, numbers)?;
                    bars[range].iter_mut().zip(numbers).for_each(|(sum, bar)| *sum = *sum + *bar);
                }
            }
        }
        if wanted {
            for (world, bars) in state_bar.chunks_exact_mut(self.state_len.max(1)).enumerate() {
                read_bars(&self.workspace, world, &self.io.state, bars)?;
            }
            if !are_finite(state_bar) {
                return Err(self.bar_not_finite(step));
            }
        }
        Ok(())
    }

    /// The norm of the cotangent of one world's state, which the last pullback, through step number `step`, has left in the workspace.
    pub(crate) fn bar_norm(&self, step: usize, world: usize) -> Result<f64, Error> {
        let mut sum = 0.0;
        for (buffer, _) in &self.io.state {
            sum += self.workspace.bar_squares(world, *buffer, S::value)?;
        }
        if !sum.is_finite() {
            // Numbers of which the squares are too large are finite all the same.
            self.workspace.check_bars().map_err(|_| self.bar_not_finite(step))?;
        }
        Ok(sum.sqrt())
    }

    /// Contacts have a derivative where their law holds.
    fn check_residuals(&self, step: usize) -> Result<(), Error> {
        for &buffer in &self.io.residuals {
            for world in 0..self.worlds {
                let mut residual = [S::default()];
                self.workspace.read_numbers_into(world, buffer, &mut residual)?;
                let found = residual[0].value();
                if found.is_nan() || found > self.largest_residual {
                    let world = (self.worlds > 1).then_some(world);
                    let largest = self.largest_residual;
                    return Err(Error::ContactNotSolved { step, world, residual: found, largest });
                }
            }
        }
        Ok(())
    }

    /// Sets the cotangents of params to zero.
    pub fn clear_params(&mut self) {
        self.workspace.clear_parameters();
        self.pulled = false;
    }

    /// Prepares what depends on params alone, if they have changed.
    fn prepare(&mut self) -> Result<(), Error> {
        let Some(preparing) = &mut self.preparing else { return Ok(()) };
        if !preparing.make() {
            return Ok(());
        }
        for world in 0..self.worlds {
            let mut k = 0;
            preparing.give(world, &self.io.prepared, |to, numbers| {
                self.workspace.write_numbers(world, to, numbers)?;
                if let Some(newton) = &mut self.newton {
                    newton.set_prepared(world, k, numbers)?;
                }
                k += 1;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The cotangents of one world's params, summed over all steps that were pulled back.
    pub fn params_bar(&mut self, world: usize, bars: &mut [S]) -> Result<(), Error> {
        wanted("the cotangents of params", numbers(&self.io.params), bars)?;
        read_bars(&self.workspace, world, &self.io.params, bars)?;
        let Some(preparing) = &mut self.preparing else { return Ok(()) };
        if !std::mem::replace(&mut self.pulled, true) {
            preparing.pull(&self.workspace, &self.io.prepared)?;
        }
        preparing.add_bars(world, bars)
    }

    /// Does a step solve an equation? Its pullback does so with cotangents on the host.
    pub(crate) fn is_implicit(&self) -> bool {
        self.io.implicit.is_some()
    }

    /// How many numbers all values are.
    pub fn values_len(&self) -> usize {
        self.workspace.values_len()
    }

    /// How many parts a step has.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// [`Stepper::pull`] from values that were kept, of steps from the last on: `load` brings back those of each part. The state becomes
    /// that from which the step was made, if it is wanted.
    pub(crate) fn pull_kept(
        &mut self,
        step: usize,
        wanted: bool,
        load: &mut Load<'_, S>,
        ends: Ends<'_, S>,
        control_bar: &mut [S],
    ) -> Result<(), Error> {
        stop::go_on(step)?;
        (self.holds, self.to_carry) = (None, false);
        let implicit = self.is_implicit();
        for part in (0..self.parts).rev() {
            if std::mem::replace(&mut self.to_carry_back, true) {
                self.workspace.carry_back();
            }
            load(part, &mut self.workspace, wanted || implicit);
            if wanted || implicit {
                for (world, state) in self.state.chunks_exact_mut(self.state_len.max(1)).enumerate() {
                    for (buffer, range) in ranges(&self.io.state) {
                        self.workspace.read_numbers_into(world, buffer, &mut state[range])?;
                    }
                }
            }
            if implicit {
                self.tell_times(step, part)?;
            }
            if let Some(newton) = &mut self.newton {
                let equation = OnCpu { workspace: &mut self.workspace, io: &self.io };
                newton.recall(&equation, &self.state, &self.times)?;
            }
            let (first, last) = (part + 1 == self.parts, part == 0);
            // Implicit steps solve with the cotangents.
            let given = implicit || (first && ends.given);
            let part_of =
                Ends { state_bar: &mut *ends.state_bar, given, wanted: implicit || (last && ends.wanted) };
            self.pull_part(step, part_of, control_bar)?;
        }
        Ok(())
    }
}

/// The parts of a vector of all worlds, one after the other.
fn of_worlds<S>(numbers: &[S], worlds: usize) -> impl Iterator<Item = (usize, &[S])> {
    numbers.chunks_exact((numbers.len() / worlds).max(1)).enumerate()
}

/// How many numbers buffers hold together.
fn numbers(buffers: &[(BufferUse, usize)]) -> usize {
    buffers.iter().map(|(_, len)| len).sum()
}

/// An error if a vector has another length.
fn wanted<S>(what: &'static str, wanted: usize, found: &[S]) -> Result<(), Error> {
    match found.len() == wanted {
        true => Ok(()),
        false => Err(Error::Length { what, wanted, found: found.len() }),
    }
}

pub(crate) fn write_all<S: Scalar>(
    workspace: &mut Workspace<S>,
    world: usize,
    buffers: &[(BufferUse, usize)],
    numbers: &[S],
) -> Result<(), AccessError> {
    ranges(buffers).try_for_each(|(buffer, range)| workspace.write_numbers(world, buffer, &numbers[range]))
}

pub(crate) fn read_bars<S: Scalar>(
    workspace: &Workspace<S>,
    world: usize,
    buffers: &[(BufferUse, usize)],
    bars: &mut [S],
) -> Result<(), AccessError> {
    ranges(buffers)
        .try_for_each(|(buffer, range)| workspace.bar_numbers_into(world, buffer, &mut bars[range]))
}
