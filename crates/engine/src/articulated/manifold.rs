//! Positions of joints as points of a manifold: numbers that are added, and unit quaternions that are turned.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Operation, View, World};
use pullback_scene::robot::JointKind;

use super::kinematics::{quaternion, vector};
use super::tree::Tree;

/// Numbers that are added, and quaternions that are turned, in the order of their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifold {
    /// Stretches of (position, velocity, length).
    pub flat: Vec<(usize, usize, usize)>,
    /// (quaternion, angular velocity in the body's axes).
    pub rotations: Vec<(usize, usize)>,
}

impl Manifold {
    pub fn new(tree: &Tree) -> Manifold {
        let mut flat: Vec<(usize, usize, usize)> = Vec::new();
        let mut rotations = Vec::new();
        let own = |node: &&super::tree::Node| tree.dofs[node.dof as usize].own;
        let mut joints: Vec<_> = tree.nodes.iter().filter(own).collect();
        joints.sort_by_key(|node| node.joint);
        for node in &joints {
            match node.kind {
                JointKind::Hinge | JointKind::Slide => flat.push((node.q as usize, node.v as usize, 1)),
                JointKind::Ball => rotations.push((node.turn as usize, node.v as usize)),
                JointKind::Free => {
                    flat.push((node.q as usize, node.v as usize, 3));
                    rotations.push((node.turn as usize, node.spin as usize));
                }
            }
        }
        flat.sort_unstable();
        let mut joined: Vec<(usize, usize, usize)> = Vec::new();
        for (q, v, len) in flat {
            match joined.last_mut() {
                Some((q0, v0, n)) if *q0 + *n == q && *v0 + *n == v => *n += len,
                _ => joined.push((q, v, len)),
            }
        }
        Manifold { flat: joined, rotations }
    }
}

/// q turned by a rotation vector t h in its own axes, and kept at unit length.
#[kernel]
fn turned<R: Real>(q: Quat<R>, t: Vec3<R>, h: R) -> Quat<R> {
    normalize_quat(q * quat_exp(t * h))
}

impl Manifold {
    /// Adds to `z_bar` what the cotangent `x_bar` of positions x ⊕ (a v + b z) gives z.
    pub fn pull_velocity(
        &self,
        x: &[f64],
        [(v, a), (z, b)]: [(&[f64], f64); 2],
        x_bar: &[f64],
        z_bar: &mut [f64],
    ) {
        for &(q, at, len) in &self.flat {
            for i in 0..len {
                z_bar[at + i] += b * x_bar[q + i];
            }
        }
        let quaternion = |x: &[f64], q: usize| quat(x[q], vec3(x[q + 1], x[q + 2], x[q + 3]));
        for &(q, at) in &self.rotations {
            let along = |i: usize| a * v[at + i] + b * z[at + i];
            let t = vec3(along(0), along(1), along(2));
            let (_, t_bar, _) = turned::pullback(quaternion(x, q), t, 1.0, quaternion(x_bar, q));
            z_bar[at] += b * t_bar.x;
            z_bar[at + 1] += b * t_bar.y;
            z_bar[at + 2] += b * t_bar.z;
        }
    }

    /// How many bytes it holds beyond itself.
    pub fn bytes(&self) -> usize {
        crate::step::held(&self.flat) + crate::step::held(&self.rotations)
    }
}

/// The rate of q at an angular velocity w in its own axes: q (0, w) / 2
#[kernel]
fn quat_rate<R: Real>(q: Quat<R>, w: Vec3<R>) -> Quat<R> {
    q * quat(0.0, w * 0.5)
}

/// q h-fold along tangents: q ⊕ h t
pub(crate) struct Retract {
    pub manifold: Arc<Manifold>,
    pub q: Buffer<f64>,
    pub t: Buffer<f64>,
    pub h: f64,
    pub out: Buffer<f64>,
}

/// Rates of stored positions, from velocities.
pub(crate) struct Rates {
    pub manifold: Arc<Manifold>,
    pub q: Buffer<f64>,
    pub v: Buffer<f64>,
    pub out: Buffer<f64>,
}

/// Quaternions back at unit length.
pub(crate) struct Normalise {
    pub manifold: Arc<Manifold>,
    pub q: Buffer<f64>,
    pub out: Buffer<f64>,
}

/// A sum of buffers with factors.
pub(crate) struct Combine {
    pub terms: Vec<(Buffer<f64>, f64)>,
    pub len: usize,
    pub out: Buffer<f64>,
    pub name: String,
}

#[inline(always)]
fn set_quaternion<L: Lane>(view: &View<'_, f64, L>, at: usize, q: Quat<L>) {
    view.set(at, q.w);
    view.set(at + 1, q.x);
    view.set(at + 2, q.y);
    view.set(at + 3, q.z);
}

#[inline(always)]
pub(crate) fn add_quaternion<L: Lane>(view: &View<'_, f64, L>, at: usize, q: Quat<L>) {
    view.add(at, q.w);
    view.add(at + 1, q.x);
    view.add(at + 2, q.y);
    view.add(at + 3, q.z);
}

#[inline(always)]
pub(crate) fn add_vector<L: Lane>(view: &View<'_, f64, L>, at: usize, v: Vec3<L>) {
    view.add(at, v.x);
    view.add(at + 1, v.y);
    view.add(at + 2, v.z);
}

