//! What is no fault of a mesh, but rarely meant: it can be simulated, and does not behave as what it looks like.

use super::check::numbers;
use super::facets::{self, same};
use super::mesh::{Mesh, SheetMesh, SolidMesh};
use crate::error::Invalid;
use crate::words;

impl SolidMesh {
    /// What is no fault, but rarely meant: points that no element has, parts that share no point, and edges and
    /// points at which the surface touches itself, about which tetrahedra turn that share no side. One for each kind.
    pub fn doubts(&self) -> Vec<Invalid> {
        let mut doubts = self.loose_and_apart();
        let surface = self.surface();
        let of_solid = |triangle: u32| surface.elements[triangle as usize];
        let named = |at: u32| surface.points[at as usize];
        let edges = facets::of_sheet(&surface.mesh);
        // On a surface two triangles meet at each edge, and all at a point go round it once.
        let crowded = same(&edges).filter(|same| same.len() > 2);
        let at_edges = crowded.map(|same| {
            let mut around: Vec<u32> = same.iter().map(|side| of_solid(side.element())).collect();
            around.sort_unstable();
            around.dedup();
            let [a, b] = same[0].corners.map(named);
            Meeting { place: format!("[{}, {}]", a.min(b), a.max(b)), elements: around }
        });
        doubts.extend(SOLID_EDGES.of(&at_edges.collect::<Vec<_>>()));
        let at_points = fans(&surface.mesh).into_iter().map(|(point, firsts)| {
            let mut around: Vec<u32> = firsts.into_iter().map(of_solid).collect();
            around.dedup();
            Meeting { place: named(point).to_string(), elements: around }
        });
        doubts.extend(SOLID_POINTS.of(&at_points.collect::<Vec<_>>()));
        doubts
    }
}

impl SheetMesh {
    /// What is no fault, but rarely meant: points that no element has, parts that share no point, and triangles that hang
    /// together by a point alone, about which they turn freely. One for each kind.
    pub fn doubts(&self) -> Vec<Invalid> {
        let mut doubts = self.loose_and_apart();
        let of_fans =
            |(point, firsts): (u32, Vec<u32>)| Meeting { place: point.to_string(), elements: firsts };
        doubts.extend(POINTS.of(&fans(self).into_iter().map(of_fans).collect::<Vec<_>>()));
        doubts
    }
}

impl<const CORNERS: usize> Mesh<CORNERS> {
    /// Points that no element has, and parts that share no point.
    fn loose_and_apart(&self) -> Vec<Invalid> {
        let mut doubts = Vec::new();
        let mut used = vec![false; self.points.len()];
        let mut parts = Forest::new(self.points.len());
        for element in &self.elements {
            for &at in element {
                used[at as usize] = true;
                parts.join(element[0], at);
            }
        }
        let loose: Vec<u32> = (0..self.points.len() as u32).filter(|&at| !used[at as usize]).collect();
        if let [first, ..] = loose[..] {
            let are = if loose.len() == 1 { "1 point is" } else { &format!("{} points are", loose.len()) };
            let what = format!("{are} in no element: {}", numbers(&loose));
            let fix = "leave out what is in no element; in code, `tidied()` does";
            doubts.push(Invalid::new(format!("points[{first}]"), what, fix));
        }
        let firsts = self.first_elements(parts);
        if firsts.len() > 1 {
            let what = format!(
                "the mesh has {} parts that share no point; their first elements are {}",
                firsts.len(),
                numbers(&firsts)
            );
            let fix = "let parts share points where they are to hold, or move apart; in code, `welded()` makes one of points in one place";
            doubts.push(Invalid::new(format!("elements[{}]", firsts[1]), what, fix));
        }
        doubts
    }

    /// The first element of each part, in ascending order.
    fn first_elements(&self, mut parts: Forest) -> Vec<u32> {
        let mut seen = vec![false; self.points.len()];
        let mut firsts = Vec::new();
        for (number, element) in (0u32..).zip(&self.elements) {
            let root = parts.root(element[0]) as usize;
            if !seen[root] {
                seen[root] = true;
                firsts.push(number);
            }
        }
        firsts
    }
}

