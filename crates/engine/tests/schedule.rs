//! Schedules make exactly as many steps as Revolve's formula says, and none makes less.

use pullback_engine::rollout::{Action, Schedule, steps_made};

/// Runs a schedule on numbers in place of states, and counts steps.
fn run(steps: usize, snapshots: usize) -> usize {
    let mut slots = vec![usize::MAX; snapshots.min(steps)];
    let (mut at, mut made, mut left) = (0, 0, steps);
    for action in Schedule::new(steps, snapshots) {
        match action {
            Action::Keep { step, slot } => {
                assert_eq!(step, at);
                slots[slot] = at;
            }
            Action::Return { step, slot } => {
                assert_eq!(slots[slot], step);
                at = step;
            }
            Action::Advance { step } => {
                assert_eq!(step, at);
                (at, made) = (at + 1, made + 1);
            }
            Action::Pull { step } => {
                assert_eq!((step, step + 1), (at, left));
                (left, made) = (left - 1, made + 1);
            }
        }
    }
    assert_eq!(left, 0);
    made
}

/// targets: (l, s, steps made in all), computed by dynamic programming and by the package checkpoint_schedules.
const TABLE: [(usize, usize, usize); 13] = [
    (10, 3, 25),
    (50, 3, 230),
    (100, 5, 416),
    (100, 10, 322),
    (1000, 5, 7284),
    (1000, 10, 4636),
    (1000, 20, 3747),
    (1000, 50, 2948),
    (10000, 10, 67624),
    (10000, 30, 44016),
    (10000, 100, 34747),
    (100000, 20, 634220),
    (1000000, 30, 6623008),
];

#[test]
fn as_many_steps_as_the_table_says() {
    for (steps, snapshots, made) in TABLE {
        assert_eq!(steps_made(steps, snapshots), made, "{steps} steps, {snapshots} snapshots");
        assert_eq!(run(steps, snapshots), made, "{steps} steps, {snapshots} snapshots");
    }
}

/// The least number of steps, by trying every place for the next snapshot.
#[test]
fn no_schedule_makes_less() {
    let (most_steps, most_slots) = (60, 6);
    let mut least = vec![vec![0usize; most_slots + 1]; most_steps + 1];
    for l in 2..=most_steps {
        for s in 1..=most_slots {
            least[l][s] = match s {
                1 => l * (l - 1) / 2,
                _ => (1..l).map(|k| k + least[k][s] + least[l - k][s - 1]).min().expect("a place"),
            };
        }
    }
    for l in 1..=most_steps {
        for s in 1..=most_slots {
            assert_eq!(run(l, s), least[l][s] + l, "{l} steps, {s} snapshots");
        }
    }
}

#[test]
fn with_a_slot_for_every_step_each_is_made_twice_but_the_last() {
    for steps in [1, 2, 3, 100] {
        assert_eq!(run(steps, steps), 2 * steps - 1);
        assert_eq!(run(steps, steps + 7), 2 * steps - 1);
    }
    assert_eq!(Schedule::new(0, 3).next(), None);
}
