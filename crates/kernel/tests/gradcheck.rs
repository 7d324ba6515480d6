//! gradcheck itself: wrong derivatives must fail, right ones pass, and a check that proves nothing must say so.

use pullback_kernel::gradcheck::{self, Function, Report, differences};
use pullback_kernel::prelude::*;

/// Work of a force along a way, with a pullback that may be wrong.
macro_rules! work_with {
    ($($name:ident, $pullback:ident, |$x:ident, $f:ident, $w_bar:ident| $bars:expr;)*) => {$(
        #[kernel(pullback = $pullback)]
        fn $name<R: Real>(x: Vec3<R>, f: Vec3<R>, s: R) -> R {
            dot(x, f) * s * s
        }
        #[kernel]
        fn $pullback<R: Real>($x: Vec3<R>, $f: Vec3<R>, s: R, out_bar: R) -> (Vec3<R>, Vec3<R>, R) {
            let $w_bar = out_bar * s * s;
            ($bars, x * $w_bar, 2.0 * dot(x, f) * s * out_bar)
        }
    )*};
}
work_with! {
    right, right_pullback, |x, f, w_bar| f * w_bar;
    wrong_sign, wrong_sign_pullback, |x, f, w_bar| -f * w_bar;
    wrong_factor, wrong_factor_pullback, |x, f, w_bar| f * (w_bar * 1.00001);
    zero, zero_pullback, |x, f, w_bar| vec3(0.0, 0.0, 0.0);
    one_entry, one_entry_pullback, |x, f, w_bar| vec3(f.x, f.x, f.z) * w_bar;
    // NaN in the first entry, where later entries are right.
    not_a_number, not_a_number_pullback, |x, f, w_bar| vec3(sqrt(-1.0 - f.x * f.x), f.y * w_bar, f.z * w_bar);
}

fn check<K: Kernel<Arguments = (Vec3, Vec3, f64)>>() -> Result<Report, Box<Report>> {
    gradcheck::kernel::<K>(&(Vec3 { x: 0.3, y: 0.7, z: -0.4 }, Vec3 { x: 1.3, y: -0.6, z: 0.9 }, 1.7))
}

#[test]
fn a_right_pullback_passes() {
    let report = check::<right>().expect("right");
    assert_eq!(report.size, (7, 1));
    assert!(report.worst.error < 1e-9 && report.adjoint_gap < 1e-14, "{report}");
    assert!(report.worst_second.as_ref().is_some_and(|worst| worst.error < 1e-8), "{report}");
    assert!(report.to_string().starts_with("gradcheck of `right` (7 inputs, 1 outputs): passes"), "{report}");
}

#[test]
fn wrong_pullbacks_fail_and_the_worst_entry_has_a_name() {
    for (report, worst) in [
        (check::<wrong_sign>(), "d output[0] / d x[0]"),
        (check::<wrong_factor>(), "d output[0] / d x[0]"),
        (check::<zero>(), "d output[0] / d x[0]"),
        (check::<one_entry>(), "d output[0] / d x[1]"),
        (check::<not_a_number>(), "d output[0] / d x[0]"),
    ] {
        let report = report.expect_err("wrong");
        assert_eq!(report.worst.which, worst, "{report}");
        assert!(report.to_string().contains("FAILS"), "{report}");
        assert!(report.failures[0].contains("the pullback and central differences disagree"), "{report}");
        assert!(report.failures[0].contains(worst), "{report}");
        assert!(report.failures.iter().any(|f| f.contains("not adjoint")), "{report}");
    }
}

/// A function as closures: right, unless a test makes one of them wrong.
#[allow(clippy::type_complexity)]
struct Parts {
    forward: fn(&[f64]) -> Vec<f64>,
    pullback: fn(&[f64], &[f64]) -> Vec<f64>,
    pushforward: fn(&[f64], &[f64]) -> Vec<f64>,
    second_order: fn(&[f64], &[f64], &[f64]) -> Option<Vec<f64>>,
}

impl Function for Parts {
    fn name(&self) -> String {
        "parts".to_owned()
    }
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        (self.forward)(x)
    }
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        (self.pullback)(x, y_bar)
    }
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        (self.pushforward)(x, x_dot)
    }
    fn second_order(&self, x: &[f64], y_bar: &[f64], x_dot: &[f64]) -> Option<Vec<f64>> {
        (self.second_order)(x, y_bar, x_dot)
    }
}

/// y[i] = sin x[i]
const SINES: Parts = Parts {
    forward: |x| x.iter().map(|x| x.sin()).collect(),
    pullback: |x, y_bar| x.iter().zip(y_bar).map(|(x, b)| x.cos() * b).collect(),
    pushforward: |x, x_dot| x.iter().zip(x_dot).map(|(x, d)| x.cos() * d).collect(),
    second_order: |x, y_bar, x_dot| Some((0..x.len()).map(|i| -x[i].sin() * y_bar[i] * x_dot[i]).collect()),
};
const AT: [f64; 5] = [0.3, 0.8, -0.4, 1.1, 2.0];

