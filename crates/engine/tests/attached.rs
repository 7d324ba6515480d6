//! Particles that are attached to bodies: what is conserved, closed forms, and bodies that are heavier by what they hold.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Energy, Options, Rollout, Start, Step};
use pullback_scene::Scene;

fn scene(text: &str) -> Scene {
    Scene::parse(text, "attached.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn step(text: &str) -> Step {
    Step::of(&scene(text)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// All states of a run.
fn run(step: &Step, steps: usize) -> Vec<Vec<f64>> {
    let model = step.model();
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    let mut rollout = Rollout::<f64>::new(step, Options::new(steps)).expect("a rollout");
    let mut states = Vec::new();
    let see = |moment: &Moment<'_>| states.push(moment.state.to_vec());
    rollout.watch(&Start::new(&state, &controls, &params), see).expect("a run");
    states
}

fn numbers(step: &Step, state: &[f64], name: &str) -> Vec<f64> {
    state[step.model().state_layout().find(name).expect("it is in the state")].to_vec()
}

fn vector(step: &Step, state: &[f64], name: &str) -> [f64; 3] {
    numbers(step, state, name).try_into().expect("a vector")
}

fn near(what: &str, found: f64, wanted: f64, error: f64) {
    assert!((found - wanted).abs() <= error, "{what}: {found:e}, and not {wanted:e} within {error:.1e}");
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn plus(a: [f64; 3], b: [f64; 3], factor: f64) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + factor * b[i])
}

/// R v, with the unit quaternion q.
fn turned(q: &[f64], v: [f64; 3]) -> [f64; 3] {
    let u = [q[1], q[2], q[3]];
    let t = cross(u, v).map(|x| 2.0 * x);
    plus(plus(v, t, q[0]), cross(u, t), 1.0)
}

/// The last state's numbers with these names, summed.
struct Last(Vec<usize>);

impl Last {
    fn of(step: &Step, names: &[&str]) -> Last {
        let find = |name: &&str| step.model().state_layout().find(name).expect("it is in the state").start;
        Last(names.iter().map(find).collect())
    }
}

impl Loss for Last {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { self.0.iter().map(|&i| moment.state[i]).sum() } else { 0.0 }
    }
    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            self.0.iter().for_each(|&i| bars.state[i] += 1.0);
        }
    }
}

fn head(dt: f64, integrator: &str, gravity: f64) -> String {
    format!(
        "[simulation]\nsteps = 1\ndt = {dt}\nintegrator = \"{integrator}\"\n[world]\ngravity = [0, 0, {gravity}]\n"
    )
}

const RADIUS: f64 = 0.15;
const MASS: f64 = 1.3;

/// A ball in flight, whose moments of inertia are all the same.
const BALL: &str = "[[bodies]]\nname = \"ball\"\nposition = [0.1, 0.2, 0.3]\nvelocity = [0.7, -0.4, 0.2]\n\
                    angular_velocity = [2, -3, 1]\nmass = 1.3\nshape = { sphere = 0.15 }\n";

/// A sheet whose first side is near the ball, with points that move.
const SHEET: &str = "[[sheets]]\nname = \"flag\"\nmesh = { sheet = [0.4, 0.2], cells = [2, 1] }\nposition = [0.5, 0.2, 0.3]\n\
                     velocity = [0.1, 0.3, -0.2]\nthickness = 0.002\nyoung = 2e4\npoisson = 0.3\ndensity = 800\nviscosity = 3\n";

/// Momentum, and angular momentum about the origin, of the ball and of particles with these masses.
fn momenta(step: &Step, state: &[f64], masses: &[(String, f64)]) -> [[f64; 3]; 2] {
    let [x, v] = ["ball.position", "ball.velocity"].map(|name| vector(step, state, name));
    let q = numbers(step, state, "ball.orientation");
    let spin = turned(&q, vector(step, state, "ball.angular_velocity"));
    let p = v.map(|v| MASS * v);
    let moment = 0.4 * MASS * RADIUS * RADIUS;
    let (mut linear, mut angular) = (p, plus(cross(x, p), spin, moment));
    for (name, mass) in masses {
        let [x, v] = ["position", "velocity"].map(|of| vector(step, state, &format!("{name}.{of}")));
        let p = v.map(|v| mass * v);
        (linear, angular) = (plus(linear, p, 1.0), plus(angular, cross(x, p), 1.0));
    }
    [linear, angular]
}

