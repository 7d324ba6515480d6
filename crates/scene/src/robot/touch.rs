//! Which shapes of a robot may touch each other.

use std::collections::HashSet;

use super::{Robot, Shape};

/// Which shapes of one robot may touch each other; made by [`Robot::touch_rules`].
///
/// These are the rules of MuJoCo. A pair of [`Robot::contact_pairs`] touches. Else both shapes collide, their bodies are not
/// welded together, neither hangs from the other by joints (but see [`Robot::touches_base`]), and the pair is not one of
/// [`Robot::contact_excludes`].
#[derive(Clone, Debug)]
pub struct TouchRules<'r> {
    shapes: &'r [Shape],
    /// For each body, those that it is welded to.
    welded: Vec<Weld>,
    /// For each body, what these hang from by joints; `None`: the world itself.
    above: Vec<Option<Weld>>,
    pairs: HashSet<[usize; 2]>,
    excludes: HashSet<[usize; 2]>,
    itself: bool,
    base: bool,
}

/// Bodies that are welded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Weld {
    /// The first of them.
    first: usize,
    /// Whether joints move them; else they stand still in the world.
    moves: bool,
}

impl Robot {
    /// Which of its shapes may touch each other, where [`Contact::self_collision`] is this. Loose bodies touch each other
    /// in any case.
    ///
    /// [`Contact::self_collision`]: crate::Contact::self_collision
    pub fn touch_rules(&self, self_collision: bool) -> TouchRules<'_> {
        let sorted = |pairs: &[[usize; 2]]| pairs.iter().map(|&pair| ordered(pair)).collect();
        let (welded, above) = self.welds();
        TouchRules {
            shapes: &self.shapes,
            welded,
            above,
            pairs: sorted(&self.contact_pairs),
            excludes: sorted(&self.contact_excludes),
            itself: self.loose || self.self_collision.unwrap_or(self_collision),
            base: self.touches_base,
        }
    }

    /// For each body, the first of those that it is welded to, and what they hang from.
    fn welds(&self) -> (Vec<Weld>, Vec<Option<Weld>>) {
        let mut moved = vec![false; self.bodies.len()];
        for joint in &self.joints {
            if let Some(moved) = moved.get_mut(joint.body) {
                *moved = true;
            }
        }
        let mut welded: Vec<Weld> = Vec::with_capacity(self.bodies.len());
        let mut above = Vec::with_capacity(self.bodies.len());
        for (at, body) in self.bodies.iter().enumerate() {
            // Parents come first: those that do not are refused by `check`.
            let parent = body.parent.filter(|&parent| parent < at);
            let over = parent.map(|parent| welded[parent]);
            welded.push(match over {
                _ if moved[at] => Weld { first: at, moves: true },
                Some(weld) => weld,
                None => Weld { first: at, moves: false },
            });
            above.push(match parent {
                Some(parent) if !moved[at] => above[parent],
                _ => over,
            });
        }
        (welded, above)
    }
}

impl TouchRules<'_> {
    /// Whether two shapes of the robot, by their indices, may touch.
    pub fn allow(&self, a: usize, b: usize) -> bool {
        let [first, second] = [&self.shapes[a], &self.shapes[b]];
        let of_two_bodies = first.body.is_some() && second.body.is_some();
        if a == b || (of_two_bodies && !self.itself) {
            return false;
        }
        if self.pairs.contains(&ordered([a, b])) {
            return true;
        }
        let weld = |shape: &Shape| shape.body.map(|body| self.welded[body]);
        let above = |shape: &Shape| shape.body.and_then(|body| self.above[body]);
        let [one, other] = [weld(first), weld(second)];
        let still = |weld: Option<Weld>| weld.is_none_or(|weld| !weld.moves);
        let welded = one == other || (still(one) && still(other));
        let hangs = |from: Option<Weld>, above: Option<Weld>| {
            from.is_some_and(|from| above == Some(from) && (from.moves || !self.base))
        };
        let joined = hangs(one, above(second)) || hangs(other, above(first));
        let excluded = match (first.body, second.body) {
            (Some(a), Some(b)) => self.excludes.contains(&ordered([a, b])),
            (None, _) | (_, None) => false,
        };
        first.collides && second.collides && !welded && !joined && !excluded
    }
}

