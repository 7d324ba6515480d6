//! Losses: squared distances from what should be, weighted and summed; and losses of one's own, written as kernels.
//!
//! | term | its value |
//! |---|---|
//! | position, velocity, joint at the end or at given steps | w Σ (x - target)² over these steps and the axes |
//! | position, velocity, joint always | w Σ (x - target)² dt over all steps |
//! | trajectory | w Σ (x - measured)² over all measurements |
//! | contact | w Σ (force or penetration - target)² at the end or at given steps; always: times dt |
//! | effort | w Σ u² dt over all steps |

mod contacts;
mod kernel;
mod parts;
mod rows;

use std::cell::RefCell;

use pullback_engine::names::NameError;
use pullback_engine::rollout::{Bars, Loss, Moment, Tangent};
use pullback_engine::{Between, Model, Scheme};
use pullback_scene::{ContactQuantity, Invalid, LossKind, LossTerm, Part, Scene, Track, Tracked, When};

use contacts::{Contacts, Quantity};
pub use kernel::KernelLoss;
use parts::Parts;

/// A sum of weighted terms.
pub struct Losses {
    terms: Vec<Term>,
    /// Losses that are no sums of squares.
    others: Vec<Box<dyn Loss + Send>>,
    /// Where bodies and frames are, if a term measures them.
    parts: Option<RefCell<Parts>>,
    /// What contacts do, if a term measures that.
    contacts: Option<RefCell<Contacts>>,
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
    /// Where a body or frame is, or how it moves: (axis, what it should be)
    Part { of: Part, velocity: bool, axes: Vec<(usize, f64)> },
    /// What contacts come to: forces, of the step that ends, or penetration.
    Contact { between: Between, group: usize, numbers: Vec<(Quantity, f64)> },
    /// Numbers of the state or of parts, and a row of what they should be for each step of `at`.
    Rows { numbers: Vec<Number>, rows: Vec<Vec<f64>> },
}

impl Entries {
    /// Do they measure bodies or frames?
    fn has_parts(&self) -> bool {
        match self {
            Entries::Part { .. } => true,
            Entries::Rows { numbers, .. } => numbers.iter().any(|it| matches!(it, Number::Part { .. })),
            Entries::State(_) | Entries::Control(_) | Entries::Contact { .. } => false,
        }
    }
}

/// A number of a moment that a residual measures.
#[derive(Clone, Copy)]
enum Number {
    State(usize),
    Control(usize),
    /// Along an axis of the world, the position of a body or frame, or its velocity.
    Part {
        of: Part,
        velocity: bool,
        axis: usize,
    },
    /// Of a group of contacts.
    Contact {
        group: usize,
        quantity: Quantity,
    },
}

impl Losses {
    /// The terms of a problem.
    pub fn new(scene: &Scene, model: &Model, terms: &[LossTerm]) -> Result<Losses, Invalid> {
        let (dt, steps) = (scene.simulation.dt, scene.simulation.steps);
        let term = |(i, term): (usize, &LossTerm)| {
            let key = if matches!(term.kind, LossKind::Trajectory { .. }) { "data" } else { "of" };
            let (name, entries) =
                measured(scene, model, &term.kind).map_err(|error| error.at(format!("loss[{i}].{key}")))?;
            let dt = if term.at == When::Always { dt } else { 1.0 };
            let (entries, at) = in_order(entries, term.at.clone());
            Ok(Term { name, entries, at, factor: (term.weight * dt).sqrt() })
        };
        let mut terms = terms.iter().enumerate().map(term).collect::<Result<Vec<Term>, Invalid>>()?;
        let watched = terms.iter().any(|term| term.entries.has_parts());
        let parts = if watched { Some(RefCell::new(Parts::new(model)?)) } else { None };
        let mut groups: Vec<Between> = Vec::new();
        for term in &mut terms {
            if let Entries::Contact { between, group, .. } = &mut term.entries {
                *group = groups.iter().position(|known| known == between).unwrap_or_else(|| {
                    groups.push(*between);
                    groups.len() - 1
                });
            }
        }
        let touched = || Contacts::new(model, &Scheme::of(scene), &groups).map(RefCell::new);
        let contacts = if groups.is_empty() { None } else { Some(touched()?) };
        Ok(Losses { terms, others: Vec::new(), parts, contacts, steps })
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
        let value = self.values(moment);
        let part = |term: &Term| {
            let mut sum = 0.0;
            term.each(moment.step, self.steps, &mut |number, target| {
                let r = term.factor * (value(number) - target);
                sum += r * r;
            });
            sum
        };
        self.terms.iter().map(part).collect()
    }

