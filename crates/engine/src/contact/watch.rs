//! Forces and penetration of contacts at a moment, with their pullback.

use pullback_kernel::prelude::*;
use pullback_kernel::program::BufferUse;
use pullback_scene::Toucher;

use super::Contacts;
use super::dynamics::NO_ROOM;
use super::measure::{Group, Sums};
use crate::articulated::mechanism::finite;
use crate::dynamics::Dynamics;
use crate::error::Error;
use crate::model::Model;
use crate::preparation::{Preparation, Preparing};
use crate::step::{Declared, Scheme};
use crate::stepper::{read_bars, write_all};

/// Which contacts are summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Those of this; `None`: all.
    pub of: Option<Toucher>,
    /// With that; `None`: with anything, its own shapes included.
    pub with: Option<Toucher>,
}

/// What the contacts of a group come to, or the cotangents of that.
///
/// Forces are those of the step that begins at the moment: of hard contact impulses over the length of the step, of springs and
/// dampers what they push with at its start. With `substeps`, those of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// The sum of the forces on what is measured, in the axes of the world [N]. Forces between its own shapes cancel.
    pub force: Vec3,
    /// The sum of the forces across the surfaces [N].
    pub normal: f64,
    /// The size of the sum of the forces along the surfaces [N].
    pub friction: f64,
    /// √Σ depth² over the contacts whose shapes are in each other [m]; of one contact, its depth.
    pub penetration: f64,
    /// How many contacts bear a force.
    pub count: f64,
    /// How many of them slide.
    pub sliding: f64,
}

impl Default for Touching {
    /// Nothing touches.
    fn default() -> Self {
        let force = vec3(0.0, 0.0, 0.0);
        Touching { force, normal: 0.0, friction: 0.0, penetration: 0.0, count: 0.0, sliding: 0.0 }
    }
}

/// Contacts of a model, for losses and pictures: [`ContactWatch::run`] at a state and a control, look at
/// [`ContactWatch::touching`], then [`ContactWatch::seed`] cotangents and [`ContactWatch::pullback`] them.
///
/// It runs what a step runs as far as the forces of contacts, and so agrees with the step to the last bit.
///
/// ```
/// use pullback_engine::{Between, ContactWatch, Model, Scheme};
/// use pullback_scene::Scene;
///
/// let text = r#"
///     [simulation]
///     dt = 0.01
///     steps = 1
///     [ground]
///     [contact]
///     regularisation = 1e-9
///     [[bodies]]
///     name = "ball"
///     mass = 2
///     shape = { sphere = 0.1 }
///     position = [0, 0, 0.1]
/// "#;
/// let scene = Scene::parse(text, "ball.toml")?;
/// let model = Model::new(&scene)?;
/// let mut watch = ContactWatch::new(&model, &Scheme::of(&scene), &[Between::default()])?;
/// watch.run(0.0, model.state().values(), &[], model.params().values())?;
/// assert!((watch.touching(0).normal - 2.0 * 9.81).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContactWatch {
    /// What depends on params alone.
    preparing: Option<Preparing<f64>>,
    /// The params that it was made from.
    given: Vec<f64>,
    workspace: Workspace<f64>,
    time: Buffer<f64>,
    state: Vec<(BufferUse, usize)>,
    control: Vec<(BufferUse, usize)>,
    params: Vec<(BufferUse, usize)>,
    prepared: Vec<(BufferUse, usize)>,
    sums: Sums,
    /// Of impulses, and the largest with which they have a derivative.
    residual: Option<Buffer<f64>>,
    largest_residual: f64,
    most_contacts: usize,
    /// Which step it looked at, for errors, and how long steps are [s].
    step: usize,
    dt: f64,
    /// Of each group.
    found: Vec<Touching>,
    bars: Vec<Touching>,
    /// Where there is no control.
    idle: Vec<f64>,
    /// Numbers on their way.
    numbers: Vec<f64>,
}

impl ContactWatch {
    /// Of groups of contacts, in steps of a scheme.
    pub fn new(model: &Model, scheme: &Scheme, groups: &[Between]) -> Result<ContactWatch, Error> {
        let of = |contact: &Contacts| groups.iter().map(|&between| contact.group(between)).collect();
        Self::of_groups(model, scheme, &of)
    }

    /// Of the contacts that read params, by their numbers: those of surfaces, and the sizes of shapes. A param that no contact
    /// reads has none. Forces of such a group have no side that they act on, and are 0.
    pub fn of_params(model: &Model, scheme: &Scheme, params: &[usize]) -> Result<ContactWatch, Error> {
        let layout = model.params_layout();
        let of = |contact: &Contacts| params.iter().map(|&param| contact.reading(layout, param)).collect();
        Self::of_groups(model, scheme, &of)
    }

