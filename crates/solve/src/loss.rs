//! Losses: squared distances from what should be, weighted and summed; and losses of one's own, written as kernels.
//!
//! | term | its value |
//! |---|---|
//! | position, velocity at the end or at given steps | w Σ (x - target)² over these steps and the axes |
//! | position, velocity always | w Σ (x - target)² dt over all steps |
//! | trajectory | w Σ (x - measured)² over all measurements |
//! | effort | w Σ u² dt over all steps |

mod kernel;

use std::cell::RefCell;

use pullback_engine::Model;
use pullback_engine::names::NameError;
use pullback_engine::rollout::{Bars, Loss, Moment, Tangent};
use pullback_scene::{Invalid, LossKind, LossTerm, Scene, Track, When};

pub use kernel::KernelLoss;

/// A sum of weighted terms.
pub struct Losses {
    terms: Vec<Term>,
    /// Losses that are no sums of squares.
    others: Vec<Box<dyn Loss + Send>>,
    steps: usize,
}

/// Residuals r with value Σ r².
struct Term {
    /// What it is called in reports.
    name: String,
    entries: Entries,
    at: When,
    /// √ of the factor of each square.
    factor: f64,
}

/// What is compared with what.
enum Entries {
    /// (number of the state, what it should be)
    State(Vec<(usize, f64)>),
    /// (number of the control)
    Control(Vec<usize>),
    /// Numbers of the state, and a row of what they should be for each step of `at`.
    Rows { indices: Vec<usize>, rows: Vec<Vec<f64>> },
}

/// A number of a moment that a residual measures.
#[derive(Clone, Copy)]
enum Number {
    State(usize),
    Control(usize),
}

impl Losses {
    /// The terms of a problem.
    pub fn new(scene: &Scene, model: &Model, terms: &[LossTerm]) -> Result<Losses, Invalid> {
        let (dt, steps) = (scene.simulation.dt, scene.simulation.steps);
        let velocities = model.positions();
        let term = |(i, term): (usize, &LossTerm)| {
            let state = |of: usize, velocity: bool, axis: usize| {
                3 * of + axis + if velocity { velocities } else { 0 }
            };
            let point = |of: usize, velocity: bool, target: &[f64; 3], axes: &[bool; 3]| {
                let axes = (0..3).filter(|axis| axes[*axis]);
                Entries::State(axes.map(|axis| (state(of, velocity, axis), target[axis])).collect())
            };
            let (what, entries) = match &term.kind {
                LossKind::Position { of, target, axes } => {
                    (format!("position of {}", scene.particle_name(*of)), point(*of, false, target, axes))
                }
                LossKind::Velocity { of, target, axes } => {
                    (format!("velocity of {}", scene.particle_name(*of)), point(*of, true, target, axes))
                }
                LossKind::Trajectory { data, tracks, file } => {
                    let index = |t: &Track| state(t.particle, t.velocity, t.axis);
                    let row = |row: &Vec<f64>| tracks.iter().map(|t| row[t.column]).collect();
                    let rows = data.rows.iter().map(row).collect();
                    let name =
                        format!("trajectory in {}", file.file_name().unwrap_or_default().to_string_lossy());
                    (name, Entries::Rows { indices: tracks.iter().map(index).collect(), rows })
                }
                LossKind::PartPosition { .. } | LossKind::PartVelocity { .. } => {
                    let what = "bodies and frames cannot be measured";
                    return Err(Invalid::new(format!("loss[{i}].of"), what, "measure a joint"));
                }
                LossKind::Joint { robot, joint, target } => {
                    let name = scene.joint_name(*robot, *joint);
                    let found = model.state_layout().find(&format!("{name}.position"));
                    let range = found.map_err(|error| of(i, error, "name a joint of the scene"))?;
                    (format!("position of {name}"), Entries::State(vec![(range.start, *target)]))
                }
                LossKind::Effort { actuator } => {
                    let controls = model.control_layout();
                    let found = controls.find(&format!("{actuator}.control"));
                    let found = found.or_else(|_| controls.find(&format!("{actuator}.force")));
                    let range = found.map_err(|error| of(i, error, "name an actuator of the scene"))?;
                    (format!("effort of {actuator}"), Entries::Control(range.collect()))
                }
            };
            let dt = if term.at == When::Always { dt } else { 1.0 };
            let (entries, at) = in_order(entries, term.at.clone());
            Ok(Term { name: what, entries, at, factor: (term.weight * dt).sqrt() })
        };
        let terms = terms.iter().enumerate().map(term).collect::<Result<_, Invalid>>()?;
        Ok(Losses { terms, others: Vec::new(), steps })
    }

