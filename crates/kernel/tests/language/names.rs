//! Names that the generated code, C++ or Rust use for something else.
#![allow(non_snake_case, unused_qualifications)]

use pullback_kernel::prelude::*;

use crate::check::{check, twice};

twice! {
    fn generated_locals(then: R, otherwise: R, carried: R, saved: R, inside: R, round: R) -> R {
        let mut condition = then;
        let mut mask = inside;
        if then > otherwise {
            let then_0 = otherwise * carried;
            condition = sqrt(then_0 * saved) + inside;
            mask = inside / condition;
        } else {
            condition = then / carried;
            mask += saved - then;
        }
        let mut whole = round;
        let mut defined = [saved; 2];
        for round in 0..2 {
            whole = whole * carried + saved;
            defined[round] = whole * then;
            if inside < otherwise { mask = mask / whole; }
        }
        condition * mask + defined[0] * defined[1] * whole
    }
}
twice! {
    fn generated_variables(t: R, t_3: R, t_0: R, x_bar: R, out_bar: R, out: R) -> R {
        let t_1 = t * t_3;
        let t_2_bar = t_1 + x_bar;
        let a0 = out_bar * t_2_bar;
        let mut a0_bar = a0;
        for i_back in 0..2 {
            let yield0 = a0_bar * t_0;
            a0_bar = yield0 + out;
            let _ = i_back;
        }
        let arguments = a0_bar * a0;
        let chosen = if t > t_3 { t_1 * arguments } else { out * t_0 };
        chosen * out
    }
}
twice! {
    fn cpp_keywords(class: R, template: R, auto: R, double: R, float: R, int: R) -> R {
        let unsigned = class * template;
        let namespace = auto - double;
        let mut this = unsigned * namespace;
        let mut operator = [float; 3];
        for switch in 0..3 {
            operator[switch] = this * int;
            this += float;
        }
        let NULL = operator[1];
        let (void, delete) = (NULL * this, operator[2]);
        let long = if void > delete { void } else { delete * delete };
        long * operator[0]
    }
}
twice! {
    fn functions_as_variables(min: R, max: R, sin: R, printf: R, main: R, isnan: R) -> R {
        let sqrt = min * max + sin;
        let abs = sqrt * printf;
        let M_PI = abs + main;
        let INFINITY = M_PI * isnan;
        let pb_add = INFINITY * abs;
        let EOF = pb_add - sqrt;
        EOF * min
    }
}
twice! {
    fn upper_case(A: R, R_: R, X: Vec3<R>) -> R {
        let B = A * R_;
        let mut C = X * B;
        C.x += A;
        dot(C, X)
    }
}
#[kernel]
pub fn called_like_a_variable<R: Real>(sqrt: R, length: R) -> R {
    sqrt(sqrt * length) * length
}
twice! {
    impl called_like_a_variable(a: R, b: R) -> R { (a * b).sqrt() * b }
}
twice! {
    fn r#type(r#match: R, r#fn: R, r#yield: R) -> R {
        let r#struct = r#match * r#fn;
        let mut r#loop = r#struct;
        for r#in in 0..2 {
            r#loop = r#loop * r#yield;
            let _ = r#in;
        }
        r#loop + r#struct
    }
}
twice! {
    fn calls_raw(r#type: R) -> R {
        r#type(r#type, 2.0, r#type) * crate::names::r#type(1.5, r#type, 0.5)
    }
    plain {
        crate::names::r#type(r#type, 2.0, r#type) * crate::names::r#type(1.5, r#type, 0.5)
    }
}
twice! {
    fn größe(θ: R, länge_ß: R) -> R {
        let mut ω = θ * länge_ß;
        ω += sin(θ);
        if ω > 0.5 { ω *= θ; }
        ω
    }
}
twice! {
    fn γλώσσα(θ: R) -> R {
        größe(θ, 2.0) * θ
    }
}
#[kernel]
pub fn scalar_called_t<T: Real>(t: T, v: Vec3<T>, a: [T; 2]) -> Vec3<T> {
    let s: T = t * a[0];
    let w: Vec3<T> = v * s;
    w * a[1]
}
twice! {
    impl scalar_called_t(t: R, v: Vec3<R>, a: [R; 2]) -> Vec3<R> { v * (t * a[0]) * a[1] }
}
#[kernel]
pub fn scalar_called_s<S: pullback_kernel::scalar::Real>(r: S, k: usize) -> (S, usize) {
    let (x, y): (S, S) = (r * r, 2.0);
    (x * y, k)
}
twice! {
    impl scalar_called_s(r: R, k: usize) -> (R, usize) { (r * r * 2.0, k) }
}
/// Fields that the derive and C++ use for something else.
#[derive(Clone, Copy, Debug, PartialEq, Value)]
#[repr(C)]
pub struct Awkward<R> {
    pub dual: R,
    pub tangent: Vec3<R>,
    pub value: R,
    pub visit: [R; 2],
    pub a: R,
    pub b: R,
    pub mask: R,
    pub other: R,
    pub class: R,
    pub NULL: R,
    pub r#type: R,
    pub θ: R,
}
twice! {
    fn fields(a: Awkward<R>, b: Awkward<R>) -> Awkward<R> {
        let mut c = a * b.dual + b / a.value;
        c.class *= a.NULL;
        c.r#type = a.r#type * b.θ;
        c.θ += c.mask * c.visit[1];
        if a.other > b.other {
            c.tangent = c.tangent * b.a;
        }
        Awkward {
            dual: c.b, tangent: c.tangent, value: c.dual, visit: c.visit, a: c.a * c.class, b: c.value,
            mask: c.other, other: c.mask, class: c.NULL, NULL: c.class, r#type: c.θ, θ: c.r#type,
        }
    }
}
// Kernels of the same name, each in its place.
pub mod first {
    use pullback_kernel::prelude::*;
    #[kernel]
    pub fn law<R: Real>(x: R) -> R {
        x * x
    }
}
pub mod second {
    use pullback_kernel::prelude::*;
    #[kernel]
    pub fn law<R: Real>(x: R) -> R {
        x * x * x
    }
}
twice! {
    fn same_names(x: R) -> R {
        first::law(x) * second::law(x) + first::law(second::law(x))
    }
}

