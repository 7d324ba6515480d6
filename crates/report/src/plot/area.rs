//! What is between the axes: curves, dots, targets and the ground.

use std::fmt::Write;

use super::axis::{Range, Scale};
use super::frame::{dashes, series_class, text, text_width};
use super::thin::{Pixel, thin};
use super::{Plot, Series};
use crate::number::human;
use crate::xml::escape;

/// Up to this many points of a line are shown as dots.
const SPARSE: usize = 40;
/// Points of a scatter plot with a text of their own; a browser slows down beyond.
const TOLD: usize = 500;

/// The inner rectangle in pixels and the values that it shows.
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) x: Range,
    pub(super) y: Range,
}

impl Area {
    pub(super) fn px(&self, x: f64) -> f64 {
        self.left + self.width * self.x.part(x)
    }

    pub(super) fn py(&self, y: f64) -> f64 {
        self.top + self.height * (1.0 - self.y.part(y))
    }

    pub(super) fn takes(&self, point: (f64, f64)) -> bool {
        self.x.scale.takes(point.0) && self.y.scale.takes(point.1)
    }

    pub(super) fn pixel(&self, point: (f64, f64)) -> Pixel {
        (self.px(point.0), self.py(point.1))
    }

    pub(super) fn draw(&self, body: &mut String, plot: &Plot) {
        if let Some(ground) = plot.ground.filter(|&g| self.y.scale.takes(g)) {
            self.ground(body, ground);
        }
        for (i, series) in plot.series.iter().enumerate() {
            let _ = write!(body, "<g class=\"{}\">", series_class(i));
            if series.is_joined {
                self.line(body, series, i, plot.is_plane);
            } else {
                self.dots(body, plot, series);
            }
            self.not_positive(body, series);
            body.push_str("</g>\n");
        }
        for (name, at) in plot.targets.iter().filter(|t| self.takes((t.1[0], t.1[1]))) {
            self.target(body, plot, name, *at);
        }
    }

    fn ground(&self, body: &mut String, ground: f64) {
        let (y, bottom) = (self.py(ground), self.top + self.height);
        let _ = writeln!(
            body,
            "<rect class=\"pb-earth\" x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\"/>\
             <path class=\"pb-ground\" d=\"M{0} {1}h{2}\"/>",
            num(self.left),
            num(y),
            num(self.width),
            num((bottom - y).max(0.0)),
        );
    }

    /// A line, broken where a point cannot be drawn; lone points as dots, all points when there are few.
    fn line(&self, body: &mut String, series: &Series, index: usize, mark_ends: bool) {
        let mut d = String::new();
        let mut dots: Vec<(f64, f64)> = Vec::new();
        let mut drawable = 0;
        let connected = |a: &(f64, f64), b: &(f64, f64)| self.takes(*a) && self.takes(*b);
        for run in series.points.chunk_by(connected).filter(|run| self.takes(run[0])) {
            drawable += run.len();
            if run.len() == 1 {
                dots.push(run[0]);
                continue;
            }
            let pixels: Vec<Pixel> = run.iter().map(|&p| self.pixel(p)).collect();
            for (i, (x, y)) in thin(&pixels).into_iter().enumerate() {
                let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, num(x), num(y));
            }
        }
        if !d.is_empty() {
            let name = escape(&series.name);
            let _ = writeln!(
                body,
                "<path class=\"pb-curve\"{} d=\"{d}\"><title>{name}</title></path>",
                dashes(index)
            );
        }
        if drawable <= SPARSE && !mark_ends {
            dots = series.points.iter().copied().filter(|&p| self.takes(p)).collect();
        }
        dots.truncate(TOLD);
        for point in dots {
            self.circle(body, "pb-dot", 3.0, point, &series.name);
        }
        if mark_ends {
            let mut ends = series.points.iter().copied().filter(|&p| self.takes(p));
            if let Some(first) = ends.next() {
                self.circle(body, "pb-ring", 3.5, first, &format!("{}, start", series.name));
                self.circle(
                    body,
                    "pb-dot",
                    4.5,
                    ends.next_back().unwrap_or(first),
                    &format!("{}, end", series.name),
                );
            }
        }
    }

    /// Points without a line; many are drawn as one path, one for each pixel that is hit.
    fn dots(&self, body: &mut String, plot: &Plot, series: &Series) {
        let points: Vec<(f64, f64)> = series.points.iter().copied().filter(|&p| self.takes(p)).collect();
        if points.len() <= TOLD {
            for point in points {
                let name =
                    format!("{}\n{}: {}\n{}: ", series.name, plot.x.title, human(point.0), plot.y.title);
                self.circle(body, "pb-dot", 3.0, point, &(name + &human(point.1)));
            }
            return;
        }
        let mut hit: Vec<(i64, i64)> = points
            .iter()
            .map(|&p| self.pixel(p))
            .map(|(x, y)| (x.round() as i64, y.round() as i64))
            .collect();
        hit.sort_unstable();
        hit.dedup();
        let d: String = hit.iter().map(|(x, y)| format!("M{x} {y}h.01")).collect();
        let _ = writeln!(body, "<path class=\"pb-curve\" style=\"stroke-width:3\" d=\"{d}\"/>");
    }

    fn circle(&self, body: &mut String, class: &str, radius: f64, point: (f64, f64), title: &str) {
        let (x, y) = self.pixel(point);
        let _ = writeln!(
            body,
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{radius}\"><title>{}</title></circle>",
            num(x),
            num(y),
            escape(title)
        );
    }

    /// Small triangles at the bottom where a logarithmic axis cannot show a value that is zero or negative.
    fn not_positive(&self, body: &mut String, series: &Series) {
        if self.y.scale != Scale::Log {
            return;
        }
        let is_low = |p: &&(f64, f64)| {
            self.x.scale.takes(p.0) && p.1.is_finite() && p.1 < 1.0 && !self.y.scale.takes(p.1)
        };
        let mut places: Vec<i64> = series
            .points
            .iter()
            .filter(is_low)
            .map(|p| (self.px(p.0) / 9.0).floor() as i64 * 9 + 4)
            .collect();
        places.sort_unstable();
        places.dedup();
        let bottom = num(self.top + self.height - 1.0);
        let d: String = places.iter().map(|x| format!("M{x} {bottom}l-4 -7h8z")).collect();
        if !d.is_empty() {
            let _ =
                writeln!(body, "<path class=\"pb-below\" d=\"{d}\"><title>zero or negative</title></path>");
        }
    }

    fn target(&self, body: &mut String, plot: &Plot, name: &str, at: [f64; 2]) {
        let (x, y) = self.pixel((at[0], at[1]));
        let title = format!("{name}\n{}: {}\n{}: {}", plot.x.title, human(at[0]), plot.y.title, human(at[1]));
        let _ = write!(body, "<g>{}<title>{}</title></g>", cross((x, y)), escape(&title));
        if plot.targets.len() <= 8 && !name.is_empty() {
            let fits = x + 11.0 + text_width(name) <= self.left + self.width;
            let x = if fits { x + 11.0 } else { x - 11.0 - text_width(name) };
            text(body, "pb-name", (x, y - 7.0), name);
        }
    }
}

/// The mark of a target: a ring with a cross.
pub(super) fn cross(at: Pixel) -> String {
    let (x, y) = (num(at.0), num(at.1));
    format!(
        "<path class=\"pb-target\" d=\"M{x} {y}m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0m-3.5 0h17m-8.5 -8.5v17\"/>"
    )
}

/// A length in pixels, to a tenth.
pub(super) fn num(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}
