//! Geoms: shapes of bodies, and the mass that they have.

use super::asset::{Assets, MeshInertia};
use super::compiler::{Compiler, set};
use super::{mesh_inertia, shell, turn};
use crate::error::Error;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::robot::{Amount, Geometry, Inertial, Placement, Shape, orientation};
use crate::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GeomKind {
    Plane,
    Sphere,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Mesh,
    HeightField,
    DistanceField,
}

/// What a class or an element says of a geom.
#[derive(Clone, Debug)]
pub(super) struct GeomSpec {
    kind: GeomKind,
    size: [f64; 3],
    placement: Placement,
    from_to: Option<[f64; 6]>,
    mass: Option<f64>,
    density: f64,
    shell: bool,
    mesh: Option<String>,
    material: Option<String>,
    friction: [f64; 3],
    color: Option<[f64; 4]>,
    group: f64,
    contype: f64,
    conaffinity: f64,
    adhesion: f64,
    surface_velocity: [f64; 6],
}

impl Default for GeomSpec {
    fn default() -> Self {
        Self {
            kind: GeomKind::Sphere,
            size: [0.0; 3],
            placement: Placement::default(),
            from_to: None,
            mass: None,
            density: 1000.0,
            shell: false,
            mesh: None,
            material: None,
            friction: [1.0, 0.005, 0.0001],
            color: None,
            group: 0.0,
            contype: 1.0,
            conaffinity: 1.0,
            adhesion: 0.0,
            surface_velocity: [0.0; 6],
        }
    }
}

/// A shape, and which others it may touch: contype of one and conaffinity of the other must have a bit in common.
#[derive(Clone, Debug)]
pub(super) struct GeomPart<'x> {
    pub shape: Shape,
    pub element: Element<'x>,
    pub contype: u32,
    pub conaffinity: u32,
}

/// Where a geom is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    pub body: Option<usize>,
    /// The frame around it, in the body's frame.
    pub frame: &'a Placement,
    /// The body's mass comes from its geoms.
    pub weighed: bool,
}

impl GeomSpec {
    /// Takes over what an element says.
    pub fn read(&mut self, element: Element<'_>, compiler: &Compiler) -> Result<(), Error> {
        let kinds = [
            ("plane", GeomKind::Plane),
            ("sphere", GeomKind::Sphere),
            ("capsule", GeomKind::Capsule),
            ("ellipsoid", GeomKind::Ellipsoid),
            ("cylinder", GeomKind::Cylinder),
            ("box", GeomKind::Box),
            ("mesh", GeomKind::Mesh),
            ("hfield", GeomKind::HeightField),
            ("sdf", GeomKind::DistanceField),
        ];
        set(&mut self.kind, element.choice("type", &kinds)?);
        element.fill("size", &mut self.size)?;
        set(&mut self.placement.position, element.numbers("pos")?);
        set(&mut self.placement.orientation, turn::read(element, compiler)?);
        self.from_to = element.numbers("fromto")?.or(self.from_to);
        self.mass = element.number("mass")?.or(self.mass);
        set(&mut self.density, element.number("density")?);
        set(&mut self.shell, element.flag("shellinertia")?);
        self.mesh = element.text("mesh").map(str::to_owned).or(self.mesh.take());
        self.material = element.text("material").map(str::to_owned).or(self.material.take());
        element.fill("friction", &mut self.friction)?;
        self.color = element.numbers("rgba")?.or(self.color);
        set(&mut self.group, element.number("group")?);
        set(&mut self.contype, element.number("contype")?);
        set(&mut self.conaffinity, element.number("conaffinity")?);
        set(&mut self.adhesion, element.number("adhesion")?);
        element.fill("surfacevel", &mut self.surface_velocity)
    }

    /// Whether its mass counts for the body.
    pub fn counts(&self, compiler: &Compiler) -> bool {
        let [least, greatest] = compiler.inertia_groups;
        (least..=greatest).contains(&self.group)
    }

