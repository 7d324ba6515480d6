//! The pullback of inverse dynamics in a direction w: of w · ID(q, v, a), for everything that ID depends on.
//!
//! With W the motion that w gives every body, w · ID = Σ W · F, F = I A + V ×* I V - f. Per body, with U = V × W:
//!
//! - A_bar = I W,  V_bar = -(W ×* I V + I U),  I_bar that of W · I A - U · I V.
//!
//! Moving everything behind a joint as one rigid body, its V, A, W and f with it, changes no F: so moving it alone is as good
//! as moving V, A and W of before the joint back. Its cotangent is, with sums over what hangs from the joint,
//!
//! - Ξ = -(V ×* V_bar + A ×* A_bar + W ×* F),
//!
//! and gives those of the joint's position (s · Ξ) and of its placement. V_bar includes what the joint's own
//! velocity does to A: V_bar += v s ×* A_bar; its v_bar = s · V_bar + (V × s) · A_bar. Forces from outside do not move with
//! what is behind a joint: what they would have done by moving is taken off again (`Outside`).

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, View, carve};
use pullback_scene::robot::JointKind;

use super::joint::{along, carried, placement_bar, quat_bar};
use super::kinematics::{Configuration, Kinematics, no_motion, origin, quaternion, rate, spread, vector};
use super::tree::{Node, Tree, WORLD};

/// Where cotangents go.
#[derive(Clone, Copy)]
pub(crate) struct Bars<'a, L: Lane> {
    pub q: View<'a, f64, L>,
    pub v: View<'a, f64, L>,
    pub placements: View<'a, Pose, L>,
    pub inertias: View<'a, Inertia, L>,
    pub armature: View<'a, f64, L>,
    pub gravity: View<'a, Vec3, L>,
}

/// Sums over subtrees, on their way to the roots.
pub(crate) struct Sums<'a, L: Lane> {
    w: &'a mut [Motion<L>],
    a: &'a mut [Motion<L>],
    pub v_bar: &'a mut [Force<L>],
    pub a_bar: &'a mut [Force<L>],
    force: &'a mut [Force<L>],
    /// By what forces from outside do not move with their nodes.
    pub stays: &'a mut [Force<L>],
}

/// Forces from outside on nodes, about the origins of their trees.
pub(crate) trait Outside<L: Lane> {
    /// Takes the forces off `force`, gives them their cotangents, and adds to `stays` by what they do not move with their
    /// nodes: -W ×* f for what does not move at all. `w` are the motions W of nodes.
    fn act(&mut self, poses: &[Pose<L>], w: &[Motion<L>], force: &mut [Force<L>], stays: &mut [Force<L>]);
    /// Is there more to be pulled back along?
    const CARRIES: bool = false;
    /// Σ V · f, with the motions V that other velocities give the nodes, and forces that do not move. Its V ×* f is in
    /// `stays`.
    #[inline(always)]
    fn carried(&mut self) -> Carried<'_, L> {
        Carried { rates: &[], motions: &[], forces: &mut [] }
    }
}

/// Σ V · f.
pub(crate) struct Carried<'a, L: Lane> {
    /// The velocities of degrees of freedom.
    pub rates: &'a [L],
    /// V of nodes.
    pub motions: &'a [Motion<L>],
    /// f on nodes; they become sums over all that hangs from them.
    pub forces: &'a mut [Force<L>],
}

/// None.
impl<L: Lane> Outside<L> for () {
    #[inline(always)]
    fn act(&mut self, _: &[Pose<L>], _: &[Motion<L>], _: &mut [Force<L>], _: &mut [Force<L>]) {}
}

impl<'a, L: Lane> Sums<'a, L> {
    pub fn numbers(tree: &Tree) -> usize {
        tree.nodes.len() * (2 * Motion::<f64>::LEN + 4 * Force::<f64>::LEN)
    }

    #[inline(always)]
    pub fn carve(tree: &Tree, scratch: &mut &'a mut [L]) -> Self {
        let n = tree.nodes.len();
        Sums {
            w: carve::<Motion, L>(scratch, n),
            a: carve::<Motion, L>(scratch, n),
            v_bar: carve::<Force, L>(scratch, n),
            a_bar: carve::<Force, L>(scratch, n),
            force: carve::<Force, L>(scratch, n),
            stays: carve::<Force, L>(scratch, n),
        }
    }
}

