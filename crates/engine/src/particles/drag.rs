//! Quadratic drag in moving air.

use pullback_kernel::prelude::*;

use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Group, Quantity};

/// Drag of a body in wind w [N]:  f = -c |v - w| (v - w)
#[kernel]
fn drag<R: Real>(v: [Vec3<R>; 1], c: R, wind: Vec3<R>) -> [Vec3<R>; 1] {
    let relative = v[0] - wind;
    [relative * (-(c * length(relative)))]
}

/// Quadratic drag of some particles.
#[derive(Clone, Debug)]
pub struct Drag {
    /// What they are called.
    pub groups: Vec<Group>,
    /// Which particles.
    pub on: Vec<usize>,
    /// Half the density of air times the area times the drag coefficient [kg/m].
    pub coefficients: Vec<f64>,
    /// Velocity of the air [m/s].
    pub wind: [f64; 3],
}

/// The velocity of the air [m/s], as a param.
pub(crate) fn wind(velocity: [f64; 3]) -> Block {
    Block::vector("wind", velocity, Quantity::new("m/s", "velocity of the air"))
}

impl Force for Drag {
    fn params(&self) -> Vec<Block> {
        let coefficient = Quantity::new("kg/m", "drag: force per squared speed in the air").at_least(0.0);
        vec![
            Block {
                key: "particles.drag".into(),
                field: "drag".into(),
                groups: self.groups.clone(),
                numbers: 1,
                quantity: coefficient,
                values: self.coefficients.clone(),
            },
            wind(self.wind),
        ]
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (v, name) = (site.v, site.name("drag"));
        let (c, wind) = (site.param::<f64>("particles.drag")?, site.param::<Vec3>("wind")?);
        let on: Vec<[usize; 1]> = self.on.iter().map(|&i| [i]).collect();
        let on = site.program.corners(&name, &on, site.particles);
        Ok(site.program.elements::<drag, Vec3, 1>(&name, on, (v.at(on), c.own(), wind.shared())))
    }
}
