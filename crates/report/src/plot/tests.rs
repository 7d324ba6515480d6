//! Plots of all kinds of data are well formed and show what is there.

use super::Plot;
use crate::xml::first_fault;

/// The `d` attributes of all curves.
fn curves(svg: &str) -> Vec<&str> {
    let after = |text| Some(<str>::split_once(text, " d=\"")?.1.split_once('"')?.0);
    svg.split("<path class=\"pb-curve\"").skip(1).filter_map(after).collect()
}

/// The points of a path of M and L commands.
fn points(d: &str) -> Vec<(f64, f64)> {
    let number = |t: &str| t.parse::<f64>().expect("a number");
    let point = |p: &str| p.split_once(' ').map(|(x, y)| (number(x), number(y)));
    d.split(['M', 'L']).filter_map(point).collect()
}

/// Left, top, bottom and right of the axes.
fn axes(svg: &str) -> [f64; 4] {
    let d =
        svg.split("<path class=\"pb-axis\" d=\"M").nth(1).and_then(|t| t.split('"').next()).expect("axes");
    let mut numbers = d.split([' ', 'V', 'H']).map(|t| t.parse().expect("a number"));
    std::array::from_fn(|_| numbers.next().expect("four numbers"))
}

/// The points of the last curve; those before are in the legend.
fn last_curve(plot: &Plot) -> Vec<(f64, f64)> {
    let svg = plot.svg();
    points(curves(&svg).last().expect("a curve"))
}

#[test]
fn any_data_is_well_formed() {
    let nan = f64::NAN;
    let odd: [&[(f64, f64)]; 10] = [
        &[],
        &[(1.0, 2.0)],
        &[(0.0, 0.0), (0.0, 0.0)],
        &[(nan, 1.0), (1.0, nan), (f64::INFINITY, f64::NEG_INFINITY)],
        &[(0.0, 1.0), (1.0, nan), (2.0, 3.0), (3.0, 4.0)],
        &[(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)],
        &[(0.0, -1.0), (1.0, 0.0), (2.0, 1e-9), (3.0, 1e9)],
        &[(0.0, 1e308), (1.0, -1e308), (2.0, 5e-324)],
        &[(0.0, 1e300), (1.0, 1e-300)],
        &[(1e15, 1.0), (1e15 + 1.0, 1.0 + 1e-13)],
    ];
    for data in odd {
        let (x, y): (Vec<f64>, Vec<f64>) = data.iter().copied().unzip();
        for plot in [Plot::line("a"), Plot::paths("b").ground(0.0).target("t", [1.0, 1.0])] {
            for plot in [plot.clone(), plot.clone().log_y(), plot.log_x().log_y()] {
                for plot in [plot.clone().series("s", &x, &y), plot.points("p", &x, &y)] {
                    let svg = plot.x("x").y("y").svg();
                    assert_eq!(first_fault(&svg), None, "{data:?}");
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{data:?}\n{svg}");
                }
            }
        }
    }
}

#[test]
fn a_line_goes_where_its_values_are() {
    let line = last_curve(&Plot::line("a").series("s", &[0.0, 1.0, 2.0], &[-1.0, 1.0, 0.0]));
    assert_eq!(line.len(), 3);
    assert!((line[1].0 - (line[0].0 + line[2].0) / 2.0).abs() <= 0.1, "linear in x");
    assert!((line[2].1 - (line[0].1 + line[1].1) / 2.0).abs() <= 0.1, "linear in y");
    assert!(line[1].1 < line[0].1, "up is up");
    let log = last_curve(&Plot::line("a").log_y().series("s", &[0.0, 1.0, 2.0], &[1e-3, 1e3, 1.0]));
    assert!((log[2].1 - (log[0].1 + log[1].1) / 2.0).abs() <= 0.1, "1 is half way from 0.001 to 1000");
}

#[test]
fn a_gap_breaks_the_line_and_is_told() {
    let plot = Plot::line("a").series("s", &[0.0, 1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, f64::NAN, 2.0, 1.0]);
    let svg = plot.svg();
    assert_eq!(curves(&svg).last().expect("a curve").matches('M').count(), 2);
    assert!(svg.contains("1 point is not finite"));
}

