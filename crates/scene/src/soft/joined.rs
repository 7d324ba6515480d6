//! Two meshes as one, and points as one.

use std::collections::HashMap;

use super::mesh::Mesh;
use crate::check::{MOST, Number, too_many};
use crate::error::Invalid;
use crate::vector::{dot, minus};

impl<const CORNERS: usize> Mesh<CORNERS> {
    /// Both meshes as one: the points and elements of the other come after this one's. They share no points; see
    /// [`welded`](Self::welded).
    ///
    /// # Errors
    ///
    /// When there are more than 10,000,000 points or elements together.
    pub fn joined(&self, other: &Self) -> Result<Self, Invalid> {
        let before = self.points.len();
        let total = before.saturating_add(other.points.len());
        if total > MOST {
            return Err(too_many("points", total, "points"));
        }
        let total = self.elements.len().saturating_add(other.elements.len());
        if total > MOST {
            return Err(too_many("elements", total, "elements"));
        }
        let mut joined = self.clone();
        joined.points.extend_from_slice(&other.points);
        let shifted = |element: &[u32; CORNERS]| element.map(|at| at.saturating_add(before as u32));
        joined.elements.extend(other.elements.iter().map(shifted));
        Ok(joined)
    }

    /// The same mesh, in which points at most so far apart [m] are one: the first of them, which stays where it is. The order
    /// of all others stays. Elements that lose a corner this way are left out.
    ///
    /// # Errors
    ///
    /// When the distance is negative or not finite.
    pub fn welded(&self, distance: f64) -> Result<Self, Invalid> {
        Number::not_negative("distance", "m").check("distance", distance)?;
        // Cells twice as wide as the distance: what is near is in a cell next to it. Far from the origin of the smallest
        // distances, cells saturate, and are then only fuller.
        let cell = |point: [f64; 3]| -> [i64; 3] {
            point.map(|x| {
                if distance > 0.0 {
                    (x / (2.0 * distance)).floor() as i64
                } else {
                    (x + 0.0).to_bits() as i64
                }
            })
        };
        let reach = if distance > 0.0 { -1..=1 } else { 0..=0 };
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
        let mut kept: Vec<[f64; 3]> = Vec::new();
        let mut new_of = Vec::with_capacity(self.points.len());
        for &point in &self.points {
            let home = cell(point);
            let mut nearest: Option<u32> = None;
            for x in reach.clone() {
                for y in reach.clone() {
                    for z in reach.clone() {
                        let beside =
                            [home[0].saturating_add(x), home[1].saturating_add(y), home[2].saturating_add(z)];
                        for &at in cells.get(&beside).into_iter().flatten() {
                            let away = minus(kept[at as usize], point);
                            if dot(away, away) <= distance * distance
                                && nearest.is_none_or(|found| at < found)
                            {
                                nearest = Some(at);
                            }
                        }
                    }
                }
            }
            new_of.push(nearest.unwrap_or_else(|| {
                kept.push(point);
                cells.entry(home).or_default().push(kept.len() as u32 - 1);
                kept.len() as u32 - 1
            }));
        }
        let renumbered = self.elements.iter().map(|element| element.map(|at| new_of[at as usize]));
        let whole = |element: &[u32; CORNERS]| (1..CORNERS).all(|i| !element[..i].contains(&element[i]));
        Ok(Self { points: kept, elements: renumbered.filter(whole).collect() })
    }

    /// The same mesh without points that no element has; the order of all others stays.
    #[must_use]
    pub fn tidied(mut self) -> Self {
        let mut new_of = vec![u32::MAX; self.points.len()];
        self.elements.iter().flatten().for_each(|&at| new_of[at as usize] = 0);
        let mut kept = Vec::with_capacity(self.points.len());
        for (new, &point) in new_of.iter_mut().zip(&self.points).filter(|(new, _)| **new == 0) {
            *new = kept.len() as u32;
            kept.push(point);
        }
        self.points = kept;
        self.elements.iter_mut().flatten().for_each(|at| *at = new_of[*at as usize]);
        self
    }
}
