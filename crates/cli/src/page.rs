//! The page of a run: what was asked, what was found, and plots of it.

mod motion;

use std::io::Write;

use anyhow::Result;
use pullback_report::{Cell, Change, Plot, Report, RunFolder, Section, Table, human};
use pullback_scene::Scene;
use pullback_solve::Problem;
use pullback_solve::check::{Growth, Health};
use pullback_solve::optimise::Run;

use crate::quality::{self, Quality};
use crate::simulate::{self, Recorded};
use crate::solution;
use crate::solve::Comparison;

/// The page in a run folder.
pub const FILE: &str = "report.html";

/// The page of `pullback solve`.
pub fn write_solved(
    folder: &RunFolder,
    problem: &mut Problem,
    run: &Run,
    comparison: Option<&Comparison>,
    recorded: &Recorded,
    quality: &Quality,
) -> Result<()> {
    let (z, best) = run.best();
    let start = problem.variables().start();
    let before = simulate::record_at(problem, &start)?;
    let (norms, grows) = (problem.full_gradient(z)?.norms.clone(), Growth::at(problem, z)?);
    let parts = parts(problem, &start, z)?;
    let iterations = run.history().last().map_or(0, |record| record.iteration);
    let mut moved = Ok(());
    let report = Report::new(problem.model().name())
        .summary(&[
            ("method", run.method().name().to_owned()),
            ("loss", human(best)),
            ("iterations", iterations.to_string()),
            ("evaluations", asked(run)),
            ("found", counted(problem.variables().len(), "number")),
        ])
        .section("Loss", |s| {
            s.text(&problem.description().scene.description);
            s.plot(&loss_plot(run, comparison));
            match (run.stopped(), comparison) {
                (_, Some(comparison)) => s.table(&compared(run, comparison)),
                (Some(reason), None) => s.text(&reason.to_string()),
                (None, None) => s,
            };
            s.table(&parts);
        })
        .section("What changed", |s| {
            changes(s, problem, &start, z);
            errors(s, problem, z, quality);
        })
        .section("Motion", |s| moved = motion::show(s, problem, Some(&before), recorded))
        .section("Gradients", |s| growth(s, problem, &grows, &norms));
    moved?;
    let files = [
        (simulate::TRAJECTORY, TRAJECTORY_HOLDS),
        (solution::HISTORY, "every iteration"),
        (solution::FILE, "the variables that were found"),
    ];
    let report = files.into_iter().fold(report, |report, (name, holds)| beside(report, folder, name, holds));
    write(folder, &report)
}

/// The page of `pullback simulate`.
pub fn write_simulated(folder: &RunFolder, problem: &mut Problem, recorded: &Recorded) -> Result<()> {
    let scene = &problem.description().scene;
    let mut moved = Ok(());
    let report = Report::new(problem.model().name()).summary(&facts(scene)).section("Motion", |s| {
        s.text(&scene.description);
        moved = motion::show(s, problem, None, recorded);
    });
    moved?;
    write(folder, &beside(report, folder, simulate::TRAJECTORY, TRAJECTORY_HOLDS))
}

/// A page that plays states back which were computed elsewhere, with plots of them: `states` one after the other, a step of `problem`
/// apart, at these params. `controls`, of all steps, may be empty.
pub fn played(problem: &Problem, states: &[f64], controls: &[f64], params: &[f64]) -> Result<String> {
    let scene = &problem.description().scene;
    let mut recorded = Recorded::given(problem, states, controls, params);
    recorded.touch(problem)?;
    let steps = recorded.len() - 1;
    let (mut moved, mut facts) = (Ok(()), facts(scene));
    for (what, fact) in &mut facts {
        if *what == "time" {
            *fact = format!("{} of {} s", counted(steps, "step"), human(scene.simulation.dt));
        }
    }
    let report = Report::new(problem.model().name()).summary(&facts).section("Motion", |s| {
        s.text(&scene.description);
        moved = motion::show(s, problem, None, &recorded);
    });
    moved?;
    Ok(report.html())
}

