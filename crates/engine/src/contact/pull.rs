//! The pullback of contact: by the equations, or by the sweeps that solved them.
//!
//! With the cotangents of a and p, p̄ = p_bar + J M⁻¹ a_bar / h is what a change of the impulses is worth. It becomes
//! the cotangents of the relative velocities, ζ, and of μ:
//!
//! - by the equations, (F_p + F_w A)ᵀ η = p̄, ζ = -F_wᵀ η, μ_bar = -η · F_μ;
//! - by the sweeps, with those of A too (`sweeps.rs`), of which the equations would have made ζ pᵀ: what is left,
//!   E = A_bar - ζ pᵀ, is small where the sweeps have converged.
//!
//! λ = M⁻¹ (a_bar + h Jᵀ ζ): τ_bar = λ, v_bar = Jᵀ ζ, and everything else has the cotangents of ID in the direction -λ, of
//! λ · Jᵀ p / h and of ζ · J v⁺. And of ⟨E, J M⁻¹ Jᵀ⟩ = ⟨S, J M⁻¹ Jᵀ⟩, S = (E + Eᵀ) / 2: with Z = M⁻¹ Jᵀ, columns z of Z and
//! u of Z S, Σ 2 e · J u - z · M u over all of them, where M u = ID(q, v, u) - ID(q, v, 0).

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Apart, Lane, World, carve};

use super::bodies::Pending;
use super::contacts::Pairs;
use super::dynamics::{ContactDynamics, frame};
use super::equations::{Equations, Found};
use super::islands::{Islands, Lists, Room};
use super::pattern::Pattern;
use super::solver::{Problem, Work};
use super::sweeps::{Bars, History};
use super::touching::Touching;
use crate::articulated::forward_dynamics::Kept;
use crate::articulated::joint::against_gravity;
use crate::articulated::kinematics::{spread, zero};
use crate::articulated::push::Pushed;
use crate::articulated::{factor, rnea_pullback};

/// Cotangents of contacts, in the order of their islands.
struct ContactBars<'a, L: Lane> {
    frames: &'a mut [Mat3<L>],
    points: &'a mut [Vec3<L>],
    /// What impulses are worth, then ζ.
    w: &'a mut [Vec3<L>],
}

