//! `cargo xtask study gradients`: the gradient matrix, and random states of contact.

use super::{Study, marked};
use crate::process;
use crate::workspace::Workspace;
use anyhow::{Result, bail};
use std::collections::BTreeMap;

pub const STUDY: Study = Study { name: "gradients", option: "--states", usual: STATES, least: 0, run };

const DOCUMENT: &str = "docs/gradients.md";

/// How many random states.
const STATES: usize = 100_000;

/// The tests that print figures.
const TESTS: [&str; 2] = ["agrees_with_differences", "gradients_of_random_states_are_right"];

/// What lines of the gradient matrix, and those of random states, begin with; after it, words divided by `|`.
const MATRIX_MARK: &str = "matrix|";
const STATES_MARK: &str = "states|";

fn run(workspace: &Workspace, states: usize) -> Result<()> {
    let mut cargo = process::cargo();
    // As `cargo xtask test` runs them, so that nothing is compiled once more.
    let tests = if states == 0 { &TESTS[..1] } else { &TESTS[..] };
    cargo.args(["test", "--workspace", "--tests", "--", "--nocapture"]).args(tests);
    let printed = process::output(
        cargo
            .env("CONTACT_STATES", states.to_string())
            .env("EVERY_COMBINATION", "1")
            .current_dir(&workspace.root),
    )?;
    let path = workspace.root.join(DOCUMENT);
    let table = match states {
        0 => kept(&std::fs::read_to_string(&path)?)?,
        _ => table(&marked(&printed, STATES_MARK))?,
    };
    std::fs::write(path, matrix(&marked(&printed, MATRIX_MARK))? + &table)?;
    println!("{DOCUMENT} is written");
    Ok(())
}

/// Of one world: how many numbers it has and how often it was checked, and the worst of all.
struct Worst {
    numbers: usize,
    checks: usize,
    error: f64,
    which: String,
    adjoint: f64,
}

/// The part of the document about random states, as it stands.
fn kept(document: &str) -> Result<String> {
    match document.find(RANDOM) {
        Some(at) => Ok(document[at..].to_owned()),
        None => bail!("{DOCUMENT} has no table of random states to keep: run the study without `--states 0`"),
    }
}

/// The part of the document about random states.
fn table(states: &[Vec<String>]) -> Result<String> {
    if states.is_empty() {
        bail!("the tests of random states printed no figures");
    }
    let row = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
    Ok(RANDOM.to_owned() + &states.iter().map(row).collect::<String>())
}

/// The part of the document about the matrix.
fn matrix(matrix: &[Vec<String>]) -> Result<String> {
    let mut kinds: BTreeMap<&str, Vec<(&str, Worst)>> = BTreeMap::new();
    for row in matrix {
        let [kind, world, scheme, numbers, error, which, adjoint] = &row[..] else {
            bail!("a line of the gradient matrix has {} words: {row:?}", row.len())
        };
        let (numbers, error, adjoint) = (numbers.parse()?, error.parse::<f64>()?, adjoint.parse::<f64>()?);
        let worlds = kinds.entry(kind).or_default();
        let at = worlds.iter().position(|(name, _)| name == world).unwrap_or_else(|| {
            worlds
                .push((world, Worst { numbers, checks: 0, error: -1.0, which: String::new(), adjoint: 0.0 }));
            worlds.len() - 1
        });
        let worst = &mut worlds[at].1;
        worst.checks += 1;
        worst.adjoint = worst.adjoint.max(adjoint);
        if error > worst.error {
            (worst.error, worst.which) = (error, format!("{which}, {scheme}"));
        }
    }
    if kinds.is_empty() {
        bail!("the gradient matrix printed no figures");
    }
    let mut text = INTRODUCTION.to_owned();
    for (kind, worlds) in kinds {
        text += &format!(
            "\n### {kind}\n\n| world | numbers | checks | worst error | where | adjoint |\n|---|---|---|---|---|---|\n"
        );
        for (name, worst) in worlds {
            let Worst { numbers, checks, error, which, adjoint } = worst;
            text += &format!("| {name} | {numbers} | {checks} | {error:.1e} | {which} | {adjoint:.1e} |\n");
        }
    }
    Ok(text)
}

const INTRODUCTION: &str = "# How right gradients are

`cargo xtask study gradients` runs these checks and writes this page. The tests of the repository run the same checks, with
fewer random states, and some worlds with fewer integrators and substeps.

## The gradient matrix

Every world with every integrator that can run it, over 7 steps of 10 ms, with 1 and 3 substeps: the derivatives of a loss that
sees all states, by every number of the first state, every control of every step and every param, against central
differences. An error is relative to the largest of the derivatives, each times its number. \"adjoint\" is
|⟨v, J u⟩ - ⟨Jᵀ v, u⟩| with the pushforward, relative to the sum of the absolute products.
";

const RANDOM: &str = "
## Random states of contact

One step of 10 ms from random states of every world with contact: resting exactly, touching a little, deep inside each other,
apart; params changed or not, with and without friction. No derivative may be other than finite. Along a
random direction the gradient agrees with differences; so does every number of it that is exactly zero. \"kinks\"
are directions in which differences to both sides, or of several lengths, disagree with each other: a contact begins, ends, sticks or slides there
([nonsmooth.md](nonsmooth.md)). \"refused\" are steps whose impulses were not solved for, where the gradient is an error that says so.
Errors are relative to the size of the gradient.

| world | states | refused | kinks | zeros | worst error, differences | worst error, pushforward |
|---|---|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, mark: &str) -> Vec<Vec<String>> {
        marked(text, mark)
    }

    #[test]
    fn the_worst_of_each_world_is_shown() {
        let printed = "test x ... matrix|Hard contact|a ball|euler (1)|12|1e-9|x.y|1e-16\nnoise\n\
                      matrix|Hard contact|a ball|euler (3)|12|2e-8|x.z|3e-16\n";
        let states = "states|a ball|10|0|1|4|1e-8|1e-15\n";
        let text = matrix(&rows(printed, MATRIX_MARK)).expect("a matrix");
        assert!(text.contains("| a ball | 12 | 2 | 2.0e-8 | x.z, euler (3) | 3.0e-16 |"), "{text}");
        let table = table(&rows(states, STATES_MARK)).expect("a table");
        assert!(table.contains("| a ball | 10 | 0 | 1 | 4 | 1e-8 | 1e-15 |"), "{table}");
        assert_eq!(kept(&(text + &table)).expect("a table"), table);
    }

    #[test]
    fn nothing_printed_is_an_error() {
        assert!(matrix(&[]).is_err() && table(&[]).is_err() && kept("# Nothing").is_err());
    }
}