/// The points of the sheet and their masses: a third of each triangle's at its corners.
fn masses_of_sheet(scene: &Scene) -> Vec<(String, f64)> {
    let masses = scene.sheets[0].point_masses();
    masses.iter().enumerate().map(|(i, mass)| (format!("flag[{i}]"), *mass)).collect()
}

/// Springs with dampers between a ball in flight and a sheet: semi-implicit Euler keeps both momenta to rounding.
#[test]
fn springs_keep_momentum_and_angular_momentum() {
    let band = "[[attachments]]\nname = \"band\"\npoints = [\"flag[0]\", \"flag[3]\"]\nbody = \"ball\"\nstiffness = 300\ndamping = 0.7\n";
    let text = format!("{}{BALL}{SHEET}{band}", head(0.001, "semi-implicit-euler", 0.0));
    let (step, masses) = (step(&text), masses_of_sheet(&scene(&text)));
    let states = run(&step, 600);
    let [first, last] = [&states[0], &states[600]].map(|state| momenta(&step, state, &masses));
    let moved = (0..3).map(|i| (states[600][i] - states[0][i]).abs()).fold(0.0, f64::max);
    assert!(moved > 0.1, "{moved}");
    for i in 0..3 {
        near("momentum", last[0][i], first[0][i], 1e-14);
        near("angular momentum", last[1][i], first[1][i], 1e-14);
    }
}

/// Six particles that are held fast around the middle of a ball make it a heavier one with equal moments: both momenta are kept to
/// rounding, whatever hangs from them.
#[test]
fn what_is_held_fast_keeps_momentum() {
    let places = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
    let places = places.map(|[x, y, z]| [0.1 + 0.2 * x as f64, 0.2 + 0.2 * y as f64, 0.3 + 0.2 * z as f64]);
    let more = format!(
        "[[particles]]\nname = \"spikes\"\npositions = {places:?}\nmass = 0.1\n\
         [[particles]]\nname = \"bead\"\nposition = [0.7, 0.5, 0.3]\nvelocity = [0, 1, 0.5]\nmass = 0.3\n\
         [[springs]]\nname = \"string\"\nends = [[\"spikes[0]\", \"bead\"], [\"spikes[4]\", \"bead\"]]\nstiffness = 80\ndamping = 0.5\n\
         [[attachments]]\nname = \"glue\"\npoints = \"spikes\"\nbody = \"ball\"\n"
    );
    let text = format!("{}{BALL}{more}", head(0.001, "semi-implicit-euler", 0.0));
    let step = step(&text);
    let mut masses: Vec<(String, f64)> = (0..6).map(|i| (format!("spikes[{i}]"), 0.1)).collect();
    masses.push(("bead".into(), 0.3));
    let states = run(&step, 600);
    let [first, last] = [&states[0], &states[600]].map(|state| momenta(&step, state, &masses));
    for i in 0..3 {
        near("momentum", last[0][i], first[0][i], 1e-13);
        near("angular momentum", last[1][i], first[1][i], 1e-13);
    }
    // They are where they are held: as far from the middle as at the start, and from each other.
    let place = |name: &str| vector(&step, &states[600], &format!("{name}.position"));
    let away = |a: [f64; 3], b: [f64; 3]| dot(plus(a, b, -1.0), plus(a, b, -1.0)).sqrt();
    near("distance from the middle", away(place("spikes[2]"), place("ball")), 0.2, 1e-14);
    near("distance from each other", away(place("spikes[2]"), place("spikes[5]")), 0.2 * 2f64.sqrt(), 1e-14);
}

