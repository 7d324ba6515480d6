//! Accelerations of robots that touch, and their pullback by the equations.
//!
//! A step of length h ends with the velocities v⁺ = v + h a, where ID(q, v, a) = τ + Jᵀ p / h, and the impulses p obey the
//! law of contact F(p, w) = 0 with w = J v⁺ (`law.rs`). Given the cotangents of a and p:
//!
//! - p̄ = p_bar + J M⁻¹ a_bar / h is what a change of the impulses is worth;
//! - (F_p + F_w A)ᵀ η = p̄ with A = J M⁻¹ Jᵀ: ζ = -F_wᵀ η is the cotangent of w, and μ_bar = -η · F_μ;
//! - λ = M⁻¹ (a_bar + h Jᵀ ζ): τ_bar = λ, v_bar = Jᵀ ζ, and everything else has the cotangents of ID in the direction -λ, of
//!   λ · Jᵀ p / h and of ζ · J v⁺.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, View, World, carve};

use super::blocks;
use super::rows::{self, SIGNS, Side, Sides};
use super::solver::{Problem, Solver, Work, newton_row};
use super::contacts::{Contacts, Pairs};
use super::touching::Touching;
use crate::articulated::forward_dynamics::{Kept, accelerate, forward_scratch};
use crate::articulated::joint::against_gravity;
use crate::articulated::kinematics::{self, origin, spread, zero};
use crate::articulated::push::{Pushed, Pushes};
use crate::articulated::{Inputs, Tree, factor, rnea_pullback};

/// One robot.
pub(crate) struct Part {
    pub tree: Arc<Tree>,
    pub inputs: Inputs,
    pub tau: Buffer<f64>,
    pub pushes: Option<Pushes>,
}

/// How contact is solved for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub solver: Solver,
    /// The length of a step [s].
    pub h: f64,
    /// Which part of a gap, or of a penetration, a step may close.
    pub stabilisation: f64,
}

/// Shapes that are deep in each other come apart no faster than that [m/s].
const FASTEST_CORRECTION: f64 = 1.0;

/// Accelerations of robots that touch.
pub(crate) struct ContactDynamics {
    parts: Vec<Part>,
    /// Where the memory of each robot begins, and where that of contacts does.
    starts: Vec<usize>,
    /// Of pairs of shapes: what they are fixed to, and their compliance [1/kg].
    pairs: Vec<(Sides, f64)>,
    /// Of every node: the root that it hangs from.
    roots: Vec<Vec<usize>>,
    contacts: Contacts,
    settings: Settings,
    out: Outcome,
    /// The most degrees of freedom on a way.
    way: usize,
    memory: Memory,
}

/// What comes out.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// Of each robot.
    pub accelerations: Vec<Buffer<f64>>,
    /// On the second side of each contact, in world axes [N·s].
    pub impulses: Buffer<Vec3>,
    /// How far the impulses are from the law, relative to the largest of them.
    pub residual: Buffer<f64>,
}

/// The normal n and two tangents (Duff et al. 2017).
#[kernel]
pub(crate) fn frame<R: Real>(n: Vec3<R>) -> Mat3<R> {
    let mut sign = 1.0;
    if n.z < 0.0 {
        sign = -1.0;
    }
    let a = -(1.0 / (sign + n.z));
    let b = n.x * n.y * a;
    let t = vec3(1.0 + sign * n.x * n.x * a, sign * b, -(sign * n.x));
    mat3(n, t, vec3(b, sign + n.y * n.y * a, -n.y))
}

