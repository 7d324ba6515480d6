//! How far Newton's method is in one world, and whose its next step is.

/// A residual of so many roundings is zero, and so is a step.
pub const ROUNDINGS: f64 = 4.0;
/// Where rounding keeps a residual from getting smaller, it may be this much of the velocities.
const LOOSE: f64 = 1e-7;
/// A step that goes downhill is long enough, and not too long, if it goes uphill at its end no steeper than by this part of that.
const FLATTER: f64 = 0.9;
/// After so many steps those downhill have had their chance, and the equation's own are tried: where things rub, what steps go down is no
/// energy, and only the equation's own end at a solution near which J is not positive. Every so many steps they begin, and go on while so many
/// of them halve the residual, uphill or not.
const DOWNHILL: usize = 12;
const EVERY: usize = 4;
const OWN: usize = 5;
/// After so many steps in all, own ones are by turns whole and half as long, so many at a time: whole ones may go round in circles over kinks.
const CIRCLES: usize = 48;
const TURNS: usize = 16;

/// How far one world is.
#[derive(Clone, Copy, Default)]
pub struct World {
    pub done: bool,
    /// The largest residual at `from`.
    pub norm: f64,
    /// How much of the step is tried.
    pub fraction: f64,
    /// How steep it goes down at `from` along the step, where that is known.
    pub slope: Option<f64>,
    /// Has a step been taken?
    pub moved: bool,
    /// May the residual at `from` be the rounding of forces?
    pub rounding: bool,
    /// How many steps were taken.
    pub taken: usize,
    /// Is the step that is tried the equation's own, where one downhill was another? How many were taken since the residual was halved, and what
    /// it was then. And were they of no use from here?
    pub own: bool,
    pub own_steps: usize,
    pub home: f64,
    pub refused: bool,
    /// The particles of the soft surfaces that let the step go no further.
    pub held: Option<[u32; 4]>,
}

/// What becomes of a point that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the solution.
    Arrived,
    /// It is better: the next step begins there.
    Better,
    /// The solution is where the step began: what is left is rounding.
    Back,
    /// Steps go on from where those of the equation's own began.
    Home,
    /// A shorter step is tried.
    Shorter,
}

impl World {
    /// Before the first point was looked at.
    pub fn begin() -> World {
        World { norm: f64::INFINITY, fraction: 1.0, ..World::default() }
    }

    /// Judges a point by its largest residual, the largest velocity, and the slope there along the step, where something is known that
    /// falls.
    pub fn judge(
        &mut self,
        norm: f64,
        [scale, epsilon]: [f64; 2],
        slope: impl FnOnce() -> Option<f64>,
    ) -> Verdict {
        if norm <= ROUNDINGS * epsilon * scale {
            self.done = true;
            return Verdict::Arrived;
        }
        if self.own && norm.is_finite() && (norm < 0.5 * self.home || self.own_steps < OWN) {
            self.moved = true;
            self.take(norm);
            return Verdict::Better;
        }
        if !self.own && norm < self.norm {
            // Halved steps have done their work; the next is whole again.
            self.moved |= self.norm.is_finite();
            self.take(norm);
            return Verdict::Better;
        }
        if self.rounding || self.norm <= LOOSE * scale {
            self.done = true;
            return Verdict::Back;
        }
        if self.own {
            self.give_up();
            return Verdict::Home;
        }
        let (Some(first), true) = (self.slope, norm.is_finite()) else {
            self.fraction *= 0.5;
            return Verdict::Shorter;
        };
        // What falls is an energy, which a smaller residual need not come with.
        let slope = slope().unwrap_or(f64::INFINITY);
        if first < 0.0 && slope <= -FLATTER * first {
            self.moved = true;
            self.take(norm);
            return Verdict::Better;
        }
        // Where the slope would be zero if it grew evenly.
        self.fraction *= (first / (first - slope)).clamp(0.1, 0.5);
        Verdict::Shorter
    }

    /// Goes on from a point with this residual.
    fn take(&mut self, norm: f64) {
        self.refused = self.fraction == 0.0;
        (self.norm, self.fraction, self.taken) = (norm, 1.0, self.taken + 1);
    }

    /// Gives up steps of the equation's own: what is tried next is where they began.
    pub fn give_up(&mut self) {
        (self.norm, self.fraction, self.own) = (f64::INFINITY, 0.0, false);
    }

    /// Is the next step half as long?
    pub fn is_halved(&self) -> bool {
        self.own && self.taken >= CIRCLES && ((self.taken - CIRCLES) / TURNS).is_multiple_of(2)
    }

    /// Decides whose the next step is. True if the way back from it is here.
    pub fn goes_own_way(&mut self) -> bool {
        let begins = !self.own && self.taken >= DOWNHILL && !self.refused && self.taken.is_multiple_of(EVERY);
        let halved = begins || (self.own && self.norm < 0.5 * self.home);
        if halved {
            (self.own, self.own_steps, self.home) = (true, 0, self.norm);
        }
        self.own_steps += usize::from(self.own);
        halved
    }
}
