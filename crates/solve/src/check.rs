//! Is a problem healthy? Its gradient against finite differences, its energy, and how gradients grow on their way back.

use pullback_engine::Energy;

use crate::Error;
use crate::optimise::Objective;
use crate::problem::Problem;

/// What a check found.
#[derive(Clone, Debug)]
pub struct Health {
    /// The gradient by each variable, beside a difference.
    pub audit: Vec<Audit>,
    /// The energy at each moment, if the forces have potentials.
    pub energy: EnergyDrift,
    /// How the gradient grows on its way back.
    pub growth: Growth,
    /// The norm of the cotangent of each state, from the first to the last.
    pub norms: Vec<f64>,
    /// The loss.
    pub value: f64,
}

/// One variable's derivative and its difference, in the variable's own unit.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The variable.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// By the pullback.
    pub derivative: f64,
    /// By central differences.
    pub difference: f64,
    /// |derivative - difference|, relative to the largest derivative times the sizes of the variables.
    pub error: f64,
}

/// The energy over a rollout.
#[derive(Clone, Debug)]
pub struct EnergyDrift {
    /// The times [s].
    pub times: Vec<f64>,
    /// Kinetic energy [J].
    pub kinetic: Vec<f64>,
    /// Potential energy [J].
    pub potential: Vec<f64>,
    /// Would the exact motion keep it?
    pub conserved: bool,
    /// The largest change [J].
    pub drift: f64,
    /// The largest change relative to the largest kinetic energy or change of potential energy.
    pub relative: f64,
}

/// How gradients grow on their way back through time.
#[derive(Clone, Debug)]
pub struct Growth {
    /// The rate λ of |x_bar(t)| ~ exp(λ (T - t)) [1/s], fitted; positive: they grow.
    pub rate: f64,
    /// The factor in one step.
    pub per_step: f64,
    /// The factor over the whole rollout.
    pub total: f64,
    /// What that means.
    pub verdict: Verdict,
}

/// What the growth of gradients means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing reaches the loss.
    Zero,
    /// They stay within a few orders of magnitude.
    Steady,
    /// They grow by more than a million: the loss is sensitive beyond use.
    Exploding,
    /// They shrink by more than a million: early steps do not matter.
    Vanishing,
}

/// Beyond this factor over a rollout gradients explode or vanish.
const TOO_MUCH: f64 = 1e6;
/// The most variables whose differences are taken.
const MOST_AUDITED: usize = 64;

impl Growth {
    /// From norms of cotangents, from the first state to the last, `dt` apart.
    pub fn of(norms: &[f64], dt: f64) -> Growth {
        // The way back begins where the loss does.
        let points: Vec<(f64, f64)> = norms
            .iter()
            .rev()
            .enumerate()
            .filter(|(_, norm)| **norm > 0.0 && norm.is_finite())
            .map(|(i, norm)| (i as f64 * dt, norm.ln()))
            .collect();
        let rate = slope(&points);
        let span = match (points.first(), points.last()) {
            (Some(first), Some(last)) => last.0 - first.0,
            _ => 0.0,
        };
        let total = (rate * span).exp();
        let verdict = match total {
            _ if points.is_empty() => Verdict::Zero,
            total if total > TOO_MUCH => Verdict::Exploding,
            total if total < 1.0 / TOO_MUCH => Verdict::Vanishing,
            _ => Verdict::Steady,
        };
        Growth { rate, per_step: (rate * dt).exp(), total, verdict }
    }
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Growth { rate, per_step, total, verdict } = self;
        let figures =
            format!("{rate:+.3} 1/s, a factor {per_step:.4} in a step, {total:.2e} over the rollout");
        match verdict {
            Verdict::Zero => write!(f, "the gradient is zero: nothing that may change reaches the loss"),
            Verdict::Steady => write!(f, "steady: {figures}"),
            Verdict::Exploding => {
                write!(f, "EXPLODING gradients: {figures}; shorten the rollout, use `truncate`, or clip")
            }
            Verdict::Vanishing => write!(
                f,
                "VANISHING gradients: {figures}; what happens early hardly reaches the loss: measure it earlier"
            ),
        }
    }
}

