//! Patterns: where kernels' values come from and go to.
//!
//! Every pattern is the same sweep (`sweep.rs`) over elements: ports gather the arguments, the kernel computes, ports
//! scatter the results. A port is a linear map with its transpose, so that the pullback is the same sweep with gather
//! and scatter exchanged:
//!
//! | port | file | as an input | as an output; and as an input in the pullback |
//! |---|---|---|---|
//! | `own` | `map.rs` | the element's own value | the element's own value |
//! | `at` | `elements.rs` | the values of the vertices that it touches | sums per vertex, in a fixed order |
//! | `edges` | `edges.rs` | the same less the first one's | the same, and the first one's holds against them |
//! | `at` a list | `pairs.rs` | the same, over a list made at run time | the same list, kept |
//! | `shared` | `reduce.rs` | one value for all | the sum over all, in a fixed order |
//! | parent | `tree_down.rs` | the parent's result | the sum over the children |
//! | cotangent | `fragment.rs` | the element's own cotangent, for a fragment's own pullback | the same |
//! | children | `tree_up.rs` | the sum over the children's messages | the parent's |

pub(crate) mod c_text;
pub(crate) mod copy;
pub(crate) mod edges;
pub(crate) mod elements;
pub(crate) mod fragment;
pub(crate) mod map;
pub(crate) mod pairs;
pub(crate) mod port;
pub(crate) mod reduce;
pub(crate) mod sweep;
pub(crate) mod tree_down;
pub(crate) mod tree_up;

pub use edges::Edges;
pub use elements::At;
pub use map::{Own, OwnIndex};
pub use port::{Input, Inputs, Output, Outputs};
pub use reduce::Shared;
