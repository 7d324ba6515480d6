//! The shape of a robot: which joint hangs from which, and where their numbers lie.

use pullback_scene::robot::{JointKind, Robot};

use crate::error::Error;

/// The most entries of a triangular matrix along branches.
const MOST_ENTRIES: u64 = 10_000_000;

/// No parent: the world.
pub(crate) const WORLD: u32 = u32::MAX;

/// One joint and what moves with it. Bodies without joints are parts of their parents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub kind: JointKind,
    /// The joint of the robot.
    pub joint: u32,
    /// The node that it hangs from.
    pub parent: u32,
    /// Its first degree of freedom.
    pub dof: u32,
    /// Where its position lies: of a free joint the position, of a ball the quaternion.
    pub q: u32,
    /// Where the quaternion of a free joint or a ball lies.
    pub turn: u32,
    /// Where its velocity starts; that of a free joint's rotation is at `spin`.
    pub v: u32,
    pub spin: u32,
    /// Has it mass? Between the joints of one body there is none.
    pub heavy: bool,
    /// Its angle or distance is scale · q + shift: of its own position without its reference, or of that which it follows.
    pub scale: f64,
    pub shift: f64,
}

impl Node {
    /// Does it hang from the world?
    #[inline(always)]
    pub fn is_root(&self) -> bool {
        self.parent == WORLD
    }
}

/// One degree of freedom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dof {
    /// Where its velocity lies, and by how much it is multiplied: not by 1 where its joint follows another.
    pub v: u32,
    pub scale: f64,
    /// Is that velocity its own? Not where its joint follows another.
    pub own: bool,
}

/// The shape of a robot.
///
/// Positions lie in the order: positions of free joints, their quaternions, quaternions of ball joints, hinges and
/// slides. Velocities: linear velocities of free joints (world axes), their angular velocities (body axes), those of ball
/// joints (body axes), hinges and slides. In each of these, joints are in the order of the robot.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) dofs: Vec<Dof>,
    /// Of each body of the robot: the node that it is part of.
    pub(crate) node_of_body: Vec<u32>,
    /// Of each joint of the robot: its node.
    pub(crate) node_of_joint: Vec<u32>,
    /// How many degrees of freedom lie on the way from the root to each, itself included.
    pub(crate) depths: Vec<u32>,
    /// Row `i` of a triangular matrix: an entry for each degree of freedom on the way from the root to `i`.
    pub(crate) rows: Vec<u32>,
    /// Which degrees of freedom those are.
    pub(crate) ancestors: Vec<u32>,
    pub(crate) positions: usize,
    pub(crate) velocities: usize,
    /// Of each joint of the robot: where its position lies (of a free joint, the position), its quaternion, velocity and
    /// angular velocity.
    pub(crate) places: Vec<JointPlace>,
}

/// Where the numbers of a joint lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JointPlace {
    /// Its position: one number, a quaternion for a ball joint, three numbers for a free joint.
    pub position: usize,
    /// The quaternion of a ball or free joint.
    pub orientation: usize,
    /// Its velocity: one number or three.
    pub velocity: usize,
    /// The angular velocity of a ball or free joint.
    pub angular_velocity: usize,
}

