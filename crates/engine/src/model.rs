//! What the world is: names, forces and constraints, fixed once built.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use pullback_kernel::prelude::Vec3;
use pullback_scene::words::nearest_few;
use pullback_scene::{Actuator, Invalid, Scene, Velocity};

use crate::articulated::{Manifold, Robot, Tree};
use crate::attached::Attached;
use crate::contact::Contacts;
use crate::controller::{Controller, Sizes};
use crate::error::Error;
use crate::force::{Constraint, Force};
use crate::moved::Moved;
use crate::names::{Block, Control, Group, Layout, Params, Quantity, State};
use crate::particles::{Actuators, Drag, Gravity, Oscillating, OwnGround, Push, Springs, vec3};
use crate::soft::{Bending, Material, Sail, Sheet, Solid, Touching};

/// What the world is. Cheap to clone: copies share it.
#[derive(Clone, Debug)]
pub struct Model {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    name: String,
    particles: usize,
    /// Particles with a radius.
    round: Vec<usize>,
    robots: Vec<Robot>,
    state: Arc<Layout>,
    /// How many numbers of a state are positions.
    positions: usize,
    control: Arc<Layout>,
    params: Arc<Layout>,
    forces: Vec<Arc<dyn Force>>,
    constraints: Vec<Arc<dyn Constraint>>,
    contact: Option<Arc<Contacts>>,
    /// How many pairs of soft surfaces may touch at once.
    most_soft_contacts: usize,
    controllers: Vec<Arc<Controller>>,
    attached: Option<Arc<Attached>>,
    moved: Option<Arc<Moved>>,
    /// x, y, z of each particle: 1 where it is free, 0 where it is fixed; empty where all are free.
    free: Vec<Vec3>,
    /// The controls that the scene gives: one row for all steps, or one for each.
    controls: Vec<Vec<f64>>,
}

impl Model {
    /// The model that a scene describes.
    pub fn new(scene: &Scene) -> Result<Model, Error> {
        Model::with_materials(scene, &[])
    }

