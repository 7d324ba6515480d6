//! Derivatives of the dynamics of random trees: full Jacobians, pullbacks and differences agree.

mod common;
mod trees;

use common::robots::{Random, Wood};
use pullback_engine::articulated::{DynamicsBars, Mechanism};
use trees::{ANY_MASS, EPSILON, LIKE_MASSES, Sample, most, moved, samples, tangent_bars};

/// w · f
fn along(w: &[f64], f: &[f64]) -> f64 {
    w.iter().zip(f).map(|(w, f)| w * f).sum()
}

/// f'(0) of each number and how far it may be off: differences over h and h/2, the error of order h² taken out (Richardson).
/// What is left is of order h⁴, and far below a hundredth of what was taken out; `rounding` is that of f.
fn differences(mut f: impl FnMut(f64) -> Vec<f64>, h: f64, rounding: f64) -> Vec<(f64, f64)> {
    let mut over = |h: f64| -> Vec<f64> {
        let (ahead, behind) = (f(h), f(-h));
        ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect()
    };
    let (coarse, fine) = (over(h), over(h / 2.0));
    let one = |(c, f): (f64, f64)| ((4.0 * f - c) / 3.0, 0.01 * (c - f).abs() + 4.0 * rounding / h);
    coarse.into_iter().zip(fine).map(one).collect()
}

fn compare(what: &str, found: f64, (wanted, tolerance): (f64, f64)) {
    let error = (found - wanted).abs();
    assert!(
        error <= tolerance,
        "{what}: {found:.9e} and not {wanted:.9e}, off by {error:.1e} of {tolerance:.1e}"
    );
}

/// Forward or inverse dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Forward,
    Inverse,
}

impl Way {
    fn run(self, mechanism: &mut Mechanism, [q, v, given]: [&[f64]; 3]) -> Vec<f64> {
        match self {
            Way::Forward => mechanism.forward_dynamics(q, v, given),
            Way::Inverse => mechanism.inverse_dynamics(q, v, given),
        }
        .expect("dynamics")
    }

    fn bars(self, mechanism: &mut Mechanism, [q, v, given]: [&[f64]; 3], w: &[f64]) -> DynamicsBars {
        match self {
            Way::Forward => mechanism.forward_dynamics_pullback((q, v, given), w),
            Way::Inverse => mechanism.inverse_dynamics_pullback((q, v, given), w),
        }
        .expect("cotangents")
    }
}

/// Trees of both algorithms, small ones and deep ones, in motion and at rest.
fn trees() -> Vec<Sample> {
    let mut all = samples(&[1, 2, 3, 4, 5, 7, 9], LIKE_MASSES, false);
    all.extend(samples(&[3, 6], [0.01, 10.0], true));
    all.extend(samples(&[2, 5], LIKE_MASSES, false).into_iter().map(Sample::at_rest));
    all.push(Sample::new(7, Wood::new(24, 0.0, LIKE_MASSES)));
    all
}

/// The size of a number, by which steps and weights are scaled: where it is zero, that of the smallest of its kind.
fn size(numbers: &[f64], i: usize) -> f64 {
    let others = numbers.iter().map(|x| x.abs()).filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    match numbers[i].abs() {
        0.0 if others.is_finite() => others,
        0.0 => 1e-3,
        x => x,
    }
}

/// Numbers at the ends of their ranges go inside, so that differences to both sides make sense.
fn inside(mechanism: &mut Mechanism<f64>) {
    let mut params = mechanism.params();
    for (block, range) in params.layout().clone().ranges() {
        for i in range {
            let value = params.values()[i];
            if block.quantity.refuses(value - 1e-3).is_some() && value == 0.0 {
                params.values_mut()[i] = 0.01;
            }
        }
    }
    mechanism.set_params(params.values()).expect("params");
}

fn check(way: Way) {
    for (k, mut sample) in trees().into_iter().enumerate() {
        inside(&mut sample.mechanism);
        let given = if way == Way::Forward { sample.tau.clone() } else { sample.a.clone() };
        let x = [sample.q.clone(), sample.v.clone(), given];
        let parts = [&x[0][..], &x[1], &x[2]];
        let out = way.run(&mut sample.mechanism, parts);
        let weights = Random::new(k as u64).numbers(out.len(), 1.0);
        // Inverse forces by their size, so that none is lost.
        let w: Vec<f64> = (0..out.len()).map(|i| weights[i] / size(&out, i)).collect();
        let summands = if way == Way::Forward { sample.summands() } else { out.clone() };
        let rounding: f64 = w.iter().zip(&summands).map(|(w, s)| 100.0 * EPSILON * (w * s).abs()).sum();
        let Sample { name, mechanism, .. } = &mut sample;
        let bars = way.bars(mechanism, parts, &w);
        // By numbers as they are stored: quaternions too, whatever their length.
        for (part, found) in [&bars.positions, &bars.velocities, &bars.given].into_iter().enumerate() {
            for i in 0..x[part].len() {
                let h = 1e-3 * if part == 2 { size(&x[2], i) } else { 1.0 };
                let at = |t: f64| {
                    let mut y = x.clone();
                    y[part][i] += t;
                    vec![along(&w, &way.run(mechanism, [&y[0], &y[1], &y[2]]))]
                };
                let what = format!("{name}, {way:?} by {} {i}", ["q", "v", "what is given"][part]);
                compare(&what, found[i], differences(at, h, rounding)[0]);
            }
        }
        let params = mechanism.params();
        for (block, range) in params.layout().clone().ranges() {
            for i in 0..range.len() {
                let h = 1e-3 * size(&params.values()[range.clone()], i);
                let at = |t: f64| {
                    let mut other = params.values().to_vec();
                    other[range.start + i] += t;
                    mechanism.set_params(&other).expect("params");
                    vec![along(&w, &way.run(mechanism, parts))]
                };
                let what = format!("{name}, {way:?} by {} {i}", block.key);
                compare(&what, bars.params[range.start + i], differences(at, h, rounding)[0]);
            }
        }
        mechanism.set_params(params.values()).expect("params");
    }
}

