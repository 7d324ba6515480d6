//! The kernels as plain C++, compiled with g++ and run beside Rust.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use libloading::{Library, Symbol};

use super::{CheckError, Flat, Passes, Registered, Shape, is_exact};
use crate::scalar::Float;

const POINTS: usize = 32;
/// How far numbers may be apart where a library's functions are involved, in units in the last place.
const LIBRARY_ULPS: u64 = 4;

/// A folder of its own, removed at the end unless something went wrong.
struct Scratch {
    dir: PathBuf,
    keep: bool,
}

impl Scratch {
    fn new() -> Result<Scratch, CheckError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("pullback-check-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&dir).map_err(|e| tool(&format!("creating {}", dir.display()), &e))?;
        Ok(Scratch { dir, keep: false })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

fn tool(doing: &str, error: &dyn std::error::Error) -> CheckError {
    CheckError::Tool(format!("{doing}: {error}"))
}

/// Compiles the text, runs every kernel at many points, and compares: how many numbers, and how many with the same
/// bits.
pub fn compare(kernels: &[&Registered], text: &str) -> Result<(usize, usize), CheckError> {
    let mut scratch = Scratch::new()?;
    let library = compile(&mut scratch, text)?;
    let mut found = Found::default();
    for (i, kernel) in kernels.iter().enumerate() {
        let shape = (kernel.shape)();
        let exact = is_exact((kernel.definition)());
        let ulps = if exact { 0 } else { LIBRARY_ULPS };
        Compare { kernel, i, shape: &shape, ulps, passes: &kernel.f32 }.run(&library, &mut found)?;
        Compare { kernel, i, shape: &shape, ulps, passes: &kernel.f64 }.run(&library, &mut found)?;
    }
    if found.differences.is_empty() {
        Ok((found.numbers, found.same_bits))
    } else {
        let count = found.differences.len();
        found.differences.truncate(20);
        Err(CheckError::Differ(format!("{}\n({count} in all)", found.differences.join("\n"))))
    }
}

fn compile(scratch: &mut Scratch, text: &str) -> Result<Library, CheckError> {
    let (source, object) = (scratch.dir.join("kernels.cpp"), scratch.dir.join("kernels.so"));
    std::fs::write(&source, text).map_err(|e| tool(&format!("writing {}", source.display()), &e))?;
    let output = Command::new("g++")
        .args([
            "-std=c++17",
            "-O1",
            "-ffp-contract=off",
            "-DPB_HOST",
            "-shared",
            "-fPIC",
            "-w",
            "-fmax-errors=3",
            "-o",
        ])
        .args([&object, &source])
        .output()
        .map_err(|e| tool("starting g++ (apt-get install g++)", &e))?;
    if !output.status.success() {
        scratch.keep = true;
        let log = String::from_utf8_lossy(&output.stderr);
        return Err(CheckError::Refused {
            compiler: "g++",
            source_file: source.display().to_string(),
            log: log.lines().take(60).collect::<Vec<_>>().join("\n"),
        });
    }
    load(&object)
}

fn load(object: &Path) -> Result<Library, CheckError> {
    // SAFETY: our own code without initialisers.
    unsafe { Library::new(object) }.map_err(|e| tool(&format!("loading {}", object.display()), &e))
}

#[derive(Default)]
struct Found {
    numbers: usize,
    same_bits: usize,
    differences: Vec<String>,
}

/// A number whose distance to another can be counted in units in the last place.
trait Ulps: Float {
    const SUFFIX: &'static str;
    fn distance(self, other: Self) -> u64;
}

macro_rules! ulps {
    ($($float:ident $int:ident $suffix:literal),*) => {$(
        impl Ulps for $float {
            const SUFFIX: &'static str = $suffix;
            fn distance(self, other: Self) -> u64 {
                // In order: -0 is next to 0.
                let key = |x: $float| {
                    let bits = x.to_bits() as $int;
                    i128::from(if bits < 0 { $int::MIN - bits - 1 } else { bits })
                };
                if self.is_nan() && other.is_nan() { 0 } else { (key(self) - key(other)).unsigned_abs() as u64 }
            }
        }
    )*};
}
ulps!(f32 i32 "f32", f64 i64 "f64");

type ForwardFn<S> = unsafe extern "C" fn(*const S, *const u32, *mut S, *mut u32);
type BackFn<S> = unsafe extern "C" fn(*const S, *const u32, *const S, *mut S);

struct Compare<'a, S> {
    kernel: &'a Registered,
    i: usize,
    shape: &'a Shape,
    ulps: u64,
    passes: &'a Passes<S>,
}

impl<S: Ulps + std::panic::RefUnwindSafe> Compare<'_, S> {
    fn run(&self, library: &Library, found: &mut Found) -> Result<(), CheckError> {
        let name = format!("check_{}_{}", self.i, S::SUFFIX);
        let missing = |e: libloading::Error| tool(&name, &e);
        // SAFETY: the types are those of the text that `source` writes.
        let forward: Symbol<ForwardFn<S>> = unsafe { library.get(name.as_bytes()) }.map_err(missing)?;
        // SAFETY: as above.
        let back: Symbol<BackFn<S>> =
            unsafe { library.get(format!("{name}_back").as_bytes()) }.map_err(missing)?;
        let mut points = 0;
        for point in 0..POINTS {
            let (inputs, y_bar) = self.point(point);
            // An index may be too large for the kernel's arrays; then Rust says so, and there is nothing to compare.
            let rust = std::panic::catch_unwind(|| {
                ((self.passes.forward)(&inputs), (self.passes.pullback)(&inputs, &y_bar))
            });
            let Ok(((y, j), x_bar)) = rust else { continue };
            points += 1;
            let (x, k) = (inputs.0.as_ptr(), inputs.1.as_ptr());
            let mut c_y = vec![S::default(); self.shape.out_numbers];
            let mut c_j = vec![0; self.shape.out_indices];
            let mut c_x_bar = vec![S::default(); self.shape.numbers];
            // SAFETY: the buffers have the sizes of the kernel's arguments and result.
            unsafe {
                forward(x, k, c_y.as_mut_ptr(), c_j.as_mut_ptr());
                back(x, k, y_bar.as_ptr(), c_x_bar.as_mut_ptr());
            }
            if j != c_j {
                found
                    .differences
                    .push(format!("{} forward: indices {j:?} in Rust, {c_j:?} in C++", self.kernel.name));
            }
            self.numbers("forward", &inputs, &y, &c_y, found);
            self.numbers("pullback", &inputs, &x_bar, &c_x_bar, found);
        }
        if points == 0 {
            found
                .differences
                .push(format!("{}: no index below 4 suits it, so nothing was compared", self.kernel.name));
        }
        Ok(())
    }

