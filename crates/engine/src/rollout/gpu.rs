//! Rollouts on a GPU. States and cotangents stay there: they come to the host where a loss looks, and nothing else waits for it.

mod collect;
mod implicit;
mod keep;
mod transfer;

use std::sync::Arc;

use pullback_kernel::cuda::{Compile, Device};
use pullback_kernel::program::{BufferUse, DeviceFloat, DeviceWorkspace, Rows, Sums, are_finite};

use super::moments::Moments;
use super::schedule::Action;
use super::{Gradient, Loss, Moment, Options, Start, check, check_start};
use crate::error::Error;
use crate::preparation::Preparing;
use crate::step::{Io, Step, ranges};
use crate::stepper::{Causes, Parts};
use crate::stop;
use implicit::Implicit;
use keep::Keep;
use transfer::{numbers, read, seed, uses, write};

/// The memory on a GPU in which rollouts of a step run: what a [`Rollout`](super::Rollout) is on the CPU, with the same losses, starts, gradients
/// and errors.
///
/// What is made of kernels runs on the device alone: particles, springs, soft solids and sheets, air, the ground, motions, controllers and forces
/// of one's own. Operations that are written by hand (robots, shapes that touch, soft surfaces that touch each other) run on the CPU in between,
/// and what they read and write is copied in each step. So do the equations of implicit steps, whose residuals and pullbacks are made on the
/// device. `Options::run` is for these, and for what depends on params alone, which is prepared on the CPU; `Options::snapshots` does not
/// matter, because states are kept as they are. Not all steps run on a GPU: [`Step::runs_on_gpu`].
///
/// ```no_run
/// use pullback_engine::rollout::NoLoss;
/// use pullback_engine::{GpuRollout, Options, Start, Step};
/// use pullback_kernel::cuda::{Compile, Device};
/// use pullback_scene::{Particles, Scene};
///
/// let scene = Scene { particles: vec![Particles::single("ball", [0.0; 3], 0.2)], ..Scene::default() };
/// let step = Step::of(&scene)?;
/// let device = Device::new(0)?;
/// let mut rollout = GpuRollout::<f32>::new(&step, Options::of(&scene), &device)?;
/// let (state, params) = (step.model().state(), step.model().params());
/// let gradient = rollout.gradient(&Start::new(&state, &[], &params), &NoLoss)?;
/// println!("{:?}", gradient.states);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GpuRollout<S: DeviceFloat + Parts = f32> {
    step: Step,
    options: Options,
    io: Io,
    workspace: DeviceWorkspace<S>,
    preparing: Option<Preparing<S>>,
    implicit: Option<Implicit<S>>,
    keep: Keep<S>,
    /// The time of each part of a step, and the controls of each step: what changes on the way but the state.
    times: Rows<S>,
    controls: Rows<S>,
    /// Cotangents of controls in each part of a step.
    control_bars: Rows<S>,
    /// Of cotangents of states before each step, and whether they are here.
    norms: Sums,
    summed: Vec<bool>,
    moments: Moments,
    /// Cotangents of the states of all worlds, if they are on the host; otherwise those of the workspace's inputs are the next.
    bars: Vec<S>,
    bars_are_here: bool,
    numbers: Vec<S>,
    /// The outputs are to become inputs before the next forward pass.
    to_carry: bool,
    /// States and cotangents are looked at after every step: something was not finite.
    searching: bool,
    causes: Causes,
    bytes: usize,
}

