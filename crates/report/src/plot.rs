//! Plots as SVG: line charts, scatter plots and paths in a plane. No script, no font, no network.

mod area;
mod axis;
mod frame;
mod hover;
#[cfg(test)]
mod tests;
mod thin;

use axis::Scale;

/// The style sheet of plots: colours for light and dark pages, safe for the colour-blind (Okabe and Ito, 2008).
pub(crate) const THEME: &str = include_str!("theme.css");

/// A plot: a title, two axes, and series of points.
///
/// Any data draws: values that are not finite leave gaps, a logarithmic axis leaves out what is not positive and says
/// so, millions of points are thinned to what can be seen, and a plot without points says "no data".
///
/// ```
/// use pullback_report::Plot;
/// let t = [0.0, 0.5, 1.0];
/// let svg = Plot::line("Height").x("time [s]").y("height [m]").series("ball", &t, &[2.0, 0.8, 0.1]).svg();
/// assert!(svg.starts_with("<svg"));
/// ```
#[derive(Clone, Debug)]
pub struct Plot {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    targets: Vec<(String, [f64; 2])>,
    ground: Option<f64>,
    /// Both axes in the same scale, start and end of each series marked: a picture of a plane.
    is_plane: bool,
}

#[derive(Clone, Debug)]
struct Axis {
    title: String,
    scale: Scale,
}

#[derive(Clone, Debug)]
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    is_joined: bool,
}

/// How wide a plot is drawn, in pixels, and how high its inner area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) area: f64,
    /// Draw what appears under the mouse? Phones have none.
    pub(crate) hover: bool,
}

/// For a screen or paper.
pub(crate) const WIDE: Size = Size { width: 840.0, area: 270.0, hover: true };
/// For a phone.
pub(crate) const NARROW: Size = Size { width: 368.0, area: 210.0, hover: false };

impl Plot {
    /// A line chart.
    pub fn line(title: impl Into<String>) -> Self {
        let axis = || Axis { title: String::new(), scale: Scale::Linear };
        Plot {
            title: title.into(),
            x: axis(),
            y: axis(),
            series: Vec::new(),
            targets: Vec::new(),
            ground: None,
            is_plane: false,
        }
    }

    /// Paths in a plane: both axes have the same scale, and start and end of each path are marked.
    pub fn paths(title: impl Into<String>) -> Self {
        Plot { is_plane: true, ..Plot::line(title) }
    }

    /// The title of the x axis, with its unit: "time [s]".
    pub fn x(mut self, title: impl Into<String>) -> Self {
        self.x.title = title.into();
        self
    }

    /// The title of the y axis, with its unit: "height [m]".
    pub fn y(mut self, title: impl Into<String>) -> Self {
        self.y.title = title.into();
        self
    }

    /// Makes the x axis logarithmic.
    pub fn log_x(mut self) -> Self {
        self.x.scale = Scale::Log;
        self
    }

    /// Makes the y axis logarithmic.
    pub fn log_y(mut self) -> Self {
        self.y.scale = Scale::Log;
        self
    }

    /// Adds a line through these points. Where one slice is longer, the rest of it is not drawn.
    pub fn series(self, name: impl Into<String>, xs: &[f64], ys: &[f64]) -> Self {
        self.add(name.into(), xs.iter().copied().zip(ys.iter().copied()).collect(), true)
    }

    /// Adds points that no line joins.
    pub fn points(self, name: impl Into<String>, xs: &[f64], ys: &[f64]) -> Self {
        self.add(name.into(), xs.iter().copied().zip(ys.iter().copied()).collect(), false)
    }

    /// Adds a path through these points of the plane.
    pub fn path(self, name: impl Into<String>, points: &[[f64; 2]]) -> Self {
        self.add(name.into(), points.iter().map(|p| (p[0], p[1])).collect(), true)
    }

    /// Marks a point that something should reach.
    pub fn target(mut self, name: impl Into<String>, point: [f64; 2]) -> Self {
        self.targets.push((name.into(), point));
        self
    }

    /// Draws the ground at this y.
    pub fn ground(mut self, y: f64) -> Self {
        self.ground = Some(y);
        self
    }

    /// The plot as a file of its own.
    pub fn svg(&self) -> String {
        frame::draw(self, WIDE, Some(THEME))
    }

    /// The plot for a page that has the style sheet already.
    pub(crate) fn inline(&self, size: Size) -> String {
        frame::draw(self, size, None)
    }

    fn add(mut self, name: String, points: Vec<(f64, f64)>, is_joined: bool) -> Self {
        self.series.push(Series { name, points, is_joined });
        self
    }
}
