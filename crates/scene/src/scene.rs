//! A scene: what the world is and how it is simulated.

use std::path::Path;

use crate::attachment::Attachment;
use crate::contact::Contact;
use crate::controller::Controller;
use crate::error::{Error, Invalid};
use crate::material::{Material, MaterialPair, Surface};
use crate::motion::PrescribedMotion;
use crate::names::{Names, PartNames};
use crate::particles::Particles;
use crate::problem::{Part, Tracked};
use crate::robot::{Robot, Shape};
use crate::sheet::Sheet;
use crate::simulation::Simulation;
use crate::soft_contact::SoftContact;
use crate::solid::Solid;
use crate::source::Source;
use crate::springs::Springs;
use crate::{check, read};

/// What the world is and how it is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// What it is called; for people.
    pub name: String,
    /// What it shows; for people.
    pub description: String,
    /// Gravity and wind.
    pub world: World,
    /// The particles, in groups. They are counted over all groups in this order.
    pub particles: Vec<Particles>,
    /// Springs between particles, in groups.
    pub springs: Vec<Springs>,
    /// Soft solids, each with a group of particles.
    pub solids: Vec<Solid>,
    /// Soft sheets, each with a group of particles.
    pub sheets: Vec<Sheet>,
    /// Particles that are held to bodies.
    pub attachments: Vec<Attachment>,
    /// Particles whose motion is given.
    pub motions: Vec<PrescribedMotion>,
    /// How surfaces of soft things touch themselves and each other; `None`: they do not.
    pub soft_contact: Option<SoftContact>,
    /// Networks that add to controls in every step.
    pub controllers: Vec<Controller>,
    /// Forces that follow a given course.
    pub forces: Vec<AppliedForce>,
    /// Forces that are controls.
    pub actuators: Vec<Actuator>,
    /// A plane that particles and bodies hit.
    pub ground: Option<Ground>,
    /// How bodies, and particles and shapes, touch; `None`: they do not.
    pub contact: Option<Contact>,
    /// Named kinds of surfaces.
    pub materials: Vec<Material>,
    /// What is known of two materials together.
    pub material_pairs: Vec<MaterialPair>,
    /// Shapes of the world, which stand still.
    pub shapes: Vec<Shape>,
    /// Robots, then loose bodies: `[[robots]]` and `[[bodies]]` in files.
    pub robots: Vec<Robot>,
    /// Time steps, integrator, memory.
    pub simulation: Simulation,
    /// What files of robots say that was left out or is doubtful; for people.
    pub warnings: Vec<Error>,
}

/// What acts everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct World {
    /// Acceleration of everything that falls [m/s²].
    pub gravity: [f64; 3],
    /// Velocity of the air [m/s]; it matters to particles with drag.
    pub wind: [f64; 3],
}

/// A force on some particles: constant, or `force · cos(2π frequency t + phase)`.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedForce {
    /// Its name.
    pub name: String,
    /// The particles that it acts on, each with the whole force.
    pub on: Vec<usize>,
    /// The force, or its amplitude [N].
    pub force: [f64; 3],
    /// How it varies in time; `None`: not at all.
    pub oscillation: Option<Oscillation>,
}

/// A cosine in time: cos(2π frequency t + phase).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oscillation {
    /// Frequency [Hz].
    pub frequency: f64,
    /// Phase at the start [rad].
    pub phase: f64,
}

/// A force on one particle that is a control.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Its name.
    pub name: String,
    /// The particle that it acts on.
    pub on: usize,
    /// The force [N]: one value for all steps, or one for each step.
    pub control: Vec<[f64; 3]>,
}

