//! Is a problem healthy? Its gradient against finite differences, its energy, and how gradients grow on their way back.

mod reach;
mod zero;

use pullback_engine::{Energy, Gradient};

use crate::Error;
use crate::optimise::{Failure, Objective};
use crate::problem::{Problem, by};
pub use reach::Reach;

/// What a check found.
#[derive(Clone, Debug)]
pub struct Health {
    /// The gradient by each variable, beside a difference.
    pub audit: Vec<Audit>,
    /// Why derivatives by numbers of contacts are zero, where that can be told: the variable, and the reason.
    pub zeros: Vec<(String, String)>,
    /// How far the gradient reaches.
    pub reach: Reach,
    /// The energy at each moment, if the forces have potentials.
    pub energy: EnergyDrift,
    /// How the gradient grows on its way back.
    pub growth: Growth,
    /// The norm of the cotangent of each state, from the first to the last.
    pub norms: Vec<f64>,
    /// The loss.
    pub value: f64,
}

impl Health {
    /// Is every derivative that was looked at exactly zero, and every difference? They agree, and lead nowhere.
    pub fn is_flat(&self) -> bool {
        !self.audit.is_empty() && self.audit.iter().all(|it| it.derivative == 0.0 && it.difference == 0.0)
    }
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
    /// How far differences with other steps are from this one, in the same measure.
    pub doubt: f64,
}

/// A derivative that is further from its difference than this, relative to the largest, is wrong.
pub const TOLERANCE: f64 = 1e-5;

/// What an audit comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Derivative and difference agree.
    Right,
    /// They do not, and differences agree among themselves.
    Wrong,
    /// Differences do not agree among themselves: there is a kink, or the derivative is lost in rounding.
    Unclear,
}

impl Audit {
    /// What it comes to.
    pub fn agreement(&self) -> Agreement {
        match self.error {
            error if error <= TOLERANCE => Agreement::Right,
            error if error > TOLERANCE + 2.0 * self.doubt => Agreement::Wrong,
            _ => Agreement::Unclear,
        }
    }
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Agreement::Right => "right",
            Agreement::Wrong => "WRONG",
            Agreement::Unclear => "unclear",
        })
    }
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
    /// The factor over the whole way, exp(λ T).
    pub total: f64,
    /// What that means.
    pub verdict: Verdict,
    /// The norm of the cotangent of each state, from the first to the last, of the numbers that are not held in place.
    pub norms: Vec<f64>,
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
pub const MOST_AUDITED: usize = 64;

/// The part of the way back that is left out of the fit. The first cotangents turn from what is measured towards what
/// grows most (or dies out last), and say nothing about its rate.
const TRANSIENT: f64 = 0.2;

impl Growth {
    /// From the norms of cotangents that have one source, from the first state to the last, `dt` apart.
    pub fn of(norms: Vec<f64>, dt: f64) -> Growth {
        // The way back begins where something is measured, and ends where nothing is left.
        let way: Vec<(f64, f64)> = norms
            .iter()
            .rev()
            .enumerate()
            .filter(|(_, norm)| norm.is_normal())
            .map(|(i, norm)| (i as f64 * dt, norm.ln()))
            .collect();
        let (begin, end) = match (way.first(), way.last()) {
            (Some(first), Some(last)) => (first.0, last.0),
            _ => (0.0, 0.0),
        };
        let settled = begin + TRANSIENT * (end - begin);
        let points: Vec<(f64, f64)> = way.into_iter().filter(|(t, _)| *t >= settled).collect();
        let rate = slope(&points);
        let total = (rate * (end - begin)).exp();
        let verdict = match total {
            total if total > TOO_MUCH => Verdict::Exploding,
            total if total < 1.0 / TOO_MUCH => Verdict::Vanishing,
            _ => Verdict::Steady,
        };
        Growth { rate, per_step: (rate * dt).exp(), total, verdict, norms }
    }