#[test]
fn forward_pullback_agrees_with_differences() {
    check(Way::Forward);
}

#[test]
fn inverse_pullback_agrees_with_differences() {
    check(Way::Inverse);
}

/// Columns of the Jacobians are differences along tangents: q ⊕ h t, v + h t, τ + h t.
#[test]
fn jacobians_agree_with_differences() {
    for mut sample in trees() {
        let summands = sample.summands();
        let Sample { name, mechanism, q, v, tau, .. } = &mut sample;
        let (n, j) = (v.len(), mechanism.jacobians(q, v, tau).expect("Jacobians"));
        for (what, jacobian) in [("q", &j.by_position), ("v", &j.by_velocity), ("τ", &j.by_force)] {
            for column in 0..n {
                let mut unit = vec![0.0; n];
                let step = if what == "τ" { size(tau, column) } else { 1.0 };
                unit[column] = step;
                let plus =
                    |x: &[f64], h: f64| -> Vec<f64> { x.iter().zip(&unit).map(|(x, u)| x + h * u).collect() };
                let at = |h: f64| {
                    match what {
                        "q" => {
                            let q = moved(mechanism, q, &unit, h);
                            mechanism.forward_dynamics(&q, v, tau)
                        }
                        "v" => mechanism.forward_dynamics(q, &plus(v, h), tau),
                        _ => mechanism.forward_dynamics(q, v, &plus(tau, h)),
                    }
                    .expect("accelerations")
                    .iter()
                    .zip(&summands)
                    .map(|(a, s)| a / s)
                    .collect()
                };
                let wanted = differences(at, 1e-3, 100.0 * EPSILON);
                for i in 0..n {
                    let what = format!("{name}, row {i} by {what} {column}");
                    compare(&what, jacobian[i * n + column] * step / summands[i], wanted[i]);
                }
            }
        }
    }
}

/// ⟨w, J u⟩ = ⟨Jᵀ w, u⟩ for every unit vector u: one row of sums with the Jacobians, one pullback.
#[test]
fn pullback_is_the_transpose_of_the_jacobians() {
    check_transpose(samples(&[1, 2, 3, 5, 8, 13], LIKE_MASSES, false), 1e-10);
    check_transpose(samples(&[30, 80, 200], LIKE_MASSES, false), 1e-7);
    check_transpose(samples(&[1, 2, 3, 5, 8, 13], ANY_MASS, false), 1e-6);
    let still = |trees: Vec<Sample>| trees.into_iter().map(Sample::at_rest).collect();
    check_transpose(still(samples(&[1, 2, 5, 20], LIKE_MASSES, true)), 1e-9);
}

fn check_transpose(all: Vec<Sample>, tolerance: f64) {
    for (k, mut sample) in all.into_iter().enumerate() {
        let summands = sample.summands();
        let Sample { name, mechanism, q, v, tau, .. } = &mut sample;
        let n = v.len();
        let w = Random::new(k as u64).numbers(n, 1.0);
        let j = mechanism.jacobians(q, v, tau).expect("Jacobians");
        let bars = mechanism.forward_dynamics_pullback((q, v, tau), &w).expect("cotangents");
        let by_position = tangent_bars(mechanism, q, &bars.positions);
        let pairs = [
            ("q", &j.by_position, &by_position),
            ("v", &j.by_velocity, &bars.velocities),
            ("τ", &j.by_force, &bars.given),
        ];
        for (what, jacobian, found) in pairs {
            // Some columns are zero, such as those of the velocity that all have in common: all that is left is rounding.
            let rounding = 1e-12 * most(jacobian.iter().chain(&summands).map(|x| x.abs()));
            for column in 0..n {
                let terms = || (0..n).map(|i| w[i] * jacobian[i * n + column]);
                let (error, size) =
                    ((terms().sum::<f64>() - found[column]).abs(), terms().map(f64::abs).sum::<f64>());
                assert!(
                    error <= tolerance * size + rounding,
                    "{name}, by {what} {column}: off by {error:.2e} of {size:.2e}"
                );
            }
        }
    }
}