/// What the sweeps leave, and what it takes to pull it back.
struct Left<'a, L: Lane> {
    /// S, island by island.
    s: &'a mut [Mat3<L>],
    /// Which contacts have columns of their own, after the other: those of a tree. Columns of different trees go together.
    lists: Lists<'a>,
    /// Weights of both sides of contacts: those of a column of each list, one alone, and none.
    column: [&'a mut [Vec3<L>]; 2],
    unit: [&'a mut [Vec3<L>]; 2],
    none: &'a mut [Vec3<L>],
    /// Of degrees of freedom: z, u, and the sum of all z.
    z: &'a mut [L],
    u: &'a mut [L],
    sum: &'a mut [L],
}

impl<'a, L: Lane> Left<'a, L> {
    fn numbers(room: &Room, lists: usize, dofs: usize) -> usize {
        let vectors = 5 * room.contacts;
        room.blocks * Mat3::<f64>::LEN
            + vectors * Vec3::<f64>::LEN
            + Lists::numbers(lists, room.contacts)
            + 3 * dofs
    }

    #[inline(always)]
    fn carve(room: &Room, lists: Lists<'a>, dofs: usize, scratch: &mut &'a mut [L]) -> Self {
        let capacity = room.contacts;
        Left {
            s: carve::<Mat3, L>(scratch, room.blocks),
            lists,
            column: [carve::<Vec3, L>(scratch, capacity), carve::<Vec3, L>(scratch, capacity)],
            unit: [carve::<Vec3, L>(scratch, capacity), carve::<Vec3, L>(scratch, capacity)],
            none: carve::<Vec3, L>(scratch, capacity),
            z: carve::<f64, L>(scratch, dofs),
            u: carve::<f64, L>(scratch, dofs),
            sum: carve::<f64, L>(scratch, dofs),
        }
    }
}

impl ContactDynamics {
    /// How much working memory the pullback wants besides the equations.
    pub(super) fn pull_scratch(&self) -> usize {
        let capacity = self.contacts.capacity;
        let bars = capacity * (Mat3::<f64>::LEN + 2 * Vec3::<f64>::LEN);
        let dofs: usize = self.parts.iter().map(|part| part.tree.dofs.len()).sum();
        let sweeps = self.settings.solver.sweeps;
        let left = match self.settings.solver.reverse {
            true => {
                Left::<f64>::numbers(&self.room, self.columns.count, self.most_dofs())
                    + (sweeps + 2) * capacity * Vec3::<f64>::LEN
                    + sweeps
                    + capacity
            }
            false => 0,
        };
        bars + dofs + left
    }

    /// Degrees of freedom of the robot that has most.
    fn most_dofs(&self) -> usize {
        self.parts.iter().map(|part| part.tree.dofs.len()).max().unwrap_or(0)
    }

    /// The pullback.
    #[inline(always)]
    pub(super) fn pull<L: Lane>(&self, world: &mut World<'_, L>) {
        let (memory, mut scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let (robots, memory) = memory.split_at_mut(self.starts[self.parts.len()]);
        let capacity = self.contacts.capacity;
        let pairs = self.contacts.pairs(world);
        let Some(islands) = &self.islands(&pairs, &mut scratch) else { return };
        let found = Found::carve(capacity, self.way, memory);
        let mut equations = Equations::carve(&self.room, &mut scratch);
        let mut bars = ContactBars {
            frames: carve::<Mat3, L>(&mut scratch, capacity),
            points: carve::<Vec3, L>(&mut scratch, capacity),
            w: carve::<Vec3, L>(&mut scratch, capacity),
        };
        let halves: usize = self.parts.iter().map(|part| part.tree.dofs.len()).sum();
        let halves = carve::<f64, L>(&mut scratch, halves);
        let y = [&*found.y[0], &*found.y[1]];
        self.couple(world, (&pairs, islands), robots, y, &mut equations);
        self.worth(world, islands, robots, &found, halves, bars.w);
        let mut left = None;
        if self.settings.solver.reverse {
            let lists = islands.lists(&self.columns, &self.shapes, &mut scratch);
            let mut new = Left::carve(&self.room, lists, self.most_dofs(), &mut scratch);
            let (found, w_bars, left_now, scratch) = (&found, &mut *bars.w, &mut new, &mut *scratch);
            L::apart(PullSweeps {
                dynamics: self,
                world,
                islands,
                found,
                equations,
                w_bars,
                left: left_now,
                scratch,
            });
            left = Some(new);
        } else {
            self.pull_law(world, islands, &found, equations, bars.w);
        }
        self.pull_bounds(world, islands, &found, &mut bars);
        bars.points.fill(zero());
        self.pull_held(world, islands, &mut bars);
        let mut first = 0;
        for r in 0..self.parts.len() {
            let half = &mut halves[first..first + self.parts[r].tree.dofs.len()];
            first += half.len();
            self.collect(islands, r, y, ([&*bars.w; 2], L::from_f64(self.settings.h)), half);
            let (kept, mut pending) = self.pending(r, robots);
            let (of, bars, pending) = ((&kept, &found), &mut bars, &mut pending);
            L::apart(PullRobot { dynamics: self, world, islands, r, of, half, pending, bars: &mut *bars });
            if let Some(left) = &mut left {
                let (at, scratch) = ((&pairs, islands), &mut *scratch);
                L::apart(PullColumns { dynamics: self, world, at, r, of, left, bars, scratch });
            }
        }
        let (points, normals) = (world.bars(self.contacts.point), world.bars(self.contacts.normal));
        for k in 0..islands.contacts() {
            let c = islands.place(k);
            points.add(c, bars.points[k]);
            let (bar,) = frame::pullback(found.frames[k].x, bars.frames[k]);
            normals.add(c, bar);
        }
    }

    /// One robot along λ, of which `half` is L⁻ᵀ M λ. Where its bodies were placed, the pullback ends (`bodies.rs`).
    #[inline(always)]
    fn pull_robot<L: Lane>(
        &self,
        world: &World<'_, L>,
        islands: &Islands<'_>,
        r: usize,
        (kept, found): (&Kept<'_, L>, &Found<'_, L>),
        half: &mut [L],
        pending: &mut Pending<'_, L>,
        contact_bars: &mut ContactBars<'_, L>,
    ) {
        let part = &self.parts[r];
        let (tree, inputs) = (&*part.tree, &part.inputs);
        let (l, inverse) = kept.branches();
        factor::solve_down(tree, l, inverse, half);
        let tau_bar = world.bars(part.tau);
        for (i, dof) in tree.dofs.iter().enumerate() {
            tau_bar.add(dof.v as usize, half[i]);
            pending.w[i] = -half[i];
        }
        self.rates(part, &world.values(inputs.v), kept.acceleration, pending.rates);
        let mut pushed = None;
        if let Some(pushes) = &part.pushes {
            pushed = Some(Pushed { values: pushes.values(world), bars: pushes.bars(world) });
        }
        let weights = (&*found.impulses, [&*contact_bars.w; 2]);
        let (rates, sums) = (&*pending.rates, &mut pending.sums);
        let moved = (rates, &mut *pending.motions, &mut *pending.forces);
        let onto = (&mut *contact_bars.frames, &mut *contact_bars.points);
        let mut touching = self.touching(islands, r, (kept, found), pushed, weights, moved, onto);
        let along = (&*pending.w, &*kept.acceleration);
        let (k, inertias) = (&kept.kinematics, &*kept.inertias);
        let bars = inputs.bars(world);
        rnea_pullback::begin(tree, k, inertias, along, &mut touching, sums, &bars);
        for i in 0..islands.touches(r) {
            let (k, _) = islands.touch(r, i);
            if let Some(dof) = self.held(islands, k) {
                bars.v.add(tree.dofs[dof].v as usize, contact_bars.w[k].x);
            }
        }
    }

    /// Contacts of a robot as forces p / h, of impulses, and as cotangents ζ of relative velocities, of rates.
    #[inline(always)]
    fn touching<'a, L: Lane>(
        &'a self,
        islands: &'a Islands<'a>,
        robot: usize,
        (kept, found): (&Kept<'_, L>, &'a Found<'_, L>),
        pushed: Option<Pushed<'a, L>>,
        (impulses, w_bars): (&'a [Vec3<L>], [&'a [Vec3<L>]; 2]),
        (rates, motions, forces): (&'a [L], &'a mut [Motion<L>], &'a mut [Force<L>]),
        (frame_bars, point_bars): (&'a mut [Mat3<L>], &'a mut [Vec3<L>]),
    ) -> Touching<'a, L> {
        spread(&self.parts[robot].tree, kept.kinematics.axes, rates, motions);
        Touching {
            pushed,
            robot,
            sides: &self.shapes,
            islands,
            per_step: L::from_f64(1.0 / self.settings.h),
            frames: found.frames,
            arms: [&*found.arms[0], &*found.arms[1]],
            impulses,
            w_bars,
            rates,
            motions,
            forces,
            frame_bars,
            point_bars,
        }
    }

    /// One robot along what the sweeps left: column after column, and last what their ID is with no acceleration.
    #[inline(always)]
    fn pull_columns<L: Lane>(
        &self,
        world: &World<'_, L>,
        at: (&Pairs<'_, L>, &Islands<'_>),
        r: usize,
        (kept, found): (&Kept<'_, L>, &Found<'_, L>),
        left: &mut Left<'_, L>,
        contact_bars: &mut ContactBars<'_, L>,
        mut scratch: &mut [L],
    ) {
        let (part, islands) = (&self.parts[r], at.1);
        let (tree, inputs) = (&*part.tree, &part.inputs);
        let scratch = &mut scratch;
        let motions = carve::<Motion, L>(scratch, tree.nodes.len());
        let forces = carve::<Force, L>(scratch, tree.nodes.len());
        let mut sums = rnea_pullback::Sums::carve(tree, scratch);
        let (x, bars) = (inputs.configuration(world), inputs.bars(world));
        let start = against_gravity(world.values(inputs.gravity).get(0));
        let columns = 3 * left.lists.longest(self.columns.of_robot(r));
        for job in 0..columns + usize::from(columns > 0) {
            if !self.column(at, (r, job), (kept, found), left, job == columns) {
                continue;
            }
            let weights = (&*left.none, [&*left.unit[0], &*left.unit[1]]);
            let moved = (&*left.u, &mut *motions, &mut *forces);
            let onto = (&mut *contact_bars.frames, &mut *contact_bars.points);
            let mut touching = self.touching(islands, r, (kept, found), None, weights, moved, onto);
            let (k, inertias, along) = (&kept.kinematics, &*kept.inertias, (&*left.z, &*left.u));
            rnea_pullback::pull(tree, &x, k, inertias, start, along, &mut touching, &mut sums, &bars);
        }
    }

    /// Sets -z, u and the units of column `job` of each list of a robot, or at last the sum of all z; false if there is nothing
    /// to do.
    #[inline(always)]
    fn column<L: Lane>(
        &self,
        (pairs, islands): (&Pairs<'_, L>, &Islands<'_>),
        (r, job): (usize, usize),
        (kept, found): (&Kept<'_, L>, &Found<'_, L>),
        left: &mut Left<'_, L>,
        last: bool,
    ) -> bool {
        let zero = L::from_f64(0.0);
        let none = vec3(zero, zero, zero);
        let dofs = self.parts[r].tree.dofs.len();
        let n = islands.contacts();
        left.unit[0][..n].fill(none);
        left.unit[1][..n].fill(none);
        left.u[..dofs].fill(zero);
        if last {
            left.z[..dofs].copy_from_slice(&left.sum[..dofs]);
            return true;
        }
        left.none[..n].fill(none);
        if job == 0 {
            left.sum[..dofs].fill(zero);
        }
        left.column[0][..n].fill(none);
        left.column[1][..n].fill(none);
        let mut any = false;
        for list in self.columns.of_robot(r) {
            any |= self.column_of(list, (pairs, islands), (r, job), left);
        }
        if !any {
            return false;
        }
        let (y, one) = ([&*found.y[0], &*found.y[1]], L::from_f64(1.0));
        let (unit, column) = ([&*left.unit[0], &*left.unit[1]], [&*left.column[0], &*left.column[1]]);
        left.z[..dofs].fill(zero);
        self.collect(islands, r, y, (unit, one), &mut left.z[..dofs]);
        self.collect(islands, r, y, (column, one), &mut left.u[..dofs]);
        for unit in left.unit.iter_mut().flat_map(|side| &mut side[..n]) {
            *unit = *unit * L::from_f64(2.0);
        }
        let (l, inverse) = kept.branches();
        factor::solve_down(&self.parts[r].tree, l, inverse, &mut left.z[..dofs]);
        factor::solve_down(&self.parts[r].tree, l, inverse, &mut left.u[..dofs]);
        for i in 0..dofs {
            left.sum[i] = left.sum[i] + left.z[i];
            left.z[i] = -left.z[i];
        }
        true
    }

    /// Column `job` of one list: a direction of one of its contacts, and how the others of the list feel it; false if there is
    /// none.
    #[inline(always)]
    fn column_of<L: Lane>(
        &self,
        list: usize,
        (pairs, islands): (&Pairs<'_, L>, &Islands<'_>),
        (r, job): (usize, usize),
        left: &mut Left<'_, L>,
    ) -> bool {
        let contacts = left.lists.of(list);
        if job / 3 >= contacts.len() {
            return false;
        }
        let k = contacts[job / 3] as usize;
        // A joint has one row.
        if islands.is_joint(k) && job % 3 > 0 {
            return false;
        }
        let (zero, one) = (L::from_f64(0.0), L::from_f64(1.0));
        let axis = [vec3(one, zero, zero), vec3(zero, one, zero), vec3(zero, zero, one)][job % 3];
        let island = islands.around(k);
        let (range, blocks) = (islands.island(island), islands.blocks(island));
        // Where it is not there, nothing of it is left.
        let there = L::select(pairs.touches(islands.place(k)), one, zero);
        for &c in contacts {
            let c = c as usize;
            if !range.contains(&c) {
                continue;
            }
            let (i, j) = (c - range.start, k - range.start);
            let entry = match islands.is_dense(island) {
                true => islands.dense(island).entry(i, j),
                false => islands.sparse(island).entry(i, j),
            };
            let weight = left.s[blocks.start + entry] * axis;
            let sides = self.sides(islands, c);
            for s in 0..2 {
                let Some(side) = sides[s] else { continue };
                if side.robot == r && self.columns.tree(side) as usize == list {
                    left.column[s][c] = weight;
                    if c == k {
                        left.unit[s][c] = axis * there;
                    }
                }
            }
        }
        true
    }

    /// What changes of the impulses are worth: p_bar + J M⁻¹ a_bar / h; `halves` becomes L⁻ᵀ a_bar.
    #[inline(always)]
    fn worth<L: Lane>(
        &self,
        world: &World<'_, L>,
        islands: &Islands<'_>,
        robots: &mut [L],
        found: &Found<'_, L>,
        halves: &mut [L],
        worth: &mut [Vec3<L>],
    ) {
        let impulse_bars = world.bars(self.out.impulses);
        for k in 0..islands.contacts() {
            worth[k] = transpose_times(found.frames[k], impulse_bars.get(islands.place(k)));
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
            for i in 0..islands.touches(r) {
                let (k, s) = islands.touch(r, i);
                let Some(side) = self.sides(islands, k)[s] else { continue };
                let (way, y) = self.row(side, &*found.y[s], k);
                for (&i, y) in way.iter().zip(y) {
                    worth[k] = worth[k] + *y * (half[i as usize] * inverse[i as usize] * per_step);
                }
            }
        }
    }

    /// From what impulses are worth to the cotangents ζ of relative velocities and of friction, by the equations.
    #[inline(always)]
    fn pull_law<L: Lane>(
        &self,
        world: &World<'_, L>,
        islands: &Islands<'_>,
        found: &Found<'_, L>,
        equations: Equations<'_, L>,
        w_bars: &mut [Vec3<L>],
    ) {
        let (problems, mut work) = equations.problems(islands, found.free);
        let mut left: f64 = 0.0;
        for i in 0..islands.count() {
            if islands.is_dense(i) {
                self.laws(islands.island(i), &problems.dense(i), found, &mut work);
            } else if const { L::WIDTH == 1 } {
                self.laws(islands.island(i), &problems.sparse(i), found, &mut work);
            }
            let contacts = islands.island(i);
            work.step[contacts.clone()].copy_from_slice(&w_bars[contacts]);
            left = left.max(self.settings.solver.linear(&problems, i, &mut work, true));
        }
        if const { L::WIDTH == 1 } && self.room.is_sparse() {
            // Equations that were not solved have no derivative, as laws that do not hold: the step looks again.
            let residual = world.values(self.out.residual);
            residual.set(0, residual.get(0).max(L::from_f64(left)));
        }
        let mu_bars = world.bars(self.contacts.mu);
        for k in 0..islands.contacts() {
            w_bars[k] = -transpose_times(work.by_w[k], work.step[k]);
            mu_bars.add(islands.place(k), -dot(work.best[k], work.step[k]));
        }
    }

    /// The derivatives of the laws of an island.
    #[inline(always)]
    fn laws<L: Lane>(
        &self,
        contacts: std::ops::Range<usize>,
        problem: &Problem<'_, L, impl Pattern>,
        found: &Found<'_, L>,
        work: &mut Work<'_, L>,
    ) {
        let p = &found.impulses[contacts.clone()];
        for (i, k) in contacts.enumerate() {
            let law = self.settings.solver.law(problem, i, p);
            (work.by_p[k], work.by_w[k], work.best[k]) = (law.by_p, law.by_w, law.by_mu);
        }
    }

    /// The same by the sweeps, which are made again; and S.
    #[inline(always)]
    fn pull_sweeps<L: Lane>(
        &self,
        world: &World<'_, L>,
        islands: &Islands<'_>,
        found: &Found<'_, L>,
        equations: Equations<'_, L>,
        w_bars: &mut [Vec3<L>],
        left: &mut Left<'_, L>,
        mut scratch: &mut [L],
    ) {
        let (n, solver, scratch) = (islands.contacts(), &self.settings.solver, &mut scratch);
        let (problems, mut work) = equations.problems(islands, found.free);
        let p = carve::<Vec3, L>(scratch, n);
        let b_bars = carve::<Vec3, L>(scratch, n);
        let mu_bars = carve::<f64, L>(scratch, n);
        let mut history = History {
            before: carve::<Vec3, L>(scratch, solver.sweeps * n),
            done: carve::<f64, L>(scratch, solver.sweeps),
            count: 0,
        };
        p.fill(zero());
        b_bars.fill(zero());
        mu_bars.fill(L::from_f64(0.0));
        if islands.count() > 0 {
            left.s[..islands.blocks(islands.count() - 1).end].fill(zero());
        }
        solver.solve(&problems, p, &mut work, &mut history);
        let mut bars = Bars { a: &mut *left.s, b: &mut *b_bars, mu: &mut *mu_bars };
        history.pull(solver.cone, &problems, p, &mut w_bars[..n], &mut bars);
        let mu = world.bars(self.contacts.mu);
        for k in 0..n {
            w_bars[k] = b_bars[k];
            mu.add(islands.place(k), mu_bars[k]);
        }
        for i in 0..islands.count() {
            let (range, s) = (islands.island(i), &mut left.s[islands.blocks(i)]);
            let (zeta, p) = (&w_bars[range.clone()], &found.impulses[range]);
            if islands.is_dense(i) {
                symmetric(islands.dense(i), (zeta, p), s);
            } else if const { L::WIDTH == 1 } {
                symmetric(islands.sparse(i), (zeta, p), s);
            }
        }
    }

    /// The cotangents of frames as far as impulses are outputs, and of what bounds the normal velocities.
    #[inline(always)]
    fn pull_bounds<L: Lane>(
        &self,
        world: &World<'_, L>,
        islands: &Islands<'_>,
        found: &Found<'_, L>,
        contact_bars: &mut ContactBars<'_, L>,
    ) {
        let (values, bars) = (self.contacts.values(world), self.contacts.bars(world));
        let impulse_bars = world.bars(self.out.impulses);
        for k in 0..islands.contacts() {
            let c = islands.place(k);
            let frame_bar = &mut contact_bars.frames[k];
            *frame_bar = outer(impulse_bars.get(c), found.impulses[k]);
            let (normal, velocity) = (found.frames[k].x, values.velocity.get(c));
            let (gap, approach, restitution) =
                (values.gap.get(c), dot(normal, velocity), values.restitution.get(c));
            let pulled = self.pull_bound(gap, approach, restitution, contact_bars.w[k].x);
            bars.gap.add(c, pulled.gap);
            bars.restitution.add(c, pulled.restitution);
            bars.velocity.add(c, normal * pulled.approach);
            frame_bar.x = frame_bar.x + velocity * pulled.approach;
        }
    }

    /// The cotangents of how far joints are from the ends of their ranges: the velocities that they may have count from those.
    #[inline(always)]
    fn pull_held<L: Lane>(
        &self,
        world: &World<'_, L>,
        islands: &Islands<'_>,
        contact_bars: &mut ContactBars<'_, L>,
    ) {
        let gaps = world.values(self.contacts.point);
        let (closing, zero) = (self.settings.stabilisation / self.settings.h, L::from_f64(0.0));
        for k in 0..islands.contacts() {
            if !islands.is_joint(k) {
                continue;
            }
            let (gaps, bar) = (gaps.get(islands.place(k)), contact_bars.w[k] * L::from_f64(closing));
            let ((_, low), (_, high)) = (self.closes(gaps.x), self.closes(gaps.y));
            contact_bars.points[k] = vec3(L::select(low, zero, -bar.y), L::select(high, zero, bar.z), zero);
        }
    }

    /// The pullback of [`ContactDynamics::bound`].
    #[inline(always)]
    fn pull_bound<L: Lane>(&self, gap: L, approach: L, restitution: L, bar: L) -> Bound<L> {
        let nothing = L::from_f64(0.0);
        let (_, bounces) = self.bound(gap, approach, restitution);
        let (_, limited) = self.closes(gap);
        let closing = bar * L::from_f64(self.settings.stabilisation / self.settings.h);
        Bound {
            gap: L::select(bounces | limited, nothing, closing),
            restitution: L::select(bounces, bar * approach, nothing),
            approach: L::select(bounces, bar * restitution, nothing),
        }
    }
}

/// From A_bar to S: half of E = A_bar - ζ pᵀ and its transpose.
#[inline(always)]
fn symmetric<L: Lane>(pattern: impl Pattern, (zeta, p): (&[Vec3<L>], &[Vec3<L>]), s: &mut [Mat3<L>]) {
    let half = L::from_f64(0.5);
    for c in 0..pattern.len() {
        for entry in pattern.row(c) {
            s[entry] = s[entry] - outer(zeta[c], p[pattern.column(c, entry)]);
        }
    }
    for c in 0..pattern.len() {
        for entry in pattern.row(c).start..pattern.diagonal(c) + 1 {
            let other = pattern.entry(pattern.column(c, entry), c);
            let both = (s[entry] + transpose(s[other])) * half;
            (s[entry], s[other]) = (both, transpose(both));
        }
    }
}

/// The cotangents of what bounds the normal velocity.
struct Bound<L> {
    gap: L,
    restitution: L,
    approach: L,
}

/// [`ContactDynamics::pull_sweeps`]
struct PullSweeps<'a, 'w, 'f, 'l, L: Lane> {
    dynamics: &'a ContactDynamics,
    world: &'a World<'w, L>,
    islands: &'a Islands<'a>,
    found: &'a Found<'f, L>,
    equations: Equations<'a, L>,
    w_bars: &'a mut [Vec3<L>],
    left: &'a mut Left<'l, L>,
    scratch: &'a mut [L],
}

impl<L: Lane> Apart for PullSweeps<'_, '_, '_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let PullSweeps { dynamics, world, islands, found, equations, w_bars, left, scratch } = self;
        dynamics.pull_sweeps(world, islands, found, equations, w_bars, left, scratch);
    }
}

