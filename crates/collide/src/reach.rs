//! How much of their ways particles can go before surfaces meet: additive continuous collision detection (Li, Kaufman & Jiang 2021,
//! algorithm 1).
//!
//! Of a pair whose parts are d apart and move against each other by l at most in a whole way, nothing meets within the part d/l of it. So the
//! pair is moved on by a little less, again and again, until a tenth of the first distance is left. Ways are straight; no equation is solved
//! whose roots rounding could hide.

use pullback_kernel::prelude::*;

use crate::detect::{nearest_on_triangle, squared_of_edges};
use crate::surface::Surface;
use crate::tree::{Bounds, Tree, number};

/// How much of the distance is left at least.
const LEFT: f64 = 0.1;
/// How much of what is safe is gone at once.
const CAREFUL: f64 = 0.9;
/// So often is a pair moved on: what slides along something very near goes no further at once.
const MOST: usize = 1000;
/// What is as near as this part of the margin touches: nothing knows which side is which.
const TOUCHING: f64 = 0.05;
/// What only goes apart may come nearer by this part of the distance, which is rounding.
const ROUNDING: f64 = 1e-9;

/// Working memory of the search.
#[derive(Debug)]
pub struct Reach {
    triangles: Tree,
    edges: Tree,
}

/// How far surfaces can go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gone {
    /// How much of the way, from 0 to 1.
    pub part: f64,
    /// The particles of the pair that lets them go no further, if one does not.
    pub held: Option<[u32; 4]>,
}

/// Where particles are, and where they are going.
struct Ways<'a> {
    from: &'a [Vec3],
    way: &'a [Vec3],
    /// The way of all together, which brings nothing nearer.
    mean: Vec3,
    margin: f64,
}

impl Ways<'_> {
    /// Around the first part of some particles' ways.
    fn around<const N: usize>(&self, particles: [u32; N], part: f64) -> Bounds {
        let [from, way] = [self.from, self.way].map(|of| particles.map(|i| of[i as usize]));
        let mut to = from;
        to.iter_mut().zip(way).for_each(|(to, way)| *to = *to + (way - self.mean) * part);
        Bounds::of(from).with(&Bounds::of(to))
    }

    /// Lets a pair go as far as it can; its first particles, so many, move against the others.
    fn hold(&self, gone: &mut Gone, four: [u32; 4], first: usize, squared: fn(&[Vec3; 4]) -> f64) {
        let part = self.reach(four, first, squared, gone.part);
        if part < gone.part {
            *gone = Gone { part, held: Some(four) };
        }
    }

    /// How much of its way a pair can go, `part` at most.
    fn reach(&self, four: [u32; 4], first: usize, squared: fn(&[Vec3; 4]) -> f64, part: f64) -> f64 {
        let [mut x, mut way] = [self.from, self.way].map(|of| four.map(|i| of[i as usize]));
        let mean = (way[0] + way[1] + way[2] + way[3]) * 0.25;
        way.iter_mut().for_each(|way| *way = *way - mean);
        let longest = |of: &[Vec3]| of.iter().map(|way| length(*way)).fold(0.0, f64::max);
        let most = longest(&way[..first]) + longest(&way[first..]);
        // What moves as one meets nothing.
        if most == 0.0 {
            return part;
        }
        let apart = squared(&x).sqrt();
        let only_apart = apart <= self.margin;
        if apart <= TOUCHING * self.margin {
            return 0.0;
        }
        let left = if only_apart { (1.0 - ROUNDING) * apart } else { (LEFT * apart).max(self.margin) };
        let (mut gone, mut next) = (0.0, if only_apart { 0.5 * apart } else { apart - left } / most);
        for _ in 0..MOST {
            x.iter_mut().zip(way).for_each(|(x, way)| *x = *x + way * next);
            let apart = squared(&x).sqrt();
            if apart < left || apart.is_nan() {
                // The first move ends where no more is to be left, but for rounding.
                return if gone == 0.0 && !only_apart { part.min(next) } else { gone };
            }
            gone += next;
            if gone >= part {
                return part;
            }
            next = CAREFUL * apart / most;
        }
        gone
    }
}

impl Reach {
    /// With room for a surface.
    pub fn new(surface: &Surface) -> Reach {
        Reach { triangles: Tree::new(surface.triangles().len()), edges: Tree::new(surface.edges().len()) }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.triangles.bytes() + self.edges.bytes()
    }

    /// How much of the way that each particle has before it they can all go, so that no vertex and triangle, and no two edges, that share
    /// no vertex meet on the way, nor come nearer than the margin, which is to be more than positions are rounded by. What is as near as that
    /// already only goes apart, and what touches goes nowhere.
    pub fn find(&mut self, surface: &Surface, from: &[Vec3], way: &[Vec3], margin: f64) -> Gone {
        let mean = way.iter().fold(Vec3::default(), |sum, way| sum + *way) * (1.0 / way.len().max(1) as f64);
        let (Reach { triangles, edges }, ways) = (self, Ways { from, way, mean, margin });
        let mut gone = Gone { part: 1.0, held: None };
        triangles.fit(surface.triangles().iter().map(|&corners| ways.around(corners, 1.0)));
        edges.fit(surface.edges().iter().map(|&ends| ways.around(ends, 1.0)));
        for (k, &vertex) in surface.vertices().iter().enumerate() {
            let around = ways.around([vertex], gone.part).grown(margin);
            for leaf in triangles.meeting(around, 0) {
                let (boxes, keys) = triangles.leaf(leaf);
                for (_, &key) in boxes.iter().zip(keys).filter(|(one, _)| one.meets(&around)) {
                    let Some(four) = surface.vertex_and_triangle(k as u32, number(key)) else { continue };
                    ways.hold(&mut gone, four, 1, |x| nearest_on_triangle(x).1);
                }
            }
        }
        for (k, &ends) in surface.edges().iter().enumerate() {
            let around = ways.around(ends, gone.part).grown(margin);
            for leaf in edges.meeting(around, 0) {
                let (boxes, keys) = edges.leaf(leaf);
                for (_, &key) in
                    boxes.iter().zip(keys).filter(|(one, key)| number(**key) > k as u32 && one.meets(&around))
                {
                    let Some(four) = surface.two_edges(k as u32, number(key)) else { continue };
                    ways.hold(&mut gone, four, 2, squared_of_edges);
                }
            }
        }
        gone
    }
}
