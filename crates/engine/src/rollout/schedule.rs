//! Which states to keep so that a rollout can be read backwards: Revolve (Griewank & Walther 2000, Algorithm 799).
//!
//! With s snapshots, the one of the first state included, and at most r forward runs of any step, β(s, r) = C(s + r, s)
//! steps can be reversed. For l steps with the least such r, the steps made again and again are
//! t(l, s) = r l - β(s + 1, r - 1), and none can do with less.

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Keep the state before step `step` in a slot.
    Keep {
        /// Which step comes next.
        step: usize,
        /// Where to keep the state.
        slot: usize,
    },
    /// Go back to the state before step `step`, which is in a slot.
    Return {
        /// Which step comes next.
        step: usize,
        /// Where the state is.
        slot: usize,
    },
    /// Make step `step`.
    Advance {
        /// Which.
        step: usize,
    },
    /// Make step `step`, and pull back through it.
    Pull {
        /// Which.
        step: usize,
    },
}

/// The actions that read `steps` steps backwards with `snapshots` slots, in order.
#[derive(Clone, Debug)]
pub struct Schedule {
    snapshots: usize,
    /// Where the stretches that are still to be reversed begin: each ends where the next begins, and has the slot of its
    /// place. Empty if every state is kept.
    starts: Vec<usize>,
    /// How many stretches there are.
    depth: usize,
    /// Where the last stretch ends.
    end: usize,
    /// The step before which the running state is.
    at: Option<usize>,
    /// Where the running state is to go.
    target: Option<usize>,
    begun: bool,
    every: bool,
}

impl Schedule {
    /// For so many steps, with so many slots (at least one).
    pub fn new(steps: usize, snapshots: usize) -> Schedule {
        let snapshots = snapshots.clamp(1, steps.max(1));
        let every = snapshots >= steps;
        Schedule {
            snapshots,
            starts: vec![0; if every { 0 } else { snapshots }],
            depth: 1,
            end: steps,
            at: Some(0),
            target: None,
            begun: false,
            every,
        }
    }

    /// How many slots it uses.
    pub fn snapshots(&self) -> usize {
        self.snapshots
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.starts.len() * size_of::<usize>()
    }

    /// Starts again.
    pub fn restart(&mut self, steps: usize) {
        (self.depth, self.end, self.at, self.target, self.begun) = (1, steps, Some(0), None, false);
    }

    fn start(&self, stretch: usize) -> usize {
        if self.every { stretch } else { self.starts[stretch] }
    }
}

impl Iterator for Schedule {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        if self.end == 0 {
            return None;
        }
        if !std::mem::replace(&mut self.begun, true) {
            return Some(Action::Keep { step: 0, slot: 0 });
        }
        let slot = self.depth - 1;
        let start = self.start(slot);
        let length = self.end - start;
        let Some(at) = self.at else {
            self.at = Some(start);
            return Some(Action::Return { step: start, slot });
        };
        if length == 1 {
            // The last step of the stretch, and the first: its slot is free then.
            self.end = start;
            self.depth -= 1;
            self.at = None;
            return Some(Action::Pull { step: start });
        }
        let slots = self.snapshots - slot;
        let target = *self.target.get_or_insert_with(|| start + split(length, slots));
        if at < target {
            self.at = Some(at + 1);
            return Some(Action::Advance { step: at });
        }
        self.target = None;
        if slots == 1 {
            self.end = target;
            self.at = None;
            return Some(Action::Pull { step: target });
        }
        if !self.every {
            self.starts[self.depth] = target;
        }
        self.depth += 1;
        Some(Action::Keep { step: target, slot: slot + 1 })
    }
}

/// How far to go before the next snapshot, of `length` steps with `slots` slots.
fn split(length: usize, slots: usize) -> usize {
    if slots == 1 {
        return length - 1;
    }
    let (l, s) = (length as u128, slots as u128);
    let r = repetitions(length, slots) as u128;
    // What is left of the cut is run r - 1 times more at most, and what is right of it r times.
    let least_left = if r >= 2 { binomial(s, r - 2) } else { 0 };
    least_left.max(l.saturating_sub(binomial(s - 1, r))).max(1) as usize
}

/// The least r with β(s, r) ≥ l.
pub fn repetitions(length: usize, slots: usize) -> usize {
    (0..).find(|&r| binomial(slots as u128, r as u128) >= length as u128).unwrap_or(length)
}

/// How many steps reversing makes in all, those included that are pulled back through: t(l, s) + l.
pub fn steps_made(length: usize, slots: usize) -> usize {
    if length == 0 {
        return 0;
    }
    let slots = slots.clamp(1, length);
    let r = repetitions(length, slots);
    if r == 0 {
        return length;
    }
    (r + 1) * length - binomial(slots as u128 + 1, r as u128 - 1) as usize
}

/// β(s, r) = C(s + r, s), or a number that is larger than any number of steps.
fn binomial(s: u128, r: u128) -> u128 {
    let mut value: u128 = 1;
    for i in 1..=r.min(s) {
        value = value * (s + r - r.min(s) + i) / i;
        if value > u64::MAX as u128 {
            return value;
        }
    }
    value
}