#[test]
fn what_a_log_axis_cannot_show_is_marked_and_told() {
    let plot = Plot::line("a").log_y().series("s", &[0.0, 1.0, 2.0, 3.0], &[1.0, 0.1, 0.0, -1.0]);
    let svg = plot.svg();
    assert!(svg.contains("class=\"pb-below\"") && svg.contains("2 points are not positive"));
    assert_eq!(last_curve(&plot).len(), 2);
    let none = Plot::line("a").log_y().series("s", &[0.0], &[0.0]).svg();
    assert!(none.contains("no data") && none.contains("1 point is not positive"));
    assert!(Plot::line("empty").svg().contains("no data"));
}

#[test]
fn a_million_points_stay_small_and_keep_the_spike() {
    let x: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    let mut y = vec![0.0; x.len()];
    y[765_432] = 1.0;
    let plot = Plot::line("a").series("s", &x, &y);
    let svg = plot.svg();
    assert!(svg.len() < 150_000, "{} bytes", svg.len());
    let line = last_curve(&plot);
    let highest = line.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).expect("points");
    let (first, last) = (line[0], line[line.len() - 1]);
    let part = (highest.0 - first.0) / (last.0 - first.0);
    assert!((part - 0.765432).abs() < 2e-3 && highest.1 < first.1 - 100.0, "{highest:?}");
}

#[test]
fn few_points_and_lone_points_are_dots() {
    let dots = |plot: &Plot| plot.svg().matches("r=\"3\"").count();
    assert_eq!(dots(&Plot::line("a").series("s", &[0.0, 1.0, 2.0], &[0.0, 1.0, 2.0])), 3);
    let x: Vec<f64> = (0..300).map(f64::from).collect();
    let mut y = x.clone();
    assert_eq!(dots(&Plot::line("a").series("s", &x, &y)), 0);
    (y[149], y[151]) = (f64::NAN, f64::NAN);
    assert_eq!(dots(&Plot::line("a").series("s", &x, &y)), 1, "a point between two gaps");
}

#[test]
fn a_plane_has_one_scale() {
    for (width, height) in [(4.0, 1.0), (1.0, 9.0), (1e-3, 1e-3)] {
        let square = [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]];
        let plot = Plot::paths("a").path("s", &square);
        let line = last_curve(&plot);
        let (across, up) = (line[1].0 - line[0].0, line[1].1 - line[2].1);
        assert!((across / up / (width / height) - 1.0).abs() < 0.03, "{width} x {height}: {across} x {up}");
        let [left, top, bottom, right] = axes(&plot.svg());
        let is_inside = |p: &(f64, f64)| left < p.0 && p.0 < right && top < p.1 && p.1 < bottom;
        assert!(line.iter().all(is_inside), "{width} x {height}");
    }
}

#[test]
fn a_path_marks_its_ends_target_and_ground() {
    let svg =
        Plot::paths("a").path("s", &[[0.0, 1.0], [1.0, 2.0]]).target("goal", [2.0, 2.0]).ground(0.0).svg();
    for mark in
        ["s, start</title>", "s, end</title>", ">goal</text>", "class=\"pb-ground\"", "class=\"pb-target\""]
    {
        assert!(svg.contains(mark), "{mark}");
    }
}

#[test]
fn the_mouse_finds_values() {
    let plot = Plot::line("a").x("time [s]").series("left", &[0.0, 1.0], &[3.0, 4.5]).series(
        "right",
        &[0.0],
        &[7.0],
    );
    let svg = plot.svg();
    assert!(svg.contains("<title>time [s]: 0\nleft: 3\nright: 7</title>"), "{svg}");
    assert!(svg.contains("<title>time [s]: 1\nleft: 4.5</title>"));
}

#[test]
fn the_legend_names_what_the_title_does_not() {
    let named = |plot: Plot| plot.series("loss", &[0.0, 1.0], &[1.0, 2.0]).svg().contains(">loss</text>");
    assert!(!named(Plot::line("Loss")) && !named(Plot::line("a").y("loss [m]")) && named(Plot::line("a")));
    let many = (0..30).fold(Plot::line("a"), |p, i| p.series(format!("joint {i}"), &[0.0], &[0.0])).svg();
    assert!(
        many.contains(">joint 19</text>")
            && !many.contains(">joint 20</text>")
            && many.contains("and 10 more")
    );
}
