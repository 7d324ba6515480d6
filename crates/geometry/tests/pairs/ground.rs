//! Ground of triangles: distances over all of them, flat ground that is felt as a plane, ridges, valleys and peaks.

use crate::common::{
    GRID, Placed, Random, SPACING, features, grid_triangles, ground_state, grounds, solids, stand_in,
};
use pullback_geometry::{Contact, Heights, Hull, Kind, Pair, Surface, SurfaceError};
use pullback_kernel::prelude::*;

fn contacts(a: &Kind, b: &Kind, state: &[Placed; 2], margin: f64) -> Vec<Contact> {
    let pair = Pair::new(a, b).expect("a pair");
    let found = features(&pair, state, margin);
    found.into_iter().map(|feature| crate::common::contact(&pair, feature, state)).collect()
}

fn least(contacts: &[Contact]) -> f64 {
    contacts.iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min)
}

/// The ground's corners in the world.
fn corners(kind: &Kind, placed: &Placed) -> Vec<Vec3> {
    let local: Vec<Vec3> = match kind {
        Kind::Heights(_) => {
            let place = |i: usize| SPACING * (i as f64 - 0.5 * (GRID - 1) as f64);
            let corner = |(i, &z): (usize, &f64)| Vec3 { x: place(i % GRID), y: place(i / GRID), z };
            placed.sizes.iter().enumerate().map(corner).collect()
        }
        _ => placed.sizes.chunks(3).map(|c| Vec3 { x: c[0], y: c[1], z: c[2] }).collect(),
    };
    local.into_iter().map(|p| placed.pose.rotation * p + placed.pose.position).collect()
}

/// The distance of a point and a triangle, by the least over its inside and its edges.
fn distance(x: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
    let n = normalize(cross(b - a, c - a));
    let inside = [[a, b], [b, c], [c, a]].iter().all(|s| dot(cross(s[1] - s[0], x - s[0]), n) >= 0.0);
    let edge = |s: Vec3, t: Vec3| {
        let along = (dot(x - s, t - s) / dot(t - s, t - s)).clamp(0.0, 1.0);
        length(s + (t - s) * along - x)
    };
    let edges = edge(a, b).min(edge(b, c)).min(edge(c, a));
    if inside { edges.min(dot(n, x - a).abs()) } else { edges }
}

/// Points of a solid's surface, dense enough to bound its distance from above.
fn samples(kind: &Kind, placed: &Placed) -> Vec<(Vec3, f64)> {
    let s = &placed.sizes;
    let local: Vec<(Vec3, f64)> = match kind {
        Kind::Sphere => vec![(Vec3::default(), s[0])],
        _ => (0..=200).map(|i| (Vec3 { x: 0.0, y: 0.0, z: s[1] * (0.01 * i as f64 - 1.0) }, s[0])).collect(),
    };
    local.into_iter().map(|(p, r)| (placed.pose.rotation * p + placed.pose.position, r)).collect()
}

#[test]
fn spheres_and_capsules_are_as_far_as_the_nearest_triangle() {
    for (ground, sizes) in grounds() {
        for kind in [Kind::Sphere, Kind::Capsule] {
            let mut random = Random::seeded(3);
            let mut compared = 0;
            for _ in 0..400 {
                let at = ground_state(&kind, &sizes, &mut random);
                let points = corners(&ground, &at[1]);
                let up = at[1].pose.rotation.z;
                let to_ground = |x: Vec3| {
                    let triangles = grid_triangles(GRID);
                    let all = triangles.iter().map(|t| distance(x, t.map(|i| points[i as usize])));
                    all.fold(f64::INFINITY, f64::min)
                };
                // All of the core above the ground: as high as its highest corner.
                let above =
                    samples(&kind, &at[0]).iter().all(|(x, _)| dot(up, *x - at[1].pose.position) > 0.25);
                if !above {
                    continue;
                }
                let truth = samples(&kind, &at[0])
                    .iter()
                    .map(|&(x, r)| to_ground(x) - r)
                    .fold(f64::INFINITY, f64::min);
                let gap = least(&contacts(&kind, &ground, &at, 2.0));
                let slack = if matches!(kind, Kind::Sphere) { 1e-12 } else { 1e-2 };
                assert!(gap <= truth + 1e-12 && gap > truth - slack, "{}: {gap} {truth}", kind.name());
                compared += 1;
            }
            println!("{}-{}: {compared} states", kind.name(), ground.name());
            assert!(compared > 50);
        }
    }
}

