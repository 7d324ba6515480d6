//! Implicit steps: Newton's method forwards, the implicit function theorem backwards and for tangents.
//!
//! A step solves residual(z; x, u, theta) = 0 for z, with J = ∂residual/∂z.
//!
//! - forwards: z ← z - J⁻¹ residual, until it vanishes up to rounding;
//! - tangents: z_dot = -J⁻¹ (∂residual/∂(x, u, theta)) (x_dot, u_dot, theta_dot);
//! - backwards: λ = J⁻ᵀ z_bar, and the residual's pullback of -λ.

use std::ops::Range;
use std::sync::Arc;

use pullback_kernel::prelude::RunOptions;
use pullback_kernel::program::AccessError;

use super::causes::Causes;
use super::equation::Equation;
use super::parts::Parts;
use super::progress::{ROUNDINGS, Verdict, World};
use crate::articulated::Manifold;
use crate::error::Error;
use crate::integrate::jacobians::{Jacobians, Unfactorised};
use crate::step::{Io, Step, Unknown, held};

/// Most iterations, shorter steps included.
const ITERATIONS: usize = 200;

/// What an implicit step takes beside its program.
pub(crate) struct Newton<S: Parts> {
    unknown: Arc<Unknown>,
    /// None if there is no memory for their factors.
    jacobians: Option<Jacobians>,
    manifold: Manifold,
    causes: Causes,
    worlds: usize,
    state_len: usize,
    /// How many numbers of a state are positions.
    positions: usize,
    /// The length of a part of a step [s].
    h: f64,
    /// The unknowns of all worlds, as the last step found them.
    z: Vec<S>,
    /// The same, one iteration before; and the step from there.
    from: Vec<f64>,
    step: Vec<f64>,
    /// Where steps of the equation's own began.
    home: Vec<f64>,
    residual: Vec<S>,
    progress: Vec<World>,
    values: Vec<f64>,
    /// Numbers without their tangents.
    numbers: Vec<f64>,
    /// The states that a step starts from.
    start: Vec<S>,
}

fn largest<S: Parts>(values: &[S]) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(x.value().abs()))
}

impl<S: Parts> Newton<S> {
    /// For an implicit step; none for an explicit one.
    pub fn new(step: &Step, io: &Io, worlds: usize, run: RunOptions) -> Option<Self> {
        let unknown = io.implicit.clone()?;
        let model = step.model();
        let (state_len, positions) = (model.state_layout().len(), model.positions());
        let unknowns = worlds * (state_len - positions);
        let prepared = io.prepared.iter().map(|(_, len)| *len).max().unwrap_or(0);
        let most = model.control_layout().len().max(model.params_layout().len()).max(prepared);
        Some(Newton {
            unknown,
            jacobians: Jacobians::new(step, worlds, run),
            manifold: model.manifold(),
            causes: Causes::of(model),
            worlds,
            state_len,
            positions,
            h: step.scheme().part(),
            z: vec![S::default(); unknowns],
            from: vec![0.0; unknowns],
            step: vec![0.0; unknowns],
            home: vec![0.0; unknowns],
            residual: vec![S::default(); unknowns],
            progress: vec![World::default(); worlds],
            values: vec![0.0; unknowns],
            numbers: Vec::with_capacity(most.max(2 * state_len)),
            start: vec![S::default(); worlds * state_len],
        })
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.jacobians.as_ref().map_or(0, Jacobians::bytes)
            + self.manifold.bytes()
            + held(&self.z)
            + held(&self.residual)
            + held(&self.from)
            + held(&self.step)
            + held(&self.home)
            + held(&self.values)
            + held(&self.progress)
            + held(&self.numbers)
            + held(&self.start)
    }

    /// Sets what J depends on, besides the state and the unknowns: numbers without their tangents.
    fn set(
        &mut self,
        numbers: &[S],
        set: impl FnOnce(&mut Jacobians, &[f64]) -> Result<(), AccessError>,
    ) -> Result<(), Error> {
        let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
        self.numbers.clear();
        self.numbers.extend(numbers.iter().map(|x| x.value()));
        Ok(set(jacobians, &self.numbers)?)
    }

    /// Sets the params of one world.
    pub fn set_params(&mut self, world: usize, params: &[S]) -> Result<(), Error> {
        self.set(params, |jacobians, params| jacobians.set_params(world, params))
    }

    /// Sets what was prepared from the params of one world: number `k` of it.
    pub fn set_prepared(&mut self, world: usize, k: usize, prepared: &[S]) -> Result<(), Error> {
        self.set(prepared, |jacobians, prepared| jacobians.set_prepared(world, k, prepared))
    }

