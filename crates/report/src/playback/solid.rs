//! Solids of a playback: faces that move with a body.

use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

use super::numbers;

/// Faces in the frame of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solid {
    /// The body, as an index of [`Playback::bodies`](super::Playback::bodies).
    pub body: usize,
    /// Corners in the body's frame [m].
    pub corners: Vec<[f32; 3]>,
    /// Faces: corners in order, anticlockwise when seen from outside.
    pub faces: Vec<Vec<u32>>,
    /// Red, green, blue and opacity, from 0 to 1; `None`: a colour of the page.
    pub color: Option<[f32; 4]>,
}

/// Faces around a round thing.
const AROUND: u32 = 20;
/// Rings from its pole to its equator.
const RINGS: u32 = 5;
/// Cells of the grid that corners of a fine mesh are gathered in, along its longest side.
const CELLS: f32 = 14.0;
/// Meshes of fewer faces stay as they are.
const FEW_FACES: usize = 300;

impl Solid {
    /// A box with half its sides [m].
    pub fn cuboid([x, y, z]: [f32; 3]) -> Solid {
        let corner = |i: u32| {
            let sign = |bit: u32, half: f32| if i >> bit & 1 == 1 { half } else { -half };
            [sign(0, x), sign(1, y), sign(2, z)]
        };
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        Solid {
            corners: (0..8).map(corner).collect(),
            faces: faces.iter().map(|face| face.to_vec()).collect(),
            ..Solid::default()
        }
    }

    /// An ellipsoid with half its axes [m].
    pub fn ellipsoid([x, y, z]: [f32; 3]) -> Solid {
        let ring = |k: u32| {
            let angle = PI * k as f32 / (2 * RINGS) as f32;
            (angle.sin(), -angle.cos())
        };
        let mut solid = Solid::turned(&(0..=2 * RINGS).map(ring).collect::<Vec<_>>());
        solid.corners.iter_mut().for_each(|c| *c = [x * c[0], y * c[1], z * c[2]]);
        solid
    }

    /// A cylinder along z [m].
    pub fn cylinder(radius: f32, half_length: f32) -> Solid {
        let ends = [(0.0, -half_length), (radius, -half_length), (radius, half_length), (0.0, half_length)];
        Solid::turned(&ends)
    }

    /// A cylinder along z with half balls at its ends [m].
    pub fn capsule(radius: f32, half_length: f32) -> Solid {
        let ring = |k: u32| {
            let angle = 0.5 * PI * k as f32 / RINGS as f32;
            (radius * angle.sin(), radius * angle.cos() + half_length)
        };
        let below = (0..=RINGS).map(ring).map(|(r, z)| (r, -z));
        Solid::turned(&below.chain((0..=RINGS).rev().map(ring)).collect::<Vec<_>>())
    }

    /// A profile (radius, z), from below, turned about z.
    fn turned(profile: &[(f32, f32)]) -> Solid {
        let mut solid = Solid::default();
        for &(radius, z) in profile {
            for k in 0..AROUND {
                let (s, c) = (TAU * k as f32 / AROUND as f32).sin_cos();
                solid.corners.push([radius * c, radius * s, z]);
            }
        }
        for ring in 0..profile.len() as u32 - 1 {
            let (low, high) = (ring * AROUND, (ring + 1) * AROUND);
            let closed = |at: usize| profile[at].0 == 0.0;
            for k in 0..AROUND {
                let next = (k + 1) % AROUND;
                let mut face = vec![low + k, low + next, high + next, high + k];
                // At a pole two corners are one, and a flat end is one face of a ring of them.
                if closed(ring as usize) {
                    face.remove(0);
                } else if closed(ring as usize + 1) {
                    face.remove(2);
                }
                solid.faces.push(face);
            }
        }
        solid
    }

