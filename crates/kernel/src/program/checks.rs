//! Is a program right? Every buffer has one writer that comes before its readers, lengths fit, and fragments forget nothing.

use super::StageRole;
use super::buffer::{BufferInfo, Role};
use super::error::BuildError;
use super::flow::{sources, varying};
use super::operation::{Count, Erased, StageInfo};
use super::plan::TableRef;
use super::table::Table;
use crate::patterns::port::{PortInfo, Reach};

/// Every buffer has one writer, that comes before its readers, and the lengths fit.
pub fn check(
    buffers: &[BufferInfo],
    stages: &[Box<dyn Erased>],
    roles: &[StageRole],
    tables: &[Table],
    lists: &[Table],
) -> Result<(), BuildError> {
    let mut writers: Vec<Option<String>> = buffers
        .iter()
        .map(|b| {
            (!matches!(b.role, Role::Computed | Role::Memory)).then(|| format!("its caller ({:?})", b.role))
        })
        .collect();
    for k in in_order(roles) {
        let info = stages[k].info();
        // Memory may be shared.
        let one_writer = |p: &&PortInfo| p.reach != Reach::OwnBar && buffers[p.buffer].role != Role::Memory;
        for port in info.outputs.iter().filter(one_writer) {
            if let Some(first) = &writers[port.buffer] {
                return Err(BuildError::TwoWriters {
                    buffer: buffers[port.buffer].name.clone(),
                    first: first.clone(),
                    second: info.name.clone(),
                });
            }
        }
        let own: Vec<usize> =
            info.outputs.iter().filter(|p| p.reach != Reach::OwnBar).map(|p| p.buffer).collect();
        for (i, port) in info.inputs.iter().enumerate() {
            check_length(buffers, tables, lists, &info, port, info.arguments.get(i).copied().unwrap_or("?"))?;
            // A tree's nodes read what other nodes of the same operation write.
            let read = match port.reach {
                Reach::Index => continue,
                Reach::Parent { root, .. } => root,
                Reach::Children { .. } => continue,
                _ => port.buffer,
            };
            if writers[read].is_none() || own.contains(&read) {
                return Err(BuildError::ReadBeforeWritten {
                    operation: info.name.clone(),
                    buffer: buffers[read].name.clone(),
                });
            }
        }
        for port in info.outputs.iter().filter(|p| p.reach != Reach::OwnBar) {
            writers[port.buffer] = Some(info.name.clone());
        }
    }
    Ok(())
}

/// The stages in the order in which they were added: those of fragments' own pullbacks are kept in reverse.
fn in_order(roles: &[StageRole]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..roles.len()).collect();
    let mut from = 0;
    while from < roles.len() {
        let run = roles[from..].iter().take_while(|r| **r == StageRole::InPullback).count();
        order[from..from + run].reverse();
        from += run.max(1);
    }
    order
}

fn check_length(
    buffers: &[BufferInfo],
    tables: &[Table],
    lists: &[Table],
    info: &StageInfo,
    port: &PortInfo,
    argument: &str,
) -> Result<(), BuildError> {
    let (wanted, why) = match port.reach {
        Reach::Own => (info.count.capacity(), "one for each element"),
        Reach::At(TableRef::Fixed(i)) => (tables[i].vertices, "one for each vertex"),
        Reach::At(TableRef::List(i)) => (lists[i].vertices, "one for each vertex"),
        Reach::Shared => (1, "one for all elements"),
        Reach::Parent { root, .. } => {
            let found = buffers[root].len;
            if found == 1 {
                return Ok(());
            }
            return Err(length_error(info, "the roots' parent", &buffers[root], 1, "one for all roots"));
        }
        _ => return Ok(()),
    };
    if let Reach::At(table) = port.reach {
        check_table(tables, lists, info, table, argument)?;
    }
    if buffers[port.buffer].len == wanted {
        return Ok(());
    }
    Err(length_error(info, argument, &buffers[port.buffer], wanted, why))
}

/// A table of other elements than the operation's would be read past its end.
fn check_table(
    tables: &[Table],
    lists: &[Table],
    info: &StageInfo,
    table: TableRef,
    argument: &str,
) -> Result<(), BuildError> {
    let (operation, argument) = (info.name.clone(), argument.to_owned());
    match (table, info.count) {
        (TableRef::Fixed(i), Count::Fixed(wanted) | Count::Levels { nodes: wanted, .. }) => {
            let (buffer, found) = (tables[i].name.clone(), tables[i].count);
            if found == wanted {
                return Ok(());
            }
            let why = "one set of corners for each element";
            Err(BuildError::Length { operation, argument, buffer, found, wanted, why })
        }
        (TableRef::List(i), Count::List { list, .. }) if i == list => Ok(()),
        // How many elements a list has now says nothing of another table.
        (table, count) => {
            let table = match table {
                TableRef::Fixed(i) => tables[i].name.clone(),
                TableRef::List(i) => lists[i].name.clone(),
            };
            let over = match count {
                Count::List { list, .. } => format!("`{}`", lists[list].name),
                Count::Fixed(n) | Count::Levels { nodes: n, .. } => format!("{n} elements"),
            };
            Err(BuildError::OtherTable { operation, argument, table, over })
        }
    }
}

fn length_error(
    info: &StageInfo,
    argument: &str,
    buffer: &BufferInfo,
    wanted: usize,
    why: &'static str,
) -> BuildError {
    BuildError::Length {
        operation: info.name.clone(),
        argument: argument.to_owned(),
        buffer: buffer.name.clone(),
        found: buffer.len,
        wanted,
        why,
    }
}

/// A fragment's own pullback starts from every result that is used, and ends at every input that varies.
pub fn check_fragments(
    buffers: &[BufferInfo],
    outputs: &[usize],
    stages: &[Box<dyn Erased>],
    roles: &[StageRole],
) -> Result<(), BuildError> {
    let infos: Vec<StageInfo> = stages.iter().map(|s| s.info()).collect();
    let of =
        |role: StageRole| infos.iter().zip(roles).filter(move |(_, r)| **r == role).map(|(info, _)| info);
    let varies = varying(buffers, &infos, roles);
    let inside: Vec<usize> =
        of(StageRole::Replaced).flat_map(|i| i.outputs.iter().map(|p| p.buffer)).collect();
    let reads = |info: &StageInfo, b: usize| info.inputs.iter().any(|p| p.active && sources(p).contains(&b));
    let error = |what: &'static str, b: usize| {
        Err(BuildError::FragmentForgets { what, buffer: buffers[b].name.clone() })
    };
    for &b in &inside {
        let used = outputs.contains(&b) || of(StageRole::Both).any(|info| reads(info, b));
        let taken = of(StageRole::InPullback)
            .any(|info| info.inputs.iter().any(|p| p.reach == Reach::OwnBar && p.buffer == b));
        if used && !taken {
            return error("does not start from `bar` of", b);
        }
    }
    for b in (0..buffers.len()).filter(|b| varies[*b] && !inside.contains(b)) {
        let read = of(StageRole::Replaced).any(|info| reads(info, b));
        let given = of(StageRole::InPullback)
            .any(|info| info.outputs.iter().any(|p| p.reach == Reach::OwnBar && p.buffer == b));
        if read && !given {
            return error("does not end with `add_to_bar` of", b);
        }
    }
    Ok(())
}
