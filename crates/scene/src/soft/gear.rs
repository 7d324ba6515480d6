//! A gear wheel.

use std::f64::consts::TAU;

use super::ball::prism;
use super::mesh::SolidMesh;
use super::sheet::halves;
use super::size;
use crate::error::Invalid;
use crate::vector::{length, minus};

/// Points of the outline for each tooth: both ends of its foot, and both of its tip.
const OUTLINE: usize = 4;

/// A gear wheel with straight flanks about a bore, standing in the x-z plane: its axis is y, and its first tooth is up.
///
/// The default has 480 points and 1,152 tetrahedra: 12 teeth, 4 rings and 1 layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// Number of teeth.
    pub teeth: usize,
    /// Radius of the bore [m].
    pub bore: f64,
    /// Radius between the teeth [m].
    pub root: f64,
    /// Radius of the tips [m].
    pub tip: f64,
    /// Thickness along y [m].
    pub thickness: f64,
    /// Rings of cells from the bore to the outline.
    pub rings: usize,
    /// Layers of cells along y.
    pub layers: usize,
}

impl Default for Gear {
    fn default() -> Self {
        Self { teeth: 12, bore: 0.4, root: 0.8, tip: 1.0, thickness: 0.2, rings: 4, layers: 1 }
    }
}

impl Gear {
    /// The corners of the outline as radius [m] and angle [rad] from z towards x, in the order of the teeth. A foot takes 3/5
    /// of the way from tooth to tooth, and a tip 1/4.
    pub fn outline(&self) -> Vec<[f64; 2]> {
        let &Gear { root, tip, .. } = self;
        self.around([(root, -0.3), (tip, -0.125), (tip, 0.125), (root, 0.3)])
    }

    /// The points of the bore that belong to those of the outline, evenly round it.
    fn inner(&self) -> Vec<[f64; 2]> {
        self.around([-0.375, -0.125, 0.125, 0.375].map(|part| (self.bore, part)))
    }

    /// The same for every tooth: radius [m], and the angle from its middle in parts of the way to the next.
    fn around(&self, corners: [(f64, f64); OUTLINE]) -> Vec<[f64; 2]> {
        let at = |tooth: usize, part: f64| TAU * (tooth as f64 + part) / self.teeth as f64;
        (0..self.teeth).flat_map(|tooth| corners.map(|(radius, part)| [radius, at(tooth, part)])).collect()
    }

    fn check(&self) -> Result<(), Invalid> {
        let &Gear { teeth, bore, root, tip, thickness, rings, layers } = self;
        size::lengths([("bore", bore), ("root", root), ("tip", tip), ("thickness", thickness)])?;
        for (path, name, count, least) in
            [("teeth", "teeth", teeth, 3), ("rings", "rings", rings, 1), ("layers", "layers", layers, 1)]
        {
            if count < least {
                let what = format!("the number of {name} is {count}");
                return Err(Invalid::new(path, what, format!("write {least} or more")));
            }
        }
        if bore >= root || root >= tip {
            let what = format!("the radii {bore}, {root} and {tip} of bore, root and tip do not grow");
            return Err(Invalid::new("root", what, "give a bore below the root, and a root below the tip"));
        }
        Ok(())
    }
}

impl SolidMesh {
    /// A [`Gear`] about the origin.
    ///
    /// It has 4 teeth (rings + 1) (layers + 1) points and 24 teeth rings layers tetrahedra: each cell, between two corners
    /// of the outline, two rings and two layers, is cut into two prisms
    /// along its shorter diagonal, and each of them into three. Points are in order of layer, ring and corner, the last
    /// fastest, and so are the cells.
    ///
    /// # Errors
    ///
    /// When a length is not above zero, the radii do not grow, there are fewer than 3 teeth, no rings or no layers, or more
    /// than 10,000,000 points or tetrahedra.
    pub fn gear(gear: &Gear) -> Result<Self, Invalid> {
        gear.check()?;
        let &Gear { teeth, thickness, rings, layers, .. } = gear;
        let count = size::product("teeth", "tetrahedra", &[6, OUTLINE, teeth, rings, layers])?;
        let factors = [OUTLINE, teeth, rings.saturating_add(1), layers.saturating_add(1)];
        let mut points = Vec::with_capacity(size::product("teeth", "points", &factors)?);
        let (inner, outline) = (gear.inner(), gear.outline());
        for layer in 0..=layers {
            let y = thickness * (layer as f64 / layers as f64 - 0.5);
            for ring in 0..=rings {
                let part = ring as f64 / rings as f64;
                points.extend(inner.iter().zip(&outline).map(|(inner, outer)| {
                    let [radius, angle] = [0, 1].map(|i| inner[i] * (1.0 - part) + outer[i] * part);
                    [radius * angle.sin(), y, radius * angle.cos()]
                }));
            }
        }
        let (around, plane) = (outline.len(), outline.len() * (rings + 1));
        let apart = |a: u32, b: u32| length(minus(points[a as usize], points[b as usize]));
        let mut elements = Vec::with_capacity(count);
        for layer in 0..layers {
            let [here, next] = [layer, layer + 1].map(|layer| (layer * plane) as u32);
            for ring in 0..rings {
                for corner in 0..around {
                    let at = |ring: usize, corner: usize| (corner % around + around * ring) as u32;
                    // Outwards, then from z towards x: anticlockwise when seen along -y, which is from the next layer.
                    let cell @ [a, b, c, d] = [
                        at(ring, corner),
                        at(ring + 1, corner),
                        at(ring + 1, corner + 1),
                        at(ring, corner + 1),
                    ];
                    let other = apart(b, d) < apart(a, c);
                    elements.extend(halves(cell, other).into_iter().flat_map(|face| prism(face, here, next)));
                }
            }
        }
        Ok(Self { points, elements })
    }
}
