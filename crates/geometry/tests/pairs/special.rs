//! States that are special: shapes at rest on each other, coincident centres, upright cylinders, and nothing is ever NaN.

use crate::common::{
    At, Placed, Random, SPACING, features, ground_state, grounds, random_hull, solids, state,
};
use pullback_geometry::{Contact, Hull, Kind, Pair};
use pullback_kernel::gradcheck::{self, Function};
use pullback_kernel::prelude::*;

const UP: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 1.0 };

fn at(x: f64, y: f64, z: f64, sizes: &[f64]) -> Placed {
    Placed { pose: Pose { rotation: identity(), position: Vec3 { x, y, z } }, sizes: sizes.to_vec() }
}

fn turned(mut placed: Placed, axis: Vec3, angle: f64) -> Placed {
    placed.pose.rotation = rotation_matrix(quat_exp(axis * angle)) * placed.pose.rotation;
    placed
}

fn contacts(a: &Kind, b: &Kind, state: &[Placed; 2], margin: f64) -> Vec<Contact> {
    let pair = Pair::new(a, b).expect("a pair");
    let found = features(&pair, state, margin);
    found.into_iter().map(|feature| crate::common::contact(&pair, feature, state)).collect()
}

/// Passes at a special state, where differences are taken as they are.
fn check_derivatives(a: &Kind, b: &Kind, state: &[Placed; 2], margin: f64) {
    let pair = Pair::new(a, b).expect("a pair");
    for feature in features(&pair, state, margin) {
        let function = At { name: format!("{}-{}", a.name(), b.name()), pair: &pair, feature, state };
        gradcheck::check(&function, &function.here()).unwrap_or_else(|report| panic!("{report}"));
    }
}

#[test]
fn a_box_rests_on_a_box_with_four_corners() {
    for noise in [0.0, 1e-13, -1e-13] {
        for (dx, dy) in [(0.0, 0.0), (0.3, -0.2), (0.9, 0.0)] {
            let state = [
                at(0.0, 0.0, 0.0, &[0.5, 0.5, 0.5]),
                turned(at(dx + noise, dy, 1.0 - 1e-4 + noise, &[0.5, 0.5, 0.5]), UP, noise),
            ];
            let found = contacts(&Kind::Box, &Kind::Box, &state, 0.01);
            assert_eq!(found.len(), 4, "{found:?}");
            for contact in &found {
                assert!(length(contact.normal - UP) < 1e-12 && (contact.gap + 1e-4).abs() < 1e-12);
            }
            // The common rectangle, corner by corner.
            let reach = |f: fn(&Vec3) -> f64| {
                let all = found.iter().map(|contact| f(&contact.point));
                (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max))
            };
            let ((x0, x1), (y0, y1)) = (reach(|p| p.x), reach(|p| p.y));
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(close(x0, (dx - 0.5).max(-0.5)) && close(x1, (dx + 0.5).min(0.5)), "{found:?}");
            assert!(close(y0, (dy - 0.5).max(-0.5)) && close(y1, (dy + 0.5).min(0.5)), "{found:?}");
        }
    }
}

/// What detection decides at rest does not hang on rounding.
#[test]
fn noise_does_not_change_features() {
    let lying = |placed| turned(placed, Vec3 { x: 0.0, y: 1.0, z: 0.0 }, std::f64::consts::FRAC_PI_2);
    let cases = [
        (Kind::Box, Kind::Box, [at(0.0, 0.0, 0.0, &[0.5; 3]), at(0.0, 0.0, 1.0, &[0.5; 3])]),
        (Kind::Box, Kind::Box, [at(0.0, 0.0, 0.0, &[0.5; 3]), at(0.3, 0.0, 1.0, &[0.5; 3])]),
        (Kind::Capsule, Kind::Capsule, [at(0.0, 0.0, 0.0, &[0.1, 0.5]), at(0.2, 0.0, 0.0, &[0.1, 0.5])]),
        (Kind::Box, Kind::Capsule, [at(0.0, 0.0, 0.0, &[0.5; 3]), lying(at(0.0, 0.0, 0.6, &[0.1, 0.5]))]),
    ];
    for (a, b, state) in cases {
        let pair = Pair::new(&a, &b).expect("a pair");
        let expected = features(&pair, &state, 0.01);
        assert!(expected.len() >= 2);
        let mut random = Random::seeded(77);
        for _ in 0..200 {
            let mut moved = state.clone();
            for placed in &mut moved {
                let axis = random.vec3() * 1e-13;
                placed.pose.position = placed.pose.position + random.vec3() * 1e-13;
                placed.pose.rotation = rotation_matrix(quat_exp(axis)) * placed.pose.rotation;
            }
            assert_eq!(features(&pair, &moved, 0.01), expected, "{}-{}", a.name(), b.name());
        }
    }
}

