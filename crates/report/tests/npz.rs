//! Arrays written to a file read back bit for bit.

use std::fs;
use std::path::{Path, PathBuf};

use pullback_report::{NpzError, read_npz, write_npz};

fn folder() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npz");
    fs::create_dir_all(&path).expect("writable");
    path
}

#[test]
fn arrays_read_back() {
    let path = folder().join("arrays.npz");
    let many: Vec<f64> = (0..100_000).map(|i| f64::from(i).sin()).collect();
    write_npz(
        &path,
        &[
            ("many", &[100, 10, 100], &many),
            ("scalar", &[], &[0.1]),
            ("empty", &[0, 3], &[]),
            ("größe [m]", &[3], &[f64::INFINITY, -0.0, 5e-324]),
        ],
    )
    .expect("writable");
    let arrays = read_npz(&path).expect("just written");
    let names: Vec<&str> = arrays.iter().map(|a| a.0.as_str()).collect();
    assert_eq!(names, ["many", "scalar", "empty", "größe [m]"]);
    assert_eq!(arrays[0].1, [100, 10, 100]);
    assert_eq!(arrays[0].2, many);
    assert_eq!((arrays[1].1.as_slice(), arrays[1].2.as_slice()), (&[][..], &[0.1][..]));
    assert_eq!((arrays[2].1.as_slice(), arrays[2].2.len()), (&[0, 3][..], 0));
    let bits: Vec<u64> = arrays[3].2.iter().map(|x| x.to_bits()).collect();
    assert_eq!(bits, [f64::INFINITY, -0.0, 5e-324].map(f64::to_bits));
    let overhead = fs::metadata(&path).expect("there").len() - 8 * 100_004;
    assert!(overhead < 2000, "stored as it is: {overhead} bytes of headers");
}

#[test]
fn what_is_no_archive_is_an_error() {
    let path = folder().join("broken.npz");
    fs::write(&path, "not a zip file").expect("writable");
    assert!(matches!(read_npz(&path), Err(NpzError::Format(_))));
    let missing = read_npz(folder().join("missing.npz")).expect_err("there is none");
    assert!(missing.to_string().contains("missing.npz"), "{missing}");
}
