//! Particles that touch shapes: closed forms, what is conserved, and where directions are missing.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Options, Rollout, Start, Step};
use pullback_scene::Scene;

fn step(text: &str) -> Step {
    let scene = Scene::parse(text, "particles.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    Step::of(&scene).unwrap_or_else(|error| panic!("{error}\n{text}"))
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

/// A number of a state, by its name.
fn number(step: &Step, state: &[f64], name: &str) -> f64 {
    state[step.model().state_layout().find(name).expect("a number of the state").start]
}

fn vector(step: &Step, state: &[f64], name: &str) -> [f64; 3] {
    let range = step.model().state_layout().find(name).expect("a vector of the state");
    std::array::from_fn(|k| state[range.start + k])
}

/// A weight for each number of the last state.
struct Last(Vec<f64>);

impl Loss for Last {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { self.0.iter().zip(moment.state).map(|(w, x)| w * x).sum() } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state.iter_mut().zip(&self.0).for_each(|(bar, w)| *bar += w);
        }
    }
}

fn near(what: &str, found: f64, wanted: f64, error: f64) {
    assert!((found - wanted).abs() <= error, "{what}: {found}, and not {wanted} within {error:.1e}");
}

fn head(dt: f64, integrator: &str, gravity: f64, contact: &str) -> String {
    format!(
        "[simulation]\nsteps = 1\ndt = {dt}\nintegrator = \"{integrator}\"\n[world]\ngravity = [0, 0, {gravity}]\n\
         [contact]\n{contact}"
    )
}

/// A spring: depth d(t) = v/ω sin ωt with ω = √(ke/m). The contact takes π/ω, and the particle leaves as fast as it came. At that
/// time ∂d/∂ke = -v π / (2 ω ke).
#[test]
fn a_particle_bounces_off_a_ball() {
    let (m, ke, v, radius): (f64, f64, f64, f64) = (0.3, 5000.0, 1.2, 0.2);
    let omega = (ke / m).sqrt();
    let n = [0.36, 0.48, 0.8];
    // A point, and a ball: the surfaces touch at the start.
    for (own, more) in [(0.0, ""), (0.05, "radius = 0.05\n")] {
        let steps = 200;
        let dt = std::f64::consts::PI / omega / steps as f64;
        let at = n.map(|n| n * (radius + own));
        let text = format!(
            "{}[[shapes]]\nname = \"post\"\nshape = {{ sphere = {radius} }}\n\
             [[particles]]\nname = \"ball\"\nposition = {at:?}\nvelocity = {:?}\nmass = {m}\n{more}",
            head(dt, "rk4", 0.0, &format!("model = \"penalty\"\nke = {ke}\nkd = 0\nkf = 0\n")),
            n.map(|n| -v * n),
        );
        let step = step(&text);
        let states = run(&step, steps);
        let (middle, last) = (&states[steps / 2], &states[steps]);
        for k in 0..3 {
            near("deepest", middle[k], at[k] - n[k] * v / omega, 1e-9);
            near("at rest there", middle[3 + k], 0.0, 1e-7);
            near("place", last[k], at[k], 1e-9);
            near("velocity", last[3 + k], n[k] * v, 1e-7);
        }
        let energy = |state: &[f64]| 0.5 * m * state[3..].iter().map(|v| v * v).sum::<f64>();
        near("energy", energy(last) / energy(&states[0]), 1.0, 1e-7);
        let model = step.model();
        let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
        let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
        let loss = Last([n, [0.0; 3]].concat());
        let gradient = rollout.gradient(&Start::new(&state, &controls, &params), &loss).expect("a gradient");
        let by = gradient.params(0).expect("params");
        let wanted = v * std::f64::consts::PI / (2.0 * omega * ke);
        // The slope of the force jumps at the surface, where the first and the last step are: (ω dt)² of the place.
        let kink = 4.0 * (omega * dt).powi(2);
        near("by stiffness", by.number("contact.ke").expect("it is a param") / wanted, 1.0, kink);
        // The time of a contact does not depend on the radius: the place at its end moves by as much as the surface.
        let shift = by.number("post.radius").expect("it is a param");
        near("by the radius of the post", shift, 2.0, kink);
        if own > 0.0 {
            near("by its own", by.number("ball.radius").expect("it is a param"), 2.0, kink);
        }
    }
}

