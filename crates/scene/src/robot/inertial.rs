//! Mass and its distribution: in other frames, added up, and whether a body can have it.

use super::{Inertial, Placement, orientation};
use crate::error::Invalid;

/// How far principal moments may break a law of nature by rounding, relative to the largest.
const TOLERANCE: f64 = 1e-6;

/// What is as good as no inertia [kg·m²].
const NOTHING: f64 = 1e-15;

type Matrix = [[f64; 3]; 3];

impl Inertial {
    /// A point of some mass [kg] at some place [m].
    pub fn point(mass: f64, center: [f64; 3]) -> Self {
        Self { mass, center, inertia: [0.0; 6] }
    }

    /// The same mass in the frame that the body's frame is placed in: I' = R I Rᵀ, about the centre as before.
    pub fn moved(&self, placement: &Placement) -> Self {
        let r = orientation::matrix(placement.orientation);
        let turned = product(&product(&r, &full(self.inertia)), &transposed(&r));
        Self { mass: self.mass, center: placement.apply(self.center), inertia: six(&turned) }
    }

    /// Rotational inertia about a point, in the axes of the body's frame [kg·m²]: I + m (|d|² 1 - d dᵀ) (Steiner).
    pub fn about(&self, point: [f64; 3]) -> [f64; 6] {
        let d: [f64; 3] = std::array::from_fn(|i| self.center[i] - point[i]);
        let [x, y, z] = d;
        let m = self.mass;
        let shift = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z];
        std::array::from_fn(|i| self.inertia[i] + m * shift[i])
    }

    /// Both together, in one frame.
    pub fn plus(&self, other: &Inertial) -> Inertial {
        let mass = self.mass + other.mass;
        let center = if mass > 0.0 {
            std::array::from_fn(|i| (self.mass * self.center[i] + other.mass * other.center[i]) / mass)
        } else {
            [0.0; 3]
        };
        let (a, b) = (self.about(center), other.about(center));
        Inertial { mass, center, inertia: std::array::from_fn(|i| a[i] + b[i]) }
    }

    /// Principal moments about the centre of mass, in no order [kg·m²].
    pub fn principal_moments(&self) -> [f64; 3] {
        principal(full(self.inertia)).0
    }

    /// The same axes of inertia, with other principal moments.
    pub(crate) fn with_moments(&self, change: impl Fn(f64) -> f64) -> Self {
        let (moments, axes) = principal(full(self.inertia));
        let mut diagonal = [[0.0; 3]; 3];
        (0..3).for_each(|i| diagonal[i][i] = change(moments[i]));
        Self { inertia: six(&product(&product(&axes, &diagonal), &transposed(&axes))), ..*self }
    }

    /// Could a body have this? Mass and moments are not negative, all numbers are finite, and no principal moment is
    /// larger than the two others together: Ixx + Iyy - Izz = 2 ∫ z² dm ≥ 0.
    ///
    /// # Errors
    ///
    /// The first of these that it breaks.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_numbers()?;
        let moments = self.principal_moments();
        if moments.iter().any(|&moment| moment < -TOLERANCE * largest_of(moments) - NOTHING) {
            let [a, b, c] = moments;
            return Err(Invalid::new(
                "inertia",
                format!("the principal moments of inertia are {a:.4e}, {b:.4e} and {c:.4e}: one is negative"),
                "check the inertia, also the signs of ixy, ixz and iyz [kg·m²]",
            ));
        }
        let largest = largest_of(moments);
        if 2.0 * largest - moments.iter().sum::<f64>() > TOLERANCE * largest + NOTHING {
            let [a, b, c] = moments;
            return Err(Invalid::new(
                "inertia",
                format!(
                    "no body has the principal moments {a:.4e}, {b:.4e} and {c:.4e}: one is larger than the others together"
                ),
                "check the inertia: it is about the centre of mass, in kg·m²",
            ));
        }
        Ok(())
    }

    /// Are all numbers finite, and is the mass not negative?
    pub(crate) fn check_numbers(&self) -> Result<(), Invalid> {
        let Self { mass, center, inertia } = self;
        if !mass.is_finite() || !center.iter().chain(inertia).all(|x| x.is_finite()) {
            return Err(Invalid::new("", "a number is not finite", "write finite numbers"));
        }
        if *mass < 0.0 {
            return Err(Invalid::new(
                "mass",
                format!("the mass is {mass}"),
                "write a mass that is not negative [kg]",
            ));
        }
        Ok(())
    }
}

