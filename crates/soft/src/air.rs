//! Lift and drag of a sheet in the wind.
//!
//! They act on triangles, as membranes do, and are swept over with them: what is read and added to is the same.

use pullback_kernel::prelude::*;

use crate::membrane::{sheet_forces, sheet_forces_pullback};
use crate::rest::InverseEdges;
use crate::vertex::Vertex;

/// The air about the triangles of a sheet.
#[derive(Clone, Copy, Debug)]
pub struct Air {
    /// Its velocity [m/s], one for all.
    pub wind: Buffer<Vec3>,
    /// Half the density of air times the coefficient of drag [kg/m³], one for each triangle.
    pub drag: Buffer<f64>,
    /// Half the density of air times the coefficient of lift [kg/m³], one for each triangle.
    pub lift: Buffer<f64>,
}

/// With the velocity w of the triangle's centre through the air, its area A and normal n, what each corner gets [N], a third of
/// drag -k_d A √((n·w)² + (γ|w|)²) w  and lift  -k_l A (n·w) |w| n,  with γ = 10⁻⁶.
///
/// Drag would be with |n·w|, but for that millionth: what moves in its own plane is at the kink of that, where the rounding of n·w, another for each
/// triangle, would say to which side its derivative belongs.
///
/// Lift is that of Newton's `SolverSemiImplicit` (and ∇Sim's) with the sine of the angle between w and the plane in place of the angle,
/// π/2 - acos(n·w/|w|): the same for small angles, less by 2/π head on, but with a derivative there, without a library's function, and
/// smooth at w = 0, where both forces and their first derivatives are zero. A triangle without area feels nothing.
#[kernel(pullback = wing_pullback)]
fn wing<R: Real>(edges: [Vec3<R>; 2], w: Vec3<R>, drag: R, lift: R) -> Vec3<R> {
    let twice = cross(edges[0], edges[1]);
    let area = dot(twice, twice);
    let across = dot(twice, w) / 6.0;
    let ww = dot(w, w);
    let pressed = sqrt(across * across + GRAZING * (area * ww));
    let lifted = if area > LEAST { lift * across * sqrt(ww / area) } else { 0.0 };
    w * (-drag * pressed) + twice * -lifted
}

/// The smallest square of twice an area that counts as more than zero [m⁴].
const LEAST: f64 = 1e-36;

/// (γ/6)²: what is felt edge on.
const GRAZING: f64 = 1e-12 / 36.0;

/// With the cotangent h of the force, N = 2 A n, s = N·w/6, p² = s² + (γ/6)² |N|² |w|² and r = |w|/|N|, it is
/// -(k_d p w·h + k_l s r N·h).
#[kernel]
fn wing_pullback<R: Real>(
    edges: [Vec3<R>; 2],
    w: Vec3<R>,
    drag: R,
    lift: R,
    h: Vec3<R>,
) -> ([Vec3<R>; 2], Vec3<R>, R, R) {
    let twice = cross(edges[0], edges[1]);
    let (area, ww) = (dot(twice, twice), dot(w, w));
    let across = dot(twice, w) / 6.0;
    let (hw, ht) = (dot(h, w), dot(h, twice));
    let r = if area > LEAST { sqrt(ww / area) } else { 0.0 };
    let per_area = if area > LEAST { 1.0 / area } else { 0.0 };
    // r/|w|², by which r grows with w: nothing grows where there is no wind.
    let per_w = if ww > 0.0 { r / ww } else { 0.0 };
    let r_bar = -lift * across * ht;
    let pressed = sqrt(across * across + GRAZING * (area * ww));
    let p_bar_per_p = if pressed > 0.0 { -drag * hw / pressed } else { 0.0 };
    let grazed = GRAZING * p_bar_per_p;
    let across_bar = (across * p_bar_per_p - lift * r * ht) / 6.0;
    let w_bar = h * (-drag * pressed) + (twice * across_bar + w * (r_bar * per_w + area * grazed));
    let twice_bar =
        h * (-lift * across * r) + (w * across_bar + twice * (ww * grazed - r_bar * r * per_area));
    ([cross(edges[1], twice_bar), cross(twice_bar, edges[0])], w_bar, -pressed * hw, -across * r * ht)
}

/// The forces on the corners of a triangle in the air: those of a membrane, and lift and drag.
#[kernel(pullback = sailing_pullback)]
pub(crate) fn sailing<R: Real>(
    at: [Vertex<R>; 3],
    rest: InverseEdges<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
    viscosity: R,
    wind: Vec3<R>,
    drag: R,
    lift: R,
) -> [Vec3<R>; 3] {
    let edges = [at[1] - at[0], at[2] - at[0]];
    let inner = sheet_forces(edges, rest, volume, mu, lambda, actuation, viscosity);
    let w = at[0].v + (edges[0].v + edges[1].v) / 3.0 - wind;
    let air = wing([edges[0].x, edges[1].x], w, drag, lift);
    [air - inner[0] - inner[1], air + inner[0], air + inner[1]]
}

