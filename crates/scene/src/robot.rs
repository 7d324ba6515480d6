//! Robots: trees of rigid bodies that joints connect, as files describe them.
//!
//! [`Robot::load`] reads URDF and MJCF files, [`Robot::check`] says what is wrong with a robot, however it was made.
//!
//! A [`Robot`] is plain data, whether it was read from URDF, MJCF or a scene file, or built in code. Poses are those of
//! child frames in parent frames; all lists have a fixed order, and everything is named.

mod check;
mod dofs;
mod files;
mod findings;
mod geometry;
mod heights;
mod inertial;
mod load;
mod loose;
pub(crate) mod mesh;
mod mjcf;
pub mod orientation;
mod placement;
mod state;
mod touch;
mod urdf;
mod xml;
mod xml_text;

use std::path::PathBuf;

pub(crate) use files::Files;
pub use files::{Base, Load};
pub use geometry::Amount;
pub use heights::Heights;
pub use load::Loaded;
pub(crate) use mesh::Meshes;
pub use touch::TouchRules;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/robots.md")]
#[doc = include_str!("../../../docs/robots-mjcf.md")]
struct Page;

/// A tree (or several) of rigid bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robot {
    /// What it is called.
    pub name: String,
    /// Loose bodies, one or several of a kind: they are called by the robot's name (`ball`, `cubes[3]`) instead of
    /// `robot.body`, and each has one free joint. That whole name is the name of the body and of its joint, and body i
    /// has joint i.
    pub loose: bool,
    /// The bodies, each after its parent.
    pub bodies: Vec<Body>,
    /// The joints. Those of one body move it one after the other, in this order.
    pub joints: Vec<Joint>,
    /// What drives the joints.
    pub motors: Vec<Motor>,
    /// Linear combinations of joint positions, with springs and dampers along them.
    pub tendons: Vec<Tendon>,
    /// Named frames on bodies: sites of MJCF, tool frames.
    pub frames: Vec<Frame>,
    /// Shapes of bodies, for contact and pictures.
    pub shapes: Vec<Shape>,
    /// Named states.
    pub keyframes: Vec<Keyframe>,
    /// The state that it starts from.
    pub start: Keyframe,
    /// Pairs of shapes that may touch although a rule says otherwise, as indices of shapes.
    pub contact_pairs: Vec<[usize; 2]>,
    /// Pairs of bodies that never touch, as indices of bodies.
    pub contact_excludes: Vec<[usize; 2]>,
    /// Whether its bodies touch each other; `None`: as [`Contact::self_collision`] says. See [`Robot::touch_rules`].
    ///
    /// [`Contact::self_collision`]: crate::Contact::self_collision
    pub self_collision: Option<bool>,
    /// Bodies may touch a body that they hang from by joints, if that one stands still in the world: as MJCF has it. Other
    /// files mean no contact at any joint.
    pub touches_base: bool,
    /// Bodies on which forces act as controls, `arm.hand.force` [N] and `arm.hand.torque` [N·m]: in world axes, at the body's
    /// origin.
    pub pushed: Vec<usize>,
    /// Masses, centres and inertias are given by parameters that no physically impossible body has (log-Cholesky): see
    /// the engine's documents.
    pub consistent: bool,
    /// What the file says of the world, where it says anything.
    pub options: Options,
}

/// What a robot's file says of the world and of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Gravity [m/s²].
    pub gravity: Option<[f64; 3]>,
    /// Time step [s].
    pub dt: Option<f64>,
}

/// A frame in another: first turned, then moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Where its origin is [m].
    pub position: [f64; 3],
    /// How it is turned: a unit quaternion (w, x, y, z).
    pub orientation: [f64; 4],
}

/// A rigid body. Without joints it is welded to its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its name; no other body of the robot has it.
    pub name: String,
    /// The body that it hangs from; `None`: the world.
    pub parent: Option<usize>,
    /// Its frame in the parent's frame, when all its joints are at their reference positions.
    pub placement: Placement,
    /// Its mass and how it is distributed.
    pub inertial: Inertial,
}

/// Mass, centre of mass and rotational inertia.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inertial {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass in the body's frame [m].
    pub center: [f64; 3],
    /// Rotational inertia about the centre of mass, in the axes of the body's frame [kg·m²]:
    /// (xx, yy, zz, xy, xz, yz).
    pub inertia: [f64; 6],
}

/// How a joint lets its body move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Turns about its axis [rad].
    Hinge,
    /// Slides along its axis [m].
    Slide,
    /// Turns freely about its anchor.
    Ball,
    /// Moves freely: position and orientation in the parent's frame.
    Free,
}

