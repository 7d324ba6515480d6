//! The CUDA C++ of a program, and the launches that run it.

use std::fmt::Write;

use super::super::Inner;
use super::super::layout::{Layout, layouts, padded};
use super::super::operation::{Count, StageInfo};
use super::super::plan::{Pass, PassPlan, TableRef, VertexSum};
use super::super::planner::{self, DeviceKind, GPU_BLOCK};
use super::super::table::{ROW_UNIT, Table};
use super::{DeviceError, DeviceFloat};
use crate::cuda::Source;
use crate::patterns::c_text::{CText, ForestInts, Ints, TableInts};
use crate::patterns::port::Reach;
use crate::scalar::Float;

const PATTERNS: &str = include_str!("../../cuda/patterns.cuh");
/// Threads in a block that sums.
pub const SUM_THREADS: u32 = 256;

/// The function that sums squares of a buffer's numbers: see [`squares`].
pub const SQUARES: &str = "pb_squares";

/// A launch of a kernel: over `count` threads, or over blocks of [`SUM_THREADS`].
pub struct Launch {
    pub function: String,
    pub from: u32,
    pub count: usize,
    pub blocks: Option<[u32; 3]>,
}

/// What a pass does, one after the other.
pub enum Work {
    /// Kernels on the device.
    Kernels(Vec<Launch>),
    /// An operation written by hand, by its place, on the CPU.
    ByHand(usize),
}

/// A program's text, layouts, and what its passes do.
pub struct Text {
    pub source: String,
    pub work: [Vec<Work>; 2],
    pub layouts: Vec<Layout>,
    pub numbers: usize,
    pub scratch: usize,
    pub ints: Ints,
    pub ints_data: Vec<u32>,
    pub traffic: [usize; 2],
}

impl Text {
    pub fn new<S: DeviceFloat>(inner: &Inner, worlds: usize) -> Result<Text, DeviceError> {
        let (layouts, numbers) = layouts(&inner.buffers, worlds);
        let (ints, ints_data) = ints(inner, worlds);
        let mut source = Source::new();
        source.push(PATTERNS);
        let mut text = Text {
            source: String::new(),
            work: [Vec::new(), Vec::new()],
            layouts,
            numbers,
            scratch: 16,
            ints,
            ints_data,
            traffic: [0, 0],
        };
        for (p, pass) in [Pass::Forward, Pass::Pullback].into_iter().enumerate() {
            let plans =
                planner::plans(inner, &inner.buffers, &text.layouts, worlds, pass, DeviceKind::Gpu, false);
            text.scratch = plans.iter().map(|plan| plan.scratch).fold(text.scratch, usize::max);
            let mut order: Vec<usize> = (0..plans.len()).collect();
            if pass == Pass::Pullback {
                order.reverse();
            }
            for k in order {
                text.stage::<S>(inner, k, p, &plans[k], worlds, &mut source);
            }
        }
        let kernels = text.work.iter().flatten().flat_map(|work| match work {
            Work::Kernels(launches) => &launches[..],
            Work::ByHand(_) => &[],
        });
        let most = kernels.map(|launch| launch.count).fold(text.ints.len, usize::max);
        if most > u32::MAX as usize {
            return Err(DeviceError::TooLarge { count: most });
        }
        source.push(&squares::<S>());
        text.source = source.text().to_owned();
        Ok(text)
    }

