//! What appears under the mouse: invisible bands, each with a line, dots on the curves and a text with the values.

use std::fmt::Write;

use super::Plot;
use super::area::{Area, num};
use super::frame::series_class;
use crate::number::human;
use crate::xml::escape;

/// The least width of a band, in pixels.
const BAND: f64 = 9.0;
/// Series told about in one text.
const TOLD: usize = 12;

/// The points of one band: for each series the one that is nearest to the middle of the band.
#[derive(Clone, Default)]
struct Band {
    points: Vec<(usize, (f64, f64))>,
}

pub(super) fn draw(body: &mut String, plot: &Plot, area: &Area) {
    if plot.is_plane || plot.series.iter().any(|s| !s.is_joined) {
        return;
    }
    let bands = bands(plot, area);
    let xs: Vec<f64> = bands.iter().map(|b| area.px(b.points[0].1.0)).collect();
    for (i, band) in bands.iter().enumerate() {
        // From half way to the neighbour on the left to half way to the one on the right.
        let from = if i == 0 { area.left } else { (xs[i - 1] + xs[i]) / 2.0 };
        let to = xs.get(i + 1).map_or(area.left + area.width, |next| (xs[i] + next) / 2.0);
        let _ = write!(
            body,
            "<g class=\"pb-hover\"><title>{}</title><rect class=\"pb-hit\" x=\"{}\" y=\"{}\" width=\"{}\" \
             height=\"{}\"/><path class=\"pb-axis\" d=\"M{} {}v{}\"/>",
            escape(&tell(plot, band)),
            num(from),
            num(area.top),
            num((to - from).max(0.5)),
            num(area.height),
            num(xs[i]),
            num(area.top),
            num(area.height),
        );
        for &(series, point) in &band.points {
            let (x, y) = area.pixel(point);
            let _ = write!(
                body,
                "<g class=\"{}\"><circle class=\"pb-dot\" cx=\"{}\" cy=\"{}\" r=\"4\"/></g>",
                series_class(series),
                num(x),
                num(y)
            );
        }
        body.push_str("</g>\n");
    }
}

fn bands(plot: &Plot, area: &Area) -> Vec<Band> {
    let count = ((area.width / BAND) as usize).max(1);
    let width = area.width / count as f64;
    let mut bands = vec![Band::default(); count];
    for (i, series) in plot.series.iter().enumerate().take(TOLD) {
        for &point in series.points.iter().filter(|&&p| area.takes(p)) {
            let at = (area.px(point.0) - area.left) / width;
            let index = (at.max(0.0) as usize).min(count - 1);
            let off_middle =
                |p: (f64, f64)| (((area.px(p.0) - area.left) / width) - (index as f64 + 0.5)).abs();
            match bands[index].points.last_mut() {
                Some((series, kept)) if *series == i => {
                    if off_middle(point) < off_middle(*kept) {
                        *kept = point;
                    }
                }
                Some(_) | None => bands[index].points.push((i, point)),
            }
        }
    }
    bands.retain(|b| !b.points.is_empty());
    bands
}

/// "time [s]: 0.5", then a line for each series.
fn tell(plot: &Plot, band: &Band) -> String {
    let x = band.points[0].1.0;
    let x_title = if plot.x.title.is_empty() { "x" } else { &plot.x.title };
    let mut text = format!("{x_title}: {}", human(x));
    for &(series, (at, y)) in &band.points {
        let name = match (plot.series[series].name.as_str(), plot.y.title.as_str()) {
            ("", "") => "y",
            ("", title) => title,
            (name, _) => name,
        };
        let _ = write!(text, "\n{name}: {}", human(y));
        if at != x {
            let _ = write!(text, " (at {})", human(at));
        }
    }
    text
}
