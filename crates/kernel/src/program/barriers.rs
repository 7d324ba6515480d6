//! Where threads have to wait for each other.
//!
//! A thread has the same share of the elements in every sweep over as many: what it wrote there as an element's own value, it may read as
//! one without asking the others. So operations on values of vertices follow each other without a barrier, and what is cleared is
//! cleared among them. Whatever is reached through a table, shared by all, or written by hand waits for all.

use super::operation::{Count, StageInfo};
use super::plan::{Pass, PassPlan};
use super::{Inner, StageRole};
use crate::patterns::port::{PortInfo, Reach};

/// What threads do to a field of a buffer between two barriers.
#[derive(Clone, Copy, PartialEq)]
struct Access {
    place: Place,
    writes: bool,
    /// Each thread in its share of so many elements; none: anywhere.
    own: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Values(usize),
    Bars(usize),
    Scratch,
}

impl Access {
    fn is_against(&self, other: &Access) -> bool {
        let apart = self.own.is_some() && self.own == other.own;
        self.place == other.place && (self.writes || other.writes) && !apart
    }
}

/// Sets before which phases of its operations a pass waits.
pub fn set(inner: &Inner, plans: &mut [PassPlan], pass: Pass) {
    // What was done since the last barrier; none: anything. Passes begin after one.
    let mut since: Option<Vec<Access>> = Some(Vec::new());
    for k in 0..plans.len() {
        let k = if pass == Pass::Forward { k } else { plans.len() - 1 - k };
        let plan = &mut plans[k];
        if plan.phases == 0 {
            continue;
        }
        let all = accesses(inner, k, plan);
        let there = [plan.clears, true, plan.sums];
        for phase in (0..3).filter(|&phase| there[phase]) {
            let now = all.as_ref().map(|phases| &phases[phase]);
            let waits = match (&since, now) {
                (Some(since), Some(now)) => now.iter().any(|a| since.iter().any(|b| a.is_against(b))),
                _ => true,
            };
            plan.waits[phase] = waits;
            since = match (since.filter(|_| !waits), now) {
                (_, None) => None,
                (None, Some(now)) => Some(now.clone()),
                (Some(since), Some(now)) => Some([&since[..], now].concat()),
            };
        }
    }
}

