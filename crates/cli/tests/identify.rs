//! Identification through the command, and how a method without gradients compares.

mod common;

use common::{done, empty, scene};

/// What the recording was made with; `crates/solve/tests/identify.rs` makes it.
const TRUTH: [f64; 5] = [1.2, 60.0, 2.5, 0.25, 0.02];

#[test]
fn identification_and_its_comparison_with_cma_es() {
    let folder = empty("identify");
    let identify = scene("identify.toml");
    let said = done(
        &folder,
        &["solve", &identify, "--out", "run", "--compare", "cma-es", "--compare-evaluations", "1500"],
    );
    println!("{said}");
    let read = |name: &str| std::fs::read_to_string(folder.join("run").join(name)).expect("it is there");
    let solution: toml::Table = read("solution.toml").parse().expect("it is TOML");
    let variables = solution["variables"].as_array().expect("a list");
    for (variable, truth) in variables.iter().zip(TRUTH) {
        let value = variable["value"].as_float().expect("a number");
        assert!((value / truth - 1.0).abs() < 0.01, "{variable}");
    }
    let iterations = solution["iterations"].as_integer().expect("a number");
    assert!(iterations < 50, "{iterations}");

    // `cma-es: loss 12.4 in 0.8 s with 1073 evaluations, against 25 values, 0 gradients and 11 Jacobians`
    let line = said.lines().find_map(|line| line.strip_prefix("cma-es: loss ")).expect("a comparison");
    let words: Vec<&str> = line.split(' ').collect();
    let number = |i: usize| words[i].trim_end_matches(',').parse::<f64>().expect("a number");
    let (loss, evaluations) = (number(0), number(5));
    let least = solution["loss"].as_float().expect("a number");
    // A Jacobian of five variables costs as much as five pairs of values, or less.
    let ours = number(8) + number(10) + 10.0 * number(13);
    assert!(loss > 0.999 * least, "nothing is lower: {loss} and {least}");
    assert!(evaluations > 3.0 * ours, "{evaluations} and {ours}");

    let page = read("report.html");
    for wanted in [
        "levenberg-marquardt</td>",
        "cma-es</td>",
        "Position of block along x",
        "Velocity of ball along z",
        "measured, 1 of 8",
        "fitted",
        "<td>ground.mu [1]</td>",
        "trajectory in identify.csv",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }

    // Threads change nothing but the time.
    done(&folder, &["solve", &identify, "--out", "threads", "--threads", "2"]);
    let threads = std::fs::read_to_string(folder.join("threads/solution.toml")).expect("it is there");
    assert!(threads == read("solution.toml"));
}
