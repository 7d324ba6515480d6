//! Lift and drag of a sheet in the wind.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};

use crate::vertex::Vertex;

/// Triangles of a sheet in the wind.
#[derive(Clone, Copy, Debug)]
pub struct Air {
    /// Their corners.
    pub corners: Corners<3>,
    /// Positions [m] and velocities [m/s] of vertices: [`vertex::vertices`](crate::vertex::vertices).
    pub vertices: Buffer<Vertex>,
    /// Velocity of the air [m/s], one for all.
    pub wind: Buffer<Vec3>,
    /// Half the density of air times the coefficient of drag [kg/m³], one for each triangle.
    pub drag: Buffer<f64>,
    /// Half the density of air times the coefficient of lift [kg/m³], one for each triangle.
    pub lift: Buffer<f64>,
}

/// With the velocity w of the triangle's centre through the air, its area A and normal n, a third to each corner of
/// drag -k_d A |n·w| w  and lift  -k_l A (n·w) |w| n.
///
/// Lift is that of Newton's `SolverSemiImplicit` (and ∇Sim's) with the sine of the angle between w and the plane in place of the angle,
/// π/2 - acos(n·w/|w|): the same for small angles, less by 2/π head on, but with a derivative there, without a library's function, and
/// smooth at w = 0, where both forces and their first derivatives are zero. A triangle without area feels nothing.
#[kernel]
fn wing<R: Real>(at: [Vertex<R>; 3], wind: Vec3<R>, drag: R, lift: R) -> [Vec3<R>; 3] {
    let twice = cross(at[1].x - at[0].x, at[2].x - at[0].x);
    let w = (at[0].v + at[1].v + at[2].v) / 3.0 - wind;
    let area = dot(twice, twice);
    let across = dot(twice, w) / 6.0;
    let lifted = if area > 0.0 { lift * across * sqrt(dot(w, w) / area) } else { 0.0 };
    let f = w * (-drag * abs(across)) + twice * -lifted;
    [f, f, f]
}

/// Adds lift and drag on the vertices [N], as an operation of this name.
pub fn force(p: &mut Builder, name: &str, air: &Air) -> Buffer<Vec3> {
    let Air { corners, vertices, wind, drag, lift } = *air;
    let ports = (vertices.at(corners), wind.shared(), drag.own(), lift.own());
    p.elements::<wing, Vec3, 3>(name, corners, ports)
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    /// A triangle of 0.5 m² whose normal is z.
    fn flat() -> [Vec3; 3] {
        [vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)]
    }

    /// With this velocity.
    fn flying(x: [Vec3; 3], v: Vec3) -> [Vertex; 3] {
        x.map(|x| Vertex { x, v })
    }

    #[test]
    fn gradients_of_the_kernel() {
        let at = |k: f64| vec3((1.3 * k).sin(), (2.1 * k + 0.4).cos(), (0.7 * k).sin());
        let vertices = [0.0, 1.0, 2.0].map(|k| Vertex { x: at(k), v: at(k + 3.0) });
        gradcheck::kernel::<wing>(&(vertices, at(6.0), 0.3, 0.2)).expect("both sides of the wind");
        gradcheck::kernel::<wing>(&(vertices, -at(6.0), 0.3, 0.2)).expect("both sides of the wind");
    }

    #[test]
    fn lift_and_drag_by_their_formulas() {
        let still = flying(flat(), vec3(0.0, 0.0, 0.0));
        // Wind across the plane and along it: w = (-3, 0, -4), |w| = 5.
        let [f, ..] = wing(still, vec3(3.0, 0.0, 4.0), 0.3, 0.2);
        let (drag, lift) = (0.3 * 0.5 * 4.0 / 3.0, 0.2 * 0.5 * 4.0 * 5.0 / 3.0);
        assert!(length(f - vec3(3.0 * drag, 0.0, 4.0 * drag + lift)) < 1e-15, "{f:?}");
        // What flies with the wind feels none.
        let [g, ..] = wing(flying(flat(), vec3(3.0, 0.0, 4.0)), vec3(3.0, 0.0, 4.0), 0.3, 0.2);
        assert_eq!(length(g), 0.0);
    }

    /// Without wind, head on and along the plane, and for a triangle without area, all derivatives are numbers.
    #[test]
    fn where_there_is_no_direction() {
        let bar = vec3(1.0, 2.0, -3.0);
        let zero = vec3(0.0, 0.0, 0.0);
        for (x, wind) in
            [(flat(), zero), (flat(), vec3(0.0, 0.0, 2.0)), (flat(), vec3(2.0, 0.0, 0.0)), ([bar; 3], bar)]
        {
            let (bars, wind_bar, drag, lift) = wing::pullback(flying(x, zero), wind, 0.3, 0.2, [bar; 3]);
            let numbers = [length(bars[0].x), length(bars[0].v), length(wind_bar), drag, lift];
            assert!(numbers.iter().all(|n| n.is_finite()), "{wind:?}: {numbers:?}");
        }
        let (bars, ..) = wing::pullback(flying(flat(), zero), zero, 0.3, 0.2, [bar; 3]);
        assert_eq!(length(bars[0].v), 0.0);
    }
}
