//! Materials: how surfaces touch, alone and in pairs.

use crate::contact::{Contact, ContactModel, Penalty};
use crate::robot::Shape;
use crate::scene::{Ground, Scene};

/// What is said of a surface, or of a pair of them; what is not is taken from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Coefficient of friction.
    pub mu: Option<f64>,
    /// Part of the speed that it comes back with, from 0 to 1.
    pub restitution: Option<f64>,
    /// Stiffness of a penalty [N/m].
    pub ke: Option<f64>,
    /// Damping of a penalty [N·s/m].
    pub kd: Option<f64>,
    /// Slope of the friction force of a penalty at low speed [N·s/m].
    pub kf: Option<f64>,
}

/// A named kind of surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Its name.
    pub name: String,
    /// What is said of it; the rest is as [`Contact`] says.
    pub surface: Surface,
}

/// What is known of two materials together, instead of the rule of [`Touch::combine`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaterialPair {
    /// The two, as indices of [`Scene::materials`]; they may be one and the same.
    pub between: [usize; 2],
    /// What is said of the pair; the rest is by the rule.
    pub surface: Surface,
}

/// All numbers of a surface, or of two that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Coefficient of friction.
    pub mu: f64,
    /// Part of the speed that it comes back with.
    pub restitution: f64,
    /// Stiffness of a penalty [N/m].
    pub ke: f64,
    /// Damping of a penalty [N·s/m].
    pub kd: f64,
    /// Slope of the friction force of a penalty at low speed [N·s/m].
    pub kf: f64,
}

impl Material {
    /// A material of which nothing is said but its friction.
    pub fn new(name: impl Into<String>, mu: f64) -> Self {
        Self { name: name.into(), surface: Surface { mu: Some(mu), ..Surface::default() } }
    }

    /// The same material, which bounces.
    #[must_use]
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.surface.restitution = Some(restitution);
        self
    }
}

impl Surface {
    /// What is said here, and else what `usual` has.
    fn or(&self, usual: Touch) -> Touch {
        Touch {
            mu: self.mu.unwrap_or(usual.mu),
            restitution: self.restitution.unwrap_or(usual.restitution),
            ke: self.ke.unwrap_or(usual.ke),
            kd: self.kd.unwrap_or(usual.kd),
            kf: self.kf.unwrap_or(usual.kf),
        }
    }
}

impl Touch {
    /// Two surfaces that touch. A pair bounces like the one that bounces more, and all else is the geometric mean: √(a b).
    ///
    /// Both are symmetric, and give what both surfaces have when they are equal. With the mean, one smooth surface makes
    /// the pair smooth (ice, mu = 0); with the maximum, one ball bounces from all that says nothing of it. These are the
    /// rules of Box2D (`b2MixFriction`, `b2MixRestitution`); MuJoCo takes the larger mu.
    pub fn combine(self, other: Self) -> Self {
        let mean = |a: f64, b: f64| (a * b).sqrt();
        Self {
            mu: mean(self.mu, other.mu),
            restitution: self.restitution.max(other.restitution),
            ke: mean(self.ke, other.ke),
            kd: mean(self.kd, other.kd),
            kf: mean(self.kf, other.kf),
        }
    }
}

impl From<&Contact> for Touch {
    /// Surfaces of which nothing is said.
    fn from(contact: &Contact) -> Self {
        let penalty = match contact.model {
            ContactModel::Penalty(penalty) => penalty,
            ContactModel::Complementarity(_) => Penalty::default(),
        };
        let Penalty { ke, kd, kf } = penalty;
        Self { mu: contact.mu, restitution: contact.restitution, ke, kd, kf }
    }
}

impl Scene {
    /// How a shape touches: its own friction goes first, then its material, then [`Scene::contact`].
    pub fn touch_of(&self, shape: &Shape) -> Touch {
        let touch = self.touch_of_material(shape.material, self.usual_touch());
        Touch { mu: shape.friction.map_or(touch.mu, |[sliding, ..]| sliding), ..touch }
    }

    /// How the ground touches: its material goes first, then its own numbers, then [`Scene::contact`].
    pub fn touch_of_ground(&self, ground: &Ground) -> Touch {
        self.touch_of_material(ground.material, ground.surface().or(self.usual_touch()))
    }

    /// How two shapes touch: what is said of the pair of their materials, and else [`Touch::combine`].
    pub fn touch_between(&self, a: &Shape, b: &Shape) -> Touch {
        let combined = self.touch_of(a).combine(self.touch_of(b));
        self.touch_of_pair([a.material, b.material], combined)
    }

    /// How a shape touches the ground, as [`Scene::touch_between`].
    pub fn touch_with_ground(&self, shape: &Shape, ground: &Ground) -> Touch {
        let combined = self.touch_of(shape).combine(self.touch_of_ground(ground));
        self.touch_of_pair([shape.material, ground.material], combined)
    }

    /// How points of this material touch a shape, as [`Scene::touch_between`].
    pub fn touch_with_points(&self, shape: &Shape, material: Option<usize>) -> Touch {
        let own = self.touch_of_material(material, self.usual_touch());
        self.touch_of_pair([shape.material, material], self.touch_of(shape).combine(own))
    }

    fn usual_touch(&self) -> Touch {
        Touch::from(&self.contact.unwrap_or_default())
    }

    fn touch_of_material(&self, material: Option<usize>, usual: Touch) -> Touch {
        let material = material.and_then(|at| self.materials.get(at));
        material.map_or(usual, |material| material.surface.or(usual))
    }

    fn touch_of_pair(&self, materials: [Option<usize>; 2], combined: Touch) -> Touch {
        let [Some(a), Some(b)] = materials else {
            return combined;
        };
        let same = |pair: &&MaterialPair| pair.between == [a, b] || pair.between == [b, a];
        self.material_pairs.iter().find(same).map_or(combined, |pair| pair.surface.or(combined))
    }
}
