//! A program under test, and everything that must hold of one.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, List, Scalar};
use pullback_kernel::{gradcheck, numbers, numbers_mut};

/// The sizes that programs are tested for.
pub const SIZES: [usize; 9] = [0, 1, 2, 7, 31, 32, 33, 1000, 2500];

/// A list of pairs in each world.
type Pairs = (List<2>, Box<dyn Fn(usize) -> Vec<[u32; 2]>>);

/// A program with its inputs and outputs, and lists where it has some.
pub struct Subject {
    pub program: Program,
    /// Inputs and parameters, with the range of their numbers.
    pub inputs: Vec<(BufferUse, f64, f64)>,
    pub outputs: Vec<BufferUse>,
    pub list: Option<Pairs>,
}

/// Numbers of each buffer.
pub type Numbers = Vec<Vec<f64>>;

/// What comes out: the values of outputs, and the cotangents of inputs.
#[derive(Debug)]
pub struct Outcome {
    pub values: Numbers,
    pub bars: Numbers,
}

/// The same by plain loops, from the inputs, the seeds and the world's list.
pub type Naive<'a> = &'a dyn Fn(&Numbers, &Numbers, &[[u32; 2]]) -> Outcome;

/// Number `i` of buffer `b` in a world, in (0, 1).
pub fn random(world: usize, b: usize, i: usize) -> f64 {
    let mut x = (world as u64 + 1) << 48 ^ (b as u64 + 1) << 40 ^ (i as u64 + 1);
    for _ in 0..3 {
        x ^= x >> 30;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 27;
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

impl Subject {
    pub fn new(program: Program, inputs: &[(BufferUse, f64, f64)], outputs: &[BufferUse]) -> Self {
        Subject { program, inputs: inputs.to_vec(), outputs: outputs.to_vec(), list: None }
    }

    /// The numbers of the inputs, and the seeds of the outputs, of one world.
    fn numbers<S: Scalar>(&self, workspace: &Workspace<S>, world: usize) -> (Numbers, Numbers) {
        let len = |b: BufferUse| workspace.read_numbers(0, b).expect("world 0").len();
        let inputs = self.inputs.iter().enumerate().map(|(k, &(b, from, to))| {
            (0..len(b)).map(|i| from + (to - from) * random(world, k, i)).collect()
        });
        let seeds = self
            .outputs
            .iter()
            .enumerate()
            .map(|(k, &b)| (0..len(b)).map(|i| 2.0 * random(world, 100 + k, i) - 1.0).collect());
        (inputs.collect(), seeds.collect())
    }

    fn pairs(&self, world: usize) -> Vec<[u32; 2]> {
        self.list.as_ref().map_or_else(Vec::new, |(_, pairs)| pairs(world))
    }

    /// Sets everything in a world of the workspace, to what belongs to world `from`.
    pub fn set<S: Scalar>(&self, workspace: &mut Workspace<S>, world: usize, from: usize) {
        let (inputs, _) = self.numbers(workspace, from);
        let scalars = |numbers: &[f64]| numbers.iter().map(|&x| S::from_f64(x)).collect::<Vec<_>>();
        for ((b, ..), numbers) in self.inputs.iter().zip(&inputs) {
            workspace.write_numbers(world, *b, &scalars(numbers)).expect("an input");
        }
        if let Some((list, pairs)) = &self.list {
            workspace.set_list(world, *list, &pairs(from)).expect("a list that fits");
        }
    }

    fn seed<S: Scalar>(&self, workspace: &mut Workspace<S>, world: usize, from: usize) {
        let (_, seeds) = self.numbers(workspace, from);
        for (b, numbers) in self.outputs.iter().zip(&seeds) {
            let numbers: Vec<S> = numbers.iter().map(|&x| S::from_f64(x)).collect();
            workspace.seed_numbers(world, *b, &numbers).expect("an output");
        }
    }

    /// Forward and pullback; before it the same with other numbers and lists, of which nothing may be left.
    fn run<S: Scalar>(&self, workspace: &mut Workspace<S>, first: usize) {
        for other in [1000, 0] {
            for world in 0..workspace.worlds() {
                self.set(workspace, world, first + world + other);
            }
            workspace.forward();
            for world in 0..workspace.worlds() {
                self.seed(workspace, world, first + world + other);
            }
            workspace.clear_parameters();
            workspace.pullback();
        }
    }

    fn outcome<S: Scalar<Float = S> + Float>(&self, workspace: &Workspace<S>, world: usize) -> Outcome {
        let wide = |numbers: Vec<S>| numbers.into_iter().map(Float::to_f64).collect();
        let value = |b: &BufferUse| wide(workspace.read_numbers(world, *b).expect("a world"));
        let bar = |(b, ..): &(BufferUse, f64, f64)| wide(workspace.bar_numbers(world, *b).expect("a world"));
        Outcome {
            values: self.outputs.iter().map(value).collect(),
            bars: self.inputs.iter().map(bar).collect(),
        }
    }

    /// One world alone.
    fn single(&self, world: usize, options: RunOptions) -> Outcome {
        let mut workspace = self.program.workspace::<f64>(options);
        self.run(&mut workspace, world);
        self.outcome(&workspace, 0)
    }

    /// Equal to the naive version, and the same bits however it runs. `size` bounds how many ways are tried.
    pub fn check(&self, size: usize, naive: Naive<'_>) {
        let serial = RunOptions { threads: 1, width: Width::One, isa: Isa::Portable, derived: false };
        let workspace = self.program.workspace::<f64>(serial);
        for world in 0..2 {
            let (inputs, seeds) = self.numbers(&workspace, world);
            let naive = naive(&inputs, &seeds, &self.pairs(world));
            close(&self.single(world, serial), &naive, 1e-12, &format!("size {size}, naive"));
        }
        let references: Vec<Outcome> = (0..19).map(|world| self.single(world, serial)).collect();
        let mut ways = Vec::new();
        for threads in [1, 2, 7] {
            for width in [Width::One, Width::Narrow, Width::Wide] {
                ways.extend(Isa::available().into_iter().map(|isa| RunOptions {
                    threads,
                    width,
                    isa,
                    derived: false,
                }));
            }
        }
        for &way in &ways {
            same(&self.single(0, way), &references[0], &format!("size {size}, {way:?}"));
        }
        for (k, &way) in ways.iter().enumerate() {
            for (j, worlds) in [1, 3, 16, 19].into_iter().enumerate() {
                // Not every number of worlds in every way, and of large ones not every way.
                if (k + j) % (if size > 100 { 7 } else { 3 }) != 0 {
                    continue;
                }
                let mut batch = self.program.batch::<f64>(worlds, way);
                self.run(&mut batch, 0);
                for world in 0..worlds {
                    let what = format!("size {size}, world {world} of {worlds}, {way:?}");
                    same(&self.outcome(&batch, world), &references[world], &what);
                }
            }
        }
        self.single_precision(size, &references[0]);
    }

    /// f32 against f64.
    fn single_precision(&self, size: usize, reference: &Outcome) {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            let options = RunOptions { width, ..RunOptions::default() };
            let mut workspace = self.program.workspace::<f32>(options);
            self.run(&mut workspace, 0);
            close(&self.outcome(&workspace, 0), reference, 1e-4, &format!("size {size}, f32, {width:?}"));
            let mut batch = self.program.batch::<f32>(2, options);
            self.run(&mut batch, 0);
            same(&self.outcome(&batch, 0), &self.outcome(&workspace, 0), &format!("size {size}, f32 batch"));
        }
    }

    /// Pullback, pushforward and Hessian-vector product, alone and in a batch.
    pub fn gradcheck(&self) {
        let mut workspace = self.program.workspace::<f64>(RunOptions::default());
        self.set(&mut workspace, 0, 0);
        gradcheck::program(&workspace).unwrap_or_else(|report| panic!("{report}"));
        let mut batch = self.program.batch::<f64>(2, RunOptions::default());
        self.set(&mut batch, 0, 0);
        self.set(&mut batch, 1, 1);
        gradcheck::program(&batch).unwrap_or_else(|report| panic!("{report}"));
    }
}

/// Equal up to `tolerance`, relative to the largest number of each buffer.
pub fn close(a: &Outcome, b: &Outcome, tolerance: f64, what: &str) {
    for (part, a, b) in [("values", &a.values, &b.values), ("cotangents", &a.bars, &b.bars)] {
        assert_eq!(a.len(), b.len());
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            assert_eq!(a.len(), b.len());
            let scale = b.iter().fold(1e-3, |scale: f64, x| scale.max(x.abs()));
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                let near = (x - y).abs() <= tolerance * scale;
                assert!(near, "{what}: {part} of buffer {k}, number {i}: {x} and {y}");
            }
        }
    }
}

