//! The shapes of a model, which of them may touch, and the params of how they do.

use std::collections::HashSet;
use std::sync::Arc;

use pullback_geometry::{Kind, Pair};
use pullback_kernel::prelude::*;
use pullback_scene::robot::{self, Geometry, Placement, Triangles};
use pullback_scene::{ContactModel, Ground, MaterialPair, Penalty, Scene, Surface, Touch};

use super::against::{Against, Extent, Face};
use super::corners;
use super::laws::{ContactLaw, law_of};
use super::meetings::{Meetings, Meets, Own};
use super::place::Place;
use super::solids;
use super::touchable::{Mixed, Pinned, Shape, Surface as Mixture, Touchable};
use crate::articulated::Robot;
use crate::attached::body_of;
use crate::error::Error;
use crate::names::{Block, Group, Quantity};
use crate::particles::OwnGround;

/// The most contacts at once, unless the scene says: so many, or so many for every tree of bodies.
pub(super) const MOST_CONTACTS: usize = 256;
const CONTACTS_OF_A_TREE: usize = 12;

/// More pairs of shapes than this are looked for by a tree of boxes: fewer take less time one by one.
const MOST_PAIRS: usize = 4096;

/// What a scene says of shapes.
pub(crate) struct Shapes {
    pub touchable: Touchable,
    /// What particles touch, if there is anything.
    pub against: Option<Against>,
    pub params: Vec<Block>,
}

/// Numbers of shapes, on their way to params: each block holds one field of all shapes that have it.
#[derive(Default)]
struct Fields {
    blocks: Vec<Block>,
}

impl Fields {
    /// A further value of a field; where it will be found.
    fn add(&mut self, name: &str, field: &str, values: &[f64], quantity: &Quantity) -> Vec<Place> {
        let key = format!("shapes.{field}");
        let at = self.blocks.iter().position(|block| block.key == key).unwrap_or_else(|| {
            let (key, field) = (key.clone(), field.to_owned());
            let quantity = quantity.clone();
            let block =
                Block { key, field, groups: Vec::new(), numbers: values.len(), quantity, values: Vec::new() };
            self.blocks.push(block);
            self.blocks.len() - 1
        });
        let block = &mut self.blocks[at];
        let index = block.groups.len();
        block.groups.push(Group::one(name));
        block.values.extend(values);
        match values.len() {
            1 => vec![Place::Scalar(key, index)],
            n => (0..n).map(|c| Place::Component(key.clone(), index, c)).collect(),
        }
    }

    /// Corners, or heights, of a further shape; where they will be found.
    fn add_corners(&mut self, name: &str, kind: &Kind, index: usize) -> corners::Place {
        let heights = matches!(kind, Kind::Heights(_));
        let (field, numbers, doc) = match heights {
            true => ("heights", 1, "height of the ground over a point of its grid"),
            false => ("corners", 3, "corner of the mesh, in the frame of the shape"),
        };
        let key = format!("shapes.{field}");
        let at = self.blocks.iter().position(|block| block.key == key).unwrap_or_else(|| {
            let (key, field, quantity) = (key.clone(), field.to_owned(), Quantity::new("m", doc));
            self.blocks.push(Block { key, field, groups: Vec::new(), numbers, quantity, values: Vec::new() });
            self.blocks.len() - 1
        });
        let (block, values) = (&mut self.blocks[at], kind.made());
        let (first, count) = (block.len(), values.len() / numbers);
        block.groups.push(Group { name: name.to_owned(), count: Some(count) });
        block.values.extend(values);
        corners::Place { index, key, first, count, heights }
    }
}

/// What a shape or a particle is made of.
struct Made {
    material: Option<usize>,
    mu: Place,
    /// Stiffness, damping and friction slope.
    springs: [Place; 3],
    /// Of what it is fixed to [kg].
    mass: f64,
}

/// What is collected from a scene.
struct Collector<'s> {
    scene: &'s Scene,
    fields: Fields,
    shapes: Vec<Shape>,
    /// What each shape is made of.
    made: Vec<Made>,
    names: HashSet<String>,
    /// Meshes that have been made, and as what.
    meshes: Vec<(Arc<Triangles>, bool, Kind)>,
    /// Are meshes ground, which is where they are, rather than bodies, which are their convex hulls?
    terrain: bool,
}

