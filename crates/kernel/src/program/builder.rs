//! Building a program: declare buffers and index tables, apply kernels through patterns, finish.

use std::marker::PhantomData;
use std::sync::Arc;

use super::buffer::{Buffer, BufferInfo, Constant, Indices, Memory, Role};
use super::by_hand::{ByHand, Operation};
use super::error::BuildError;
use super::operation::{Count, Erased, StageInfo};
use super::plan::TableRef;
use super::table::{Forest, Table};
use super::{Inner, Program, StageRole, checks, flow};
use crate::patterns::copy::Copy;
use crate::patterns::edges::Edges;
use crate::patterns::elements::{At, Corners};
use crate::patterns::fragment::{Identity, OwnBar};
use crate::patterns::map::Own;
use crate::patterns::pairs::List;
use crate::patterns::port::{Inputs, Outputs, PortInfo, Reach, Single};
use crate::patterns::reduce::Shared;
use crate::patterns::sweep::Sweep;
use crate::patterns::tree_down::{ForChildren, Parent};
use crate::patterns::tree_up::{Children, ForParent};
use crate::{Argument, Kernel, Kind, Value, gradcheck};

/// Rows are named by 32-bit numbers, in units of four.
const MOST_ENTRIES: usize = (u32::MAX / 4 - 64) as usize;

/// A program in the making. The first mistake is kept, and told by [`Builder::finish`].
#[derive(Default)]
pub struct Builder {
    buffers: Vec<BufferInfo>,
    outputs: Vec<usize>,
    /// (input, output): the output is the input of the next step.
    carried: Vec<(usize, usize)>,
    stages: Vec<Box<dyn Erased>>,
    roles: Vec<StageRole>,
    /// What stages that are added now are.
    role: Option<StageRole>,
    tables: Vec<Table>,
    lists: Vec<Table>,
    forests: Vec<Forest>,
    indices: Vec<Vec<u32>>,
    /// How many of them there are without the padding.
    index_counts: Vec<usize>,
    error: Option<BuildError>,
}

/// A forest of nodes, for `tree_down` and `tree_up`.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    forest: usize,
}

impl Builder {
    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    fn declare<T: Value>(&mut self, name: &str, len: usize, role: Role, data: Option<Vec<f64>>) -> Buffer<T> {
        if self.buffers.iter().any(|b| b.name == name) {
            self.fail(BuildError::SameName { name: name.to_owned() });
        }
        if len > MOST_ENTRIES {
            self.fail(BuildError::TooLarge { name: name.to_owned(), count: len });
        }
        self.buffers.push(BufferInfo {
            name: name.to_owned(),
            len,
            numbers: T::LEN,
            role,
            gathered: false,
            extra_rows: 0,
            data,
        });
        Buffer::new(self.buffers.len() - 1)
    }

    /// How many values a buffer has.
    pub fn len<T: Value>(&self, buffer: Buffer<T>) -> usize {
        self.buffers[buffer.id].len
    }

    /// A buffer of `len` values that the caller sets before each forward pass.
    pub fn input<T: Value>(&mut self, name: &str, len: usize) -> Buffer<T> {
        self.declare(name, len, Role::Input, None)
    }

    /// A buffer of `len` values that the caller sets; its cotangent adds up over pullbacks.
    pub fn parameter<T: Value>(&mut self, name: &str, len: usize) -> Buffer<T> {
        self.declare(name, len, Role::Parameter, None)
    }

    /// A buffer of `len` values that the caller sets, and for whose cotangent nothing is computed.
    pub fn given<T: Value>(&mut self, name: &str, len: usize) -> Buffer<T> {
        self.declare(name, len, Role::Given, None)
    }

    /// Does a buffer depend on an input or a parameter, by what has been added so far?
    pub fn varies<T: Value>(&self, buffer: Buffer<T>) -> bool {
        let infos: Vec<StageInfo> = self.stages.iter().map(|stage| stage.info()).collect();
        flow::varying(&self.buffers, &infos, &self.roles)[buffer.id]
    }

    /// A buffer of values that never change, and that pullbacks do not go through.
    pub fn constant<T: Value>(&mut self, name: &str, values: &[crate::With<T, f64>]) -> Constant<T> {
        let data = values.iter().flat_map(|value| gradcheck::flat::<T>(*value)).collect();
        self.declare::<T>(name, values.len(), Role::Constant, Some(data)).fixed()
    }

