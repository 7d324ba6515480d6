//! What soft contact adds to Jacobians: which particles push each other is known in a step, and not before.
//!
//! The forces f of contact are inputs of the program whose derivative is made: with R_z and R_f of the residual, X and V of where particles
//! are and how they move there, by the unknowns, and with the derivatives K of f, pair by pair,
//!
//!   J = R_z + R_f (K_x X + K_v V).

use pullback_collide::{Gone, Law, Reach, Stiffness, Touch};
use pullback_kernel::prelude::*;
use pullback_kernel::program::AccessError;

use super::derivative::Derivative;
use super::sparsity::Sparsity;
use crate::dynamics::Coupled;
use crate::step::held;

/// Of no more particles than this, all may push each other: places of entries are made once, and factors have no more to do than it takes to
/// find new places in each step.
const FEW: usize = 64;

/// How near surfaces may come to each other in a step, as a part of the thickness: far below that from which on forces grow no faster.
const MARGIN: f64 = 1e-6;
/// And as a part of the largest coordinate, in roundings of it.
const ROUNDINGS: f64 = 4.0;

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
    worlds: Vec<World>,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    ways: Vec<Vec3>,
    /// Where the particles of all worlds were before the step.
    before: Vec<Vec3>,
    numbers: Vec<f64>,
    /// Of each couple.
    blocks: Vec<Block>,
}

/// What is known of one world's J.
#[derive(Clone, Default)]
struct World {
    /// The particles that push each other, for which the places were made.
    couples: Vec<(u32, u32)>,
    /// Where the entries of R_z are in J.
    of_residual: Vec<usize>,
}

fn vectors(numbers: &[f64], to: &mut [Vec3]) {
    to.iter_mut().zip(numbers.as_chunks::<3>().0).for_each(|(to, &[x, y, z])| *to = Vec3 { x, y, z });
}

impl Coupling {
    /// Of a derivative of the residual and of positions and velocities, by `size` unknowns and the forces.
    pub fn new(coupled: &Coupled, derivative: &Derivative, size: usize, worlds: usize) -> Coupling {
        let s = derivative.sparsity();
        let particles = (s.size() - size) / 6;
        let mut felt = vec![Vec::new(); 3 * particles];
        for i in 0..size {
            for k in s.row(i).filter(|&k| s.columns[k] >= size) {
                felt[s.columns[k] - size].push((i, k));
            }
        }
        Coupling {
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
            + held(&self.blocks)
    }

    fn read(&mut self, derivative: &Derivative, world: usize) -> Result<Law, AccessError> {
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

    /// Finds the pairs of a world, where its derivative was made; and the places of J, if they are others than before.
    pub fn places(&mut self, derivative: &Derivative, world: usize) -> Result<Option<Sparsity>, AccessError> {
        let law = self.read(derivative, world)?;
        // Where there are too many, the residual is no number, and the step an error.
        self.stiffness.find(self.coupled.by.surface(), &self.positions, law.thickness);
        if self.particles <= FEW {
            return Ok(None);
        }
        let of = |&pair: &[u32; 4]| pair.into_iter().flat_map(move |a| pair.map(|b| (a, b)));
        let mut couples: Vec<_> = self.stiffness.pairs().iter().flat_map(of).collect();
        couples.sort_unstable();
        couples.dedup();
        if self.worlds[world].couples == couples {
            return Ok(None);
        }
        let sparsity = self.join(derivative.sparsity(), &couples);
        let of_residual = self.of_residual(derivative.sparsity(), &sparsity);
        self.worlds[world] = World { couples, of_residual };
        Ok(Some(sparsity))
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

    /// How near surfaces may come [m], where positions have this rounding.
    fn margin(&self, law: Law, rounding: f64) -> f64 {
        let largest = |most: f64, x: &Vec3| most.max(x.x.abs()).max(x.y.abs()).max(x.z.abs());
        let coordinate = self.positions.iter().fold(0.0, largest);
        (MARGIN * law.thickness).max(ROUNDINGS * rounding * coordinate)
    }

    /// How far a world can go from where its particles were before the step to where they are, before surfaces meet.
    pub fn reach_of_first(
        &mut self,
        derivative: &Derivative,
        world: usize,
        rounding: f64,
    ) -> Result<Gone, AccessError> {
        let law = self.read(derivative, world)?;
        let margin = self.margin(law, rounding);
        let before = &self.before[world * self.particles..(world + 1) * self.particles];
        let ways = self.ways.iter_mut().zip(&self.positions).zip(before);
        ways.for_each(|((way, x), before)| *way = *x - *before);
        Ok(self.reach.find(self.coupled.by.surface(), before, &self.ways, margin))
    }

    /// The mean of the ways that some particles go, as they were looked at last.
    pub fn mean_way(&self, particles: &[usize]) -> Vec3 {
        let sum = particles.iter().fold(Vec3::default(), |sum, &i| sum + self.ways[i]);
        sum * (1.0 / particles.len().max(1) as f64)
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
        let margin = self.margin(law, rounding);
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
        Ok(self.reach.find(self.coupled.by.surface(), &self.positions, &self.ways, margin))
    }
}