impl Shapes {
    /// What a scene says, if anything can touch.
    pub fn new(scene: &Scene, robots: &[Robot], margin: f64) -> Result<Option<Shapes>, Error> {
        let mut all = Collector {
            scene,
            fields: Fields::default(),
            shapes: Vec::new(),
            made: Vec::new(),
            names: HashSet::new(),
            meshes: Vec::new(),
            terrain: true,
        };
        if let Some(ground) = &scene.ground {
            all.ground(ground);
        }
        for (s, shape) in scene.shapes.iter().enumerate() {
            all.shape(shape, (None, s), shape.name.clone(), f64::INFINITY)?;
        }
        all.terrain = false;
        let mut of_robots = Vec::new();
        for (r, robot) in robots.iter().enumerate() {
            let description = robot.description();
            let first = all.shapes.len();
            let mass = description.bodies.iter().map(|body| body.inertial.mass).sum();
            let mut known = Vec::new();
            for (s, shape) in description.shapes.iter().enumerate().filter(|(_, shape)| shape.collides) {
                let of_body = shape.body.map(|body| description.bodies[body].name.as_str());
                let own = if shape.name.is_empty() { of_body.unwrap_or("world") } else { &shape.name };
                let name =
                    if description.loose { own.to_owned() } else { format!("{}.{own}", description.name) };
                if all.shape(shape, (Some(r), s), name, mass)? {
                    known.push(s);
                }
            }
            of_robots.push((first, known));
        }
        Ok(all.finish(robots, &of_robots, margin))
    }

    /// Nothing can touch.
    pub fn none(margin: f64) -> Shapes {
        let touchable = Touchable {
            shapes: Vec::new(),
            meetings: Meetings::new(Vec::new(), Vec::new(), &[], 0),
            meet: false,
            pairs: Some(Vec::new()),
            surfaces: Vec::new(),
            margin,
            capacity: 0,
            alone: false,
        };
        Shapes { touchable, against: None, params: Vec::new() }
    }
}

