//! The page of a run: what was asked, what was found, and plots of it.

use std::io::Write;

use anyhow::Result;
use pullback_report::{Cell, Change, Playback, Plot, Report, RunFolder, Section, Table, human};
use pullback_scene::{LossKind, Scene};
use pullback_solve::Problem;
use pullback_solve::check::{Growth, Health};
use pullback_solve::optimise::Run;

use crate::audit::TOLERANCE;
use crate::simulate::{self, Recorded};
use crate::solution;

/// The page in a run folder.
pub const FILE: &str = "report.html";
/// More particles than this are not drawn as paths of their own.
const MOST_PATHS: usize = 12;

/// The page of `pullback solve`.
pub fn write_solved(
    folder: &RunFolder,
    problem: &mut Problem,
    run: &Run,
    comparison: Option<&(String, Run)>,
    recorded: &Recorded,
) -> Result<()> {
    let (z, best) = run.best();
    let start = problem.variables().start();
    let before = simulate::record_at(problem, &start)?;
    let norms = problem.full_gradient(z)?.norms.clone();
    let iterations = run.history().last().map_or(0, |record| record.iteration);
    let counts = run.counts();
    let stopped = run.stopped().map_or(String::new(), ToString::to_string);
    let report = Report::new(problem.model().name())
        .summary(&[
            ("method", run.method().name().to_owned()),
            ("loss", human(best)),
            ("iterations", iterations.to_string()),
            (
                "evaluations",
                format!(
                    "{} values, {} gradients, {} Jacobians",
                    counts.values, counts.gradients, counts.jacobians
                ),
            ),
            ("stopped", stopped),
        ])
        .section("Loss", |s| {
            s.text(&problem.description().scene.description);
            s.plot(&loss_plot(run, comparison));
            compare(s, run, comparison);
        })
        .section("What changed", |s| {
            let values = problem.variables().values(z);
            let change = |(i, after): (usize, &f64)| {
                let (name, unit) = problem.variables().name(i);
                Change::new(format!("{name} [{unit}]"), problem.variables().nominal(i), *after)
            };
            let changes: Vec<Change> = values.iter().enumerate().map(change).collect();
            s.changes(&changes);
        })
        .section("Motion", |s| motion(s, &problem.description().scene, problem, Some(&before), recorded))
        .section("Gradients", |s| growth(s, problem, &norms))
        .file(simulate::TRAJECTORY, None, "times, positions, velocities and controls, for NumPy")
        .file(solution::HISTORY, None, "every iteration")
        .file(solution::FILE, None, "the variables that were found");
    write(folder, &report)
}

/// The page of `pullback simulate`.
pub fn write_simulated(folder: &RunFolder, problem: &mut Problem, recorded: &Recorded) -> Result<()> {
    let scene = &problem.description().scene;
    let report = Report::new(problem.model().name())
        .summary(&facts(scene))
        .section("Motion", |s| {
            s.text(&scene.description);
            motion(s, scene, problem, None, recorded);
        })
        .file(simulate::TRAJECTORY, None, "times, positions, velocities and controls, for NumPy");
    write(folder, &report)
}

/// The page of `pullback check`.
pub fn write_checked(folder: &RunFolder, problem: &mut Problem, health: &Health) -> Result<()> {
    let scene = &problem.description().scene;
    let report = Report::new(format!("{}: check", problem.model().name()))
        .summary(&facts(scene))
        .section("Gradient against finite differences", |s| {
            let mut table = Table::new(["variable", "derivative", "difference", "relative error", "verdict"]);
            for audit in &health.audit {
                let verdict = if audit.error <= TOLERANCE { "right" } else { "WRONG" };
                table.row([
                    Cell::from(format!("{} [{}]", audit.name, audit.unit)),
                    Cell::from(audit.derivative),
                    Cell::from(audit.difference),
                    Cell::from(audit.error),
                    Cell::from(verdict),
                ]);
            }
            s.table(&table);
        })
        .section("Energy", |s| {
            let e = &health.energy;
            let what =
                if e.conserved { "The exact motion keeps it." } else { "These forces do not keep it." };
            s.text(&format!("{what} It changes by {} J, {:.2e} of its scale.", human(e.drift), e.relative));
            let total: Vec<f64> = e.kinetic.iter().zip(&e.potential).map(|(k, p)| k + p).collect();
            let plot = Plot::line("Energy").x("time [s]").y("energy [J]");
            let plot =
                plot.series("kinetic", &e.times, &e.kinetic).series("potential", &e.times, &e.potential);
            s.plot(&plot.series("total", &e.times, &total));
        })
        .section("Gradients", |s| growth(s, problem, &health.norms));
    write(folder, &report)
}

fn write(folder: &RunFolder, report: &Report) -> Result<()> {
    let html = report.html();
    folder.write(FILE, |out| out.write_all(html.as_bytes()))?;
    Ok(())
}