    /// Adds a loss of one's own. Levenberg-Marquardt does not take it, because it is no sum of squares.
    pub fn add(&mut self, loss: impl Loss + Send + 'static) {
        self.others.push(Box::new(loss));
    }

    /// Is it a sum of squares, and nothing else?
    pub fn is_least_squares(&self) -> bool {
        self.others.is_empty()
    }

    /// What its terms are called.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.name.as_str())
    }

    /// The value of each sum of squares at a moment.
    pub fn parts(&self, moment: &Moment<'_>) -> Vec<f64> {
        let part = |term: &Term| {
            let mut sum = 0.0;
            term.each(moment.step, self.steps, &mut |number, target| {
                let r = term.factor * (value(moment, number) - target);
                sum += r * r;
            });
            sum
        };
        self.terms.iter().map(part).collect()
    }

    /// How many residuals there are before a moment, and at it.
    pub fn residual_count(&self) -> usize {
        (0..=self.steps).map(|step| self.residuals_at(step)).sum()
    }

    fn residuals_at(&self, step: usize) -> usize {
        let mut count = 0;
        self.each(step, &mut |_, _, _| count += 1);
        count
    }

    fn each(&self, step: usize, visit: &mut dyn FnMut(f64, Number, f64)) {
        for term in &self.terms {
            term.each(step, self.steps, &mut |number, target| visit(term.factor, number, target));
        }
    }

    /// The residuals at a moment, in order.
    pub fn residuals(&self, moment: &Moment<'_>, see: &mut dyn FnMut(f64)) {
        self.each(moment.step, &mut |factor, number, target| see(factor * (value(moment, number) - target)));
    }

    /// The tangents of the residuals at a moment, in order.
    pub fn residual_tangents(&self, moment: &Moment<'_>, tangent: &Tangent<'_>, see: &mut dyn FnMut(f64)) {
        self.each(moment.step, &mut |factor, number, _| {
            see(factor
                * match number {
                    Number::State(i) => tangent.state[i],
                    Number::Control(i) => tangent.control[i],
                });
        });
    }

    /// The last measurement as a loss of its own; `moves` says which numbers of the state are not held in place.
    pub(crate) fn last_measured<'a>(&'a self, moves: &'a [bool]) -> LastMeasured<'a> {
        let measures = |step: &usize| {
            let mut found = false;
            self.each(*step, &mut |_, number, _| found |= matches!(number, Number::State(_)));
            found
        };
        let norms = RefCell::new(vec![0.0; self.steps + 1]);
        LastMeasured { losses: self, step: (0..=self.steps).rev().find(measures), moves, norms }
    }

    /// Residual number `k` as a loss of its own.
    pub(crate) fn residual(&self, k: usize) -> OneResidual<'_> {
        let mut first = 0;
        let mut step = 0;
        while step < self.steps && first + self.residuals_at(step) <= k {
            first += self.residuals_at(step);
            step += 1;
        }
        OneResidual { losses: self, step, index: k - first }
    }
}

/// Something that a loss measures is not there.
fn of(loss: usize, error: NameError, fix: &str) -> Invalid {
    Invalid::new(format!("loss[{loss}].of"), error.to_string(), fix)
}

/// Steps in order, so that they can be looked up, and rows with them.
fn in_order(entries: Entries, at: When) -> (Entries, When) {
    let When::Steps(steps) = at else { return (entries, at) };
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|&i| steps[i]);
    let entries = match entries {
        Entries::Rows { indices, rows } => {
            let rows = order.iter().map(|&i| rows.get(i).cloned().unwrap_or_default()).collect();
            Entries::Rows { indices, rows }
        }
        Entries::State(_) | Entries::Control(_) => entries,
    };
    (entries, When::Steps(order.into_iter().map(|i| steps[i]).collect()))
}

