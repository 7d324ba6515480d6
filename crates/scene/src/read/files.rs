//! Files that a scene names: meshes and heights.

use std::path::{Path, PathBuf};

use super::Fault;
use super::data::inside;
use super::node::Node;
use crate::error::Error;
use crate::robot::Files;
use crate::source::Source;
use crate::words;

/// The files that a scene may name; none is touched before the first.
pub(super) struct SceneFiles<'s> {
    source: &'s Source,
    files: Option<Files>,
}

impl<'s> SceneFiles<'s> {
    pub fn new(source: &'s Source) -> Self {
        Self { source, files: None }
    }

    /// A file in the folder of the scene or below: where it is without links, and as the scene calls it.
    pub fn find(&mut self, node: &Node<'_>, example: &str) -> Result<(PathBuf, PathBuf), Fault> {
        let name = node.text()?;
        if name.contains("://") {
            let what = format!("{} is no path", words::quoted(name));
            return Err(node.invalid(what, format!("write it like \"{example}\"")).into());
        }
        let file = inside(node, name, self.source.folder(), example)?;
        let found = self.opened()?.find_here(name);
        let found = found.map_err(|unread| node.invalid(unread.what, unread.fix))?;
        Ok((found, file))
    }

    /// What a file holds, and what the scene calls it.
    pub fn bytes(&mut self, node: &Node<'_>, example: &str) -> Result<(Vec<u8>, PathBuf), Fault> {
        let (path, file) = self.find(node, example)?;
        let bytes = self.opened()?.bytes(&path);
        let bytes = bytes.map_err(|unread| elsewhere(node, unread.of(&file.display().to_string())))?;
        Ok((bytes, file))
    }

    pub fn opened(&mut self) -> Result<&mut Files, Fault> {
        match &mut self.files {
            Some(files) => Ok(files),
            none => {
                let file = Path::new(self.source.file());
                Ok(none.insert(Files::of_scene(file).map_err(Fault::Elsewhere)?))
            }
        }
    }
}

/// What is wrong in a place of a file is told of that place; what is wrong with the file as a whole, of the line that
/// names it.
pub(super) fn elsewhere(node: &Node<'_>, error: Error) -> Fault {
    match (error.position, node.text()) {
        (None, Ok(name)) => {
            Fault::Here(node.invalid(format!("{}: {}", words::quoted(name), error.what), error.fix))
        }
        (Some(_), _) | (_, Err(_)) => Fault::Elsewhere(error),
    }
}