/// What the forward pass leaves of contacts.
pub(crate) struct Found<'a, L: Lane> {
    pub frames: &'a mut [Mat3<L>],
    /// From the origins of the trees of both sides.
    pub arms: [&'a mut [Vec3<L>]; 2],
    /// In the frames.
    pub impulses: &'a mut [Vec3<L>],
    /// Relative velocities without impulses, the normal ones from the least that they may be.
    free: &'a mut [Vec3<L>],
    /// Rows of both sides.
    y: [&'a mut [Vec3<L>]; 2],
}

impl<'a, L: Lane> Found<'a, L> {
    fn numbers(capacity: usize, way: usize) -> usize {
        capacity * (Mat3::<f64>::LEN + (4 + 2 * way) * Vec3::<f64>::LEN)
    }

    #[inline(always)]
    fn carve(capacity: usize, way: usize, mut memory: &'a mut [L]) -> Self {
        let memory = &mut memory;
        Found {
            frames: carve::<Mat3, L>(memory, capacity),
            arms: [carve::<Vec3, L>(memory, capacity), carve::<Vec3, L>(memory, capacity)],
            impulses: carve::<Vec3, L>(memory, capacity),
            free: carve::<Vec3, L>(memory, capacity),
            y: [carve::<Vec3, L>(memory, capacity * way), carve::<Vec3, L>(memory, capacity * way)],
        }
    }
}

/// Working memory of the equations for impulses.
struct Equations<'a, L: Lane> {
    a: &'a mut [Mat3<L>],
    matrix: &'a mut [Mat3<L>],
    mu: &'a mut [L],
    rho: &'a mut [L],
    step: &'a mut [Vec3<L>],
    best: &'a mut [Vec3<L>],
}

impl<'a, L: Lane> Equations<'a, L> {
    fn numbers(capacity: usize) -> usize {
        capacity * (2 * Mat3::<f64>::LEN * capacity + 2 + 2 * Vec3::<f64>::LEN)
    }

    #[inline(always)]
    fn carve(capacity: usize, scratch: &mut &'a mut [L]) -> Self {
        Equations {
            a: carve::<Mat3, L>(scratch, capacity * capacity),
            matrix: carve::<Mat3, L>(scratch, capacity * capacity),
            mu: carve::<f64, L>(scratch, capacity),
            rho: carve::<f64, L>(scratch, capacity),
            step: carve::<Vec3, L>(scratch, capacity),
            best: carve::<Vec3, L>(scratch, capacity),
        }
    }
}