/// A rod on a hinge whose end holds particles fast is a rod with their inertia, to rounding: also the forces on them are its own.
#[test]
fn what_is_held_fast_makes_a_body_heavier() {
    let rod = |mass: f64, center: [f64; 3], inertia: [f64; 6]| {
        format!(
            "[[robots]]\nname = \"arm\"\nposition = [0, 0, 2]\npositions = {{ hinge = 0.4, ball = [0.9, 0.2, -0.3, 0.1] }}\n\
             velocities = {{ hinge = 1.5, ball = [0.5, -1, 2] }}\n\
             [[robots.bodies]]\nname = \"upper\"\nmass = 0.5\ninertia = [0.02, 0.02, 0.01]\ncenter = [0, 0, -0.2]\n\
             [[robots.bodies]]\nname = \"lower\"\nparent = \"upper\"\nposition = [0.1, 0, -0.5]\n\
             mass = {mass}\ncenter = {center:?}\ninertia = {inertia:?}\n\
             [[robots.joints]]\nname = \"hinge\"\nbody = \"upper\"\nkind = \"hinge\"\naxis = [0, 1, 0.3]\ndamping = 0.01\n\
             [[robots.joints]]\nname = \"ball\"\nbody = \"lower\"\nkind = \"ball\"\n"
        )
    };
    let (mass, center, inertia) = (0.8, [0.02, 0.01, -0.15], [0.03, 0.025, 0.01, 0.001, -0.002, 0.003]);
    // In the frame of the lower body.
    let points: [([f64; 3], f64); 2] = [([0.1, 0.05, -0.3], 0.2), ([-0.05, 0.1, -0.2], 0.35)];
    let whole = mass + points[0].1 + points[1].1;
    let moment = points.iter().fold(center.map(|c| mass * c), |sum, (x, m)| plus(sum, *x, *m));
    let middle = moment.map(|x| x / whole);
    // The moments of all parts about the common centre.
    let mut sum = inertia;
    for (x, m) in points.into_iter().chain([(center, mass)]) {
        let r = plus(x, middle, -1.0);
        let [xx, yy, zz] = r.map(|r| r * r);
        let more = [yy + zz, xx + zz, xx + yy, -r[0] * r[1], -r[0] * r[2], -r[1] * r[2]];
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += m * more);
    }
    for integrator in [
        "semi-implicit-euler",
        "explicit-euler",
        "rk4",
        "velocity-verlet",
        "implicit-midpoint",
        "backward-euler",
    ] {
        let heavy = step(&(head(0.002, integrator, -9.81) + &rod(whole, middle, sum)));
        // Where the particles start: read off where the heavy one has its parts.
        let mut watch = pullback_engine::articulated::Watch::new(heavy.model()).expect("a watch");
        let (state, params) = (heavy.model().state(), heavy.model().params());
        watch.run(state.values(), params.values()).expect("it is there");
        let (pose, _) = watch.part(pullback_scene::Part::Body { robot: 0, body: 1 }).expect("it is there");
        let places = points.map(|([x, y, z], _)| {
            let r = pose.rotation;
            let at = r.x * x + r.y * y + r.z * z + pose.position;
            [at.x, at.y, at.z]
        });
        let held = format!(
            "[[particles]]\nname = \"weights\"\npositions = {places:?}\nmasses = [{}, {}]\n\
             [[attachments]]\nname = \"glue\"\npoints = \"weights\"\nbody = \"arm.lower\"\n",
            points[0].1, points[1].1
        );
        let light = step(&(head(0.002, integrator, -9.81) + &rod(mass, center, inertia) + &held));
        let [a, b] = [(&heavy, 300), (&light, 300)].map(|(step, steps)| run(step, steps));
        for name in
            ["arm.hinge.position", "arm.ball.orientation", "arm.hinge.velocity", "arm.ball.angular_velocity"]
        {
            let [a, b] = [numbers(&heavy, &a[300], name), numbers(&light, &b[300], name)];
            a.iter().zip(&b).for_each(|(a, b)| near(&format!("{name} with {integrator}"), *b, *a, 2e-11));
        }
        assert!((a[300][0] - a[0][0]).abs() > 0.1, "nothing moves with {integrator}");
    }
}