    fn stage<S: DeviceFloat>(
        &mut self,
        inner: &Inner,
        k: usize,
        p: usize,
        plan: &PassPlan,
        worlds: usize,
        source: &mut Source,
    ) {
        let (stage, info) = (&inner.stages[k], inner.stages[k].info());
        // A fragment's own pullback runs forwards in the pullback.
        let Some(pass) = plan.run.filter(|_| plan.phases > 0) else { return };
        let mut c_text = CText { source, ints: &self.ints, worlds, root: plan.root };
        let Some(element) = stage.c_element(pass, plan, &mut c_text) else {
            return self.work[p].push(Work::ByHand(k));
        };
        let name = format!("{}_{k}", if p == 0 { "forward" } else { "pullback" });
        self.sweep::<S>(&name, &element, &info, plan, inner, pass, p, worlds, source);
        for (i, sum) in plan.vertex_sums.iter().enumerate() {
            self.vertex_sum::<S>(&format!("{name}_sum_{i}"), sum, inner, pass, p, worlds, source);
        }
        for (i, total) in plan.totals.iter().enumerate() {
            let field = field(pass);
            let (count, numbers) = (info.count.capacity(), total.numbers);
            let target =
                format!("{field} + {}ull + (size_t)c * {}u", total.layout.offset, total.layout.stride);
            let blocks = count.div_ceil(GPU_BLOCK);
            let add = if total.first { "" } else { "target[0] + " };
            let name = format!("{name}_total_{i}");
            let past = self.past_the_end(&info, worlds);
            if worlds > 0 {
                let body = format!(
                    "unsigned c = i / {worlds}u, w = i % {worlds}u;\n{R} sum = {R}(0);\n\
                     for (unsigned e = 0; e < {count}u; ++e) {{ {past_continue}sum = sum + \
                     scratch[{scratch}ull + (size_t)c * {stride}ull + (size_t)e * {worlds}u + w]; }}\n\
                     {R}* target = {target} + w;\ntarget[0] = {add}sum;\n",
                    R = S::C_NAME,
                    scratch = total.scratch,
                    stride = count * worlds,
                    past_continue = past.map_or_else(String::new, |past| format!("if ({past}) continue; ")),
                );
                self.launch(p, &name, &function::<S>(&name, &body), numbers * worlds, source);
                continue;
            }
            let partial = total.scratch + numbers * count;
            // A list may be shorter than its capacity: what is past its end was not written.
            let most = match info.count {
                Count::List { list, .. } => format!("ints[{}u]", self.ints.lists[list].count),
                _ => format!("{count}u"),
            };
            let first = format!(
                "unsigned c = blockIdx.y, most = {most};\n{R} sum = {R}(0);\n\
                 for (unsigned j = 0; j < {per}u; ++j) {{ unsigned e = blockIdx.x * {GPU_BLOCK}u + j * {SUM_THREADS}u + threadIdx.x;\n\
                 if (e < most) sum = sum + scratch[{scratch}ull + (size_t)c * {count}ull + e]; }}\n\
                 sum = pb_block_sum(sum);\nif (threadIdx.x == 0) scratch[{partial}ull + (size_t)c * {blocks}u + blockIdx.x] = sum;\n",
                R = S::C_NAME,
                per = GPU_BLOCK as u32 / SUM_THREADS,
                scratch = total.scratch,
            );
            let second = format!(
                "unsigned c = blockIdx.x;\n{R} sum = {R}(0);\n\
                 for (unsigned j = threadIdx.x; j < {blocks}u; j += {SUM_THREADS}u) sum = sum + scratch[{partial}ull + (size_t)c * {blocks}u + j];\n\
                 sum = pb_block_sum(sum);\nif (threadIdx.x == 0) {{ {R}* target = {target}; target[0] = {add}sum; }}\n",
                R = S::C_NAME,
            );
            for (suffix, body, grid) in
                [("a", first, [blocks as u32, numbers as u32, 1]), ("b", second, [numbers as u32, 1, 1])]
            {
                let name = format!("{name}_{suffix}");
                source.push(&function_of_blocks::<S>(&name, &body));
                // An empty sum still sets its target.
                if grid.iter().all(|n| *n > 0) {
                    self.push(p, Launch { function: name, from: 0, count: 1, blocks: Some(grid) });
                }
            }
        }
        self.traffic[p] += traffic::<S>(&info, plan, pass, inner, worlds);
    }

    /// The condition of elements that a world's list does not have; none if there is no list.
    fn past_the_end(&self, info: &StageInfo, worlds: usize) -> Option<String> {
        let Count::List { list, .. } = info.count else { return None };
        let world = if worlds > 0 { format!(" + w * {}u", self.ints.list_stride) } else { String::new() };
        Some(format!("e >= ints[{}u{world}]", self.ints.lists[list].count))
    }

    fn sweep<S: DeviceFloat>(
        &mut self,
        name: &str,
        element: &str,
        info: &StageInfo,
        plan: &PassPlan,
        inner: &Inner,
        pass: Pass,
        p: usize,
        worlds: usize,
        source: &mut Source,
    ) {
        let split = if worlds > 0 {
            format!("unsigned w = i % {worlds}u, e = i / {worlds}u;\n")
        } else {
            "unsigned e = i;\n".into()
        };
        // Past the end of a list, what has a value for each element has zeros.
        let mut zeros = String::new();
        for (layout, numbers) in &plan.tails {
            let at = CText { source, ints: &self.ints, worlds, root: None }.address(layout, "e");
            let _ = write!(
                zeros,
                "for (unsigned c = 0; c < {numbers}u; ++c) {}[{at} + c * {}u] = R(0); ",
                field(pass),
                layout.stride
            );
        }
        let past = self
            .past_the_end(info, worlds)
            .map_or_else(String::new, |past| format!("if ({past}) {{ {zeros}return; }}\n"));
        let Count::Levels { forest, upwards, .. } = info.count else {
            let body = format!("{split}{past}{element}");
            return self.launch(
                p,
                name,
                &function::<S>(name, &body),
                info.count.capacity() * worlds.max(1),
                source,
            );
        };
        let node = format!("e = ints[{}u + from + e];\n", self.ints.forests[forest].order);
        source.push(&function::<S>(name, &format!("{split}{node}{element}")));
        let levels = &inner.forests[forest].levels;
        let mut order: Vec<usize> = (0..levels.len() - 1).collect();
        if upwards != (pass == Pass::Pullback) {
            order.reverse();
        }
        for level in order {
            let (from, count) = (levels[level], (levels[level + 1] - levels[level]) as usize * worlds.max(1));
            self.push(p, Launch { function: name.to_owned(), from, count, blocks: None });
        }
    }