/// States that a diverged simulation comes to: no panic, and nothing is found at NaN.
#[test]
fn bad_states_do_not_panic() {
    let mut kinds: Vec<(Kind, Vec<f64>)> = grounds().into();
    let mut random = Random::seeded(12);
    kinds.extend(solids().into_iter().chain([Kind::Plane]).map(|kind| {
        let sizes = crate::common::sizes(&kind, &mut random);
        (kind, sizes)
    }));
    for (a, sizes_a) in &kinds {
        for (b, sizes_b) in &kinds {
            let Some(pair) = Pair::new(a, b) else { continue };
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 1e-300] {
                let mut state = [at(0.0, 0.0, 0.0, sizes_a), at(0.1, 0.2, 0.3, sizes_b)];
                state[0].pose.position.y = bad;
                let found = features(&pair, &state, 0.1);
                assert!(!bad.is_nan() || found.is_empty(), "{}-{}", a.name(), b.name());
                state[0].pose.position.y = 0.0;
                state[1].pose.rotation.x.z = bad;
                features(&pair, &state, 0.1);
            }
        }
    }
}

/// A cylinder that stands on a box, on flat ground, or, as a hull, on a plane, is carried all around its rim.
#[test]
fn a_standing_cylinder_is_carried_all_around() {
    let hull = Hull::new(&crate::common::stand_in(&Kind::Cylinder, &[0.2, 0.3])).expect("a prism");
    let corners = hull.corners().to_vec();
    let heights = pullback_geometry::Heights::new(&[0.0; 81], 9, [0.25, 0.25]).expect("a grid");
    let upright = |sizes: &[f64]| at(0.03, 0.02, 0.3 - 1e-4, sizes);
    let cases = [
        (Kind::Box, at(0.0, 0.0, -0.1, &[0.5, 0.5, 0.1]), Kind::Cylinder, upright(&[0.2, 0.3])),
        (Kind::Cylinder, at(0.0, 0.0, -0.1, &[0.5, 0.1]), Kind::Cylinder, upright(&[0.2, 0.3])),
        (Kind::Heights(heights.into()), at(0.0, 0.0, 0.0, &[0.0; 81]), Kind::Cylinder, upright(&[0.2, 0.3])),
        (Kind::Plane, at(0.0, 0.0, 0.0, &[]), Kind::Hull(hull.into()), upright(&corners)),
    ];
    for (below, below_at, above, above_at) in cases {
        for noise in [0.0, 1e-13, -1e-13] {
            let tilted = turned(above_at.clone(), Vec3 { x: 0.6, y: 0.8, z: 0.0 }, noise);
            let found = contacts(&below, &above, &[below_at.clone(), tilted], 0.01);
            assert_eq!(found.len(), 8, "{}-{}", below.name(), above.name());
            let mut angles: Vec<f64> = found
                .iter()
                .map(|contact| (contact.point.y - 0.02).atan2(contact.point.x - 0.03).to_degrees())
                .collect();
            angles.sort_by(f64::total_cmp);
            let gaps = (0..8).map(|i| (angles[(i + 1) % 8] - angles[i]).rem_euclid(360.0));
            assert!(gaps.fold(0.0, f64::max) < 60.0, "{}-{}: {angles:?}", below.name(), above.name());
            for contact in &found {
                assert!((contact.gap + 1e-4).abs() < 1e-9 && (contact.normal.z - 1.0).abs() < 1e-9);
            }
        }
    }
}

/// An ellipsoid that slides past a box, over its face, an edge and a corner: its gap changes by no more than it moves, but for what
/// its stand-in is off.
#[test]
fn an_ellipsoid_slides_past_a_box_without_jumps() {
    let step = 1e-4;
    for height in [0.82, 0.76] {
        let mut random = Random::seeded(52);
        for _ in 0..4 {
            let rotation = random.rotation();
            let (mut before, mut faces) = (None, [0; 2]);
            for i in 0..8000 {
                let x = step * f64::from(i);
                let mut ellipsoid = at(x, 0.6 * x + 0.1, height, &[0.3, 0.2, 0.25]);
                ellipsoid.pose.rotation = rotation;
                let found =
                    contacts(&Kind::Box, &Kind::Ellipsoid, &[at(0.0, 0.0, 0.0, &[0.5; 3]), ellipsoid], 0.5);
                let gap = found.iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min);
                if let Some(before) = before {
                    let jump = f64::abs(gap - before);
                    assert!(jump < 1.2 * step + 0.012 * 0.3, "{jump} at {x}");
                }
                before = Some(gap);
                faces[usize::from(found[0].normal.z > 0.999_999)] += 1;
            }
            assert!(faces[0] > 500 && faces[1] > 500, "{faces:?}");
        }
    }
}