impl ContactDynamics {
    /// Adds it to a program.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        parts: Vec<Part>,
        pairs: Vec<(Sides, f64)>,
        contacts: Contacts,
        settings: Settings,
    ) -> Outcome {
        let mut starts = vec![0];
        for part in &parts {
            starts.push(starts[starts.len() - 1] + Kept::<f64>::numbers(&part.tree, false));
        }
        let sides = pairs.iter().flat_map(|(sides, _)| sides.iter().flatten());
        let way = sides.map(|side| parts[side.robot].tree.way(side.node).len()).max().unwrap_or(0);
        let found = Found::<f64>::numbers(contacts.capacity, way);
        let memory = p.memory(&name("contact, kept"), starts[parts.len()] + found);
        let of = |(r, part): (usize, &Part)| {
            p.computed(&name(&format!("acceleration of robot {r}")), part.tree.velocities())
        };
        let accelerations = parts.iter().enumerate().map(of).collect();
        let out = Outcome {
            accelerations,
            impulses: p.computed(&name("impulses of contacts"), contacts.capacity),
            residual: p.computed(&name("residual of contacts"), 1),
        };
        let roots = parts.iter().map(|part| (0..part.tree.nodes.len()).map(|n| part.tree.root(n)).collect());
        let roots = roots.collect();
        let operation = ContactDynamics {
            parts,
            starts,
            pairs,
            roots,
            contacts,
            settings,
            out: out.clone(),
            way,
            memory,
        };
        p.operation(operation);
        out
    }

    /// The memory of a robot.
    #[inline(always)]
    fn kept<'a, L: Lane>(&self, robot: usize, memory: &'a mut [L]) -> Kept<'a, L> {
        Kept::carve(&self.parts[robot].tree, false, &mut memory[self.starts[robot]..])
    }

    /// The way and the rows of a side.
    #[inline(always)]
    fn row<'a, L: Lane>(&'a self, side: Side, y: &'a [Vec3<L>], c: usize) -> (&'a [u32], &'a [Vec3<L>]) {
        (self.parts[side.robot].tree.way(side.node), &y[c * self.way..(c + 1) * self.way])
    }

    /// Frames, arms, rows and free velocities of all contacts.
    #[inline(always)]
    fn find<L: Lane>(
        &self,
        world: &World<'_, L>,
        pairs: &Pairs<'_, L>,
        robots: &mut [L],
        found: &mut Found<'_, L>,
        rates: &mut [L],
    ) {
        let (points, normals) = (world.values(self.contacts.point), world.values(self.contacts.normal));
        for c in 0..pairs.count {
            found.frames[c] = frame(normals.get(c));
            found.free[c] = vec3(L::from_f64(0.0), L::from_f64(0.0), L::from_f64(0.0));
        }
        for (r, part) in self.parts.iter().enumerate() {
            let kept = self.kept(r, robots);
            let x = part.inputs.configuration(world);
            self.rates(part, &x.v, kept.acceleration, rates);
            let (l, _) = kept.branches();
            for c in 0..pairs.count {
                let sides = &self.pairs[pairs.pair(c)].0;
                for s in 0..2 {
                    let Some(side) = sides[s].filter(|side| side.robot == r) else { continue };
                    let root = self.roots[r][side.node];
                    let arm = points.get(c) - origin(&part.tree.nodes[root], x.placements.get(root), &x.q);
                    found.arms[s][c] = arm;
                    let way = part.tree.way(side.node);
                    let y = &mut found.y[s][c * self.way..(c + 1) * self.way];
                    let at = (found.frames[c], arm, SIGNS[s]);
                    found.free[c] =
                        found.free[c] + rows::fill(&part.tree, kept.kinematics.axes, l, way, at, rates, y);
                }
            }
        }
    }

    /// The velocities of degrees of freedom at the end of the step: v + h a.
    #[inline(always)]
    fn rates<L: Lane>(&self, part: &Part, v: &View<'_, f64, L>, a: &[L], rates: &mut [L]) {
        let h = L::from_f64(self.settings.h);
        for (i, dof) in part.tree.dofs.iter().enumerate() {
            rates[i] = a[i].mul_add(h, v.get(dof.v as usize) * L::from_f64(dof.scale));
        }
    }

    /// A, its weights and the coefficients of friction.
    #[inline(always)]
    fn couple<L: Lane>(
        &self,
        world: &World<'_, L>,
        pairs: &Pairs<'_, L>,
        robots: &mut [L],
        y: [&[Vec3<L>]; 2],
        equations: &mut Equations<'_, L>,
    ) {
        let (n, zero) = (pairs.count, L::from_f64(0.0));
        equations.a[..n * n].fill(kinematics::zero());
        for r in 0..self.parts.len() {
            let kept = self.kept(r, robots);
            let (_, inverse) = kept.branches();
            for c in 0..n {
                for s in 0..2 {
                    let Some(side) = self.pairs[pairs.pair(c)].0[s].filter(|side| side.robot == r) else { continue };
                    let row = self.row(side, y[s], c);
                    for d in 0..c + 1 {
                        for t in 0..2 {
                            let other = self.pairs[pairs.pair(d)].0[t].filter(|other| other.robot == r);
                            let Some(other) = other else { continue };
                            let block = &mut equations.a[c * n + d];
                            *block = rows::meet(row, self.row(other, y[t], d), inverse, *block);
                        }
                    }
                }
            }
        }
        let mu = world.values(self.contacts.mu);
        for c in 0..n {
            for d in 0..c {
                equations.a[d * n + c] = transpose(equations.a[c * n + d]);
            }
            let block = equations.a[c * n + c];
            let soft = L::from_f64(self.pairs[pairs.pair(c)].1 * self.softness::<L>());
            let block = block + diagonal(vec3(soft, soft, soft));
            equations.a[c * n + c] = block;
            // No weight: a contact that is not there is open.
            equations.rho[c] = L::select(pairs.touches(c), L::from_f64(3.0) / trace(block), zero);
            equations.mu[c] = mu.get(c);
        }
    }

    /// Single precision takes more compliance to tell contacts apart that bear the same load.
    #[inline(always)]
    fn softness<L: Lane>(&self) -> f64 {
        if size_of::<L::Float>() == 4 { 1e4 } else { 1.0 }
    }

    /// How fast a step closes a gap, or opens a penetration, at most [m/s]; and whether that is at its limit.
    #[inline(always)]
    fn closes<L: Lane>(&self, gap: L) -> (L, L::Mask) {
        let wanted = gap * L::from_f64(self.settings.stabilisation / self.settings.h);
        let least = L::from_f64(-FASTEST_CORRECTION);
        (wanted.max(least), wanted.lt(least))
    }

    /// What the normal velocity counts from: a step closes a part of the gap, or bounces where it would close all of it.
    #[inline(always)]
    fn bound<L: Lane>(&self, gap: L, approach: L, restitution: L) -> (L, L::Mask) {
        let zero = L::from_f64(0.0);
        let (closes, _) = self.closes(gap);
        let back = restitution * approach;
        let hits = (approach.mul_add(L::from_f64(self.settings.h), gap)).le(zero) & zero.lt(restitution);
        let bounces = hits & back.lt(closes);
        (L::select(bounces, back, closes), bounces)
    }
}

