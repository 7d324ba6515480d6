//! The kernel language, a kernel per feature: each forward and pullback against plain Rust, differences, f32, lanes
//! and C++.

mod branches;
mod calls;
mod check;
mod forces;
mod loops;
mod names;
mod statements;
mod values;

#[test]
fn cuda_text_is_right() {
    let summary = pullback_kernel::cuda::check::all().unwrap_or_else(|error| panic!("{error}"));
    println!("{summary}");
}