/// [`ContactDynamics::pull_robot`]
struct PullRobot<'a, 'w, 'f, 'p, 'b, L: Lane> {
    dynamics: &'a ContactDynamics,
    world: &'a World<'w, L>,
    islands: &'a Islands<'a>,
    r: usize,
    of: (&'a Kept<'f, L>, &'a Found<'f, L>),
    half: &'a mut [L],
    pending: &'a mut Pending<'p, L>,
    bars: &'a mut ContactBars<'b, L>,
}

impl<L: Lane> Apart for PullRobot<'_, '_, '_, '_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let PullRobot { dynamics, world, islands, r, of, half, pending, bars } = self;
        dynamics.pull_robot(world, islands, r, of, half, pending, bars);
    }
}

/// [`ContactDynamics::pull_columns`]
struct PullColumns<'a, 'w, 'f, 'l, 'b, L: Lane> {
    dynamics: &'a ContactDynamics,
    world: &'a World<'w, L>,
    at: (&'a Pairs<'w, L>, &'a Islands<'a>),
    r: usize,
    of: (&'a Kept<'f, L>, &'a Found<'f, L>),
    left: &'a mut Left<'l, L>,
    bars: &'a mut ContactBars<'b, L>,
    scratch: &'a mut [L],
}

impl<L: Lane> Apart for PullColumns<'_, '_, '_, '_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let PullColumns { dynamics, world, at, r, of, left, bars, scratch } = self;
        dynamics.pull_columns(world, at, r, of, left, bars, scratch);
    }
}
