//! Random states of pairs, and their derivatives as functions of numbers.
#![allow(dead_code, reason = "each test uses a part")]

use std::sync::Arc;

use pullback_geometry::{Contact, Corners, Feature, Heights, Hull, Kind, Pair, Surface};
use pullback_kernel::gradcheck::Function;
use pullback_kernel::prelude::*;

/// Numbers in (-1, 1), the same in every run.
pub struct Random(u64);

impl Random {
    pub fn seeded(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.next();
        random
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        0.5 * (low + high) + 0.5 * (high - low) * self.next()
    }

    pub fn vec3(&mut self) -> Vec3 {
        Vec3 { x: self.next(), y: self.next(), z: self.next() }
    }

    pub fn rotation(&mut self) -> Mat3 {
        let q = Quat { w: self.next(), x: self.next(), y: self.next(), z: self.next() };
        rotation_matrix(normalize_quat(q))
    }
}

/// A shape where it is.
#[derive(Clone, Debug)]
pub struct Placed {
    pub pose: Pose,
    pub sizes: Vec<f64>,
}

impl Placed {
    pub fn at(&self) -> (&Pose, &[f64]) {
        (&self.pose, &self.sizes)
    }
}

/// A hull of random points.
pub fn random_hull(random: &mut Random, points: usize) -> Arc<Hull> {
    let points: Vec<Vec3> = (0..points).map(|_| normalize(random.vec3()) * random.within(0.4, 0.9)).collect();
    Arc::new(Hull::new(&points).expect("points that span a volume"))
}

/// Every kind of shape that moves, with usual sizes.
pub fn solids() -> Vec<Kind> {
    let hull = random_hull(&mut Random::seeded(7), 14);
    vec![Kind::Sphere, Kind::Capsule, Kind::Cylinder, Kind::Box, Kind::Ellipsoid, Kind::Hull(hull)]
}

/// The corners of the polyhedron of the same volume that stands in for a cylinder (32 sides) or an ellipsoid (an icosahedron
/// whose triangles are twice split into four).
pub fn stand_in(kind: &Kind, sizes: &[f64]) -> Vec<Vec3> {
    let (unit, by) = match kind {
        Kind::Cylinder => (unit_prism(), [sizes[0], sizes[0], sizes[1]]),
        _ => (unit_ball(), [sizes[0], sizes[1], sizes[2]]),
    };
    unit.iter().map(|p| Vec3 { x: by[0] * p.x, y: by[1] * p.y, z: by[2] * p.z }).collect()
}

fn unit_prism() -> Vec<Vec3> {
    let angle = std::f64::consts::PI / 16.0;
    // 32 triangles of two sides of this length have the area π.
    let side = (2.0 * std::f64::consts::PI / (32.0 * angle.sin())).sqrt();
    let at = |i: i32, z: f64| Vec3 {
        x: side * (angle * f64::from(i)).cos(),
        y: side * (angle * f64::from(i)).sin(),
        z,
    };
    (0..32).flat_map(|i| [at(i, -1.0), at(i, 1.0)]).collect()
}

fn unit_ball() -> Vec<Vec3> {
    let g = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut points = Vec::new();
    for i in 0..4 {
        let (a, b) = (if i & 1 == 0 { 1.0 } else { -1.0 }, if i & 2 == 0 { g } else { -g });
        for [x, y, z] in [[0.0, a, b], [a, b, 0.0], [b, 0.0, a]] {
            points.push(Vec3 { x, y, z });
        }
    }
    // Edges of the icosahedron have the length 2.
    let near = |p: Vec3, q: Vec3| (length(p - q) - 2.0).abs() < 1e-9;
    let mut triangles = Vec::new();
    for (i, &p) in points.iter().enumerate() {
        for (j, &q) in points.iter().enumerate().skip(i + 1) {
            for &r in &points[j + 1..] {
                if near(p, q) && near(q, r) && near(r, p) {
                    triangles.push([p, q, r].map(normalize));
                }
            }
        }
    }
    for _ in 0..2 {
        let split = |&[p, q, r]: &[Vec3; 3]| {
            let (s, t, u) = (normalize(p + q), normalize(q + r), normalize(r + p));
            [[p, s, u], [q, t, s], [r, u, t], [s, t, u]]
        };
        triangles = triangles.iter().flat_map(split).collect();
    }
    let volume: f64 = triangles.iter().map(|[p, q, r]| dot(*p, cross(*q, *r)).abs() / 6.0).sum();
    let factor = (4.0 / 3.0 * std::f64::consts::PI / volume).cbrt();
    let mut corners: Vec<Vec3> = Vec::new();
    for &p in triangles.iter().flatten() {
        if corners.iter().all(|q| length(p * factor - *q) > 1e-9) {
            corners.push(p * factor);
        }
    }
    corners
}

