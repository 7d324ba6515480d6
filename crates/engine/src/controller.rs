//! Controllers inside the rollout: small networks of time and state, whose weights are params.
//!
//! u' = u + scale · tanh(b + W s + G y),  with sinusoids s of time, numbers y of the state at the start of each part of a step, and the
//! control u that is given from outside for all of it.

use std::collections::HashMap;

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Corners};
use pullback_scene::Invalid;

use crate::dynamics::plus as vector_sum;
use crate::error::Error;
use crate::force::{AnyNumber, Inputs};
use crate::names::{Block, Group, Layout, NameError, Quantity};

/// sin(ω t + φ)
#[kernel]
fn sinusoid<R: Real>(t: R, frequency: R, phase: R) -> R {
    sin(frequency * t + phase)
}

/// A weight times what it weighs.
#[kernel]
fn weighed<R: Real>(weight: R, of: [R; 1]) -> [R; 1] {
    [weight * of[0]]
}

/// The same of a number of a vector.
#[kernel]
fn felt<R: Real>(weight: [R; 1], of: [Vec3<R>; 1], axis: Vec3<R>) -> [R; 1] {
    [weight[0] * dot(of[0], axis)]
}

/// The same of a number.
#[kernel]
fn felt_number<R: Real>(weight: [R; 1], of: [R; 1]) -> [R; 1] {
    [weight[0] * of[0]]
}

/// `a + b`
#[kernel]
fn plus<R: Real>(a: R, b: R) -> R {
    a + b
}

/// u + scale tanh(sum)
#[kernel]
fn steered<R: Real>(given: R, sum: R, scale: R) -> R {
    given + scale * tanh(sum)
}

/// What is added to a vector along an axis.
#[kernel]
fn steered_along<R: Real>(sum: R, scale: R, axis: Vec3<R>) -> [Vec3<R>; 1] {
    [axis * (scale * tanh(sum))]
}

/// A network that adds to the controls of a block.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    name: String,
    /// The block of controls that it drives, and how many numbers that has.
    drives: String,
    outputs: usize,
    /// Angular frequencies [rad/s] and phases [rad].
    sinusoids: Vec<[f64; 2]>,
    /// Numbers of the state.
    features: Vec<Feature>,
    scale: f64,
    weights: Vec<f64>,
    gains: Vec<f64>,
    biases: Vec<f64>,
}

/// A number of the state.
#[derive(Clone, Copy, Debug)]
struct Feature {
    velocity: bool,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Particle { particle: usize, axis: usize },
    Robot { robot: usize, number: usize },
}

/// How many numbers positions of particles and robots, and velocities of robots, have: to find a number of the state by its place.
pub(crate) struct Sizes {
    pub particles: usize,
    pub positions: Vec<usize>,
    pub velocities: Vec<usize>,
}

impl Sizes {
    fn feature(&self, mut i: usize) -> Option<Feature> {
        for (velocity, robots) in [(false, &self.positions), (true, &self.velocities)] {
            if i < 3 * self.particles {
                return Some(Feature { velocity, of: Of::Particle { particle: i / 3, axis: i % 3 } });
            }
            i -= 3 * self.particles;
            for (robot, &count) in robots.iter().enumerate() {
                if i < count {
                    return Some(Feature { velocity, of: Of::Robot { robot, number: i } });
                }
                i -= count;
            }
        }
        None
    }
}

/// What controls there are to drive.
fn of_one_kind(control: &Layout) -> String {
    let name = |block: &Block| {
        block.groups.iter().map(|group| format!("`{}.{}`", group.name, block.field)).collect()
    };
    let names: Vec<Vec<String>> = control.ranges().map(|(block, _)| name(block)).collect();
    match names.concat().split_first() {
        None => "make something a control, as by `actuation = \"control\"`".into(),
        Some((first, [])) => format!("write {first}"),
        Some(_) => format!("write one of {}, or a glob for all of a kind", names.concat().join(", ")),
    }
}

