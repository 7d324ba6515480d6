//! The generalised Cauchy point: where the quadratic model is first least along the projected gradient path.
//!
//! Byrd, Lu, Nocedal and Zhu (1995), section 4, algorithm CP.

use super::Bounds;
use super::compact::Compact;
use super::objective::Point;
use super::vector::{add_scaled, dot};

/// The point, Wᵀ (point − z), and which variables are still free of their bounds.
pub(super) struct Cauchy {
    pub z: Vec<f64>,
    pub coordinates: Vec<f64>,
    pub free: Vec<bool>,
}

/// Walks along P(z − t ∇f) from one bound to the next until the model stops falling.
pub(super) fn cauchy_point(from: &Point, bounds: &Bounds, model: &Compact<'_>) -> Cauchy {
    let dimension = from.z.len();
    let breaks: Vec<f64> = (0..dimension).map(|i| time_to_bound(from, bounds, i)).collect();
    let mut direction: Vec<f64> =
        (0..dimension).map(|i| if breaks[i] > 0.0 { -from.gradient[i] } else { 0.0 }).collect();
    let mut free: Vec<bool> = breaks.iter().map(|&time| time > 0.0).collect();
    let mut z = from.z.clone();
    let mut coordinates = vec![0.0; model.rank()];

    let mut p = model.transpose_times(&direction);
    let mut slope = -dot(&direction, &direction);
    if slope == 0.0 {
        return Cauchy { z, coordinates, free };
    }
    let first_curvature = -model.theta * slope - dot(&p, &model.middle(&p));
    let least_curvature = f64::EPSILON * first_curvature.abs();
    let mut curvature = first_curvature.max(least_curvature);

    let mut order: Vec<usize> =
        (0..dimension).filter(|&i| breaks[i] > 0.0 && breaks[i].is_finite()).collect();
    order.sort_by(|&i, &j| breaks[i].total_cmp(&breaks[j]).then(i.cmp(&j)));
    let mut time = 0.0;
    for b in order {
        let (interval, wanted) = (breaks[b] - time, -slope / curvature);
        if wanted < interval {
            break;
        }
        // Variable b reaches its bound and stays there; the derivatives of the model along what is left change.
        let g = from.gradient[b];
        let row = model.row(b);
        z[b] = if direction[b] > 0.0 { bounds.upper()[b] } else { bounds.lower()[b] };
        let walked = z[b] - from.z[b];
        add_scaled(&mut coordinates, interval, &p);
        let middle_row = model.middle(&row);
        slope += interval * curvature + g * g + model.theta * g * walked - g * dot(&middle_row, &coordinates);
        curvature += -model.theta * g * g - 2.0 * g * dot(&middle_row, &p) - g * g * dot(&middle_row, &row);
        curvature = curvature.max(least_curvature);
        add_scaled(&mut p, g, &row);
        direction[b] = 0.0;
        free[b] = false;
        time = breaks[b];
        if slope >= 0.0 {
            break;
        }
    }
    let rest = if free.iter().any(|&free| free) { (-slope / curvature).max(0.0) } else { 0.0 };
    time += rest;
    for i in (0..dimension).filter(|&i| free[i]) {
        z[i] = bounds.clamp(i, from.z[i] + time * direction[i]);
    }
    add_scaled(&mut coordinates, rest, &p);
    Cauchy { z, coordinates, free }
}

fn time_to_bound(from: &Point, bounds: &Bounds, i: usize) -> f64 {
    let (z, g) = (from.z[i], from.gradient[i]);
    if g < 0.0 {
        (z - bounds.upper()[i]) / g
    } else if g > 0.0 {
        (z - bounds.lower()[i]) / g
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimise::compact::Pair;
    use crate::optimise::vector::difference;

    /// The first minimum of the model on the path, found by walking it in short steps.
    #[test]
    fn point_is_the_first_minimum_along_the_path() {
        let pairs = [
            Pair { step: vec![1.0, 0.2, -0.3, 0.5], change: vec![2.0, 0.7, -0.1, 0.3] },
            Pair { step: vec![-0.4, 0.9, 0.1, 0.2], change: vec![-0.2, 3.0, 0.4, 0.1] },
        ];
        let model = Compact::new(&pairs, 1.3).expect("independent pairs");
        let from = Point { z: vec![0.0; 4], value: 0.0, gradient: vec![1.0, -2.0, 0.5, -0.3] };
        let cases = [
            Bounds::none(4),
            Bounds::new(vec![-0.1, -9.0, -0.3, -9.0], vec![9.0, 0.2, 9.0, 9.0]).expect("in order"),
            Bounds::new(vec![-0.1, -9.0, -0.05, 0.0], vec![9.0, 0.02, 9.0, 0.0]).expect("in order"),
        ];
        for bounds in cases {
            let value = |z: &[f64]| {
                let d = difference(z, &from.z);
                let w = model.transpose_times(&d);
                dot(&from.gradient, &d) + 0.5 * (model.theta * dot(&d, &d) - dot(&w, &model.middle(&w)))
            };
            let at = |time: f64| {
                let mut z: Vec<f64> = from.z.iter().zip(&from.gradient).map(|(z, g)| z - time * g).collect();
                bounds.project(&mut z);
                z
            };
            let mut time = 0.0;
            while time < 3.0 && value(&at(time + 1e-5)) < value(&at(time)) {
                time += 1e-5;
            }
            let cauchy = cauchy_point(&from, &bounds, &model);
            for (found, expected) in cauchy.z.iter().zip(at(time)) {
                assert!((found - expected).abs() < 1e-4, "{:?} {:?}", cauchy.z, at(time));
            }
            let w = model.transpose_times(&difference(&cauchy.z, &from.z));
            assert!(difference(&w, &cauchy.coordinates).iter().all(|e| e.abs() < 1e-12));
        }
    }
}
