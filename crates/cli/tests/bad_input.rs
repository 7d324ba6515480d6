//! Bad input through the command: one error with file, line and fix, the right exit code, and nothing left behind.
//!
//! `PULLBACK_BLESS=1 cargo test -p pullback-cli --test bad_input` writes the texts anew: read what it changed.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::{empty, pullback, run};

fn crate_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn stems(folder: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("it is there").next().is_none()
}

/// Every bad file of the scene crate gives its error there, whichever verb reads it.
#[test]
fn bad_files_are_refused_by_the_command() {
    let out = empty("bad_files");
    let stems = stems(&crate_folder("scene/tests/bad"));
    assert!(stems.len() >= 149, "{}", stems.len());
    for (i, stem) in stems.iter().enumerate() {
        let wanted =
            fs::read_to_string(crate_folder(&format!("scene/tests/bad/{stem}.txt"))).expect("it is there");
        let complete = ["no-variables", "no-loss"].contains(&stem.as_str());
        let verb = if complete { "solve" } else { ["solve", "simulate", "check"][i % 3] };
        let folder = out.join("run");
        let output = pullback(&crate_folder("scene"))
            .args([verb, &format!("tests/bad/{stem}.toml"), "--out"])
            .arg(&folder)
            .output()
            .expect("the command can be run");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {wanted}"), "{stem}");
        assert_eq!(output.status.code(), Some(2), "{stem}");
        assert!(output.stdout.is_empty(), "{stem}");
        assert!(!folder.exists(), "{stem} leaves a folder");
    }
}

/// What only the engine, the solver or the command can see. The first line of each file is the command: FILE stands for
/// the file. Beside it lie the exit code and what is said on stderr.
#[test]
fn bad_problems_give_their_errors() {
    let bad = crate_folder("cli/tests/bad");
    let bless = std::env::var_os("PULLBACK_BLESS").is_some();
    let mut wrong = Vec::new();
    let stems = stems(&bad);
    assert!(stems.len() >= 25, "{}", stems.len());
    for stem in &stems {
        let folder = empty(&format!("bad_problems/{stem}"));
        let file = format!("{stem}.toml");
        fs::copy(bad.join(&file), folder.join(&file)).expect("it can be copied");
        let text = fs::read_to_string(bad.join(&file)).expect("it is there");
        let command = text.lines().next().and_then(|line| line.strip_prefix("# pullback "));
        let command = command.expect("the first line is the command").replace("FILE", &file);
        let output = run(&folder, &command.split(' ').collect::<Vec<_>>());
        let code = output.status.code().expect("it ends by itself");
        let found = format!("exit code {code}\n{}", String::from_utf8_lossy(&output.stderr));
        let expected = bad.join(format!("{stem}.txt"));
        if bless {
            fs::write(&expected, &found).expect("it can be written");
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        if without_sizes(&found) != without_sizes(&wanted) {
            wrong.push(format!("{stem}\nfound:  {found}wanted: {wanted}"));
        }
        assert!(code == 2 || (stem.starts_with("blow-up") && code == 1), "{stem}: {code}");
        assert!(output.stdout.is_empty(), "{stem}");
        fs::remove_file(folder.join(&file)).expect("it is still there");
        assert!(is_empty(&folder), "{stem} leaves something behind");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text with `#` for numbers of five digits and more: sizes in memory, which differ between builds.
fn without_sizes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[at..].chars().take_while(char::is_ascii_digit).count();
        plain += &rest[..at];
        plain += if digits >= 5 { "#" } else { &rest[at..at + digits] };
        rest = &rest[at + digits..];
    }
    plain + rest
}

/// What is wrong in a file is said with its line.
#[test]
fn errors_name_file_line_and_fix() {
    let bad = crate_folder("cli/tests/bad");
    let of_the_command =
        ["compare-", "device-", "file-missing", "option-", "out-", "params-", "threads-", "verb-"];
    for stem in stems(&bad).iter().filter(|stem| !of_the_command.iter().any(|start| stem.starts_with(start)))
    {
        let text = fs::read_to_string(bad.join(format!("{stem}.txt"))).expect("it is there");
        let error = text.lines().nth(1).unwrap_or_default();
        let place = error.strip_prefix(&format!("error: {stem}.toml:")).expect("it names the file");
        let line: Vec<&str> = place.splitn(3, ':').collect();
        assert!(line.len() == 3 && line[0].parse::<usize>().is_ok(), "{stem}: {error}");
        assert!(text.lines().nth(2).is_some_and(|line| line.starts_with("  fix: ")), "{stem}: {text}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let folder = empty("not_writable");
    fs::write(folder.join("file"), "").expect("it can be written");
    let output = run(&folder, &["solve", &common::scene("throw.toml"), "--out", "file/run"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: cannot create file/run: Not a directory (os error 20); a part of the path is a file: choose another folder\n"
    );
    assert_eq!(output.status.code(), Some(2));
}

/// A folder of someone else is neither written to nor replaced.
#[test]
fn a_folder_of_someone_else_stays_as_it_is() {
    let folder = empty("foreign");
    fs::create_dir(folder.join("mine")).expect("it can be made");
    fs::write(folder.join("mine/thesis.txt"), "years of work").expect("it can be written");
    for more in [&[][..], &["--replace"]] {
        let scene = common::scene("throw.toml");
        let output = run(&folder, &[&["solve", &scene, "--out", "mine"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read_to_string(folder.join("mine/thesis.txt")).expect("it is there"), "years of work");
        assert_eq!(fs::read_dir(folder.join("mine")).expect("it is there").count(), 1);
    }
}
