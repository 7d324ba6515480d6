//! CUDA C++ to machine code, through the cache.

use std::time::Instant;

use super::cache::Cache;
use super::error::Error;
use super::nvrtc::{NAME, Nvrtc};

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compile {
    /// Contract further multiplications and additions into one operation than the kernels' own fused ones: other bits than
    /// on the CPU.
    pub fmad: bool,
    /// More arguments for NVRTC, such as `--maxrregcount=64` or `-lineinfo`.
    pub arguments: Vec<String>,
    /// Where compiled kernels are kept.
    pub cache: Cache,
}

/// What to compile for; the number is ten times the major plus the minor compute capability (90: Hopper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The machine code of one architecture.
    Cubin(u32),
    /// An assembly that the driver translates for this architecture and later ones.
    Ptx(u32),
}

impl Target {
    /// The best for a device: machine code, or the newest assembly that this compiler knows and the device can run.
    pub fn for_capability((major, minor): (u32, u32)) -> Result<Target, Error> {
        let nvrtc = Nvrtc::get()?;
        let capability = 10 * major + minor;
        choose(capability, &nvrtc.architectures)
            .ok_or(Error::UnsupportedDevice { compiler: nvrtc.version, capability })
    }
}

fn choose(capability: u32, known: &[u32]) -> Option<Target> {
    if known.contains(&capability) {
        return Some(Target::Cubin(capability));
    }
    known.iter().copied().filter(|architecture| *architecture < capability).max().map(Target::Ptx)
}

/// A compiled source, which `Module::load` takes to a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub(super) bytes: Vec<u8>,
    pub(super) target: Target,
    pub(super) cached: bool,
    pub(super) seconds: f64,
}

impl Image {
    /// Machine code as an ELF file, or assembly as text that ends with a zero.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it was compiled for.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Whether it came from the cache.
    pub fn cached(&self) -> bool {
        self.cached
    }

    /// How long it took to compile, or to find in the cache \[s\].
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// Compiles CUDA C++, or finds it in the cache. Needs no GPU.
pub fn compile(source: &str, target: Target, options: &Compile) -> Result<Image, Error> {
    let start = Instant::now();
    let nvrtc = Nvrtc::get()?;
    let arguments = arguments(target, options);
    let key = key(source, &arguments, nvrtc.version);
    let found = options.cache.load(&key);
    let cached = found.is_some();
    let bytes = match found {
        Some(bytes) => bytes,
        None => {
            let bytes = nvrtc.compile(source, target, &arguments)?;
            options.cache.store(&key, &bytes);
            bytes
        }
    };
    Ok(Image { bytes, target, cached, seconds: start.elapsed().as_secs_f64() })
}

/// Compiles, whatever the cache says, and corrects the cache.
pub(super) fn compile_again(source: &str, target: Target, options: &Compile) -> Result<Image, Error> {
    let fresh = compile(source, target, &Compile { cache: Cache::none(), ..options.clone() })?;
    let key = key(source, &arguments(target, options), Nvrtc::get()?.version);
    options.cache.store(&key, &fresh.bytes);
    Ok(fresh)
}

fn arguments(target: Target, options: &Compile) -> Vec<String> {
    let architecture = match target {
        Target::Cubin(capability) => format!("--gpu-architecture=sm_{capability}"),
        Target::Ptx(capability) => format!("--gpu-architecture=compute_{capability}"),
    };
    let mut arguments = vec![architecture, String::from("--std=c++17"), format!("--fmad={}", options.fmad)];
    arguments.extend(options.arguments.iter().cloned());
    arguments
}

/// All that the result depends on.
fn key(source: &str, arguments: &[String], (major, minor): (u32, u32)) -> String {
    format!("nvrtc {major}.{minor}\n{arguments:?}\n{source}")
}

/// Numbered lines of the source around the first errors of a log, whose lines begin `kernels.cu(12): error`.
pub(super) fn excerpt(source: &str, log: &str) -> String {
    const ERRORS: usize = 3;
    const AROUND: usize = 3;
    let mut places: Vec<usize> = Vec::new();
    for line in log.lines().filter(|line| line.contains("error")) {
        let number =
            line.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('(')?.split_once(')')?.0.parse().ok());
        if let Some(number) = number.filter(|number| !places.contains(number) && places.len() < ERRORS) {
            places.push(number);
        }
    }
    let near = |number: usize| places.iter().any(|place| place.abs_diff(number) <= AROUND);
    let mut text = String::new();
    let mut last = 0;
    for (number, line) in (1..).zip(source.lines()).filter(|(number, _)| near(*number)) {
        if last != 0 && number != last + 1 {
            text.push_str("      ...\n");
        }
        let mark = if places.contains(&number) { '>' } else { ' ' };
        text.push_str(&format!("{mark}{number:5} | {line}\n"));
        last = number;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_if_known_else_the_newest_assembly_that_runs() {
        let known = [75, 80, 90, 100];
        assert_eq!(choose(90, &known), Some(Target::Cubin(90)));
        assert_eq!(choose(89, &known), Some(Target::Ptx(80)));
        assert_eq!(choose(120, &known), Some(Target::Ptx(100)));
        assert_eq!(choose(70, &known), None);
    }

    #[test]
    fn the_key_tells_sources_arguments_and_compilers_apart() {
        let fmad = arguments(Target::Cubin(90), &Compile { fmad: true, ..Compile::default() });
        let no_fmad = arguments(Target::Cubin(90), &Compile::default());
        let ptx = arguments(Target::Ptx(90), &Compile::default());
        let keys = [
            key("a", &fmad, (13, 0)),
            key("b", &fmad, (13, 0)),
            key("a", &no_fmad, (13, 0)),
            key("a", &ptx, (13, 0)),
            key("a", &fmad, (12, 9)),
        ];
        for (i, one) in keys.iter().enumerate() {
            assert!(!keys[i + 1..].contains(one), "{one}");
        }
    }

    #[test]
    fn the_excerpt_shows_the_lines_of_errors() {
        let source: String = (1..=30).map(|i| format!("line {i}\n")).collect();
        let log = "kernels.cu(2): error: a\nkernels.cu(9): warning: b\nkernels.cu(20): error: c\n1 error";
        let text = excerpt(&source, log);
        assert!(text.starts_with("     1 | line 1\n>    2 | line 2\n"), "{text}");
        assert!(text.contains("     5 | line 5\n      ...\n    17 | line 17\n"), "{text}");
        assert!(
            text.ends_with(">   20 | line 20\n    21 | line 21\n    22 | line 22\n    23 | line 23\n"),
            "{text}"
        );
        assert_eq!(excerpt(&source, "nothing with a place: error"), "");
    }
}
