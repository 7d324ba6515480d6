//! CMA-ES: evolution with a normal distribution whose covariance is adapted.
//!
//! N. Hansen, "The CMA evolution strategy: a tutorial" (2016), with weights for the better half only: candidates
//! x = m + σ y, y ~ N(0, C), are sorted by value; the mean moves to the weighted best; C learns from the path of the
//! mean (rank one) and from the best steps (rank µ); σ grows while the path of the mean is longer than that of a random
//! walk, and shrinks while it is shorter (cumulative step-size adaptation). Symbols are those of the tutorial.
//!
//! Bounds: a candidate outside is evaluated at the nearest point inside, and pays for the way there. A way of one
//! standard deviation costs as much as the middle half of the population differs, so the penalty suits any scale of
//! values, and vanishes with σ.

use serde::{Deserialize, Serialize};

use super::algorithm::{Advance, Algorithm, if_finite};
use super::dense::Matrix;
use super::eigen::eigen;
use super::objective::Evaluator;
use super::random::Random;
use super::vector::{add_scaled, norm, norm_max};
use super::{Bounds, Failure, Reason, exact};

/// Generations without a single finite value before the run gives up; σ is halved after each.
const BARREN: usize = 20;
/// Generations that the size of the penalty is taken from.
const SPREADS: usize = 20;
/// The condition number of C at which numbers run out of digits.
const CONDITION: f64 = 1e14;

/// The state of CMA-ES.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CmaEs {
    population: usize,
    random: Random,
    #[serde(with = "exact::list")]
    mean: Vec<f64>,
    #[serde(with = "exact")]
    sigma: f64,
    covariance: Matrix,
    /// C = B D² Bᵀ when it was last factorised, and the generation of that.
    axes: Matrix,
    #[serde(with = "exact::list")]
    deviations: Vec<f64>,
    factorised: usize,
    generation: usize,
    /// p_σ and p_c.
    #[serde(with = "exact::list")]
    sigma_path: Vec<f64>,
    #[serde(with = "exact::list")]
    covariance_path: Vec<f64>,
    /// How much the middle halves of the last populations differed in value.
    #[serde(with = "exact::list")]
    spreads: Vec<f64>,
    barren: usize,
}

/// A candidate: its coordinates in N(0, I), its step y, its value inside the bounds, and how far outside it lies,
/// Σ ((x − P(x))ᵢ / σᵢ)².
struct Candidate {
    normal: Vec<f64>,
    step: Vec<f64>,
    value: Option<f64>,
    outside: f64,
}

/// The constants of the tutorial's table 1.
struct Rates {
    weights: Vec<f64>,
    /// µ_eff, c_σ, d_σ, c_c, c_1, c_µ, and the mean length of N(0, I).
    selected: f64,
    sigma: f64,
    damping: f64,
    path: f64,
    one: f64,
    many: f64,
    length: f64,
}

