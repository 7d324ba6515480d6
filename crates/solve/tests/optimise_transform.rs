//! Maps to bounded values: derivatives against finite differences, and inverses up to the bounds.

use pullback_solve::optimise::Transform;

fn transforms() -> Vec<Transform> {
    vec![
        Transform::Identity,
        Transform::Exponential { lower: 0.0, size: 2.0 },
        Transform::Exponential { lower: -3.0, size: 0.5 },
        Transform::Above { lower: 0.0, size: 1.0 },
        Transform::Above { lower: 10.0, size: 4.0 },
        Transform::Below { upper: -1.0, size: 0.1 },
        Transform::Logistic { lower: -1.0, upper: 3.0 },
        Transform::Logistic { lower: 0.0, upper: 1e-3 },
        Transform::Sine { lower: -1.0, upper: 3.0 },
        Transform::Sine { lower: 5.0, upper: 5.5 },
    ]
}

/// z over all that a map is for: a sine goes from −π/2 to π/2.
fn range(transform: &Transform, most: f64) -> impl Iterator<Item = f64> + use<> {
    let most = if matches!(transform, Transform::Sine { .. }) { std::f64::consts::FRAC_PI_2 } else { most };
    (-500..=500).map(move |i| most * f64::from(i) / 500.0)
}

#[test]
fn derivatives_agree_with_finite_differences() {
    for transform in transforms() {
        for z in range(&transform, 12.0) {
            let h = 1e-3;
            let f = |k: f64| transform.value(z + k * h);
            // Fourth order: the error is about h⁴ times the fifth derivative.
            let difference = (8.0 * (f(1.0) - f(-1.0)) - (f(2.0) - f(-2.0))) / (12.0 * h);
            let derivative = transform.derivative(z);
            let rounding = 1e-15 * transform.value(z).abs().max(1.0) / h;
            let error = (difference - derivative).abs();
            let sine_size = match transform {
                Transform::Sine { lower, upper } => upper - lower,
                _ => derivative,
            };
            assert!(
                error <= 1e-10 * sine_size + 10.0 * rounding,
                "{transform:?} at {z}: {derivative} {difference}"
            );
        }
    }
}

#[test]
fn values_stay_inside_their_bounds_without_nan() {
    for transform in transforms() {
        let (lower, upper) = transform.bounds();
        let mut last = f64::NEG_INFINITY;
        for z in range(&transform, 700.0) {
            let x = transform.value(z);
            assert!(lower <= x && x <= upper && !x.is_nan(), "{transform:?} at {z}: {x}");
            assert!(x >= last, "{transform:?} falls at {z}");
            assert!(transform.derivative(z) >= 0.0, "{transform:?} at {z}");
            last = x;
        }
        for z in [-1e308, -1e4, 1e4, 1e308] {
            let (x, derivative) = (transform.value(z), transform.derivative(z));
            assert!(lower <= x && x <= upper && !x.is_nan(), "{transform:?} at {z}: {x}");
            assert!(!derivative.is_nan(), "{transform:?} at {z}: {derivative}");
        }
    }
}

/// From x alone z is as exact as the rounding of x allows; that is 1e-12 wherever the map is not nearly flat.
#[test]
fn inverse_undoes_the_map() {
    for transform in transforms() {
        let mut exact = 0;
        for z in range(&transform, 30.0) {
            let x = transform.value(z);
            let slope = transform.derivative(z);
            let rounding = f64::EPSILON * x.abs().max(1e-300) / slope;
            if rounding > 1e-3 {
                continue;
            }
            let back = transform.inverse(x).expect("inside");
            assert!(
                (back - z).abs() <= 2.0 * rounding + 1e-14 * z.abs().max(1.0),
                "{transform:?} at {z}: {back}"
            );
            if rounding < 4e-13 {
                assert!((back - z).abs() <= 1e-12, "{transform:?} at {z}: {back}");
                exact += 1;
            }
        }
        assert!(exact > 150, "{transform:?}: only {exact}");
    }
}

/// From the distances z is exact however near the bound is.
#[test]
fn inverse_of_distances_is_exact_up_to_the_bounds() {
    for transform in transforms().into_iter().filter(|transform| *transform != Transform::Identity) {
        for z in range(&transform, 600.0) {
            let (above, below) = transform.distances(z);
            let one_sided = matches!(transform, Transform::Exponential { .. } | Transform::Above { .. });
            assert!(above > 0.0 || !one_sided);
            let back = transform.inverse_of_distances(above, below).expect("inside");
            assert!((back - z).abs() <= 1e-12 * z.abs().max(1.0), "{transform:?} at {z}: {back}");
        }
    }
}

#[test]
fn distances_are_those_of_the_value() {
    for transform in transforms() {
        let (lower, upper) = transform.bounds();
        for z in range(&transform, 8.0) {
            let (above, below) = transform.distances(z);
            let x = transform.value(z);
            let close = |a: f64, b: f64| {
                a == b || (a - b).abs() <= 4.0 * f64::EPSILON * x.abs().max(a.abs()).max(1.0)
            };
            assert!(close(above, x - lower) && close(below, upper - x), "{transform:?} at {z}");
        }
    }
}

/// Values from the definitions, to 17 digits.
#[test]
fn known_values() {
    let above = Transform::Above { lower: 0.0, size: 1.0 };
    assert!((above.value(0.0) - std::f64::consts::LN_2).abs() < 1e-16);
    assert_eq!(above.value(-50.0), 1.9287498479639178e-22);
    assert_eq!(above.value(800.0), 800.0);
    let logistic = Transform::Logistic { lower: 0.0, upper: 1.0 };
    assert_eq!(logistic.value(0.0), 0.5);
    assert!((logistic.value(-100.0) / 3.720075976020836e-44 - 1.0).abs() < 1e-14);
    assert_eq!(logistic.value(100.0), 1.0);
    assert_eq!(Transform::Sine { lower: 2.0, upper: 4.0 }.value(0.0), 3.0);
}

#[test]
fn values_outside_are_refused() {
    for transform in transforms() {
        let (lower, upper) = transform.bounds();
        assert!(transform.inverse(f64::NAN).is_err());
        for (bound, beyond) in [(lower, lower - 1.0), (upper, upper + 1.0)] {
            if bound.is_finite() {
                assert!(transform.inverse(beyond).is_err(), "{transform:?}");
                let on_bound = transform.inverse(bound);
                if matches!(transform, Transform::Sine { .. }) {
                    assert_eq!(on_bound.expect("reached").abs(), std::f64::consts::FRAC_PI_2);
                } else {
                    assert!(on_bound.expect_err("not reached").to_string().contains("inside"));
                }
            }
        }
    }
}

#[test]
fn usual_map_has_the_bounds_asked_for() {
    let infinity = f64::INFINITY;
    for (lower, upper) in [(-infinity, infinity), (1.0, infinity), (-infinity, 2.0), (1.0, 2.0)] {
        assert_eq!(Transform::within(lower, upper, 0.5).expect("in order").bounds(), (lower, upper));
    }
    for (lower, upper, size) in [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (f64::NAN, 1.0, 1.0), (0.0, infinity, 0.0)]
    {
        assert!(Transform::within(lower, upper, size).is_err());
    }
}

#[test]
fn transforms_survive_json() {
    for transform in transforms() {
        let text = serde_json::to_string(&transform).expect("can be written");
        assert_eq!(serde_json::from_str::<Transform>(&text).expect("and read"), transform);
    }
}
