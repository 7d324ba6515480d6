//! The linear algebra of implicit steps: sparse Jacobians, factorised once for forward and transposed solves.

mod guesses;

use std::sync::Arc;

use pullback_collide::Gone;
use pullback_kernel::prelude::RunOptions;
use pullback_kernel::program::AccessError;

use super::bordered::{Bordered, corner};
use super::cholesky::{Analysis, Bench};
use super::coupling::Coupling;
use super::derivative::{Derivative, Uses};
use super::factors::{Factors, Lu, LuAnalysis};
use super::implicit::asks_at;
use super::sparsity::Sparsity;
use crate::step::{Io, Step, Unknown, held, ranges};
use crate::stepper::Parts;

/// So many roundings of its terms are nothing.
const ROUNDINGS: f64 = 4.0;

/// Why there are no factors.
#[derive(Clone, Copy)]
pub enum Unfactorised {
    /// An entry is no number, or there is no inverse.
    Singular,
    /// There is no memory for what is to be known of its places.
    NoRoom,
}

/// J = ∂residual/∂z of every world, with its factors.
pub struct Jacobians {
    derivative: Derivative,
    io: Io,
    unknown: Arc<Unknown>,
    /// How many unknowns, and how many of them are those of particles, which come first.
    size: usize,
    of_particles: usize,
    factors: Vec<Factors>,
    /// What worlds work with one after the other.
    bench: Bench,
    /// What soft contact adds.
    coupling: Option<Coupling>,
    /// Particles that motions lead, whatever the unknowns are; and all that no unknown moves, those that are held fast or fixed included.
    led: Vec<usize>,
    given: Vec<usize>,
    /// 1 for each number of particles that an unknown moves, and 0 for others.
    free: Vec<[f64; 3]>,
    /// Of which unknowns nothing moves but what is led: of this many times the velocities before the step; and how far others go by each
    /// unknown that is more [s].
    still: f64,
    way: f64,
    /// Entries and masses on their way.
    entries: Vec<f64>,
    masses: Vec<f64>,
}

/// Factors of matrices with these places, whose first so many rows are those of particles.
fn factors(
    sparsity: Sparsity,
    of_particles: usize,
    worlds: usize,
    bench: &mut Bench,
) -> Option<Vec<Factors>> {
    let sparsity = Arc::new(sparsity);
    let mut symmetric = None;
    if of_particles > 0 {
        // Without a border P is all of it.
        let corner = match of_particles == sparsity.size() {
            true => sparsity.clone(),
            false => Arc::new(corner(&sparsity, of_particles)),
        };
        symmetric = Analysis::new(corner);
    }
    if let Some(analysis) = symmetric {
        bench.fit(&analysis);
        let analysis = Arc::new(analysis);
        let of = |_| Factors::Bordered(Box::new(Bordered::new(sparsity.clone(), analysis.clone())));
        return Some((0..worlds).map(of).collect());
    }
    let analysis = Arc::new(LuAnalysis::new(sparsity)?);
    Some((0..worlds).map(|_| Factors::Lu(Box::new(Lu::new(analysis.clone())))).collect())
}

impl Jacobians {
    /// For an implicit step; none for an explicit one.
    pub fn new(step: &Step, worlds: usize, run: RunOptions) -> Option<Jacobians> {
        let (program, io, coupled) = match &step.uncoupled {
            Some((program, io, coupled)) => (program, io, Some(coupled)),
            None => (&step.program, &step.io, None),
        };
        let unknown = io.implicit.clone()?;
        let size = unknown.z.iter().map(|(_, len)| len).sum();
        let of_particles = 3 * step.model().particles();
        let (mut outputs, mut inputs): (Uses, Uses) = (unknown.residual.clone(), unknown.z.clone());
        if let Some(coupled) = coupled {
            outputs.extend(coupled.moving.map(|buffer| (buffer.into(), of_particles)));
            inputs.push((coupled.force.into(), of_particles));
        }
        let derivative = Derivative::new(program, [outputs, inputs, io.next.clone()], worlds, run);
        let constrained = !step.model().constraints().is_empty();
        let mut coupling =
            coupled.map(|coupled| Coupling::new(coupled, &derivative, [size, worlds], constrained));
        let mut bench = Bench::new(of_particles);
        let places = match &mut coupling {
            Some(coupling) => coupling.first_places(&derivative),
            None => derivative.sparsity().clone(),
        };
        let [by_v, by_z] = asks_at(step.scheme().integrator, step.scheme().part())?;
        let (still, way) = (-by_v / by_z, by_z);
        let model = step.model();
        let mut free = vec![[1.0; 3]; if coupling.is_some() { model.particles() } else { 0 }];
        free.iter_mut().zip(model.free()).for_each(|(to, free)| *to = [free.x, free.y, free.z]);
        model.led().into_iter().for_each(|i| free.iter_mut().skip(i).take(1).for_each(|to| *to = [0.0; 3]));
        let given = (0..free.len()).filter(|&i| free[i] == [0.0; 3]).collect();
        let entries = vec![0.0; if coupling.is_some() { places.columns.len() } else { 0 }];
        let factors = factors(places, of_particles, worlds, &mut bench)?;
        Some(Jacobians {
            io: io.clone(),
            derivative,
            unknown,
            size,
            of_particles,
            factors,
            bench,
            coupling,
            led: model.moved().map_or(Vec::new(), |moved| moved.points().to_vec()),
            given,
            free,
            still,
            way,
            entries,
            masses: vec![0.0; of_particles / 3],
        })
    }

