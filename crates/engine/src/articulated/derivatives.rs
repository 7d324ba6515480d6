//! Full Jacobians of forward dynamics: ∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹, by the tangents of positions.
//!
//! ∂a = -M⁻¹ ∂ID. Moving everything behind joint j along s_j is as good as moving the motions before it back (see
//! `rnea_pullback`): with V and A those before j, and V' that after it,
//!
//! - β = V × s,  α = A × s + V × (V × s),  γ = (V + V') × s,
//! - δF = I α + B β behind the joint, for its position; I γ + B s for its velocity,
//!
//! where B δ = I (δ × V) + δ ×* I V + V ×* I δ of a body. Its parts cancel but for the angular part of δ:
//! B δ = (T ω, -2 f × ω) with the momentum (n, f) = I V and T = ω× J - J ω× - v× h× - h× v× - n×.
//! I and B are sums over what hangs from the deeper one of joints i and j; where that is j and i does not move with
//! it, the force that j carries is turned too: s_i · (s_j ×* F).

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, View, World, carve};
use pullback_scene::robot::JointKind;

use super::Inputs;
use super::forward_dynamics::{Accelerate, Kept, forward_scratch, place};
use super::joint::{against_gravity, along, carried, newton_euler};
use super::kinematics::{no_motion, rate};
use super::tree::{Node, Tree, WORLD};

/// Accelerations and their Jacobians, row by row; it has no pullback.
pub(crate) struct Derivatives {
    tree: Arc<Tree>,
    inputs: Inputs,
    tau: Buffer<f64>,
    out: Jacobians,
}

/// Jacobians of accelerations, nv × nv numbers each, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jacobians {
    pub acceleration: Buffer<f64>,
    pub by_position: Buffer<f64>,
    pub by_velocity: Buffer<f64>,
    pub by_force: Buffer<f64>,
}

/// B of a body: T and f.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
#[repr(C)]
pub(crate) struct Turning<R = f64> {
    pub t: Mat3<R>,
    pub f: Vec3<R>,
}

/// T = ω× J - J ω× - v× h× - h× v× - n× and f, of one body
#[kernel]
fn turning_of<R: Real>(i: Inertia<R>, v: Motion<R>) -> Turning<R> {
    let (w, h) = (v.angular, i.moment);
    let momentum = i * v;
    let j = mat3_from_sym3(i.rotational);
    let wj = cross_columns(w, j);
    let vh = cross_columns(v.linear, skew(h));
    // (ω× J)ᵀ = -J ω×,  (v× h×)ᵀ = h× v×
    Turning { t: wj + transpose(wj) - vh - transpose(vh) - skew(momentum.torque), f: momentum.force }
}

/// B δ
#[kernel]
fn turning_times<R: Real>(b: Turning<R>, d: Vec3<R>) -> Force<R> {
    Force { torque: b.t * d, force: cross(b.f, d) * -2.0 }
}

/// The angular part of Bᵀ s; the other is zero.
#[kernel]
fn turning_back<R: Real>(b: Turning<R>, s: Motion<R>) -> Vec3<R> {
    transpose_times(b.t, s.angular) + cross(b.f, s.linear) * 2.0
}

/// β, α and γ of a degree of freedom
#[kernel]
fn directions<R: Real>(
    v: Motion<R>,
    after: Motion<R>,
    a: Motion<R>,
    s: Motion<R>,
) -> (Motion<R>, Motion<R>, Motion<R>) {
    let beta = cross_motion(v, s);
    (beta, cross_motion(a, s) + cross_motion(v, beta), beta + cross_motion(after, s))
}

/// Working memory.
struct Memory<'a, L: Lane> {
    accelerations: &'a mut [Motion<L>],
    composite: &'a mut [Inertia<L>],
    turning: &'a mut [Turning<L>],
    forces: &'a mut [Force<L>],
    beta: &'a mut [Motion<L>],
    alpha: &'a mut [Motion<L>],
    gamma: &'a mut [Motion<L>],
    /// nv × 3 nv: both Jacobians of inverse dynamics and the identity, which solving makes those of forward dynamics.
    rows: &'a mut [L],
    /// The same by velocities, where joints follow others.
    reduced: &'a mut [L],
}

impl<'a, L: Lane> Memory<'a, L> {
    fn numbers(tree: &Tree) -> usize {
        let (n, d) = (tree.nodes.len(), tree.dofs.len());
        let node = Motion::<f64>::LEN + Inertia::<f64>::LEN + Turning::<f64>::LEN + Force::<f64>::LEN;
        n * node + d * 3 * Motion::<f64>::LEN + 3 * d * d + 3 * tree.velocities * tree.velocities
    }

