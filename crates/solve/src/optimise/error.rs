//! What can go wrong with a run, apart from the objective.

use std::path::PathBuf;

use super::Failure;

/// Why a run could not be made, advanced, saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The start has a number that is not finite.
    #[error("the start is not finite: variable {index} is {value}")]
    Start {
        /// Which variable.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// Two things that belong together differ in length.
    #[error("{what} has {found} variables, expected {expected}")]
    Dimension {
        /// What has the wrong length.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A setting is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    Setting {
        /// Which setting.
        name: String,
        /// Its value.
        value: f64,
        /// Its range in words.
        expected: &'static str,
    },
    /// A value cannot be mapped to an unbounded variable.
    #[error("{value} does not lie strictly between its bounds {lower} and {upper}: choose a value inside")]
    Outside {
        /// The value.
        value: f64,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The objective failed in a way that a smaller step does not mend. The run is as it was before the iteration.
    #[error("the objective failed: {0}")]
    Objective(#[from] Failure),
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is not a whole saved run.
    #[error("{path} is damaged, or not a saved run: {why}", path = path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file was written by another version.
    #[error("{path} has version {found} of the format, this program reads version {expected}", path = path.display())]
    Version {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that can be read.
        expected: u32,
    },
    /// A file holds a run of another problem.
    #[error(
        "{path} is a run of another problem: its fingerprint is \"{found}\", this problem's is \"{expected}\"; \
         remove it, or save elsewhere, to start anew",
        path = path.display()
    )]
    OtherProblem {
        /// Which file.
        path: PathBuf,
        /// Its fingerprint.
        found: String,
        /// The fingerprint asked for.
        expected: String,
    },
    /// The run could not be written as JSON.
    #[error("the run cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Error {
    /// Is it about something that the user gave: a setting, a start, a saved run, a method that does not suit the loss?
    pub fn is_input(&self) -> bool {
        match self {
            Error::Start { .. }
            | Error::Dimension { .. }
            | Error::Setting { .. }
            | Error::Outside { .. }
            | Error::File { .. }
            | Error::Damaged { .. }
            | Error::Version { .. }
            | Error::OtherProblem { .. } => true,
            Error::Objective(failure) => matches!(failure, Failure::NotLeastSquares),
            Error::Json(_) => false,
        }
    }
}
