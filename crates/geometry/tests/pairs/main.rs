//! Contacts of all pairs of shapes. They are one program, because compiling all pairs takes minutes.

#[path = "../common/mod.rs"]
mod common;

mod corners;
mod derivatives;
mod ground;
mod scalars;
mod special;
mod truth;
