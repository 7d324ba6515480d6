//! The line search of Moré and Thuente, for the strong Wolfe conditions.
//!
//! J. Moré and D. Thuente, "Line search algorithms with guaranteed sufficient decrease", ACM Transactions on
//! Mathematical Software 20 (1994); the safeguards are those of its MINPACK-2 program. It looks for a step t with
//! φ(t) ≤ φ(0) + 10⁻³ t φ'(0) and |φ'(t)| ≤ 0.9 |φ'(0)|.

const DECREASE: f64 = 1e-3;
const CURVATURE: f64 = 0.9;
/// The search ends when the interval is as short as this, relative to its upper end.
const WIDTH: f64 = 1e-10;
/// How far a step may be lengthened while nothing brackets the minimum.
const STRETCH: (f64, f64) = (1.1, 4.0);

/// A step with φ and φ' there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub step: f64,
    pub value: f64,
    pub slope: f64,
}

/// What to do after a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Sample this step next.
    Try(f64),
    /// The last sample is as good as it gets.
    Accept,
}

/// A search under way.
#[derive(Debug)]
pub(super) struct LineSearch {
    start: Sample,
    longest: f64,
    /// The best sample, and the other end of the interval.
    best: Sample,
    other: Sample,
    bracketed: bool,
    /// Whether samples are compared with φ(t) − 10⁻³ t φ'(0) (the first stage of the paper), or with φ itself.
    modified: bool,
    interval: (f64, f64),
    width: f64,
    last_width: f64,
}

impl LineSearch {
    /// From φ(0) and φ'(0) < 0, towards `first`, but no further than `longest`.
    pub fn new(value: f64, slope: f64, first: f64, longest: f64) -> LineSearch {
        let start = Sample { step: 0.0, value, slope };
        LineSearch {
            start,
            longest,
            best: start,
            other: start,
            bracketed: false,
            modified: true,
            interval: (0.0, first + STRETCH.1 * first),
            width: longest,
            last_width: 2.0 * longest,
        }
    }

    /// Whether a sample decreases φ enough.
    pub fn decreases(&self, sample: Sample) -> bool {
        sample.value <= self.start.value + DECREASE * sample.step * self.start.slope
    }

    /// φ is not finite at `step`: go back to a quarter of the way from the best sample, and never that far again.
    pub fn retreat(&mut self, step: f64) -> f64 {
        let shorter = self.best.step + 0.25 * (step - self.best.step);
        if !self.bracketed {
            self.longest = shorter;
        }
        shorter
    }

    /// Takes a sample and says what to do next.
    pub fn judge(&mut self, sample: Sample) -> Verdict {
        let slope_test = DECREASE * self.start.slope;
        let decreases = self.decreases(sample);
        if self.modified && decreases && sample.slope >= 0.0 {
            self.modified = false;
        }
        let (low, high) = self.interval;
        let exhausted =
            self.bracketed && (sample.step <= low || sample.step >= high || high - low <= WIDTH * high);
        let at_end = sample.step >= self.longest && decreases && sample.slope <= slope_test;
        if exhausted || at_end || (decreases && sample.slope.abs() <= -CURVATURE * self.start.slope) {
            return Verdict::Accept;
        }

        let mut step = if self.modified && sample.value <= self.best.value && !decreases {
            let tilt = |s: Sample, sign: f64| Sample {
                step: s.step,
                value: s.value + sign * s.step * slope_test,
                slope: s.slope + sign * slope_test,
            };
            (self.best, self.other) = (tilt(self.best, -1.0), tilt(self.other, -1.0));
            let step = self.narrow(tilt(sample, -1.0));
            (self.best, self.other) = (tilt(self.best, 1.0), tilt(self.other, 1.0));
            step
        } else {
            self.narrow(sample)
        };

        let (x, y) = (self.best.step, self.other.step);
        if self.bracketed {
            if (y - x).abs() >= 0.66 * self.last_width {
                step = x + 0.5 * (y - x);
            }
            self.last_width = self.width;
            self.width = (y - x).abs();
            self.interval = (x.min(y), x.max(y));
        } else {
            self.interval = (step + STRETCH.0 * (step - x), step + STRETCH.1 * (step - x));
        }
        step = step.clamp(0.0, self.longest);
        let (low, high) = self.interval;
        if self.bracketed && (step <= low || step >= high || high - low <= WIDTH * high) {
            step = x;
        }
        Verdict::Try(step)
    }

