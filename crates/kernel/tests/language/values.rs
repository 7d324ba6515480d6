//! Arrays, tuples and structs.

use pullback_kernel::prelude::*;

use crate::check::{check, twice};

/// A point that moves.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
#[repr(C)]
pub struct Particle<R> {
    /// Where it is.
    pub x: Vec3<R>,
    /// How fast it is.
    pub v: Vec3<R>,
    /// How heavy it is.
    pub mass: R,
}

/// Structs and arrays in a struct.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
#[repr(C)]
pub struct Pair<S> {
    /// Two of them.
    pub ends: [Particle<S>; 2],
    /// Some numbers.
    pub weights: [S; 3],
    /// A matrix.
    pub frame: Mat3<S>,
}

twice! {
    fn structs(p: Particle<R>, dt: R) -> Particle<R> {
        let v = p.v + vec3(0.0, 0.0, -9.81) * dt;
        let mut q = Particle { mass: p.mass, x: p.x + v * dt, v };
        q.mass *= dt;
        q.x.y = q.v.z * q.mass;
        q
    }
}
twice! {
    fn nested_structs(pair: Pair<R>, k: usize, s: R) -> Pair<R> {
        let mut p = pair;
        p.ends[k].x = p.frame * p.ends[1 - k].v;
        p.weights[k + 1] = p.weights[0] * p.ends[k].mass * s;
        p.frame.y.z += p.ends[k].x.x;
        p.ends[0] = structs(p.ends[k], s);
        Pair { frame: p.frame * s, weights: p.weights, ends: [p.ends[1], p.ends[0]] }
    }
}
twice! {
    fn structs_are_vectors(a: Pair<R>, b: Pair<R>, s: R) -> Pair<R> {
        (a + b * s - -(b / s)) - a * 0.5
    }
}
twice! {
    fn structs_are_chosen(a: Particle<R>, b: Particle<R>) -> Particle<R> {
        let mut c = if a.mass > b.mass { a } else { b };
        for _ in 0..2 {
            if c.v.x > 0.5 { c = c * 0.5; } else { c.x = c.x * c.mass; }
        }
        c
    }
}
twice! {
    fn arrays(x: R, y: R) -> [[R; 2]; 3] {
        let a = [x, y];
        let b = [a, [x * y, 1.0], [y; 2]];
        let mut c = [[x; 2]; 3];
        c[1] = b[0];
        c[2][0] = b[1][0] * b[2][1];
        c
    }
}
twice! {
    fn tuples(x: R, y: R) -> (R, (Vec3<R>, [R; 2]), (R,)) {
        let t = (x, (vec3(x, y, 2.0), [y, x * y]), (y * y,));
        let mut u = t;
        u.0 = t.1.0.x * t.1.1[1];
        u.1.1[0] += u.0;
        (u.0, u.1, (t.2.0 * u.0,))
    }
}
twice! {
    fn indices_in_results(k: usize, x: R) -> (usize, R, [usize; 2]) {
        let j = k * 2 + 1;
        (j, x * x, [j, k])
    }
}
twice! {
    fn parts_of_results(k: usize, x: R, a: [R; 8]) -> R {
        let r = indices_in_results(k, x);
        a[r.0] * r.1 + a[indices_in_results(r.2[1], x).2[0]] * structs_of(x).v.y
    }
}
twice! {
    fn structs_of(x: R) -> Particle<R> {
        Particle { x: vec3(x, x, x), v: vec3(x, x * x, 1.0), mass: 2.0 }
    }
}

fn particle(s: f64) -> Particle<f64> {
    Particle { x: Vec3 { x: s, y: 0.4, z: 0.9 }, v: Vec3 { x: 0.8 * s, y: -0.3, z: 0.6 }, mass: 1.0 + s }
}

fn pair(s: f64) -> Pair<f64> {
    let column = |t: f64| Vec3 { x: t, y: s, z: 0.3 - t };
    Pair {
        ends: [particle(s), particle(0.7)],
        weights: [0.3, s, 1.1],
        frame: Mat3 { x: column(0.4), y: column(0.9), z: column(-0.2) },
    }
}

#[test]
fn structs_in_kernels() {
    check::<structs>(&[(particle(0.3), 0.1)]);
    check::<nested_structs>(&[(pair(0.4), 0, 0.7), (pair(0.4), 1, 0.7)]);
    check::<structs_are_vectors>(&[(pair(0.4), pair(-0.9), 0.7)]);
    check::<structs_are_chosen>(&[(particle(0.3), particle(0.9)), (particle(1.9), particle(0.9))]);
    check::<structs_of>(&[(0.7,)]);
}

#[test]
fn arrays_and_tuples() {
    check::<arrays>(&[(0.7, 1.3)]);
    check::<tuples>(&[(0.7, 1.3)]);
    check::<indices_in_results>(&[(1, 0.7), (2, 0.7)]);
    check::<parts_of_results>(&[(1, 0.7, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])]);
}
