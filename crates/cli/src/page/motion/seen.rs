//! Points that move: particles, origins of bodies, and frames that a loss measures.

use std::ops::Range;

use anyhow::Result;
use pullback_engine::articulated::Watch;
use pullback_engine::go_on;
use pullback_scene::robot::orientation;
use pullback_scene::{LossKind, LossTerm, Part, Scene};
use pullback_solve::Problem;

use super::{MOST_PATHS, soft, solids};
use crate::simulate::Recorded;

/// Where points are at the moments that a page shows.
pub struct Seen {
    /// Times [s].
    pub times: Vec<f64>,
    /// What the points are called.
    pub names: Vec<String>,
    /// `points[moment][point]` [m].
    pub points: Vec<Vec<[f32; 3]>>,
    /// The paths that are worth a plot: of particles and the middles of soft things, of what a loss measures, and of bodies at the ends of
    /// robots.
    pub paths: Vec<Path>,
    /// The points that are bodies, robot after robot, and at last the world, if something is fixed to it that is drawn.
    pub bodies: Vec<usize>,
    /// `orientations[moment][body]`.
    pub orientations: Vec<Vec<[f32; 4]>>,
}

/// What goes along a path: points one after the other, as their middle.
pub struct Path {
    pub name: String,
    of: Range<usize>,
}

impl Path {
    fn of_point(point: usize, names: &[String]) -> Path {
        Path { name: names[point].clone(), of: point..point + 1 }
    }
}

/// The paths of particles. Where they are more than a plot holds, soft things go as their middles, but for points that a loss measures.
fn particle_paths(scene: &Scene, losses: &[LossTerm], names: &[String]) -> Vec<Path> {
    let particles = scene.particle_count();
    let soft = if particles > MOST_PATHS { soft::things(scene) } else { Vec::new() };
    let is_measured = |p: usize| {
        losses.iter().any(|term| match &term.kind {
            LossKind::Position { of, .. } | LossKind::Velocity { of, .. } => *of == p,
            LossKind::PartPosition { .. }
            | LossKind::PartVelocity { .. }
            | LossKind::Joint { .. }
            | LossKind::Trajectory { .. }
            | LossKind::Contact { .. }
            | LossKind::Effort { .. } => false,
        })
    };
    let alone = |p: &usize| is_measured(*p) || !soft.iter().any(|(_, of)| of.contains(p));
    let middle =
        |(name, of): &(&str, Range<usize>)| Path { name: format!("middle of {name}"), of: of.clone() };
    let points = (0..particles).filter(alone).map(|p| Path::of_point(p, names));
    soft.iter().map(middle).chain(points).collect()
}

impl Seen {
    pub fn new(problem: &Problem, recorded: &Recorded) -> Result<Seen> {
        let description = problem.description();
        let scene = &description.scene;
        let mut names: Vec<String> = (0..recorded.particles).map(|p| scene.particle_name(p)).collect();
        let mut paths = particle_paths(scene, &description.losses, &names);
        let mut parts: Vec<Part> = Vec::new();
        for (robot, described) in scene.robots.iter().enumerate() {
            parts.extend((0..described.bodies.len()).map(|body| Part::Body { robot, body }));
        }
        let bodies = (recorded.particles..recorded.particles + parts.len()).collect();
        let is_end = |part: &Part| match *part {
            Part::Body { robot, body } => scene.robots[robot].bodies.iter().all(|b| b.parent != Some(body)),
            Part::Frame { .. } => true,
        };
        let measured: Vec<Part> = description.losses.iter().filter_map(measured).collect();
        let frames = measured.iter().filter(|part| matches!(part, Part::Frame { .. }));
        for frame in frames {
            if !parts.contains(frame) {
                parts.push(*frame);
            }
        }
        for (i, part) in parts.iter().enumerate() {
            names.push(scene.part_name(*part));
            if is_end(part) || measured.contains(part) {
                paths.push(Path::of_point(recorded.particles + i, &names));
            }
        }
        let mut seen =
            Seen { times: Vec::new(), names, points: Vec::new(), paths, bodies, orientations: Vec::new() };
        if solids::has_world(scene) {
            // Shapes that are fixed to the world hang from a body that does not move.
            seen.bodies.push(seen.names.len());
            seen.names.push(String::new());
        }
        seen.fill(problem, recorded, &parts, solids::has_world(scene))?;
        Ok(seen)
    }

    fn fill(
        &mut self,
        problem: &Problem,
        recorded: &Recorded,
        parts: &[Part],
        has_world: bool,
    ) -> Result<()> {
        let mut watch = Watch::new(problem.model())?;
        for t in recorded.shown() {
            go_on(t)?;
            self.times.push(recorded.times[t]);
            let particles = (0..recorded.particles).map(|p| recorded.position(t, p).map(|c| c as f32));
            let mut points: Vec<[f32; 3]> = particles.collect();
            let mut turns = Vec::with_capacity(self.bodies.len());
            watch.run(recorded.state(t), &recorded.params)?;
            for part in parts {
                let Some((pose, _)) = watch.part(*part) else { continue };
                let p = pose.position;
                points.push([p.x as f32, p.y as f32, p.z as f32]);
                if matches!(part, Part::Body { .. }) {
                    let r = pose.rotation;
                    let rows = [[r.x.x, r.y.x, r.z.x], [r.x.y, r.y.y, r.z.y], [r.x.z, r.y.z, r.z.z]];
                    turns.push(orientation::from_matrix(rows).map(|x| x as f32));
                }
            }
            if has_world {
                points.push([0.0; 3]);
                turns.push([1.0, 0.0, 0.0, 0.0]);
            }
            self.points.push(points);
            self.orientations.push(turns);
        }
        Ok(())
    }

    /// Where what a path is of is, moment after moment [m].
    pub fn along(&self, path: &Path) -> impl Iterator<Item = [f64; 3]> {
        let (of, part) = (path.of.clone(), 1.0 / path.of.len() as f64);
        self.points.iter().map(move |points| {
            let add = |sum: [f64; 3], p: &[f32; 3]| std::array::from_fn(|i| sum[i] + f64::from(p[i]));
            points[of.clone()].iter().fold([0.0; 3], add).map(|sum| sum * part)
        })
    }

    /// Where a point of this name is at last [m].
    pub fn end_of(&self, name: &str) -> Option<[f64; 3]> {
        let point = self.names.iter().position(|it| it == name)?;
        Some(self.points.last()?[point].map(f64::from))
    }

    /// Does anything move?
    pub fn moves(&self) -> bool {
        let moves = |at: usize| self.points.iter().any(|points| points[at] != self.points[0][at]);
        self.paths.iter().any(|path| path.of.clone().any(moves))
    }
}

/// The body or frame that a term measures.
fn measured(term: &LossTerm) -> Option<Part> {
    match &term.kind {
        LossKind::PartPosition { of, .. } | LossKind::PartVelocity { of, .. } => Some(*of),
        LossKind::Position { .. }
        | LossKind::Velocity { .. }
        | LossKind::Joint { .. }
        | LossKind::Trajectory { .. }
        | LossKind::Contact { .. }
        | LossKind::Effort { .. } => None,
    }
}
