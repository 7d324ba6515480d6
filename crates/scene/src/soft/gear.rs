//! A gear wheel.

use std::f64::consts::TAU;

use super::block::six;
use super::mesh::SolidMesh;
use super::size;
use crate::error::Invalid;

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
        Self { teeth: 12, bore: 0.3, root: 0.8, tip: 1.0, thickness: 0.3, rings: 4, layers: 1 }
    }
}

impl Gear {
    /// The corners of the outline as radius [m] and angle [rad] from z towards x, starting at the first tooth. A foot takes
    /// 3/5 of the way from tooth to tooth, and a tip 3/10.
    pub fn outline(&self) -> Vec<[f64; 2]> {
        let &Gear { root, tip, teeth, .. } = self;
        let corners = [(root, -0.3), (tip, -0.15), (tip, 0.15), (root, 0.3)];
        let at = |tooth: usize, part: f64| TAU * (tooth as f64 + part) / teeth as f64;
        (0..teeth).flat_map(|tooth| corners.map(|(radius, part)| [radius, at(tooth, part)])).collect()
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
    /// of the outline, two rings and two layers, is cut into six. Points are in order of layer, ring and corner, the last
    /// fastest, and so are the cells.
    ///
    /// # Errors
    ///
    /// When a length is not above zero, the radii do not grow, there are fewer than 3 teeth, no rings or no layers, or more
    /// than 10,000,000 points or tetrahedra.
    pub fn gear(gear: &Gear) -> Result<Self, Invalid> {
        gear.check()?;
        let &Gear { teeth, bore, thickness, rings, layers, .. } = gear;
        let count = size::product("teeth", "tetrahedra", &[6, OUTLINE, teeth, rings, layers])?;
        let factors = [OUTLINE, teeth, rings.saturating_add(1), layers.saturating_add(1)];
        let mut points = Vec::with_capacity(size::product("teeth", "points", &factors)?);
        let outline = gear.outline();
        for layer in 0..=layers {
            let y = thickness * (layer as f64 / layers as f64 - 0.5);
            for ring in 0..=rings {
                let part = ring as f64 / rings as f64;
                points.extend(outline.iter().map(|&[radius, angle]| {
                    let radius = bore * (1.0 - part) + radius * part;
                    [radius * angle.sin(), y, radius * angle.cos()]
                }));
            }
        }
        let around = outline.len();
        let mut elements = Vec::with_capacity(count);
        for layer in 0..layers {
            for ring in 0..rings {
                for corner in 0..around {
                    // Outwards, from z towards x, and along y: right-handed.
                    elements.extend(six(std::array::from_fn(|bits| {
                        let (ring, layer) = (ring + (bits & 1), layer + (bits >> 2));
                        let corner = (corner + (bits >> 1 & 1)) % around;
                        (corner + around * (ring + (rings + 1) * layer)) as u32
                    })));
                }
            }
        }
        Ok(Self { points, elements })
    }
}