/// A box turned by an eighth of a turn on another: an octagon.
#[test]
fn a_turned_box_rests_with_eight_points() {
    let state = [
        at(0.0, 0.0, 0.0, &[0.5, 0.5, 0.5]),
        turned(at(0.0, 0.0, 0.999, &[0.5, 0.5, 0.5]), UP, std::f64::consts::FRAC_PI_4),
    ];
    let found = contacts(&Kind::Box, &Kind::Box, &state, 0.01);
    assert_eq!(found.len(), 8);
    for contact in &found {
        let p = contact.point;
        let other = 0.5 * f64::sqrt(2.0) - 0.5;
        let (near, far) = (p.x.abs().min(p.y.abs()), p.x.abs().max(p.y.abs()));
        assert!((near - other).abs() < 1e-12 && (far - 0.5).abs() < 1e-12, "{p:?}");
    }
    check_derivatives(&Kind::Box, &Kind::Box, &state, 0.01);
}

#[test]
fn a_large_box_on_a_small_one_rests_on_the_small_ones_corners() {
    let state = [at(0.0, 0.0, 0.0, &[2.0, 2.0, 0.1]), at(0.1, 0.0, 0.3, &[0.2, 0.2, 0.2])];
    for (a, b) in [(0, 1), (1, 0)] {
        let found = contacts(&Kind::Box, &Kind::Box, &[state[a].clone(), state[b].clone()], 0.01);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|contact| (contact.point.x - 0.1).abs() < 0.2 + 1e-9));
    }
}

#[test]
fn a_hull_of_a_boxs_corners_is_the_box() {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |bit: u32, s: f64| if i >> bit & 1 == 1 { s } else { -s };
            Vec3 { x: side(0, 0.5), y: side(1, 0.4), z: side(2, 0.3) }
        })
        .collect();
    let hull = Hull::new(&corners).expect("a box");
    let sizes = hull.corners().to_vec();
    let hull = Kind::Hull(hull.into());
    let mut random = Random::seeded(41);
    for other in [Kind::Box, Kind::Capsule, Kind::Sphere] {
        for _ in 0..200 {
            let mut state = state([&Kind::Box, &other], &mut random);
            state[0].sizes = vec![0.5, 0.4, 0.3];
            let as_box = contacts(&Kind::Box, &other, &state, 0.2);
            state[0].sizes = sizes.clone();
            let as_hull = contacts(&hull, &other, &state, 0.2);
            assert_eq!(as_box.len(), as_hull.len());
            for contact in as_box {
                let same = |c: &Contact| {
                    length(c.point - contact.point) < 1e-9 && length(c.normal - contact.normal) < 1e-9
                };
                assert!(as_hull.iter().any(same), "{contact:?} {as_hull:?}");
            }
        }
    }
}

#[test]
fn parallel_capsules_touch_at_two_ends() {
    for (tilt, shift, half) in [(0.0, 0.0, 0.5), (1e-14, 0.0, 0.5), (-1e-5, 0.2, 0.5), (1e-3, 0.0, 0.3)] {
        let lying = |placed| turned(placed, Vec3 { x: 0.0, y: 1.0, z: 0.0 }, std::f64::consts::FRAC_PI_2);
        let state = [
            lying(at(0.0, 0.0, 0.0, &[0.1, 0.5])),
            turned(lying(at(shift, 0.0, 0.2, &[0.1, half])), Vec3 { x: 0.0, y: 1.0, z: 0.0 }, tilt),
        ];
        let found = contacts(&Kind::Capsule, &Kind::Capsule, &state, 0.01);
        assert_eq!(found.len(), 2, "{tilt} {shift}");
        let (low, high) = ((shift - half).max(-0.5), (shift + half).min(0.5));
        let xs: Vec<f64> = found.iter().map(|contact| contact.point.x).collect();
        assert!(
            xs.iter().any(|x| (x - low).abs() < 2e-3) && xs.iter().any(|x| (x - high).abs() < 2e-3),
            "{xs:?}"
        );
    }
}