/// (A_bar, V_bar, F) of one body
#[kernel]
fn body_bars<R: Real>(
    i: Inertia<R>,
    v: Motion<R>,
    a: Motion<R>,
    w: Motion<R>,
) -> (Force<R>, Force<R>, Force<R>) {
    let momentum = i * v;
    let u = cross_motion(v, w);
    (i * w, -(cross_force(w, momentum) + i * u), i * a + cross_force(v, momentum))
}

/// The cotangent of a body's inertia in its own frame: that of w · I a - u · I v with the motions in that frame
#[kernel]
fn inertia_bar<R: Real>(pose: Pose<R>, v: Motion<R>, a: Motion<R>, w: Motion<R>) -> Inertia<R> {
    let v = transform_motion_back(pose, v);
    let a = transform_motion_back(pose, a);
    let w = transform_motion_back(pose, w);
    let u = cross_motion(v, w);
    Inertia {
        mass: dot(a.linear, w.linear) - dot(v.linear, u.linear),
        moment: cross(a.linear, w.angular) - cross(a.angular, w.linear) - cross(v.linear, u.angular)
            + cross(v.angular, u.linear),
        rotational: fold_outer(w.angular, a.angular) - fold_outer(u.angular, v.angular),
    }
}

/// v_bar of a degree of freedom: s · V_bar + (V × s) · A_bar
#[kernel]
fn rate_bar<R: Real>(v: Motion<R>, s: Motion<R>, v_bar: Force<R>, a_bar: Force<R>) -> R {
    power(s, v_bar) + power(cross_motion(v, s), a_bar)
}

/// Ξ = -(V ×* V_bar + A ×* A_bar + W ×* F)
#[kernel]
fn moved_bar<R: Real>(
    v: Motion<R>,
    a: Motion<R>,
    w: Motion<R>,
    v_bar: Force<R>,
    a_bar: Force<R>,
    force: Force<R>,
) -> Force<R> {
    -(cross_force(v, v_bar) + cross_force(a, a_bar) + cross_force(w, force))
}

/// V_bar + v s ×* A_bar
#[kernel]
fn carry_bar<R: Real>(v_bar: Force<R>, s: Motion<R>, a_bar: Force<R>, rate: R) -> Force<R> {
    cross_force(s, a_bar) * rate + v_bar
}

/// The motions just before a joint.
#[derive(Clone, Copy)]
struct Before<L> {
    v: Motion<L>,
    a: Motion<L>,
    w: Motion<L>,
    /// That of other velocities.
    other: Motion<L>,
}

/// What has come to a joint from behind it.
#[derive(Clone, Copy)]
struct Behind<L> {
    v_bar: Force<L>,
    a_bar: Force<L>,
    force: Force<L>,
    stays: Force<L>,
    /// The forces that go with other velocities.
    carried: Force<L>,
}

/// Adds to all cotangents. `w` and `a` are of degrees of freedom; the accelerations of `k` are without `a`.
#[inline(always)]
pub(crate) fn pull<L: Lane, O: Outside<L>>(
    tree: &Tree,
    x: &Configuration<'_, L>,
    k: &Kinematics<'_, L>,
    inertias: &[Inertia<L>],
    start: Motion<L>,
    along: (&[L], &[L]),
    outside: &mut O,
    sums: &mut Sums<'_, L>,
    bars: &Bars<'_, L>,
) {
    begin(tree, k, inertias, along, outside, sums, bars);
    finish::<L, O>(tree, x, k, start, along, outside.carried(), sums, bars);
}

