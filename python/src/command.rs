//! `python -m pullback`: the command line.

use std::ffi::OsString;

use pyo3::prelude::*;

use crate::compute::caught;

/// Runs the command, and returns its exit code. The first argument is what it is called by.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    Ok(py.detach(|| caught(|| Ok(pullback_cli::run(arguments))))?)
}
