//! What the benchmarks share: timing, and the rows that `cargo xtask bench` reads.
//!
//! Each benchmark is one binary in `src/bin`, run by `cargo xtask bench NAME` in turn with its peer,
//! `bench/peers/NAME.py` or the package `bench/NAME`. A case reads SIZE-OR-MODEL/PASS/VARIANT, for example
//! `10000/forward/scalar`.

pub mod allocations;
pub mod gpu;
pub mod heaps;
pub mod peak;
pub mod robots;
pub mod rollouts;
pub mod scene;
pub mod soft;

use std::time::{Duration, Instant};

/// Whether the run should be short: `--quick` was passed on.
#[must_use]
pub fn quick() -> bool {
    std::env::args().any(|argument| argument == "--quick")
}

/// Seconds that one call of `work` takes: the fastest of many repeats, over at least `min_seconds`.
///
/// The fastest, because noise on a shared machine only ever adds time. Short work is called many times between two
/// readings of the clock, so that the reading itself does not count.
pub fn measure(min_seconds: f64, mut work: impl FnMut()) -> f64 {
    let calls = calls_per_repeat(&mut work);
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut repeats = 0;
    while repeats < 3 || start.elapsed().as_secs_f64() < min_seconds {
        best = best.min(time(calls, &mut work).as_secs_f64() / f64::from(calls));
        repeats += 1;
    }
    best
}

/// Print one row for `cargo xtask bench`: a JSON object on a line of its own.
///
/// # Panics
/// When `value` is not finite (such a figure is a bug of the benchmark), or a name needs escaping.
pub fn row(case: &str, unit: &str, value: f64) {
    println!("{}", row_text(case, unit, value));
}

fn row_text(case: &str, unit: &str, value: f64) -> String {
    assert!(value.is_finite(), "{case}: the measured value is {value}");
    assert!(
        !format!("{case}{unit}").contains(['"', '\\', '\n']),
        "{case} [{unit}]: a name without quotes, please"
    );
    format!(r#"{{"case": "{case}", "unit": "{unit}", "value": {value}}}"#)
}

/// How many calls take a hundred microseconds, a thousand times the cost of reading the clock. Also the warm-up.
fn calls_per_repeat(work: &mut impl FnMut()) -> u32 {
    let mut calls = 1;
    while time(calls, work) < Duration::from_micros(100) && calls < 1 << 20 {
        calls *= 2;
    }
    calls
}

fn time(calls: u32, work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        work();
    }
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn measures_seconds_of_one_call() {
        let seconds = measure(0.01, || sleep(Duration::from_millis(2)));
        assert!((0.002..0.02).contains(&seconds), "{seconds}");
    }

    #[test]
    fn short_work_is_timed_in_batches() {
        let mut calls = 0_u64;
        let seconds = measure(0.01, || calls = std::hint::black_box(calls + 1));
        assert!(seconds < 1e-6, "{seconds}");
        assert!(calls > 1000, "{calls}");
    }

    #[test]
    fn runs_for_the_time_asked_for() {
        let start = Instant::now();
        measure(0.05, || ());
        assert!(start.elapsed().as_secs_f64() >= 0.05);
    }

    #[test]
    fn a_row_is_one_json_object() {
        assert_eq!(
            row_text("100/forward/scalar", "steps/s", 1234.5),
            r#"{"case": "100/forward/scalar", "unit": "steps/s", "value": 1234.5}"#
        );
    }

    #[test]
    #[should_panic(expected = "100/forward/scalar: the measured value is NaN")]
    fn a_row_that_is_not_finite_is_a_bug() {
        row("100/forward/scalar", "steps/s", f64::NAN);
    }
}
