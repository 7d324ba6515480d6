//! Checks a program, and lays out what its operations need in one workspace.

use super::buffer::{BufferInfo, Role};
use super::error::BuildError;
use super::layout::{BLOCK, Layout, padded};
use super::operation::{Count, Erased, StageInfo};
use super::plan::{ACCUMULATORS, CHUNK, Connection, Pass, PassPlan, TableRef, Target, Total, VertexSum};
use super::table::Table;
use super::{Inner};
use crate::patterns::port::{PortInfo, Reach};

/// Levels of a tree at least this wide on average are worth a barrier each.
const WIDE_LEVEL: usize = 256;

/// Every buffer has one writer, that comes before its readers, and the lengths fit.
pub fn check(
    buffers: &[BufferInfo],
    stages: &[Box<dyn Erased>],
    tables: &[Table],
    lists: &[Table],
) -> Result<(), BuildError> {
    let mut writers: Vec<Option<String>> = buffers
        .iter()
        .map(|b| (b.role != Role::Computed).then(|| format!("its caller ({:?})", b.role)))
        .collect();
    for stage in stages {
        let info = stage.info();
        for port in &info.outputs {
            if let Some(first) = &writers[port.buffer] {
                return Err(BuildError::TwoWriters {
                    buffer: buffers[port.buffer].name.clone(),
                    first: first.clone(),
                    second: info.name.clone(),
                });
            }
        }
        let own: Vec<usize> = info.outputs.iter().map(|p| p.buffer).collect();
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
        for port in &info.outputs {
            writers[port.buffer] = Some(info.name.clone());
        }
    }
    Ok(())
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

/// Which operations the pullback runs: those on a way from an input or parameter to an output.
pub fn live(buffers: &[BufferInfo], outputs: &[usize], stages: &[Box<dyn Erased>]) -> Vec<bool> {
    let infos: Vec<StageInfo> = stages.iter().map(|s| s.info()).collect();
    let mut varies: Vec<bool> = buffers.iter().map(|b| matches!(b.role, Role::Input | Role::Parameter)).collect();
    for info in &infos {
        if info.inputs.iter().any(|p| p.active && sources(p).iter().any(|&b| varies[b])) {
            info.outputs.iter().for_each(|p| varies[p.buffer] = true);
        }
    }
    let mut wanted: Vec<bool> = (0..buffers.len()).map(|b| outputs.contains(&b)).collect();
    let mut live = vec![false; stages.len()];
    for (k, info) in infos.iter().enumerate().rev() {
        live[k] = info.outputs.iter().any(|p| wanted[p.buffer])
            && info.inputs.iter().any(|p| p.active && sources(p).iter().any(|&b| varies[b]));
        if live[k] {
            for port in info.inputs.iter().filter(|p| p.active) {
                sources(port).iter().for_each(|&b| wanted[b] = true);
            }
        }
    }
    live
}

/// The buffers that a port reads.
fn sources(port: &PortInfo) -> Vec<usize> {
    match port.reach {
        Reach::Index => Vec::new(),
        Reach::Parent { root, .. } => vec![root, port.buffer],
        _ => vec![port.buffer],
    }
}

/// The buffers whose cotangents the pullback computes, in the order in which they are complete, and by which operations.
pub fn makers_of_bars(inner: &Inner) -> Vec<(String, usize)> {
    let mut made: Vec<(String, usize)> = Vec::new();
    for (stage, _) in inner.stages.iter().zip(&inner.live).rev().filter(|(_, live)| **live) {
        let info = stage.info();
        for port in info.inputs.iter().filter(|p| p.active) {
            let buffer = match port.reach {
                // A tree's messages stay in its slots.
                Reach::Index | Reach::Children { .. } => continue,
                Reach::Parent { root, .. } => root,
                _ => port.buffer,
            };
            // A sum is not complete before its last term, and any of them may have spoilt it.
            let operation = match made.iter().position(|(_, b)| *b == buffer) {
                Some(i) if made[i].0 == info.name => continue,
                Some(i) => format!("{}` or `{}", made.remove(i).0, info.name),
                None => info.name.clone(),
            };
            made.push((operation, buffer));
        }
    }
    made
}

/// The plans of all operations in one pass, for `worlds` side by side (0: one alone).
pub fn plans(inner: &Inner, layouts: &[Layout], worlds: usize, pass: Pass) -> Vec<PassPlan> {
    // Who has written to a buffer's cotangents before: the caller, for outputs and parameters.
    let mut written: Vec<bool> = inner
        .buffers
        .iter()
        .enumerate()
        .map(|(b, info)| info.role == Role::Parameter || inner.outputs.contains(&b))
        .collect();
    let mut plans: Vec<PassPlan> = Vec::with_capacity(inner.stages.len());
    for k in 0..inner.stages.len() {
        let k = if pass == Pass::Forward { k } else { inner.stages.len() - 1 - k };
        plans.push(plan(inner, k, layouts, worlds, pass, &mut written));
    }
    if pass == Pass::Pullback {
        plans.reverse();
    }
    plans
}

fn plan(
    inner: &Inner,
    k: usize,
    layouts: &[Layout],
    worlds: usize,
    pass: Pass,
    written: &mut [bool],
) -> PassPlan {
    let stage = &inner.stages[k];
    let info = stage.info();
    let ports: Vec<&PortInfo> = info.inputs.iter().chain(&info.outputs).collect();
    let inputs = info.inputs.len();
    let connect = |port: &&PortInfo| Connection {
        layout: if port.reach == Reach::Index { Layout::default() } else { layouts[port.buffer] },
        first: true,
        ..Connection::default()
    };
    let mut plan = PassPlan { connections: ports.iter().map(connect).collect(), inputs, phases: 1, ..Default::default() };
    if let Some(scratch) = stage.own_scratch() {
        plan.scratch = scratch;
        plan.by_hand = ports.iter().map(|p| (p.buffer, layouts[p.buffer], inner.buffers[p.buffer].len)).collect();
        plan.numbers = ports.iter().map(|p| p.numbers).collect();
    }
    if pass == Pass::Pullback && !inner.live[k] {
        plan.phases = 0;
        return plan;
    }

    // The ports that scatter in this pass.
    let scattering: Vec<usize> = match pass {
        Pass::Forward => (inputs..ports.len()).collect(),
        Pass::Pullback => (0..inputs).filter(|&i| ports[i].active).collect(),
    };
    let mut first = |buffer: usize| -> bool {
        pass == Pass::Forward || !std::mem::replace(&mut written[buffer], true)
    };
    let mut layout_plan = Scratch { plan: &mut plan, worlds, next: 0 };
    // In the order in which they write: elements' own values, then sums.
    for &i in &scattering {
        if matches!(ports[i].reach, Reach::Own | Reach::ByHand | Reach::OwnForChildren { .. } | Reach::OwnForParent { .. }) {
            let first = first(ports[i].buffer);
            let connection = &mut layout_plan.plan.connections[i];
            connection.first = first;
            let layout = connection.layout;
            if first && matches!((ports[i].reach, info.count), (Reach::Own, Count::List { .. })) {
                layout_plan.plan.tails.push((layout, ports[i].numbers));
            }
        }
    }
    layout_plan.vertex_sums(&scattering, &ports, &info, inner, &mut first);
    layout_plan.tree_slots(&ports, &info, inner, layouts, pass, &mut first);
    layout_plan.totals(&scattering, &ports, &info, &mut first);
    let next = layout_plan.next;
    plan.scratch = plan.scratch.max(next);

    if let Count::Levels { forest, nodes, .. } = info.count {
        let levels = inner.forests[forest].level_count();
        plan.phases = if levels > 0 && nodes / levels >= WIDE_LEVEL { levels } else { 1 };
    }
    plan.phases += usize::from(plan.has_sums());
    plan
}

/// Hands out scratch memory.
struct Scratch<'a> {
    plan: &'a mut PassPlan,
    worlds: usize,
    next: usize,
}

