//! Surfaces of a playback: triangles between particles.

/// The surface of a soft solid, or a sheet: triangles whose corners are particles, and move with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Corners as particles, anticlockwise when seen from outside. Triangles of particles that there are not are left out.
    pub triangles: Vec<[usize; 3]>,
    /// Are both sides seen, as those of cloth? Of the surface of a solid one is.
    pub two_sided: bool,
}

impl Surface {
    /// The surface between the particles that are kept, with corners as places among them: `kept` increases.
    ///
    /// Particles that are left out become the nearest kept one, along edges. Triangles of three different ones are a coarser surface of the
    /// same form, whose layers stay apart even where they touch.
    pub(super) fn over(&self, kept: &[usize], particles: usize) -> Surface {
        let mut nearest = vec![None; particles];
        kept.iter().enumerate().for_each(|(place, &particle)| nearest[particle] = Some(place));
        let inside = |t: &&[usize; 3]| t.iter().all(|&corner| corner < particles);
        let triangles: Vec<[usize; 3]> = self.triangles.iter().filter(inside).copied().collect();
        while spread(&triangles, &mut nearest) {}
        let coarse = triangles.iter().filter_map(|&[a, b, c]| Some([nearest[a]?, nearest[b]?, nearest[c]?]));
        let triangles = coarse.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        Surface { triangles, two_sided: self.two_sided }
    }

    pub(super) fn json(&self) -> String {
        let corners: Vec<String> = self.triangles.iter().flatten().map(usize::to_string).collect();
        format!("{{\"two_sided\":{},\"triangles\":[{}]}}", self.two_sided, corners.join(","))
    }
}

/// Gives the particles next to those that are known what those have. Was there one?
fn spread(triangles: &[[usize; 3]], nearest: &mut [Option<usize>]) -> bool {
    let mut found = Vec::new();
    for corners in triangles {
        if let Some(place) = corners.iter().find_map(|&corner| nearest[corner]) {
            found.extend(corners.iter().filter(|&&corner| nearest[corner].is_none()).map(|&c| (c, place)));
        }
    }
    // All of a round at once, so that what is found depends on distance, and hardly on the order of triangles.
    for &(corner, place) in &found {
        nearest[corner].get_or_insert(place);
    }
    !found.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of n x n cells, of two triangles each.
    fn sheet(n: usize) -> Surface {
        let cells = (0..n).flat_map(|i| (0..n).map(move |j| i * (n + 1) + j));
        let halves = cells.flat_map(|a| [[a, a + n + 1, a + n + 2], [a, a + n + 2, a + 1]]);
        Surface { triangles: halves.collect(), two_sided: true }
    }

    #[test]
    fn corners_become_places_and_strangers_are_left_out() {
        let surface = Surface { triangles: vec![[2, 4, 6], [2, 4, 9], [0, 0, 2]], two_sided: false };
        let over = surface.over(&[0, 2, 4, 6], 7);
        assert_eq!(over.triangles, [[1, 2, 3]], "nothing of particle 9, nothing without an area");
        assert_eq!(over.json(), "{\"two_sided\":false,\"triangles\":[1,2,3]}");
        assert!(surface.over(&[], 7).triangles.is_empty());
    }

    /// The sum of the areas of triangles of a sheet of n x n cells, of which each is as large as its winding says.
    fn area(triangles: &[[usize; 3]], kept: &[usize], n: usize) -> f64 {
        let at = |place: usize| ((kept[place] / (n + 1)) as f64, (kept[place] % (n + 1)) as f64);
        let half = |&[a, b, c]: &[usize; 3]| {
            let ((ax, ay), (bx, by), (cx, cy)) = (at(a), at(b), at(c));
            0.5 * ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
        };
        triangles.iter().map(half).sum()
    }

    #[test]
    fn coarse_sheets_cover_what_fine_ones_did() {
        let n = 60;
        let fine = sheet(n);
        let kept: Vec<usize> = (0..(n + 1) * (n + 1)).filter(|p| p * 7 % 24 < 8).collect();
        let coarse = fine.over(&kept, (n + 1) * (n + 1));
        assert!(coarse.triangles.len() < fine.triangles.len() / 2, "{}", coarse.triangles.len());
        let all = (n * n) as f64;
        let covered = area(&coarse.triangles, &kept, n).abs();
        assert!((covered / all - 1.0).abs() < 0.1, "{covered} of {all}");
    }
}
