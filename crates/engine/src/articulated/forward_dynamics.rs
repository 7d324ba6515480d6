//! Forward dynamics: accelerations from forces, and its pullback by the equation.
//!
//! The equation is ID(q, v, a) = τ. With λ = M⁻¹ a_bar, by the factors that the forward pass has left:
//! τ_bar = λ, and everything else has the cotangents of ID in the direction -λ.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Apart, BufferUse, Builder, Lane, Memory, Operation, View, World, carve};

use super::crba::{self, Sums};
use super::joint::against_gravity;
use super::kinematics::{Kinematics, down};
use super::push::{Pushed, Pushes};
use super::rnea_pullback;
use super::tree::Tree;
use super::{Inputs, aba, dense, factor};

/// How M⁻¹ is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The one that takes fewer operations.
    #[default]
    Fastest,
    /// Composite bodies, and factors of the mass matrix along branches: for trees that are not deep.
    Composite,
    /// Articulated bodies: operations grow with the number of joints alone.
    Articulated,
}

impl Algorithm {
    /// Which one it is for a tree.
    fn chosen(self, tree: &Tree) -> Algorithm {
        match self {
            // What follows other joints is solved for densely.
            _ if tree.follows() => Algorithm::Composite,
            _ if tree.is_deep() => Algorithm::Articulated,
            Algorithm::Fastest => {
                // Multiplications: six for an entry of M, one for each entry above it while factorising. An articulated
                // inertia takes about 65 more a degree of freedom than a composite one, as measured: factors along branches
                // are short loops.
                let multiplications = |depth: &u32| *depth as usize * (8 + *depth as usize / 2);
                let composite: usize = tree.depths.iter().map(multiplications).sum();
                if composite <= 65 * tree.dofs.len() { Algorithm::Composite } else { Algorithm::Articulated }
            }
            Algorithm::Composite | Algorithm::Articulated => self,
        }
    }
}

/// Accelerations from forces.
pub(crate) struct ForwardDynamics {
    tree: Arc<Tree>,
    articulated: bool,
    inputs: Inputs,
    tau: Buffer<f64>,
    pushes: Option<Pushes>,
    acceleration: Buffer<f64>,
    memory: Memory,
}

/// What the forward pass leaves for the pullback.
pub(crate) struct Kept<'a, L: Lane> {
    pub kinematics: Kinematics<'a, L>,
    pub inertias: &'a mut [Inertia<L>],
    /// M⁻¹: the entries of L, or U; and D⁻¹.
    factor: Factor<'a, L>,
    inverse: &'a mut [L],
    pub acceleration: &'a mut [L],
}