/// A plane z = height. A particle below it is pushed up by a spring and a damper, and slowed along the plane by
/// friction. Bodies touch it as [`Scene::contact`] says, if it is there.
///
/// Numbers that it does not say are those of its material, or else those of [`Scene::contact`]: see [`Scene::touch_of_ground`]. The
/// default is the plane z = 0 that says none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ground {
    /// Its height [m].
    pub height: f64,
    /// Stiffness of the contact [N/m].
    pub ke: Option<f64>,
    /// Damping of the contact [N·s/m].
    pub kd: Option<f64>,
    /// Slope of the friction force at low speed [N·s/m].
    pub kf: Option<f64>,
    /// Coefficient of friction: the most friction per normal force.
    pub mu: Option<f64>,
    /// What it is made of, as an index of [`Scene::materials`].
    pub material: Option<usize>,
}

impl Ground {
    /// What it says of its surface itself.
    pub fn surface(&self) -> Surface {
        let &Ground { ke, kd, kf, mu, .. } = self;
        Surface { mu, restitution: None, ke, kd, kf }
    }
}

impl Default for Scene {
    /// An empty world with gravity, simulated for one second. A scene needs at least one particle, or
    /// a robot with a body.
    fn default() -> Self {
        Self {
            name: "scene".into(),
            description: String::new(),
            world: World::default(),
            particles: Vec::new(),
            springs: Vec::new(),
            solids: Vec::new(),
            sheets: Vec::new(),
            attachments: Vec::new(),
            motions: Vec::new(),
            soft_contact: None,
            controllers: Vec::new(),
            forces: Vec::new(),
            actuators: Vec::new(),
            ground: None,
            contact: None,
            materials: Vec::new(),
            material_pairs: Vec::new(),
            shapes: Vec::new(),
            robots: Vec::new(),
            simulation: Simulation::default(),
            warnings: Vec::new(),
        }
    }
}

impl Default for World {
    /// Gravity of the Earth along -z, and no wind.
    fn default() -> Self {
        Self { gravity: [0.0, 0.0, -9.81], wind: [0.0; 3] }
    }
}

impl AppliedForce {
    /// A constant force [N] on particles.
    pub fn constant(name: impl Into<String>, on: Vec<usize>, force: [f64; 3]) -> Self {
        Self { name: name.into(), on, force, oscillation: None }
    }

    /// The force as a cosine in time: frequency [Hz], phase [rad].
    #[must_use]
    pub fn oscillating(self, frequency: f64, phase: f64) -> Self {
        Self { oscillation: Some(Oscillation { frequency, phase }), ..self }
    }
}

impl Actuator {
    /// An actuator on a particle, without force to begin with.
    pub fn new(name: impl Into<String>, on: usize) -> Self {
        Self { name: name.into(), on, control: vec![[0.0; 3]] }
    }
}

