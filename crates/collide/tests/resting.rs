//! Sheets of particles and springs that come to rest on each other, and on themselves, without crossing.

mod common;

use std::sync::Arc;

use common::{Contact, at, contact, plain, sheet};
use pullback_collide::{Law, Surface, clearance, crossings};
use pullback_kernel::prelude::*;

/// Particles of one mass with springs along the edges of their surface; the first ones do not move.
struct Cloth {
    surface: Arc<Surface>,
    contact: Contact,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    rest: Vec<f64>,
    held: usize,
}

const MASS: f64 = 1e-3;
const DT: f64 = 4e-4;
const LAW: Law = Law { thickness: 0.01, ke: 40.0, kd: 0.05, kf: 0.05, mu: 0.4 };

impl Cloth {
    fn new(surface: Surface, x: Vec<Vec3>, held: usize) -> Cloth {
        assert!(clearance(&surface, &plain(&x), 1.0) > LAW.thickness);
        let rest = surface.edges().iter().map(|&[a, b]| length(x[a as usize] - x[b as usize])).collect();
        let surface = Arc::new(surface);
        let contact = contact(&surface, 4000);
        Cloth { contact, v: vec![Vec3::default(); x.len()], x, rest, held, surface }
    }

    /// Semi-implicit steps under gravity, until surfaces cross: the largest speed, or the step where they did.
    fn run(&mut self, steps: usize, law: Law) -> Result<f64, usize> {
        let mut w = self.contact.world(&self.x, &self.v, law);
        for step in 0..steps {
            self.contact.write(&mut w, &self.x, &self.v);
            w.forward();
            let mut force = w.read(self.contact.force);
            for (&[a, b], rest) in self.surface.edges().iter().zip(&self.rest) {
                let (a, b) = (a as usize, b as usize);
                let (d, u) = (self.x[b] - self.x[a], self.v[b] - self.v[a]);
                let n = normalize(d);
                let f = n * (20.0 * (length(d) - rest) + 0.01 * dot(u, n));
                (force[a], force[b]) = (force[a] + f, force[b] - f);
            }
            for i in self.held..self.x.len() {
                // And a little air, and a soft floor.
                let depth = (-self.x[i].z).max(0.0);
                let floor = at(0.0, 0.0, 50.0 * depth) - self.v[i] * if depth > 0.0 { 0.05 } else { 1e-3 };
                let push = (force[i] + floor) * (1.0 / MASS) + at(0.0, 0.0, -9.81);
                self.v[i] = self.v[i] + push * DT;
                self.x[i] = self.x[i] + self.v[i] * DT;
            }
            if step % 50 == 0 || step + 1 == steps {
                w.check_values().expect("numbers");
                if crossings(&self.surface, &plain(&self.x)) > 0 {
                    return Err(step);
                }
            }
        }
        Ok(self.v.iter().map(|v| length(*v)).fold(0.0, f64::max))
    }
}

/// A sheet over one that is held, turned and tilted so that edges cross.
fn two_sheets() -> Cloth {
    let surface = Surface::new([sheet(10, 10, 0), sheet(10, 10, 100)].concat(), 200).expect("two sheets");
    let spacing = 0.04;
    let grid = |k: i32| (f64::from(k / 10) - 4.5, f64::from(k % 10) - 4.5);
    let mut x: Vec<Vec3> =
        (0..100).map(|k| at(1.2 * spacing * grid(k).0, 1.2 * spacing * grid(k).1, 0.0)).collect();
    let (sine, cosine) = 0.5_f64.sin_cos();
    x.extend((0..100).map(|k| {
        let (a, b) = (spacing * grid(k).0 * 0.8, spacing * grid(k).1 * 0.8);
        at(cosine * a - sine * b, sine * a + cosine * b, 0.04 + 0.1 * a)
    }));
    Cloth::new(surface, x, 100)
}

#[test]
fn without_contact_they_cross() {
    assert!(two_sheets().run(2500, Law { ke: 0.0, kd: 0.0, ..LAW }).is_err());
}

#[test]
fn a_sheet_rests_on_a_sheet() {
    let mut cloth = two_sheets();
    let speed = cloth.run(2500, LAW).expect("surfaces that do not cross");
    assert!(speed < 0.02, "{speed}");
    let heights: Vec<f64> = cloth.x[100..].iter().map(|x| x.z).collect();
    assert!(heights.iter().all(|z| *z > 0.0 && *z < LAW.thickness), "{heights:?}");
}

#[test]
fn a_strip_rests_on_itself() {
    let (n, m, spacing) = (24, 5, 0.03);
    let surface = Surface::new(sheet(n, m, 0), (n * m) as usize).expect("a strip");
    // Half of it lies on the floor, the rest goes up around a bend and back over the first half.
    let flat = 10.0 * spacing;
    let radius = 3.0 * spacing / std::f64::consts::PI;
    let place = |s: f64| {
        let bend = std::f64::consts::PI * radius;
        if s < flat {
            (s, 0.0)
        } else if s < flat + bend {
            let angle = (s - flat) / radius;
            (flat + radius * angle.sin(), radius * (1.0 - angle.cos()))
        } else {
            (flat - (s - flat - bend), 2.0 * radius)
        }
    };
    let x: Vec<Vec3> = (0..n * m)
        .map(|k| {
            let (along, up) = place(f64::from(k / m) * spacing);
            at(along, f64::from(k % m) * spacing, up)
        })
        .collect();
    let mut cloth = Cloth::new(surface, x, 0);
    let speed = cloth.run(2500, LAW).expect("surfaces that do not cross");
    assert!(speed < 0.02, "{speed}");
    // The end has come down on the first half.
    let end = &cloth.x[20 * m as usize..];
    assert!(end.iter().all(|x| x.z > 0.0 && x.z < LAW.thickness), "{end:?}");
}