    /// Triangles, with fewer corners where they are many: those that lie close together become one.
    pub fn mesh(corners: &[[f32; 3]], triangles: &[[u32; 3]]) -> Solid {
        let inside = triangles.iter().filter(|t| t.iter().all(|&c| (c as usize) < corners.len()));
        let triangles: Vec<[u32; 3]> = inside.copied().collect();
        if triangles.len() <= FEW_FACES {
            let faces = triangles.iter().map(|t| t.to_vec()).collect();
            return Solid { corners: corners.to_vec(), faces, ..Solid::default() };
        }
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for corner in corners {
            low = std::array::from_fn(|i| low[i].min(corner[i]));
            high = std::array::from_fn(|i| high[i].max(corner[i]));
        }
        let cell = (0..3).map(|i| high[i] - low[i]).fold(f32::MIN_POSITIVE, f32::max) / CELLS;
        let (mut places, mut sums) = (HashMap::new(), Vec::<([f32; 3], f32)>::new());
        let mut gather = |corner: [f32; 3]| -> u32 {
            let key: [i32; 3] = std::array::from_fn(|i| ((corner[i] - low[i]) / cell) as i32);
            let at = *places.entry(key).or_insert_with(|| {
                sums.push(([0.0; 3], 0.0));
                sums.len() - 1
            });
            let (sum, count) = &mut sums[at];
            (0..3).for_each(|i| sum[i] += corner[i]);
            *count += 1.0;
            at as u32
        };
        let place: Vec<u32> = corners.iter().map(|&corner| gather(corner)).collect();
        let mut faces: Vec<Vec<u32>> = triangles
            .iter()
            .map(|t| t.map(|c| place[c as usize]))
            .filter(|[a, b, c]| a != b && b != c && c != a)
            .map(|[a, b, c]| {
                if a < b && a < c {
                    vec![a, b, c]
                } else if b < c {
                    vec![b, c, a]
                } else {
                    vec![c, a, b]
                }
            })
            .collect();
        faces.sort_unstable();
        faces.dedup();
        let corners = sums.iter().map(|(sum, count)| sum.map(|x| x / count)).collect();
        Solid { corners, faces, ..Solid::default() }
    }

    /// Faces that have an area, and corners that are there.
    fn drawn(&self) -> impl Iterator<Item = &Vec<u32>> {
        let is_corner = |c: &u32| (*c as usize) < self.corners.len();
        self.faces.iter().filter(move |face| face.len() > 2 && face.iter().all(is_corner))
    }

    /// Corners and faces, for the page.
    fn form(&self) -> String {
        // A tenth of a millimetre in a metre is less than a pixel.
        let most = self.corners.iter().flatten().fold(1e-9_f32, |most, x| most.max(x.abs()));
        let unit = 10_f64.powf(f64::from(most).log10().floor() - 4.0);
        let corners = self.corners.iter().flatten().map(|&x| (f64::from(x) / unit).round());
        let corners: Vec<String> =
            corners.map(|x| if x.is_finite() { format!("{x}") } else { "0".into() }).collect();
        let face =
            |face: &Vec<u32>| format!("[{}]", face.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
        let faces: Vec<String> = self.drawn().map(face).collect();
        format!("{{\"unit\":{unit:e},\"corners\":[{}],\"faces\":[{}]}}", corners.join(","), faces.join(","))
    }

    /// The same, turned by a unit quaternion (w, x, y, z) and moved [m].
    #[must_use]
    pub fn placed(mut self, position: [f32; 3], orientation: [f32; 4]) -> Solid {
        for corner in &mut self.corners {
            let turned = turn(orientation, *corner);
            *corner = std::array::from_fn(|i| turned[i] + position[i]);
        }
        self
    }

    /// The same on a body.
    #[must_use]
    pub fn on(self, body: usize) -> Solid {
        Solid { body, ..self }
    }
}

/// The place of a solid's body among those that are shown.
fn place_of(solid: &Solid, bodies: &[[usize; 2]]) -> Option<usize> {
    bodies.binary_search_by_key(&solid.body, |[body, _]| *body).ok()
}

/// Is something drawn of a solid?
pub(super) fn is_seen(solid: &Solid, bodies: &[[usize; 2]]) -> bool {
    place_of(solid, bodies).is_some() && solid.drawn().next().is_some()
}

/// The forms of solids, each once, and the solids by the places of their bodies and forms.
pub(super) fn json<'s>(
    solids: impl Iterator<Item = &'s Solid>,
    bodies: &[[usize; 2]],
) -> (Vec<String>, Vec<String>) {
    let (mut forms, mut places, mut told) = (Vec::new(), HashMap::new(), Vec::new());
    for solid in solids {
        let Some(body) = place_of(solid, bodies) else { continue };
        let form = *places.entry(solid.form()).or_insert_with_key(|form| {
            forms.push(form.clone());
            forms.len() - 1
        });
        let color = solid.color.map_or("null".into(), |color| numbers(&color.map(f64::from)));
        told.push(format!("{{\"body\":{body},\"form\":{form},\"color\":{color}}}"));
    }
    (forms, told)
}

