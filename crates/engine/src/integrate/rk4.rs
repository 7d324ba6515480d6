//! The classical Runge-Kutta rule of order 4.

use pullback_kernel::prelude::*;

use super::Next;
use crate::articulated::{Normalise, Rates};
use crate::dynamics::Dynamics;
use crate::error::Error;
use crate::step::Bundle;

/// y + h (k1 + 2 k2 + 2 k3 + k4), with a sixth of the step as h
#[kernel]
fn weigh<R: Real>(y: Vec3<R>, k1: Vec3<R>, k2: Vec3<R>, k3: Vec3<R>, k4: Vec3<R>, h: R) -> Vec3<R> {
    ((k2 + k3) * 2.0 + (k1 + k4)) * h + y
}

/// Four slopes (v_i, a_i): at the start, twice in the middle, at the end. Quaternions go along their rates, as numbers, and
/// are brought back to unit length in the end: turned one after the other, they would be of order 2.
pub fn rk4(d: &mut Dynamics<'_>, h: f64) -> Result<Next, Error> {
    let (x, v1) = (&d.inputs.x, &d.inputs.v);
    let a1 = d.acceleration(x, v1, 0.0)?;
    let r1 = d.rates("rates 1", x, v1);
    let (x2, v2) = (d.along("x2", x, &r1, 0.5 * h), d.speed_up("v2", v1, &a1, 0.5 * h));
    let a2 = d.acceleration(&x2, &v2, 0.5 * h)?;
    let r2 = d.rates("rates 2", &x2, &v2);
    let (x3, v3) = (d.along("x3", x, &r2, 0.5 * h), d.speed_up("v3", v1, &a2, 0.5 * h));
    let a3 = d.acceleration(&x3, &v3, 0.5 * h)?;
    let r3 = d.rates("rates 3", &x3, &v3);
    let (x4, v4) = (d.along("x4", x, &r3, h), d.speed_up("v4", v1, &a3, h));
    let a4 = d.acceleration(&x4, &v4, h)?;
    let r4 = d.rates("rates 4", &x4, &v4);
    let mut x_next = d.weighed("next position", x, [&r1, &r2, &r3, &r4], h);
    x_next.robots = d.normalised(&x_next.robots);
    let v_next = d.weighed("next velocity", v1, [&a1, &a2, &a3, &a4], h);
    Ok(Next { x: x_next, v: v_next, implicit: None })
}

impl Dynamics<'_> {
    /// Rates of positions as they are stored.
    fn rates(&mut self, name: &str, x: &Bundle, v: &Bundle) -> Bundle {
        let mut robots = Vec::new();
        for (r, robot) in self.model.robots().iter().enumerate() {
            if robot.manifold.rotations.is_empty() {
                robots.push(v.robots[r]);
                continue;
            }
            let out = self.program.computed(&format!("{name} of {}", robot.name()), robot.tree().positions());
            let manifold = robot.manifold.clone();
            self.program.operation(Rates { manifold, q: x.robots[r], v: v.robots[r], out });
            robots.push(out);
        }
        Bundle { particles: v.particles, robots }
    }

    /// x + h r, as numbers
    fn along(&mut self, name: &str, x: &Bundle, rates: &Bundle, h: f64) -> Bundle {
        Bundle {
            particles: self.shift_particles(name, x.particles, rates.particles, h),
            robots: self.combine(name, &[(x, 1.0), (rates, h)]),
        }
    }

    /// y + h/6 (k1 + 2 k2 + 2 k3 + k4)
    fn weighed(&mut self, name: &str, y: &Bundle, k: [&Bundle; 4], h: f64) -> Bundle {
        let sixth = h / 6.0;
        let slopes = [y.particles, k[0].particles, k[1].particles, k[2].particles, k[3].particles];
        let particles = match slopes {
            [Some(y), Some(k1), Some(k2), Some(k3), Some(k4)] => {
                let h = self.program.constant::<f64>(&format!("a sixth of the step, for {name}"), &[sixth]);
                let slopes = (y.own(), k1.own(), k2.own(), k3.own(), k4.own(), h.shared());
                Some(self.program.map::<weigh>(name, slopes))
            }
            _ => None,
        };
        let terms = [(y, 1.0), (k[0], sixth), (k[1], 2.0 * sixth), (k[2], 2.0 * sixth), (k[3], sixth)];
        Bundle { particles, robots: self.combine(name, &terms) }
    }

    /// Quaternions at unit length.
    fn normalised(&mut self, q: &[Buffer<f64>]) -> Vec<Buffer<f64>> {
        let mut robots = Vec::new();
        for (robot, &q) in self.model.robots().iter().zip(q) {
            if robot.manifold.rotations.is_empty() {
                robots.push(q);
                continue;
            }
            let name = format!("next position of {}, unit quaternions", robot.name());
            let out = self.program.computed(&name, robot.tree().positions());
            self.program.operation(Normalise { manifold: robot.manifold.clone(), q, out });
            robots.push(out);
        }
        robots
    }
}