    /// One index or kind for each element.
    pub fn indices<K: Kind>(&mut self, values: &[K]) -> Indices<K> {
        self.index_counts.push(values.len());
        let mut indices: Vec<u32> = values.iter().map(|k| k.index()).collect();
        // Whole lanes are read at the end.
        indices.resize(indices.len().next_multiple_of(super::layout::BLOCK), 0);
        self.indices.push(indices);
        Indices { id: self.indices.len() - 1, ty: PhantomData }
    }

    /// Which `N` of `vertices` each element touches.
    pub fn corners<const N: usize>(
        &mut self,
        name: &str,
        elements: &[[usize; N]],
        vertices: usize,
    ) -> Corners<N> {
        let id = self.tables.len();
        let mut table = self.table::<N>(name, elements.len(), vertices);
        if let Some((element, &vertex)) = elements
            .iter()
            .enumerate()
            .find_map(|(e, corners)| corners.iter().find(|v| **v >= vertices).map(|v| (e, v)))
        {
            self.fail(BuildError::NoVertex { table: name.to_owned(), element, vertex, vertices });
        } else if table.capacity == elements.len() {
            let flat: Vec<u32> = elements.iter().flatten().map(|v| *v as u32).collect();
            table.set(&flat);
        }
        self.tables.push(table);
        Corners { table: TableRef::Fixed(id) }
    }

    /// A list of up to `capacity` elements, each touching `N` of `vertices`, made at run time.
    pub fn list<const N: usize>(&mut self, name: &str, capacity: usize, vertices: usize) -> List<N> {
        let table = self.table::<N>(name, capacity, vertices);
        self.lists.push(table);
        List { list: self.lists.len() - 1 }
    }

    /// An empty table; without room in it if it were too large.
    fn table<const N: usize>(&mut self, name: &str, capacity: usize, vertices: usize) -> Table {
        // Threads may need a row for each slot, after those of the vertices.
        let count = capacity.saturating_mul(N).saturating_add(vertices);
        if count > MOST_ENTRIES {
            self.fail(BuildError::TooLarge { name: name.to_owned(), count });
            return Table::new(name, N, 0, 0);
        }
        Table::new(name, N, capacity, vertices)
    }

    /// A forest by the parent of each node; roots have none.
    pub fn tree(&mut self, name: &str, parents: &[Option<usize>]) -> Tree {
        let forest = Forest::new(name, parents).unwrap_or_else(|| {
            self.fail(BuildError::NotAForest { forest: name.to_owned() });
            Forest { levels: vec![0], ..Forest::default() }
        });
        // The roots' slots are summed into the one value above them.
        let roots: Vec<u32> =
            (0..parents.len()).filter(|&i| parents[i].is_none()).map(|i| i as u32).collect();
        let starts = vec![0, roots.len() as u32];
        let table = Table {
            name: format!("roots of {name}"),
            arity: 1,
            vertices: 1,
            starts,
            slots: roots,
            ..Table::default()
        };
        self.tables.push(table);
        self.forests.push(Forest { roots: self.tables.len() - 1, ..forest });
        Tree { forest: self.forests.len() - 1 }
    }

    /// Says that the caller will read the buffer, and set its cotangent before a pullback.
    pub fn output<T: Value>(&mut self, buffer: Buffer<T>) {
        if !self.outputs.contains(&buffer.id) {
            self.outputs.push(buffer.id);
        }
    }

    /// Says that `output` is what `input` is in the next step: [`Workspace::carry`](super::Workspace::carry) makes it so,
    /// and `carry_back` does it with cotangents the other way.
    pub fn carry<T: Value>(&mut self, input: Buffer<T>, output: Buffer<T>) {
        let (from, to) = (&self.buffers[output.id], &self.buffers[input.id]);
        let taken = |id: usize| self.carried.iter().any(|&(a, b)| a == id || b == id);
        let again = taken(input.id) || taken(output.id);
        if from.len != to.len || from.role != Role::Computed || to.role != Role::Input || again {
            let (output, input) = (from.name.clone(), to.name.clone());
            return self.fail(BuildError::Carry { output, input });
        }
        self.carried.push((input.id, output.id));
        self.output(output);
    }

    /// Adds an operation written by hand.
    pub fn operation(&mut self, operation: impl Operation) {
        self.push(Box::new(ByHand::new(operation)));
    }

