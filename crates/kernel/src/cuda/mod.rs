//! CUDA: the text of kernels, and the device that runs it.
//!
//! ```no_run
//! use pullback_kernel::cuda::{Arguments, Compile, Device, Graph, Memory, Module};
//!
//! # fn main() -> Result<(), pullback_kernel::cuda::Error> {
//! let source = r#"
//!     extern "C" __global__ void scale(float* y, const float* x, float a, unsigned n) {
//!         unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!         if (i < n) y[i] = a * x[i];
//!     }
//! "#;
//! let device = Device::new(0)?;
//! let scale = Module::compile(&device, source, &Compile::default())?.function("scale")?;
//! let x = Memory::from_slice(&device, &[1.0f32, 2.0, 3.0])?;
//! let y = Memory::<f32>::zeroed(&device, 3)?;
//! let arguments = Arguments::new().pointer(&y).pointer(&x).f32(2.0).u32(3);
//! // SAFETY: the kernel touches the first 3 numbers of x and y, which is all they have.
//! let graph = Graph::capture(&device, || unsafe { scale.launch(3, &arguments) })?;
//! graph.launch()?;
//! assert_eq!(y.to_vec()?, [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```

mod cache;
pub mod check;
mod compile;
mod device;
mod error;
mod function;
mod graph;
mod memory;
mod module;
mod nvrtc;
mod source;

pub use cache::Cache;
pub use compile::{Compile, Image, Target, compile};
pub use device::Device;
pub use error::Error;
pub use function::{Arguments, Function, Shape};
pub use graph::Graph;
pub use memory::{Memory, Plain};
pub use module::Module;
pub use source::{CConstant, Definition, Piece, Source, Struct};
