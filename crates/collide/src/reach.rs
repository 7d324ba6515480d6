//! How much of their ways particles can go before surfaces meet: additive continuous collision detection (Li, Kaufman & Jiang 2021,
//! algorithm 1).
//!
//! Of a pair whose parts are d apart and move against each other by l at most in a whole way, nothing meets within the part d/l of it. So the
//! pair is moved on by a little less, again and again, until a tenth of the first distance is left. Ways are straight; no equation is solved
//! whose roots rounding could hide.

use pullback_kernel::prelude::*;

use crate::detect::{squared_of_edges, squared_of_triangle};
use crate::surface::Surface;
use crate::tree::{Bounds, Tree, number};

/// How much of the distance is left at least.
const LEFT: f64 = 0.1;
/// How much of what is safe is gone at once.
const CAREFUL: f64 = 0.9;
/// So often is a pair moved on: what slides along something very near goes no further at once.
const MOST: usize = 1000;
/// What is as near as this part of the margin touches: nothing knows which side is which.
const TOUCHING: f64 = 0.25;
/// What only goes apart may come nearer by so many roundings of its coordinates.
const ROUNDINGS: f64 = 8.0;
/// Boxes are first looked at where nothing has gone further than so many edges are long: long ways sweep through everything.
const EDGES: f64 = 4.0;
/// But not for less than this part of the way.
const LEAST: f64 = 1e-6;

/// Working memory of the search.
#[derive(Debug)]
pub struct Reach {
    triangles: Tree,
    edges: Tree,
}

/// Where particles are, where they are going, and how near surfaces may come.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a> {
    /// Where they were before a step: what touches there is not looked at, as nothing knows which side is which.
    pub before: &'a [Vec3],
    /// Where they are.
    pub from: &'a [Vec3],
    /// How far they want to go.
    pub way: &'a [Vec3],
    /// How near surfaces may come [m] at least;
    pub least: f64,
    /// and as a part of the largest coordinate of a vertex, which is to be more than positions are rounded by.
    pub rounding: f64,
}

/// How far surfaces can go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gone {
    /// How much of the way, from 0 to 1.
    pub part: f64,
    /// The particles of the pair that lets them go no further, if one does not.
    pub held: Option<[u32; 4]>,
}

/// A stretch of all ways.
struct Stretch<'a> {
    ways: &'a Ways<'a>,
    /// The way of all together, which brings nothing nearer.
    mean: Vec3,
    /// Where it begins and ends, as parts of the ways.
    begin: f64,
    end: f64,
    margin: f64,
}

fn largest(most: f64, x: Vec3) -> f64 {
    most.max(x.x.abs()).max(x.y.abs()).max(x.z.abs())
}

