//! Identification of ground: its heights from where balls that fall on it and roll over it have been.

use std::fmt::Write;

use pullback_scene as scene;
use pullback_solve::Problem;

const SCENE: &str = r#"
[simulation]
dt = 0.01
steps = 50

[contact]
mu = 0.6

[[shapes]]
name = "land"
position = [-1, -1, 0]
shape = { heights = { values = VALUES, step = [1, 1] } }
corner_params = true

[[bodies]]
name = "balls"
shape = { sphere = 0.1 }
mass = 1
positions = [[-0.35, -0.65, 0.28], [0.6, -0.7, 0.3], [-0.6, 0.75, 0.29], [0.7, 0.4, 0.27]]
"#;

/// Heights [m]: the four balls land on triangles that have all nine corners together.
const TRUTH: [[f64; 3]; 3] = [[0.02, 0.08, 0.15], [0.05, 0.12, 0.06], [0.1, 0.03, 0.0]];
const GUESS: [[f64; 3]; 3] = [[0.07; 3]; 3];

fn text(heights: [[f64; 3]; 3]) -> String {
    SCENE.replace("VALUES", &format!("{heights:?}"))
}

/// Where the balls are on the true ground, every tenth step, as losses.
fn seen() -> String {
    let described = scene::Problem {
        scene: scene::Scene::parse(&text(TRUTH), "land.toml").expect("it is right"),
        variables: Vec::new(),
        losses: Vec::new(),
        optimiser: scene::Optimiser::default(),
        source: scene::Source::default(),
    };
    let mut truth = Problem::new(described).expect("it can be simulated");
    let layout = truth.model().state_layout().clone();
    let mut losses = String::new();
    let see = |moment: &pullback_engine::rollout::Moment<'_>| {
        for ball in (0..4).filter(|_| moment.step > 0 && moment.step.is_multiple_of(10)) {
            let at = layout.find(&format!("balls[{ball}].position")).expect("it is there");
            let (x, step) = (&moment.state[at], moment.step);
            let _ = write!(
                losses,
                "[[loss]]\nkind = \"position\"\nof = \"balls[{ball}]\"\ntarget = {x:?}\nat = {step}\n"
            );
        }
    };
    truth.watch(&[], see).expect("it can be simulated");
    losses
}

#[test]
fn heights_are_found_from_balls() {
    let fit = "[[variables]]\nname = \"land.heights\"\n[optimiser]\nmethod = \"levenberg-marquardt\"\n\
               iterations = 60\ntolerance = 1e-12\n";
    let described = scene::Problem::parse(&format!("{}{fit}{}", text(GUESS), seen()), "fit.toml");
    let mut problem = Problem::new(described.expect("the file is right")).expect("it is a problem");
    assert_eq!(problem.variables().len(), 9);
    let mut run = problem.begin().expect("it can be begun");
    while run.stopped().is_none() {
        run.iterate(&mut problem).expect("it goes on");
    }
    let found = problem.variables().values(run.best().0);
    println!("loss {:e}: {found:?}", run.best().1);
    for (found, truth) in found.iter().zip(TRUTH.as_flattened()) {
        assert!((found - truth).abs() < 1e-5, "{found} {truth}");
    }
}
