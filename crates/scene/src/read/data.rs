//! Data files: numbers divided by commas. Those of trajectories are under the names of their columns.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::Fault;
use super::loss::{Known, step_of};
use super::node::Node;
use crate::error::{Error, Invalid, Position};
use crate::problem::{Table, Track};
use crate::simulation::Simulation;
use crate::source::read_text;
use crate::words;

/// A data file.
pub(super) struct Data {
    pub file: PathBuf,
    pub table: Table,
    pub tracks: Vec<Track>,
    /// The step of each row.
    pub steps: Vec<usize>,
}

/// Reads the file that a key names.
pub(super) fn read(node: &Node<'_>, known: &Known<'_>) -> Result<Data, Fault> {
    let name = node.text()?;
    let file = inside(node, name, known.source.folder(), "measured.csv")?;
    let text = read_text(&file).map_err(|unread| match unread.position {
        None => Fault::Here(node.invalid(format!("{}: {}", words::quoted(name), unread.what), unread.fix)),
        position => Fault::Elsewhere(Error {
            file: file.display().to_string(),
            position,
            path: String::new(),
            what: unread.what,
            fix: unread.fix,
        }),
    })?;
    let parsed = parse(&text, known).map_err(|bad| Fault::Elsewhere(bad.error(&file)));
    let (table, tracks, steps) = parsed?;
    Ok(Data { file, table, tracks, steps })
}

/// The path of a file in the folder of the scene or below it: a scene from elsewhere reads nothing else.
pub(super) fn inside(node: &Node<'_>, name: &str, folder: &Path, example: &str) -> Result<PathBuf, Invalid> {
    let below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || !Path::new(name).components().all(below) {
        let what = format!("{} is not in the folder of this file", words::quoted(name));
        let fix =
            format!("write a path that starts at this file's folder, without `..`, such as \"{example}\"");
        return Err(node.invalid(what, fix));
    }
    Ok(folder.join(name))
}

/// Something wrong in a data file.
struct Bad {
    line: usize,
    column: usize,
    name: String,
    what: String,
    fix: String,
}

impl Bad {
    fn error(self, file: &Path) -> Error {
        let position = (self.line > 0).then_some(Position { line: self.line, column: self.column });
        Error { file: file.display().to_string(), position, path: self.name, what: self.what, fix: self.fix }
    }
}

/// A field of a line: its text and where it starts.
struct Field<'t> {
    text: &'t str,
    line: usize,
    column: usize,
}

impl Field<'_> {
    fn bad(&self, name: &str, what: impl Into<String>, fix: impl Into<String>) -> Bad {
        Bad { line: self.line, column: self.column, name: name.into(), what: what.into(), fix: fix.into() }
    }
}

/// The fields of a line, without the spaces around them.
fn fields(line: usize, text: &str) -> Vec<Field<'_>> {
    let mut column = 1;
    text.split(',')
        .map(|raw| {
            let spaces = raw.chars().take_while(|c| c.is_whitespace()).count();
            let field = Field { text: raw.trim(), line, column: column + spaces };
            column += raw.chars().count() + 1;
            field
        })
        .collect()
}

type Parsed = (Table, Vec<Track>, Vec<usize>);

fn parse(text: &str, known: &Known<'_>) -> Result<Parsed, Bad> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let whole = |what: &str, fix: &str| Bad {
        line: 0,
        column: 0,
        name: String::new(),
        what: what.into(),
        fix: fix.into(),
    };
    let Some((line, header)) = lines.next() else {
        return Err(whole(
            "the file is empty",
            "write a header such as `time, ball.x`, then one row for each time",
        ));
    };
    let header = fields(line, header);
    let tracks = tracks(&header, known)?;
    let columns: Vec<String> = header.iter().map(|field| field.text.to_owned()).collect();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut steps = Vec::new();
    for (line, text) in lines {
        let fields = fields(line, text);
        let row = row(&fields, &columns)?;
        steps.push(step(&fields[0], row[0], steps.last().copied(), known.simulation)?);
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(whole("there is a header, and no row below it", "write one row for each time"));
    }
    Ok((Table { columns, rows }, tracks, steps))
}