    /// A buffer that an operation written by hand writes.
    pub fn computed<T: Value>(&mut self, name: &str, len: usize) -> Buffer<T> {
        self.declare(name, len, Role::Computed, None)
    }

    /// `numbers` of memory for an operation written by hand, which it finds again in its pullback.
    pub fn memory(&mut self, name: &str, numbers: usize) -> Memory {
        Memory { id: self.declare::<f64>(name, numbers, Role::Memory, None).id }
    }

    /// out\[i\] = f(in\[i\], ...): one buffer for each result of the kernel. `names` names them, divided by commas.
    pub fn map<K>(
        &mut self,
        names: &str,
        inputs: impl Inputs<Values = K::Arguments>,
    ) -> <K::Output as Results>::Buffers
    where
        K: Kernel<Output: Results>,
    {
        let count = self.count(names, &inputs.infos());
        let (buffers, outputs) = K::Output::declare(self, names, count.capacity());
        self.sweep::<K, _, _>(names, count, inputs, outputs);
        buffers
    }

    /// The kernel's results, one for each corner of the element, summed per vertex.
    pub fn elements<K, T, const N: usize>(
        &mut self,
        name: &str,
        corners: Corners<N>,
        inputs: impl Inputs<Values = K::Arguments>,
    ) -> Buffer<T>
    where
        T: Value,
        K: Kernel<Output = [T; N]>,
    {
        let (count, buffer) = self.sums_per_vertex::<T, N>(name, corners);
        let output = At { buffer: buffer.id, table: corners.table, ty: PhantomData };
        self.sweep::<K, _, _>(name, count, inputs, Single::<At<T, N, true>>(output));
        buffer
    }

    /// The kernel's results, one for each corner of the element but the first, whose is minus their sum, summed per vertex: inner forces.
    /// `EDGES` is `N - 1`: `p.balanced::<forces, Vec3, 4, 3>(...)` for tetrahedra.
    pub fn balanced<K, T, const N: usize, const EDGES: usize>(
        &mut self,
        name: &str,
        corners: Corners<N>,
        inputs: impl Inputs<Values = K::Arguments>,
    ) -> Buffer<T>
    where
        T: Value,
        K: Kernel<Output = [T; EDGES]>,
    {
        let (count, buffer) = self.sums_per_vertex::<T, N>(name, corners);
        let output = Edges::<T, N, EDGES>::new(buffer, corners);
        self.sweep::<K, _, _>(name, count, inputs, Single(output));
        buffer
    }

    /// A buffer for what elements give their vertices, and how many elements there are.
    fn sums_per_vertex<T: Value, const N: usize>(
        &mut self,
        name: &str,
        corners: Corners<N>,
    ) -> (Count, Buffer<T>) {
        let (count, vertices) = match corners.table {
            TableRef::Fixed(i) => (Count::Fixed(self.tables[i].count), self.tables[i].vertices),
            TableRef::List(list) => {
                let table = &self.lists[list];
                (Count::List { list, capacity: table.capacity }, table.vertices)
            }
        };
        (count, self.declare::<T>(name, vertices, Role::Computed, None))
    }

    /// [`Builder::elements`] over a list made at run time.
    pub fn pairs<K, T, const N: usize>(
        &mut self,
        name: &str,
        list: List<N>,
        inputs: impl Inputs<Values = K::Arguments>,
    ) -> Buffer<T>
    where
        T: Value,
        K: Kernel<Output = [T; N]>,
    {
        self.elements::<K, T, N>(name, list.corners(), inputs)
    }

    /// The sum of the kernel's results over all elements: a buffer of one value.
    pub fn reduce<K>(&mut self, name: &str, inputs: impl Inputs<Values = K::Arguments>) -> Buffer<K::Output>
    where
        K: Kernel<Output: Value>,
    {
        let count = self.count(name, &inputs.infos());
        let buffer = self.declare::<K::Output>(name, 1, Role::Computed, None);
        let output = Shared { buffer: buffer.id, ty: PhantomData };
        self.sweep::<K, _, _>(name, count, inputs, Single::<Shared<K::Output, true>>(output));
        buffer
    }

