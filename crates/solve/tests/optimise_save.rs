//! Saving and loading: the same bits as without, whatever happened to the files in between.

mod optimise_problems;
use std::fs;
use std::path::PathBuf;

use optimise_problems::*;
use pullback_solve::optimise::{Bounds, Error, Method, Run, Stopping};

/// A folder that is empty now and gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pullback-optimise-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder for temporary files can be written");
        Folder(path)
    }

    fn state(&self) -> PathBuf {
        self.0.join("run.json")
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("it exists");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(method: Method) -> Run {
    let bounds =
        Bounds::new(vec![f64::NEG_INFINITY, -3.0, 0.2], vec![0.8, f64::INFINITY, 2.0]).expect("in order");
    Run::new(method, &[-1.2, 1.0, 1.0], bounds, until(0.0, 40))
        .expect("right")
        .with_fingerprint("Rosenbrock 3")
}

/// Everything about a run, as text: JSON with every bit, and the history.
fn everything(run: &Run) -> (String, String) {
    (
        serde_json::to_string(run).expect("can be written"),
        serde_json::to_string(run.history()).expect("so can this"),
    )
}

#[test]
fn resumed_runs_have_the_same_bits() {
    for (number, method) in methods().into_iter().enumerate() {
        let folder = Folder::new(&format!("resume-{number}"));
        let mut straight = start(method);
        straight.finish(&mut rosenbrock(3)).expect("finite");

        let mut run = start(method);
        run.save(&folder.state()).expect("a run that has not begun can be saved");
        loop {
            run = Run::load(&folder.state(), "Rosenbrock 3").expect("just saved");
            let stopped = run.iterate(&mut rosenbrock(3)).expect("finite").stopped;
            run.save(&folder.state()).expect("can be saved");
            if stopped {
                break;
            }
        }
        let run = Run::load(&folder.state(), "Rosenbrock 3").expect("just saved");
        assert_eq!(everything(&run), everything(&straight));
        let bits = |run: &Run| run.best().0.iter().map(|z| z.to_bits()).collect::<Vec<_>>();
        assert_eq!((bits(&run), run.best().1.to_bits()), (bits(&straight), straight.best().1.to_bits()));
        assert_eq!(run.stopped(), straight.stopped());
        assert_eq!(folder.files(), ["run.json", "run.json.history-0"]);
    }
}

/// The process dies while the state is written: the temporary file is cut short, the old state counts.
#[test]
fn half_a_temporary_file_is_ignored() {
    let folder = Folder::new("temporary");
    let mut run = start(Method::lbfgs());
    run.iterate(&mut rosenbrock(3)).expect("finite");
    run.save(&folder.state()).expect("can be saved");
    let text = fs::read(folder.state()).expect("saved");
    fs::write(folder.0.join("run.json.tmp"), &text[..text.len() / 2]).expect("can be written");
    let mut loaded = Run::load(&folder.state(), "Rosenbrock 3").expect("the old state is whole");
    assert_eq!(everything(&loaded), everything(&run));
    loaded.iterate(&mut rosenbrock(3)).expect("finite");
    loaded.save(&folder.state()).expect("the rest of the dead process is no obstacle");
    assert_eq!(folder.files(), ["run.json", "run.json.history-0"]);
}

/// The process dies after it has appended to the history, but before the state that counts it was renamed.
#[test]
fn history_that_no_state_counts_is_ignored_and_cut_off() {
    let folder = Folder::new("history");
    let mut run = start(Method::lbfgs());
    run.iterate(&mut rosenbrock(3)).expect("finite");
    run.save(&folder.state()).expect("can be saved");
    let (state, before) = (fs::read(folder.state()).expect("saved"), everything(&run));
    for _ in 0..3 {
        run.iterate(&mut rosenbrock(3)).expect("finite");
        run.save(&folder.state()).expect("can be saved");
    }
    let straight = everything(&run);
    // The history of three iterations more, and half a line, with the state of before.
    fs::write(folder.state(), state).expect("can be written");
    let history = folder.0.join("run.json.history-0");
    let mut text = fs::read(&history).expect("saved");
    text.extend(b"{\"iteration\":5,\"val");
    fs::write(&history, text).expect("can be written");

    let mut run = Run::load(&folder.state(), "Rosenbrock 3").expect("whole up to where it counts");
    assert_eq!(everything(&run), before);
    run.save(&folder.state()).expect("can be saved");
    assert_eq!(fs::read_to_string(&history).expect("saved").lines().count(), 2);
    for _ in 0..3 {
        run.iterate(&mut rosenbrock(3)).expect("finite");
        run.save(&folder.state()).expect("can be saved");
    }
    assert_eq!(everything(&Run::load(&folder.state(), "Rosenbrock 3").expect("saved")), straight);
    assert_eq!(fs::read_to_string(&history).expect("saved").lines().count(), 5);
}

/// A new run over an old state: the old history stays until the new state is in place, and then goes.
#[test]
fn another_run_takes_the_place_of_an_old_one() {
    let folder = Folder::new("another");
    let mut first = start(Method::lbfgs());
    first.iterate(&mut rosenbrock(3)).expect("finite");
    first.save(&folder.state()).expect("can be saved");
    let mut second = start(Method::adam(0.1));
    second.iterate(&mut rosenbrock(3)).expect("finite");
    second.save(&folder.state()).expect("can be saved");
    assert_eq!(folder.files(), ["run.json", "run.json.history-1"]);
    assert_eq!(everything(&Run::load(&folder.state(), "Rosenbrock 3").expect("saved")), everything(&second));

    // A copy that goes its own way does not write into the history of the other.
    let mut copy = second.clone();
    copy.iterate(&mut rosenbrock(3)).expect("finite");
    copy.save(&folder.0.join("copy.json")).expect("can be saved");
    second.iterate(&mut rosenbrock(3)).expect("finite");
    second.save(&folder.state()).expect("can be saved");
    for name in ["run.json", "copy.json"] {
        let loaded = Run::load(&folder.0.join(name), "Rosenbrock 3").expect("saved");
        assert_eq!(everything(&loaded), everything(&second));
    }
}

#[test]
fn files_of_other_problems_and_versions_are_refused() {
    let folder = Folder::new("refused");
    let mut run = start(Method::lbfgs());
    run.iterate(&mut rosenbrock(3)).expect("finite");
    run.save(&folder.state()).expect("can be saved");

    let error = Run::load(&folder.state(), "Rosenbrock 4").expect_err("another problem");
    assert!(matches!(error, Error::OtherProblem { .. }));
    assert!(
        error.to_string().contains("Rosenbrock 3") && error.to_string().contains("Rosenbrock 4"),
        "{error}"
    );

    let text = fs::read_to_string(folder.state()).expect("saved");
    fs::write(folder.state(), text.replacen("\"version\":1", "\"version\":99", 1)).expect("can be written");
    let error = Run::load(&folder.state(), "Rosenbrock 3").expect_err("another version");
    assert!(matches!(error, Error::Version { found: 99, .. }), "{error}");

    assert!(matches!(Run::load(&folder.0.join("none.json"), ""), Err(Error::File { .. })));
}

/// Whatever bit of either file is changed, or wherever it is cut: refused, never another run.
#[test]
fn damaged_files_are_refused() {
    let folder = Folder::new("damaged");
    let mut run = start(Method::gradient_descent(1e-3));
    run.iterate(&mut rosenbrock(3)).expect("finite");
    run.save(&folder.state()).expect("can be saved");
    let original = everything(&run);
    for name in ["run.json", "run.json.history-0"] {
        let path = folder.0.join(name);
        let whole = fs::read(&path).expect("saved");
        for place in 0..whole.len() {
            fs::write(&path, &whole[..place]).expect("can be written");
            assert!(Run::load(&folder.state(), "Rosenbrock 3").is_err(), "{name} cut at {place}");
            let mut changed = whole.clone();
            changed[place] ^= 1;
            fs::write(&path, changed).expect("can be written");
            if let Ok(run) = Run::load(&folder.state(), "Rosenbrock 3") {
                assert_eq!(everything(&run), original, "{name} changed at {place}");
            }
        }
        fs::write(&path, whole).expect("can be written");
    }
    Run::load(&folder.state(), "Rosenbrock 3").expect("whole again");
}

#[test]
fn lbfgs_remembers_no_more_than_asked() {
    let mut run =
        Run::new(Method::Lbfgs { history: 3 }, &rosenbrock_start(10), Bounds::none(10), until(0.0, 40))
            .expect("right");
    let mut sizes = Vec::new();
    while !run.iterate(&mut rosenbrock(10)).expect("finite").stopped {
        sizes.push(everything(&run).0.len());
    }
    // Three pairs of ten numbers with up to 24 characters each; then only digits come and go.
    assert!(sizes[2] > sizes[0] + 400, "{sizes:?}");
    assert!(sizes[3..].iter().all(|&size| size < sizes[2] + 200), "{sizes:?}");
}

/// What is written in one save does not grow with the iterations.
#[test]
fn saves_do_not_grow_with_the_history() {
    let folder = Folder::new("growth");
    let stopping = Stopping { iterations: 3000, tolerance: 0.0, ..Stopping::default() };
    let mut run =
        Run::new(Method::adam(1e-3), &rosenbrock_start(10), Bounds::none(10), stopping).expect("right");
    let size = |name: &str| fs::metadata(folder.0.join(name)).map_or(0, |metadata| metadata.len());
    let (mut states, mut appended) = (Vec::new(), Vec::new());
    for iteration in 1..=3000 {
        run.iterate(&mut rosenbrock(10)).expect("finite");
        if iteration % 100 < 2 {
            let before = size("run.json.history-0");
            run.save(&folder.state()).expect("can be saved");
            states.push(size("run.json"));
            if iteration % 100 == 1 {
                appended.push(size("run.json.history-0") - before);
            }
        }
    }
    assert!(states[states.len() - 1] < states[0] + 200, "{states:?}");
    assert!(appended.iter().skip(1).all(|&bytes| bytes < 250), "{appended:?}");
    assert_eq!(Run::load(&folder.state(), "").expect("saved").history().len(), 3001);
}