impl Rates {
    fn new(dimension: usize, population: usize) -> Rates {
        let n = dimension as f64;
        let raw: Vec<f64> =
            (1..=population / 2).map(|i| ((population + 1) as f64 / 2.0).ln() - (i as f64).ln()).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / sum).collect();
        let selected = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let sigma = (selected + 2.0) / (n + selected + 5.0);
        let one = 2.0 / ((n + 1.3).powi(2) + selected);
        let many = 2.0 * (0.25 + selected + 1.0 / selected - 2.0) / ((n + 2.0).powi(2) + selected);
        Rates {
            weights,
            selected,
            sigma,
            damping: 1.0 + 2.0 * (((selected - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + sigma,
            path: (4.0 + selected / n) / (n + 4.0 + 2.0 * selected / n),
            one,
            many: many.min(1.0 - one),
            length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

impl CmaEs {
    pub fn new(sigma: f64, population: Option<usize>, seed: u64, start: &[f64]) -> Self {
        let n = start.len();
        CmaEs {
            population: population.unwrap_or(4 + (3.0 * (n as f64).ln()).floor() as usize),
            random: Random::new(seed),
            mean: start.to_vec(),
            sigma,
            covariance: Matrix::identity(n),
            axes: Matrix::identity(n),
            deviations: vec![1.0; n],
            factorised: 0,
            generation: 0,
            sigma_path: vec![0.0; n],
            covariance_path: vec![0.0; n],
            spreads: Vec::new(),
            barren: 0,
        }
    }

    fn candidate(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Candidate, Failure> {
        let n = self.mean.len();
        let normal: Vec<f64> = (0..n).map(|_| self.random.normal()).collect();
        let stretched: Vec<f64> = normal.iter().zip(&self.deviations).map(|(z, d)| z * d).collect();
        let step = self.axes.times(&stretched);
        let x: Vec<f64> = self.mean.iter().zip(&step).map(|(m, y)| m + self.sigma * y).collect();
        let mut inside = x.clone();
        bounds.project(&mut inside);
        let outside =
            (0..n).map(|i| (x[i] - inside[i]).powi(2) / (self.sigma.powi(2) * self.covariance.get(i, i)));
        let outside = outside.sum();
        let value = if_finite(objective.value(&inside))?;
        Ok(Candidate { normal, step, value, outside })
    }

    /// The price of one standard deviation outside: the median of what the last populations differed by.
    fn price(&mut self, candidates: &[Candidate]) -> f64 {
        let mut values: Vec<f64> = candidates.iter().filter_map(|candidate| candidate.value).collect();
        values.sort_by(f64::total_cmp);
        let quarter = values.len() / 4;
        if self.spreads.len() == SPREADS {
            self.spreads.remove(0);
        }
        self.spreads.push(values[values.len() - 1 - quarter] - values[quarter]);
        let mut sorted = self.spreads.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// Moves the mean and adapts σ and C to the candidates, best first. Returns the step of the mean.
    fn adapt(&mut self, candidates: &[Candidate]) -> Vec<f64> {
        let n = self.mean.len();
        let rates = Rates::new(n, self.population);
        let best = || rates.weights.iter().zip(candidates);
        // With few finite values the weights of those that are there share the whole.
        let share: f64 = best().map(|(w, _)| w).sum();
        let (mut step, mut normal) = (vec![0.0; n], vec![0.0; n]);
        for (weight, candidate) in best() {
            add_scaled(&mut step, weight / share, &candidate.step);
            add_scaled(&mut normal, weight / share, &candidate.normal);
        }
        let walked: Vec<f64> = step.iter().map(|y| self.sigma * y).collect();
        add_scaled(&mut self.mean, 1.0, &walked);

        // p_σ ← (1 − c_σ) p_σ + √(c_σ (2 − c_σ) µ_eff) C^(−½) y, where C^(−½) y = B · (the mean of the coordinates).
        let factor = (rates.sigma * (2.0 - rates.sigma) * rates.selected).sqrt();
        self.sigma_path.iter_mut().for_each(|p| *p *= 1.0 - rates.sigma);
        add_scaled(&mut self.sigma_path, factor, &self.axes.times(&normal));
        let length = norm(&self.sigma_path) / rates.length;

        // p_c stands still while σ is still growing fast (h_σ of the tutorial).
        let settled = (1.0 - (1.0 - rates.sigma).powf(2.0 * (self.generation + 1) as f64)).sqrt();
        let moving = length / settled < 1.4 + 2.0 / (n as f64 + 1.0);
        self.covariance_path.iter_mut().for_each(|p| *p *= 1.0 - rates.path);
        if moving {
            let factor = (rates.path * (2.0 - rates.path) * rates.selected).sqrt();
            add_scaled(&mut self.covariance_path, factor, &step);
        }
        let lost = if moving { 0.0 } else { rates.path * (2.0 - rates.path) };
        let kept = 1.0 - rates.one - rates.many + rates.one * lost;
        for j in 0..n {
            let column = self.covariance.column_mut(j);
            column.iter_mut().for_each(|c| *c *= kept);
            add_scaled(column, rates.one * self.covariance_path[j], &self.covariance_path);
            for (weight, candidate) in best() {
                add_scaled(column, rates.many * weight / share * candidate.step[j], &candidate.step);
            }
        }
        self.sigma *= (rates.sigma / rates.damping * (length - 1.0)).exp();
        self.generation += 1;
        // Factorising costs n³, so it waits until C has changed noticeably.
        let wait = 1.0 / ((rates.one + rates.many) * n as f64 * 10.0);
        if (self.generation - self.factorised) as f64 > wait {
            self.factorise();
        }
        walked
    }

    fn factorise(&mut self) {
        let (variances, axes) = eigen(&self.covariance);
        self.deviations = variances.iter().map(|v| v.max(0.0).sqrt()).collect();
        self.axes = axes;
        self.factorised = self.generation;
    }

    /// Why the distribution can no longer be adapted, if so.
    fn degenerate(&self) -> Option<Reason> {
        let largest = self.deviations.iter().fold(0.0, |a: f64, &d| a.max(d));
        let smallest = self.deviations.iter().fold(f64::INFINITY, |a, &d| a.min(d));
        let usable =
            largest.is_finite() && self.sigma.is_finite() && smallest.powi(2) * CONDITION > largest.powi(2);
        (!usable).then(|| Reason::Stagnated {
            why: "the covariance has become singular: some directions are far flatter than others, or do nothing"
                .to_string(),
        })
    }

    /// The widest standard deviation, relative to max(1, |m|∞).
    fn width(&self) -> f64 {
        let n = self.mean.len();
        let widest = (0..n).map(|i| self.covariance.get(i, i).sqrt()).fold(0.0, f64::max);
        self.sigma * widest.max(norm_max(&self.covariance_path)) / norm_max(&self.mean).max(1.0)
    }
}

impl Algorithm for CmaEs {
    fn begin(&mut self, objective: &mut Evaluator<'_>, _bounds: &Bounds) -> Result<Advance, Failure> {
        // The method does not need this value, but its best is then never worse than the start.
        let value = if_finite(objective.value(&self.mean))?.unwrap_or(f64::NAN);
        Ok(Advance { value, gradient_norm: None, flat: false, step: 0.0, scale: None, end: None })
    }

    fn advance(&mut self, objective: &mut Evaluator<'_>, bounds: &Bounds) -> Result<Advance, Failure> {
        let mut candidates = Vec::with_capacity(self.population);
        for _ in 0..self.population {
            candidates.push(self.candidate(objective, bounds)?);
        }
        candidates.retain(|candidate| candidate.value.is_some());
        if candidates.is_empty() {
            self.sigma *= 0.5;
            self.barren += 1;
            let place = format!("no candidate of {BARREN} generations had a value");
            let end = (self.barren >= BARREN).then_some(Reason::NotFinite { place });
            return Ok(Advance {
                value: f64::NAN,
                gradient_norm: None,
                flat: false,
                step: 0.0,
                scale: None,
                end,
            });
        }
        self.barren = 0;
        let best = candidates.iter().filter_map(|c| c.value).fold(f64::INFINITY, f64::min);
        let price = self.price(&candidates);
        let rank = |c: &Candidate| c.value.unwrap_or(f64::INFINITY) + price * c.outside;
        candidates.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let step = self.adapt(&candidates);
        let (scale, end) = (Some(self.width()), self.degenerate());
        Ok(Advance { value: best, gradient_norm: None, flat: false, step: norm(&step), scale, end })
    }
}
