//! Particles whose motion is given.

use crate::scene::Oscillation;

/// Particles, such as points of a solid or sheet, that move as they are told, whatever pushes them:
/// x(t) = x(0) + ∫ v dt + a (cos(2π frequency t + phase) - cos phase).
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedMotion {
    /// Its name.
    pub name: String,
    /// The particles, counted over all groups in order.
    pub points: Vec<usize>,
    /// The velocity v.
    pub velocity: Velocity,
    /// The amplitude a [m] of a swing, and how it goes; `None`: there is none.
    pub swing: Option<([f64; 3], Oscillation)>,
}

/// A velocity that is given [m/s].
#[derive(Clone, Debug, PartialEq)]
pub enum Velocity {
    /// A param: the same all the time.
    Steady([f64; 3]),
    /// A control: one value for all steps, or one for each step.
    Control(Vec<[f64; 3]>),
}

impl PrescribedMotion {
    /// Particles that move at this velocity [m/s], a param.
    pub fn steady(name: impl Into<String>, points: Vec<usize>, velocity: [f64; 3]) -> Self {
        Self { name: name.into(), points, velocity: Velocity::Steady(velocity), swing: None }
    }

    /// Particles whose velocity [m/s] is a control: one value for all steps, or one for each step.
    pub fn controlled(name: impl Into<String>, points: Vec<usize>, controls: Vec<[f64; 3]>) -> Self {
        Self { name: name.into(), points, velocity: Velocity::Control(controls), swing: None }
    }

    /// The same, which swing besides: amplitude [m], frequency [Hz], phase [rad].
    #[must_use]
    pub fn oscillating(self, amplitude: [f64; 3], frequency: f64, phase: f64) -> Self {
        Self { swing: Some((amplitude, Oscillation { frequency, phase })), ..self }
    }

    /// How fast they move at the start [m/s].
    pub fn initial_velocity(&self) -> [f64; 3] {
        let first = match &self.velocity {
            Velocity::Steady(velocity) => *velocity,
            Velocity::Control(controls) => controls.first().copied().unwrap_or_default(),
        };
        let Some((amplitude, Oscillation { frequency, phase })) = self.swing else { return first };
        let rate = -std::f64::consts::TAU * frequency * phase.sin();
        std::array::from_fn(|axis| first[axis] + rate * amplitude[axis])
    }
}