/// The first half of [`pull`]: what each body and each force from outside gives. More may be added to V_bar and to `stays`
/// before the second half.
#[inline(always)]
pub(crate) fn begin<L: Lane, O: Outside<L>>(
    tree: &Tree,
    k: &Kinematics<'_, L>,
    inertias: &[Inertia<L>],
    (w, a): (&[L], &[L]),
    outside: &mut O,
    sums: &mut Sums<'_, L>,
    bars: &Bars<'_, L>,
) {
    spread(tree, k.axes, w, sums.w);
    spread(tree, k.axes, a, sums.a);
    for n in 0..tree.nodes.len() {
        sums.a[n] = sums.a[n] + k.accelerations[n];
    }
    for (n, node) in tree.nodes.iter().enumerate() {
        if node.heavy {
            let (v, a, w) = (k.velocities[n], sums.a[n], sums.w[n]);
            let (a_bar, v_bar, force) = body_bars(inertias[n], v, a, w);
            bars.inertias.add(n, inertia_bar(k.poses[n], v, a, w));
            (sums.a_bar[n], sums.v_bar[n], sums.force[n]) = (a_bar, v_bar, force);
        } else {
            let none = as_force(no_motion());
            (sums.a_bar[n], sums.v_bar[n], sums.force[n]) = (none, none, none);
        }
    }
    sums.stays.fill(as_force(no_motion()));
    outside.act(k.poses, sums.w, sums.force, sums.stays);
}

/// The second half of [`pull`]: from the leaves to the roots.
#[inline(always)]
pub(crate) fn finish<L: Lane, O: Outside<L>>(
    tree: &Tree,
    x: &Configuration<'_, L>,
    k: &Kinematics<'_, L>,
    start: Motion<L>,
    (w, a): (&[L], &[L]),
    Carried { rates, motions, forces }: Carried<'_, L>,
    sums: &mut Sums<'_, L>,
    bars: &Bars<'_, L>,
) {
    let mut gravity_bar = no_motion::<L>().linear;
    for (n, node) in tree.nodes.iter().enumerate().rev() {
        let (above, before) = match node.parent {
            WORLD => {
                (identity_pose(), Before { v: no_motion(), a: start, w: no_motion(), other: no_motion() })
            }
            p => {
                let p = p as usize;
                let other = if O::CARRIES { motions[p] } else { no_motion() };
                (k.poses[p], Before { v: k.velocities[p], a: sums.a[p], w: sums.w[p], other })
            }
        };
        let (v_bar, a_bar) = (sums.v_bar[n], sums.a_bar[n]);
        let carried = if O::CARRIES { forces[n] } else { as_force(no_motion()) };
        let behind = Behind { v_bar, a_bar, force: sums.force[n], stays: sums.stays[n], carried };
        for i in node.dof as usize..node.dof as usize + node.kind.velocities() {
            bars.armature.add(node.joint as usize, w[i] * a[i]);
        }
        let (behind, xi) = joint::<L, O>(tree, node, x, k, (w, a, rates), before, behind, bars);
        let placement = x.placements.get(n);
        // Where the joint's frame is, before it moves: that moved it along its own axes.
        let origin = match (node.parent, node.kind) {
            // A tree has its origin where its root has been moved to, which only matters where something does not move along.
            (WORLD, JointKind::Slide | JointKind::Free) if O::CARRIES => {
                placement.position - origin(node, placement, &x.q)
            }
            (WORLD, _) => no_motion().linear,
            _ => above.rotation * placement.position + above.position,
        };
        bars.placements.add(n, placement_bar(above, placement, origin, xi));
        match node.parent {
            WORLD => gravity_bar = gravity_bar - behind.a_bar.force,
            p => {
                let p = p as usize;
                sums.v_bar[p] = sums.v_bar[p] + behind.v_bar;
                sums.a_bar[p] = sums.a_bar[p] + behind.a_bar;
                sums.force[p] = sums.force[p] + behind.force;
                sums.stays[p] = sums.stays[p] + behind.stays;
                if O::CARRIES {
                    forces[p] = forces[p] + behind.carried;
                }
            }
        }
    }
    bars.gravity.add(0, gravity_bar);
}

