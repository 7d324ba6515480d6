//! Jacobians of residuals: forwards, backwards, by differences, and with any number of threads.

use pullback_scene as scene;
use pullback_solve::optimise::Objective;
use pullback_solve::{Problem, Way};

/// Two balls on springs over rough ground: params, initial states and controls may change.
const SCENE: &str = r#"
[simulation]
dt = 0.01
steps = 40
integrator = "rk4"

[world]
wind = [1, 2, 0]

[[particles]]
name = "anchor"
position = [0, 0, 2]
mass = 1
fixed = true

[[particles]]
name = "ball"
positions = [[1, 0, 0.02], [1, 1, 0.5]]
velocities = [[1, 0, -1], [0, 2, 1]]
masses = [0.5, 0.8]
drag = 0.05

[[springs]]
name = "spring"
ends = [["anchor", "ball[0]"], ["ball[0]", "ball[1]"]]
stiffness = 30
damping = 0.5
rest_length = 1

[[actuators]]
name = "push"
on = "ball[1]"
control = [1, 0, 0]

[ground]
ke = 500
kd = 1
kf = 5
mu = 0.3

[[variables]]
name = "ball.mass"

[[variables]]
name = "spring[1].stiffness"
lower = 1
upper = 1000
bounds = "transform"

[[variables]]
name = "ground.mu"

[[variables]]
name = "initial.ball[1].velocity"
"#;

/// 41 · 3 residuals for 7 variables: forwards is cheaper.
const MANY: &str =
    "[[loss]]\nkind = \"position\"\nof = \"ball[1]\"\ntarget = [1, 2, 0]\nweight = 0.7\nat = \"always\"\n";
/// 1 residual for 7 variables: backwards is cheaper.
const ONE: &str =
    "[[loss]]\nkind = \"position\"\nof = \"ball[1]\"\ntarget = [1, 2, 0]\nweight = 0.7\naxes = [\"AXIS\"]\n";

fn problem(loss: &str) -> Problem {
    let description = scene::Problem::parse(&format!("{SCENE}\n{loss}"), "j.toml").expect("it is a problem");
    Problem::new(description).unwrap_or_else(|error| panic!("{error}"))
}

/// Where nothing is special.
fn point(problem: &Problem) -> Vec<f64> {
    problem.variables().start().iter().enumerate().map(|(i, z)| z + 0.03 * (i as f64 + 1.0)).collect()
}

fn jacobian(problem: &mut Problem, z: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut residuals, mut jacobian) = (Vec::new(), Vec::new());
    problem.jacobian(z, &mut residuals, &mut jacobian).expect("it has one");
    assert_eq!(jacobian.len(), residuals.len() * z.len());
    (residuals, jacobian)
}

#[test]
fn forwards_and_backwards_agree() {
    let mut many = problem(MANY);
    let z = point(&many);
    let (residuals, rows) = jacobian(&mut many, &z);
    assert_eq!((residuals.len(), z.len()), (40 * 3, 7));
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let (residual, row) = jacobian(&mut problem(&ONE.replace("AXIS", name)), &z);
        assert_eq!(residual.len(), 1);
        // The running term is weighed by dt.
        let last = residuals.len() - 3 + axis;
        let scale = 0.01_f64.sqrt();
        assert!((residual[0] * scale - residuals[last]).abs() < 1e-12);
        let size = row.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        assert!(size > 1e-3);
        for (i, (back, forward)) in row.iter().zip(&rows[last * 7..]).enumerate() {
            let error = (back * scale - forward).abs() / (size * scale);
            assert!(error < 1e-10, "{name}, variable {i}: {} and {forward}", back * scale);
        }
    }
}

/// Each way for each loss, whichever is the cheaper one; and that one is taken.
#[test]
fn the_way_is_a_matter_of_cost() {
    for (loss, cheaper) in [(MANY.to_owned(), Way::Forwards), (ONE.replace("AXIS", "x"), Way::Backwards)] {
        let mut problem = problem(&loss);
        let z = point(&problem);
        assert_eq!(problem.way(), cheaper);
        let [forwards, backwards] =
            [Way::Forwards, Way::Backwards].map(|way| problem.jacobian_by(way, &z).expect("it has one"));
        assert_eq!(forwards.0, backwards.0, "residuals");
        // Two ways to the same numbers, with other roundings.
        assert_ne!(forwards.1, backwards.1);
        let size = forwards.1.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        for (f, b) in forwards.1.iter().zip(&backwards.1) {
            assert!((f - b).abs() < 1e-10 * size, "{f} and {b}");
        }
        let taken = if cheaper == Way::Forwards { forwards } else { backwards };
        assert_eq!(jacobian(&mut problem, &z), taken);
    }
}

#[test]
fn both_agree_with_differences() {
    for loss in [MANY.to_owned(), ONE.replace("AXIS", "y")] {
        let mut problem = problem(&loss);
        let z = point(&problem);
        let (residuals, rows) = jacobian(&mut problem, &z);
        let size = rows.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        let mut at = |z: &[f64]| {
            let mut found = Vec::new();
            problem.residuals(z, &mut found).expect("it has values");
            found
        };
        assert_eq!(at(&z), residuals);
        let (n, h) = (z.len(), 1e-6);
        for i in 0..n {
            let (mut above, mut below) = (z.clone(), z.clone());
            above[i] += h;
            below[i] -= h;
            for (k, (above, below)) in at(&above).into_iter().zip(at(&below)).enumerate() {
                let difference = (above - below) / (2.0 * h);
                let error = (difference - rows[k * n + i]).abs() / size;
                assert!(error < 1e-7, "residual {k}, variable {i}: {} and {difference}", rows[k * n + i]);
            }
        }
        // And the gradient of the sum of squares is 2 Jᵀ r.
        let mut gradient = vec![0.0; n];
        problem.gradient(&z, &mut gradient).expect("it has one");
        for (i, g) in gradient.iter().enumerate() {
            let product: f64 = residuals.iter().enumerate().map(|(k, r)| 2.0 * r * rows[k * n + i]).sum();
            assert!((g - product).abs() < 1e-9 * (1.0 + product.abs()), "variable {i}: {g} and {product}");
        }
    }
}

#[test]
fn threads_give_the_same_bits() {
    let bits = |threads: usize| {
        let mut problem = problem(MANY);
        problem.set_threads(threads);
        let z = point(&problem);
        let (residuals, rows) = jacobian(&mut problem, &z);
        residuals.into_iter().chain(rows).map(f64::to_bits).collect::<Vec<u64>>()
    };
    let one = bits(1);
    for threads in [0, 2, 3, 8] {
        assert!(bits(threads) == one, "{threads} threads");
    }
}