fn failures(parts: &Parts) -> String {
    gradcheck::check(parts, &AT).expect_err("wrong").failures.join("\n")
}

#[test]
fn a_right_function_passes() {
    gradcheck::check(&SINES, &AT).expect("right");
    // Without a second order the rest is checked.
    let report = gradcheck::check(&Parts { second_order: |_, _, _| None, ..SINES }, &AT).expect("right");
    assert!(report.worst_second.is_none());
}

#[test]
fn a_wrong_pushforward_is_not_adjoint() {
    let wrong =
        |x: &[f64], x_dot: &[f64]| x.iter().zip(x_dot).map(|(x, d)| x.cos() * d * (1.0 + 1e-9)).collect();
    assert!(failures(&Parts { pushforward: wrong, ..SINES }).contains("not adjoint"));
    let nan = |x: &[f64], _: &[f64]| vec![f64::NAN; x.len()];
    assert!(failures(&Parts { pushforward: nan, ..SINES }).contains("not adjoint"));
}

#[test]
fn a_wrong_second_order_is_found() {
    let wrong = |x: &[f64], y_bar: &[f64], x_dot: &[f64]| {
        let mut product = (SINES.second_order)(x, y_bar, x_dot)?;
        product[2] *= 1.0 + 1e-5;
        Some(product)
    };
    let failures = failures(&Parts { second_order: wrong, ..SINES });
    assert!(failures.contains("the pullback's derivative and its differences disagree"), "{failures}");
    assert!(failures.contains("second derivative, input[2]"), "{failures}");
}

#[test]
fn differences_in_place_of_a_pullback_are_found() {
    fn by_differences(x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        let columns = differences(x, |x| 1e-5 * x.abs().max(1.0), SINES.forward);
        columns.iter().map(|column| column.iter().zip(y_bar).map(|(d, b)| d * b).sum()).collect()
    }
    fn dual(x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        let columns = differences(x, |x| 1e-5 * x.abs().max(1.0), SINES.forward);
        (0..x.len()).map(|k| columns.iter().zip(x_dot).map(|(column, d)| column[k] * d).sum()).collect()
    }
    // Both are exactly adjoint and exactly equal to the differences.
    let failures = failures(&Parts {
        pullback: by_differences,
        pushforward: dual,
        second_order: |_, _, _| None,
        ..SINES
    });
    assert!(failures.contains("is the pullback made of differences?"), "{failures}");
    // The identity is exact in differences at zero, and that is no reason to complain.
    let identity = Parts {
        forward: <[f64]>::to_vec,
        pullback: |_, y_bar| y_bar.to_vec(),
        pushforward: |_, x_dot| x_dot.to_vec(),
        second_order: |x, _, _| Some(vec![0.0; x.len()]),
    };
    gradcheck::check(&identity, &[0.0; 6]).expect("right");
}

#[test]
fn checks_that_prove_nothing_fail() {
    let zeros = |x: &[f64], _: &[f64]| vec![0.0; x.len()];
    let constant = Parts {
        forward: |x| vec![4.2; x.len()],
        pullback: zeros,
        pushforward: zeros,
        second_order: |x, _, _| Some(vec![0.0; x.len()]),
    };
    assert!(failures(&constant).contains("every derivative is zero: a check here cannot fail"));
    let nothing = gradcheck::check(&SINES, &[]).expect_err("nothing to check");
    assert!(nothing.failures[0].contains("there are no derivatives to check"), "{nothing}");
    let short = Parts { pullback: |_, _| Vec::new(), ..SINES };
    assert!(failures(&short).contains("the pullback gives 0 cotangents for 5 inputs"));
    let infinite = Parts { forward: |x| x.iter().map(|x| 1.0 / (x - 0.8)).collect(), ..SINES };
    assert!(failures(&infinite).contains("output[1] is inf here: check where the function is finite"));
}

#[test]
fn arguments_of_one_number_are_named_without_one() {
    #[kernel(pullback = product_pullback)]
    fn product<R: Real>(a: R, k: usize, b: [R; 2]) -> R {
        a * b[k]
    }
    #[kernel]
    fn product_pullback<R: Real>(a: R, k: usize, b: [R; 2], y_bar: R) -> (R, usize, [R; 2]) {
        (b[k] * y_bar + a, k, [a * y_bar, 0.0])
    }
    let report = gradcheck::kernel::<product>(&(0.3, 0, [0.7, 0.2])).expect_err("a_bar is wrong");
    assert_eq!(report.worst.which, "d output[0] / d a");
    let report = gradcheck::kernel::<product>(&(0.0, 1, [0.7, 0.2])).expect("right where a is 0");
    assert_eq!(report.size, (3, 1));
}
