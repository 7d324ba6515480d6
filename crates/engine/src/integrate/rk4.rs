//! The classical Runge-Kutta rule of order 4.

use pullback_kernel::prelude::*;

use super::Next;
use crate::error::Error;
use crate::step::Dynamics;

/// y + h (k1 + 2 k2 + 2 k3 + k4), with a sixth of the step as h
#[kernel]
fn weigh<R: Real>(y: Vec3<R>, k1: Vec3<R>, k2: Vec3<R>, k3: Vec3<R>, k4: Vec3<R>, h: R) -> Vec3<R> {
    ((k2 + k3) * 2.0 + (k1 + k4)) * h + y
}

/// Four slopes (v_i, a_i): at the start, twice in the middle, at the end.
pub fn rk4(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let (x, v1) = (d.inputs.x, d.inputs.v);
    let a1 = d.acceleration(x, v1, 0.0)?;
    let (x2, v2) = (d.shift("x2", x, v1, 0.5 * h), d.shift("v2", v1, a1, 0.5 * h));
    let a2 = d.acceleration(x2, v2, 0.5 * h)?;
    let (x3, v3) = (d.shift("x3", x, v2, 0.5 * h), d.shift("v3", v1, a2, 0.5 * h));
    let a3 = d.acceleration(x3, v3, 0.5 * h)?;
    let (x4, v4) = (d.shift("x4", x, v3, h), d.shift("v4", v1, a3, h));
    let a4 = d.acceleration(x4, v4, h)?;
    let sixth = d.program.constant::<f64>("a sixth of the step", &[h / 6.0]).shared();
    let slopes = (x.own(), v1.own(), v2.own(), v3.own(), v4.own(), sixth);
    let x_next = d.program.map::<weigh>("next position", slopes);
    let slopes = (v1.own(), a1.own(), a2.own(), a3.own(), a4.own(), sixth);
    let v_next = d.program.map::<weigh>("next velocity", slopes);
    Ok(Next { x: x_next, v: v_next, implicit: None })
}
