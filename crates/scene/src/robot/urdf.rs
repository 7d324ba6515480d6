//! URDF.

use super::files::{Files, Load};
use super::load::Loaded;
use super::xml_text::Text;
use crate::error::Error;

/// Reads a robot.
pub(crate) fn read(text: &Text, _files: &mut Files, _load: &Load) -> Result<Loaded, Error> {
    Err(Error {
        file: text.file().to_owned(),
        position: None,
        path: String::new(),
        what: "URDF is not read yet".into(),
        fix: "wait".into(),
    })
}
