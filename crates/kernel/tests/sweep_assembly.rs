//! The machine code of a program's element loops: no call in any of them, and nothing for cotangents that nobody asked for.
//!
//! A closure, or a helper that is not `#[inline(always)]`, anywhere between a kernel and an instruction leaves a call in
//! the loop and costs 6 to 27 times. This test disassembles itself, so that it has these programs only. It needs optimised
//! code and `objdump`, and says so where it has neither.

#![cfg(target_arch = "x86_64")]

use std::process::Command;

use pullback_kernel::prelude::*;

#[kernel]
fn spring<R: Real>(x: [Vec3<R>; 2], k: R, rest: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let f = normalize(d) * (k * (length(d) - rest));
    [f, -f]
}

/// Only the cotangent of `b` takes a division.
#[kernel]
fn root<R: Real>(a: R, b: R) -> R {
    a * sqrt(b)
}

/// Runs the program in every way: also what makes the compiler instantiate the loops.
fn run<S: pullback_kernel::program::Scalar>(program: &Program) {
    for isa in Isa::available() {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            let mut w = program.workspace::<S>(RunOptions { isa, width, ..RunOptions::default() });
            w.forward();
            w.pullback();
        }
    }
}

fn springs() -> Program {
    let n = 100;
    let mut p = Program::builder();
    let (x, k) = (p.input::<Vec3>("x", n), p.parameter::<f64>("k", n - 1));
    let rest = p.constant::<f64>("rest", &[0.5]);
    let springs = p.corners("springs", &(0..n - 1).map(|i| [i, i + 1]).collect::<Vec<_>>(), n);
    let f = p.elements::<spring, Vec3, 2>("f", springs, (x.at(springs), k.own(), rest.shared()));
    p.output(f);
    p.finish().expect("a right program")
}

fn roots(b_is_asked_for: bool) -> Program {
    let mut p = Program::builder();
    let (a, b) = (p.input::<f64>("a", 100), p.input::<f64>("b", 100));
    let y = if b_is_asked_for {
        p.map::<root>("y", (a.own(), b.own()))
    } else {
        p.map::<root>("y", (a.own(), b.fixed().own()))
    };
    p.output(y);
    p.finish().expect("a right program")
}

/// The instructions of a function with their addresses.
fn instructions(function: &str) -> Vec<(u64, &str)> {
    let parse = |line: &'_ str| -> Option<(u64, usize)> {
        let (address, _) = line.split_once(':')?;
        Some((u64::from_str_radix(address.trim(), 16).ok()?, address.len() + 1))
    };
    function
        .lines()
        .filter_map(|line| parse(line).map(|(address, at)| (address, line[at..].trim())))
        .collect()
}

/// The calls that lie between a backward jump and its target.
fn calls_in_loops(function: &str) -> Vec<String> {
    let code = instructions(function);
    let first = code.first().map_or(0, |(address, _)| *address);
    let mut calls = Vec::new();
    for &(address, instruction) in &code {
        let mut words = instruction.split_whitespace();
        let (Some(name), Some(target)) = (words.next(), words.next()) else { continue };
        let Ok(target) = u64::from_str_radix(target, 16) else { continue };
        if !name.starts_with('j') || target >= address || target < first {
            continue;
        }
        let inside = code.iter().filter(|(a, i)| (target..address).contains(a) && i.starts_with("call"));
        calls.extend(inside.map(|(a, i)| format!("{a:x}: {i}")));
    }
    calls
}

#[test]
fn no_call_in_an_element_loop_and_nothing_for_fixed_arguments() {
    for program in [springs(), roots(true), roots(false)] {
        run::<f32>(&program);
        run::<f64>(&program);
    }
    if cfg!(debug_assertions) {
        return eprintln!("skipped: run with --release");
    }
    let program = std::env::current_exe().expect("this program has a path");
    let Ok(output) = Command::new("objdump").args(["-d", "--no-show-raw-insn", "-C"]).arg(program).output()
    else {
        return eprintln!("skipped: no objdump");
    };
    let listing = String::from_utf8_lossy(&output.stdout);
    let sweeps: Vec<&str> = listing
        .split("\n\n")
        .filter(|text| text.lines().next().is_some_and(|head| head.contains("::with_avx")))
        .filter(|text| text.contains("vsqrt"))
        .collect();
    // Per precision: one lane and 256 bits with AVX2; 256 and 512 bits with AVX-512. And duals, one lane with AVX2. Each forwards and back,
    // for one world and for many; the two programs of roots are one forwards.
    let (lanes, ways, worlds) = (8, 9, 2);
    assert_eq!(sweeps.len(), ways * worlds * (3 + 2), "the sweeps of the three programs");
    let without_division = sweeps.iter().filter(|sweep| !sweep.contains("vdiv")).count();
    let wanted = lanes * worlds * (1 + 1);
    assert_eq!(without_division, wanted, "forwards, and back where the cotangent of `b` was not asked for");
    for sweep in sweeps {
        assert!(instructions(sweep).len() > 100);
        let calls = calls_in_loops(sweep);
        assert!(calls.is_empty(), "calls in loops of {}: {calls:#?}", sweep.lines().next().unwrap_or(""));
    }
    // The finder finds: a loop with a call in it.
    let planted = "0 <f>:\n 10:\tnop\n 11:\tcall   99 <g>\n 16:\tjne    10 <f>\n 18:\tret";
    assert_eq!(calls_in_loops(planted).len(), 1);
}
