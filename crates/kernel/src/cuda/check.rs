//! Test support: is the CUDA text of every kernel right, also on a machine without a GPU?
//!
//! `#[kernel]` registers each kernel of a crate that is compiled for its tests. [`all`] writes them into one source,
//! compiles it with g++ and compares with Rust, and compiles it with NVRTC. Where there is a GPU, it runs there too. One test in each crate with kernels calls
//! it:
//!
//! ```no_run
//! // #[test]
//! fn cuda_text_is_right() {
//!     pullback_kernel::cuda::check::all().expect("the kernels' CUDA text");
//! }
//! ```

mod compare;
mod gpu;
mod host;

use std::collections::HashSet;
use std::fmt::{self, Write};

use super::{Cache, Compile, Definition, Piece, Source, Target, compile};
use crate::scalar::{Float, Local};
use crate::{Argument, Kernel, With};

/// The variable that names the folder of `libnvrtc.so.13`; `cargo xtask test` sets it.
pub const NVRTC_DIR: &str = "PULLBACK_NVRTC_DIR";

/// A kernel with its type erased, as the macro registers it under `cfg(test)`.
pub struct Registered {
    name: &'static str,
    definition: fn() -> &'static Definition,
    c_arguments: fn(&mut Source) -> String,
    shape: fn() -> Shape,
    f32: Passes<f32>,
    f64: Passes<f64>,
}

inventory::collect!(Registered);

/// How many numbers and indices a kernel takes and returns.
struct Shape {
    numbers: usize,
    /// For each index or kind, how many values it has; none for an index.
    indices: Vec<Option<u32>>,
    out_numbers: usize,
    out_indices: usize,
    arguments: usize,
}

/// The numbers of a value, then its indices.
type Flat<S> = (Vec<S>, Vec<u32>);

/// Forward and pullback on flat values.
struct Passes<S> {
    forward: fn(&Flat<S>) -> Flat<S>,
    pullback: fn(&Flat<S>, &[S]) -> Vec<S>,
}

impl Registered {
    /// The kernel `K`.
    pub const fn new<K: Kernel>() -> Self {
        Registered {
            name: K::NAME,
            definition: K::definition,
            c_arguments: <K::Arguments as Argument>::c_type,
            shape: shape::<K>,
            f32: Passes { forward: forward::<K, f32>, pullback: pullback::<K, f32> },
            f64: Passes { forward: forward::<K, f64>, pullback: pullback::<K, f64> },
        }
    }
}

fn flat<T: Argument, S: Float>(mut value: With<T, S>) -> Flat<S> {
    let mut numbers = Vec::new();
    T::each::<S>(&mut value, &mut |x| numbers.push(*x));
    let mut indices = Vec::new();
    T::each_index::<S>(&mut value, &mut |_, index| {
        indices.push(index as u32);
        index
    });
    (numbers, indices)
}

fn unflat<T: Argument, S: Float>((numbers, indices): (&[S], Option<&[u32]>), value: &mut With<T, S>) {
    let (mut numbers, mut indices) = (numbers.iter(), indices.into_iter().flatten());
    T::each::<S>(value, &mut |x| *x = numbers.next().copied().unwrap_or(*x));
    T::each_index::<S>(value, &mut |_, index| indices.next().map_or(index, |&new| new as usize));
}

fn shape<K: Kernel>() -> Shape {
    let mut arguments = <With<K::Arguments, f64> as Local<f64>>::zero();
    let mut indices = Vec::new();
    K::Arguments::each_index::<f64>(&mut arguments, &mut |count, index| {
        indices.push(count);
        index
    });
    let (numbers, _) = flat::<K::Arguments, f64>(arguments);
    let (out_numbers, out_indices) = flat::<K::Output, f64>(<With<K::Output, f64> as Local<f64>>::zero());
    Shape {
        numbers: numbers.len(),
        indices,
        out_numbers: out_numbers.len(),
        out_indices: out_indices.len(),
        arguments: K::ARGUMENTS.len(),
    }
}

