//! The five ways in which MJCF writes an orientation.

use super::compiler::Compiler;
use crate::error::Error;
use crate::robot::Placement;
use crate::robot::orientation::{self, IDENTITY};
use crate::robot::xml::Element;

const WAYS: [&str; 5] = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];

/// How an element is turned, if it says so.
pub(super) fn read(element: Element<'_>, compiler: &Compiler) -> Result<Option<[f64; 4]>, Error> {
    let mut ways = WAYS.iter().copied().filter(|way| element.text(way).is_some());
    let Some(way) = ways.next() else {
        return Ok(None);
    };
    if let Some(second) = ways.next() {
        let what = format!("the orientation is also given by `{way}`");
        return Err(element.error_at(second, what, "keep one of the two"));
    }
    let turn = match way {
        "quat" => element.numbers(way)?.and_then(orientation::normalised),
        "axisangle" => element.numbers(way)?.and_then(|[x, y, z, angle]| {
            Some(orientation::from_axis_angle(orientation::unit([x, y, z])?, compiler.angle(angle)))
        }),
        "xyaxes" => element.numbers(way)?.and_then(|[a, b, c, d, e, f]| from_axes([a, b, c], [d, e, f])),
        "zaxis" => element.numbers(way)?.and_then(|axis| orientation::unit(axis).map(from_z)),
        _ => element.numbers(way)?.map(|angles| from_euler(angles, compiler)),
    };
    turn.map(Some).ok_or_else(|| {
        element.error_at(way, "it gives no orientation", "write vectors that are not zero, and not parallel")
    })
}

/// `pos` and the orientation; what is not there is that of the frame itself.
pub(super) fn placement(element: Element<'_>, compiler: &Compiler) -> Result<Placement, Error> {
    Ok(Placement {
        position: element.numbers("pos")?.unwrap_or_default(),
        orientation: read(element, compiler)?.unwrap_or(IDENTITY),
    })
}

/// The smallest turn that takes z to a unit vector: about z × v, by atan2(|z × v|, v_z). Of the half turns, the one
/// about x.
pub(super) fn from_z([x, y, z]: [f64; 3]) -> [f64; 4] {
    let sine = x.hypot(y);
    let axis = if sine < 1e-10 { [1.0, 0.0, 0.0] } else { [-y / sine, x / sine, 0.0] };
    orientation::from_axis_angle(axis, sine.atan2(z))
}

/// x along the first, y in the plane of both (Gram and Schmidt), z = x × y.
fn from_axes(x: [f64; 3], y: [f64; 3]) -> Option<[f64; 4]> {
    let x = orientation::unit(x)?;
    let y = orientation::unit(y)?;
    let along: f64 = (0..3).map(|i| x[i] * y[i]).sum();
    let across: [f64; 3] = std::array::from_fn(|i| y[i] - along * x[i]);
    if across.iter().all(|component| component.abs() < 1e-10) {
        return None;
    }
    let y = orientation::unit(across)?;
    let z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
    Some(orientation::from_matrix(std::array::from_fn(|row| [x[row], y[row], z[row]])))
}

/// One turn after the other. Small letters turn about axes that turned along, capital letters about those of before.
fn from_euler(angles: [f64; 3], compiler: &Compiler) -> [f64; 4] {
    compiler.euler.iter().zip(angles).fold(IDENTITY, |turned, (&(axis, stays), angle)| {
        let mut direction = [0.0; 3];
        direction[axis] = 1.0;
        let turn = orientation::from_axis_angle(direction, compiler.angle(angle));
        if stays { orientation::product(turn, turned) } else { orientation::product(turned, turn) }
    })
}
