//! What the command leaves behind: arrays, tables, a solution and a page.

mod common;

use std::fs;
use std::path::Path;

use common::{done, empty, run, scene};
use pullback_report::{OwnedArray, read_npz};

fn arrays(path: &Path) -> Vec<OwnedArray> {
    read_npz(path).expect("NumPy could read it")
}

/// The table as rows of fields.
fn table(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).expect("it is there");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A body that nothing but gravity moves, whose motion everyone knows; semi-implicit Euler is behind by g dt t / 2.
#[test]
fn a_simulation_is_written_as_arrays() {
    let folder = empty("outputs-fall");
    let text = "[simulation]\ndt = 0.01\nsteps = 100\nintegrator = \"rk4\"\n\
                [[particles]]\nname = \"still\"\nposition = [5, 6, 7]\nmass = 1\nfixed = true\n\
                [[particles]]\nname = \"ball\"\nposition = [0, 0, 2]\nvelocity = [1, -2, 3]\nmass = 1\n\
                [[actuators]]\nname = \"push\"\non = \"ball\"\ncontrol = [0, 0, 0]\n";
    fs::write(folder.join("fall.toml"), text).expect("it can be written");
    let said = done(&folder, &["simulate", "fall.toml"]);
    assert!(said.starts_with("fall: 100 steps in "), "{said}");
    assert!(said.ends_with("report: runs/fall-simulated/report.html\n"), "{said}");
    let arrays = arrays(&folder.join("runs/fall-simulated/trajectory.npz"));
    let shapes: Vec<(&str, &[usize])> =
        arrays.iter().map(|(name, shape, _)| (name.as_str(), &shape[..])).collect();
    assert_eq!(
        shapes,
        [
            ("time", &[101][..]),
            ("position", &[101, 2, 3]),
            ("velocity", &[101, 2, 3]),
            ("control.push.force", &[100, 3])
        ]
    );
    for step in 0..=100 {
        let t = 0.01 * step as f64;
        let exact = [5.0, 6.0, 7.0, t, -2.0 * t, 2.0 + 3.0 * t - 0.5 * 9.81 * t * t];
        let speeds = [0.0, 0.0, 0.0, 1.0, -2.0, 3.0 - 9.81 * t];
        assert!((arrays[0].2[step] - t).abs() < 1e-12);
        for i in 0..6 {
            assert!((arrays[1].2[6 * step + i] - exact[i]).abs() < 1e-12, "position {i} after step {step}");
            assert!((arrays[2].2[6 * step + i] - speeds[i]).abs() < 1e-12, "velocity {i} after step {step}");
        }
    }
    assert!(arrays[3].2.iter().all(|u| *u == 0.0));
}