    #[inline(always)]
    fn carve(tree: &Tree, memory: &mut &'a mut [L]) -> Self {
        let (n, d) = (tree.nodes.len(), tree.dofs.len());
        Memory {
            accelerations: carve::<Motion, L>(memory, n),
            composite: carve::<Inertia, L>(memory, n),
            turning: carve::<Turning, L>(memory, n),
            forces: carve::<Force, L>(memory, n),
            beta: carve::<Motion, L>(memory, d),
            alpha: carve::<Motion, L>(memory, d),
            gamma: carve::<Motion, L>(memory, d),
            rows: carve::<f64, L>(memory, 3 * d * d),
            reduced: carve::<f64, L>(memory, 3 * tree.velocities * tree.velocities),
        }
    }
}

impl Derivatives {
    /// Adds it to a program.
    pub fn add(p: &mut Builder, name: &str, tree: &Arc<Tree>, inputs: Inputs, tau: Buffer<f64>) -> Jacobians {
        let n = tree.velocities();
        let out = Jacobians {
            acceleration: p.computed(&format!("{name}: accelerations"), n),
            by_position: p.computed(&format!("{name} by positions"), n * n),
            by_velocity: p.computed(&format!("{name} by velocities"), n * n),
            by_force: p.computed(&format!("{name} by forces"), n * n),
        };
        p.operation(Derivatives { tree: tree.clone(), inputs, tau, out });
        out
    }
}

impl Operation for Derivatives {
    const LANES: bool = false;

    fn name(&self) -> String {
        "Jacobians of forward dynamics".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads = self.inputs.reads();
        reads.push(self.tau.into());
        reads
    }
    fn writes(&self) -> Vec<BufferUse> {
        let out = &self.out;
        vec![out.acceleration.into(), out.by_position.into(), out.by_velocity.into(), out.by_force.into()]
    }
    fn scratch(&self) -> usize {
        Kept::<f64>::numbers(&self.tree, false)
            + Memory::<f64>::numbers(&self.tree)
            + forward_scratch(&self.tree)
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let tree = &*self.tree;
        let mut scratch = std::mem::take(&mut world.scratch);
        let own = carve::<f64, L>(&mut scratch, Kept::<f64>::numbers(tree, false));
        let mut kept = Kept::carve(tree, false, own);
        let mut m = Memory::carve(tree, &mut scratch);
        let tau = world.values(self.tau);
        place(tree, world, &self.inputs, &mut kept);
        let inputs = &self.inputs;
        L::apart(Accelerate { tree, world, inputs, tau, pushes: None, kept: &mut kept, scratch });
        let start = against_gravity(world.values(self.inputs.gravity).get(0));
        gather(tree, &kept, start, &world.values(self.inputs.v), &mut m);
        fill(tree, &kept, &mut m);
        if tree.follows() {
            reduce(tree, m.rows, m.reduced);
            kept.solve_rows(tree, m.reduced, 3 * tree.velocities);
        } else {
            kept.solve_rows(tree, m.rows, 3 * tree.dofs.len());
        }
        self.write(world, &kept, &m);
    }

