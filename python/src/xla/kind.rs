//! What compiled programs ask for.

use crate::error::Failure;

/// An operation, and whether it, its pullback or its pushforward is wanted.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Step,
    StepPullback,
    StepPushforward,
    Rollout,
    RolloutPullback,
    RolloutPushforward,
}

impl Kind {
    /// That of a number.
    pub fn of(number: i64) -> Option<Kind> {
        use Kind::*;
        let all = [Step, StepPullback, StepPushforward, Rollout, RolloutPullback, RolloutPushforward];
        usize::try_from(number).ok().and_then(|i| all.get(i).copied())
    }

    pub fn is_rollout(self) -> bool {
        matches!(self, Kind::Rollout | Kind::RolloutPullback | Kind::RolloutPushforward)
    }
}

/// A call that this package does not make.
pub fn refused(what: &str) -> Failure {
    Failure::Setting(format!("a call from XLA does not fit: {what}"))
}
