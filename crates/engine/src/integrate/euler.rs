//! Euler's rules: explicit and semi-implicit, both of order 1.

use super::Next;
use crate::dynamics::Dynamics;
use crate::error::Error;

/// x' = x + h v,  v' = v + h a(x, v, t)
pub fn explicit(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let (x, v) = (&d.inputs.x, &d.inputs.v);
    let a = d.acceleration(x, v, 0.0)?;
    let x_next = d.move_on("next position", x, v, h);
    let v_next = d.speed_up("next velocity", v, &a, h);
    Ok(Next { x: x_next, v: v_next, implicit: None })
}

/// v' = v + h a(x, v, t),  x' = x + h v': symplectic where forces depend on positions alone.
pub fn semi_implicit(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let (x, v) = (&d.inputs.x, &d.inputs.v);
    let a = d.acceleration(x, v, 0.0)?;
    let v_next = d.speed_up("next velocity", v, &a, h);
    let x_next = d.move_on("next position", x, &v_next, h);
    Ok(Next { x: x_next, v: v_next, implicit: None })
}
