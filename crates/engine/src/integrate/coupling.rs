//! What soft contact adds to Jacobians: which particles push each other is known in a step, and not before.
//!
//! The forces f of contact are inputs of the program whose derivative is made: with R_z and R_f of the residual, X and V of where particles
//! are and how they move there, by the unknowns, and with the derivatives K of f, pair by pair,
//!
//!   J = R_z + R_f (K_x X + K_v V).

use pullback_collide::{Gone, Law, Reach, Stiffness, Touch, Ways, first_crossing};
use pullback_kernel::prelude::*;
use pullback_kernel::program::AccessError;

use super::derivative::Derivative;
use super::sparsity::Sparsity;
use crate::dynamics::Coupled;
use crate::step::held;

/// Of no more particles than this, all may push each other: places of entries are made once, and factors have no more to do than it takes to
/// find new places in each step.
const FEW: usize = 64;

/// What is nearer than so many thicknesses has places before it touches: a step that begins to push there needs no others.
const NEAR: f64 = 1.25;

/// How near surfaces may come to each other in a step, as a part of the thickness: far below that from which on forces grow no faster.
const MARGIN: f64 = 1e-6;
/// And as a part of the largest coordinate, in roundings of it.
const ROUNDINGS: f64 = 4.0;
/// What guesses weigh by a distance is no nearer than this part of the thickness.
const AT_ONCE: f64 = 0.1;

/// How the force on one particle changes with the position of another [N/m], and with its velocity [N·s/m].
type Block = [[[f64; 3]; 3]; 2];

/// What contact adds, for all worlds.
pub struct Coupling {
    coupled: Coupled,
    stiffness: Stiffness,
    reach: Reach,
    /// How many unknowns.
    size: usize,
    particles: usize,
    /// Of each number of a force: the rows of the residual that feel it, and the places of R_f.
    felt: Vec<Vec<(usize, usize)>>,
    /// Does what a force does depend on where things are, so that the derivative has the force in it? So it is with a body that feels it by
    /// particles that it holds fast, and within constraints.
    turns: bool,
    worlds: Vec<World>,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    ways: Vec<Vec3>,
    /// Where the particles of all worlds were before the step.
    before: Vec<Vec3>,
    numbers: Vec<f64>,
    /// Those that push each other now, of the world that was looked at last.
    couples: Vec<(u32, u32)>,
    /// Of each couple that has places.
    blocks: Vec<Block>,
}

/// What is known of one world's J.
#[derive(Clone, Default)]
struct World {
    /// The particles for which places were made as of some that push each other, in order.
    couples: Vec<(u32, u32)>,
    /// Where the entries of R_z are in J.
    of_residual: Vec<usize>,
}

fn vectors(numbers: &[f64], to: &mut [Vec3]) {
    to.iter_mut().zip(numbers.as_chunks::<3>().0).for_each(|(to, &[x, y, z])| *to = Vec3 { x, y, z });
}

/// How near surfaces may come, where positions have this rounding; of no ways yet.
fn margin<'a>(law: Law, rounding: f64) -> Ways<'a> {
    let (least, rounding) = (MARGIN * law.thickness, ROUNDINGS * rounding);
    Ways { before: &[], from: &[], way: &[], least, rounding }
}