/// A body that slides on the ground and holds a particle fast is one with its mass, center and moments, also where contact is hard: what
/// contact pushes is what is held too. But for the compliance of hard contact, which is relative to the inverse masses of bodies alone: the
/// less there is of it, the less is left.
#[test]
fn what_is_held_fast_slides_with_its_body() {
    let (mass, inertia) = (1.3, [0.012, 0.013, 0.011, 0.001, -0.0005, 0.0007]);
    // On both sides of the middle, which is that of the shape.
    let (anchor, held) = ([0.05, 0.03, 0.08], 0.2);
    let whole = mass + 2.0 * held;
    let [xx, yy, zz] = anchor.map(|r| r * r);
    let [x, y, z] = anchor;
    let more = [yy + zz, xx + zz, xx + yy, -x * y, -x * z, -y * z];
    let sum: [f64; 6] = std::array::from_fn(|i| inertia[i] + 2.0 * held * more[i]);
    let at = [0.1, 0.2, 0.1495];
    let body = |shape: &str, mass: f64, inertia: [f64; 6]| {
        format!(
            "[[bodies]]\nname = \"it\"\nposition = {at:?}\nvelocity = [1.5, 0.4, -0.2]\nangular_velocity = [0.2, -0.3, 0.5]\n\
             mass = {mass}\ninertia = {inertia:?}\nshape = {{ {shape} }}\n"
        )
    };
    let places = [1.0, -1.0].map(|side| plus(at, anchor, side));
    let holds = format!(
        "[[particles]]\nname = \"weights\"\npositions = {places:?}\nmass = {held}\n\
         [[attachments]]\nname = \"glue\"\npoints = \"weights\"\nbody = \"it\"\n"
    );
    let hard =
        "[ground]\nmu = 0.4\nke = 5000\nkd = 20\nkf = 50\n[contact]\nmu = 0.4\nregularisation = 1e-8\n";
    let penalty = "[ground]\nmu = 0.4\nke = 5000\nkd = 20\nkf = 50\n[contact]\nmodel = \"penalty\"\n";
    for (shape, contact, integrator, error) in [
        ("sphere = 0.15", hard, "semi-implicit-euler", 1e-10),
        ("box = [0.2, 0.1, 0.15]", hard, "semi-implicit-euler", 1e-8),
        ("sphere = 0.15", penalty, "semi-implicit-euler", 1e-10),
        ("sphere = 0.15", penalty, "implicit-midpoint", 1e-10),
    ] {
        let head = head(0.002, integrator, -9.81) + contact;
        let heavy = step(&(head.clone() + &body(shape, whole, sum)));
        let light = step(&(head.clone() + &body(shape, mass, inertia) + &holds));
        let without = step(&(head + &body(shape, mass, inertia)));
        let [a, b, c] = [&heavy, &light, &without].map(|step| run(step, 200)[200].clone());
        let kind = if contact == hard { "hard" } else { "penalty" };
        let what = format!("{shape}, {kind}, {integrator}");
        let mut off: f64 = 0.0;
        for name in ["it.position", "it.orientation", "it.velocity", "it.angular_velocity"] {
            let [a, b] = [numbers(&heavy, &a, name), numbers(&light, &b, name)];
            a.iter().zip(&b).for_each(|(a, b)| off = off.max((a - b).abs()));
        }
        println!("{what}: {off:.1e}");
        assert!(off < error, "{what}: {off:e}");
        // It lies on the ground and was slowed, and the particle counts.
        let speed = vector(&heavy, &a, "it.velocity")[0];
        assert!(
            speed < 1.45 && (vector(&heavy, &a, "it.position")[2] - at[2]).abs() < 0.05,
            "{what}: {speed}"
        );
        let light = vector(&without, &c, "it.position");
        let apart = plus(vector(&heavy, &a, "it.position"), light, -1.0);
        assert!(dot(apart, apart).sqrt() > 2e-5, "{what}: {apart:?}");
    }
}