    /// The shape, and its mass in the body's frame; `None` for what is not supported.
    pub fn build<'x>(
        &self,
        element: Element<'x>,
        spot: Spot<'_>,
        assets: &mut Assets<'x, '_>,
        findings: &mut Findings,
    ) -> Result<Option<(GeomPart<'x>, Inertial)>, Error> {
        let Some((geometry, own)) = self.geometry(element, spot.weighed, assets, findings)? else {
            return Ok(None);
        };
        if self.adhesion != 0.0 {
            findings.unsupported_at(element, "adhesion", "shapes do not stick");
        }
        if self.surface_velocity != [0.0; 6] {
            findings.unsupported_at(element, "surfacevel", "surfaces do not move on their bodies");
        }
        let placement = spot.frame.compose(&own);
        let inertial = match spot.weighed && self.counts(assets.compiler) {
            true => self.weigh(element, &geometry, assets)?.moved(&placement),
            false => Inertial::default(),
        };
        let (contype, conaffinity) = (bits(self.contype), bits(self.conaffinity));
        let shape = Shape {
            name: element.text("name").unwrap_or_default().to_owned(),
            body: spot.body,
            placement,
            geometry,
            collides: contype != 0 || conaffinity != 0,
            friction: Some(self.friction),
            material: None,
            corner_params: false,
            color: match self.color {
                Some(color) => color,
                None => assets.color(element, self.material.as_deref())?.unwrap_or([0.5, 0.5, 0.5, 1.0]),
            },
        };
        Ok(Some((GeomPart { shape, element, contype, conaffinity }, inertial)))
    }

    /// What it looks like, and where it is in the frame around it; `None` for what is not supported.
    fn geometry(
        &self,
        element: Element<'_>,
        weighed: bool,
        assets: &mut Assets<'_, '_>,
        findings: &mut Findings,
    ) -> Result<Option<(Geometry, Placement)>, Error> {
        let (size, placement) = self.spread(element)?;
        if let Some(mesh) = &self.mesh {
            if self.kind != GeomKind::Mesh {
                assets.find(element, mesh)?;
                findings.unsupported_at(
                    element,
                    "mesh",
                    "shapes are not fitted to meshes: write type=\"mesh\"",
                );
                return Ok(None);
            }
            let mesh = assets.mesh(element, mesh, weighed, findings)?;
            return Ok(mesh.map(|mesh| (Geometry::Mesh(mesh), placement)));
        }
        let [x, y, z] = size;
        let (sizes, geometry) = match self.kind {
            GeomKind::Plane => (0, Geometry::Plane),
            GeomKind::Sphere => (1, Geometry::Sphere { radius: x }),
            GeomKind::Capsule => (2, Geometry::Capsule { radius: x, half_length: y }),
            GeomKind::Cylinder => (2, Geometry::Cylinder { radius: x, half_length: y }),
            GeomKind::Box => (3, Geometry::Box { half_sides: [x, y, z] }),
            GeomKind::Ellipsoid => (3, Geometry::Ellipsoid { half_axes: [x, y, z] }),
            GeomKind::Mesh => return Err(element.missing("mesh")),
            GeomKind::HeightField | GeomKind::DistanceField => {
                let what =
                    if self.kind == GeomKind::HeightField { "height fields" } else { "distance fields" };
                findings.unsupported(element, format!("{what} are not supported"));
                return Ok(None);
            }
        };
        if !size[..sizes].iter().all(|&x| x > 0.0) {
            let wanted = ["", "RADIUS", "RADIUS HALF-LENGTH", "X Y Z"][sizes];
            let what =
                format!("this type of geom has {}, which must be positive", words::counted(sizes, "size"));
            return Err(element.error_at("size", what, format!("write size=\"{wanted}\" [m]")));
        }
        Ok(Some((geometry, placement)))
    }

    /// Its sizes and place, where `fromto` may give both.
    fn spread(&self, element: Element<'_>) -> Result<([f64; 3], Placement), Error> {
        let Some(ends) = self.from_to else {
            return Ok((self.size, self.placement));
        };
        let [width, _, last] = self.size;
        if self.placement.position != [0.0; 3] {
            let fix = "keep `fromto`, which has the place in it, or `pos`";
            return Err(element.error_at("fromto", "there are both `pos` and `fromto`", fix));
        }
        let (middle, half) = between(ends, element)?;
        match self.kind {
            GeomKind::Capsule | GeomKind::Cylinder => Ok(([width, half, last], middle)),
            GeomKind::Box | GeomKind::Ellipsoid => Ok(([width, width, half], middle)),
            GeomKind::Plane
            | GeomKind::Sphere
            | GeomKind::Mesh
            | GeomKind::HeightField
            | GeomKind::DistanceField => {
                let fix =
                    "write type=\"capsule\", \"cylinder\", \"box\" or \"ellipsoid\", or `pos` and `size`";
                Err(element.error_at("fromto", "this type of geom goes from nowhere to nowhere", fix))
            }
        }
    }

    /// Its mass and inertia in its own frame.
    fn weigh(
        &self,
        element: Element<'_>,
        geometry: &Geometry,
        assets: &Assets<'_, '_>,
    ) -> Result<Inertial, Error> {
        if geometry == &Geometry::Plane
            || self.mass == Some(0.0)
            || (self.mass.is_none() && self.density == 0.0)
        {
            return Ok(Inertial::default());
        }
        for (attribute, value) in [("mass", self.mass.unwrap_or(0.0)), ("density", self.density)] {
            if value < 0.0 {
                return Err(element.error_at(
                    attribute,
                    "it is negative",
                    "write a number that is not negative",
                ));
            }
        }
        let amount = self.mass.map_or(Amount::Density(self.density), Amount::Mass);
        let inertial = match (geometry, self.mesh.as_deref()) {
            (Geometry::Mesh(mesh), Some(name)) => {
                let Some(triangles) = &mesh.triangles else {
                    return Ok(Inertial::default());
                };
                match assets.find(element, name)?.inertia {
                    // That a convex hull is not made is reported where the mesh is looked up.
                    MeshInertia::Exact | MeshInertia::Convex => geometry.inertial(amount),
                    MeshInertia::Legacy => mesh_inertia::legacy(triangles, amount),
                    MeshInertia::Shell => mesh_inertia::shell(triangles, amount),
                }
            }
            _ if self.shell => Ok(shell::inertial(geometry, amount)),
            _ => geometry.inertial(amount),
        };
        inertial.map_err(|invalid| element.error(invalid.what, invalid.fix))
    }
}