    /// Sets the control of one world.
    pub fn set_control(&mut self, world: usize, control: &[S]) -> Result<(), Error> {
        self.set(control, |jacobians, control| jacobians.set_control(world, control))
    }

    /// Sets the states that a step starts from, and the times then.
    fn set_states(&mut self, states: &[S], times: &[f64]) -> Result<(), Error> {
        for (world, (state, time)) in states.chunks_exact(self.state_len.max(1)).zip(times).enumerate() {
            self.set(state, |jacobians, state| jacobians.set_state(world, state, *time))?;
        }
        Ok(())
    }

    /// How many unknowns a world has: its velocities.
    fn unknowns(&self) -> usize {
        self.state_len - self.positions
    }

    /// Which of all unknowns are those of a world.
    fn range(&self, world: usize) -> Range<usize> {
        let count = self.unknowns();
        world * count..(world + 1) * count
    }

    /// Finds the unknowns of all worlds, or takes them from the states that the step is known to end with, and leaves the
    /// values there in the equation. Step number `step` begins at `states` and `times`. False if residuals are not finite there.
    pub fn forward(
        &mut self,
        equation: &mut dyn Equation<S>,
        (step, states, times): (usize, &[S], &[f64]),
        known: Option<&[S]>,
    ) -> Result<bool, Error> {
        self.set_states(states, times)?;
        let (count, len, at) = (self.unknowns().max(1), self.state_len.max(1), self.positions);
        // The velocities of a state are what the unknowns are of the next.
        let velocities = known.unwrap_or(states).chunks_exact(len);
        for (z, state) in self.z.chunks_exact_mut(count).zip(velocities) {
            z.iter_mut().zip(&state[at..]).for_each(|(z, v)| *z = S::from_parts(v.value(), 0.0));
        }
        if known.is_none() {
            self.hold_back(states, step)?;
            if !self.iterate(equation, states, step)? {
                return Ok(false);
            }
        } else {
            self.evaluate(equation)?;
        }
        if S::DUAL {
            self.solve_tangents(equation, step)?;
        }
        Ok(true)
    }

    fn evaluate(&mut self, equation: &mut dyn Equation<S>) -> Result<(), Error> {
        equation.evaluate(&self.unknown, &self.z, &mut self.residual)
    }

    /// The first guess, as far as soft surfaces can go without meeting.
    fn hold_back(&mut self, states: &[S], step: usize) -> Result<(), Error> {
        let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
        if !jacobians.keeps_apart() {
            return Ok(());
        }
        self.values.iter_mut().zip(&self.z).for_each(|(value, z)| *value = z.value());
        let still = jacobians.still();
        self.step.iter_mut().zip(&self.values).for_each(|(to, v)| *to = still * v);
        let state = |i: usize| states[i].value();
        match jacobians.hold_back(&mut self.values, &self.step, state, (self.state_len, S::EPSILON))? {
            Ok(()) => {
                self.z.iter_mut().zip(&self.values).for_each(|(z, value)| *z = S::from_parts(*value, 0.0));
                Ok(())
            }
            Err((world, held)) => {
                if let Some(error) = self.crossed(step, world) {
                    return Err(error);
                }
                let [a, b] = self.causes.points([held[0], held[3]]);
                Err(Error::LedThrough { step, world: self.in_batch(world), a, b })
            }
        }
    }

    /// A world's number, where there are several.
    fn in_batch(&self, world: usize) -> Option<usize> {
        (self.worlds > 1).then_some(world)
    }

    /// Surfaces that cross before the step are not let through each other either, and then that is why they are held.
    fn crossed(&self, step: usize, world: usize) -> Option<Error> {
        let [a, b] = self.causes.points(self.jacobians.as_ref()?.crossing(world)?);
        Some(Error::Crossed { step, world: self.in_batch(world), a, b })
    }

    /// Takes the unknowns that the equation holds, of a step that begins at these states.
    pub fn recall(&mut self, equation: &dyn Equation<S>, states: &[S], times: &[f64]) -> Result<(), Error> {
        self.set_states(states, times)?;
        equation.unknowns(&self.unknown, &mut self.z)
    }

    /// J at z, and its factors, for the worlds that are not done (or all); with places of entries made anew, or with those of the last.
    fn factorise(&mut self, step: usize, all: bool, anew: bool) -> Result<(), Error> {
        self.values.iter_mut().zip(&self.z).for_each(|(value, z)| *value = z.value());
        let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
        let progress = &self.progress;
        let wanted = |w: usize| all || (!progress[w].done && progress[w].fraction == 1.0);
        match jacobians.factorise(&self.values, wanted, anew)? {
            Ok(()) => Ok(()),
            Err(Unfactorised::Singular) => Err(Error::Singular { step }),
            Err(Unfactorised::NoRoom) => Err(self.no_room()),
        }
    }

