//! The contact of surfaces as an operation of a program.

use std::sync::Arc;

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, Spares, View, World};
use pullback_kernel::scalar::Local;

use crate::distance::{OnEdges, OnTriangle};
use crate::finder::Finder;
use crate::law::{Law, edge_forces, triangle_forces};
use crate::surface::Surface;

/// Where particles are and how they move.
#[derive(Clone, Copy, Debug)]
pub struct Moving {
    /// Positions [m].
    pub x: Buffer<Vec3>,
    /// Velocities [m/s].
    pub v: Buffer<Vec3>,
}

/// The numbers of [`Law`], one value each.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// From which distance on surfaces push each other [m].
    pub thickness: Buffer<f64>,
    /// Stiffness of a pair at half of the thickness [N/m].
    pub ke: Buffer<f64>,
    /// Damping where surfaces nearly touch [N·s/m].
    pub kd: Buffer<f64>,
    /// Friction per speed while they stick [N·s/m].
    pub kf: Buffer<f64>,
    /// Coefficient of friction.
    pub mu: Buffer<f64>,
}

/// The force on each particle [N] by the contact of surfaces with themselves and each other: of vertices and triangles, and of two
/// edges, that share no vertex and are nearer than the thickness.
///
/// There is room for `most` pairs. Where there are more, the force on the first particle is no number, so that a check of values names
/// this operation; and its cotangents are 0.
///
/// # Panics
/// When there are not as many positions and velocities as the surface has particles, or not one of each number.
pub fn surface_contact(
    p: &mut Builder,
    name: &str,
    surface: &Arc<Surface>,
    moving: Moving,
    touch: Touch,
    most: usize,
) -> Buffer<Vec3> {
    let count = surface.particles();
    assert!(
        p.len(moving.x) == count && p.len(moving.v) == count,
        "positions and velocities of all particles"
    );
    let Touch { thickness, ke, kd, kf, mu } = touch;
    assert!([thickness, ke, kd, kf, mu].iter().all(|one| p.len(*one) == 1), "one value of each number");
    let force = p.computed(name, count);
    let memory = p.memory(&format!("{name}: pairs"), COUNTS + 3 * most);
    let surface = surface.clone();
    p.operation(SurfaceContact {
        name: name.to_owned(),
        surface,
        moving,
        touch,
        most,
        force,
        memory,
        finders: Spares::default(),
    });
    force
}

/// How many pairs there are of each kind comes before them.
const COUNTS: usize = 2;

struct SurfaceContact {
    name: String,
    surface: Arc<Surface>,
    moving: Moving,
    touch: Touch,
    most: usize,
    force: Buffer<Vec3>,
    /// The pairs that were found: [how many of triangles, of edges, pairs].
    memory: Memory,
    /// What they find does not depend on what they found before: a step gives the same bits whichever it takes.
    finders: Spares<Finder>,
}

/// The values, or the cotangents, of four vertices.
#[inline(always)]
fn gather<L: Lane>(view: &View<'_, Vec3, L>, four: [u32; 4]) -> [Vec3<L>; 4] {
    let [a, b, c, d] = four;
    [view.get(a as usize), view.get(b as usize), view.get(c as usize), view.get(d as usize)]
}

#[inline(always)]
fn scatter<L: Lane>(view: &View<'_, Vec3, L>, four: [u32; 4], values: [Vec3<L>; 4]) {
    for k in 0..4 {
        view.add(four[k] as usize, values[k]);
    }
}

/// An index as a number. Not as its bits: numbers may be kept in single precision, which is exact for indices below 2²⁴.
#[inline(always)]
fn number<L: Lane>(index: u32) -> L {
    L::from_f64(f64::from(index))
}

#[inline(always)]
fn index<L: Lane>(number: L) -> u32 {
    number.value_in(0) as u32
}

/// The pairs in a memory: of vertices and triangles, and of edges.
#[inline(always)]
fn pairs<L: Lane>(memory: &[L]) -> (&[[L; 3]], &[[L; 3]]) {
    let (counts, pairs) = memory.split_at(COUNTS);
    let (pairs, _) = pairs.as_chunks::<3>();
    let (triangles, edges) = (index(counts[0]) as usize, index(counts[1]) as usize);
    (&pairs[..triangles], &pairs[triangles..triangles + edges])
}

impl SurfaceContact {
    #[inline(always)]
    fn law<L: Lane>(&self, world: &World<'_, L>) -> Law<L> {
        let Touch { thickness, ke, kd, kf, mu } = self.touch;
        Law {
            thickness: world.get(thickness, 0),
            ke: world.get(ke, 0),
            kd: world.get(kd, 0),
            kf: world.get(kf, 0),
            mu: world.get(mu, 0),
        }
    }