#[test]
fn of_the_generated_code() {
    check::<generated_locals>(&[
        (0.7, 0.3, 1.1, 0.9, 0.4, 0.6),
        (0.3, 0.7, 1.1, 0.9, 0.4, 0.6),
        (0.3, 0.7, 1.1, 0.9, 0.8, 0.6),
    ]);
    check::<generated_variables>(&[(0.7, 0.3, 1.1, 0.9, 0.4, 0.6), (0.3, 0.7, 1.1, 0.9, 0.4, 0.6)]);
}

#[test]
fn of_cpp() {
    check::<cpp_keywords>(&[(0.7, 0.3, 1.1, 0.9, 0.4, 0.6), (0.3, 0.7, 1.1, 1.9, 0.4, 0.6)]);
    check::<functions_as_variables>(&[(0.7, 0.3, 1.1, 0.9, 0.4, 0.6)]);
}

#[test]
fn of_rust() {
    check::<upper_case>(&[(0.7, 0.3, Vec3 { x: 0.3, y: 0.5, z: -0.7 })]);
    check::<called_like_a_variable>(&[(0.7, 0.3)]);
    check::<r#type>(&[(0.7, 0.3, 1.1)]);
    check::<calls_raw>(&[(0.7,)]);
    check::<same_names>(&[(0.7,)]);
    assert_eq!(<r#type as Kernel>::NAME, "type");
    assert_eq!(<r#type as Kernel>::ARGUMENTS, ["match", "fn", "yield"]);
}

#[test]
fn beyond_ascii() {
    check::<größe>(&[(0.7, 0.3), (0.1, 0.3)]);
    check::<γλώσσα>(&[(0.7,), (0.1,)]);
}

#[test]
fn of_the_scalar() {
    let v = Vec3 { x: 0.3, y: 0.5, z: -0.7 };
    check::<scalar_called_t>(&[(0.7, v, [0.3, 0.9])]);
    check::<scalar_called_s>(&[(0.7, 3)]);
}

#[test]
fn of_fields() {
    let awkward = |s: f64| Awkward {
        dual: s,
        tangent: Vec3 { x: 0.3, y: 0.5, z: s },
        value: 1.1,
        visit: [0.4, s],
        a: 0.6,
        b: 0.7,
        mask: 0.8,
        other: s * s,
        class: 1.2,
        NULL: 1.3,
        r#type: 1.4,
        θ: 1.5,
    };
    check::<fields>(&[(awkward(0.3), awkward(0.9)), (awkward(0.9), awkward(0.3))]);
}