fn largest_of(moments: [f64; 3]) -> f64 {
    moments.iter().fold(0.0, |most: f64, moment| most.max(moment.abs()))
}

/// (xx, yy, zz, xy, xz, yz) as a matrix.
pub(crate) fn full([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Matrix {
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
}

/// A symmetric matrix as (xx, yy, zz, xy, xz, yz).
pub(crate) fn six(m: &Matrix) -> [f64; 6] {
    [m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]]
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transposed(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// Eigenvalues and eigenvectors (as columns) of a symmetric matrix by Jacobi's rotations (Golub and Van Loan, Matrix Computations, 8.5): each makes one
/// pair of entries zero, and a handful of sweeps is enough for 3 × 3.
fn principal(mut a: Matrix) -> ([f64; 3], Matrix) {
    const SWEEPS: usize = 12;
    let mut axes: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = if tau >= 0.0 { 1.0 } else { -1.0 } / (tau.abs() + (1.0 + tau * tau).sqrt());
            let cos = 1.0 / (1.0 + t * t).sqrt();
            let sin = t * cos;
            let mut turn: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
            (turn[p][p], turn[q][q], turn[p][q], turn[q][p]) = (cos, cos, sin, -sin);
            a = product(&product(&transposed(&turn), &a), &turn);
            axes = product(&axes, &turn);
        }
    }
    ([a[0][0], a[1][1], a[2][2]], axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &[f64], b: &[f64], tolerance: f64) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance), "{a:?} {b:?}");
    }

    /// Four points, whose inertia is a plain sum.
    #[test]
    fn sums_and_moves_are_those_of_points() {
        let points = [[1.0, 0.0, 0.5], [-0.3, 0.7, 0.1], [0.2, -0.6, -1.0], [0.0, 0.4, 0.9]];
        let masses = [1.0, 2.0, 0.5, 1.5];
        let placement = Placement::from_xyz_rpy([0.1, -2.0, 0.7], [0.5, -0.8, 1.9]);
        let total = |points: [[f64; 3]; 4]| {
            points
                .iter()
                .zip(masses)
                .fold(Inertial::default(), |sum, (&point, mass)| sum.plus(&Inertial::point(mass, point)))
        };
        let sum = total(points);
        assert_eq!(sum.mass, 5.0);
        let direct: f64 = (0..4).map(|i| masses[i] * (points[i][0].powi(2) + points[i][1].powi(2))).sum();
        close(&[sum.about([0.0; 3])[2]], &[direct], 1e-14);
        let mixed: f64 = (0..4).map(|i| -masses[i] * points[i][0] * points[i][2]).sum();
        close(&[sum.about([0.0; 3])[4]], &[mixed], 1e-14);
        let moved = sum.moved(&placement);
        let wanted = total(points.map(|point| placement.apply(point)));
        close(&moved.center, &wanted.center, 1e-14);
        close(&moved.inertia, &wanted.inertia, 1e-13);
    }

    #[test]
    fn principal_moments_do_not_turn() {
        let body = Inertial { mass: 1.0, center: [0.0; 3], inertia: [0.3, 0.5, 0.7, 0.0, 0.0, 0.0] };
        let turned = body.moved(&Placement::from_xyz_rpy([0.0; 3], [0.4, 1.2, -2.0]));
        let mut moments = turned.principal_moments();
        moments.sort_unstable_by(f64::total_cmp);
        close(&moments, &[0.3, 0.5, 0.7], 1e-14);
        assert!(turned.check().is_ok());
    }

    #[test]
    fn bodies_that_cannot_be() {
        let body = |mass, inertia| Inertial { mass, center: [0.0; 3], inertia };
        let what = |inertial: Inertial| inertial.check().expect_err("no body has it").what;
        assert_eq!(what(body(-1.0, [0.0; 6])), "the mass is -1");
        assert_eq!(what(body(f64::NAN, [0.0; 6])), "a number is not finite");
        assert!(what(body(1.0, [1.0, 1.0, 2.1, 0.0, 0.0, 0.0])).contains("larger than the others"));
        assert!(what(body(1.0, [1.0, 1.0, 1.0, 1.5, 0.0, 0.0])).contains("one is negative"));
        assert!(body(1.0, [1.0, 1.0, 2.0, 0.0, 0.0, 0.0]).check().is_ok(), "a flat plate is on the edge");
    }
}