    fn vertex_sum<S: DeviceFloat>(
        &mut self,
        name: &str,
        sum: &VertexSum,
        inner: &Inner,
        pass: Pass,
        p: usize,
        worlds: usize,
        source: &mut Source,
    ) {
        let (table, world) = CText { source, ints: &self.ints, worlds, root: None }.table(sum.table);
        let vertices = match sum.table {
            TableRef::Fixed(t) => inner.tables[t].vertices,
            TableRef::List(l) => inner.lists[l].vertices,
        };
        // A thread for each number of a vertex's row: the rows of a vertex lie one after the other.
        let row = sum.slot_row;
        let by_node = matches!(sum.table, TableRef::Fixed(t) if inner.tables[t].corners.is_empty());
        let world = if worlds > 0 && !world.is_empty() {
            world.replace("w *", &format!("(c % {worlds}u) *"))
        } else {
            String::new()
        };
        let at = if by_node { format!("ints[{}u + j]", table.slots) } else { "j".to_owned() };
        let mut body =
            format!("unsigned v = i / {row}u, c = i % {row}u;\n{R}* target;\nbool first;\n", R = S::C_NAME);
        for target in &sum.targets {
            let _ = writeln!(
                body,
                "if (c >= {segment}u && c < {end}u) {{ target = {field} + {offset}ull + (size_t)v * {field_row}u + (c - {segment}u); first = {first}; }}",
                segment = target.segment,
                end = target.segment + target.len,
                field = field(pass),
                offset = target.layout.offset,
                field_row = target.layout.row,
                first = target.first,
            );
        }
        let _ = write!(
            body,
            "{R} sum = first ? {R}(0) : *target;\n\
             unsigned begin = ints[{starts}u{world} + v], end = ints[{starts}u{world} + v + 1u];\n\
             _Pragma(\"unroll 4\") for (unsigned j = begin; j < end; ++j) sum = sum + scratch[{scratch}ull + (size_t){at} * {row}u + c];\n\
             *target = sum;\n",
            R = S::C_NAME,
            starts = table.starts,
            scratch = sum.scratch,
        );
        self.launch(p, name, &function::<S>(name, &body), vertices * row, source);
    }

    fn launch(&mut self, p: usize, name: &str, text: &str, count: usize, source: &mut Source) {
        source.push(text);
        self.push(p, Launch { function: name.to_owned(), from: 0, count, blocks: None });
    }

    fn push(&mut self, p: usize, launch: Launch) {
        match self.work[p].last_mut() {
            Some(Work::Kernels(launches)) => launches.push(launch),
            Some(Work::ByHand(_)) | None => self.work[p].push(Work::Kernels(vec![launch])),
        }
    }
}

/// Which of a buffer's arrays a pass writes to.
fn field(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "values",
        Pass::Pullback => "bars",
    }
}

const PARAMETERS: &str =
    "values, {R}* bars, {R}* scratch, const unsigned* __restrict__ ints, unsigned from, unsigned count";

/// A kernel over `count` threads.
fn function<S: Float>(name: &str, body: &str) -> String {
    let body =
        format!("unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i >= count) return;\n{body}");
    function_of_blocks::<S>(name, &body)
}

fn function_of_blocks<S: Float>(name: &str, body: &str) -> String {
    let parameters = PARAMETERS.replace("{R}", S::C_NAME);
    format!(
        "extern \"C\" __global__ void {name}({R}* {parameters}) {{\ntypedef {R} R;\n{body}}}\n",
        R = S::C_NAME
    )
}

