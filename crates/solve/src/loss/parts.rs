//! Bodies and frames that terms measure: where they are at a moment, and the derivatives of that.

use pullback_engine::Model;
use pullback_engine::articulated::Watch;
use pullback_engine::rollout::{Moment, Tangent};
use pullback_kernel::prelude::*;
use pullback_scene::{Invalid, Part};

/// A number of a part: the part, whether its velocity is meant, and the axis.
type Measured = (Part, bool, usize);

/// Watches robots at one moment after another.
pub(super) struct Parts {
    watch: Watch,
    /// Derivatives of measured numbers by the state and the params, row by row, after this step, at this state and with
    /// these params.
    rows: Vec<f64>,
    step: usize,
    state: Vec<f64>,
    params: Vec<f64>,
}

/// What a moment is made of fits the model that the terms were made for.
const FITS: &str = "moments come from rollouts of the model that the losses were made for";

impl Parts {
    pub fn new(model: &Model) -> Result<Parts, Invalid> {
        let watch = Watch::new(model).map_err(|error| {
            Invalid::new(
                "loss",
                error.to_string(),
                "measure bodies and frames of robots that can be simulated",
            )
        })?;
        Ok(Parts { watch, rows: Vec::new(), step: 0, state: Vec::new(), params: Vec::new() })
    }

    /// Looks at a moment.
    pub fn look(&mut self, moment: &Moment<'_>) {
        self.watch.run(moment.state, moment.params).expect(FITS);
    }

    /// The position of a part along an axis [m], or its velocity [m/s], at the moment that was looked at.
    pub fn value(&self, of: Part, velocity: bool, axis: usize) -> f64 {
        let Some((pose, motion)) = self.watch.part(of) else { return f64::NAN };
        let of = if velocity { motion.linear } else { pose.position };
        [of.x, of.y, of.z][axis]
    }

    /// Adds to the cotangent of that number.
    pub fn seed(&mut self, of: Part, velocity: bool, axis: usize, bar: f64) {
        let mut along = [0.0; 3];
        along[axis] = bar;
        let (along, none) = (vec3(along[0], along[1], along[2]), vec3(0.0, 0.0, 0.0));
        let (position, linear) = if velocity { (none, along) } else { (along, none) };
        let pose = Pose { rotation: mat3(none, none, none), position };
        self.watch.seed(of, pose, Motion { angular: none, linear });
    }

    /// Adds what the seeds give the state and the params.
    pub fn pull(&mut self, state_bar: &mut [f64], params_bar: &mut [f64]) {
        self.watch.pullback(state_bar, params_bar).expect(FITS);
    }

    /// Before tangents of a moment are asked for: rows stay for all directions of one moment.
    pub fn begin_rows(&mut self, moment: &Moment<'_>) {
        if self.step != moment.step || self.state != moment.state || self.params != moment.params {
            self.rows.clear();
            self.step = moment.step;
            self.state.clear();
            self.state.extend_from_slice(moment.state);
            self.params.clear();
            self.params.extend_from_slice(moment.params);
        }
    }

    /// The tangent of the number that is the `row`-th of those that are measured at the moment.
    pub fn tangent(&mut self, row: usize, (of, velocity, axis): Measured, tangent: &Tangent<'_>) -> f64 {
        let (n, len) = (self.state.len(), self.state.len() + self.params.len());
        if self.rows.len() <= row * len {
            self.watch.run(&self.state, &self.params).expect(FITS);
            self.seed(of, velocity, axis, 1.0);
            self.rows.resize((row + 1) * len, 0.0);
            let (by_state, by_params) = self.rows[row * len..].split_at_mut(n);
            self.watch.pullback(by_state, by_params).expect(FITS);
        }
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let row = &self.rows[row * len..(row + 1) * len];
        dot(&row[..n], tangent.state) + dot(&row[n..], tangent.params)
    }
}
