//! From what Python says of a problem to its description.

use std::collections::HashMap;

use pullback_scene::{
    Bounds, ContactQuantity, LossKind, LossTerm, Method, Scene, Simulation, Table, Track,
    Variable as Described, When,
};

use pyo3::FromPyObject;

use crate::error::Failure;
use crate::pool::Engine;

/// A method's name in files, its settings by their names, and those that are counts.
pub type Named = (String, HashMap<String, f64>, HashMap<String, u64>);
/// Name, lower, upper, whether bounds are kept by a transform, scale, start, whether all change by the same.
pub type Variable = (String, Option<f64>, Option<f64>, bool, Option<f64>, Option<Vec<f64>>, bool);
/// Kind, of what, with what, target, axes, steps (none: the end; empty: always), weight.
pub type Measured = (String, String, Option<String>, Vec<f64>, [bool; 3], Option<Vec<usize>>, f64);
/// Columns, rows of as many numbers one after the other, a step for each row, weight.
pub type Recorded = (Vec<String>, Vec<f64>, Vec<usize>, f64);

/// A part of a loss.
#[derive(FromPyObject)]
pub enum Term {
    /// Against one target.
    Measured(Measured),
    /// Against a table of measurements.
    Recorded(Recorded),
}

/// How a simulation runs, as a scene says it.
pub fn simulation(engine: &Engine, steps: usize) -> Simulation {
    let (scheme, options) = (engine.step.scheme(), engine.options);
    Simulation {
        dt: scheme.dt,
        steps,
        substeps: scheme.substeps,
        integrator: scheme.integrator,
        memory: options.memory,
        snapshots: options.snapshots,
        truncate: options.truncate,
        clip: options.clip,
    }
}

/// Something that may change.
pub fn variable(variable: Variable) -> Result<Described, Failure> {
    let (name, lower, upper, transform, scale, start, together) = variable;
    let bounds = if transform { Bounds::Transform } else { Bounds::Project };
    Ok(Described { name, lower, upper, bounds, scale, start, together })
}

/// A part of the loss.
pub fn term(scene: &Scene, term: Term) -> Result<LossTerm, Failure> {
    match term {
        Term::Measured(term) => measured(scene, term),
        Term::Recorded(term) => recorded(scene, term),
    }
}

/// Against a table of measurements.
fn recorded(scene: &Scene, (columns, numbers, steps, weight): Recorded) -> Result<LossTerm, Failure> {
    let track = |(i, name): (usize, &String)| {
        let (of, velocity) = scene.tracked(name)?;
        Ok(Track { of, velocity, column: i + 1 })
    };
    let tracks = columns.iter().enumerate().map(track).collect::<Result<_, Failure>>()?;
    let row = |(row, step): (&[f64], &usize)| {
        std::iter::once(*step as f64 * scene.simulation.dt).chain(row.iter().copied()).collect()
    };
    let rows = numbers.chunks_exact(columns.len().max(1)).zip(&steps).map(row).collect();
    let columns = std::iter::once("time".to_owned()).chain(columns).collect();
    let kind = LossKind::Trajectory { data: Table { columns, rows }, file: "measurements".into(), tracks };
    Ok(LossTerm { kind, at: When::Steps(steps), weight })
}

/// Against one target.
fn measured(scene: &Scene, term: Measured) -> Result<LossTerm, Failure> {
    let (kind, of, with, target, axes, steps, weight) = term;
    let vector = || -> Result<[f64; 3], Failure> {
        let wrong =
            |found: Vec<f64>| setting(format!("a target has three numbers, and {} were given", found.len()));
        target.clone().try_into().map_err(wrong)
    };
    let number = || match target[..] {
        [number] => Ok(number),
        _ => Err(setting(format!("a target is one number, and {} were given", target.len()))),
    };
    let touching = |quantity: ContactQuantity| -> Result<LossKind, Failure> {
        let with = with.as_deref().map(|with| scene.toucher(with)).transpose()?;
        Ok(LossKind::Contact { of: scene.toucher(&of)?, with, quantity })
    };
    let particle = scene.particle_index(&of);
    let kind = match (kind.as_str(), particle) {
        ("position", Ok(of)) => LossKind::Position { of, target: vector()?, axes },
        ("velocity", Ok(of)) => LossKind::Velocity { of, target: vector()?, axes },
        // Without robots the names that are near are those of particles.
        ("position" | "velocity", Err(none)) if scene.robots.is_empty() => return Err(none.into()),
        ("position", Err(_)) => LossKind::PartPosition { of: scene.part(&of)?, target: vector()?, axes },
        ("velocity", Err(_)) => LossKind::PartVelocity { of: scene.part(&of)?, target: vector()?, axes },
        ("joint", _) => {
            let (robot, joint) = scene.joint(&of)?;
            LossKind::Joint { robot, joint, target: number()? }
        }
        ("force", _) => touching(ContactQuantity::Force { target: vector()?, axes })?,
        ("normal-force", _) => touching(ContactQuantity::NormalForce { target: number()? })?,
        ("friction-force", _) => touching(ContactQuantity::FrictionForce { target: number()? })?,
        ("penetration", _) => touching(ContactQuantity::Penetration { target: number()? })?,
        ("effort", _) => LossKind::Effort { actuator: of },
        (other, _) => return Err(setting(format!("there is no loss `{other}`"))),
    };
    let at = match steps {
        None => When::End,
        Some(steps) if steps.is_empty() => When::Always,
        Some(steps) => When::Steps(steps),
    };
    Ok(LossTerm { kind, at, weight })
}

/// A method of optimisation, by its name in files and its settings.
pub fn method((name, numbers, counts): &Named) -> Result<Method, Failure> {
    let known = Method::ALL.into_iter().find(|method| method.name() == name.as_str());
    let names = Method::ALL.map(|method| format!("\"{}\"", method.name())).join(", ");
    let default = known.ok_or_else(|| setting(format!("there is no method `{name}`; there are {names}")))?;
    if let Some(unknown) =
        numbers.keys().chain(counts.keys()).find(|key| !default.keys().contains(&key.as_str()))
    {
        let keys = default.keys().join(", ");
        return Err(setting(format!("`{name}` has no setting `{unknown}`; it has {keys}")));
    }
    let number = |key: &str, default: f64| numbers.get(key).copied().unwrap_or(default);
    let count = |key: &str| counts.get(key).map(|count| usize::try_from(*count).unwrap_or(usize::MAX));
    Ok(match default {
        Method::GradientDescent { rate, momentum } => {
            Method::GradientDescent { rate: number("rate", rate), momentum: number("momentum", momentum) }
        }
        Method::Adam { rate, beta1, beta2 } => Method::Adam {
            rate: number("rate", rate),
            beta1: number("beta1", beta1),
            beta2: number("beta2", beta2),
        },
        Method::Lbfgs { history } => Method::Lbfgs { history: count("history").unwrap_or(history) },
        Method::LevenbergMarquardt { damping } => {
            Method::LevenbergMarquardt { damping: number("damping", damping) }
        }
        Method::CmaEs { sigma, seed, .. } => Method::CmaEs {
            sigma: number("sigma", sigma),
            population: count("population"),
            seed: counts.get("seed").copied().unwrap_or(seed),
        },
    })
}

fn setting(message: String) -> Failure {
    Failure::Setting(message)
}
