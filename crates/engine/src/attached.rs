//! Particles that are attached to bodies: by springs, or fast.
//!
//! A spring pulls the particle at x with f = -k (x - p) - c (v - u) and the body, at x too, with -f. The anchor p is a point of the
//! body, and u the body's velocity at x: neither momentum nor angular momentum is made, and what turns with the body is not damped.
//!
//! A particle that is held fast has no freedom of its own. It is at its anchor and as fast as that, wherever accelerations are asked
//! for and where a step ends; its mass is one of the body's, and forces on it push the body there. So steps are those of a body with
//! more inertia: nothing is stiff, and every integrator has the order that it has for bodies.

mod holding;
mod kernels;

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_kernel::program::{Builder, Constant, Corners};
use pullback_scene::{Part, Robot, Scene};

pub(crate) use holding::Holding;
use kernels::{point_mass, with_more};

use crate::articulated::Watch;
use crate::articulated::tree::WORLD;
use crate::error::Error;
use crate::force::Inputs;
use crate::model::Model;
use crate::names::{Block, Group, Layout, Quantity};

/// What programs call the params.
const STIFFNESS: &str = "attachments.stiffness";
const DAMPING: &str = "attachments.damping";
const ANCHOR: &str = "attachments.anchor";

/// A particle that is attached.
#[derive(Clone, Debug)]
struct Hold {
    particle: usize,
    /// The body of the robot, or 0 for the world.
    body: usize,
    /// Its anchor, among all.
    anchor: usize,
    /// Its attachment, among those with springs; 0 where it is held fast.
    spring: usize,
    /// body_from_part
    part: Pose,
}

/// What is attached to one robot, or to the world.
#[derive(Clone, Debug)]
struct Holds {
    robot: Option<usize>,
    /// Of each body: the node that it moves with, if it moves.
    nodes: Vec<Option<usize>>,
    springs: Vec<Hold>,
    fast: Vec<Hold>,
}

/// All attachments of a model.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    of: Vec<Holds>,
    /// How many particles, anchors, and attachments with springs there are.
    particles: usize,
    anchors: usize,
    springs: usize,
    params: Vec<Block>,
}

/// Particles, and their velocities [m/s].
pub(crate) type Velocities = Vec<(usize, [f64; 3])>;

/// The body of a robot that a part is, or lies on; none: the world.
pub(crate) fn body_of(robots: &[Robot], part: Part) -> (usize, Option<usize>) {
    match part {
        Part::Body { robot, body } => (robot, Some(body)),
        Part::Frame { robot, frame } => (robot, robots[robot].frames[frame].body),
    }
}

/// The corners of programs that attached particles, and what they are attached to, are.
struct Tables {
    particles: Corners<1>,
    bodies: Corners<1>,
    anchors: Corners<1>,
    springs: Corners<1>,
    parts: Constant<Pose>,
}

impl Attached {
    /// The attachments of a scene, whose model has all else; and how fast particles are that are held fast.
    pub fn new(scene: &Scene, model: &Model) -> Result<(Attached, Velocities), Error> {
        let (state, mut watch) = (model.state(), Watch::new(model)?);
        watch.run(state.values(), model.params().values())?;
        let groups = |all: bool| {
            let some = scene.attachments.iter().filter(move |it| all || it.stiffness.is_some());
            some.map(move |it| Group { name: it.name.clone(), count: all.then_some(it.points.len()) })
        };
        let (mut of, mut rates): (Vec<Holds>, Velocities) = (Vec::new(), Vec::new());
        let (mut stiffness, mut damping, mut anchors) = (Vec::new(), Vec::new(), Vec::new());
        for it in &scene.attachments {
            let (robot, body) = body_of(&scene.robots, it.part);
            let holds = holds(&mut of, model, body.map(|_| robot));
            let (pose, motion) = watch.part(it.part).unwrap_or((identity_pose(), Motion::default()));
            let whole = body.and_then(|body| watch.part(Part::Body { robot, body }));
            let part = relative(whole.map_or(identity_pose(), |(pose, _)| pose), pose);
            let list = if it.stiffness.is_some() { &mut holds.springs } else { &mut holds.fast };
            for &particle in &it.points {
                let at = &state.values()[3 * particle..3 * particle + 3];
                let x = vec3(at[0], at[1], at[2]);
                let anchor = anchors.len() / 3;
                let spring = it.stiffness.map_or(0, |_| stiffness.len());
                let Vec3 { x: a, y: b, z: c } = transform_point_back(pose, x);
                anchors.extend([a, b, c]);
                list.push(Hold { particle, body: body.unwrap_or(0), anchor, spring, part });
                if it.stiffness.is_none() {
                    let v = motion.linear + cross(motion.angular, x - pose.position);
                    rates.push((particle, [v.x, v.y, v.z]));
                }
            }
            if let Some(k) = it.stiffness {
                stiffness.push(k);
                damping.push(it.damping);
            }
        }
        let counts = (model.particles(), anchors.len() / 3, stiffness.len());
        let block = |key: &str, all, numbers, values, quantity| {
            let field = key.rsplit('.').next().unwrap_or_default().to_owned();
            Block { key: key.to_owned(), field, groups: groups(all).collect(), numbers, quantity, values }
        };
        let per_stretch = Quantity::new("N/m", "force per distance from the anchor").at_least(0.0);
        let per_speed = Quantity::new("N·s/m", "force per speed seen from the body").at_least(0.0);
        let place = Quantity::new("m", "where the particle is held, in the frame of the body");
        let mut params = vec![
            block(STIFFNESS, false, 1, stiffness, per_stretch),
            block(DAMPING, false, 1, damping, per_speed),
            block(ANCHOR, true, 3, anchors, place),
        ];
        params.retain(|block| !block.is_empty());
        let (particles, anchors, springs) = counts;
        Ok((Attached { of, particles, anchors, springs, params }, rates))
    }