    /// The most bytes of memory that it takes, factors included, which come with the first step; but for what pairs of soft contact add
    /// where there are many particles.
    pub fn bytes(&self) -> usize {
        let bordered = |factors: &Factors| match factors {
            Factors::Lu(_) => 0,
            Factors::Bordered(bordered) => bordered.bytes(),
        };
        let shared = match self.factors.first() {
            Some(Factors::Lu(lu)) => lu.bytes(self.factors.len()),
            Some(Factors::Bordered(bordered)) => bordered.shared_bytes(),
            None => 0,
        };
        self.derivative.bytes()
            + self.io.bytes()
            + held(&self.factors)
            + self.factors.iter().map(bordered).sum::<usize>()
            + shared
            + self.bench.bytes()
            + self.coupling.as_ref().map_or(0, Coupling::bytes)
            + held(&self.led)
            + held(&self.given)
            + held(&self.free)
            + held(&self.entries)
            + held(&self.masses)
    }

    /// Sets a flat vector of one world.
    fn write_all(&mut self, world: usize, of: fn(&Io) -> &Uses, values: &[f64]) -> Result<(), AccessError> {
        let mut at = 0;
        for &(buffer, len) in of(&self.io) {
            self.derivative.write(world, buffer, &values[at..at + len])?;
            at += len;
        }
        Ok(())
    }