fn ordered([a, b]: [usize; 2]) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    use super::super::{Body, Geometry, Inertial, Joint, JointKind, Placement};
    use super::*;

    /// base - a - b - c, where b is welded to a, and a and c have hinges; each has a shape, and so has the world.
    fn chain() -> Robot {
        let body = |name: &str, parent| Body {
            name: name.into(),
            parent,
            placement: Placement::default(),
            inertial: Inertial::default(),
        };
        let hinge = |name: &str, body| Joint::new(name, body, JointKind::Hinge, [0.0, 0.0, 1.0]);
        let shape = |body| Shape { body, ..Shape::new(Geometry::Sphere { radius: 0.1 }) };
        Robot {
            bodies: vec![body("base", None), body("a", Some(0)), body("b", Some(1)), body("c", Some(2))],
            joints: vec![hinge("a", 1), hinge("c", 3)],
            shapes: [Some(0), Some(1), Some(2), Some(3), None].map(shape).to_vec(),
            ..Robot::default()
        }
    }

    fn allowed(robot: &Robot, self_collision: bool) -> Vec<[usize; 2]> {
        let rules = robot.touch_rules(self_collision);
        let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| [a, b]));
        let found: Vec<[usize; 2]> = pairs.filter(|&[a, b]| rules.allow(a, b)).collect();
        assert!(found.iter().all(|&[a, b]| rules.allow(b, a)), "the order does not matter");
        found
    }

    /// a and b are one; c hangs from them. The base stands still, so that it is one with the world. With `touches_base` these
    /// are the contacts that MuJoCo finds for the same chain, all in one place; so they are where the base moves, below.
    #[test]
    fn neighbours_do_not_touch() {
        let mut robot = chain();
        assert_eq!(allowed(&robot, true), [[0, 3], [1, 4], [2, 4], [3, 4]]);
        robot.touches_base = true;
        assert_eq!(allowed(&robot, true), [[0, 1], [0, 2], [0, 3], [1, 4], [2, 4], [3, 4]]);
        robot.contact_pairs = vec![[3, 2]];
        robot.contact_excludes = vec![[3, 0]];
        assert_eq!(allowed(&robot, true), [[0, 1], [0, 2], [1, 4], [2, 3], [2, 4], [3, 4]]);
        robot.shapes[2].collides = false;
        robot.shapes[4].collides = false;
        assert_eq!(allowed(&robot, true), [[0, 1], [2, 3]]);
    }

    /// With a joint of its own the base moves, and is a parent like any other.
    #[test]
    fn a_base_that_moves() {
        let mut robot = chain();
        robot.touches_base = true;
        robot.joints.push(Joint::new("root", 0, JointKind::Free, [0.0, 0.0, 1.0]));
        assert_eq!(allowed(&robot, true), [[0, 3], [0, 4], [1, 4], [2, 4], [3, 4]]);
    }

    #[test]
    fn robots_that_do_not_touch_themselves() {
        let mut robot = chain();
        robot.contact_pairs = vec![[0, 3]];
        let world = [[1, 4], [2, 4], [3, 4]];
        assert_eq!(allowed(&robot, false), world);
        robot.self_collision = Some(false);
        assert_eq!(allowed(&robot, true), world);
        robot.self_collision = Some(true);
        assert_eq!(allowed(&robot, false), [[0, 3], [1, 4], [2, 4], [3, 4]]);
        let placements = [Placement::default(); 5];
        let cubes = Robot::loose_bodies("cubes", &placements, Inertial::default())
            .shaped(&Shape::new(Geometry::Sphere { radius: 0.1 }));
        assert_eq!(allowed(&cubes, false).len(), 10);
    }
}
