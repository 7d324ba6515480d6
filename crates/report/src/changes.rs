//! Parameters before and after: what an optimiser found, at a glance.

use std::fmt::Write;

use crate::many::{self, FIRST, Piece};
use crate::number::{fixed, human, integer};
use crate::xml::escape;

/// Parameters on a page that are told one by one; of more, those that changed most are shown.
const ROWS: usize = 200;

/// One number before and after a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What it is, with its unit: "ball.mass [kg]".
    pub name: String,
    /// Its value at the start.
    pub before: f64,
    /// Its value at the end.
    pub after: f64,
}

impl Change {
    /// A number with its name, before and after.
    pub fn new(name: impl Into<String>, before: f64, after: f64) -> Self {
        Change { name: name.into(), before, after }
    }

    /// The change as a part of the value before; `None` where that says nothing.
    fn relative(&self) -> Option<f64> {
        let part = (self.after - self.before) / self.before.abs();
        part.is_finite().then_some(part)
    }
}

/// A table with bars for the relative changes, to the right for more and to the left for less. Many numbers of one name are summed up.
pub(crate) fn html(changes: &[Change]) -> String {
    let mut pieces = many::pieces(changes.iter().map(|change| change.name.as_str()));
    let all = pieces.iter().filter(|piece| matches!(piece, Piece::One(_))).count();
    if all > ROWS {
        keep_largest(&mut pieces, changes);
    }
    let shown = pieces.iter().flat_map(|piece| match piece {
        Piece::One(row) => std::slice::from_ref(row),
        Piece::Many(_, rows) => &rows[..FIRST],
    });
    let largest = shown.filter_map(|row| changes[*row].relative()).map(f64::abs).fold(0.0, f64::max);
    let mut out = String::from(
        "<div class=\"pb-scroll\"><table class=\"pb-changes\"><thead><tr><th>parameter</th><th class=\"pb-n\">before</th>\
         <th class=\"pb-n\">after</th><th class=\"pb-n\">change</th><th class=\"pb-barcell\"></th></tr></thead><tbody>\n",
    );
    for piece in &pieces {
        match piece {
            Piece::One(at) => out.push_str(&row(&changes[*at], largest)),
            Piece::Many(name, rows) => {
                let alike: Vec<&Change> = rows.iter().map(|at| &changes[*at]).collect();
                out.push_str(&summed_up(name, &alike));
                alike[..FIRST].iter().for_each(|change| out.push_str(&row(change, largest)));
                out.push_str(&many::more(rows.len() - FIRST, 5));
            }
        }
    }
    if changes.is_empty() {
        out.push_str("<tr><td colspan=\"5\" class=\"pb-muted\">no parameters</td></tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    if all > ROWS {
        let (few, all) = (integer(ROWS as i64), integer(all as i64));
        let _ = writeln!(out, "<p class=\"pb-muted\">The {few} largest relative changes of {all}.</p>");
    }
    out
}

/// Of what is told one by one, what changed most, and that first.
fn keep_largest(pieces: &mut Vec<Piece>, changes: &[Change]) {
    let size = |piece: &Piece| match piece {
        Piece::One(row) => changes[*row].relative().map_or(f64::INFINITY, f64::abs),
        Piece::Many(..) => f64::NAN,
    };
    // NaN is above all numbers, so that what is summed up comes first.
    pieces.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let summed_up = pieces.iter().filter(|piece| matches!(piece, Piece::Many(..))).count();
    pieces.truncate(summed_up + ROWS);
}

fn row(change: &Change, largest: f64) -> String {
    let bar = bar(change.relative(), largest);
    cells(&change.name, change.before, change.after, &told(change), &bar)
}

fn cells(name: &str, before: f64, after: f64, change: &str, bar: &str) -> String {
    format!(
        "<tr><td>{}</td><td class=\"pb-n\" title=\"{before:?}\">{}</td><td class=\"pb-n\" title=\"{after:?}\">{}</td>\
         <td class=\"pb-n\">{change}</td><td class=\"pb-barcell\">{bar}</td></tr>\n",
        escape(name),
        human(before),
        human(after),
    )
}

/// The smallest, the median and the largest of each column. Changes are relative where all of them are.
fn summed_up(name: &str, alike: &[&Change]) -> String {
    let before = many::spread(alike.iter().map(|change| change.before));
    let after = many::spread(alike.iter().map(|change| change.after));
    let relative: Option<Vec<f64>> = alike.iter().map(|change| change.relative()).collect();
    let by = match relative {
        // As a change of 1, which is told as its part.
        Some(parts) => many::spread(parts.into_iter()).map(|part| told(&Change::new("", 1.0, 1.0 + part))),
        None => many::spread(alike.iter().map(|change| change.after - change.before))
            .map(|difference| told(&Change::new("", 0.0, difference))),
    };
    let titles = many::titles(name, alike.len());
    (0..3).map(|i| cells(&titles[i], before[i], after[i], &by[i], "")).collect()
}

/// "+12.3 %", or the difference where there is nothing to divide by.
fn told(change: &Change) -> String {
    let difference = change.after - change.before;
    let plus = if difference > 0.0 { "+" } else { "" };
    match change.relative() {
        _ if difference == 0.0 => "none".into(),
        Some(part) if (5e-4..10.0).contains(&part.abs()) => format!("{plus}{} %", fixed(100.0 * part, 1)),
        Some(part) => format!("{plus}{} %", human(100.0 * part)),
        None => format!("{plus}{}", human(difference)),
    }
}

/// A bar from the middle of its cell.
fn bar(relative: Option<f64>, largest: f64) -> String {
    let Some(part) = relative.filter(|&p| p != 0.0) else { return String::new() };
    let percent = 50.0 * part.abs() / largest;
    let (side, start) = if part > 0.0 { ("pb-more", 50.0) } else { ("pb-less", 50.0 - percent) };
    format!("<span class=\"pb-bar {side}\" style=\"left:{start:.1}%;width:{:.1}%\"></span>", percent.max(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_as_people_say_them() {
        let cases = [
            (2.0, 2.5, "+25.0 %"),
            (2.0, 1.0, "−50.0 %"),
            (-4.0, -2.0, "+50.0 %"),
            (1.0, 1.0, "none"),
            (0.0, 3.0, "+3"),
            (1.0, 1e6, "+1×10⁸ %"),
            (1.0, 1.00001, "+0.001 %"),
            (1.0, f64::NAN, "NaN"),
        ];
        for (before, after, text) in cases {
            assert_eq!(told(&Change::new("x", before, after)), text, "{before} {after}");
        }
    }

    #[test]
    fn bars_point_the_right_way() {
        assert_eq!(
            bar(Some(1.0), 2.0),
            "<span class=\"pb-bar pb-more\" style=\"left:50.0%;width:25.0%\"></span>"
        );
        assert_eq!(
            bar(Some(-2.0), 2.0),
            "<span class=\"pb-bar pb-less\" style=\"left:0.0%;width:50.0%\"></span>"
        );
        assert_eq!(bar(None, 2.0), "");
    }

    #[test]
    fn many_parameters_show_the_largest_changes() {
        let many: Vec<Change> =
            (0..1000).map(|i| Change::new(format!("p{i}"), 1.0, 1.0 + f64::from(i))).collect();
        let page = html(&many);
        assert!(
            page.contains("<td>p999</td>")
                && page.contains("<td>p800</td>")
                && !page.contains("<td>p799</td>")
        );
        assert_eq!(crate::xml::first_fault(&page), None);
    }

    #[test]
    fn many_numbers_of_one_name_are_summed_up() {
        let weight = |i: i32| Change::new(format!("net.weight[{i}]"), 1.0, 2.0 + f64::from(i));
        let mut many: Vec<Change> = (0..300).map(weight).collect();
        many.push(Change::new("ball.mass [kg]", 1.0, 1.5));
        let page = html(&many);
        assert_eq!(crate::xml::first_fault(&page), None);
        assert_eq!(page.matches("<tr>").count(), 1 + 3 + FIRST + 1 + 1, "{page}");
        for wanted in [
            "<td>net.weight[*], 300 numbers: smallest</td><td class=\"pb-n\" title=\"1.0\">1</td><td class=\"pb-n\" title=\"2.0\">2</td>",
            "<td>net.weight[*]: median</td>",
            ">151.5</td>",
            "<td>net.weight[*]: largest</td>",
            "<td>net.weight[2]</td>",
            "\u{2026} and 297 more",
            "<td>ball.mass [kg]</td>",
        ] {
            assert!(page.contains(wanted), "{wanted} is missing in {page}");
        }
        assert!(!page.contains("weight[3]"));
        // Where there is nothing to divide by, differences.
        let of_zero: Vec<Change> =
            (0..20).map(|i| Change::new(format!("<w>[{i}]"), 0.0, f64::from(i))).collect();
        let page = html(&of_zero);
        assert!(page.contains("&lt;w&gt;[*]: largest</td>") && page.contains(">+19</td>"), "{page}");
    }

    #[test]
    fn names_are_escaped() {
        let page = html(&[Change::new("<script>\"&'", 1.0, 2.0)]);
        assert!(page.contains("<td>&lt;script&gt;&quot;&amp;&#39;</td>"));
        assert_eq!(crate::xml::first_fault(&page), None);
        assert!(html(&[]).contains("no parameters"));
    }
}