/// The slope of a line through points, by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n.max(1.0);
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let xx: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    if xx > 0.0 { xy / xx } else { 0.0 }
}

/// Checks a problem at z.
pub fn check(problem: &mut Problem, z: &[f64]) -> Result<Health, Error> {
    let (norms, value) = {
        let gradient = problem.full_gradient(z)?;
        (gradient.norms.clone(), gradient.value())
    };
    let dt = problem.description().scene.simulation.dt;
    Ok(Health {
        audit: audit(problem, z)?,
        energy: energy(problem, z)?,
        growth: Growth::of(&norms, dt),
        norms,
        value,
    })
}

/// Differences of a few variables, spread over all, each with the best of several steps.
fn audit(problem: &mut Problem, z: &[f64]) -> Result<Vec<Audit>, Error> {
    let n = z.len();
    let mut gradient = vec![0.0; n];
    problem.gradient(z, &mut gradient).map_err(failed)?;
    let scale = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
    let slopes = problem.variables().slopes(z);
    let every = n.div_ceil(MOST_AUDITED).max(1);
    let mut audits = Vec::new();
    for i in (0..n).step_by(every) {
        let mut best = f64::INFINITY;
        let mut difference = f64::NAN;
        for h in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
            let Ok(found) = central(problem, z, i, h) else { continue };
            if (found - gradient[i]).abs() < best {
                (best, difference) = ((found - gradient[i]).abs(), found);
            }
        }
        let (name, unit) = problem.variables().name(i);
        audits.push(Audit {
            name: name.to_owned(),
            unit: unit.to_owned(),
            derivative: gradient[i] / slopes[i],
            difference: difference / slopes[i],
            error: if scale > 0.0 { best / scale } else { best },
        });
    }
    Ok(audits)
}

/// (f(z + h) - f(z - h)) / 2h, with f by the values alone: bounds are not kept, so that z on a bound has a difference.
fn central(problem: &mut Problem, z: &[f64], i: usize, h: f64) -> Result<f64, Error> {
    let mut moved = z.to_vec();
    moved[i] = z[i] + h;
    let above = problem.value(&moved).map_err(failed)?;
    moved[i] = z[i] - h;
    let below = problem.value(&moved).map_err(failed)?;
    Ok((above - below) / (2.0 * h))
}

fn failed(failure: crate::optimise::Failure) -> Error {
    Error::Optimiser(crate::optimise::Error::from(failure))
}

fn energy(problem: &mut Problem, z: &[f64]) -> Result<EnergyDrift, Error> {
    let mut energy = Energy::new(problem.model())?;
    let steps = problem.description().scene.simulation.steps;
    // A few thousand points are as many as a plot shows.
    let every = steps.div_ceil(2000).max(1);
    let mut found = EnergyDrift {
        times: Vec::new(),
        kinetic: Vec::new(),
        potential: Vec::new(),
        conserved: energy.is_conserved(),
        drift: 0.0,
        relative: 0.0,
    };
    let mut result = Ok(());
    problem.watch(z, |moment| {
        if !moment.step.is_multiple_of(every) && !moment.last {
            return;
        }
        match energy.of(moment.state, moment.params) {
            Ok((kinetic, potential)) => {
                found.times.push(moment.time);
                found.kinetic.push(kinetic);
                found.potential.push(potential);
            }
            Err(error) => result = Err(error),
        }
    })?;
    result?;
    let total = |i: usize| found.kinetic[i] + found.potential[i];
    let first = total(0);
    let drift = (0..found.times.len()).map(|i| (total(i) - first).abs()).fold(0.0, f64::max);
    let change = found.potential.iter().map(|p| (p - found.potential[0]).abs()).fold(0.0, f64::max);
    let scale = found.kinetic.iter().copied().fold(change, f64::max);
    found.drift = drift;
    found.relative = if scale > 0.0 { drift / scale } else { 0.0 };
    Ok(found)
}
