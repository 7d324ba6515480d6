//! Programs, one or more for each pattern: against naive serial versions, over threads, lanes, instruction sets and
//! batches to the last bit, and gradchecked.

mod elements;
mod errors;
mod kernels;
mod map;
mod pairs;
mod passes;
mod reduce;
mod rollout;
mod solve;
mod subject;
mod trees;
mod whole;

#[test]
fn the_cuda_text_of_these_kernels_is_right() {
    println!("{}", pullback_kernel::cuda::check::all().expect("the kernels' CUDA text"));
}