    /// Those that are no sums of squares and look at a moment: others are not asked.
    fn others_at(&self, moment: &Moment<'_>) -> impl Iterator<Item = &(dyn Loss + Send)> {
        let (step, last) = (moment.step, moment.last);
        self.others.iter().map(|loss| &**loss).filter(move |loss| loss.looks(step, last))
    }

    /// The numbers of a moment. Bodies and contacts are looked at only if a term measures one then.
    fn values<'a>(&'a self, moment: &'a Moment<'_>) -> impl Fn(Number) -> f64 + 'a {
        let measured = |of: fn(&Entries) -> bool| {
            let measures = |term: &Term| of(&term.entries) && term.place(moment.step, self.steps).is_some();
            self.terms.iter().any(measures)
        };
        let parts = self.parts.as_ref().filter(|_| measured(Entries::has_parts));
        if let Some(parts) = parts {
            parts.borrow_mut().look(moment);
        }
        let contact = |entries: &Entries| matches!(entries, Entries::Contact { .. });
        let contacts = self.contacts.as_ref().filter(|_| measured(contact));
        if let Some(contacts) = contacts {
            contacts.borrow_mut().look(moment);
        }
        move |number| match number {
            Number::State(i) => moment.state[i],
            Number::Control(i) => moment.control[i],
            Number::Part { of, velocity, axis } => {
                parts.map_or(f64::NAN, |parts| parts.borrow().value(of, velocity, axis))
            }
            Number::Contact { group, quantity } => {
                contacts.map_or(f64::NAN, |contacts| contacts.borrow().value(group, quantity))
            }
        }
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
        let value = self.values(moment);
        self.each(moment.step, &mut |factor, number, target| see(factor * (value(number) - target)));
    }

    /// The tangents of the residuals at a moment, in order.
    pub fn residual_tangents(&self, moment: &Moment<'_>, tangent: &Tangent<'_>, see: &mut dyn FnMut(f64)) {
        // The rows of numbers of parts, and of contacts, in the Jacobian of all that are measured at this moment.
        let (mut part, mut contact) = (0, 0);
        self.each(moment.step, &mut |factor, number, _| {
            see(factor
                * match number {
                    Number::State(i) => tangent.state[i],
                    Number::Control(i) => tangent.control[i],
                    Number::Part { of, velocity, axis } => {
                        part += 1;
                        let number = (of, velocity, axis);
                        let of = |parts: &RefCell<Parts>| {
                            parts.borrow_mut().tangent(part - 1, number, moment, tangent)
                        };
                        self.parts.as_ref().map_or(f64::NAN, of)
                    }
                    Number::Contact { group, quantity } => {
                        contact += 1;
                        let number = (group, quantity);
                        let of = |contacts: &RefCell<Contacts>| {
                            contacts.borrow_mut().tangent(contact - 1, number, moment, tangent)
                        };
                        self.contacts.as_ref().map_or(f64::NAN, of)
                    }
                });
        });
    }

    /// Adds Σ weight · ∂number to cotangents. The weight of a number comes from its place among those of the moment, its
    /// factor, what it is, and how far it is from its target.
    fn pull(
        &self,
        moment: &Moment<'_>,
        bars: &mut Bars<'_>,
        mut weight: impl FnMut(usize, f64, Number, f64) -> f64,
    ) {
        let value = self.values(moment);
        let (mut k, mut seeded, mut touched) = (0, false, false);
        self.each(moment.step, &mut |factor, number, target| {
            let bar = weight(k, factor, number, value(number) - target);
            k += 1;
            match number {
                Number::State(i) => bars.state[i] += bar,
                Number::Control(i) => bars.control[i] += bar,
                Number::Part { of, velocity, axis } => {
                    if let Some(parts) = self.parts.as_ref().filter(|_| bar != 0.0) {
                        parts.borrow_mut().seed(of, velocity, axis, bar);
                        seeded = true;
                    }
                }
                Number::Contact { group, quantity } => {
                    if let Some(contacts) = self.contacts.as_ref().filter(|_| bar != 0.0) {
                        contacts.borrow_mut().seed(group, quantity, bar);
                        touched = true;
                    }
                }
            }
        });
        if let Some(parts) = self.parts.as_ref().filter(|_| seeded) {
            parts.borrow_mut().pull(bars);
        }
        if let Some(contacts) = self.contacts.as_ref().filter(|_| touched) {
            contacts.borrow_mut().pull(bars);
        }
    }

    /// The last measurement as a loss of its own; `moves` says which numbers of the state are not held in place.
    pub(crate) fn last_measured<'a>(&'a self, moves: &'a [bool]) -> LastMeasured<'a> {
        let measures = |step: &usize| {
            let mut found = false;
            self.each(*step, &mut |_, number, _| found |= number.is_of_state());
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

/// What a term measures, and what it is called in reports.
fn measured(scene: &Scene, model: &Model, kind: &LossKind) -> Result<(String, Entries), Invalid> {
    let missing = |fix: &'static str| move |error: NameError| Invalid::new("of", error.to_string(), fix);
    let state =
        |of: usize, velocity: bool, axis: usize| 3 * of + axis + if velocity { model.positions() } else { 0 };
    let joint_number = |robot: usize, joint: usize, velocity: bool| {
        let field = if velocity { "velocity" } else { "position" };
        let found = model.state_layout().find(&format!("{}.{field}", scene.joint_name(robot, joint)));
        found.map(|range| range.start).map_err(missing("name a hinge or slide of the scene"))
    };
    let along = |target: &[f64; 3], axes: &[bool; 3]| -> Vec<(usize, f64)> {
        (0..3).filter(|axis| axes[*axis]).map(|axis| (axis, target[axis])).collect()
    };
    let point = |of: usize, velocity: bool, target: &[f64; 3], axes: &[bool; 3]| {
        let along = along(target, axes).into_iter();
        Entries::State(along.map(|(axis, target)| (state(of, velocity, axis), target)).collect())
    };
    let part = |of: Part, velocity: bool, target: &[f64; 3], axes: &[bool; 3]| {
        let what = if velocity { "velocity" } else { "position" };
        let entries = Entries::Part { of, velocity, axes: along(target, axes) };
        (format!("{what} of {}", scene.part_name(of)), entries)
    };
    Ok(match kind {
        LossKind::Position { of, target, axes } => {
            (format!("position of {}", scene.particle_name(*of)), point(*of, false, target, axes))
        }
        LossKind::Velocity { of, target, axes } => {
            (format!("velocity of {}", scene.particle_name(*of)), point(*of, true, target, axes))
        }
        LossKind::PartPosition { of, target, axes } => part(*of, false, target, axes),
        LossKind::PartVelocity { of, target, axes } => part(*of, true, target, axes),
        LossKind::Joint { robot, joint, target } => {
            let name = scene.joint_name(*robot, *joint);
            let number = joint_number(*robot, *joint, false)?;
            (format!("position of {name}"), Entries::State(vec![(number, *target)]))
        }
        LossKind::Trajectory { data, tracks, file } => {
            let number = |t: &Track| match t.of {
                Tracked::Particle { particle, axis } => Ok(Number::State(state(particle, t.velocity, axis))),
                Tracked::Part { of, axis } => Ok(Number::Part { of, velocity: t.velocity, axis }),
                Tracked::Joint { robot, joint } => joint_number(robot, joint, t.velocity).map(Number::State),
            };
            let row = |row: &Vec<f64>| tracks.iter().map(|t| row[t.column]).collect();
            let rows = data.rows.iter().map(row).collect();
            let name = format!("trajectory in {}", file.file_name().unwrap_or_default().to_string_lossy());
            (name, Entries::Rows { numbers: tracks.iter().map(number).collect::<Result<_, _>>()?, rows })
        }
        LossKind::Contact { of, with, quantity } => {
            let between = Between { of: Some(*of), with: *with };
            let names = [Some(*of), *with].map(|it| it.map(|it| scene.toucher_name(it)));
            let with = names[1].as_ref().map(|with| format!(" with {with}")).unwrap_or_default();
            let of = names[0].clone().unwrap_or_default();
            if !model.may_touch(between) {
                let what = format!(
                    "nothing of `{of}` can touch{}",
                    names[1].as_ref().map_or(" anything".into(), |with| format!(" `{with}`"))
                );
                let fix = "give both shapes that may touch, and let one of them move";
                return Err(Invalid::new("of", what, fix));
            }
            let numbers = match *quantity {
                ContactQuantity::Force { target, axes } => along(&target, &axes)
                    .into_iter()
                    .map(|(axis, target)| (Quantity::Force(axis), target))
                    .collect(),
                ContactQuantity::NormalForce { target } => vec![(Quantity::NormalForce, target)],
                ContactQuantity::FrictionForce { target } => vec![(Quantity::FrictionForce, target)],
                ContactQuantity::Penetration { target } => vec![(Quantity::Penetration, target)],
            };
            let name = format!("{} of {of}{with}", quantity.name().replace('-', " "));
            (name, Entries::Contact { between, group: 0, numbers })
        }
        LossKind::Effort { actuator } => {
            let controls = model.control_layout();
            let found = controls.find(&format!("{actuator}.control"));
            let found = found.or_else(|_| controls.find(&format!("{actuator}.force")));
            let range = found.map_err(missing("name an actuator or a motor of the scene"))?;
            (format!("effort of {actuator}"), Entries::Control(range.collect()))
        }
    })
}

/// Steps in order, so that they can be looked up, and rows with them.
fn in_order(entries: Entries, at: When) -> (Entries, When) {
    let When::Steps(steps) = at else { return (entries, at) };
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by_key(|&i| steps[i]);
    let entries = match entries {
        Entries::Rows { numbers, rows } => {
            let rows = order.iter().map(|&i| rows.get(i).cloned().unwrap_or_default()).collect();
            Entries::Rows { numbers, rows }
        }
        Entries::State(_) | Entries::Control(_) | Entries::Part { .. } | Entries::Contact { .. } => entries,
    };
    (entries, When::Steps(order.into_iter().map(|i| steps[i]).collect()))
}

impl Number {
    /// Is it of the state, and not of controls?
    fn is_of_state(self) -> bool {
        match self {
            Number::State(_) | Number::Part { .. } | Number::Contact { .. } => true,
            Number::Control(_) => false,
        }
    }
}

impl Term {
    /// Its place among the steps that it measures, if it measures anything at the moment after `step` of `steps` steps. What
    /// belongs to a step is known before it: controls by the number of that step, forces of contacts by the state after it.
    fn place(&self, step: usize, steps: usize) -> Option<usize> {
        let step = if self.is_of_a_step() { step + 1 } else { step };
        match &self.at {
            When::End => (step == steps).then_some(0),
            When::Always => (1..=steps).contains(&step).then_some(0),
            When::Steps(at) => at.binary_search(&step).ok(),
        }
    }

    /// Does it measure what happens in a step, rather than a state?
    fn is_of_a_step(&self) -> bool {
        match &self.entries {
            Entries::Control(_) => true,
            Entries::State(_) | Entries::Part { .. } | Entries::Rows { .. } => false,
            Entries::Contact { numbers, .. } => {
                numbers.iter().any(|(quantity, _)| *quantity != Quantity::Penetration)
            }
        }
    }

    /// The numbers that it measures after `step` of `steps` steps, and what they should be.
    fn each(&self, step: usize, steps: usize, visit: &mut dyn FnMut(Number, f64)) {
        let Some(place) = self.place(step, steps) else { return };
        match &self.entries {
            Entries::State(entries) => {
                entries.iter().for_each(|&(i, target)| visit(Number::State(i), target))
            }
            Entries::Control(indices) => indices.iter().for_each(|&i| visit(Number::Control(i), 0.0)),
            Entries::Part { of, velocity, axes } => axes.iter().for_each(|&(axis, target)| {
                visit(Number::Part { of: *of, velocity: *velocity, axis }, target);
            }),
            Entries::Contact { group, numbers, .. } => numbers.iter().for_each(|&(quantity, target)| {
                visit(Number::Contact { group: *group, quantity }, target);
            }),
            Entries::Rows { numbers, rows } => {
                let row = rows.get(place).map_or(&[][..], Vec::as_slice);
                numbers.iter().zip(row).for_each(|(&number, &target)| visit(number, target));
            }
        }
    }
}

impl Loss for Losses {
    fn looks(&self, step: usize, last: bool) -> bool {
        self.terms.iter().any(|term| term.place(step, self.steps).is_some())
            || self.others.iter().any(|loss| loss.looks(step, last))
    }

    fn value(&self, moment: &Moment<'_>) -> f64 {
        let mut sum = 0.0;
        self.residuals(moment, &mut |r| sum += r * r);
        sum + self.others_at(moment).map(|loss| loss.value(moment)).sum::<f64>()
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        self.pull(moment, bars, |_, factor, _, apart| 2.0 * factor * factor * apart);
        self.others_at(moment).for_each(|loss| loss.pullback(moment, bars));
    }
}

/// One residual: a row of the Jacobian is its gradient.
pub(crate) struct OneResidual<'a> {
    losses: &'a Losses,
    step: usize,
    index: usize,
}

impl Loss for OneResidual<'_> {
    fn looks(&self, step: usize, _: bool) -> bool {
        step == self.step
    }

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
        if moment.step == self.step {
            let only = |k, factor, _, _| if k == self.index { factor } else { 0.0 };
            self.losses.pull(moment, bars, only);
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

// It looks at all moments: it notes the norm of each.
impl Loss for LastMeasured<'_> {
    fn value(&self, _: &Moment<'_>) -> f64 {
        0.0
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        match self.step {
            Some(step) if step == moment.step => {
                let of_state = |_, factor, number: Number, _| if number.is_of_state() { factor } else { 0.0 };
                self.losses.pull(moment, bars, of_state);
            }
            None if moment.last => self.losses.others_at(moment).for_each(|loss| loss.pullback(moment, bars)),
            Some(_) | None => {}
        }
        let moving = bars.state.iter().zip(self.moves).filter(|(_, moves)| **moves);
        self.norms.borrow_mut()[moment.step] = moving.map(|(bar, _)| bar * bar).sum::<f64>().sqrt();
    }
}