/// Where elements meet and share no side: what the place is called, and elements there, in ascending order.
struct Meeting {
    place: String,
    elements: Vec<u32>,
}

/// What messages say of such places.
struct Words {
    /// With whose number they go on.
    start: &'static str,
    place: &'static str,
    elements: &'static str,
    fix: &'static str,
}

const POINTS: Words = Words {
    start: "triangles hang together by",
    place: "point",
    elements: "triangles",
    fix: "let them share an edge, or give each a point of its own, unless they are to turn about that point",
};

const SOLID_EDGES: Words = Words {
    start: "the surface touches itself at",
    place: "edge",
    elements: "tetrahedra",
    fix: "let tetrahedra share a side there, or give each points of its own, unless they are to turn about that edge",
};

const SOLID_POINTS: Words = Words {
    start: "the surface touches itself at",
    place: "point",
    elements: "tetrahedra",
    fix: "let tetrahedra share a side there, or give each a point of its own, unless they are to turn about that point",
};

impl Words {
    /// The doubt about all such places, if there is one.
    fn of(&self, all: &[Meeting]) -> Option<Invalid> {
        let last = *all.first()?.elements.last()?;
        let named =
            all.iter().map(|it| format!("{} ({} {})", it.place, self.elements, numbers(&it.elements)));
        let (places, named) = (words::counted(all.len(), self.place), words::joined(all.len(), named));
        let what = format!("{} {places}: {named}", self.start);
        Some(Invalid::new(format!("elements[{last}]"), what, self.fix))
    }
}

/// The points about which triangles are in several fans, of which none shares an edge there with another, in ascending order;
/// and the first triangle of each fan.
fn fans(mesh: &SheetMesh) -> Vec<(u32, Vec<u32>)> {
    let edges = facets::of_sheet(mesh);
    // Corners of all triangles: the number 3 t + i is the corner i of triangle t.
    let mut corners = Forest::new(3 * mesh.elements.len());
    for same in same(&edges) {
        // A side goes from its corner to the next; those at the lesser point first.
        let ends = |number: u32, forward: bool| {
            let next = if number % 3 == 2 { number - 2 } else { number + 1 };
            if forward { [number, next] } else { [next, number] }
        };
        let first = ends(same[0].number, same[0].forward);
        for side in &same[1..] {
            let other = ends(side.number, side.forward);
            (0..2).for_each(|i| corners.join(first[i], other[i]));
        }
    }
    // A root is the first corner of a fan.
    let all = mesh.elements.iter().flatten().copied();
    let roots = (0u32..).zip(all).filter(|&(corner, _)| corners.is_root(corner));
    let mut count = vec![0u32; mesh.points.len()];
    roots.clone().for_each(|(_, point)| count[point as usize] += 1);
    let mut several: Vec<(u32, u32)> = roots
        .filter(|&(_, point)| count[point as usize] > 1)
        .map(|(corner, point)| (point, corner / 3))
        .collect();
    several.sort_unstable();
    let by_point = several.chunk_by(|a, b| a.0 == b.0);
    by_point.map(|fans| (fans[0].0, fans.iter().map(|&(_, triangle)| triangle).collect())).collect()
}

/// Which of so many numbered things hang together; whole groups stand under their least number.
struct Forest {
    /// One of the same group with a lesser number; a root has its own.
    above: Vec<u32>,
}

impl Forest {
    fn new(count: usize) -> Self {
        Self { above: (0..count as u32).collect() }
    }

    fn join(&mut self, a: u32, b: u32) {
        let [a, b] = [a, b].map(|at| self.root(at));
        self.above[a.max(b) as usize] = a.min(b);
    }

    fn is_root(&self, at: u32) -> bool {
        self.above[at as usize] == at
    }

    fn root(&mut self, mut at: u32) -> u32 {
        while self.above[at as usize] != at {
            let next = self.above[at as usize];
            self.above[at as usize] = self.above[next as usize];
            at = next;
        }
        at
    }
}