impl Controller {
    /// The controller that a scene describes, for a world with these names.
    pub fn new(
        given: &pullback_scene::Controller,
        control: &Layout,
        state: &Layout,
        sizes: &Sizes,
    ) -> Result<Self, Invalid> {
        let wrong = |what: String| Invalid::new("drives", what, of_one_kind(control));
        let driven = control.select(&given.drives).map_err(|error| wrong(error.to_string()))?;
        let (Some(first), Some(last)) = (driven.first(), driven.last()) else {
            return Err(wrong(format!("no control is called `{}`", given.drives)));
        };
        let (start, end) = (first.start, last.end);
        let Some((block, _)) = control.ranges().find(|(_, range)| *range == (start..end)) else {
            return Err(wrong(format!("`{}` are not all controls of one kind", given.drives)));
        };
        if !matches!(block.numbers, 1 | 3) {
            return Err(wrong(format!("`{}` are neither numbers nor vectors", given.drives)));
        }
        let mut features = Vec::new();
        for (i, name) in given.features.iter().enumerate() {
            let unknown = |error: NameError| {
                let fix = "write names of positions and velocities: `ball.position.z`, `cloth[3].velocity`";
                Invalid::new(format!("features[{i}]"), error.to_string(), fix)
            };
            for range in state.select(name).map_err(unknown)? {
                features.extend(range.filter_map(|i| sizes.feature(i)));
            }
        }
        let outputs = block.len() * block.numbers;
        let numbers = |field: &str, values: &[f64], per: (usize, &str)| match values.len() {
            0 => Ok(vec![0.0; outputs * per.0]),
            found if found == outputs * per.0 => Ok(values.to_vec()),
            found => {
                let what = format!("{found} {field}, for {outputs} controls and {} {}", per.0, per.1);
                let fix = format!(
                    "give {}, those of one control side by side, or none: they are 0 then",
                    outputs * per.0
                );
                Err(Invalid::new(field, what, fix))
            }
        };
        let weights = numbers("weights", &given.weights, (given.sinusoids.len(), "sinusoids"))?;
        Ok(Controller {
            name: given.name.clone(),
            drives: block.key.clone(),
            outputs,
            sinusoids: given.sinusoids.clone(),
            scale: given.scale,
            weights,
            gains: numbers("gains", &given.gains, (features.len(), "numbers of the state"))?,
            biases: numbers("biases", &given.biases, (1, "bias for each"))?,
            features,
        })
    }