    /// y\[i\] = f(y\[parent i\], own values), from the roots, whose parent's value is `root`, to the leaves.
    pub fn tree_down<K, I>(
        &mut self,
        name: &str,
        tree: Tree,
        root: Buffer<K::Output>,
        inputs: I,
    ) -> Buffer<K::Output>
    where
        K: Kernel<Output: Value>,
        I: After<Parent<K::Output>>,
        I::All: Inputs<Values = K::Arguments>,
    {
        let count = self.levels(tree, false);
        let buffer = self.declare::<K::Output>(name, count.capacity(), Role::Computed, None);
        let (forest, ty) = (tree.forest, PhantomData);
        let inputs = inputs.after(Parent { buffer: buffer.id, root: root.id, forest, ty });
        let output = ForChildren { buffer: buffer.id, forest, ty: PhantomData };
        self.sweep::<K, _, _>(name, count, inputs, Single(output));
        buffer
    }

    /// message\[i\] = f(Σ message\[children of i\], own values), from the leaves to the roots.
    pub fn tree_up<K, I>(&mut self, name: &str, tree: Tree, inputs: I) -> Buffer<K::Output>
    where
        K: Kernel<Output: Value>,
        I: After<Children<K::Output>>,
        I::All: Inputs<Values = K::Arguments>,
    {
        let count = self.levels(tree, true);
        let buffer = self.declare::<K::Output>(name, count.capacity(), Role::Computed, None);
        let forest = tree.forest;
        let inputs = inputs.after(Children { buffer: buffer.id, forest, ty: PhantomData });
        let output = ForParent { buffer: buffer.id, forest, ty: PhantomData };
        self.sweep::<K, _, _>(name, count, inputs, Single(output));
        buffer
    }

    fn push(&mut self, stage: Box<dyn Erased>) {
        self.stages.push(stage);
        self.roles.push(self.role.unwrap_or(StageRole::Both));
    }

    /// A fragment with its own pullback, for where mathematics gives a shorter one than the macro's.
    ///
    /// `forward` adds the fragment's operations, and returns what `pullback` needs of it. `pullback` adds the operations
    /// that run in its place when cotangents come back: it starts from [`Builder::bar`]s of the fragment's results, and
    /// ends with [`Builder::add_to_bar`] of each input. [`RunOptions::derived`](super::RunOptions) runs the macro's
    /// pullback instead: the test of this one.
    pub fn fragment<F>(
        &mut self,
        forward: impl FnOnce(&mut Builder) -> F,
        pullback: impl FnOnce(&mut Builder, &F),
    ) -> F {
        if self.role.is_some() {
            self.fail(BuildError::NestedFragment);
        }
        self.role = Some(StageRole::Replaced);
        let results = forward(self);
        let from = self.stages.len();
        self.role = Some(StageRole::InPullback);
        pullback(self, &results);
        self.role = None;
        // The pullback reads the list backwards.
        self.stages[from..].reverse();
        results
    }

    /// In a fragment's own pullback: the cotangent of one of its results.
    pub fn bar<T: Value>(&mut self, buffer: Buffer<T>) -> Buffer<T> {
        let info = &self.buffers[buffer.id];
        let (name, len) = (format!("cotangent of {} ({})", info.name, self.stages.len()), info.len);
        if self.role != Some(StageRole::InPullback) {
            self.fail(BuildError::NotInPullback { buffer: self.buffers[buffer.id].name.clone() });
        }
        let copy = self.declare::<T>(&name, len, Role::Computed, None);
        let from = OwnBar::<T> { buffer: buffer.id, ty: PhantomData };
        self.sweep::<Identity<T>, _, _>(&name, Count::Fixed(len), (from,), Single(copy.own()));
        copy
    }

    /// In a fragment's own pullback: adds to the cotangent of one of its inputs.
    pub fn add_to_bar<T: Value>(&mut self, input: Buffer<T>, contribution: Buffer<T>) {
        let (info, from) = (&self.buffers[input.id], &self.buffers[contribution.id]);
        let (name, len, given) = (info.name.clone(), info.len, from.len);
        if self.role != Some(StageRole::InPullback) {
            return self.fail(BuildError::NotInPullback { buffer: name });
        }
        if given != len {
            return self.fail(BuildError::Length {
                operation: "add_to_bar".into(),
                argument: "contribution".into(),
                buffer: from.name.clone(),
                found: given,
                wanted: len,
                why: "one for each value of the input",
            });
        }
        let to = OwnBar::<T> { buffer: input.id, ty: PhantomData };
        let name = format!("cotangent of {name}");
        self.sweep::<Identity<T>, _, _>(&name, Count::Fixed(len), (contribution.own(),), Single(to));
    }

