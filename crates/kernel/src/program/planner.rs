//! Lays out what the operations of a program need in one workspace.

use super::barriers;
use super::buffer::{BufferInfo, Role};
use super::flow::ends_in_bar;
use super::layout::{Layout, padded};
use super::operation::{Count, StageInfo};
use super::plan::{
    ACCUMULATORS, CHUNK, Connection, Pass, PassPlan, Ports, Scatter, TableRef, Target, Total, VertexSum,
};
use super::table::Partition;
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
    barriers::set(inner, &mut plans, pass);
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
    if stage.is_by_hand() {
        plan.by_hand = ports.iter().map(|p| (layouts[p.buffer], inner.buffers[p.buffer].len)).collect();
        let numbers = |p: &&PortInfo| match inner.buffers[p.buffer].role {
            Role::Memory => 0,
            Role::Input | Role::Parameter | Role::Given | Role::Constant | Role::Computed => p.numbers,
        };
        plan.numbers = ports.iter().map(numbers).collect();
        plan.at = Ports::new(ports.iter().map(|port| port.buffer as u32).collect());
    }
    if pass == Pass::Pullback && !inner.live[k] {
        plan.phases = 0;
        return plan;
    }

    // The ports that scatter in this pass. A cotangent that reaches no input is not asked for.
    let scattering: Vec<usize> = match run {
        Pass::Forward => (inputs..ports.len()).collect(),
        Pass::Pullback => {
            for (connection, port) in plan.connections[..inputs].iter_mut().zip(&info.inputs) {
                let simple = matches!(port.reach, Reach::Own | Reach::At(_) | Reach::Shared);
                connection.mute = simple && !inner.varies[port.buffer];
            }
            (0..inputs).filter(|&i| ports[i].active && !plan.connections[i].mute).collect()
        }
    };
    // What runs forwards is the only writer of its buffers, but where a fragment's own pullback adds to a cotangent.
    let to_bars = run == Pass::Pullback || ends_in_bar(&info);
    let mut first = |buffer: usize| -> bool { !to_bars || !std::mem::replace(&mut written[buffer], true) };
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
