//! What is around the curves: title, legend, axes, notes. The height follows from what there is to say.

use std::fmt::Write;

use super::area::{Area, num};
use super::axis::{Range, Scale, Ticks};
use super::{Plot, Size};
use crate::number::power_of_ten;
use crate::xml::escape;

/// Colours before they repeat with dashes.
pub(crate) const COLOURS: usize = 7;
/// Names in the legend; more would be a page of names.
const LEGEND: usize = 20;
const FONT: f64 = 12.0;
const LINE: f64 = 18.0;
/// Around a plot that is a file of its own.
const MARGIN: f64 = 16.0;

/// The whole plot as an `<svg>` element, with its style sheet when it stands alone.
pub(super) fn draw(plot: &Plot, size: Size, theme: Option<&str>) -> String {
    let mut body = String::new();
    let mut top = 0.0;
    if !plot.title.is_empty() {
        top += 20.0;
        text(&mut body, "pb-title", (0.0, top - 4.0), &shortened(&plot.title, size.width, 8.2));
    }
    top = legend(&mut body, plot, size.width, top);
    let bottom = match ranges(plot) {
        Some((x, y)) => axes_and_curves(&mut body, plot, size, top, x, y),
        None => {
            let blank = (top + 8.0, 0.5 * size.area);
            let (y, width, height) = (num(blank.0), num(size.width), num(blank.1));
            let _ = writeln!(
                body,
                "<rect class=\"pb-blank\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>"
            );
            text(&mut body, "pb-none", (size.width / 2.0, blank.0 + blank.1 / 2.0 + 5.0), "no data");
            blank.0 + blank.1
        }
    };
    let bottom = notes(&mut body, plot, bottom);
    let (width, height) = (size.width, bottom + 4.0);
    let label = escape(&plot.title);
    let Some(theme) = theme else {
        let (width, height) = (num(width), num(height));
        return svg(&format!("viewBox=\"0 0 {width} {height}\""), &label, &body);
    };
    // Alone, it needs a margin and a size of its own.
    let (width, height) = (num(width + 2.0 * MARGIN), num(height + 2.0 * MARGIN));
    let place =
        format!("width=\"{width}\" height=\"{height}\" viewBox=\"-{MARGIN} -{MARGIN} {width} {height}\"");
    svg(&place, &label, &format!("<style>{theme}</style>\n{body}"))
}

fn svg(place: &str, label: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pb-plot\" {place} role=\"img\" aria-label=\"{label}\">\n\
         {body}</svg>\n"
    )
}

/// What both axes show; `None` when no point can be drawn.
fn ranges(plot: &Plot) -> Option<(Range, Range)> {
    let drawn = |p: &(f64, f64)| plot.x.scale.takes(p.0) && plot.y.scale.takes(p.1);
    let points = || {
        let targets = plot.targets.iter().map(|t| (t.1[0], t.1[1]));
        plot.series.iter().flat_map(|s| s.points.iter().copied()).chain(targets).filter(drawn)
    };
    let ground = plot.ground.filter(|_| points().next().is_some());
    let x = Range::of(plot.x.scale, points().map(|p| p.0))?;
    let y = Range::of(plot.y.scale, points().map(|p| p.1).chain(ground))?;
    let x_room = if plot.is_plane || plot.series.iter().any(|s| !s.is_joined) { 0.05 } else { 0.0 };
    let x = if x_room > 0.0 { Range { whole: false, ..x.padded(x_room) } } else { x };
    let y_room = Range { whole: false, ..y.padded(0.06) };
    Some((x, if plot.is_plane { y_room } else { y_room.down_to_zero(y) }))
}

/// Draws the axes and what is between them below `top`; returns where they end.
fn axes_and_curves(body: &mut String, plot: &Plot, size: Size, top: f64, x: Range, y: Range) -> f64 {
    let top = top + if plot.y.title.is_empty() { 0.0 } else { LINE } + 8.0;
    let mut area = Area { left: 40.0, top, width: 0.0, height: size.area, x, y };
    let is_equal = plot.is_plane && x.scale == Scale::Linear && y.scale == Scale::Linear;
    // The room for the labels at the left follows from the ticks, and these, in a plane, from the width that is left.
    for _ in 0..3 {
        area.width = size.width - area.left - 12.0;
        if is_equal {
            (area.x, area.y, area.height) = same_scale(x, y, area.width, size.area);
        }
        let labels = y_ticks(&area).labelled;
        area.left = labels.iter().map(|t| text_width(&t.1)).fold(8.0, f64::max) + 9.0;
    }
    area.width = size.width - area.left - 12.0;
    let end = axes(body, plot, &area, &spaced(&area.x, area.width), &y_ticks(&area));
    area.draw(body, plot);
    if size.hover {
        super::hover::draw(body, plot, &area);
    }
    end
}

