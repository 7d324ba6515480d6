//! What flows where: which buffers vary, which operations the pullback runs, and who makes which cotangent.

use super::buffer::{BufferInfo, Role};
use super::operation::StageInfo;
use super::{Inner, StageRole};
use crate::patterns::port::{PortInfo, Reach};

/// Which buffers depend on an input or a parameter.
pub fn varying(buffers: &[BufferInfo], infos: &[StageInfo], roles: &[StageRole]) -> Vec<bool> {
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
pub fn live(varies: &[bool], outputs: &[usize], infos: &[StageInfo], roles: &[StageRole]) -> Vec<bool> {
    let backwards = |k: usize| roles[k] != StageRole::InPullback;
    let mut wanted: Vec<bool> = (0..varies.len()).map(|b| outputs.contains(&b)).collect();
    let mut live = vec![false; infos.len()];
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

pub fn ends_in_bar(info: &StageInfo) -> bool {
    info.outputs.first().is_some_and(|port| port.reach == Reach::OwnBar)
}

/// The buffers that a port reads.
pub fn sources(port: &PortInfo) -> Vec<usize> {
    match port.reach {
        Reach::Index => Vec::new(),
        Reach::Parent { root, .. } => vec![root, port.buffer],
        _ => vec![port.buffer],
    }
}

/// Buffers that change from one forward pass to the next, and whose values a pullback or its caller reads; and those that are a state
/// which no pullback reads.
pub fn kept(inner: &Inner) -> [Vec<bool>; 2] {
    let mut kept: Vec<bool> =
        inner.buffers.iter().map(|b| matches!(b.role, Role::Input | Role::Memory)).collect();
    inner.outputs.iter().for_each(|&b| kept[b] = true);
    inner.carried.iter().for_each(|&(input, output)| (kept[input], kept[output]) = (false, false));
    for k in (0..inner.stages.len()).filter(|&k| inner.live[k]) {
        let (stage, info) = (&inner.stages[k], inner.stages[k].info());
        let asked = |bar: usize| {
            info.inputs.get(bar).is_some_and(|p| p.active && sources(p).iter().any(|&b| inner.varies[b]))
        };
        for (i, port) in info.inputs.iter().enumerate() {
            let simple = matches!(port.reach, Reach::Own | Reach::At(_) | Reach::Shared);
            let read = match info.reads.get(i) {
                // What runs in place of a pullback reads what it is given.
                Some(bars) if simple && inner.roles[k] == StageRole::Both => {
                    (0..info.inputs.len()).any(|bar| bars >> bar & 1 == 1 && asked(bar))
                }
                _ => true,
            };
            if read {
                sources(port).iter().for_each(|&b| kept[b] = true);
            }
        }
        if stage.is_by_hand() {
            // It may read what it has made.
            info.outputs.iter().flat_map(sources).for_each(|b| kept[b] = true);
        }
    }
    let changes = |b: &BufferInfo| matches!(b.role, Role::Input | Role::Memory | Role::Computed);
    kept.iter_mut().zip(&inner.buffers).for_each(|(kept, b)| *kept &= changes(b));
    let mut states = vec![false; kept.len()];
    inner.carried.iter().for_each(|&(input, _)| states[input] = !kept[input]);
    [kept, states]
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
