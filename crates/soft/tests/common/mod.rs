//! Meshes, and programs of soft things with everything that can be differentiated as a param.
#![allow(dead_code)]

use pullback_kernel::prelude::*;

/// Lamé's numbers of E = 1, ν = 0.3.
pub const MU: f64 = 1.0 / 2.6;
pub const LAMBDA: f64 = 0.3 / (1.3 * 0.4);

/// A number in -1..1 that looks random.
pub fn noise(k: usize) -> f64 {
    let x = (k as f64 * 12.9898 + 4.1).sin() * 43758.5453;
    2.0 * (x - x.floor()) - 1.0
}

pub fn noises(k: usize) -> Vec3 {
    vec3(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2))
}

/// A turn about an axis.
pub fn turn(axis: Vec3, angle: f64) -> Mat3 {
    let k = skew(normalize(axis));
    identity() + k * angle.sin() + k * k * (1.0 - angle.cos())
}

pub fn size(a: Mat3) -> f64 {
    contract(a, a).sqrt()
}

/// Σ f and Σ x × f
pub fn resultants(x: &[Vec3], f: &[Vec3]) -> (Vec3, Vec3) {
    let zero = Vec3::default();
    x.iter().zip(f).fold((zero, zero), |(sum, torque), (&x, &f)| (sum + f, torque + cross(x, f)))
}

/// A block of `n`³ cells of 1/n m, each of five tetrahedra, whose inner vertices are shaken.
pub fn block(n: usize) -> (Vec<Vec3>, Vec<[usize; 4]>) {
    let mut points = Vec::new();
    for k in 0..(n + 1).pow(3) {
        let at = [k % (n + 1), k / (n + 1) % (n + 1), k / (n + 1) / (n + 1)];
        let inside = at.iter().all(|&i| i > 0 && i < n);
        let shake = if inside { noises(k) * 0.2 } else { Vec3::default() };
        points.push((vec3(at[0] as f64, at[1] as f64, at[2] as f64) + shake) / n as f64);
    }
    const ODD: [[usize; 4]; 5] = [[0, 1, 4, 2], [3, 1, 2, 7], [5, 1, 7, 4], [6, 2, 4, 7], [1, 2, 4, 7]];
    let mut corners = Vec::new();
    for cell in 0..n.pow(3) {
        let at = [cell % n, cell / n % n, cell / n / n];
        let odd = at.iter().sum::<usize>() % 2;
        for tetrahedron in ODD {
            let mut corner = tetrahedron.map(|c| {
                // Odd cells are mirrored, so that faces of neighbours match.
                let offset = |axis: usize| if axis == 0 { (c & 1) ^ odd } else { c >> axis & 1 };
                (at[0] + offset(0)) + (n + 1) * ((at[1] + offset(1)) + (n + 1) * (at[2] + offset(2)))
            });
            let [a, b, c, d] = corner.map(|i| points[i]);
            if determinant(mat3(b - a, c - a, d - a)) < 0.0 {
                corner.swap(1, 2);
            }
            corners.push(corner);
        }
    }
    (points, corners)
}