fn y_ticks(area: &Area) -> Ticks {
    area.y.ticks((area.height / 45.0) as usize)
}

/// Widens one of two ranges, so that a metre has the same length on both axes, and chooses the height.
fn same_scale(x: Range, y: Range, width: f64, area: f64) -> (Range, Range, f64) {
    let shape = (y.hi - y.lo) / (x.hi - x.lo);
    let height = (width * shape).clamp(0.6 * area, 1.7 * area);
    let wider = |r: Range, span: f64| {
        let room = (span - (r.hi - r.lo)) / 2.0;
        Range { lo: r.lo - room, hi: r.hi + room, ..r }
    };
    let metres_per_pixel = ((x.hi - x.lo) / width).max((y.hi - y.lo) / height);
    (wider(x, metres_per_pixel * width), wider(y, metres_per_pixel * height), height)
}

/// As many ticks as have room for their labels.
fn spaced(x: &Range, width: f64) -> Ticks {
    let most = ((width / 70.0) as usize).max(2);
    let fits = |ticks: &Ticks| {
        let ends =
            ticks.labelled.iter().map(|(value, label)| (x.part(*value) * width, text_width(label) / 2.0));
        let ends: Vec<(f64, f64)> = ends.collect();
        ends.windows(2).all(|w| w[0].0 + w[0].1 + 10.0 <= w[1].0 - w[1].1)
    };
    (2..=most).rev().map(|count| x.ticks(count)).find(fits).unwrap_or_else(|| x.ticks(2))
}

/// Grid, ticks, labels and titles of both axes; returns where they end.
fn axes(body: &mut String, plot: &Plot, area: &Area, x_ticks: &Ticks, y_ticks: &Ticks) -> f64 {
    let (right, bottom) = (area.left + area.width, area.top + area.height);
    let mut lines = |class: &str, xs: &mut dyn Iterator<Item = f64>, ys: &mut dyn Iterator<Item = f64>| {
        let mut d = String::new();
        for x in xs {
            let _ = write!(d, "M{} {}V{}", num(area.px(x)), num(area.top), num(bottom));
        }
        for y in ys {
            let _ = write!(d, "M{} {}H{}", num(area.left), num(area.py(y)), num(right));
        }
        if !d.is_empty() {
            let _ = writeln!(body, "<path class=\"{class}\" d=\"{d}\"/>");
        }
    };
    lines("pb-minor", &mut x_ticks.minor.iter().copied(), &mut y_ticks.minor.iter().copied());
    lines("pb-grid", &mut x_ticks.labelled.iter().map(|t| t.0), &mut y_ticks.labelled.iter().map(|t| t.0));
    let _ = writeln!(
        body,
        "<path class=\"pb-axis\" d=\"M{} {}V{}H{}\"/>",
        num(area.left),
        num(area.top),
        num(bottom),
        num(right)
    );
    for (value, label) in &x_ticks.labelled {
        // The last label may not stick out.
        let x = area.px(*value).min(right + 12.0 - text_width(label) / 2.0);
        text(body, "pb-x", (x, bottom + 16.0), label);
    }
    for (value, label) in &y_ticks.labelled {
        text(body, "pb-y", (area.left - 6.0, area.py(*value) + 4.0), label);
    }
    if !plot.y.title.is_empty() || y_ticks.power != 0 {
        text(body, "pb-unit", (0.0, area.top - 9.0), &with_power(&plot.y.title, y_ticks.power, right));
    }
    let mut end = bottom + 20.0;
    if !plot.x.title.is_empty() || x_ticks.power != 0 {
        end += LINE;
        let title = with_power(&plot.x.title, x_ticks.power, area.width);
        text(body, "pb-x", (area.left + area.width / 2.0, end - 3.0), &title);
    }
    end
}

/// "force [N], ×10⁻⁶"
fn with_power(title: &str, power: i32, width: f64) -> String {
    let title = shortened(title, width - 60.0, 0.56 * FONT);
    match (title.is_empty(), power) {
        (_, 0) => title,
        (true, _) => format!("×{}", power_of_ten(power)),
        (false, _) => format!("{title}, ×{}", power_of_ten(power)),
    }
}

