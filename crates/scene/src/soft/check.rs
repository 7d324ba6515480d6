//! Whether points and elements make a mesh.

use super::facets::{self, Facet, same};
use super::mesh::{Mesh, SheetMesh, SolidMesh, area_normal, mirror, tetrahedron_volume};
use crate::check::{MOST, Number, too_many};
use crate::error::Invalid;
use crate::vector::{length, minus};
use crate::words;

/// Least measure of an element: 6 V / l³ of a tetrahedron and 2 A / l² of a triangle with the longest edge l. Far above
/// round-off, about 1e-16, and far below what a needle or a plate a hundred thousand times as long as thick has.
const DEGENERATE: f64 = 1e-12;

impl SolidMesh {
    /// Whether it is a solid: its numbers are those of points, all places are finite, volumes are positive, and no side is
    /// shared by more than two tetrahedra, or by two on the same side of it. Tetrahedra that meet at an edge or a point alone are
    /// among its [`doubts`](Self::doubts).
    ///
    /// # Errors
    ///
    /// The first kind of fault that it has, with the numbers of the elements that have it.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_numbers("tetrahedra")?;
        let (mut flat, mut inverted) = (Vec::new(), Vec::new());
        for (element, volume) in (0u32..).zip(self.volumes()) {
            let longest = longest_edge(self.corners(element as usize));
            // Not "less", so that lengths whose cubes overflow are found too.
            let sound = volume.is_finite() && 6.0 * volume.abs() > DEGENERATE * longest.powi(3);
            if !sound {
                flat.push(element);
            } else if volume < 0.0 {
                inverted.push(element);
            }
        }
        let count = self.elements.len();
        if let [first, ..] = flat[..] {
            return Err(degenerate(first, &flat, count, "tetrahedra", "volume"));
        }
        if let [first, ..] = inverted[..] {
            let what =
                format!("{} inverted: {}", of(inverted.len(), count, "tetrahedra"), numbers(&inverted));
            let fix = "exchange two corners of each; in code, `fixed_winding()` does";
            return Err(Invalid::new(format!("elements[{first}]"), what, fix));
        }
        let facets = facets::of_solid(self);
        uncrowded(&facets, &FACES)?;
        fitting(&facets, |[a, b]| {
            let what = format!(
                "tetrahedra {a} and {b} are on the same side of the one that they share: they overlap"
            );
            (what, "move the points of one of the two, or remove it")
        })
    }

    /// The same mesh with all volumes positive: two corners of every inverted tetrahedron are exchanged.
    #[must_use]
    pub fn fixed_winding(mut self) -> Self {
        for at in 0..self.elements.len() {
            if tetrahedron_volume(self.corners(at)) < 0.0 {
                mirror(&mut self.elements[at]);
            }
        }
        self
    }
}

impl SheetMesh {
    /// Whether it is a sheet: its numbers are those of points, all places are finite, no triangle is without area, no edge is
    /// shared by more than two, and neighbours are wound alike. Triangles that meet at a point alone are among its
    /// [`doubts`](Self::doubts).
    ///
    /// # Errors
    ///
    /// The first kind of fault that it has, with the numbers of the elements that have it.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_numbers("triangles")?;
        let is_flat = |&element: &u32| {
            let corners = self.corners(element as usize);
            let (area, longest) = (length(area_normal(corners)), longest_edge(corners));
            !(area.is_finite() && area > DEGENERATE * longest * longest)
        };
        let flat: Vec<u32> = (0..self.elements.len() as u32).filter(is_flat).collect();
        if let [first, ..] = flat[..] {
            return Err(degenerate(first, &flat, self.elements.len(), "triangles", "area"));
        }
        let facets = facets::of_sheet(self);
        uncrowded(&facets, &EDGES)?;
        wound_alike(&facets)
    }

    /// Less than [`check`](Self::check): triangles may be flat, and share edges as they like.
    pub(super) fn check_winding(&self) -> Result<(), Invalid> {
        self.check_numbers("triangles")?;
        wound_alike(&facets::of_sheet(self))
    }

    /// The same mesh with neighbours wound alike: every connected part as its first triangle.
    ///
    /// # Errors
    ///
    /// When an edge is shared by more than two triangles, or the sheet has only one side, as a Möbius strip does.
    pub fn fixed_winding(mut self) -> Result<Self, Invalid> {
        self.check_numbers("triangles")?;
        let facets = facets::of_sheet(&self);
        uncrowded(&facets, &EDGES)?;
        let mut neighbours = vec![[None; 3]; self.elements.len()];
        for same in same(&facets) {
            if let [a, b] = same {
                for (here, there) in [(a, b), (b, a)] {
                    let side = (here.number % 3) as usize;
                    neighbours[here.element() as usize][side] =
                        Some((there.element(), a.forward == b.forward));
                }
            }
        }
        // Whether a triangle is turned round; unknown until it is reached.
        let mut turned: Vec<Option<bool>> = vec![None; self.elements.len()];
        for first in 0..self.elements.len() {
            let mut reached = Vec::new();
            if turned[first].is_none() {
                turned[first] = Some(false);
                reached.push(first);
            }
            while let Some(here) = reached.pop() {
                for (there, against) in neighbours[here].into_iter().flatten() {
                    let wanted = turned[here].map(|turned| turned != against);
                    let found = &mut turned[there as usize];
                    if found.is_none() {
                        *found = wanted;
                        reached.push(there as usize);
                    } else if *found != wanted {
                        let what = "the sheet has only one side: no winding fits all its triangles";
                        return Err(Invalid::new(
                            format!("elements[{there}]"),
                            what,
                            "cut it open along an edge",
                        ));
                    }
                }
            }
        }
        let wrong = self.elements.iter_mut().zip(turned).filter(|(_, turned)| *turned == Some(true));
        wrong.for_each(|(element, _)| mirror(element));
        Ok(self)
    }
}