fn arguments<K: Kernel, S: Float>((numbers, indices): &Flat<S>) -> With<K::Arguments, S> {
    let mut arguments = <With<K::Arguments, S> as Local<S>>::zero();
    unflat::<K::Arguments, S>((numbers, Some(indices)), &mut arguments);
    arguments
}

fn forward<K: Kernel, S: Float>(inputs: &Flat<S>) -> Flat<S> {
    flat::<K::Output, S>(K::forward::<S>(arguments::<K, S>(inputs)))
}

fn pullback<K: Kernel, S: Float>(inputs: &Flat<S>, out_bar: &[S]) -> Vec<S> {
    let arguments = arguments::<K, S>(inputs);
    let mut out = K::forward::<S>(arguments);
    unflat::<K::Output, S>((out_bar, None), &mut out);
    flat::<K::Arguments, S>(K::pullback::<S>(arguments, out)).0
}

/// What [`all`] did.
#[derive(Debug)]
pub struct Summary {
    /// How many kernels there are.
    pub kernels: usize,
    /// How many numbers were compared.
    pub numbers: usize,
    /// How many of them had the same bits.
    pub same_bits: usize,
    /// How many bytes of PTX NVRTC made of them; none where NVRTC is not at hand.
    pub ptx: Option<usize>,
    /// The GPU that gave the same numbers, f64 to 1e-12 and f32 to 1e-5; none where there is none.
    pub gpu: Option<String>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { kernels, numbers, same_bits, .. } = self;
        write!(f, "{kernels} kernels: of {numbers} numbers, {same_bits} have the same bits as C++; ")?;
        match self.ptx {
            Some(bytes) => write!(f, "NVRTC made {bytes} bytes of PTX"),
            None => write!(f, "NVRTC was skipped, because {NVRTC_DIR} is not set"),
        }?;
        match &self.gpu {
            Some(name) => write!(f, "; {name} agrees"),
            None => write!(f, "; no GPU"),
        }
    }
}

/// Why the kernels' CUDA text is not right, or could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// Nothing was registered.
    #[error("no kernels: they are registered in crates that are compiled for their tests")]
    NoKernels,
    /// A compiler refuses the text.
    #[error("{compiler} refuses the kernels' text, kept in {source_file}:\n{log}")]
    Refused {
        /// Which compiler.
        compiler: &'static str,
        /// Where the text is.
        source_file: String,
        /// What the compiler says.
        log: String,
    },
    /// Numbers differ.
    #[error("C++ and Rust disagree:\n{0}")]
    Differ(String),
    /// A tool is missing.
    #[error("{0}")]
    Tool(String),
}

/// Compares the C++ of every registered kernel with its Rust, and compiles it for CUDA.
pub fn all() -> Result<Summary, CheckError> {
    let mut kernels: Vec<&Registered> = inventory::iter::<Registered>.into_iter().collect();
    if kernels.is_empty() {
        return Err(CheckError::NoKernels);
    }
    kernels.sort_by_key(|kernel| (kernel.name, (kernel.definition)().place));
    let text = source(&kernels);
    let (numbers, same_bits) = compare::compare(&kernels, &host::Host::new(&text)?)?;
    let gpu = match gpu::Gpu::new(&text)? {
        Some(gpu) => {
            compare::compare(&kernels, &gpu)?;
            Some(gpu.name().to_owned())
        }
        None => None,
    };
    Ok(Summary { kernels: kernels.len(), numbers, same_bits, ptx: ptx(&text)?, gpu })
}

/// The size of the PTX that NVRTC makes; none where [`NVRTC_DIR`] is not set, which is an error on CI.
fn ptx(text: &str) -> Result<Option<usize>, CheckError> {
    match (std::env::var_os(NVRTC_DIR), std::env::var_os("CI")) {
        (None, Some(_)) => Err(CheckError::Tool(format!(
            "{NVRTC_DIR} does not say where libnvrtc.so.13 is; `cargo xtask test` installs it and sets the variable"
        ))),
        (None, None) => Ok(None),
        (Some(_), _) => {
            let options = Compile { fmad: false, cache: Cache::none(), ..Compile::default() };
            let image =
                compile(text, Target::Ptx(90), &options).map_err(|e| CheckError::Tool(e.to_string()))?;
            Ok(Some(image.bytes().len()))
        }
    }
}