/// Bodies that are hard to each other are soft to particles, by the numbers of materials.
#[test]
fn hard_bodies_are_soft_to_particles() {
    let (m, ke, v): (f64, f64, f64) = (0.3, 5000.0, 1.2);
    let omega = (ke / m).sqrt();
    let steps = 2000;
    let dt = std::f64::consts::PI / omega / steps as f64;
    let text = format!(
        "{}[[materials]]\nname = \"steel\"\nke = {ke}\nkd = 0\nkf = 0\n\
         [[shapes]]\nname = \"post\"\nshape = {{ sphere = 0.2 }}\nmaterial = \"steel\"\n\
         [[particles]]\nname = \"ball\"\nposition = [0, 0, 0.2]\nvelocity = [0, 0, {}]\nmass = {m}\nmaterial = \"steel\"\n\
         [[bodies]]\nname = \"one\"\nposition = [2, 0, 0]\nshape = {{ sphere = 0.1 }}\nmass = 1\nvelocity = [0.1, 0, 0]\n\
         [[bodies]]\nname = \"two\"\nposition = [2.2001, 0, 0]\nshape = {{ sphere = 0.1 }}\nmass = 1\n",
        head(dt, "semi-implicit-euler", 0.0, ""),
        -v,
    );
    let step = step(&text);
    let last = run(&step, steps).pop().expect("a state");
    near("place", number(&step, &last, "ball.position.z"), 0.2, 4.0 * v * dt);
    near("velocity", number(&step, &last, "ball.velocity.z"), v, 4.0 * v * omega * dt);
    // They do not bounce: both go on together.
    near("one", number(&step, &last, "one.velocity.x"), 0.05, 1e-4);
    near("two", number(&step, &last, "two.velocity.x"), 0.05, 1e-4);
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// v turned by a unit quaternion (w, x, y, z).
fn turned(q: &[f64], v: [f64; 3]) -> [f64; 3] {
    let axis = [q[1], q[2], q[3]];
    let t = cross(axis, v).map(|t| 2.0 * t);
    let u = cross(axis, t);
    std::array::from_fn(|k| v[k] + q[0] * t[k] + u[k])
}

/// What one gets the other loses, with friction and dampers: momentum, and angular momentum about the origin, which semi-implicit
/// steps keep to rounding where all three moments of inertia are the same.
#[test]
fn momentum_is_conserved() {
    let (mass, inertia) = (2.0, 0.05);
    let grains = [
        ("a", 0.3, [0.15, 0.02, 0.03], [-1.2, 0.4, 0.3], "radius = 0.04\n"),
        ("b", 0.2, [-0.02, 0.03, 0.14], [0.9, -0.3, -1.1], ""),
        ("c", 0.4, [0.05, -0.25, -0.04], [0.1, 1.3, 0.2], "radius = 0.02\n"),
    ];
    for model in ["model = \"penalty\"\nke = 2000\nkd = 3\nkf = 4\nmu = 0.5\n", "mu = 0.5\n"] {
        let mut text = head(1e-3, "semi-implicit-euler", 0.0, model)
            + &format!(
                "[[materials]]\nname = \"wood\"\nke = 2000\nkd = 3\nkf = 4\n\
                 [[bodies]]\nname = \"box\"\nmass = {mass}\ninertia = [{inertia}, {inertia}, {inertia}]\n\
                 shape = {{ box = [0.1, 0.15, 0.12] }}\nposition = [0.01, 0.02, -0.01]\nvelocity = [0.2, -0.1, 0.3]\n\
                 angular_velocity = [1.1, -0.7, 0.9]\nmaterial = \"wood\"\n"
            );
        for (name, mass, at, v, more) in grains {
            text += &format!(
                "[[particles]]\nname = \"{name}\"\nposition = {at:?}\nvelocity = {v:?}\nmass = {mass}\n{more}material = \"wood\"\n"
            );
        }
        let step = step(&text);
        let states = run(&step, 400);
        let sums = |state: &Vec<f64>| {
            let of = |name: &str| vector(&step, state, name);
            let turn = step.model().state_layout().find("box.orientation").expect("a quaternion");
            let spin = turned(&state[turn], of("box.angular_velocity")).map(|w| inertia * w);
            let mut sums = [[0.0; 3], spin];
            let mut add = |mass: f64, name: &str| {
                let p = of(&format!("{name}.velocity")).map(|v| mass * v);
                let about = cross(of(&format!("{name}.position")), p);
                for k in 0..3 {
                    sums[0][k] += p[k];
                    sums[1][k] += about[k];
                }
            };
            add(mass, "box");
            grains.iter().for_each(|(name, mass, ..)| add(*mass, name));
            sums
        };
        let first = sums(&states[0]);
        let spin = |state: &Vec<f64>| vector(&step, state, "box.angular_velocity");
        let touched = spin(&states[0]).iter().zip(spin(&states[400])).any(|(a, b)| (a - b).abs() > 0.1);
        assert!(touched, "nothing touched");
        for (t, state) in states.iter().enumerate() {
            for (found, wanted) in sums(state).iter().flatten().zip(first.iter().flatten()) {
                near(&format!("after {t} steps"), *found, *wanted, 1e-12);
            }
        }
    }
}

/// A force on a particle moves both: F = (m + M) a, and M a = ke depth between them.
#[test]
fn a_particle_pushes_a_box() {
    let (m, mass, force, ke) = (0.5, 2.0, 3.0, 1000.0);
    let text = format!(
        "{}[[bodies]]\nname = \"box\"\nmass = {mass}\nshape = {{ box = [0.1, 0.1, 0.1] }}\nposition = [0.1, 0, 0]\n\
         [[particles]]\nname = \"finger\"\nposition = [0, 0, 0]\nmass = {m}\n\
         [[forces]]\nname = \"push\"\non = \"finger\"\nforce = [{force}, 0, 0]\n",
        head(1e-3, "semi-implicit-euler", 0.0, &format!("model = \"penalty\"\nke = {ke}\nkd = 20\nkf = 0\n")),
    );
    let step = step(&text);
    let states = run(&step, 2000);
    let a = force / (m + mass);
    let speed = |t: usize, name: &str| number(&step, &states[t], &format!("{name}.velocity.x"));
    for name in ["box", "finger"] {
        near(name, (speed(2000, name) - speed(1500, name)) / 0.5, a, 1e-9);
    }
    let at = |name: &str| number(&step, &states[2000], &format!("{name}.position.x"));
    near("depth", at("finger") - (at("box") - 0.1), mass * a / ke, 1e-9);
}

/// Where a particle rests on ground of triangles and on planes: it is m g / ke deep, however small it is.
#[test]
fn a_particle_rests() {
    let (m, ke, kd) = (0.2, 400.0, 8.0);
    let heights = "heights = { values = [[0, 0, 0], [0, 0, 0], [0, 0, 0]], step = [1, 1] }";
    let below = m * 9.81 / ke;
    for (shape, at) in [("plane = true", [0.3, 0.2]), (heights, [0.7, 1.2]), (heights, [1.0, 1.0])] {
        for (radius, more) in [(0.0, ""), (0.001, "radius = 0.001\n"), (0.02, "radius = 0.02\n")] {
            let text = format!(
                "{}[[materials]]\nname = \"sand\"\nke = 100\n[[materials]]\nname = \"stone\"\nke = 1600\n\
                 [[shapes]]\nname = \"floor\"\nshape = {{ {shape} }}\nmaterial = \"stone\"\n\
                 [[particles]]\nname = \"grain\"\nposition = [{}, {}, 0.1]\nmass = {m}\nmaterial = \"sand\"\n{more}",
                head(1e-3, "semi-implicit-euler", -9.81, &format!("model = \"penalty\"\nkd = {kd}\n")),
                at[0],
                at[1],
            );
            let step = step(&text);
            let last = run(&step, 3000).pop().expect("a state");
            near(shape, last[2], radius - below, 1e-9);
            near("it does not slide", last[0], at[0], 1e-9);
        }
    }
}

/// The ground is to particles what it was, with a section `[contact]` and without.
#[test]
fn the_ground_is_as_ever() {
    let grain =
        "[[particles]]\nname = \"grain\"\nposition = [0, 0, 0.05]\nvelocity = [1, 0.3, -0.4]\nmass = 0.2\n";
    let ground = "[ground]\nke = 900\nkd = 3\nkf = 2\nmu = 0.4\n";
    let with = |contact: &str| {
        let text = format!("[simulation]\nsteps = 1\ndt = 0.001\n{ground}{contact}{grain}");
        run(&step(&text), 300)
    };
    let bits = |states: Vec<Vec<f64>>| states.concat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let alone = bits(with(""));
    let far = "[[shapes]]\nname = \"post\"\nshape = { sphere = 0.1 }\nposition = [0, 9, 0]\n";
    for contact in ["[contact]\nmodel = \"penalty\"\nke = 7\n", "[contact]\n"] {
        assert_eq!(alone, bits(with(contact)));
        assert_eq!(alone, bits(with(&format!("{contact}{far}"))));
    }
}

/// Without `[contact]` there is nothing but the ground.
#[test]
fn without_a_section_shapes_are_not_there() {
    let text = "[simulation]\nsteps = 1\ndt = 0.01\n[[shapes]]\nname = \"post\"\nshape = { sphere = 1 }\n\
                [[particles]]\nname = \"grain\"\nposition = [0, 0, 0.5]\nmass = 1\n";
    let last = run(&step(text), 1).pop().expect("a state");
    near("it falls", last[5], -0.0981, 1e-15);
}

/// Where a direction is missing, one is chosen: nothing is NaN, and a particle gets out.
#[test]
fn particles_in_the_middle_of_shapes() {
    let shapes = [
        "sphere = 0.2",
        "capsule = { radius = 0.1, half_length = 0.2 }",
        "box = [0.1, 0.2, 0.3]",
        "cylinder = { radius = 0.1, half_length = 0.2 }",
        "ellipsoid = [0.1, 0.2, 0.3]",
        "plane = true",
    ];
    for shape in shapes {
        for (at, radius) in [(0.0, ""), (0.0, "radius = 0.05\n"), (1e-13, "")] {
            for moves in [false, true] {
                // In the middle; a plane has it at its surface, where nothing is felt yet.
                let moves = moves && shape != "plane = true";
                let body = match moves {
                    true => "[[bodies]]\nname = \"it\"\nposition = [0, 0, 0]\nmass = 2\n",
                    false => "[[shapes]]\nname = \"it\"\n",
                };
                let text = format!(
                    "{}{body}shape = {{ {shape} }}\n[[particles]]\nname = \"grain\"\nposition = [0, 0, {at}]\nmass = 1\n{radius}",
                    head(1e-3, "semi-implicit-euler", 0.0, "model = \"penalty\"\n"),
                );
                let step = step(&text);
                let model = step.model();
                let (state, params, controls) = (model.state(), model.params(), model.controls(30));
                let mut rollout = Rollout::<f64>::new(&step, Options::new(30)).expect("a rollout");
                let loss = Last(vec![1.0; state.values().len()]);
                let g = rollout.gradient(&Start::new(&state, &controls, &params), &loss).expect("a gradient");
                assert!(g.value().is_finite());
                assert!(g.states.iter().chain(&g.params).all(|x| x.is_finite()), "{shape}: {g:?}");
                let last = run(&step, 30).pop().expect("a state");
                let speed =
                    vector(&step, &last, "grain.velocity").map(f64::abs).into_iter().fold(0.0, f64::max);
                assert!(speed > 0.1 || (shape == "plane = true" && radius.is_empty()), "{shape}: {speed}");
            }
        }
    }
}

/// At rest on a face nothing slides, and friction has no direction: the derivative is that of sticking.
#[test]
fn at_rest_on_a_face() {
    let kf = 40.0;
    let text = format!(
        "{}[[shapes]]\nname = \"table\"\nshape = {{ box = [1, 1, 0.1] }}\n\
         [[particles]]\nname = \"grain\"\nposition = [0.2, 0.3, 0.09]\nmass = 0.5\n",
        head(
            1e-3,
            "semi-implicit-euler",
            0.0,
            &format!("model = \"penalty\"\nke = 100\nkd = 5\nkf = {kf}\n")
        ),
    );
    let step = step(&text);
    let model = step.model();
    let (state, params, controls) = (model.state(), model.params(), model.controls(1));
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
    let loss = Last(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let g = rollout.gradient(&Start::new(&state, &controls, &params), &loss).expect("a gradient");
    near("by the speed along the face", g.states[3], 1.0 - 1e-3 * kf / 0.5, 1e-14);
    assert!(g.states.iter().chain(&g.params).all(|x| x.is_finite()));
}

/// Schemes that cannot do it say so.
#[test]
fn schemes_that_are_refused() {
    let refused = |integrator: &str, count: usize, what: &str| {
        let text = format!(
            "{}[[{what}]]\nname = \"post\"\n{}shape = {{ sphere = 0.1 }}\n[[particles]]\nname = \"dust\"\nmass = 1\n\
             line = {{ from = [0, 0, 1], to = [9, 0, 1], count = {count} }}\n",
            head(1e-3, integrator, 0.0, "model = \"penalty\"\n"),
            if what == "bodies" { "mass = 1\nposition = [0, 0, 0]\n" } else { "" },
        );
        let scene = Scene::parse(&text, "particles.toml").expect("a scene");
        Step::of(&scene).err().map(|error| error.to_string())
    };
    let error = refused("reversible-verlet", 2, "shapes").expect("contact depends on velocities");
    assert!(error.contains("and contact does"), "{error}");
    for what in ["bodies", "shapes"] {
        assert_eq!(refused("backward-euler", 201, what), None, "implicit steps take as many as there are");
    }
}
