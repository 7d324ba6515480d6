//! Matrices of 3 by 3 numbers.

use crate::cuda::Source;
use crate::{Argument, Kernel, Value, kernel, math::*, scalar::Real};

/// A matrix of 3 by 3 numbers, by its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Mat3<R = f64> {
    /// The first column.
    pub x: Vec3<R>,
    /// The second column.
    pub y: Vec3<R>,
    /// The third column.
    pub z: Vec3<R>,
}
scaled_from_left!(Mat3);
product!(Mat3 * Vec3 -> Vec3 = mat3_times_vec3);
product!(Mat3 * Mat3 -> Mat3 = mat3_times_mat3);

pub(super) fn matrix_products(source: &mut Source) {
    let (mat3, vec3) = (Mat3::<f64>::c_type(source), Vec3::<f64>::c_type(source));
    source.add_product(&mat3, &vec3, mat3_times_vec3::definition());
    source.add_product(&mat3, &mat3, mat3_times_mat3::definition());
}

/// The matrix with these columns.
#[kernel]
pub fn mat3<R: Real>(x: Vec3<R>, y: Vec3<R>, z: Vec3<R>) -> Mat3<R> {
    Mat3 { x, y, z }
}

/// A b
#[kernel(pullback = mat3_times_vec3_pullback)]
pub fn mat3_times_vec3<R: Real>(a: Mat3<R>, b: Vec3<R>) -> Vec3<R> {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// A_bar = c_bar bᵀ,  b_bar = Aᵀ c_bar
#[kernel]
pub fn mat3_times_vec3_pullback<R: Real>(a: Mat3<R>, b: Vec3<R>, c_bar: Vec3<R>) -> (Mat3<R>, Vec3<R>) {
    (outer(c_bar, b), transpose_times(a, c_bar))
}

/// A B
#[kernel(pullback = mat3_times_mat3_pullback)]
pub fn mat3_times_mat3<R: Real>(a: Mat3<R>, b: Mat3<R>) -> Mat3<R> {
    mat3(mat3_times_vec3(a, b.x), mat3_times_vec3(a, b.y), mat3_times_vec3(a, b.z))
}

/// A_bar = C_bar Bᵀ,  B_bar = Aᵀ C_bar
#[kernel]
pub fn mat3_times_mat3_pullback<R: Real>(a: Mat3<R>, b: Mat3<R>, c_bar: Mat3<R>) -> (Mat3<R>, Mat3<R>) {
    let b_bar = mat3(transpose_times(a, c_bar.x), transpose_times(a, c_bar.y), transpose_times(a, c_bar.z));
    (mat3_times_mat3(c_bar, transpose(b)), b_bar)
}

/// Aᵀ b
#[kernel(pullback = transpose_times_pullback)]
pub fn transpose_times<R: Real>(a: Mat3<R>, b: Vec3<R>) -> Vec3<R> {
    vec3(dot(a.x, b), dot(a.y, b), dot(a.z, b))
}

/// A_bar = b c_barᵀ,  b_bar = A c_bar
#[kernel]
pub fn transpose_times_pullback<R: Real>(a: Mat3<R>, b: Vec3<R>, c_bar: Vec3<R>) -> (Mat3<R>, Vec3<R>) {
    (outer(b, c_bar), mat3_times_vec3(a, c_bar))
}

/// Aᵀ
#[kernel(pullback = transpose_pullback)]
pub fn transpose<R: Real>(a: Mat3<R>) -> Mat3<R> {
    mat3(vec3(a.x.x, a.y.x, a.z.x), vec3(a.x.y, a.y.y, a.z.y), vec3(a.x.z, a.y.z, a.z.z))
}

/// A_bar = C_barᵀ
#[kernel]
pub fn transpose_pullback<R: Real>(a: Mat3<R>, c_bar: Mat3<R>) -> Mat3<R> {
    transpose(c_bar)
}

/// a bᵀ
#[kernel(pullback = outer_pullback)]
pub fn outer<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Mat3<R> {
    mat3(a * b.x, a * b.y, a * b.z)
}

/// a_bar = C_bar b,  b_bar = C_barᵀ a
#[kernel]
pub fn outer_pullback<R: Real>(a: Vec3<R>, b: Vec3<R>, c_bar: Mat3<R>) -> (Vec3<R>, Vec3<R>) {
    (mat3_times_vec3(c_bar, b), transpose_times(c_bar, a))
}

/// The identity.
#[kernel]
pub fn identity<R: Real>() -> Mat3<R> {
    mat3(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0))
}

