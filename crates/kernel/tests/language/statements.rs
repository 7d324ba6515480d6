//! Let, assignment, arithmetic, comparisons and constants.

use pullback_kernel::prelude::*;

use crate::check::{check, twice};

fn v(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3 { x, y, z }
}

twice! {
    fn let_with_types(x: R, y: R) -> R {
        let a: R = x * 2.0;
        let b: Vec3<R> = vec3(a, y, 1.0);
        let c: [R; 2] = [b.x, b.y];
        let (d, e): (R, R) = (c[0], c[1]);
        d * e + b.z
    }
}
twice! {
    fn shadowing(x: R, y: R) -> R {
        let x = x * x;
        let y = {
            let x = x + y;
            let y = x * 0.5;
            y * y
        };
        let x = x + y;
        x * y
    }
}
twice! {
    fn patterns(x: R, y: R, z: [R; 3]) -> R {
        let (a, (b, _)) = (x * y, (y, x));
        let [c, d, e] = z;
        let (_, f) = (a, b * c);
        let [[g, _], [_, h]] = [[a, b], [d, f]];
        let (mut i, [mut j, k]) = (g, [h, e]);
        i += k;
        j *= i;
        i * j + a
    }
}
twice! {
    fn assignments(x: R, y: R) -> R {
        let mut a = x;
        a += y;
        a *= x;
        a -= y * y;
        a /= 3.0;
        let b = a;
        a = b * a;
        a
    }
}
twice! {
    fn fields_are_assigned(a: Vec3<R>, m: Mat3<R>, s: R) -> Mat3<R> {
        let mut v = a;
        v.x = v.y * s;
        v.y += v.x;
        v.z *= v.y;
        let mut n = m;
        n.y = v;
        n.y.z = n.x.z * v.x;
        n.z.x /= s;
        (n.x).y = s;
        n
    }
}
twice! {
    fn elements_are_assigned(i: usize, x: R, y: R, p: [Vec3<R>; 2]) -> [R; 3] {
        let mut a = [x, y, x * y];
        a[1] = a[0] * a[2];
        a[i] += y;
        a[i + 1] = a[i] * x;
        let mut m = [[0.0; 2]; 3];
        m[i][1] = a[1];
        m[2] = [y, a[2]];
        m[i + 1][0] += m[i][1] * m[2][0];
        let mut q = p;
        q[i].y = m[1][0];
        q[1 - i] = q[i] * q[0].x;
        [m[0][1] + q[0].y, m[1][0] * q[1].z, m[2][1] + a[i]]
    }
}
#[kernel]
pub fn mutable_arguments<R: Real>(mut x: R, mut a: [R; 2], y: R) -> R {
    x *= y;
    a[0] = x * a[1];
    a[1] += x;
    x + a[0] * a[1]
}
twice! {
    impl mutable_arguments(x: R, a: [R; 2], y: R) -> R {
        let x = x * y;
        x + (x * a[1]) * (a[1] + x)
    }
}
twice! {
    fn numbers(x: R, y: R) -> R {
        -x + 2.0 * y - x * y / (1. + y * y) - -(3.5e-1) * x + 1e2 / y - (1_000.5 - x)
    }
}
// The addend is a factor as well; a product that has a name is rounded on its own.
twice! {
    fn products_in_sums(x: R, y: R, v: Vec3<R>) -> (R, Vec3<R>) {
        let a = x * y + x;
        let b = y - x * y;
        let c = x * x + x;
        let d = y * x - y;
        let e = x - x * x;
        let f = a * b + c * d - e * e;
        let p = f * x;
        let q = p + f;
        let mut s = x;
        s += s * y;
        s -= s * s;
        let w = v * s + v;
        let u = w - w * dot(v, w);
        (q * s + p, u * q - u)
    }
}
twice! {
    fn vectors(a: Vec3<R>, b: Vec3<R>, s: R) -> Vec3<R> {
        -a + b * s - a / s + s * (b - a) * dot(a, b) - cross(a, b)
    }
    plain {
        -a + b * s - a / s + (b - a) * s * dot(a, b) - cross(a, b)
    }
}
twice! {
    fn matrices(m: Mat3<R>, n: Mat3<R>, a: Vec3<R>, s: R) -> Vec3<R> {
        let p = m * n + m * s - s * n / 2.0 - -n;
        p * a + m * (n * a)
    }
    plain {
        let p = m * n + m * s - n * s / 2.0 - -n;
        p * a + m * (n * a)
    }
}
twice! {
    fn arrays_are_scaled(a: [R; 3], b: [Vec3<R>; 2], s: R) -> ([R; 3], [Vec3<R>; 2]) {
        (a * s, b * s / 3.0)
    }
    plain {
        (a.map(|x| x * s), b.map(|x| x * s / 3.0))
    }
}
twice! {
    fn indices(k: usize, a: [R; 6]) -> R {
        let mut i = k + 1;
        i += k * 2;
        i -= 1;
        let j = (i / 2) % 3;
        let h = 5 - j;
        a[i % 6] * a[j] + a[h] * a[k]
    }
}
twice! {
    fn comparisons(x: R, y: R, k: usize) -> R {
        let mut s = x * y;
        if x < y { s += 1.5 * x; }
        if x <= y { s += 2.5 * x; }
        if x > y { s += 4.5 * x; }
        if x >= y { s += 8.5 * x; }
        if x == y { s += 16.5 * x; }
        if x != y { s += 32.5 * x; }
        if k < 1 { s += 64.5 * x; }
        if k <= 1 { s += 128.5 * x; }
        if k == 2 { s += 256.5 * x; }
        if k != 1 { s += 512.5 * x; }
        if k > 1 { s *= y; }
        if k >= 2 { s *= 1.5; }
        s
    }
}
twice! {
    fn logic(x: R, y: R, z: R) -> R {
        let a = x < y;
        let b = y < z && x > 0.1 || !(x > 0.3);
        let mut c = !a && b;
        if z > 1.0 {
            c = true;
        }
        let d = if x > z { a } else { false };
        let mut s = x * y * z;
        if a { s += x; }
        if b || c { s *= z; }
        if c { s -= y * y; }
        if d || !b { s *= 1.25 * x; }
        s
    }
}
twice! {
    fn the_right_side_is_lazy(k: usize, a: [R; 3], x: R) -> R {
        let mut s = x;
        // Neither `a[k]` nor `k - 1` may run where the left side has decided.
        if k < 3 && a[k] > 0.5 {
            s *= a[2];
        }
        if k == 0 || a[k - 1] > 0.2 {
            s += a[0] * x;
        }
        if x > 0.0 && sqrt(x) < 1.0 {
            s *= 3.0;
        }
        s
    }
}
const HALF: f64 = 0.5;
const NEGATIVE: f64 = -1.25e-3;
const COUNT: usize = 3;
mod consts {
    pub const PI: f64 = std::f64::consts::PI;
    pub const TWO: usize = 2;
}
twice! {
    fn constants(x: R) -> R {
        let a = [x * HALF; COUNT];
        let b = [a[consts::TWO]; COUNT + 1];
        let mut sum = consts::PI * x * NEGATIVE;
        for i in consts::TWO..COUNT {
            sum += b[i] * x;
        }
        sum + std::f64::consts::E * HALF
    }
}
twice! {
    fn blocks_as_values(x: R, y: R) -> R {
        let mut s = x;
        let a = {
            s *= y;
            let t = s + 1.0;
            t * t
        };
        {
            let y = a * s;
            s += y;
        }
        s * { a + y }
    }
}
twice! {
    fn order_of_evaluation(x: R, y: R) -> R {
        let mut a = x;
        let b = a + { a = a * y; a } * a;
        a * b
    }
}

