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
use pullback_kernel::program::{Apart, BufferUse, Builder, Lane, Memory, Operation, View, World};

use super::bodies::{self, Pending};
use super::contacts::{Contacts, Pairs};
use super::equations::{Equations, Found};
use super::islands::{Islands, Room, Trees};
use super::joints::{Held, JointRows};
use super::pattern::Pattern;
use super::rows::{self, OnSide, SIGNS, Side, Sides};
use super::solver::Solver;
use crate::articulated::bodies::Moving;
use crate::articulated::forward_dynamics::{Accelerate, Kept, forward_scratch};
use crate::articulated::kinematics::{origin, zero};
use crate::articulated::push::Pushes;
use crate::articulated::{Inputs, Tree, factor, rnea_pullback};
use crate::error::Error;

/// One robot.
pub(crate) struct Part {
    pub tree: Arc<Tree>,
    pub inputs: Inputs,
    pub tau: Buffer<f64>,
    pub pushes: Option<Pushes>,
    /// Degrees of freedom that impulses hold.
    pub held: Vec<Held>,
}

/// How contact is solved for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub solver: Solver,
    /// The length of a step [s].
    pub h: f64,
    /// Which part of a gap, or of a penetration, a step may close.
    pub stabilisation: f64,
    /// Islands with more contacts than this are sparse, and worlds run alone.
    pub dense: Option<usize>,
}

/// What the residual is where there is no room for contacts: none is negative, so that a step knows why it has no numbers.
pub(crate) const NO_ROOM: f64 = f64::NEG_INFINITY;

/// Shapes that are deep in each other come apart no faster than that [m/s].
const FASTEST_CORRECTION: f64 = 1.0;

/// Accelerations of robots that touch.
pub(crate) struct ContactDynamics {
    pub(super) parts: Vec<Part>,
    /// Bodies of robots, which have placed them.
    bodies: Vec<Moving>,
    /// Where the memory of each robot begins, and where that of contacts does.
    pub(super) starts: Vec<usize>,
    /// Of shapes, then of nothing and of joints: what they are fixed to.
    pub(super) shapes: Vec<OnSide>,
    /// Of every node: the root that it hangs from.
    pub(super) roots: Vec<Vec<usize>>,
    pub(super) trees: Trees,
    /// Whose columns of A go one after the other in the pullback of sweeps: of trees, or where worlds run in lanes of whole
    /// robots, because there the order of sums must not depend on the contacts of other worlds.
    pub(super) columns: Trees,
    pub(super) contacts: Contacts,
    pub(super) joints: Arc<JointRows>,
    pub(super) room: Room,
    pub(super) settings: Settings,
    pub(super) out: Outcome,
    /// The most degrees of freedom on a way.
    pub(super) way: usize,
    pub(super) memory: Memory,
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

/// The memory of robots and of their contacts, which those who place bodies share.
pub(crate) struct Shared {
    pub memory: Memory,
    /// Where the memory of each robot begins, and where that of contacts does.
    pub starts: Vec<usize>,
    /// The most degrees of freedom on a way.
    way: usize,
}

impl Shared {
    /// For robots and at most `capacity` contacts, of shapes and joints with these sides.
    pub fn new(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        parts: &[Part],
        shapes: &[OnSide],
        capacity: usize,
    ) -> Shared {
        let mut starts = vec![0];
        for part in parts {
            starts.push(starts[starts.len() - 1] + bodies::numbers(&part.tree));
        }
        let sides = shapes.iter().filter_map(|shape| shape.side);
        let way = sides.map(|side| parts[side.robot].tree.way(side.node).len()).max().unwrap_or(0);
        let found = Found::<f64>::numbers(capacity, way);
        let memory = p.memory(&name("contact, kept"), starts[parts.len()] + found);
        Shared { memory, starts, way }
    }
}

impl ContactDynamics {
    /// Adds it to a program, after the robots have been placed in the shared memory.
    pub fn add(
        p: &mut Builder,
        name: &dyn Fn(&str) -> String,
        (parts, bodies): (Vec<Part>, Vec<Moving>),
        shapes: Vec<OnSide>,
        (contacts, joints): (Contacts, Arc<JointRows>),
        settings: Settings,
        Shared { memory, starts, way }: Shared,
    ) -> Result<Outcome, Error> {
        let of = |(r, part): (usize, &Part)| {
            p.computed(&name(&format!("acceleration of robot {r}")), part.tree.velocities())
        };
        let accelerations = parts.iter().enumerate().map(of).collect();
        let out = Outcome {
            accelerations,
            impulses: p.computed(&name("impulses of contacts"), contacts.capacity),
            residual: p.computed(&name("residual of contacts"), 1),
        };
        let roots = |part: &Part| (0..part.tree.nodes.len()).map(|n| part.tree.root(n)).collect();
        let roots: Vec<Vec<usize>> = parts.iter().map(roots).collect();
        let trees = Trees::new(&roots);
        let columns = if settings.dense.is_some() { Trees::new(&roots) } else { Trees::of_robots(&roots) };
        let mut held = vec![0; trees.count];
        for side in shapes[contacts.shapes..].iter().filter_map(|joint| joint.side) {
            held[trees.tree(side) as usize] += 1;
        }
        let room = Room::new(contacts.capacity, &held, settings.dense);
        let operation = ContactDynamics {
            parts,
            bodies,
            starts,
            shapes,
            roots,
            trees,
            columns,
            contacts,
            joints,
            room,
            settings,
            out: out.clone(),
            way,
            memory,
        };
        crate::rollout::room(operation.scratch().saturating_mul(size_of::<f64>()))?;
        p.operation(operation);
        Ok(out)
    }

