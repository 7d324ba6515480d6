//! A force of one's own: a trap 1 m wide that pulls a ball to the origin, f = -k x exp(-|x|²).
//!
//! Run it with `cargo run --release -p pullback-engine --example custom_force`.

use pullback_engine::force::{Force, Site};
use pullback_engine::names::{Block, Quantity};
use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{Error, Integrator, Loss, Model, Options, Params, Rollout, Scheme, Start, State, Step};
use pullback_kernel::prelude::*;
use pullback_scene::{Particles, Scene, World};

#[kernel]
fn trap<R: Real>(x: Vec3<R>, k: R) -> Vec3<R> {
    x * (-k * exp(-dot(x, x)))
}
#[derive(Debug)]
struct Trap;
impl Force for Trap {
    fn params(&self) -> Vec<Block> {
        vec![Block::scalar("trap.stiffness", 8.0, Quantity::new("N/m", "stiffness at the centre"))]
    }
    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let (x, k, name) = (site.x.own(), site.param("trap.stiffness")?.shared(), site.name("trap"));
        Ok(site.program.map::<trap>(&name, (x, k)))
    }
}

/// How far from the point (0.1, 0.2, 0) the ball is at the end [m²].
struct Miss;

const TARGET: [f64; 3] = [0.1, 0.2, 0.0];

impl Loss for Miss {
    fn value(&self, m: &Moment<'_>) -> f64 {
        let squares = || (0..3).map(|i| (m.state[i] - TARGET[i]).powi(2)).sum();
        if m.last { squares() } else { 0.0 }
    }
    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        if m.last {
            (0..3).for_each(|i| bars.state[i] += 2.0 * (m.state[i] - TARGET[i]));
        }
    }
}

fn main() -> Result<(), Error> {
    let ball = Particles::single("ball", [0.4, 0.0, 0.0], 0.2).velocity([0.0, 1.0, 0.0]);
    let world = World { gravity: [0.0; 3], ..World::default() };
    let model = Model::new(&Scene { particles: vec![ball], world, ..Scene::default() })?.with_force(Trap)?;
    let step = Step::new(&model, Scheme::new(Integrator::VelocityVerlet, 0.01))?;
    let mut rollout = Rollout::<f64>::new(&step, Options::new(200))?;
    let (state, params) = (model.state(), model.params());

    let gradient = rollout.gradient(&Start::new(&state, &[], &params), &Miss)?.clone();
    let (by_state, by_params) = (gradient.state(0)?, gradient.params(0)?);
    println!("the ball misses by {:.4} m² after 2 s", gradient.value());

    let mut value = |state: &State, params: &Params| -> Result<f64, Error> {
        Ok(rollout.value(&Start::new(state, &[], params), &Miss)?[0])
    };
    let stiffer = |h: f64| -> Result<Params, Error> {
        let mut params = params.clone();
        params.set("trap.stiffness", &[params.number("trap.stiffness")? + h])?;
        Ok(params)
    };
    let difference = (value(&state, &stiffer(1e-5)?)? - value(&state, &stiffer(-1e-5)?)?) / 2e-5;
    agree("trap.stiffness", by_params.number("trap.stiffness")?, difference);
    for name in ["ball.velocity.x", "ball.velocity.y", "ball.velocity.z"] {
        let moved = |h: f64| -> Result<State, Error> {
            let mut state = state.clone();
            state.set(name, &[state.number(name)? + h])?;
            Ok(state)
        };
        let difference = (value(&moved(1e-5)?, &params)? - value(&moved(-1e-5)?, &params)?) / 2e-5;
        agree(name, by_state.number(name)?, difference);
    }
    Ok(())
}

fn agree(name: &str, gradient: f64, difference: f64) {
    println!("by {name}: {gradient:.9}, by differences {difference:.9}");
    assert!((gradient - difference).abs() < 1e-7 * (1.0 + gradient.abs()));
}
