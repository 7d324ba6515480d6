//! The mass matrix as a whole, from composite rigid bodies.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, World, carve};

use super::Inputs;
use super::crba::{self, Sums};
use super::kinematics::{Kinematics, down, no_motion};
use super::tree::Tree;

/// M, nv × nv numbers, row by row; it has no pullback.
pub(crate) struct MassMatrix {
    tree: Arc<Tree>,
    inputs: Inputs,
    out: Buffer<f64>,
}

impl MassMatrix {
    /// Adds it to a program.
    pub fn add(p: &mut Builder, name: &str, tree: &Arc<Tree>, inputs: Inputs) -> Buffer<f64> {
        let out = p.computed::<f64>(name, tree.velocities() * tree.velocities());
        p.operation(MassMatrix { tree: tree.clone(), inputs, out });
        out
    }
}

impl Operation for MassMatrix {
    const LANES: bool = false;

    fn name(&self) -> String {
        "mass matrix".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        self.inputs.reads()
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.into()]
    }
    fn scratch(&self) -> usize {
        let tree = &*self.tree;
        Kinematics::<f64>::numbers(tree)
            + Sums::<f64>::numbers(tree)
            + tree.nodes.len() * Inertia::<f64>::LEN
            + tree.ancestors.len()
            + tree.dofs.len()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (tree, n) = (&*self.tree, self.tree.velocities);
        let x = self.inputs.configuration(world);
        let (own, armature) = (world.values(self.inputs.inertias), world.values(self.inputs.armature));
        let out = world.values(self.out);
        let mut scratch = &mut *world.scratch;
        let mut kinematics = Kinematics::carve(tree, &mut scratch);
        let mut sums = Sums::carve(tree, &mut scratch);
        let inertias = carve::<Inertia, L>(&mut scratch, tree.nodes.len());
        let m = carve::<f64, L>(&mut scratch, tree.ancestors.len());
        let bias = carve::<f64, L>(&mut scratch, tree.dofs.len());
        down::<L, false>(tree, &x, no_motion(), &mut kinematics);
        crba::bodies(tree, &own, &kinematics, inertias, &mut sums);
        crba::up(tree, &kinematics, &armature, &mut sums, m, bias);
        for i in 0..n * n {
            out.set(i, L::from_f64(0.0));
        }
        for i in 0..tree.dofs.len() {
            let row = tree.row(i);
            for (entry, &j) in m[row.clone()].iter().zip(&tree.ancestors[row]) {
                let (a, b) = (&tree.dofs[i], &tree.dofs[j as usize]);
                let value = *entry * L::from_f64(a.scale * b.scale);
                out.add(a.v as usize * n + b.v as usize, value);
                if i != j as usize {
                    out.add(b.v as usize * n + a.v as usize, value);
                }
            }
        }
    }

    fn pullback<L: Lane>(&self, _: &mut World<'_, L>) {}
}