impl Collector<'_> {
    fn ground(&mut self, ground: &Ground) {
        let position = vec3(0.0, 0.0, ground.height);
        let placement = Pose { rotation: identity(), position };
        let on = Pinned::Ground(Place::Scalar("ground.height".into(), 0));
        let written = (None, 0);
        let (kind, sizes, corners) = (Kind::Plane, Vec::new(), None);
        self.shapes.push(Shape { on, written, placement, kind, sizes, corners });
        // What its material says goes first, then its own numbers, then those of the scene.
        let said = ground.material.map(|at| (at, self.scene.materials[at].surface));
        let own = OwnGround::new(self.scene, ground);
        let of = |name: &str| match said {
            Some((at, surface)) if number(&surface, name).is_some() => of_material(name, Some(at), "ground"),
            _ if number(own.surface(), name).is_some() => of_material(name, None, "ground"),
            _ => of_material(name, None, "contact"),
        };
        let (mu, springs) = (of("mu"), SPRINGS.map(of));
        self.made.push(Made { material: ground.material, mu, springs, mass: f64::INFINITY });
        self.names.insert("ground".into());
    }

    /// A name that no other shape has.
    fn name(&mut self, name: String) -> String {
        let mut unique = name.clone();
        let mut count = 1;
        while !self.names.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}_{count}");
        }
        unique
    }

    /// Adds a shape; false if it touches nothing.
    fn shape(
        &mut self,
        shape: &robot::Shape,
        written: (Option<usize>, usize),
        name: String,
        mass: f64,
    ) -> Result<bool, Error> {
        let name = self.name(name);
        let Some((kind, sizes)) = self.kind(&shape.geometry, &name)? else { return Ok(false) };
        let placement = pose(&shape.placement) * solids::middle(&shape.geometry);
        let on = match (written.0, shape.body) {
            (Some(robot), Some(body)) => Pinned::Body(robot, body),
            (None, _) | (_, None) => Pinned::World,
        };
        let mu = match (shape.friction, shape.material) {
            (Some([mu, ..]), _) => {
                let quantity = Quantity::new("1", "coefficient of friction").at_least(0.0);
                self.fields.add(&name, "mu", &[mu], &quantity).remove(0)
            }
            (None, material) => of_material("mu", material, "contact"),
        };
        let corners = (shape.corner_params && !kind.made().is_empty()).then(|| {
            let before = self.shapes.iter().filter(|shape| shape.corners.is_some()).count();
            self.fields.add_corners(&name, &kind, before)
        });
        self.shapes.push(Shape { on, written, placement, kind, sizes, corners });
        self.made.push(Made { material: shape.material, mu, springs: springs(shape.material), mass });
        Ok(true)
    }

    /// The kind of a shape, and where its sizes come from; none if its file was not read.
    fn kind(&mut self, geometry: &Geometry, name: &str) -> Result<Option<(Kind, Vec<Place>)>, Error> {
        let mut sized = |fields: &[(&str, &[f64], &str)]| -> Vec<Place> {
            let add = |(field, values, doc): &(&str, &[f64], &str)| {
                self.fields.add(name, field, values, &Quantity::new("m", doc).positive())
            };
            fields.iter().flat_map(add).collect()
        };
        let (radius, half) = ("radius of the shape", "half the length of the shape");
        let wrong = |why: String| Error::Shape { name: name.to_owned(), why };
        Ok(Some(match geometry {
            Geometry::Plane => (Kind::Plane, Vec::new()),
            Geometry::Sphere { radius: r } => (Kind::Sphere, sized(&[("radius", &[*r], radius)])),
            Geometry::Capsule { radius: r, half_length } => {
                (Kind::Capsule, sized(&[("radius", &[*r], radius), ("half_length", &[*half_length], half)]))
            }
            Geometry::Cylinder { radius: r, half_length } => {
                (Kind::Cylinder, sized(&[("radius", &[*r], radius), ("half_length", &[*half_length], half)]))
            }
            Geometry::Box { half_sides } => {
                (Kind::Box, sized(&[("half_sides", half_sides, "half the sides of the shape")]))
            }
            Geometry::Ellipsoid { half_axes } => {
                (Kind::Ellipsoid, sized(&[("half_axes", half_axes, "half the axes of the shape")]))
            }
            Geometry::Mesh(mesh) => {
                let Some(triangles) = &mesh.triangles else { return Ok(None) };
                let known = |(other, terrain, _): &&(Arc<Triangles>, bool, Kind)| {
                    Arc::ptr_eq(other, triangles) && *terrain == self.terrain
                };
                if let Some((.., kind)) = self.meshes.iter().find(known) {
                    return Ok(Some((kind.clone(), Vec::new())));
                }
                let kind = if self.terrain { solids::surface(triangles) } else { solids::hull(triangles) };
                let kind = kind.map_err(wrong)?;
                self.meshes.push((triangles.clone(), self.terrain, kind.clone()));
                (kind, Vec::new())
            }
            Geometry::Heights(heights) => (solids::heights(heights).map_err(wrong)?, Vec::new()),
        }))
    }

    /// All pairs that may touch.
    fn finish(self, robots: &[Robot], of_robots: &[(usize, Vec<usize>)], margin: f64) -> Option<Shapes> {
        let contact = self.scene.contact.unwrap_or_default();
        let mut meetings = self.meetings(robots, of_robots);
        let (mut surfaces, mut slots, mut count) = (Vec::new(), 0, 0);
        let trees = |robot: &Robot| robot.tree().nodes.iter().filter(|node| node.is_root()).count();
        let usual = MOST_CONTACTS.max(CONTACTS_OF_A_TREE * robots.iter().map(trees).sum::<usize>());
        let pairs: Vec<[usize; 2]> = meetings.all().take(MOST_PAIRS + 1).collect();
        for b in 0..self.shapes.len() {
            for a in (0..b).filter(|&a| meetings.allow(a, b)).collect::<Vec<_>>() {
                if meetings.mixture([a, b]).is_none() {
                    let made = [&self.made[a], &self.made[b]];
                    *meetings.mixture([a, b]) = Some(self.surface(made, self.is_penalty(), &mut surfaces));
                }
                slots += meetings.near([a, b]).map_or(0, |near| near.pair.slots());
                count += 1;
            }
        }
        let against = self.against(robots, &mut surfaces);
        if slots == 0 && against.is_none() {
            return None;
        }
        let params = self.params(against.is_some());
        // One where only particles touch: contacts are watched there too.
        let capacity = slots.min(contact.most_contacts.unwrap_or(usual)).max(1);
        let touchable = Touchable {
            shapes: self.shapes,
            meetings,
            meet: slots > 0,
            pairs: (count <= MOST_PAIRS).then_some(pairs),
            surfaces,
            margin,
            capacity,
            alone: capacity > MOST_CONTACTS,
        };
        Some(Shapes { touchable, against, params })
    }

    /// Which shapes may touch, as far as their kinds and robots say.
    fn meetings(&self, robots: &[Robot], of_robots: &[(usize, Vec<usize>)]) -> Meetings {
        let contact = self.scene.contact.unwrap_or_default();
        let mut at = vec![None; self.shapes.len()];
        let mut own = Vec::new();
        for (r, (first, known)) in of_robots.iter().enumerate() {
            (0..known.len()).for_each(|i| at[first + i] = Some((r, i)));
            let robot = robots[r].description();
            let rules = robot.touch_rules(contact.self_collision);
            let listed = !robot.contact_pairs.is_empty() || !robot.contact_excludes.is_empty();
            own.push(if robot.loose && !listed {
                Own::Bodies
            } else {
                let before = |(i, s)| known[..i].iter().map(move |t| (*t, s));
                let pairs = known.iter().copied().enumerate().flat_map(before);
                Own::Listed(pairs.map(|(t, s)| rules.allow(t, s)).collect())
            });
        }
        let mut kinds: Vec<Kind> = Vec::new();
        let mut surfaces = Vec::new();
        let shapes = self.shapes.iter().enumerate().map(|(s, shape)| {
            let kind = kinds.iter().position(|kind| same(kind, &shape.kind)).unwrap_or_else(|| {
                kinds.push(shape.kind.clone());
                kinds.len() - 1
            });
            let Made { material, mu, springs, mass } = &self.made[s];
            let surface = (*material, mu, springs);
            let surface = surfaces.iter().position(|other| *other == surface).unwrap_or_else(|| {
                surfaces.push(surface);
                surfaces.len() - 1
            });
            let (body, moves) = match shape.on {
                Pinned::World | Pinned::Ground(_) => (None, false),
                Pinned::Body(robot, body) => (Some(body), robots[robot].tree.moves(body)),
            };
            let softness = 1.0 / mass.max(f64::MIN_POSITIVE);
            Meets { kind, surface, robot: at[s], body, moves, softness }
        });
        let shapes = shapes.collect();
        Meetings::new(shapes, own, &kinds, surfaces.len())
    }

    /// What particles touch: all shapes but the ground, which is a force of its own to them.
    fn against(&self, robots: &[Robot], surfaces: &mut Vec<Mixture>) -> Option<Against> {
        let (mut groups, mut made, mut first) = (Vec::new(), Vec::new(), 0);
        for group in &self.scene.particles {
            groups.push(first..first + group.positions.len());
            first += group.positions.len();
            let mu = of_material("mu", group.material, "contact");
            let springs = springs(group.material);
            made.push(Made { material: group.material, mu, springs, mass: f64::INFINITY });
        }
        let mut faces = Vec::new();
        for (s, shape) in self.shapes.iter().enumerate() {
            let Some(pair) = Pair::new(&shape.kind, &Kind::Sphere) else { continue };
            if groups.is_empty() || matches!(shape.on, Pinned::Ground(_)) {
                continue;
            }
            let of = |group: &Made| self.surface([&self.made[s], group], true, surfaces);
            faces.push(Face {
                shape: s,
                extent: Extent::of(&shape.kind),
                pair,
                surfaces: made.iter().map(of).collect(),
                attached: self.attached_to(&shape.on, robots),
            });
        }
        (!faces.is_empty()).then_some(Against { groups, faces })
    }

    /// Particles that are attached to the body of a shape, or to one that moves with it, in order.
    fn attached_to(&self, on: &Pinned, robots: &[Robot]) -> Vec<usize> {
        let Pinned::Body(robot, body) = *on else { return Vec::new() };
        let nodes = &robots[robot].tree.node_of_body;
        let moves_along = |part| match body_of(&self.scene.robots, part) {
            (other, Some(held)) => other == robot && nodes[held] == nodes[body],
            (_, None) => false,
        };
        let here = self.scene.attachments.iter().filter(|it| moves_along(it.part));
        let mut particles: Vec<usize> = here.flat_map(|it| it.points.iter().copied()).collect();
        particles.sort_unstable();
        particles
    }

    /// The number of what two surfaces do to each other, by a penalty or not.
    fn surface(&self, made: [&Made; 2], penalty: bool, surfaces: &mut Vec<Mixture>) -> usize {
        let same = |pair: &&MaterialPair| match made.map(|made| made.material) {
            [Some(a), Some(b)] => pair.between == [a, b] || pair.between == [b, a],
            _ => false,
        };
        let said = self.scene.material_pairs.iter().position(|pair| same(&pair));
        let surface = said.map(|at| (at, self.scene.material_pairs[at].surface));
        let mu = match surface {
            Some((at, surface)) if surface.mu.is_some() => {
                Mixed::One(Place::Scalar("material_pairs.mu".into(), at))
            }
            _ => mixed([&made[0].mu, &made[1].mu]),
        };
        let restitution = match surface {
            // Springs bounce as they do.
            _ if penalty => Mixed::One(Place::Constant(0.0)),
            Some((at, surface)) if surface.restitution.is_some() => {
                Mixed::One(Place::Scalar("material_pairs.restitution".into(), at))
            }
            _ => {
                let [a, b] = made.map(|made| of_material("restitution", made.material, "contact"));
                mixed([&a, &b])
            }
        };
        let springs = [0, 1, 2].map(|which| match penalty {
            true => self.spring(which, made, said),
            false => Mixed::One(Place::Constant(0.0)),
        });
        let mixture = Mixture { mu, restitution, springs };
        let known = surfaces.iter().position(|other| *other == mixture);
        known.unwrap_or_else(|| {
            surfaces.push(mixture);
            surfaces.len() - 1
        })
    }

    /// Do bodies touch by springs?
    fn is_penalty(&self) -> bool {
        law_of(&self.scene.contact.unwrap_or_default().model).reads("ke")
    }

    /// One of the numbers of a penalty between two surfaces.
    fn spring(&self, which: usize, made: [&Made; 2], said: Option<usize>) -> Mixed {
        let name = SPRINGS[which];
        if let Some(at) = said.filter(|at| number(&self.scene.material_pairs[*at].surface, name).is_some()) {
            return Mixed::One(Place::Scalar(format!("material_pairs.{name}"), at));
        }
        mixed(made.map(|made| &made.springs[which]))
    }

    /// Numbers of surfaces: of the scene, its materials and pairs of them; and what shapes have.
    fn params(&self, particles: bool) -> Vec<Block> {
        let scene = self.scene;
        let contact = scene.contact.unwrap_or_default();
        let usual = Touch::from(&contact);
        let mut blocks = Vec::new();
        let materials: Vec<String> = scene.materials.iter().map(|material| material.name.clone()).collect();
        let between = |pair: &MaterialPair| pair.between.map(|at| materials[at].clone()).join("-");
        let pairs: Vec<String> = scene.material_pairs.iter().map(between).collect();
        for field in Field::of(&contact.model, particles) {
            let said = |surface: &Surface| (field.said)(surface).unwrap_or((field.usual)(&usual));
            let of_materials = scene.materials.iter().map(|material| said(&material.surface)).collect();
            let of_pairs = scene.material_pairs.iter().map(|pair| said(&pair.surface)).collect();
            let whose = [
                ("contact", vec!["contact".to_owned()], vec![(field.usual)(&usual)]),
                ("materials", materials.clone(), of_materials),
                ("material_pairs", pairs.clone(), of_pairs),
            ];
            for (key, names, values) in whose.into_iter().filter(|(_, names, _)| !names.is_empty()) {
                blocks.push(Block {
                    key: format!("{key}.{}", field.name),
                    field: field.name.to_owned(),
                    groups: names.iter().map(|name| Group::one(name)).collect(),
                    numbers: 1,
                    quantity: field.quantity(),
                    values,
                });
            }
        }
        blocks.extend(self.fields.blocks.iter().cloned());
        blocks
    }
}