/// A joint between a body and its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Its name; no other joint of the robot has it.
    pub name: String,
    /// The body that it moves.
    pub body: usize,
    /// How.
    pub kind: JointKind,
    /// A point of its axis, in the body's frame [m]. Not used by free joints.
    pub anchor: [f64; 3],
    /// The direction of its axis, in the body's frame: a unit vector. Used by hinges and slides.
    pub axis: [f64; 3],
    /// The joint's position in which the body is placed as [`Body::placement`] says [rad or m]. Hinges and slides.
    pub reference: f64,
    /// Between which positions it may move [rad or m]; of a ball joint, the second is the most that it may turn.
    pub range: Option<[f64; 2]>,
    /// How hard it is pushed back beyond its range.
    pub limit: Limit,
    /// Inertia of the rotor, as it is felt at the joint [kg·m² or kg].
    pub armature: f64,
    /// Force against the velocity [N·m·s/rad or N·s/m].
    pub damping: f64,
    /// Dry friction [N·m or N].
    pub friction: f64,
    /// Stiffness of a spring [N·m/rad or N/m].
    pub stiffness: f64,
    /// Where that spring is at rest [rad or m].
    pub spring_reference: f64,
    /// The largest force of a motor on it [N·m or N], where the file gives one.
    pub effort: Option<f64>,
    /// The largest speed [rad/s or m/s], where the file gives one.
    pub speed: Option<f64>,
    /// It follows another joint.
    pub mimic: Option<Mimic>,
}

/// A penalty beyond the range of a joint: stiffness · depth, and damping while it moves; both begin on a ramp of a hundredth
/// of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Stiffness [N·m/rad or N/m].
    pub stiffness: f64,
    /// Damping [N·m·s/rad or N·s/m].
    pub damping: f64,
}

/// position = multiplier · position of `joint` + offset
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mimic {
    /// The joint that is followed.
    pub joint: usize,
    /// The factor.
    pub multiplier: f64,
    /// The offset [rad or m].
    pub offset: f64,
}

/// A linear combination of the positions of hinges and slides, with a spring and a damper.
#[derive(Clone, Debug, PartialEq)]
pub struct Tendon {
    /// Its name.
    pub name: String,
    /// Joints and their coefficients; its length is the sum of coefficient · position.
    pub joints: Vec<(usize, f64)>,
    /// Stiffness of its spring.
    pub stiffness: f64,
    /// Damping.
    pub damping: f64,
    /// The lengths between which the spring is at rest.
    pub spring_range: [f64; 2],
}

/// What a motor pulls at.
#[derive(Clone, Debug, PartialEq)]
pub enum Transmission {
    /// A hinge or slide, or with several gears a ball or free joint: force = gear · motor force for each degree of freedom.
    Joint {
        /// The joint.
        joint: usize,
        /// One number for each degree of freedom, in the order of the joint's velocity: for a free joint linear (world),
        /// then angular (body).
        gear: Vec<f64>,
    },
    /// A tendon.
    Tendon {
        /// The tendon.
        tendon: usize,
        /// The factor.
        gear: f64,
    },
}

/// A motor:  force = clamp(gain(l, l_dot) · clamp(control) + bias(l, l_dot)),  with l = gear · position and
/// gain = g0 + g1 l + g2 l_dot,  bias = b0 + b1 l + b2 l_dot. The joint gets gear · force.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// Its name.
    pub name: String,
    /// What it pulls at.
    pub transmission: Transmission,
    /// (g0, g1, g2).
    pub gain: [f64; 3],
    /// (b0, b1, b2).
    pub bias: [f64; 3],
    /// Least and greatest control.
    pub control_range: Option<[f64; 2]>,
    /// Least and greatest force, before gears [N·m or N].
    pub force_range: Option<[f64; 2]>,
    /// Its control for each step, where a scene gives more than [`Robot::start`]; empty: as there.
    pub controls: Vec<f64>,
}

/// A named frame on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// The body; `None`: the world.
    pub body: Option<usize>,
    /// Its place in the body's frame.
    pub placement: Placement,
}

/// A shape on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Its name; may be empty.
    pub name: String,
    /// The body; `None`: the world.
    pub body: Option<usize>,
    /// Its place in the body's frame.
    pub placement: Placement,
    /// What it looks like.
    pub geometry: Geometry,
    /// Does it touch others, or is it only to be seen?
    pub collides: bool,
    /// Coefficients of friction: sliding, torsional [m], rolling [m]; `None`: sliding is as the material says.
    pub friction: Option<[f64; 3]>,
    /// What it is made of, as an index of [`Scene::materials`]; `None`: as [`Scene::contact`] says.
    ///
    /// [`Scene::materials`]: crate::Scene::materials
    /// [`Scene::contact`]: crate::Scene::contact
    pub material: Option<usize>,
    /// Are the corners of a mesh, or the heights over a grid, params of the model? They cost memory and time in every step.
    pub corner_params: bool,
    /// Colour: red, green, blue, opacity, from 0 to 1.
    pub color: [f64; 4],
}