enum Factor<'a, L: Lane> {
    Branches(&'a mut [L]),
    Bodies(&'a mut [Force<L>]),
    /// M along branches, and the dense factors of Gᵀ M G.
    Dense(&'a mut [L], &'a mut [L]),
}

impl<'a, L: Lane> Kept<'a, L> {
    pub fn numbers(tree: &Tree, articulated: bool) -> usize {
        let factor = match (articulated, tree.follows()) {
            (true, _) => Force::<f64>::LEN * tree.dofs.len(),
            (false, false) => tree.ancestors.len(),
            (false, true) => tree.ancestors.len() + tree.velocities * tree.velocities,
        };
        Kinematics::<f64>::numbers(tree)
            + tree.nodes.len() * Inertia::<f64>::LEN
            + factor
            + 2 * tree.dofs.len()
    }

    #[inline(always)]
    pub fn carve(tree: &Tree, articulated: bool, memory: &'a mut [L]) -> Self {
        Self::carve_as(tree, (articulated, tree.follows()), memory)
    }

    /// [`Kept::carve`] where nothing follows and the tree is not deep, which the compiler then knows too.
    #[inline(always)]
    pub fn carve_branches(tree: &Tree, memory: &'a mut [L]) -> Self {
        Self::carve_as(tree, (false, false), memory)
    }

    #[inline(always)]
    fn carve_as(tree: &Tree, (articulated, follows): (bool, bool), mut memory: &'a mut [L]) -> Self {
        let memory = &mut memory;
        Kept {
            kinematics: Kinematics::carve(tree, memory),
            inertias: carve::<Inertia, L>(memory, tree.nodes.len()),
            factor: match (articulated, follows) {
                (true, _) => Factor::Bodies(carve::<Force, L>(memory, tree.dofs.len())),
                (false, false) => Factor::Branches(carve::<f64, L>(memory, tree.ancestors.len())),
                (false, true) => Factor::Dense(
                    carve::<f64, L>(memory, tree.ancestors.len()),
                    carve::<f64, L>(memory, tree.velocities * tree.velocities),
                ),
            },
            inverse: carve::<f64, L>(memory, tree.dofs.len()),
            acceleration: carve::<f64, L>(memory, tree.dofs.len()),
        }
    }

    /// Forces on velocities become accelerations of degrees of freedom: with G for what follows, G (Gᵀ M G)⁻¹ x. `given` are by
    /// velocity, minus what `less` says by degree of freedom; the result is by degree of freedom.
    #[inline(always)]
    fn solve(
        &self,
        tree: &Tree,
        given: &View<'_, f64, L>,
        less: Option<&[L]>,
        x: &mut [L],
        scratch: &mut [L],
    ) {
        if let Factor::Dense(_, l) = &self.factor {
            let n = tree.velocities;
            let reduced = &mut scratch[..n];
            for i in 0..n {
                reduced[i] = given.get(i);
            }
            if let Some(less) = less {
                for (dof, less) in tree.dofs.iter().zip(less) {
                    let v = dof.v as usize;
                    reduced[v] = (-*less).mul_add(L::from_f64(dof.scale), reduced[v]);
                }
            }
            dense::solve_rows(n, l, self.inverse, reduced, 1);
            for (x, dof) in x.iter_mut().zip(&tree.dofs) {
                *x = reduced[dof.v as usize] * L::from_f64(dof.scale);
            }
            return;
        }
        for (i, dof) in tree.dofs.iter().enumerate() {
            x[i] = given.get(dof.v as usize);
        }
        if let Some(less) = less {
            for i in 0..x.len() {
                x[i] = x[i] - less[i];
            }
        }
        match &self.factor {
            Factor::Branches(l) => factor::solve(tree, l, self.inverse, x),
            Factor::Bodies(u) => {
                let mut scratch = scratch;
                let forces = carve::<Force, L>(&mut scratch, tree.nodes.len());
                let motions = carve::<Motion, L>(&mut scratch, tree.nodes.len());
                aba::solve(tree, self.kinematics.axes, (u, self.inverse), x, (forces, motions));
            }
            Factor::Dense(..) => {}
        }
    }

    /// Where the numbers of D⁻¹ begin, with factors along branches.
    pub fn inverse_at(tree: &Tree) -> usize {
        Kinematics::<f64>::numbers(tree) + tree.nodes.len() * Inertia::<f64>::LEN + tree.ancestors.len()
    }

    /// The factors along branches: entries of L, and D⁻¹.
    #[inline(always)]
    pub fn branches(&self) -> (&[L], &[L]) {
        match &self.factor {
            Factor::Branches(l) => (l, self.inverse),
            Factor::Bodies(_) | Factor::Dense(..) => (&[], &[]),
        }
    }

    /// Rows of `width` numbers, one for each velocity, become M⁻¹ times them, by factors along branches or dense ones.
    #[inline(always)]
    pub fn solve_rows(&self, tree: &Tree, rows: &mut [L], width: usize) {
        match &self.factor {
            Factor::Branches(l) => factor::solve_rows(tree, l, self.inverse, rows, width),
            Factor::Dense(_, l) => dense::solve_rows(tree.velocities, l, self.inverse, rows, width),
            Factor::Bodies(_) => {}
        }
    }
}

/// How much working memory the forward pass wants.
pub(crate) fn forward_scratch(tree: &Tree) -> usize {
    let solve = (Force::<f64>::LEN + Motion::<f64>::LEN) * tree.nodes.len();
    Sums::<f64>::numbers(tree)
        + tree.dofs.len()
        + (tree.nodes.len() * ArticulatedInertia::<f64>::LEN).max(solve).max(tree.velocities)
}

/// Where everything is and how it moves, which is left in `kept`.
#[inline(always)]
pub(crate) fn place<L: Lane>(tree: &Tree, world: &World<'_, L>, inputs: &Inputs, kept: &mut Kept<'_, L>) {
    let start = against_gravity(world.values(inputs.gravity).get(0));
    down::<L, false>(tree, &inputs.configuration(world), start, &mut kept.kinematics);
}

/// Everything from there to the accelerations, which are left in `kept`.
pub(crate) struct Accelerate<'a, 'w, 'k, L: Lane> {
    pub tree: &'a Tree,
    pub world: &'a World<'w, L>,
    pub inputs: &'a Inputs,
    pub tau: View<'w, f64, L>,
    pub pushes: Option<&'a Pushes>,
    pub kept: &'a mut Kept<'k, L>,
    pub scratch: &'a mut [L],
}