    /// The memory of a robot.
    #[inline(always)]
    pub(super) fn kept<'a, L: Lane>(&self, robot: usize, memory: &'a mut [L]) -> Kept<'a, L> {
        Kept::carve_branches(&self.parts[robot].tree, &mut memory[self.starts[robot]..])
    }

    /// The same with what is left to the end of the pullback.
    #[inline(always)]
    pub(super) fn pending<'a, L: Lane>(
        &self,
        robot: usize,
        memory: &'a mut [L],
    ) -> (Kept<'a, L>, Pending<'a, L>) {
        bodies::memory(&self.parts[robot].tree, &mut memory[self.starts[robot]..])
    }

    /// The way and the rows of a side.
    #[inline(always)]
    pub(super) fn row<'a, L: Lane>(
        &'a self,
        side: Side,
        y: &'a [Vec3<L>],
        c: usize,
    ) -> (&'a [u32], &'a [Vec3<L>]) {
        (self.parts[side.robot].tree.way(side.node), &y[c * self.way..(c + 1) * self.way])
    }

    /// D⁻¹ of a robot.
    #[inline(always)]
    fn inverse<'a, L: Lane>(&self, robot: usize, memory: &'a [L]) -> &'a [L] {
        let tree = &self.parts[robot].tree;
        let start = self.starts[robot] + Kept::<L>::inverse_at(tree);
        &memory[start..start + tree.dofs.len()]
    }

    /// What contact `k` is fixed to.
    #[inline(always)]
    pub(super) fn sides(&self, islands: &Islands<'_>, k: usize) -> Sides {
        islands.sides(k, &self.shapes)
    }

    /// Contacts in the order of their islands; none if there is no room for their equations.
    #[inline(always)]
    pub(super) fn islands<'a, L: Lane>(
        &self,
        pairs: &Pairs<'_, L>,
        scratch: &mut &'a mut [L],
    ) -> Option<Islands<'a>> {
        Islands::find(&self.trees, &self.shapes, &self.room, pairs, scratch)
    }

    /// The degree of freedom of contact `k`, if it is a joint.
    #[inline(always)]
    pub(super) fn held(&self, islands: &Islands<'_>, k: usize) -> Option<usize> {
        let joint = islands.joint(k)?;
        Some(self.joints.dof(joint))
    }

    /// Of a joint: its velocity without an impulse, and the least and the greatest that it may have.
    #[inline(always)]
    fn held_velocities<L: Lane>(&self, rate: L, gaps: Vec3<L>) -> Vec3<L> {
        vec3(rate, -self.closes(gaps.x).0, self.closes(gaps.y).0)
    }

    /// Frames, arms, rows and free velocities of all contacts.
    #[inline(always)]
    fn find<L: Lane>(
        &self,
        world: &World<'_, L>,
        islands: &Islands<'_>,
        robots: &mut [L],
        found: &mut Found<'_, L>,
        rates: &mut [L],
    ) {
        let (points, normals) = (world.values(self.contacts.point), world.values(self.contacts.normal));
        for k in 0..islands.contacts() {
            found.frames[k] = frame(normals.get(islands.place(k)));
            found.free[k] = zero();
        }
        for (r, part) in self.parts.iter().enumerate() {
            let touches = islands.touches(r);
            if touches == 0 {
                continue;
            }
            let kept = self.kept(r, robots);
            let x = part.inputs.configuration(world);
            self.rates(part, &x.v, kept.acceleration, rates);
            let (l, _) = kept.branches();
            for i in 0..touches {
                let (k, s) = islands.touch(r, i);
                let Some(side) = self.sides(islands, k)[s] else { continue };
                if let Some(dof) = self.held(islands, k) {
                    let way = part.tree.way(side.node);
                    rows::fill_held(&part.tree, l, way, dof, &mut found.y[s][k * self.way..]);
                    found.free[k] = self.held_velocities(rates[dof], points.get(islands.place(k)));
                    continue;
                }
                let root = self.roots[r][side.node];
                let from = origin(&part.tree.nodes[root], x.placements.get(root), &x.q);
                let arm = points.get(islands.place(k)) - from;
                found.arms[s][k] = arm;
                let way = part.tree.way(side.node);
                let y = &mut found.y[s][k * self.way..(k + 1) * self.way];
                let along = (found.frames[k], arm, SIGNS[s]);
                found.free[k] =
                    found.free[k] + rows::fill(&part.tree, kept.kinematics.axes, l, way, along, rates, y);
            }
        }
    }

    /// The velocities of degrees of freedom at the end of the step: v + h a.
    #[inline(always)]
    pub(super) fn rates<L: Lane>(&self, part: &Part, v: &View<'_, f64, L>, a: &[L], rates: &mut [L]) {
        let h = L::from_f64(self.settings.h);
        for (i, dof) in part.tree.dofs.iter().enumerate() {
            rates[i] = a[i].mul_add(h, v.get(dof.v as usize) * L::from_f64(dof.scale));
        }
    }

    /// A of each island, weights and the coefficients of friction.
    #[inline(always)]
    pub(super) fn couple<L: Lane>(
        &self,
        world: &World<'_, L>,
        (pairs, islands): (&Pairs<'_, L>, &Islands<'_>),
        robots: &[L],
        y: [&[Vec3<L>]; 2],
        equations: &mut Equations<'_, L>,
    ) {
        L::apart(Couple { dynamics: self, world, of: (pairs, islands), robots, y, equations });
    }

    /// The same of one island, with the blocks that its pattern has.
    #[inline(always)]
    fn couple_island<L: Lane>(
        &self,
        world: &World<'_, L>,
        (pairs, islands): (&Pairs<'_, L>, &Islands<'_>),
        (island, pattern): (usize, impl Pattern),
        robots: &[L],
        y: [&[Vec3<L>]; 2],
        equations: &mut Equations<'_, L>,
    ) {
        let mu = world.values(self.contacts.mu);
        let first = islands.island(island).start;
        let a = &mut equations.a[islands.blocks(island)];
        for c in 0..pattern.len() {
            let sides = self.sides(islands, first + c);
            let own = pattern.diagonal(c);
            for entry in pattern.row(c).start..own + 1 {
                let d = pattern.column(c, entry);
                let others = self.sides(islands, first + d);
                let mut block: Mat3<L> = zero();
                for s in 0..2 {
                    for t in 0..2 {
                        let (Some(side), Some(other)) = (sides[s], others[t]) else { continue };
                        if side.robot != other.robot {
                            continue;
                        }
                        let inverse = self.inverse(side.robot, robots);
                        let (this, that) =
                            (self.row(side, y[s], first + c), self.row(other, y[t], first + d));
                        block = rows::meet(this, that, inverse, block);
                    }
                }
                a[pattern.entry(d, c)] = transpose(block);
                a[entry] = block;
            }
            let soft = islands.softness(first + c, &self.shapes);
            let along = L::from_f64(soft * self.softness::<L>());
            let block = a[own] + diagonal(vec3(L::from_f64(soft), along, along));
            a[own] = block;
            // No weight: a contact that is not there is open.
            let there = pairs.touches(islands.place(first + c));
            let rho = L::select(there, L::from_f64(3.0) / trace(block), L::from_f64(0.0));
            equations.rho[first + c] = rho;
            equations.mu[first + c] = mu.get(islands.place(first + c));
        }
    }

    /// The compliance of friction, relative to that along the normal. Single precision takes more of it to tell contacts apart
    /// that bear the same load.
    #[inline(always)]
    fn softness<L: Lane>(&self) -> f64 {
        if size_of::<L::Float>() == 4 { 1.0 } else { 0.01 }
    }

    /// How fast a step closes a gap, or opens a penetration, at most [m/s]; and whether that is at its limit.
    #[inline(always)]
    pub(super) fn closes<L: Lane>(&self, gap: L) -> (L, L::Mask) {
        let wanted = gap * L::from_f64(self.settings.stabilisation / self.settings.h);
        let least = L::from_f64(-FASTEST_CORRECTION);
        (wanted.max(least), wanted.lt(least))
    }

    /// What the normal velocity counts from: a step closes a part of the gap, or bounces where it would close all of it.
    #[inline(always)]
    pub(super) fn bound<L: Lane>(&self, gap: L, approach: L, restitution: L) -> (L, L::Mask) {
        let zero = L::from_f64(0.0);
        let (closes, _) = self.closes(gap);
        let back = restitution * approach;
        let hits = (approach.mul_add(L::from_f64(self.settings.h), gap)).le(zero) & zero.lt(restitution);
        let bounces = hits & back.lt(closes);
        (L::select(bounces, back, closes), bounces)
    }
}