impl Stretch<'_> {
    /// Around some particles, from the beginning to a part of their ways.
    fn around<const N: usize>(&self, particles: [u32; N], part: f64) -> Bounds {
        let at = |part: f64| {
            let gone = |i: usize| self.ways.from[i] + (self.ways.way[i] - self.mean) * part;
            Bounds::of(particles.map(|i| gone(i as usize)))
        };
        at(self.begin).with(&at(part))
    }

    /// Lets a pair go as far as it can; its first particles, so many, move against the others.
    fn hold(&self, gone: &mut Gone, four: [u32; 4], first: usize, squared: fn(&[Vec3; 4]) -> f64) {
        // Up to the beginning it was looked at before, with less of a margin where what comes later is further from the origin.
        let part = self.reach(four, first, squared, gone.part).max(self.begin);
        if part < gone.part {
            *gone = Gone { part, held: Some(four) };
        }
    }

    /// How much of its way a pair can go, `part` at most.
    fn reach(&self, four: [u32; 4], first: usize, squared: fn(&[Vec3; 4]) -> f64, part: f64) -> f64 {
        let Ways { before, from, way, .. } = self.ways;
        let [x, mut way] = [from, way].map(|of| four.map(|i| of[i as usize]));
        let mean = (way[0] + way[1] + way[2] + way[3]) * 0.25;
        way.iter_mut().for_each(|way| *way = *way - mean);
        let longest = |of: &[Vec3]| of.iter().map(|way| length(*way)).fold(0.0, f64::max);
        let most = longest(&way[..first]) + longest(&way[first..]);
        // What moves as one meets nothing.
        if most == 0.0 {
            return part;
        }
        let apart = squared(&x).sqrt();
        let touching = TOUCHING * self.margin;
        if apart <= touching {
            let touched = squared(&four.map(|i| before[i as usize])).sqrt() <= touching;
            return if touched { part } else { 0.0 };
        }
        let only_apart = apart <= self.margin;
        let left = match only_apart {
            true => {
                let rounded = ROUNDINGS * f64::EPSILON * x.into_iter().chain(way).fold(0.0, largest);
                (apart - rounded).max(0.5 * apart)
            }
            false => (LEFT * apart).max(self.margin),
        };
        let (mut gone, mut next) = (0.0, if only_apart { 0.5 * apart } else { apart - left } / most);
        for _ in 0..MOST {
            // From where they are, and not from the last place: roundings would add up.
            let x = std::array::from_fn(|i| x[i] + way[i] * (gone + next));
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
    /// no vertex meet on the way, nor end nearer to each other than the margin: on the way there it may be half of that. What is as near as
    /// the margin already only goes apart. What touches goes nowhere; but what touched before the step is not looked at.
    pub fn find(&mut self, surface: &Surface, ways: &Ways<'_>) -> Gone {
        let vertices = || surface.vertices().iter().map(|&i| i as usize);
        let count = surface.vertices().len().max(1) as f64;
        let mean = vertices().fold(Vec3::default(), |sum, i| sum + ways.way[i]) * (1.0 / count);
        let longest = vertices().map(|i| length(ways.way[i] - mean)).fold(0.0, f64::max);
        let edges =
            surface.edges().iter().map(|&[a, b]| length(ways.from[b as usize] - ways.from[a as usize]));
        let edge = edges.sum::<f64>() / surface.edges().len().max(1) as f64;
        let few = EDGES * edge / longest;
        // Edges without length, and what is no number, want all at once.
        let (mut begin, mut end) = (0.0, if few > 0.0 && few < 1.0 { few.max(LEAST) } else { 1.0 });
        loop {
            let at = |part: f64| vertices().map(move |i| ways.from[i] + ways.way[i] * part);
            let coordinate = at(begin).chain(at(end)).fold(0.0, largest);
            let margin = ways.least.max(ways.rounding * coordinate);
            let gone = self.find_in(surface, &Stretch { ways, mean, begin, end, margin });
            if gone.held.is_some() || end == 1.0 {
                return gone;
            }
            (begin, end) = (end, (2.0 * end).min(1.0));
        }
    }

    /// The first pair that holds in a stretch, and where.
    fn find_in(&mut self, surface: &Surface, stretch: &Stretch<'_>) -> Gone {
        let Reach { triangles, edges } = self;
        let Stretch { end, margin, .. } = *stretch;
        let mut gone = Gone { part: end, held: None };
        triangles.fit(surface.triangles().iter().map(|&corners| stretch.around(corners, end)));
        edges.fit(surface.edges().iter().map(|&ends| stretch.around(ends, end)));
        for (k, &vertex) in surface.vertices().iter().enumerate() {
            let around = stretch.around([vertex], gone.part).grown(margin);
            for leaf in triangles.meeting(around, 0) {
                let (boxes, keys) = triangles.leaf(leaf);
                for (_, &key) in boxes.iter().zip(keys).filter(|(one, _)| one.meets(&around)) {
                    let Some(four) = surface.vertex_and_triangle(k as u32, number(key)) else { continue };
                    // What others have been held at since is mostly far less than what boxes were made for.
                    if stretch.around([four[1], four[2], four[3]], gone.part).meets(&around) {
                        stretch.hold(&mut gone, four, 1, squared_of_triangle);
                    }
                }
            }
        }
        for (k, &ends) in surface.edges().iter().enumerate() {
            let around = stretch.around(ends, gone.part).grown(margin);
            for leaf in edges.meeting(around, 0) {
                let (boxes, keys) = edges.leaf(leaf);
                for (_, &key) in
                    boxes.iter().zip(keys).filter(|(one, key)| number(**key) > k as u32 && one.meets(&around))
                {
                    let Some(four) = surface.two_edges(k as u32, number(key)) else { continue };
                    if stretch.around([four[2], four[3]], gone.part).meets(&around) {
                        stretch.hold(&mut gone, four, 2, squared_of_edges);
                    }
                }
            }
        }
        gone
    }
}
