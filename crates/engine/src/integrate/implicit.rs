//! Implicit rules: the next velocity z solves an equation, residual(z) = 0.

use pullback_kernel::prelude::*;

use super::Next;
use crate::error::Error;
use crate::step::{Dynamics, Unknown};

/// The equation [m/s]:  z - v - h a
#[kernel]
fn residual<R: Real>(z: Vec3<R>, v: Vec3<R>, a: Vec3<R>, h: R) -> Vec3<R> {
    z - v - a * h
}

/// `(a + b) / 2`
#[kernel]
fn middle<R: Real>(a: Vec3<R>, b: Vec3<R>) -> Vec3<R> {
    (a + b) * 0.5
}

/// The same value.
#[kernel]
fn same<R: Real>(z: Vec3<R>) -> Vec3<R> {
    z
}

fn equation(
    d: &mut Dynamics<'_>,
    z: Buffer<Vec3>,
    a: Buffer<Vec3>,
    x_next: Buffer<Vec3>,
    h: f64,
    moved: f64,
) -> Next {
    let h = d.program.constant::<f64>("h", &[h]).shared();
    let residual = d.program.map::<residual>("residual", (z.own(), d.inputs.v.own(), a.own(), h));
    let v_next = d.program.map::<same>("next velocity", (z.own(),));
    Next { x: x_next, v: v_next, implicit: Some(Unknown { z, residual, position_per_unknown: moved }) }
}

/// z = v + h a(x', z, t + h),  x' = x + h z: order 1, stable for any stiffness.
pub fn backward_euler(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let z = d.program.input::<Vec3>("unknown velocity", d.model.particles());
    let x_next = d.shift("next position", d.inputs.x, z, h);
    let a = d.acceleration(x_next, z, h)?;
    Ok(equation(d, z, a, x_next, h, h))
}

/// z = v + h a(x½, v½, t + h/2),  v½ = (v + z)/2,  x½ = x + ½ h v½,  x' = x + h v½: order 2, symplectic.
pub fn midpoint(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let z = d.program.input::<Vec3>("unknown velocity", d.model.particles());
    let (x, v) = (d.inputs.x, d.inputs.v);
    let v_middle = d.program.map::<middle>("velocity in the middle", (v.own(), z.own()));
    let x_middle = d.shift("position in the middle", x, v_middle, 0.5 * h);
    let x_next = d.shift("next position", x, v_middle, h);
    let a = d.acceleration(x_middle, v_middle, 0.5 * h)?;
    Ok(equation(d, z, a, x_next, h, 0.5 * h))
}
