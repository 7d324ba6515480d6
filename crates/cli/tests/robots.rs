//! Robots through the command: alone and in scenes, what they leave behind, and what is said of bad ones.

mod common;

use std::fs;
use std::path::Path;

use common::{done, empty, run, scene};
use pullback_report::{OwnedArray, read_npz};

/// A pendulum: 2 kg, half a metre below a hinge along y, as a point; 0.1 kg·m² about that point.
const SWING: &str = r#"<robot name="swing set">
  <link name="post"/>
  <link name="arm">
    <inertial>
      <origin xyz="0 0 -0.5"/>
      <mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/>
    </inertial>
    <visual>
      <origin xyz="0 0 -0.25"/>
      <geometry><cylinder radius="0.02" length="0.5"/></geometry>
    </visual>
  </link>
  <joint name="pivot" type="continuous">
    <parent link="post"/>
    <child link="arm"/>
    <origin xyz="0 0 2" rpy="0 0.2 0"/>
    <axis xyz="0 1 0"/>
  </joint>
</robot>"#;

fn arrays(path: &Path) -> Vec<OwnedArray> {
    read_npz(path).expect("NumPy could read it")
}

fn shapes(arrays: &[OwnedArray]) -> Vec<(&str, &[usize])> {
    arrays.iter().map(|(name, shape, _)| (name.as_str(), &shape[..])).collect()
}