impl Tree {
    /// The shape of a robot.
    pub fn new(robot: &Robot) -> Result<Tree, Error> {
        let followed = followed(robot)?;
        let own = || robot.joints.iter().filter(|joint| joint.mimic.is_none());
        let mut tree = Tree {
            nodes: Vec::new(),
            dofs: Vec::new(),
            node_of_body: Vec::new(),
            node_of_joint: vec![WORLD; robot.joints.len()],
            depths: Vec::new(),
            rows: vec![0],
            ancestors: Vec::new(),
            positions: own().map(|joint| joint.kind.positions()).sum(),
            velocities: own().map(|joint| joint.kind.velocities()).sum(),
            places: places(robot, &followed),
        };
        let mut joints_of: Vec<Vec<usize>> = vec![Vec::new(); robot.bodies.len()];
        for (j, joint) in robot.joints.iter().enumerate() {
            if let Some(joints) = joints_of.get_mut(joint.body) {
                joints.push(j);
            }
        }
        // The degree of freedom before each.
        let mut above = Vec::new();
        for (b, body) in robot.bodies.iter().enumerate() {
            let mut parent = match body.parent {
                None => WORLD,
                Some(p) if p < b => tree.node_of_body[p],
                Some(_) => {
                    let (what, wanted) = ("the parent of a body", "a body comes after its parent");
                    return Err(Error::Scheme { what, found: body.name.clone(), wanted });
                }
            };
            for &j in &joints_of[b] {
                let joint = &robot.joints[j];
                let (of, scale, shift) = followed[j];
                tree.node_of_joint[j] = tree.nodes.len() as u32;
                let place = (scale, shift - joint.reference, of == j);
                parent = tree.add(j, joint.kind, parent, place, &mut above);
            }
            tree.node_of_body.push(parent);
            // Bodies that are welded to each other are one.
            if parent != WORLD {
                tree.nodes[parent as usize].heavy = true;
            }
        }
        tree.find_ancestors(&above)?;
        Ok(tree)
    }

    /// The rows of triangular matrices; none where they would be too many: a chain of n has n² / 2 entries.
    fn find_ancestors(&mut self, above: &[u32]) -> Result<(), Error> {
        let entries: u64 = self.depths.iter().map(|depth| u64::from(*depth)).sum();
        if entries > MOST_ENTRIES {
            if self.follows() {
                let (what, found) =
                    ("a robot in which joints follow others", format!("{entries} pairs of joints"));
                return Err(Error::Scheme {
                    what,
                    found,
                    wanted: "fewer joints: their mass matrix is dense",
                });
            }
            return Ok(());
        }
        for (i, &above) in above.iter().enumerate() {
            if above != WORLD {
                self.ancestors.extend_from_within(self.row(above as usize));
            }
            self.ancestors.push(i as u32);
            self.rows.push(self.ancestors.len() as u32);
        }
        Ok(())
    }

    /// Are there too many entries for triangular matrices?
    pub(crate) fn is_deep(&self) -> bool {
        self.rows.len() <= self.dofs.len()
    }

    fn add(
        &mut self,
        joint: usize,
        kind: JointKind,
        parent: u32,
        (scale, shift, own): (f64, f64, bool),
        before: &mut Vec<u32>,
    ) -> u32 {
        let place = self.places[joint];
        let dof = self.dofs.len() as u32;
        let mut above = match parent {
            WORLD => WORLD,
            parent => self.last_dof(parent as usize),
        };
        for k in 0..kind.velocities() {
            let v = match kind {
                JointKind::Free if k >= 3 => place.angular_velocity + k - 3,
                JointKind::Hinge | JointKind::Slide | JointKind::Ball | JointKind::Free => place.velocity + k,
            };
            let this = self.dofs.len() as u32;
            self.depths.push(if above == WORLD { 1 } else { self.depths[above as usize] + 1 });
            before.push(above);
            self.dofs.push(Dof { v: v as u32, scale, own });
            above = this;
        }
        self.nodes.push(Node {
            kind,
            joint: joint as u32,
            parent,
            dof,
            q: place.position as u32,
            turn: place.orientation as u32,
            v: place.velocity as u32,
            spin: place.angular_velocity as u32,
            heavy: false,
            scale,
            shift,
        });
        self.nodes.len() as u32 - 1
    }

    fn last_dof(&self, node: usize) -> u32 {
        self.nodes[node].dof + self.nodes[node].kind.velocities() as u32 - 1
    }

    /// How many numbers all positions are.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// How many degrees of freedom.
    pub fn velocities(&self) -> usize {
        self.velocities
    }

