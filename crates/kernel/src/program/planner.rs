//! Checks a program, and lays out what its operations need in one workspace.

use super::buffer::{BufferInfo, Role};
use super::error::BuildError;
use super::layout::{Layout, padded};
use super::operation::{Count, Erased, StageInfo};
use super::plan::{
    ACCUMULATORS, CHUNK, Connection, Pass, PassPlan, Scatter, TableRef, Target, Total, VertexSum,
};
use super::table::{Partition, Table};
use super::{Inner, StageRole};
use crate::patterns::port::{PortInfo, Reach};

/// How many contributions a block of a GPU sums.
pub const GPU_BLOCK: usize = 4096;

/// What a plan is for.
#[derive(Clone, Copy, PartialEq)]
pub enum DeviceKind {
    Cpu,
    Gpu,
}

/// Levels of a tree at least this wide on average are worth a barrier each.
const WIDE_LEVEL: usize = 256;

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
        .map(|b| (b.role != Role::Computed).then(|| format!("its caller ({:?})", b.role)))
        .collect();
    for k in in_order(roles) {
        let info = stages[k].info();
        for port in info.outputs.iter().filter(|p| p.reach != Reach::OwnBar) {
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

/// Which buffers depend on an input or a parameter.
fn varying(buffers: &[BufferInfo], infos: &[StageInfo], roles: &[StageRole]) -> Vec<bool> {
    let mut varies: Vec<bool> =
        buffers.iter().map(|b| matches!(b.role, Role::Input | Role::Parameter)).collect();
    for (info, _) in infos.iter().zip(roles).filter(|(_, role)| **role != StageRole::InPullback) {
        if info.inputs.iter().any(|p| p.active && sources(p).iter().any(|&b| varies[b])) {
            info.outputs.iter().for_each(|p| varies[p.buffer] = true);
        }
    }
    varies
}

/// Which operations the pullback runs: those on a way from an input or parameter to an output.
pub fn live(
    buffers: &[BufferInfo],
    outputs: &[usize],
    stages: &[Box<dyn Erased>],
    roles: &[StageRole],
) -> Vec<bool> {
    let infos: Vec<StageInfo> = stages.iter().map(|s| s.info()).collect();
    let backwards = |k: usize| roles[k] != StageRole::InPullback;
    let varies = varying(buffers, &infos, roles);
    let mut wanted: Vec<bool> = (0..buffers.len()).map(|b| outputs.contains(&b)).collect();
    let mut live = vec![false; stages.len()];
    for (k, info) in infos.iter().enumerate().rev() {
        if !backwards(k) {
            // A fragment's own pullback is one whole, and runs if the fragment's would.
            live[k] = true;
            continue;
        }
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

fn ends_in_bar(info: &StageInfo) -> bool {
    info.outputs.first().is_some_and(|port| port.reach == Reach::OwnBar)
}

/// The buffers that a port reads.
fn sources(port: &PortInfo) -> Vec<usize> {
    match port.reach {
        Reach::Index => Vec::new(),
        Reach::Parent { root, .. } => vec![root, port.buffer],
        _ => vec![port.buffer],
    }
}

/// How many rows threads need beyond the vertices of each buffer, for `threads` that share the tables so.
pub fn extra_rows(inner: &Inner, partitions: &[Partition], threads: usize) -> Vec<usize> {
    let mut extra = vec![0; inner.buffers.len()];
    if threads == 1 {
        return extra;
    }
    for stage in &inner.stages {
        let info = stage.info();
        for port in info.inputs.iter().filter(|p| p.active).chain(&info.outputs) {
            let Reach::At(table) = port.reach else { continue };
            let rows = match table {
                TableRef::Fixed(t) => {
                    partitions[t].first.last().map_or(0, |end| *end as usize - inner.tables[t].vertices)
                }
                TableRef::List(l) => inner.lists[l].slots.len(),
            };
            extra[port.buffer] = extra[port.buffer].max(rows);
        }
    }
    // What is copied whole lies alike.
    for &(input, output) in &inner.carried {
        let rows = extra[input].max(extra[output]);
        (extra[input], extra[output]) = (rows, rows);
    }
    extra
}

/// The buffers whose cotangents the pullback computes, in the order in which they are complete, and by which operations.
pub fn makers_of_bars(inner: &Inner) -> Vec<(String, usize)> {
    let mut made: Vec<(String, usize)> = Vec::new();
    for k in (0..inner.stages.len()).rev().filter(|&k| inner.live[k]) {
        let info = inner.stages[k].info();
        // A fragment's own pullback makes cotangents where it ends.
        let ports = match inner.roles[k] {
            StageRole::Both => info.inputs.iter(),
            StageRole::Replaced => continue,
            StageRole::InPullback if ends_in_bar(&info) => info.outputs.iter(),
            StageRole::InPullback => continue,
        };
        for port in ports.filter(|p| p.active) {
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

/// Inputs whose cotangents nothing writes in the pullback: they stay zero, wherever carried buffers lie.
pub fn unwritten(inner: &Inner) -> Vec<usize> {
    let written = makers_of_bars(inner);
    let is_input = |b: &usize| inner.buffers[*b].role == Role::Input && !inner.outputs.contains(b);
    (0..inner.buffers.len()).filter(is_input).filter(|b| written.iter().all(|(_, w)| w != b)).collect()
}

/// The plans of all operations in one pass, for `worlds` side by side (0: one alone).
pub fn plans(
    inner: &Inner,
    buffers: &[BufferInfo],
    layouts: &[Layout],
    worlds: usize,
    pass: Pass,
    device: DeviceKind,
    derived: bool,
) -> Vec<PassPlan> {
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
        let mut plan = match direction(inner.roles[k], pass, derived) {
            Some(run) => plan(inner, k, buffers, layouts, worlds, pass, run, device, &mut written),
            None => PassPlan::default(),
        };
        plan.run = direction(inner.roles[k], pass, derived);
        plans.push(plan);
    }
    if pass == Pass::Pullback {
        plans.reverse();
    }
    plans
}

/// Which way a stage runs in a pass; none if it does not. `derived`: fragments' own pullbacks are left out.
fn direction(role: StageRole, pass: Pass, derived: bool) -> Option<Pass> {
    match (role, pass) {
        (StageRole::Both, pass) | (StageRole::Replaced, pass @ Pass::Forward) => Some(pass),
        (StageRole::Replaced, Pass::Pullback) => derived.then_some(Pass::Pullback),
        (StageRole::InPullback, Pass::Forward) => None,
        (StageRole::InPullback, Pass::Pullback) => (!derived).then_some(Pass::Forward),
    }
}

fn plan(
    inner: &Inner,
    k: usize,
    buffers: &[BufferInfo],
    layouts: &[Layout],
    worlds: usize,
    pass: Pass,
    run: Pass,
    device: DeviceKind,
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
    let mut plan = PassPlan {
        connections: ports.iter().map(connect).collect(),
        inputs,
        phases: 1,
        ..Default::default()
    };
    if let Some(scratch) = stage.own_scratch() {
        plan.scratch = scratch;
        plan.by_hand =
            ports.iter().map(|p| (p.buffer, layouts[p.buffer], inner.buffers[p.buffer].len)).collect();
        plan.numbers = ports.iter().map(|p| p.numbers).collect();
    }
    if pass == Pass::Pullback && !inner.live[k] {
        plan.phases = 0;
        return plan;
    }

    // The ports that scatter in this pass.
    let scattering: Vec<usize> = match run {
        Pass::Forward => (inputs..ports.len()).collect(),
        Pass::Pullback => (0..inputs).filter(|&i| ports[i].active).collect(),
    };
    let mut first =
        |buffer: usize| -> bool { pass == Pass::Forward || !std::mem::replace(&mut written[buffer], true) };
    let mut layout_plan = Scratch { plan: &mut plan, worlds, next: 0 };
    // In the order in which they write: elements' own values, then sums.
    for &i in &scattering {
        if matches!(
            ports[i].reach,
            Reach::Own
                | Reach::OwnBar
                | Reach::ByHand
                | Reach::OwnForChildren { .. }
                | Reach::OwnForParent { .. }
        ) {
            let first = first(ports[i].buffer);
            let connection = &mut layout_plan.plan.connections[i];
            connection.first = first;
            let layout = connection.layout;
            if first && matches!((ports[i].reach, info.count), (Reach::Own, Count::List { .. })) {
                layout_plan.plan.tails.push((layout, ports[i].numbers));
            }
        }
    }
    match device {
        DeviceKind::Cpu => layout_plan.scatters(&scattering, &ports, inner, buffers, &mut first),
        DeviceKind::Gpu => layout_plan.vertex_slots(&scattering, &ports, &info, inner, &mut first),
    }
    layout_plan.tree_slots(&ports, &info, inner, layouts, run, &mut first);
    layout_plan.totals(&scattering, &ports, &info, device, &mut first);
    let next = layout_plan.next;
    plan.scratch = plan.scratch.max(next);
    // Do threads share vertices?
    let shared = |s: &Scatter| s.rows > vertices(inner, s.table);

    if let Count::Levels { forest, nodes, .. } = info.count {
        let levels = inner.forests[forest].level_count();
        let wide = levels > 0 && (device == DeviceKind::Gpu || nodes / levels >= WIDE_LEVEL);
        // Threads divide a table by its elements, and levels by their nodes: one of them then does all.
        plan.phases = if wide && plan.scatters.is_empty() { levels } else { 1 };
    }
    plan.clears = plan.scatters.iter().any(|s| s.first || shared(s));
    plan.sums = !plan.vertex_sums.is_empty() || !plan.totals.is_empty() || plan.scatters.iter().any(shared);
    plan.phases += usize::from(plan.clears) + usize::from(plan.sums);
    plan
}

fn vertices(inner: &Inner, table: TableRef) -> usize {
    match table {
        TableRef::Fixed(t) => inner.tables[t].vertices,
        TableRef::List(l) => inner.lists[l].vertices,
    }
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

    /// What elements add to through their tables.
    fn scatters(
        &mut self,
        scattering: &[usize],
        ports: &[&PortInfo],
        inner: &Inner,
        buffers: &[BufferInfo],
        first: &mut impl FnMut(usize) -> bool,
    ) {
        for &i in scattering {
            let Reach::At(table) = ports[i].reach else { continue };
            let rows = vertices(inner, table) + buffers[ports[i].buffer].extra_rows;
            let layout = self.plan.connections[i].layout;
            let scatter =
                Scatter { table, layout, rows, numbers: ports[i].numbers, first: first(ports[i].buffer) };
            self.plan.scatters.push(scatter);
        }
    }

    /// On a GPU each contribution has a slot. Ports over one table share their rows, so that a vertex's sums are read side
    /// by side.
    fn vertex_slots(
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
            let slot_row: usize = group.iter().map(|&i| self.slot(ports[i].numbers).0).sum();
            let scratch = self.take(info.count.capacity() * arity * slot_row);
            let mut targets = Vec::new();
            let mut segment = 0;
            for &i in &group {
                let (len, slot_stride) = self.slot(ports[i].numbers);
                let c = &mut self.plan.connections[i];
                (c.scratch, c.slot_row, c.slot_stride) = (scratch + segment, slot_row, slot_stride);
                targets.push(Target { segment, len, layout: c.layout, first: first(ports[i].buffer) });
                segment += len;
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
        device: DeviceKind,
        first: &mut impl FnMut(usize) -> bool,
    ) {
        for &i in scattering {
            if ports[i].reach == Reach::Shared {
                let (count, numbers, worlds) = (info.count.capacity(), ports[i].numbers, self.worlds.max(1));
                let (slot_row, slot_stride, scratch) = match (device, info.count) {
                    // Each contribution, and after them the sums of blocks.
                    (DeviceKind::Gpu, _) => {
                        (0, count * worlds, numbers * (count * worlds + count.div_ceil(GPU_BLOCK)))
                    }
                    // Nodes of a tree have slots, elements in order have accumulators.
                    (DeviceKind::Cpu, Count::Levels { nodes, .. }) => {
                        let (row, stride) = self.slot(numbers);
                        (row, stride, nodes * row)
                    }
                    (DeviceKind::Cpu, _) => (0, 0, count.div_ceil(CHUNK) * numbers * ACCUMULATORS * worlds),
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
