//! Symmetric matrices of 3 by 3 numbers.

use crate::cuda::Source;
use crate::{Argument, Kernel, Value, kernel, math::*, scalar::Real};

/// A symmetric matrix of 3 by 3 numbers: the six that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Sym3<R = f64> {
    /// Row x, column x.
    pub xx: R,
    /// Row y, column y.
    pub yy: R,
    /// Row z, column z.
    pub zz: R,
    /// Row x, column y, and row y, column x.
    pub xy: R,
    /// Row x, column z, and row z, column x.
    pub xz: R,
    /// Row y, column z, and row z, column y.
    pub yz: R,
}
scaled_from_left!(Sym3);
product!(Sym3 * Vec3 -> Vec3 = sym3_times_vec3);

pub(super) fn symmetric_products(source: &mut Source) {
    let (sym3, vec3) = (Sym3::<f64>::c_type(source), Vec3::<f64>::c_type(source));
    source.add_product(&sym3, &vec3, sym3_times_vec3::definition());
}

/// S b
#[kernel(pullback = sym3_times_vec3_pullback)]
pub fn sym3_times_vec3<R: Real>(s: Sym3<R>, b: Vec3<R>) -> Vec3<R> {
    vec3(
        s.xx * b.x + s.xy * b.y + s.xz * b.z,
        s.xy * b.x + s.yy * b.y + s.yz * b.z,
        s.xz * b.x + s.yz * b.y + s.zz * b.z,
    )
}

/// S_bar = fold(c_bar bᵀ),  b_bar = S c_bar
#[kernel]
pub fn sym3_times_vec3_pullback<R: Real>(s: Sym3<R>, b: Vec3<R>, c_bar: Vec3<R>) -> (Sym3<R>, Vec3<R>) {
    (fold_outer(c_bar, b), sym3_times_vec3(s, c_bar))
}

/// The symmetric matrix with this diagonal.
#[kernel]
pub fn sym3_diagonal<R: Real>(d: Vec3<R>) -> Sym3<R> {
    Sym3 { xx: d.x, yy: d.y, zz: d.z, xy: 0.0, xz: 0.0, yz: 0.0 }
}

/// S with all nine numbers
#[kernel(pullback = mat3_from_sym3_pullback)]
pub fn mat3_from_sym3<R: Real>(s: Sym3<R>) -> Mat3<R> {
    mat3(vec3(s.xx, s.xy, s.xz), vec3(s.xy, s.yy, s.yz), vec3(s.xz, s.yz, s.zz))
}

/// S_bar = fold(A_bar)
#[kernel]
pub fn mat3_from_sym3_pullback<R: Real>(s: Sym3<R>, a_bar: Mat3<R>) -> Sym3<R> {
    fold(a_bar)
}

/// From the cotangents of nine numbers to those of six: two places that hold one number add up
#[kernel(pullback = fold_pullback)]
pub fn fold<R: Real>(a: Mat3<R>) -> Sym3<R> {
    Sym3 { xx: a.x.x, yy: a.y.y, zz: a.z.z, xy: a.x.y + a.y.x, xz: a.x.z + a.z.x, yz: a.y.z + a.z.y }
}

/// A_bar = S_bar with all nine numbers
#[kernel]
pub fn fold_pullback<R: Real>(a: Mat3<R>, s_bar: Sym3<R>) -> Mat3<R> {
    mat3_from_sym3(s_bar)
}

/// fold(a bᵀ)
#[kernel(pullback = fold_outer_pullback)]
pub fn fold_outer<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Sym3<R> {
    Sym3 {
        xx: a.x * b.x,
        yy: a.y * b.y,
        zz: a.z * b.z,
        xy: a.x * b.y + a.y * b.x,
        xz: a.x * b.z + a.z * b.x,
        yz: a.y * b.z + a.z * b.y,
    }
}

/// a_bar = S_bar b,  b_bar = S_bar a
#[kernel]
pub fn fold_outer_pullback<R: Real>(a: Vec3<R>, b: Vec3<R>, s_bar: Sym3<R>) -> (Vec3<R>, Vec3<R>) {
    (sym3_times_vec3(s_bar, b), sym3_times_vec3(s_bar, a))
}

/// (A + Aᵀ) / 2; of the cotangents of six numbers, those of nine
#[kernel]
pub fn symmetric_part<R: Real>(a: Mat3<R>) -> Sym3<R> {
    halve_off_diagonal(fold(a))
}

/// S with half of what is off its diagonal: ⟨halve(S_bar), dS⟩ over nine numbers is ⟨S_bar, dS⟩ over six
#[kernel]
pub fn halve_off_diagonal<R: Real>(s: Sym3<R>) -> Sym3<R> {
    Sym3 { xx: s.xx, yy: s.yy, zz: s.zz, xy: 0.5 * s.xy, xz: 0.5 * s.xz, yz: 0.5 * s.yz }
}

