//! The machine code of a loop over lanes: in registers, and with no call in it.
//!
//! A closure, or a helper that is not `#[inline(always)]`, anywhere between a driver and an instruction leaves a
//! call in the loop and costs 6 to 27 times. This test disassembles itself, so it has one driver only. It needs
//! optimised code and `objdump`, and says so where it has neither.

#![cfg(target_arch = "x86_64")]

use std::process::Command;

use pullback_kernel::scalar::lanes::{Dispatch, Driver, Isa, Lane, Width};
use pullback_kernel::scalar::{Dual, Float, Mask, Real};

/// Unit vectors from one end of each edge to the other, and their tangents when the first end moves along x.
#[derive(Clone, Copy)]
struct Directions<'a, S> {
    points: &'a [S],
    edges: &'a [[[usize; 16]; 2]],
    directions: *mut S,
    tangents: *mut S,
}

/// d / |d|;  0 at d = 0
#[inline(always)]
fn normalize<R: Real>(d: [R; 4]) -> [R; 4] {
    let zero = R::from_f64(0.0);
    let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
    let degenerate = Real::eq(length, zero);
    let mut n = d;
    for c in 0..4 {
        n[c] = <R as Real>::select(degenerate, zero, d[c] / length);
    }
    if degenerate.any() {
        n[0] = <R as Real>::select(degenerate, R::from_f64(1.0), n[0]);
    }
    n
}

impl<S: Float> Driver<S> for Directions<'_, S> {
    type Output = ();
    type Home = Self;
    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        for [from, to] in self.edges {
            // SAFETY: rows and targets are inside the vectors of `run_all`.
            unsafe {
                let a = L::load_rows(self.points.as_ptr(), from);
                let b = L::load_rows(self.points.as_ptr(), to);
                let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2], L::from_f64(0.0)];
                L::store_rows(normalize(d), self.directions, from);
                let moving = [
                    Dual::new(d[0], L::from_f64(-1.0)),
                    Dual::constant(d[1]),
                    Dual::constant(d[2]),
                    Dual::constant(d[3]),
                ];
                let n = normalize(moving);
                let tangents = [n[0].tangent, n[1].tangent, n[2].tangent, n[3].tangent];
                L::store_rows(tangents, self.tangents, from);
            }
        }
    }
}

fn run_all<S: Dispatch + Float>() {
    let points: Vec<S> = (0..256).map(|i| S::from_f64(((i * 37) % 101) as f64)).collect();
    let from: [usize; 16] = std::array::from_fn(|l| 4 * l);
    let to: [usize; 16] = std::array::from_fn(|l| 4 * (63 - l));
    for isa in Isa::available() {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            let mut directions = vec![S::default(); 256];
            let mut tangents = vec![S::default(); 256];
            let driver = Directions {
                points: &points,
                edges: &[[from, to]],
                directions: directions.as_mut_ptr(),
                tangents: tangents.as_mut_ptr(),
            };
            S::dispatch(driver, isa, width);
            let [x, y, z] = [directions[0].to_f64(), directions[1].to_f64(), directions[2].to_f64()];
            assert!((x * x + y * y + z * z - 1.0).abs() < 4.0 * S::EPSILON);
            // The tangent of a unit vector is perpendicular to it.
            let [u, v, w] = [tangents[0].to_f64(), tangents[1].to_f64(), tangents[2].to_f64()];
            assert!(u < 0.0 && (x * u + y * v + z * w).abs() < S::EPSILON);
        }
    }
}

/// The functions of this program whose name has `name` in it, as lines of assembly.
fn functions(listing: &str, name: &str) -> Vec<String> {
    listing
        .split("\n\n")
        .filter(|text| text.lines().next().is_some_and(|head| head.contains(name) && head.ends_with(">:")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_call_in_the_loop() {
    // They are also what makes the compiler instantiate the loops.
    run_all::<f32>();
    run_all::<f64>();
    if cfg!(debug_assertions) {
        eprintln!("skipped: run with --release");
        return;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let Ok(output) = Command::new("objdump").args(["-d", "--no-show-raw-insn", "-C"]).arg(program).output()
    else {
        eprintln!("skipped: no objdump");
        return;
    };
    let listing = String::from_utf8_lossy(&output.stdout);
    // Per precision: one lane and 256 bits with AVX2; 256 and 512 bits with AVX-512.
    let avx2 = functions(&listing, "with_avx2");
    let avx512 = functions(&listing, "with_avx512");
    assert_eq!((avx2.len(), avx512.len()), (4, 4));
    for function in avx2.iter().chain(&avx512) {
        assert!(!function.contains("call"), "a call in\n{function}");
        assert!(function.contains("vsqrt"), "no loop in\n{function}");
        assert!(!function.contains("vfmadd"), "a fused multiply-add in\n{function}");
    }
    let count = |functions: &[String], instruction: &str, register: &str| {
        let uses = |f: &&String| f.lines().any(|line| line.contains(instruction) && line.contains(register));
        functions.iter().filter(uses).count()
    };
    for instruction in ["vsqrtps", "vsqrtpd"] {
        assert_eq!(count(&avx2, instruction, "%ymm"), 1, "{instruction}");
        assert_eq!(count(&avx512, instruction, "%ymm"), 1, "{instruction}");
        assert_eq!(count(&avx512, instruction, "%zmm"), 1, "{instruction}");
    }
}