impl<const CORNERS: usize> Mesh<CORNERS> {
    /// Numbers of points and elements, and places.
    pub(super) fn check_numbers(&self, plural: &str) -> Result<(), Invalid> {
        if self.elements.is_empty() {
            return Err(Invalid::new("elements", format!("there are no {plural}"), "give at least one"));
        }
        if self.elements.len() > MOST {
            return Err(too_many("elements", self.elements.len(), plural));
        }
        if self.points.len() > MOST {
            return Err(too_many("points", self.points.len(), "points"));
        }
        Number::any("place", "m").check_vectors("points", &self.points)?;
        let count = self.points.len();
        for (at, element) in self.elements.iter().enumerate() {
            if let Some(corner) = element.iter().position(|&point| point as usize >= count) {
                let path = format!("elements[{at}][{corner}]");
                let what = format!("there is no point {}: there are {count}", element[corner]);
                return Err(Invalid::new(path, what, "points are counted from 0"));
            }
        }
        Ok(())
    }
}

fn wound_alike(edges: &[Facet<2>]) -> Result<(), Invalid> {
    fitting(edges, |[a, b]| {
        let what = format!("triangles {a} and {b} are wound against each other");
        (what, "turn one of the two round; in code, `fixed_winding()` does until neighbours agree")
    })
}

/// What messages call elements and their sides.
struct SideWord {
    side: &'static str,
    elements: &'static str,
}

const FACES: SideWord = SideWord { side: "side", elements: "tetrahedra" };
const EDGES: SideWord = SideWord { side: "edge", elements: "triangles" };

/// No more than two elements share a side.
fn uncrowded<const K: usize>(facets: &[Facet<K>], word: &SideWord) -> Result<(), Invalid> {
    let &SideWord { side, elements } = word;
    let mut crowded = same(facets).filter(|same| same.len() > 2);
    let Some(first) = crowded.next() else {
        return Ok(());
    };
    let all: Vec<u32> = first.iter().map(Facet::element).collect();
    let what = format!("{} {elements} share the {side} {:?}: {}", all.len(), first[0].corners, numbers(&all));
    let fix = format!("let at most two {elements} share one {side}");
    Err(Invalid::new(format!("elements[{}]", all[2]), and_more(what, crowded.count(), side), fix))
}

/// Where two elements share a side, their windings fit; `misfit` is what to say of two that do not.
fn fitting<const K: usize>(
    facets: &[Facet<K>],
    misfit: impl Fn([u32; 2]) -> (String, &'static str),
) -> Result<(), Invalid> {
    let wrong = same(facets).filter(|same| same.len() == 2 && same[0].forward == same[1].forward);
    let mut pairs: Vec<[u32; 2]> = wrong.map(|same| [same[0].element(), same[1].element()]).collect();
    pairs.sort_unstable();
    let Some(&pair) = pairs.first() else {
        return Ok(());
    };
    let (what, fix) = misfit(pair);
    Err(Invalid::new(format!("elements[{}]", pair[1]), and_more(what, pairs.len() - 1, "pair"), fix))
}

/// A fault of one, when as many more have it.
fn and_more(what: String, count: usize, thing: &str) -> String {
    match count {
        0 => what,
        _ => format!("{what}; so it is with {}", words::counted(count, &format!("more {thing}"))),
    }
}

fn degenerate(first: u32, flat: &[u32], count: usize, plural: &str, measure: &str) -> Invalid {
    let what = format!("{} without {measure}: {}", of(flat.len(), count, plural), numbers(flat));
    Invalid::new(format!("elements[{first}]"), what, "move their corners apart, or remove them")
}

/// "1 of 12 tetrahedra is", "3 of 12 tetrahedra are".
fn of(some: usize, all: usize, plural: &str) -> String {
    format!("{some} of {all} {plural} {}", if some == 1 { "is" } else { "are" })
}

/// Numbers of elements or points, cut when they are many.
pub(super) fn numbers(all: &[u32]) -> String {
    words::joined(all.len(), all.iter().map(u32::to_string))
}

fn longest_edge<const CORNERS: usize>(corners: [[f64; 3]; CORNERS]) -> f64 {
    let mut longest = 0.0f64;
    for (i, &a) in corners.iter().enumerate() {
        for &b in &corners[i + 1..] {
            longest = longest.max(length(minus(b, a)));
        }
    }
    longest
}
