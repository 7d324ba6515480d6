//! A copy of a buffer, whatever it holds: for an operation that reaches one buffer in two ways at once, whose
//! cotangents would get into each other's way.

use super::c_text::CText;
use super::port::{PortInfo, Reach};
use crate::program::operation::{Count, Scalar, Stage, StageInfo};
use crate::program::plan::{CHUNK, Context, Pass, PassPlan};
use crate::program::pool::Part;

/// values\[to\] = values\[from\];  bars\[from\] += bars\[to\]
pub(crate) struct Copy {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub len: usize,
    pub numbers: usize,
}

impl Stage for Copy {
    fn info(&self) -> StageInfo {
        let port =
            |buffer| PortInfo { buffer, reach: Reach::Own, active: true, numbers: self.numbers, arity: 1 };
        StageInfo {
            name: self.name.clone(),
            kernel: "copy",
            arguments: &["x"],
            reads: &[0],
            count: Count::Fixed(self.len),
            inputs: vec![port(self.from)],
            outputs: vec![port(self.to)],
        }
    }

    fn run<S: Scalar>(&self, pass: Pass, _: usize, context: &Context<'_, S>, part: Part) {
        let (from, to) = (context.plan.connections[0], context.plan.connections[1]);
        for e in part.range(self.len, CHUNK) {
            for c in 0..self.numbers {
                for w in 0..context.worlds.max(1) {
                    let x = from.layout.at(e) + c * from.layout.stride + w;
                    let y = to.layout.at(e) + c * to.layout.stride + w;
                    // SAFETY: numbers of the two buffers, in this thread's share.
                    unsafe {
                        match pass {
                            Pass::Forward => *context.values.add(y) = *context.values.add(x),
                            Pass::Pullback if from.first => *context.bars.add(x) = *context.bars.add(y),
                            Pass::Pullback => {
                                *context.bars.add(x) = *context.bars.add(x) + *context.bars.add(y)
                            }
                        }
                    }
                }
            }
        }
    }

    fn c_element(&self, pass: Pass, plan: &PassPlan, text: &mut CText<'_>) -> Option<String> {
        let (from, to) = (plan.connections[0], plan.connections[1]);
        let x = format!("[{} + c * {}u]", text.address(&from.layout, "e"), from.layout.stride);
        let y = format!("[{} + c * {}u]", text.address(&to.layout, "e"), to.layout.stride);
        let copy = match pass {
            Pass::Forward => format!("values{y} = values{x};"),
            Pass::Pullback if from.first => format!("bars{x} = bars{y};"),
            Pass::Pullback => format!("bars{x} = bars{x} + bars{y};"),
        };
        Some(format!("for (unsigned c = 0; c < {}u; ++c) {copy}\n", self.numbers))
    }
}
