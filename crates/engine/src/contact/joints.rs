//! Which joints impulses hold in a step, and by what numbers: distances to the ends of their ranges, and dry friction.
//!
//! A degree of freedom with friction is always there. One with limits alone is there where an end of its range is near in some
//! world: nearer than the margin and what a step covers at its velocity, margin + h |v|. What is not near bounds nothing.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, World};
use pullback_kernel::scalar::Mask;

use super::contacts::{Pairs, Views};
use super::dynamics::Part;
use super::place::At;
use super::rows::{OnSide, Side};

/// A degree of freedom that impulses hold.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub node: usize,
    pub dof: usize,
    pub range: Option<Range>,
    /// [N·m or N]
    pub friction: Option<At>,
}

/// The range of a hinge or a slide: its position is a number of the robot's and an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub position: usize,
    pub offset: f64,
    pub lower: At,
    pub upper: At,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointRows {
    rows: Vec<Row>,
    /// [rad or m]
    margin: f64,
    /// The length of a step [s].
    h: f64,
}

#[derive(Clone, Debug)]
struct Row {
    robot: usize,
    held: Held,
    q: Buffer<f64>,
    v: Buffer<f64>,
    /// Which velocity.
    rate: usize,
}

/// The distance to an end of a range that is not near [rad or m].
const FAR: f64 = 1e12;

/// How far the ends of a range are, and whether they are near.
struct Ends<L: Lane> {
    gaps: [L; 2],
    near: [L::Mask; 2],
}

impl JointRows {
    pub fn new(parts: &[Part], margin: f64, h: f64) -> JointRows {
        let of = |(robot, part): (usize, &Part)| {
            let (q, v) = (part.inputs.q, part.inputs.v);
            let tree = part.tree.clone();
            let row = move |held: Held| Row { robot, rate: tree.dofs[held.dof].v as usize, held, q, v };
            part.held.clone().into_iter().map(row).collect::<Vec<_>>()
        };
        JointRows { rows: parts.iter().enumerate().flat_map(of).collect(), margin, h }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The degree of freedom of a row.
    #[inline(always)]
    pub fn dof(&self, row: usize) -> usize {
        self.rows[row].held.dof
    }

    /// Nothing, and what each of them acts on: as if those were shapes. There is no compliance: no two of them are alike.
    pub fn sides(&self) -> impl Iterator<Item = OnSide> + '_ {
        let of = |row: &Row| Some(Side { robot: row.robot, node: row.held.node });
        std::iter::once(None).chain(self.rows.iter().map(of)).map(|side| OnSide { side, softness: 0.0 })
    }

    pub fn reads(&self) -> Vec<BufferUse> {
        let of = |row: &Row| {
            let range = row.held.range.iter().flat_map(|range| [range.lower, range.upper]);
            let params = range.chain(row.held.friction);
            let uses: Vec<BufferUse> = params.filter_map(|at| at.reads()).collect();
            uses.into_iter().chain([row.q.into(), row.v.into()])
        };
        self.rows.iter().flat_map(of).collect()
    }

    #[inline(always)]
    fn ends<L: Lane>(&self, world: &World<'_, L>, row: &Row, range: &Range) -> Ends<L> {
        let q = world.values(row.q).get(range.position) + L::from_f64(range.offset);
        let speed = world.values(row.v).get(row.rate).abs();
        let reach = speed.mul_add(L::from_f64(self.h), L::from_f64(self.margin));
        let gaps = [q - range.lower.get(world), range.upper.get(world) - q];
        Ends { gaps, near: [gaps[0].le(reach), gaps[1].le(reach)] }
    }

    /// Places for those that are there.
    #[inline(always)]
    pub fn find<L: Lane>(&self, world: &World<'_, L>, out: &Views<'_, L>, pairs: &mut Pairs<'_, L>) {
        let (zero, far) = (L::from_f64(0.0), L::from_f64(FAR));
        for (r, row) in self.rows.iter().enumerate() {
            let (mut there, mut gaps, mut most) = (L::first(0), vec3(far, far, zero), zero);
            if let Some(range) = &row.held.range {
                let ends = self.ends(world, row, range);
                gaps.x = L::select(ends.near[0], ends.gaps[0], far);
                gaps.y = L::select(ends.near[1], ends.gaps[1], far);
                there = ends.near[0] | ends.near[1];
            }
            if let Some(friction) = row.held.friction {
                most = friction.get(world) * L::from_f64(self.h);
                there = L::first(L::WIDTH);
            }
            if !there.any() {
                continue;
            }
            let c = pairs.count;
            pairs.push_joint(r, there);
            out.point.set(c, gaps);
            out.normal.set(c, vec3(L::from_f64(1.0), zero, zero));
            out.gap.set(c, zero);
            out.velocity.set(c, vec3(zero, zero, zero));
            out.mu.set(c, most);
            out.restitution.set(c, zero);
        }
    }

    /// From the cotangents of a place to those of positions and params.
    #[inline(always)]
    pub fn pull<L: Lane>(&self, world: &World<'_, L>, row: usize, (c, bars): (usize, &Views<'_, L>)) {
        let row = &self.rows[row];
        if let Some(range) = &row.held.range {
            let (ends, bar, zero) = (self.ends(world, row, range), bars.point.get(c), L::from_f64(0.0));
            let (low, high) = (L::select(ends.near[0], bar.x, zero), L::select(ends.near[1], bar.y, zero));
            world.bars(row.q).add(range.position, low - high);
            range.lower.add(world, -low);
            range.upper.add(world, high);
        }
        if let Some(friction) = row.held.friction {
            friction.add(world, bars.mu.get(c) * L::from_f64(self.h));
        }
    }
}
