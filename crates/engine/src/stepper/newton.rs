//! Implicit steps: Newton's method forwards, the implicit function theorem backwards and for tangents.
//!
//! A step solves residual(z; x, u, theta) = 0 for z, with J = ∂residual/∂z.
//!
//! - forwards: z ← z - J⁻¹ residual, until it vanishes up to rounding;
//! - tangents: z_dot = -J⁻¹ (∂residual/∂(x, u, theta)) (x_dot, u_dot, theta_dot);
//! - backwards: λ = J⁻ᵀ z_bar, and the residual's pullback of -λ.

use super::progress::{OWN, World};
use super::{Parts, Stepper};
use crate::error::Error;
use crate::integrate::jacobians::{Jacobians, Unfactorised};
use crate::step::{Unknown, held, ranges};

/// Most iterations, shorter steps included.
const ITERATIONS: usize = 200;
/// A residual of so many roundings is zero.
const ROUNDINGS: f64 = 4.0;
/// A step that goes downhill is long enough, and not too long, if it goes uphill at its end no steeper than by this part of that.
const FLATTER: f64 = 0.9;
/// Where rounding keeps it from getting smaller, it may be this much of the velocities.
const LOOSE: f64 = 1e-7;

/// Working memory.
pub(super) struct Scratch<S> {
    /// The unknowns of all worlds, as the last step found them.
    pub z: Vec<S>,
    /// The same, one iteration before; and the step from there.
    from: Vec<f64>,
    step: Vec<f64>,
    /// Where steps of the equation's own began.
    home: Vec<f64>,
    residual: Vec<S>,
    worlds: Vec<World>,
    values: Vec<f64>,
    /// Numbers without their tangents.
    pub numbers: Vec<f64>,
    /// The state that a step starts from.
    start: Vec<S>,
}

impl<S: Parts> Scratch<S> {
    /// `most`: the most numbers that a state, control or params of one world have.
    pub fn new(unknowns: usize, worlds: usize, state: usize, most: usize) -> Self {
        let (worlds, state, most) =
            if unknowns > 0 { (worlds, state, most.max(2 * state)) } else { (0, 0, 0) };
        Scratch {
            z: vec![S::default(); unknowns],
            from: vec![0.0; unknowns],
            step: vec![0.0; unknowns],
            home: vec![0.0; unknowns],
            residual: vec![S::default(); unknowns],
            worlds: vec![World::default(); worlds],
            values: vec![0.0; unknowns],
            numbers: Vec::with_capacity(most),
            start: vec![S::default(); state],
        }
    }

    pub fn bytes(&self) -> usize {
        held(&self.z)
            + held(&self.residual)
            + held(&self.from)
            + held(&self.step)
            + held(&self.home)
            + held(&self.values)
            + held(&self.worlds)
            + held(&self.numbers)
            + held(&self.start)
    }

    pub fn values(&mut self, numbers: &[S]) {
        self.numbers.clear();
        self.numbers.extend(numbers.iter().map(|x| x.value()));
    }
}

fn largest<S: Parts>(values: &[S]) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(x.value().abs()))
}

impl<S: Parts> Stepper<S> {
    /// How many unknowns a world has: its velocities.
    fn unknowns(&self) -> usize {
        self.state_len - self.positions
    }

    /// Finds the unknowns of all worlds, or takes them from the state that the step is known to end with, and leaves the
    /// values there in the workspace.
    pub(super) fn forward_implicit(
        &mut self,
        unknown: &Unknown,
        step: usize,
        part: usize,
        known: Option<&[S]>,
    ) -> Result<(), Error> {
        let (count, at) = (self.unknowns(), self.positions);
        self.tell_jacobians(step, part)?;
        // The velocities of a state are what the unknowns are of the next.
        let velocities = known.unwrap_or(&self.state).chunks_exact(self.state_len);
        for (z, state) in self.newton.z.chunks_exact_mut(count).zip(velocities) {
            z.iter_mut().zip(&state[at..]).for_each(|(z, v)| *z = S::from_parts(v.value(), 0.0));
        }
        if known.is_none() {
            self.hold_back(step)?;
            self.iterate(unknown, step)?;
        } else {
            self.evaluate(unknown)?;
        }
        if S::DUAL {
            self.solve_tangents(unknown, step)?;
        }
        Ok(())
    }