    /// The next step from interpolation through the interval's ends and the sample (`dcstep` of MINPACK-2), and the
    /// interval that is left.
    fn narrow(&mut self, sample: Sample) -> f64 {
        let (x, y, p) = (self.best, self.other, sample);
        let (low, high) = self.interval;
        let opposite = p.slope * x.slope.signum() < 0.0;
        let next = if p.value > x.value {
            // A higher value: the minimum is bracketed. The cubic step, or halfway to it from the quadratic one.
            self.bracketed = true;
            let cubic = cubic_minimum(x, p);
            let quadratic = x.step
                + 0.5 * x.slope / ((x.value - p.value) / (p.step - x.step) + x.slope) * (p.step - x.step);
            if (cubic - x.step).abs() < (quadratic - x.step).abs() {
                cubic
            } else {
                0.5 * (cubic + quadratic)
            }
        } else if opposite {
            // A lower value and a slope of the other sign: bracketed too. The longer of cubic and secant step.
            self.bracketed = true;
            let (cubic, secant) = (cubic_minimum(p, x), secant(p, x));
            if (cubic - p.step).abs() > (secant - p.step).abs() { cubic } else { secant }
        } else if p.slope.abs() < x.slope.abs() {
            // A lower value and a flatter slope of the same sign.
            let end = if p.step > x.step { high } else { low };
            let (cubic, secant) = (cubic_beyond(p, x).unwrap_or(end), secant(p, x));
            let cubic_is_nearer = (cubic - p.step).abs() < (secant - p.step).abs();
            if self.bracketed {
                let next = if cubic_is_nearer { cubic } else { secant };
                let limit = p.step + 0.66 * (y.step - p.step);
                if p.step > x.step { next.min(limit) } else { next.max(limit) }
            } else {
                let next = if cubic_is_nearer { secant } else { cubic };
                next.max(low).min(high)
            }
        } else if self.bracketed {
            // A lower value and a slope as steep as before.
            cubic_minimum(p, y)
        } else if p.step > x.step {
            high
        } else {
            low
        };

        if p.value > x.value {
            self.other = p;
        } else {
            if opposite {
                self.other = x;
            }
            self.best = p;
        }
        next
    }
}

/// θ and γ of the cubic through two samples, as in the paper; γ is negative where the other sample lies before.
fn cubic(from: Sample, to: Sample) -> (f64, f64) {
    let theta = 3.0 * (from.value - to.value) / (to.step - from.step) + from.slope + to.slope;
    let scale = theta.abs().max(from.slope.abs()).max(to.slope.abs());
    let square = (theta / scale).powi(2) - (from.slope / scale) * (to.slope / scale);
    let gamma = scale * square.max(0.0).sqrt();
    (theta, if to.step < from.step { -gamma } else { gamma })
}

/// Where the cubic through two samples that bracket a minimum has it.
fn cubic_minimum(from: Sample, to: Sample) -> f64 {
    let (theta, gamma) = cubic(from, to);
    let ratio = ((gamma - from.slope) + theta) / (((gamma - from.slope) + gamma) + to.slope);
    from.step + ratio * (to.step - from.step)
}

/// Where it has it beyond `from`, away from `to`, if it does.
fn cubic_beyond(from: Sample, to: Sample) -> Option<f64> {
    let (theta, gamma) = cubic(from, to);
    let ratio = ((gamma - from.slope) + theta) / ((gamma + (to.slope - from.slope)) + gamma);
    (ratio < 0.0 && gamma != 0.0).then_some(from.step + ratio * (to.step - from.step))
}

fn secant(from: Sample, to: Sample) -> f64 {
    from.step + from.slope / (from.slope - to.slope) * (to.step - from.step)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = Box<dyn Fn(f64) -> (f64, f64)>;

    /// The functions of section 5 of the paper with their slopes.
    fn functions() -> Vec<Function> {
        let first = |t: f64| (-t / (t * t + 2.0), (t * t - 2.0) / (t * t + 2.0).powi(2));
        let second = |t: f64| {
            let u = t + 0.004;
            (u.powi(5) - 2.0 * u.powi(4), 5.0 * u.powi(4) - 8.0 * u.powi(3))
        };
        let yanai = |b1: f64, b2: f64| {
            let g = |b: f64| (1.0 + b * b).sqrt() - b;
            move |t: f64| {
                let (r1, r2) = (((1.0 - t).powi(2) + b2 * b2).sqrt(), (t * t + b1 * b1).sqrt());
                (g(b1) * r1 + g(b2) * r2, g(b1) * (t - 1.0) / r1 + g(b2) * t / r2)
            }
        };
        vec![
            Box::new(first),
            Box::new(second),
            Box::new(yanai(0.001, 0.001)),
            Box::new(yanai(0.01, 0.001)),
            Box::new(yanai(0.001, 0.01)),
        ]
    }

    #[test]
    fn steps_satisfy_the_strong_wolfe_conditions() {
        for (number, function) in functions().iter().enumerate() {
            for first in [1e-3, 1e-1, 10.0, 1e3] {
                let (value, slope) = function(0.0);
                let mut search = LineSearch::new(value, slope, first, 1e10);
                let mut step = first;
                let mut samples = 0;
                let (end, end_slope) = loop {
                    let (value, slope) = function(step);
                    samples += 1;
                    match search.judge(Sample { step, value, slope }) {
                        Verdict::Accept => break (value, slope),
                        Verdict::Try(next) => step = next,
                    }
                };
                assert!(end <= value + 1e-3 * step * slope, "function {number} from {first}");
                assert!(end_slope.abs() <= 0.9 * slope.abs(), "function {number} from {first}");
                assert!(samples <= 14, "function {number} from {first}: {samples} samples");
            }
        }
    }
}
