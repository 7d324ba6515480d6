//! Every bad file in `tests/mjcf/bad` gives the error in the text file beside it.
//!
//! `PULLBACK_BLESS=1 cargo test -p pullback-scene` writes those texts anew: read what it changed.

use std::collections::BTreeSet;
use std::fs;

use pullback_scene::robot::Load;
use pullback_scene::{Error, Robot};

const FOLDER: &str = "tests/mjcf/bad";

/// Errors of files as a whole, which have no line.
const WITHOUT_LINE: [&str; 1] = ["unsupported"];

fn stems(ending: &str) -> BTreeSet<String> {
    let files =
        fs::read_dir(FOLDER).expect("the folder is there").map(|entry| entry.expect("it can be read").path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect()
}

fn error_of(stem: &str) -> Error {
    Robot::load(format!("{FOLDER}/{stem}.xml"), &Load::default())
        .err()
        .unwrap_or_else(|| panic!("{stem} is read without an error"))
}

#[test]
fn every_bad_file_gives_its_error() {
    let bless = std::env::var_os("PULLBACK_BLESS").is_some();
    let mut wrong = Vec::new();
    for stem in stems("xml") {
        let found = format!("{}\n", error_of(&stem));
        let file = format!("{FOLDER}/{stem}.txt");
        if bless {
            fs::write(&file, &found).expect("the text can be written");
        }
        let wanted = fs::read_to_string(&file).unwrap_or_default();
        if found != wanted {
            wrong.push(format!("{stem}\nfound:  {found}wanted: {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_bad_file_has_its_error_and_every_error_its_file() {
    assert_eq!(stems("xml"), stems("txt"));
    assert!(stems("xml").len() >= 70);
}

#[test]
fn every_error_names_file_line_and_fix() {
    for stem in stems("xml") {
        let error = error_of(&stem);
        let text = error.to_string();
        assert!(text.starts_with(&format!("{FOLDER}/")), "{text}");
        assert!(!error.what.is_empty() && !error.fix.is_empty(), "{text}");
        assert_eq!(error.position.is_none(), WITHOUT_LINE.contains(&stem.as_str()), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 300), "{text}");
    }
}
