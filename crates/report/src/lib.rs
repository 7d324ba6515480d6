//! What a run leaves behind: tables, arrays and a page with plots.
//!
//! Pure data in, files out. [`RunFolder`] holds the files of one run and never shows a half-written one,
//! [`Table`] and [`Csv`] write tables, [`write_npz`] writes arrays for NumPy, [`Plot`] draws, and [`Report`] puts
//! everything on one page that needs no network.
//!
//! ```
//! use pullback_report::{Plot, Report};
//!
//! let iteration = [0.0, 1.0, 2.0];
//! let loss = [1.0, 0.1, 0.01];
//! let page = Report::new("Throw a ball")
//!     .summary(&[("optimiser", "adam"), ("iterations", "3")])
//!     .section("Loss", |s| {
//!         s.text("The loss falls by a factor of ten each time.");
//!         s.plot(&Plot::line("Loss").x("iteration").y("loss [m²]").log_y().series("loss", &iteration, &loss));
//!     })
//!     .html();
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
//! ```

mod changes;
mod folder;
mod html;
mod many;
mod npz;
mod number;
mod playback;
mod plot;
mod table;
mod xml;

pub use changes::Change;
pub use folder::{Existing, FolderError, RunFolder, default_path};
pub use html::{Report, Section};
pub use npz::{Array, NpzError, NpzWriter, OwnedArray, read_npz, write_npz};
pub use number::human;
pub use playback::{Playback, Solid, Surface, evenly};
pub use plot::Plot;
pub use table::{Cell, Csv, Table};
