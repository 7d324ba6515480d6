//! Orientations: unit quaternions (w, x, y, z), and where they come from.

/// The orientation of the frame itself.
pub const IDENTITY: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// Roll, pitch and yaw [rad] as URDF means them: R = Rz(yaw) Ry(pitch) Rx(roll), about the axes of the parent.
pub fn from_rpy([roll, pitch, yaw]: [f64; 3]) -> [f64; 4] {
    let about = |axis, angle| from_axis_angle(axis, angle);
    let z_y = product(about([0.0, 0.0, 1.0], yaw), about([0.0, 1.0, 0.0], pitch));
    product(z_y, about([1.0, 0.0, 0.0], roll))
}

/// A turn about a unit axis by an angle [rad]: (cos(angle / 2), axis · sin(angle / 2)).
pub fn from_axis_angle(axis: [f64; 3], angle: f64) -> [f64; 4] {
    let (sin, cos) = (0.5 * angle).sin_cos();
    [cos, sin * axis[0], sin * axis[1], sin * axis[2]]
}

/// Of a rotation matrix, by rows. The largest of the four components is found first, so that nothing is divided by a small
/// number (Shepperd, Journal of Guidance and Control 1, 1978).
pub fn from_matrix(m: [[f64; 3]; 3]) -> [f64; 4] {
    let trace = m[0][0] + m[1][1] + m[2][2];
    let squares = [trace, m[0][0], m[1][1], m[2][2]];
    let largest = (1..4).fold(0, |best, at| if squares[at] > squares[best] { at } else { best });
    // 4 w² - 1, 4 w x and so on: the products that the entries of the matrix are sums of.
    let (wx, wy, wz) = (m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]);
    let (xy, xz, yz) = (m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]);
    let square = 1.0 + 2.0 * squares[largest] - trace;
    normalised(match largest {
        0 => [1.0 + trace, wx, wy, wz],
        1 => [wx, square, xy, xz],
        2 => [wy, xy, square, yz],
        _ => [wz, xz, yz, square],
    })
    .unwrap_or(IDENTITY)
}

/// The rotation matrix, by rows.
pub fn matrix([w, x, y, z]: [f64; 4]) -> [[f64; 3]; 3] {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// First `b`, then `a`.
pub fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

/// The turn back.
pub fn inverse([w, x, y, z]: [f64; 4]) -> [f64; 4] {
    [w, -x, -y, -z]
}

/// The vector, turned.
pub fn rotate(orientation: [f64; 4], vector: [f64; 3]) -> [f64; 3] {
    let m = matrix(orientation);
    std::array::from_fn(|row| m[row][0] * vector[0] + m[row][1] * vector[1] + m[row][2] * vector[2])
}

/// Of length 1; `None` when it has no direction.
pub fn normalised(quaternion: [f64; 4]) -> Option<[f64; 4]> {
    unit(quaternion)
}

/// A vector of length 1; `None` when it is zero, or not finite.
pub(crate) fn unit<const N: usize>(vector: [f64; N]) -> Option<[f64; N]> {
    // Divided by the largest first, so that no square overflows or vanishes.
    let largest = vector.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 || !vector.iter().all(|x| x.is_finite()) {
        return None;
    }
    let scaled = vector.map(|x| x / largest);
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(scaled.map(|x| x / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close<const N: usize>(a: [f64; N], b: [f64; N]) {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} {b:?}");
    }

    #[test]
    fn roll_pitch_yaw_are_products_of_plain_matrices() {
        let [r, p, y] = [0.3f64, -1.1, 2.5];
        let (cr, sr, cp, sp, cy, sy) = (r.cos(), r.sin(), p.cos(), p.sin(), y.cos(), y.sin());
        // Rz(y) Ry(p) Rx(r), multiplied out by hand.
        let wanted = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ];
        let found = matrix(from_rpy([r, p, y]));
        (0..3).for_each(|row| close(found[row], wanted[row]));
    }

    #[test]
    fn matrices_give_their_quaternions_back() {
        let turns =
            [[1.0, 0.2, -0.1, 0.3], [0.1, -1.0, 0.2, 0.3], [0.0, 0.1, 1.0, -0.2], [0.1, 0.2, 0.3, -1.0]];
        for quaternion in turns {
            let unit = normalised(quaternion).expect("it has a direction");
            let back = from_matrix(matrix(unit));
            let sign = if back[0] * unit[0] + back[1] * unit[1] + back[2] * unit[2] + back[3] * unit[3] < 0.0
            {
                -1.0
            } else {
                1.0
            };
            close(back.map(|x| sign * x), unit);
        }
    }

    #[test]
    fn quarter_turns() {
        let half = std::f64::consts::FRAC_PI_2;
        close(rotate(from_axis_angle([0.0, 0.0, 1.0], half), [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
        close(rotate(from_axis_angle([1.0, 0.0, 0.0], half), [0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
        let (a, b) = (from_rpy([0.1, 0.2, 0.3]), from_rpy([-0.4, 0.5, 0.6]));
        let v = [1.0, -2.0, 0.5];
        close(rotate(product(a, b), v), rotate(a, rotate(b, v)));
        close(rotate(inverse(a), rotate(a, v)), v);
    }

    #[test]
    fn unit_vectors_of_any_size() {
        close(unit([3e200, 4e200]).expect("it is finite"), [0.6, 0.8]);
        close(unit([3e-200, 4e-200]).expect("it is not zero"), [0.6, 0.8]);
        assert_eq!(unit([0.0, 0.0]), None);
        assert_eq!(unit([1.0, f64::NAN]), None);
        assert_eq!(unit([f64::INFINITY, 0.0]), None);
    }
}
