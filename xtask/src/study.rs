//! `cargo xtask study NAME`: checks that take too long for every change, and the documents that they write.
//!
//! Tests print lines that begin with a mark; documents have them as tables. A check that fails ends the study, and
//! leaves the document as it was.

mod gradients;
mod soft;

use crate::Command;
use crate::workspace::Workspace;
use anyhow::{Result, bail};

pub const COMMAND: Command = Command {
    name: "study",
    usage: "gradients [--states NUMBER] | soft [--instances NUMBER]",
    about: "Run the gradient matrix and 100,000 random states of contact (of 0 the table stays as it is), or random problems with soft \
            bodies; write docs/gradients.md, or docs/soft-tasks.md.",
    run,
};

/// A study: a document that is written from what tests print.
struct Study {
    name: &'static str,
    /// What may be given: how many of what is random.
    option: &'static str,
    /// How many if it is not given, and at least.
    usual: usize,
    least: usize,
    run: fn(&Workspace, usize) -> Result<()>,
}

const STUDIES: [&Study; 2] = [&gradients::STUDY, &soft::STUDY];

fn run(arguments: &[String]) -> Result<()> {
    let (study, number) = chosen(arguments)?;
    (study.run)(&Workspace::load()?, number)
}

/// The study, and how many.
fn chosen(arguments: &[String]) -> Result<(&'static Study, usize)> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let study = words.first().and_then(|name| STUDIES.into_iter().find(|study| study.name == *name));
    match (study, &words[..]) {
        (Some(study), [_]) => Ok((study, study.usual)),
        (Some(study), [_, option, number]) if *option == study.option => match number.parse() {
            Ok(number) if number >= study.least => Ok((study, number)),
            Ok(_) | Err(_) => bail!("`{number}` is no number of {}", option.trim_start_matches('-')),
        },
        _ => bail!("usage: cargo xtask study {}", COMMAND.usage),
    }
}

/// The words of the lines that begin with a mark, also where a test's name is before it.
fn marked(text: &str, mark: &str) -> Vec<Vec<String>> {
    let words = |line: &str| line.split('|').map(str::to_owned).collect();
    text.lines().filter_map(|line| Some(words(&line[line.find(mark)? + mark.len()..]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arguments_are_refused() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let right =
            |text: &str| chosen(&words(text)).map(|(study, number)| (study.name, number)).expect(text);
        assert_eq!(right("gradients"), ("gradients", 100_000));
        assert_eq!(right("gradients --states 7"), ("gradients", 7));
        assert_eq!(right("gradients --states 0"), ("gradients", 0));
        assert_eq!(right("soft"), ("soft", 20));
        assert_eq!(right("soft --instances 2"), ("soft", 2));
        for wrong in [
            "",
            "gradients --states",
            "soft --instances 0",
            "gradients --states x",
            "soft --states 7",
            "heap",
        ] {
            assert!(chosen(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