/// Boxes have no contact that is nearer than they are, and mostly one that is as near.
#[test]
fn boxes_are_as_far_as_the_nearest_pair_of_cells() {
    for (ground, sizes) in grounds() {
        let mut random = Random::seeded(8);
        let (mut compared, mut exact) = (0, 0);
        for _ in 0..4000 {
            let mut at = ground_state(&Kind::Box, &sizes, &mut random);
            // Small and in the middle: at the border of the ground there are no ridges.
            at[0].sizes.iter_mut().for_each(|size| *size *= 0.6);
            let z = random.within(0.5, 1.0);
            let middle = Vec3 { x: 0.5 * random.next(), y: 0.5 * random.next(), z };
            at[0].pose.position = at[1].pose.rotation * middle + at[1].pose.position;
            let points = corners(&ground, &at[1]);
            let local = |i: usize| {
                let side = |bit: usize| if i >> bit & 1 == 1 { at[0].sizes[bit] } else { -at[0].sizes[bit] };
                at[0].pose.rotation * Vec3 { x: side(0), y: side(1), z: side(2) } + at[0].pose.position
            };
            let box_corners: Vec<Vec3> = (0..8).map(local).collect();
            let up = at[1].pose.rotation.z;
            if !box_corners.iter().all(|x| dot(up, *x - at[1].pose.position) > 0.25) {
                continue;
            }
            // Above all of the ground: the lowest corner over a triangle, peaks under faces, or edges across ridges.
            let found = contacts(&Kind::Box, &ground, &at, 0.4);
            let triangles = grid_triangles(GRID);
            // Sharp corners and edges beside edges and corners of the ground: they meet when they get there, and have no
            // contact before.
            let (mut truth, mut beside) = (f64::INFINITY, f64::INFINITY);
            for t in &triangles {
                let y = t.map(|i| points[i as usize]);
                for &x in &box_corners {
                    let n = normalize(cross(y[1] - y[0], y[2] - y[0]));
                    let over = dot(n, x - y[0]).abs();
                    let d = distance(x, y);
                    if (d - over).abs() < 1e-12 {
                        truth = truth.min(d);
                    }
                    beside = beside.min(d);
                }
                for i in 0..8_usize {
                    for j in (0..3).map(|bit| i | 1 << bit).filter(|&j| j != i) {
                        for k in 0..3 {
                            let (s, t) = (y[k], y[(k + 1) % 3]);
                            truth = truth.min(segments([box_corners[i], box_corners[j]], [s, t]));
                        }
                    }
                }
                for &v in &y {
                    let p = transpose_times(at[0].pose.rotation, v - at[0].pose.position);
                    let h = &at[0].sizes;
                    let out = Vec3 { x: p.x.abs() - h[0], y: p.y.abs() - h[1], z: p.z.abs() - h[2] };
                    let d = length(Vec3 { x: out.x.max(0.0), y: out.y.max(0.0), z: out.z.max(0.0) });
                    if [out.x, out.y, out.z].iter().filter(|out| **out > 0.0).count() < 2 {
                        truth = truth.min(d);
                    }
                    beside = beside.min(d);
                }
            }
            let gap = least(&found);
            assert!(gap >= truth.min(beside) - 1e-12, "{gap} {truth} {at:?}");
            if truth.min(beside) < 0.39 {
                compared += 1;
                exact += usize::from(truth <= beside + 1e-12);
                assert!(
                    truth > beside || (gap - truth).abs() < 1e-9,
                    "{gap} {truth} {beside} {found:?} {at:?}"
                );
            }
        }
        println!("box-{}: {exact} exact of {compared} states", ground.name());
        assert!(compared > 50 && 2 * exact > compared);
    }
}

