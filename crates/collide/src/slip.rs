//! How two surfaces slide on each other, in a way that does not see rigid motions.
//!
//! The nearest points of a pair are a thickness apart. Friction that acted there alone, against Σ wᵢ vᵢ, would turn both: it has the
//! torque r × f, and it would brake a pair that turns as one. So the rotation ω that fits the four vertices best is taken away,
//!
//!   u = Σ wᵢ vᵢ - ω × r,  J ω = Σ yᵢ × vᵢ,  J = Σ |yᵢ|² - yᵢ yᵢᵀ,  yᵢ = xᵢ - mean x,
//!
//! and forces are the transpose of that: a force f at the nearest points is
//!
//!   fᵢ = wᵢ f - (J⁻¹ (r × f)) × yᵢ.
//!
//! They make neither momentum nor angular momentum, and their power is f·u: friction never does more than it takes.

use pullback_kernel::prelude::*;

/// The least determinant of J, with a trace of 1, that friction needs: below it four vertices are in a line, to about 3e-3 rad.
const LINE: f64 = 1e-6;

/// What [`lever`] finds of four vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Lever<R = f64> {
    /// From their mean to each of them [m].
    pub(crate) y: [Vec3<R>; 4],
    /// J⁻¹ [1/m²]
    pub(crate) inverse: Sym3<R>,
    /// How much of friction they bear: 1, and less to 0 where they are nearly in a line, which bears no torque along itself.
    pub(crate) share: R,
}

/// |y|² - y yᵀ
#[kernel]
pub(crate) fn turning<R: Real>(y: Vec3<R>) -> Sym3<R> {
    let s = length_squared(y);
    sym3_diagonal(vec3(s, s, s)) - outer_self(y)
}

/// yᵢ and J⁻¹ of four vertices.
#[kernel]
pub(crate) fn lever<R: Real>(x: [Vec3<R>; 4]) -> Lever<R> {
    let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let mean = (a + b + c) * 0.25;
    let y = [-mean, a - mean, b - mean, c - mean];
    let j = turning(y[0]) + turning(y[1]) + turning(y[2]) + turning(y[3]);
    let size = j.xx + j.yy + j.zz;
    let mut inverse = sym3_diagonal(vec3(0.0, 0.0, 0.0));
    let mut share = 0.0;
    if size > 0.0 {
        // With a trace of 1, no product leaves the scalar's range.
        let unit = j / size;
        let cofactors = cofactors_sym3(unit);
        let determinant = unit.xx * cofactors.xx + unit.xy * cofactors.xy + unit.xz * cofactors.xz;
        if determinant > LINE {
            inverse = cofactors / determinant / size;
            share = min(determinant / LINE - 1.0, 1.0);
        }
    }
    Lever { y, inverse, share }
}

/// u = Σ wᵢ vᵢ - ω × r [m/s]
#[kernel]
pub(crate) fn slip<R: Real>(lever: Lever<R>, v: [Vec3<R>; 4], u: Vec3<R>, r: Vec3<R>) -> Vec3<R> {
    // The yᵢ add up to 0: what all velocities share does not turn.
    let turn =
        cross(lever.y[1], v[1] - v[0]) + cross(lever.y[2], v[2] - v[0]) + cross(lever.y[3], v[3] - v[0]);
    u - cross(lever.inverse * turn, r)
}

/// fᵢ = wᵢ f - (J⁻¹ (r × f)) × yᵢ [N]
#[kernel]
pub(crate) fn spread<R: Real>(lever: Lever<R>, w: [R; 4], f: Vec3<R>, r: Vec3<R>) -> [Vec3<R>; 4] {
    let back = lever.inverse * cross(r, f);
    [
        f * w[0] - cross(back, lever.y[0]),
        f * w[1] - cross(back, lever.y[1]),
        f * w[2] - cross(back, lever.y[2]),
        f * w[3] - cross(back, lever.y[3]),
    ]
}
