//! Random states of every world with contact: resting exactly, touching a little, deep inside each other, apart, with other
//! params. Every gradient is finite, agrees with differences and with the pushforward; and where a number of it is exactly
//! zero, differences are too.
//!
//! `cargo xtask study gradients` looks at 100,000.

mod common;

use common::{World, worlds};
use pullback_engine::rollout::{Bars, Coordinate, Moment, Pushforward, Tangent};
use pullback_engine::{Error, Gradient, Integrator, Loss, Options, Rollout, Scheme, Start, Step};
use pullback_kernel::prelude::*;

/// How many states, when nothing else is said.
const STATES: usize = 1500;

/// How far differences go, relative to numbers; beyond a kink they are of no use, and below the least they are noise.
const LENGTHS: [f64; 4] = [1e-5, 1e-6, 1e-7, 1e-8];

/// Where differences to both sides disagree over no more than that, there is a kink.
const NEAR: f64 = 1e-6;

/// How far the derivative along a direction may be from differences, relative to what the gradient could be there.
const TOLERANCE: f64 = 1e-5;

/// Numbers from a generator (SplitMix64, Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between -1 and 1.
    fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.next() % of.len() as u64) as usize]
    }
}

/// The last state, with other weights for every number.
struct Last(Vec<f64>);

impl Loss for Last {
    fn value(&self, m: &Moment<'_>) -> f64 {
        if m.last { m.state.iter().zip(&self.0).map(|(x, w)| w * x).sum() } else { 0.0 }
    }

    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        if m.last {
            bars.state.iter_mut().zip(&self.0).for_each(|(bar, w)| *bar += w);
        }
    }
}

/// One world, and what it starts from: state, controls and params in one row.
struct Start1 {
    sizes: [usize; 2],
    x: Vec<f64>,
}

impl Start1 {
    fn of<'a>(&self, x: &'a [f64]) -> Start<'a> {
        let (states, rest) = x.split_at(self.sizes[0]);
        let (controls, params) = rest.split_at(self.sizes[1]);
        Start { states, controls, params }
    }
}

/// What was found.
#[derive(Debug, Default)]
struct Found {
    states: usize,
    /// Steps whose impulses were not solved for, which says so.
    refused: usize,
    /// States at a kink, where differences of all lengths disagree with each other too.
    kinks: usize,
    zeros: usize,
    /// The worst relative errors.
    differences: f64,
    pushforward: f64,
}

impl Found {
    /// For `cargo xtask study gradients`.
    fn print(&self, name: &str) {
        let Found { states, refused, kinks, zeros, differences, pushforward } = self;
        println!("states|{name}|{states}|{refused}|{kinks}|{zeros}|{differences:.1e}|{pushforward:.1e}");
    }
}

/// A state and params near those of a world.
fn vary(world: &World, random: &mut Random) -> Start1 {
    let (state, params, mut controls) = (world.model.state(), world.model.params(), world.model.controls(1));
    let mut x = state.values().to_vec();
    let (near, turned) =
        (random.one_of(&[0.0, 1e-6, 1e-3, 0.02, 0.3]), random.one_of(&[0.0, 1e-6, 0.02, 1.0]));
    let (fast, spins) = (random.one_of(&[0.0, 1e-3, 1.0, 5.0]), random.one_of(&[0.0, 1e-3, 1.0, 5.0]));
    let still = random.one_of(&[0.0, 0.0, 1.0]);
    for (i, number) in x.iter_mut().enumerate() {
        let name = state.layout().name_of(i);
        let by = match &name {
            name if name.contains("orientation") => turned,
            name if name.contains("angular_velocity") => spins,
            name if name.contains("velocity") => fast,
            _ => near,
        };
        let keep = if name.contains("velocity") { still } else { 1.0 };
        *number = *number * keep + by * random.number();
    }
    controls.iter_mut().for_each(|u| *u += random.number());
    let mut p = params.values().to_vec();
    let spread = random.one_of(&[0.0, 0.0, 0.3]);
    p.iter_mut().for_each(|p| *p *= 1.0 + spread * random.number());
    let frictionless = random.one_of(&[false, false, false, true]);
    for (i, number) in p.iter_mut().enumerate() {
        if frictionless && params.layout().name_of(i).ends_with(".mu") {
            *number = 0.0;
        }
    }
    let sizes = [x.len(), controls.len()];
    Start1 { sizes, x: [x, controls, p].concat() }
}

fn flat(g: &Gradient) -> Vec<f64> {
    [&g.states[..], &g.controls, &g.params].concat()
}

/// How numbers change together: each by its own size.
fn scales(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x.abs().max(1e-2)).collect()
}

/// Differences along a direction: how far the one is that is nearest to what is wanted, and whether there is a kink.
fn differences(
    rollout: &mut Rollout,
    start: &Start1,
    loss: &Last,
    direction: &[f64],
    wanted: f64,
    scale: f64,
) -> Result<(f64, bool), Error> {
    let (mut best, mut apart): (f64, f64) = (f64::INFINITY, 0.0);
    let mut at = |h: f64| -> Result<f64, Error> {
        let x: Vec<f64> = start.x.iter().zip(direction).map(|(x, d)| x + h * d).collect();
        Ok(rollout.value(&start.of(&x), loss)?[0])
    };
    let middle = at(0.0)?;
    for h in LENGTHS {
        let (plus, minus) = (at(h)?, at(-h)?);
        for slope in [(plus - minus) / (2.0 * h), (plus - middle) / h, (middle - minus) / h] {
            best = best.min((slope - wanted).abs());
        }
        // Over longer ways both sides differ by their curvature too.
        if h <= NEAR {
            apart = apart.max((plus - 2.0 * middle + minus).abs() / h);
        }
    }
    Ok((best, apart > TOLERANCE * scale))
}