/// Rows of colours and names below the title; returns where they end. One series that is named in the title needs none.
fn legend(body: &mut String, plot: &Plot, width: f64, top: f64) -> f64 {
    let only = plot.series.len() == 1 && plot.targets.is_empty();
    let begins = |text: &str, name: &str| text.to_lowercase().starts_with(&name.to_lowercase());
    let said = |name: &str| begins(&plot.y.title, name) || begins(&plot.title, name);
    let mut items: Vec<(String, String)> = Vec::new();
    for (i, series) in plot.series.iter().enumerate().take(LEGEND) {
        if !(only && said(&series.name)) {
            items.push((swatch(i, series.is_joined), shortened(&series.name, 0.6 * width, 0.56 * FONT)));
        }
    }
    if plot.series.len() > LEGEND {
        items.push((String::new(), format!("and {} more", plot.series.len() - LEGEND)));
    }
    if plot.is_plane && plot.series.iter().any(|s| s.is_joined && !s.points.is_empty()) {
        items.push(("<circle class=\"pb-ring\" cx=\"9\" cy=\"0\" r=\"3.5\"/>".into(), "start".into()));
        items.push(("<circle class=\"pb-dot\" cx=\"9\" cy=\"0\" r=\"4.5\"/>".into(), "end".into()));
    }
    if !plot.targets.is_empty() {
        items.push((super::area::cross((9.0, 0.0)), "target".into()));
    }
    let (mut x, mut y) = (0.0, top + 14.0);
    for (mark, name) in &items {
        let needs = if mark.is_empty() { 0.0 } else { 24.0 } + text_width(name) + 16.0;
        if x > 0.0 && x + needs > width {
            (x, y) = (0.0, y + LINE);
        }
        let _ = write!(body, "<g transform=\"translate({} {})\" class=\"pb-item\">{mark}", num(x), num(y));
        text(body, "pb-name", (if mark.is_empty() { 0.0 } else { 24.0 }, 4.0), name);
        body.push_str("</g>\n");
        x += needs;
    }
    if items.is_empty() { top } else { y + 8.0 }
}

/// A piece of a series' line, or a dot.
fn swatch(index: usize, is_joined: bool) -> String {
    let class = series_class(index);
    if is_joined {
        format!("<g class=\"{class}\"><path class=\"pb-curve\"{} d=\"M0 0H18\"/></g>", dashes(index))
    } else {
        format!("<g class=\"{class}\"><circle class=\"pb-dot\" cx=\"9\" cy=\"0\" r=\"4\"/></g>")
    }
}

pub(super) fn series_class(index: usize) -> String {
    format!("pb-s{}", index % COLOURS)
}

/// Colours repeat with other dashes, so that no two of the first 28 lines look the same.
pub(super) fn dashes(index: usize) -> &'static str {
    ["", " stroke-dasharray=\"7 4\"", " stroke-dasharray=\"2 4\"", " stroke-dasharray=\"9 4 2 4\""]
        [(index / COLOURS) % 4]
}

/// Says what could not be drawn; returns where the notes end.
fn notes(body: &mut String, plot: &Plot, mut bottom: f64) -> f64 {
    let all = || plot.series.iter().flat_map(|s| &s.points);
    let not_finite = |v: f64| !Scale::Linear.takes(v);
    let odd = all().filter(|p| not_finite(p.0) || not_finite(p.1)).count();
    let low = |scale: Scale, v: f64| scale == Scale::Log && !not_finite(v) && !scale.takes(v);
    let below = all().filter(|p| low(plot.x.scale, p.0) || low(plot.y.scale, p.1)).count();
    let points = |count: usize| match count {
        1 => "1 point".into(),
        n => format!("{} points", crate::number::integer(n as i64)),
    };
    for (count, what) in [(odd, "not finite"), (below, "not positive, which a logarithmic axis cannot show")]
    {
        if count > 0 {
            bottom += LINE;
            let verb = if count == 1 { "is" } else { "are" };
            text(body, "pb-note", (0.0, bottom - 3.0), &format!("{} {verb} {what}", points(count)));
        }
    }
    bottom
}

pub(super) fn text(body: &mut String, class: &str, at: (f64, f64), content: &str) {
    let _ = writeln!(
        body,
        "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
        num(at.0),
        num(at.1),
        escape(content)
    );
}

/// About how wide a text will be, in pixels: no font is known here.
pub(super) fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' | '.' | ',' | 'i' | 'l' | ' ' | '\u{2009}' => 0.36,
        'm' | 'w' | 'M' | 'W' => 0.86,
        // Chinese, Japanese and Korean characters are square.
        '\u{2e80}'.. => 1.0,
        _ => 0.58,
    };
    FONT * text.chars().map(width).sum::<f64>()
}

/// The text, or its beginning and "…" when it is wider than `width` at `per_char` pixels a character.
fn shortened(text: &str, width: f64, per_char: f64) -> String {
    let most = (width / per_char) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
