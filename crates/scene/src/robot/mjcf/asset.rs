//! Assets: meshes, and the colours of materials.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::class::{Classes, MAIN};
use super::compiler::{Compiler, set};
use super::geom::unknown;
use super::parts::Tree;
use crate::error::Error;
use crate::robot::files::Files;
use crate::robot::findings::Findings;
use crate::robot::mesh::{self, Meshes};
use crate::robot::xml::Element;
use crate::robot::{MeshShape, Placement, Triangles, orientation};
use crate::words;

/// What the mass of a mesh fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeshInertia {
    /// What the surface encloses.
    Exact,
    /// The same, with the volumes of all tetrahedra taken as positive: exact for convex meshes, too much for others.
    Legacy,
    /// The convex hull.
    Convex,
    /// The surface.
    Shell,
}

/// What a class says of a mesh.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshSpec {
    scale: [f64; 3],
    inertia: Option<MeshInertia>,
}

impl Default for MeshSpec {
    fn default() -> Self {
        Self { scale: [1.0; 3], inertia: None }
    }
}

impl MeshSpec {
    /// Takes over what an element says.
    pub fn read(&mut self, element: Element<'_>) -> Result<(), Error> {
        set(&mut self.scale, element.numbers("scale")?);
        let kinds = [
            ("exact", MeshInertia::Exact),
            ("legacy", MeshInertia::Legacy),
            ("convex", MeshInertia::Convex),
            ("shell", MeshInertia::Shell),
        ];
        self.inertia = element.choice("inertia", &kinds)?.or(self.inertia);
        Ok(())
    }
}

/// A mesh of `<asset>`.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset<'x> {
    element: Element<'x>,
    scale: [f64; 3],
    /// The frame that the mesh is taken to be in.
    reference: Option<Placement>,
    pub inertia: MeshInertia,
    /// What was read, or that it cannot be.
    shape: Option<Option<MeshShape>>,
}

/// The assets of a file, and how they are read.
pub(super) struct Assets<'x, 'f> {
    pub compiler: &'f Compiler,
    files: &'f mut Files,
    /// Triangles are wanted, also where no mass needs them.
    wanted: bool,
    meshes: HashMap<&'x str, MeshAsset<'x>>,
    materials: HashMap<&'x str, Option<[f64; 4]>>,
    read: Meshes,
}

