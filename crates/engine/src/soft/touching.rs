//! Soft surfaces that touch themselves and each other.

use std::sync::Arc;

use pullback_collide::{Moving, Surface, Touch, clearance, first_crossing, surface_contact};
use pullback_kernel::prelude::*;
use pullback_scene::{Invalid, Scene, SoftContact};

use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Quantity};

/// Contact of the surfaces of all soft things: params `soft_contact.thickness`, `.ke`, `.kd`, `.kf` and `.mu`.
#[derive(Clone, Debug)]
pub struct Touching {
    surface: Arc<Surface>,
    contact: SoftContact,
    most: usize,
}

/// Room for pairs that touch at once, where a scene says nothing: so many for each vertex, and these.
const PAIRS_OF_A_VERTEX: usize = 8;
const PAIRS: usize = 256;

/// What its operations are called, with the number of an evaluation.
pub const SOFT_CONTACT: &str = "soft contact";

impl Touching {
    /// How many pairs may touch at once.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The surfaces.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// Of a scene; none if its soft things do not touch.
    ///
    /// # Errors
    ///
    /// Where parts of a surface that share no corner are nearer to each other than the thickness when nothing is stressed: they would push
    /// each other away for ever.
    pub fn new(scene: &Scene, first_of: impl Fn(usize) -> usize) -> Result<Option<Self>, Error> {
        let Some(contact) = scene.soft_contact else { return Ok(None) };
        let (mut triangles, mut rest) = (Vec::new(), vec![[0.0; 3]; scene.particle_count()]);
        let mut add = |name: &str, group: usize, points: &[[f64; 3]], of: Vec<[u32; 3]>| {
            let first = first_of(group);
            rest[first..first + points.len()].copy_from_slice(points);
            let of: Vec<[u32; 3]> = of.into_iter().map(|t| t.map(|i| i + first as u32)).collect();
            let alone =
                Surface::new(of.clone(), rest.len()).map_err(|error| said(name, error.to_string()))?;
            let room = clearance(&alone, &rest, contact.thickness);
            if room < contact.thickness {
                let what = format!(
                    "`{name}` has parts that are {room:.3e} m from each other when nothing is stressed, and soft surfaces push from \
                     {:.3e} m on",
                    contact.thickness
                );
                let fix = format!("give a `thickness` below {room:.3e}, or a coarser mesh");
                return Err(Error::Scene(Invalid::new("soft_contact.thickness", what, fix)));
            }
            triangles.extend(of);
            Ok(())
        };
        for solid in &scene.solids {
            let surface = solid.mesh().surface();
            let of = surface.mesh.elements.iter().map(|t| t.map(|i| surface.points[i as usize])).collect();
            add(&solid.name, solid.group, &solid.rest, of)?;
        }
        for sheet in &scene.sheets {
            add(&sheet.name, sheet.group, &sheet.rest, sheet.elements.clone())?;
        }
        let surface = Surface::new(triangles, scene.particle_count())
            .map_err(|error| said("soft_contact", error.to_string()))?;
        let positions: Vec<[f64; 3]> = scene.particles.iter().flat_map(|it| it.positions.clone()).collect();
        if let Some([a, b]) = first_crossing(&surface, &positions) {
            let name = |particle: u32| scene.particle_name(particle as usize);
            let what =
                format!("the surfaces at {} and {} go through each other at the start", name(a), name(b));
            return Err(Error::Scene(Invalid::new("soft_contact", what, "move what crosses apart")));
        }
        let most = contact.most.unwrap_or(PAIRS + PAIRS_OF_A_VERTEX * surface.vertices().len());
        Ok(Some(Touching { surface: Arc::new(surface), contact, most }))
    }
}

impl Touching {
    /// The numbers of its law, in a program.
    pub(crate) fn numbers(site: &Site<'_>) -> Result<Touch, Error> {
        let number = |field: &str| site.param::<f64>(&format!("soft_contact.{field}"));
        Ok(Touch {
            thickness: number("thickness")?,
            ke: number("ke")?,
            kd: number("kd")?,
            kf: number("kf")?,
            mu: number("mu")?,
        })
    }
}

fn said(name: &str, what: String) -> Error {
    Error::Scene(Invalid::new("soft_contact", format!("the surface of `{name}`: {what}"), "mend the mesh"))
}

impl Force for Touching {
    fn name(&self) -> String {
        SOFT_CONTACT.into()
    }

    fn params(&self) -> Vec<Block> {
        let SoftContact { thickness, ke, kd, kf, mu, .. } = self.contact;
        [
            (
                "thickness",
                thickness,
                Quantity::new("m", "distance below which soft surfaces push").positive(),
            ),
            ("ke", ke, Quantity::new("N/m", "stiffness at half the thickness").at_least(0.0)),
            ("kd", kd, Quantity::new("N·s/m", "damping of soft surfaces that meet").at_least(0.0)),
            ("kf", kf, Quantity::new("N·s/m", "slope of friction at low speed").at_least(0.0)),
            ("mu", mu, Quantity::new("1", "friction of soft surfaces").at_least(0.0)),
        ]
        .map(|(field, value, quantity)| Block::scalar(&format!("soft_contact.{field}"), value, quantity))
        .into()
    }

    fn couples(&self) -> Option<&Touching> {
        Some(self)
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (name, touch) = (site.name(SOFT_CONTACT), Touching::numbers(site)?);
        let moving = Moving { x: site.x, v: site.v };
        Ok(surface_contact(site.program, &name, &self.surface, moving, touch, self.most))
    }
}