/// v turned by a unit quaternion: v + 2 w (u × v) + 2 u × (u × v)
fn turn([w, x, y, z]: [f32; 4], v: [f32; 3]) -> [f32; 3] {
    let cross = |a: [f32; 3], b: [f32; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let (u, once) = ([x, y, z], cross([x, y, z], v));
    let twice = cross(u, once);
    std::array::from_fn(|i| v[i] + 2.0 * (w * once[i] + twice[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The volume that faces enclose, positive if they are anticlockwise from outside:  Σ a · (b × c) / 6
    fn volume(solid: &Solid) -> f64 {
        let at = |i: u32| solid.corners[i as usize].map(f64::from);
        let mut sum = 0.0;
        for face in &solid.faces {
            for k in 1..face.len() - 1 {
                let ([a, b, c], [d, e, f], [g, h, i]) = (at(face[0]), at(face[k]), at(face[k + 1]));
                sum += a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g);
            }
        }
        sum / 6.0
    }

    #[test]
    fn solids_are_closed_and_outside_is_outside() {
        let pi = std::f64::consts::PI;
        let (r, h) = (0.5, 0.75);
        let ball = 4.0 / 3.0 * pi * r * r * r;
        for (solid, exact) in [
            (Solid::cuboid([1.0, 2.0, 3.0]), 48.0),
            (Solid::ellipsoid([0.5, 0.5, 0.5]), ball),
            (Solid::cylinder(0.5, 0.75), pi * r * r * 2.0 * h),
            (Solid::capsule(0.5, 0.75), pi * r * r * 2.0 * h + ball),
        ] {
            let found = volume(&solid);
            assert!(found > 0.85 * exact && found < 1.0001 * exact, "{found} instead of {exact}");
            let moved = solid.clone().placed([1.0, 2.0, 3.0], [0.5, 0.5, 0.5, 0.5]);
            assert!((volume(&moved) - found).abs() < 1e-4 * found, "moving keeps it");
        }
    }

    #[test]
    fn a_quarter_turn_about_z_turns_x_to_y() {
        let half = 0.5_f32.sqrt();
        let [x, y, z] = turn([half, 0.0, 0.0, half], [1.0, 0.0, 0.0]);
        assert!(x.abs() < 1e-6 && (y - 1.0).abs() < 1e-6 && z.abs() < 1e-6);
    }

    #[test]
    fn fine_meshes_become_coarse_and_keep_their_form() {
        // A finely divided ball.
        let (rings, around) = (100_u32, 200_u32);
        let corner = |k: u32| {
            let (a, b) = (PI * (k / around) as f32 / rings as f32, TAU * (k % around) as f32 / around as f32);
            [a.sin() * b.cos(), a.sin() * b.sin(), a.cos()]
        };
        let corners: Vec<[f32; 3]> = (0..(rings + 1) * around).map(corner).collect();
        let mut triangles = Vec::new();
        for r in 0..rings {
            for k in 0..around {
                let (a, b) = (r * around + k, r * around + (k + 1) % around);
                triangles.extend([[a, a + around, b + around], [a, b + around, b]]);
            }
        }
        let solid = Solid::mesh(&corners, &triangles);
        assert!(solid.faces.len() < 3000 && solid.faces.len() > 300, "{}", solid.faces.len());
        let exact = 4.0 / 3.0 * f64::from(PI);
        assert!((volume(&solid) / exact - 1.0).abs() < 0.1, "{}", volume(&solid));
        // Indices that are none are left out, not followed.
        assert!(Solid::mesh(&corners[..3], &[[0, 1, 2], [0, 1, 9]]).faces.len() == 1);
    }
}
