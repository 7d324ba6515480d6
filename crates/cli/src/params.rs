//! `pullback params`: everything that has a name.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use pullback_engine::names::Layout;
use pullback_report::human;
use pullback_solve::Problem;

use crate::folder::Refused;
use crate::load::{self, Reading, Timing};
use crate::{DONE, say};

#[derive(Args)]
pub struct Arguments {
    /// The problem or scene, a TOML file, or a robot, a URDF or MJCF file
    file: PathBuf,
    /// Only names that match this glob: "*.mass"
    pattern: Option<String>,
    #[command(flatten)]
    reading: Reading,
}

pub fn run(arguments: &Arguments) -> Result<u8> {
    let problem = Problem::new(load::simulation(&arguments.file, &arguments.reading, &Timing::default())?)?;
    let model = problem.model();
    let pattern = arguments.pattern.as_deref().unwrap_or("*");
    let mut rows = vec![["name", "value", "unit", "range", "what it is"].map(str::to_owned).to_vec()];
    list(&mut rows, model.params_layout(), model.params().values(), "", pattern);
    list(&mut rows, model.state_layout(), model.state().values(), "initial.", pattern);
    list(&mut rows, model.control_layout(), &model.controls(1), "control.", pattern);
    if rows.len() == 1 {
        let what = format!("no name matches `{pattern}`");
        let fix = format!(
            "`pullback params {}` lists all names; `*` stands for anything",
            arguments.file.display()
        );
        return Err(Refused::new(&arguments.file, what, fix).into());
    }
    let widths: Vec<usize> =
        (0..5).map(|c| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0)).collect();
    for row in rows {
        let cell = |(c, text): (usize, &String)| format!("{text:<width$}", width = widths[c]);
        let line: Vec<String> = row.iter().enumerate().map(cell).collect();
        say!("{}", line.join("  ").trim_end());
    }
    Ok(DONE)
}

fn list(rows: &mut Vec<Vec<String>>, layout: &Layout, values: &[f64], prefix: &str, pattern: &str) {
    for part in layout.parts() {
        let name = format!("{prefix}{}", part.name());
        if !pullback_scene::words::glob(pattern, &name) {
            continue;
        }
        let numbers: Vec<String> = values[part.range()].iter().map(|x| human(*x)).collect();
        let value = match &numbers[..] {
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        };
        let q = part.quantity();
        let range = match (q.lower, q.upper) {
            (f64::MIN_POSITIVE, f64::INFINITY) => "> 0".to_owned(),
            (f64::NEG_INFINITY, f64::INFINITY) => String::new(),
            (lower, f64::INFINITY) => format!(">= {}", human(lower)),
            (f64::NEG_INFINITY, upper) => format!("<= {}", human(upper)),
            (lower, upper) => format!("{} to {}", human(lower), human(upper)),
        };
        rows.push(vec![name, value, q.unit.clone(), range, q.doc.clone()]);
    }
}