/// What a shape looks like; lengths in [m].
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// A half-space below z = 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cylinder along z with half balls at its ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half the length of the cylinder, without its caps.
        half_length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half its length.
        half_length: f64,
    },
    /// A box.
    Box {
        /// Half its sides.
        half_sides: [f64; 3],
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Half its axes.
        half_axes: [f64; 3],
    },
    /// Triangles of a file.
    Mesh(MeshShape),
    /// Heights over a grid, for shapes of the world.
    Heights(Heights),
}

/// A mesh of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshShape {
    /// The file that it was read from.
    pub file: PathBuf,
    /// How much it is stretched along x, y and z.
    pub scale: [f64; 3],
    /// Its triangles, scaled, in the frame of the shape; `None` when they were not asked for.
    pub triangles: Option<std::sync::Arc<Triangles>>,
}

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Corners [m].
    pub vertices: Vec<[f64; 3]>,
    /// Three corners each, anticlockwise when seen from outside.
    pub faces: Vec<[u32; 3]>,
}

/// A named state of a robot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keyframe {
    /// Its name; may be empty.
    pub name: String,
    /// Positions of all joints, in their order: one number for a hinge or slide, a quaternion for a ball, position and
    /// quaternion for a free joint. Empty: as bodies are placed, with joints at their references.
    pub positions: Vec<f64>,
    /// Velocities of all joints: one number, three, or six (linear in world axes, angular in body axes). Empty: zero.
    pub velocities: Vec<f64>,
    /// Controls of all motors, for every step. Empty: zero.
    pub controls: Vec<f64>,
}

impl Default for Placement {
    /// The frame itself.
    fn default() -> Self {
        Self { position: [0.0; 3], orientation: [1.0, 0.0, 0.0, 0.0] }
    }
}

impl Default for Limit {
    /// None: a penalty needs a stiffness.
    fn default() -> Self {
        Self { stiffness: 0.0, damping: 0.0 }
    }
}

impl JointKind {
    /// How many numbers its position has.
    pub fn positions(self) -> usize {
        match self {
            JointKind::Hinge | JointKind::Slide => 1,
            JointKind::Ball => 4,
            JointKind::Free => 7,
        }
    }

    /// How many degrees of freedom it has.
    pub fn velocities(self) -> usize {
        match self {
            JointKind::Hinge | JointKind::Slide => 1,
            JointKind::Ball => 3,
            JointKind::Free => 6,
        }
    }
}

impl Joint {
    /// A joint without friction, springs and limits.
    pub fn new(name: impl Into<String>, body: usize, kind: JointKind, axis: [f64; 3]) -> Self {
        Self {
            name: name.into(),
            body,
            kind,
            anchor: [0.0; 3],
            axis,
            reference: 0.0,
            range: None,
            limit: Limit::default(),
            armature: 0.0,
            damping: 0.0,
            friction: 0.0,
            stiffness: 0.0,
            spring_reference: 0.0,
            effort: None,
            speed: None,
            mimic: None,
        }
    }
}

impl Shape {
    /// A grey shape at the origin of the world that touches others, of no material.
    pub fn new(geometry: Geometry) -> Self {
        Self {
            name: String::new(),
            body: None,
            placement: Placement::default(),
            geometry,
            collides: true,
            friction: None,
            material: None,
            corner_params: false,
            color: [0.5, 0.5, 0.5, 1.0],
        }
    }

    /// The same shape, with this name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The same shape, made of a material of the scene.
    #[must_use]
    pub fn made_of(self, material: usize) -> Self {
        Self { material: Some(material), ..self }
    }

    /// The same shape, with the corners of its mesh, or its heights, as params of the model.
    #[must_use]
    pub fn with_corner_params(self) -> Self {
        Self { corner_params: true, ..self }
    }

    /// The same shape on a body, with its middle at a point of the body [m].
    #[must_use]
    pub fn around(self, body: usize, point: [f64; 3]) -> Self {
        Self { body: Some(body), placement: Placement { position: point, ..Placement::default() }, ..self }
    }
}

impl Robot {
    /// How many numbers the positions of all joints are.
    pub fn positions(&self) -> usize {
        self.joints.iter().map(|joint| joint.kind.positions()).sum()
    }

    /// How many degrees of freedom there are.
    pub fn velocities(&self) -> usize {
        self.joints.iter().map(|joint| joint.kind.velocities()).sum()
    }
}
