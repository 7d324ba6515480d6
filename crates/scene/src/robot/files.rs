//! Reading the files of a robot, and no others.
//!
//! A robot's file names further files: meshes, and in MJCF parts of itself. They may come from anywhere, so nothing is
//! read that lies outside the folder of the robot's file, its package, or the folders that [`Load`] allows. Links are
//! followed before that is checked, and sizes are bounded one by one and together. Meshes and heights of a scene's world
//! are read in the same way.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::source::{LARGEST_FILE, Unread};
use crate::{source, words};

/// Most bytes that all files of a robot may have together.
const MOST_BYTES: usize = 1_000_000_000;

/// Most files inside each other.
const DEEPEST_INCLUDE: usize = 16;

/// Most parts of a file that are in other files.
const MOST_INCLUDES: usize = 1000;

/// How many folders above the robot's file its package may start.
const MOST_FOLDERS_UP: usize = 4;

/// What a package may be read for. A file may name any folder above it as its package, so that no more than meshes are
/// read there.
const OF_PACKAGES: [&str; 4] = ["obj", "stl", "msh", "dae"];

/// How a robot is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Leave out what is not supported, with warnings, instead of refusing the file.
    pub lenient: bool,
    /// Read the triangles of meshes; without, shapes know the names of their files only.
    pub meshes: bool,
    /// Further folders that may be read, besides the folder of the robot's file and its package.
    pub allow: Vec<PathBuf>,
    /// Where packages are: the `NAME` of `package://NAME/meshes/arm.stl`, and its folder.
    pub packages: Vec<(String, PathBuf)>,
    /// How it stands in the world.
    pub base: Base,
}

/// How the root of a robot is connected to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// As the file says: roots of URDF are fixed, bodies of MJCF have the joints that are written.
    #[default]
    AsWritten,
    /// Fixed: a free joint of the root is left out.
    Fixed,
    /// Free: a root without joints gets a free joint, called `root`; one with other joints is refused.
    Free,
}

impl Default for Load {
    /// Strict, with meshes, from the robot's folder only.
    fn default() -> Self {
        Self { lenient: false, meshes: true, allow: Vec::new(), packages: Vec::new(), base: Base::AsWritten }
    }
}

/// The files that may be read for one robot or scene, and how much has been read.
#[derive(Debug)]
pub(crate) struct Files {
    /// The robot's file, without links.
    itself: PathBuf,
    /// The folder of the robot's file, without links.
    folder: PathBuf,
    /// The same folder, as the user wrote it.
    shown: PathBuf,
    /// Folders that may be read, without links.
    roots: Vec<PathBuf>,
    packages: Vec<(String, PathBuf)>,
    bytes: usize,
    /// What they are of: `robot` or `scene`.
    of: &'static str,
    /// The files that are being read now, each a part of the one before.
    open: Vec<PathBuf>,
    includes: usize,
}

impl Files {
    /// Those of the robot in this file. The file need not be there, and its folder must.
    pub fn new(file: &Path, load: &Load) -> Result<Self, Error> {
        let shown = file.parent().unwrap_or(Path::new("")).to_owned();
        let itself = match fs::canonicalize(file) {
            Ok(itself) => itself,
            Err(_) => canonical(if shown == Path::new("") { Path::new(".") } else { &shown })?
                .join(file.file_name().unwrap_or_default()),
        };
        let folder = itself.parent().unwrap_or(Path::new("/")).to_owned();
        let mut roots = vec![folder.clone()];
        for allowed in &load.allow {
            roots.push(canonical(allowed)?);
        }
        let mut packages = Vec::new();
        for (name, root) in &load.packages {
            let root = canonical(root)?;
            roots.push(root.clone());
            packages.push((name.clone(), root));
        }
        let open = vec![itself.clone()];
        Ok(Self { itself, folder, shown, roots, packages, bytes: 0, of: "robot", open, includes: 0 })
    }

    /// Those of the scene in this file.
    pub fn of_scene(file: &Path) -> Result<Self, Error> {
        Ok(Self { of: "scene", ..Self::new(file, &Load::default())? })
    }

    /// The robot's file, without links.
    pub fn itself(&self) -> &Path {
        &self.itself
    }