    /// The model that a scene describes, with solids made of materials of one's own: by the names of the solids.
    pub fn with_materials(scene: &Scene, materials: &[(&str, Arc<dyn Material>)]) -> Result<Model, Error> {
        if let Some((name, _)) =
            materials.iter().find(|(name, _)| scene.solids.iter().all(|it| it.name != *name))
        {
            let nearest = nearest_few(name, scene.solids.iter().map(|it| &it.name));
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            return Err(Error::NoSuchInput { what: "solid", key: (*name).to_owned(), nearest });
        }
        scene.check()?;
        let groups: Vec<Group> = scene
            .particles
            .iter()
            .map(|g| Group { name: g.name.clone(), count: g.indexed.then_some(g.positions.len()) })
            .collect();
        let of_particles = |field: &str, numbers, values: Vec<f64>, quantity| Block {
            key: format!("particles.{field}"),
            field: field.to_owned(),
            groups: groups.clone(),
            numbers,
            quantity,
            values,
        };
        let all = |f: &dyn Fn(&pullback_scene::Particles) -> Vec<f64>| -> Vec<f64> {
            scene.particles.iter().flat_map(f).collect()
        };
        let positions = all(&|g| g.positions.concat());
        let mut velocities = all(&|g| g.velocities.concat());
        for motion in &scene.motions {
            for &at in &motion.points {
                velocities[3 * at..3 * at + 3].copy_from_slice(&motion.initial_velocity());
            }
        }
        let robot = |description| Robot::new(description).map(|robot| robot.held_as(scene));
        let robots = scene.robots.iter().map(robot).collect::<Result<Vec<_>, _>>()?;
        let mut blocks =
            vec![of_particles("position", 3, positions, Quantity::new("m", "where the particle is"))];
        blocks.extend(robots.iter().flat_map(Robot::positions));
        let positions = blocks.iter().map(|block| block.values.len()).sum();
        blocks.push(of_particles("velocity", 3, velocities, Quantity::new("m/s", "how fast it moves")));
        blocks.extend(robots.iter().flat_map(Robot::velocities));
        blocks.retain(|block| !block.is_empty());
        let state = extended(&Layout::new(Vec::new()), blocks)?;
        let mass = of_particles(
            "mass",
            1,
            all(&|g| g.masses.clone()),
            match scene.solids.is_empty() && scene.sheets.is_empty() {
                true => Quantity::new("kg", "mass of the particle").positive(),
                false => Quantity::new("kg", "mass besides that of elements around").at_least(0.0),
            },
        );
        let (radius, round) = radii(scene);
        let mut params = vec![mass, radius, Gravity::param(scene.world.gravity)];
        params.retain(|block| !block.is_empty());
        let fixed: Vec<[bool; 3]> = scene.particles.iter().flat_map(|g| g.fixed.clone()).collect();
        let free = |fixed: &[bool; 3]| vec3(fixed.map(|fixed| if fixed { 0.0 } else { 1.0 }));
        let pinned = fixed.iter().flatten().any(|fixed| *fixed);
        let free = if pinned { fixed.iter().map(free).collect() } else { Vec::new() };
        let mut inner = Inner {
            name: scene.name.clone(),
            particles: scene.particle_count(),
            round,
            robots,
            state,
            positions,
            control: Layout::new(Vec::new()),
            params: Layout::new(params),
            forces: Vec::new(),
            constraints: Vec::new(),
            contact: None,
            most_soft_contacts: 0,
            controllers: Vec::new(),
            attached: None,
            moved: Moved::new(scene).map(Arc::new),
            free,
            controls: vec![Vec::new(); scheduled(scene)],
        };
        for force in forces(scene, materials) {
            inner.add(force)?;
        }
        if let Some(touching) = Touching::new(scene, |group| points(scene, group).start)? {
            inner.most_soft_contacts = touching.most();
            inner.add(Arc::new(touching))?;
        }
        inner.schedule("actuators.force", |t| actuator_controls(scene, t));
        if let Some(moved) = inner.moved.clone() {
            inner.params = extended(&inner.params, moved.params())?;
            inner.control = extended(&inner.control, moved.controls())?;
            inner.controls.iter_mut().enumerate().for_each(|(t, row)| row.extend(moved.control(t)));
        }
        for robot in inner.robots.clone() {
            inner.params = extended(&inner.params, robot.params())?;
            inner.control = extended(&inner.control, robot.controls())?;
            for (t, row) in inner.controls.iter_mut().enumerate() {
                row.extend(motor_controls(robot.description(), t));
                // Pushes: a force and a torque on each body.
                row.extend(vec![0.0; 6 * robot.description().pushed.len()]);
            }
        }
        if let Some((contact, params)) = Contacts::new(scene, &inner.robots)? {
            inner.params = extended(&inner.params, params)?;
            inner.contact = Some(Arc::new(contact));
        }
        for robot in &inner.robots {
            robot.refine([&mut inner.state, &mut inner.params, &mut inner.control].map(Arc::make_mut));
        }
        if !scene.attachments.is_empty() {
            let model = Model { inner: Arc::new(inner) };
            let (attached, rates) = Attached::new(scene, &model)?;
            inner = Arc::unwrap_or_clone(model.inner);
            inner.params = extended(&inner.params, attached.params())?;
            inner.attached = Some(Arc::new(attached));
            Arc::make_mut(&mut inner.state).start_from("particles.velocity", &rates);
        }
        for (i, given) in scene.controllers.iter().enumerate() {
            let of =
                |count: fn(&Tree) -> usize| inner.robots.iter().map(|robot| count(robot.tree())).collect();
            let sizes = Sizes {
                particles: inner.particles,
                positions: of(Tree::positions),
                velocities: of(Tree::velocities),
            };
            let placed = |invalid: Invalid| {
                let path = format!("controllers[{i}].{}", invalid.path);
                Error::Scene(invalid.at(path))
            };
            let controller = Controller::new(given, &inner.control, &inner.state, &sizes).map_err(placed)?;
            inner.params = extended(&inner.params, controller.params())?;
            inner.controllers.push(Arc::new(controller));
        }
        Ok(Model { inner: Arc::new(inner) })
    }

    /// The same world with one more force.
    pub fn with_force(mut self, force: impl Force) -> Result<Model, Error> {
        Arc::make_mut(&mut self.inner).add(Arc::new(force))?;
        Ok(self)
    }

    /// The same world with one more constraint, after the others.
    #[must_use]
    pub fn with_constraint(mut self, constraint: impl Constraint) -> Model {
        Arc::make_mut(&mut self.inner).constraints.push(Arc::new(constraint));
        self
    }

