//! Measurements, beside the motion that should fit them.

use anyhow::Result;
use pullback_engine::articulated::Watch;
use pullback_engine::go_on;
use pullback_report::{Plot, Section, evenly};
use pullback_scene::{LossKind, Part, Table, Track, Tracked};
use pullback_solve::Problem;

use super::{AXES, MOST_PLOTS, tell_chosen};
use crate::simulate::Recorded;

/// More measurements than this would hide the line through them.
const MOST_POINTS: usize = 100;

/// Measurements, and the motion that should fit them.
pub fn show(
    s: &mut Section,
    problem: &Problem,
    before: Option<&Recorded>,
    recorded: &Recorded,
) -> Result<()> {
    let columns = problem.description().losses.iter().filter_map(|term| match &term.kind {
        LossKind::Trajectory { data, tracks, .. } => Some(tracks.iter().map(move |track| (data, track))),
        LossKind::Position { .. }
        | LossKind::Velocity { .. }
        | LossKind::PartPosition { .. }
        | LossKind::PartVelocity { .. }
        | LossKind::Joint { .. }
        | LossKind::Contact { .. }
        | LossKind::Effort { .. } => None,
    });
    let columns: Vec<(&Table, &Track)> = columns.flatten().collect();
    for (data, track) in evenly(columns.len(), MOST_PLOTS).into_iter().map(|i| columns[i]) {
        let Some(of) = Measured::new(problem, track) else { continue };
        let mut plot = Plot::line(&of.title).x("time [s]").y(&of.axis);
        let every = data.rows.len().div_ceil(MOST_POINTS).max(1);
        let (times, values): (Vec<f64>, Vec<f64>) =
            data.rows.iter().step_by(every).map(|row| (row[0], row[track.column])).unzip();
        let name = if every > 1 { format!("measured, 1 of {every}") } else { "measured".to_owned() };
        plot = plot.points(name, &times, &values);
        if let Some(before) = before {
            let (times, values) = of.curve(problem, before)?;
            plot = plot.series("before", &times, &values);
        }
        let (times, values) = of.curve(problem, recorded)?;
        s.plot(&plot.series(if before.is_some() { "fitted" } else { "simulated" }, &times, &values));
    }
    tell_chosen(s, columns.len(), MOST_PLOTS, "measured columns");
    Ok(())
}

/// A number that was measured.
struct Measured {
    of: Number,
    title: String,
    /// What its axis is called.
    axis: String,
}

/// Where a number that was measured is to be found.
enum Number {
    /// In the state.
    State(usize),
    /// Of a body or frame, along an axis.
    Part { of: Part, axis: usize, velocity: bool },
}

impl Measured {
    fn new(problem: &Problem, track: &Track) -> Option<Measured> {
        let (scene, model) = (&problem.description().scene, problem.model());
        let (what, field) = if track.velocity { ("Velocity", "velocity") } else { ("Position", "position") };
        let v = if track.velocity { "v" } else { "" };
        let (number, title, axis) = match track.of {
            Tracked::Particle { particle, axis } => {
                let first = if track.velocity { model.positions() } else { 0 };
                let title = format!("{what} of {} along {}", scene.particle_name(particle), AXES[axis]);
                (first + 3 * particle + axis, title, format!("{v}{}", AXES[axis]))
            }
            Tracked::Part { of, axis } => {
                let title = format!("{what} of {} along {}", scene.part_name(of), AXES[axis]);
                let unit = if track.velocity { "m/s" } else { "m" };
                let number = Number::Part { of, axis, velocity: track.velocity };
                return Some(Measured { of: number, title, axis: format!("{v}{} [{unit}]", AXES[axis]) });
            }
            Tracked::Joint { robot, joint } => {
                let name = scene.joint_name(robot, joint);
                let number = model.state_layout().find(&format!("{name}.{field}")).ok()?.start;
                (number, format!("{what} of {name}"), field.to_owned())
            }
        };
        let unit = &model.state_layout().quantity_of(number)?.unit;
        Some(Measured { of: Number::State(number), title, axis: format!("{axis} [{unit}]") })
    }

    /// Times [s] and what the number is then.
    fn curve(&self, problem: &Problem, recorded: &Recorded) -> Result<(Vec<f64>, Vec<f64>)> {
        let mut watch = match self.of {
            Number::Part { .. } => Some(Watch::new(problem.model())?),
            Number::State(_) => None,
        };
        let mut curve = (Vec::new(), Vec::new());
        for t in recorded.shown() {
            go_on(t)?;
            let value = match (&self.of, &mut watch) {
                (Number::State(number), _) => recorded.state(t)[*number],
                (Number::Part { of, axis, velocity }, Some(watch)) => {
                    watch.run(recorded.state(t), &recorded.params)?;
                    let Some((pose, motion)) = watch.part(*of) else { continue };
                    let it = if *velocity { motion.linear } else { pose.position };
                    [it.x, it.y, it.z][*axis]
                }
                (Number::Part { .. }, None) => continue,
            };
            curve.0.push(recorded.times[t]);
            curve.1.push(value);
        }
        Ok(curve)
    }
}