    /// The folder of the robot's file, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What errors call a file that [`Files::find`] returned: as the user would write it.
    pub fn shown(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.folder).map_or_else(|_| path.to_owned(), |inside| self.shown.join(inside))
    }

    /// The file of a name: a path relative to `folder`, an absolute one, `file://` or `package://`. What is returned has
    /// no links, is there, and may be read.
    pub fn find(&self, folder: &Path, name: &str) -> Result<PathBuf, Unread> {
        if let Some(rest) = name.strip_prefix("package://") {
            return self.find_in_package(name, rest);
        }
        let plain = name.strip_prefix("file://").unwrap_or(name);
        if let Some((scheme, _)) = plain.split_once("://") {
            let what = format!("{} is no file: {} is not read", words::quoted(name), words::quoted(scheme));
            return Err(Unread::new(what, "write a path relative to this file"));
        }
        if plain.trim().is_empty() {
            return Err(Unread::new("the name of the file is empty", "write a path relative to this file"));
        }
        self.permitted(&folder.join(plain), name, &self.roots)
    }

    /// The file of a path relative to the folder, and of no other kind of name.
    pub fn find_here(&self, path: &str) -> Result<PathBuf, Unread> {
        self.permitted(&self.folder.join(path), path, &self.roots)
    }

    /// `NAME/rest` of `package://NAME/rest`: a given package, else the nearest folder above the robot's file that is
    /// called NAME, else the folder of the robot's file if it has `NAME/rest` or the rest.
    fn find_in_package(&self, name: &str, rest: &str) -> Result<PathBuf, Unread> {
        let (package, rest) = rest.trim_start_matches('/').split_once('/').unwrap_or_default();
        let mesh = Path::new(rest).extension().is_some_and(|ending| {
            OF_PACKAGES.iter().any(|allowed| ending.to_string_lossy().eq_ignore_ascii_case(allowed))
        });
        if !mesh {
            let what = format!("{} is no mesh, and packages are read for meshes only", words::quoted(name));
            return Err(Unread::new(what, "name a file that ends in .obj, .stl or .msh"));
        }
        if let Some((_, root)) = self.packages.iter().find(|(given, _)| given == package) {
            return self.permitted(&root.join(rest), name, std::slice::from_ref(root));
        }
        let above = || self.folder.ancestors().take(MOST_FOLDERS_UP + 1);
        if let Some(root) = above().find(|folder| folder.file_name().is_some_and(|called| called == package))
        {
            return self.permitted(&root.join(rest), name, &[root.to_owned()]);
        }
        for inside in [self.folder.join(package).join(rest), self.folder.join(rest)] {
            if let Ok(found) = self.permitted(&inside, name, &self.roots) {
                return Ok(found);
            }
        }
        let what = format!("the package {} of {} is not found", words::quoted(package), words::quoted(name));
        let fix = match above()
            .find(|folder| self.permitted(&folder.join(rest), name, &[folder.to_path_buf()]).is_ok())
        {
            Some(folder) => say_where(package, &folder.display().to_string()),
            None => say_where(package, "FOLDER"),
        };
        Err(Unread::new(what, format!("{fix}, or `packages` of `Load`")))
    }

    /// The file itself, if it is there and in one of the folders.
    fn permitted(&self, path: &Path, name: &str, roots: &[PathBuf]) -> Result<PathBuf, Unread> {
        let inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let outside = || {
            let what =
                format!("{} is outside the folder of the {}, and is not read", words::quoted(name), self.of);
            let fix = match self.of {
                "robot" => "move it there, or allow its folder: `--allow FOLDER`, or `allow` of `Load`",
                _ => "move it there",
            };
            Unread::new(what, fix)
        };
        match fs::canonicalize(path) {
            Ok(found) if inside(&found) => Ok(found),
            Ok(_) => Err(outside()),
            // Whether something exists outside is nobody's business: only the name decides what is said.
            Err(_) if !inside(&without_dots(path)) => Err(outside()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let what = format!("there is no file {}", words::quoted(name));
                Err(Unread::new(what, source::missing_fix(&without_dots(path))))
            }
            Err(error) => Err(Unread::new(
                format!("the file {} cannot be read: {error}", words::quoted(name)),
                "check that you may read it",
            )),
        }
    }

    /// What a file holds, one that [`Files::find`] returned.
    pub fn bytes(&mut self, path: &Path) -> Result<Vec<u8>, Unread> {
        let shown = words::quoted(&path.file_name().unwrap_or_default().to_string_lossy());
        let unreadable = |error: io::Error| {
            Unread::new(format!("{shown} cannot be read: {error}"), "check that you may read it")
        };
        // Before it is opened: opening a pipe waits for its other end.
        let kind = fs::metadata(path).map_err(unreadable)?;
        if !kind.is_file() {
            return Err(Unread::new(format!("{shown} is no file"), "name a file"));
        }
        let most = LARGEST_FILE.min(MOST_BYTES - self.bytes);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() > most {
            let what = match most {
                LARGEST_FILE => format!("{shown} is larger than {} MB", LARGEST_FILE / 1_000_000),
                _ => format!("the {}'s files have more than {} MB together", self.of, MOST_BYTES / 1_000_000),
            };
            return Err(Unread::new(what, "use coarser meshes, or check the names"));
        }
        self.bytes += bytes.len();
        Ok(bytes)
    }

    /// Reads a text file, one that [`Files::find`] returned.
    pub fn text(&mut self, path: &Path) -> Result<String, Unread> {
        source::utf8(self.bytes(path)?)
    }

    /// Starts to read a part of the file that is being read. Call [`Files::leave`] at its end.
    pub fn enter(&mut self, path: &Path) -> Result<(), Unread> {
        self.includes += 1;
        if self.open.iter().any(|open| open == path) {
            return Err(Unread::new("this file includes itself", "leave this `include` out"));
        }
        if self.open.len() > DEEPEST_INCLUDE {
            let what = format!("files are included more than {DEEPEST_INCLUDE} deep");
            return Err(Unread::new(what, "include them from fewer levels"));
        }
        if self.includes > MOST_INCLUDES {
            let what = format!("more than {MOST_INCLUDES} files are included");
            return Err(Unread::new(what, "write them in fewer files"));
        }
        self.open.push(path.to_owned());
        Ok(())
    }

    /// Ends what [`Files::enter`] started.
    pub fn leave(&mut self) {
        self.open.pop();
    }
}

