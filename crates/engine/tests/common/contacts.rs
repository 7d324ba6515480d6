//! Worlds in which shapes touch, for the factory: every kind of shape, joint and law, sticking, sliding, bouncing and apart.

use pullback_scene::Scene;

use super::cases::cases;

/// A world by its name, and the scene.
pub type Named = (&'static str, String);

/// A loose body: name, shape, position, and more keys.
pub fn body(name: &str, shape: &str, position: [f64; 3], more: &str) -> String {
    format!(
        "[[bodies]]\nname = \"{name}\"\nmass = 1.3\ninertia = [0.2, 0.25, 0.3, 0.02, -0.01, 0.015]\nshape = {{ {shape} }}\nposition = {position:?}\n{more}"
    )
}

pub const SLIDES: &str = "velocity = [2.1, 0.7, -0.3]\nangular_velocity = [0.2, -0.3, 0.5]\n";
const ROLLS: &str = "velocity = [0.3, 0.1, -0.3]\nangular_velocity = [-0.7, 2.4, 0.2]\n";
const STICKS: &str = "velocity = [0.02, 0.01, -0.3]\n";

/// Turned about an axis.
pub fn turned(axis: [f64; 3], angle: f64) -> String {
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (cos, sin) = ((0.5 * angle).cos(), (0.5 * angle).sin() / length);
    let [x, y, z] = axis.map(|x| sin * x);
    format!("orientation = [{cos}, {x}, {y}, {z}]\n")
}

/// Bodies on the ground, and on each other.
fn bodies() -> Vec<Named> {
    let ball = "sphere = 0.1";
    let brick = "box = [0.1, 0.15, 0.03]";
    let pill = "capsule = { radius = 0.05, half_length = 0.2 }";
    let tin = "cylinder = { radius = 0.1, half_length = 0.05 }";
    let egg = "ellipsoid = [0.1, 0.15, 0.08]";
    let flat = turned([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2);
    let on = |shape: &str, z: f64, more: &str| body("it", shape, [0.3, 0.2, z], more);
    let two = |a: &str, za: f64, b: &str, at: [f64; 3], more: &str| {
        body("low", a, [0.3, 0.2, za], "") + &body("high", b, at, more)
    };
    vec![
        ("a ball that slides", on(ball, 0.0995, SLIDES)),
        ("a ball that rolls", on(ball, 0.0995, ROLLS)),
        ("a ball in the air", on(ball, 0.5, SLIDES)),
        ("a ball that lands", on(ball, 0.108, "velocity = [1, 0.3, -0.9]\n")),
        ("a box that slides", on(brick, 0.0295, &SLIDES.replace("[0.2, -0.3, 0.5]", "[0, 0, 0.5]"))),
        ("a box that sticks", on(brick, 0.0295, STICKS)),
        ("a box on an edge", on(brick, 0.155, &(turned([1.0, 0.0, 0.0], 1.2) + SLIDES))),
        (
            "a capsule that slides",
            on(pill, 0.0495, &format!("{flat}{}", SLIDES.replace("[0.2, -0.3, 0.5]", "[0, 0, 0.5]"))),
        ),
        ("a cylinder on its rim", on(tin, 0.108, &(turned([1.0, 0.2, 0.0], 0.8) + SLIDES))),
        ("an ellipsoid", on(egg, 0.0985, &(turned([0.0, 0.0, 1.0], 0.4) + SLIDES))),
        ("two balls", two(ball, 0.0995, ball, [0.44, 0.23, 0.21], SLIDES)),
        (
            "a box on a box",
            two(
                brick,
                0.0295,
                "box = [0.07, 0.05, 0.03]",
                [0.32, 0.21, 0.0892],
                "velocity = [0.9, 0.2, -0.1]\nangular_velocity = [0, 0, 0.4]\n",
            ),
        ),
        ("a ball on a box", two(brick, 0.0295, ball, [0.32, 0.21, 0.1592], SLIDES)),
        ("a ball and a capsule", two(ball, 0.0995, pill, [0.33, 0.22, 0.245], &format!("{flat}{SLIDES}"))),
    ]
}

/// Shapes of the world.
fn terrain() -> Vec<Named> {
    let hill = "[[shapes]]\nname = \"hill\"\nposition = [-1, -1, 0]\n\
                shape = { heights = { values = [[0, 0.1, 0.3], [0.1, 0.2, 0.25], [0.0, 0.3, 0.2]], step = [1, 1] } }\n";
    let wall = "[[shapes]]\nname = \"wall\"\nposition = [0.6, 0, 0.3]\nshape = { box = [0.1, 2, 0.6] }\n\
                orientation = [0.995, 0, 0.1, 0]\n";
    vec![
        ("a ball on a hill", format!("{hill}{}", body("ball", "sphere = 0.1", [0.3, 0.2, 0.325], SLIDES))),
        (
            "a ball at a wall",
            format!(
                "{wall}{}",
                body("ball", "sphere = 0.1", [0.392, 0.2, 0.3], "velocity = [0.8, 0.1, 0.2]\n")
            ),
        ),
    ]
}

/// An arm with this joint at its foot, whose hand is on the ground.
fn arm(joint: &str, start: &str) -> String {
    format!(
        "[[robots]]\nname = \"arm\"\n{start}\
         [[robots.bodies]]\nname = \"upper\"\nposition = [0, 0, 0.5]\nmass = 1\ncenter = [0.2, 0, 0]\ninertia = [0.1, 0.2, 0.25, 0.01, 0.02, -0.01]\n\
         [[robots.bodies]]\nname = \"lower\"\nparent = \"upper\"\nposition = [0.4, 0, 0]\nmass = 0.7\ninertia = [0.2, 0.25, 0.15, 0.02, -0.01, 0.015]\n\
         shape = {{ capsule = {{ radius = 0.05, half_length = 0.2 }} }}\n\
         [[robots.bodies]]\nname = \"hand\"\nparent = \"lower\"\nposition = [0, 0, -0.395]\nmass = 0.3\ninertia = [0.1, 0.12, 0.15, 0.01, -0.01, 0.015]\nshape = {{ sphere = 0.1055 }}\n\
         [[robots.joints]]\nname = \"a\"\nbody = \"upper\"\n{joint}damping = 0.1\n\
         [[robots.joints]]\nname = \"b\"\nbody = \"lower\"\nkind = \"hinge\"\naxis = [0, 1, 0.3]\narmature = 0.01\n\
         [[robots.joints]]\nname = \"c\"\nbody = \"hand\"\nkind = \"ball\"\n"
    )
}

fn robots() -> Vec<Named> {
    let hinge = "kind = \"hinge\"\naxis = [0, 1, 0]\n";
    let moving =
        "positions = { a = 0.02, b = 0.1 }\nvelocities = { a = 0.5, b = -0.4, c = [0.1, 0.2, 0.3] }\n";
    let free = "velocities = { a = [0.3, 0.1, -0.2, 0.4, 0.5, 0.6], b = -0.4 }\n";
    let slide = "kind = \"slide\"\naxis = [0.2, 0.1, 1]\n";
    let sliding = "positions = { b = 0.1 }\nvelocities = { a = -0.3, b = -0.4, c = [0.1, 0.2, 0.3] }\n";
    let apart =
        "positions = { a = -0.8, b = 0.1 }\nvelocities = { a = 0.5, b = -0.4, c = [0.1, 0.2, 0.3] }\n";
    let loose = body("cube", "box = [0.1, 0.1, 0.1]", [0.62, 0.02, 0.0995], "velocity = [-0.7, 0, 0]\n");
    vec![
        ("an arm with a hinge", arm(hinge, moving)),
        ("an arm that touches nothing", arm(hinge, apart)),
        ("an arm with a slide", arm(slide, sliding)),
        ("an arm with a free joint", arm("kind = \"free\"\n", free)),
        ("an arm and a box", arm(hinge, moving) + &loose),
    ]
}

const HELD: &str = "mu = 0.3\njoint_limits = \"hard\"\njoint_friction = \"hard\"\n";

/// Arms at the ends of their ranges and with dry friction, and how contact is to be solved.
fn held() -> Vec<(&'static str, &'static str, String)> {
    let joint = |kind: &str, more: &str| format!("kind = \"{kind}\"\naxis = [0.2, 1, 0.1]\n{more}");
    let up = |more: &str| format!("kind = \"slide\"\naxis = [0.2, 0.1, 1]\n{more}");
    let moving = |a: f64, v: f64| {
        format!(
            "positions = {{ a = {a}, b = 0.1 }}\nvelocities = {{ a = {v}, b = -0.4, c = [0.1, 0.2, 0.3] }}\n"
        )
    };
    let (newton, square) = ("", "friction_cone = \"box\"\n");
    let sweeps = "gradient = \"reverse\"\nsolver = \"gauss-seidel\"\nfixed_iterations = 5\n";
    let rubs = |text: String, b: f64, c: f64| {
        text.replace("armature = 0.01\n", &format!("armature = 0.01\nfriction = {b}\n"))
            + &format!("friction = {c}\n")
    };
    let at_end = || arm(&joint("hinge", "range = [-1, 0.021]\n"), &moving(0.02, 0.5));
    let rubbing = || rubs(arm(&joint("hinge", "friction = 0.4\n"), &moving(0.02, 0.5)), 0.1, 0.02);
    let stuck = || rubs(arm(&joint("hinge", "friction = 80\n"), &moving(0.02, 0.0)), 0.1, 0.3);
    let both = |a: f64| {
        let keys = format!("range = [{}, 1]\nfriction = 3\n", a - 0.001);
        rubs(arm(&up(&keys), &moving(a, -0.3)), 0.1, 0.02)
    };
    vec![
        ("an arm at its limit", newton, at_end()),
        (
            "an arm at its limit, and nothing else",
            newton,
            arm(&joint("hinge", "range = [-1, -0.798]\n"), &moving(-0.8, 0.5)),
        ),
        ("an arm at the end of its slide", newton, arm(&up("range = [-0.001, 1]\n"), &moving(0.0, -0.3))),
        (
            "an arm beyond its limit",
            newton,
            arm(&joint("hinge", "range = [-1, 0.015]\n"), &moving(0.02, 0.5)),
        ),
        ("an arm whose joints rub", newton, rubbing()),
        ("an arm that friction holds", newton, stuck()),
        ("an arm whose slide rubs at its end", newton, both(0.0)),
        ("an arm at its limit, square", square, at_end()),
        ("an arm whose joints rub, square", square, rubbing()),
        ("an arm at its limit, by sweeps", sweeps, at_end()),
        ("an arm whose joints rub, by sweeps", sweeps, rubbing()),
        ("an arm that friction holds, by sweeps", sweeps, stuck()),
        // In the air: on the ground, sweeps that have not converged leave it a load that friction bears at the very end of its range.
        ("an arm whose slide rubs at its end, by sweeps", sweeps, both(0.3)),
    ]
}

/// Every scene with hard contact, by the implicit gradient.
pub fn hard() -> Vec<(&'static str, Scene)> {
    let settings = "restitution = 0.4\nmu = 0.3\n";
    let head =
        |more: &str| format!("[simulation]\nsteps = 1\ndt = 0.01\n[ground]\nmu = 0.3\n[contact]\n{more}");
    let mut all: Vec<(&'static str, Scene)> = Vec::new();
    for (name, text) in bodies().into_iter().chain(terrain()).chain(robots()).chain(cases()) {
        all.push((name, parse(&format!("{}{text}", head("mu = 0.3\n")))));
    }
    // However few the sweeps, their derivative is exact.
    let sweeps = [
        ("a ball that slides, by sweeps", "a ball that slides", 3),
        ("a ball that rolls, by sweeps", "a ball that rolls", 2),
        ("a box that sticks, by sweeps", "a box that sticks", 4),
        ("two balls, by sweeps", "two balls", 5),
        ("an arm with a hinge, by sweeps", "an arm with a hinge", 3),
        ("an arm with a free joint, by sweeps", "an arm with a free joint", 2),
        ("an arm and a box, by sweeps", "an arm and a box", 4),
    ];
    for (name, of, count) in sweeps {
        let settings = format!(
            "mu = 0.3\ngradient = \"reverse\"\nsolver = \"gauss-seidel\"\nfixed_iterations = {count}\n"
        );
        all.push((name, parse(&format!("{}{}", head(&settings), named(of)))));
    }
    for (name, more, text) in held() {
        all.push((name, parse(&format!("{}{text}", head(&format!("{HELD}{more}"))))));
    }
    let bouncing = body("ball", "sphere = 0.1", [0.3, 0.2, 0.104], "velocity = [1, 0.3, -1.9]\n");
    all.push(("a ball that bounces", parse(&format!("{}{bouncing}", head(settings)))));
    let square = body(
        "it",
        "box = [0.1, 0.15, 0.03]",
        [0.3, 0.2, 0.0295],
        &SLIDES.replace("[0.2, -0.3, 0.5]", "[0, 0, 0.5]"),
    );
    let cone = "friction_cone = \"box\"\nmu = 0.3\n";
    all.push(("a box of friction", parse(&format!("{}{square}", head(cone)))));
    let swept = "gradient = \"reverse\"\nsolver = \"gauss-seidel\"\nfixed_iterations = 3\n";
    for (name, settings, text) in [
        ("a box of friction, by sweeps", cone, &square),
        ("a ball that bounces, by sweeps", settings, &bouncing),
        ("a ball on a hill, by sweeps", "mu = 0.3\n", &named("a ball on a hill")),
    ] {
        all.push((name, parse(&format!("{}{text}", head(&format!("{settings}{swept}"))))));
    }
    let surfaces = made_of("");
    all.push(("a box and a ball of materials", parse(&format!("{}{surfaces}", head(settings)))));
    let swept = head(&format!("{settings}{swept}"));
    all.push(("a box and a ball of materials, by sweeps", parse(&format!("{swept}{surfaces}"))));
    all
}

/// Things of materials, whose numbers meet by the rule and by a pair, with more said of each.
fn made_of(more: &str) -> String {
    let is = |name: &str, text: String| format!("{text}material = \"{name}\"\n");
    let brick = body("low", "box = [0.1, 0.15, 0.03]", [0.3, 0.2, 0.0295], "velocity = [0.5, 0, -0.1]\n");
    let ball = body("high", "sphere = 0.1", [0.32, 0.31, 0.1592], SLIDES);
    let other = body("beside", "sphere = 0.1", [0.28, 0.09, 0.1592], SLIDES);
    format!(
        "[[materials]]\nname = \"wood\"\nmu = 0.4\nrestitution = 0.3\n{more}[[materials]]\nname = \"rubber\"\nmu = 0.8\n{more}\
         [[materials]]\nname = \"ice\"\nmu = 0.1\n[[material_pairs]]\nbetween = [\"wood\", \"ice\"]\nmu = 0.05\n\
         restitution = 0.2\n{more}{}{}{}",
        is("wood", brick),
        is("rubber", ball),
        is("ice", other)
    )
}

/// Scenes whose contacts feel each other only in part, for sparse equations: by the implicit gradient and by sweeps.
pub fn sparse() -> Vec<(&'static str, Scene)> {
    let head = "[simulation]\nsteps = 1\ndt = 0.01\n[ground]\nmu = 0.3\n[contact]\nmu = 0.3\n";
    let swept = "gradient = \"reverse\"\nsolver = \"gauss-seidel\"\nfixed_iterations = 4\n";
    // One on two, of which one is on two others: the first and the last contact do not feel each other.
    let row = "[[bodies]]\nname = \"row\"\nmass = 1.3\ninertia = [0.2, 0.25, 0.3, 0.02, -0.01, 0.015]\n\
               shape = { sphere = 0.1 }\npositions = [[0, 0, 0.0995], [0.25, 0.05, 0.0993], [0.12, 0.03, 0.2515], [0.5, 0, 0.0996], \
               [0.37, 0.03, 0.2512]]\nvelocity = [0.9, 0.2, -0.3]\n";
    let of = |(name, more, text): (&'static str, &str, &str)| (name, parse(&format!("{head}{more}{text}")));
    let arm_and_box = named("an arm and a box");
    // The box on the ground does not feel the joints.
    let held_arm_and_box = arm_and_box
        .replace("axis = [0, 1, 0]\n", "axis = [0, 1, 0]\nrange = [-1, 0.021]\n")
        .replace("armature = 0.01\n", "armature = 0.01\nfriction = 0.1\n");
    let held = "joint_limits = \"hard\"\njoint_friction = \"hard\"\n";
    [
        ("a row of balls, sparse", "", row),
        ("a row of balls, sparse, by sweeps", swept, row),
        ("an arm and a box, sparse", "", &arm_and_box),
        ("an arm and a box, sparse, by sweeps", swept, &arm_and_box),
        ("an arm at its limit and a box, sparse", held, &held_arm_and_box),
        ("an arm at its limit and a box, sparse, by sweeps", &format!("{held}{swept}"), &held_arm_and_box),
    ]
    .into_iter()
    .map(of)
    .collect()
}

/// Every scene with penalties.
pub fn soft() -> Vec<(&'static str, Scene)> {
    let head = "[simulation]\nsteps = 1\ndt = 0.01\n[ground]\nmu = 0.3\nke = 300\nkd = 3\nkf = 2\n\
                [contact]\nmodel = \"penalty\"\nke = 200\nkd = 4\nkf = 3\nmu = 0.4\n";
    let soft = |(name, of): (&'static str, &str)| (name, parse(&format!("{head}{}", named(of))));
    [
        ("a soft ball that slides", "a ball that slides"),
        ("a soft ball that rolls", "a ball that rolls"),
        ("a soft box on a box", "a box on a box"),
        ("a soft arm", "an arm with a hinge"),
        ("a soft free arm", "an arm with a free joint"),
        ("a soft hill", "a ball on a hill"),
    ]
    .into_iter()
    .map(soft)
    .chain([("soft things of materials", parse(&format!("{head}{}", made_of("ke = 250\nkd = 5\nkf = 2\n"))))])
    .collect()
}

/// The bodies of a scene.
fn named(name: &str) -> String {
    let all = bodies().into_iter().chain(terrain()).chain(robots());
    all.filter(|(other, _)| *other == name).map(|(_, text)| text).collect()
}

fn parse(text: &str) -> Scene {
    Scene::parse(text, "contact.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}
