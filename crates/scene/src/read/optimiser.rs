//! `[optimiser]`.

use super::node::{Keys, Node, Table};
use crate::error::Invalid;
use crate::problem::{Method, Optimiser};
use crate::words;

const KEYS: Keys = &[
    ("method", "method = \"adam\""),
    ("iterations", "iterations = 200"),
    ("tolerance", "tolerance = 1e-10"),
    ("target", "target = 1e-6"),
    ("rate", "rate = 0.1"),
    ("momentum", "momentum = 0.9"),
    ("beta1", "beta1 = 0.9"),
    ("beta2", "beta2 = 0.999"),
    ("history", "history = 10"),
    ("damping", "damping = 1e-3"),
    ("sigma", "sigma = 0.3"),
    ("population", "population = 12"),
    ("seed", "seed = 1"),
];

pub(super) fn read(node: &Node<'_>) -> Result<Optimiser, Invalid> {
    let table = node.table(KEYS)?;
    let usual = Optimiser::default();
    let methods = Method::ALL.map(|method| (method.name(), method));
    let method = table.optional("method", |node| node.choose("method", &methods))?.unwrap_or_default();
    own_keys_only(&table, &method)?;
    Ok(Optimiser {
        method: with_keys(method, &table)?,
        iterations: table.optional("iterations", |it| it.whole())?.unwrap_or(usual.iterations),
        tolerance: table.optional("tolerance", |it| it.number())?.unwrap_or(usual.tolerance),
        target: table.optional("target", |it| it.number())?,
    })
}

/// Refuses keys of other methods.
fn own_keys_only(table: &Table<'_>, method: &Method) -> Result<(), Invalid> {
    let others = Method::ALL.iter().flat_map(Method::keys);
    let Some(key) = others.into_iter().find(|key| table.has(key) && !method.keys().contains(key)) else {
        return Ok(());
    };
    let owners: Vec<&str> =
        Method::ALL.iter().filter(|it| it.keys().contains(key)).map(Method::name).collect();
    let default = if table.has("method") { "" } else { ", the default," };
    let what = format!(
        "`{key}` belongs to {}, and the method `{}`{default} has none",
        words::list(&owners),
        method.name()
    );
    let fix =
        format!("leave it out, or change the method; `{}` has {}", method.name(), words::list(method.keys()));
    Err(table.invalid(key, what, fix))
}

/// The method with what the file says of it.
fn with_keys(method: Method, table: &Table<'_>) -> Result<Method, Invalid> {
    let number =
        |key: &str, usual: f64| Ok::<_, Invalid>(table.optional(key, |it| it.number())?.unwrap_or(usual));
    let whole = |key: &str| table.optional(key, |it| it.whole());
    Ok(match method {
        Method::GradientDescent { rate, momentum } => {
            Method::GradientDescent { rate: number("rate", rate)?, momentum: number("momentum", momentum)? }
        }
        Method::Adam { rate, beta1, beta2 } => Method::Adam {
            rate: number("rate", rate)?,
            beta1: number("beta1", beta1)?,
            beta2: number("beta2", beta2)?,
        },
        Method::Lbfgs { history } => Method::Lbfgs { history: whole("history")?.unwrap_or(history) },
        Method::LevenbergMarquardt { damping } => {
            Method::LevenbergMarquardt { damping: number("damping", damping)? }
        }
        Method::CmaEs { sigma, population, seed } => Method::CmaEs {
            sigma: number("sigma", sigma)?,
            population: whole("population")?.or(population),
            seed: whole("seed")?.map_or(seed, |seed| seed as u64),
        },
    })
}
