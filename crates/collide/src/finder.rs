//! Which pairs of a surface are nearer than the thickness.

use pullback_kernel::prelude::*;

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
        let Finder { positions, triangles, edges, on_triangles, on_edges, most } = self;
        let at = |i: u32| positions[i as usize];
        on_triangles.clear();
        on_edges.clear();
        if thickness <= 0.0 || !thickness.is_finite() {
            return true;
        }
        let near = thickness * thickness;
        let mut found = 0;
        triangles.fit(surface.triangles().iter().map(|corners| Bounds::of(corners.map(at))));
        for (k, &vertex) in surface.vertices().iter().enumerate() {
            let around = Bounds::of([at(vertex)]).grown(thickness);
            triangles.each(&around, 0, |triangle| {
                let Some(four) = surface.vertex_and_triangle(k as u32, triangle) else { return };
                let (on, squared) = nearest_on_triangle(&four.map(at));
                if squared < near {
                    found += 1;
                    if found <= *most {
                        on_triangles.push([k as u32, triangle, on.index()]);
                    }
                }
            });
        }
        edges.fit(surface.edges().iter().map(|ends| Bounds::of(ends.map(at))));
        edges.each_two(thickness, |first, second| {
            let Some(four) = surface.two_edges(first, second) else { return };
            let Some((on, squared)) = nearest_of_edges(&four.map(at)) else { return };
            if squared < near {
                found += 1;
                if found <= *most {
                    on_edges.push([first, second, on.index()]);
                }
            }
        });
        on_triangles.sort_unstable();
        on_edges.sort_unstable();
        found <= *most
    }
}
