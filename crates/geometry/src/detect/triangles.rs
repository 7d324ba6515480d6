//! The triangles of ground near a shape, in the world, worked out once.

use pullback_kernel::prelude::*;

use super::body::{Body, dot, outward};
use crate::Bounds;
use crate::kind::Kind;

#[derive(Clone, Copy)]
pub(super) struct Triangle {
    pub face: u32,
    pub corners: [Vec3; 3],
    pub normal: Vec3,
    /// Its middle, and how far its corners are from there.
    middle: Vec3,
    radius: f64,
}

/// Of more than `KEPT`, none are kept, and they are worked out whenever they are asked for.
pub(super) struct Triangles<'a, const KEPT: usize> {
    ground: &'a Body<'a>,
    bounds: Bounds,
    kept: [Triangle; KEPT],
    /// How many there are, kept or not.
    count: usize,
}

impl<'a, const KEPT: usize> Triangles<'a, KEPT> {
    /// Those that are nearer to a point than this. They are looked for where they were made: a box around the point that is
    /// larger by how far corners have moved since, along each axis, meets where each of them was.
    pub fn new((ground, moved): (&'a Body<'a>, [f64; 3]), center: Vec3, reach: f64) -> Self {
        let x = transform_point_back(*ground.pose, center);
        let (at, reach_of) = ([x.x, x.y, x.z], |k: usize| reach + moved[k]);
        let bounds = Bounds {
            low: std::array::from_fn(|k| at[k] - reach_of(k)),
            high: std::array::from_fn(|k| at[k] + reach_of(k)),
        };
        let zero = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
        let none = Triangle { face: 0, corners: [zero; 3], normal: zero, middle: zero, radius: 0.0 };
        let mut it = Triangles { ground, bounds, kept: [none; KEPT], count: 0 };
        each(ground, &bounds, &mut |face| {
            let triangle = triangle(ground, face);
            if triangle.is_near(center, reach) {
                if let Some(kept) = it.kept.get_mut(it.count) {
                    *kept = triangle;
                }
                it.count += 1;
            }
        });
        it
    }

    pub fn are_kept(&self) -> bool {
        self.count <= KEPT
    }

    /// Visits those that may be nearer to x than this.
    #[inline]
    pub fn near(&self, x: Vec3, reach: f64, visit: &mut impl FnMut(&Triangle)) {
        if self.are_kept() {
            for triangle in self.kept[..self.count].iter().filter(|triangle| triangle.is_near(x, reach)) {
                visit(triangle);
            }
        } else {
            each(self.ground, &self.bounds, &mut |face| {
                let triangle = triangle(self.ground, face);
                if triangle.is_near(x, reach) {
                    visit(&triangle);
                }
            });
        }
    }
}

fn each(ground: &Body<'_>, bounds: &Bounds, visit: &mut impl FnMut(u32)) {
    match ground.kind {
        Kind::Surface(surface) => surface.tree.each(bounds, visit),
        Kind::Heights(heights) => heights.each(bounds, visit),
        _ => {}
    }
}

fn triangle(ground: &Body<'_>, face: u32) -> Triangle {
    let corners = ground.face(face as usize);
    let middle = (corners[0] + corners[1] + corners[2]) * (1.0 / 3.0);
    let far = |p: Vec3| dot(p - middle, p - middle);
    let radius = far(corners[0]).max(far(corners[1])).max(far(corners[2])).sqrt();
    Triangle { face, corners, normal: outward(corners), middle, radius }
}

impl Triangle {
    /// One without area, as corners that have moved can make it, is near nothing: it has no normal.
    #[inline]
    fn is_near(&self, x: Vec3, reach: f64) -> bool {
        let (d, most) = (x - self.middle, reach + self.radius);
        dot(self.normal, self.normal) > 0.0
            && dot(d, d) <= most * most
            && dot(self.normal, x - self.corners[0]).abs() <= reach
    }
}
