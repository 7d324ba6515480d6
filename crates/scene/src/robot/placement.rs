//! Frames in frames.

use super::{Placement, orientation};

impl Placement {
    /// A frame that is only moved.
    pub fn at(position: [f64; 3]) -> Self {
        Self { position, ..Self::default() }
    }

    /// A frame that is moved by `xyz` [m] and turned by roll, pitch and yaw [rad], as URDF means them.
    pub fn from_xyz_rpy(xyz: [f64; 3], rpy: [f64; 3]) -> Self {
        Self { position: xyz, orientation: orientation::from_rpy(rpy) }
    }

    /// a_from_b, and b_from_c given: a_from_c.
    pub fn compose(&self, inner: &Placement) -> Placement {
        Placement {
            position: self.apply(inner.position),
            orientation: orientation::product(self.orientation, inner.orientation),
        }
    }

    /// a_from_b: b_from_a.
    pub fn inverse(&self) -> Placement {
        let back = orientation::inverse(self.orientation);
        let position = orientation::rotate(back, self.position).map(|x| -x);
        Placement { position, orientation: back }
    }

    /// A point of the frame, in the frame that this one is placed in [m].
    pub fn apply(&self, point: [f64; 3]) -> [f64; 3] {
        let turned = self.rotate(point);
        std::array::from_fn(|i| turned[i] + self.position[i])
    }

    /// A vector of the frame, in the frame that this one is placed in.
    pub fn rotate(&self, vector: [f64; 3]) -> [f64; 3] {
        orientation::rotate(self.orientation, vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_compose_and_go_back() {
        let a = Placement::from_xyz_rpy([1.0, 2.0, 3.0], [0.1, -0.2, 0.3]);
        let b = Placement::from_xyz_rpy([-0.5, 0.4, 0.1], [1.0, 0.5, -2.0]);
        let point = [0.3, -0.7, 1.1];
        let close = |a: [f64; 3], b: [f64; 3]| a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(close(a.compose(&b).apply(point), a.apply(b.apply(point))));
        assert!(close(a.inverse().apply(a.apply(point)), point));
        let half = std::f64::consts::FRAC_PI_2;
        let turned = Placement::from_xyz_rpy([1.0, 0.0, 0.0], [0.0, 0.0, half]);
        assert!(close(turned.apply([1.0, 0.0, 0.0]), [1.0, 1.0, 0.0]));
    }
}