/// What the phases of an operation do: clearing, the sweep, sums. None: anything.
fn accesses(inner: &Inner, k: usize, plan: &PassPlan) -> Option<[Vec<Access>; 3]> {
    let info: StageInfo = inner.stages[k].info();
    let Count::Fixed(count) = info.count else { return None };
    let simple = |p: &PortInfo| matches!(p.reach, Reach::Own | Reach::At(_) | Reach::Shared | Reach::Index);
    let ports = || info.inputs.iter().chain(&info.outputs);
    if inner.stages[k].is_by_hand() || inner.roles[k] == StageRole::InPullback || !ports().all(simple) {
        return None;
    }
    let own = |p: &PortInfo| (p.reach == Reach::Own).then_some(count);
    let mut phases = [const { Vec::new() }; 3];
    let mut gather = |p: &PortInfo, place: Place| {
        if p.reach != Reach::Index {
            phases[1].push(Access { place, writes: false, own: own(p) });
        }
    };
    info.inputs.iter().for_each(|p| gather(p, Place::Values(p.buffer)));
    let run = plan.run?;
    if run == Pass::Pullback {
        info.outputs.iter().for_each(|p| gather(p, Place::Bars(p.buffer)));
    }
    let scattering: Vec<(&PortInfo, Place)> = match run {
        Pass::Forward => info.outputs.iter().map(|p| (p, Place::Values(p.buffer))).collect(),
        Pass::Pullback => {
            let asked = |(i, p): &(usize, &PortInfo)| p.active && !plan.connections[*i].mute;
            info.inputs.iter().enumerate().filter(asked).map(|(_, p)| (p, Place::Bars(p.buffer))).collect()
        }
    };
    for (port, place) in scattering {
        let write = Access { place, writes: true, own: own(port) };
        match port.reach {
            Reach::Own => phases[1].push(write),
            Reach::At(_) => phases.iter_mut().for_each(|phase| phase.push(write)),
            // Parts of sums lie in the scratch memory.
            _ => {
                let scratch = Access { place: Place::Scratch, writes: true, own: None };
                phases[1].push(scratch);
                phases[2].extend([scratch, write]);
            }
        }
    }
    Some(phases)
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use crate::program::plan::Pass;
    use crate::program::planner::{DeviceKind, plans};

    #[kernel]
    fn sum<R: Real>(a: R, b: R) -> R {
        a + b
    }

    #[kernel]
    fn between<R: Real>(x: [R; 2], k: R) -> [R; 2] {
        let f = (x[1] - x[0]) * k;
        [f, -f]
    }

    /// Before which phases of which operations threads wait, forwards and back: of those that are there, of clearing, sweep and sums.
    fn waits(program: &Program) -> [Vec<(String, Vec<bool>)>; 2] {
        let inner = &*program.inner;
        let (layouts, _) = crate::program::layout::layouts(&inner.buffers, 0);
        [Pass::Forward, Pass::Pullback].map(|pass| {
            let plans = plans(inner, &inner.buffers, &layouts, 0, pass, DeviceKind::Cpu, false);
            let of = |k: usize| {
                let phases = (0..plans[k].phases).map(|phase| plans[k].waits_before(phase)).collect();
                (inner.stages[k].info().name, phases)
            };
            (0..plans.len()).map(of).collect()
        })
    }

    #[test]
    fn own_values_need_no_barrier() {
        let mut p = Program::builder();
        let (x, y) = (p.input::<f64>("x", 100), p.input::<f64>("y", 100));
        let k = p.parameter::<f64>("k", 50);
        let ends = p.corners("ends", &[[3, 70]; 50], 100);
        let a = p.map::<sum>("a", (x.own(), y.own()));
        let b = p.map::<sum>("b", (a.own(), y.own()));
        let f = p.elements::<between, f64, 2>("f", ends, (b.at(ends), k.own()));
        let c = p.map::<sum>("c", (f.own(), b.own()));
        p.output(c);
        let program = p.finish().expect("a program");
        let of = |name: &str, phases: &[bool]| (name.to_owned(), phases.to_vec());
        let [forward, back] = waits(&program);
        // What elements add to is cleared beside the maps before; they read b anywhere, and c reads what they all gave.
        let wanted = [of("a", &[false]), of("b", &[false]), of("f", &[false, true]), of("c", &[true])];
        assert_eq!(forward, wanted);
        // In reverse order: c's cotangents are read anywhere by f, whose own cotangents of b have had c's added before.
        let wanted = [of("a", &[false]), of("b", &[true]), of("f", &[true]), of("c", &[false])];
        assert_eq!(back, wanted);
    }

    #[kernel]
    fn scaled<R: Real>(a: R, s: R) -> R {
        a * s
    }

    /// Sums are parts in one scratch memory, and what all share is one thread's.
    #[test]
    fn sums_need_barriers() {
        let mut p = Program::builder();
        let (x, y) = (p.input::<f64>("x", 100), p.input::<f64>("y", 100));
        let a = p.reduce::<sum>("a", (x.own(), y.own()));
        let b = p.reduce::<sum>("b", (x.own(), y.own()));
        let c = p.map::<scaled>("c", (x.own(), a.shared()));
        let d = p.map::<scaled>("d", (c.own(), b.shared()));
        p.output(d);
        let program = p.finish().expect("a program");
        let [forward, back] = waits(&program);
        let phases = |waits: &[(String, Vec<bool>)], name: &str| {
            waits.iter().find(|(it, _)| it == name).map(|(_, phases)| phases.clone()).expect("an operation")
        };
        assert_eq!(phases(&forward, "a"), [false, true]);
        assert_eq!(phases(&forward, "b"), [true, true], "the scratch memory is still read");
        assert_eq!(phases(&forward, "c"), [false], "b's sum is being made, not a's");
        assert_eq!(phases(&forward, "d"), [true]);
        assert_eq!(phases(&back, "d"), [false, true], "the cotangent of what is shared is a sum");
        assert_eq!(phases(&back, "c"), [true, true], "the scratch memory is still read");
        assert_eq!(phases(&back, "b"), [false], "the cotangent of b's sum was made before c's sweep");
        assert_eq!(phases(&back, "a"), [true], "the cotangent of a's sum is being made");
    }
}