/// Reading and writing flat values in C++.
const FLAT: &str = include_str!("check/flat.cuh");

/// Every kernel, and for each a function of flat values in both precisions.
fn source(kernels: &[&Registered]) -> String {
    let mut source = Source::new();
    source.push(FLAT);
    for n in 1..=12 {
        let list = |item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<Vec<_>>().join(", ");
        let (params, types) = (list(&|i| format!("class T{i}")), list(&|i| format!("T{i}")));
        for (name, value, pointer) in [("read", "", "const "), ("write", "const ", "")] {
            let parts: String = (0..n).map(|i| format!("pb_{name}(a._{i}, x, k); ")).collect();
            source.push(&format!(
                "template<class R, {params}> PB void \
                 pb_{name}({value}pb_tuple<{types}>& a, {pointer}R*& x, {pointer}unsigned*& k) {{ {parts}}}\n"
            ));
        }
    }
    for (i, kernel) in kernels.iter().enumerate() {
        let name = source.add_kernel((kernel.definition)());
        let ty = (kernel.c_arguments)(&mut source);
        let arguments: Vec<_> = (0..(kernel.shape)().arguments).map(|k| format!("a._{k}")).collect();
        let call = arguments.join(", ");
        let comma = if call.is_empty() { "" } else { ", " };
        let mut text = format!(
            "template<class R> PB void pb_check_{i}(const R* x, const unsigned* k, R* y, unsigned* j) {{\n\
             {ty} a; pb_read(a, x, k);\n\
             auto out = {name}<R>({call}); pb_write(out, y, j);\n}}\n\
             template<class R> PB void pb_check_{i}_back(const R* x, const unsigned* k, const R* y_bar, R* x_bar) {{\n\
             {ty} a; pb_read(a, x, k);\n\
             const unsigned* keep = 0; unsigned* none = 0;\n\
             auto out = {name}<R>({call}); pb_read(out, y_bar, keep);\n\
             pb_write({name}_pullback<R>({call}{comma}out), x_bar, none);\n}}\n"
        );
        for (float, suffix) in [("float", "f32"), ("double", "f64")] {
            // Writing to a `String` cannot fail.
            let _ = write!(
                text,
                "extern \"C\" PB_ENTRY void check_{i}_{suffix}\
                 (const {float}* x, const unsigned* k, {float}* y, unsigned* j) \
                 {{ pb_check_{i}<{float}>(x, k, y, j); }}\n\
                 extern \"C\" PB_ENTRY void check_{i}_{suffix}_back\
                 (const {float}* x, const unsigned* k, const {float}* y_bar, {float}* x_bar) \
                 {{ pb_check_{i}_back<{float}>(x, k, y_bar, x_bar); }}\n"
            );
        }
        source.push(&text);
    }
    source.text().to_owned()
}

/// Primitives whose bits are the same on every machine; the others come from a library, which may round differently.
const EXACT: [&str; 5] = ["sqrt", "abs", "floor", "min", "max"];

/// Does the kernel, or what it calls, use only + - * / and the exact primitives?
fn is_exact(definition: &'static Definition) -> bool {
    // A pullback can lead back to its function.
    let (mut seen, mut todo) = (HashSet::new(), vec![definition]);
    while let Some(definition) = todo.pop() {
        if definition.primitive && !EXACT.contains(&definition.name) {
            return false;
        }
        if seen.insert((definition.name, definition.place)) {
            todo.extend(definition.texts.iter().flat_map(|pieces| pieces.iter()).filter_map(|piece| {
                match piece {
                    Piece::Callee(callee) => Some(callee()),
                    _ => None,
                }
            }));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_right_in_cuda() {
        let summary = all().expect("the builtins' CUDA text");
        println!("{summary}");
        assert!(summary.kernels > 40, "{summary}");
    }

    #[test]
    fn exactness_is_inherited() {
        assert!(is_exact(crate::math::length::definition()));
        assert!(!is_exact(crate::math::acos::definition()));
    }
}