/// (a bᵀ + b aᵀ) / 2
#[kernel(pullback = symmetric_outer_pullback)]
pub fn symmetric_outer<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Sym3<R> {
    halve_off_diagonal(fold_outer(a, b))
}

/// a_bar = G b,  b_bar = G a,  with G = halve(S_bar)
#[kernel]
pub fn symmetric_outer_pullback<R: Real>(a: Vec3<R>, b: Vec3<R>, s_bar: Sym3<R>) -> (Vec3<R>, Vec3<R>) {
    fold_outer_pullback(a, b, halve_off_diagonal(s_bar))
}

/// a aᵀ
#[kernel(pullback = outer_self_pullback)]
pub fn outer_self<R: Real>(a: Vec3<R>) -> Sym3<R> {
    Sym3 { xx: a.x * a.x, yy: a.y * a.y, zz: a.z * a.z, xy: a.x * a.y, xz: a.x * a.z, yz: a.y * a.z }
}

/// a_bar = 2 G a with G = halve(S_bar)
#[kernel]
pub fn outer_self_pullback<R: Real>(a: Vec3<R>, s_bar: Sym3<R>) -> Vec3<R> {
    2.0 * sym3_times_vec3(halve_off_diagonal(s_bar), a)
}

/// A S Aᵀ
#[kernel(pullback = congruence_pullback)]
pub fn congruence<R: Real>(a: Mat3<R>, s: Sym3<R>) -> Sym3<R> {
    let t = a * mat3_from_sym3(s);
    Sym3 {
        xx: t.x.x * a.x.x + t.y.x * a.y.x + t.z.x * a.z.x,
        yy: t.x.y * a.x.y + t.y.y * a.y.y + t.z.y * a.z.y,
        zz: t.x.z * a.x.z + t.y.z * a.y.z + t.z.z * a.z.z,
        xy: t.x.x * a.x.y + t.y.x * a.y.y + t.z.x * a.z.y,
        xz: t.x.x * a.x.z + t.y.x * a.y.z + t.z.x * a.z.z,
        yz: t.x.y * a.x.z + t.y.y * a.y.z + t.z.y * a.z.z,
    }
}

/// A_bar = 2 G A S,  S_bar = fold(Aᵀ G A),  with G = halve(C_bar)
#[kernel]
pub fn congruence_pullback<R: Real>(a: Mat3<R>, s: Sym3<R>, c_bar: Sym3<R>) -> (Mat3<R>, Sym3<R>) {
    let g_a = mat3_from_sym3(halve_off_diagonal(c_bar)) * a;
    (2.0 * (g_a * mat3_from_sym3(s)), fold(transpose(a) * g_a))
}

/// S⁻¹; infinite where det(S) = 0
#[kernel(pullback = inverse_sym3_pullback)]
pub fn inverse_sym3<R: Real>(s: Sym3<R>) -> Sym3<R> {
    let c = cofactors_sym3(s);
    let d = s.xx * c.xx + s.xy * c.xy + s.xz * c.xz;
    if abs(d) > LEAST && abs(d) < f64::INFINITY {
        c / d
    } else {
        // The determinant may have left the scalar's range: S⁻¹ = (S / m)⁻¹ / m, with m about |S|. If not, it is 0,
        // and m = 1 leaves it so: rounding in S / m could make an inverse where there is none.
        let about = size(vec3(s.xx, s.yy, s.zz)) + size(vec3(s.xy, s.xz, s.yz));
        let m = if about > 1e-12 && about < 1e12 { 1.0 } else { about };
        let b = s / m;
        let c = cofactors_sym3(b);
        c / (b.xx * c.xx + b.xy * c.xy + b.xz * c.xz) / m
    }
}

/// det(S) S⁻¹
#[kernel]
pub fn cofactors_sym3<R: Real>(s: Sym3<R>) -> Sym3<R> {
    Sym3 {
        xx: s.yy * s.zz - s.yz * s.yz,
        yy: s.xx * s.zz - s.xz * s.xz,
        zz: s.xx * s.yy - s.xy * s.xy,
        xy: s.xz * s.yz - s.xy * s.zz,
        xz: s.xy * s.yz - s.xz * s.yy,
        yz: s.xy * s.xz - s.xx * s.yz,
    }
}

/// S_bar = -fold(S⁻¹ G S⁻¹) with G = halve(C_bar)
#[kernel]
pub fn inverse_sym3_pullback<R: Real>(s: Sym3<R>, c_bar: Sym3<R>) -> Sym3<R> {
    let t = mat3_from_sym3(inverse_sym3(s));
    -fold(mat3_from_sym3(congruence(t, halve_off_diagonal(c_bar))))
}
