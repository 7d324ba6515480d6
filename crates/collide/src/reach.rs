//! How much of their ways particles can go before surfaces meet: additive continuous collision detection (Li, Kaufman & Jiang 2021,
//! algorithm 1).
//!
//! Of a pair whose parts are d apart and move against each other by l at most in a whole way, nothing meets within the part d/l of it. So the
//! pair is moved on by a little less, again and again, until a tenth of the first distance is left. Ways are straight; no equation is solved
//! whose roots rounding could hide.

use pullback_kernel::prelude::*;

use crate::detect::{nearest_on_triangle, squared_of_edges};
use crate::finder::Trees;
use crate::surface::Surface;
use crate::tree::{Bounds, number};

/// How much of the distance is left at least.
const LEFT: f64 = 0.1;
/// How much of what is safe is gone at once.
const CAREFUL: f64 = 0.9;
/// So often is a pair moved on: what slides along something very near goes no further at once.
const MOST: usize = 1000;

/// Working memory of the search.
#[derive(Debug)]
pub struct Reach {
    trees: Trees,
}

/// Where particles are, and where they are going.
struct Ways<'a> {
    from: &'a [Vec3],
    way: &'a [Vec3],
}

impl Ways<'_> {
    /// Around the first part of some particles' ways.
    fn around<const N: usize>(&self, particles: [u32; N], part: f64) -> Bounds {
        let [from, way] = [self.from, self.way].map(|of| particles.map(|i| of[i as usize]));
        let mut to = from;
        to.iter_mut().zip(way).for_each(|(to, way)| *to = *to + way * part);
        Bounds::of(from).with(&Bounds::of(to))
    }

    /// How much of its way a pair can go, `part` at most; its first particles, so many, move against the others.
    fn reach(&self, four: [u32; 4], first: usize, squared: fn(&[Vec3; 4]) -> f64, part: f64) -> f64 {
        let [mut x, mut way] = [self.from, self.way].map(|of| four.map(|i| of[i as usize]));
        let mean = (way[0] + way[1] + way[2] + way[3]) * 0.25;
        way.iter_mut().for_each(|way| *way = *way - mean);
        let longest = |of: &[Vec3]| of.iter().map(|way| length(*way)).fold(0.0, f64::max);
        let most = longest(&way[..first]) + longest(&way[first..]);
        let mut apart = squared(&x).sqrt();
        // What moves as one meets nothing, and what has met already no more.
        if most == 0.0 || apart == 0.0 {
            return part;
        }
        let left = LEFT * apart;
        let (mut gone, mut next) = (0.0, (1.0 - LEFT) * apart / most);
        for _ in 0..MOST {
            x.iter_mut().zip(way).for_each(|(x, way)| *x = *x + way * next);
            apart = squared(&x).sqrt();
            let near = apart < left || apart.is_nan();
            if near && gone > 0.0 {
                return gone;
            }
            gone += next;
            if gone >= part {
                return part;
            }
            if near {
                return gone;
            }
            next = CAREFUL * apart / most;
        }
        gone
    }
}

impl Reach {
    /// With room for a surface.
    pub fn new(surface: &Surface) -> Reach {
        Reach { trees: Trees::new(surface) }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.trees.bytes()
    }

    /// How much of the way that each particle has before it they can all go, from 0 to 1, so that no vertex and triangle, and no two edges,
    /// that share no vertex meet on the way.
    pub fn find(&mut self, surface: &Surface, from: &[Vec3], way: &[Vec3]) -> f64 {
        let (trees, ways, mut part) = (&mut self.trees, Ways { from, way }, 1.0);
        trees.vertices.fit(surface.vertices().iter().map(|&vertex| ways.around([vertex], 1.0)));
        trees.triangles.fit(surface.triangles().iter().map(|&corners| ways.around(corners, 1.0)));
        trees.edges.fit(surface.edges().iter().map(|&ends| ways.around(ends, 1.0)));
        for (k, &vertex) in surface.vertices().iter().enumerate() {
            let around = ways.around([vertex], part);
            for leaf in trees.triangles.meeting(around, 0) {
                let (boxes, keys) = trees.triangles.leaf(leaf);
                for (_, &key) in boxes.iter().zip(keys).filter(|(one, _)| one.meets(&around)) {
                    let Some(four) = surface.vertex_and_triangle(k as u32, number(key)) else { continue };
                    part = ways.reach(four, 1, |x| nearest_on_triangle(x).1, part);
                }
            }
        }
        for (k, &ends) in surface.edges().iter().enumerate() {
            let around = ways.around(ends, part);
            for leaf in trees.edges.meeting(around, 0) {
                let (boxes, keys) = trees.edges.leaf(leaf);
                for (_, &key) in
                    boxes.iter().zip(keys).filter(|(one, key)| number(**key) > k as u32 && one.meets(&around))
                {
                    let Some(four) = surface.two_edges(k as u32, number(key)) else { continue };
                    part = ways.reach(four, 2, squared_of_edges, part);
                }
            }
        }
        part
    }
}
