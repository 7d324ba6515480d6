//! Spaces that values lie in, and their tangents.

use pullback_kernel::prelude::*;

/// The space that a value lies in. Values are stored in coordinates; tangents, differences and linearisations have
/// [`Space::tangent_numbers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Numbers that can be added: a tangent has as many.
    Flat,
    /// A unit quaternion (w, x, y, z), for a rotation: a tangent is a rotation vector in the body's frame [rad].
    Rotation,
}

impl Space {
    /// How many numbers a tangent has.
    pub fn tangent_numbers(self, numbers: usize) -> usize {
        match self {
            Space::Flat => numbers,
            Space::Rotation => 3,
        }
    }

    /// The value that is reached from `value` along `tangent`.
    pub fn retract(self, value: &mut [f64], tangent: &[f64]) {
        match self {
            Space::Flat => value.iter_mut().zip(tangent).for_each(|(x, t)| *x += t),
            Space::Rotation => {
                let [a, b] = [value.to_vec(), exp(tangent).to_vec()];
                let product = multiply([a[0], a[1], a[2], a[3]], [b[0], b[1], b[2], b[3]]);
                let length = product.iter().map(|x| x * x).sum::<f64>().sqrt();
                value.iter_mut().zip(product).for_each(|(x, p)| *x = p / length);
            }
        }
    }

    /// The tangent that leads from `from` to `to`: `retract(from, difference) = to`.
    pub fn difference(self, from: &[f64], to: &[f64], tangent: &mut [f64]) {
        match self {
            Space::Flat => (0..tangent.len()).for_each(|i| tangent[i] = to[i] - from[i]),
            Space::Rotation => {
                let inverse = [from[0], -from[1], -from[2], -from[3]];
                let d = multiply(inverse, [to[0], to[1], to[2], to[3]]);
                // The shorter way: q and -q are the same rotation.
                let sign = if d[0] < 0.0 { -1.0 } else { 1.0 };
                let s = (d[1] * d[1] + d[2] * d[2] + d[3] * d[3]).sqrt();
                let angle = 2.0 * s.atan2(sign * d[0]);
                let scale = if s > 0.0 { sign * angle / s } else { 2.0 };
                (0..3).for_each(|i| tangent[i] = scale * d[i + 1]);
            }
        }
    }

    /// The cotangent of a tangent at zero, from that of the stored value: (∂retract/∂tangent)ᵀ value_bar.
    pub fn to_tangent(self, value: &[f64], value_bar: &[f64], tangent_bar: &mut [f64]) {
        match self {
            Space::Flat => tangent_bar.copy_from_slice(value_bar),
            Space::Rotation => {
                // q exp(ω/2) = q + q (0, ω/2) + ...
                for i in 0..3 {
                    let mut unit = [0.0; 4];
                    unit[i + 1] = 0.5;
                    let column = multiply([value[0], value[1], value[2], value[3]], unit);
                    tangent_bar[i] = column.iter().zip(value_bar).map(|(c, b)| c * b).sum();
                }
            }
        }
    }

    /// The rate of a stored value that moves along a tangent: (∂retract/∂tangent) tangent.
    pub fn push_tangent(self, value: &[f64], tangent: &[f64], rate: &mut [f64]) {
        match self {
            Space::Flat => rate.copy_from_slice(tangent),
            Space::Rotation => {
                let half = [0.0, 0.5 * tangent[0], 0.5 * tangent[1], 0.5 * tangent[2]];
                rate.copy_from_slice(&multiply([value[0], value[1], value[2], value[3]], half));
            }
        }
    }

    /// The tangent along which a stored value moves at a rate: the inverse of [`Space::push_tangent`].
    pub fn tangent_of(self, value: &[f64], rate: &[f64], tangent: &mut [f64]) {
        match self {
            Space::Flat => tangent.copy_from_slice(rate),
            Space::Rotation => {
                let square: f64 = value.iter().map(|x| x * x).sum();
                let inverse = [value[0], -value[1], -value[2], -value[3]].map(|x| 2.0 * x / square);
                let turn = multiply(inverse, [rate[0], rate[1], rate[2], rate[3]]);
                tangent.copy_from_slice(&turn[1..]);
            }
        }
    }
}

fn multiply(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let quat = |[w, x, y, z]: [f64; 4]| Quat { w, x, y, z };
    let Quat { w, x, y, z } = quat(a) * quat(b);
    [w, x, y, z]
}

/// The quaternion of a rotation vector.
fn exp(rotation: &[f64]) -> [f64; 4] {
    let angle = rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
    let scale = if angle > 1e-8 { (0.5 * angle).sin() / angle } else { 0.5 - angle * angle / 48.0 };
    [(0.5 * angle).cos(), scale * rotation[0], scale * rotation[1], scale * rotation[2]]
}
