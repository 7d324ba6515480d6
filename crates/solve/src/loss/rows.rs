//! Derivatives of the numbers that terms measure at one moment, kept for all directions of it.

use pullback_engine::rollout::{Bars, Moment, Tangent};

/// Rows of a Jacobian by the state, the control and the params of one moment.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<f64>,
    /// The moment that they belong to.
    step: usize,
    time: f64,
    state: Vec<f64>,
    control: Vec<f64>,
    params: Vec<f64>,
}

impl Rows {
    /// Before tangents of a moment are asked for: rows of another moment are forgotten.
    pub fn begin(&mut self, moment: &Moment<'_>) {
        let same = self.step == moment.step
            && self.state == moment.state
            && self.control == moment.control
            && self.params == moment.params;
        if same {
            return;
        }
        self.rows.clear();
        (self.step, self.time) = (moment.step, moment.time);
        for (to, from) in [
            (&mut self.state, moment.state),
            (&mut self.control, moment.control),
            (&mut self.params, moment.params),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
    }

    /// The tangent of number `row` of those that are measured at the moment. `pull` adds its derivatives to cotangents.
    pub fn tangent(
        &mut self,
        row: usize,
        tangent: &Tangent<'_>,
        pull: impl FnOnce(&Moment<'_>, &mut Bars<'_>),
    ) -> f64 {
        let (n, m) = (self.state.len(), self.control.len());
        let len = n + m + self.params.len();
        if self.rows.len() <= row * len {
            self.rows.resize((row + 1) * len, 0.0);
            let (state, rest) = self.rows[row * len..].split_at_mut(n);
            let (control, params) = rest.split_at_mut(m);
            let moment = Moment {
                world: 0,
                step: self.step,
                time: self.time,
                last: self.control.is_empty(),
                state: &self.state,
                control: &self.control,
                params: &self.params,
            };
            pull(&moment, &mut Bars { state, control, params });
        }
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let row = &self.rows[row * len..(row + 1) * len];
        dot(&row[..n], tangent.state)
            + dot(&row[n..n + m], tangent.control)
            + dot(&row[n + m..], tangent.params)
    }
}