impl Operation for ContactDynamics {
    fn name(&self) -> String {
        "contact dynamics".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads = self.contacts.uses();
        for part in &self.parts {
            reads.extend(part.inputs.reads());
            reads.push(part.tau.into());
            reads.extend(part.pushes.iter().flat_map(Pushes::reads));
        }
        // Gravity is the same for all robots.
        super::once(reads.into_iter())
    }
    fn writes(&self) -> Vec<BufferUse> {
        let accelerations = self.out.accelerations.iter().map(|a| BufferUse::from(*a));
        accelerations.chain([self.out.impulses.into(), self.out.residual.into()]).collect()
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn scratch(&self) -> usize {
        let of = |part: &Part| {
            let nodes = part.tree.nodes.len();
            let sums = rnea_pullback::Sums::<f64>::numbers(&part.tree);
            let carried = nodes * (Motion::<f64>::LEN + Force::<f64>::LEN);
            forward_scratch(&part.tree).max(sums + carried) + 2 * part.tree.dofs.len()
        };
        let capacity = self.contacts.capacity;
        let bars = capacity * (Mat3::<f64>::LEN + 2 * Vec3::<f64>::LEN);
        let halves: usize = self.parts.iter().map(|part| part.tree.dofs.len()).sum();
        self.parts.iter().map(of).max().unwrap_or(0) + Equations::<f64>::numbers(capacity) + bars + halves
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (memory, mut scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let (robots, memory) = memory.split_at_mut(self.starts[self.parts.len()]);
        for (r, part) in self.parts.iter().enumerate() {
            let mut kept = self.kept(r, robots);
            let tau = world.values(part.tau);
            accelerate(&part.tree, world, &part.inputs, &tau, part.pushes.as_ref(), &mut kept, scratch);
        }
        let capacity = self.contacts.capacity;
        let pairs = self.contacts.pairs(world);
        let n = pairs.count;
        let mut found = Found::carve(capacity, self.way, memory);
        let mut equations = Equations::carve(capacity, &mut scratch);
        self.find(world, &pairs, robots, &mut found, scratch);
        let (gaps, velocities) = (world.values(self.contacts.gap), world.values(self.contacts.velocity));
        let bouncing = world.values(self.contacts.restitution);
        for c in 0..pairs.count {
            let approach = dot(found.frames[c].x, velocities.get(c));
            let (bound, _) = self.bound(gaps.get(c), approach, bouncing.get(c));
            found.free[c].x = found.free[c].x + bound;
            found.impulses[c] = zero();
        }
        self.couple(world, &pairs, robots, [&*found.y[0], &*found.y[1]], &mut equations);
        let Equations { a, matrix, mu, rho, step, best } = equations;
        let problem = Problem { n, a, b: found.free, mu, rho };
        let residual =
            self.settings.solver.solve(&problem, &mut found.impulses[..n], &mut Work { matrix, step, best });
        world.values(self.out.residual).set(0, residual);
        let impulses = world.values(self.out.impulses);
        for c in 0..capacity {
            impulses.set(c, if c < n { found.frames[c] * found.impulses[c] } else { zero() });
        }
        let per_step = L::from_f64(1.0 / self.settings.h);
        for (r, part) in self.parts.iter().enumerate() {
            let kept = self.kept(r, robots);
            let change = &mut scratch[..part.tree.dofs.len()];
            self.collect(&pairs, r, [&*found.y[0], &*found.y[1]], found.impulses, change, true);
            let (l, inverse) = kept.branches();
            factor::solve_down(&part.tree, l, inverse, change);
            let out = world.values(self.out.accelerations[r]);
            for (i, dof) in part.tree.dofs.iter().enumerate() {
                kept.acceleration[i] = change[i].mul_add(per_step, kept.acceleration[i]);
                out.set(dof.v as usize, kept.acceleration[i]);
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (memory, mut scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let (robots, memory) = memory.split_at_mut(self.starts[self.parts.len()]);
        let capacity = self.contacts.capacity;
        let pairs = self.contacts.pairs(world);
        let found = Found::carve(capacity, self.way, memory);
        let mut equations = Equations::carve(capacity, &mut scratch);
        let frame_bars = carve::<Mat3, L>(&mut scratch, capacity);
        let point_bars = carve::<Vec3, L>(&mut scratch, capacity);
        let w_bars = carve::<Vec3, L>(&mut scratch, capacity);
        let halves: usize = self.parts.iter().map(|part| part.tree.dofs.len()).sum();
        let halves = carve::<f64, L>(&mut scratch, halves);
        let y = [&*found.y[0], &*found.y[1]];
        self.couple(world, &pairs, robots, y, &mut equations);
        self.worth(world, &pairs, robots, &found, halves, w_bars);
        self.pull_law(world, &pairs, &found, &mut equations, w_bars, frame_bars);
        point_bars.fill(zero());
        let mut first = 0;
        for (r, part) in self.parts.iter().enumerate() {
            let (tree, inputs) = (&*part.tree, &part.inputs);
            let half = &mut halves[first..first + tree.dofs.len()];
            first += tree.dofs.len();
            self.collect(&pairs, r, y, w_bars, half, false);
            let kept = self.kept(r, robots);
            let (l, inverse) = kept.branches();
            factor::solve_down(tree, l, inverse, half);
            let tau_bar = world.bars(part.tau);
            for (w, dof) in half.iter_mut().zip(&tree.dofs) {
                tau_bar.add(dof.v as usize, *w);
                *w = -*w;
            }
            let mut rest = &mut *scratch;
            let rates = carve::<f64, L>(&mut rest, tree.dofs.len());
            let motions = carve::<Motion, L>(&mut rest, tree.nodes.len());
            let forces = carve::<Force, L>(&mut rest, tree.nodes.len());
            let mut sums = rnea_pullback::Sums::carve(tree, &mut rest);
            let (x, bars) = (inputs.configuration(world), inputs.bars(world));
            self.rates(part, &x.v, kept.acceleration, rates);
            spread(tree, kept.kinematics.axes, rates, motions);
            let start = against_gravity(world.values(inputs.gravity).get(0));
            let pushed = match &part.pushes {
                Some(pushes) => Some(Pushed { values: pushes.values(world), bars: pushes.bars(world) }),
                None => None,
            };
            let mut touching = Touching {
                pushed,
                robot: r,
                sides: &self.pairs,
                pairs: &pairs,
                per_step: L::from_f64(1.0 / self.settings.h),
                found: (found.frames, [&*found.arms[0], &*found.arms[1]], found.impulses),
                w_bars,
                rates,
                motions,
                forces,
                frame_bars: &mut *frame_bars,
                point_bars: &mut *point_bars,
            };
            let directions = (&*half, &*kept.acceleration);
            let (k, inertias) = (&kept.kinematics, &*kept.inertias);
            rnea_pullback::pull(tree, &x, k, inertias, start, directions, &mut touching, &mut sums, &bars);
            let forces = touching.forces;
            for (node, force) in tree.nodes.iter().zip(&*forces) {
                let d = node.dof as usize;
                for i in d..d + node.kind.velocities() {
                    let scale = L::from_f64(tree.dofs[i].scale);
                    bars.v.add(tree.dofs[i].v as usize, power(kept.kinematics.axes[i], *force) * scale);
                }
            }
        }
        let (points, normals) = (world.bars(self.contacts.point), world.bars(self.contacts.normal));
        for c in 0..pairs.count {
            points.add(c, point_bars[c]);
            let (bar,) = frame::pullback(world.get(self.contacts.normal, c), frame_bars[c]);
            normals.add(c, bar);
        }
    }
}

impl ContactDynamics {
    /// Yᵀ p for the degrees of freedom of a robot: into `out`, or added to h times that.
    #[inline(always)]
    fn collect<L: Lane>(
        &self,
        pairs: &Pairs<'_, L>,
        robot: usize,
        y: [&[Vec3<L>]; 2],
        p: &[Vec3<L>],
        out: &mut [L],
        fresh: bool,
    ) {
        let mut factor = L::from_f64(self.settings.h);
        if fresh {
            out.fill(L::from_f64(0.0));
            factor = L::from_f64(1.0);
        }
        for c in 0..pairs.count {
            let sides = &self.pairs[pairs.pair(c)].0;
            for s in 0..2 {
                let Some(side) = sides[s].filter(|side| side.robot == robot) else { continue };
                let (way, y) = self.row(side, y[s], c);
                let p = p[c] * factor;
                for (&i, y) in way.iter().zip(y) {
                    out[i as usize] = out[i as usize] + dot(*y, p);
                }
            }
        }
    }

    /// What changes of the impulses are worth: p_bar + J M⁻¹ a_bar / h; `halves` becomes L⁻ᵀ a_bar.
    #[inline(always)]
    fn worth<L: Lane>(
        &self,
        world: &World<'_, L>,
        pairs: &Pairs<'_, L>,
        robots: &mut [L],
        found: &Found<'_, L>,
        halves: &mut [L],
        worth: &mut [Vec3<L>],
    ) {
        let impulse_bars = world.bars(self.out.impulses);
        for c in 0..pairs.count {
            worth[c] = transpose_times(found.frames[c], impulse_bars.get(c));
        }
        let per_step = L::from_f64(1.0 / self.settings.h);
        let mut first = 0;
        for (r, part) in self.parts.iter().enumerate() {
            let half = &mut halves[first..first + part.tree.dofs.len()];
            first += part.tree.dofs.len();
            let a_bar = world.bars(self.out.accelerations[r]);
            for (half, dof) in half.iter_mut().zip(&part.tree.dofs) {
                *half = a_bar.get(dof.v as usize);
            }
            let kept = self.kept(r, robots);
            let (l, inverse) = kept.branches();
            factor::solve_up(&part.tree, l, half);
            for c in 0..pairs.count {
                let sides = &self.pairs[pairs.pair(c)].0;
                for s in 0..2 {
                    let Some(side) = sides[s].filter(|side| side.robot == r) else { continue };
                    let (way, y) = self.row(side, &*found.y[s], c);
                    for (&i, y) in way.iter().zip(y) {
                        worth[c] = worth[c] + *y * (half[i as usize] * inverse[i as usize] * per_step);
                    }
                }
            }
        }
    }

    /// From what impulses are worth to the cotangents of relative velocities, and of what the law reads besides.
    #[inline(always)]
    fn pull_law<L: Lane>(
        &self,
        world: &World<'_, L>,
        pairs: &Pairs<'_, L>,
        found: &Found<'_, L>,
        equations: &mut Equations<'_, L>,
        w_bars: &mut [Vec3<L>],
        frame_bars: &mut [Mat3<L>],
    ) {
        let (contacts, n) = (&self.contacts, pairs.count);
        let Equations { a, matrix, mu, rho, step, .. } = equations;
        let problem = Problem { n, a, b: found.free, mu, rho };
        for c in 0..pairs.count {
            let law = self.settings.solver.law(&problem, c, found.impulses);
            newton_row(n, c, &law, problem.a, matrix);
            step[c] = w_bars[c];
        }
        blocks::factorise(n, matrix);
        blocks::solve_transposed(n, matrix, step);
        let stabilised = L::from_f64(self.settings.stabilisation / self.settings.h);
        let nothing = L::from_f64(0.0);
        let (gaps, velocities) = (world.values(contacts.gap), world.values(contacts.velocity));
        let restitutions = world.values(contacts.restitution);
        let impulse_bars = world.bars(self.out.impulses);
        for c in 0..pairs.count {
            let at = self.settings.solver.law(&problem, c, found.impulses);
            w_bars[c] = -transpose_times(at.by_w, step[c]);
            world.bars(contacts.mu).add(c, -dot(at.by_mu, step[c]));
            frame_bars[c] = outer(impulse_bars.get(c), found.impulses[c]);
            let (normal, velocity, restitution) = (found.frames[c].x, velocities.get(c), restitutions.get(c));
            let approach = dot(normal, velocity);
            let (_, bounces) = self.bound(gaps.get(c), approach, restitution);
            let bound_bar = w_bars[c].x;
            let (_, limited) = self.closes(gaps.get(c));
            world.bars(contacts.gap).add(c, L::select(bounces | limited, nothing, bound_bar * stabilised));
            world.bars(contacts.restitution).add(c, L::select(bounces, bound_bar * approach, nothing));
            let approach_bar = L::select(bounces, bound_bar * restitution, nothing);
            world.bars(contacts.velocity).add(c, normal * approach_bar);
            frame_bars[c].x = frame_bars[c].x + velocity * approach_bar;
        }
    }
}
