//! Forward dynamics: accelerations from forces, and its pullback by the equation.
//!
//! The equation is ID(q, v, a) = τ. With λ = M⁻¹ a_bar, by the factors that the forward pass has left:
//! τ_bar = λ, and everything else has the cotangents of ID in the direction -λ.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, World, carve};

use super::crba::{self, Sums};
use super::factor::{factorise, solve};
use super::joint::against_gravity;
use super::kinematics::{Configuration, Kinematics, down};
use super::rnea_pullback::{self, Bars};
use super::tree::Tree;
use super::Inputs;

/// Accelerations by the composite-rigid-body algorithm and factors along branches.
pub(crate) struct ForwardDynamics {
    tree: Arc<Tree>,
    inputs: Inputs,
    tau: Buffer<f64>,
    acceleration: Buffer<f64>,
    memory: Memory,
}

/// What the forward pass leaves for the pullback.
struct Kept<'a, L: Lane> {
    kinematics: Kinematics<'a, L>,
    inertias: &'a mut [Inertia<L>],
    factor: &'a mut [L],
    inverse: &'a mut [L],
    acceleration: &'a mut [L],
}

impl<'a, L: Lane> Kept<'a, L> {
    fn numbers(tree: &Tree) -> usize {
        Kinematics::<f64>::numbers(tree)
            + tree.nodes.len() * Inertia::<f64>::LEN
            + tree.ancestors.len()
            + 2 * tree.dofs.len()
    }

    #[inline(always)]
    fn carve(tree: &Tree, mut memory: &'a mut [L]) -> Self {
        let memory = &mut memory;
        Kept {
            kinematics: Kinematics::carve(tree, memory),
            inertias: carve::<Inertia, L>(memory, tree.nodes.len()),
            factor: carve::<f64, L>(memory, tree.ancestors.len()),
            inverse: carve::<f64, L>(memory, tree.dofs.len()),
            acceleration: carve::<f64, L>(memory, tree.dofs.len()),
        }
    }
}

impl ForwardDynamics {
    /// Adds it to a program: accelerations [rad/s² or m/s²] from forces on the degrees of freedom [N·m or N].
    pub fn add(p: &mut Builder, name: &str, tree: &Arc<Tree>, inputs: Inputs, tau: Buffer<f64>) -> Buffer<f64> {
        let tree = tree.clone();
        let acceleration = p.computed::<f64>(name, tree.velocities());
        let memory = p.memory(&format!("{name}, kept"), Kept::<f64>::numbers(&tree));
        p.operation(ForwardDynamics { tree, inputs, tau, acceleration, memory });
        acceleration
    }
}

impl Operation for ForwardDynamics {
    fn name(&self) -> String {
        "forward dynamics".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads = self.inputs.reads();
        reads.push(self.tau.into());
        reads
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.acceleration.into()]
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn scratch(&self) -> usize {
        let pullback = rnea_pullback::Sums::<f64>::numbers(&self.tree) + self.tree.dofs.len();
        Sums::<f64>::numbers(&self.tree).max(pullback)
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (tree, inputs) = (&*self.tree, &self.inputs);
        let x = inputs.configuration(world);
        let start = against_gravity(world.values(inputs.gravity).get(0));
        let (own, armature) = (world.values(inputs.inertias), world.values(inputs.armature));
        let (tau, out) = (world.values(self.tau), world.values(self.acceleration));
        let mut kept = Kept::carve(tree, world.memory);
        let mut scratch = &mut *world.scratch;
        let mut sums = Sums::carve(tree, &mut scratch);
        down::<L, false>(tree, &x, start, &mut kept.kinematics);
        crba::bodies(tree, &own, &kept.kinematics, kept.inertias, &mut sums);
        crba::up(tree, &kept.kinematics, &armature, &mut sums, kept.factor, kept.acceleration);
        for (i, dof) in tree.dofs.iter().enumerate() {
            kept.acceleration[i] = tau.get(dof.v as usize) - kept.acceleration[i];
        }
        factorise(tree, kept.factor, kept.inverse);
        solve(tree, kept.factor, kept.inverse, kept.acceleration);
        for (i, dof) in tree.dofs.iter().enumerate() {
            out.set(dof.v as usize, kept.acceleration[i]);
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (tree, inputs) = (&*self.tree, &self.inputs);
        let x: Configuration<'_, L> = inputs.configuration(world);
        let bars: Bars<'_, L> = inputs.bars(world);
        let start = against_gravity(world.values(inputs.gravity).get(0));
        let (tau_bar, out_bar) = (world.bars(self.tau), world.bars(self.acceleration));
        let kept = Kept::carve(tree, world.memory);
        let mut scratch = &mut *world.scratch;
        let w = carve::<f64, L>(&mut scratch, tree.dofs.len());
        let mut sums = rnea_pullback::Sums::carve(tree, &mut scratch);
        for (i, dof) in tree.dofs.iter().enumerate() {
            w[i] = out_bar.get(dof.v as usize);
        }
        solve(tree, kept.factor, kept.inverse, w);
        for (i, dof) in tree.dofs.iter().enumerate() {
            tau_bar.add(dof.v as usize, w[i]);
            w[i] = -w[i];
        }
        let directions = (&*w, &*kept.acceleration);
        rnea_pullback::pull(tree, &x, &kept.kinematics, kept.inertias, start, directions, &mut sums, &bars);
    }
}