    /// Of a problem at z: of what its last measurement sees, and of nothing that is measured on the way.
    pub fn at(problem: &mut Problem, z: &[f64]) -> Result<Growth, Error> {
        let coordinates = problem.variables().coordinates();
        let reaches = |gradient: &Gradient| coordinates.iter().any(|c| by(gradient, *c) != 0.0);
        let dt = problem.description().scene.simulation.dt;
        let (growth, last) = {
            let (gradient, norms) = problem.last_measured(z)?;
            (Growth::of(norms, dt), reaches(&gradient))
        };
        if last || reaches(problem.full_gradient(z)?) {
            return Ok(growth);
        }
        Ok(Growth { verdict: Verdict::Zero, ..growth })
    }
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Growth { rate, per_step, total, verdict, .. } = self;
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

/// Checks a problem at z, with differences for [`MOST_AUDITED`] derivatives at most.
pub fn check(problem: &mut Problem, z: &[f64]) -> Result<Health, Error> {
    check_some(problem, z, MOST_AUDITED, &mut |_, _| ())
}

/// [`check`] of `most` derivatives at most. `show` hears how many of how many are done: of long rollouts each takes up to 38.
pub fn check_some(
    problem: &mut Problem,
    z: &[f64],
    most: usize,
    show: &mut dyn FnMut(usize, usize),
) -> Result<Health, Error> {
    let (norms, value) = {
        let gradient = problem.full_gradient(z)?;
        (gradient.norms.clone(), gradient.value())
    };
    let audit = audit(problem, z, most, show)?;
    Ok(Health {
        zeros: zero::reasons(problem, z, &audit)?,
        reach: Reach::at(problem, z)?,
        audit,
        energy: energy(problem, z)?,
        growth: Growth::at(problem, z)?,
        norms,
        value,
    })
}

/// Differences of a few variables, spread over all.
fn audit(
    problem: &mut Problem,
    z: &[f64],
    most: usize,
    show: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Audit>, Error> {
    let n = z.len();
    let mut gradient = vec![0.0; n];
    let value = problem.gradient(z, &mut gradient).map_err(failed)?;
    let scale = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
    let slopes = problem.variables().slopes(z);
    let every = n.div_ceil(most.max(1)).max(1);
    let mut found = Vec::new();
    for (done, i) in (0..n).step_by(every).enumerate() {
        show(done, n.div_ceil(every));
        found.extend(difference(problem, z, i, value, NEGLIGIBLE * scale)?.map(|found| (i, found)));
    }
    // A gradient that is zero where differences are not is as wrong as any.
    let scale = found.iter().fold(scale, |most, (_, (difference, _))| most.max(difference.abs()));
    let relative = |error: f64| if scale > 0.0 { error / scale } else { error };
    let audit = |(i, (difference, doubt)): (usize, (f64, f64))| {
        let (name, unit) = problem.variables().name(i);
        Audit {
            name: name.to_owned(),
            unit: unit.to_owned(),
            derivative: gradient[i] / slopes[i],
            difference: difference / slopes[i],
            error: relative((difference - gradient[i]).abs()),
            doubt: relative(doubt),
        }
    };
    Ok(found.into_iter().map(audit).collect())
}

/// Two differences that agree so well are not improved by smaller steps.
const AGREED: f64 = 1e-9;

/// Half units in the last place of the loss that a difference may be off.
const ROUNDING: f64 = 8.0;
/// Derivatives below this part of the largest need no digits of their own.
const NEGLIGIBLE: f64 = 1e-6;

/// The derivative by z_i from differences with smaller and smaller steps, and how far the next is from it: where two of
/// them agree best, relative to their size (or to `least`), between too long (curvature) and too short (rounding). The
/// derivative by the pullback has no say in it. `None`: there is no room for differences.
fn difference(
    problem: &mut Problem,
    z: &[f64],
    i: usize,
    value: f64,
    least: f64,
) -> Result<Option<(f64, f64)>, Error> {
    let relative = |found: f64, apart: f64| apart / found.abs().max(least).max(f64::MIN_POSITIVE);
    let mut best: Option<(f64, f64)> = None;
    let (mut last, mut last_better): (Option<f64>, Option<f64>) = (None, None);
    // From 0.1 to 1e-10, each √10 times shorter.
    for h in (0..19).map(|k| 10_f64.powf(-1.0 - 0.5 * f64::from(k))) {
        let found = match difference_with(problem, z, i, value, h) {
            Err(failure @ Failure::Fatal(_)) => return Err(failed(failure)),
            // Too far away there may be no value.
            Err(_) => continue,
            Ok(found) => found,
        };
        let Some(found) = found else { continue };
        // Two differences with errors ~ h² give one without (Richardson 1911): D(h/√10) + (D(h/√10) - D(h)) / 9.
        let better = last.map(|last| found + (found - last) / 9.0);
        last = Some(found);
        if let (Some(better), Some(last_better)) = (better, last_better) {
            // Two that agree by chance are still no better than the digits of the loss.
            let rounding = ROUNDING * f64::EPSILON * value.abs() / h;
            let apart = (better - last_better).abs().max(rounding);
            if best.is_none_or(|(best, doubt)| relative(better, apart) < relative(best, doubt)) {
                best = Some((better, apart));
            }
        }
        last_better = better;
        if best.is_some_and(|(best, doubt)| relative(best, doubt) <= AGREED) {
            break;
        }
    }
    Ok(best)
}

/// (f(z + h) - f(z - h)) / 2h; at a bound (4 f(z + h) - 3 f(z) - f(z + 2h)) / 2h, or its mirror image; `None` where there
/// is no room for either.
fn difference_with(
    problem: &mut Problem,
    z: &[f64],
    i: usize,
    value: f64,
    h: f64,
) -> Result<Option<f64>, Failure> {
    let bounds = problem.variables().bounds();
    let room = |by: f64| (bounds.lower()[i]..=bounds.upper()[i]).contains(&(z[i] + by));
    let mut at = |by: f64| {
        let mut moved = z.to_vec();
        moved[i] += by;
        problem.value(&moved)
    };
    if room(h) && room(-h) {
        return Ok(Some((at(h)? - at(-h)?) / (2.0 * h)));
    }
    let inwards = if room(2.0 * h) { h } else { -h };
    if !room(2.0 * inwards) {
        return Ok(None);
    }
    Ok(Some((4.0 * at(inwards)? - 3.0 * value - at(2.0 * inwards)?) / (2.0 * inwards)))
}

fn failed(failure: Failure) -> Error {
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