    /// The first guess, as far as soft surfaces can go without meeting.
    fn hold_back(&mut self, step: usize) -> Result<(), Error> {
        let (n, Some(jacobians)) = (&mut self.newton, &mut self.jacobians) else { return Ok(()) };
        if !jacobians.keeps_apart() {
            return Ok(());
        }
        n.values.iter_mut().zip(&n.z).for_each(|(value, z)| *value = z.value());
        let still = jacobians.still();
        n.step.iter_mut().zip(&n.values).for_each(|(to, v)| *to = still * v);
        let state = |i: usize| self.state[i].value();
        match jacobians.hold_back(&mut n.values, &n.step, state, (self.state_len, S::EPSILON))? {
            Ok(()) => n.z.iter_mut().zip(&n.values).for_each(|(z, value)| *z = S::from_parts(*value, 0.0)),
            Err((world, held)) => {
                if let Some(error) = self.crossed(step, world) {
                    return Err(error);
                }
                let [a, b] = self.causes.points([held[0], held[3]]);
                return Err(Error::LedThrough { step, world: self.in_batch(world), a, b });
            }
        }
        Ok(())
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

    /// The unknowns that the workspace holds.
    pub(super) fn recall_unknowns(
        &mut self,
        unknown: &Unknown,
        step: usize,
        part: usize,
    ) -> Result<(), Error> {
        self.tell_jacobians(step, part)?;
        let count = self.unknowns();
        for (world, z) in self.newton.z.chunks_exact_mut(count).enumerate() {
            for (buffer, range) in ranges(&unknown.z) {
                self.workspace.read_numbers_into(world, buffer, &mut z[range])?;
            }
        }
        Ok(())
    }

    fn tell_jacobians(&mut self, step: usize, part: usize) -> Result<(), Error> {
        let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
        for (world, state) in self.state.chunks_exact(self.state_len).enumerate() {
            self.newton.values(state);
            let parts = (step + self.ahead[world]) * self.parts + part;
            jacobians.set_state(world, &self.newton.numbers, parts as f64 * self.h)?;
        }
        Ok(())
    }

    /// The residuals at z.
    fn evaluate(&mut self, unknown: &Unknown) -> Result<(), Error> {
        let count = self.unknowns();
        for (world, z) in self.newton.z.chunks_exact(count).enumerate() {
            for (buffer, range) in ranges(&unknown.z) {
                self.workspace.write_numbers(world, buffer, &z[range])?;
            }
        }
        self.workspace.forward();
        for (world, residual) in self.newton.residual.chunks_exact_mut(count).enumerate() {
            for (buffer, range) in ranges(&unknown.residual) {
                self.workspace.read_numbers_into(world, buffer, &mut residual[range])?;
            }
        }
        Ok(())
    }

    /// J at z, and its factors, for the worlds that are not done (or all); with places of entries made anew, or with those of the last.
    fn factorise(&mut self, step: usize, all: bool, anew: bool) -> Result<(), Error> {
        let n = &mut self.newton;
        n.values.iter_mut().zip(&n.z).for_each(|(value, z)| *value = z.value());
        let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
        let wanted = |w: usize| all || (!n.worlds[w].done && n.worlds[w].fraction == 1.0);
        match jacobians.factorise(&n.values, wanted, anew)? {
            Ok(()) => Ok(()),
            Err(Unfactorised::Singular) => Err(Error::Singular { step }),
            Err(Unfactorised::NoRoom) => Err(self.no_room()),
        }
    }

    /// There is no memory for factors.
    fn no_room(&self) -> Error {
        Error::FactorsTooLarge { unknowns: self.unknowns() }
    }

    /// Newton's method with halved steps, world by world: none depends on how far the others are.
    fn iterate(&mut self, unknown: &Unknown, step: usize) -> Result<(), Error> {
        let count = self.unknowns();
        let begin = World { norm: f64::INFINITY, fraction: 1.0, ..World::default() };
        self.newton.worlds.fill(begin);
        for iteration in 0..ITERATIONS {
            self.evaluate(unknown)?;
            if iteration == 0 && !self.newton.residual.iter().all(|r| r.is_finite()) {
                return Err(self.not_finite(step));
            }
            let mut linearise = false;
            for world in 0..self.worlds {
                linearise |= self.judge(world);
            }
            if self.newton.worlds.iter().all(|world| world.done) {
                // A world that went back to where it was before the last trial is evaluated there.
                return self.evaluate(unknown);
            }
            if linearise {
                self.factorise(step, false, iteration == 0)?;
            }
            // Implicit steps have them, if there is memory for them.
            let Some(jacobians) = &mut self.jacobians else { return Err(self.no_room()) };
            let n = &mut self.newton;
            let mut blocked = None;
            for world in 0..self.worlds {
                if n.worlds[world].done {
                    continue;
                }
                let range = world * count..(world + 1) * count;
                if n.worlds[world].fraction == 1.0 {
                    for i in range.clone() {
                        n.from[i] = n.z[i].value();
                    }
                    if n.worlds[world].goes_own_way() {
                        n.home[range.clone()].copy_from_slice(&n.from[range.clone()]);
                    }
                    let mut find = |by: fn(&mut Jacobians, usize, &mut [f64]) -> bool| {
                        let (to, residual) = (&mut n.step[range.clone()], &n.residual[range.clone()]);
                        to.iter_mut().zip(residual).for_each(|(to, r)| *to = -r.value());
                        by(jacobians, world, to) && to.iter().all(|d| d.is_finite())
                    };
                    let own = n.worlds[world].own && find(Jacobians::solve);
                    n.worlds[world].own = own;
                    if !own && !find(Jacobians::descend) {
                        return Err(Error::Singular { step });
                    }
                    let whole = n.step[range.clone()].iter().fold(0.0, |most: f64, d| most.max(d.abs()));
                    // Forces of stiff springs are small differences of large numbers: what is left of the residual is
                    // their rounding, when the step that it asks for is that of positions.
                    let (x, v) = self.state[world * self.state_len..(world + 1) * self.state_len]
                        .split_at(self.positions);
                    let scale = largest(&n.z[range.clone()]).max(largest(v)).max(largest(x) / self.h);
                    let at = [x, &n.z[range.clone()], &n.residual[range.clone()]];
                    let state = &mut n.worlds[world];
                    state.rounding = jacobians.is_rounding(world, at, self.h);
                    // In single precision forces of stiff things may be rounded by as much as gravity is: what a step cannot make
                    // smaller is rounding, and what none has been tried for need not be.
                    if whole <= ROUNDINGS * S::EPSILON * scale || (state.rounding && state.moved) {
                        state.done = true;
                        continue;
                    }
                    let gone = jacobians.reach(world, &n.step[range.clone()], S::EPSILON)?;
                    n.worlds[world].held = gone.held.filter(|_| gone.part < 0.5);
                    if gone.part == 0.0 && !own {
                        blocked = Some(world);
                        break;
                    }
                    if gone.part == 0.0 {
                        // Others would go nowhere either: back to where they began, and downhill from there.
                        n.from[range.clone()].copy_from_slice(&n.home[range.clone()]);
                        n.worlds[world].give_up();
                    }
                    let part = gone.part * if n.worlds[world].is_halved() { 0.5 } else { 1.0 };
                    n.step[range.clone()].iter_mut().for_each(|d| *d *= part);
                    let residual = n.residual[range.clone()].iter().map(|r| r.value());
                    n.worlds[world].slope = jacobians.slope(world, residual, &n.step[range.clone()]);
                }
                for i in range {
                    let z = n.from[i] + n.worlds[world].fraction * n.step[i];
                    if !z.is_finite() {
                        return Err(Error::Singular { step });
                    }
                    n.z[i] = S::from_parts(z, 0.0);
                }
            }
            if let Some(world) = blocked {
                return Err(self.did_not_converge(step, world, iteration + 1));
            }
        }
        let world = self.newton.worlds.iter().position(|world| !world.done).unwrap_or(0);
        Err(self.did_not_converge(step, world, ITERATIONS))
    }

    fn did_not_converge(&self, step: usize, world: usize, iterations: usize) -> Error {
        // One that goes back to where it was has no residual yet.
        let World { norm, home, held, .. } = self.newton.worlds[world];
        if let Some(error) = held.and_then(|_| self.crossed(step, world)) {
            return error;
        }
        let residual = if norm.is_finite() { norm } else { home };
        let held = held.map(|pair| Box::new(self.causes.points([pair[0], pair[3]])));
        Error::NotConverged { step, world: self.in_batch(world), residual, iterations, held }
    }

    /// Whether z is a solution, a better point, or too far. True if a new Jacobian is wanted.
    fn judge(&mut self, world: usize) -> bool {
        let count = self.unknowns();
        let n = &mut self.newton;
        let state = &mut n.worlds[world];
        if state.done {
            return false;
        }
        let range = world * count..(world + 1) * count;
        let velocity = &self.state[world * self.state_len + self.positions..(world + 1) * self.state_len];
        let scale = largest(&n.z[range.clone()]).max(largest(velocity));
        let residual = &n.residual[range.clone()];
        let norm = if residual.iter().all(|r| r.is_finite()) { largest(residual) } else { f64::INFINITY };
        if norm <= ROUNDINGS * S::EPSILON * scale {
            state.done = true;
        } else if state.own && norm.is_finite() && (norm < 0.5 * state.home || state.own_steps < OWN) {
            state.moved = true;
            state.take(norm);
            return true;
        } else if !state.own && norm < state.norm {
            // Halved steps have done their work; the next is whole again.
            state.moved |= state.norm.is_finite();
            state.take(norm);
            return true;
        } else if state.rounding || state.norm <= LOOSE * scale {
            // Rounding is all that is left.
            state.done = true;
            for i in range {
                n.z[i] = S::from_parts(n.from[i], 0.0);
            }
        } else if state.own {
            // Back to where they began, and downhill from there.
            n.from[range.clone()].copy_from_slice(&n.home[range]);
            state.give_up();
        } else if let (Some(first), true) = (state.slope, norm.is_finite()) {
            // What falls is an energy, which a smaller residual need not come with.
            let residual = n.residual[range.clone()].iter().map(|r| r.value());
            let slope = self.jacobians.as_ref().and_then(|j| j.slope(world, residual, &n.step[range]));
            let slope = slope.unwrap_or(f64::INFINITY);
            if first < 0.0 && slope <= -FLATTER * first {
                state.moved = true;
                state.take(norm);
                return true;
            }
            // Where the slope would be zero if it grew evenly.
            state.fraction *= (first / (first - slope)).clamp(0.1, 0.5);
        } else {
            state.fraction *= 0.5;
        }
        false
    }

    /// Tangents of z, from those of everything else.
    fn solve_tangents(&mut self, unknown: &Unknown, step: usize) -> Result<(), Error> {
        let count = self.unknowns();
        self.factorise(step, true, true)?;
        let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
        let n = &mut self.newton;
        for world in 0..self.worlds {
            let range = world * count..(world + 1) * count;
            for i in range.clone() {
                n.step[i] = -n.residual[i].tangent();
            }
            if !jacobians.solve(world, &mut n.step[range.clone()]) {
                return Err(Error::Singular { step });
            }
            for i in range {
                n.z[i] = S::from_parts(n.z[i].value(), n.step[i]);
            }
        }
        self.evaluate(unknown)
    }

    /// The cotangents of the unknowns, by what the next state is of them, as the step of Newton's method.
    fn pull_unknowns(&mut self, unknown: &Unknown, state_bar: &[S]) -> Result<(), Error> {
        let count = self.unknowns();
        let n = &mut self.newton;
        let Some([a, b]) = unknown.position_per_velocity else {
            let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
            return Ok(jacobians.pull_next(state_bar, &mut n.step)?);
        };
        for (world, bars) in state_bar.chunks_exact(self.state_len).enumerate() {
            let range = world * count..(world + 1) * count;
            // z is the next velocity, and moves the next position.
            let (x_bar, v_bar) = bars.split_at(self.positions);
            n.step[range.clone()].iter_mut().zip(v_bar).for_each(|(to, bar)| *to = bar.value());
            for (buffer, range) in ranges(&self.io.state) {
                self.workspace.read_numbers_into(world, buffer, &mut n.start[range])?;
            }
            n.numbers.clear();
            n.numbers.extend(n.start.iter().chain(x_bar).map(|x| x.value()));
            n.values.iter_mut().zip(&n.z).for_each(|(value, z)| *value = z.value());
            let (x, rest) = n.numbers.split_at(self.positions);
            let (v, x_bar) = rest.split_at(count);
            let along = [(v, a), (&n.values[range.clone()], b)];
            self.manifold.pull_velocity(x, along, x_bar, &mut n.step[range]);
        }
        Ok(())
    }

    /// Seeds the residual with -λ, from the cotangents of the next state.
    pub(super) fn seed_residual(
        &mut self,
        unknown: &Unknown,
        step: usize,
        state_bar: &[S],
    ) -> Result<(), Error> {
        let count = self.unknowns();
        self.factorise(step, true, true)?;
        self.pull_unknowns(unknown, state_bar)?;
        let Some(jacobians) = &mut self.jacobians else { return Ok(()) };
        let n = &mut self.newton;
        for world in 0..self.worlds {
            let range = world * count..(world + 1) * count;
            if !jacobians.solve_transposed(world, &mut n.step[range.clone()]) {
                return Err(Error::Singular { step });
            }
            for i in range.clone() {
                n.residual[i] = S::from_parts(-n.step[i], 0.0);
            }
            let residual = &n.residual[range];
            for (buffer, range) in ranges(&unknown.residual) {
                self.workspace.seed_numbers(world, buffer, &residual[range])?;
            }
        }
        Ok(())
    }
}
