//! Losses: sums over a rollout of functions of one moment.

/// One moment of one world: the state before step `step`, and the control of that step.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Which world of a batch.
    pub world: usize,
    /// How many steps were made before.
    pub step: usize,
    /// The time [s].
    pub time: f64,
    /// Is it the end? There is no control then.
    pub last: bool,
    /// The state.
    pub state: &'a [f64],
    /// The control of the step that follows; empty at the end.
    pub control: &'a [f64],
    /// The params.
    pub params: &'a [f64],
}

/// Cotangents of a moment, to add to.
#[derive(Debug)]
pub struct Bars<'a> {
    /// Of the state.
    pub state: &'a mut [f64],
    /// Of the control; empty at the end.
    pub control: &'a mut [f64],
    /// Of the params.
    pub params: &'a mut [f64],
}

/// A scalar of a rollout: the sum of its values at all moments.
pub trait Loss {
    /// Does it depend on anything of the moment before step number `step`, or, if `last`, after all steps: state, control or params? Where it
    /// says no, neither `value` nor `pullback` is called, the value is zero and so are all its derivatives, and states of large worlds need
    /// not be brought to it.
    fn looks(&self, _step: usize, _last: bool) -> bool {
        true
    }
    /// The value at a moment.
    fn value(&self, moment: &Moment<'_>) -> f64;
    /// Adds the derivatives of the value to the cotangents.
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>);
}

/// No loss at all: for a rollout that is only looked at.
#[derive(Clone, Copy, Debug)]
pub struct NoLoss;

impl Loss for NoLoss {
    fn looks(&self, _: usize, _: bool) -> bool {
        false
    }
    fn value(&self, _: &Moment<'_>) -> f64 {
        0.0
    }
    fn pullback(&self, _: &Moment<'_>, _: &mut Bars<'_>) {}
}