fn segments(x: [Vec3; 2], y: [Vec3; 2]) -> f64 {
    let (e, f, d) = (x[1] - x[0], y[1] - y[0], y[0] - x[0]);
    let c = cross(e, f);
    if dot(c, c) < 1e-12 {
        return f64::INFINITY;
    }
    let (s, t) = (dot(cross(d, f), c) / dot(c, c), dot(cross(d, e), c) / dot(c, c));
    let inside = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    if inside { length(d + f * t - e * s) } else { f64::INFINITY }
}

/// Flat ground as a grid of heights, and as triangles of a grid that is not regular.
fn flat() -> [(Kind, Vec<f64>); 2] {
    let mut random = Random::seeded(21);
    let heights = Heights::new(&[0.0; 81], 9, [0.25, 0.25]).expect("a grid");
    let mut corners = Vec::new();
    for j in 0..9 {
        for i in 0..9 {
            let at = |i: usize, jitter: f64| 0.25 * (i as f64 + 0.3 * jitter - 4.0);
            corners.push(Vec3 { x: at(i, random.next()), y: at(j, random.next()), z: 0.0 });
        }
    }
    let surface = Surface::new(&corners, &grid_triangles(9)).expect("a surface");
    let sizes = surface.corners().to_vec();
    [(Kind::Heights(heights.into()), vec![0.0; 81]), (Kind::Surface(surface.into()), sizes)]
}

/// What slides over flat triangles has exactly the contacts that it has on a plane.
#[test]
fn flat_ground_is_a_plane() {
    for (ground, sizes) in flat() {
        for kind in solids() {
            // Round shapes are told below.
            if matches!(kind, Kind::Cylinder | Kind::Ellipsoid) {
                continue;
            }
            let mut random = Random::seeded(4);
            let small: Vec<f64> = crate::common::sizes(&kind, &mut random).iter().map(|s| 0.4 * s).collect();
            for step in 0..400 {
                // Along a line that passes over edges and corners; every fourth time exactly over a corner of the grid.
                let x =
                    if step % 4 == 0 { 0.25 * (step % 3) as f64 - 0.25 } else { 0.0015 * step as f64 - 0.3 };
                let lying = step % 2 == 0;
                let rotation =
                    if lying && !matches!(kind, Kind::Hull(_)) { identity() } else { random.rotation() };
                let z = if lying { small[small.len() - 1] } else { 0.25 } - 1e-3;
                let shape = Placed {
                    pose: Pose { rotation, position: Vec3 { x, y: 0.5 * x, z } },
                    sizes: small.clone(),
                };
                let still = Pose { rotation: identity(), position: Vec3::default() };
                let ground_at = Placed { pose: still, sizes: sizes.clone() };
                let plane_at = Placed { pose: still, sizes: Vec::new() };
                let on_ground = contacts(&kind, &ground, &[shape.clone(), ground_at], 0.01);
                let on_plane = contacts(&kind, &Kind::Plane, &[shape, plane_at], 0.01);
                assert_eq!(on_ground.len(), on_plane.len(), "{} at step {step}: {on_ground:?}", kind.name());
                for contact in &on_ground {
                    assert_eq!(contact.normal, Vec3 { x: 0.0, y: 0.0, z: -1.0 }, "{}", kind.name());
                    let same = |other: &Contact| {
                        length(other.point - contact.point) < 1e-12 && (other.gap - contact.gap).abs() < 1e-12
                    };
                    assert!(on_plane.iter().any(same));
                }
            }
        }
    }
}

