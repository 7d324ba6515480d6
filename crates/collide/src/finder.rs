//! Which pairs of a surface are nearer than the thickness.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Apart, Lane};

use crate::detect::{nearest_of_edges, nearest_on_triangle};
use crate::surface::Surface;
use crate::tree::{Bounds, Tree, number};

/// Two parts that are near each other, by their places in the surface, and the index of the kind of their nearest points.
pub(crate) type Pair = [u32; 3];

/// Positions, trees and pairs of a step, and the room for them.
#[derive(Clone, Debug)]
pub(crate) struct Finder {
    /// Of all particles, in double precision.
    pub positions: Vec<Vec3>,
    trees: Trees,
    /// A vertex and a triangle each, in order.
    pub on_triangles: Vec<Pair>,
    /// Two edges each, in order, the smaller first.
    pub on_edges: Vec<Pair>,
    /// The most of both together.
    most: usize,
}

/// Boxes around the parts of a surface.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    pub vertices: Tree,
    pub triangles: Tree,
    pub edges: Tree,
}

impl Finder {
    /// With room for a surface, and for so many pairs.
    pub fn new(surface: &Surface, most: usize) -> Finder {
        Finder {
            positions: Vec::with_capacity(surface.particles()),
            trees: Trees {
                vertices: Tree::new(surface.vertices().len()),
                triangles: Tree::new(surface.triangles().len()),
                edges: Tree::new(surface.edges().len()),
            },
            on_triangles: Vec::with_capacity(most),
            on_edges: Vec::with_capacity(most),
            most,
        }
    }

    /// How many bytes it has set aside.
    pub fn bytes(&self) -> usize {
        let pairs = self.on_triangles.capacity() + self.on_edges.capacity();
        let Trees { vertices, triangles, edges } = &self.trees;
        size_of::<Finder>()
            + [vertices, triangles, edges].map(Tree::bytes).iter().sum::<usize>()
            + size_of::<Vec3>() * self.positions.capacity()
            + size_of::<Pair>() * pairs
    }

    /// Finds all pairs of `positions` that share no vertex and are nearer than the thickness; false where there are too many.
    pub fn find(&mut self, surface: &Surface, thickness: f64) -> bool {
        let Finder { positions, trees, on_triangles, on_edges, most } = self;
        on_triangles.clear();
        on_edges.clear();
        if thickness <= 0.0 || !thickness.is_finite() {
            return true;
        }
        let at = |i: u32| positions[i as usize];
        trees.vertices.fit(surface.vertices().iter().map(|vertex| Bounds::of([at(*vertex)])));
        trees.triangles.fit(surface.triangles().iter().map(|corners| Bounds::of(corners.map(at))));
        trees.edges.fit(surface.edges().iter().map(|ends| Bounds::of(ends.map(at))));
        let near = Near { surface, positions, trees, thickness };
        let fits = f64::apart(Find { near, on_triangles, on_edges, most: *most });
        on_triangles.sort_unstable_by_key(order);
        on_edges.sort_unstable_by_key(order);
        fits
    }
}

/// By the first, then by the second, as one number: a comparison of three takes twice as long.
fn order(&[first, second, _]: &Pair) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Where everything is.
struct Near<'a> {
    surface: &'a Surface,
    positions: &'a [Vec3],
    trees: &'a Trees,
    thickness: f64,
}

/// The search through the trees, leaf by leaf, with the instructions of the machine.
struct Find<'a> {
    near: Near<'a>,
    on_triangles: &'a mut Vec<Pair>,
    on_edges: &'a mut Vec<Pair>,
    most: usize,
}

impl Apart for Find<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Find { near, on_triangles, on_edges, most } = self;
        let Trees { vertices, triangles, edges } = near.trees;
        for leaf in 0..vertices.leaves() {
            for other in triangles.meeting(vertices.around(leaf).grown(near.thickness), 0) {
                if !near.on_triangles([leaf, other], on_triangles, most) {
                    return false;
                }
            }
        }
        for leaf in 0..edges.leaves() {
            for other in edges.meeting(edges.around(leaf).grown(near.thickness), leaf) {
                if !near.on_edges([leaf, other], on_edges, most - on_triangles.len()) {
                    return false;
                }
            }
        }
        true
    }
}

impl Near<'_> {
    #[inline(always)]
    fn gather(&self, [a, b, c, d]: [u32; 4]) -> [Vec3; 4] {
        let x = self.positions;
        [x[a as usize], x[b as usize], x[c as usize], x[d as usize]]
    }

    /// Adds pairs of vertices and triangles of two leaves; false where there are too many.
    #[inline(always)]
    fn on_triangles(&self, [leaf, other]: [usize; 2], found: &mut Vec<Pair>, room: usize) -> bool {
        let ((points, vertices), (boxes, triangles)) =
            (self.trees.vertices.leaf(leaf), self.trees.triangles.leaf(other));
        for (point, &vertex) in points.iter().zip(vertices) {
            let around = point.grown(self.thickness);
            for (one, &triangle) in boxes.iter().zip(triangles) {
                if !one.meets(&around) {
                    continue;
                }
                let (vertex, triangle) = (number(vertex), number(triangle));
                let Some(four) = self.surface.vertex_and_triangle(vertex, triangle) else { continue };
                let (on, squared) = nearest_on_triangle(&self.gather(four));
                if squared < self.thickness * self.thickness {
                    if found.len() == room {
                        return false;
                    }
                    found.push([vertex, triangle, on.index()]);
                }
            }
        }
        true
    }

    /// Adds pairs of edges of two leaves, or of one; false where there are too many.
    #[inline(always)]
    fn on_edges(&self, [leaf, other]: [usize; 2], found: &mut Vec<Pair>, room: usize) -> bool {
        let ((firsts, keys), (boxes, others)) = (self.trees.edges.leaf(leaf), self.trees.edges.leaf(other));
        for (i, first) in firsts.iter().enumerate() {
            let around = first.grown(self.thickness);
            let from = if leaf == other { i + 1 } else { 0 };
            for (one, &key) in boxes.iter().zip(others).skip(from) {
                if !one.meets(&around) {
                    continue;
                }
                let (a, b) = (number(keys[i]), number(key));
                let (first, second) = (a.min(b), a.max(b));
                let Some(four) = self.surface.two_edges(first, second) else { continue };
                let Some((on, squared)) = nearest_of_edges(&self.gather(four)) else { continue };
                if squared < self.thickness * self.thickness {
                    if found.len() == room {
                        return false;
                    }
                    found.push([first, second, on.index()]);
                }
            }
        }
        true
    }
}
