//! Rows of a Jacobian that are computed together share no column; and how large its factors can be.

use pullback_engine::sparsity::{Passes, Sparsity};

/// Rows of a pass share no column that has no tangent; how many passes there are comes back.
fn no_two_share(depends_on: &[Vec<u32>], numbers: &[usize]) -> [usize; 2] {
    let (s, passes) = (Sparsity::new(depends_on, [numbers; 2]), Passes::new(depends_on, [numbers; 2]));
    let mut by = vec![vec![None; s.size()]; passes.pullbacks];
    for row in 0..s.size() {
        for &column in &s.columns[s.row(row)] {
            if !passes.tangents.contains(&column) {
                assert_eq!(by[passes.of_row[row]][column].replace(row), None, "row {row}, column {column}");
            }
        }
    }
    [passes.pullbacks, passes.tangents.len()]
}

#[test]
fn rows_of_a_pass_share_no_column() {
    // A ring of 7 with one chord.
    let n = 7u32;
    let mut depends_on: Vec<Vec<u32>> = (0..n).map(|i| vec![i, (i + 1) % n, (i + n - 1) % n]).collect();
    depends_on[0].push(3);
    depends_on[3].push(0);
    depends_on.iter_mut().for_each(|d| d.sort_unstable());
    let s = Sparsity::new(&depends_on, [&[3; 7]; 2]);
    assert_eq!((s.size(), s.columns.len()), (21, 9 * (3 * 7 + 2)));
    let [pullbacks, tangents] = no_two_share(&depends_on, &[3; 7]);
    assert!(pullbacks < 21 && tangents == 0);
}

/// A chain of particles, all of which feel a body with six numbers, which feels them all: its columns are tangents, and its rows go alone.
#[test]
fn what_all_feel_has_tangents() {
    let (chain, body) = (200u32, 6);
    let mut depends_on: Vec<Vec<u32>> =
        (0..chain).map(|i| (i.saturating_sub(1)..=(i + 1).min(chain - 1)).collect()).collect();
    depends_on.iter_mut().for_each(|on| on.extend(chain..chain + body));
    depends_on.extend((0..body).map(|_| (0..chain + body).collect()));
    let numbers = [vec![3; chain as usize], vec![1; body as usize]].concat();
    let [pullbacks, tangents] = no_two_share(&depends_on, &numbers);
    assert_eq!((pullbacks, tangents), (3 * 3 + 6, 6));
    // Where every row feels every column there is nothing to gain.
    let dense: Vec<Vec<u32>> = (0..100).map(|_| (0..100).collect()).collect();
    assert_eq!(no_two_share(&dense, &[1; 100]), [100, 0]);
}

#[test]
fn entries_in_any_order() {
    let s = Sparsity::of_entries(3, vec![(2, 1), (0, 0), (2, 2), (0, 2), (2, 1)]);
    assert_eq!((&s.starts[..], &s.columns[..]), (&[0, 2, 2, 4][..], &[0, 2, 1, 2][..]));
    assert_eq!((s.find(2, 2), s.find(1, 1)), (Some(3), None));
}

/// Three masses in a row: of 9 x 9 entries those between the ends are zero, and any of the first six rows may be the pivot
/// of the first column.
#[test]
fn factors_with_any_pivots() {
    let s = Sparsity::new(&[vec![0, 1], vec![0, 1, 2], vec![1, 2]], [&[3; 3]; 2]);
    let order: Vec<usize> = (0..9).collect();
    let all_rows = 9 + 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1;
    assert_eq!(s.most_in_factor(&order), all_rows);
    // Without neighbours nothing is filled in: three full triangles.
    let apart = Sparsity::new(&[vec![0], vec![1], vec![2]], [&[3; 3]; 2]);
    assert_eq!(apart.most_in_factor(&order), 3 * 6);
}
