//! Kernels in Rust beside their C++, at many points.

use super::{CheckError, Flat, Passes, Registered, Shape, is_exact};
use crate::scalar::Float;

const POINTS: usize = 32;

#[derive(Default)]
struct Found {
    numbers: usize,
    same_bits: usize,
    differences: Vec<String>,
}

/// A number whose distance to another can be counted in units in the last place.
pub trait Ulps: Float {
    /// What its functions end in.
    const SUFFIX: &'static str;
    /// How many numbers lie between.
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

/// What runs the C++ of kernels: a compiled library, or a GPU.
pub trait Machine<S> {
    /// What to call it.
    const NAME: &'static str;
    /// How far its numbers may be from Rust's: units in the last place, or relative to the largest of the result.
    fn tolerance(exact: bool) -> Tolerance;
    /// The result, and the arguments' cotangents, of the functions `name` and `name_back`.
    fn run(
        &self,
        name: &str,
        shape: &Shape,
        inputs: &Flat<S>,
        y_bar: &[S],
    ) -> Result<(Flat<S>, Vec<S>), CheckError>;
}

/// How far two numbers may be apart.
#[derive(Clone, Copy, Debug)]
pub enum Tolerance {
    /// In units in the last place.
    Ulps(u64),
    /// Relative to the largest number of the array, or to 1 if that is larger.
    Relative(f64),
}

/// Runs every kernel at many points, and compares: how many numbers, and how many with the same bits.
pub fn compare<M: Machine<f32> + Machine<f64>>(
    kernels: &[&Registered],
    machine: &M,
) -> Result<(usize, usize), CheckError> {
    let mut found = Found::default();
    for (i, kernel) in kernels.iter().enumerate() {
        let shape = (kernel.shape)();
        let exact = is_exact((kernel.definition)());
        Compare { kernel, i, shape: &shape, exact, passes: &kernel.f32 }.run(machine, &mut found)?;
        Compare { kernel, i, shape: &shape, exact, passes: &kernel.f64 }.run(machine, &mut found)?;
    }
    if found.differences.is_empty() {
        return Ok((found.numbers, found.same_bits));
    }
    let count = found.differences.len();
    found.differences.truncate(20);
    Err(CheckError::Differ(format!("{}\n({count} in all)", found.differences.join("\n"))))
}

struct Compare<'a, S> {
    kernel: &'a Registered,
    i: usize,
    shape: &'a Shape,
    exact: bool,
    passes: &'a Passes<S>,
}

impl<S: Ulps + std::panic::RefUnwindSafe> Compare<'_, S> {
    fn run<M: Machine<S>>(&self, machine: &M, found: &mut Found) -> Result<(), CheckError> {
        let name = format!("check_{}_{}", self.i, S::SUFFIX);
        let mut points = 0;
        for point in 0..POINTS {
            let (inputs, y_bar) = self.point(point);
            // An index may be too large for the kernel's arrays; then Rust says so, and there is nothing to compare.
            let rust = std::panic::catch_unwind(|| {
                ((self.passes.forward)(&inputs), (self.passes.pullback)(&inputs, &y_bar))
            });
            let Ok(((y, j), x_bar)) = rust else { continue };
            points += 1;
            let ((c_y, c_j), c_x_bar) = machine.run(&name, self.shape, &inputs, &y_bar)?;
            if j != c_j {
                let difference =
                    format!("{} forward: indices {j:?} in Rust, {c_j:?} in C++", self.kernel.name);
                found.differences.push(difference);
            }
            self.numbers::<M>("forward", &inputs, &y, &c_y, found);
            self.numbers::<M>("pullback", &inputs, &x_bar, &c_x_bar, found);
        }
        if points == 0 {
            found
                .differences
                .push(format!("{}: no index below 4 suits it, so nothing was compared", self.kernel.name));
        }
        Ok(())
    }

    fn numbers<M: Machine<S>>(&self, pass: &str, inputs: &Flat<S>, rust: &[S], c: &[S], found: &mut Found) {
        let tolerance = M::tolerance(self.exact);
        let largest = rust.iter().map(|x| x.to_f64().abs()).filter(|x| x.is_finite()).fold(1.0, f64::max);
        for (k, (a, b)) in rust.iter().zip(c).enumerate() {
            let distance = a.distance(*b);
            found.numbers += 1;
            found.same_bits += usize::from(distance == 0);
            let close = match tolerance {
                Tolerance::Ulps(ulps) => distance <= ulps,
                Tolerance::Relative(part) => {
                    distance == 0 || (a.to_f64() - b.to_f64()).abs() <= part * largest
                }
            };
            if !close {
                found.differences.push(format!(
                    "{} {pass} in {}, number {k}: {a:?} in Rust, {b:?} by {}, {distance} ulp apart (allowed {tolerance:?}), \
                     at {:?} {:?}",
                    self.kernel.name,
                    S::SUFFIX,
                    M::NAME,
                    inputs.0,
                    inputs.1
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