    /// The same world with sparse equations for hard contact: of every island of more than so many contacts that feel each
    /// other. Otherwise that is so for islands of more than 64, in scenes with room for more than 256 contacts. Worlds of a
    /// batch run one after the other then. Both kinds of equations have the same solution.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sparse_contact(mut self, dense: usize) -> Model {
        let inner = Arc::make_mut(&mut self.inner);
        inner.contact =
            inner.contact.take().map(|contact| Arc::new(Arc::unwrap_or_clone(contact).sparse(dense)));
        self
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// How many particles there are.
    pub fn particles(&self) -> usize {
        self.inner.particles
    }

    /// Particles with a radius, in the order of the params.
    pub(crate) fn round(&self) -> &[usize] {
        &self.inner.round
    }

    /// The robots, loose bodies among them.
    pub fn robots(&self) -> &[Robot] {
        &self.inner.robots
    }

    /// How many numbers of a state are positions: they come before the velocities.
    pub fn positions(&self) -> usize {
        self.inner.positions
    }

    /// Which of its positions are numbers and which are quaternions: positions counted from the first, velocities from the
    /// first velocity.
    pub(crate) fn manifold(&self) -> Manifold {
        let n = 3 * self.particles();
        let mut all = Manifold::default();
        if n > 0 {
            all.flat.push((0, 0, n));
        }
        let (mut q, mut v) = (n, n);
        for robot in self.robots() {
            all.flat.extend(robot.manifold.flat.iter().map(|&(at, rate, len)| (q + at, v + rate, len)));
            all.rotations.extend(robot.manifold.rotations.iter().map(|&(at, rate)| (q + at, v + rate)));
            q += robot.tree().positions();
            v += robot.tree().velocities();
        }
        all
    }

    /// The state that the scene starts from.
    pub fn state(&self) -> State {
        State::new(&self.inner.state)
    }

    /// The params that the scene gives.
    pub fn params(&self) -> Params {
        Params::new(&self.inner.params)
    }

    /// A control that does nothing.
    pub fn control(&self) -> Control {
        Control::new(&self.inner.control)
    }

    /// The controls that the scene gives, step after step.
    pub fn controls(&self, steps: usize) -> Vec<f64> {
        let rows = &self.inner.controls;
        (0..steps).flat_map(|t| rows[t.min(rows.len() - 1)].iter().copied()).collect()
    }

    /// For how many steps the scene gives controls: those of the last are those of all later ones.
    pub fn scheduled(&self) -> usize {
        self.inner.controls.len()
    }

    /// Names of the state.
    pub fn state_layout(&self) -> &Arc<Layout> {
        &self.inner.state
    }

    /// Names of the control.
    pub fn control_layout(&self) -> &Arc<Layout> {
        &self.inner.control
    }

    /// Names of the params.
    pub fn params_layout(&self) -> &Arc<Layout> {
        &self.inner.params
    }

    pub(crate) fn forces(&self) -> &[Arc<dyn Force>] {
        &self.inner.forces
    }

    /// x, y, z of each particle: 1 where it is free, 0 where it is fixed; empty where all are free.
    pub(crate) fn free(&self) -> &[Vec3] {
        &self.inner.free
    }

    /// Does nothing move along an axis that it is fixed along? Then pins do no work.
    pub(crate) fn pins_rest(&self, velocities: &[f64]) -> bool {
        let rests = |(free, v): (&Vec3, &[f64])| {
            [free.x, free.y, free.z].iter().zip(v).all(|(free, v)| *free == 1.0 || *v == 0.0)
        };
        self.free().iter().zip(velocities.chunks(3)).all(rests)
    }

    /// Networks that add to controls.
    pub(crate) fn controllers(&self) -> &[Arc<Controller>] {
        &self.inner.controllers
    }

    /// How shapes touch, if any do.
    pub(crate) fn contact(&self) -> Option<&Contacts> {
        self.inner.contact.as_deref()
    }

    /// How many pairs of soft surfaces may touch at once.
    pub(crate) fn most_soft_contacts(&self) -> usize {
        self.inner.most_soft_contacts
    }

    /// Particles that are attached to bodies, if some are.
    pub(crate) fn attached(&self) -> Option<&Arc<Attached>> {
        self.inner.attached.as_ref()
    }

