//! `if` and `match`.

use pullback_kernel::prelude::*;

use crate::check::{check, check_in_line, twice};

twice! {
    fn if_with_a_value(x: R, y: R) -> R {
        let a = if x > y { x * y } else { y / x };
        a * if a < 1.0 { 2.0 } else { x }
    }
}
twice! {
    fn one_side(x: R, y: R) -> R {
        let mut s = x;
        if x > 0.5 {
            s = s * y;
        }
        if y > 2.0 {
        } else {
            s += x * x;
        }
        s
    }
}
twice! {
    fn several_variables(x: R, y: R) -> R {
        let mut a = x;
        let mut b = y;
        let mut c = vec3(x, y, 1.0);
        let untouched = x * y;
        if x * y > 0.5 {
            a = b * b;
            c.x = a;
        } else {
            b = sin(a);
            a += b;
            c = c * y;
        }
        a * b + dot(c, c) * untouched
    }
}
twice! {
    fn nested(x: R, y: R) -> R {
        let mut s = y;
        if x > 0.0 {
            s *= x;
            if y > 0.0 {
                s += sqrt(y);
                if x > y { s = s * s; } else { s = s / x; }
            } else if y < -1.0 {
                s -= x * y * y;
            }
        } else {
            s = if y > 0.0 { s * 2.0 + x } else { s * x };
        }
        s
    }
}
twice! {
    fn chain(x: R) -> R {
        if x < -1.0 {
            x * x
        } else if x < 0.0 {
            x * 3.0
        } else if x < 1.0 {
            x * x * x
        } else {
            1.0 / x
        }
    }
}
twice! {
    fn values_of_every_type(x: R, y: R) -> R {
        let v = if x > y { vec3(x, y, x * y) } else { vec3(y, 1.0, x) };
        let (a, b) = if x > 0.5 { (x, [y, x]) } else { (y, [x * x, 1.0]) };
        let test = if y > 0.5 { x > y } else { x < y };
        let n = if test { 2.0 } else { -3.0 };
        dot(v, v) * a + b[0] * b[1] * n
    }
}
twice! {
    fn constants_of_branches(x: R) -> R {
        let mut s = 1.0;
        if x > 0.5 {
            s = 2.0;
        } else {
            s = 0.0;
        }
        s * x
    }
}
// The side that is not taken would give NaN or infinity, in the value and in the cotangent.
twice! {
    fn root_of_a_negative(x: R, y: R) -> R {
        if x > 0.0 { sqrt(x) * y } else { -x * y }
    }
}
twice! {
    fn division_by_zero(x: R, y: R) -> R {
        let mut s = y;
        if x != 0.0 {
            s = y / x;
            s *= ln(x * x);
        } else {
            s = y * y + x;
        }
        s
    }
}
twice! {
    fn poison_in_a_loop(x: R, y: R) -> R {
        let mut s = y;
        let mut a = [x; 3];
        for i in 0..3 {
            if s < 1.0 {
                a[i] = s * acos(s);
                s += 0.4;
            } else {
                a[i] = s * sqrt(s - 1.0) + ln(s);
            }
        }
        a[0] + a[1] * a[2] * x
    }
}
twice! {
    fn nested_poison(x: R, y: R) -> R {
        if x > 0.0 {
            let r = sqrt(x);
            if y > 0.0 { r / y } else { r * y }
        } else if y != 0.0 {
            x / (y * y)
        } else {
            x
        }
    }
}
twice! {
    fn scaled_by_index(k: usize, x: R) -> R {
        match k {
            0 => x,
            1 => x * x,
            _ => 2.0 * x,
        }
    }
}
// Indices have no cotangents, inside a branch as well.
twice! {
    fn index_in_a_branch(k: usize, x: R, a: [R; 4]) -> R {
        let mut s = x;
        if x > 0.5 {
            let j = k * 2 + 1 - 1;
            let (i, y) = (j, x);
            s = scaled_by_index(k, s) * y + a[i];
        } else {
            s += a[k + 1];
        }
        s
    }
}
const FOUR: usize = 4;
twice! {
    fn matching(k: usize, x: R, y: R) -> R {
        let mut a = x;
        let b = match k {
            0 => x * y,
            1 | 2 => {
                a = y * y;
                a / x
            }
            FOUR => a + y,
            _ => {
                let c = x + y;
                a *= c;
                c * c
            }
        };
        match k {
            0 => a += y,
            3 => { a *= b; }
            _ => {}
        }
        match k + 1 { 1 => a = a * y, _ => a = a * x }
        a * b
    }
}
#[derive(Clone, Copy, Debug, Kind)]
pub enum Joint {
    Hinge,
    Slide,
    Ball,
    Fixed,
}
twice! {
    fn kinds(kind: Joint, others: [Joint; 2], x: R, y: R) -> R {
        let mut s = match kind {
            Joint::Hinge => x * y,
            Joint::Slide | Joint::Ball => x / y,
            Joint::Fixed => y,
        };
        for i in 0..2 {
            match others[i] {
                Joint::Hinge => s *= x,
                Joint::Slide => {}
                Joint::Ball | Joint::Fixed => {
                    if s > 0.5 { s += y; } else { s -= x; }
                }
            }
        }
        s
    }
}
twice! {
    fn kinds_are_passed_on(kind: Joint, x: R) -> R {
        let fixed = Joint::Fixed;
        let s = kinds(kind, [fixed, Joint::Ball], x, x * x);
        if x > 0.5 { s * kinds(Joint::Hinge, [kind, kind], s, x) } else { s }
    }
}
#[kernel]
pub fn kinds_compared<R: Real>(kind: Joint, x: R) -> R {
    if kind == Joint::Ball {
        x * x
    } else if kind != Joint::Hinge {
        x
    } else {
        3.0 * x
    }
}
twice! {
    impl kinds_compared(kind: Joint, x: R) -> R {
        match kind { Joint::Ball => x * x, Joint::Slide | Joint::Fixed => x, Joint::Hinge => 3.0 * x }
    }
}
twice! {
    fn same_name_in_branches(x: R, y: R) -> R {
        let mut s = x;
        if x > y {
            let t = s * y;
            s = t * t;
            let s = t;
            let t = s + 1.0;
            let _ = t;
        } else {
            let s = y * y;
            let mut t = s;
            t += x;
            let _ = t;
        }
        s * y
    }
}
twice! {
    fn branches_in_arguments(x: R, y: R) -> R {
        let mut a = x;
        dot(
            if x > y { vec3(x, y, 1.0) } else { vec3(y, y, x) },
            vec3(match 1 { 0 => x, _ => y }, { a += y; a }, a),
        )
    }
}
twice! {
    fn many_variables(x: R, y: R) -> R {
        let mut a = [x; 2];
        let mut b = x; let mut c = x; let mut d = x; let mut e = x; let mut f = x; let mut g = x; let mut h = x;
        let mut i = x; let mut j = x; let mut k = x; let mut l = x; let mut m = x; let mut n = x; let mut o = x;
        if x > y {
            a[0] = y; b = y * 2.0; c = y * 3.0; d = y * b; e = y * 5.0; f = y * c; g = x * 7.0; h = y * 8.0;
            i = y * 9.0; j = y * b; k = y * 11.0; l = y * d; m = y * 13.0; n = y * e; o = y * 15.0;
        }
        a[0] + a[1] + b * c + d * e + f * g + h * i + j * k + l * m + n * o
    }
}

