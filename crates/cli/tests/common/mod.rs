//! Running the `pullback` command in an empty folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is empty.
pub fn empty(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("it can be removed");
    }
    std::fs::create_dir_all(&path).expect("it can be made");
    path
}

/// The command, in a folder.
pub fn pullback(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pullback"));
    command.current_dir(folder);
    command
}

/// Runs it with arguments.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    pullback(folder).args(arguments).output().expect("the command can be run")
}

/// Runs it with arguments, and sees to it that it does its work; gives what it says.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {}: {errors}", output.status);
    assert_eq!(errors, "", "{arguments:?}");
    String::from_utf8(output.stdout).expect("it is text")
}

/// A scene of the repository.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn scene(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name);
    path.to_str().expect("a path of text").to_owned()
}