/// [`ContactDynamics::couple`]
struct Couple<'a, 'w, 'e, L: Lane> {
    dynamics: &'a ContactDynamics,
    world: &'a World<'w, L>,
    of: (&'a Pairs<'w, L>, &'a Islands<'w>),
    robots: &'a [L],
    y: [&'a [Vec3<L>]; 2],
    equations: &'a mut Equations<'e, L>,
}

impl<L: Lane> Apart for Couple<'_, '_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Couple { dynamics, world, of, robots, y, equations } = self;
        let islands = of.1;
        for i in 0..islands.count() {
            if islands.is_dense(i) {
                dynamics.couple_island(world, of, (i, islands.dense(i)), robots, y, equations);
            } else if const { L::WIDTH == 1 } {
                dynamics.couple_island(world, of, (i, islands.sparse(i)), robots, y, equations);
            }
        }
    }
}

/// [`ContactDynamics::find`]
struct Find<'a, 'w, 'f, L: Lane> {
    dynamics: &'a ContactDynamics,
    world: &'a World<'w, L>,
    islands: &'a Islands<'a>,
    robots: &'a mut [L],
    found: &'a mut Found<'f, L>,
    rates: &'a mut [L],
}

impl<L: Lane> Apart for Find<'_, '_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Find { dynamics, world, islands, robots, found, rates } = self;
        dynamics.find(world, islands, robots, found, rates);
    }
}

