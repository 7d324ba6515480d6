//! Lists that are too long to read: what is called alike is told together.

/// More names than this that differ only in numbers in brackets are told together.
pub(crate) const MOST: usize = 12;
/// Of those, so many are shown.
pub(crate) const FIRST: usize = 3;

/// A part of a list.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// The row that it is.
    One(usize),
    /// Rows whose names differ only in their numbers, and their name with stars for those: "ball[*].mass".
    Many(String, Vec<usize>),
}

/// A list in pieces, in the order in which they begin.
pub(crate) fn pieces<'n>(names: impl Iterator<Item = &'n str>) -> Vec<Piece> {
    let mut pieces: Vec<(String, Vec<usize>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (row, name) in names.enumerate() {
        let starred = starred(name);
        let place = *places.entry(starred.clone()).or_insert(pieces.len());
        if place == pieces.len() {
            pieces.push((starred, Vec::new()));
        }
        pieces[place].1.push(row);
    }
    // Short ones stay where they were, row by row.
    let mut list: Vec<(usize, Piece)> = Vec::new();
    for (name, rows) in pieces {
        if rows.len() > MOST && name.contains('*') {
            list.push((rows[0], Piece::Many(name, rows)));
        } else {
            list.extend(rows.into_iter().map(|row| (row, Piece::One(row))));
        }
    }
    list.sort_by_key(|(row, _)| *row);
    list.into_iter().map(|(_, piece)| piece).collect()
}

/// A name with a star for each number in brackets, or between full stops.
fn starred(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(['[', '.']) {
        let (before, after) = rest.split_at(at + 1);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let ends: &[char] = if before.ends_with('[') { &[']'] } else { &['.', '[', ' '] };
        let is_closed = after[digits..].starts_with(ends) || digits == after.len() && before.ends_with('.');
        out.push_str(before);
        rest = if digits > 0 && is_closed { &after[digits..] } else { after };
        if rest.len() < after.len() {
            out.push('*');
        }
    }
    out + rest
}

/// The smallest of some numbers, their median, and the largest; where one is NaN, it is the largest or the smallest.
pub(crate) fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let Some((&least, &most)) = values.first().zip(values.last()) else { return [f64::NAN; 3] };
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    // Not the mean of equal numbers, which might be another one.
    [least, if low == high { low } else { 0.5 * low + 0.5 * high }, most]
}

/// What the rows of a [`spread`] are called.
pub(crate) fn titles(name: &str, count: usize) -> [String; 3] {
    let of = crate::number::integer(count as i64);
    [format!("{name}, {of} numbers: smallest"), format!("{name}: median"), format!("{name}: largest")]
}

/// A row that says how many are left out.
pub(crate) fn more(count: usize, columns: usize) -> String {
    let count = crate::number::integer(count as i64);
    format!("<tr><td colspan=\"{columns}\" class=\"pb-muted\">\u{2026} and {count} more</td></tr>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_stars() {
        for (name, wanted) in [
            ("ball[12].mass [kg]", "ball[*].mass [kg]"),
            ("net.weight[0][31]", "net.weight[*][*]"),
            ("wind.x [m/s]", "wind.x [m/s]"),
            ("odd[", "odd["),
            ("odd[]]", "odd[]]"),
            ("[1", "[1"),
            ("net.weight.31", "net.weight.*"),
            ("a.2.b [m]", "a.*.b [m]"),
            ("p12.x2", "p12.x2"),
            ("v1.", "v1."),
            ("ü[7]ü", "ü[*]ü"),
        ] {
            assert_eq!(starred(name), wanted);
        }
    }

    #[test]
    fn many_of_a_name_are_one_piece_and_few_are_not() {
        let names = |count: usize| (0..count).flat_map(|i| [format!("a[{i}].x"), format!("b{i}")]);
        let few: Vec<String> = names(MOST).collect();
        assert_eq!(pieces(few.iter().map(String::as_str)), (0..2 * MOST).map(Piece::One).collect::<Vec<_>>());
        let many: Vec<String> = names(MOST + 1).collect();
        let found = pieces(many.iter().map(String::as_str));
        assert_eq!(found[0], Piece::Many("a[*].x".into(), (0..=MOST).map(|i| 2 * i).collect()));
        assert_eq!(found[1..], (0..=MOST).map(|i| Piece::One(2 * i + 1)).collect::<Vec<_>>());
    }

    #[test]
    fn rows_without_names_are_not_alike() {
        assert_eq!(pieces(["", "x"].repeat(20).into_iter()), (0..40).map(Piece::One).collect::<Vec<_>>());
    }

    #[test]
    fn spreads_are_of_what_there_is() {
        assert_eq!(spread([3.0, 1.0, 2.0].into_iter()), [1.0, 2.0, 3.0]);
        assert_eq!(spread([4.0, 1.0, 2.0, 3.0].into_iter()), [1.0, 2.5, 4.0]);
        assert_eq!(spread([0.1, 0.1].into_iter()), [0.1; 3]);
        assert!(spread([1.0, f64::NAN].into_iter())[2].is_nan());
        assert!(spread([].into_iter())[1].is_nan());
    }
}