    /// Leaves all pairs in the memory; false where there are too many.
    #[inline(always)]
    fn find<L: Lane>(&self, world: &World<'_, L>, memory: &mut [L]) -> bool {
        let mut finder = self.finders.take(|| Finder::new(&self.surface, self.most));
        finder.positions.clear();
        let x = world.values(self.moving.x);
        for i in 0..self.surface.particles() {
            let Vec3 { x, y, z } = x.get(i);
            finder.positions.push(Vec3 { x: x.value_in(0), y: y.value_in(0), z: z.value_in(0) });
        }
        let thickness = world.get(self.touch.thickness, 0).value_in(0);
        let fits = finder.find(&self.surface, thickness);
        memory[..COUNTS].fill(number(0));
        if fits {
            let (counts, pairs) = memory.split_at_mut(COUNTS);
            let found = [&finder.on_triangles, &finder.on_edges];
            for (count, found) in counts.iter_mut().zip(found) {
                *count = number(found.len() as u32);
            }
            let (pairs, _) = pairs.as_chunks_mut::<3>();
            for (to, from) in pairs.iter_mut().zip(found.into_iter().flatten()) {
                *to = from.map(number);
            }
        }
        self.finders.give_back(finder);
        fits
    }
}

impl Operation for SurfaceContact {
    // Which pairs there are is another matter in each world.
    const LANES: bool = false;

    fn name(&self) -> String {
        self.name.clone()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let (Moving { x, v }, Touch { thickness, ke, kd, kf, mu }) = (self.moving, self.touch);
        vec![x.into(), v.into(), thickness.into(), ke.into(), kd.into(), kf.into(), mu.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.force.into()]
    }
    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
    fn own_bytes(&self, _lanes: usize) -> usize {
        Finder::new(&self.surface, self.most).bytes()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let memory = std::mem::take(&mut world.memory);
        let fits = self.find(world, memory);
        let (x, v) = (world.values(self.moving.x), world.values(self.moving.v));
        let (force, law) = (world.values(self.force), self.law(world));
        for i in 0..self.surface.particles() {
            force.set(i, vec3(L::from_f64(0.0), L::from_f64(0.0), L::from_f64(0.0)));
        }
        if !fits && self.surface.particles() > 0 {
            let none = L::from_f64(f64::NAN);
            return force.set(0, vec3(none, none, none));
        }
        let (on_triangles, on_edges) = pairs(memory);
        for [vertex, triangle, on] in on_triangles.iter().map(|pair| pair.map(index)) {
            let Some(four) = self.surface.vertex_and_triangle(vertex, triangle) else { continue };
            let on = OnTriangle::at::<L>(on);
            scatter(&force, four, triangle_forces(on, gather(&x, four), gather(&v, four), law));
        }
        for [first, second, on] in on_edges.iter().map(|pair| pair.map(index)) {
            let Some(four) = self.surface.two_edges(first, second) else { continue };
            let on = OnEdges::at::<L>(on);
            scatter(&force, four, edge_forces(on, gather(&x, four), gather(&v, four), law));
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let memory = std::mem::take(&mut world.memory);
        let (x, v) = (world.values(self.moving.x), world.values(self.moving.v));
        let (x_bar, v_bar) = (world.bars(self.moving.x), world.bars(self.moving.v));
        let (force_bar, law) = (world.bars(self.force), self.law(world));
        let mut law_bar = <Law<L> as Local<L>>::zero();
        let (on_triangles, on_edges) = pairs(memory);
        for [vertex, triangle, on] in on_triangles.iter().map(|pair| pair.map(index)) {
            let Some(four) = self.surface.vertex_and_triangle(vertex, triangle) else { continue };
            let (on, here, bar) = (OnTriangle::at::<L>(on), gather(&x, four), gather(&force_bar, four));
            let (_, xs, vs, by_law) = triangle_forces::pullback(on, here, gather(&v, four), law, bar);
            scatter(&x_bar, four, xs);
            scatter(&v_bar, four, vs);
            law_bar = law_bar.plus(by_law);
        }
        for [first, second, on] in on_edges.iter().map(|pair| pair.map(index)) {
            let Some(four) = self.surface.two_edges(first, second) else { continue };
            let (on, here, bar) = (OnEdges::at::<L>(on), gather(&x, four), gather(&force_bar, four));
            let (_, xs, vs, by_law) = edge_forces::pullback(on, here, gather(&v, four), law, bar);
            scatter(&x_bar, four, xs);
            scatter(&v_bar, four, vs);
            law_bar = law_bar.plus(by_law);
        }
        let Touch { thickness, ke, kd, kf, mu } = self.touch;
        let bars = [law_bar.thickness, law_bar.ke, law_bar.kd, law_bar.kf, law_bar.mu];
        for (number, bar) in [thickness, ke, kd, kf, mu].into_iter().zip(bars) {
            world.add_bar(number, 0, bar);
        }
    }
}
