//! Contacts against truth of other origin: parry's distances, distances over all pairs of cells, all separating axes, closed
//! forms.

use crate::common::{Placed, Random, features, random_hull, solids, stand_in, state};
use parry3d_f64::{glamx, math::Pose as ParryPose, query, shape};
use pullback_geometry::{Contact, Hull, Kind, Pair};
use pullback_kernel::prelude::*;

fn contacts(pair: &Pair, at: &[Placed; 2], margin: f64) -> Vec<Contact> {
    let found = features(pair, at, margin);
    found.into_iter().map(|feature| crate::common::contact(pair, feature, at)).collect()
}

fn least(contacts: &[Contact]) -> f64 {
    contacts.iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min)
}

fn glam(v: Vec3) -> glamx::DVec3 {
    glamx::DVec3::new(v.x, v.y, v.z)
}

fn parry_pose(pose: &Pose) -> ParryPose {
    let r = pose.rotation;
    let matrix = glamx::DMat3::from_cols(glam(r.x), glam(r.y), glam(r.z));
    ParryPose::from_parts(glam(pose.position), glamx::DQuat::from_mat3(&matrix))
}

fn corners(kind: &Kind, sizes: &[f64]) -> Vec<Vec3> {
    match kind {
        Kind::Box => (0..8)
            .map(|i| {
                let side = |bit: usize| if i >> bit & 1 == 1 { sizes[bit] } else { -sizes[bit] };
                Vec3 { x: side(0), y: side(1), z: side(2) }
            })
            .collect(),
        Kind::Capsule => [-1.0, 1.0].map(|s| Vec3 { x: 0.0, y: 0.0, z: s * sizes[1] }).to_vec(),
        Kind::Hull(_) => sizes.chunks(3).map(|c| Vec3 { x: c[0], y: c[1], z: c[2] }).collect(),
        Kind::Cylinder | Kind::Ellipsoid => stand_in(kind, sizes),
        _ => vec![Vec3::default()],
    }
}

/// Is one round, and does it meet the other as a polyhedron?
fn stands_in(a: &Kind, b: &Kind) -> bool {
    let round = |kind: &Kind| matches!(kind, Kind::Cylinder | Kind::Ellipsoid);
    let exact = |kind: &Kind| matches!(kind, Kind::Plane | Kind::Sphere);
    (round(a) || round(b)) && !exact(a) && !exact(b)
}

fn parry_shape(kind: &Kind, sizes: &[f64]) -> Option<Box<dyn shape::Shape>> {
    Some(match kind {
        Kind::Sphere => Box::new(shape::Ball::new(sizes[0])),
        Kind::Capsule => Box::new(shape::Capsule::new_z(sizes[1], sizes[0])),
        Kind::Box => Box::new(shape::Cuboid::new(glamx::DVec3::new(sizes[0], sizes[1], sizes[2]))),
        Kind::Hull(_) => {
            let points: Vec<_> = corners(kind, sizes).into_iter().map(glam).collect();
            Box::new(shape::ConvexPolyhedron::from_convex_hull(&points)?)
        }
        _ => return None,
    })
}

/// Cores as triangles, from parry's hulls of their corners: another way to their faces than ours.
struct Mesh {
    points: Vec<Vec3>,
    triangles: Vec<[usize; 3]>,
    radius: f64,
}

fn mesh(kind: &Kind, placed: &Placed) -> Mesh {
    let local = corners(kind, &placed.sizes);
    let radius = if matches!(kind, Kind::Sphere | Kind::Capsule) { placed.sizes[0] } else { 0.0 };
    let place = |p: Vec3| placed.pose.rotation * p + placed.pose.position;
    if local.len() < 3 {
        let last = local.len() - 1;
        return Mesh {
            points: local.into_iter().map(place).collect(),
            triangles: vec![[0, last, last]],
            radius,
        };
    }
    let points: Vec<_> = local.iter().map(|&p| glam(p)).collect();
    let (points, triangles) = parry3d_f64::transformation::try_convex_hull(&points).expect("a hull");
    let points = points.iter().map(|p| place(Vec3 { x: p.x, y: p.y, z: p.z })).collect();
    Mesh { points, triangles: triangles.iter().map(|t| t.map(|i| i as usize)).collect(), radius }
}

