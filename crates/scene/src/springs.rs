//! Groups of springs.

use std::ops::Range;

/// A group of springs; all lists have one entry for each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Springs {
    /// Name of the group.
    pub name: String,
    /// How the springs are called: `false` for a single one called `spring`; `true` for `springs[0]`, ...
    pub indexed: bool,
    /// The two particles of each spring, counted over all groups in order.
    pub ends: Vec<[usize; 2]>,
    /// Stiffnesses [N/m].
    pub stiffness: Vec<f64>,
    /// Damping along the springs [N·s/m]; `None`: these springs have no dampers at all.
    pub damping: Option<Vec<f64>>,
    /// Lengths without force [m].
    pub rest_lengths: Vec<f64>,
}

impl Springs {
    /// One spring between two particles: stiffness [N/m], length without force [m].
    pub fn between(name: impl Into<String>, ends: [usize; 2], stiffness: f64, rest_length: f64) -> Self {
        Self { indexed: false, ..Self::many(name, vec![ends], stiffness, rest_length) }
    }

    /// Equal springs: stiffness [N/m], length without force [m].
    pub fn many(name: impl Into<String>, ends: Vec<[usize; 2]>, stiffness: f64, rest_length: f64) -> Self {
        let count = ends.len();
        Self {
            name: name.into(),
            indexed: true,
            ends,
            stiffness: vec![stiffness; count],
            damping: None,
            rest_lengths: vec![rest_length; count],
        }
    }

    /// Equal springs between neighbours of a range of particles: stiffness [N/m], length without force [m].
    pub fn chain(name: impl Into<String>, particles: Range<usize>, stiffness: f64, rest_length: f64) -> Self {
        Self::many(name, neighbours(particles), stiffness, rest_length)
    }

    /// The same springs, all with this damping [N·s/m].
    #[must_use]
    pub fn damping(mut self, damping: f64) -> Self {
        self.damping = Some(vec![damping; self.ends.len()]);
        self
    }
}

/// Pairs of neighbours.
pub(crate) fn neighbours(particles: Range<usize>) -> Vec<[usize; 2]> {
    (particles.start + 1..particles.end).map(|i| [i - 1, i]).collect()
}
