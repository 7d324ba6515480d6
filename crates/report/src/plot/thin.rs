//! Fewer points that look the same: what falls into one pixel column is one vertical stroke.

/// A point in pixels.
pub(crate) type Pixel = (f64, f64);

/// Beyond this many groups a wandering path is grouped by its order instead of by what can be seen.
const GROUPS: usize = 4000;

/// The points to draw of one unbroken line, in order. First and last point and all extremes stay.
pub(crate) fn thin(points: &[Pixel]) -> Vec<Pixel> {
    if points.len() < 1000 {
        return points.to_vec();
    }
    if points.windows(2).all(|w| w[0].0 <= w[1].0) { by_column(points) } else { by_distance(points) }
}

/// Of each pixel column: the first, lowest, highest and last point.
fn by_column(points: &[Pixel]) -> Vec<Pixel> {
    points.chunk_by(|a, b| a.0.floor() == b.0.floor()).flat_map(extremes).collect()
}

/// Without the points that lie within half a pixel of the last one kept; still too many are grouped in order.
fn by_distance(points: &[Pixel]) -> Vec<Pixel> {
    let mut kept = vec![points[0]];
    for &(x, y) in &points[1..points.len() - 1] {
        let (x0, y0) = kept[kept.len() - 1];
        if (x - x0).hypot(y - y0) >= 0.5 {
            kept.push((x, y));
        }
    }
    kept.push(points[points.len() - 1]);
    if kept.len() <= 4 * GROUPS {
        return kept;
    }
    points.chunks(points.len().div_ceil(GROUPS)).flat_map(extremes).collect()
}

/// The first, leftmost, rightmost, lowest, highest and last point of a group, in order, each once.
fn extremes(group: &[Pixel]) -> Vec<Pixel> {
    let by = |key: fn(&Pixel) -> f64| {
        let compare = |a: &usize, b: &usize| key(&group[*a]).total_cmp(&key(&group[*b]));
        [(0..group.len()).min_by(compare), (0..group.len()).max_by(compare)]
    };
    let mut keep: Vec<usize> = by(|p| p.0).into_iter().chain(by(|p| p.1)).flatten().collect();
    keep.extend([0, group.len() - 1]);
    keep.sort_unstable();
    keep.dedup();
    keep.into_iter().map(|i| group[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(points: &[Pixel]) -> [f64; 4] {
        points.iter().fold([f64::MAX, f64::MIN, f64::MAX, f64::MIN], |b, p| {
            [b[0].min(p.0), b[1].max(p.0), b[2].min(p.1), b[3].max(p.1)]
        })
    }

    #[test]
    fn a_million_points_become_what_the_eye_can_see() {
        let mut points: Vec<Pixel> = (0..1_000_000).map(|i| (f64::from(i) * 8e-4, 50.0)).collect();
        points[123_456].1 = 3.0;
        points[654_321].1 = 97.0;
        let thinned = thin(&points);
        assert!(thinned.len() <= 800 * 6, "{}", thinned.len());
        assert!(thinned.contains(&points[123_456]) && thinned.contains(&points[654_321]), "spikes stay");
        assert_eq!((thinned[0], thinned.last()), (points[0], points.last()));
        assert!(thinned.windows(2).all(|w| w[0].0 <= w[1].0), "in order");
        for column in (0..800).step_by(53) {
            let column_of = |of: &[Pixel]| -> Vec<Pixel> {
                of.iter().copied().filter(|p| p.0.floor() == f64::from(column)).collect()
            };
            assert_eq!(bounds(&column_of(&points)), bounds(&column_of(&thinned)), "column {column}");
        }
    }

    #[test]
    fn a_wandering_path_stays_within_half_a_pixel() {
        let points: Vec<Pixel> = (0..200_000)
            .map(|i| f64::from(i) * 1e-4)
            .map(|t| (100.0 + 90.0 * t.cos(), 100.0 + 90.0 * (3.0 * t).sin()))
            .collect();
        let thinned = thin(&points);
        assert!(thinned.len() < 16_000, "{}", thinned.len());
        for p in points.iter().step_by(997) {
            let nearest = thinned.iter().map(|q| (p.0 - q.0).hypot(p.1 - q.1)).fold(f64::MAX, f64::min);
            assert!(nearest <= 0.5, "{p:?}");
        }
    }

    #[test]
    fn noise_is_bounded_and_keeps_its_extremes() {
        let noise = |i: u64, salt: u64| ((i * i * 48271 + i * salt) % 100_003) as f64 / 200.0;
        let points: Vec<Pixel> = (0..1_000_000).map(|i| (noise(i, 1), noise(i, 77))).collect();
        let thinned = thin(&points);
        assert!(thinned.len() <= 6 * GROUPS, "{}", thinned.len());
        assert_eq!(bounds(&points), bounds(&thinned));
    }

    #[test]
    fn few_points_are_left_alone() {
        let points = [(0.0, 1.0), (0.1, 2.0), (0.2, 0.0)];
        assert_eq!(thin(&points), points);
    }
}
