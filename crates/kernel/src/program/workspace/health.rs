//! Where a number was first not finite.

use super::super::buffer::Role;
use super::super::error::NonFinite;
use super::super::operation::Scalar;
use super::super::{StageRole, flow};
use super::Workspace;

impl<S: Scalar> Workspace<S> {
    /// The first value, in the order of the operations, that is infinite or not a number.
    pub fn check_values(&self) -> Result<(), NonFinite> {
        self.check(false)
    }

    /// The first cotangent, in the reverse order of the operations, that is infinite or not a number.
    pub fn check_bars(&self) -> Result<(), NonFinite> {
        self.check(true)
    }

    fn check(&self, bars: bool) -> Result<(), NonFinite> {
        let inner = &self.program.inner;
        let mut made: Vec<(String, usize)> = inner
            .buffers
            .iter()
            .enumerate()
            .filter(|(b, info)| {
                if bars {
                    inner.outputs.contains(b)
                } else {
                    !matches!(info.role, Role::Computed | Role::Memory)
                }
            })
            .map(|(b, _)| ("the caller".to_owned(), b))
            .collect();
        let infos: Vec<_> = inner.stages.iter().map(|s| s.info()).collect();
        if bars {
            made.extend(flow::makers_of_bars(inner));
        } else {
            for (_, info) in
                infos.iter().enumerate().filter(|(k, _)| inner.roles[*k] != StageRole::InPullback)
            {
                made.extend(info.outputs.iter().map(|p| (info.name.clone(), p.buffer)));
            }
        }
        made.retain(|(_, b)| inner.buffers[*b].role != Role::Memory);
        for (operation, b) in made {
            let (info, layout) = (&inner.buffers[b], self.layouts()[b]);
            for world in 0..self.worlds {
                let (arena, lane, _) = self.find(b, world).unwrap_or((0, 0, layout));
                let arena = &self.arenas[arena];
                let array = if bars { arena.bars.pointer } else { arena.values.pointer };
                for e in 0..info.len {
                    for c in 0..info.numbers {
                        // SAFETY: a number of the buffer.
                        let number = unsafe { array.add(layout.at(e) + c * layout.stride + lane).read() };
                        if !number.is_finite() {
                            let what = if bars { "the cotangent" } else { "the value" };
                            return Err(NonFinite {
                                operation,
                                buffer: info.name.clone(),
                                element: e,
                                world,
                                what,
                            });
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