/// The matrix with this diagonal.
#[kernel]
pub fn diagonal<R: Real>(d: Vec3<R>) -> Mat3<R> {
    mat3(vec3(d.x, 0.0, 0.0), vec3(0.0, d.y, 0.0), vec3(0.0, 0.0, d.z))
}

/// A₀₀ + A₁₁ + A₂₂
#[kernel]
pub fn trace<R: Real>(a: Mat3<R>) -> R {
    a.x.x + a.y.y + a.z.z
}

/// Σ AᵢⱼBᵢⱼ
#[kernel(pullback = contract_pullback)]
pub fn contract<R: Real>(a: Mat3<R>, b: Mat3<R>) -> R {
    dot(a.x, b.x) + dot(a.y, b.y) + dot(a.z, b.z)
}

/// A_bar = s_bar B,  B_bar = s_bar A
#[kernel]
pub fn contract_pullback<R: Real>(a: Mat3<R>, b: Mat3<R>, s_bar: R) -> (Mat3<R>, Mat3<R>) {
    (b * s_bar, a * s_bar)
}

/// [a]× with [a]× b = a × b
#[kernel]
pub fn skew<R: Real>(a: Vec3<R>) -> Mat3<R> {
    mat3(vec3(0.0, a.z, -a.y), vec3(-a.z, 0.0, a.x), vec3(a.y, -a.x, 0.0))
}

/// [a]× B: a × each column of B
#[kernel]
pub fn cross_columns<R: Real>(a: Vec3<R>, b: Mat3<R>) -> Mat3<R> {
    mat3(cross(a, b.x), cross(a, b.y), cross(a, b.z))
}

/// The cofactors of A: cof(A) = det(A) A⁻ᵀ, with columns y×z, z×x, x×y
#[kernel]
pub fn cofactors<R: Real>(a: Mat3<R>) -> Mat3<R> {
    mat3(cross(a.y, a.z), cross(a.z, a.x), cross(a.x, a.y))
}

/// det A = x·(y × z)
#[kernel(pullback = determinant_pullback)]
pub fn determinant<R: Real>(a: Mat3<R>) -> R {
    dot(a.x, cross(a.y, a.z))
}

/// A_bar = s_bar cof(A)
#[kernel]
pub fn determinant_pullback<R: Real>(a: Mat3<R>, s_bar: R) -> Mat3<R> {
    cofactors(a) * s_bar
}

/// A⁻¹ = cof(A)ᵀ / det(A); infinite where det(A) = 0
#[kernel(pullback = inverse_pullback)]
pub fn inverse<R: Real>(a: Mat3<R>) -> Mat3<R> {
    let c = cofactors(a);
    let d = dot(a.x, c.x);
    if abs(d) > LEAST && abs(d) < f64::INFINITY {
        transpose(c / d)
    } else {
        // The determinant may have left the scalar's range: A⁻¹ = (A / m)⁻¹ / m, with m about |A|. If not, it is 0,
        // and m = 1 leaves it so: rounding in A / m could make an inverse where there is none.
        let about = size(a.x) + size(a.y) + size(a.z);
        let m = if about > 1e-12 && about < 1e12 { 1.0 } else { about };
        let b = a / m;
        let c = cofactors(b);
        transpose(c / dot(b.x, c.x)) / m
    }
}

/// A_bar = -A⁻ᵀ C_bar A⁻ᵀ
#[kernel]
pub fn inverse_pullback<R: Real>(a: Mat3<R>, c_bar: Mat3<R>) -> Mat3<R> {
    let t = transpose(inverse(a));
    -(t * c_bar * t)
}
