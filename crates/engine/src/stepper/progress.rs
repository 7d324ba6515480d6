//! How far Newton's method is in one world, and whose its next step is.

/// After so many steps those downhill have had their chance, and the equation's own are tried: where things rub, what steps go down is no
/// energy, and only the equation's own end at a solution near which J is not positive. Every so many steps they begin, and go on while so many
/// of them halve the residual, uphill or not.
const DOWNHILL: usize = 12;
const EVERY: usize = 4;
pub(super) const OWN: usize = 5;
/// After so many steps in all, own ones are by turns whole and half as long, so many at a time: whole ones may go round in circles over kinks.
const CIRCLES: usize = 48;
const TURNS: usize = 16;

/// How far one world is.
#[derive(Clone, Copy, Default)]
pub(super) struct World {
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

impl World {
    /// Goes on from a point with this residual.
    pub fn take(&mut self, norm: f64) {
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