#[test]
fn a_capsule_lies_on_a_box_with_two_points() {
    let axis = Vec3 { x: 0.0, y: 1.0, z: 0.0 };
    for (x, ends) in [(0.0, (-0.3, 0.3)), (0.4, (0.1, 0.5))] {
        let capsule = turned(at(x, 0.0, 0.59, &[0.1, 0.3]), axis, std::f64::consts::FRAC_PI_2 + 1e-4);
        let state = [at(0.0, 0.0, 0.0, &[0.5, 0.5, 0.5]), capsule];
        let found = contacts(&Kind::Box, &Kind::Capsule, &state, 0.01);
        let mut xs: Vec<f64> = found.iter().map(|contact| contact.point.x).collect();
        xs.sort_by(f64::total_cmp);
        assert!(found.len() == 2 && (xs[0] - ends.0).abs() < 1e-3 && (xs[1] - ends.1).abs() < 1e-3, "{xs:?}");
        check_derivatives(&Kind::Box, &Kind::Capsule, &state, 0.01);
    }
}

/// Standing exactly upright, three points of the rim at 120° carry a cylinder, and their derivatives are right.
#[test]
fn cylinder_upright() {
    for (flip, tilt) in [(0.0, 0.0), (std::f64::consts::PI, 0.0), (0.0, 1e-6), (0.3, 0.0), (1.5, 0.0)] {
        let axis = Vec3 { x: 1.0, y: 0.0, z: 0.0 };
        let state = [at(0.0, 0.0, 0.0, &[]), turned(at(0.1, 0.2, 0.3, &[0.2, 0.3]), axis, flip + tilt)];
        check_derivatives(&Kind::Plane, &Kind::Cylinder, &state, 9.0);
        let found = contacts(&Kind::Plane, &Kind::Cylinder, &state, 0.01);
        if flip == 0.0 || flip > 3.0 {
            assert_eq!(found.len(), 3);
            let middle = found.iter().fold(Vec3::default(), |sum, contact| sum + contact.point) / 3.0;
            assert!(length(middle - Vec3 { x: 0.1, y: 0.2, z: 0.0 }) < 1e-6, "{middle:?}");
        }
    }
    let lying =
        turned(at(0.0, 0.0, 0.2, &[0.2, 0.3]), Vec3 { x: 1.0, y: 0.0, z: 0.0 }, std::f64::consts::FRAC_PI_2);
    let found = contacts(&Kind::Plane, &Kind::Cylinder, &[at(0.0, 0.0, 0.0, &[]), lying], 0.01);
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|contact| contact.gap.abs() < 1e-12 && (contact.point.y.abs() - 0.3).abs() < 1e-12)
    );
}

