//! What can be wrong with a program or its use.

/// Why a program cannot be built.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// Two buffers have one name.
    #[error("two buffers are named `{name}`: give each its own name")]
    SameName {
        /// The name.
        name: String,
    },
    /// A buffer has two writers.
    #[error("buffer `{buffer}` is written by `{first}` and by `{second}`: a buffer has one writer")]
    TwoWriters {
        /// The buffer.
        buffer: String,
        /// What writes it.
        first: String,
        /// What writes it too.
        second: String,
    },
    /// A buffer is read before its writer has run.
    #[error("`{operation}` reads buffer `{buffer}`, which nothing has written before it")]
    ReadBeforeWritten {
        /// What reads it.
        operation: String,
        /// The buffer.
        buffer: String,
    },
    /// An argument has another length than the operation.
    #[error(
        "`{operation}`: argument `{argument}` is buffer `{buffer}` with {found} values, and {wanted} are wanted ({why})"
    )]
    Length {
        /// The operation.
        operation: String,
        /// The kernel's argument.
        argument: String,
        /// The buffer bound to it.
        buffer: String,
        /// How many values it has.
        found: usize,
        /// How many it should have.
        wanted: usize,
        /// Why.
        why: &'static str,
    },
    /// An operation mixes a list made at run time with another table.
    #[error(
        "`{operation}`: argument `{argument}` reaches vertices through `{table}`, and the operation runs over {over}: \
         a list made at run time goes with no other table"
    )]
    OtherTable {
        /// The operation.
        operation: String,
        /// The kernel's argument.
        argument: String,
        /// The table that it reaches vertices through.
        table: String,
        /// What the operation runs over.
        over: String,
    },
    /// An operation has nothing that says how many elements it has.
    #[error("`{operation}`: no argument says how many elements there are; bind one of them with `.own()`")]
    NoCount {
        /// The operation.
        operation: String,
    },
    /// An index table names a vertex that does not exist.
    #[error("`{table}`: element {element} names vertex {vertex}, and there are {vertices}")]
    NoVertex {
        /// The table.
        table: String,
        /// The element.
        element: usize,
        /// The vertex that it names.
        vertex: usize,
        /// How many there are.
        vertices: usize,
    },
    /// Parents do not form a forest.
    #[error("`{forest}`: the parents form a cycle, or name a node that does not exist")]
    NotAForest {
        /// The forest.
        forest: String,
    },
    /// One buffer cannot become another.
    #[error(
        "`{output}` cannot become `{input}` of the next step: that must be an input of the same length, \
         made by an operation, and each is carried once"
    )]
    Carry {
        /// The output.
        output: String,
        /// The input.
        input: String,
    },
    /// A kernel's results have other names than there are results.
    #[error(
        "`{names}` names {found} buffers, and the kernel has {wanted} results: name each, divided by commas"
    )]
    Names {
        /// The names.
        names: String,
        /// How many there are.
        found: usize,
        /// How many results the kernel has.
        wanted: usize,
    },
    /// A handle of another program.
    #[error("`{operation}`: an argument is a buffer or a table of another program")]
    OtherProgram {
        /// The operation.
        operation: String,
    },
    /// A fragment's own pullback forgets a cotangent.
    #[error("a fragment's own pullback {what} `{buffer}`, so that its cotangent would be lost")]
    FragmentForgets {
        /// What it does not do.
        what: &'static str,
        /// The buffer.
        buffer: String,
    },
    /// A fragment inside a fragment.
    #[error(
        "a fragment with its own pullback stands inside another one: give the outer one a pullback for both"
    )]
    NestedFragment,
    /// Cotangents exist only in pullbacks.
    #[error(
        "the cotangent of `{buffer}` is used outside of a fragment's own pullback: see `Builder::fragment`"
    )]
    NotInPullback {
        /// The buffer.
        buffer: String,
    },
    /// Too large for 32-bit indices.
    #[error("`{name}` has {count} entries: at most {most} fit", most = u32::MAX / 4 - 64)]
    TooLarge {
        /// What is too large.
        name: String,
        /// How large.
        count: usize,
    },
}

/// Why values cannot be set or read.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum AccessError {
    /// The wrong number of values.
    #[error("buffer `{buffer}` has {wanted} values, and {found} were given")]
    Length {
        /// The buffer.
        buffer: String,
        /// How many it has.
        wanted: usize,
        /// How many were given.
        found: usize,
    },
    /// The buffer's values come from elsewhere.
    #[error("buffer `{buffer}` is computed by the program: only inputs and parameters can be set")]
    Computed {
        /// The buffer.
        buffer: String,
    },
    /// Only outputs have cotangents to set.
    #[error("buffer `{buffer}` is no output: declare it with `output` when the program is built")]
    NoOutput {
        /// The buffer.
        buffer: String,
    },
    /// A handle of another program.
    #[error("the buffer is one of another program")]
    OtherProgram,
    /// No such world.
    #[error("world {world} of {worlds}")]
    NoWorld {
        /// The world asked for.
        world: usize,
        /// How many there are.
        worlds: usize,
    },
    /// Too many elements for a list.
    #[error(
        "list `{list}` holds at most {capacity} elements, and {found} were given: build it with a larger capacity"
    )]
    Full {
        /// The list.
        list: String,
        /// How many it holds.
        capacity: usize,
        /// How many were given.
        found: usize,
    },
    /// A list names a vertex that does not exist.
    #[error("list `{list}`: element {element} names vertex {vertex}, and there are {vertices}")]
    NoVertex {
        /// The list.
        list: String,
        /// The element.
        element: usize,
        /// The vertex that it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
}

/// A number that is none, and where it was first made.
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("operation `{operation}` made {what} of `{buffer}[{element}]` not finite (world {world})")]
pub struct NonFinite {
    /// The operation that made it.
    pub operation: String,
    /// Its buffer.
    pub buffer: String,
    /// The value in the buffer.
    pub element: usize,
    /// The world.
    pub world: usize,
    /// `the value`, or `the cotangent`.
    pub what: &'static str,
}

crate::debug_as_display!(BuildError, AccessError, NonFinite);
