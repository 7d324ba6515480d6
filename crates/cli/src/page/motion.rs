//! What moves: paths, joints, what was measured, controls, and a playback.

mod measured;
mod seen;
mod soft;
mod solids;

use anyhow::Result;
use pullback_engine::Touching;
use pullback_report::{Playback, Plot, Section, evenly};
use pullback_scene::robot::JointKind;
use pullback_scene::{LossKind, LossTerm, Scene};
use pullback_solve::Problem;

use crate::simulate::Recorded;
use seen::Seen;

/// More paths than this are not drawn.
const MOST_PATHS: usize = 12;
/// More measured columns, joints or controls than this are not plotted.
const MOST_PLOTS: usize = 8;
/// An axis along which less happens than this part of the most is not shown.
const FLAT: f64 = 1e-3;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Where things go, and how that fits what was measured; `before` is the motion where the search started.
pub fn show(
    s: &mut Section,
    problem: &Problem,
    before: Option<&Recorded>,
    recorded: &Recorded,
) -> Result<()> {
    let scene = &problem.description().scene;
    let losses = &problem.description().losses;
    let seen = Seen::new(problem, recorded)?;
    let seen_before = before.map(|before| Seen::new(problem, before)).transpose()?;
    let targets = targets(scene, losses, &seen);
    playback(s, scene, &targets, &seen);
    measured::show(s, problem, before, recorded)?;
    let views = views(&seen);
    for axes in &views {
        s.plot(&paths(scene, *axes, &targets, seen_before.as_ref(), &seen));
    }
    if views.is_empty() && seen.moves() {
        s.plot(&line(&targets, seen_before.as_ref(), &seen));
    }
    tell_chosen(s, seen.paths.len(), MOST_PATHS, "paths");
    joints(s, problem, before, recorded);
    controls(s, problem, recorded);
    contacts(s, recorded);
    Ok(())
}

/// Says that not all of something is plotted.
fn tell_chosen(s: &mut Section, of: usize, most: usize, what: &str) {
    if of > most {
        s.text(&format!("{most} of {of} {what}, evenly spread over all."));
    }
}

fn targets(scene: &Scene, losses: &[LossTerm], seen: &Seen) -> Vec<(String, [f64; 3])> {
    // Along axes that do not count, a target is where what should get there ends.
    let place = |name: String, target: &[f64; 3], axes: &[bool; 3]| {
        let last = seen.end_of(&name).unwrap_or(*target);
        let place = std::array::from_fn(|axis| if axes[axis] { target[axis] } else { last[axis] });
        Some((format!("target of {name}"), place))
    };
    let target = |term: &LossTerm| match &term.kind {
        LossKind::Position { of, target, axes } => place(scene.particle_name(*of), target, axes),
        LossKind::PartPosition { of, target, axes } => place(scene.part_name(*of), target, axes),
        LossKind::Velocity { .. }
        | LossKind::PartVelocity { .. }
        | LossKind::Joint { .. }
        | LossKind::Trajectory { .. }
        | LossKind::Contact { .. }
        | LossKind::Effort { .. } => None,
    };
    losses.iter().filter_map(target).collect()
}

/// How far the point that goes furthest goes along each axis [m].
fn extents(seen: &Seen) -> [f64; 3] {
    let mut extents = [0.0_f64; 3];
    for path in &seen.paths {
        for (axis, extent) in extents.iter_mut().enumerate() {
            let along = || seen.along(path).map(|x| x[axis]);
            let (least, most) =
                (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max));
            *extent = extent.max(most - least);
        }
    }
    extents
}

/// The planes in which something is to be seen: from the side, and from above.
fn views(seen: &Seen) -> Vec<[usize; 2]> {
    let extents = extents(seen);
    let most = extents.iter().copied().fold(0.0, f64::max);
    let lively = |axis: usize| extents[axis] > FLAT * most;
    let all = [[0, 2], [0, 1], [1, 2]];
    all.into_iter().filter(|[a, b]| lively(*a) && lively(*b)).take(2).collect()
}

/// The paths in a plane.
fn paths(
    scene: &Scene,
    axes: [usize; 2],
    targets: &[(String, [f64; 3])],
    before: Option<&Seen>,
    seen: &Seen,
) -> Plot {
    let title = if axes[1] == 2 { "Seen from the side" } else { "Seen from above" };
    let name = |axis: usize| format!("{} [m]", AXES[axis]);
    let mut plot = Plot::paths(title).x(name(axes[0])).y(name(axes[1]));
    let along = |seen: &Seen, path| seen.along(path).map(|p| [p[axes[0]], p[axes[1]]]).collect::<Vec<_>>();
    for path in evenly(seen.paths.len(), MOST_PATHS).into_iter().map(|i| &seen.paths[i]) {
        let (name, now) = (&path.name, along(seen, path));
        if let Some(before) = before.filter(|_| seen.paths.len() <= 3) {
            let before = along(before, path);
            // What does not move is drawn once.
            if before != now {
                plot = plot.path(format!("{name}, before"), &before);
            }
        }
        plot = plot.path(name, &now);
    }
    for (name, target) in targets {
        plot = plot.target(name, [target[axes[0]], target[axes[1]]]);
    }
    match scene.ground {
        Some(ground) if axes[1] == 2 => plot.ground(ground.height),
        Some(_) | None => plot,
    }
}