impl Operation for ContactDynamics {
    fn name(&self) -> String {
        "contact dynamics".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads = self.contacts.uses();
        // The pullback ends where bodies were placed, also if none of them touches.
        reads.extend(self.bodies.iter().map(|bodies| BufferUse::from(bodies.poses)));
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
    fn alone(&self) -> bool {
        self.settings.dense.is_some()
    }
    fn scratch(&self) -> usize {
        let of = |part: &Part| {
            let nodes = part.tree.nodes.len();
            let sums = rnea_pullback::Sums::<f64>::numbers(&part.tree);
            let carried = nodes * (Motion::<f64>::LEN + Force::<f64>::LEN);
            forward_scratch(&part.tree).max(sums + carried) + 2 * part.tree.dofs.len()
        };
        let islands = Islands::numbers(&self.room, self.parts.len(), self.trees.count);
        let equations = Equations::<f64>::numbers(&self.room);
        self.parts.iter().map(of).max().unwrap_or(0) + islands + equations + self.pull_scratch()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (memory, mut scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let (robots, memory) = memory.split_at_mut(self.starts[self.parts.len()]);
        for (r, part) in self.parts.iter().enumerate() {
            let (kept, tau) = (&mut self.kept(r, robots), world.values(part.tau));
            let (tree, inputs, pushes) = (&*part.tree, &part.inputs, part.pushes.as_ref());
            L::apart(Accelerate { tree, world, inputs, tau, pushes, kept, scratch });
        }
        let capacity = self.contacts.capacity;
        let pairs = self.contacts.pairs(world);
        if self.contacts.are_too_many(world, &pairs) {
            return self.no_room(world);
        }
        let Some(islands) = self.islands(&pairs, &mut scratch) else { return self.no_room(world) };
        let mut found = Found::carve(capacity, self.way, memory);
        let mut equations = Equations::carve(&self.room, &mut scratch);
        let (islands, rates) = (&islands, &mut *scratch);
        L::apart(Find { dynamics: self, world, islands, robots, found: &mut found, rates });
        let values = self.contacts.values(world);
        let n = islands.contacts();
        for k in 0..n {
            let c = islands.place(k);
            let approach = dot(found.frames[k].x, values.velocity.get(c));
            let (bound, _) = self.bound(values.gap.get(c), approach, values.restitution.get(c));
            found.free[k].x = found.free[k].x + bound;
            found.impulses[k] = zero();
        }
        let y = [&*found.y[0], &*found.y[1]];
        self.couple(world, (&pairs, islands), robots, y, &mut equations);
        let (problems, mut work) = equations.problems(islands, found.free);
        let residual = self.settings.solver.solve(&problems, &mut found.impulses[..n], &mut work, &mut ());
        world.values(self.out.residual).set(0, residual);
        let impulses = world.values(self.out.impulses);
        for k in 0..n {
            impulses.set(islands.place(k), found.frames[k] * found.impulses[k]);
        }
        for c in n..capacity {
            impulses.set(c, zero());
        }
        let per_step = L::from_f64(1.0 / self.settings.h);
        for (r, part) in self.parts.iter().enumerate() {
            let kept = self.kept(r, robots);
            if islands.touches(r) > 0 {
                let change = &mut scratch[..part.tree.dofs.len()];
                change.fill(L::from_f64(0.0));
                self.collect(islands, r, y, ([&*found.impulses; 2], per_step), change);
                let (l, inverse) = kept.branches();
                factor::solve_down(&part.tree, l, inverse, change);
                for (a, change) in kept.acceleration.iter_mut().zip(&*change) {
                    *a = *a + *change;
                }
            }
            let out = world.values(self.out.accelerations[r]);
            for (i, dof) in part.tree.dofs.iter().enumerate() {
                out.set(dof.v as usize, kept.acceleration[i]);
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        self.pull(world);
    }
}

impl ContactDynamics {
    /// No numbers, and the residual [`NO_ROOM`].
    #[inline(always)]
    fn no_room<L: Lane>(&self, world: &World<'_, L>) {
        let none = L::from_f64(f64::NAN);
        world.values(self.out.residual).set(0, L::from_f64(NO_ROOM));
        for c in 0..self.contacts.capacity {
            world.values(self.out.impulses).set(c, vec3(none, none, none));
        }
        for (r, part) in self.parts.iter().enumerate() {
            let out = world.values(self.out.accelerations[r]);
            for dof in &part.tree.dofs {
                out.set(dof.v as usize, none);
            }
        }
    }

    /// Adds a factor times Yᵀ p for the degrees of freedom of a robot, with p for both sides.
    #[inline(always)]
    pub(super) fn collect<L: Lane>(
        &self,
        islands: &Islands<'_>,
        robot: usize,
        y: [&[Vec3<L>]; 2],
        (p, factor): ([&[Vec3<L>]; 2], L),
        out: &mut [L],
    ) {
        for i in 0..islands.touches(robot) {
            let (k, s) = islands.touch(robot, i);
            let Some(side) = self.sides(islands, k)[s] else { continue };
            let (way, y) = self.row(side, y[s], k);
            let p = p[s][k] * factor;
            for (&i, y) in way.iter().zip(y) {
                out[i as usize] = out[i as usize] + dot(*y, p);
            }
        }
    }
}