#[test]
fn conditions() {
    check::<if_with_a_value>(&[(0.7, 1.3), (1.3, 0.7), (1.3, 1.2)]);
    check::<one_side>(&[(0.7, 1.3), (0.3, 1.3), (0.7, 2.3)]);
    check::<several_variables>(&[(0.7, 1.3), (0.3, 0.4)]);
    check::<nested>(&[(0.7, 0.3), (0.3, 0.7), (0.7, -0.5), (0.7, -1.5), (-0.7, 0.5), (-0.7, -0.5)]);
    check::<chain>(&[(-1.5,), (-0.5,), (0.5,), (1.5,)]);
    check::<values_of_every_type>(&[(0.7, 1.3), (1.3, 0.7), (0.3, 0.2), (0.2, 0.4)]);
    check::<constants_of_branches>(&[(0.7,), (0.3,)]);
    check::<same_name_in_branches>(&[(0.7, 1.3), (1.3, 0.7)]);
    check::<branches_in_arguments>(&[(0.7, 1.3), (1.3, 0.7)]);
    check::<many_variables>(&[(0.7, 1.3), (1.3, 0.7)]);
}

#[test]
fn the_other_side_poisons_nothing() {
    check::<root_of_a_negative>(&[(0.7, 1.3), (-0.7, 1.3), (-3.0, 0.2), (2.0, -0.3)]);
    check::<nested_poison>(&[(0.7, 1.3), (0.7, -1.3), (-0.7, 1.3), (1.1, -0.9)]);
    check::<poison_in_a_loop>(&[(0.7, 0.1), (0.7, 0.5), (0.7, 1.5), (0.3, -0.3)]);
    check::<division_by_zero>(&[(0.7, 1.3), (-0.4, 0.2)]);
    // Differences would step over the jump at x = 0, so here by hand.
    let (x_bar, y_bar) = division_by_zero::pullback::<f64>(0.0, 1.5, 1.0);
    assert_eq!((x_bar, y_bar), (1.0, 3.0));
    let (x_bar, y_bar) = nested_poison::pullback::<f64>(-1.0, 0.0, 1.0);
    assert_eq!((x_bar, y_bar), (1.0, 0.0));
}

#[test]
fn with_the_instructions_in_line() {
    check_in_line::<root_of_a_negative>(&[(0.7, 1.3), (-0.7, 1.3), (-3.0, 0.2), (2.0, -0.3)]);
    check_in_line::<nested_poison>(&[(0.7, 1.3), (0.7, -1.3), (-0.7, 1.3), (1.1, 0.0), (-0.3, 0.0)]);
    check_in_line::<poison_in_a_loop>(&[(0.7, 0.1), (0.7, 0.5), (0.7, 1.5), (0.3, -0.3)]);
    check_in_line::<division_by_zero>(&[(0.7, 1.3), (0.0, 0.2), (-0.0, 0.3)]);
    check_in_line::<several_variables>(&[(0.7, 1.3), (0.3, 0.4)]);
}

#[test]
fn indices_and_kinds() {
    for k in 0..6 {
        check::<matching>(&[(k, 0.7, 1.3)]);
    }
    for k in 0..3 {
        check::<scaled_by_index>(&[(k, 0.7)]);
    }
    for k in 0..2 {
        check::<index_in_a_branch>(&[(k, 0.7, [0.1, 0.2, 0.3, 0.4]), (k, 0.3, [0.1, 0.2, 0.3, 0.4])]);
    }
    use Joint::*;
    for kind in [Hinge, Slide, Ball, Fixed] {
        check::<kinds>(&[
            (kind, [Hinge, Ball], 0.7, 1.3),
            (kind, [Fixed, Slide], 0.3, 0.4),
            (kind, [kind, kind], 0.3, -0.4),
        ]);
        check::<kinds_are_passed_on>(&[(kind, 0.7), (kind, 0.3)]);
        check::<kinds_compared>(&[(kind, 0.7)]);
    }
}
