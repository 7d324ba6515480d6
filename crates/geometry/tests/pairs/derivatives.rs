//! Every pair's pullback against differences of its own contact, by poses and by sizes, in random states.

use crate::common::{At, Placed, Random, features, ground_state, grounds, solids, state};
use pullback_geometry::{Kind, Pair};
use pullback_kernel::gradcheck;

/// States of each pair.
const STATES: usize = 220;

fn check(a: &Kind, b: &Kind) {
    check_in(a, b, |random| state([a, b], random));
}

fn check_in(a: &Kind, b: &Kind, state: impl Fn(&mut Random) -> [Placed; 2]) {
    let Some(pair) = Pair::new(a, b) else { return };
    let name = format!("{}-{}", a.name(), b.name());
    let (mut states, mut checked, mut rough, mut worst) = (0, 0, 0, 0.0_f64);
    let mut random = Random::seeded(3);
    let mut tries = 0;
    while states < STATES {
        tries += 1;
        assert!(tries < 20 * STATES, "{name}: only {states} of {tries} random states touch");
        let at = state(&mut random);
        let found = features(&pair, &at, 0.3);
        states += usize::from(!found.is_empty());
        for feature in found {
            let function = At { name: name.clone(), pair: &pair, feature, state: &at };
            if !function.is_smooth() {
                rough += 1;
                continue;
            }
            let report = gradcheck::check(&function, &function.here());
            let report = report.unwrap_or_else(|report| panic!("{report}\n{at:?}"));
            worst = worst.max(report.worst.error);
            checked += 1;
        }
    }
    println!("{name}: {checked} contacts of {states} states, {rough} not smooth, worst error {worst:.1e}");
    assert!(rough * 10 < checked, "{name}: {rough} contacts of {checked} are not smooth");
}

#[test]
fn of_pairs_with_a_plane() {
    for kind in solids() {
        check(&Kind::Plane, &kind);
        check(&kind, &Kind::Plane);
    }
}

#[test]
fn of_pairs_of_solids() {
    for a in solids() {
        for b in solids() {
            check(&a, &b);
        }
    }
}

#[test]
fn of_pairs_with_ground() {
    for (ground, sizes) in grounds() {
        for kind in solids() {
            check_in(&kind, &ground, |random| ground_state(&kind, &sizes, random));
            check_in(&ground, &kind, |random| {
                let [a, b] = ground_state(&kind, &sizes, random);
                [b, a]
            });
        }
    }
}