impl Scratch<'_> {
    fn take(&mut self, numbers: usize) -> usize {
        let at = self.next;
        self.next = (at + numbers).next_multiple_of(16);
        at
    }

    /// How long a value is in a slot, and how far its numbers are apart.
    fn slot(&self, numbers: usize) -> (usize, usize) {
        if self.worlds == 0 { (padded(numbers), 1) } else { (numbers * self.worlds, self.worlds) }
    }

    /// Ports over one table share its slots.
    fn vertex_sums(
        &mut self,
        scattering: &[usize],
        ports: &[&PortInfo],
        info: &StageInfo,
        inner: &Inner,
        first: &mut impl FnMut(usize) -> bool,
    ) {
        let mut tables: Vec<(TableRef, Vec<usize>)> = Vec::new();
        for &i in scattering {
            if let Reach::At(table) = ports[i].reach {
                match tables.iter_mut().find(|(t, _)| *t == table) {
                    Some((_, group)) => group.push(i),
                    None => tables.push((table, vec![i])),
                }
            }
        }
        for (table, group) in tables {
            let arity = match table {
                TableRef::Fixed(t) => inner.tables[t].arity,
                TableRef::List(l) => inner.lists[l].arity,
            };
            // Rows are as long as for all ports together, so that their length is known when kernels are compiled.
            let slot_row = scattering.iter().map(|&i| ports[i].slot).sum::<usize>() * self.worlds.max(1);
            let slots = info.count.capacity().next_multiple_of(BLOCK) * arity;
            let scratch = self.take(slots * slot_row);
            let mut targets = Vec::new();
            for &i in &group {
                let before: usize = scattering.iter().take_while(|&&j| j < i).map(|&j| ports[j].slot).sum();
                let segment = before * self.worlds.max(1);
                let len = if self.worlds == 0 { ports[i].slot } else { ports[i].numbers * self.worlds };
                let connection = &mut self.plan.connections[i];
                connection.scratch = scratch;
                targets.push(Target { segment, len, layout: connection.layout, first: first(ports[i].buffer) });
            }
            self.plan.vertex_sums.push(VertexSum { table, scratch, slot_row, targets });
        }
    }

    /// A slot for each node of a tree, which the transposes of its ports meet in.
    fn tree_slots(
        &mut self,
        ports: &[&PortInfo],
        info: &StageInfo,
        inner: &Inner,
        layouts: &[Layout],
        pass: Pass,
        first: &mut impl FnMut(usize) -> bool,
    ) {
        let Count::Levels { nodes, .. } = info.count else { return };
        let mut shared = None;
        for (i, port) in ports.iter().enumerate() {
            let (root, forest) = match port.reach {
                Reach::Parent { root, forest } => (Some(root), forest),
                Reach::Children { forest } => (None, forest),
                Reach::OwnForChildren { .. } | Reach::OwnForParent { .. } => {
                    if let Some((scratch, slot_row, slot_stride)) = shared {
                        let c = &mut self.plan.connections[i];
                        (c.scratch, c.slot_row, c.slot_stride) = (scratch, slot_row, slot_stride);
                    }
                    continue;
                }
                _ => continue,
            };
            let (slot_row, slot_stride) = self.slot(port.numbers);
            let scratch = self.take(nodes.max(1) * slot_row);
            shared = Some((scratch, slot_row, slot_stride));
            let c = &mut self.plan.connections[i];
            (c.scratch, c.slot_row, c.slot_stride) = (scratch, slot_row, slot_stride);
            let Some(root) = root else { continue };
            self.plan.root = Some(layouts[root]);
            if pass == Pass::Pullback {
                let target = Target { segment: 0, len: slot_row, layout: layouts[root], first: first(root) };
                let table = TableRef::Fixed(inner.forests[forest].roots);
                self.plan.vertex_sums.push(VertexSum { table, scratch, slot_row, targets: vec![target] });
            }
        }
    }

    fn totals(
        &mut self,
        scattering: &[usize],
        ports: &[&PortInfo],
        info: &StageInfo,
        first: &mut impl FnMut(usize) -> bool,
    ) {
        for &i in scattering {
            if ports[i].reach == Reach::Shared {
                let numbers = ports[i].numbers;
                // Elements in order have accumulators, nodes of a tree have slots.
                let ((slot_row, slot_stride), scratch) = if let Count::Levels { nodes, .. } = info.count {
                    let slot = self.slot(numbers);
                    (slot, nodes * slot.0)
                } else {
                    let chunks = info.count.capacity().div_ceil(CHUNK);
                    ((0, 0), chunks * numbers * ACCUMULATORS * self.worlds.max(1))
                };
                let scratch = self.take(scratch);
                let c = &mut self.plan.connections[i];
                (c.scratch, c.slot_row, c.slot_stride) = (scratch, slot_row, slot_stride);
                let (layout, first) = (c.layout, first(ports[i].buffer));
                self.plan.totals.push(Total { scratch, numbers, slot_row, slot_stride, layout, first });
            }
        }
    }
}
