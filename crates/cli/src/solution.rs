//! The solution as TOML, and the history as CSV.

use std::io::Write;

use anyhow::Result;
use pullback_report::{Cell, Csv, RunFolder};
use pullback_solve::Problem;
use pullback_solve::optimise::Run;

use crate::quality::Quality;

/// The solution in a run folder.
pub const FILE: &str = "solution.toml";
/// The history in a run folder.
pub const HISTORY: &str = "history.csv";

/// Each iteration: values, gradients and Jacobians so far, loss, best, gradient norm, step.
pub fn write_history(folder: &RunFolder, run: &Run) -> Result<()> {
    folder.write(HISTORY, |out| -> std::io::Result<()> {
        let columns =
            ["iteration", "values", "gradients", "jacobians", "loss", "best", "gradient_norm", "step"];
        let mut csv = Csv::new(out, &columns)?;
        for record in run.history() {
            let c = record.counts;
            csv.row([
                Cell::from(record.iteration as i64),
                Cell::from(c.values as i64),
                Cell::from(c.gradients as i64),
                Cell::from(c.jacobians as i64),
                Cell::from(record.value),
                Cell::from(record.best),
                record.gradient_norm.map_or(Cell::from(""), Cell::from),
                Cell::from(record.step),
            ])?;
        }
        Ok(())
    })?;
    Ok(())
}

/// What was found: each variable with its value before and after.
pub fn write_solution(folder: &RunFolder, problem: &Problem, run: &Run, quality: &Quality) -> Result<()> {
    let (z, best) = run.best();
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    folder.write(FILE, |out| -> std::io::Result<()> {
        writeln!(out, "# What `pullback solve` found.")?;
        writeln!(out, "problem = {}", text(problem.model().name()))?;
        writeln!(out, "method = {}", text(run.method().name()))?;
        writeln!(out, "loss = {}", number(best))?;
        writeln!(out, "iterations = {}", run.history().last().map_or(0, |record| record.iteration))?;
        let stopped = run.stopped().map_or("not yet".to_owned(), ToString::to_string);
        writeln!(out, "stopped = {}", text(&stopped))?;
        let variables = problem.variables();
        let (values, before) = (variables.values(z), variables.values(&variables.start()));
        for (i, value) in values.into_iter().enumerate() {
            let (name, unit) = variables.name(i);
            writeln!(out, "\n[[variables]]\nname = {}\nunit = {}", text(name), text(unit))?;
            writeln!(out, "value = {}\nbefore = {}", number(value), number(before[i]))?;
            if let Some(errors) = &quality.errors {
                writeln!(out, "standard_error = {}", number(errors[i]))?;
            }
        }
        // The variables of a rotation say how far it is turned; this is what it is.
        for ((name, value), (_, before)) in
            variables.rotations(z).into_iter().zip(variables.rotations(&variables.start()))
        {
            let four = |q: [f64; 4]| q.map(number).join(", ");
            writeln!(out, "\n[[rotations]]\nname = {}", text(name))?;
            writeln!(out, "value = [{}]\nbefore = [{}]", four(value), four(before))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// A float as TOML writes it, to the last bit.
fn number(x: f64) -> String {
    let plain = toml::Value::Float(x).to_string();
    // Rust's shortest text with an exponent is a TOML float as well.
    if plain.len() > 24 { format!("{x:e}") } else { plain }
}