/// Where centres coincide there is no nearest direction: the normal is still a unit vector, and the gap still grows along it.
#[test]
fn coincident_centres() {
    for a in [Kind::Sphere, Kind::Capsule] {
        for b in solids() {
            let Some(pair) = Pair::new(&a, &b) else { continue };
            let mut random = Random::seeded(2);
            let sizes = [crate::common::sizes(&a, &mut random), crate::common::sizes(&b, &mut random)];
            let state = sizes.map(|sizes| at(0.0, 0.0, 0.0, &sizes));
            let found = features(&pair, &state, 9.0);
            assert!(!found.is_empty(), "{}-{}", a.name(), b.name());
            for feature in found {
                let function = At { name: String::new(), pair: &pair, feature, state: &state };
                let contact = crate::common::contact(&pair, feature, &state);
                assert!((length(contact.normal) - 1.0).abs() < 1e-12 && contact.gap < 0.0);
                let bars = function.pullback(&function.here(), &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
                assert!(bars.iter().all(|bar| bar.is_finite()));
                let moved = Vec3 { x: bars[3], y: bars[4], z: bars[5] };
                assert!(length(moved + contact.normal) < 1e-9, "{}-{}: {moved:?}", a.name(), b.name());
            }
        }
    }
}

#[test]
fn middle_of_a_box() {
    let pair = Pair::new(&Kind::Sphere, &Kind::Box).expect("a pair");
    let state = [at(0.0, 0.0, 0.0, &[0.1]), at(0.0, 0.0, 0.0, &[0.5, 0.5, 0.5])];
    let feature = features(&pair, &state, 0.0)[0];
    let contact = crate::common::contact(&pair, feature, &state);
    assert_eq!((contact.normal, contact.gap), (Vec3 { x: -1.0, y: -0.0, z: -0.0 }, -0.6));
    let function = At { name: String::new(), pair: &pair, feature, state: &state };
    let bars = function.pullback(&function.here(), &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // By the sphere's position, its radius, and the half sides of the box.
    assert_eq!(&bars[3..7], &[1.0, 0.0, 0.0, -1.0]);
    assert_eq!(&bars[13..], &[-1.0, 0.0, 0.0]);
}

/// From the middle, the nearest points are at the ends of the least axis; from a circle around it, beside its plane.
#[test]
fn middle_of_an_ellipsoid() {
    let pair = Pair::new(&Kind::Sphere, &Kind::Ellipsoid).expect("a pair");
    for (x, gap) in [(0.0, -0.3 - 0.1), (0.2, f64::NAN), (0.4499, f64::NAN), (0.5, f64::NAN)] {
        let state = [at(x, 0.0, 0.0, &[0.1]), at(0.0, 0.0, 0.0, &[0.6, 0.5, 0.3])];
        let feature = features(&pair, &state, 9.0)[0];
        let contact = crate::common::contact(&pair, feature, &state);
        // Inside the ellipse of centres of curvature, the distance from (x, 0, 0) is c √(1 - x² / (a² - c²)).
        let within = 0.36 - 0.09;
        let truth =
            if x * x < within * within / 0.36 { -0.3 * (1.0 - x * x / within).sqrt() } else { x - 0.6 };
        assert!((contact.gap - (truth - 0.1)).abs() < 1e-9, "{x}: {contact:?} {truth}");
        assert!(gap.is_nan() || (contact.gap - gap).abs() < 1e-9);
        assert!((length(contact.normal) - 1.0).abs() < 1e-12);
        let function = At { name: String::new(), pair: &pair, feature, state: &state };
        let bars = function.pullback(&function.here(), &[0.3, -0.7, 0.2, 0.9, -0.4, 0.6, 1.1]);
        assert!(bars.iter().all(|bar| bar.is_finite()));
    }
}

#[test]
fn parallel_edges() {
    let pair = Pair::new(&Kind::Capsule, &Kind::Capsule).expect("a pair");
    // Capsules that cross, and the same feature after they have turned until they are parallel.
    let crossed = turned(at(0.0, 0.0, 0.5, &[0.1, 0.4]), Vec3 { x: 0.0, y: 1.0, z: 0.0 }, 1.0);
    let mut state = [crossed, at(0.0, 0.3, 0.5, &[0.1, 0.3])];
    let found = features(&pair, &state, 9.0);
    assert_eq!(found.len(), 1);
    state[0].pose.rotation = identity();
    state[0].pose.position.z = 0.7;
    let function = At { name: String::new(), pair: &pair, feature: found[0], state: &state };
    let contact = crate::common::contact(&pair, found[0], &state);
    assert!((contact.gap - (0.3_f64.hypot(0.2) - 0.2)).abs() < 1e-12);
    let bars = function.pullback(&function.here(), &[0.3, -0.7, 0.2, 0.9, -0.4, 0.6, 1.1]);
    assert!(bars.iter().all(|bar| bar.is_finite()) && bars.iter().any(|bar| *bar != 0.0));
}

#[test]
fn capsule_without_length() {
    let mut random = Random::seeded(6);
    let as_capsule = Pair::new(&Kind::Sphere, &Kind::Capsule).expect("a pair");
    let as_sphere = Pair::new(&Kind::Sphere, &Kind::Sphere).expect("a pair");
    for _ in 0..50 {
        let mut state = state([&Kind::Sphere, &Kind::Capsule], &mut random);
        state[1].sizes[1] = 0.0;
        let feature = features(&as_capsule, &state, 9.0)[0];
        let capsule = crate::common::contact(&as_capsule, feature, &state);
        let function = At { name: String::new(), pair: &as_capsule, feature, state: &state };
        let bars = function.pullback(&function.here(), &[0.3, -0.7, 0.2, 0.9, -0.4, 0.6, 1.1]);
        assert_eq!(bars[14], 0.0);
        state[1].sizes.pop();
        let sphere = crate::common::contact(&as_sphere, feature, &state);
        assert!(length(capsule.point - sphere.point) < 1e-12 && (capsule.gap - sphere.gap).abs() < 1e-12);
    }
}

/// The rows on contacts of docs/nonsmooth.md are tests of this file.
#[test]
fn every_row_has_its_test() {
    let document = include_str!("../../../../docs/nonsmooth.md");
    let (_, table) = document.split_once("| name of the test |").expect("the table of contacts");
    let rows: Vec<&str> =
        table.lines().skip(2).map_while(|line| line.strip_prefix("| ")?.split(' ').next()).collect();
    assert!(rows.len() >= 5, "{rows:?}");
    for row in rows {
        assert!(include_str!("special.rs").contains(&format!("#[test]\nfn {row}()")), "{row} has no test");
    }
}

/// Checks a state: nothing is NaN, normals are unit vectors, detection gives the same again.
fn check_finite(name: &str, pair: &Pair, at: &[Placed; 2]) {
    let found = features(pair, at, 0.1);
    assert_eq!(found, features(pair, at, 0.1));
    assert!(found.is_sorted());
    for feature in found {
        let function = At { name: String::new(), pair, feature, state: at };
        let x = function.here();
        let y = function.forward(&x);
        let unit = (y[3] * y[3] + y[4] * y[4] + y[5] * y[5] - 1.0).abs() < 1e-9;
        let bars = function.pullback(&x, &[0.3, -0.7, 0.2, 0.9, -0.4, 0.6, 1.1]);
        let finite = y.iter().chain(&bars).all(|x| x.is_finite());
        assert!(unit && finite, "{name}: {at:?} {y:?} {bars:?}");
    }
}

/// 100,000 states of all pairs of solids and planes, a fifth of them with exact alignments and coincidences.
#[test]
fn nothing_is_nan() {
    let mut kinds = solids();
    kinds.push(Kind::Plane);
    let mut random = Random::seeded(99);
    let mut states = 0;
    while states < 100_000 {
        for a in &kinds {
            for b in &kinds {
                let Some(pair) = Pair::new(a, b) else { continue };
                let mut at = state([a, b], &mut random);
                states += 1;
                if states % 10 < 2 {
                    for placed in &mut at {
                        placed.pose.rotation = identity();
                        let p = &mut placed.pose.position;
                        *p = Vec3 { x: p.x.round(), y: p.y.round(), z: 0.5 * p.z.round() };
                        if !matches!(a, Kind::Hull(_)) && !matches!(b, Kind::Hull(_)) {
                            placed.sizes.fill(0.5);
                        }
                    }
                }
                check_finite(&format!("{}-{}", a.name(), b.name()), &pair, &at);
            }
        }
    }
}

#[test]
fn nothing_is_nan_on_ground() {
    let mut random = Random::seeded(98);
    for (ground, sizes) in grounds() {
        for kind in solids() {
            let Some(pair) = Pair::new(&kind, &ground) else { continue };
            for i in 0..1500 {
                let mut at = ground_state(&kind, &sizes, &mut random);
                if i % 10 < 2 {
                    // Ground of steps of equal height, and shapes exactly over its corners.
                    for placed in &mut at {
                        placed.pose.rotation = identity();
                        placed.pose.position = Vec3::default();
                    }
                    at[0].pose.position = Vec3 { x: 0.0, y: SPACING, z: 0.2 * (i % 7) as f64 };
                    if let Kind::Heights(_) = ground {
                        at[1].sizes.iter_mut().for_each(|z| *z = (8.0 * *z).round() / 8.0);
                    }
                }
                check_finite(&format!("{}-{}", kind.name(), ground.name()), &pair, &at);
            }
        }
    }
}

/// Shapes that are given no sizes are as they were made, and have no cotangents of sizes.
#[test]
fn no_sizes_are_those_that_it_was_made_with() {
    let mut random = Random::seeded(31);
    let hull = random_hull(&mut random, 12);
    let made = hull.corners().to_vec();
    let [(heights, z), (surface, corners)] = grounds();
    let mut found = 0;
    for (kind, sizes) in [(Kind::Hull(hull), made), (heights, z), (surface, corners)] {
        let pair = Pair::new(&Kind::Box, &kind).expect("a pair");
        for _ in 0..50 {
            let [this, that] = ground_state(&Kind::Box, &sizes, &mut random);
            let bare = Placed { pose: that.pose, sizes: Vec::new() };
            let (given, made) = ([this.clone(), that], [this, bare]);
            let found_now = features(&pair, &given, 0.3);
            assert_eq!(found_now, features(&pair, &made, 0.3));
            for feature in found_now {
                let one = crate::common::contact(&pair, feature, &given);
                let other = crate::common::contact(&pair, feature, &made);
                assert_eq!(one.gap.to_bits(), other.gap.to_bits());
                assert_eq!(one.point, other.point);
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
}
