//! Tables: as CSV for programs (every digit), as HTML for people (four digits).

use std::io::{self, Write};

use crate::many::{self, FIRST, Piece};
use crate::number::{human, integer};
use crate::xml::escape;

/// More different texts of a column are no summary.
const KINDS: usize = 5;

/// One cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Any text.
    Text(String),
    /// A number: four significant digits on the page, every digit in CSV.
    Number(f64),
    /// A count: every digit everywhere.
    Integer(i64),
}

impl Cell {
    /// What CSV holds: numbers in the shortest form that reads back as the same `f64`.
    fn csv(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) => format!("{value:?}"),
            Cell::Integer(value) => value.to_string(),
        }
    }

    fn html(&self) -> String {
        match self {
            Cell::Text(text) => format!("<td>{}</td>", escape(text)),
            Cell::Number(value) => format!("<td class=\"pb-n\" title=\"{value:?}\">{}</td>", human(*value)),
            Cell::Integer(value) => format!("<td class=\"pb-n\">{}</td>", integer(*value)),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Cell::Number(value)
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Cell::Integer(value)
    }
}

/// A table that fits in memory: named columns and rows of cells.
///
/// ```
/// use pullback_report::Table;
/// let mut table = Table::new(["body", "mass [kg]"]);
/// table.row(["ball".into(), 0.5.into()]);
/// assert_eq!(table.csv(), "body,mass [kg]\r\nball,0.5\r\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Table { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row. A short row is filled with empty cells; cells beyond the last column get columns without a name.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> &mut Self {
        let row: Vec<Cell> = cells.into_iter().collect();
        if row.len() > self.columns.len() {
            self.columns.resize(row.len(), String::new());
        }
        self.rows.push(row);
        self
    }

    /// The table as CSV; see [`Csv`].
    pub fn csv(&self) -> String {
        let mut bytes = Vec::new();
        let mut csv = Csv::new(&mut bytes, &self.columns).expect("writing to memory does not fail");
        for row in self.padded() {
            csv.row(row).expect("writing to memory does not fail");
        }
        String::from_utf8(bytes).expect("the cells are text")
    }

    pub(crate) fn html(&self) -> String {
        let mut out = String::from("<div class=\"pb-scroll\"><table><thead><tr>");
        for (i, column) in self.columns.iter().enumerate() {
            let is_number = |row: &Vec<Cell>| !matches!(row.get(i), Some(Cell::Text(_)));
            let class =
                if !self.rows.is_empty() && self.rows.iter().all(is_number) { " class=\"pb-n\"" } else { "" };
            out.push_str(&format!("<th{class}>{}</th>", escape(column)));
        }
        out.push_str("</tr></thead><tbody>\n");
        let rows: Vec<Vec<Cell>> = self.padded().collect();
        let name = |row: &Vec<Cell>| match row.first() {
            Some(Cell::Text(text)) => text.clone(),
            Some(Cell::Number(_) | Cell::Integer(_)) | None => String::new(),
        };
        let names: Vec<String> = rows.iter().map(name).collect();
        for piece in many::pieces(names.iter().map(String::as_str)) {
            match piece {
                Piece::One(at) => write_row(&mut out, &rows[at]),
                Piece::Many(name, alike) => {
                    let all: Vec<&Vec<Cell>> = alike.iter().map(|at| &rows[*at]).collect();
                    summed_up(&name, &all).iter().for_each(|row| write_row(&mut out, row));
                    let shown = telling(&all);
                    shown.iter().for_each(|row| write_row(&mut out, row));
                    out.push_str(&many::more(all.len() - shown.len(), self.columns.len()));
                }
            }
        }
        if self.rows.is_empty() {
            let span = self.columns.len().max(1);
            out.push_str(&format!("<tr><td colspan=\"{span}\" class=\"pb-muted\">no rows</td></tr>\n"));
        }
        out.push_str("</tbody></table></div>\n");
        out
    }

    /// The rows, each as long as there are columns.
    fn padded(&self) -> impl Iterator<Item = Vec<Cell>> {
        self.rows.iter().map(|row| {
            let mut row = row.clone();
            row.resize(self.columns.len(), Cell::Text(String::new()));
            row
        })
    }
}

fn write_row(out: &mut String, row: &[Cell]) {
    let cells: String = row.iter().map(Cell::html).collect();
    out.push_str(&format!("<tr>{cells}</tr>\n"));
}