    /// There is no memory for factors.
    fn no_room(&self) -> Error {
        Error::FactorsTooLarge { unknowns: self.unknowns() }
    }

    /// Newton's method with halved steps, world by world: none depends on how far the others are. False if residuals are not finite where it
    /// begins.
    fn iterate(&mut self, equation: &mut dyn Equation<S>, states: &[S], step: usize) -> Result<bool, Error> {
        self.progress.fill(World::begin());
        for iteration in 0..ITERATIONS {
            self.evaluate(equation)?;
            if iteration == 0 && !self.residual.iter().all(|r| r.is_finite()) {
                return Ok(false);
            }
            let mut linearise = false;
            for world in 0..self.worlds {
                linearise |= self.judge(world, states);
            }
            if self.progress.iter().all(|world| world.done) {
                // A world that went back to where it was before the last trial is evaluated there.
                self.evaluate(equation)?;
                return Ok(true);
            }
            if linearise {
                self.factorise(step, false, iteration == 0)?;
            }
            for world in 0..self.worlds {
                if self.progress[world].fraction == 1.0 && !self.progress[world].done {
                    self.choose_step(world, states, (step, iteration))?;
                }
                self.try_step(world, step)?;
            }
        }
        let world = self.progress.iter().position(|world| !world.done).unwrap_or(0);
        Err(self.did_not_converge(step, world, ITERATIONS))
    }

    /// The step of a world from where J was computed, or none if that is where it ends.
    fn choose_step(
        &mut self,
        world: usize,
        states: &[S],
        (step, iteration): (usize, usize),
    ) -> Result<(), Error> {
        let range = self.range(world);
        // Implicit steps have them, if there is memory for them.
        let Some(jacobians) = &mut self.jacobians else { return Err(self.no_room()) };
        let state = &mut self.progress[world];
        let (z, residual, to) =
            (&self.z[range.clone()], &self.residual[range.clone()], &mut self.step[range.clone()]);
        self.from[range.clone()].iter_mut().zip(z).for_each(|(from, z)| *from = z.value());
        if state.goes_own_way() {
            self.home[range.clone()].copy_from_slice(&self.from[range.clone()]);
        }
        let mut find = |by: fn(&mut Jacobians, usize, &mut [f64]) -> bool| {
            to.iter_mut().zip(residual).for_each(|(to, r)| *to = -r.value());
            by(jacobians, world, to) && to.iter().all(|d| d.is_finite())
        };
        let own = state.own && find(Jacobians::solve);
        state.own = own;
        if !own && !find(Jacobians::descend) {
            return Err(Error::Singular { step });
        }
        let whole = to.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        // Forces of stiff springs are small differences of large numbers: what is left of the residual is
        // their rounding, when the step that it asks for is that of positions.
        let (x, v) = states[world * self.state_len..(world + 1) * self.state_len].split_at(self.positions);
        let scale = largest(z).max(largest(v)).max(largest(x) / self.h);
        state.rounding = jacobians.is_rounding(world, [x, z, residual], self.h);
        // In single precision forces of stiff things may be rounded by as much as gravity is: what a step cannot make
        // smaller is rounding, and what none has been tried for need not be.
        if whole <= ROUNDINGS * S::EPSILON * scale || (state.rounding && state.moved) {
            state.done = true;
            return Ok(());
        }
        let gone = jacobians.reach(world, to, S::EPSILON)?;
        state.held = gone.held.filter(|_| gone.part < 0.5);
        if gone.part == 0.0 && !own {
            return Err(self.did_not_converge(step, world, iteration + 1));
        }
        if gone.part == 0.0 {
            // Others would go nowhere either: back to where they began, and downhill from there.
            self.from[range.clone()].copy_from_slice(&self.home[range]);
            state.give_up();
        }
        let part = gone.part * if state.is_halved() { 0.5 } else { 1.0 };
        to.iter_mut().for_each(|d| *d *= part);
        state.slope = jacobians.slope(world, residual.iter().map(|r| r.value()), to);
        Ok(())
    }

    /// Moves the unknowns of a world by as much of its step as is tried.
    fn try_step(&mut self, world: usize, step: usize) -> Result<(), Error> {
        let World { done, fraction, .. } = self.progress[world];
        for i in self.range(world).filter(|_| !done) {
            let z = self.from[i] + fraction * self.step[i];
            if !z.is_finite() {
                return Err(Error::Singular { step });
            }
            self.z[i] = S::from_parts(z, 0.0);
        }
        Ok(())
    }

