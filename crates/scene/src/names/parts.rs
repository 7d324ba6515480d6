//! Names of what robots have: `arm.hand`, `arm.elbow`, and of loose bodies: `ball`, `cubes[3]`.

use std::collections::HashMap;

use super::Names;
use crate::error::Invalid;
use crate::problem::Part;
use crate::robot::Robot;
use crate::words;

/// What a loss can be of.
pub(crate) enum Target {
    Particle(usize),
    Part(Part),
}

/// Finds bodies, frames and joints by name. Of robots with one name it knows the first.
pub(crate) struct PartNames<'r> {
    pub(super) robots: &'r [Robot],
    /// Robots that are not loose bodies.
    pub(super) by_name: HashMap<&'r str, usize>,
    pub(super) loose: Names<'r>,
    /// The robot of each group of loose bodies.
    pub(super) of_loose: Vec<usize>,
}

impl<'r> PartNames<'r> {
    pub fn new(robots: &'r [Robot]) -> Self {
        let mut by_name = HashMap::new();
        let mut of_loose = Vec::new();
        for (at, robot) in robots.iter().enumerate() {
            if robot.loose {
                of_loose.push(at);
            } else {
                by_name.entry(robot.name.as_str()).or_insert(at);
            }
        }
        let loose = Names::loose(of_loose.iter().map(|&at| &robots[at]));
        Self { robots, by_name, loose, of_loose }
    }

    /// The particle, body or frame of a name.
    pub fn target(&self, particles: &Names<'_>, name: &str) -> Result<Target, Invalid> {
        if self.robots.is_empty() || particles.knows(name) {
            return particles.index(name).map(Target::Particle);
        }
        if particles.groups.is_empty() || self.begins(name) {
            return self.part(name).map(Target::Part);
        }
        let what = format!("there is no particle, body or frame {}", words::quoted(name));
        let near = particles.near(name).or_else(|| self.near(name));
        let all = format!("the particles are {}; {}", particles.all(), self.all());
        Err(Invalid::new(name, what, words::did_you_mean(near, all)))
    }

    /// The body or frame of a name.
    pub fn part(&self, name: &str) -> Result<Part, Invalid> {
        if self.loose.knows(name) {
            let (group, body) = self.loose.find(name)?;
            return Ok(Part::Body { robot: self.of_loose[group], body });
        }
        let (robot, inner) = self.within(name, "body or frame")?;
        let Robot { bodies, frames, .. } = &self.robots[robot];
        let body = bodies.iter().position(|body| body.name == inner);
        let frame = || frames.iter().position(|frame| frame.name == inner);
        if let Some(body) = body {
            return Ok(Part::Body { robot, body });
        }
        frame().map(|frame| Part::Frame { robot, frame }).ok_or_else(|| {
            let names: Vec<&str> = bodies
                .iter()
                .map(|body| &body.name)
                .chain(frames.iter().map(|it| &it.name))
                .map(String::as_str)
                .collect();
            self.no_inner(robot, name, "body or frame", "bodies and frames", &names)
        })
    }

    /// The robot and joint of a name.
    pub fn joint(&self, name: &str) -> Result<(usize, usize), Invalid> {
        if self.loose.knows(name) {
            let (group, joint) = self.loose.find(name)?;
            return Ok((self.of_loose[group], joint));
        }
        let (robot, inner) = self.within(name, "joint")?;
        let joints = &self.robots[robot].joints;
        joints.iter().position(|joint| joint.name == inner).map(|joint| (robot, joint)).ok_or_else(|| {
            let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
            self.no_inner(robot, name, "joint", "joints", &names)
        })
    }

    /// Whether there are robots or loose bodies.
    pub fn has_robots(&self) -> bool {
        !self.robots.is_empty()
    }

    /// Whether a name begins with one of a robot.
    pub fn begins(&self, name: &str) -> bool {
        self.loose.knows(name) || self.by_name.contains_key(head(name))
    }

    /// The robot of a name, and what comes after it.
    pub(super) fn within<'n>(&self, name: &'n str, wanted: &str) -> Result<(usize, &'n str), Invalid> {
        let Some(&robot) = self.by_name.get(head(name)) else {
            if self.loose.knows(head(name)) && name.contains('.') {
                let body = words::quoted(head(name));
                let what = format!("{body} is a loose body, and has no {wanted} of its own");
                return Err(Invalid::new(name, what, format!("write {body} for the body itself")));
            }
            let what = match name.contains('.') {
                true => format!("there is no robot {}", words::quoted(head(name))),
                false => format!("there is no {wanted} {}", words::quoted(name)),
            };
            return Err(Invalid::new(name, what, words::did_you_mean(self.near(name), self.all())));
        };
        name.split_once('.').map(|(_, inner)| (robot, inner)).ok_or_else(|| {
            let what = format!("{} is a robot, and a {wanted} of it is wanted", words::quoted(name));
            let Robot { bodies, joints, .. } = &self.robots[robot];
            let inner = match wanted {
                "joint" => joints.first().map(|joint| &joint.name),
                _ => bodies.first().map(|body| &body.name),
            };
            let example =
                inner.map(|inner| format!(", such as {}", words::quoted(&format!("{name}.{inner}"))));
            let fix = format!("write its name behind a dot{}", example.unwrap_or_default());
            Invalid::new(name, what, fix)
        })
    }

    /// Nothing of a robot has this name.
    pub(super) fn no_inner(
        &self,
        robot: usize,
        name: &str,
        word: &str,
        plural: &str,
        names: &[&str],
    ) -> Invalid {
        let robot = &self.robots[robot].name;
        let inner = name.split_once('.').map_or(name, |(_, inner)| inner);
        let near = words::nearest(inner, names).map(|near| words::quoted(&format!("{robot}.{near}")));
        let all = format!("the {plural} of `{robot}` are {}", words::list(names));
        Invalid::new(
            name,
            format!("there is no {word} {}", words::quoted(name)),
            words::did_you_mean(near, all),
        )
    }

    /// The robot or loose body that was probably meant.
    fn near(&self, name: &str) -> Option<String> {
        let robots = self.robots.iter().filter(|robot| !robot.loose).map(|robot| &robot.name);
        let robot = || {
            words::nearest(head(name), robots).map(|robot| {
                let inner = name.split_once('.').map(|(_, inner)| format!(".{inner}")).unwrap_or_default();
                words::quoted(&format!("{robot}{inner}"))
            })
        };
        self.loose.near(name).or_else(robot)
    }

    /// All robots and loose bodies, in words.
    fn all(&self) -> String {
        let robots: Vec<&str> =
            self.robots.iter().filter(|robot| !robot.loose).map(|robot| robot.name.as_str()).collect();
        match (robots.is_empty(), self.of_loose.is_empty()) {
            (true, true) => "add a section `[[robots]]` or `[[bodies]]`: the scene has none".into(),
            (true, false) => format!("the bodies are {}", self.loose.all()),
            (false, true) => format!("the robots are {}", words::list(&robots)),
            (false, false) => {
                format!("the bodies are {}; the robots are {}", self.loose.all(), words::list(&robots))
            }
        }
    }
}

/// `arm` of `arm.hand`.
fn head(name: &str) -> &str {
    name.split_once('.').map_or(name, |(head, _)| head)
}