    /// Does a joint follow another?
    pub(crate) fn follows(&self) -> bool {
        self.dofs.len() > self.velocities
    }

    /// Where the numbers of each joint lie.
    pub fn places(&self) -> &[JointPlace] {
        &self.places
    }

    /// The degrees of freedom on the way from the root to a node.
    #[inline(always)]
    pub(crate) fn way(&self, node: usize) -> &[u32] {
        &self.ancestors[self.row(self.last_dof(node) as usize)]
    }

    /// Does a joint move a body?
    pub(crate) fn moves(&self, body: usize) -> bool {
        self.node_of_body[body] != WORLD
    }

    /// The root that a node hangs from.
    pub(crate) fn root(&self, node: usize) -> usize {
        let mut node = node;
        while !self.nodes[node].is_root() {
            node = self.nodes[node].parent as usize;
        }
        node
    }

    /// Row `i` of a triangular matrix.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.rows[i] as usize..self.rows[i + 1] as usize
    }
}

/// Where the numbers of each joint lie.
fn places(robot: &Robot, followed: &[(usize, f64, f64)]) -> Vec<JointPlace> {
    let own = || robot.joints.iter().filter(|joint| joint.mimic.is_none());
    let count = |kind: JointKind| own().filter(|joint| joint.kind == kind).count();
    let (free, balls) = (count(JointKind::Free), count(JointKind::Ball));
    // The next of each sort: positions of free joints, their quaternions, those of balls, numbers.
    let (mut at, mut turn, mut ball, mut number) = (0, 3 * free, 7 * free, 7 * free + 4 * balls);
    let (mut v, mut spin, mut ball_spin, mut rate) = (0, 3 * free, 6 * free, 6 * free + 3 * balls);
    let take = |next: &mut usize, count: usize| std::mem::replace(next, *next + count);
    let mut places: Vec<JointPlace> = robot
        .joints
        .iter()
        .map(|joint| match joint.kind {
            _ if joint.mimic.is_some() => JointPlace::default(),
            JointKind::Free => JointPlace {
                position: take(&mut at, 3),
                orientation: take(&mut turn, 4),
                velocity: take(&mut v, 3),
                angular_velocity: take(&mut spin, 3),
            },
            JointKind::Ball => {
                let (orientation, velocity) = (take(&mut ball, 4), take(&mut ball_spin, 3));
                JointPlace { position: orientation, orientation, velocity, angular_velocity: velocity }
            }
            JointKind::Hinge | JointKind::Slide => {
                let (position, velocity) = (take(&mut number, 1), take(&mut rate, 1));
                JointPlace { position, velocity, ..JointPlace::default() }
            }
        })
        .collect();
    for (j, (of, ..)) in followed.iter().enumerate() {
        places[j] = places[*of];
    }
    places
}

/// Of each joint: the one whose position it has, and by which scale and shift; itself, if it follows none.
fn followed(robot: &Robot) -> Result<Vec<(usize, f64, f64)>, Error> {
    let number = |j: usize| matches!(robot.joints[j].kind, JointKind::Hinge | JointKind::Slide);
    let mut all = Vec::new();
    for j in 0..robot.joints.len() {
        let (mut of, mut scale, mut shift) = (j, 1.0, 0.0);
        // Following others that follow others, at most once each.
        for _ in 0..robot.joints.len() {
            let Some(mimic) = robot.joints[of].mimic else { break };
            if mimic.joint >= robot.joints.len() || !number(of) || !number(mimic.joint) {
                break;
            }
            (of, scale, shift) = (mimic.joint, scale * mimic.multiplier, scale * mimic.offset + shift);
        }
        if robot.joints[of].mimic.is_some() {
            let wanted = "a joint follows a hinge or a slide, and none follows itself";
            return Err(Error::Scheme { what: "mimic", found: robot.joints[j].name.clone(), wanted });
        }
        all.push((of, scale, shift));
    }
    Ok(all)
}