/// The frame between two ends, z along the line from the second to the first, and half their distance [m].
pub(super) fn between(ends: [f64; 6], element: Element<'_>) -> Result<(Placement, f64), Error> {
    let line: [f64; 3] = std::array::from_fn(|i| ends[i] - ends[i + 3]);
    let length = line.iter().fold(0.0, |sum: f64, x| sum.hypot(*x));
    let along = orientation::unit(line).filter(|_| length > 1e-14).ok_or_else(|| {
        element.error_at("fromto", "both ends are at the same place", "write two different places")
    })?;
    let position = std::array::from_fn(|i| 0.5 * (ends[i] + ends[i + 3]));
    Ok((Placement { position, orientation: turn::from_z(along) }, 0.5 * length))
}

/// A set of bits that is written as a whole number.
fn bits(number: f64) -> u32 {
    number as i64 as u32
}

/// The error of a name that nothing has.
pub(super) fn unknown<'n>(
    element: Element<'_>,
    attribute: &str,
    one: &str,
    names: impl Iterator<Item = &'n str>,
) -> Error {
    let name = element.text(attribute).unwrap_or_default();
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let what = format!("there is no {one} {}", words::quoted(name));
    let all = if names.is_empty() {
        format!("there is no {one} with a name")
    } else {
        format!("there are {}", words::list(&names))
    };
    element.error_at(attribute, what, words::suggest(name, names.iter().copied(), all))
}
