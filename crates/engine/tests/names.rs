//! Names of states, controls and params, and the spaces that they lie in.

use std::sync::Arc;

use pullback_engine::names::{Block, Group, Layout, NameError, Quantity, Space};
use pullback_engine::{Model, Params, State};
use pullback_scene::{Actuator, Particles, Scene, Springs};

fn model() -> Model {
    let ball = Particles::single("ball", [1.0, 2.0, 3.0], 0.5).drag(0.1);
    let mut chain = Particles::line("chain", [0.0; 3], [3.0, 0.0, 0.0], 4, 0.2);
    chain.masses = vec![0.1, 0.2, 0.3, 0.4];
    let springs = Springs::chain("link", 1..5, 50.0, 0.8);
    let actuators = vec![Actuator { control: vec![[1.0, 2.0, 3.0]], ..Actuator::new("thruster", 0) }];
    let scene = Scene { particles: vec![ball, chain], springs: vec![springs], actuators, ..Scene::default() };
    Model::new(&scene).expect("a scene")
}

#[test]
fn values_by_name_index_component_and_group() {
    let (state, params) = (model().state(), model().params());
    assert_eq!(state.get("ball.position").expect("a name"), [1.0, 2.0, 3.0]);
    assert_eq!(state.number("ball.position.y").expect("a name"), 2.0);
    assert_eq!(state.get("chain[2].position").expect("a name"), [2.0, 0.0, 0.0]);
    assert_eq!(state.number("chain[3].position.x").expect("a name"), 3.0);
    assert_eq!(state.get("chain.position").expect("a group").len(), 12);
    assert_eq!(params.number("ball.mass").expect("a name"), 0.5);
    assert_eq!(params.get("chain.mass").expect("a group"), [0.1, 0.2, 0.3, 0.4]);
    assert_eq!(params.number("link[1].stiffness").expect("a name"), 50.0);
    assert_eq!(params.get("gravity").expect("a name"), [0.0, 0.0, -9.81]);
    assert_eq!(params.number("gravity.z").expect("a name"), -9.81);
    assert_eq!(model().control().get("thruster.force").expect("a name"), [0.0; 3]);
    assert_eq!(model().controls(2), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    // One number is asked for, and there are three.
    assert!(matches!(params.number("gravity"), Err(NameError::Length { wanted: 3, .. })));
}

#[test]
fn wrong_names_say_what_is_near() {
    let (state, params) = (model().state(), model().params());
    let text = |error: Result<&[f64], NameError>| error.expect_err("a wrong name").to_string();
    assert!(text(params.get("ball.mas")).contains("ball.mass"));
    assert!(text(params.get("chain[0].mas")).contains("chain[0].mass"));
    assert!(text(params.get("link.stifness")).contains("stiffness"));
    assert!(text(params.get("gravitiy")).contains("gravity"));
    // An index too far, an index of what has none, an axis that there is not.
    assert_eq!(text(state.get("chain[4].position")), "`chain[4].position`: there are 4, from [0] to [3]");
    assert!(matches!(state.get("ball[0].position"), Err(NameError::Unknown { .. })));
    assert!(matches!(state.get("ball.position.w"), Err(NameError::Unknown { .. })));
    assert!(matches!(state.get("chain[x].position"), Err(NameError::Unknown { .. })));
    assert!(matches!(params.get("ball.mass.x"), Err(NameError::Unknown { .. })));
    assert!(matches!(state.get(""), Err(NameError::Unknown { .. })));
    // Nothing is like it: nothing is suggested.
    assert_eq!(text(params.get("zzzzzzzz")), "nothing is called `zzzzzzzz`");
}

#[test]
fn globs_select_values_in_order() {
    let params = model().params();
    let names = |pattern: &str| -> Vec<String> {
        params.select(pattern).expect("a glob").into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(
        names("*.mass"),
        ["ball.mass", "chain[0].mass", "chain[1].mass", "chain[2].mass", "chain[3].mass"]
    );
    assert_eq!(names("chain[*].mass").len(), 4);
    assert_eq!(names("link[*].*").len(), 6);
    assert_eq!(names("gravity"), ["gravity"]);
    assert_eq!(names("*").len(), params.iter().count());
    assert!(params.select("*.colour").is_err());
    let layout = params.layout();
    assert_eq!(layout.select("*.drag").expect("a glob"), [layout.find("ball.drag").expect("a name")]);
    assert_eq!(
        layout.select("chain.mass").expect("a group"),
        vec![layout.find("chain.mass").expect("a group")]
    );
    assert_eq!(layout.find("chain.mass").expect("a group"), 1..5);
    assert!(layout.select("*.colour").is_err());
}

#[test]
fn setting_changes_those_numbers_alone() {
    let mut params = model().params();
    let before = params.clone();
    params.set("chain[1].mass", &[7.0]).expect("a mass");
    params.set("gravity.x", &[-1.5]).expect("a number");
    params.set("link.stiffness", &[1.0, 2.0, 3.0]).expect("a group");
    let changed: Vec<String> = (0..params.values().len())
        .filter(|&i| params.values()[i] != before.values()[i])
        .map(|i| params.layout().name_of(i))
        .collect();
    let wanted =
        ["chain[1].mass", "gravity.x", "link[0].stiffness", "link[1].stiffness", "link[2].stiffness"];
    assert_eq!(changed, wanted);
}

#[test]
fn values_that_make_no_sense_change_nothing() {
    let mut params = model().params();
    let before = params.clone();
    for (name, values, why) in [
        ("ball.mass", vec![0.0], "greater than 0"),
        ("ball.mass", vec![-1.0], "greater than 0"),
        ("ball.mass", vec![f64::NAN], "finite"),
        ("link[0].stiffness", vec![-5.0], "at least 0"),
        ("ball.drag", vec![f64::INFINITY], "finite"),
        ("chain.mass", vec![1.0, 1.0, 1.0, 0.0], "chain[3].mass"),
        ("chain.mass", vec![1.0], "4 numbers"),
        ("chain[2].mas", vec![1.0], "chain[2].mass"),
    ] {
        let error = params.set(name, &values).expect_err(name).to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(params, before, "{error}");
    }
    assert!(params.check().is_ok());
    params.values_mut()[0] = -1.0;
    assert!(matches!(params.check(), Err(NameError::Range { name, .. }) if name == "ball.mass"));
}

#[test]
fn listing_names_every_number_once() {
    let params = model().params();
    let mut next = 0;
    for (part, values) in params.parts() {
        assert_eq!(part.range().start, next);
        next = part.range().end;
        assert_eq!(params.get(&part.name()).expect("its own name"), values);
        assert_eq!(params.layout().find(&part.name()).expect("its own name"), part.range());
        assert!(!part.quantity().unit.is_empty() && !part.quantity().doc.is_empty());
    }
    assert_eq!(next, params.values().len());
    for i in 0..next {
        assert_eq!(params.layout().find(&params.layout().name_of(i)).expect("a name"), i..i + 1);
    }
    assert!(Params::from_values(params.layout(), vec![0.0]).is_err());
    assert_eq!(Params::zeros(params.layout()).values(), vec![0.0; next]);
}

/// A position, two rotations and a number.
fn with_rotations() -> Arc<Layout> {
    let rotation = Quantity { space: Space::Rotation, ..Quantity::new("1", "orientation") };
    let half = 0.5f64.sqrt();
    Layout::new(vec![
        Block::vector("body.position", [1.0, 2.0, 3.0], Quantity::new("m", "position")),
        Block {
            key: "limbs.orientation".into(),
            field: "orientation".into(),
            groups: vec![Group { name: "limb".into(), count: Some(2) }],
            numbers: 4,
            quantity: rotation,
            values: vec![half, 0.0, half, 0.0, 0.5, -0.5, 0.5, 0.5],
        },
        Block::scalar("angle", 0.3, Quantity::new("rad", "angle")),
    ])
}

#[test]
fn tangents_of_rotations_have_three_numbers() {
    let layout = with_rotations();
    assert_eq!((layout.len(), layout.tangent_len()), (12, 10));
    let state = State::new(&layout);
    assert_eq!(state.number("limb[1].orientation.w").expect("a name"), 0.5);
    assert_eq!(state.number("limb[1].orientation.x").expect("a name"), -0.5);
    assert!(state.clone().retract(&[0.0; 12]).is_err());
    assert!(state.to_tangent(&[0.0; 10]).is_err());
}

fn tangents() -> Vec<Vec<f64>> {
    let scaled = |scale: f64| (0..10).map(|i| scale * ((i * 7 % 10) as f64 / 5.0 - 0.83)).collect();
    // From nothing and next to nothing to nearly half a turn.
    vec![vec![0.0; 10], scaled(1e-12), scaled(1e-5), scaled(0.3), scaled(1.7)]
}

#[test]
fn retracting_and_differences_are_inverse() {
    let state = State::new(&with_rotations());
    for tangent in tangents() {
        let mut moved = state.clone();
        moved.retract(&tangent).expect("a tangent");
        let back = state.difference(&moved).expect("a difference");
        let scale = tangent.iter().fold(0.0, |most: f64, t| most.max(t.abs()));
        for (a, b) in tangent.iter().zip(&back) {
            assert!((a - b).abs() < 1e-14 + 4e-15 * scale, "{a} {b}");
        }
        for limb in ["limb[0].orientation", "limb[1].orientation"] {
            let norm: f64 = moved.get(limb).expect("a name").iter().map(|q| q * q).sum();
            assert!((norm - 1.0).abs() < 1e-14);
        }
        let mut there = state.clone();
        there.retract(&back).expect("a tangent");
        there.values().iter().zip(moved.values()).for_each(|(a, b)| assert!((a - b).abs() < 1e-14));
    }
}

/// q and -q are the same rotation: nothing lies between them.
#[test]
fn the_shorter_way_round() {
    let state = State::new(&with_rotations());
    let mut other = state.clone();
    other.values_mut()[3..7].iter_mut().for_each(|q| *q = -*q);
    assert!(state.difference(&other).expect("a difference").iter().all(|t| t.abs() < 1e-15));
    // A known one: a quarter turn about the body's z, from the identity.
    let half = 0.5f64.sqrt();
    let mut tangent = [0.0; 3];
    Space::Rotation.difference(&[1.0, 0.0, 0.0, 0.0], &[half, 0.0, 0.0, half], &mut tangent);
    let quarter = std::f64::consts::FRAC_PI_2;
    assert!(tangent[0] == 0.0 && tangent[1] == 0.0 && (tangent[2] - quarter).abs() < 1e-15);
}

/// f(q) = Σ w q² + q0 q3 of all numbers, along retractions.
#[test]
fn cotangents_of_tangents_agree_with_differences() {
    let state = State::new(&with_rotations());
    let n = state.values().len();
    let weight = |i: usize| 0.4 + 0.3 * (i % 4) as f64;
    let f = |x: &[f64]| (0..n).map(|i| weight(i) * x[i] * x[i] + x[i] * x[(i + 5) % n]).sum::<f64>();
    let gradient: Vec<f64> = (0..n)
        .map(|i| {
            let x = state.values();
            2.0 * weight(i) * x[i] + x[(i + 5) % n] + x[(i + n - 5) % n]
        })
        .collect();
    let bars = state.to_tangent(&gradient).expect("a cotangent");
    for i in 0..bars.len() {
        let at = |h: f64| {
            let mut tangent = vec![0.0; bars.len()];
            tangent[i] = h;
            let mut moved = state.clone();
            moved.retract(&tangent).expect("a tangent");
            f(moved.values())
        };
        let h = 1e-4;
        let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        assert!((difference - bars[i]).abs() < 1e-10, "{i}: {difference} {}", bars[i]);
    }
}

/// Scenes may give Young's modulus and Poisson's ratio; the params that one may ask for are Lamé's.
#[test]
fn what_young_and_poisson_become() {
    let text = r#"
        [simulation]
        dt = 0.01
        steps = 1

        [[solids]]
        name = "block"
        mesh = { block = [1, 1, 1], cells = [1, 1, 1] }
        young = 1e4
        poisson = 0.3
        density = 100
    "#;
    let model = Model::new(&Scene::parse(text, "block.toml").expect("a scene")).expect("a model");
    for name in ["block.young", "block.poisson"] {
        let error = model.params_layout().find(name).expect_err("no param").to_string();
        assert!(error.ends_with("; the nearest names are `block.mu`, `block.lambda`"), "{error}");
    }
    // One number for all elements, or one for each.
    for (text, asked, there) in [
        (text.to_owned(), "block.elements[3].mu", "block.mu"),
        (text.to_owned(), "block.elements.mu", "block.mu"),
        (
            text.replace("density = 100", "density = [1, 2, 3, 4, 5, 6]"),
            "block.density",
            "block.elements.density",
        ),
    ] {
        let model = Model::new(&Scene::parse(&text, "block.toml").expect("a scene")).expect("a model");
        let error = model.params_layout().find(asked).expect_err("no param").to_string();
        assert!(error.contains(&format!("`{there}`")), "{error}");
    }
}