    fn of_groups(
        model: &Model,
        scheme: &Scheme,
        groups: &dyn Fn(&Contacts) -> Vec<Group>,
    ) -> Result<ContactWatch, Error> {
        let Some(contact) = model.contact() else {
            let (what, found) = ("a model whose contacts are watched", "one without contacts".to_owned());
            return Err(Error::Scheme {
                what,
                found,
                wanted: "give it shapes that may touch, and `[contact]`",
            });
        };
        let mut p = Program::builder();
        let Declared { inputs, state, control, params, prepared } = Declared::new(&mut p, model)?;
        let acting =
            Dynamics::new(&mut p, model, &inputs, scheme.part())?.acting(&inputs.x, &inputs.v, 0.0)?;
        let groups = groups(contact);
        let n = groups.len();
        let h = scheme.part();
        let (sums, residual) = contact.measure(&mut p, &inputs, acting, h, groups)?;
        p.output(sums.force);
        residual.into_iter().for_each(|residual| p.output(residual));
        let Sums { normal, friction, penetration, count, sliding, .. } = sums;
        [normal, friction, penetration, count, sliding].into_iter().for_each(|sum| p.output(sum));
        let preparing = Preparation::new(model)?.map(|p| Preparing::new(&p, 1, RunOptions::default()));
        let count = |buffers: &[(BufferUse, usize)]| buffers.iter().map(|(_, len)| *len).sum::<usize>();
        let most = count(&state).max(count(&control)).max(count(&params)).max(3 * n);
        Ok(ContactWatch {
            preparing,
            given: Vec::with_capacity(count(&params)),
            workspace: p.finish()?.workspace(RunOptions::default()),
            time: inputs.time,
            idle: vec![0.0; count(&control)],
            numbers: vec![0.0; most],
            found: vec![Touching::default(); n],
            bars: vec![Touching::default(); n],
            state,
            control,
            params,
            prepared,
            sums,
            residual,
            largest_residual: contact.largest_residual(f64::EPSILON),
            most_contacts: contact.most(),
            dt: scheme.dt,
            step: 0,
        })
    }

    /// Looks at the moment before a step: its time [s], state and control. Without a control, at the end of a rollout, forces are
    /// those of a step in which controls are 0. Where there is no room for all contacts, which is an error as it is one of the
    /// step, nothing is a number.
    pub fn run(&mut self, time: f64, state: &[f64], control: &[f64], params: &[f64]) -> Result<(), Error> {
        self.check([state.len(), control.len(), params.len()])?;
        for (what, numbers) in [("a state", state), ("a control", control), ("params", params)] {
            finite(what, numbers)?;
        }
        self.prepare(params)?;
        self.workspace.write_numbers(0, self.time, &[time])?;
        write_all(&mut self.workspace, 0, &self.state, state)?;
        let control = if control.is_empty() { &self.idle } else { control };
        write_all(&mut self.workspace, 0, &self.control, control)?;
        self.workspace.forward();
        let Sums { force, normal, friction, penetration, count, sliding } = self.sums;
        let n = self.found.len();
        self.workspace.read_numbers_into(0, force, &mut self.numbers[..3 * n])?;
        for (found, f) in self.found.iter_mut().zip(self.numbers.chunks_exact(3)) {
            found.force = vec3(f[0], f[1], f[2]);
        }
        for (buffer, number) in [
            (normal, (|t| &mut t.normal) as fn(&mut Touching) -> &mut f64),
            (friction, |t| &mut t.friction),
            (penetration, |t| &mut t.penetration),
            (count, |t| &mut t.count),
            (sliding, |t| &mut t.sliding),
        ] {
            self.workspace.read_numbers_into(0, buffer, &mut self.numbers[..n])?;
            self.found.iter_mut().zip(&self.numbers).for_each(|(found, x)| *number(found) = *x);
        }
        self.bars.fill(Touching::default());
        self.step = (time / self.dt).round() as usize;
        match self.found.iter().any(|found| found.count.is_nan()) || self.residual()? == NO_ROOM {
            true => Err(Error::TooManyContacts { step: self.step, world: None, most: self.most_contacts }),
            false => Ok(()),
        }
    }

    /// How far impulses are from their law, relative to themselves, where that is so far that they have no derivative.
    pub fn unsolved(&self) -> Result<Option<f64>, Error> {
        let residual = self.residual()?;
        let far = residual.is_nan() || residual == NO_ROOM || residual > self.largest_residual;
        Ok(far.then_some(residual))
    }

    /// How far impulses are from their law.
    fn residual(&self) -> Result<f64, Error> {
        let mut found = [0.0];
        if let Some(residual) = self.residual {
            self.workspace.read_numbers_into(0, residual, &mut found)?;
        }
        Ok(found[0])
    }