fn value(moment: &Moment<'_>, number: Number) -> f64 {
    match number {
        Number::State(i) => moment.state[i],
        Number::Control(i) => moment.control[i],
    }
}

impl Term {
    /// The numbers that it measures after `step` of `steps` steps, and what they should be.
    fn each(&self, step: usize, steps: usize, visit: &mut dyn FnMut(Number, f64)) {
        let place = match &self.at {
            When::End => (step == steps).then_some(0),
            // A control belongs to the step that follows, a state to the one before.
            When::Always => match self.entries {
                Entries::Control(_) => (step < steps).then_some(0),
                Entries::State(_) | Entries::Rows { .. } => (step > 0).then_some(0),
            },
            When::Steps(at) => at.binary_search(&step).ok(),
        };
        let Some(place) = place else { return };
        match &self.entries {
            Entries::State(entries) => {
                entries.iter().for_each(|&(i, target)| visit(Number::State(i), target))
            }
            Entries::Control(indices) => indices.iter().for_each(|&i| visit(Number::Control(i), 0.0)),
            Entries::Rows { indices, rows } => {
                let row = rows.get(place).map_or(&[][..], Vec::as_slice);
                indices.iter().zip(row).for_each(|(&i, &target)| visit(Number::State(i), target));
            }
        }
    }
}

impl Loss for Losses {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        let mut sum = 0.0;
        self.residuals(moment, &mut |r| sum += r * r);
        sum + self.others.iter().map(|loss| loss.value(moment)).sum::<f64>()
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        self.each(moment.step, &mut |factor, number, target| {
            let bar = 2.0 * factor * factor * (value(moment, number) - target);
            match number {
                Number::State(i) => bars.state[i] += bar,
                Number::Control(i) => bars.control[i] += bar,
            }
        });
        self.others.iter().for_each(|loss| loss.pullback(moment, bars));
    }
}

/// One residual: a row of the Jacobian is its gradient.
pub(crate) struct OneResidual<'a> {
    losses: &'a Losses,
    step: usize,
    index: usize,
}

impl Loss for OneResidual<'_> {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        let (mut k, mut found) = (0, 0.0);
        if moment.step == self.step {
            self.losses.residuals(moment, &mut |r| {
                if k == self.index {
                    found = r;
                }
                k += 1;
            });
        }
        found
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        let mut k = 0;
        if moment.step == self.step {
            self.losses.each(moment.step, &mut |factor, number, _| {
                match number {
                    Number::State(i) if k == self.index => bars.state[i] += factor,
                    Number::Control(i) if k == self.index => bars.control[i] += factor,
                    Number::State(_) | Number::Control(_) => {}
                }
                k += 1;
            });
        }
    }
}

/// What the last measurement of the state sees, Σ factor x over its numbers: a linear loss with one source, so that its
/// cotangents tell how what is measured depends on what was earlier, and nothing of how well it fits.
///
/// Where only losses of one's own measure the state, it is what these say at the end.
pub(crate) struct LastMeasured<'a> {
    losses: &'a Losses,
    step: Option<usize>,
    moves: &'a [bool],
    /// The norm of the cotangent of each state, of the numbers that move. What is held in place has a cotangent too, as
    /// an anchor has, but it is no part of the motion, and neither grows nor dies out.
    pub(crate) norms: RefCell<Vec<f64>>,
}

impl Loss for LastMeasured<'_> {
    fn value(&self, _: &Moment<'_>) -> f64 {
        0.0
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        match self.step {
            Some(step) if step == moment.step => self.losses.each(step, &mut |factor, number, _| {
                if let Number::State(i) = number {
                    bars.state[i] += factor;
                }
            }),
            None if moment.last => self.losses.others.iter().for_each(|loss| loss.pullback(moment, bars)),
            Some(_) | None => {}
        }
        let moving = bars.state.iter().zip(self.moves).filter(|(_, moves)| **moves);
        self.norms.borrow_mut()[moment.step] = moving.map(|(bar, _)| bar * bar).sum::<f64>().sqrt();
    }
}