/// Pulls back through one joint: what goes on to the node above, and the cotangent of moving everything behind it.
#[inline(always)]
fn joint<L: Lane, O: Outside<L>>(
    tree: &Tree,
    node: &Node,
    x: &Configuration<'_, L>,
    k: &Kinematics<'_, L>,
    (w, a, rates): (&[L], &[L], &[L]),
    before: Before<L>,
    behind: Behind<L>,
    bars: &Bars<'_, L>,
) -> (Behind<L>, Force<L>) {
    let d = node.dof as usize;
    match node.kind {
        JointKind::Hinge | JointKind::Slide => {
            let (s, dof, scale) = (k.axes[d], &tree.dofs[d], L::from_f64(node.scale));
            bars.v.add(dof.v as usize, rate_bar(before.v, s, behind.v_bar, behind.a_bar) * scale);
            let v_bar = carry_bar(behind.v_bar, s, behind.a_bar, rate(dof, &x.v));
            let behind = Behind { v_bar, ..behind };
            let xi = moved::<L, O>(&before, &behind);
            bars.q.add(node.q as usize, power(s, xi) * scale);
            (behind, xi)
        }
        JointKind::Ball => {
            let (behind, xi) = three::<L, O>(&k.axes[d..], node.v, x, before, behind, bars);
            turned(node, &k.axes[d..], x, xi, bars);
            (behind, xi)
        }
        JointKind::Free => {
            // The rotation comes after the translation: its motions before are those of the moving origin.
            let mut middle = before;
            for i in d..d + 3 {
                let s = k.axes[i];
                middle.a = along(middle.a, s, a[i]);
                middle.w = along(middle.w, s, w[i]);
                if O::CARRIES {
                    middle.other = along(middle.other, s, rates[i]);
                }
                // The observer of a root moves along with it.
                if !node.is_root() {
                    let rate = x.v.get(tree.dofs[i].v as usize);
                    middle.v = along(middle.v, s, rate);
                    middle.a = carried(middle.a, before.v, s, rate);
                }
            }
            let (behind, xi) = three::<L, O>(&k.axes[d + 3..], node.spin, x, middle, behind, bars);
            turned(node, &k.axes[d + 3..], x, xi, bars);
            let (behind, xi) = match node.is_root() {
                true => (behind, moved::<L, O>(&before, &behind)),
                false => three::<L, O>(&k.axes[d..], node.v, x, before, behind, bars),
            };
            for i in 0..3 {
                bars.q.add(node.q as usize + i, power(k.axes[d + i], xi));
            }
            (behind, xi)
        }
    }
}

#[inline(always)]
fn moved<L: Lane, O: Outside<L>>(before: &Before<L>, behind: &Behind<L>) -> Force<L> {
    let xi = moved_bar(before.v, before.a, before.w, behind.v_bar, behind.a_bar, behind.force);
    if O::CARRIES {
        return xi + behind.stays - cross_force(before.other, behind.carried);
    }
    xi + behind.stays
}

/// Three axes at once, none of which carries the others.
#[inline(always)]
fn three<L: Lane, O: Outside<L>>(
    axes: &[Motion<L>],
    v: u32,
    x: &Configuration<'_, L>,
    before: Before<L>,
    behind: Behind<L>,
    bars: &Bars<'_, L>,
) -> (Behind<L>, Force<L>) {
    let rates = vector(&x.v, v);
    let mut v_bar = behind.v_bar;
    for i in 0..3 {
        let rate = [rates.x, rates.y, rates.z][i];
        bars.v.add(v as usize + i, rate_bar(before.v, axes[i], behind.v_bar, behind.a_bar));
        v_bar = carry_bar(v_bar, axes[i], behind.a_bar, rate);
    }
    let behind = Behind { v_bar, ..behind };
    let xi = moved::<L, O>(&before, &behind);
    (behind, xi)
}

/// The cotangent of a stored quaternion.
#[inline(always)]
fn turned<L: Lane>(
    node: &Node,
    axes: &[Motion<L>],
    x: &Configuration<'_, L>,
    xi: Force<L>,
    bars: &Bars<'_, L>,
) {
    let turn_bar = vec3(power(axes[0], xi), power(axes[1], xi), power(axes[2], xi));
    let bar = quat_bar(quaternion(&x.q, node.turn), turn_bar);
    let at = node.turn as usize;
    bars.q.add(at, bar.w);
    bars.q.add(at + 1, bar.x);
    bars.q.add(at + 2, bar.y);
    bars.q.add(at + 3, bar.z);
}
