//! Masses of bodies: given, or of their geoms; and what the compiler makes of them.

use super::body::BodyPart;
use super::compiler::{Compiler, InertiaFromGeom};
use super::turn;
use crate::error::Error;
use crate::robot::xml::Element;
use crate::robot::{Body, Inertial};

/// What an `<inertial>` says, in the frame around it.
pub(super) fn read(element: Element<'_>, compiler: &Compiler) -> Result<Inertial, Error> {
    if element.text("pos").is_none() {
        return Err(element.missing("pos"));
    }
    let placement = turn::placement(element, compiler)?;
    let mass = element.required_number("mass")?;
    let (diagonal, full) = (element.numbers::<3>("diaginertia")?, element.numbers::<6>("fullinertia")?);
    if full.is_some() {
        let others = ["diaginertia", "quat", "axisangle", "xyaxes", "zaxis", "euler"];
        if let Some(other) = others.into_iter().find(|other| element.text(other).is_some()) {
            let what = format!("there are both `fullinertia` and `{other}`");
            return Err(element.error_at(
                other,
                what,
                "keep `fullinertia`, which is in the axes of the body",
            ));
        }
    }
    let [x, y, z] = diagonal.unwrap_or_default();
    let inertia = full.unwrap_or([x, y, z, 0.0, 0.0, 0.0]);
    let own = Inertial { mass, center: [0.0; 3], inertia };
    own.check_numbers().map_err(|invalid| element.error(invalid.what, invalid.fix))?;
    Ok(own.moved(&placement))
}

/// The mass of a body.
pub(super) fn of_body(part: &BodyPart<'_>, compiler: &Compiler) -> Result<Inertial, Error> {
    let (geoms, count) = part.geoms;
    let from_geoms = match compiler.inertia_from_geom {
        InertiaFromGeom::Never => None,
        InertiaFromGeom::Always => (count > 0).then_some(geoms),
        InertiaFromGeom::Auto => (count > 0 && part.inertial.is_none()).then_some(geoms),
    };
    // MuJoCo gives a body without mass a centre all the same, which matters once the mass has a lower bound.
    let empty = Inertial { center: part.own_position, ..Inertial::default() };
    let mut inertial = from_geoms.or(part.inertial).unwrap_or(empty);
    inertial.mass = inertial.mass.max(compiler.least_mass);
    if compiler.least_inertia > 0.0 {
        inertial = inertial.with_moments(|moment| moment.max(compiler.least_inertia));
    }
    match inertial.check() {
        Ok(()) => Ok(inertial),
        Err(_)
            if compiler.balance_inertia
                && inertial.principal_moments().iter().all(|&moment| moment >= 0.0) =>
        {
            let [x, y, z, ..] = inertial.inertia;
            let mean = (x + y + z) / 3.0;
            Ok(Inertial { inertia: [mean, mean, mean, 0.0, 0.0, 0.0], ..inertial })
        }
        Err(invalid) => {
            let fix = format!("{}, or write balanceinertia=\"true\" at `<compiler>`", invalid.fix);
            Err(part.element.error(invalid.what, fix))
        }
    }
}

/// Makes all bodies heavier, or lighter, by the same factor.
pub(super) fn set_total(bodies: &mut [Body], total: Option<f64>) {
    let sum: f64 = bodies.iter().map(|body| body.inertial.mass).sum();
    let Some(factor) = total.filter(|_| sum > 0.0).map(|total| total / sum) else {
        return;
    };
    for body in bodies {
        body.inertial.mass *= factor;
        body.inertial.inertia = body.inertial.inertia.map(|moment| factor * moment);
    }
}
