//! Writes a demonstration of everything a report can hold: `cargo run -p pullback-report --example report FOLDER`.
//!
//! Without a folder it writes to a temporary one, which is removed at the end.

use std::error::Error;
use std::f64::consts::TAU;
use std::io::Write;
use std::path::PathBuf;

use pullback_report::{
    Change, Csv, Existing, NpzError, NpzWriter, Playback, Plot, Report, RunFolder, Surface, Table, read_npz,
};

/// Drag-free flight from `start` with velocity `v` under gravity [m], sampled at `times` [s].
fn flight(times: &[f64], start: [f64; 3], v: [f64; 3]) -> Vec<[f64; 3]> {
    let at = |t: f64| [start[0] + v[0] * t, start[1] + v[1] * t, start[2] + v[2] * t - 4.905 * t * t];
    times.iter().map(|&t| at(t)).collect()
}

fn side(path: &[[f64; 3]]) -> Vec<[f64; 2]> {
    path.iter().map(|p| [p[0], p[2]]).collect()
}

/// The loss plot: three optimisers, one of which reaches zero and one of which diverges.
fn losses() -> Plot {
    let iterations: Vec<f64> = (0..=120).map(f64::from).collect();
    let curve = |f: fn(f64) -> f64| iterations.iter().map(|&i| f(i)).collect::<Vec<f64>>();
    let adam = curve(|i| 3.0 * (-0.09 * i).exp() * (1.0 + 0.4 * (0.7 * i).sin()) + 1e-7);
    let descent = curve(|i| 3.0 / (1.0 + 0.3 * i).powi(2));
    let newton = curve(|i| if i < 12.0 { 3.0 * (-0.12 * i * i).exp() } else { 0.0 });
    Plot::line("Loss")
        .x("iteration")
        .y("loss [m²]")
        .log_y()
        .series("adam", &iterations, &adam)
        .series("gradient descent", &iterations, &descent)
        .series("gauss-newton", &iterations, &newton)
}

/// A signal of many points with a spike that thinning must keep.
fn forces() -> Plot {
    let times: Vec<f64> = (0..200_000).map(|i| f64::from(i) * 1e-5).collect();
    let mut force: Vec<f64> = times
        .iter()
        .map(|t| 40.0 * (TAU * 3.0 * t).sin() * (-t).exp() + 6.0 * (TAU * 900.0 * t).sin())
        .collect();
    force[120_000] = 95.0;
    force[50_000..70_000].fill(f64::NAN);
    Plot::line("Contact force").x("time [s]").y("force [N]").series("contact force", &times, &force)
}

fn aim() -> (Plot, Vec<[f64; 3]>, Vec<f64>) {
    let times: Vec<f64> = (0..=160).map(|i| f64::from(i) * 0.01).collect();
    let start = [0.0, 0.0, 1.5];
    let first = flight(&times[..120], start, [2.6, 0.9, 4.0]);
    let last = flight(&times, start, [3.4, 1.3, 6.9]);
    let plot = Plot::paths("Flight, seen from the side")
        .x("x [m]")
        .y("z [m]")
        .path("first guess", &side(&first))
        .path("after 120 iterations", &side(&last))
        .target("hoop", [last[150][0], last[150][2]])
        .ground(0.0);
    (plot, last, times)
}

/// A square cloth with corners held that swings, and the ball from [`aim`].
fn cloth(ball: &[[f64; 3]], times: &[f64]) -> Playback {
    const N: usize = 9;
    let place = |i: usize, j: usize, t: f64| {
        let (u, v) = (i as f64 / (N - 1) as f64, j as f64 / (N - 1) as f64);
        let sag =
            0.6 * (1.0 - (-2.0 * t).exp() * (5.0 * t).cos()) * (TAU / 2.0 * u).sin() * (TAU / 2.0 * v).sin();
        [4.0 + 2.0 * u, 1.0 + 2.0 * v, 1.4 - sag]
    };
    let cells = || (0..N).flat_map(|i| (0..N).map(move |j| (i, j)));
    let frame = |k: usize| {
        let cloth = cells().map(|(i, j)| place(i, j, times[k]));
        std::iter::once(ball[k]).chain(cloth).map(|p| p.map(|c| c as f32)).collect()
    };
    let first = cells().filter(|(i, j)| i + 1 < N && j + 1 < N).map(|(i, j)| 1 + i * N + j);
    let triangles = first.flat_map(|a| [[a, a + N, a + N + 1], [a, a + N + 1, a + 1]]).collect();
    Playback {
        times: times.to_vec(),
        positions: (0..times.len()).map(frame).collect(),
        surfaces: vec![Surface { triangles, two_sided: true }],
        ground: Some(0.0),
        targets: vec![ball[150]],
        names: vec!["ball".into()],
        radii: vec![0.12],
        ..Playback::default()
    }
}

