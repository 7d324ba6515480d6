//! A run that is killed at any moment and started again by the same command ends as if nothing had happened.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{done, empty, pullback};

/// Adam goes on for as many iterations as it is given, about a second of work.
const PROBLEM: &str = r#"
name = "long"

[simulation]
dt = 0.01
steps = 60
integrator = "rk4"

[[particles]]
name = "ball"
position = [0, 0, 1]
velocity = [1, 0, 1]
mass = 0.2
drag = 0.01

[[variables]]
name = "initial.ball.velocity"

[[variables]]
name = "ball.drag"

[[loss]]
kind = "position"
of = "ball"
target = [3, 1, 2]

[[loss]]
kind = "velocity"
of = "ball"
target = [0, 0, 0]
weight = 0.01
at = "always"

[optimiser]
method = "adam"
rate = 0.003
iterations = 900
tolerance = 1e-300
"#;

/// What must have the same bits.
const FILES: [&str; 4] = ["solution.toml", "history.csv", "trajectory.npz", "report.html"];
const ARGUMENTS: [&str; 4] = ["solve", "long.toml", "--out", "run"];

fn folder(name: &str) -> PathBuf {
    let folder = empty(name);
    fs::write(folder.join("long.toml"), PROBLEM).expect("it can be written");
    folder
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| fs::read(folder.join("run").join(name)).expect("it was written")).collect()
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = pullback(folder);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it can be run")
}

/// Kills it with SIGKILL; was it still running?
fn kill(mut child: Child) -> bool {
    let running = child.try_wait().expect("it can be asked").is_none();
    child.kill().expect("it can be killed");
    let status = child.wait().expect("it ends");
    running && !status.success()
}