    fn numbers(&self, pass: &str, inputs: &Flat<S>, rust: &[S], c: &[S], found: &mut Found) {
        for (k, (a, b)) in rust.iter().zip(c).enumerate() {
            let distance = a.distance(*b);
            found.numbers += 1;
            found.same_bits += usize::from(distance == 0);
            if distance > self.ulps {
                found.differences.push(format!(
                    "{} {pass} in {}, number {k}: {a:?} in Rust, {b:?} in C++, {distance} ulp apart (allowed {}), \
                     at {:?} {:?}",
                    self.kernel.name, S::SUFFIX, self.ulps, inputs.0, inputs.1
                ));
            }
        }
    }

    /// Inputs and the result's cotangent: random, positive, small, and special numbers in turn.
    fn point(&self, point: usize) -> (Flat<S>, Vec<S>) {
        let mut random = Random((point as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut number = |way: usize| {
            let x = random.next();
            S::from_f64(match way {
                0 => 4.0 * x - 2.0,
                1 => 0.1 + 0.9 * x,
                2 => 1.8 * x - 0.9,
                _ => [0.0, -0.0, 1.0, -1.0, 0.5, 2.0][(x * 6.0) as usize],
            })
        };
        let numbers = (0..self.shape.numbers).map(|_| number(point % 4)).collect();
        let y_bar = (0..self.shape.out_numbers).map(|_| number(2)).collect();
        let mut indices = Vec::new();
        for count in &self.shape.indices {
            indices.push((random.next() * f64::from(count.unwrap_or(4))) as u32);
        }
        ((numbers, indices), y_bar)
    }
}

/// Numbers in [0, 1), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }
}
