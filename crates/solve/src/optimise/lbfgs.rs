//! L-BFGS with bounds.
//!
//! L-BFGS-B of Byrd, Lu, Nocedal and Zhu (1995): the generalised Cauchy point says which bounds hold, the quadratic
//! model is minimised over the other variables and projected (J. Morales and J. Nocedal, "Remark on algorithm 778",
//! 2011), and a line search goes towards the point found. Without bounds it is plain L-BFGS.

use serde::{Deserialize, Serialize};

use super::algorithm::{Advance, Algorithm, begin_at, if_finite};
use super::cauchy::cauchy_point;
use super::compact::{Compact, Pair};
use super::line_search::{LineSearch, Sample, Verdict};
use super::objective::{Evaluator, Point};
use super::vector::{difference, dot, norm, relative_step};
use super::{Bounds, Failure, Reason, exact};

/// Samples of one line search.
const SAMPLES: usize = 20;

/// The state of L-BFGS.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lbfgs {
    history: usize,
    point: Point,
    /// The last steps, oldest first.
    pairs: Vec<Pair>,
    /// The curvature that the model has apart from the pairs.
    #[serde(with = "exact")]
    theta: f64,
    /// Whether no step has been taken yet, so that the length of the first one is a guess.
    fresh: bool,
}

impl Lbfgs {
    pub fn new(history: usize, start: &[f64]) -> Self {
        Lbfgs { history, point: Point::unknown(start), pairs: Vec::new(), theta: 1.0, fresh: true }
    }

    /// From z to the minimum of the model within the bounds.
    fn direction(&self, bounds: &Bounds) -> Option<Vec<f64>> {
        let model = Compact::new(&self.pairs, self.theta)?;
        let z = &self.point.z;
        let mut gradient = self.point.gradient.clone();
        if bounds.are_none() {
            return self.if_descent(model.minimise(&gradient, &vec![true; z.len()])?);
        }
        let cauchy = cauchy_point(&self.point, bounds, &model);
        // The gradient of the model at the Cauchy point: g + θ (z_c − z) − W M c.
        let low_rank = model.times(&model.middle(&cauchy.coordinates), z.len());
        for i in 0..z.len() {
            gradient[i] += self.theta * (cauchy.z[i] - z[i]) - low_rank[i];
        }
        let d = model.minimise(&gradient, &cauchy.free)?;
        self.if_descent(difference(&self.inside(&cauchy.z, &d, bounds), z))
    }

    /// The point + d, projected on the bounds; if that is no way down from z, shortened to the first bound instead.
    fn inside(&self, from: &[f64], d: &[f64], bounds: &Bounds) -> Vec<f64> {
        let mut target: Vec<f64> = from.iter().zip(d).map(|(z, d)| z + d).collect();
        bounds.project(&mut target);
        if dot(&difference(&target, &self.point.z), &self.point.gradient) <= 0.0 {
            return target;
        }
        let share = longest_step(from, d, bounds).min(1.0);
        target = from.iter().zip(d).map(|(z, d)| z + share * d).collect();
        bounds.project(&mut target);
        target
    }

    fn if_descent(&self, d: Vec<f64>) -> Option<Vec<f64>> {
        (dot(&d, &self.point.gradient) < 0.0 && d.iter().all(|d| d.is_finite())).then_some(d)
    }

    /// A point along d that satisfies the strong Wolfe conditions, or is at least lower.
    fn search(
        &self,
        d: &[f64],
        objective: &mut Evaluator<'_>,
        bounds: &Bounds,
    ) -> Result<Option<Point>, Failure> {
        let longest =
            if self.fresh && !bounds.are_none() { 1.0 } else { longest_step(&self.point.z, d, bounds) };
        let mut step = if self.fresh { longest.min(1.0 / norm(d)) } else { longest.min(1.0) };
        let mut search = LineSearch::new(self.point.value, dot(d, &self.point.gradient), step, longest);
        let mut fallback = None;
        for _ in 0..SAMPLES {
            let mut z: Vec<f64> = self.point.z.iter().zip(d).map(|(z, d)| z + step * d).collect();
            bounds.project(&mut z);
            if z == self.point.z {
                break;
            }
            let Some(point) = if_finite(objective.point(z))? else {
                step = search.retreat(step);
                continue;
            };
            let sample = Sample { step, value: point.value, slope: dot(d, &point.gradient) };
            match search.judge(sample) {
                Verdict::Accept if search.decreases(sample) || point.value < self.point.value => {
                    return Ok(Some(point));
                }
                Verdict::Accept => break,
                Verdict::Try(next) => step = next,
            }
            if search.decreases(sample) {
                fallback = Some(point);
            }
        }
        Ok(fallback)
    }

    /// Remembers the step to `next`, unless the slope along it has not grown: then B would not stay positive.
    fn remember(&mut self, next: &Point) {
        let step = difference(&next.z, &self.point.z);
        let change = difference(&next.gradient, &self.point.gradient);
        let product = dot(&step, &change);
        if product <= f64::EPSILON * -dot(&self.point.gradient, &step) {
            return;
        }
        if self.pairs.len() == self.history {
            self.pairs.remove(0);
        }
        self.theta = dot(&change, &change) / product;
        self.pairs.push(Pair { step, change });
    }

    fn forget(&mut self) {
        self.pairs.clear();
        self.theta = 1.0;
        self.fresh = true;
    }
}

impl Algorithm for Lbfgs {
    fn begin(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        begin_at(&mut self.point, objective, bounds)
    }

    fn advance(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        loop {
            let next = match self.direction(bounds) {
                Some(d) => self.search(&d, objective, bounds)?,
                None => None,
            };
            if let Some(next) = next {
                let mut advance = Advance::to(&next, &self.point.z, bounds);
                advance.scale = Some(relative_step(&difference(&next.z, &self.point.z), &next.z));
                self.remember(&next);
                self.fresh = false;
                self.point = next;
                return Ok(advance);
            }
            // What is remembered misleads: once more along the gradient alone, and only then give up.
            if self.pairs.is_empty() {
                let why = "no lower value was found along the negative gradient: this is the minimum that rounding \
                           allows, or the gradient is wrong or noisy";
                let mut advance = Advance::to(&self.point, &self.point.z, bounds);
                advance.end = Some(Reason::Stagnated { why: why.to_string() });
                return Ok(advance);
            }
            self.forget();
        }
    }
}

/// How often d fits between z and the bounds.
fn longest_step(z: &[f64], d: &[f64], bounds: &Bounds) -> f64 {
    let mut longest: f64 = 1e10;
    for i in 0..z.len() {
        let room = if d[i] > 0.0 { bounds.upper()[i] - z[i] } else { bounds.lower()[i] - z[i] };
        if d[i] != 0.0 {
            longest = longest.min((room / d[i]).max(0.0));
        }
    }
    longest
}