/// Three rows for many: the smallest, the median and the largest of numbers; of texts, how often each is there.
fn summed_up(name: &str, rows: &[&Vec<Cell>]) -> [Vec<Cell>; 3] {
    let mut summary = many::titles(name, rows.len()).map(|title| vec![Cell::Text(title)]);
    for column in 1..rows[0].len() {
        let number = |row: &&Vec<Cell>| match row[column] {
            Cell::Number(value) => Some(value),
            Cell::Integer(value) => Some(value as f64),
            Cell::Text(_) => None,
        };
        let cells = match rows.iter().map(number).collect::<Option<Vec<f64>>>() {
            Some(values) => many::spread(values.into_iter()).map(Cell::Number),
            None => [counted(rows, column), String::new(), String::new()].map(Cell::Text),
        };
        summary.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    summary
}

/// The rows that are shown of many: those that say another thing than most first, such as a verdict that is "WRONG", and the first of the
/// others.
fn telling<'r>(rows: &[&'r Vec<Cell>]) -> Vec<&'r Vec<Cell>> {
    let mut usual = vec![true; rows.len()];
    for column in 1..rows[0].len() {
        let is_text = rows.iter().all(|row| matches!(row[column], Cell::Text(_)));
        let kinds = if is_text { kinds(rows, column) } else { None };
        let most = kinds.iter().flatten().rev().max_by_key(|(_, count)| *count);
        if let Some((most, _)) = most {
            usual.iter_mut().zip(rows).for_each(|(usual, row)| *usual &= row[column].csv() == *most);
        }
    }
    let of =
        |wanted: bool| rows.iter().zip(&usual).filter(move |(_, is)| **is == wanted).map(|(row, _)| *row);
    of(false).take(many::MOST - FIRST).chain(of(true).take(FIRST)).collect()
}

/// The texts of a column in the order in which they come first, and how often each is there; `None` where they are too many to tell.
fn kinds(rows: &[&Vec<Cell>], column: usize) -> Option<Vec<(String, usize)>> {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for text in rows.iter().map(|row| row[column].csv()) {
        match kinds.iter_mut().find(|(kind, _)| *kind == text) {
            Some((_, count)) => *count += 1,
            None => kinds.push((text, 1)),
        }
        if kinds.len() > KINDS {
            return None;
        }
    }
    Some(kinds)
}

/// What a column says and how often: "61 right, 3 WRONG".
fn counted(rows: &[&Vec<Cell>], column: usize) -> String {
    match kinds(rows, column) {
        Some(kinds) => {
            kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
        }
        None => format!("more than {KINDS} different"),
    }
}

/// Writes CSV row by row (RFC 4180: comma, CRLF, quotes doubled), so that a table of any length needs no memory.
///
/// Numbers are written in the shortest form that reads back as the same `f64`; `NaN` and `inf` as such.
#[derive(Debug)]
pub struct Csv<W: Write> {
    out: W,
}

impl<W: Write> Csv<W> {
    /// Writes the header. Wrap files in a `BufWriter`: a write follows each row.
    pub fn new<S: AsRef<str>>(out: W, columns: &[S]) -> io::Result<Self> {
        let mut csv = Csv { out };
        csv.fields(columns.iter().map(|c| c.as_ref().to_owned()))?;
        Ok(csv)
    }

    /// Writes one row: `csv.row([0.1, 2.5])`, or cells of several kinds.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) -> io::Result<()> {
        self.fields(cells.into_iter().map(|cell| cell.into().csv()))
    }

    fn fields(&mut self, fields: impl Iterator<Item = String>) -> io::Result<()> {
        let fields: Vec<String> = fields.map(|f| quote(&f)).collect();
        let mut line = fields.join(",");
        // A lone empty field would be an empty line, which readers skip.
        if fields.len() == 1 && line.is_empty() {
            line.push_str("\"\"");
        }
        line.push_str("\r\n");
        self.out.write_all(line.as_bytes())
    }
}

