//! Points that move: particles, origins of bodies, and frames that a loss measures.

use anyhow::Result;
use pullback_engine::articulated::Watch;
use pullback_engine::go_on;
use pullback_scene::robot::orientation;
use pullback_scene::{LossKind, LossTerm, Part};
use pullback_solve::Problem;

use super::solids;
use crate::simulate::Recorded;

/// Where points are at the moments that a page shows.
pub struct Seen {
    /// Times [s].
    pub times: Vec<f64>,
    /// What the points are called.
    pub names: Vec<String>,
    /// `points[moment][point]` [m].
    pub points: Vec<Vec<[f32; 3]>>,
    /// The points whose paths are worth a plot: particles, what a loss measures, and bodies at the ends of robots.
    pub pathed: Vec<usize>,
    /// The points that are bodies, robot after robot, and at last the world, if something is fixed to it that is drawn.
    pub bodies: Vec<usize>,
    /// `orientations[moment][body]`.
    pub orientations: Vec<Vec<[f32; 4]>>,
}

impl Seen {
    pub fn new(problem: &Problem, recorded: &Recorded) -> Result<Seen> {
        let description = problem.description();
        let scene = &description.scene;
        let mut names: Vec<String> = (0..recorded.particles).map(|p| scene.particle_name(p)).collect();
        let mut pathed: Vec<usize> = (0..recorded.particles).collect();
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
                pathed.push(recorded.particles + i);
            }
        }
        let mut seen =
            Seen { times: Vec::new(), names, points: Vec::new(), pathed, bodies, orientations: Vec::new() };
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

    /// Where a point is, moment after moment [m].
    pub fn path(&self, point: usize) -> impl Iterator<Item = [f64; 3]> {
        self.points.iter().map(move |points| points[point].map(f64::from))
    }

    /// Where a point of this name is at last [m].
    pub fn end_of(&self, name: &str) -> Option<[f64; 3]> {
        let point = self.names.iter().position(|it| it == name)?;
        Some(self.points.last()?[point].map(f64::from))
    }

    /// Does anything move?
    pub fn moves(&self) -> bool {
        self.pathed.iter().any(|&point| self.points.iter().any(|p| p[point] != self.points[0][point]))
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
