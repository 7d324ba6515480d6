//! Links of URDF: their mass, and what they look like.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Reader, origin};
use crate::error::Error;
use crate::robot::xml::Element;
use crate::robot::{Geometry, Inertial, MeshShape, Shape, Triangles, mesh};
use crate::source::Unread;
use crate::words;

/// What is not said of a shape: collisions have no colour.
const COLOR: [f64; 4] = [0.5, 0.5, 0.5, 1.0];

const SHAPES: [&str; 5] = ["box", "cylinder", "sphere", "capsule", "mesh"];

impl<'x> Reader<'_, 'x> {
    /// `<inertial>`: the mass, its centre at the origin, and the inertia about it in the axes of that origin. A link without
    /// has no mass.
    pub fn inertial(&mut self, link: Element<'x>) -> Result<Inertial, Error> {
        self.findings.warn_of_unknown(link, &["name", "type"], &["inertial", "visual", "collision"]);
        let Some(element) = link.child("inertial")? else {
            return Ok(Inertial::default());
        };
        self.findings.warn_of_unknown(element, &[], &["origin", "mass", "inertia"]);
        let mass = element.required_child("mass")?;
        let kilograms = mass.required_number("value")?;
        if kilograms < 0.0 {
            return Err(mass.error_at(
                "value",
                format!("the mass is {kilograms}"),
                "write a mass that is not negative",
            ));
        }
        let tensor = element.required_child("inertia")?;
        let mut inertia = [0.0; 6];
        for (at, name) in ["ixx", "iyy", "izz"].into_iter().enumerate() {
            inertia[at] = tensor.required_number(name)?;
        }
        for (at, name) in ["ixy", "ixz", "iyz"].into_iter().enumerate() {
            inertia[at + 3] = tensor.number(name)?.unwrap_or(0.0);
        }
        let own = Inertial { mass: kilograms, center: [0.0; 3], inertia };
        // Many files have moments that no body has, and work: what counts is the sum of what a joint moves.
        if let Err(doubt) = own.check() {
            self.findings.warn(|| tensor.error(format!("{}: {}", link.shown(), doubt.what), doubt.fix));
        }
        Ok(own.moved(&origin(element)?))
    }

    /// What is seen, and what touches.
    pub fn shapes(&mut self, link: Element<'x>, body: usize) -> Result<(), Error> {
        for (kind, collides) in [("visual", false), ("collision", true)] {
            for element in link.all(kind) {
                let known = ["origin", "geometry", "material", "contact_coefficients", "verbose"];
                self.findings.warn_of_unknown(element, &["name", "group", "concave"], &known);
                let color = self.color(element)?;
                let Some((geometry, touches)) = self.geometry(element, collides)? else {
                    continue;
                };
                self.robot.shapes.push(Shape {
                    name: element.text("name").unwrap_or_default().to_owned(),
                    body: Some(body),
                    placement: origin(element)?,
                    collides: touches,
                    color: color.unwrap_or(COLOR),
                    ..Shape::new(geometry)
                });
            }
        }
        Ok(())
    }

    /// The shape of an element, and whether it touches others; `None` when it is left out.
    fn geometry(&mut self, element: Element<'x>, collides: bool) -> Result<Option<(Geometry, bool)>, Error> {
        let geometry = element.required_child("geometry")?;
        let kinds: Vec<Element<'x>> = geometry.children().filter(|child| !child.is_foreign()).collect();
        let [shape] = kinds[..] else {
            let what = format!("it has {}, and one is wanted", words::counted(kinds.len(), "shape"));
            return Err(geometry.error(what, format!("write one of {}", words::list(&SHAPES))));
        };
        let number = |attribute: &str| shape.required_number(attribute);
        let geometry = match shape.name() {
            "box" => {
                let sides: [f64; 3] = shape.numbers("size")?.ok_or_else(|| shape.missing("size"))?;
                Geometry::Box { half_sides: sides.map(|side| 0.5 * side) }
            }
            "cylinder" => {
                Geometry::Cylinder { radius: number("radius")?, half_length: 0.5 * number("length")? }
            }
            "sphere" => Geometry::Sphere { radius: number("radius")? },
            "capsule" => {
                Geometry::Capsule { radius: number("radius")?, half_length: 0.5 * number("length")? }
            }
            "mesh" => return self.mesh(shape, collides).map(Some),
            other => {
                let fix = words::suggest(other, &SHAPES, format!("the shapes are {}", words::list(&SHAPES)));
                let what = format!("there is no shape of this kind; {fix}");
                if collides {
                    self.findings.unsupported(shape, what);
                } else {
                    self.findings.warn(|| shape.error(what, "it is left out"));
                }
                return Ok(None);
            }
        };
        let volume = geometry.volume().filter(|volume| volume.is_finite() && *volume > 0.0);
        if volume.is_none() || geometry.lengths().iter().any(|&length| length <= 0.0) {
            let error =
                shape.error("a length is 0, negative or absurd", "write lengths that are larger than 0 [m]");
            if collides {
                self.findings.refuse(error)?
            } else {
                self.findings.warn(|| error)
            }
            return Ok(None);
        }
        Ok(Some((geometry, collides)))
    }

    /// A mesh. What cannot be read for its kind stops no robot if it is only looked at; what is missing or damaged does.
    fn mesh(&mut self, element: Element<'x>, collides: bool) -> Result<(Geometry, bool), Error> {
        self.findings.warn_of_unknown(element, &["filename", "scale"], &[]);
        let name = element.required_text("filename")?;
        let scale = element.numbers("scale")?.unwrap_or([1.0; 3]);
        if scale.contains(&0.0) {
            return Err(element.error_at(
                "scale",
                "a scale is 0",
                "write factors such as \"0.001 0.001 0.001\"",
            ));
        }
        let folder = self.files.folder().to_owned();
        let found = self.files.find(&folder, name);
        let shape = |file: PathBuf, triangles: Option<Arc<Triangles>>| {
            Geometry::Mesh(MeshShape { file, scale, triangles })
        };
        if !self.load.meshes {
            return Ok((shape(found.unwrap_or_else(|_| name.into()), None), collides));
        }
        let at = |Unread { what, fix, .. }: Unread| element.error_at("filename", what, fix);
        let file = match found {
            Ok(file) => file,
            Err(unread) => {
                self.findings.refuse(at(unread))?;
                return Ok((shape(name.into(), None), false));
            }
        };
        if let Err(error) = mesh::ending(&file) {
            let what = format!("{}: {}", words::quoted(name), error.what);
            if collides {
                self.findings.unsupported_at(element, "filename", format!("{what}; {}", error.fix));
            } else {
                self.findings.warn(|| element.error_at("filename", what, error.fix));
            }
            return Ok((shape(file, None), false));
        }
        match self.meshes.get(self.files, &file, scale) {
            Ok(triangles) => Ok((shape(file, Some(triangles)), collides)),
            Err(error) => {
                self.findings.refuse(error)?;
                Ok((shape(file, None), false))
            }
        }
    }

    /// The colour of a shape: of its own material, or of the one that it names.
    fn color(&mut self, element: Element<'x>) -> Result<Option<[f64; 4]>, Error> {
        let Some(material) = element.child("material")? else {
            return Ok(None);
        };
        if let Some(own) = self.material(material)? {
            return Ok(Some(own));
        }
        let name = material.text("name").unwrap_or_default();
        let known = self.colors.get(name).copied();
        if known.is_none() && !name.is_empty() && material.child("texture")?.is_none() {
            let mut names: Vec<&str> = self.colors.keys().copied().collect();
            names.sort_unstable();
            let fix = words::suggest(name, &names, format!("the materials are {}", words::list(&names)));
            self.findings.warn(|| material.error("this material has no colour", fix));
        }
        Ok(known)
    }

    /// The colour that a material gives itself. Its name stands for it from there on.
    pub fn material(&mut self, material: Element<'x>) -> Result<Option<[f64; 4]>, Error> {
        let Some(color) = material.child("color")? else {
            return Ok(None);
        };
        let rgba: [f64; 4] = color.numbers("rgba")?.ok_or_else(|| color.missing("rgba"))?;
        if rgba.iter().any(|part| !(0.0..=1.0).contains(part)) {
            let fix = "write numbers from 0 to 1: red, green, blue, opacity";
            self.findings.warn(|| color.error_at("rgba", "a colour has parts from 0 to 1", fix));
        }
        let rgba = rgba.map(|part| part.clamp(0.0, 1.0));
        if let Some(name) = material.text("name") {
            self.colors.insert(name, rgba);
        }
        Ok(Some(rgba))
    }
}