    fn levels(&self, tree: Tree, upwards: bool) -> Count {
        Count::Levels { forest: tree.forest, upwards, nodes: self.forests[tree.forest].parents.len() }
    }

    fn sweep<K, I, O>(&mut self, name: &str, count: Count, mut inputs: I, outputs: O)
    where
        K: Kernel,
        I: Inputs<Values = K::Arguments>,
        O: Outputs<Values = K::Output>,
    {
        if !self.knows(&inputs.infos()) {
            return self.fail(BuildError::OtherProgram { operation: name.to_owned() });
        }
        for (i, buffer) in self.meetings(&inputs.infos()) {
            let copy = self.copy(name, buffer);
            inputs.rebind(i, copy);
        }
        for (i, port) in inputs.infos().iter().enumerate().filter(|(_, port)| port.reach == Reach::Index) {
            let (found, wanted) = (self.index_counts[port.buffer], count.capacity());
            if found != wanted {
                self.fail(BuildError::Length {
                    operation: name.to_owned(),
                    argument: K::ARGUMENTS.get(i).copied().unwrap_or("?").to_owned(),
                    buffer: format!("indices {}", port.buffer),
                    found,
                    wanted,
                    why: "one for each element",
                });
            }
        }
        let sweep = Sweep::<K, I, O> { name: name.to_owned(), count, inputs, outputs, kernel: PhantomData };
        self.push(Box::new(sweep));
    }

    /// Are these ports of this program's buffers and tables?
    fn knows(&self, ports: &[PortInfo]) -> bool {
        ports.iter().all(|port| match port.reach {
            Reach::Index => port.buffer < self.indices.len(),
            reach => {
                let arity = match reach {
                    Reach::At(TableRef::Fixed(t)) => self.tables.get(t).map(|table| table.arity),
                    Reach::At(TableRef::List(l)) => self.lists.get(l).map(|table| table.arity),
                    _ => Some(1),
                };
                let numbers = self.buffers.get(port.buffer).map(|buffer| buffer.numbers);
                (numbers, arity) == (Some(port.numbers), Some(port.arity))
            }
        })
    }

    /// Ports whose cotangents would meet those of another port of the same operation: one buffer, reached through a table
    /// or as the parent of roots, and in another way as well.
    fn meetings(&self, ports: &[PortInfo]) -> Vec<(usize, usize)> {
        let of = |port: &PortInfo| match port.reach {
            Reach::Parent { root, .. } => root,
            _ => port.buffer,
        };
        let spreads = |port: &PortInfo| matches!(port.reach, Reach::At(_) | Reach::Parent { .. });
        let meets = |i: usize| {
            let port = &ports[i];
            let earlier =
                ports[..i].iter().filter(|p| p.active && p.reach != Reach::Index && of(p) == of(port));
            port.active
                && port.reach != Reach::Index
                && earlier.into_iter().any(|p| spreads(p) || spreads(port))
        };
        (0..ports.len()).filter(|&i| meets(i)).map(|i| (i, ports[i].buffer)).collect()
    }

    /// A copy of a buffer for one operation.
    fn copy(&mut self, operation: &str, buffer: usize) -> usize {
        let (len, numbers) = (self.buffers[buffer].len, self.buffers[buffer].numbers);
        let name = format!("{} for {operation} ({})", self.buffers[buffer].name, self.stages.len());
        self.buffers.push(BufferInfo {
            name: name.clone(),
            len,
            numbers,
            role: Role::Computed,
            gathered: false,
            extra_rows: 0,
            data: None,
        });
        let to = self.buffers.len() - 1;
        self.push(Box::new(Copy { name, from: buffer, to, len, numbers }));
        to
    }

    /// How many elements these inputs speak of.
    fn count(&mut self, operation: &str, inputs: &[PortInfo]) -> Count {
        for port in inputs {
            match port.reach {
                Reach::Own => return Count::Fixed(self.buffers[port.buffer].len),
                Reach::At(TableRef::Fixed(i)) => return Count::Fixed(self.tables[i].count),
                Reach::At(TableRef::List(list)) => {
                    return Count::List { list, capacity: self.lists[list].capacity };
                }
                _ => {}
            }
        }
        self.fail(BuildError::NoCount { operation: operation.to_owned() });
        Count::Fixed(0)
    }