/// A path of the user, without links.
fn canonical(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|error| {
        let unread = match error.kind() {
            io::ErrorKind::NotFound => Unread::new("there is no such file", source::missing_fix(path)),
            _ => Unread::new(format!("it cannot be read: {error}"), "check that you may read it"),
        };
        unread.of(&path.display().to_string())
    })
}

/// `a/b` of `a/./c/../b`, by its letters.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// How to say where a package is.
fn say_where(package: &str, folder: &str) -> String {
    format!(
        "say where it is: `--package {package}={folder}`, in a scene `packages = {{ {package} = {folder:?} }}`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_end() {
        let mut files = Files::new(Path::new("robot.xml"), &Load::default()).expect("the folder is there");
        let itself = files.itself().to_owned();
        assert!(files.enter(&itself).is_err(), "a file within itself");
        let names: Vec<PathBuf> = (0..=DEEPEST_INCLUDE).map(|at| format!("{at}.xml").into()).collect();
        names[..DEEPEST_INCLUDE].iter().for_each(|name| files.enter(name).expect("it is not deep"));
        assert!(files.enter(&names[0]).is_err(), "a loop");
        assert!(files.enter(&names[DEEPEST_INCLUDE]).expect_err("it is deep").what.contains("deep"));
        (0..DEEPEST_INCLUDE).for_each(|_| files.leave());
        files.enter(&names[0]).expect("the same file again, after the first has ended");
        files.leave();
        let mut more = (0..MOST_INCLUDES).map(|_| {
            let entered = files.enter(&names[1]);
            files.leave();
            entered
        });
        assert!(more.any(|entered| entered.is_err()), "a few deep can be many");
    }

    #[test]
    fn dots_are_taken_out() {
        for (path, plain) in [("/a/./b/../c", "/a/c"), ("/../../a", "/a"), ("a/..", ""), ("a//b/", "a/b")] {
            assert_eq!(without_dots(Path::new(path)), Path::new(plain), "{path}");
        }
    }
}
