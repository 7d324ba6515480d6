//! Inertial params that no impossible body has (Rucker & Wensing 2022, Smooth parameterization of rigid-body inertia).
//!
//! With the second moments of mass about the centre, Σ = m K Kᵀ, where K is upper triangular with a positive diagonal:
//! m = exp(2 a),  K = (exp d1, s12, s13; 0, exp d2, s23; 0, 0, exp d3),  inertia = tr(Σ) 1 - Σ.
//! Any numbers a, d, s give a body that mass in space can make up: optimisers need no constraints.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Builder;
use pullback_scene::robot::{Inertial, Robot};

/// The numbers of one body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogCholesky {
    /// a: half the logarithm of the mass in kg.
    pub log_mass: f64,
    /// d: logarithms of the diagonal of K in m.
    pub stretch: [f64; 3],
    /// (s12, s23, s13) [m].
    pub shear: [f64; 3],
}

/// (mass, (xx, yy, zz), (xy, xz, yz)) of the inertia about the centre; nothing for a body without mass
#[kernel]
fn inertia<R: Real>(log_mass: R, stretch: Vec3<R>, shear: Vec3<R>, heavy: R) -> (R, Vec3<R>, Vec3<R>) {
    let m = heavy * exp(2.0 * log_mass);
    let x = vec3(exp(stretch.x), shear.x, shear.z);
    let y = vec3(0.0, exp(stretch.y), shear.y);
    let z = vec3(0.0, 0.0, exp(stretch.z));
    let (xx, yy, zz) = (dot(x, x), dot(y, y), dot(z, z));
    let products = vec3(dot(x, y), dot(x, z), dot(y, z));
    (m, vec3(yy + zz, xx + zz, xx + yy) * m, products * -m)
}

/// Adds it to a program: mass, inertia and products of every body.
pub(crate) fn add(
    p: &mut Builder,
    robot: &Robot,
    log_mass: Buffer<f64>,
    stretch: Buffer<Vec3>,
    shear: Buffer<Vec3>,
) -> (Buffer<f64>, Buffer<Vec3>, Buffer<Vec3>) {
    let name = &robot.name;
    let heavy: Vec<f64> =
        robot.bodies.iter().map(|body| if is_nothing(&body.inertial) { 0.0 } else { 1.0 }).collect();
    let heavy = p.constant::<f64>(&format!("{name} is heavy"), &heavy);
    let names = format!("{name} mass, {name} inertia, {name} products");
    p.map::<inertia>(&names, (log_mass.own(), stretch.own(), shear.own(), heavy.own()))
}

/// Is a body without mass and inertia? It stays so, whatever its params.
pub(crate) fn is_nothing(inertial: &Inertial) -> bool {
    inertial.mass == 0.0 && inertial.inertia == [0.0; 6]
}

impl LogCholesky {
    /// Of a body; none for one without mass, or whose inertia no mass in space has.
    pub fn of(inertial: &Inertial) -> Option<LogCholesky> {
        let m = inertial.mass;
        let [ixx, iyy, izz, ixy, ixz, iyz] = inertial.inertia.map(|x| x / m);
        let half = 0.5 * (ixx + iyy + izz);
        // Σ / m = (tr I / 2) 1 - I, and Σ / m = K Kᵀ from the last row up.
        let (xx, yy, zz, xy, xz, yz) = (half - ixx, half - iyy, half - izz, -ixy, -ixz, -iyz);
        let k33 = zz.sqrt();
        let (k13, k23) = (xz / k33, yz / k33);
        let k22 = (yy - k23 * k23).sqrt();
        let k12 = (xy - k13 * k23) / k22;
        let k11 = (xx - k12 * k12 - k13 * k13).sqrt();
        let found = LogCholesky {
            log_mass: 0.5 * m.ln(),
            stretch: [k11.ln(), k22.ln(), k33.ln()],
            shear: [k12, k23, k13],
        };
        let numbers = [&[found.log_mass][..], &found.stretch, &found.shear].concat();
        (m > 0.0 && numbers.iter().all(|x| x.is_finite())).then_some(found)
    }
}
