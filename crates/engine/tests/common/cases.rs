//! Worlds in which other engines return wrong gradients: bodies that rest exactly, lines and round shapes on a plane, an edge
//! that lands, links of one robot that touch each other.

use super::contacts::{Named, SLIDES, body, turned};

/// Bodies on the ground.
fn bodies() -> Vec<Named> {
    let tin = "cylinder = { radius = 0.1, half_length = 0.05 }";
    let pill = "capsule = { radius = 0.05, half_length = 0.2 }";
    let brick = "box = [0.1, 0.15, 0.03]";
    let flat = turned([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let on = |shape: &str, z: f64, more: &str| body("it", shape, [0.3, 0.2, z], more);
    let lands = turned([1.0, 0.0, 0.0], 0.5) + "velocity = [0.4, 0.1, -1]\n";
    vec![
        ("a ball at rest", on("sphere = 0.1", 0.0995, "")),
        ("a box at rest", on(brick, 0.0295, "")),
        ("a cylinder at rest", on(tin, 0.0495, "")),
        ("a capsule at rest", on(pill, 0.0495, &flat)),
        ("an ellipsoid at rest", on("ellipsoid = [0.1, 0.15, 0.08]", 0.0795, "")),
        ("a cylinder that slides upright", on(tin, 0.0495, "velocity = [2.1, 0.7, -0.3]\n")),
        ("a cylinder that lies", on(tin, 0.0995, &format!("{flat}{SLIDES}"))),
        ("a box that lands on an edge", on(brick, 0.105, &lands)),
    ]
}

/// A finger whose tip touches its first link.
fn fist() -> String {
    let link = |name: &str, more: &str| {
        format!(
            "[[robots.bodies]]\nname = \"{name}\"\nmass = 0.6\ninertia = [0.1, 0.12, 0.15, 0.01, -0.01, 0.015]\n{more}"
        )
    };
    let hinge = |name: &str, body: &str| {
        format!(
            "[[robots.joints]]\nname = \"{name}\"\nbody = \"{body}\"\nkind = \"hinge\"\naxis = [0, 1, 0.2]\n"
        )
    };
    let ball = "shape = { sphere = 0.117 }\n";
    let bodies = link("near", &format!("position = [0, 0, 1]\n{ball}"))
        + &link("middle", "parent = \"near\"\nposition = [0.3, 0, 0]\n")
        + &link("tip", &format!("parent = \"middle\"\nposition = [-0.1, 0, 0.12]\n{ball}"));
    let joints = hinge("a", "near") + &hinge("b", "middle") + &hinge("c", "tip");
    format!("[[robots]]\nname = \"finger\"\nvelocities = {{ a = 0.3, b = -0.5, c = 2 }}\n{bodies}{joints}")
}

/// All of them.
pub fn cases() -> Vec<Named> {
    let mut all = bodies();
    all.push(("a finger that touches itself", fist()));
    all
}
