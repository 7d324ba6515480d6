//! Which values depend on which: the sparsity of a program's derivative, read off its ports.

use std::collections::BTreeSet;

use super::by_hand::BufferUse;
use super::operation::Erased;
use super::plan::TableRef;
use super::{Program, StageRole};
use crate::patterns::port::{PortInfo, Reach};

/// For each value of a buffer, the values that it depends on.
type Sets = Vec<BTreeSet<u32>>;

impl Program {
    /// For each value of `of`, which values of `on` it can depend on, in order. What is decided at run time (lists), or
    /// written by hand (but [`Operation::is_own`](super::Operation::is_own)), or runs along a tree counts as depending on all.
    pub fn dependence(&self, of: impl Into<BufferUse>, on: impl Into<BufferUse>) -> Vec<Vec<u32>> {
        let (of, on) = (of.into().id, on.into().id);
        let mut sets: Vec<Option<Sets>> = vec![None; self.inner.buffers.len()];
        sets[on] = Some((0..self.inner.buffers[on].len as u32).map(|i| BTreeSet::from([i])).collect());
        for (stage, role) in self.inner.stages.iter().zip(&self.inner.roles) {
            let info = stage.info();
            let reached = info.inputs.iter().any(|port| self.sources(port).any(|b| sets[b].is_some()));
            if *role == StageRole::InPullback || !reached {
                continue;
            }
            if stage.is_by_hand() {
                for write in &info.outputs {
                    sets[write.buffer] = Some(self.by_hand(&**stage, &info.inputs, write.buffer, &sets));
                }
                continue;
            }
            let count = info.count.capacity();
            let element = |e: usize| {
                let mut set = BTreeSet::new();
                for port in &info.inputs {
                    self.gather(&sets, port, e, &mut set);
                }
                set
            };
            let elements: Sets = (0..count).map(element).collect();
            for port in &info.outputs {
                let scattered = self.scatter(port, &elements);
                sets[port.buffer] = Some(scattered);
            }
        }
        match sets[of].take() {
            Some(sets) => sets.into_iter().map(|set| set.into_iter().collect()).collect(),
            None => vec![Vec::new(); self.inner.buffers[of].len],
        }
    }

    /// What the values of a buffer depend on that an operation by hand writes.
    fn by_hand(&self, stage: &dyn Erased, reads: &[PortInfo], write: usize, sets: &[Option<Sets>]) -> Sets {
        let len = self.inner.buffers[write].len;
        let (mut own, mut all) = (vec![BTreeSet::new(); len], BTreeSet::new());
        for read in reads {
            let Some(of) = &sets[read.buffer] else { continue };
            if of.len() == len && stage.is_own(write, read.buffer) {
                own.iter_mut().zip(of).for_each(|(own, of)| own.extend(of));
            } else {
                all.extend(of.iter().flatten());
            }
        }
        own.iter_mut().for_each(|own| own.extend(&all));
        own
    }

    fn sources(&self, port: &PortInfo) -> impl Iterator<Item = usize> {
        super::flow::sources(port).into_iter()
    }

    /// What an argument of element `e` depends on.
    fn gather(&self, sets: &[Option<Sets>], port: &PortInfo, e: usize, to: &mut BTreeSet<u32>) {
        let own = |b: usize, i: usize| sets[b].iter().flat_map(move |s| s[i].iter().copied());
        match port.reach {
            Reach::Index => {}
            Reach::Own | Reach::OwnBar => to.extend(own(port.buffer, e)),
            Reach::Shared => to.extend(own(port.buffer, 0)),
            Reach::At(TableRef::Fixed(t)) => {
                self.corners(t, e).for_each(|vertex| to.extend(own(port.buffer, vertex)));
            }
            Reach::At(TableRef::List(_))
            | Reach::Parent { .. }
            | Reach::Children { .. }
            | Reach::OwnForChildren { .. }
            | Reach::OwnForParent { .. }
            | Reach::ByHand => {
                for b in self.sources(port) {
                    to.extend(sets[b].iter().flatten().flatten().copied());
                }
            }
        }
    }

    /// What the values of a result depend on.
    fn scatter(&self, port: &PortInfo, elements: &[BTreeSet<u32>]) -> Sets {
        let len = self.inner.buffers[port.buffer].len;
        match port.reach {
            Reach::Own | Reach::OwnBar => elements.to_vec(),
            Reach::At(TableRef::Fixed(t)) => {
                let mut sets = vec![BTreeSet::new(); len];
                for (e, set) in elements.iter().enumerate() {
                    self.corners(t, e).for_each(|vertex| sets[vertex].extend(set));
                }
                sets
            }
            Reach::Index
            | Reach::Shared
            | Reach::At(TableRef::List(_))
            | Reach::Parent { .. }
            | Reach::Children { .. }
            | Reach::OwnForChildren { .. }
            | Reach::OwnForParent { .. }
            | Reach::ByHand => {
                let all: BTreeSet<u32> = elements.iter().flatten().copied().collect();
                vec![all; len]
            }
        }
    }

    /// The vertices that element `e` touches.
    fn corners(&self, table: usize, e: usize) -> impl Iterator<Item = usize> {
        let table = &self.inner.tables[table];
        table.corners[e * table.arity..][..table.arity]
            .iter()
            .map(|&slot| (slot / super::table::ROW_UNIT) as usize)
    }
}