/// Ellipsoids, and cylinders that do not stand, touch flat triangles and a large box exactly where they touch a plane. Of
/// cylinders, the plane has two more points, of the lower rim, which are higher.
#[test]
fn round_shapes_touch_faces_as_they_touch_a_plane() {
    let still = Pose { rotation: identity(), position: Vec3::default() };
    let mut flats: Vec<(Kind, Placed)> =
        flat().map(|(kind, sizes)| (kind, Placed { pose: still, sizes })).into();
    let below = Pose { position: Vec3 { x: 0.0, y: 0.0, z: -2.0 }, ..still };
    flats.push((Kind::Box, Placed { pose: below, sizes: vec![2.0; 3] }));
    for (flat, flat_at) in flats {
        for kind in [Kind::Cylinder, Kind::Ellipsoid] {
            let mut random = Random::seeded(14);
            let (mut touched, mut two) = (0, 0);
            for step in 0..600 {
                let small: Vec<f64> =
                    crate::common::sizes(&kind, &mut random).iter().map(|s| 0.4 * s).collect();
                // Every third time lying.
                let lying =
                    rotation_matrix(quat_exp(Vec3 { x: std::f64::consts::FRAC_PI_2 - 1e-4, y: 0.0, z: 0.0 }));
                let rotation = if step % 3 == 0 { lying } else { random.rotation() };
                if let (Kind::Cylinder, true) = (&kind, rotation.z.z.abs() > 0.97) {
                    continue;
                }
                let z = if step % 3 == 0 {
                    small[usize::from(kind.sizes() == 3)]
                } else {
                    random.within(0.1, 0.3)
                };
                let position = Vec3 { x: 0.2 * random.next(), y: 0.2 * random.next(), z };
                let shape = Placed { pose: Pose { rotation, position }, sizes: small };
                let plane_at = Placed { pose: still, sizes: Vec::new() };
                let mut on_plane = contacts(&kind, &Kind::Plane, &[shape.clone(), plane_at], 0.02);
                on_plane.truncate(2);
                let found = contacts(&kind, &flat, &[shape.clone(), flat_at.clone()], 0.02);
                let name = format!("{}-{} at step {step}", kind.name(), flat.name());
                // The second end of a cylinder may be the farther side of its lower rim on the plane.
                assert!(!found.is_empty() || on_plane.is_empty(), "{name}: {on_plane:?}");
                assert!(found.is_empty() || (least(&found) - least(&on_plane)).abs() < 1e-12, "{name}");
                for contact in &found {
                    assert!(length(contact.normal - Vec3 { x: 0.0, y: 0.0, z: -1.0 }) < 1e-12, "{name}");
                    let same = |other: &Contact| length(other.point - contact.point) < 1e-12;
                    assert!(on_plane.iter().any(same), "{name}: {found:?} {on_plane:?} {shape:?}");
                }
                touched += usize::from(!found.is_empty());
                two += usize::from(found.len() == 2);
            }
            assert!(touched > 100, "{touched}");
            assert!(two > 50 || matches!(kind, Kind::Ellipsoid), "{two}");
        }
    }
}

/// An ellipsoid with equal half axes touches rough ground where a sphere does.
#[test]
fn a_round_ellipsoid_touches_ground_as_a_sphere() {
    for (ground, sizes) in grounds() {
        let mut random = Random::seeded(16);
        let (mut touched, mut same) = (0, 0);
        for _ in 0..400 {
            let [mut shape, ground_at] = ground_state(&Kind::Sphere, &sizes, &mut random);
            let as_sphere = contacts(&Kind::Sphere, &ground, &[shape.clone(), ground_at.clone()], 0.05);
            shape.sizes = vec![shape.sizes[0]; 3];
            let as_ellipsoid = contacts(&Kind::Ellipsoid, &ground, &[shape, ground_at], 0.05);
            // Not deeper than its middle.
            let shallow = as_sphere.iter().all(|contact| contact.gap > -0.15);
            if shallow && !as_sphere.is_empty() {
                touched += 1;
                assert!(!as_ellipsoid.is_empty());
                same += usize::from((least(&as_sphere) - least(&as_ellipsoid)).abs() < 1e-9);
            }
        }
        println!("{}: {same} of {touched} as near as a sphere", ground.name());
        assert!(touched > 40 && same * 20 >= touched * 19, "{same} of {touched}");
    }
}