/// What the columns after the time are.
fn tracks(header: &[Field<'_>], known: &Known<'_>) -> Result<Vec<Track>, Bad> {
    let (first, rest) = header.split_first().expect("a split has at least one part");
    if first.text != "time" {
        let what = format!("the first column is {}", words::quoted(first.text));
        return Err(first.bad("", what, "the first column is `time` [s], with a header above it"));
    }
    if rest.is_empty() {
        return Err(first.bad(
            "",
            "there are no columns beside `time`",
            format!("add one such as {}", example(known)),
        ));
    }
    let mut tracks: Vec<Track> = Vec::with_capacity(rest.len());
    let mut seen = HashMap::new();
    for (column, field) in (1..).zip(rest) {
        let track = track(column, field, known)?;
        if let Some(first) = seen.insert((track.of, track.velocity), column) {
            let what = format!("column {} is {} too", first + 1, words::quoted(field.text));
            return Err(field.bad(field.text, what, "keep one of the two"));
        }
        tracks.push(track);
    }
    Ok(tracks)
}

/// A column that could be.
fn example(known: &Known<'_>) -> &'static str {
    if known.particles.is_empty() && known.parts.has_robots() { "`arm.elbow`" } else { "`ball.x`" }
}

fn track(column: usize, field: &Field<'_>, known: &Known<'_>) -> Result<Track, Bad> {
    let found = known.parts.tracked(&known.particles, field.text);
    let (of, velocity) = found.map_err(|invalid| field.bad("", invalid.what, invalid.fix))?;
    Ok(Track { of, velocity, column })
}

fn row(fields: &[Field<'_>], columns: &[String]) -> Result<Vec<f64>, Bad> {
    if fields.len() != columns.len() {
        let (found, wanted) = (fields.len(), columns.len());
        let what = format!("the row has {}, and the header has {wanted}", words::counted(found, "column"));
        return Err(fields[0].bad("", what, "write one number for each column of the header"));
    }
    fields
        .iter()
        .zip(columns)
        .map(|(field, column)| number(field, column, ", or leave the row out"))
        .collect()
}

/// A finite number; `or` is what else could be done than to write one.
fn number(field: &Field<'_>, column: &str, or: &str) -> Result<f64, Bad> {
    let what = match field.text.parse::<f64>() {
        Ok(value) if value.is_finite() => return Ok(value),
        Ok(_) => format!("{} is no finite number", field.text),
        Err(_) if field.text.is_empty() => "there is no number".into(),
        Err(_) => format!("{} is no number", words::quoted(field.text)),
    };
    Err(field.bad(column, what, format!("write a number such as 0.5{or}")))
}

/// Rows of numbers without a header, each as long as the first.
pub(super) fn rows(text: &str, file: &Path) -> Result<Vec<Vec<f64>>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (line, text) in lines {
        let fields = fields(line, text);
        let row: Result<Vec<f64>, Bad> = fields.iter().map(|field| number(field, "", "")).collect();
        let row = row.map_err(|bad| bad.error(file))?;
        if let Some(first) = rows.first().filter(|first| first.len() != row.len()) {
            let (found, wanted) = (words::counted(row.len(), "number"), first.len());
            let what = format!("the row has {found}, and the first has {wanted}");
            return Err(fields[0].bad("", what, "give every row as many").error(file));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The step of a row: on a step, within the simulation, and after the row before.
fn step(field: &Field<'_>, time: f64, before: Option<usize>, simulation: &Simulation) -> Result<usize, Bad> {
    let step = step_of(time, simulation.dt).map_err(|(what, fix)| field.bad("time", what, fix))?;
    if step > simulation.steps {
        let end = simulation.steps as f64 * simulation.dt;
        let what = format!("the time {time} s is after the end of the simulation, {end} s");
        return Err(field.bad("time", what, "leave the row out, or simulate longer"));
    }
    if before.is_some_and(|before| step <= before) {
        let what = format!("the time {time} s is not after that of the row above");
        return Err(field.bad("time", what, "order the rows by time, each time once"));
    }
    Ok(step)
}
