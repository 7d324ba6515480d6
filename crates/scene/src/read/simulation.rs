//! `[simulation]`.

use super::bytes;
use super::node::{Keys, Node, Table};
use crate::check::Number;
use crate::error::Invalid;
use crate::simulation::{Integrator, Memory, Simulation, Snapshots};

const KEYS: Keys = &[
    ("dt", "dt = 0.01"),
    ("steps", "steps = 100"),
    ("duration", "duration = 1.0"),
    ("substeps", "substeps = 1"),
    ("integrator", "integrator = \"rk4\""),
    ("memory", "memory = { binomial = 30 }"),
    ("snapshots", "snapshots = \"f64\""),
    ("truncate", "truncate = 50"),
    ("clip", "clip = 1e3"),
];

const MEMORY_KEYS: Keys = &[("binomial", "binomial = 30"), ("budget", "budget = \"2 MB\"")];

pub(super) fn read(node: &Node<'_>) -> Result<Simulation, Invalid> {
    let table = node.table(KEYS)?;
    let dt = table.need("dt")?.number()?;
    Number::positive("time step", "s").check("simulation.dt", dt)?;
    Ok(Simulation {
        dt,
        steps: steps(&table, dt)?,
        substeps: table.optional("substeps", |it| it.whole())?.unwrap_or(1),
        integrator: table.optional("integrator", integrator)?.unwrap_or_default(),
        memory: table.optional("memory", memory)?.unwrap_or_default(),
        snapshots: table.optional("snapshots", snapshots)?.unwrap_or_default(),
        truncate: table.optional("truncate", |it| it.whole())?,
        clip: table.optional("clip", |it| it.number())?,
    })
}

/// Steps as such, or from a duration that is a multiple of the time step.
fn steps(table: &Table<'_>, dt: f64) -> Result<usize, Invalid> {
    let key = table.need_one_of(&["steps", "duration"])?;
    let node = table.need(key)?;
    if key == "steps" {
        return node.whole();
    }
    let duration = node.number()?;
    Number::positive("duration", "s").check("simulation.duration", duration)?;
    let steps = (duration / dt).round();
    if (steps * dt - duration).abs() > 1e-9 * duration {
        let (below, above) = (((duration / dt).floor().max(1.0)) * dt, (duration / dt).ceil() * dt);
        let what = format!("the duration {duration} s is no multiple of the time step dt = {dt} s");
        let fix = match below < duration {
            true => format!("write a duration of {below} or {above}, or change dt"),
            false => format!("write a duration of {above}, or change dt"),
        };
        return Err(node.invalid(what, fix));
    }
    Ok(steps as usize)
}

fn integrator(node: &Node<'_>) -> Result<Integrator, Invalid> {
    node.text()?.parse().map_err(|invalid| node.moved(invalid))
}

fn snapshots(node: &Node<'_>) -> Result<Snapshots, Invalid> {
    node.choose("precision", &[("f64", Snapshots::F64), ("f32", Snapshots::F32)])
}

fn memory(node: &Node<'_>) -> Result<Memory, Invalid> {
    if node.is_text() {
        return memory_word(node);
    }
    if !node.is_table() {
        return Err(node.wrong("a text such as \"every-step\", or a table,"));
    }
    let table = node.table(MEMORY_KEYS)?;
    match table.need_one_of(&["binomial", "budget"])? {
        "binomial" => Ok(Memory::Binomial { snapshots: table.need("binomial")?.whole()? }),
        _ => Ok(Memory::Budget { bytes: budget(&table.need("budget")?)? }),
    }
}

fn memory_word(node: &Node<'_>) -> Result<Memory, Invalid> {
    let fix = match node.text()? {
        "binomial" => "write `memory = { binomial = 30 }`, with the number of snapshots",
        "budget" => "write `memory = { budget = \"2 MB\" }`, with the amount of memory",
        _ => {
            let words = [
                ("every-step", Memory::EveryStep),
                ("dense", Memory::Dense),
                ("reversible", Memory::Reversible),
            ];
            return node.choose("memory", &words).map_err(|invalid| Invalid {
                fix: format!("{}, or write `{{ binomial = 30 }}` or `{{ budget = \"2 MB\" }}`", invalid.fix),
                ..invalid
            });
        }
    };
    Err(node.invalid("this kind of memory has a size", fix))
}

fn budget(node: &Node<'_>) -> Result<usize, Invalid> {
    if !node.is_text() {
        return node.whole();
    }
    bytes::parse(node.text()?).map_err(|(what, fix)| node.invalid(what, fix))
}