/// A number of surfaces.
struct Field {
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    upper: f64,
    said: fn(&Surface) -> Option<f64>,
    usual: fn(&Touch) -> f64,
}

const FIELDS: [Field; 5] = [
    Field {
        name: "mu",
        unit: "1",
        doc: "coefficient of friction",
        upper: f64::INFINITY,
        said: |surface| surface.mu,
        usual: |touch| touch.mu,
    },
    Field {
        name: "restitution",
        unit: "1",
        doc: "part of the speed that is left after an impact",
        upper: 1.0,
        said: |surface| surface.restitution,
        usual: |touch| touch.restitution,
    },
    Field {
        name: "ke",
        unit: "N/m",
        doc: "stiffness of the contact",
        upper: f64::INFINITY,
        said: |surface| surface.ke,
        usual: |touch| touch.ke,
    },
    Field {
        name: "kd",
        unit: "N·s/m",
        doc: "damping of the contact",
        upper: f64::INFINITY,
        said: |surface| surface.kd,
        usual: |touch| touch.kd,
    },
    Field {
        name: "kf",
        unit: "N·s/m",
        doc: "friction per sliding speed, below Coulomb's limit",
        upper: f64::INFINITY,
        said: |surface| surface.kf,
        usual: |touch| touch.kf,
    },
];