#[test]
fn a_robot_alone_is_simulated() {
    let folder = empty("robots-alone");
    fs::write(folder.join("swing.urdf"), SWING).expect("it can be written");
    let said = done(&folder, &["simulate", "swing.urdf"]);
    assert!(said.starts_with("swing_set: 2000 steps in "), "{said}");
    let arrays = arrays(&folder.join("runs/swing_set-simulated/trajectory.npz"));
    let wanted = [
        ("time", &[2001][..]),
        ("swing_set.pivot.position", &[2001]),
        ("swing_set.pivot.velocity", &[2001]),
        ("control.swing_set.pivot.control", &[2000]),
    ];
    assert_eq!(shapes(&arrays), wanted);
    // It hangs 0.2 rad off, and swings with ω² = m g l / (m l² + I): nearly as a cosine with that frequency.
    let frequency = (2.0 * 9.81 * 0.5 / (2.0 * 0.25 + 0.1_f64)).sqrt();
    for (t, q) in arrays[0].2.iter().zip(&arrays[1].2) {
        let angle = 0.2 + q;
        let small = 0.2 * (frequency * (1.0 - 0.2 * 0.2 / 16.0) * t).cos();
        assert!((angle - small).abs() < 3e-3, "{t}: {angle} {small}");
    }
    let page = fs::read_to_string(folder.join("runs/swing_set-simulated/report.html")).expect("it is there");
    for wanted in ["Positions of hinges", "swing_set.pivot", "\"corners\":[", "swing_set.arm", ">bodies<"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert!(
        page.contains(">2000 steps of 0.001 s<") && page.contains("<title>swing_set"),
        "what it is called"
    );
    assert!(!page.contains(">Controls<"), "controls that are all zero are not plotted");
    let place = |what: &str| page.find(what).expect("it is there");
    assert!(place("class=\"pb-play\"") < place("Positions of hinges"), "the playback comes first");
}

/// A root that stands by joints of its own is not freed in silence; folders are looked for by their options.
#[test]
fn options_that_cannot_work_are_refused() {
    let folder = empty("robots-options");
    let mjcf = r#"<mujoco model="cart"><worldbody><body name="cart"><joint name="rail" type="slide" axis="1 0 0"/>
        <geom size="0.1"/></body></worldbody></mujoco>"#;
    fs::write(folder.join("cart.xml"), mjcf).expect("it can be written");
    for (arguments, wanted) in [
        (
            &["simulate", "cart.xml", "--base", "free"][..],
            "error: cart.xml: a free base would change nothing: the file says how its root stands, by `rail`\n  fix: ",
        ),
        (
            &["params", "cart.xml", "--package", "arms=nowhere"],
            "error: --package arms=nowhere: there is no such folder\n  fix: ",
        ),
        (
            &["params", "cart.xml", "--allow", "nowhere"],
            "error: --allow nowhere: there is no such folder\n  fix: ",
        ),
    ] {
        let output = run(&folder, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.starts_with(wanted), "{arguments:?}: {errors}");
        assert_eq!(output.status.code(), Some(2), "{errors}");
    }
    done(&folder, &["simulate", "cart.xml", "--base", "fixed", "--steps", "2"]);
}

/// Warnings that differ in names and places only are one.
#[test]
fn warnings_that_are_alike_are_one() {
    let folder = empty("robots-alike");
    let text = SWING
        .replace("<link name=\"post\"/>", "<link name=\"post\">\n<decor/></link>")
        .replace("<link name=\"arm\">", "<link name=\"arm\">\n<decor/>\n<decor/>\n<paint/>");
    fs::write(folder.join("swing.urdf"), text).expect("it can be written");
    let output = run(&folder, &["params", "swing.urdf"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.matches("warning: ").count(), 2, "{errors}");
    assert!(errors.contains("  ... and 2 more like it, at lines 5, 6\n"), "{errors}");
}

/// A motor on a hinge and one on a slide, with ranges of their controls.
const MOTORS: &str = "[simulation]\ndt = 0.01\nsteps = 20\n[[robots]]\nname = \"arm\"\ncontrols = { lift = 3 }\n\
    [[robots.bodies]]\nname = \"upper\"\nmass = 1\ncenter = [0, 0, -0.2]\ninertia = [0.1, 0.1, 0.1]\n\
    [[robots.bodies]]\nname = \"lower\"\nparent = \"upper\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n\
    [[robots.joints]]\nname = \"elbow\"\nbody = \"upper\"\nkind = \"hinge\"\naxis = [0, 1, 0]\n\
    [[robots.joints]]\nname = \"rail\"\nbody = \"lower\"\nkind = \"slide\"\naxis = [1, 0, 0]\n\
    [[robots.motors]]\nname = \"lift\"\njoint = \"elbow\"\nkind = \"torque\"\ncontrol_range = [-1, 2]\n\
    [[robots.motors]]\nname = \"push\"\njoint = \"rail\"\nkind = \"torque\"\n\
    [[variables]]\nname = \"control.arm.lift.control\"\n\
    [[loss]]\nkind = \"joint\"\nof = \"arm.elbow\"\n";

/// Each joint has its own unit, and a control the range of its motor.
#[test]
fn units_and_ranges_are_those_of_the_joint() {
    let folder = empty("robots-units");
    fs::write(folder.join("arm.toml"), format!("{MOTORS}target = 50.0\n")).expect("it can be written");
    let said = done(&folder, &["params", "arm.toml"]);
    for (name, wanted) in [
        ("initial.arm.elbow.position", " rad "),
        ("initial.arm.rail.position", " m "),
        ("initial.arm.elbow.velocity", " rad/s "),
        ("initial.arm.rail.velocity", " m/s "),
        ("arm.elbow.damping", " N·m·s/rad "),
        ("arm.rail.damping", " N·s/m "),
        ("control.arm.lift.control", " N·m "),
        ("control.arm.lift.control", " −1 to 2 "),
        ("control.arm.push.control", " N "),
    ] {
        let line = said.lines().find(|line| line.starts_with(name)).expect("it is listed");
        assert!(line.contains(wanted), "{wanted}: {line}");
    }
    assert!(!said.contains("rad or m") && !said.contains("N·m or N"), "{said}");
    // The target is far beyond what the motor can do: all controls end at the motor's greatest.
    done(&folder, &["solve", "arm.toml", "--out", "run"]);
    let solution: toml::Table =
        fs::read_to_string(folder.join("run/solution.toml")).expect("it is there").parse().expect("TOML");
    let controls = solution["variables"].as_array().expect("a list");
    assert_eq!(controls.len(), 20);
    for control in &controls[..19] {
        assert_eq!(
            (control["value"].as_float(), control["unit"].as_str()),
            (Some(2.0), Some("N·m")),
            "{control}"
        );
    }
}

/// A gradient of exactly zero is no success.
#[test]
fn a_zero_gradient_is_told() {
    let folder = empty("robots-flat");
    // The first state does not depend on controls.
    fs::write(folder.join("flat.toml"), format!("{MOTORS}target = 5.0\nat = 0\n"))
        .expect("it can be written");
    let said = done(&folder, &["solve", "flat.toml", "--out", "run"]);
    assert!(said.contains("stopped: Nothing was tried: the gradient is exactly zero at the start"), "{said}");
    assert!(!said.contains("Converged") && said.contains("beyond its range"), "{said}");
    let said = done(&folder, &["check", "flat.toml", "--out", "check"]);
    assert!(said.contains("gradient: ZERO: 20 derivatives") && !said.contains("right"), "{said}");
    // Where all is as wanted there is nothing to follow either, and that is a success.
    fs::write(folder.join("fits.toml"), format!("{MOTORS}target = 0.0\nat = 0\n"))
        .expect("it can be written");
    let said = done(&folder, &["solve", "fits.toml", "--out", "fits"]);
    assert!(said.contains("stopped: Converged"), "{said}");
}

#[test]
fn a_free_robot_falls() {
    let folder = empty("robots-free");
    fs::write(folder.join("swing.urdf"), SWING.replace("<link name=\"post\"/>", "<link name=\"post\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>")).expect("it can be written");
    done(&folder, &["simulate", "swing.urdf", "--base", "free", "--out", "free"]);
    let free = arrays(&folder.join("free/trajectory.npz"));
    let names: Vec<&str> = free.iter().map(|array| array.0.as_str()).collect();
    let wanted = [
        "root.position",
        "root.orientation",
        "pivot.position",
        "root.velocity",
        "root.angular_velocity",
        "pivot.velocity",
    ];
    assert_eq!(names[1..7], wanted.map(|name| format!("swing_set.{name}")));
    assert_eq!(free[2].1, [2001, 4]);
    let (positions, turns) = (&free[1].2, &free[2].2);
    // 2 s of falling, and the quaternion is still one.
    assert!(
        (positions[positions.len() - 1] + 0.5 * 9.81 * 4.0).abs() < 1.0,
        "{}",
        positions[positions.len() - 1]
    );
    assert!(turns.chunks(4).all(|q| (q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-9));
    done(&folder, &["simulate", "swing.urdf", "--base", "fixed", "--out", "fixed"]);
    assert_eq!(arrays(&folder.join("fixed/trajectory.npz")).len(), 4);
}

/// Damping that an explicit step cannot take is said to need an implicit one, on the command line.
#[test]
fn a_stiff_robot_is_simulated_implicitly() {
    let folder = empty("robots-stiff");
    let stiff = SWING.replace("<axis xyz=\"0 1 0\"/>", "<axis xyz=\"0 1 0\"/><dynamics damping=\"5000\"/>");
    fs::write(folder.join("swing.urdf"), stiff).expect("it can be written");
    let output = run(&folder, &["simulate", "swing.urdf"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: swing.urdf: step "), "{errors}");
    assert!(errors.contains("`--dt 0.0001`") && errors.contains("`--integrator backward-euler`"), "{errors}");
    assert!(!errors.contains("substeps") && !folder.join("runs").exists(), "{errors}");

    let end = |arguments: &[&str]| {
        let arguments = [&["simulate", "swing.urdf", "--out", "run", "--replace"], arguments].concat();
        let said = done(&folder, &arguments);
        let arrays = arrays(&folder.join("run/trajectory.npz"));
        (said, arrays[0].2[arrays[0].1[0] - 1], arrays[1].2[arrays[1].1[0] - 1])
    };
    // It creeps: c dq/dt = -m g l sin(0.2 + q).
    let crept = |time: f64| -2.0 * 9.81 * 0.5 * 0.2_f64.sin() / 5000.0 * time;
    for (arguments, steps, time) in [
        (&["--integrator", "backward-euler"][..], 2000, 2.0),
        (&["--integrator", "backward-euler", "--steps", "300", "--dt", "0.01"], 300, 3.0),
        (&["--dt", "0.0001"], 20000, 2.0),
    ] {
        let (said, last, q) = end(arguments);
        assert!(said.starts_with(&format!("swing_set: {steps} steps in ")), "{said}");
        assert!((last - time).abs() < 1e-9, "{last}");
        assert!((q / crept(time) - 1.0).abs() < 0.01, "{arguments:?}: {q} {}", crept(time));
    }
}

/// Gravity and time step of an MJCF file alone are its own; in a scene they are the scene's.
#[test]
fn whose_gravity_it_is() {
    let folder = empty("robots-gravity");
    let mjcf = r#"<mujoco model="drop"><option gravity="0 0 -2" timestep="0.01"/>
        <worldbody><body name="ball" pos="0 0 1"><freejoint name="root"/><geom size="0.1"/></body></worldbody></mujoco>"#;
    fs::write(folder.join("drop.xml"), mjcf).expect("it can be written");
    let said = done(&folder, &["simulate", "drop.xml", "--out", "alone"]);
    assert!(said.starts_with("drop: 200 steps in "), "{said}");
    let fallen = |run: &str, steps: usize| {
        let all = arrays(&folder.join(run).join("trajectory.npz"));
        let position = all.iter().find(|array| array.0 == "drop.root.position").expect("it is there");
        position.2[3 * steps + 2] - 1.0
    };
    // Semi-implicit Euler falls g dt² n (n + 1) / 2.
    assert!((fallen("alone", 200) + 2.0 * 1e-4 * 200.0 * 201.0 / 2.0).abs() < 1e-9);
    let scene = "[simulation]\ndt = 0.02\nsteps = 10\n[world]\ngravity = [0, 0, -5]\n[[robots]]\nfile = \"drop.xml\"\n";
    fs::write(folder.join("scene.toml"), scene).expect("it can be written");
    // That it is another gravity than the file's is told.
    let output = run(&folder, &["simulate", "scene.toml", "--out", "scene"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the gravity [0.0, 0.0, -2.0]"));
    assert!((fallen("scene", 10) + 5.0 * 4e-4 * 10.0 * 11.0 / 2.0).abs() < 1e-9);
}

#[test]
fn params_are_listed() {
    let folder = empty("robots-params");
    fs::write(folder.join("swing.urdf"), SWING).expect("it can be written");
    let said = done(&folder, &["params", "swing.urdf"]);
    for wanted in [
        "swing_set.arm.mass ",
        "swing_set.pivot.axis ",
        "initial.swing_set.pivot.position ",
        "control.swing_set.pivot.control ",
        "gravity ",
    ] {
        assert!(said.lines().any(|line| line.starts_with(wanted)), "{wanted}\n{said}");
    }
    let masses = done(&folder, &["params", "swing.urdf", "*.mass"]);
    assert_eq!(masses.lines().count(), 3, "{masses}");
    let free = done(&folder, &["params", "swing.urdf", "initial.*", "--base", "fixed"]);
    assert_eq!(free.lines().count(), 3, "{free}");
}

#[test]
fn bad_robots_are_refused() {
    let folder = empty("robots-bad");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("it can be written");
    write("arn.urdf", &SWING.replace("child link=\"arm\"", "child link=\"arn\""));
    write(
        "mesh.urdf",
        &SWING.replace(
            "<cylinder radius=\"0.02\" length=\"0.5\"/>",
            "<mesh filename=\"package://arms/arm.stl\"/>",
        ),
    );
    write("swing.urdf", SWING);
    write("loop.xml", "<mujoco><worldbody/><equality><weld body1=\"a\" body2=\"b\"/></equality></mujoco>");
    write("notes.xml", "<notes/>");
    write(
        "scene.toml",
        "[simulation]\ndt = 0.01\nsteps = 2\n[[robots]]\nfile = \"arn.urdf\"\nname = \"arn\"\n",
    );
    write(
        "good.toml",
        "[simulation]\ndt = 0.01\nsteps = 2\n[[robots]]\nfile = \"swing.urdf\"\nname = \"swing\"\n",
    );
    for (arguments, wanted) in [
        (
            &["simulate", "arn.urdf"][..],
            "error: arn.urdf:16:18: <child> link: there is no link `arn`\n  fix: did you mean `arm`?",
        ),
        (&["params", "arn.urdf"], "error: arn.urdf:16:18: "),
        (&["simulate", "scene.toml"], "error: arn.urdf:16:18: "),
        (&["simulate", "mesh.urdf"], "`--package arms=FOLDER`"),
        (&["simulate", "missing.urdf"], "error: missing.urdf: "),
        (&["simulate", "notes.xml"], "`<notes>` is no robot"),
        (&["simulate", "loop.xml"], "fix: "),
        (&["solve", "swing.urdf"], "error: swing.urdf: a robot alone is no problem"),
        (
            &["check", "swing.urdf"],
            "fix: name it in a problem, with `file = \"swing.urdf\"` in a section `[[robots]]`",
        ),
        (
            &["simulate", "good.toml", "--base", "free"],
            "`--base` is for files of robots, and this is a scene\n  fix: write `base = \"free\"`",
        ),
        (&["params", "good.toml", "--lenient"], "`lenient = true`"),
        (&["params", "good.toml", "--package", "arms=."], "fix: write `packages = { NAME = \"FOLDER\" }`"),
        (
            &["simulate", "good.toml", "--dt", "0.1"],
            "`--dt` is for files of robots, and this is a scene\n  fix: write `dt` in the section `[simulation]`",
        ),
        (&["simulate", "good.toml", "--steps", "5"], "`--steps` is for files of robots"),
        (&["simulate", "good.toml", "--integrator", "rk4"], "`--integrator` is for files of robots"),
        (&["simulate", "swing.urdf", "--dt", "-1"], "greater than 0"),
        (&["simulate", "swing.urdf", "--dt", "1e-9"], "2000000000 steps are too many"),
        (&["simulate", "swing.urdf", "--steps", "0"], "0 is not in 1.."),
        (&["simulate", "swing.urdf", "--integrator", "rk5"], "did you mean `rk4`?"),
        (&["simulate", "swing.urdf", "--package", "arms"], "write NAME=FOLDER"),
        (&["simulate", "swing.urdf", "--allow", "nowhere"], "nowhere"),
        (&["simulate", "swing.urdf", "--base", "loose"], "free, fixed"),
    ] {
        let output = run(&folder, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(wanted), "{arguments:?}: {errors}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty() && !folder.join("runs").exists(), "{arguments:?}");
    }
}

#[test]
fn warnings_go_to_stderr() {
    let folder = empty("robots-warnings");
    let text = SWING.replace("<link name=\"post\"/>", "<link name=\"post\"/>\n  <decor/>");
    fs::write(folder.join("swing.urdf"), text).expect("it can be written");
    fs::write(
        folder.join("scene.toml"),
        "[simulation]\ndt = 0.01\nsteps = 2\n[[robots]]\nfile = \"swing.urdf\"\nname = \"swing\"\n",
    )
    .expect("it can be written");
    for file in ["swing.urdf", "scene.toml"] {
        let output = run(&folder, &["simulate", file]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.starts_with("warning: swing.urdf:3:3: ") && errors.contains("decor"), "{errors}");
        assert_eq!(output.status.code(), Some(0), "{errors}");
    }
}

/// A scene with robots is solved from end to end.
#[test]
fn robots_are_solved() {
    let folder = empty("robots-solve");
    let said = done(&folder, &["solve", &scene("pendulum.toml"), "--out", "run"]);
    assert!(said.starts_with("pendulum: loss "), "{said}");
    let page = fs::read_to_string(folder.join("run/report.html")).expect("it is there");
    for wanted in ["Positions of hinges", "pendulum.tip", "target of pendulum.tip", "\"corners\":["] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let said = done(&folder, &["check", &scene("tumble.toml"), "--out", "check"]);
    assert!(
        said.contains("gradient: right: 3 derivatives") && said.contains("energy: should be kept"),
        "{said}"
    );
}

/// The variables of a rotation are turns, and what comes out is a quaternion.
#[test]
fn a_rotation_is_written_as_a_quaternion() {
    let folder = empty("robots-rotation");
    let text = "[simulation]\ndt = 0.01\nsteps = 5\n[world]\ngravity = [0, 0, 0]\n[[bodies]]\nname = \"nut\"\nposition = [0, 0, 0]\nmass = 1\n\
                shape = { box = [0.1, 0.2, 0.3] }\nvelocity = [1, 0, 0]\nangular_velocity = [0, 0, 1]\n\
                [[variables]]\nname = \"initial.nut.orientation\"\n[[variables]]\nname = \"initial.nut.velocity\"\n\
                [[loss]]\nkind = \"position\"\nof = \"nut\"\ntarget = [0.1, 0.2, 0]\n";
    fs::write(folder.join("nut.toml"), text).expect("it can be written");
    done(&folder, &["solve", "nut.toml", "--out", "run"]);
    let solution: toml::Table =
        fs::read_to_string(folder.join("run/solution.toml")).expect("it is there").parse().expect("TOML");
    let rotation = &solution["rotations"].as_array().expect("a list")[0];
    assert_eq!(rotation["name"].as_str(), Some("initial.nut.orientation"));
    let q: Vec<f64> =
        rotation["value"].as_array().expect("four").iter().filter_map(toml::Value::as_float).collect();
    assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12 && q.len() == 4, "{q:?}");
    assert_eq!(solution["variables"].as_array().map(Vec::len), Some(6));
}