impl Scene {
    /// Reads a scene file. Its variables, losses and optimiser, if it has any, are checked and left out.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the file, with its line and the fix.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_source(&Source::read(path)?)
    }

    /// A scene from the text of a file; `file_name` is what errors call it.
    ///
    /// # Errors
    ///
    /// As [`Scene::load`].
    pub fn parse(text: &str, file_name: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_source(&Source::new(text, file_name))
    }

    /// A scene from a source, for callers that want to name lines of the file later.
    ///
    /// # Errors
    ///
    /// As [`Scene::load`].
    pub fn from_source(source: &Source) -> Result<Self, Error> {
        read::file(source).map(|parts| parts.scene)
    }

    /// Whether the scene makes sense: what a file is checked for, for a scene that was built in code.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with the field and the fix.
    pub fn check(&self) -> Result<(), Invalid> {
        check::scene(self)
    }

    /// How many particles there are in all groups.
    pub fn particle_count(&self) -> usize {
        self.particles.iter().map(|group| group.positions.len()).sum()
    }

    /// The particle of a name such as `ball` or `chain[3]`, counted over all groups.
    ///
    /// # Errors
    ///
    /// When there is none; the nearest name is suggested.
    pub fn particle_index(&self, name: &str) -> Result<usize, Invalid> {
        Names::new(&self.particles).index(name)
    }

    /// The name of a particle, counted over all groups: `ball`, `chain[3]`. An index that no particle has is
    /// written `#index`.
    pub fn particle_name(&self, index: usize) -> String {
        let mut first = 0;
        for group in &self.particles {
            let count = group.positions.len();
            if index - first < count {
                return if group.indexed {
                    format!("{}[{}]", group.name, index - first)
                } else {
                    group.name.clone()
                };
            }
            first += count;
        }
        format!("#{index}")
    }

    /// The particles that a name or a glob stands for, in order: `*` is any characters and `?` is one; the name of a
    /// group stands for all of it. Empty when there are none.
    pub fn particles_matching(&self, glob: &str) -> Vec<usize> {
        Names::new(&self.particles).matching(glob)
    }

    /// The body or frame of a name such as `arm.hand`, `ball` (a loose body) or `cubes[3]`. Where a body and a frame of
    /// a robot have one name, the body is meant.
    ///
    /// # Errors
    ///
    /// When there is none; the nearest name is suggested.
    pub fn part(&self, name: &str) -> Result<Part, Invalid> {
        PartNames::new(&self.robots).part(name)
    }

    /// What a column of measurements is of, by its name in data files (`ball.x`, `arm.hand.vz`, `arm.elbow`, `arm.elbow.velocity`), and
    /// whether its velocity is meant.
    ///
    /// # Errors
    ///
    /// When there is no such thing; the nearest name is suggested.
    pub fn tracked(&self, column: &str) -> Result<(Tracked, bool), Invalid> {
        PartNames::new(&self.robots).tracked(&Names::new(&self.particles), column)
    }

    /// The name of a body or frame: `arm.hand`, `ball`, `cubes[3]`. What no robot has is written `#index`.
    pub fn part_name(&self, part: Part) -> String {
        let (robot, name) = match part {
            Part::Body { robot, body } => {
                let name = |robot: &Robot| robot.bodies.get(body).map(|body| body.name.clone());
                (robot, self.robots.get(robot).and_then(name).unwrap_or(format!("#{body}")))
            }
            Part::Frame { robot, frame } => {
                let name = |robot: &Robot| robot.frames.get(frame).map(|frame| frame.name.clone());
                (robot, self.robots.get(robot).and_then(name).unwrap_or(format!("#{frame}")))
            }
        };
        self.within(robot, name)
    }

    /// The robot and the joint of a name such as `arm.elbow`; the joint of a loose body has the body's name.
    ///
    /// # Errors
    ///
    /// When there is none; the nearest name is suggested.
    pub fn joint(&self, name: &str) -> Result<(usize, usize), Invalid> {
        PartNames::new(&self.robots).joint(name)
    }

    /// The name of a robot's joint: `arm.elbow`. What no robot has is written `#index`.
    pub fn joint_name(&self, robot: usize, joint: usize) -> String {
        let name = |robot: &Robot| robot.joints.get(joint).map(|joint| joint.name.clone());
        self.within(robot, self.robots.get(robot).and_then(name).unwrap_or(format!("#{joint}")))
    }

    /// The name of something of a robot: loose bodies have their whole names already.
    fn within(&self, robot: usize, name: String) -> String {
        match self.robots.get(robot) {
            Some(robot) if robot.loose => name,
            Some(robot) => format!("{}.{name}", robot.name),
            None => format!("#{robot}.{name}"),
        }
    }

    /// The section of a file that a robot stands in: `robots[1]`, or `bodies[0]` for loose bodies, which are counted
    /// apart. Errors of a robot name it so, and [`Source`] finds it.
    pub fn robot_section(&self, index: usize) -> String {
        let loose = self.robots.get(index).is_some_and(|robot| robot.loose);
        let before = self.robots.iter().take(index).filter(|robot| robot.loose == loose).count();
        format!("{}[{before}]", if loose { "bodies" } else { "robots" })
    }
}