/// Motion along one line: the coordinate along it over time.
fn line(targets: &[(String, [f64; 3])], before: Option<&Seen>, seen: &Seen) -> Plot {
    let extents = extents(seen);
    let axis = (0..3).max_by(|a, b| extents[*a].total_cmp(&extents[*b])).unwrap_or(2);
    let mut plot = Plot::line("Motion").x("time [s]").y(format!("{} [m]", AXES[axis]));
    let curve = |seen: &Seen, path| seen.along(path).map(|p| p[axis]).collect::<Vec<_>>();
    for path in evenly(seen.paths.len(), MOST_PATHS).into_iter().map(|i| &seen.paths[i]) {
        let (name, values) = (&path.name, curve(seen, path));
        if let Some(before) = before.filter(|_| seen.paths.len() <= 3) {
            let values_before = curve(before, path);
            if values_before != values {
                plot = plot.series(format!("{name}, before"), &before.times, &values_before);
            }
        }
        plot = plot.series(name, &seen.times, &values);
    }
    let end = seen.times.last().copied().unwrap_or(0.0);
    targets.iter().fold(plot, |plot, (name, target)| plot.target(name, [end, target[axis]]))
}

/// How far hinges turn and slides move.
fn joints(s: &mut Section, problem: &Problem, before: Option<&Recorded>, recorded: &Recorded) {
    let (scene, layout) = (&problem.description().scene, problem.model().state_layout());
    for (kind, title, unit) in
        [(JointKind::Hinge, "Positions of hinges", "rad"), (JointKind::Slide, "Positions of slides", "m")]
    {
        let of_kind = |(r, robot): (usize, &pullback_scene::Robot)| {
            let joints = robot.joints.iter().enumerate().filter(|(_, joint)| joint.kind == kind);
            joints.map(|(j, _)| scene.joint_name(r, j)).collect::<Vec<_>>()
        };
        let names: Vec<String> = scene.robots.iter().enumerate().flat_map(of_kind).collect();
        if names.is_empty() {
            continue;
        }
        let mut plot = Plot::line(title).x("time [s]").y(format!("position [{unit}]"));
        for name in evenly(names.len(), MOST_PLOTS).into_iter().map(|i| &names[i]) {
            let Ok(range) = layout.find(&format!("{name}.position")) else { continue };
            let curve = |recorded: &Recorded| -> (Vec<f64>, Vec<f64>) {
                recorded.shown().map(|t| (recorded.times[t], recorded.state(t)[range.start])).unzip()
            };
            let (times, values) = curve(recorded);
            if let Some((times, before)) = before.filter(|_| names.len() <= 3).map(curve)
                && before != values
            {
                plot = plot.series(format!("{name}, before"), &times, &before);
            }
            plot = plot.series(name, &times, &values);
        }
        s.plot(&plot);
        tell_chosen(s, names.len(), MOST_PLOTS, "joints");
    }
}

/// What the actuators do.
fn controls(s: &mut Section, problem: &Problem, recorded: &Recorded) {
    let n = recorded.control_len;
    // A robot whose motors rest has nothing to show.
    if recorded.controls.iter().all(|u| *u == 0.0) {
        return;
    }
    let layout = problem.model().control_layout();
    // Controls of actuators are forces; what those of motors are, their gains say.
    let mut units = layout.parts().map(|part| part.quantity().unit.clone());
    let first = units.next().unwrap_or_default();
    let label = match (first.as_str(), units.all(|unit| unit == first)) {
        ("N", true) => "force [N]".to_owned(),
        ("-", true) | (_, false) => "control".to_owned(),
        (unit, true) => format!("control [{unit}]"),
    };
    let steps = recorded.controls.len() / n;
    let times = &recorded.times[..steps];
    let mut plot = Plot::line("Controls").x("time [s]").y(label);
    for i in evenly(n, MOST_PLOTS) {
        let values: Vec<f64> = (0..steps).map(|step| recorded.controls[step * n + i]).collect();
        plot = plot.series(layout.name_of(i), times, &values);
    }
    s.plot(&plot);
    tell_chosen(s, n, MOST_PLOTS, "controls");
}

/// How hard things touch, and how deep they are in each other.
fn contacts(s: &mut Section, recorded: &Recorded) {
    let steps = recorded.len() - 1;
    for warning in recorded.warnings() {
        s.text(&format!("Take care: {warning}."));
    }
    if recorded.contacts.iter().take(steps).all(|it| it.count == 0.0) {
        return;
    }
    let shown: Vec<usize> = recorded.shown().filter(|t| *t < steps).collect();
    let times: Vec<f64> = shown.iter().map(|t| recorded.times[*t]).collect();
    let of = |number: fn(&Touching) -> f64| -> Vec<f64> {
        shown.iter().map(|t| number(&recorded.contacts[*t])).collect()
    };
    let plot = Plot::line("Normal force of all contacts").x("time [s]").y("force [N]");
    s.plot(&plot.series("normal force", &times, &of(|it| it.normal)));
    let plot = Plot::line("Penetration").x("time [s]").y("root of the sum of squared depths [m]");
    s.plot(&plot.series("penetration", &times, &of(|it| it.penetration)));
}

fn playback(s: &mut Section, scene: &Scene, targets: &[(String, [f64; 3])], seen: &Seen) {
    let springs = scene.springs.iter().flat_map(|springs| springs.ends.clone());
    let lines = springs.chain(solids::bones(scene, seen)).collect();
    s.playback(&Playback {
        ground: scene.ground.map(|ground| ground.height).or_else(|| solids::floor(scene)),
        solids: solids::all(scene),
        targets: targets.iter().map(|(_, target)| *target).collect(),
        lines,
        times: seen.times.clone(),
        positions: seen.points.clone(),
        names: seen.names.clone(),
        bodies: seen.bodies.clone(),
        orientations: seen.orientations.clone(),
        surfaces: soft::surfaces(scene),
        inner: soft::inner(scene),
        ..Playback::default()
    });
}
