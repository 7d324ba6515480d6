//! Groups of particles.

/// A group of particles; all lists have one entry for each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Particles {
    /// Name of the group.
    pub name: String,
    /// How the particles are called: `false` for a single one called `ball`; `true` for `chain[0]`, `chain[1]`, ...
    pub indexed: bool,
    /// Positions at the start [m].
    pub positions: Vec<[f64; 3]>,
    /// Velocities at the start [m/s].
    pub velocities: Vec<[f64; 3]>,
    /// Masses [kg]; of points of solids and sheets, besides those of their elements.
    pub masses: Vec<f64>,
    /// Quadratic drag, f = -drag |v - wind| (v - wind) [kg/m]; `None`: no drag at all.
    pub drag: Option<Vec<f64>>,
    /// Axes along which a particle does not accelerate.
    pub fixed: Vec<[bool; 3]>,
    /// Radii [m], by which they touch the ground and shapes; `None`: they are points.
    pub radii: Option<Vec<f64>>,
    /// What they are made of where they touch shapes, as an index of [`Scene::materials`](crate::Scene::materials).
    pub material: Option<usize>,
}

impl Particles {
    /// One particle at rest: position [m], mass [kg].
    pub fn single(name: impl Into<String>, position: [f64; 3], mass: f64) -> Self {
        Self { indexed: false, ..Self::many(name, vec![position], mass) }
    }

    /// Particles at rest: positions [m], mass of each [kg].
    pub fn many(name: impl Into<String>, positions: Vec<[f64; 3]>, mass: f64) -> Self {
        let count = positions.len();
        Self {
            name: name.into(),
            indexed: true,
            positions,
            velocities: vec![[0.0; 3]; count],
            masses: vec![mass; count],
            drag: None,
            fixed: vec![[false; 3]; count],
            radii: None,
            material: None,
        }
    }

    /// Particles at rest, evenly on a line with both ends: positions of the ends [m], mass of each particle [kg].
    pub fn line(name: impl Into<String>, from: [f64; 3], to: [f64; 3], count: usize, mass: f64) -> Self {
        Self::many(name, on_line(from, to, count), mass)
    }

    /// The same particles, all with this velocity [m/s].
    #[must_use]
    pub fn velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocities.fill(velocity);
        self
    }

    /// The same particles, all with this drag [kg/m].
    #[must_use]
    pub fn drag(mut self, drag: f64) -> Self {
        self.drag = Some(vec![drag; self.positions.len()]);
        self
    }

    /// The same particles as balls, all with this radius [m]. They do not turn.
    #[must_use]
    pub fn radius(mut self, radius: f64) -> Self {
        self.radii = Some(vec![radius; self.positions.len()]);
        self
    }

    /// The same particles, made of a material: an index of [`Scene::materials`](crate::Scene::materials).
    #[must_use]
    pub fn made_of(mut self, material: usize) -> Self {
        self.material = Some(material);
        self
    }

    /// The same particles, none of which accelerates along any axis.
    #[must_use]
    pub fn fix(mut self) -> Self {
        self.fixed.fill([true; 3]);
        self
    }

    /// The same particles, of which these do not accelerate along any axis. Numbers that none has are left out.
    #[must_use]
    pub fn fix_points(mut self, points: &[u32]) -> Self {
        for &at in points {
            if let Some(fixed) = self.fixed.get_mut(at as usize) {
                *fixed = [true; 3];
            }
        }
        self
    }
}

/// Points evenly from one to another; a single one is at the start. Weighs the ends, so that both are met exactly.
pub(crate) fn on_line(from: [f64; 3], to: [f64; 3], count: usize) -> Vec<[f64; 3]> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count)
        .map(|i| {
            let part = i as f64 / last;
            std::array::from_fn(|axis| from[axis] * (1.0 - part) + to[axis] * part)
        })
        .collect()
}