/// Corners of the grid of [`grounds`] along x and y.
pub const GRID: usize = 7;
/// How far apart they are [m].
pub const SPACING: f64 = 0.6;

/// A grid of heights, and triangles of a similar grid that is not regular, with their sizes.
pub fn grounds() -> [(Kind, Vec<f64>); 2] {
    let mut random = Random::seeded(13);
    let z: Vec<f64> = (0..GRID * GRID).map(|_| 0.25 * random.next()).collect();
    let heights = Heights::new(&z, GRID, [SPACING; 2]).expect("a grid");
    let mut corners = Vec::new();
    for j in 0..GRID {
        for i in 0..GRID {
            let at = |i: usize, jitter: f64| SPACING * (i as f64 + 0.25 * jitter - 0.5 * (GRID - 1) as f64);
            corners.push(Vec3 { x: at(i, random.next()), y: at(j, random.next()), z: 0.25 * random.next() });
        }
    }
    let surface = Surface::new(&corners, &grid_triangles(GRID)).expect("a surface");
    let sizes = surface.corners().to_vec();
    [(Kind::Heights(heights.into()), z), (Kind::Surface(surface.into()), sizes)]
}

/// The triangles of a square grid.
pub fn grid_triangles(count: usize) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for j in 0..count - 1 {
        for i in 0..count - 1 {
            let corner = |i: usize, j: usize| (i + j * count) as u32;
            let (a, b, c, d) = (corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    triangles
}

/// A shape over ground, at a height about its size.
pub fn ground_state(kind: &Kind, sizes_of_ground: &[f64], random: &mut Random) -> [Placed; 2] {
    let ground = Placed {
        pose: Pose { rotation: random.rotation(), position: random.vec3() },
        sizes: sizes_of_ground.to_vec(),
    };
    let sizes = sizes(kind, random);
    let z = random.within(0.0, 1.3) * kind.bounding_radius(&sizes);
    let local = Vec3 { x: 1.2 * random.next(), y: 1.2 * random.next(), z };
    let position = ground.pose.rotation * local + ground.pose.position;
    [Placed { pose: Pose { rotation: random.rotation(), position }, sizes }, ground]
}

pub fn sizes(kind: &Kind, random: &mut Random) -> Vec<f64> {
    match kind {
        Kind::Hull(hull) => hull.corners().to_vec(),
        _ => (0..kind.sizes()).map(|_| random.within(0.3, 0.9)).collect(),
    }
}

/// Two shapes about as far apart as they are large.
pub fn state(kinds: [&Kind; 2], random: &mut Random) -> [Placed; 2] {
    let [a, b] = kinds.map(|kind| {
        let pose = Pose { rotation: random.rotation(), position: random.vec3() };
        Placed { pose, sizes: sizes(kind, random) }
    });
    let radius = |kind: &Kind, placed: &Placed| {
        Some(kind.bounding_radius(&placed.sizes)).filter(|r| r.is_finite()).unwrap_or(0.0)
    };
    let (r, s) = (radius(kinds[0], &a), radius(kinds[1], &b));
    let mut b = b;
    let direction = match (kinds[0], kinds[1]) {
        (Kind::Plane, _) => a.pose.rotation.z + random.vec3() * 0.5,
        (_, Kind::Plane) => -b.pose.rotation.z + random.vec3() * 0.5,
        _ => random.vec3(),
    };
    let away = normalize(direction) * ((r + s) * random.within(0.2, 1.1));
    b.pose.position = a.pose.position + away;
    if let Kind::Plane = kinds[1] {
        b.pose.position = a.pose.position + away;
    }
    [a, b]
}

/// The most contacts that a test looks at.
pub const MOST: usize = 16;

pub fn features(pair: &Pair, [a, b]: &[Placed; 2], margin: f64) -> Vec<Feature> {
    let mut features = [Feature(0, 0); MOST];
    let len = pair.detect(a.at(), b.at(), margin, &mut features);
    assert!(len <= pair.slots());
    features[..len].to_vec()
}

/// A shape in a place, and what is added to of both.
pub type Here<'a, R> = (&'a Pose<R>, &'a [R]);
pub type Into<'a> = (&'a mut Pose, &'a mut [f64]);

/// A contact, by these corners of the shapes. It is a function of its own: pairs are inlined wherever they are called, and take
/// long to compile.
#[inline(never)]
pub fn contact_of<R: Real>(
    pair: &Pair,
    feature: Feature,
    at: [Here<'_, R>; 2],
    corners: &[Corners; 2],
) -> Contact<R> {
    pair.contact_of(feature, at[0], at[1], corners)
}

/// The same of all corners.
pub fn contact(pair: &Pair, feature: Feature, at: &[Placed; 2]) -> Contact {
    contact_of(pair, feature, [at[0].at(), at[1].at()], &[Corners::ALL; 2])
}

/// The pullback of [`contact_of`].
#[inline(never)]
pub fn pullback_of(
    pair: &Pair,
    feature: Feature,
    at: [Here<'_, f64>; 2],
    corners: &[Corners; 2],
    bar: &Contact,
    [a, b]: [Into<'_>; 2],
) {
    pair.pullback_of(feature, at, corners, bar, a, b);
}

/// A contact as a function of numbers: for each shape, a small turn [rad] in world axes, its position and its sizes.
pub struct At<'a> {
    pub name: String,
    pub pair: &'a Pair,
    pub feature: Feature,
    pub state: &'a [Placed; 2],
}

fn numbers<R: Copy>(contact: &Contact<R>) -> Vec<R> {
    let Contact { point: p, normal: n, gap } = *contact;
    vec![p.x, p.y, p.z, n.x, n.y, n.z, gap]
}

fn contact_from(numbers: &[f64]) -> Contact {
    let at = |i: usize| Vec3 { x: numbers[i], y: numbers[i + 1], z: numbers[i + 2] };
    Contact { point: at(0), normal: at(3), gap: numbers[6] }
}

fn cross_all<R: Real>(w: Vec3<R>, m: Mat3<R>) -> Mat3<R> {
    Mat3 { x: cross(w, m.x), y: cross(w, m.y), z: cross(w, m.z) }
}

impl At<'_> {
    /// The numbers of the state itself: no turn.
    pub fn here(&self) -> Vec<f64> {
        let mut x = Vec::new();
        for placed in self.state {
            let p = placed.pose.position;
            x.extend([0.0, 0.0, 0.0, p.x, p.y, p.z]);
            x.extend(&placed.sizes);
        }
        x
    }

    fn placed<R: Real>(&self, x: &[R]) -> [(Pose<R>, Vec<R>); 2] {
        let mut x = x.iter().copied();
        let mut next = || x.next().expect("as many as `here` has");
        self.state.each_ref().map(|placed| {
            let turn = vec3(next(), next(), next());
            let position = vec3(next(), next(), next());
            let sizes = placed.sizes.iter().map(|_| next()).collect();
            let lift = |v: Vec3| vec3(R::from_f64(v.x), R::from_f64(v.y), R::from_f64(v.z));
            let r = placed.pose.rotation;
            let turned = rotation_matrix(quat_exp(turn));
            let rotation = turned * Mat3 { x: lift(r.x), y: lift(r.y), z: lift(r.z) };
            (Pose { rotation, position }, sizes)
        })
    }

    fn value<R: Real>(&self, x: &[R]) -> Vec<R> {
        let [a, b] = self.placed(x);
        numbers(&contact_of(self.pair, self.feature, [(&a.0, &a.1), (&b.0, &b.1)], &[Corners::ALL; 2]))
    }

    /// Do differences from both sides agree? Where they do not, the contact is not smooth within a step.
    pub fn is_smooth(&self) -> bool {
        let x = self.here();
        let y = self.forward(&x);
        (0..x.len()).all(|i| {
            let side = |h: f64| {
                let mut x = x.clone();
                x[i] += h;
                let moved = self.forward(&x);
                moved.iter().zip(&y).map(|(m, y)| (m - y) / h).collect::<Vec<_>>()
            };
            let (right, left) = (side(2e-5), side(-2e-5));
            right.iter().zip(&left).all(|(r, l)| (r - l).abs() < 0.02 * (1.0 + r.abs()))
        })
    }
}

impl Function for At<'_> {
    fn name(&self) -> String {
        format!("{} at {:?}", self.name, self.feature)
    }
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.value(x)
    }
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        let [a, b] = self.placed(x);
        let zero = Pose { rotation: Mat3::default(), position: Vec3::default() };
        let (mut a_bar, mut b_bar) = ((zero, vec![0.0; a.1.len()]), (zero, vec![0.0; b.1.len()]));
        let at = [(&a.0, &a.1[..]), (&b.0, &b.1[..])];
        let into = [(&mut a_bar.0, &mut a_bar.1[..]), (&mut b_bar.0, &mut b_bar.1[..])];
        pullback_of(self.pair, self.feature, at, &[Corners::ALL; 2], &contact_from(y_bar), into);
        let mut x_bar = Vec::new();
        for (placed, bar) in [(a, a_bar), (b, b_bar)] {
            for w in [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)] {
                x_bar.push(contract(bar.0.rotation, cross_all(w, placed.0.rotation)));
            }
            let p = bar.0.position;
            x_bar.extend([p.x, p.y, p.z]);
            x_bar.extend(bar.1);
        }
        x_bar
    }
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        let x: Vec<Dual<f64>> = x.iter().zip(x_dot).map(|(&x, &x_dot)| Dual::new(x, x_dot)).collect();
        self.value(&x).iter().map(|y| y.tangent).collect()
    }
}