    /// Sets the params of one world.
    pub fn set_params(&mut self, world: usize, params: &[f64]) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.params, params)
    }

    /// Sets what was prepared from the params of one world: number `k` of it.
    pub fn set_prepared(&mut self, world: usize, k: usize, values: &[f64]) -> Result<(), AccessError> {
        self.derivative.write(world, self.io.prepared[k].0, values)
    }

    /// Sets the control of one world.
    pub fn set_control(&mut self, world: usize, control: &[f64]) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.control, control)
    }

    /// Sets the state at the start of the step, and the time, of one world.
    pub fn set_state(&mut self, world: usize, state: &[f64], time: f64) -> Result<(), AccessError> {
        self.write_all(world, |io| &io.state, state)?;
        self.derivative.write(world, self.io.time.into(), &[time])
    }

    fn write_unknowns(&mut self, z: &[f64]) -> Result<(), AccessError> {
        for (world, z) in z.chunks_exact(self.size.max(1)).enumerate() {
            for (buffer, range) in ranges(&self.unknown.z) {
                self.derivative.write(world, buffer, &z[range])?;
            }
        }
        Ok(())
    }

    /// Is there soft contact, whose surfaces are kept from meeting?
    pub fn keeps_apart(&self) -> bool {
        self.coupling.is_some()
    }

    /// Where soft surfaces cross before the step in a world, if they do: a particle of each.
    pub fn crossing(&self, world: usize) -> Option<[u32; 2]> {
        self.coupling.as_ref()?.crossing(world)
    }

    /// Nothing moves but what is led where the unknowns are this many times the velocities before the step.
    pub fn still(&self) -> f64 {
        self.still
    }

    /// How far a world can go along a step of its unknowns, from where J was computed, before soft surfaces meet.
    pub fn reach(&mut self, world: usize, step: &[f64], rounding: f64) -> Result<Gone, AccessError> {
        match &mut self.coupling {
            Some(coupling) => coupling.reach(&self.derivative, world, step, rounding),
            None => Ok(Gone { part: 1.0, held: None }),
        }
    }

    /// Computes J at `z`, all worlds' one after the other, and factorises it for the worlds that are `wanted`. Places of entries are made
    /// `anew`, or kept where they suffice.
    pub fn factorise(
        &mut self,
        z: &[f64],
        wanted: impl Fn(usize) -> bool,
        anew: bool,
    ) -> Result<Result<(), Unfactorised>, AccessError> {
        self.write_unknowns(z)?;
        if let Some(coupling) = self.coupling.as_mut().filter(|coupling| coupling.has_forces()) {
            self.derivative.forward();
            let mut worlds = (0..self.factors.len()).filter(|world| wanted(*world));
            worlds.try_for_each(|world| coupling.push(&mut self.derivative, world))?;
        }
        self.derivative.compute()?;
        for world in (0..self.factors.len()).filter(|world| wanted(*world)) {
            if let Err(why) = self.factorise_world(world, anew)? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    fn factorise_world(&mut self, world: usize, anew: bool) -> Result<Result<(), Unfactorised>, AccessError> {
        let Jacobians { derivative, coupling, factors: all, bench, entries, .. } = self;
        let entries = match coupling {
            None => derivative.entries(world),
            Some(coupling) => {
                if let Some(places) = coupling.places(derivative, world, anew)? {
                    let Some(other) = factors(places, self.of_particles, 1, bench) else {
                        coupling.forget(world);
                        return Ok(Err(Unfactorised::NoRoom));
                    };
                    all.splice(world..=world, other);
                }
                let sparsity = all[world].sparsity();
                entries.resize(sparsity.columns.len(), 0.0);
                coupling.fill(derivative, world, sparsity, entries)?;
                &*entries
            }
        };
        let made = match &mut all[world] {
            Factors::Lu(lu) => lu.factorise(entries),
            Factors::Bordered(bordered) => {
                if let Some(mass) = self.io.mass {
                    derivative.read(world, mass.into(), &mut self.masses)?;
                    let numbers = bordered.masses().chunks_exact_mut(3);
                    numbers.zip(&self.masses).for_each(|(to, mass)| to.fill(*mass));
                }
                bordered.factorise(entries, bench)
            }
        };
        Ok(made.then_some(()).ok_or(Unfactorised::Singular))
    }

    /// The cotangents of all worlds' unknowns, one after the other, from those of the states that the step ends with: where J was computed.
    pub fn pull_next<S: Parts>(&mut self, state_bar: &[S], z_bar: &mut [f64]) -> Result<(), AccessError> {
        self.derivative.pull_others(|i| state_bar[i].value(), z_bar)
    }

    /// A step downhill instead of J⁻¹ b, in place, where J is not positive and factors can tell; J⁻¹ b otherwise. Is it found?
    pub fn descend(&mut self, world: usize, b: &mut [f64]) -> bool {
        match &mut self.factors[world] {
            Factors::Lu(_) => self.solve(world, b),
            Factors::Bordered(bordered) => bordered.descend(&mut self.bench, b),
        }
    }

    /// J⁻¹ b, in place. Is it found?
    pub fn solve(&mut self, world: usize, b: &mut [f64]) -> bool {
        self.solve_with(world, b, false)
    }

    /// J⁻ᵀ b, in place, by the same factors. Is it found?
    pub fn solve_transposed(&mut self, world: usize, b: &mut [f64]) -> bool {
        self.solve_with(world, b, true)
    }

    fn solve_with(&mut self, world: usize, b: &mut [f64], transposed: bool) -> bool {
        match &mut self.factors[world] {
            Factors::Lu(lu) => lu.solve(b, transposed),
            Factors::Bordered(bordered) => return bordered.solve(&mut self.bench, b, transposed),
        }
        true
    }

    /// Is what is left of the equation of particles the rounding of their forces? Row i of r is a sum of ∂r_i/∂z_j (x_j/h + z_j), as
    /// far as it is linear, and each term is as good as its numbers are: |r_i| ≤ c ε Σ_j |J_ij| (|x_j|/h + |z_j|). At rest that is all
    /// there is, however stiff or slow things are.
    pub fn is_rounding<S: Parts>(&self, world: usize, [x, z, residual]: [&[S]; 3], h: f64) -> bool {
        let Factors::Bordered(of) = &self.factors[world] else { return false };
        if !of.is_of_particles() {
            return false;
        }
        let (s, entries) = (of.sparsity(), of.entries());
        let size = |j: usize| x[j].value().abs() / h + z[j].value().abs();
        (0..s.size()).all(|i| {
            let terms = s.row(i).map(|k| entries[k].abs() * size(s.columns[k]));
            residual[i].value().abs() <= ROUNDINGS * S::EPSILON * terms.sum::<f64>()
        })
    }

    /// How fast what forces do less of falls along a step, m r·d, where the residual is the gradient of something but for masses.
    pub fn slope(&self, world: usize, residual: impl Iterator<Item = f64>, step: &[f64]) -> Option<f64> {
        match &self.factors[world] {
            Factors::Lu(_) => None,
            Factors::Bordered(bordered) => bordered.slope(residual, step),
        }
    }
}