/// Those of both.
#[kernel]
pub(crate) fn sailing_pullback<R: Real>(
    at: [Vertex<R>; 3],
    rest: InverseEdges<R>,
    volume: R,
    mu: R,
    lambda: R,
    actuation: R,
    viscosity: R,
    wind: Vec3<R>,
    drag: R,
    lift: R,
    bar: [Vec3<R>; 3],
) -> ([Vertex<R>; 3], InverseEdges<R>, R, R, R, R, R, Vec3<R>, R, R) {
    let edges = [at[1] - at[0], at[2] - at[0]];
    let w = at[0].v + (edges[0].v + edges[1].v) / 3.0 - wind;
    let (x_bar, w_bar, drag_bar, lift_bar) =
        wing_pullback([edges[0].x, edges[1].x], w, drag, lift, bar[0] + bar[1] + bar[2]);
    let (inner, rest_bar, volume_bar, mu_bar, lambda_bar, actuation_bar, viscosity_bar) =
        sheet_forces_pullback(
            edges,
            rest,
            volume,
            mu,
            lambda,
            actuation,
            viscosity,
            [bar[1] - bar[0], bar[2] - bar[0]],
        );
    let v = w_bar / 3.0;
    let (a, b) = (inner[0].x + x_bar[0], inner[1].x + x_bar[1]);
    (
        [
            Vertex { x: -(a + b), v: v - inner[0].v - inner[1].v },
            Vertex { x: a, v: v + inner[0].v },
            Vertex { x: b, v: v + inner[1].v },
        ],
        rest_bar,
        volume_bar,
        mu_bar,
        lambda_bar,
        actuation_bar,
        viscosity_bar,
        -w_bar,
        drag_bar,
        lift_bar,
    )
}

#[cfg(test)]
mod tests {
    use pullback_kernel::gradcheck;

    use super::*;

    /// The edges of a triangle of 0.5 m² whose normal is z.
    fn flat() -> [Vec3; 2] {
        [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)]
    }

    #[test]
    fn gradients_of_the_kernels() {
        let at = |k: f64| vec3((1.3 * k).sin(), (2.1 * k + 0.4).cos(), (0.7 * k).sin());
        for w in [at(6.0), -at(6.0)] {
            gradcheck::kernel::<wing>(&([at(1.0), at(2.0)], w, 0.3, 0.2)).expect("both sides of the wind");
        }
        let vertices = [0.0, 1.0, 2.0].map(|k| Vertex { x: at(k), v: at(k + 3.0) });
        let rest = InverseEdges { xx: 0.8, xy: -0.3, yy: 1.1 };
        let both = (vertices, rest, 0.4, 0.7, 0.5, 0.1, 0.2, at(6.0), 0.3, 0.2);
        gradcheck::kernel::<sailing>(&both).expect("with the membrane");
    }

    #[test]
    fn lift_and_drag_by_their_formulas() {
        // Wind across the plane and along it: |w| = 5.
        let f = wing(flat(), vec3(-3.0, 0.0, -4.0), 0.3, 0.2);
        let (drag, lift) = (0.3 * 0.5 * 4.0 / 3.0, 0.2 * 0.5 * 4.0 * 5.0 / 3.0);
        assert!(length(f - vec3(3.0 * drag, 0.0, 4.0 * drag + lift)) < 1e-12, "{f:?}");
        // What flies with the wind feels none, but is held together.
        let wind = vec3(3.0, 0.0, 4.0);
        let zero = vec3(0.0, 0.0, 0.0);
        let at = [zero, flat()[0] * 2.0, flat()[1]].map(|x| Vertex { x, v: wind });
        let rest = InverseEdges { xx: 1.0, xy: 0.0, yy: 1.0 };
        let [f, g, h] = sailing(at, rest, 0.5, 1.0, 1.0, 0.0, 3.0, wind, 0.3, 0.2);
        let inner = sheet_forces([at[1] - at[0], at[2] - at[0]], rest, 0.5, 1.0, 1.0, 0.0, 3.0);
        assert!(length(g) > 0.1 && length(f + g + h) < 1e-15, "{f:?}, {g:?}, {h:?}");
        assert_eq!([g, h], inner);
    }

    /// Edge on, rounding does not say to which side derivatives belong: they are those of a wind that comes from neither.
    #[test]
    fn what_moves_in_its_own_plane() {
        let bar = vec3(1.0, 2.0, -3.0);
        let of = |across: f64| wing::pullback(flat(), vec3(2.0, 1.0, across), 0.3, 0.2, bar);
        let still = of(0.0);
        assert!(length(still.1) > 0.1, "lift grows with what comes across");
        for across in [1e-17, -1e-17] {
            let off = length(of(across).1 - still.1) + length(of(across).0[0] - still.0[0]);
            assert!(off < 1e-10, "{across}: {off}");
        }
        // And to either side of it there is a slope.
        assert!(length(of(0.1).1 - of(-0.1).1) > 0.1);
        gradcheck::kernel::<wing>(&(flat(), vec3(2.0, 1.0, 3e-3), 0.3, 0.2)).expect("near it");
    }

    /// Without wind, head on and along the plane, and for a triangle without area, all derivatives are numbers.
    #[test]
    fn where_there_is_no_direction() {
        let (bar, zero) = (vec3(1.0, 2.0, -3.0), vec3(0.0, 0.0, 0.0));
        for (edges, w) in [
            (flat(), zero),
            (flat(), vec3(0.0, 0.0, 2.0)),
            (flat(), vec3(2.0, 0.0, 0.0)),
            ([bar; 2], bar),
            ([zero; 2], zero),
        ] {
            let (bars, w_bar, drag, lift) = wing::pullback(edges, w, 0.3, 0.2, bar);
            let numbers = [length(bars[0]), length(bars[1]), length(w_bar), drag, lift];
            assert!(numbers.iter().all(|n| n.is_finite()), "{w:?}: {numbers:?}");
            // As the macro's.
            let derived = wing::derived_pullback(edges, w, 0.3, 0.2, bar);
            let off =
                length(bars[0] - derived.0[0]) + length(bars[1] - derived.0[1]) + length(w_bar - derived.1);
            assert!(off + (drag - derived.2).abs() + (lift - derived.3).abs() < 1e-13, "{w:?}: {off}");
        }
        assert_eq!(length(wing::pullback(flat(), zero, 0.3, 0.2, bar).1), 0.0);
    }
}
