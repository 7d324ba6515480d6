//! Inverse dynamics: forces from accelerations (recursive Newton-Euler, RBDA table 5.1), and the mass matrix.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, World, carve};

use super::Inputs;
use super::crba::{self, Sums};
use super::joint::against_gravity;
use super::kinematics::{Kinematics, down, spread};
use super::rnea_pullback;
use super::tree::Tree;

/// Forces on the degrees of freedom that accelerations take, and the mass matrix on demand.
pub(crate) struct InverseDynamics {
    tree: Arc<Tree>,
    inputs: Inputs,
    acceleration: Buffer<f64>,
    tau: Buffer<f64>,
    memory: Memory,
}

struct Kept<'a, L: Lane> {
    kinematics: Kinematics<'a, L>,
    inertias: &'a mut [Inertia<L>],
    acceleration: &'a mut [L],
}

impl<'a, L: Lane> Kept<'a, L> {
    fn numbers(tree: &Tree) -> usize {
        Kinematics::<f64>::numbers(tree) + tree.nodes.len() * Inertia::<f64>::LEN + tree.dofs.len()
    }

    #[inline(always)]
    fn carve(tree: &Tree, mut memory: &'a mut [L]) -> Self {
        let memory = &mut memory;
        Kept {
            kinematics: Kinematics::carve(tree, memory),
            inertias: carve::<Inertia, L>(memory, tree.nodes.len()),
            acceleration: carve::<f64, L>(memory, tree.dofs.len()),
        }
    }
}

impl InverseDynamics {
    /// Adds it to a program.
    pub fn add(
        p: &mut Builder,
        name: &str,
        tree: &Arc<Tree>,
        inputs: Inputs,
        acceleration: Buffer<f64>,
    ) -> Buffer<f64> {
        let tree = tree.clone();
        let tau = p.computed::<f64>(name, tree.velocities());
        let memory = p.memory(&format!("{name}, kept"), Kept::<f64>::numbers(&tree));
        p.operation(InverseDynamics { tree, inputs, acceleration, tau, memory });
        tau
    }
}

impl Operation for InverseDynamics {
    const LANES: bool = false;

    fn name(&self) -> String {
        "inverse dynamics".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads = self.inputs.reads();
        reads.push(self.acceleration.into());
        reads
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.tau.into()]
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn scratch(&self) -> usize {
        let forward = Sums::<f64>::numbers(&self.tree) + self.tree.nodes.len() * Motion::<f64>::LEN;
        let pullback = rnea_pullback::Sums::<f64>::numbers(&self.tree);
        forward.max(pullback) + 2 * self.tree.dofs.len()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (tree, inputs) = (&*self.tree, &self.inputs);
        let x = inputs.configuration(world);
        let start = against_gravity(world.values(inputs.gravity).get(0));
        let (own, armature) = (world.values(inputs.inertias), world.values(inputs.armature));
        let (a, out) = (world.values(self.acceleration), world.values(self.tau));
        let mut kept = Kept::carve(tree, world.memory);
        let mut scratch = &mut *world.scratch;
        let mut sums = Sums::carve(tree, &mut scratch);
        let joints = carve::<Motion, L>(&mut scratch, tree.nodes.len());
        let tau = carve::<f64, L>(&mut scratch, tree.dofs.len());
        down::<L, false>(tree, &x, start, &mut kept.kinematics);
        for (i, dof) in tree.dofs.iter().enumerate() {
            kept.acceleration[i] = a.get(dof.v as usize) * L::from_f64(dof.scale);
        }
        spread(tree, kept.kinematics.axes, kept.acceleration, joints);
        for n in 0..tree.nodes.len() {
            kept.kinematics.accelerations[n] = kept.kinematics.accelerations[n] + joints[n];
        }
        crba::bodies(tree, &own, &kept.kinematics, kept.inertias, &mut sums);
        crba::forces_up(tree, &kept.kinematics, &mut sums, tau);
        // The pullback wants accelerations without those of the joints.
        for n in 0..tree.nodes.len() {
            kept.kinematics.accelerations[n] = kept.kinematics.accelerations[n] - joints[n];
        }
        for i in 0..tree.velocities {
            out.set(i, L::from_f64(0.0));
        }
        for node in &tree.nodes {
            let d = node.dof as usize;
            for i in d..d + node.kind.velocities() {
                let own = armature.get(node.joint as usize) * kept.acceleration[i];
                let dof = &tree.dofs[i];
                out.add(dof.v as usize, (tau[i] + own) * L::from_f64(dof.scale));
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (tree, inputs) = (&*self.tree, &self.inputs);
        let (x, bars) = (inputs.configuration(world), inputs.bars(world));
        let start = against_gravity(world.values(inputs.gravity).get(0));
        let armature = world.values(inputs.armature);
        let (a_bar, out_bar) = (world.bars(self.acceleration), world.bars(self.tau));
        let kept = Kept::carve(tree, world.memory);
        let mut scratch = &mut *world.scratch;
        let w = carve::<f64, L>(&mut scratch, tree.dofs.len());
        let mut sums = rnea_pullback::Sums::carve(tree, &mut scratch);
        for (i, dof) in tree.dofs.iter().enumerate() {
            w[i] = out_bar.get(dof.v as usize) * L::from_f64(dof.scale);
        }
        let directions = (&*w, &*kept.acceleration);
        let (k, inertias) = (&kept.kinematics, &*kept.inertias);
        rnea_pullback::pull(tree, &x, k, inertias, start, directions, &mut (), &mut sums, &bars);
        // M w: what A_bar has summed up behind each joint.
        for (n, node) in tree.nodes.iter().enumerate() {
            let d = node.dof as usize;
            for i in d..d + node.kind.velocities() {
                let own = armature.get(node.joint as usize) * w[i];
                let behind = power(kept.kinematics.axes[i], sums.a_bar[n]);
                let dof = &tree.dofs[i];
                a_bar.add(dof.v as usize, (behind + own) * L::from_f64(dof.scale));
            }
        }
    }
}