    fn pullback<L: Lane>(&self, _: &mut World<'_, L>) {}
}

impl Derivatives {
    #[inline(always)]
    fn write<L: Lane>(&self, world: &World<'_, L>, kept: &Kept<'_, L>, m: &Memory<'_, L>) {
        let (tree, n) = (&*self.tree, self.tree.velocities);
        let out = &self.out;
        let acceleration = world.values(out.acceleration);
        let blocks =
            [world.values(out.by_position), world.values(out.by_velocity), world.values(out.by_force)];
        for (a, dof) in kept.acceleration.iter().zip(&tree.dofs) {
            if dof.own {
                acceleration.set(dof.v as usize, *a);
            }
        }
        for i in 0..n {
            let (row, numbers) = match tree.follows() {
                true => (i, &m.reduced[i * 3 * n..(i + 1) * 3 * n]),
                false => (tree.dofs[i].v as usize, &m.rows[i * 3 * n..(i + 1) * 3 * n]),
            };
            for k in 0..3 {
                blocks[k].set_all(row * n, &numbers[k * n..(k + 1) * n]);
            }
        }
    }
}

/// Gᵀ J G of both Jacobians, and the identity.
#[inline(always)]
fn reduce<L: Lane>(tree: &Tree, rows: &[L], reduced: &mut [L]) {
    let (d, n) = (tree.dofs.len(), tree.velocities);
    reduced.fill(L::from_f64(0.0));
    for i in 0..d {
        for j in 0..d {
            let (a, b) = (&tree.dofs[i], &tree.dofs[j]);
            let factor = L::from_f64(a.scale * b.scale);
            for k in 0..2 {
                let at = a.v as usize * 3 * n + k * n + b.v as usize;
                reduced[at] = rows[i * 3 * d + k * d + j].mul_add(factor, reduced[at]);
            }
        }
    }
    for i in 0..n {
        reduced[i * 3 * n + 2 * n + i] = L::from_f64(1.0);
    }
}

/// The motions before and after each stage of a joint, and what follows of them; and sums over subtrees.
#[inline(always)]
fn gather<L: Lane>(
    tree: &Tree,
    kept: &Kept<'_, L>,
    start: Motion<L>,
    rates: &View<'_, f64, L>,
    m: &mut Memory<'_, L>,
) {
    let k = &kept.kinematics;
    for (n, node) in tree.nodes.iter().enumerate() {
        let (v, a) = match node.parent {
            WORLD => (no_motion(), start),
            p => (k.velocities[p as usize], m.accelerations[p as usize]),
        };
        let d = node.dof as usize;
        let (mut v, mut a, mut first) = (v, a, d);
        // A free joint moves in two stages.
        let stages = if node.kind == JointKind::Free { 2 } else { 1 };
        let per_stage = node.kind.velocities() / stages;
        for stage in 0..stages {
            let (mut after, mut next) = (v, a);
            // The observer of a free root moves along with it.
            let along_with = stages == 2 && stage == 0 && node.is_root();
            for i in first..first + per_stage {
                let s = k.axes[i];
                let rate = if along_with { L::from_f64(0.0) } else { rate(&tree.dofs[i], rates) };
                after = along(after, s, rate);
                next = carried(along(next, s, kept.acceleration[i]), v, s, rate);
            }
            for i in first..first + per_stage {
                (m.beta[i], m.alpha[i], m.gamma[i]) = directions(v, after, a, k.axes[i]);
            }
            (v, a) = (after, next);
            first += per_stage;
        }
        m.accelerations[n] = a;
        m.composite[n] = kept.inertias[n];
        m.turning[n] = turning_of(kept.inertias[n], k.velocities[n]);
        m.forces[n] = newton_euler(kept.inertias[n], k.velocities[n], a);
    }
    for (n, node) in tree.nodes.iter().enumerate().rev() {
        if node.parent != WORLD {
            let p = node.parent as usize;
            m.composite[p] = m.composite[p] + m.composite[n];
            m.turning[p] = m.turning[p] + m.turning[n];
            m.forces[p] = m.forces[p] + m.forces[n];
        }
    }
}

/// Do the axes of both degrees of freedom turn with each other: those of a ball, or of a free joint's rotation?
#[inline(always)]
fn together(node: &Node, i: usize, j: usize) -> bool {
    let d = node.dof as usize;
    match node.kind {
        JointKind::Hinge | JointKind::Slide => false,
        JointKind::Ball => i >= d && j >= d,
        JointKind::Free => i >= d + 3 && j >= d + 3,
    }
}

/// -∂ID/∂q, -∂ID/∂v and the identity, side by side. Columns are by velocity, unless joints follow others.
#[inline(always)]
fn fill<L: Lane>(tree: &Tree, kept: &Kept<'_, L>, m: &mut Memory<'_, L>) {
    let (n, k, follows) = (tree.dofs.len(), &kept.kinematics, tree.follows());
    let (zero, one) = (L::from_f64(0.0), L::from_f64(1.0));
    m.rows.fill(zero);
    for (b, node) in tree.nodes.iter().enumerate() {
        let (composite, turning, force) = (m.composite[b], m.turning[b], m.forces[b]);
        let d = node.dof as usize;
        for j in d..d + node.kind.velocities() {
            let s = k.axes[j];
            // What moving j does to the force behind it, and what row j sees of motions further up.
            let by_position = composite * m.alpha[j] + turning_times(turning, m.beta[j].angular);
            let turned = by_position + cross_force(s, force);
            let by_velocity = composite * m.gamma[j] + turning_times(turning, s.angular);
            let u = composite * s;
            let z = turning_back(turning, s);
            let column = if follows { j } else { tree.dofs[j].v as usize };
            for &i in &tree.ancestors[tree.row(j)] {
                let i = i as usize;
                let with = together(node, i, j);
                // Column j: all rows on the way to it, itself included.
                let moved = if with { by_position } else { turned };
                m.rows[i * 3 * n + column] = -power(k.axes[i], moved);
                m.rows[i * 3 * n + n + column] = -power(k.axes[i], by_velocity);
                // Row j: the columns of those before it.
                if i != j {
                    let (alpha, beta, gamma) = (m.alpha[i], m.beta[i], m.gamma[i]);
                    let column = if follows { i } else { tree.dofs[i].v as usize };
                    m.rows[j * 3 * n + column] = -(power(alpha, u) + dot(z, beta.angular));
                    m.rows[j * 3 * n + n + column] = -(power(gamma, u) + dot(z, k.axes[i].angular));
                }
            }
            m.rows[j * 3 * n + 2 * n + column] = one;
        }
    }
}