fn same(a: &Outcome, b: &Outcome, what: &str) {
    for (part, a, b) in [("values", &a.values, &b.values), ("cotangents", &a.bars, &b.bars)] {
        for (k, (a, b)) in a.iter().zip(b).enumerate() {
            assert_eq!(a.len(), b.len());
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                assert!(
                    x.to_bits() == y.to_bits(),
                    "{what}: {part} of buffer {k}, number {i}: {x:e} and {y:e}"
                );
            }
        }
    }
}

/// Values from their numbers.
pub fn typed<T: Value>(flat: &[f64]) -> Vec<With<T, f64>> {
    let zero = <With<T, f64> as pullback_kernel::scalar::Local<f64>>::zero();
    flat.chunks(T::LEN).map(|numbers| gradcheck::unflat::<T>(zero, numbers)).collect()
}

/// Zeros for `len` values.
pub fn zeros<T: Value>(len: usize) -> Vec<With<T, f64>> {
    typed::<T>(&vec![0.0; len * T::LEN])
}

/// Numbers of values.
pub fn flat<T: Value>(values: &[With<T, f64>]) -> Vec<f64> {
    values.iter().flat_map(|value| numbers::<T, f64>(value).to_vec()).collect()
}

/// `sum += term`
pub fn add<T: Value>(sum: &mut With<T, f64>, term: With<T, f64>) {
    for (sum, term) in numbers_mut::<T, f64>(sum).iter_mut().zip(numbers::<T, f64>(&term)) {
        *sum += term;
    }
}
