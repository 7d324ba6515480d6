//! `cargo xtask study soft`: random problems with soft bodies, and bodies that are driven to marks.

use super::{Study, marked};
use crate::process;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

pub const STUDY: Study = Study { name: "soft", option: "--instances", usual: INSTANCES, least: 1, run };

const DOCUMENT: &str = "docs/soft-tasks.md";

/// Of each kind.
const INSTANCES: usize = 20;

/// What lines begin with; after it the task and its figures, divided by `|`.
const MARK: &str = "soft|";

fn run(workspace: &Workspace, instances: usize) -> Result<()> {
    let mut cargo = process::cargo();
    cargo.args(["test", "--release", "--package", "pullback-solve", "--test", "soft_tasks", "--"]);
    // One after the other, so that times can be compared.
    cargo.args(["--ignored", "--nocapture", "--test-threads", "1"]);
    let printed =
        process::output(cargo.env("SOFT_INSTANCES", instances.to_string()).current_dir(&workspace.root))?;
    std::fs::write(workspace.root.join(DOCUMENT), document(&marked(&printed, MARK))?)?;
    println!("{DOCUMENT} is written");
    Ok(())
}

/// Lines of figures by the task that they are of.
struct Figures<'a>(BTreeMap<&'a str, Vec<&'a [String]>>);

impl<'a> Figures<'a> {
    fn new(rows: &'a [Vec<String>]) -> Self {
        let mut tasks: BTreeMap<&str, Vec<&[String]>> = BTreeMap::new();
        for (task, words) in rows.iter().filter_map(|row| row.split_first()) {
            tasks.entry(task).or_default().push(words);
        }
        Self(tasks)
    }

    fn rows(&self, task: &str) -> Result<&[&'a [String]]> {
        self.0
            .get(task)
            .map(Vec::as_slice)
            .with_context(|| format!("the tests printed no figures of `{task}`"))
    }