/// A field in quotes where RFC 4180 asks for them.
fn quote(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_as_rfc_4180_says() {
        let mut table = Table::new(["a", "b,c"]);
        table.row(["plain".into(), "say \"hi\"".into()]);
        table.row(["two\nlines".into(), "".into()]);
        table.row([Cell::from(-3_i64)]);
        assert_eq!(table.csv(), "a,\"b,c\"\r\nplain,\"say \"\"hi\"\"\"\r\n\"two\nlines\",\r\n-3,\r\n");
    }

    #[test]
    fn a_lone_empty_field_is_no_empty_line() {
        let mut table = Table::new(["name"]);
        table.row(["".into()]);
        assert_eq!(table.csv(), "name\r\n\"\"\r\n");
    }

    #[test]
    fn numbers_read_back_bit_for_bit() {
        let values = [0.1 + 0.2, 1e300, -0.0, 5e-324, f64::MAX, 1.0 / 3.0, f64::INFINITY, 123456789.0];
        let mut bytes = Vec::new();
        let mut csv = Csv::new(&mut bytes, &["x"]).expect("memory");
        for x in values {
            csv.row([x]).expect("memory");
        }
        let text = String::from_utf8(bytes).expect("text");
        let read: Vec<u64> =
            text.lines().skip(1).map(|l| l.parse::<f64>().expect("a number").to_bits()).collect();
        assert_eq!(read, values.map(f64::to_bits));
        assert!(text.contains("\r\n0.30000000000000004\r\n") && text.contains("\r\n1e300\r\n"), "{text}");
    }

    #[test]
    fn long_lists_are_summed_up_on_the_page_alone() {
        let mut table = Table::new(["variable", "error", "verdict"]);
        for i in 0..64 {
            let verdict = if i == 40 { "WRONG" } else { "right" };
            table.row([format!("ball[{i}].mass").into(), f64::from(i).into(), verdict.into()]);
        }
        table.row(["wind".into(), 0.5.into(), "right".into()]);
        let html = table.html();
        assert_eq!(crate::xml::first_fault(&html), None);
        for wanted in [
            "ball[*].mass, 64 numbers: smallest</td><td class=\"pb-n\" title=\"0.0\">0</td><td>63 right, 1 WRONG</td>",
            "ball[*].mass: median</td><td class=\"pb-n\" title=\"31.5\">31.5</td><td></td>",
            // The one that is wrong comes before the first of the others.
            "<tr><td>ball[40].mass</td><td class=\"pb-n\" title=\"40.0\">40</td><td>WRONG</td></tr>\n<tr><td>ball[0].mass</td>",
            "<td>ball[2].mass</td>",
            "\u{2026} and 60 more",
            "<td>wind</td>",
        ] {
            assert!(html.contains(wanted), "{wanted} is missing in {html}");
        }
        assert!(!html.contains("ball[3]"));
        assert_eq!(table.csv().lines().count(), 66);
        assert!(counted(&[&vec!["a".into()], &vec![1.0.into()], &vec!["a".into()]], 0) == "2 a, 1 1.0");
    }

    #[test]
    fn rows_that_are_shown_of_many_tell_what_is_unusual() {
        let verdicts = |unusual: &[usize], columns: usize| -> Vec<usize> {
            let rows: Vec<Vec<Cell>> = (0..30)
                .map(|i| {
                    let verdict = if unusual.contains(&i) { "unclear" } else { "right" };
                    // A column in which all differ tells nothing; nor do numbers.
                    let cells = [format!("a[{i}]"), verdict.into(), format!("note {i}")];
                    let mut row: Vec<Cell> = cells.into_iter().take(columns).map(Cell::from).collect();
                    row.push(Cell::from(i as f64));
                    row
                })
                .collect();
            let all: Vec<&Vec<Cell>> = rows.iter().collect();
            telling(&all).iter().filter_map(|shown| rows.iter().position(|row| row == *shown)).collect()
        };
        assert_eq!(verdicts(&[], 3), [0, 1, 2]);
        assert_eq!(verdicts(&[1, 29], 3), [1, 29, 0, 2, 3]);
        assert_eq!(verdicts(&[1, 29], 1), [0, 1, 2]);
        // Many are cut, and some of the usual are always there.
        let many: Vec<usize> = (10..24).collect();
        assert_eq!(verdicts(&many, 3), [&many[..9], &[0, 1, 2]].concat());
        let all: Vec<usize> = (0..30).collect();
        assert_eq!(verdicts(&all, 3), [0, 1, 2]);
    }

    #[test]
    fn cells_are_escaped_on_the_page() {
        let mut table = Table::new(["<script>"]);
        table.row(["<b>\"&'".into()]).row([1.23456.into(), "more".into()]);
        let html = table.html();
        assert_eq!(crate::xml::first_fault(&html), None);
        assert!(
            html.contains("<th>&lt;script&gt;</th>") && html.contains("<td>&lt;b&gt;&quot;&amp;&#39;</td>")
        );
        assert!(html.contains("title=\"1.23456\">1.235</td>"));
    }
}