#[test]
fn let_statements() {
    check::<let_with_types>(&[(0.7, 1.3)]);
    check::<shadowing>(&[(0.7, 1.3)]);
    check::<patterns>(&[(0.7, 1.3, [0.2, 0.9, -0.4])]);
    check::<blocks_as_values>(&[(0.7, 1.3)]);
    check::<order_of_evaluation>(&[(0.7, 1.3)]);
}

#[test]
fn assignment() {
    check::<assignments>(&[(0.7, 1.3)]);
    let m = Mat3 { x: v(0.1, 0.2, 0.3), y: v(0.4, 0.5, 0.6), z: v(0.7, 0.8, 0.9) };
    check::<fields_are_assigned>(&[(v(0.3, 0.5, 0.7), m, 1.7)]);
    let p = [v(0.3, 0.5, 0.7), v(0.2, -0.5, 1.1)];
    check::<elements_are_assigned>(&[(0, 0.7, 1.3, p), (1, 0.7, 1.3, p)]);
    check::<mutable_arguments>(&[(0.7, [1.3, 0.4], 0.9)]);
}

#[test]
fn arithmetic() {
    check::<numbers>(&[(0.7, 1.3), (-0.7, 0.3)]);
    check::<products_in_sums>(&[(0.7, 1.3, v(0.3, 0.5, 0.7)), (-0.7, 0.3, v(0.2, -0.5, 1.1))]);
    let (a, b) = (v(0.3, 0.5, 0.7), v(0.2, -0.5, 1.1));
    check::<vectors>(&[(a, b, 1.7)]);
    let m = Mat3 { x: a, y: b, z: v(0.7, 0.8, 0.9) };
    let n = Mat3 { x: v(0.9, 0.1, -0.3), y: a, z: b };
    check::<matrices>(&[(m, n, a, 1.7)]);
    check::<arrays_are_scaled>(&[([0.3, 0.4, 0.7], [a, b], 1.7)]);
    for k in 0..4 {
        check::<indices>(&[(k, [0.3, 0.4, 0.7, 1.1, 1.3, 1.7])]);
    }
}

#[test]
fn truth() {
    check::<comparisons>(&[(0.7, 1.3, 0), (1.3, 0.7, 1), (-0.5, -0.4, 2)]);
    check::<logic>(&[(0.7, 0.9, 1.3), (0.9, 0.7, 0.8), (0.2, 0.1, 0.05), (0.05, 0.4, 0.2), (0.2, 0.4, 0.3)]);
    for k in 0..4 {
        check::<the_right_side_is_lazy>(&[
            (k, [0.7, 0.1, 0.9], 0.4),
            (k, [0.1, 0.7, 0.9], 1.4),
            (k, [0.1, 0.7, 0.9], -1.4),
        ]);
    }
}

#[test]
fn constant_items() {
    check::<constants>(&[(0.7,)]);
}