fn facts(scene: &Scene) -> Vec<(&'static str, String)> {
    let s = &scene.simulation;
    vec![
        ("integrator", s.integrator.name().to_owned()),
        ("steps", format!("{} of {} s", s.steps, human(s.dt))),
        ("particles", scene.particle_count().to_string()),
    ]
}

/// Loss against the number of times the world was run.
fn loss_plot(run: &Run, comparison: Option<&(String, Run)>) -> Plot {
    let series = |run: &Run| -> (Vec<f64>, Vec<f64>) {
        let runs = |r: &pullback_solve::optimise::Record| {
            (r.counts.values + r.counts.gradients + r.counts.jacobians) as f64
        };
        run.history().iter().map(|r| (runs(r), r.best)).unzip()
    };
    let (x, y) = series(run);
    let mut plot =
        Plot::line("Loss").x("evaluations").y("best loss").log_y().series(run.method().name(), &x, &y);
    if let Some((name, other)) = comparison {
        let (x, y) = series(other);
        plot = plot.log_x().series(name, &x, &y);
    }
    plot
}

fn compare(s: &mut Section, run: &Run, comparison: Option<&(String, Run)>) {
    let Some((name, other)) = comparison else { return };
    let mut table =
        Table::new(["method", "loss", "iterations", "values", "gradients", "Jacobians", "stopped"]);
    for (name, run) in [(run.method().name(), run), (name, other)] {
        let c = run.counts();
        table.row([
            Cell::from(name),
            Cell::from(run.best().1),
            Cell::from(run.history().last().map_or(0, |record| record.iteration) as i64),
            Cell::from(c.values as i64),
            Cell::from(c.gradients as i64),
            Cell::from(c.jacobians as i64),
            Cell::from(run.stopped().map_or("at its limit of evaluations".to_owned(), ToString::to_string)),
        ]);
    }
    s.table(&table);
}

/// Where the particles go: from the side, from above, and in three dimensions.
fn motion(s: &mut Section, scene: &Scene, problem: &Problem, before: Option<&Recorded>, recorded: &Recorded) {
    let targets: Vec<(String, [f64; 3])> = problem
        .description()
        .losses
        .iter()
        .filter_map(|term| match &term.kind {
            LossKind::Position { of, target, .. } => {
                Some((format!("target of {}", scene.particle_name(*of)), *target))
            }
            LossKind::Velocity { .. } | LossKind::Trajectory { .. } | LossKind::Effort { .. } => None,
        })
        .collect();
    for (title, axes) in [("Seen from the side", [0, 2]), ("Seen from above", [0, 1])] {
        let names = ["x [m]", "y [m]", "z [m]"];
        let mut plot = Plot::paths(title).x(names[axes[0]]).y(names[axes[1]]);
        let path = |recorded: &Recorded, particle: usize| -> Vec<[f64; 2]> {
            recorded
                .shown()
                .map(|t| recorded.position(t, particle))
                .map(|p| [p[axes[0]], p[axes[1]]])
                .collect()
        };
        for particle in (0..recorded.particles).take(MOST_PATHS) {
            let name = scene.particle_name(particle);
            if let Some(before) = before.filter(|_| recorded.particles <= 3) {
                plot = plot.path(format!("{name}, before"), &path(before, particle));
            }
            plot = plot.path(name, &path(recorded, particle));
        }
        for (name, target) in &targets {
            plot = plot.target(name, [target[axes[0]], target[axes[1]]]);
        }
        if let Some(ground) = scene.ground.filter(|_| axes[1] == 2) {
            plot = plot.ground(ground.height);
        }
        s.plot(&plot);
    }
    if recorded.particles > MOST_PATHS {
        s.text(&format!("The first {MOST_PATHS} of {} particles.", recorded.particles));
    }
    let frame =
        |t: usize| (0..recorded.particles).map(|p| recorded.position(t, p).map(|c| c as f32)).collect();
    s.playback(&Playback {
        times: recorded.shown().map(|t| recorded.times[t]).collect(),
        positions: recorded.shown().map(frame).collect(),
        lines: scene.springs.iter().flat_map(|springs| springs.ends.clone()).collect(),
        ground: scene.ground.map(|ground| ground.height),
        targets: targets.into_iter().map(|(_, target)| target).collect(),
        names: (0..recorded.particles).map(|p| scene.particle_name(p)).collect(),
        ..Playback::default()
    });
}

/// How the gradient grows on its way back.
fn growth(s: &mut Section, problem: &Problem, norms: &[f64]) {
    let dt = problem.description().scene.simulation.dt;
    let times: Vec<f64> = (0..norms.len()).map(|t| t as f64 * dt).collect();
    s.text(&format!("On their way back through time: {}.", Growth::of(norms, dt)));
    let plot = Plot::line("Norm of the gradient by the state").x("time [s]").y("norm").log_y();
    s.plot(&plot.series("norm", &times, norms));
}