/// Plots that show how odd data is drawn.
fn oddities() -> Vec<Plot> {
    let days: Vec<f64> = (0..12).map(f64::from).collect();
    let sparse: Vec<f64> =
        days.iter().map(|d| if *d == 5.0 { f64::NAN } else { 2e-6 * (d + (d * 2.0).sin()) }).collect();
    // A sunflower: the golden angle spreads the points evenly.
    let index: Vec<f64> = (0..3000).map(f64::from).collect();
    let cloud = |f: fn(f64) -> f64| index.iter().map(|i| i.sqrt() * f(2.399963 * i)).collect::<Vec<f64>>();
    let many = (0..9).fold(Plot::line("Nine joints").x("time [s]").y("angle [rad]"), |plot, k| {
        let t: Vec<f64> = (0..400).map(|i| f64::from(i) * 0.01).collect();
        let q: Vec<f64> =
            t.iter().map(|t| (t * (1.0 + 0.1 * f64::from(k)) + f64::from(k) * 0.4).sin()).collect();
        plot.series(format!("joint {k}"), &t, &q)
    });
    vec![
        Plot::line("Few points, one missing").x("day").y("drift [m]").series("measured", &days, &sparse),
        Plot::line("Scatter").x("x [m]").y("y [m]").points("samples", &cloud(f64::cos), &cloud(f64::sin)),
        many,
        Plot::line("Constant").x("time [s]").y("energy [J]").series(
            "energy",
            &[0.0, 1.0, 2.0],
            &[5.0, 5.0, 5.0],
        ),
        Plot::line("Nothing").x("time [s]").y("energy [J]").log_y().series(
            "energy",
            &[0.0, 1.0],
            &[0.0, -1.0],
        ),
    ]
}

fn page(ball: &[[f64; 3]], times: &[f64], flight: &Plot) -> String {
    let mut table = Table::new(["body", "kind", "mass [kg]", "contacts"]);
    table.row(["ball".into(), "sphere".into(), 0.6.into(), 14_i64.into()]);
    table.row([
        "cloth".into(),
        "81 particles, 128 triangles".into(),
        1.234567e-5.into(),
        1_204_000_i64.into(),
    ]);
    table.row([
        "<script>alert(\"name\")</script>".into(),
        "a hostile name & its 'quotes'".into(),
        1e12.into(),
        0_i64.into(),
    ]);
    let changes = [
        Change::new("throw.velocity.x [m/s]", 2.6, 3.4),
        Change::new("throw.velocity.y [m/s]", 0.9, 1.3),
        Change::new("throw.velocity.z [m/s]", 4.0, 6.9),
        Change::new("cloth.stiffness [N/m]", 1200.0, 871.25),
        Change::new("cloth.damping [N·s/m]", 0.5, 0.5),
        Change::new("wind [m/s]", 0.0, -0.02),
    ];
    Report::new("Throw a ball through a hoop")
        .summary(&[
            ("problem", "throw.toml"),
            ("optimiser", "adam"),
            ("iterations", "120"),
            ("loss before", "3"),
            ("loss after", "1.1×10⁻⁷"),
            ("variables", "6"),
            ("steps", "160"),
            ("time", "0.84 s"),
        ])
        .section("Loss", |s| {
            s.text("The loss is the squared distance between ball and hoop 1.5 s after the throw.");
            s.plot(&losses());
        })
        .section("Parameters", |s| {
            s.changes(&changes);
        })
        .section("Flight", |s| {
            s.plot(flight);
            s.playback(&cloth(ball, times));
        })
        .section("Forces", |s| {
            s.text("Twenty thousand samples in the middle are missing, one is a spike.");
            s.plot(&forces());
            s.table(&table);
        })
        .section("Odd data", |s| {
            for plot in oddities() {
                s.plot(&plot);
            }
            s.code("[problem]\nname = \"throw\"   # <b>not bold</b>\n");
        })
        .file("loss.csv", Some(2_345), "loss by iteration")
        .file("trajectory.npz", Some(1_440_000), "times and positions; numpy.load reads it")
        .html()
}

fn main() -> Result<(), Box<dyn Error>> {
    let given = std::env::args().nth(1).map(PathBuf::from);
    let path =
        given.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("report-{}", std::process::id())));
    let (plot, ball, times) = aim();
    let html = page(&ball, &times, &plot);

    let run = RunFolder::create(&path, Existing::Replace)?;
    run.write("report.html", |out| out.write_all(html.as_bytes()))?;
    run.write("flight.svg", |out| out.write_all(plot.svg().as_bytes()))?;
    run.write("loss.csv", |out| {
        let mut csv = Csv::new(out, &["iteration", "loss"])?;
        (0..120).try_for_each(|i| csv.row([f64::from(i), (-0.1 * f64::from(i)).exp()]))
    })?;
    let arrays = run.write("trajectory.npz", |out| -> Result<(), NpzError> {
        let mut npz = NpzWriter::new(out);
        npz.array("times", &[times.len()], times.iter().copied())?;
        npz.array("ball", &[ball.len(), 3], ball.iter().flatten().copied())?;
        npz.finish().map(drop)
    })?;

    assert!(html.len() < 2_000_000, "the page has {} bytes", html.len());
    assert!(!html.contains("<script>alert") && !html.contains("<b>not bold"), "names are shown, not run");
    assert_eq!(read_npz(&arrays)?[1].1, [161, 3]);
    println!("wrote {} ({} kB of page)", path.display(), html.len() / 1000);
    drop(run);
    if given.is_none() {
        std::fs::remove_dir_all(&path)?;
    }
    Ok(())
}
