//! Which shapes may touch, and as what: by what shapes have in common, so that thousands of them need no list of all pairs.

use pullback_geometry::{Kind, Pair};

/// Of a shape: what decides whom it touches, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meets {
    /// Its kind and its surface, among those that there are.
    pub kind: usize,
    pub surface: usize,
    /// Its robot and its place among that robot's shapes; none for shapes of the world.
    pub robot: Option<(usize, usize)>,
    /// The body of the robot.
    pub body: Option<usize>,
    /// Does it move?
    pub moves: bool,
    /// The inverse mass of what it is fixed to [1/kg].
    pub softness: f64,
}

/// Which shapes of one robot touch each other.
#[derive(Clone, Debug)]
pub(crate) enum Own {
    /// Those of different bodies.
    Bodies,
    /// Those that are listed: of shape i with all before it, one after the other.
    Listed(Vec<bool>),
}

/// Two shapes that may touch, the first before the second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    pub shapes: [usize; 2],
    pub pair: &'a Pair,
    /// Which of the surfaces.
    pub surface: usize,
}

/// Which shapes may touch.
#[derive(Clone, Debug)]
pub(crate) struct Meetings {
    pub shapes: Vec<Meets>,
    /// Of each robot.
    pub own: Vec<Own>,
    /// Of each kind with each kind; none where it is not known what they do.
    pairs: Vec<Option<Pair>>,
    kinds: usize,
    /// Of each surface with each surface: which of the mixtures; none where they never meet.
    mixtures: Vec<Option<usize>>,
    surfaces: usize,
}

impl Meetings {
    /// With these kinds; what surfaces do to each other is said later.
    pub fn new(shapes: Vec<Meets>, own: Vec<Own>, kinds: &[Kind], surfaces: usize) -> Meetings {
        let pairs = kinds.iter().flat_map(|a| kinds.iter().map(move |b| Pair::new(a, b))).collect();
        let mixtures = vec![None; surfaces * surfaces];
        Meetings { shapes, own, pairs, kinds: kinds.len(), mixtures, surfaces }
    }

    /// May two shapes touch, the first before the second?
    pub fn allow(&self, a: usize, b: usize) -> bool {
        let (first, second) = (&self.shapes[a], &self.shapes[b]);
        let may = match (first.robot, second.robot) {
            (Some((r, i)), Some((s, j))) if r == s => match &self.own[r] {
                Own::Bodies => first.body != second.body,
                Own::Listed(list) => list[j * (j - 1) / 2 + i],
            },
            _ => true,
        };
        may && (first.moves || second.moves) && self.pairs[first.kind * self.kinds + second.kind].is_some()
    }

    /// What two shapes do when they meet, if they may touch.
    #[inline(always)]
    pub fn near(&self, [a, b]: [usize; 2]) -> Option<Near<'_>> {
        let (first, second) = (&self.shapes[a], &self.shapes[b]);
        let pair = self.pairs[first.kind * self.kinds + second.kind].as_ref()?;
        let surface = self.mixtures[first.surface * self.surfaces + second.surface]?;
        Some(Near { shapes: [a, b], pair, surface })
    }

    /// All pairs that may touch: by the second shape, then by the first.
    pub fn all(&self) -> impl Iterator<Item = [usize; 2]> {
        let before = |b: usize| (0..b).map(move |a| [a, b]);
        (0..self.shapes.len()).flat_map(before).filter(|&[a, b]| self.allow(a, b))
    }

    /// The mixture of the surfaces of two shapes, if it is known.
    pub fn mixture(&mut self, [a, b]: [usize; 2]) -> &mut Option<usize> {
        &mut self.mixtures[self.shapes[a].surface * self.surfaces + self.shapes[b].surface]
    }
}
