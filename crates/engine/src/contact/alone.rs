//! Operations that run world by world, also in batches.

use pullback_kernel::program::{BufferUse, Builder, Lane, Memory, Operation, World};

/// The same without lanes. Where hundreds of shapes touch, worlds side by side would share few of their contacts, and each
/// would pay for those of all; and an iteration that stops by its own numbers would not give the bits that it gives alone.
struct Alone<O>(O);

/// Adds an operation to a program: in lanes of worlds, or alone.
pub(crate) fn add(p: &mut Builder, operation: impl Operation, alone: bool) {
    match alone {
        true => p.operation(Alone(operation)),
        false => p.operation(operation),
    }
}

impl<O: Operation> Operation for Alone<O> {
    const LANES: bool = false;

    fn name(&self) -> String {
        self.0.name()
    }
    fn reads(&self) -> Vec<BufferUse> {
        self.0.reads()
    }
    fn writes(&self) -> Vec<BufferUse> {
        self.0.writes()
    }
    fn scratch(&self) -> usize {
        self.0.scratch()
    }
    fn memory(&self) -> Option<Memory> {
        self.0.memory()
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        self.0.forward(world);
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        self.0.pullback(world);
    }
}
