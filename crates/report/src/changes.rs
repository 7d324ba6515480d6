//! Parameters before and after: what an optimiser found, at a glance.

use std::fmt::Write;

use crate::number::{fixed, human, integer};
use crate::xml::escape;

/// Rows on a page; of more, those that changed most are shown.
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

/// A table with bars for the relative changes, to the right for more and to the left for less.
pub(crate) fn html(changes: &[Change]) -> String {
    let mut shown: Vec<&Change> = changes.iter().collect();
    if shown.len() > ROWS {
        let size = |c: &Change| c.relative().map_or(f64::INFINITY, f64::abs);
        shown.sort_by(|a, b| size(b).total_cmp(&size(a)));
        shown.truncate(ROWS);
    }
    let largest = shown.iter().filter_map(|c| c.relative()).map(f64::abs).fold(0.0, f64::max);
    let mut out = String::from(
        "<div class=\"pb-scroll\"><table class=\"pb-changes\"><thead><tr><th>parameter</th><th class=\"pb-n\">before</th>\
         <th class=\"pb-n\">after</th><th class=\"pb-n\">change</th><th class=\"pb-barcell\"></th></tr></thead><tbody>\n",
    );
    for change in &shown {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"pb-n\" title=\"{:?}\">{}</td><td class=\"pb-n\" title=\"{:?}\">{}</td>\
             <td class=\"pb-n\">{}</td><td class=\"pb-barcell\">{}</td></tr>",
            escape(&change.name),
            change.before,
            human(change.before),
            change.after,
            human(change.after),
            told(change),
            bar(change.relative(), largest),
        );
    }
    if shown.is_empty() {
        out.push_str("<tr><td colspan=\"5\" class=\"pb-muted\">no parameters</td></tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    if changes.len() > ROWS {
        let (few, all) = (integer(ROWS as i64), integer(changes.len() as i64));
        let _ = writeln!(out, "<p class=\"pb-muted\">The {few} largest relative changes of {all}.</p>");
    }
    out
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
    fn names_are_escaped() {
        let page = html(&[Change::new("<script>\"&'", 1.0, 2.0)]);
        assert!(page.contains("<td>&lt;script&gt;&quot;&amp;&#39;</td>"));
        assert_eq!(crate::xml::first_fault(&page), None);
        assert!(html(&[]).contains("no parameters"));
    }
}
