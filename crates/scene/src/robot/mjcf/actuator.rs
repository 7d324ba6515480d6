//! Actuators, as classes and elements describe them.

use super::compiler::set;
use super::range::Range;
use crate::error::Error;
use crate::robot::xml::Element;

/// What multiplies the control, or is added to the force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// Nothing: no bias.
    None,
    /// A constant: the first number.
    Fixed,
    /// a + b length + c velocity.
    Affine,
    /// Muscles, plugins and others.
    Other,
}

/// What a class or an element says of an actuator.
#[derive(Clone, Debug)]
pub(super) struct ActuatorSpec {
    /// The name of the element that last set the law, if it was a short form such as `<position>`.
    short: Option<String>,
    pub gain: Law,
    pub bias: Law,
    pub gain_numbers: [f64; 10],
    pub bias_numbers: [f64; 10],
    /// What makes the force lag behind, other than `none`: `filter`, `integrator`.
    pub dynamics: Option<String>,
    pub gear: [f64; 6],
    pub control: Range,
    pub force: Range,
    /// How much of the joint's range the control has; 0: none of it.
    pub inherit_range: f64,
    pub delay: f64,
    pub damping: [f64; 3],
    pub armature: f64,
}

impl Default for ActuatorSpec {
    fn default() -> Self {
        let mut gain_numbers = [0.0; 10];
        gain_numbers[0] = 1.0;
        Self {
            short: None,
            gain: Law::Fixed,
            bias: Law::None,
            gain_numbers,
            bias_numbers: [0.0; 10],
            dynamics: None,
            gear: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            control: Range::default(),
            force: Range::default(),
            inherit_range: 0.0,
            delay: 0.0,
            damping: [0.0; 3],
            armature: 0.0,
        }
    }
}

impl ActuatorSpec {
    /// Takes over what an element of any kind of actuator says.
    pub fn read(&mut self, element: Element<'_>) -> Result<(), Error> {
        self.control.read(element, "ctrlrange", "ctrllimited")?;
        self.force.read(element, "forcerange", "forcelimited")?;
        element.fill("gear", &mut self.gear)?;
        set(&mut self.delay, element.number("delay")?);
        match element.name() {
            "general" => self.read_general(element)?,
            "motor" => {
                self.restart();
            }
            "position" => self.read_position(element)?,
            "velocity" => self.read_velocity(element)?,
            "damper" => self.read_damper(element)?,
            // Reported where it is used.
            other => self.dynamics = Some(other.to_owned()),
        }
        if element.name() != "general" {
            self.short = Some(element.name().to_owned());
        }
        if let "general" | "motor" | "position" | "velocity" | "damper" = element.name() {
            element.fill("damping", &mut self.damping)?;
            set(&mut self.armature, element.number("armature")?);
        }
        Ok(())
    }

    /// The law of a motor: force = control.
    fn restart(&mut self) {
        let new = Self::default();
        (self.gain, self.bias) = (new.gain, new.bias);
        (self.gain_numbers, self.bias_numbers) = (new.gain_numbers, new.bias_numbers);
        self.dynamics = None;
    }

    /// Whether a short form goes on from what was there: from itself, or from a `<general>` with a constant gain.
    fn goes_on(&self, short: &str) -> bool {
        match &self.short {
            Some(before) => before == short,
            None => self.gain == Law::Fixed,
        }
    }

    fn read_general(&mut self, element: Element<'_>) -> Result<(), Error> {
        let gains = [
            ("fixed", Law::Fixed),
            ("affine", Law::Affine),
            ("muscle", Law::Other),
            ("dcmotor", Law::Other),
            ("so3", Law::Other),
            ("pid", Law::Other),
            ("user", Law::Other),
        ];
        let biases = [
            ("none", Law::None),
            ("affine", Law::Affine),
            ("muscle", Law::Other),
            ("dcmotor", Law::Other),
            ("so3", Law::Other),
            ("user", Law::Other),
        ];
        set(&mut self.gain, element.choice("gaintype", &gains)?);
        set(&mut self.bias, element.choice("biastype", &biases)?);
        element.fill("gainprm", &mut self.gain_numbers)?;
        element.fill("biasprm", &mut self.bias_numbers)?;
        let dynamics = ["none", "integrator", "filter", "filterexact", "muscle", "dcmotor", "pid", "user"];
        let dynamics = dynamics.map(|name| (name, name));
        if let Some(name) = element.choice("dyntype", &dynamics)? {
            self.dynamics = (name != "none").then(|| name.to_owned());
        }
        Ok(())
    }