    /// Particles that are held fast.
    pub fn held(&self) -> impl Iterator<Item = usize> {
        self.of.iter().flat_map(|holds| &holds.fast).map(|hold| hold.particle)
    }

    pub fn params(&self) -> Vec<Block> {
        self.params.clone()
    }

    /// Does no spring take energy away?
    pub fn is_conservative(&self, layout: &Layout, params: &[f64]) -> bool {
        let damping = layout.ranges().find(|(block, _)| block.key == DAMPING);
        damping.is_none_or(|(_, range)| params[range].iter().all(|c| *c == 0.0))
    }

    /// Adds the masses of particles that are held fast to the inertias of nodes.
    pub fn weigh(&self, p: &mut Builder, inputs: &mut Inputs) -> Result<(), Error> {
        for holds in &self.of {
            let Some(robot) = holds.robot else { continue };
            let node = |hold: &Hold| holds.nodes[hold.body].map(|node| [node]);
            let carried: Vec<Hold> = holds.fast.iter().filter(|hold| node(hold).is_some()).cloned().collect();
            if carried.is_empty() {
                continue;
            }
            let (inertias, in_node) = (inputs.robots[robot].inertias, inputs.robots[robot].bodies);
            let name = |what: &str| format!("{what} of what is held to robot {robot}");
            let nodes: Vec<[usize; 1]> = carried.iter().filter_map(node).collect();
            let nodes = p.corners(&name("nodes"), &nodes, p.len(inertias));
            let Tables { particles, bodies, anchors, parts, .. } =
                self.tables(p, &name("masses"), &carried, holds.nodes.len());
            let (anchor, mass) = (inputs.param::<Vec3>(ANCHOR)?, inputs.mass()?);
            let ports = (in_node.at(bodies), parts.own(), anchor.at(anchors), mass.at(particles));
            let more = p.elements::<Once<point_mass>, Inertia, 1>(&name("inertia"), nodes, ports);
            let ports = (inertias.own(), more.own());
            inputs.robots[robot].inertias = p.map::<Once<with_more>>(&name("inertias with those"), ports);
        }
        Ok(())
    }

    fn tables(&self, p: &mut Builder, name: &str, holds: &[Hold], bodies: usize) -> Tables {
        let mut corners = |what: &str, of: fn(&Hold) -> usize, count: usize| {
            let table: Vec<[usize; 1]> = holds.iter().map(|hold| [of(hold)]).collect();
            p.corners(&format!("{name}, {what}"), &table, count)
        };
        let tables = [
            corners("particles", |hold| hold.particle, self.particles),
            corners("bodies", |hold| hold.body, bodies),
            corners("anchors", |hold| hold.anchor, self.anchors),
            corners("springs", |hold| hold.spring, self.springs.max(1)),
        ];
        let [particles, bodies, anchors, springs] = tables;
        let parts: Vec<Pose> = holds.iter().map(|hold| hold.part).collect();
        let parts = p.constant::<Pose>(&format!("{name}, parts"), &parts);
        Tables { particles, bodies, anchors, springs, parts }
    }
}

/// What is attached to a robot, or to the world.
fn holds<'a>(of: &'a mut Vec<Holds>, model: &Model, robot: Option<usize>) -> &'a mut Holds {
    let known = of.iter().position(|holds| holds.robot == robot);
    let at = known.unwrap_or_else(|| {
        let node = |node: &u32| (*node != WORLD).then_some(*node as usize);
        let nodes = match robot {
            Some(robot) => model.robots()[robot].tree.node_of_body.iter().map(node).collect(),
            None => vec![None],
        };
        of.push(Holds { robot, nodes, springs: Vec::new(), fast: Vec::new() });
        of.len() - 1
    });
    &mut of[at]
}