    /// Particles whose motion is given, if some are.
    pub(crate) fn moved(&self) -> Option<&Moved> {
        self.inner.moved.as_deref()
    }

    /// Particles that are held fast or moved: they have no freedom of their own.
    pub(crate) fn led(&self) -> Vec<usize> {
        let held = self.attached().into_iter().flat_map(|attached| attached.held());
        held.chain(self.moved().into_iter().flat_map(|moved| moved.points().iter().copied())).collect()
    }

    pub(crate) fn constraints(&self) -> &[Arc<dyn Constraint>] {
        &self.inner.constraints
    }
}

impl Inner {
    fn add(&mut self, force: Arc<dyn Force>) -> Result<(), Error> {
        self.params = extended(&self.params, force.params())?;
        let controls = force.controls();
        let more: Vec<f64> = controls.iter().flat_map(|block| block.values.clone()).collect();
        self.control = extended(&self.control, controls)?;
        self.controls.iter_mut().for_each(|row| row.extend(&more));
        self.forces.push(force);
        Ok(())
    }

    /// Sets what the controls with this key are in each step.
    fn schedule(&mut self, key: &str, in_step: impl Fn(usize) -> Vec<f64>) {
        let Some((_, range)) = self.control.ranges().find(|(block, _)| block.key == key) else { return };
        for (t, row) in self.controls.iter_mut().enumerate() {
            row[range.clone()].copy_from_slice(&in_step(t));
        }
    }
}

/// A layout with more blocks, if no name is there twice.
fn extended(layout: &Layout, more: Vec<Block>) -> Result<Arc<Layout>, Error> {
    let layout = layout.followed_by(more);
    let mut names = HashSet::new();
    for block in layout.blocks() {
        if !names.insert(block.key.clone()) {
            return Err(Error::SameName { name: block.key.clone() });
        }
        for group in &block.groups {
            let name = format!("{}.{}", group.name, block.field);
            if !names.insert(format!("name {name}")) {
                return Err(Error::SameName { name: name.trim_end_matches('.').to_owned() });
            }
        }
        if !matches!(block.numbers, 1 | 3 | 4) {
            let (what, found) = ("the count of numbers of a param or control", block.numbers.to_string());
            let wanted = "a value is a number, a vector of 3 or a quaternion of 4";
            return Err(Error::Scheme { what, found, wanted });
        }
        if block.values.len() != block.len() * block.numbers {
            let (wanted, found) = (block.len() * block.numbers, block.values.len());
            return Err(Error::Length { what: "the values of a block of params or controls", wanted, found });
        }
    }
    Ok(layout)
}

/// For how many steps a scene gives controls, which are those of all later ones; at least 1.
fn scheduled(scene: &Scene) -> usize {
    let motors = scene.robots.iter().flat_map(|robot| robot.motors.iter().map(|m| m.controls.len()));
    let motions = scene.motions.iter().map(|motion| match &motion.velocity {
        Velocity::Steady(_) => 1,
        Velocity::Control(controls) => controls.len(),
    });
    let actuators = scene.actuators.iter().map(|a| a.control.len());
    actuators.chain(motors).chain(motions).max().unwrap_or(1).max(1)
}

/// The controls of the scene's actuators in a step.
fn actuator_controls(scene: &Scene, t: usize) -> Vec<f64> {
    let of = |a: &Actuator| a.control.get(t).or(a.control.last()).copied().unwrap_or_default();
    scene.actuators.iter().flat_map(of).collect()
}

/// The controls of a robot's motors in a step.
fn motor_controls(robot: &pullback_scene::Robot, t: usize) -> Vec<f64> {
    let start = |i: usize| robot.start.controls.get(i).copied().unwrap_or(0.0);
    let of = |(i, motor): (usize, &pullback_scene::robot::Motor)| {
        motor.controls.get(t).or(motor.controls.last()).copied().unwrap_or_else(|| start(i))
    };
    robot.motors.iter().enumerate().map(of).collect()
}

