//! Names of columns of measurements: `ball.x`, `arm.hand.vz`, `arm.elbow`, `arm.elbow.velocity`.

use super::{Names, PartNames};
use crate::error::Invalid;
use crate::problem::Tracked;
use crate::words;

/// What columns of points end with: positions, then velocities.
const QUANTITIES: [&str; 6] = ["x", "y", "z", "vx", "vy", "vz"];

/// What the column of a joint's velocity ends with.
const VELOCITY: &str = ".velocity";

const OF_POINTS: &str = ".x, .y, .z [m], .vx, .vy or .vz [m/s]";
const OF_PARTICLES: &str =
    "columns are a particle's name with .x, .y, .z [m], .vx, .vy or .vz [m/s], such as `ball.x`";
const OF_ROBOTS: &str = "the name of a hinge [rad] or slide [m], with .velocity its velocity [rad/s, m/s]; or that of a body or \
                         frame with .x, .y, .z [m], .vx, .vy or .vz [m/s]";

impl PartNames<'_> {
    /// What a column is of, and whether its velocity is meant.
    pub fn tracked(&self, particles: &Names<'_>, name: &str) -> Result<(Tracked, bool), Invalid> {
        let point = name
            .rsplit_once('.')
            .and_then(|(of, quantity)| Some((of, QUANTITIES.iter().position(|known| *known == quantity)?)));
        if let Some((of, quantity)) = name.rsplit_once('.')
            && point.is_none()
            && self.loose.knows(of)
        {
            return Err(of_body(name, of, quantity));
        }
        if self.begins(name) || (particles.is_empty() && self.has_robots()) {
            return self.of_robot(name, point);
        }
        let Some((of, at)) = point else {
            let what = format!("there is no column {}", words::quoted(name));
            let fix = match self.has_robots() {
                true => format!("{OF_PARTICLES}; or {OF_ROBOTS}, such as `arm.elbow`"),
                false => OF_PARTICLES.to_owned(),
            };
            return Err(Invalid::new(name, what, fix));
        };
        if self.begins(of) && !particles.knows(of) {
            return self.of_robot(name, point);
        }
        let particle = particles.index(of)?;
        Ok((Tracked::Particle { particle, axis: at % 3 }, at >= 3))
    }

    /// A joint, which may be called `arm.x`, or else a body or frame along an axis.
    fn of_robot(&self, name: &str, point: Option<(&str, usize)>) -> Result<(Tracked, bool), Invalid> {
        let joint = |(robot, joint)| Tracked::Joint { robot, joint };
        let also = |it: Invalid| Invalid { fix: format!("{}; columns are {OF_ROBOTS}", it.fix), ..it };
        if let Ok(found) = self.joint(name) {
            return Ok((joint(found), false));
        }
        if let Some((of, at)) = point {
            let of = self.part(of).map_err(also)?;
            return Ok((Tracked::Part { of, axis: at % 3 }, at >= 3));
        }
        match name.strip_suffix(VELOCITY) {
            Some(of) => self.joint(of).map(|found| (joint(found), true)).map_err(also),
            None => self.joint(name).map(|found| (joint(found), false)).map_err(also),
        }
    }
}

/// A loose body has no such column: neither an angle nor a velocity of one number.
fn of_body(name: &str, body: &str, quantity: &str) -> Invalid {
    let axis = if quantity.starts_with('v') { "vx" } else { "x" };
    let fix = format!("columns of a body are its name with {OF_POINTS}, such as `{body}.{axis}`");
    Invalid::new(name, format!("there is no column {}", words::quoted(name)), fix)
}