impl<S: DeviceFloat + Parts> GpuRollout<S> {
    /// Compiles the step for a device, or takes it from the cache, and sets aside all memory that rollouts of this kind need.
    pub fn new(step: &Step, options: Options, device: &Arc<Device>) -> Result<Self, Error> {
        check(step, &options)?;
        step.runs_on_gpu()?;
        let (model, io) = (step.model(), step.io.clone());
        let worlds = (options.worlds > 1).then_some(options.worlds);
        let workspace =
            DeviceWorkspace::new(&step.program, device, worlds, &Compile::default(), options.run)?;
        let parts = options.steps * step.scheme().substeps;
        let (times, controls) = ([BufferUse::from(io.time)], uses(&io.control));
        let times = workspace.rows(&times, parts)?;
        let control_bars = workspace.rows(&controls, parts)?;
        let controls = workspace.rows(&controls, options.steps)?;
        let norms = workspace.sums(&uses(&io.state), options.steps + 1)?;
        let fixed =
            workspace.bytes() + times.bytes() + controls.bytes() + control_bars.bytes() + norms.bytes();
        let unknowns = io.implicit.as_ref().map_or(Vec::new(), |unknown| uses(&unknown.z));
        let keep = Keep::new(&workspace, &options, (parts, &unknowns), fixed)?;
        let preparing =
            step.prepare.as_ref().map(|prepare| Preparing::new(prepare, options.worlds, options.run));
        let states = options.worlds * model.state_layout().len();
        Ok(GpuRollout {
            moments: Moments::new(step, options),
            bars: vec![S::default(); states],
            numbers: vec![S::default(); states],
            bars_are_here: true,
            to_carry: false,
            searching: false,
            causes: Causes::of(model),
            implicit: Implicit::new(step, &options),
            bytes: fixed + keep.bytes(),
            step: step.clone(),
            options,
            io,
            workspace,
            preparing,
            keep,
            times,
            controls,
            control_bars,
            norms,
            summed: vec![false; options.steps + 1],
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

    /// The program on the device.
    pub fn workspace(&self) -> &DeviceWorkspace<S> {
        &self.workspace
    }

    /// How many bytes of the device's memory it takes, and how many of these it keeps for the way back.
    pub fn bytes(&self) -> (usize, usize) {
        (self.bytes, self.keep.bytes())
    }

    /// The loss of each world.
    pub fn value(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<&[f64], Error> {
        self.searched(|rollout| {
            rollout.begin(start)?;
            rollout.forwards(start, loss, false)
        })?;
        Ok(&self.moments.gradient.values)
    }

    /// Runs the rollout, and shows each moment of each world, from the first to the last.
    pub fn watch(&mut self, start: &Start<'_>, see: impl FnMut(&Moment<'_>)) -> Result<(), Error> {
        self.watch_at(start, |_, _| true, see)
    }

    /// [`GpuRollout::watch`] of some moments, as [`Loss::looks`] names them: other states do not come to the host.
    pub fn watch_at(
        &mut self,
        start: &Start<'_>,
        looks: impl Fn(usize, bool) -> bool,
        see: impl FnMut(&Moment<'_>),
    ) -> Result<(), Error> {
        match self.show(start, looks, see) {
            // Once more, and every state is looked at.
            Err(error) if self.is_to_search(&error) => {
                Err(self.show(start, |_, _| true, |_| ()).err().unwrap_or(error))
            }
            done => done,
        }
    }

    fn show(
        &mut self,
        start: &Start<'_>,
        looks: impl Fn(usize, bool) -> bool,
        mut see: impl FnMut(&Moment<'_>),
    ) -> Result<(), Error> {
        self.begin(start)?;
        for step in 0..=self.options.steps {
            let last = step == self.options.steps;
            if looks(step, last) {
                if step > 0 {
                    self.see_state(step - 1)?;
                }
                (0..self.options.worlds).for_each(|world| see(&self.moments.moment(start, world, step)));
            }
            for part in step * self.parts()..(step + usize::from(!last)) * self.parts() {
                self.forward(part)?;
            }
        }
        Ok(())
    }

    /// The loss of each world, and its derivatives by the first state, all controls and all params.
    pub fn gradient(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<&Gradient, Error> {
        self.searched(|rollout| {
            rollout.begin(start)?;
            rollout.moments.gradient.clear();
            rollout.workspace.clear_parameters()?;
            rollout.forwards(start, loss, true)?;
            rollout.backwards(start, loss)?;
            rollout.finish()
        })?;
        Ok(&self.moments.gradient)
    }

    /// Does it take another run to tell where it went wrong? Implicit steps look at each step as they are made.
    fn is_to_search(&self, error: &Error) -> bool {
        error.is_of_the_run() && self.implicit.is_none()
    }

    /// Does work at full speed; if a number was not finite, once more, and looks at every step to tell where it was made.
    fn searched(&mut self, work: impl Fn(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.searching = false;
        match work(self) {
            Err(error) if self.is_to_search(&error) => {
                self.searching = true;
                let found = work(self);
                self.searching = false;
                Err(found.err().unwrap_or(error))
            }
            done => done,
        }
    }

    /// Sets what a rollout starts from.
    fn begin(&mut self, start: &Start<'_>) -> Result<(), Error> {
        let (worlds, steps) = (self.options.worlds, self.options.steps);
        check_start(self.step.model(), worlds, steps, start)?;
        self.moments.state.copy_from_slice(start.states);
        self.moments.gradient.values.fill(0.0);
        let states = numbers(start.states);
        write(&self.workspace, &self.io.state, &states, worlds)?;
        let params: Vec<S> = numbers(start.params);
        write(&self.workspace, &self.io.params, &params, worlds)?;
        if let Some(implicit) = &mut self.implicit {
            implicit.begin(start, &params)?;
        }
        self.prepare(&params)?;
        let h = self.step.scheme().part();
        let times: Vec<S> =
            (0..steps * self.parts()).map(|part| S::from_parts(part as f64 * h, 0.0)).collect();
        let time = [BufferUse::from(self.io.time)];
        self.workspace.write_rows(&self.times, &time, |_, part, _| &times[part..=part])?;
        let (controls, len) = (numbers::<S>(start.controls), self.step.model().control_layout().len());
        let at: Vec<_> = ranges(&self.io.control).map(|(_, range)| range).collect();
        self.workspace.write_rows(&self.controls, &uses(&self.io.control), |buffer, step, world| {
            let from = (world * steps + step) * len;
            &controls[from + at[buffer].start..from + at[buffer].end]
        })?;
        self.to_carry = false;
        Ok(())
    }

    /// Makes what depends on params alone, on the CPU.
    fn prepare(&mut self, params: &[S]) -> Result<(), Error> {
        let Some(preparing) = &mut self.preparing else { return Ok(()) };
        let (worlds, prepared) = (self.options.worlds, &self.io.prepared);
        let len = params.len() / worlds;
        for world in 0..worlds {
            preparing.set_params(world, &params[world * len..(world + 1) * len])?;
        }
        preparing.make();
        let mut made = vec![Vec::new(); worlds];
        for (world, made) in made.iter_mut().enumerate() {
            let mut k = 0;
            preparing.give(world, prepared, |_, numbers| {
                made.extend_from_slice(numbers);
                k += 1;
                let Some(implicit) = &mut self.implicit else { return Ok(()) };
                implicit.set_prepared(world, k - 1, numbers)
            })?;
        }
        for (buffer, range) in ranges(prepared) {
            self.workspace.write_numbers(buffer, |world| &made[world][range.clone()])?;
        }
        Ok(())
    }

    /// In how many parts a step is made.
    fn parts(&self) -> usize {
        self.step.scheme().substeps
    }

    /// Makes a part of a step, from the state that was made last or brought back.
    fn forward(&mut self, part: usize) -> Result<(), Error> {
        let step = part / self.parts();
        stop::go_on(step)?;
        self.workspace.bring(&self.times, part)?;
        self.workspace.bring(&self.controls, step)?;
        let Some(implicit) = &mut self.implicit else {
            match std::mem::replace(&mut self.to_carry, true) {
                true => self.workspace.advance()?,
                false => self.workspace.forward()?,
            }
            return Ok(());
        };
        if std::mem::take(&mut self.to_carry) {
            self.workspace.carry()?;
            implicit.solved = false;
        }
        if !implicit.forward(&self.workspace, &self.io, part)? {
            return Err(self.not_finite(step));
        }
        self.to_carry = true;
        Ok(())
    }

    /// Takes the states of all worlds: those before step number `step`, or, where a part was just made, those after it.
    fn see_state(&mut self, step: usize) -> Result<(), Error> {
        let state = if self.to_carry { &self.io.next } else { &self.io.state };
        read(state, &mut self.numbers, self.options.worlds, |buffer, see| {
            self.workspace.read_numbers(buffer, see)
        })?;
        self.moments.state.iter_mut().zip(&self.numbers).for_each(|(to, from)| *to = from.value());
        if are_finite(&self.numbers) {
            return Ok(());
        }
        Err(self.not_finite(step))
    }

    /// Which value of a step is not finite.
    fn not_finite(&mut self, step: usize) -> Error {
        let found = self.workspace.check_values().map_err(Error::from);
        // The workspace knows of every number of the state, so that there is one.
        let source = match found.and_then(|found| found.ok_or(Error::NothingToPullBack)) {
            Ok(source) => source,
            Err(error) => return error,
        };
        let worlds = self.options.worlds;
        if let Err(error) = read(&self.io.state, &mut self.numbers, worlds, |buffer, see| {
            self.workspace.read_numbers(buffer, see)
        }) {
            return error;
        }
        let len = self.numbers.len() / worlds;
        let before: Vec<f64> = self.numbers[source.world * len..][..len].iter().map(|x| x.value()).collect();
        self.causes.of_value(step, worlds, source, &before)
    }

    /// All steps, and the loss on the way.
    fn forwards(&mut self, start: &Start<'_>, loss: &dyn Loss, keeping: bool) -> Result<(), Error> {
        let parts = self.parts();
        if keeping {
            self.keep.restart(self.options.steps * parts);
        }
        for part in 0..self.options.steps * parts {
            if part % parts == 0 {
                self.add_value(start, loss, part / parts)?;
            }
            self.forward(part)?;
            if keeping {
                self.keep.made(&self.workspace, part)?;
            }
            if self.searching {
                self.see_state(part / parts)?;
            }
        }
        self.add_value(start, loss, self.options.steps)
    }

    fn add_value(&mut self, start: &Start<'_>, loss: &dyn Loss, step: usize) -> Result<(), Error> {
        // The last state shows whether all went well, whoever looks; the first is here.
        if step > 0 && (self.moments.sees(loss, step) || step == self.options.steps) {
            self.see_state(step - 1)?;
        }
        self.moments.add_value(start, loss, step);
        Ok(())
    }

    /// Each part's values, its pullback, the loss at its start, from the last to the first.
    fn backwards(&mut self, start: &Start<'_>, loss: &dyn Loss) -> Result<(), Error> {
        let (steps, parts) = (self.options.steps, self.parts());
        self.bars.fill(S::default());
        self.add_bars(start, loss, steps)?;
        for part in (0..steps * parts).rev() {
            if part + 1 < steps * parts {
                self.go_back_to(part)?;
            }
            self.pull(part)?;
            if part % parts == 0 {
                self.add_bars(start, loss, part / parts)?;
            }
        }
        Ok(())
    }

    /// Brings back the values of a part of a step.
    fn go_back_to(&mut self, part: usize) -> Result<(), Error> {
        loop {
            let action = match &mut self.keep {
                Keep::Values { rows } => {
                    stop::go_on(part / self.step.scheme().substeps)?;
                    self.to_carry = false;
                    return Ok(self.workspace.bring(rows, part)?);
                }
                Keep::States { schedule, .. } => schedule.next(),
            };
            match action {
                Some(Action::Return { slot, .. }) => {
                    self.to_carry = false;
                    let solved = self.keep.bring(&self.workspace, slot)?;
                    self.set_solved(solved);
                }
                Some(Action::Keep { slot, .. }) => {
                    if std::mem::take(&mut self.to_carry) {
                        self.workspace.carry()?;
                        self.set_solved(false);
                    }
                    self.keep.put(&self.workspace, slot)?;
                }
                Some(Action::Advance { step }) => self.forward(step)?,
                Some(Action::Pull { .. }) | None => break,
            }
        }
        self.forward(part)
    }

    /// Says whether the unknowns of an implicit step are there for the state that is.
    fn set_solved(&mut self, solved: bool) {
        if let Some(implicit) = &mut self.implicit {
            implicit.solved = solved;
        }
    }

    /// Pulls cotangents back through a part of a step, whose values are there.
    fn pull(&mut self, part: usize) -> Result<(), Error> {
        if self.implicit.is_some() && !self.bars_are_here {
            // The equation is solved with them.
            self.see_bars((part + 1) / self.parts())?;
            self.bars.copy_from_slice(&self.numbers);
            self.bars_are_here = true;
        }
        if std::mem::take(&mut self.bars_are_here) {
            seed(&self.workspace, &self.io.next, &self.bars, self.options.worlds)?;
            if let Some(implicit) = &mut self.implicit {
                implicit.seed(&self.workspace, &self.io, part, &self.bars)?;
            }
            self.workspace.pullback()?;
        } else {
            self.workspace.retreat()?;
        }
        self.workspace.keep_bars(&self.control_bars, part)?;
        // The state before it is that which a loss looks at next.
        self.to_carry = false;
        if self.searching {
            self.see_bars(part / self.parts())?;
        }
        Ok(())
    }

    /// Takes the cotangents of the states of all worlds before step number `step`.
    fn see_bars(&mut self, step: usize) -> Result<(), Error> {
        read(&self.io.state, &mut self.numbers, self.options.worlds, |buffer, see| {
            self.workspace.bar_numbers(buffer, see)
        })?;
        if are_finite(&self.numbers) {
            return Ok(());
        }
        let source = self.workspace.check_bars()?.ok_or(Error::NothingToPullBack)?;
        Err(Causes::of_bar(step, self.options.worlds, source))
    }

    /// At the start of a step, or at the end: drops cotangents, adds those of the loss, notes how long they are, and clips them.
    fn add_bars(&mut self, start: &Start<'_>, loss: &dyn Loss, step: usize) -> Result<(), Error> {
        let (options, seen, last) = (self.options, self.moments.sees(loss, step), step == self.options.steps);
        let dropped = !last && options.drops_before(step);
        if !(seen || last || dropped || step == 0 || options.clip.is_some()) {
            self.summed[step] = true;
            return Ok(self.workspace.sum_squares(&self.norms, step)?);
        }
        self.summed[step] = false;
        if dropped {
            self.bars.fill(S::default());
        } else if !last {
            self.see_bars(step)?;
            self.bars.copy_from_slice(&self.numbers);
        }
        if seen {
            if !last {
                self.see_state(step)?;
            }
            self.moments.pull_loss(start, loss, step, &mut self.bars);
        }
        let len = self.bars.len() / options.worlds;
        for world in 0..options.worlds {
            let norm = options.shorten(&mut self.bars[world * len..(world + 1) * len]);
            self.moments.gradient.norms[world * (options.steps + 1) + step] = norm;
        }
        self.bars_are_here = true;
        Ok(())
    }
}