impl Mesh {
    fn edges(&self) -> Vec<[Vec3; 2]> {
        let sides = |t: &[usize; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
        let edges = self.triangles.iter().flat_map(sides);
        edges.filter(|[i, j]| i < j || self.points.len() < 3).map(|e| e.map(|i| self.points[i])).collect()
    }
    fn normals(&self) -> Vec<Vec3> {
        let normal = |t: &[usize; 3]| {
            let [a, b, c] = t.map(|i| self.points[i]);
            normalize(cross(b - a, c - a))
        };
        self.triangles.iter().map(normal).filter(|n| length(*n) > 0.5).collect()
    }
    fn reach(&self, n: Vec3) -> f64 {
        self.points.iter().map(|&p| dot(n, p)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The least distance of two segments: by minimising over one parameter at a time on each of the five candidates.
fn segments(x: [Vec3; 2], y: [Vec3; 2]) -> f64 {
    let (e, f, d) = (x[1] - x[0], y[1] - y[0], y[0] - x[0]);
    let c = cross(e, f);
    let mut best = f64::INFINITY;
    if dot(c, c) > 1e-12 {
        let s = dot(cross(d, f), c) / dot(c, c);
        let t = dot(cross(d, e), c) / dot(c, c);
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            best = length(d + f * t - e * s);
        }
    }
    let to = |p: Vec3, s: [Vec3; 2]| {
        let e = s[1] - s[0];
        let t = if dot(e, e) > 0.0 { dot(p - s[0], e) / dot(e, e) } else { 0.0 };
        length(s[0] + e * t.clamp(0.0, 1.0) - p)
    };
    best.min(to(x[0], y)).min(to(x[1], y)).min(to(y[0], x)).min(to(y[1], x))
}

/// The distance of a point and a triangle above its inside; infinite beside it.
fn over(p: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
    let n = cross(b - a, c - a);
    let inside = [[a, b], [b, c], [c, a]].iter().all(|s| dot(cross(s[1] - s[0], p - s[0]), n) >= 0.0);
    if inside && dot(n, n) > 0.0 { dot(n, p - a).abs() / length(n) } else { f64::INFINITY }
}

/// The signed distance of cores: over all pairs of cells where they are apart; where they overlap, the largest separation over
/// all normals of faces and all cross products of edges.
fn signed_distance(a: &Mesh, b: &Mesh) -> f64 {
    let mut axes = a.normals();
    axes.extend(b.normals().iter().map(|n| -*n));
    let (edges_a, edges_b) = (a.edges(), b.edges());
    for x in &edges_a {
        for y in &edges_b {
            let c = cross(x[1] - x[0], y[1] - y[0]);
            if length(c) > 1e-9 {
                axes.extend([normalize(c), -normalize(c)]);
            }
        }
    }
    let apart = axes.iter().map(|&n| -b.reach(-n) - a.reach(n)).fold(f64::NEG_INFINITY, f64::max);
    let mut distance = f64::INFINITY;
    for x in &edges_a {
        for y in &edges_b {
            distance = distance.min(segments(*x, *y));
        }
    }
    for (p, q) in [(a, b), (b, a)] {
        for t in &q.triangles {
            for &x in &p.points {
                distance = distance.min(over(x, t.map(|i| q.points[i])));
            }
        }
    }
    // Overlap: no axis separates, and a solid is on at least one side.
    let solid = a.points.len() > 2 || b.points.len() > 2;
    (if solid && apart <= 0.0 { apart } else { distance }) - a.radius - b.radius
}

#[test]
fn gaps_of_solids_are_distances() {
    let mut worst = 0.0_f64;
    for a in solids() {
        for b in solids() {
            let round = |kind: &Kind| matches!(kind, Kind::Cylinder | Kind::Ellipsoid);
            let Some(pair) = Pair::new(&a, &b).filter(|_| stands_in(&a, &b) || !round(&a) && !round(&b))
            else {
                continue;
            };
            let mut random = Random::seeded(11);
            let (mut overlapping, mut apart, mut aligned) = (0, 0, 0);
            // All pairs of many edges take long.
            let few = if round(&a) || round(&b) { 1 } else { 10 };
            let states = 300 / (1 + 4 * usize::from(round(&a))) / (1 + 3 * usize::from(round(&b)));
            for _ in 0..states {
                let at = state([&a, &b], &mut random);
                let truth = signed_distance(&mesh(&a, &at[0]), &mesh(&b, &at[1]));
                let found = contacts(&pair, &at, 2.0);
                let gap = least(&found);
                let name = format!("{}-{}", a.name(), b.name());
                let error = (gap - truth).abs();
                // A normal within 0.02 of a face's is the face's: at most 1e-3 of the distance of cores.
                let core = truth + mesh(&a, &at[0]).radius + mesh(&b, &at[1]).radius;
                if error > 1e-9 {
                    // Where they meet a face, round shapes are as they are.
                    let slack = if stands_in(&a, &b) {
                        exact(&a, &at[0].sizes).1 + exact(&b, &at[1].sizes).1
                    } else {
                        0.0
                    };
                    assert!(
                        error <= 1e-3 * core.abs() + slack,
                        "{name}: gap {gap}, truth {truth}\n{at:?}\n{found:?}"
                    );
                    aligned += 1;
                } else {
                    worst = worst.max(error);
                }
                overlapping += usize::from(truth < 0.0);
                apart += usize::from(truth > 0.0);
                for contact in found {
                    assert!((length(contact.normal) - 1.0).abs() < 1e-12, "{name}");
                }
            }
            println!(
                "{}-{}: {overlapping} overlap, {apart} apart, {aligned} by a face's normal nearby",
                a.name(),
                b.name()
            );
            assert!(overlapping * 20 > states && apart * 20 > states && aligned * few <= states);
        }
    }
    println!("worst error otherwise {worst:.1e}");
}

#[test]
fn gaps_agree_with_parry() {
    for a in solids() {
        for b in solids() {
            let Some(pair) = Pair::new(&a, &b) else { continue };
            let mut random = Random::seeded(5);
            let (mut worst, mut compared) = (0.0_f64, 0);
            for _ in 0..200 {
                let at = state([&a, &b], &mut random);
                let (Some(shape_a), Some(shape_b)) =
                    (parry_shape(&a, &at[0].sizes), parry_shape(&b, &at[1].sizes))
                else {
                    continue;
                };
                let (pose_a, pose_b) = (parry_pose(&at[0].pose), parry_pose(&at[1].pose));
                let distance =
                    query::distance(&pose_a, &*shape_a, &pose_b, &*shape_b).expect("supported").distance;
                if distance > 0.0 {
                    // Parry's own error is some 1e-6; 1e-3 of the distance of cores is what faces nearby may take.
                    let off = (least(&contacts(&pair, &at, 9.0)) - distance).abs();
                    assert!(off < 1e-5 + 1e-3 * (distance + 2.0), "{}-{}: {off}", a.name(), b.name());
                    worst = worst.max(off);
                    compared += 1;
                }
            }
            if compared > 0 {
                println!("{}-{}: {compared} states, worst difference {worst:.1e}", a.name(), b.name());
                assert!(compared > 20);
            }
        }
    }
}

/// Round shapes as they are, by their support functions: r (x, y) / |(x, y)| ± l z, and S² n / |S n|.
enum Exact {
    Cylinder(f64, f64),
    Ellipsoid(Vec3),
    Other(Box<dyn shape::Shape>),
}

impl shape::SupportMap for Exact {
    fn local_support_point(&self, n: glamx::DVec3) -> glamx::DVec3 {
        match self {
            Exact::Cylinder(radius, half) => {
                let across = (n.x * n.x + n.y * n.y).sqrt().max(1e-300);
                glamx::DVec3::new(radius * n.x / across, radius * n.y / across, half.copysign(n.z))
            }
            Exact::Ellipsoid(s) => {
                let t = glamx::DVec3::new(s.x * n.x, s.y * n.y, s.z * n.z);
                let size = t.length();
                glamx::DVec3::new(s.x * t.x / size, s.y * t.y / size, s.z * t.z / size)
            }
            Exact::Other(shape) => shape.as_support_map().expect("convex").local_support_point(n),
        }
    }
}

/// A shape as it is, and how far its stand-in may be from it.
fn exact(kind: &Kind, s: &[f64]) -> (Exact, f64) {
    match kind {
        Kind::Cylinder => (Exact::Cylinder(s[0], s[1]), 0.0033 * s[0]),
        Kind::Ellipsoid => {
            (Exact::Ellipsoid(Vec3 { x: s[0], y: s[1], z: s[2] }), 0.012 * s[0].max(s[1]).max(s[2]))
        }
        _ => (Exact::Other(parry_shape(kind, s).expect("a shape of parry's")), 0.0),
    }
}

#[test]
fn round_shapes_are_as_far_as_their_stand_ins_allow() {
    for a in solids() {
        for b in solids() {
            let Some(pair) = Pair::new(&a, &b).filter(|_| stands_in(&a, &b)) else { continue };
            let mut random = Random::seeded(19);
            let (mut compared, mut as_it_is, mut worst) = (0, 0, 0.0_f64);
            for _ in 0..200 {
                let at = state([&a, &b], &mut random);
                let [(one, slack_one), (other, slack_other)] =
                    [exact(&a, &at[0].sizes), exact(&b, &at[1].sizes)];
                let between = parry_pose(&at[0].pose).inv_mul(&parry_pose(&at[1].pose));
                let distance = query::details::distance_support_map_support_map(&between, &one, &other);
                if distance > 0.02 {
                    let gap = least(&contacts(&pair, &at, 9.0));
                    // 1e-3 of the distance of cores is what faces nearby may take.
                    let slack = slack_one + slack_other + 1e-3 * (distance + 1.0);
                    let name = format!("{}-{}", a.name(), b.name());
                    assert!((gap - distance).abs() < slack, "{name}: {gap} {distance}");
                    worst = worst.max((gap - distance).abs() / slack);
                    as_it_is += usize::from((gap - distance).abs() < 1e-5 * (1.0 + distance));
                    compared += 1;
                }
            }
            println!(
                "{}-{}: {compared} states, {as_it_is} exact, at most {worst:.2} of the slack",
                a.name(),
                b.name()
            );
            assert!(compared > 20);
            // Corners, edges and faces meet a round shape as it is, but for edges at a cylinder's rim.
            let round = |kind: &Kind| matches!(kind, Kind::Cylinder | Kind::Ellipsoid);
            let ellipsoid = matches!(a, Kind::Ellipsoid) || matches!(b, Kind::Ellipsoid);
            let part = if ellipsoid { 0.85 } else { 0.4 };
            assert!(round(&a) && round(&b) || as_it_is as f64 > part * compared as f64);
        }
    }
}

#[test]
fn the_other_order_turns_the_normal() {
    for a in solids().into_iter().chain([Kind::Plane]) {
        for b in solids().into_iter().chain([Kind::Plane]) {
            let (Some(pair), Some(back)) = (Pair::new(&a, &b), Pair::new(&b, &a)) else {
                assert!(Pair::new(&a, &b).is_none() && Pair::new(&b, &a).is_none());
                continue;
            };
            let mut random = Random::seeded(17);
            for _ in 0..200 {
                let at = state([&a, &b], &mut random);
                let [x, y] = at.clone();
                let (there, here) = (contacts(&pair, &at, 0.5), contacts(&back, &[y, x], 0.5));
                assert_eq!(there.len(), here.len(), "{}-{}: {at:?}", a.name(), b.name());
                for contact in there {
                    let same = |other: &&Contact| {
                        length(contact.point - other.point) < 1e-9
                            && length(contact.normal + other.normal) < 1e-9
                            && (contact.gap - other.gap).abs() < 1e-9
                    };
                    assert!(here.iter().any(|other| same(&other)), "{}-{}: {at:?}", a.name(), b.name());
                }
            }
        }
    }
}

/// The surface of the first shape is at point - normal gap/2, that of the second at point + normal gap/2.
#[test]
fn points_are_midway() {
    let mut random = Random::seeded(23);
    for kind in [Kind::Sphere, Kind::Capsule, Kind::Box] {
        let pair = Pair::new(&Kind::Plane, &kind).expect("a pair");
        for _ in 0..100 {
            let at = state([&Kind::Plane, &kind], &mut random);
            let plane = at[0].pose;
            // Of a corner that is not the lowest, the half ball below it can be inside.
            let all = contacts(&pair, &at, 9.0);
            for contact in all.iter().filter(|contact| contact.gap == least(&all)) {
                let on_plane = contact.point - contact.normal * (0.5 * contact.gap);
                assert!(dot(plane.rotation.z, on_plane - plane.position).abs() < 1e-12);
                let on_shape = contact.point + contact.normal * (0.5 * contact.gap);
                let local = transpose_times(at[1].pose.rotation, on_shape - at[1].pose.position);
                let s = &at[1].sizes;
                let off = match kind {
                    Kind::Sphere => length(local) - s[0],
                    Kind::Capsule => {
                        length(local - Vec3 { x: 0.0, y: 0.0, z: local.z.clamp(-s[1], s[1]) }) - s[0]
                    }
                    _ => (local.x.abs() - s[0])
                        .abs()
                        .max((local.y.abs() - s[1]).abs())
                        .max((local.z.abs() - s[2]).abs()),
                };
                assert!(off.abs() < 1e-9, "{}: {off}", kind.name());
            }
        }
    }
}

/// Support functions in closed form: of an ellipsoid |S n|, of a cylinder r sin + l |cos|.
#[test]
fn round_shapes_on_a_plane_reach_their_support() {
    let mut random = Random::seeded(29);
    for kind in [Kind::Ellipsoid, Kind::Cylinder] {
        let pair = Pair::new(&Kind::Plane, &kind).expect("a pair");
        for _ in 0..500 {
            let at = state([&Kind::Plane, &kind], &mut random);
            let n = at[0].pose.rotation.z;
            let m = transpose_times(at[1].pose.rotation, n);
            let s = &at[1].sizes;
            let support = match kind {
                Kind::Ellipsoid => length(Vec3 { x: s[0] * m.x, y: s[1] * m.y, z: s[2] * m.z }),
                _ => s[0] * m.x.hypot(m.y) + s[1] * m.z.abs(),
            };
            let truth = dot(n, at[1].pose.position - at[0].pose.position) - support;
            assert!((least(&contacts(&pair, &at, 9.0)) - truth).abs() < 1e-12, "{}", kind.name());
        }
    }
}

/// A point and a cylinder, by the distance to a rectangle in the plane through its axis.
#[test]
fn a_sphere_is_as_far_from_a_cylinder_as_from_its_section() {
    let pair = Pair::new(&Kind::Sphere, &Kind::Cylinder).expect("a pair");
    let mut random = Random::seeded(31);
    for _ in 0..1000 {
        let at = state([&Kind::Sphere, &Kind::Cylinder], &mut random);
        let p = transpose_times(at[1].pose.rotation, at[0].pose.position - at[1].pose.position);
        let (u, v) = (p.x.hypot(p.y) - at[1].sizes[0], p.z.abs() - at[1].sizes[1]);
        let section = u.max(0.0).hypot(v.max(0.0)) + u.max(v).min(0.0);
        assert!((least(&contacts(&pair, &at, 9.0)) - (section - at[0].sizes[0])).abs() < 1e-12);
    }
}

/// The nearest point of an ellipsoid is on it, the way there is along its normal, and no point of a grid on it is nearer.
#[test]
fn a_sphere_is_as_far_from_an_ellipsoid_as_its_nearest_point() {
    let pair = Pair::new(&Kind::Sphere, &Kind::Ellipsoid).expect("a pair");
    let mut random = Random::seeded(37);
    let mut inside = 0;
    for _ in 0..300 {
        let at = state([&Kind::Sphere, &Kind::Ellipsoid], &mut random);
        let contact = contacts(&pair, &at, 9.0)[0];
        let s = &at[1].sizes;
        let center = at[0].pose.position;
        let near = center + contact.normal * (contact.gap + at[0].sizes[0]);
        let local = |x: Vec3| transpose_times(at[1].pose.rotation, x - at[1].pose.position);
        let q = local(near);
        assert!(((q.x / s[0]).powi(2) + (q.y / s[1]).powi(2) + (q.z / s[2]).powi(2) - 1.0).abs() < 1e-9);
        let outward = normalize(Vec3 { x: q.x / s[0].powi(2), y: q.y / s[1].powi(2), z: q.z / s[2].powi(2) });
        let normal = transpose_times(at[1].pose.rotation, contact.normal);
        assert!(length(outward + normal) < 1e-9);
        let distance = length(near - center);
        let p = local(center);
        for i in 0..60 {
            for j in 0..120 {
                let (u, v) =
                    (std::f64::consts::PI * i as f64 / 59.0, std::f64::consts::TAU * j as f64 / 120.0);
                let on = Vec3 { x: s[0] * u.sin() * v.cos(), y: s[1] * u.sin() * v.sin(), z: s[2] * u.cos() };
                assert!(length(on - p) > distance - 1e-9);
            }
        }
        inside += usize::from(contact.gap < -at[0].sizes[0]);
    }
    assert!(inside > 20, "{inside}");
}

#[test]
fn hulls_hold_their_points_and_no_more() {
    for seed in 0..40 {
        let mut random = Random::seeded(seed);
        let hull = random_hull(&mut random, 5 + seed as usize);
        // Euler's formula tells of holes and doubled faces.
        let corners = hull.corners().len() / 3;
        assert!(hull.faces() >= 4 && corners <= 5 + seed as usize && hull.faces() <= 2 * corners - 4);
    }
    // A grid of points on a cube: six faces, eight corners, whatever lies in its faces and edges.
    let mut grid = Vec::new();
    for i in 0..5 {
        for j in 0..5 {
            for k in 0..5 {
                grid.push(Vec3 { x: 0.1 * i as f64, y: 0.2 * j as f64, z: 0.3 * k as f64 });
            }
        }
    }
    let cube = Hull::new(&grid).expect("a cube");
    assert_eq!((cube.faces(), cube.corners().len()), (6, 24));
    assert!(Hull::new(&grid[..25]).is_err(), "all in a plane");
    assert!(Hull::new(&[]).is_err());
}
