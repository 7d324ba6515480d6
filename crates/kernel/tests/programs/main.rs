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