impl<'x, 'f> Assets<'x, 'f> {
    /// Reads the list of assets; files of meshes are read when a geom has them.
    pub fn read(
        tree: &Tree<'x>,
        (compiler, classes): (&'f Compiler, &Classes),
        files: &'f mut Files,
        wanted: bool,
    ) -> Result<Self, Error> {
        let mut assets = Self {
            compiler,
            files,
            wanted,
            meshes: HashMap::new(),
            materials: HashMap::new(),
            read: Meshes::default(),
        };
        for section in tree.sections("asset") {
            for element in tree.children(section) {
                match element.name() {
                    "mesh" => assets.add_mesh(element, classes)?,
                    "material" => {
                        let class = classes.of(element, MAIN)?;
                        let color = element.numbers("rgba")?.or(class.material);
                        assets.materials.insert(element.required_text("name")?, color);
                    }
                    // Textures, skins, height fields and models do nothing by themselves.
                    _ => {}
                }
            }
        }
        Ok(assets)
    }

    fn add_mesh(&mut self, element: Element<'x>, classes: &Classes) -> Result<(), Error> {
        let mut spec = classes.of(element, MAIN)?.mesh;
        spec.read(element)?;
        let name = match (element.text("name"), element.text("file")) {
            (Some(name), _) => name,
            (None, Some(file)) => {
                let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
                file.rsplit_once('.').map_or(file, |(stem, _)| stem)
            }
            (None, None) => return Err(element.missing("name")),
        };
        let refquat = match element.numbers("refquat")? {
            None => None,
            Some(quaternion) => Some(orientation::normalised(quaternion).ok_or_else(|| {
                element.error_at("refquat", "the quaternion is zero", "write four numbers, not all zero")
            })?),
        };
        let refpos = element.numbers("refpos")?;
        let reference = (refpos.is_some() || refquat.is_some()).then(|| Placement {
            position: refpos.unwrap_or_default(),
            orientation: refquat.unwrap_or(orientation::IDENTITY),
        });
        let usual = if self.compiler.exact_meshes { MeshInertia::Exact } else { MeshInertia::Legacy };
        let inertia = spec.inertia.unwrap_or(usual);
        let asset = MeshAsset { element, scale: spec.scale, reference, inertia, shape: None };
        if self.meshes.insert(name, asset).is_some() {
            let what = format!("two meshes are called {}", words::quoted(name));
            return Err(element.error(what, "give each a name of its own"));
        }
        Ok(())
    }

    /// The mesh of a name.
    pub fn find(&self, element: Element<'_>, name: &str) -> Result<&MeshAsset<'x>, Error> {
        self.meshes.get(name).ok_or_else(|| {
            let mut names: Vec<&str> = self.meshes.keys().copied().collect();
            names.sort_unstable();
            unknown(element, "mesh", "mesh", names.into_iter())
        })
    }

    /// The shape of a mesh; `None` if it is not supported, which is reported.
    pub fn mesh(
        &mut self,
        element: Element<'_>,
        name: &str,
        weighed: bool,
        findings: &mut Findings,
    ) -> Result<Option<MeshShape>, Error> {
        let asset = self.find(element, name)?.clone();
        if weighed && asset.inertia == MeshInertia::Convex {
            findings.unsupported_at(
                asset.element,
                "inertia",
                "the mass of a convex hull: that of the mesh itself is used",
            );
        }
        // Triangles that are only to be seen may be left out; a mesh that was read without them is read again.
        let wanted = weighed || self.wanted;
        if let Some(shape) = &asset.shape
            && (!wanted || shape.as_ref().is_none_or(|shape| shape.triangles.is_some()))
        {
            return Ok(shape.clone());
        }
        let shape = self.load(&asset, wanted, findings)?;
        if let Some(asset) = self.meshes.get_mut(name) {
            asset.shape = Some(shape.clone());
        }
        Ok(shape)
    }

    fn load(
        &mut self,
        asset: &MeshAsset<'_>,
        wanted: bool,
        findings: &mut Findings,
    ) -> Result<Option<MeshShape>, Error> {
        let element = asset.element;
        for attribute in ["builtin", "params"] {
            if element.text(attribute).is_some_and(|kind| kind != "none") {
                findings.unsupported_at(
                    element,
                    attribute,
                    "meshes that are made by a rule are not supported",
                );
                return Ok(None);
            }
        }
        let Some(file) = element.text("file") else {
            return self.inline(asset, findings);
        };
        let stripped =
            if self.compiler.strip_path { file.rsplit(['/', '\\']).next().unwrap_or(file) } else { file };
        let relative = Path::new(&self.compiler.mesh_folder).join(stripped);
        let folder = self.files.folder().to_owned();
        let path = match self.files.find(&folder, &relative.to_string_lossy()) {
            Ok(path) => path,
            Err(unread) => {
                findings.refuse(element.error_at("file", unread.what, unread.fix))?;
                return Ok(None);
            }
        };
        if let Err(error) = mesh::ending(&path) {
            findings.unsupported_at(element, "file", error.what);
            return Ok(None);
        }
        let scale = asset.scale;
        let triangles = match (wanted, asset.reference) {
            (false, _) => None,
            (true, None) => Some(self.read.get(self.files, &path, scale)?),
            (true, Some(_)) => {
                let plain = self.read.get(self.files, &path, [1.0; 3])?;
                Some(Arc::new(asset.placed(&plain)))
            }
        };
        Ok(Some(MeshShape { file: path, scale, triangles }))
    }

    /// A mesh that is written in the file itself.
    fn inline(&self, asset: &MeshAsset<'_>, findings: &mut Findings) -> Result<Option<MeshShape>, Error> {
        let element = asset.element;
        let Some(numbers) = element.list("vertex")? else {
            return Err(element.missing("file"));
        };
        let Some(corners) = element.list("face")? else {
            findings.unsupported(element, "corners without faces: the convex hull is not made");
            return Ok(None);
        };
        for (attribute, count) in [("vertex", numbers.len()), ("face", corners.len())] {
            if count == 0 || count % 3 != 0 {
                let what =
                    format!("it has {}, and a multiple of 3 is wanted", words::counted(count, "number"));
                return Err(element.error_at(attribute, what, "write three numbers for each"));
            }
        }
        let vertices: Vec<[f64; 3]> = numbers.chunks_exact(3).map(|v| [v[0], v[1], v[2]]).collect();
        let last = vertices.len() - 1;
        if let Some(wrong) = corners.iter().find(|&&at| at < 0.0 || at > last as f64 || at.fract() != 0.0) {
            let what = format!("there is no corner {wrong}: there are {} (from 0)", vertices.len());
            return Err(element.error_at("face", what, format!("write whole numbers from 0 to {last}")));
        }
        let faces = corners.chunks_exact(3).map(|f| [f[0] as u32, f[1] as u32, f[2] as u32]).collect();
        let plain = Triangles { vertices, faces };
        let triangles = Some(Arc::new(asset.placed(&plain)));
        Ok(Some(MeshShape { file: PathBuf::new(), scale: asset.scale, triangles }))
    }

    /// The colour of a material, if it has one.
    pub fn color(&self, element: Element<'_>, material: Option<&str>) -> Result<Option<[f64; 4]>, Error> {
        let Some(name) = material else {
            return Ok(None);
        };
        self.materials.get(name).map(|color| Some(color.unwrap_or([1.0; 4]))).ok_or_else(|| {
            let mut names: Vec<&str> = self.materials.keys().copied().collect();
            names.sort_unstable();
            unknown(element, "material", "material", names.into_iter())
        })
    }
}

impl MeshAsset<'_> {
    /// In its reference frame, then stretched.
    fn placed(&self, plain: &Triangles) -> Triangles {
        let mut moved = plain.clone();
        if let Some(reference) = &self.reference {
            let back = reference.inverse();
            moved.vertices.iter_mut().for_each(|vertex| *vertex = back.apply(*vertex));
        }
        moved.scaled(self.scale)
    }
}