/// On flat triangles a cylinder that stands has as many contacts as its stand-in has on a plane, and as near.
#[test]
fn a_standing_cylinder_on_flat_ground_is_as_its_hull_on_a_plane() {
    for (ground, sizes) in flat() {
        let mut random = Random::seeded(15);
        for _ in 0..100 {
            let small: Vec<f64> =
                crate::common::sizes(&Kind::Cylinder, &mut random).iter().map(|s| 0.4 * s).collect();
            let hull = Hull::new(&stand_in(&Kind::Cylinder, &small)).expect("a polyhedron");
            let rotation = rotation_matrix(quat_exp(random.vec3() * 0.1));
            let z = small[1] + 0.02 * random.next();
            let position = Vec3 { x: 0.2 * random.next(), y: 0.2 * random.next(), z };
            let pose = Pose { rotation, position };
            let still = Pose { rotation: identity(), position: Vec3::default() };
            let here = |sizes: &[f64]| Placed { pose, sizes: sizes.to_vec() };
            let there = |sizes: &[f64]| Placed { pose: still, sizes: sizes.to_vec() };
            let as_hull = [here(hull.corners()), there(&[])];
            let on_plane = contacts(&Kind::Hull(hull.into()), &Kind::Plane, &as_hull, 0.05);
            let on_ground = contacts(&Kind::Cylinder, &ground, &[here(&small), there(&sizes)], 0.05);
            assert_eq!(on_ground.len(), on_plane.len());
            assert!(!on_ground.is_empty() && (least(&on_ground) - least(&on_plane)).abs() < 1e-12);
        }
    }
}

/// A roof along y: two slopes that meet in a ridge at x = 0 (or a valley).
fn roof(height: f64) -> (Kind, Vec<f64>) {
    let z = vec![0.0, height, 0.0, 0.0, height, 0.0];
    (Kind::Heights(Heights::new(&z, 3, [1.0, 4.0]).expect("a grid").into()), z)
}

fn at(x: f64, z: f64, sizes: &[f64]) -> Placed {
    Placed { pose: Pose { rotation: identity(), position: Vec3 { x, y: 0.3, z } }, sizes: sizes.to_vec() }
}

#[test]
fn ridges_and_valleys() {
    let still =
        |sizes: Vec<f64>| Placed { pose: Pose { rotation: identity(), position: Vec3::default() }, sizes };
    let (ridge, sizes) = roof(1.0);
    // A ball straight above the ridge touches its edge alone; a box across it too.
    let found = contacts(&Kind::Sphere, &ridge, &[at(0.0, 1.45, &[0.5]), still(sizes.clone())], 0.01);
    assert_eq!(found.len(), 1);
    assert!(
        (found[0].gap + 0.05).abs() < 1e-12
            && length(found[0].normal - Vec3 { x: 0.0, y: 0.0, z: -1.0 }) < 1e-12
    );
    let found = contacts(&Kind::Box, &ridge, &[at(0.1, 1.49, &[0.5, 0.2, 0.5]), still(sizes.clone())], 0.01);
    assert_eq!(found.len(), 2, "{found:?}");
    for contact in &found {
        assert!((contact.gap + 0.01).abs() < 1e-12 && (contact.point.y - 0.3).abs() - 0.2 < 1e-12);
    }
    // Inside the roof, under both slopes: out by the nearer one.
    let found = contacts(&Kind::Sphere, &ridge, &[at(0.2, 0.6, &[0.5]), still(sizes)], 0.01);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].normal.x < 0.0 && (found[0].gap - (-0.2 / f64::sqrt(2.0) - 0.5)).abs() < 1e-12,
        "{found:?}"
    );
    // A ball in a valley touches both slopes.
    let (valley, sizes) = roof(-1.0);
    let found = contacts(&Kind::Sphere, &valley, &[at(0.0, -0.4, &[0.5]), still(sizes)], 0.01);
    assert_eq!(found.len(), 2);
    for contact in &found {
        assert!((contact.gap - (0.6 / f64::sqrt(2.0) - 0.5)).abs() < 1e-12);
    }
}

#[test]
fn bad_surfaces_are_refused() {
    let corner = |x: f64| Vec3 { x, y: 0.0, z: 0.0 };
    assert_eq!(
        Surface::new(&[corner(0.0), corner(1.0)], &[[0, 1, 2]]).err(),
        Some(SurfaceError::NoSuchCorner { triangle: 0, corner: 2, corners: 2 })
    );
    let line = [corner(0.0), corner(1.0), corner(2.0)];
    assert_eq!(Surface::new(&line, &[[0, 1, 2]]).err(), Some(SurfaceError::NoArea(0)));
    assert_eq!(Surface::new(&[corner(f64::NAN)], &[]).err(), Some(SurfaceError::NotFinite(0)));
    let grid = |z: &[f64], columns, spacing| Heights::new(z, columns, spacing).err();
    assert_eq!(grid(&[0.0; 5], 1, [1.0; 2]), Some(SurfaceError::NoCell { heights: 5, columns: 1 }));
    assert_eq!(grid(&[0.0; 5], 2, [1.0; 2]), Some(SurfaceError::NoCell { heights: 5, columns: 2 }));
    assert!(grid(&[0.0; 4], 2, [0.0, 1.0]).is_some() && grid(&[], 0, [1.0; 2]).is_some());
    assert_eq!(grid(&[0.0, 1.0, f64::NAN, 0.0], 2, [1.0; 2]), Some(SurfaceError::NotFinite(2)));
}

