//! Numbers of elements and hinges: one for all, or a list with one for each.

use crate::check::one_or_each;
use crate::elastic::Elastic;
use crate::error::Invalid;
use crate::read::node::{Keys, Node, Table};
use crate::solid::value_of;
use crate::words;

const CONTROL_KEYS: Keys = &[("control", "control = 0")];

/// One number, or a list.
fn numbers(node: &Node<'_>) -> Result<Vec<f64>, Invalid> {
    if node.len().is_ok() {
        return node.numbers();
    }
    if node.is_text() || node.is_table() || node.flag().is_some() {
        return Err(node.wrong("a number, or a list of numbers,"));
    }
    Ok(vec![node.number()?])
}

/// Numbers that need not be there.
pub(super) fn some(table: &Table<'_>, key: &str) -> Result<Option<Vec<f64>>, Invalid> {
    table.optional(key, numbers)
}

/// Numbers that must be there.
pub(super) fn need(table: &Table<'_>, key: &str) -> Result<Vec<f64>, Invalid> {
    numbers(&table.need(key)?)
}

/// Actuations, and whether they are controls: `"control"`, which is one for each of `count`; `{ control = 0.1 }`, one for all
/// or a list; or numbers, which are params.
pub(super) fn actuation(table: &Table<'_>, key: &str, count: usize) -> Result<(Vec<f64>, bool), Invalid> {
    let Some(node) = table.get(key) else {
        return Ok((vec![0.0], false));
    };
    if node.is_text() {
        return match node.text()? {
            "control" => Ok((vec![0.0; count], true)),
            other => {
                let what = format!("{} is no actuation", words::quoted(other));
                Err(node.invalid(what, "write \"control\", or a number, or a list of numbers"))
            }
        };
    }
    if node.is_table() {
        return Ok((need(&node.table(CONTROL_KEYS)?, "control")?, true));
    }
    Ok((numbers(&node)?, false))
}

/// Lamé's parameters of `count` elements: `mu` and `lambda`, or from `young` and `poisson`.
pub(super) fn elastic(
    table: &Table<'_>,
    count: usize,
    of_young: fn(f64, f64) -> Result<Elastic, Invalid>,
) -> Result<[Vec<f64>; 2], Invalid> {
    let key = table.need_one_of(&["young", "mu"])?;
    table.one_of(&["young", "lambda"])?;
    table.one_of(&["mu", "poisson"])?;
    if key == "mu" {
        return Ok([need(table, "mu")?, need(table, "lambda")?]);
    }
    let given = [table.need("young")?, table.need("poisson")?];
    let [young, poisson] = [numbers(&given[0])?, numbers(&given[1])?];
    for (node, values) in given.iter().zip([&young, &poisson]) {
        one_or_each(&node.path(), values.len(), count, "element")?;
    }
    let all = (0..young.len().max(poisson.len())).map(|i| {
        of_young(value_of(&young, i), value_of(&poisson, i)).map_err(|invalid| {
            let at = usize::from(invalid.path == "poisson");
            let list = [&young, &poisson][at].len() > 1;
            let path = given[at].path();
            invalid.at(if list { format!("{path}[{i}]") } else { path })
        })
    });
    let all = all.collect::<Result<Vec<Elastic>, Invalid>>()?;
    Ok([all.iter().map(|it| it.mu).collect(), all.iter().map(|it| it.lambda).collect()])
}