/// A mass that hangs from a post by a spring is m g/k below its anchor, and d(place)/dk = m g/k²; d(place)/d(anchor) = 1.
#[test]
fn a_mass_hangs_from_its_anchor() {
    let (m, k, g) = (0.7, 350.0, 9.81);
    let post = "[[robots]]\nname = \"post\"\nposition = [0.3, 0, 1]\n[[robots.bodies]]\nname = \"top\"\nposition = [0, 0, 0.5]\n";
    let frame = "[[robots.frames]]\nname = \"hook\"\nbody = \"top\"\nposition = [0.2, 0, 0]\norientation = [1, 0, 0, 1]\n";
    let bob = format!("[[particles]]\nname = \"bob\"\nposition = [0.5, 0.1, 1.5]\nmass = {m}\n");
    for body in ["post.top", "post.hook"] {
        let band = format!(
            "[[attachments]]\nname = \"band\"\npoints = \"bob\"\nbody = \"{body}\"\nstiffness = {k}\ndamping = 2\n"
        );
        // Steps of hours end at rest.
        let step = step(&(head(1e4, "backward-euler", -g) + post + frame + &bob + &band));
        let model = step.model();
        let (state, params) = (model.state(), model.params());
        let mut rollout = Rollout::<f64>::new(&step, Options::new(3)).expect("a rollout");
        let loss = Last::of(&step, &["bob.position.z"]);
        let gradient = rollout.gradient(&Start::new(&state, &[], &params), &loss).expect("a gradient");
        near("place", gradient.values[0], 1.5 - m * g / k, 1e-12);
        let by = gradient.params(0).expect("params");
        let number = |name: &str| by.number(name).expect("it is a param");
        near("by stiffness", number("band.stiffness") / (m * g / k / k), 1.0, 1e-9);
        near("by the height of the anchor", number("band[0].anchor.z"), 1.0, 1e-9);
        near("by the mass", number("bob.mass") / (-g / k), 1.0, 1e-9);
    }
}