    /// Checks the program, and closes it.
    pub fn finish(mut self) -> Result<Program, BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        for stage in &self.stages {
            let info = stage.info();
            for port in info.inputs.iter().chain(&info.outputs) {
                // Values that are not read in order lie together.
                if matches!(port.reach, Reach::At(_)) || (port.reach == Reach::ByHand && port.numbers > 1) {
                    self.buffers[port.buffer].gathered = true;
                }
            }
        }
        // What is copied whole lies alike; vectors of states lie in rows, which their callers read and write in every step.
        for &(input, output) in &self.carried {
            let vectors = self.buffers[input].numbers == 3;
            let gathered = vectors || self.buffers[input].gathered || self.buffers[output].gathered;
            (self.buffers[input].gathered, self.buffers[output].gathered) = (gathered, gathered);
        }
        checks::check(&self.buffers, &self.stages, &self.roles, &self.tables, &self.lists)?;
        let written = |b: usize| self.stages.iter().any(|s| s.info().outputs.iter().any(|p| p.buffer == b));
        for info in self.outputs.iter().filter(|&&b| !written(b)).map(|&b| &self.buffers[b]) {
            if info.role == Role::Computed {
                let (operation, buffer) = ("the caller".to_owned(), info.name.clone());
                return Err(BuildError::ReadBeforeWritten { operation, buffer });
            }
        }
        checks::check_fragments(&self.buffers, &self.outputs, &self.stages, &self.roles)?;
        let infos: Vec<StageInfo> = self.stages.iter().map(|stage| stage.info()).collect();
        let varies = flow::varying(&self.buffers, &infos, &self.roles);
        let live = flow::live(&varies, &self.outputs, &infos, &self.roles);
        Ok(Program {
            inner: Arc::new(Inner {
                buffers: self.buffers,
                outputs: self.outputs,
                carried: self.carried,
                stages: self.stages,
                roles: self.roles,
                varies,
                live,
                tables: self.tables,
                lists: self.lists,
                forests: self.forests,
                indices: self.indices,
            }),
        })
    }
}

/// What a kernel in a `map` returns: a value, or a tuple of values, each with a buffer of its own.
pub trait Results: Argument + Sized {
    /// The buffers.
    type Buffers;
    /// Their ports.
    type Ports: Outputs<Values = Self>;
    #[doc(hidden)]
    fn declare(builder: &mut Builder, names: &str, len: usize) -> (Self::Buffers, Self::Ports);
}

impl<T: Value> Results for T {
    type Buffers = Buffer<T>;
    type Ports = Single<Own<T, true>>;
    fn declare(builder: &mut Builder, names: &str, len: usize) -> (Buffer<T>, Self::Ports) {
        let buffer = builder.declare::<T>(names.trim(), len, Role::Computed, None);
        (buffer, Single(buffer.own()))
    }
}

macro_rules! results {
    ($($($name:ident),+;)*) => {$(
        impl<$($name: Value),+> Results for ($($name,)+) {
            type Buffers = ($(Buffer<$name>,)+);
            type Ports = ($(Own<$name, true>,)+);
            #[allow(non_snake_case)]
            fn declare(builder: &mut Builder, names: &str, len: usize) -> (Self::Buffers, Self::Ports) {
                let (found, wanted) = (names.split(',').count(), [$(stringify!($name)),+].len());
                if found != wanted {
                    builder.fail(BuildError::Names { names: names.to_owned(), found, wanted });
                }
                let mut names = names.split(',').map(str::trim).map(str::to_owned);
                let mut k = 0;
                let mut next = || {
                    k += 1;
                    names.next().unwrap_or_else(|| format!("result {k}"))
                };
                $(let $name = builder.declare::<$name>(&next(), len, Role::Computed, None);)+
                (($($name,)+), ($($name.own(),)+))
            }
        }
    )*};
}
results! {
    A;
    A, B;
    A, B, C;
    A, B, C, D;
    A, B, C, D, E;
    A, B, C, D, E, F;
}

/// A tuple of ports that another port can be put before.
pub trait After<P> {
    /// All of them.
    type All;
    #[doc(hidden)]
    fn after(self, first: P) -> Self::All;
}

macro_rules! after {
    ($($($name:ident $i:tt),*;)*) => {$(
        impl<P, $($name),*> After<P> for ($($name,)*) {
            type All = (P, $($name,)*);
            fn after(self, first: P) -> Self::All {
                (first, $(self.$i,)*)
            }
        }
    )*};
}
after! {
    ;
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