impl Field {
    /// Those that a law reads; particles touch by a penalty whatever it is.
    fn of(law: &ContactModel, particles: bool) -> impl Iterator<Item = &'static Field> {
        let read = move |field: &&Field| {
            law_of(law).reads(field.name) || particles && Penalty::default().reads(field.name)
        };
        FIELDS.iter().filter(read)
    }

    fn quantity(&self) -> Quantity {
        Quantity { upper: self.upper, ..Quantity::new(self.unit, self.doc).at_least(0.0) }
    }
}

/// Are two kinds one? Meshes are, where they were made once.
fn same(a: &Kind, b: &Kind) -> bool {
    match (a, b) {
        (Kind::Hull(a), Kind::Hull(b)) => Arc::ptr_eq(a, b),
        (Kind::Surface(a), Kind::Surface(b)) => Arc::ptr_eq(a, b),
        (Kind::Heights(a), Kind::Heights(b)) => Arc::ptr_eq(a, b),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// The numbers of a penalty.
const SPRINGS: [&str; 3] = ["ke", "kd", "kf"];

/// A number of a surface, if it is said.
fn number(surface: &Surface, name: &str) -> Option<f64> {
    FIELDS.iter().find(|field| field.name == name).and_then(|field| (field.said)(surface))
}

/// What is between two surfaces: of one number with itself that number, whose mean √(a a) would have no derivative at 0.
fn mixed([a, b]: [&Place; 2]) -> Mixed {
    if a == b { Mixed::One(a.clone()) } else { Mixed::Two(a.clone(), b.clone()) }
}

/// The springs of a material; without one, those of the scene.
fn springs(material: Option<usize>) -> [Place; 3] {
    SPRINGS.map(|name| of_material(name, material, "contact"))
}

/// Where a number of a material is; without one, `otherwise`'s.
fn of_material(field: &str, material: Option<usize>, otherwise: &str) -> Place {
    match material {
        Some(material) => Place::Scalar(format!("materials.{field}"), material),
        None => Place::Scalar(format!("{otherwise}.{field}"), 0),
    }
}

fn pose(placement: &Placement) -> Pose {
    let ([x, y, z], [w, a, b, c]) = (placement.position, placement.orientation);
    pose_from_quat(quat(w, vec3(a, b, c)), vec3(x, y, z))
}
