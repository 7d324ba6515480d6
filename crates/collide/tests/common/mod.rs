//! Random points, sheets, and a program whose only operation is the contact of a surface.
#![allow(dead_code, reason = "each test uses a part")]

use std::sync::Arc;

use pullback_collide::{
    Law, Moving, Surface, Touch, edge_forces, nearest_of_edges, nearest_on_triangle, surface_contact,
    triangle_forces,
};
use pullback_kernel::prelude::*;

/// Numbers in (-1, 1), the same in every run.
pub struct Random(u64);

impl Random {
    pub fn seeded(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.next();
        random
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vec3(&mut self) -> Vec3 {
        Vec3 { x: self.next(), y: self.next(), z: self.next() }
    }

    pub fn four(&mut self) -> [Vec3; 4] {
        std::array::from_fn(|_| self.vec3())
    }
}

pub fn at(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3 { x, y, z }
}

pub fn plain(x: &[Vec3]) -> Vec<[f64; 3]> {
    x.iter().map(|x| [x.x, x.y, x.z]).collect()
}

/// Numbers of surfaces that are about a metre large.
pub const LAW: Law = Law { thickness: 0.4, ke: 30.0, kd: 0.7, kf: 0.9, mu: 0.6 };

/// The contact of a surface alone, in a program.
pub struct Contact {
    pub program: Program,
    pub moving: Moving,
    pub touch: Touch,
    pub force: Buffer<Vec3>,
}

pub fn contact(surface: &Arc<Surface>, most: usize) -> Contact {
    let mut p = Program::builder();
    let count = surface.particles();
    let moving = Moving { x: p.input("x", count), v: p.input("v", count) };
    let mut number = |name: &str| p.parameter::<f64>(name, 1);
    let touch = Touch {
        thickness: number("thickness"),
        ke: number("ke"),
        kd: number("kd"),
        kf: number("kf"),
        mu: number("mu"),
    };
    let force = surface_contact(&mut p, "contact of surfaces", surface, moving, touch, most);
    p.output(force);
    Contact { program: p.finish().expect("a program"), moving, touch, force }
}

impl Contact {
    /// A world with these positions, velocities and numbers.
    pub fn world(&self, x: &[Vec3], v: &[Vec3], law: Law) -> Workspace<f64> {
        let mut w = self.program.workspace::<f64>(RunOptions::default());
        self.write(&mut w, x, v);
        let Touch { thickness, ke, kd, kf, mu } = self.touch;
        let numbers = [(thickness, law.thickness), (ke, law.ke), (kd, law.kd), (kf, law.kf), (mu, law.mu)];
        for (number, value) in numbers {
            w.write(number, &[value]).expect("one value");
        }
        w
    }

    pub fn write(&self, w: &mut Workspace<f64>, x: &[Vec3], v: &[Vec3]) {
        w.write(self.moving.x, x).expect("positions");
        w.write(self.moving.v, v).expect("velocities");
    }

    /// The forces there.
    pub fn forces(&self, x: &[Vec3], v: &[Vec3], law: Law) -> Vec<Vec3> {
        let mut w = self.world(x, v, law);
        w.forward();
        w.read(self.force)
    }
}

/// Forces of all pairs, by looking at each, in the order of the operation; and how many there are.
pub fn by_all_pairs(surface: &Surface, x: &[Vec3], v: &[Vec3], law: Law) -> (Vec<Vec3>, usize) {
    let (mut forces, mut count) = (vec![Vec3::default(); x.len()], 0);
    let mut add = |four: [u32; 4], push: [Vec3; 4]| {
        count += 1;
        for (i, push) in four.into_iter().zip(push) {
            forces[i as usize] = forces[i as usize] + push;
        }
    };
    for &p in surface.vertices() {
        for &[a, b, c] in surface.triangles() {
            let four = [p, a, b, c];
            let (xs, vs) = (four.map(|i| x[i as usize]), four.map(|i| v[i as usize]));
            let (on, squared) = nearest_on_triangle(&xs);
            if ![a, b, c].contains(&p) && squared < law.thickness * law.thickness {
                add(four, triangle_forces(on, xs, vs, law));
            }
        }
    }
    for (i, &[a, b]) in surface.edges().iter().enumerate() {
        for &[c, d] in &surface.edges()[i + 1..] {
            let four = [a, b, c, d];
            let (xs, vs) = (four.map(|i| x[i as usize]), four.map(|i| v[i as usize]));
            let Some((on, squared)) = nearest_of_edges(&xs) else { continue };
            if ![a, b].contains(&c) && ![a, b].contains(&d) && squared < law.thickness * law.thickness {
                add(four, edge_forces(on, xs, vs, law));
            }
        }
    }
    (forces, count)
}

/// The triangles of a sheet of n by m particles, from the particle `first` on.
pub fn sheet(n: u32, m: u32, first: u32) -> Vec<[u32; 3]> {
    let corner = |i: u32, j: u32| first + i * m + j;
    let square = |i: u32, j: u32| {
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        // Diagonals in both directions.
        if (i + j).is_multiple_of(2) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
    };
    (0..n - 1).flat_map(|i| (0..m - 1).flat_map(move |j| square(i, j))).collect()
}

/// Triangles that share nothing.
pub fn loose(count: u32) -> Arc<Surface> {
    let triangles = (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    Arc::new(Surface::new(triangles, 3 * count as usize).expect("triangles"))
}