/// The page of `pullback check`.
pub fn write_checked(folder: &RunFolder, problem: &mut Problem, health: &Health) -> Result<()> {
    let scene = &problem.description().scene;
    let report = Report::new(format!("{}: check", problem.model().name()))
        .summary(&facts(scene))
        .section("Gradient against finite differences", |s| {
            let mut table = Table::new(["variable", "derivative", "difference", "relative error", "verdict"]);
            for audit in &health.audit {
                table.row([
                    Cell::from(labelled(&audit.name, &audit.unit)),
                    Cell::from(audit.derivative),
                    Cell::from(audit.difference),
                    Cell::from(audit.error),
                    Cell::from(audit.agreement().to_string()),
                ]);
            }
            s.table(&table);
            if health.is_flat() {
                s.text(&format!("All are exactly 0: {}.", quality::flat(problem)));
            } else {
                s.text(&format!("How far the gradient reaches: {}.", health.reach));
            }
            for (name, why) in &health.zeros {
                s.text(&format!("{name} has no effect: {why}."));
            }
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
        .section("Gradients", |s| growth(s, problem, &health.growth, &health.norms));
    write(folder, &report)
}

fn write(folder: &RunFolder, report: &Report) -> Result<()> {
    let html = report.html();
    folder.write(FILE, |out| out.write_all(html.as_bytes()))?;
    Ok(())
}

const TRAJECTORY_HOLDS: &str = "times, states by their names and controls, for NumPy";

/// The page with a file that lies beside it.
fn beside(report: Report, folder: &RunFolder, name: &str, holds: &str) -> Report {
    let bytes = folder.path().join(name).metadata().map(|data| data.len()).ok();
    report.file(name, bytes, holds)
}

/// 1 number, 2 numbers.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What was asked of the objective, and how often.
fn asked(run: &Run) -> String {
    let c = run.counts();
    let counts = [(c.values, "value"), (c.gradients, "gradient"), (c.jacobians, "Jacobian")];
    let asked = counts.into_iter().filter(|(count, _)| *count > 0);
    asked.map(|(count, what)| counted(count, what)).collect::<Vec<_>>().join(", ")
}

/// A name with its unit; controls of motors have none that anyone could name.
fn labelled(name: &str, unit: &str) -> String {
    if unit == "-" { name.to_owned() } else { format!("{name} [{unit}]") }
}

fn facts(scene: &Scene) -> Vec<(&'static str, String)> {
    let s = &scene.simulation;
    let bodies = scene.robots.iter().map(|robot| robot.bodies.len()).sum();
    let things = [("particles", scene.particle_count()), ("bodies", bodies)];
    [
        ("integrator", s.integrator.name().to_owned()),
        ("time", format!("{} of {} s", counted(s.steps, "step"), human(s.dt))),
    ]
    .into_iter()
    .chain(things.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| (what, count.to_string())))
    .collect()
}

/// Loss against the number of times the world was run.
fn loss_plot(run: &Run, comparison: Option<&Comparison>) -> Plot {
    let series = |run: &Run| -> (Vec<f64>, Vec<f64>) {
        let runs = |r: &pullback_solve::optimise::Record| {
            (r.counts.values + r.counts.gradients + r.counts.jacobians) as f64
        };
        run.history().iter().map(|r| (runs(r), r.best)).unzip()
    };
    let (x, y) = series(run);
    let mut plot = Plot::line("Loss")
        .x("evaluations of the loss, its gradient or its Jacobian")
        .y("best loss")
        .log_y()
        .series(run.method().name(), &x, &y);
    if let Some(Comparison { name, run: other, .. }) = comparison {
        let (x, y) = series(other);
        plot = plot.log_x().series(name, &x, &y);
    }
    plot
}

/// Both methods, and what each of them took. Not the time: a page is the same for a run that was killed and went on.
fn compared(run: &Run, other: &Comparison) -> Table {
    let mut table =
        Table::new(["method", "loss", "iterations", "values", "gradients", "Jacobians", "stopped"]);
    for (name, run) in [(run.method().name(), run), (other.name.as_str(), &other.run)] {
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
    table
}

/// More controls than this are plotted, and not listed.
const MOST_CONTROLS: usize = 30;

/// Each variable before and after.
fn changes(s: &mut Section, problem: &Problem, start: &[f64], z: &[f64]) {
    let variables = problem.variables();
    let (before, after) = (variables.values(start), variables.values(z));
    let is_control = |i: &usize| variables.is_control(*i);
    let controls = (0..variables.len()).filter(is_control).count();
    let listed = (0..variables.len()).filter(|i| controls <= MOST_CONTROLS || !is_control(i));
    let change = |i: usize| {
        let (name, unit) = variables.name(i);
        Change::new(labelled(name, unit), before[i], after[i])
    };
    let changes: Vec<Change> = listed.map(change).collect();
    if !changes.is_empty() {
        s.changes(&changes);
    }
    if controls > MOST_CONTROLS {
        s.text(&format!("{controls} numbers of controls: see their plot, and {}.", solution::FILE));
    }
}

/// How well measurements determine what was found, and what else to know.
fn errors(s: &mut Section, problem: &Problem, z: &[f64], quality: &Quality) {
    if let Some(errors) = &quality.errors {
        let mut table = Table::new(["fitted", "value", "standard error"]);
        for (i, value) in problem.variables().values(z).into_iter().enumerate() {
            let (name, unit) = problem.variables().name(i);
            table.row([Cell::from(labelled(name, unit)), Cell::from(value), Cell::from(errors[i])]);
        }
        s.table(&table);
    }
    quality.notes.iter().for_each(|note| {
        s.text(&format!("Note: {note}."));
    });
}

/// What each part of the loss comes to, before and after.
fn parts(problem: &mut Problem, start: &[f64], z: &[f64]) -> Result<Table> {
    let names: Vec<String> = problem.losses().names().map(str::to_owned).collect();
    let (before, after) = (problem.parts(start)?, problem.parts(z)?);
    let mut table = Table::new(["part of the loss", "before", "after"]);
    for (name, (before, after)) in names.iter().zip(before.into_iter().zip(after)) {
        table.row([Cell::from(name.as_str()), Cell::from(before), Cell::from(after)]);
    }
    Ok(table)
}

/// How the gradient grows on its way back.
fn growth(s: &mut Section, problem: &Problem, growth: &Growth, norms: &[f64]) {
    let dt = problem.description().scene.simulation.dt;
    let times: Vec<f64> = (0..norms.len()).map(|t| t as f64 * dt).collect();
    s.text(&format!("On their way back through time: {growth}."));
    let plot = Plot::line("Norm of the gradient by the state").x("time [s]").y("norm").log_y();
    let plot = plot.series("of the loss", &times, norms);
    s.plot(&plot.series("of its last measurement", &times, &growth.norms));
    s.text(
        "The rate is that of the last measurement alone, for a state that is not held in place: what is measured on the \
         way hides it. A norm that falls to the left means that early states hardly matter, one that rises that they \
         matter more than anyone can know them.",
    );
}
