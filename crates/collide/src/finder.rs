//! Which pairs of a surface are nearer than the thickness.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Apart, Lane};

use crate::detect::{nearest_of_edges, nearest_on_triangle};
use crate::surface::Surface;
use crate::tree::{Bounds, Tree};

/// Two parts that are near each other, by their places in the surface, and the index of the kind of their nearest points.
pub(crate) type Pair = [u32; 3];

/// Positions, trees and pairs of a step, and the room for them.
#[derive(Clone, Debug)]
pub(crate) struct Finder {
    /// Of all particles, in double precision.
    pub positions: Vec<Vec3>,
    triangles: Tree,
    edges: Tree,
    /// A vertex and a triangle each, in order.
    pub on_triangles: Vec<Pair>,
    /// Two edges each, in order, the smaller first.
    pub on_edges: Vec<Pair>,
    /// The most of both together.
    most: usize,
}

impl Finder {
    /// With room for a surface, and for so many pairs.
    pub fn new(surface: &Surface, most: usize) -> Finder {
        Finder {
            positions: Vec::with_capacity(surface.particles()),
            triangles: Tree::new(surface.triangles().len()),
            edges: Tree::new(surface.edges().len()),
            on_triangles: Vec::with_capacity(most),
            on_edges: Vec::with_capacity(most),
            most,
        }
    }

    /// How many bytes it has set aside.
    pub fn bytes(&self) -> usize {
        let pairs = self.on_triangles.capacity() + self.on_edges.capacity();
        size_of::<Finder>()
            + self.triangles.bytes()
            + self.edges.bytes()
            + size_of::<Vec3>() * self.positions.capacity()
            + size_of::<Pair>() * pairs
    }

    /// Finds all pairs of `positions` that share no vertex and are nearer than the thickness; false where there are too many.
    pub fn find(&mut self, surface: &Surface, thickness: f64) -> bool {
        self.on_triangles.clear();
        self.on_edges.clear();
        if thickness <= 0.0 || !thickness.is_finite() {
            return true;
        }
        let Finder { positions, triangles, edges, .. } = self;
        let at = |i: u32| positions[i as usize];
        triangles.fit(surface.triangles().iter().map(|corners| Bounds::of(corners.map(at))));
        edges.fit(surface.edges().iter().map(|ends| Bounds::of(ends.map(at))));
        let fits = f64::apart(Find { finder: self, surface, thickness });
        self.on_triangles.sort_unstable();
        self.on_edges.sort_unstable();
        fits
    }
}

/// The search through the trees, with the instructions of the machine.
struct Find<'a> {
    finder: &'a mut Finder,
    surface: &'a Surface,
    thickness: f64,
}

#[inline(always)]
fn gather(positions: &[Vec3], [a, b, c, d]: [u32; 4]) -> [Vec3; 4] {
    [positions[a as usize], positions[b as usize], positions[c as usize], positions[d as usize]]
}

impl Apart for Find<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Find { finder, surface, thickness } = self;
        let near = thickness * thickness;
        for (k, &vertex) in surface.vertices().iter().enumerate() {
            let around = Bounds::of([finder.positions[vertex as usize]]).grown(thickness);
            for triangle in finder.triangles.meeting(around, 0) {
                let Some(four) = surface.vertex_and_triangle(k as u32, triangle) else { continue };
                let (on, squared) = nearest_on_triangle(&gather(&finder.positions, four));
                if squared < near {
                    if finder.on_triangles.len() == finder.most {
                        return false;
                    }
                    finder.on_triangles.push([k as u32, triangle, on.index()]);
                }
            }
        }
        let room = finder.most - finder.on_triangles.len();
        for (place, one) in finder.edges.boxes().iter().enumerate() {
            let first = finder.edges.number(place);
            for second in finder.edges.meeting(one.grown(thickness), place + 1) {
                let (first, second) = (first.min(second), first.max(second));
                let Some(four) = surface.two_edges(first, second) else { continue };
                let Some((on, squared)) = nearest_of_edges(&gather(&finder.positions, four)) else {
                    continue;
                };
                if squared < near {
                    if finder.on_edges.len() == room {
                        return false;
                    }
                    finder.on_edges.push([first, second, on.index()]);
                }
            }
        }
        true
    }
}