impl Coupling {
    /// Of a derivative of the residual and of positions and velocities, by `size` unknowns and the forces; within constraints or not.
    pub fn new(
        coupled: &Coupled,
        derivative: &Derivative,
        [size, worlds]: [usize; 2],
        constrained: bool,
    ) -> Coupling {
        let s = derivative.sparsity();
        let particles = (s.size() - size) / 6;
        let mut felt = vec![Vec::new(); 3 * particles];
        for i in 0..size {
            for k in s.row(i).filter(|&k| s.columns[k] >= size) {
                felt[s.columns[k] - size].push((i, k));
            }
        }
        let on_bodies = felt.iter().flatten().any(|(row, _)| *row >= 3 * particles);
        Coupling {
            turns: constrained || on_bodies,
            stiffness: Stiffness::new(coupled.by.surface(), coupled.by.most()),
            reach: Reach::new(coupled.by.surface()),
            coupled: coupled.clone(),
            size,
            particles,
            felt,
            worlds: vec![World::default(); worlds],
            positions: vec![Vec3::default(); particles],
            velocities: vec![Vec3::default(); particles],
            ways: vec![Vec3::default(); particles],
            before: vec![Vec3::default(); worlds * particles],
            numbers: vec![0.0; 3 * particles],
            couples: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// How many bytes it holds, without the places that pairs take.
    pub fn bytes(&self) -> usize {
        let vectors = [&self.positions, &self.velocities, &self.ways, &self.before].map(held);
        let felt = held(&self.felt) + self.felt.iter().map(held).sum::<usize>();
        let world = |w: &World| held(&w.of_residual) + held(&w.couples);
        let worlds = held(&self.worlds) + self.worlds.iter().map(world).sum::<usize>();
        self.stiffness.bytes()
            + self.reach.bytes()
            + vectors.iter().sum::<usize>()
            + felt
            + worlds
            + held(&self.numbers)
            + held(&self.couples)
            + held(&self.blocks)
    }

    /// Where the particles of a world are and how they move, where its derivative was made; and the numbers of contact.
    pub fn read(&mut self, derivative: &Derivative, world: usize) -> Result<Law, AccessError> {
        let [x, v] = self.coupled.moving;
        for (buffer, to) in [(x, &mut self.positions), (v, &mut self.velocities)] {
            derivative.read(world, buffer.into(), &mut self.numbers)?;
            vectors(&self.numbers, to);
        }
        let Touch { thickness, ke, kd, kf, mu } = self.coupled.numbers;
        let mut law = [0.0; 5];
        for (to, buffer) in law.iter_mut().zip([thickness, ke, kd, kf, mu]) {
            derivative.read(world, buffer.into(), std::slice::from_mut(to))?;
        }
        let [thickness, ke, kd, kf, mu] = law;
        Ok(Law { thickness, ke, kd, kf, mu })
    }

    /// Is the derivative to be made where the forces are what they are?
    pub fn has_forces(&self) -> bool {
        self.turns
    }

    /// Sets the forces of a world to those of where things are.
    pub fn push(&mut self, derivative: &mut Derivative, world: usize) -> Result<(), AccessError> {
        let law = self.read(derivative, world)?;
        self.stiffness.find(self.coupled.by.surface(), &self.positions, law.thickness);
        self.numbers.fill(0.0);
        for (k, pair) in self.stiffness.pairs().iter().enumerate() {
            for (&i, f) in pair.iter().zip(self.stiffness.forces(k, &self.velocities, law)) {
                let at = 3 * i as usize;
                self.numbers[at..at + 3].iter_mut().zip([f.x, f.y, f.z]).for_each(|(sum, f)| *sum += f);
            }
        }
        derivative.write(world, self.coupled.force.into(), &self.numbers)
    }

    /// The places of all worlds' entries of J before pairs are known: those of R_z; of few particles all that there can be.
    pub fn first_places(&mut self, derivative: &Derivative) -> Sparsity {
        let all = 0..if self.particles <= FEW { self.particles as u32 } else { 0 };
        let couples: Vec<_> = all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).collect();
        let sparsity = self.join(derivative.sparsity(), &couples);
        let of_residual = self.of_residual(derivative.sparsity(), &sparsity);
        self.blocks.reserve_exact(couples.len());
        self.worlds.fill(World { couples, of_residual });
        sparsity
    }

    /// Finds the pairs of a world, where its derivative was made; and the places of J, if it needs others. They are made `anew` where a step
    /// begins, from where things are then and nothing else, so that a step that is made again has the same bits; and kept while they suffice.
    pub fn places(
        &mut self,
        derivative: &Derivative,
        world: usize,
        anew: bool,
    ) -> Result<Option<Sparsity>, AccessError> {
        let law = self.read(derivative, world)?;
        // Where there are too many, the residual is no number, and the step an error.
        self.find(law.thickness);
        if self.particles <= FEW {
            return Ok(None);
        }
        let World { couples: known, of_residual } = &self.worlds[world];
        let suffice = || self.couples.iter().all(|couple| known.binary_search(couple).is_ok());
        if !anew && !of_residual.is_empty() && suffice() {
            return Ok(None);
        }
        // Of what touches alone, where there is no room for what is near.
        let found = self.find(NEAR * law.thickness);
        if !found {
            self.find(law.thickness);
        }
        let World { couples: known, of_residual } = &self.worlds[world];
        if !of_residual.is_empty() && *known == self.couples {
            self.find(law.thickness);
            return Ok(None);
        }
        let sparsity = self.join(derivative.sparsity(), &self.couples);
        let of_residual = self.of_residual(derivative.sparsity(), &sparsity);
        let to = &mut self.worlds[world];
        to.couples.clone_from(&self.couples);
        to.of_residual = of_residual;
        self.find(law.thickness);
        Ok(Some(sparsity))
    }

    /// Forgets the places of a world, for which there was no room.
    pub fn forget(&mut self, world: usize) {
        self.worlds[world] = World::default();
    }

    /// Finds what is nearer than a distance, and of many particles the couples; false where there is no room for it.
    fn find(&mut self, within: f64) -> bool {
        let fits = self.stiffness.find(self.coupled.by.surface(), &self.positions, within);
        if self.particles > FEW {
            let of = |&pair: &[u32; 4]| pair.into_iter().flat_map(move |a| pair.map(|b| (a, b)));
            self.couples.clear();
            self.couples.extend(self.stiffness.pairs().iter().flat_map(of));
            self.couples.sort_unstable();
            self.couples.dedup();
        }
        fits
    }

    /// Where the entries of R_z are in J.
    fn of_residual(&self, s: &Sparsity, places: &Sparsity) -> Vec<usize> {
        let residual = (0..self.size).flat_map(|i| s.row(i).map(move |k| (i, s.columns[k])));
        residual.filter(|&(_, j)| j < self.size).filter_map(|(i, j)| places.find(i, j)).collect()
    }

    /// The places of R_z and of what couples add.
    fn join(&self, s: &Sparsity, couples: &[(u32, u32)]) -> Sparsity {
        let n = self.size;
        let of_residual = (0..n).flat_map(|i| s.row(i).map(move |k| (i as u32, s.columns[k] as u32)));
        let mut places: Vec<(u32, u32)> = of_residual.filter(|&(_, j)| (j as usize) < n).collect();
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for &(a, b) in couples {
            let ([a, b], both) = ([a, b].map(|i| 3 * i as usize), [n, n + 3 * self.particles]);
            rows.clear();
            rows.extend((a..a + 3).flat_map(|f| self.felt[f].iter().map(|(row, _)| *row as u32)));
            columns.clear();
            columns.extend(both.into_iter().flat_map(|first| {
                (first + b..first + b + 3).flat_map(|i| s.columns[s.row(i)].iter().map(|&j| j as u32))
            }));
            for list in [&mut rows, &mut columns] {
                list.sort_unstable();
                list.dedup();
            }
            places.extend(rows.iter().flat_map(|&i| columns.iter().map(move |&j| (i, j))));
        }
        Sparsity::of_entries(n, places)
    }

    /// The entries of J of a world, whose pairs were just found.
    pub fn fill(
        &mut self,
        derivative: &Derivative,
        world: usize,
        sparsity: &Sparsity,
        entries: &mut [f64],
    ) -> Result<(), AccessError> {
        let law = self.read(derivative, world)?;
        let (s, known, n) = (derivative.sparsity(), derivative.entries(world), self.size);
        entries.fill(0.0);
        let residual = (0..n).flat_map(|i| s.row(i)).filter(|&k| s.columns[k] < n);
        residual.zip(&self.worlds[world].of_residual).for_each(|(from, &to)| entries[to] = known[from]);
        self.add_up(world, law);
        for (&(a, b), block) in self.worlds[world].couples.iter().zip(&self.blocks) {
            let (a, b) = (3 * a as usize, 3 * b as usize);
            for (first, by) in [(n, &block[0]), (n + 3 * self.particles, &block[1])] {
                for (i, j) in
                    (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).filter(|&(i, j)| by[i][j] != 0.0)
                {
                    let rows = self.felt[a + i].iter().map(|&(row, k)| (row, known[k] * by[i][j]));
                    let moved = s.row(first + b + j).map(|k| (s.columns[k], known[k]));
                    for (row, felt) in rows.filter(|(_, felt)| *felt != 0.0) {
                        for (column, moved) in moved.clone().filter(|(_, moved)| *moved != 0.0) {
                            if let Some(to) = sparsity.find(row, column) {
                                entries[to] += felt * moved;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The blocks of K of each couple, over all pairs that were found.
    fn add_up(&mut self, world: usize, law: Law) {
        let couples = &self.worlds[world].couples;
        self.blocks.clear();
        self.blocks.resize(couples.len(), Block::default());
        for (k, pair) in self.stiffness.pairs().iter().enumerate() {
            let of = self.stiffness.of(k, &self.velocities, law);
            for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                let Ok(couple) = couples.binary_search(&(pair[a], pair[b])) else { continue };
                for (to, from) in self.blocks[couple].iter_mut().zip([&of.by_position, &of.by_velocity]) {
                    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                        to[i][j] += from[3 * a + i][3 * b + j];
                    }
                }
            }
        }
    }

    /// Notes where the particles of a world are before a step, whose derivative is that of one in which nothing moves but what is led; `led` is
    /// where those are.
    pub fn note(
        &mut self,
        derivative: &Derivative,
        world: usize,
        led: impl Iterator<Item = (usize, Vec3)>,
    ) -> Result<(), AccessError> {
        derivative.read(world, self.coupled.moving[0].into(), &mut self.numbers)?;
        let before = &mut self.before[world * self.particles..(world + 1) * self.particles];
        vectors(&self.numbers, before);
        led.for_each(|(i, x)| before[i] = x);
        Ok(())
    }

    /// How far a world can go from where its particles were before the step to where they are, before surfaces meet.
    pub fn reach_of_first(
        &mut self,
        derivative: &Derivative,
        world: usize,
        rounding: f64,
    ) -> Result<Gone, AccessError> {
        let law = self.read(derivative, world)?;
        let before = &self.before[world * self.particles..(world + 1) * self.particles];
        let ways = self.ways.iter_mut().zip(&self.positions).zip(before);
        ways.for_each(|((way, x), before)| *way = *x - *before);
        let ways = Ways { before, from: before, way: &self.ways, ..margin(law, rounding) };
        Ok(self.reach.find(self.coupled.by.surface(), &ways))
    }

    /// The way of some particles that comes to another: the mean of theirs, weighed by a power of their distances. `given` are the particles
    /// whose ways do not depend on unknowns; and the ways are those that were looked at last.
    pub fn along(&self, law: Law, world: usize, given: &[usize], (i, power): (usize, i32)) -> Vec3 {
        let before = &self.before[world * self.particles..(world + 1) * self.particles];
        let least = (AT_ONCE * law.thickness).max(f64::EPSILON).powi(2);
        // By the fourth at least: of a plane of particles those below count, and not their many neighbours.
        let weight = |j: usize| (length_squared(before[j] - before[i]) + least).powi(-power / 2);
        let add = |(sum, all): (Vec3, f64), &j: &usize| (sum + self.ways[j] * weight(j), all + weight(j));
        let (sum, all) = given.iter().fold((Vec3::default(), 0.0), add);
        if all > 0.0 { sum * (1.0 / all) } else { Vec3::default() }
    }

    /// Where surfaces cross before the step, if they do: a particle of each.
    pub fn crossing(&self, world: usize) -> Option<[u32; 2]> {
        let before = &self.before[world * self.particles..(world + 1) * self.particles];
        let before: Vec<[f64; 3]> = before.iter().map(|x| [x.x, x.y, x.z]).collect();
        first_crossing(self.coupled.by.surface(), &before)
    }

    /// How much of a step of the unknowns a world can go from where its derivative was made, before surfaces meet.
    pub fn reach(
        &mut self,
        derivative: &Derivative,
        world: usize,
        step: &[f64],
        rounding: f64,
    ) -> Result<Gone, AccessError> {
        let law = self.read(derivative, world)?;
        let (s, known) = (derivative.sparsity(), derivative.entries(world));
        for (i, way) in self.numbers.iter_mut().enumerate() {
            *way = s
                .row(self.size + i)
                .map(|k| (s.columns[k], k))
                .filter(|(j, _)| *j < self.size)
                .map(|(j, k)| known[k] * step[j])
                .sum();
        }
        vectors(&self.numbers, &mut self.ways);
        let before = &self.before[world * self.particles..(world + 1) * self.particles];
        let ways = Ways { before, from: &self.positions, way: &self.ways, ..margin(law, rounding) };
        Ok(self.reach.find(self.coupled.by.surface(), &ways))
    }
}