/// A thin disc over a pit does not touch it with its upper side.
#[test]
fn a_thin_disc_over_a_pit() {
    let z = vec![0.068, 0.028, 0.011, 0.056];
    let ground = Kind::Heights(Heights::new(&z, 2, [0.2, 0.2]).expect("a grid").into());
    let q = Quat { w: 0.093458, x: -0.647454, y: -0.755324, z: 0.039414 };
    let rotation = rotation_matrix(normalize_quat(q));
    let position = Vec3 { x: 0.02768, y: -0.079571, z: 0.073564 };
    let disc = Placed { pose: Pose { rotation, position }, sizes: vec![0.1, 0.02] };
    let still = Placed { pose: Pose { rotation: identity(), position: Vec3::default() }, sizes: z };
    let found = contacts(&Kind::Cylinder, &ground, &[disc, still], 0.01);
    assert!(!found.is_empty() && least(&found) > 0.0, "{found:?}");
}

/// Thin solids that lie or lean on rough ground are no deeper than the deepest of many of their points, or of the ground's corners.
#[test]
fn thin_solids_are_as_deep_as_their_points() {
    let (ground, z) = {
        let mut random = Random::seeded(17);
        let z: Vec<f64> = (0..GRID * GRID).map(|_| 0.1 * random.next()).collect();
        (Kind::Heights(Heights::new(&z, GRID, [SPACING; 2]).expect("a grid").into()), z)
    };
    let still = Placed { pose: Pose { rotation: identity(), position: Vec3::default() }, sizes: z.clone() };
    let height = |x: Vec3| {
        let ground = corners(&ground, &still);
        let over = grid_triangles(GRID).into_iter().filter_map(|face| {
            let [a, b, c] = face.map(|i| ground[i as usize]);
            let n = cross(b - a, c - a);
            let inside = [[a, b], [b, c], [c, a]]
                .iter()
                .all(|[s, t]| (t.x - s.x) * (x.y - s.y) - (t.y - s.y) * (x.x - s.x) >= -1e-12);
            inside.then(|| dot(n, x - a) / n.z)
        });
        over.fold(f64::INFINITY, f64::min)
    };
    let mut random = Random::seeded(19);
    let mut touching = 0;
    for _ in 0..150 {
        let sizes = vec![random.within(0.1, 0.3), random.within(0.1, 0.3), random.within(0.005, 0.03)];
        let tilt = Quat { w: 1.0, x: 0.15 * random.next(), y: 0.15 * random.next(), z: random.next() };
        let rotation = rotation_matrix(normalize_quat(tilt));
        let mut pose =
            Pose { rotation, position: Vec3 { x: 0.3 * random.next(), y: 0.3 * random.next(), z: 0.3 } };
        let points: Vec<Vec3> = (0..41 * 41)
            .map(|i| {
                let part = |k: usize| 0.05 * k as f64 - 1.0;
                rotation * Vec3 { x: sizes[0] * part(i % 41), y: sizes[1] * part(i / 41), z: -sizes[2] }
            })
            .collect();
        // So that its lower face touches a little.
        let gap = points.iter().map(|p| height(*p + pose.position)).fold(f64::INFINITY, f64::min);
        pose.position.z -= gap + 1e-3;
        let found = contacts(&Kind::Box, &ground, &[Placed { pose, sizes }, still.clone()], 0.0);
        touching += usize::from(!found.is_empty());
        assert!(least(&found) > -4e-3, "{found:?}");
    }
    assert!(touching > 100, "{touching}");
}