/// Σ x² over the numbers of a buffer: of one world a sum for each block, of a batch a sum for each world and row of blocks.
fn squares<S: Float>() -> String {
    format!(
        r#"extern "C" __global__ void {SQUARES}(const {R}* array, double* sums, size_t len, size_t numbers,
    size_t shift, size_t row, size_t stride, size_t worlds) {{
    size_t thread = (size_t)blockIdx.x * {SUM_THREADS}u + threadIdx.x, w = worlds > 0 ? thread : 0;
    size_t first = worlds > 0 ? blockIdx.y : thread, step = worlds > 0 ? gridDim.y : (size_t)gridDim.x * {SUM_THREADS}u;
    if (worlds > 0 && w >= worlds) return;
    double sum = 0;
    for (size_t e = first; e < len; e += step) {{
        const {R}* value = array + (e >> shift) * row + (e & (((size_t)1 << shift) - 1)) + w;
        for (size_t c = 0; c < numbers; ++c) sum += (double)value[c * stride] * (double)value[c * stride];
    }}
    if (worlds > 0) {{ sums[blockIdx.y * worlds + w] = sum; return; }}
    sum = pb_block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}}
"#,
        R = S::C_NAME
    )
}

/// The bytes that an operation moves in a pass: each value that it reads or writes once, slots twice.
fn traffic<S: Float>(info: &StageInfo, plan: &PassPlan, pass: Pass, inner: &Inner, worlds: usize) -> usize {
    let worlds = worlds.max(1);
    let count = info.count.capacity() * worlds;
    let mut numbers = 0;
    let mut indices = 0;
    for (i, port) in info.inputs.iter().chain(&info.outputs).enumerate() {
        let c = &plan.connections[i];
        let row = if c.layout.shift == 0 { c.layout.row / worlds } else { port.numbers };
        let (input, forward) = (i < plan.inputs, pass == Pass::Forward);
        let scatters = input != forward && (port.active || !input);
        let gathers = input || !forward;
        let values = match port.reach {
            Reach::Shared | Reach::ByHand => 0,
            Reach::Index => {
                indices += count;
                0
            }
            Reach::At(table) => {
                let table = match table {
                    TableRef::Fixed(t) => &inner.tables[t],
                    TableRef::List(l) => &inner.lists[l],
                };
                if gathers {
                    indices += count * table.arity;
                }
                if scatters {
                    numbers += 2 * count * table.arity * padded_row(c.slot_stride, port.numbers);
                    indices += count * table.arity + table.vertices;
                }
                table.vertices * worlds * row
            }
            _ => count * row,
        };
        numbers +=
            values * (usize::from(gathers) + usize::from(scatters) + usize::from(scatters && !c.first));
    }
    numbers * size_of::<S>() + indices * 4
}

fn padded_row(slot_stride: usize, numbers: usize) -> usize {
    if slot_stride == 1 { padded(numbers) } else { numbers }
}

/// The vertex of each slot.
pub fn vertices_of(table: &Table) -> Vec<u32> {
    table.corners.iter().map(|row| row / ROW_UNIT).collect()
}

/// Where the contribution of each slot goes, so that those of a vertex lie one after the other; for a table without corners
/// (the roots of a forest), which slots a vertex has.
pub fn positions(table: &Table) -> Vec<u32> {
    if table.corners.is_empty() {
        return table.slots.clone();
    }
    let mut positions = vec![0; table.slots.len()];
    for (position, &slot) in table.slots.iter().take(table.count * table.arity).enumerate() {
        positions[slot as usize] = position as u32;
    }
    positions
}

/// Where index tables lie on the device, and what is in them.
fn ints(inner: &Inner, worlds: usize) -> (Ints, Vec<u32>) {
    let mut data: Vec<u32> = Vec::new();
    let mut ints = Ints::default();
    let push = |data: &mut Vec<u32>, values: &[u32]| {
        let at = data.len();
        data.extend_from_slice(values);
        at
    };
    for table in &inner.tables {
        let (corners, starts) = (push(&mut data, &vertices_of(table)), push(&mut data, &table.starts));
        let slots = push(&mut data, &positions(table));
        ints.tables.push(TableInts { corners, starts, slots, count: 0 });
    }
    for forest in &inner.forests {
        ints.forests.push(ForestInts {
            parents: push(&mut data, &forest.parents),
            order: push(&mut data, &forest.order),
            starts: push(&mut data, &forest.starts),
            children: push(&mut data, &forest.children),
        });
    }
    for indices in &inner.indices {
        ints.indices.push(push(&mut data, indices));
    }
    for world in 0..worlds.max(1) {
        let from = data.len();
        for table in &inner.lists {
            let count = push(&mut data, &[0]);
            let (corners, starts) = (push(&mut data, &vertices_of(table)), push(&mut data, &table.starts));
            let slots = push(&mut data, &positions(table));
            if world == 0 {
                ints.lists.push(TableInts { corners, starts, slots, count });
            }
        }
        ints.list_stride = data.len() - from;
    }
    data.push(0);
    ints.len = data.len();
    (ints, data)
}