    /// Does it look at the state?
    pub fn sees(&self) -> bool {
        !self.features.is_empty()
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its weights, gains and biases.
    pub fn params(&self) -> Vec<Block> {
        let block = |field: &str, values: &[f64], doc: &str| Block {
            key: format!("{}.{field}", self.name),
            field: String::new(),
            groups: vec![Group { name: format!("{}.{field}", self.name), count: Some(values.len()) }],
            numbers: 1,
            quantity: Quantity::new("1", doc),
            values: values.to_vec(),
        };
        let mut blocks = vec![
            block("weights", &self.weights, "weight of a sinusoid, all of one control side by side"),
            block("gains", &self.gains, "weight of a number of the state, all of one control side by side"),
            block("biases", &self.biases, "bias of a control"),
        ];
        blocks.retain(|block| !block.is_empty());
        blocks
    }

    /// Puts what it makes in place of the controls that are given.
    pub fn add(&self, p: &mut Builder, inputs: &mut Inputs) -> Result<(), Error> {
        let name = |what: &str| format!("{} of {}", what, self.name);
        let mut sum: Buffer<f64> = inputs.param(&format!("{}.biases", self.name))?;
        let mut terms = Vec::new();
        if !self.sinusoids.is_empty() {
            let [frequencies, phases] =
                [0, 1].map(|i| self.sinusoids.iter().map(|s| s[i]).collect::<Vec<_>>());
            let frequency = p.constant::<f64>(&name("frequencies"), &frequencies);
            let phase = p.constant::<f64>(&name("phases"), &phases);
            let ports = (inputs.time.shared(), frequency.own(), phase.own());
            let count = self.sinusoids.len();
            let waves = p.map::<sinusoid>(&name("sinusoids"), ports);
            let (rows, columns) = self.grid(p, &name("weights"), count, count, |_, j| j);
            let weights: Buffer<f64> = inputs.param(&format!("{}.weights", self.name))?;
            terms.push(p.elements::<weighed, f64, 1>(
                &name("sum of sinusoids"),
                rows,
                (weights.own(), waves.at(columns)),
            ));
        }
        if self.sees() {
            let gains: Buffer<f64> = inputs.param(&format!("{}.gains", self.name))?;
            terms.extend(self.feel(p, inputs, gains)?);
        }
        for (i, term) in terms.into_iter().enumerate() {
            sum = p.map::<plus>(&name(&format!("sum of {} terms", i + 1)), (sum.own(), term.own()));
        }
        let scale = p.constant::<f64>(&name("scale"), &[self.scale]);
        let out = match inputs.controls.get(&self.drives) {
            Some(AnyNumber::Scalar(given)) => {
                let ports = (given.own(), sum.own(), scale.shared());
                AnyNumber::Scalar(p.map::<steered>(&name("controls"), ports))
            }
            Some(AnyNumber::Vector(given)) => {
                let vectors: Vec<[usize; 1]> = (0..self.outputs).map(|i| [i / 3]).collect();
                let vectors = p.corners(&name("vectors"), &vectors, self.outputs / 3);
                let axes: Vec<Vec3> = (0..self.outputs).map(|i| axis(i % 3)).collect();
                let axes = p.constant::<Vec3>(&name("axes"), &axes);
                let ports = (sum.own(), scale.shared(), axes.own());
                let more = p.elements::<Once<steered_along>, Vec3, 1>(&name("vectors"), vectors, ports);
                AnyNumber::Vector(p.map::<vector_sum>(&name("controls"), (given.own(), more.own())))
            }
            _ => return Err(Error::WrongType { what: "control", key: self.drives.clone() }),
        };
        inputs.controls.insert(self.drives.clone(), out);
        Ok(())
    }

    /// For each output and each of `count` things: the output, and the place of the thing among `places`.
    fn grid(
        &self,
        p: &mut Builder,
        name: &str,
        count: usize,
        places: usize,
        place: impl Fn(usize, usize) -> usize,
    ) -> (Corners<1>, Corners<1>) {
        let all = || (0..self.outputs).flat_map(|i| (0..count).map(move |j| (i, j)));
        let rows: Vec<[usize; 1]> = all().map(|(i, _)| [i]).collect();
        let columns: Vec<[usize; 1]> = all().map(|(i, j)| [place(i, j)]).collect();
        (
            p.corners(&format!("outputs by {name}"), &rows, self.outputs),
            p.corners(&format!("{name}, by outputs"), &columns, places),
        )
    }

    /// What numbers of the state give, buffer by buffer.
    fn feel(&self, p: &mut Builder, inputs: &Inputs, gains: Buffer<f64>) -> Result<Vec<Buffer<f64>>, Error> {
        let mut terms = Vec::new();
        let mut by_buffer: HashMap<(bool, Option<usize>), Vec<usize>> = HashMap::new();
        for (j, feature) in self.features.iter().enumerate() {
            let robot = match feature.of {
                Of::Particle { .. } => None,
                Of::Robot { robot, .. } => Some(robot),
            };
            by_buffer.entry((feature.velocity, robot)).or_default().push(j);
        }
        let mut groups: Vec<_> = by_buffer.into_iter().collect();
        groups.sort_unstable();
        for ((velocity, robot), features) in groups {
            let bundle = if velocity { &inputs.v } else { &inputs.x };
            let what = format!("gains {velocity} {robot:?} of {}", self.name);
            let count = self.features.len();
            let places = self.outputs * count;
            let (rows, weights) = self.grid(p, &what, features.len(), places, |i, j| i * count + features[j]);
            let all = (0..self.outputs).flat_map(|_| features.iter().map(|&j| self.features[j].of));
            match (robot, bundle.particles) {
                (Some(robot), _) => {
                    let q = bundle.robots[robot];
                    let at: Vec<[usize; 1]> = all
                        .map(|of| match of {
                            Of::Robot { number, .. } => [number],
                            Of::Particle { .. } => [0],
                        })
                        .collect();
                    let at = p.corners(&format!("{what}, numbers"), &at, p.len(q));
                    terms.push(p.elements::<Once<felt_number>, f64, 1>(
                        &what,
                        rows,
                        (gains.at(weights), q.at(at)),
                    ));
                }
                (None, Some(x)) => {
                    let (mut at, mut axes) = (Vec::new(), Vec::new());
                    for of in all {
                        let Of::Particle { particle, axis } = of else { continue };
                        at.push([particle]);
                        axes.push(self::axis(axis));
                    }
                    let at = p.corners(&format!("{what}, particles"), &at, p.len(x));
                    let axes = p.constant::<Vec3>(&format!("{what}, axes"), &axes);
                    let ports = (gains.at(weights), x.at(at), axes.own());
                    terms.push(p.elements::<Once<felt>, f64, 1>(&what, rows, ports));
                }
                (None, None) => {}
            }
        }
        Ok(terms)
    }
}

/// A unit vector.
fn axis(axis: usize) -> Vec3 {
    let one = |k: usize| if k == axis { 1.0 } else { 0.0 };
    Vec3 { x: one(0), y: one(1), z: one(2) }
}