#[test]
fn a_solution_is_written_as_tables() {
    let folder = empty("outputs-throw");
    let said = done(&folder, &["solve", &scene("throw.toml"), "--out", "run"]);
    assert!(said.starts_with("throw: loss 21.46 -> "), "{said}");
    let run = folder.join("run");

    let rows = table(&run.join("history.csv"));
    let columns = ["iteration", "values", "gradients", "jacobians", "loss", "best", "gradient_norm", "step"];
    assert_eq!(rows[0], columns);
    let mut last = f64::INFINITY;
    for (i, row) in rows[1..].iter().enumerate() {
        let numbers: Vec<f64> = row.iter().map(|field| field.parse().expect("a number")).collect();
        assert_eq!((numbers[0], row.len()), (i as f64, columns.len()));
        assert!(numbers[5] <= last && numbers[5] <= numbers[4], "best never rises: {row:?}");
        last = numbers[5];
    }
    assert!(last < 1e-12 && rows.len() > 5);

    let text = fs::read_to_string(run.join("solution.toml")).expect("it is there");
    let solution: toml::Table = text.parse().expect("it is TOML");
    assert_eq!(solution["problem"].as_str(), Some("throw"));
    assert_eq!(solution["method"].as_str(), Some("l-bfgs"));
    assert_eq!(solution["loss"].as_float(), Some(last));
    assert_eq!(solution["iterations"].as_integer(), Some(rows.len() as i64 - 2));
    let variables = solution["variables"].as_array().expect("a list");
    let names: Vec<_> = variables.iter().map(|v| v["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["x", "y", "z"].map(|axis| format!("initial.ball.velocity.{axis}")));
    let before: Vec<_> = variables.iter().map(|v| v["before"].as_float().expect("a number")).collect();
    assert_eq!(before, [4.0, 0.0, 3.0]);

    // The trajectory is that of the solution: it starts with what was found, and hits the mark.
    let arrays = arrays(&run.join("trajectory.npz"));
    let (positions, velocities) = (&arrays[1].2, &arrays[2].2);
    let found: Vec<_> = variables.iter().map(|v| v["value"].as_float().expect("a number")).collect();
    assert_eq!(velocities[..3], found);
    let end = &positions[positions.len() - 3..];
    for (x, target) in end.iter().zip([8.0, 1.0, 0.5]) {
        assert!((x - target).abs() < 1e-6, "{end:?}");
    }
}

/// A page that needs nothing but itself: no address to load from, no frame, no link but to the files beside it.
fn is_self_contained(page: &str) {
    for name in ["src=", "href=", "url(", "@import", "fetch("] {
        for (at, _) in page.match_indices(name) {
            let to: String = page[at + name.len()..].chars().take(40).collect();
            let to = to.trim_start_matches(['"', '\'']).trim_start_matches("./");
            let beside = ["trajectory.npz", "history.csv", "solution.toml", "#", "data:"];
            assert!(beside.iter().any(|start| to.starts_with(start)), "{name}{to}");
        }
    }
}

#[test]
fn pages_show_everything_and_load_nothing() {
    let folder = empty("outputs-pages");
    let page = |name: &str| fs::read_to_string(folder.join(name).join("report.html")).expect("it is there");
    done(&folder, &["solve", &scene("throw.toml"), "--out", "throw"]);
    let throw = page("throw");
    is_self_contained(&throw);
    for wanted in [
        ">Loss<",
        "best loss",
        "Norm of the gradient by the state",
        "Seen from the side",
        "target of ball",
        "<th>parameter</th><th class=\"pb-n\">before</th>",
        "<td>initial.ball.velocity.x [m/s]</td>",
        "part of the loss",
        "position of ball",
    ] {
        assert!(throw.contains(wanted), "{wanted} is missing");
    }

    done(&folder, &["check", &scene("damped.toml"), "--out", "check"]);
    let check = page("check");
    is_self_contained(&check);
    for wanted in
        ["Gradient against finite differences", "initial.weight.velocity.z [m/s]", ">Energy<", "VANISHING"]
    {
        assert!(check.contains(wanted), "{wanted} is missing");
    }

    done(&folder, &["simulate", &scene("bounce.toml"), "--out", "bounce"]);
    is_self_contained(&page("bounce"));
    assert!(page("bounce").contains("Seen from the side"));

    done(&folder, &["solve", &scene("hover.toml"), "--out", "hover"]);
    is_self_contained(&page("hover"));
    for wanted in ["Controls", "effort of thruster", "velocity of ball", "Seen from above"] {
        assert!(page("hover").contains(wanted), "{wanted} is missing");
    }
}

#[test]
fn params_have_names_values_units_ranges_and_docs() {
    let folder = empty("outputs-params");
    let all = done(&folder, &["params", &scene("hover.toml")]);
    let row = |name: &str| -> Vec<String> {
        let line = all.lines().find(|line| line.split_whitespace().next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("{name} is missing in\n{all}"));
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    assert_eq!(row("name"), ["name", "value", "unit", "range", "what it is"]);
    assert_eq!(row("ball.mass")[..4], ["ball.mass", "0.2", "kg", "> 0"]);
    assert!(row("ball.mass").len() == 5, "it is explained");
    assert_eq!(row("ball.drag")[..4], ["ball.drag", "0.01", "kg/m", ">= 0"]);
    assert_eq!(row("wind")[..3], ["wind", "(−4, 1, 0)", "m/s"]);
    assert_eq!(row("initial.ball.position")[..3], ["initial.ball.position", "(0, 0, 0.5)", "m"]);
    assert_eq!(row("control.thruster.force")[..3], ["control.thruster.force", "(0, 0, 1.962)", "N"]);

    let chain = done(&folder, &["params", &scene("chain.toml"), "links[*].stiffness"]);
    let chain = chain + &done(&folder, &["params", &scene("chain.toml"), "*.mass"]);
    let names: Vec<&str> = chain.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.iter().filter(|name| name.ends_with(".mass")).count(), 12, "{chain}");
    assert!(
        names.iter().all(|name| *name == "name" || name.ends_with(".mass") || name.ends_with(".stiffness"))
    );
    assert!(fs::read_dir(&folder).expect("it is there").next().is_none(), "nothing is written");
}

/// Without a terminal nothing is said but the summary, and nobody needs to read that.
#[test]
fn quiet_without_a_terminal_and_without_a_reader() {
    let folder = empty("outputs-quiet");
    let output = run(&folder, &["solve", &scene("bounce.toml")]);
    assert!(output.status.success() && output.stderr.is_empty());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(!text.contains(['\r', '\u{1b}']) && text.lines().count() < 20, "{text}");

    let mut child = common::pullback(&folder);
    let mut child = child
        .args(["params", &scene("chain.toml")])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it can be run");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// `check` says whether the gradient is right, and what it is good for.
#[test]
fn checks_name_what_is_wrong() {
    let folder = empty("outputs-check");
    let said = |name: &str| done(&folder, &["check", &scene(name)]);
    for (name, growth) in [
        ("chaos.toml", "growth: EXPLODING gradients: +4."),
        ("damped.toml", "growth: VANISHING gradients: -7.8"),
        ("throw.toml", "growth: steady: +0."),
    ] {
        let said = said(name);
        assert!(said.contains(growth), "{name}: {said}");
        assert!(said.contains("gradient: right: "), "{name}: {said}");
    }
    assert!(said("chaos.toml").contains("energy: should be kept; it changes by "));
    assert!(said("throw.toml").contains("energy: is not kept by these forces; "));
}

/// A robot that stands for 5,000 steps: the gradient through them is right, and its energy changes by what it sagged.
#[test]
fn a_robot_that_stands_is_checked() {
    let folder = empty("outputs-stand");
    let text = fs::read_to_string(scene("quadruped.toml")).expect("it is there");
    let long = text.replace("duration = 0.5 ", "duration = 5 ");
    assert_ne!(text, long);
    fs::write(folder.join("stand.toml"), long).expect("it can be written");
    let said = done(&folder, &["check", "stand.toml"]);
    assert!(said.contains("gradient: right"), "{said}");
    assert!(said.contains("growth: steady"), "{said}");
    // It sags by less than 2 cm, and 25.57 kg do so.
    let energy =
        said.split("it changes by ").nth(1).and_then(|rest| rest.split(' ').next()).expect("an energy");
    let energy: f64 = energy.parse().expect("a number");
    assert!(energy < 25.57 * 9.81 * 0.02, "{said}");
}

/// A ball that rests, and what is written of its contact; `check` of a loss of it.
#[test]
fn contacts_are_written_and_checked() {
    let folder = empty("outputs-contact");
    let text = "[simulation]\ndt = 0.001\nsteps = 20\n[ground]\n[contact]\n\
                [[bodies]]\nname = \"ball\"\nmass = 2\nshape = { sphere = 0.1 }\nposition = [0, 0, 0.1]\n\
                [[variables]]\nname = \"ball.mass\"\n[[variables]]\nname = \"contact.mu\"\n\
                [[loss]]\nkind = \"contact\"\nof = \"ball\"\nwith = \"ground\"\nquantity = \"normal-force\"\ntarget = 10\n";
    fs::write(folder.join("rest.toml"), text).expect("it can be written");
    done(&folder, &["simulate", "rest.toml", "--out", "simulated"]);
    let arrays = arrays(&folder.join("simulated/trajectory.npz"));
    let array = |wanted: &str| arrays.iter().find(|(name, ..)| name == wanted).expect("it is there");
    let (_, shape, force) = array("contact.normal_force");
    assert_eq!(shape, &[20]);
    // The compliance of the contact takes a few steps to settle.
    assert!(force[8..].iter().all(|force| (force - 2.0 * 9.81).abs() < 1e-9), "{force:?}");
    assert!(array("contact.count").2.iter().all(|count| *count == 1.0));
    assert_eq!(array("contact.penetration").1, [21]);
    let page = fs::read_to_string(folder.join("simulated/report.html")).expect("it is there");
    assert!(page.contains("Normal force of all contacts"));
    let said = done(&folder, &["check", "rest.toml"]);
    assert!(said.contains("gradient: right: 2 derivatives"), "{said}");
    assert!(said.contains("zero: contact.mu: what touches sticks"), "{said}");
    // A step of the whole scale would leave no mass.
    assert!(said.contains("reach: of use for steps up to 0.1 of the scale"), "{said}");
    let said = done(&folder, &["solve", "rest.toml", "--compare", "cma-es"]);
    assert!(said.contains(" iterations, ") && said.contains("cma-es: loss "), "{said}");
    let times =
        said.lines().filter(|line| line.contains(" s with ") || line.contains(" iterations, ")).count();
    assert_eq!(times, 2, "each method has a time of its own: {said}");
    assert!(said.contains("ball.mass = 1.019"), "{said}");
}

/// Whoever looks at a motion hears that its contacts are not solved.
#[test]
fn unsolved_steps_are_told() {
    let folder = empty("outputs-unsolved");
    let text = "[simulation]\ndt = 0.01\nsteps = 5\n[ground]\n[contact]\nsolver = \"gauss-seidel\"\niterations = 1\n\
                [[bodies]]\nname = \"box\"\nposition = [0, 0, 0.1]\nvelocity = [1, 0, 0]\nshape = { box = [0.1, 0.1, 0.1] }\n\
                mass = 1\n";
    fs::write(folder.join("box.toml"), text).expect("it can be written");
    let output = run(&folder, &["simulate", "box.toml"]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("warning: contact is not solved in 5 of 5 steps, first in step 0"), "{said}");
    let page = fs::read_to_string(folder.join("runs/box-simulated/report.html")).expect("a page");
    assert!(page.contains("contact is not solved in 5 of 5 steps"));
    fs::write(folder.join("box.toml"), text.replace("iterations = 1\n", "iterations = 1000\n"))
        .expect("it can be written");
    let output = run(&folder, &["simulate", "box.toml", "--replace"]);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Whoever puts a thing into the ground hears of it.
#[test]
fn things_that_start_inside_others_are_told() {
    let folder = empty("outputs-inside");
    let text = "[simulation]\ndt = 0.01\nsteps = 5\n[ground]\n[contact]\n[[bodies]]\nname = \"ball\"\nposition = [0, 0, 0.06]\n\
                shape = { sphere = 0.1 }\nmass = 1\n";
    fs::write(folder.join("ball.toml"), text).expect("it can be written");
    let output = run(&folder, &["simulate", "ball.toml"]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("warning: things start 0.04 m inside each other"), "{said}");
    let page = fs::read_to_string(folder.join("runs/ball-simulated/report.html")).expect("a page");
    assert!(page.contains("Take care: things start 0.04 m inside each other"));
}

/// A block of 27 points, of which one is within, and a sheet of 4: surfaces instead of dots, and their middles instead of 31 paths.
#[test]
fn soft_things_are_surfaces() {
    let folder = empty("outputs-soft");
    let elastic = "mu = 4000\nlambda = 8000\ndensity = 1000\n";
    let text = format!(
        "[simulation]\ndt = 0.001\nsteps = 20\n\
         [[particles]]\nname = \"bead\"\nposition = [1, 0, 0]\nmass = 1\n\
         [[solids]]\nname = \"jelly\"\nmesh = {{ block = [0.2, 0.2, 0.2], cells = [2, 2, 2] }}\n{elastic}\
         [[sheets]]\nname = \"rag\"\nmesh = {{ sheet = [1, 1], cells = [1, 1] }}\nthickness = 0.01\n\
         position = [0, 0, 1]\nbending = 0\n{elastic}"
    );
    fs::write(folder.join("soft.toml"), text).expect("it can be written");
    done(&folder, &["simulate", "soft.toml", "--out", "run"]);
    let page = fs::read_to_string(folder.join("run/report.html")).expect("it is there");
    is_self_contained(&page);
    assert!(page.contains("\"particles\":31,"), "32, but for the one within");
    let surfaces =
        page.split("\"surfaces\":").nth(1).expect("there are some").lines().next().expect("a line");
    let corners = |of: &str| of.split(']').next().map_or(0, |list| list.split(',').count());
    let found: Vec<usize> = surfaces.split("\"triangles\":[").skip(1).map(corners).collect();
    assert_eq!(found, [3 * 48, 3 * 2]);
    assert!(surfaces.contains("\"two_sided\":false") && surfaces.contains("\"two_sided\":true"));
    for wanted in ["middle of jelly", "middle of rag", "bead"] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert!(!page.contains("evenly spread over all"));
}

#[test]
fn what_is_left_out_is_told() {
    let folder = empty("outputs-many");
    let bead = |i: usize| format!("[[particles]]\nname = \"bead-{i}\"\nposition = [{i}, 0, 0]\nmass = 1\n");
    let beads: String = (0..40).map(bead).collect();
    fs::write(folder.join("many.toml"), format!("[simulation]\ndt = 0.01\nsteps = 5\n{beads}"))
        .expect("it can be written");
    done(&folder, &["simulate", "many.toml", "--out", "run"]);
    let page = fs::read_to_string(folder.join("run/report.html")).expect("it is there");
    assert!(page.contains("12 of 40 paths, evenly spread over all."), "and not the first 12");
}

/// A search that steps to where the rollout blows up leaves what it found before, and says so in its exit code.
#[test]
fn searches_that_run_away_have_failed() {
    let folder = empty("runaway");
    let text = "[simulation]\ndt = 0.01\nsteps = 200\n[[particles]]\nname = \"ball\"\nposition = [0, 0, 1]\nmass = 0.1\n\
                [[particles]]\nname = \"nail\"\nposition = [0, 0, 2]\nmass = 1\nfixed = true\n\
                [[springs]]\nname = \"band\"\nends = [\"ball\", \"nail\"]\nstiffness = 20\nrest_length = 0.5\n\
                [[variables]]\nname = \"band.stiffness\"\n[[loss]]\nkind = \"position\"\nof = \"ball\"\ntarget = [0, 0, 1.9]\n\
                [optimiser]\nmethod = \"adam\"\nrate = 1e4\n";
    fs::write(folder.join("runaway.toml"), text).expect("it can be written");
    let output = run(&folder, &["solve", "runaway.toml", "--out", "run"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("stopped: The objective is not finite"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    assert!(folder.join("run/solution.toml").exists());
}
