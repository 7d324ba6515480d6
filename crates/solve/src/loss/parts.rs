//! Bodies and frames that terms measure: where they are at a moment, and the derivatives of that.

use pullback_engine::Model;
use pullback_engine::articulated::Watch;
use pullback_engine::rollout::{Bars, Moment, Tangent};
use pullback_kernel::prelude::*;
use pullback_scene::{Invalid, Part};

use super::rows::Rows;

/// A number of a part: the part, whether its velocity is meant, and the axis.
pub(super) type Measured = (Part, bool, usize);

/// Watches robots at one moment after another.
pub(super) struct Parts {
    watch: Watch,
    rows: Rows,
}

/// What a moment is made of fits the model that the terms were made for.
pub(super) const FITS: &str = "moments come from rollouts of the model that the losses were made for";

impl Parts {
    pub fn new(model: &Model) -> Result<Parts, Invalid> {
        let watch = Watch::new(model).map_err(|error| {
            Invalid::new(
                "loss",
                error.to_string(),
                "measure bodies and frames of robots that can be simulated",
            )
        })?;
        Ok(Parts { watch, rows: Rows::default() })
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
        seed(&mut self.watch, (of, velocity, axis), bar);
    }

    /// Adds what the seeds give the state and the params.
    pub fn pull(&mut self, bars: &mut Bars<'_>) {
        self.watch.pullback(bars.state, bars.params).expect(FITS);
    }

    /// The tangent of the number that is the `row`-th of those that are measured at the moment.
    pub fn tangent(
        &mut self,
        row: usize,
        number: Measured,
        moment: &Moment<'_>,
        tangent: &Tangent<'_>,
    ) -> f64 {
        self.rows.begin(moment);
        self.rows.tangent(row, tangent, |moment, bars| {
            self.watch.run(moment.state, moment.params).expect(FITS);
            seed(&mut self.watch, number, 1.0);
            self.watch.pullback(bars.state, bars.params).expect(FITS);
        })
    }
}

fn seed(watch: &mut Watch, (of, velocity, axis): Measured, bar: f64) {
    let mut along = [0.0; 3];
    along[axis] = bar;
    let (along, none) = (vec3(along[0], along[1], along[2]), vec3(0.0, 0.0, 0.0));
    let (position, linear) = if velocity { (none, along) } else { (along, none) };
    let pose = Pose { rotation: mat3(none, none, none), position };
    watch.seed(of, pose, Motion { angular: none, linear });
}
