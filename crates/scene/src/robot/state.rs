//! States of a robot: where its joints are at rest, and where the whole robot stands.

use super::{JointKind, Keyframe, Placement, Robot};

impl Robot {
    /// The positions of all joints when bodies are placed as they are: what an empty [`Keyframe::positions`] means.
    pub fn home(&self) -> Vec<f64> {
        let mut positions = Vec::with_capacity(self.positions());
        for joint in &self.joints {
            match joint.kind {
                JointKind::Hinge | JointKind::Slide => positions.push(joint.reference),
                JointKind::Ball => positions.extend([1.0, 0.0, 0.0, 0.0]),
                JointKind::Free => {
                    let body = self.bodies.get(joint.body);
                    let Placement { position, orientation } = body.map(|it| it.placement).unwrap_or_default();
                    positions.extend(position);
                    positions.extend(orientation);
                }
            }
        }
        positions
    }

    /// Puts the robot into a frame of the world: what it says of the world so far is meant in that frame. Bodies, frames
    /// and shapes that hang from the world are moved, and so are free joints in all its states.
    pub fn place(&mut self, world_from_robot: &Placement) {
        let put = |placement: &mut Placement| *placement = world_from_robot.compose(placement);
        self.bodies.iter_mut().filter(|body| body.parent.is_none()).for_each(|body| put(&mut body.placement));
        self.frames.iter_mut().filter(|it| it.body.is_none()).for_each(|frame| put(&mut frame.placement));
        self.shapes.iter_mut().filter(|it| it.body.is_none()).for_each(|shape| put(&mut shape.placement));
        let mut states = std::mem::take(&mut self.keyframes);
        let mut start = std::mem::take(&mut self.start);
        states.iter_mut().chain([&mut start]).for_each(|state| self.place_state(state, world_from_robot));
        (self.keyframes, self.start) = (states, start);
    }

    /// Free joints of bodies that hang from the world have positions and linear velocities in its axes.
    fn place_state(&self, state: &mut Keyframe, world_from_robot: &Placement) {
        let (mut position, mut velocity) = (0, 0);
        for joint in &self.joints {
            let from_world = self.bodies.get(joint.body).is_some_and(|body| body.parent.is_none());
            if joint.kind == JointKind::Free && from_world {
                if let Some([x, y, z, quaternion @ ..]) = state.positions.get_mut(position..position + 7) {
                    let old = Placement {
                        position: [*x, *y, *z],
                        orientation: std::array::from_fn(|i| quaternion[i]),
                    };
                    let new = world_from_robot.compose(&old);
                    [*x, *y, *z] = new.position;
                    quaternion.copy_from_slice(&new.orientation);
                }
                if let Some([x, y, z, ..]) = state.velocities.get_mut(velocity..velocity + 6) {
                    [*x, *y, *z] = world_from_robot.rotate([*x, *y, *z]);
                }
            }
            position += joint.kind.positions();
            velocity += joint.kind.velocities();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Body, Frame, Inertial, Joint};
    use super::*;

    const QUARTER: f64 = std::f64::consts::FRAC_1_SQRT_2;

    /// A free trunk at (1, 0, 0) with an arm on a hinge, and a frame of the world at (0, 1, 0).
    fn robot() -> Robot {
        let body = |name: &str, parent, position| Body {
            name: name.into(),
            parent,
            placement: Placement { position, ..Placement::default() },
            inertial: Inertial::default(),
        };
        let hinge = Joint { reference: 0.25, ..Joint::new("hinge", 1, JointKind::Hinge, [0.0, 0.0, 1.0]) };
        let mark = Placement { position: [0.0, 1.0, 0.0], ..Placement::default() };
        Robot {
            bodies: vec![body("trunk", None, [1.0, 0.0, 0.0]), body("arm", Some(0), [0.0, 0.0, 1.0])],
            joints: vec![hinge, Joint::new("root", 0, JointKind::Free, [0.0, 0.0, 1.0])],
            frames: vec![Frame { name: "mark".into(), body: None, placement: mark }],
            ..Robot::default()
        }
    }

    fn close(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?} {wanted:?}");
    }

    #[test]
    fn at_home_joints_are_at_their_references() {
        close(&robot().home(), &[0.25, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    }

    /// A quarter turn about z takes x to y and y to -x.
    #[test]
    fn all_that_hangs_from_the_world_is_placed() {
        let mut robot = robot();
        robot.start.positions = vec![0.5, 3.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0];
        robot.start.velocities = vec![0.1, 1.0, 0.0, 0.0, 0.0, 5.0, 0.0];
        robot.place(&Placement { position: [0.0, 0.0, 10.0], orientation: [QUARTER, 0.0, 0.0, QUARTER] });
        close(&robot.bodies[0].placement.position, &[0.0, 1.0, 10.0]);
        close(&robot.bodies[1].placement.position, &[0.0, 0.0, 1.0]);
        close(&robot.frames[0].placement.position, &[-1.0, 0.0, 10.0]);
        close(&robot.home(), &[0.25, 0.0, 1.0, 10.0, QUARTER, 0.0, 0.0, QUARTER]);
        close(&robot.start.positions, &[0.5, 0.0, 3.0, 12.0, QUARTER, 0.0, 0.0, QUARTER]);
        close(&robot.start.velocities, &[0.1, 0.0, 1.0, 0.0, 0.0, 5.0, 0.0]);
    }
}