impl<L: Lane> Apart for Accelerate<'_, '_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Accelerate { tree, world, inputs, tau, pushes, kept, scratch } = self;
        let (own, armature) = (world.values(inputs.inertias), world.values(inputs.armature));
        let mut rest = scratch;
        let mut sums = Sums::carve(tree, &mut rest);
        let bias = carve::<f64, L>(&mut rest, tree.dofs.len());
        crba::bodies(tree, &own, &kept.kinematics, kept.inertias, &mut sums);
        let k = &kept.kinematics;
        if let Some(pushes) = pushes {
            pushes.values(world).apply(k.poses, sums.forces);
        }
        match &mut kept.factor {
            Factor::Branches(m) => {
                crba::up(tree, k, &armature, &mut sums, m, bias);
                factor::factorise(tree, m, kept.inverse);
            }
            Factor::Bodies(u) => {
                crba::forces_up(tree, k, &mut sums, bias);
                let mut rest = &mut *rest;
                let bodies = carve::<ArticulatedInertia, L>(&mut rest, tree.nodes.len());
                aba::factorise(tree, k.axes, kept.inertias, &armature, bodies, (u, kept.inverse));
            }
            Factor::Dense(m, l) => {
                crba::up(tree, k, &armature, &mut sums, m, bias);
                dense::factorise(tree, m, l, kept.inverse);
            }
        }
        let acceleration = std::mem::take(&mut kept.acceleration);
        kept.solve(tree, &tau, Some(bias), acceleration, rest);
        kept.acceleration = acceleration;
    }
}

impl ForwardDynamics {
    /// Adds it to a program: accelerations [rad/s² or m/s²] from forces on the degrees of freedom [N·m or N].
    pub fn add(
        p: &mut Builder,
        name: &str,
        (tree, algorithm): (&Arc<Tree>, Algorithm),
        inputs: Inputs,
        (tau, pushes): (Buffer<f64>, Option<Pushes>),
    ) -> Buffer<f64> {
        let tree = tree.clone();
        let articulated = algorithm.chosen(&tree) == Algorithm::Articulated;
        let acceleration = p.computed::<f64>(name, tree.velocities());
        let memory = p.memory(&format!("{name}, kept"), Kept::<f64>::numbers(&tree, articulated));
        p.operation(ForwardDynamics { tree, articulated, inputs, tau, pushes, acceleration, memory });
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
        reads.extend(self.pushes.iter().flat_map(Pushes::reads));
        reads
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.acceleration.into()]
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn scratch(&self) -> usize {
        let n = self.tree.nodes.len();
        let solve = ((Force::<f64>::LEN + Motion::<f64>::LEN) * n).max(self.tree.velocities);
        let pullback = rnea_pullback::Sums::<f64>::numbers(&self.tree) + self.tree.dofs.len();
        forward_scratch(&self.tree).max(pullback + solve)
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let tree = &*self.tree;
        let (tau, out) = (world.values(self.tau), world.values(self.acceleration));
        let (memory, scratch) = (std::mem::take(&mut world.memory), std::mem::take(&mut world.scratch));
        let mut kept = Kept::carve(tree, self.articulated, memory);
        place(tree, world, &self.inputs, &mut kept);
        let (inputs, pushes) = (&self.inputs, self.pushes.as_ref());
        L::apart(Accelerate { tree, world, inputs, tau, pushes, kept: &mut kept, scratch });
        for (a, dof) in kept.acceleration.iter().zip(&tree.dofs) {
            if dof.own {
                out.set(dof.v as usize, *a);
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (tree, inputs) = (&*self.tree, &self.inputs);
        let (x, bars) = (inputs.configuration(world), inputs.bars(world));
        let start = against_gravity(world.values(inputs.gravity).get(0));
        let (tau_bar, out_bar) = (world.bars(self.tau), world.bars(self.acceleration));
        let mut pushed = match &self.pushes {
            Some(pushes) => Some(Pushed { values: pushes.values(world), bars: pushes.bars(world) }),
            None => None,
        };
        let kept = Kept::carve(tree, self.articulated, world.memory);
        let mut scratch = &mut *world.scratch;
        let w = carve::<f64, L>(&mut scratch, tree.dofs.len());
        let mut sums = rnea_pullback::Sums::carve(tree, &mut scratch);
        kept.solve(tree, &out_bar, None, w, scratch);
        for (w, dof) in w.iter_mut().zip(&tree.dofs) {
            if dof.own {
                tau_bar.add(dof.v as usize, *w);
            }
            *w = -*w;
        }
        let directions = (&*w, &*kept.acceleration);
        let (k, inertias) = (&kept.kinematics, &*kept.inertias);
        rnea_pullback::pull(tree, &x, k, inertias, start, directions, &mut pushed, &mut sums, &bars);
    }
}