fn look(world: &World, step: &Step, random: &mut Random, found: &mut Found) {
    let mut rollout = Rollout::<f64>::new(step, Options::new(1)).expect("a rollout");
    let start = vary(world, random);
    let loss = Last((0..start.sizes[0]).map(|_| random.number()).collect());
    found.states += 1;
    let gradient = match rollout.gradient(&start.of(&start.x), &loss) {
        Ok(gradient) => flat(gradient),
        Err(error) => {
            assert!(error.to_string().contains("residual"), "{}: {error}", world.name);
            found.refused += 1;
            return;
        }
    };
    let names = |i: usize| match i {
        i if i < start.sizes[0] => world.model.state().layout().name_of(i),
        i if i < start.sizes[0] + start.sizes[1] => format!("control {}", i - start.sizes[0]),
        i => world.model.params().layout().name_of(i - start.sizes[0] - start.sizes[1]),
    };
    for (i, g) in gradient.iter().enumerate() {
        assert!(g.is_finite(), "{}: {} has the derivative {g} at {:?}", world.name, names(i), start.x);
    }
    let sizes = scales(&start.x);
    let size = gradient.iter().zip(&sizes).map(|(g, s)| (g * s).powi(2)).sum::<f64>().sqrt();
    // Without friction and at rest there is no derivative along both together: docs/nonsmooth.md, `mu_of_zero`.
    let along = |i: usize| if names(i).ends_with(".mu") && start.x[i] == 0.0 { 0.0 } else { sizes[i] };
    let direction: Vec<f64> = (0..sizes.len()).map(|i| along(i) * random.number()).collect();
    let wanted: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
    let compare = |rollout: &mut Rollout, direction: &[f64], wanted: f64, what: &str, found: &mut Found| {
        let (error, kink) = match differences(rollout, &start, &loss, direction, wanted, size) {
            Ok(found) => found,
            Err(error) => {
                println!("refused: {}: {what}: {error}", world.name);
                found.refused += 1;
                return;
            }
        };
        if error <= TOLERANCE * size {
            found.differences = found.differences.max(error / size);
            return;
        }
        assert!(kink, "{}: {what}: {wanted} is off by {error} of {size} at {:?}", world.name, start.x);
        found.kinks += 1;
    };
    compare(&mut rollout, &direction, wanted, "a direction", found);
    for i in (0..gradient.len()).filter(|&i| gradient[i] == 0.0) {
        let mut one = vec![0.0; gradient.len()];
        one[i] = sizes[i];
        found.zeros += 1;
        // Where restitution is 0 nothing bounces, and its derivative is 0: docs/nonsmooth.md.
        if !(names(i).ends_with("restitution") && start.x[i] == 0.0) {
            compare(&mut rollout, &one, 0.0, &names(i), found);
        }
    }
    let off = pushed(step, &start, &loss, &gradient, &sizes) / size;
    assert!(off < 1e-7, "{}: tangents are off by {off:e} at {:?}", world.name, start.x);
    found.pushforward = found.pushforward.max(off);
}

/// The largest difference between the gradient and the pushforward.
fn pushed(step: &Step, start: &Start1, loss: &Last, gradient: &[f64], sizes: &[f64]) -> f64 {
    let (states, controls) = (start.sizes[0], start.sizes[1]);
    let directions = (0..gradient.len()).map(|i| match i {
        i if i < states => Coordinate::State(i),
        i if i < states + controls => Coordinate::Control(i - states),
        i => Coordinate::Param(i - states - controls),
    });
    let mut tangents = Pushforward::new(step, 1, directions.collect(), RunOptions::default());
    let mut slopes = vec![0.0; gradient.len()];
    let see = |m: &Moment<'_>, tangent: &Tangent<'_>| {
        if m.last {
            slopes[tangent.direction] = tangent.state.iter().zip(&loss.0).map(|(t, w)| t * w).sum();
        }
    };
    tangents.run(&start.of(&start.x), see).expect("tangents");
    assert!(slopes.iter().all(|slope| slope.is_finite()), "{slopes:?} at {:?}", start.x);
    let error = |(i, slope): (usize, &f64)| sizes[i] * (slope - gradient[i]).abs();
    slopes.iter().enumerate().map(error).fold(0.0, f64::max)
}

#[test]
fn gradients_of_random_states_are_right() {
    let wanted = std::env::var("CONTACT_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(STATES);
    let worlds: Vec<World> = worlds().into_iter().filter(|world| world.hard || world.soft).collect();
    let scheme = Scheme { integrator: Integrator::SemiImplicitEuler, dt: 0.01, substeps: 1 };
    let mut all = Found::default();
    for (w, world) in worlds.iter().enumerate() {
        let step = Step::new(&world.model, scheme).expect("a step");
        let mut random = Random(w as u64);
        let mut found = Found::default();
        for _ in 0..wanted.div_ceil(worlds.len()) {
            look(world, &step, &mut random, &mut found);
        }
        found.print(world.name);
        all.states += found.states;
        all.refused += found.refused;
        all.kinks += found.kinks;
        all.zeros += found.zeros;
        all.differences = all.differences.max(found.differences);
        all.pushforward = all.pushforward.max(found.pushforward);
    }
    all.print("all");
    assert!(all.refused * 100 <= all.states, "too many steps were not solved: {all:?}");
}
