//! Running other programs, with errors that name the command and the fix.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// The cargo that runs us, so that a chosen toolchain stays chosen.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or_default();
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={} ", name.display(), quoted(value?))));
    let words = std::iter::once(program).chain(command.get_args()).map(quoted);
    variables.collect::<String>() + &words.collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.display().to_string();
    if word.contains(' ') { format!("'{word}'") } else { word }
}

/// Run a command, its output going where ours goes.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Run a command and return what it wrote to its standard output; its errors go where ours go.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Fail with `fix` unless `program arguments` runs, quietly.
pub fn require(command: &mut Command, fix: &str) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => bail!("`{}` does not run; {fix}", shown(command)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_gives_the_fix() {
        let error =
            require(&mut Command::new("no-such-program"), "install it with: apt-get install no-such-program")
                .expect_err("there is no such program");
        assert_eq!(
            error.to_string(),
            "`no-such-program` does not run; install it with: apt-get install no-such-program"
        );
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = run(Command::new("false").arg("two words").env("NAME", "x")).expect_err("false fails");
        assert!(error.to_string().starts_with("`NAME=x false 'two words'` failed"), "{error}");
    }
}