    fn did_not_converge(&self, step: usize, world: usize, iterations: usize) -> Error {
        // One that goes back to where it was has no residual yet.
        let World { norm, home, held, .. } = self.progress[world];
        if let Some(error) = held.and_then(|_| self.crossed(step, world)) {
            return error;
        }
        let residual = if norm.is_finite() { norm } else { home };
        let held = held.map(|pair| Box::new(self.causes.points([pair[0], pair[3]])));
        Error::NotConverged { step, world: self.in_batch(world), residual, iterations, held }
    }

    /// Whether z is a solution, a better point, or too far. True if a new Jacobian is wanted.
    fn judge(&mut self, world: usize, states: &[S]) -> bool {
        let range = self.range(world);
        let state = &mut self.progress[world];
        if state.done {
            return false;
        }
        let velocity = &states[world * self.state_len + self.positions..(world + 1) * self.state_len];
        let scale = largest(&self.z[range.clone()]).max(largest(velocity));
        let residual = &self.residual[range.clone()];
        let norm = if residual.iter().all(|r| r.is_finite()) { largest(residual) } else { f64::INFINITY };
        let slope = || {
            let residual = residual.iter().map(|r| r.value());
            self.jacobians.as_ref()?.slope(world, residual, &self.step[range.clone()])
        };
        match state.judge(norm, [scale, S::EPSILON], slope) {
            Verdict::Better => return true,
            Verdict::Arrived | Verdict::Shorter => {}
            Verdict::Back => {
                for i in range {
                    self.z[i] = S::from_parts(self.from[i], 0.0);
                }
            }
            Verdict::Home => self.from[range.clone()].copy_from_slice(&self.home[range]),
        }
        false
    }

    /// Tangents of z, from those of everything else.
    fn solve_tangents(&mut self, equation: &mut dyn Equation<S>, step: usize) -> Result<(), Error> {
        self.factorise(step, true, true)?;
        for world in 0..self.worlds {
            let range = self.range(world);
            let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
            for i in range.clone() {
                self.step[i] = -self.residual[i].tangent();
            }
            if !jacobians.solve(world, &mut self.step[range.clone()]) {
                return Err(Error::Singular { step });
            }
            for i in range {
                self.z[i] = S::from_parts(self.z[i].value(), self.step[i]);
            }
        }
        self.evaluate(equation)
    }

    /// The cotangents of the unknowns, by what the next state is of them, as the step of Newton's method.
    fn pull_unknowns(&mut self, equation: &dyn Equation<S>, state_bars: &[S]) -> Result<(), Error> {
        let count = self.unknowns();
        let Some([a, b]) = self.unknown.position_per_velocity else {
            let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
            return Ok(jacobians.pull_next(state_bars, &mut self.step)?);
        };
        equation.begin(&mut self.start)?;
        self.values.iter_mut().zip(&self.z).for_each(|(value, z)| *value = z.value());
        let len = self.state_len.max(1);
        let worlds = state_bars.chunks_exact(len).zip(self.start.chunks_exact(len));
        for (world, (bars, start)) in worlds.enumerate() {
            let range = world * count..(world + 1) * count;
            // z is the next velocity, and moves the next position.
            let (x_bar, v_bar) = bars.split_at(self.positions);
            self.step[range.clone()].iter_mut().zip(v_bar).for_each(|(to, bar)| *to = bar.value());
            self.numbers.clear();
            self.numbers.extend(start.iter().chain(x_bar).map(|x| x.value()));
            let (x, rest) = self.numbers.split_at(self.positions);
            let (v, x_bar) = rest.split_at(count);
            let along = [(v, a), (&self.values[range.clone()], b)];
            self.manifold.pull_velocity(x, along, x_bar, &mut self.step[range]);
        }
        Ok(())
    }

    /// Seeds the residual with -λ, from the cotangents of the next states.
    pub fn seed(
        &mut self,
        equation: &mut dyn Equation<S>,
        step: usize,
        state_bars: &[S],
    ) -> Result<(), Error> {
        self.factorise(step, true, true)?;
        self.pull_unknowns(equation, state_bars)?;
        for world in 0..self.worlds {
            let range = self.range(world);
            let Some(jacobians) = &mut self.jacobians else { return Err(self.no_room()) };
            let lambda = &mut self.step[range.clone()];
            if !jacobians.solve_transposed(world, lambda) {
                return Err(Error::Singular { step });
            }
            let bars = self.residual[range].iter_mut().zip(lambda);
            bars.for_each(|(bar, lambda)| *bar = S::from_parts(-*lambda, 0.0));
        }
        equation.seed(&self.unknown, &self.residual)
    }
}