/// Without dampers the energy of all swings by dt², and does not drift.
#[test]
fn springs_keep_energy_to_the_order_of_the_integrator() {
    let text = |dt: f64, damping: f64| {
        let beads =
            "[[particles]]\nname = \"beads\"\npositions = [[0.5, 0.2, 0.3], [0.1, 0.6, 0.2]]\nmass = 0.4\n";
        let band = format!(
            "[[attachments]]\nname = \"band\"\npoints = \"beads\"\nbody = \"ball\"\nstiffness = 60\ndamping = {damping}\n"
        );
        format!("{}{BALL}{beads}{band}", head(dt, "velocity-verlet", -9.81))
    };
    let worst = |steps: usize| {
        let step = step(&text(1.0 / steps as f64, 0.0));
        let mut energy = Energy::new(step.model()).expect("an energy");
        assert!(energy.is_conserved());
        let params = step.model().params();
        let mut of = |state: &[f64]| {
            let (kinetic, potential) = energy.of(state, params.values()).expect("an energy");
            kinetic + potential
        };
        let states = run(&step, steps);
        let first = of(&states[0]);
        states.iter().map(|state| (of(state) - first).abs()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (worst(500), worst(1000));
    assert!(coarse < 1e-2 && coarse > 1e-9, "{coarse}");
    near("order", (coarse / fine).log2(), 2.0, 0.1);
    assert!(!Energy::new(step(&text(0.01, 0.5)).model()).expect("an energy").is_conserved());
}

/// Two masses that turn with a ball about its middle, stretched by k s = m ω² (r + s), are at rest seen from it: dampers of any strength
/// take nothing.
#[test]
fn dampers_do_not_slow_what_turns_with_the_body() {
    let (k, m, r, omega) = (90.0, 0.2, 0.3, 6.0);
    // The anchors are where the springs pull nothing: k (d - r) = m ω² d.
    let d = k * r / (k - m * omega * omega);
    let text = format!(
        "{}[[bodies]]\nname = \"ball\"\nposition = [0, 0, 0]\nangular_velocity = [0, 0, {omega}]\nmass = 1\nshape = {{ sphere = 0.1 }}\n\
         [[particles]]\nname = \"beads\"\npositions = [[{r}, 0, 0], [-{r}, 0, 0]]\nmass = {m}\n\
         [[attachments]]\nname = \"band\"\npoints = \"beads\"\nbody = \"ball\"\nstiffness = {k}\ndamping = 20\n",
        head(0.0005, "rk4", 0.0)
    );
    let step = step(&text);
    let model = step.model();
    let (mut state, params) = (model.state(), model.params());
    for (i, x) in [d, -d].into_iter().enumerate() {
        state.set(&format!("beads[{i}].position"), &[x, 0.0, 0.0]).expect("a position");
        state.set(&format!("beads[{i}].velocity"), &[0.0, omega * x, 0.0]).expect("a velocity");
    }
    let mut rollout = Rollout::<f64>::new(&step, Options::new(2000)).expect("a rollout");
    let mut states = Vec::new();
    rollout
        .watch(&Start::new(&state, &[], &params), |moment| states.push(moment.state.to_vec()))
        .expect("a run");
    let spin = vector(&step, &states[2000], "ball.angular_velocity");
    near("spin", spin[2], omega, 1e-8);
    let bead = vector(&step, &states[2000], "beads[0].position");
    near("distance", dot(bead, bead).sqrt(), d, 1e-9);
}

/// A ball that holds a point below it fast rests on it: on ground that pushes the point, and on a shape that does, M g = ke depth.
#[test]
fn bodies_feel_what_touches_points_that_they_hold() {
    let (mass, foot, ke, g) = (2.0, 0.1, 2000.0, 9.81);
    let depth = (mass + foot) * g / ke;
    let things = format!(
        "[[bodies]]\nname = \"ball\"\nposition = [0, 0, 0.5]\nmass = {mass}\ninertia = [0.1, 0.1, 0.1]\n\
         [[particles]]\nname = \"foot\"\nposition = [0, 0, {}]\nmass = {foot}\n\
         [[attachments]]\nname = \"leg\"\npoints = \"foot\"\nbody = \"ball\"\n",
        -depth
    );
    let ground = format!("[ground]\nke = {ke}\nkd = 0\nkf = 0\nmu = 0\n");
    let shape = "[[shapes]]\nname = \"table\"\nposition = [0, 0, -0.5]\nshape = { box = [1, 1, 0.5] }\n";
    let springs = format!("ke = {ke}\nkd = 0\nkf = 0\nmu = 0\n");
    let penalty = format!("[contact]\nmodel = \"penalty\"\n{springs}{shape}");
    let hard =
        format!("[contact]\n[[materials]]\nname = \"rubber\"\n{springs}{}material = \"rubber\"\n", shape);
    let hard = hard.replace("mu = 0\n", "")
        + "[[bodies]]\nname = \"other\"\nposition = [0.5, 0, 0.0999]\nmass = 1\nshape = { sphere = 0.1 }\n";
    for (what, contact) in [("ground", ground), ("a shape", penalty), ("a shape, hard bodies", hard)] {
        let rubber = if what.ends_with("bodies") {
            "material = \"rubber\"\n[[attachments]]"
        } else {
            "[[attachments]]"
        };
        let things = things.replace("[[attachments]]", rubber);
        let step = step(&(head(0.001, "semi-implicit-euler", -g) + &things + &contact));
        let states = run(&step, 200);
        let ball = vector(&step, &states[200], "ball.position");
        near(&format!("height on {what}"), ball[2], 0.5, 1e-12);
        let foot = vector(&step, &states[200], "foot.position");
        near(&format!("depth in {what}"), foot[2], -depth, 1e-12);
    }
}

/// A point inside of the shape of its own body is not pushed out of it, and one of another is.
#[test]
fn attached_particles_do_not_touch_their_own_body() {
    let text = |body: &str| {
        format!(
            "{}[contact]\nmodel = \"penalty\"\n[[bodies]]\nname = \"ball\"\nposition = [0, 0, 0]\nmass = 1\nshape = {{ sphere = 0.2 }}\n\
             [[bodies]]\nname = \"other\"\nposition = [1, 0, 0]\nmass = 1\nshape = {{ sphere = 0.2 }}\n\
             [[particles]]\nname = \"beads\"\npositions = [[0.1, 0, 0], [0, 0.15, 0]]\nmass = 0.1\n\
             [[attachments]]\nname = \"band\"\npoints = \"beads[0]\"\nbody = \"{body}\"\nstiffness = 10\n\
             [[attachments]]\nname = \"glue\"\npoints = \"beads[1]\"\nbody = \"{body}\"\n",
            head(0.001, "semi-implicit-euler", 0.0)
        )
    };
    let step_of = |body: &str| step(&text(body));
    let (own, other) = (step_of("ball"), step_of("other"));
    let still = run(&own, 20);
    assert_eq!(still[0], still[20]);
    let pushed = run(&other, 20);
    assert!(pushed[20][0] > 0.11, "{}", pushed[20][0]);
    // The other body holds a point that the first pushes.
    assert!(vector(&other, &pushed[20], "other.velocity")[1] > 1e-3);
}
