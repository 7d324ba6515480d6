//! Every bad file in `tests/mjcf/bad` gives the error in the text file beside it.

#[path = "common/bad.rs"]
mod bad;

use bad::Bad;
use pullback_scene::Robot;
use pullback_scene::robot::Load;

const BAD: Bad = Bad {
    folder: "tests/mjcf/bad",
    ending: "xml",
    without_line: &["unsupported"],
    error: |file| Robot::load(file, &Load::default()).err(),
};

#[test]
fn every_bad_file_gives_its_error() {
    BAD.gives_its_errors(70);
}

#[test]
fn every_error_names_file_line_and_fix() {
    BAD.names_place_and_fix(|_, text| {
        assert!(text.starts_with(&format!("{}/", BAD.folder)), "{text}");
    });
}