/// The forces that the scene describes, besides gravity.
fn forces(scene: &Scene, materials: &[(&str, Arc<dyn Material>)]) -> Vec<Arc<dyn Force>> {
    let mut forces: Vec<Arc<dyn Force>> = Vec::new();
    for damped in [false, true] {
        forces.extend(springs(scene, damped).map(|springs| Arc::new(springs) as Arc<dyn Force>));
    }
    let drag = drag(scene);
    let mut wind = drag.is_none().then_some(scene.world.wind);
    forces.extend(drag.map(|drag| Arc::new(drag) as Arc<dyn Force>));
    for solid in &scene.solids {
        let mut force = Solid::new(solid, points(scene, solid.group));
        if let Some((_, material)) = materials.iter().find(|(name, _)| *name == solid.name) {
            force = force.made_of(material.clone());
        }
        forces.push(Arc::new(force));
    }
    for sheet in &scene.sheets {
        let points = points(scene, sheet.group);
        let sail = Sail::new(sheet, wind);
        wind = wind.filter(|_| sail.is_none());
        forces.push(Arc::new(Sheet::new(sheet, points.clone(), sail)));
        forces.extend(Bending::new(sheet, points).map(|it| Arc::new(it) as Arc<dyn Force>));
    }
    let (mut push, mut swing) = (Push::default(), Oscillating::default());
    for force in &scene.forces {
        match force.oscillation {
            None => {
                push.on.extend(force.on.iter().map(|&particle| (push.names.len(), particle)));
                push.names.push(force.name.clone());
                push.forces.push(force.force);
            }
            Some(oscillation) => {
                swing.on.extend(force.on.iter().map(|&particle| (swing.names.len(), particle)));
                swing.names.push(force.name.clone());
                swing.forces.push(force.force);
                swing.frequencies.push(oscillation.frequency);
                swing.phases.push(oscillation.phase);
            }
        }
    }
    if !push.names.is_empty() {
        forces.push(Arc::new(push));
    }
    if !swing.names.is_empty() {
        forces.push(Arc::new(swing));
    }
    if let Some(ground) = &scene.ground {
        forces.push(Arc::new(OwnGround::new(scene, ground)));
    }
    if !scene.actuators.is_empty() {
        let (names, on) = scene.actuators.iter().map(|a| (a.name.clone(), a.on)).unzip();
        forces.push(Arc::new(Actuators { names, on }));
    }
    forces
}

/// The particles of a group, among all.
fn points(scene: &Scene, group: usize) -> Range<usize> {
    let count = |group: &pullback_scene::Particles| group.positions.len();
    let first = scene.particles.iter().take(group).map(count).sum();
    first..first + scene.particles.get(group).map_or(0, count)
}

fn springs(scene: &Scene, damped: bool) -> Option<Springs> {
    let sets = || scene.springs.iter().filter(move |s| s.damping.is_some() == damped);
    sets().next()?;
    Some(Springs {
        key: if damped { "damped springs" } else { "springs" }.to_owned(),
        groups: sets()
            .map(|s| Group { name: s.name.clone(), count: s.indexed.then_some(s.ends.len()) })
            .collect(),
        ends: sets().flat_map(|s| s.ends.clone()).collect(),
        stiffness: sets().flat_map(|s| s.stiffness.clone()).collect(),
        rest_lengths: sets().flat_map(|s| s.rest_lengths.clone()).collect(),
        damping: damped.then(|| sets().flat_map(|s| s.damping.clone().unwrap_or_default()).collect()),
    })
}

/// The radii of particles that have one, and which these are.
fn radii(scene: &Scene) -> (Block, Vec<usize>) {
    let (mut groups, mut values, mut round, mut first) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for group in &scene.particles {
        let count = group.positions.len();
        if let Some(radii) = &group.radii {
            groups.push(Group { name: group.name.clone(), count: group.indexed.then_some(count) });
            values.extend(radii);
            round.extend(first..first + count);
        }
        first += count;
    }
    let quantity = Quantity::new("m", "radius of the particle").positive();
    let (key, field) = ("particles.radius".into(), "radius".into());
    (Block { key, field, groups, numbers: 1, quantity, values }, round)
}

fn drag(scene: &Scene) -> Option<Drag> {
    let mut drag =
        Drag { groups: Vec::new(), on: Vec::new(), coefficients: Vec::new(), wind: scene.world.wind };
    let mut first = 0;
    for group in &scene.particles {
        if let Some(coefficients) = &group.drag {
            let count = group.positions.len();
            drag.groups.push(Group { name: group.name.clone(), count: group.indexed.then_some(count) });
            drag.on.extend(first..first + count);
            drag.coefficients.extend(coefficients);
        }
        first += group.positions.len();
    }
    (!drag.on.is_empty()).then_some(drag)
}
