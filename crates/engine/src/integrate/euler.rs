//! Euler's rules: explicit and semi-implicit, both of order 1.

use pullback_kernel::prelude::*;

use super::Next;
use crate::dynamics::Dynamics;
use crate::error::Error;
use crate::step::Bundle;

/// x' = x + h v',  v' = v + h a
#[kernel]
fn leap<R: Real>(x: Vec3<R>, v: Vec3<R>, a: Vec3<R>, h: R) -> (Vec3<R>, Vec3<R>) {
    let v_next = a * h + v;
    (v_next * h + x, v_next)
}

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
    let rates = d.combine("next velocity", &[(v, 1.0), (&a, h)]);
    let poses = d.retract("next position", x, &rates, h);
    let [mut v_next, mut x_next] = [rates, poses].map(|robots| Bundle { particles: None, robots });
    if let (Some(x), Some(v), Some(a)) = (x.particles, v.particles, a.particles) {
        let h = d.program.constant::<f64>("h", &[h]).shared();
        let (x, v) = d.program.map::<leap>("next position, next velocity", (x.own(), v.own(), a.own(), h));
        (v_next.particles, x_next.particles) = (Some(v), Some(x));
    }
    Ok(Next { x: x_next, v: v_next, implicit: None })
}
