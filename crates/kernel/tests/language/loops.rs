//! `for` over constant bounds.

use pullback_kernel::prelude::*;

use crate::check::{check, twice};

const ROUNDS: usize = 4;
const FROM: usize = 1;
const NONE: usize = 0;

twice! {
    fn literal_bounds(x: R, y: R) -> R {
        let mut s = y;
        for i in 0..3 {
            s = s * x + y;
            let _ = i;
        }
        for _ in 1..3 {
            s *= s;
        }
        s
    }
}
twice! {
    fn constant_bounds(a: [R; 4], x: R) -> R {
        let mut s = x;
        for i in FROM..ROUNDS {
            s = s * a[i] + a[i - 1];
        }
        for i in 0..NONE {
            s = s * a[i];
        }
        s
    }
}
twice! {
    fn nested(a: [[R; 3]; 3], b: [R; 3]) -> [R; 3] {
        let mut c = [0.0; 3];
        for i in 0..3 {
            let mut sum = b[i];
            for j in 0..3 {
                sum += a[i][j] * b[j] * c[(i + j) % 3];
                c[j] += sum * 0.5;
            }
            c[i] = sum;
        }
        c
    }
}
twice! {
    fn swapped(x: R, y: R) -> R {
        let mut a = x;
        let mut b = y;
        let mut c = x * y;
        for _ in 0..5 {
            let t = a;
            a = b;
            b = t * c;
            c = a + b * 0.5;
        }
        a * b + c
    }
}
twice! {
    fn branches_inside(x: R, y: R) -> R {
        let mut s = x;
        let mut count = 0.0;
        let mut hit = false;
        for i in 0..4 {
            if s > 0.5 && !hit {
                s = s * x + y;
                count += s;
                if i > 1 {
                    hit = true;
                }
            } else {
                s += y * s;
            }
            match i {
                0 => s *= 1.5,
                1 | 3 => s -= x * x,
                _ => {}
            }
        }
        if hit { s * count } else { s + count * y }
    }
}
twice! {
    fn loop_in_a_branch(x: R, y: R) -> R {
        let mut s = y;
        if x > 0.5 {
            for i in 0..3 {
                if i != 1 { s *= x; }
                s += y;
            }
        } else {
            let mut a = [x; 3];
            for i in 1..3 {
                a[i] = a[i - 1] * s;
            }
            s = a[2];
        }
        s
    }
}
twice! {
    fn carried_indices(a: [R; 8], x: R) -> R {
        let mut s = x;
        let mut k = 0;
        let mut last = [0; 2];
        for i in 0..4 {
            k += i;
            last[i % 2] = k;
            s = s * a[k] + a[last[0]];
        }
        s * a[last[1] + 1]
    }
}
twice! {
    fn shadowed_inside(x: R, y: R) -> R {
        let mut s = x;
        let mut t = y;
        for _ in 0..3 {
            s += t;
            let mut s = s * t;
            s *= 2.0;
            t += s * 0.125;
            let t = t * t;
            let _ = t;
        }
        s * t
    }
}
twice! {
    fn index_shadows(i: R, s: R) -> R {
        let mut sum = i;
        for i in 0..3 {
            let a = [s, sum, s * sum];
            sum += a[i];
            for i in 0..2 {
                sum = sum * a[i] * 0.5;
            }
        }
        sum * i
    }
}
twice! {
    fn unchanged_in_some_rounds(x: R, y: R) -> R {
        let mut s = x;
        let mut best = y;
        for i in 0..3 {
            s = s * x + 0.25;
            if s > best { best = s * s; }
            if i == 2 { s = y; }
        }
        best * s
    }
}
twice! {
    fn without_effect(x: R) -> R {
        for i in 0..3 {
            let _ = i;
        }
        let mut unused = x;
        for _ in 0..3 {
            unused *= x;
        }
        x * x
    }
}
// Cholesky of a symmetric matrix and a solve with it: triangular loops are full ones with an `if`.
twice! {
    fn cholesky_solve(a: [[R; 3]; 3], b: [R; 3]) -> [R; 3] {
        let mut l = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                if j <= i {
                    let mut sum = a[i][j];
                    for k in 0..3 {
                        if k < j { sum -= l[i][k] * l[j][k]; }
                    }
                    if i == j { l[i][i] = sqrt(sum); } else { l[i][j] = sum / l[j][j]; }
                }
            }
        }
        let mut x = b;
        for i in 0..3 {
            for k in 0..3 {
                if k < i { x[i] -= l[i][k] * x[k]; }
            }
            x[i] /= l[i][i];
        }
        for n in 0..3 {
            let i = 2 - n;
            for k in 0..3 {
                if k > i { x[i] -= l[k][i] * x[k]; }
            }
            x[i] /= l[i][i];
        }
        x
    }
}
twice! {
    fn structs_are_carried(x: Vec3<R>, v: Vec3<R>, dt: R) -> (Vec3<R>, Vec3<R>) {
        let mut x = x;
        let mut v = v;
        for _ in 0..ROUNDS {
            v = v - x * (dt / dot(x, x));
            x = x + v * dt;
        }
        (x, v)
    }
}

#[test]
fn bounds() {
    check::<literal_bounds>(&[(0.7, 0.3)]);
    check::<constant_bounds>(&[([0.7, 0.3, 1.1, 0.9], 0.4)]);
    check::<without_effect>(&[(0.7,)]);
}

#[test]
fn nesting() {
    check::<nested>(&[([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]], [1.1, 1.2, 1.3])]);
    check::<loop_in_a_branch>(&[(0.7, 1.3), (0.3, 1.3)]);
    check::<branches_inside>(&[(0.7, 0.3), (0.3, 0.4), (0.1, 0.9), (1.1, -0.4), (-0.4, 0.2)]);
    check::<cholesky_solve>(&[([[2.0, 0.3, 0.4], [0.3, 1.5, 0.2], [0.4, 0.2, 1.8]], [0.7, 0.3, -0.5])]);
}

#[test]
fn carried_values() {
    check::<swapped>(&[(0.7, 1.3)]);
    check::<carried_indices>(&[([0.7, 0.3, 1.1, 0.9, 0.8, 1.2, 0.6, 0.5], 0.4)]);
    check::<shadowed_inside>(&[(0.7, 0.3)]);
    check::<index_shadows>(&[(0.7, 0.9)]);
    check::<unchanged_in_some_rounds>(&[(0.7, 0.3), (0.7, 2.3), (0.9, 0.8)]);
    let v = |x, y, z| Vec3 { x, y, z };
    check::<structs_are_carried>(&[(v(1.0, 0.2, 0.1), v(0.1, 0.9, 0.3), 0.1)]);
}