/// Uniform in 0 to 1: splitmix64 (Steele, Lea and Flood 2014).
fn uniform(seed: u64) -> f64 {
    let mut x = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// An undisturbed run: what it wrote, and how long it took.
fn undisturbed(name: &str, arguments: &[&str]) -> (Vec<Vec<u8>>, Duration) {
    let folder = folder(name);
    let begin = Instant::now();
    let said = done(&folder, arguments);
    assert!(!said.contains("going on after"), "{said}");
    (files(&folder), begin.elapsed())
}

/// When a run is killed.
enum Moment {
    /// After this time.
    After(Duration),
    /// As soon as this file of the run is there.
    Appears(&'static str),
}

fn wait(folder: &Path, child: &mut Child, moment: &Moment) {
    match moment {
        Moment::After(time) => std::thread::sleep(*time),
        Moment::Appears(name) => {
            let file = folder.join("run").join(name);
            while !file.exists() && child.try_wait().expect("it can be asked").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

#[test]
fn killed_once_at_any_moment() {
    let (wanted, time) = undisturbed("undisturbed", &ARGUMENTS);
    let mut moments: Vec<Moment> = (0..20).map(|i| Moment::After(time.mul_f64(uniform(i)))).collect();
    moments.extend([
        Moment::After(Duration::ZERO),
        Moment::Appears(".pullback-run"),
        Moment::Appears("state.json"),
        Moment::Appears("trajectory.npz"),
        Moment::Appears("history.csv"),
        Moment::Appears("solution.toml"),
    ]);
    let (killed, resumed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let disturb = |number: usize, moment: &Moment| {
        let folder = folder(&format!("killed-{number}"));
        let mut child = start(&folder, &ARGUMENTS);
        wait(&folder, &mut child, moment);
        if kill(child) {
            killed.fetch_add(1, Ordering::Relaxed);
        }
        if !folder.join("run/report.html").exists() {
            let said = done(&folder, &ARGUMENTS);
            resumed.fetch_add(usize::from(said.contains("going on after iteration")), Ordering::Relaxed);
        }
        let found = files(&folder);
        for (name, (found, wanted)) in FILES.iter().zip(found.iter().zip(&wanted)) {
            assert!(found == wanted, "run {number}: {name} differs");
        }
    };
    // Two at a time: a run has one thread.
    let (even, odd): (Vec<_>, Vec<_>) = moments.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    std::thread::scope(|scope| {
        for half in [even, odd] {
            scope.spawn(|| half.into_iter().for_each(|(i, moment)| disturb(i, moment)));
        }
    });
    // Most were killed in the middle, or this test tests nothing.
    let (killed, resumed) = (killed.into_inner(), resumed.into_inner());
    println!("{time:?} undisturbed; {killed} killed, {resumed} resumed");
    assert!(killed >= 13 && resumed >= 5, "{killed} killed, {resumed} resumed");
}

#[test]
fn killed_many_times_also_while_it_compares() {
    let arguments = [&ARGUMENTS[..], &["--compare", "cma-es", "--compare-evaluations", "600"]].concat();
    let (wanted, time) = undisturbed("undisturbed-compared", &arguments);
    let folder = folder("killed-often");
    let mut kills = 0;
    loop {
        let child = start(&folder, &arguments);
        // Longer and longer, so that it ends on the slowest machine.
        let patience = time.mul_f64(0.25 * (0.5 + uniform(1000 + kills)));
        std::thread::sleep(patience + Duration::from_millis(10 * kills));
        kill(child);
        kills += 1;
        if folder.join("run/report.html").exists() {
            break;
        }
        assert!(kills < 60, "it never ends");
    }
    println!("{time:?} undisturbed; killed {kills} times");
    assert!(kills >= 3, "{kills} kills");
    assert!(files(&folder) == wanted, "killed {kills} times, it ends otherwise");
}

/// Killed in the middle of the first save: there is a history, or the half of one, and no state yet.
#[test]
fn killed_in_the_first_save() {
    let text = PROBLEM.replace("iterations = 900", "iterations = 20");
    let solved = |name: &str, files_there: &[&str]| {
        let folder = folder(name);
        fs::write(folder.join("long.toml"), &text).expect("it can be written");
        fs::create_dir(folder.join("run")).expect("it can be made");
        for name in files_there {
            fs::write(folder.join("run").join(name), "{\"iteration\":").expect("it can be written");
        }
        assert!(!done(&folder, &ARGUMENTS).contains("going on"), "there is nothing to go on from");
        files(&folder)
    };
    let wanted = solved("first-save", &[]);
    let marker = ".pullback-run";
    assert!(solved("first-save-history", &[marker, "state.json.history-0"]) == wanted);
    assert!(solved("first-save-state", &[marker, "state.json.history-0", "state.json.tmp"]) == wanted);
}

/// Killed when all is found and the page is not yet written: nothing is searched for again.
#[test]
fn killed_before_the_page_is_written() {
    let folder = folder("killed-late");
    // Adam does not get far in so few iterations, and CMA-ES gets further.
    let text = PROBLEM.replace("iterations = 900", "iterations = 20");
    fs::write(folder.join("long.toml"), text).expect("it can be written");
    let arguments = [&ARGUMENTS[..], &["--compare", "cma-es"]].concat();
    done(&folder, &arguments);
    let wanted = files(&folder);
    let page = String::from_utf8_lossy(&wanted[3]);
    assert!(page.contains("The target"), "the comparison ends because it has arrived");
    for name in FILES {
        fs::remove_file(folder.join("run").join(name)).expect("it is there");
    }
    let said = done(&folder, &arguments);
    assert!(said.contains("going on after iteration 20"), "{said}");
    assert!(files(&folder) == wanted, "it ends otherwise");
}

/// Waits until the run has saved something.
fn begun(folder: &Path, child: &mut Child) {
    wait(folder, child, &Moment::Appears("state.json"));
}

#[test]
fn two_processes_on_one_folder() {
    let folder = folder("two");
    let mut first = start(&folder, &ARGUMENTS);
    begun(&folder, &mut first);
    for more in [&[][..], &["--replace"]] {
        let second = common::run(&folder, &[&ARGUMENTS[..], more].concat());
        assert_eq!(
            String::from_utf8_lossy(&second.stderr),
            "error: run/ is in use by another run: wait for it to end, or choose another folder\n"
        );
        assert_eq!(second.status.code(), Some(2));
    }
    assert!(first.wait().expect("it ends").success(), "the first goes on");
    assert_eq!(files(&folder).len(), 4);
}

#[test]
fn a_damaged_state_is_refused_and_kept() {
    let folder = folder("damaged");
    let mut child = start(&folder, &ARGUMENTS);
    begun(&folder, &mut child);
    kill(child);
    let state = folder.join("run/state.json");
    let whole = fs::read(&state).expect("it is there");
    let mut flipped = whole.clone();
    *flipped.iter_mut().rfind(|byte| byte.is_ascii_digit()).expect("a digit") ^= 1;
    for damaged in [&whole[..whole.len() / 2], &flipped, b"", b"{}"] {
        fs::write(&state, damaged).expect("it can be written");
        let output = common::run(&folder, &ARGUMENTS);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.starts_with("error: run: run/state.json is damaged, or not a saved run: "), "{error}");
        assert!(error.contains("\n  fix: give another folder with --out, or write over it with --replace\n"));
        assert_eq!(output.status.code(), Some(2));
        assert!(fs::read(&state).expect("it is there") == damaged, "nothing is lost");
    }
    fs::write(&state, &whole).expect("it can be written");
    assert!(done(&folder, &ARGUMENTS).contains("going on after iteration"), "put right, it goes on");
}

/// The same in the folder that is chosen when the user names none: no second folder is begun behind his back.
#[test]
fn a_damaged_state_in_the_default_folder() {
    let folder = folder("damaged-default");
    fs::create_dir_all(folder.join("runs/long")).expect("it can be made");
    fs::write(folder.join("runs/long/.pullback-run"), "").expect("it can be written");
    fs::write(folder.join("runs/long/state.json"), "{").expect("it can be written");
    let output = common::run(&folder, &["solve", "long.toml"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("error: runs/long: runs/long/state.json is damaged"), "{error}");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_dir(folder.join("runs")).expect("it is there").count(), 1);
}

#[test]
fn finished_runs_are_kept() {
    let folder = folder("finished");
    let text = PROBLEM.replace("iterations = 900", "iterations = 3");
    fs::write(folder.join("long.toml"), &text).expect("it can be written");
    let stamp =
        |name: &str| fs::metadata(folder.join(name)).expect("it is there").modified().expect("a time");
    let history =
        |name: &str| fs::read_to_string(folder.join(name).join("history.csv")).expect("it is there");

    done(&folder, &["solve", "long.toml"]);
    let first = stamp("runs/long/report.html");
    assert_eq!(history("runs/long").lines().count(), 5);

    // The same command again: a new folder.
    let said = done(&folder, &["solve", "long.toml"]);
    assert!(said.contains("report: runs/long-2/report.html"), "{said}");
    // A named folder: refused.
    let output = common::run(&folder, &["solve", "long.toml", "--out", "runs/long"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: runs/long: a run of this problem, which is finished\n  \
         fix: give another folder with --out, or write over it with --replace\n"
    );
    assert_eq!(output.status.code(), Some(2));
    // The problem has changed: refused, too.
    fs::write(folder.join("long.toml"), text.replace("iterations = 3", "iterations = 4")).expect("written");
    let output = common::run(&folder, &["solve", "long.toml", "--out", "runs/long"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: runs/long: a run of another problem, or of another version of this one\n  \
         fix: give another folder with --out, or write over it with --replace\n"
    );
    assert_eq!(stamp("runs/long/report.html"), first, "nothing was touched");

    // --replace starts over, with what is asked for now, and leaves what is not its own.
    fs::write(folder.join("runs/long/statement.txt"), "mine").expect("it can be written");
    let said = done(&folder, &["solve", "long.toml", "--out", "runs/long", "--replace"]);
    assert!(!said.contains("going on"), "{said}");
    assert_eq!(history("runs/long").lines().count(), 6);
    assert!(folder.join("runs/long/statement.txt").exists());
    assert_eq!(history("runs/long-2").lines().count(), 5);
}
