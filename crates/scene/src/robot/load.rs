//! From a file to a robot.

use std::path::Path;

use super::files::{Base, Files, Load};
use super::xml::Xml;
use super::xml_text::Text;
use super::{JointKind, Robot, mjcf, urdf};
use crate::error::Error;
use crate::{source, words};

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
        let text = source::read_text(path).map_err(|unread| unread.of(&path.display().to_string()))?;
        Self::parse(text, path, load)
    }

    /// Reads a robot from a text, as [`Robot::load`] does; other files are looked for where `file` would be.
    ///
    /// # Errors
    ///
    /// Those of [`Robot::load`].
    pub fn parse(text: impl Into<String>, file: impl AsRef<Path>, load: &Load) -> Result<Loaded, Error> {
        let file = file.as_ref();
        let mut files = Files::new(file, load)?;
        let text = Text::new(file.display().to_string(), text.into())?;
        let kind = Xml::parse(&text)?.root().name().to_owned();
        let loaded = match kind.as_str() {
            "robot" => urdf::read(&text, &mut files, load),
            "mujoco" => mjcf::read(&text, &mut files, load),
            other => Err(Error {
                file: text.file().to_owned(),
                position: None,
                path: String::new(),
                what: format!("{} is no robot", words::quoted(&format!("<{other}>"))),
                fix: "name a URDF file, which starts with `<robot>`, or an MJCF file, which starts with `<mujoco>`".into(),
            }),
        }?;
        match load.base {
            Base::Free => stands_freely(&loaded.robot, text.file())?,
            Base::AsWritten | Base::Fixed => {}
        }
        Ok(loaded)
    }
}

/// A root that has joints of its own gets no free one. A root without any is the world itself, as in URDF files
/// that begin with a link `world`: what hangs on it is the root then.
fn stands_freely(robot: &Robot, file: &str) -> Result<(), Error> {
    let mut moves = vec![false; robot.bodies.len()];
    robot.joints.iter().for_each(|joint| moves[joint.body] = true);
    let mut below = vec![false; robot.bodies.len()]; // below a body that moves; parents come first
    for (body, parent) in robot.bodies.iter().enumerate().filter_map(|(body, b)| Some((body, b.parent?))) {
        below[body] = moves[parent] || below[parent];
    }
    let of_roots = || robot.joints.iter().filter(|joint| !below[joint.body]);
    if of_roots().any(|joint| joint.kind == JointKind::Free) {
        return Ok(());
    }
    let names: Vec<String> = of_roots().map(|joint| words::quoted(&joint.name)).collect();
    let by = if names.is_empty() { "a joint to the world".to_owned() } else { names.join(", ") };
    Err(Error {
        file: file.to_owned(),
        position: None,
        path: String::new(),
        what: format!("a free base would change nothing: the file says how its root stands, by {by}"),
        fix: "leave out that the base is free, or take that out of the file".into(),
    })
}