    /// Forces have a derivative where the law of contact holds.
    fn check_residual(&self) -> Result<(), Error> {
        let (step, largest) = (self.step, self.largest_residual);
        match self.unsolved()? {
            Some(residual) => Err(Error::ContactNotSolved { step, world: None, residual, largest }),
            None => Ok(()),
        }
    }

    fn check(&self, [state, control, params]: [usize; 3]) -> Result<(), Error> {
        let count = |buffers: &[(BufferUse, usize)]| buffers.iter().map(|(_, len)| *len).sum::<usize>();
        let idle = if control == 0 { 0 } else { self.idle.len() };
        let lengths = [
            ("a state", count(&self.state), state),
            ("a control", idle, control),
            ("params", count(&self.params), params),
        ];
        match lengths.into_iter().find(|(_, wanted, found)| wanted != found) {
            Some((what, wanted, found)) => Err(Error::Length { what, wanted, found }),
            None => Ok(()),
        }
    }

    fn prepare(&mut self, params: &[f64]) -> Result<(), Error> {
        if self.given == params {
            return Ok(());
        }
        write_all(&mut self.workspace, 0, &self.params, params)?;
        if let Some(preparing) = &mut self.preparing {
            preparing.set_params(0, params)?;
            preparing.make();
            preparing
                .give(0, &self.prepared, |to, numbers| Ok(self.workspace.write_numbers(0, to, numbers)?))?;
        }
        self.given.clear();
        self.given.extend_from_slice(params);
        Ok(())
    }

    /// What the contacts of a group come to.
    ///
    /// # Panics
    ///
    /// If there is no such group.
    pub fn touching(&self, group: usize) -> Touching {
        self.found[group]
    }

    /// Adds to the cotangents of what the contacts of a group come to. Counts have none.
    ///
    /// # Panics
    ///
    /// If there is no such group.
    pub fn seed(&mut self, group: usize, bar: Touching) {
        let sum = &mut self.bars[group];
        sum.force = sum.force + bar.force;
        sum.normal += bar.normal;
        sum.friction += bar.friction;
        sum.penetration += bar.penetration;
    }

    /// Adds to the cotangents of the state, the control (none, if it is empty) and the params what the seeds since
    /// [`ContactWatch::run`] give them, and forgets the seeds. It is an error, and adds nothing, where impulses are not solved for
    /// well enough to have a derivative.
    pub fn pullback(
        &mut self,
        state_bar: &mut [f64],
        control_bar: &mut [f64],
        params_bar: &mut [f64],
    ) -> Result<(), Error> {
        self.check([state_bar.len(), control_bar.len(), params_bar.len()])?;
        self.check_residual()?;
        let Sums { force, normal, friction, penetration, .. } = self.sums;
        let n = self.bars.len();
        for (f, bar) in self.numbers.chunks_exact_mut(3).zip(&self.bars) {
            f.copy_from_slice(&[bar.force.x, bar.force.y, bar.force.z]);
        }
        self.workspace.seed_numbers(0, force, &self.numbers[..3 * n])?;
        for (buffer, number) in [
            (normal, (|t| t.normal) as fn(&Touching) -> f64),
            (friction, |t| t.friction),
            (penetration, |t| t.penetration),
        ] {
            self.numbers.iter_mut().zip(&self.bars).for_each(|(x, bar)| *x = number(bar));
            self.workspace.seed_numbers(0, buffer, &self.numbers[..n])?;
        }
        self.bars.fill(Touching::default());
        self.workspace.clear_parameters();
        self.workspace.pullback();
        // Of many contacts, the equations of the pullback are solved by iterations, too.
        self.check_residual()?;
        let all = [(&self.state, state_bar), (&self.control, control_bar), (&self.params, &mut *params_bar)];
        for (buffers, bars) in all.into_iter().filter(|(_, bars)| !bars.is_empty()) {
            let numbers = &mut self.numbers[..bars.len()];
            read_bars(&self.workspace, 0, buffers, numbers)?;
            bars.iter_mut().zip(numbers).for_each(|(sum, bar)| *sum += *bar);
        }
        let Some(preparing) = &mut self.preparing else { return Ok(()) };
        preparing.pull(&self.workspace, &self.prepared)?;
        preparing.add_bars(0, params_bar)
    }
}

impl Model {
    /// Does a pair of shapes that may touch read this param, by its number?
    pub fn contacts_read(&self, param: usize) -> bool {
        let reads = |contact: &Contacts| contact.is_any(&contact.reading(self.params_layout(), param));
        self.contact().is_some_and(reads)
    }

    /// May anything of these touch?
    pub fn may_touch(&self, between: Between) -> bool {
        self.contact().is_some_and(|contact| contact.is_any(&contact.group(between)))
    }
}
