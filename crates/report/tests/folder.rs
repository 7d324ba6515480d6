//! Run folders: nothing half-written, nothing of others overwritten, errors that say what to do.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pullback_report::{Existing, FolderError, NpzError, NpzWriter, RunFolder, default_path};

/// A folder that does not exist yet, for one test.
fn fresh(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("folder").join(test);
    let _ = fs::remove_dir_all(&path);
    path
}

fn create(path: &Path, existing: Existing) -> Result<RunFolder, FolderError> {
    RunFolder::create(path, existing)
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn put(run: &RunFolder, name: &str, text: &str) {
    run.write(name, |out| out.write_all(text.as_bytes())).expect("the disk has room");
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let path = fresh("complete/with/parents");
    let run = create(&path, Existing::Refuse).expect("a new folder");
    let written = run.write("loss.csv", |out| {
        out.write_all(b"a,b\r\n")?;
        out.flush()?;
        assert_eq!(names(&path), [".loss.csv.partial", ".pullback-run"], "not under its name yet");
        out.write_all(b"1,2\r\n")
    });
    assert_eq!(written.expect("written"), path.join("loss.csv"));
    assert_eq!(names(&path), [".pullback-run", "loss.csv"]);
    assert_eq!(fs::read_to_string(path.join("loss.csv")).expect("text"), "a,b\r\n1,2\r\n");
    assert_eq!(run.path(), path);
}

#[test]
fn a_failing_writer_leaves_what_was_there() {
    let path = fresh("failing");
    let run = create(&path, Existing::Refuse).expect("a new folder");
    put(&run, "loss.csv", "old");
    for name in ["loss.csv", "new.csv"] {
        let error = run
            .write(name, |out| {
                out.write_all(&[b'x'; 100_000])?;
                Err(io::Error::from(io::ErrorKind::StorageFull))
            })
            .expect_err("the writer failed");
        let text = error.to_string();
        assert!(text.contains(name) && text.contains("free space"), "{text}");
    }
    assert_eq!(names(&path), [".pullback-run", "loss.csv"]);
    assert_eq!(fs::read_to_string(path.join("loss.csv")).expect("text"), "old");
}

#[test]
fn a_panicking_writer_leaves_nothing() {
    let path = fresh("panicking");
    let run = create(&path, Existing::Refuse).expect("a new folder");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        run.write("x.csv", |_| -> io::Result<()> { panic!("a bug in a writer") })
    }));
    assert!(panicked.is_err());
    assert_eq!(names(&path), [".pullback-run"]);
}

#[test]
fn an_array_error_names_the_file() {
    let run = create(&fresh("arrays"), Existing::Refuse).expect("a new folder");
    let error = run
        .write("x.npz", |out| -> Result<(), NpzError> {
            let mut npz = NpzWriter::new(out);
            npz.array("x", &[2], [1.0])?;
            npz.finish().map(drop)
        })
        .expect_err("one value is not two");
    assert!(error.to_string().contains("x.npz") && error.to_string().contains("array \"x\""), "{error}");
}

#[test]
fn an_earlier_run_is_refused_resumed_or_replaced() {
    let path = fresh("existing");
    let run = create(&path, Existing::Refuse).expect("a new folder");
    put(&run, "loss.csv", "1");
    assert!(matches!(create(&path, Existing::Resume), Err(FolderError::InUse(_))), "held by this run");
    drop(run);

    let refused = create(&path, Existing::Refuse).expect_err("it is there");
    assert!(matches!(refused, FolderError::Exists(_)));
    assert!(refused.to_string().contains("existing") && refused.to_string().contains("replace"), "{refused}");

    fs::write(path.join(".big.npz.partial"), "a run that was stopped").expect("writable");
    fs::write(path.join("notes.txt"), "mine").expect("writable");
    let run = create(&path, Existing::Resume).expect("ours");
    assert_eq!(names(&path), [".pullback-run", "loss.csv", "notes.txt"]);
    put(&run, "more.csv", "2");
    drop(run);

    let run = create(&path, Existing::Replace).expect("ours");
    assert_eq!(names(&path), [".pullback-run", "notes.txt"], "only what the runs wrote is gone");
    put(&run, "notes.csv", "3");
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let path = fresh("foreign");
    fs::create_dir_all(&path).expect("writable");
    drop(create(&path, Existing::Refuse).expect("an empty folder is as good as none"));
    fs::remove_file(path.join(".pullback-run")).expect("there");
    fs::write(path.join("thesis.txt"), "years of work").expect("writable");
    for existing in [Existing::Refuse, Existing::Resume, Existing::Replace] {
        assert!(matches!(create(&path, existing), Err(FolderError::Foreign(_))), "{existing:?}");
    }
    assert_eq!(names(&path), ["thesis.txt"]);

    let file = path.join("thesis.txt");
    assert!(matches!(create(&file, Existing::Replace), Err(FolderError::NotAFolder(_))));
    let below = create(&file.join("run"), Existing::Refuse).expect_err("a file has no folders");
    assert!(
        below.to_string().contains("thesis.txt") && below.to_string().contains("choose another"),
        "{below}"
    );
}

#[test]
fn an_edited_marker_cannot_reach_out() {
    let path = fresh("edited/run");
    drop(create(&path, Existing::Refuse).expect("a new folder"));
    let outside = path.with_file_name("outside.txt");
    fs::write(&outside, "precious").expect("writable");
    fs::write(path.join(".pullback-run"), "../outside.txt\n").expect("writable");
    drop(create(&path, Existing::Replace).expect("ours"));
    assert!(outside.exists());
}

#[test]
fn names_are_plain() {
    let run = create(&fresh("names"), Existing::Refuse).expect("a new folder");
    let called = Cell::new(false);
    for name in ["", ".", "..", "../x", "/x", "a/b", "a\\b", ".hidden", "a\nb"] {
        let result = run.write(name, |_| -> io::Result<()> {
            called.set(true);
            Ok(())
        });
        assert!(matches!(result, Err(FolderError::BadName(_))), "{name:?}");
    }
    assert!(!called.get());
}

#[test]
fn default_paths_are_below_runs() {
    let cases =
        [("throw", "runs/throw"), ("a/../b c", "runs/a-..-b-c"), ("..", "runs/run"), ("", "runs/run")];
    for (name, path) in cases {
        assert_eq!(default_path(name), Path::new(path), "{name:?}");
    }
    assert_eq!(default_path("Größe.toml"), Path::new("runs/Größe.toml"));
}

#[cfg(unix)]
#[test]
fn no_permission_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let path = fresh("locked");
    fs::create_dir_all(&path).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).expect("ours");
    // The superuser may write anywhere, and then there is nothing to see.
    if fs::write(path.join("probe"), "").is_ok() {
        fs::remove_file(path.join("probe")).expect("just written");
        return;
    }
    let error = create(&path.join("run"), Existing::Refuse).expect_err("not writable");
    assert!(error.to_string().contains("locked/run") && error.to_string().contains("may write"), "{error}");
}
