//! A scene built in code, and the gradient of where it ends by a mass, a stiffness and an initial velocity, each held
//! against a finite difference.

use pullback::prelude::*;

/// The position along x of one particle at the end [m].
struct FinalX {
    particle: usize,
}

impl Loss for FinalX {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { moment.state[3 * self.particle] } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            bars.state[3 * self.particle] += 1.0;
        }
    }
}

/// Which vector of a rollout's start a name belongs to.
#[derive(Clone, Copy)]
enum Of {
    State,
    Params,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two balls on a string of springs that hangs from a nail, and swings.
    let scene = Scene {
        name: "double pendulum of springs".into(),
        particles: vec![
            Particles::single("nail", [0.0, 0.0, 2.0], 1.0).fix(),
            Particles::single("upper", [0.5, 0.0, 1.6], 0.3),
            Particles::single("lower", [1.0, 0.0, 1.2], 0.2).velocity([0.0, 0.5, 0.0]),
        ],
        springs: vec![
            Springs::between("first", [0, 1], 400.0, 0.6),
            Springs::between("second", [1, 2], 300.0, 0.6).damping(0.5),
        ],
        simulation: Simulation {
            dt: 0.005,
            steps: 400,
            integrator: Integrator::RungeKutta4,
            ..Simulation::default()
        },
        ..Scene::default()
    };
    let step = Step::of(&scene)?;
    let model = step.model();
    let (state, params) = (model.state(), model.params());
    let loss = FinalX { particle: scene.particle_index("lower")? };

    // One rollout forwards, one backwards: the derivatives by everything at once.
    let mut rollout = Rollout::<f64>::new(&step, Options::of(&scene))?;
    let gradient = rollout.gradient(&Start::new(&state, &[], &params), &loss)?;
    let (value, by_state, by_params) = (gradient.value(), gradient.state(0)?, gradient.params(0)?);
    println!("the lower ball ends at x = {value:.6} m; one gradient gave {} derivatives", {
        by_state.values().len() + by_params.values().len()
    });

    let names = [
        (Of::Params, "lower.mass"),
        (Of::Params, "first.stiffness"),
        (Of::Params, "second.damping"),
        (Of::State, "lower.velocity.y"),
        (Of::State, "upper.position.z"),
    ];
    println!("{:<20} {:>15} {:>15}", "by", "pullback", "difference");
    for (of, name) in names {
        let derivative = match of {
            Of::State => by_state.number(name)?,
            Of::Params => by_params.number(name)?,
        };
        // (f(p + h) - f(p - h)) / 2h, with two rollouts for each number.
        let mut moved = |sign: f64| -> Result<f64, Box<dyn std::error::Error>> {
            let (mut state, mut params) = (state.clone(), params.clone());
            let h = match of {
                Of::State => {
                    let (x, h) = (state.number(name)?, 1e-6);
                    state.set(name, &[x + sign * h])?;
                    h
                }
                Of::Params => {
                    let (p, h) = (params.number(name)?, 1e-6 * params.number(name)?);
                    params.set(name, &[p + sign * h])?;
                    h
                }
            };
            Ok(rollout.value(&Start::new(&state, &[], &params), &loss)?[0] * sign / (2.0 * h))
        };
        let difference = moved(1.0)? + moved(-1.0)?;
        println!("{name:<20} {derivative:>15.8} {difference:>15.8}");
        assert!(derivative != 0.0, "{name} matters");
        assert!((derivative - difference).abs() < 1e-5 * derivative.abs().max(1.0), "{name}");
    }

    // A name that is not there is an error that says what is near.
    let error = params.number("lower.maas").expect_err("no such name");
    println!("{error}");
    assert!(error.to_string().contains("lower.mass"));
    Ok(())
}