    /// force = kp (control - length) - kv velocity. A damping ratio is kept as a positive number in the place of -kv until
    /// the inertia is known.
    fn read_position(&mut self, element: Element<'_>) -> Result<(), Error> {
        let lag = self.dynamics.take();
        if !self.goes_on("position") {
            self.restart();
        } else if self.short.is_some() {
            self.dynamics = lag;
        }
        let kp = element.number("kp")?.unwrap_or(self.gain_numbers[0]);
        let mut rate = self.bias_numbers[2];
        let (kv, ratio) = (element.number("kv")?, element.number("dampratio")?);
        if kv.is_some() && ratio.is_some() {
            let fix = "keep one of the two: kv [N·s/m or N·m·s/rad], or dampratio";
            return Err(element.error_at("dampratio", "there are both `kv` and `dampratio`", fix));
        }
        for (attribute, value) in [("kv", kv), ("dampratio", ratio)] {
            if value.is_some_and(|value| value < 0.0) {
                return Err(element.error_at(
                    attribute,
                    "it is negative",
                    "write a number that is not negative",
                ));
            }
        }
        set(&mut rate, kv.map(|kv| -kv));
        set(&mut rate, ratio);
        if let Some(time) = element.number("timeconst")? {
            self.dynamics = (time != 0.0).then(|| "filterexact".to_owned());
        }
        set(&mut self.inherit_range, element.number("inheritrange")?);
        (self.gain, self.bias) = (Law::Fixed, Law::Affine);
        self.gain_numbers[..3].copy_from_slice(&[kp, 0.0, 0.0]);
        self.bias_numbers[..3].copy_from_slice(&[0.0, -kp, rate]);
        Ok(())
    }

    /// force = kv (control - velocity).
    fn read_velocity(&mut self, element: Element<'_>) -> Result<(), Error> {
        if !self.goes_on("velocity") {
            self.restart();
        }
        let kv = element.number("kv")?.unwrap_or(self.gain_numbers[0]);
        self.restart();
        self.bias = Law::Affine;
        self.gain_numbers[0] = kv;
        self.bias_numbers[2] = -kv;
        Ok(())
    }

    /// force = -kv velocity control, for controls that are not negative.
    fn read_damper(&mut self, element: Element<'_>) -> Result<(), Error> {
        let before = if self.short.as_deref() == Some("damper") { -self.gain_numbers[2] } else { 0.0 };
        let kv = element.number("kv")?.unwrap_or(before);
        if kv < 0.0 {
            return Err(element.error_at("kv", "it is negative", "write a number that is not negative"));
        }
        if self.control.ends[0] < 0.0 || self.control.ends[1] < 0.0 {
            let fix = "write ctrlrange=\"0 MOST\"";
            return Err(element.error_at("ctrlrange", "the control of a damper is not negative", fix));
        }
        self.restart();
        self.gain = Law::Affine;
        self.gain_numbers[..3].copy_from_slice(&[0.0, 0.0, -kv]);
        self.control.limited = Some(true);
        Ok(())
    }

    /// (g0, g1, g2) and (b0, b1, b2); `None` for laws that are not supported.
    pub fn numbers(&self) -> Option<([f64; 3], [f64; 3])> {
        let of = |law: Law, numbers: &[f64; 10]| match law {
            Law::None => Some([0.0; 3]),
            Law::Fixed => Some([numbers[0], 0.0, 0.0]),
            Law::Affine => Some([numbers[0], numbers[1], numbers[2]]),
            Law::Other => None,
        };
        Some((of(self.gain, &self.gain_numbers)?, of(self.bias, &self.bias_numbers)?))
    }
}
