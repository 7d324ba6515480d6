//! Meshes of soft things.

mod bad;
mod common;
mod copies;
mod fill;
mod generators;
mod import;
mod surface;
