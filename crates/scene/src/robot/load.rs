//! From a file to a robot.

use std::path::Path;

use super::files::{Files, Load};
use super::xml::Xml;
use super::xml_text::Text;
use super::{Robot, mjcf, urdf};
use crate::error::Error;
use crate::words;

/// A robot, and what its writer should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The robot; [`Robot::check`] finds nothing wrong with it.
    pub robot: Robot,
    /// What was left out or is doubtful, with its line and what to do about it.
    pub warnings: Vec<Error>,
}

impl Robot {
    /// Reads a robot from a URDF or MJCF file; which it is, its outermost element says.
    ///
    /// Only files in the folder of `path`, in its package, and in the folders that `load` allows are read.
    ///
    /// # Errors
    ///
    /// When a file is missing, is outside these folders, is wrong, or uses what is not supported: all of that is in one
    /// error.
    pub fn load(path: impl AsRef<Path>, load: &Load) -> Result<Loaded, Error> {
        let path = path.as_ref();
        let shown = path.display().to_string();
        let mut files = Files::new(path, load)?;
        let itself = files.itself().to_owned();
        let text = files.text(&itself).map_err(|unread| unread.of(&shown))?;
        let text = Text::new(shown, text)?;
        let kind = Xml::parse(&text)?.root().name().to_owned();
        match kind.as_str() {
            "robot" => urdf::read(&text, &mut files, load),
            "mujoco" => mjcf::read(&text, &mut files, load),
            other => Err(Error {
                file: text.file().to_owned(),
                position: None,
                path: String::new(),
                what: format!("{} is no robot", words::quoted(&format!("<{other}>"))),
                fix: "name a URDF file, which starts with `<robot>`, or an MJCF file, which starts with `<mujoco>`".into(),
            }),
        }
    }
}
