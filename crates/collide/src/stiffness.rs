//! How the forces of contact change with positions and velocities, pair by pair: what the equations of implicit steps are made of.

use pullback_kernel::prelude::*;
use pullback_kernel::program::Lane;
use pullback_kernel::scalar::lanes::{Dispatch, Driver, Isa, Width};

use crate::distance::{OnEdges, OnTriangle};
use crate::finder::Finder;
use crate::law::{Law, edge_forces, triangle_forces};
use crate::surface::Surface;

/// Of four particles: row 3 a + r is component r of the force on the a-th, column 3 b + s component s of where, or how fast, the b-th is.
pub type Matrix = [[f64; 12]; 12];

/// The derivatives of the forces of one pair.
#[derive(Clone, Debug)]
pub struct PairStiffness {
    /// By positions [N/m].
    pub by_position: Matrix,
    /// By velocities [N·s/m].
    pub by_velocity: Matrix,
}

/// The pairs of a surface that push each other now.
#[derive(Debug)]
pub struct Stiffness {
    finder: Finder,
    /// The particles of each pair: those of vertices and triangles first, then those of two edges.
    pairs: Vec<[u32; 4]>,
}

/// Which parts of a pair are nearest, by the index of their kind.
#[derive(Clone, Copy, Debug)]
enum Nearest {
    OnTriangle(u32),
    OnEdges(u32),
}

impl Stiffness {
    /// With room for so many pairs.
    pub fn new(surface: &Surface, most: usize) -> Stiffness {
        Stiffness { finder: Finder::new(surface, most), pairs: Vec::with_capacity(most) }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.finder.bytes() + self.pairs.capacity() * size_of::<[u32; 4]>()
    }

    /// Finds the pairs that are nearer than the thickness [m], as [`surface_contact`](crate::surface_contact) does; false where there are
    /// too many.
    pub fn find(&mut self, surface: &Surface, positions: &[Vec3], thickness: f64) -> bool {
        let Stiffness { finder, pairs, .. } = self;
        finder.positions.clear();
        finder.positions.extend_from_slice(positions);
        pairs.clear();
        let fits = finder.find(surface, thickness);
        if fits {
            let of_triangle =
                |&[vertex, triangle, _]: &[u32; 3]| surface.vertex_and_triangle(vertex, triangle);
            let of_edges = |&[first, second, _]: &[u32; 3]| surface.two_edges(first, second);
            pairs.extend(finder.on_triangles.iter().filter_map(of_triangle));
            pairs.extend(finder.on_edges.iter().filter_map(of_edges));
        }
        fits
    }

    /// The particles of each pair.
    pub fn pairs(&self) -> &[[u32; 4]] {
        &self.pairs
    }

    /// The derivatives of the forces of pair number `k`.
    pub fn of(&self, k: usize, velocities: &[Vec3], law: Law) -> PairStiffness {
        f64::dispatch(self.pair(k, velocities, law), Isa::detect(), Width::Narrow)
    }

    /// The forces of pair number `k` [N].
    pub fn forces(&self, k: usize, velocities: &[Vec3], law: Law) -> [Vec3; 4] {
        let Pair { on, x, v, law } = self.pair(k, velocities, law);
        match on {
            Nearest::OnTriangle(on) => triangle_forces(OnTriangle::at::<f64>(on), x, v, law),
            Nearest::OnEdges(on) => edge_forces(OnEdges::at::<f64>(on), x, v, law),
        }
    }

    fn pair(&self, k: usize, velocities: &[Vec3], law: Law) -> Pair {
        let Finder { positions, on_triangles, on_edges, .. } = &self.finder;
        let four = self.pairs[k].map(|i| i as usize);
        let on = match k.checked_sub(on_triangles.len()) {
            None => Nearest::OnTriangle(on_triangles[k][2]),
            Some(k) => Nearest::OnEdges(on_edges[k][2]),
        };
        Pair { on, x: four.map(|i| positions[i]), v: four.map(|i| velocities[i]), law }
    }
}

/// A pair, several rows at once: each is the pullback of one component of one force.
struct Pair {
    on: Nearest,
    x: [Vec3; 4],
    v: [Vec3; 4],
    law: Law,
}

/// The same in all lanes.
#[inline(always)]
fn in_all<L: Lane>(a: Vec3) -> Vec3<L> {
    vec3(L::from_f64(a.x), L::from_f64(a.y), L::from_f64(a.z))
}

#[inline(always)]
fn four_in_all<L: Lane>([a, b, c, d]: [Vec3; 4]) -> [Vec3<L>; 4] {
    [in_all(a), in_all(b), in_all(c), in_all(d)]
}

impl Driver<f64> for Pair {
    type Output = PairStiffness;
    type Home = Pair;

    #[inline(always)]
    fn run<L: Lane<Element = f64>>(self) -> PairStiffness {
        let mut out = PairStiffness { by_position: [[0.0; 12]; 12], by_velocity: [[0.0; 12]; 12] };
        let (x, v) = (four_in_all::<L>(self.x), four_in_all::<L>(self.v));
        let Law { thickness, ke, kd, kf, mu } = self.law;
        let law = Law {
            thickness: L::from_f64(thickness),
            ke: L::from_f64(ke),
            kd: L::from_f64(kd),
            kf: L::from_f64(kf),
            mu: L::from_f64(mu),
        };
        let mut first = 0;
        while first < 12 {
            let mut bar = four_in_all::<L>([Vec3::default(); 4]);
            for lane in 0..L::WIDTH.min(12 - first) {
                let row = first + lane;
                let of = &mut bar[row / 3];
                [&mut of.x, &mut of.y, &mut of.z][row % 3].set_lane(lane, 1.0);
            }
            let (x_bar, v_bar) = match self.on {
                Nearest::OnTriangle(on) => {
                    let (_, x_bar, v_bar, _) =
                        triangle_forces::pullback(OnTriangle::at::<L>(on), x, v, law, bar);
                    (x_bar, v_bar)
                }
                Nearest::OnEdges(on) => {
                    let (_, x_bar, v_bar, _) = edge_forces::pullback(OnEdges::at::<L>(on), x, v, law, bar);
                    (x_bar, v_bar)
                }
            };
            for lane in 0..L::WIDTH.min(12 - first) {
                for b in 0..4 {
                    let (by_x, by_v) = (&x_bar[b], &v_bar[b]);
                    let columns = 3 * b..3 * b + 3;
                    out.by_position[first + lane][columns.clone()].copy_from_slice(&[
                        by_x.x.lane(lane),
                        by_x.y.lane(lane),
                        by_x.z.lane(lane),
                    ]);
                    out.by_velocity[first + lane][columns].copy_from_slice(&[
                        by_v.x.lane(lane),
                        by_v.y.lane(lane),
                        by_v.z.lane(lane),
                    ]);
                }
            }
            first += L::WIDTH;
        }
        out
    }
}