impl Operation for Retract {
    fn name(&self) -> String {
        "joint positions".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.q.into(), self.t.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.into()]
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, t, out) = (world.values(self.q), world.values(self.t), world.values(self.out));
        let h = L::from_f64(self.h);
        for &(at, v, len) in &self.manifold.flat {
            for i in 0..len {
                out.set(at + i, t.get(v + i).mul_add(h, q.get(at + i)));
            }
        }
        for &(at, v) in &self.manifold.rotations {
            set_quaternion(&out, at, turned(quaternion(&q, at as u32), vector(&t, v as u32), h));
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, t) = (world.values(self.q), world.values(self.t));
        let (q_bar, t_bar, bar) = (world.bars(self.q), world.bars(self.t), world.bars(self.out));
        let h = L::from_f64(self.h);
        for &(at, v, len) in &self.manifold.flat {
            for i in 0..len {
                let bar = bar.get(at + i);
                q_bar.add(at + i, bar);
                t_bar.add(v + i, bar * h);
            }
        }
        for &(at, v) in &self.manifold.rotations {
            let bar = quaternion(&bar, at as u32);
            let (q, t, _) = turned::pullback(quaternion(&q, at as u32), vector(&t, v as u32), h, bar);
            add_quaternion(&q_bar, at, q);
            add_vector(&t_bar, v, t);
        }
    }
}

impl Operation for Rates {
    fn name(&self) -> String {
        "rates of joint positions".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.q.into(), self.v.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.into()]
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, rates, out) = (world.values(self.q), world.values(self.v), world.values(self.out));
        for &(at, v, len) in &self.manifold.flat {
            for i in 0..len {
                out.set(at + i, rates.get(v + i));
            }
        }
        for &(at, v) in &self.manifold.rotations {
            set_quaternion(&out, at, quat_rate(quaternion(&q, at as u32), vector(&rates, v as u32)));
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, rates) = (world.values(self.q), world.values(self.v));
        let (q_bar, v_bar, bar) = (world.bars(self.q), world.bars(self.v), world.bars(self.out));
        for &(at, v, len) in &self.manifold.flat {
            for i in 0..len {
                v_bar.add(v + i, bar.get(at + i));
            }
        }
        for &(at, v) in &self.manifold.rotations {
            let bar = quaternion(&bar, at as u32);
            let (q, w) = quat_rate::pullback(quaternion(&q, at as u32), vector(&rates, v as u32), bar);
            add_quaternion(&q_bar, at, q);
            add_vector(&v_bar, v, w);
        }
    }
}

impl Operation for Normalise {
    fn name(&self) -> String {
        "unit quaternions".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.q.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.into()]
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, out) = (world.values(self.q), world.values(self.out));
        for &(at, _, len) in &self.manifold.flat {
            for i in at..at + len {
                out.set(i, q.get(i));
            }
        }
        for &(at, _) in &self.manifold.rotations {
            set_quaternion(&out, at, normalize_quat(quaternion(&q, at as u32)));
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, q_bar, bar) = (world.values(self.q), world.bars(self.q), world.bars(self.out));
        for &(at, _, len) in &self.manifold.flat {
            for i in at..at + len {
                q_bar.add(i, bar.get(i));
            }
        }
        for &(at, _) in &self.manifold.rotations {
            let bar = quaternion(&bar, at as u32);
            add_quaternion(&q_bar, at, normalize_quat_pullback(quaternion(&q, at as u32), bar));
        }
    }
}

impl Operation for Combine {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn reads(&self) -> Vec<BufferUse> {
        self.terms.iter().map(|(buffer, _)| (*buffer).into()).collect()
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.into()]
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let out = world.values(self.out);
        for (k, &(buffer, factor)) in self.terms.iter().enumerate() {
            let (x, factor) = (world.values(buffer), L::from_f64(factor));
            for i in 0..self.len {
                let sum = if k == 0 { x.get(i) * factor } else { x.get(i).mul_add(factor, out.get(i)) };
                out.set(i, sum);
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let bar = world.bars(self.out);
        for &(buffer, factor) in &self.terms {
            let (x_bar, factor) = (world.bars(buffer), L::from_f64(factor));
            for i in 0..self.len {
                x_bar.add(i, bar.get(i) * factor);
            }
        }
    }
}

impl Combine {
    /// Adds Σ factor · buffer to a program.
    pub fn add(p: &mut Builder, name: &str, len: usize, terms: &[(Buffer<f64>, f64)]) -> Buffer<f64> {
        let out = p.computed::<f64>(name, len);
        p.operation(Combine { terms: terms.to_vec(), len, out, name: name.to_owned() });
        out
    }
}

impl Retract {
    /// Adds q ⊕ h t to a program.
    pub fn add(
        p: &mut Builder,
        name: &str,
        (manifold, len): (&Arc<Manifold>, usize),
        (q, t, h): (Buffer<f64>, Buffer<f64>, f64),
    ) -> Buffer<f64> {
        let out = p.computed::<f64>(name, len);
        p.operation(Retract { manifold: manifold.clone(), q, t, h, out });
        out
    }
}
