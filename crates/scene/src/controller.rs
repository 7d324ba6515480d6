//! Controllers inside the rollout.

/// A small network that adds to controls in every step: u' = u + scale · tanh(b + W s + G y), with sinusoids s of time and numbers y of
/// the state. Its weights W, gains G and biases b are params.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Its name.
    pub name: String,
    /// The controls that it drives, all of one kind: `gear.actuation`, `arm.*.control`.
    pub drives: String,
    /// Angular frequencies ω [rad/s] and phases φ [rad] of sin(ω t + φ).
    pub sinusoids: Vec<[f64; 2]>,
    /// Numbers of the state that it sees, by name: `ball.position.z`, `arm.elbow.position`; globs are allowed.
    pub features: Vec<String>,
    /// The most that it adds to a control, in that control's unit.
    pub scale: f64,
    /// A weight for each control and sinusoid, those of one control side by side; empty: all 0.
    pub weights: Vec<f64>,
    /// A gain for each control and number of the state, those of one control side by side; empty: all 0.
    pub gains: Vec<f64>,
    /// A bias for each control; empty: all 0.
    pub biases: Vec<f64>,
}

impl Controller {
    /// A controller of time alone, whose weights are 0: `count` sinusoids of one angular frequency [rad/s], evenly out of phase.
    pub fn new(name: impl Into<String>, drives: impl Into<String>, frequency: f64, count: usize) -> Self {
        let phase = |i: usize| std::f64::consts::TAU * i as f64 / count as f64;
        Self {
            name: name.into(),
            drives: drives.into(),
            sinusoids: (0..count).map(|i| [frequency, phase(i)]).collect(),
            features: Vec::new(),
            scale: 1.0,
            weights: Vec::new(),
            gains: Vec::new(),
            biases: Vec::new(),
        }
    }

    /// The same, which adds so much at most.
    #[must_use]
    pub fn scale(self, scale: f64) -> Self {
        Self { scale, ..self }
    }

    /// The same, which sees these numbers of the state, too.
    #[must_use]
    pub fn seeing(self, features: &[&str]) -> Self {
        Self { features: features.iter().map(ToString::to_string).collect(), ..self }
    }
}
