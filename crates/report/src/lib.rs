//! What a run leaves behind: tables, arrays and a page with plots.
//!
//! Pure data in, files out. [`RunFolder`] holds the files of one run and never shows a half-written one,
//! [`Table`] and [`Csv`] write tables, [`write_npz`] writes arrays for NumPy, [`Plot`] draws, and [`Report`] puts
//! everything on one page that needs no network.
//!

mod folder;
mod npz;
mod number;
mod table;
mod xml;

pub use folder::{Existing, FolderError, RunFolder, default_path};
pub use npz::{Array, NpzError, NpzWriter, read_npz, write_npz};
pub use number::human;
pub use table::{Cell, Csv, Table};