    /// A column of numbers.
    fn column(&self, task: &str, column: usize) -> Result<Vec<f64>> {
        let number = |row: &&[String]| match row.get(column) {
            Some(word) => Ok(word.parse()?),
            None => bail!("a line of `{task}` has {} words: {row:?}", row.len()),
        };
        self.rows(task)?.iter().map(number).collect()
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn worst(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}

/// What is sought: where its error stands in a line of figures, where the evaluations do, and what the error is to be below.
struct Sought {
    what: &'static str,
    task: &'static str,
    error: usize,
    evaluations: usize,
    asked: &'static str,
}

const SOUGHT: [Sought; 8] = [
    Sought { what: "μ of a beam", task: "lame", error: 1, evaluations: 3, asked: "0.25 %" },
    Sought { what: "λ of a beam", task: "lame", error: 2, evaluations: 3, asked: "0.25 %" },
    Sought { what: "μ, with noise of 1 mm", task: "lame-noisy", error: 1, evaluations: 3, asked: "" },
    Sought { what: "λ, with noise of 1 mm", task: "lame-noisy", error: 2, evaluations: 3, asked: "" },
    Sought {
        what: "masses of a ball's points, their mean error",
        task: "mass",
        error: 1,
        evaluations: 3,
        asked: "3 %",
    },
    Sought {
        what: "masses of a ball's points, the worst of 85",
        task: "mass",
        error: 2,
        evaluations: 3,
        asked: "",
    },
    Sought {
        what: "velocities of a cloth's points",
        task: "velocities",
        error: 1,
        evaluations: 2,
        asked: "2 %",
    },
    Sought { what: "velocity of a throw to a target", task: "throw", error: 1, evaluations: 4, asked: "2 %" },
];

fn document(rows: &[Vec<String>]) -> Result<String> {
    let figures = Figures::new(rows);
    let mut text = INTRODUCTION.to_owned();
    for Sought { what, task, error, evaluations, asked } in SOUGHT {
        let errors = figures.column(task, error)?;
        let evaluated = figures.column(task, evaluations)?;
        let seconds = figures.column(task, evaluations + 1)?;
        text += &format!(
            "| {what} | {} | {:.1e} | {:.1e} | {asked} | {:.1} | {} | {:.1} |\n",
            errors.len(),
            mean(&errors),
            worst(&errors),
            mean(&evaluated),
            worst(&evaluated),
            mean(&seconds),
        );
    }
    let (triangles, distances) = (figures.column("throw", 3)?, figures.column("throw", 2)?);
    let least = triangles.iter().copied().fold(f64::INFINITY, f64::min);
    text += &format!(
        "\nThrown cloths have {least} to {} triangles, and their points end within {:.1e} m of where they should, in root mean square.\n",
        worst(&triangles),
        worst(&distances)
    );
    text += PROMISES;
    for row in figures.rows("promise")? {
        text += &format!("| `{}.toml` | {} |\n", row[0], row[1..].join(" | "));
    }
    text += WALKER;
    text += &table(&figures, "walker")?;
    text += GEAR;
    text += &table(&figures, "gear")?;
    let squared = (2..6).map(|column| {
        let squares: Vec<f64> = figures.column("gear", column)?.iter().map(|d| d * d / 3.0).collect();
        Ok(format!("{:.4}", mean(&squares)))
    });
    let squared = squared.collect::<Result<Vec<String>>>()?;
    text += &format!("| mean of d²/3 [m²] | {} | |\n", squared.join(" | "));
    text += "| the paper | 4.47 | 0.23 | 0.118 | 0.082 | |\n";
    Ok(text)
}

/// Distances from marks, one row for each, and their mean.
fn table(figures: &Figures<'_>, task: &str) -> Result<String> {
    let rows = figures.rows(task)?;
    let mut text = String::new();
    for row in rows {
        text += &format!("| {} |\n", row[1..].join(" | "));
    }
    let last = rows.first().map_or(0, |row| row.len());
    let means = (2..last).map(|column| Ok(format!("{:.4}", mean(&figures.column(task, column)?))));
    let mut means = means.collect::<Result<Vec<String>>>()?;
    if let Some(seconds) = means.last_mut() {
        *seconds = format!("{:.1}", seconds.parse::<f64>()?);
    }
    text += &format!("| mean | {} |\n", means.join(" | "));
    Ok(text)
}

const INTRODUCTION: &str = include_str!("soft/introduction.md");
const PROMISES: &str = include_str!("soft/promises.md");
const WALKER: &str = include_str!("soft/walker.md");
const GEAR: &str = include_str!("soft/gear.md");

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "test a ... soft|lame|0|1e-6|2e-6|9|0.5\nsoft|lame|1|3e-6|4e-6|11|1.5\nnoise\n\
                           soft|lame-noisy|0|1e-3|2e-3|9|0.5\nsoft|mass|0|1e-5|5e-5|6|20\nsoft|velocities|0|1e-4|60|8\n\
                           soft|throw|0|1e-7|2e-5|800|8|1.2\nsoft|promise|gear|9e-3|17|40\n\
                           soft|walker|0|1.00|1.0|0.4|0.2|0.1|0.01|20\nsoft|gear|0|2.50|3|0.3|0.2|0.1|50\n";

    #[test]
    fn means_and_the_worst_are_shown() {
        let text = document(&marked(PRINTED, MARK)).expect("a document");
        assert!(text.contains("| μ of a beam | 2 | 2.0e-6 | 3.0e-6 | 0.25 % | 10.0 | 11 | 1.0 |"), "{text}");
        assert!(text.contains("| `gear.toml` | 9e-3 | 17 | 40 |"), "{text}");
        assert!(text.contains("| mean | 3.0000 | 0.3000 | 0.2000 | 0.1000 | 50.0 |"), "{text}");
        assert!(text.contains("| mean of d²/3 [m²] | 3.0000 | 0.0300 | 0.0133 | 0.0033 | |"), "{text}");
    }

    #[test]
    fn figures_that_are_missing_are_an_error() {
        let text = PRINTED.replace("soft|mass|", "soft|moss|");
        let error = document(&marked(&text, MARK)).expect_err("no masses");
        assert_eq!(error.to_string(), "the tests printed no figures of `mass`");
    }
}
