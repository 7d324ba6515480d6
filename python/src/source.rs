//! What a model is made of: the text of a scene or of a robot, with which it can be made again elsewhere.

use std::path::{Path, PathBuf};

use pullback_scene::robot::{Base, Load};
use pullback_scene::{Robot, Scene, Source};

use crate::error::Failure;

/// A text, the file that it is of, and how it is read.
pub struct Origin {
    pub text: String,
    /// Errors name it, and files that the text names are looked for beside it.
    pub file: PathBuf,
    /// `None`: it is a scene.
    pub robot: Option<Load>,
}

impl Origin {
    /// Reads a file.
    pub fn read(file: PathBuf, robot: Option<Load>) -> Result<Origin, Failure> {
        let text = Source::read(&file)?.text().to_owned();
        Ok(Origin { text, file, robot })
    }

    /// What the text describes.
    pub fn scene(&self) -> Result<Scene, Failure> {
        let Some(load) = &self.robot else { return Ok(Scene::parse(&self.text, &self.file)?) };
        let scene = pullback_cli::alone(Robot::parse(self.text.as_str(), &self.file, load)?);
        scene.check().map_err(|invalid| Source::new("", &self.file).attach(invalid))?;
        Ok(scene)
    }
}

/// Is it the file of a robot, by its name?
pub fn is_robot(file: &Path) -> bool {
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("urdf") || end.eq_ignore_ascii_case("xml"))
}

/// How a robot stands, by its name.
pub fn base(name: &str) -> Result<Base, Failure> {
    match name {
        "as-written" => Ok(Base::AsWritten),
        "fixed" => Ok(Base::Fixed),
        "free" => Ok(Base::Free),
        other => Err(Failure::Setting(format!(
            "there is no base `{other}`: it is \"as-written\", \"fixed\" or \"free\""
        ))),
    }
}
