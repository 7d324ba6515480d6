//! Columns of a Jacobian that are computed together share no row; and how large its factors can be.

use pullback_engine::sparsity::Sparsity;

#[test]
fn columns_of_a_direction_share_no_row() {
    // A ring of 7 with one chord.
    let n = 7u32;
    let mut depends_on: Vec<Vec<u32>> = (0..n).map(|i| vec![i, (i + 1) % n, (i + n - 1) % n]).collect();
    depends_on[0].push(3);
    depends_on[3].push(0);
    depends_on.iter_mut().for_each(|d| d.sort_unstable());
    let s = Sparsity::new(&depends_on, &vec![3; depends_on.len()]);
    assert_eq!((s.size, s.rows.len()), (21, 9 * (3 * 7 + 2)));
    assert!(s.count < 21);
    for row in 0..s.size {
        let mut seen = vec![false; s.count];
        for column in 0..s.size {
            for entry in s.starts[column]..s.starts[column + 1] {
                if s.rows[entry] == row {
                    let direction = s.directions[entry];
                    assert_eq!(direction, s.direction_of[column]);
                    assert!(!std::mem::replace(&mut seen[direction], true));
                }
            }
        }
    }
}

/// Three masses in a row: of 9 x 9 entries those between the ends are zero, and any of the first six rows may be the pivot
/// of the first column.
#[test]
fn factors_with_any_pivots() {
    let s = Sparsity::new(&[vec![0, 1], vec![0, 1, 2], vec![1, 2]], &[3; 3]);
    let order: Vec<usize> = (0..9).collect();
    let all_rows = 9 + 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1;
    assert_eq!(s.most_in_factor(&order), all_rows);
    // Without neighbours nothing is filled in: three full triangles.
    let apart = Sparsity::new(&[vec![0], vec![1], vec![2]], &[3; 3]);
    assert_eq!(apart.most_in_factor(&order), 3 * 6);
}
