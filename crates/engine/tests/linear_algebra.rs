//! The tests of the linear algebra of implicit steps, which are beside it: the library itself is not compiled for tests, as its kernels take
//! minutes to compile.
#![allow(dead_code, reason = "what only steps use")]

/// What it uses of the rest.
mod step {
    pub(crate) fn held<T>(vector: &Vec<T>) -> usize {
        vector.capacity() * size_of::<T>()
    }
}

#[path = "../src/integrate/bordered.rs"]
mod bordered;
#[path = "../src/integrate/cholesky.rs"]
mod cholesky;
#[path = "../src/integrate/dense.rs"]
mod dense;
#[path = "../src/integrate/factors.rs"]
mod factors;
#[path = "../src/integrate/gmres.rs"]
mod gmres;
#[path = "../src/integrate/sparsity.rs"]
mod sparsity;
