//! What the two sides printed: the best of each case, their quotient, and who is ahead.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// One line of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// SIZE-OR-MODEL/PASS/VARIANT; a peer has no VARIANT.
    pub case: String,
    pub unit: String,
    pub value: f64,
}

/// One case of Pullback, with what the peer has for the same size and pass.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub case: String,
    pub unit: String,
    pub pullback: f64,
    pub peer: Option<PeerValue>,
    /// Above 1: Pullback is ahead. None where there is no peer, or nothing to be ahead in.
    pub ratio: Option<f64>,
}

#[derive(Debug, PartialEq)]
pub struct PeerValue {
    pub name: String,
    pub value: f64,
}

/// Which values of a unit are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Higher,
    Lower,
    /// The unit "1" marks a result, which both sides must agree on.
    Neither,
}

impl Better {
    fn of(unit: &str) -> Self {
        match unit {
            "1" => Self::Neither,
            rate if rate.ends_with("/s") => Self::Higher,
            _ => Self::Lower,
        }
    }
}

/// What one pass costs in units of another: SIZE/NAME/VARIANT is added after SIZE/OF/VARIANT.
struct Quotient {
    name: &'static str,
    of: &'static str,
    over: &'static str,
}

const QUOTIENTS: &[Quotient] = &[
    Quotient { name: "pullback-over-forward", of: "pullback", over: "forward" },
    Quotient { name: "pullback-over-forward", of: "pullback", over: "forward-dynamics" },
    Quotient { name: "gradient-over-forward", of: "gradient", over: "forward" },
    Quotient { name: "gradient-over-step", of: "step-gradient", over: "step" },
    Quotient { name: "scalar-over-lanes", of: "scalar-f64", over: "lanes-f32" },
];

/// Results of f32 sums in another order differ in the sixth digit; a different scene, or step count, in the first ones.
const AGREEMENT: f64 = 1e-3;

/// The rows in what a side printed; other lines (banners, warnings) are for people and go on to stderr.
pub fn parse(output: &str) -> Result<Vec<Measurement>> {
    let (rows, other): (Vec<&str>, Vec<&str>) = output.lines().partition(|line| line.starts_with('{'));
    other.iter().for_each(|line| eprintln!("{line}"));
    ensure!(!rows.is_empty(), "printed no row");
    rows.into_iter().map(|line| parse_row(line).with_context(|| format!("not a row: {line}"))).collect()
}

fn parse_row(line: &str) -> Result<Measurement> {
    let object: Value = serde_json::from_str(line)?;
    let text =
        |key: &str| object[key].as_str().map(str::to_owned).with_context(|| format!("no text \"{key}\""));
    let value = object["value"].as_f64().context("no number \"value\"")?;
    Ok(Measurement { case: text("case")?, unit: text("unit")?, value })
}

/// Merge a round into the best so far.
pub fn keep_best(best: &mut Vec<Measurement>, round: Vec<Measurement>) -> Result<()> {
    for new in round {
        let Some(old) = best.iter_mut().find(|old| old.case == new.case) else {
            best.push(new);
            continue;
        };
        ensure!(old.unit == new.unit, "{} was measured in {} and in {}", new.case, old.unit, new.unit);
        match Better::of(&new.unit) {
            Better::Higher => old.value = old.value.max(new.value),
            Better::Lower => old.value = old.value.min(new.value),
            Better::Neither => {}
        }
    }
    Ok(())
}

/// Add the quotients of what a side has. They come from the best of all rounds: the best quotient of one round would be
/// that in which the other pass was disturbed most.
pub fn with_quotients(side: &[Measurement]) -> Vec<Measurement> {
    let mut all = Vec::new();
    for row in side {
        all.push(row.clone());
        let case = Case::new(&row.case);
        for quotient in QUOTIENTS.iter().filter(|quotient| quotient.of == case.pass) {
            let over = case.with_pass(quotient.over);
            if let Some(over) = side.iter().find(|other| other.case == over && other.unit == row.unit) {
                let (case, value) = (case.with_pass(quotient.name), cost(row) / cost(over));
                all.push(Measurement { case, unit: "x".into(), value });
            }
        }
    }
    all
}

/// A number that is the smaller the better.
fn cost(row: &Measurement) -> f64 {
    match Better::of(&row.unit) {
        Better::Higher => 1.0 / row.value,
        Better::Lower | Better::Neither => row.value,
    }
}

/// Put the peer's row for the same size and pass beside each of Pullback's.
pub fn join(pullback: &[Measurement], peer_name: &str, peer: &[Measurement]) -> Result<Vec<Row>> {
    pullback.iter().map(|ours| join_row(ours, peer_name, peer)).collect()
}

fn join_row(ours: &Measurement, peer_name: &str, peer: &[Measurement]) -> Result<Row> {
    let case = Case::new(&ours.case);
    let same = |theirs: &&Measurement| {
        let other = Case::new(&theirs.case);
        (other.size, other.pass) == (case.size, case.pass)
    };
    let theirs = peer.iter().find(same);
    if let Some(theirs) = theirs.filter(|theirs| theirs.unit != ours.unit) {
        bail!("{} is in {}, but the peer's {} in {}", ours.case, ours.unit, theirs.case, theirs.unit);
    }
    let ratio = theirs.and_then(|theirs| match Better::of(&ours.unit) {
        Better::Higher => Some(ours.value / theirs.value),
        Better::Lower => Some(theirs.value / ours.value),
        Better::Neither => None,
    });
    Ok(Row {
        case: ours.case.clone(),
        unit: ours.unit.clone(),
        pullback: ours.value,
        peer: theirs.map(|theirs| PeerValue { name: peer_name.to_owned(), value: theirs.value }),
        ratio,
    })
}

/// A race between two computations that differ says nothing: fail when a result (unit "1") differs from the peer's.
pub fn check_agreement(rows: &[Row]) -> Result<()> {
    for row in rows.iter().filter(|row| Better::of(&row.unit) == Better::Neither) {
        let Some(peer) = &row.peer else { continue };
        let difference = (row.pullback - peer.value).abs();
        // Written so that a NaN fails.
        let agree = difference <= AGREEMENT * peer.value.abs();
        ensure!(
            agree,
            "{}: pullback has {}, {} has {}; the two do not compute the same thing",
            row.case,
            row.pullback,
            peer.name,
            peer.value
        );
    }
    Ok(())
}

/// A case name, taken apart.
struct Case<'a> {
    size: &'a str,
    pass: &'a str,
    variant: Option<&'a str>,
}

impl<'a> Case<'a> {
    fn new(name: &'a str) -> Self {
        let mut parts = name.splitn(3, '/');
        Self {
            size: parts.next().unwrap_or_default(),
            pass: parts.next().unwrap_or_default(),
            variant: parts.next(),
        }
    }

    fn with_pass(&self, pass: &str) -> String {
        match self.variant {
            Some(variant) => format!("{}/{pass}/{variant}", self.size),
            None => format!("{}/{pass}", self.size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(case: &str, unit: &str, value: f64) -> Measurement {
        Measurement { case: case.into(), unit: unit.into(), value }
    }

    fn joined(ours: Measurement, theirs: Measurement) -> Row {
        join_row(&ours, "warp-lang", &[theirs]).expect("the units are the same")
    }

    #[test]
    fn rows_are_found_between_other_lines() -> Result<()> {
        let output = "Warp initialised\n{\"case\": \"100/forward\", \"unit\": \"steps/s\", \"value\": 2, \"steps\": 9}\n";
        assert_eq!(parse(output)?, [measured("100/forward", "steps/s", 2.0)]);
        Ok(())
    }

    #[test]
    fn what_is_not_a_row_is_an_error() {
        for output in
            ["", "{\"case\": \"100/forward\"}", "{\"case\": 1, \"unit\": \"us\", \"value\": 1}", "{"]
        {
            parse(output).expect_err(output);
        }
    }

    #[test]
    fn the_best_of_several_rounds_is_kept() -> Result<()> {
        let mut best = Vec::new();
        for (rate, time, result) in [(10.0, 3.0, 7.0), (12.0, 2.0, 8.0), (11.0, 4.0, 9.0)] {
            let round = [("a/forward", "steps/s", rate), ("a/step", "us", time), ("a/norm", "1", result)];
            keep_best(&mut best, round.map(|(case, unit, value)| measured(case, unit, value)).to_vec())?;
        }
        let expected = [("a/forward", "steps/s", 12.0), ("a/step", "us", 2.0), ("a/norm", "1", 7.0)];
        assert_eq!(best, expected.map(|(case, unit, value)| measured(case, unit, value)));
        Ok(())
    }

    #[test]
    fn a_unit_that_changes_between_rounds_is_an_error() {
        let mut best = vec![measured("a/forward", "steps/s", 1.0)];
        keep_best(&mut best, vec![measured("a/forward", "us", 1.0)]).expect_err("the units differ");
    }

    #[test]
    fn every_variant_is_joined_with_the_peers_row_of_its_size_and_pass() -> Result<()> {
        let ours = [
            measured("100/forward/scalar", "steps/s", 20.0),
            measured("100/forward/lanes", "steps/s", 50.0),
            measured("1000/forward/scalar", "steps/s", 3.0),
            measured("100/pullback/scalar", "steps/s", 9.0),
        ];
        let theirs = [measured("100/forward", "steps/s", 10.0), measured("1000/forward", "steps/s", 2.0)];
        let rows = join(&ours, "warp-lang", &theirs)?;
        assert_eq!(
            rows.iter().map(|row| row.ratio).collect::<Vec<_>>(),
            [Some(2.0), Some(5.0), Some(1.5), None]
        );
        assert_eq!(rows[1].peer, Some(PeerValue { name: "warp-lang".into(), value: 10.0 }));
        assert_eq!(rows[3].peer, None);
        Ok(())
    }

    #[test]
    fn a_ratio_above_one_means_that_pullback_is_ahead() {
        for (unit, ours, theirs) in
            [("steps/s", 30.0, 10.0), ("us", 10.0, 30.0), ("bytes", 10.0, 30.0), ("x", 10.0, 30.0)]
        {
            let row = joined(measured("a/p/v", unit, ours), measured("a/p", unit, theirs));
            assert_eq!(row.ratio, Some(3.0), "{unit}");
        }
    }

    #[test]
    fn sides_in_different_units_are_not_compared() {
        let error = join(&[measured("a/p/v", "us", 1.0)], "warp-lang", &[measured("a/p", "ms", 1.0)])
            .expect_err("the units differ");
        assert_eq!(error.to_string(), "a/p/v is in us, but the peer's a/p in ms");
    }

    #[test]
    fn results_have_no_ratio_but_must_agree() {
        let norm = |value| measured("100/gradient-norm", "1", value);
        let same = joined(norm(40.1722), norm(40.1721));
        assert_eq!(same.ratio, None);
        assert!(same.peer.is_some());
        check_agreement(&[same]).expect("they differ in the sixth digit only");
        for wrong in [41.0, f64::NAN] {
            check_agreement(&[joined(norm(wrong), norm(40.1721))]).expect_err("they differ");
        }
    }

    #[test]
    fn pullback_over_forward_is_added_for_each_variant() {
        let ours = [
            measured("100/forward/scalar", "steps/s", 20.0),
            measured("100/forward/lanes", "steps/s", 60.0),
            measured("100/pullback/scalar", "steps/s", 10.0),
            measured("100/pullback/lanes", "steps/s", 20.0),
            measured("100/pullback/threads", "steps/s", 20.0),
        ];
        let all = with_quotients(&ours);
        let added: Vec<_> = all.iter().filter(|row| !ours.contains(row)).cloned().collect();
        assert_eq!(
            added,
            [
                measured("100/pullback-over-forward/scalar", "x", 2.0),
                measured("100/pullback-over-forward/lanes", "x", 3.0),
            ]
        );
        assert_eq!(all[3], added[0], "it follows its pullback");
    }

    #[test]
    fn quotients_are_of_times_too() {
        let of = |side: &[Measurement]| with_quotients(side).last().cloned();
        let times = [measured("a/forward-dynamics", "us", 2.0), measured("a/pullback", "us", 3.0)];
        assert_eq!(of(&times), Some(measured("a/pullback-over-forward", "x", 1.5)));
        let rates = [measured("a/lanes-f32", "worlds/s", 10.0), measured("a/scalar-f64", "worlds/s", 2.0)];
        assert_eq!(of(&rates), Some(measured("a/scalar-over-lanes", "x", 5.0)));
        let units = [measured("a/forward-dynamics", "us", 2.0), measured("a/pullback", "ns", 3.0)];
        assert_eq!(with_quotients(&units), units, "other units have no quotient");
    }

    #[test]
    fn pullback_over_forward_is_added_for_the_peer() {
        let theirs = [measured("100/forward", "steps/s", 20.0), measured("100/pullback", "steps/s", 5.0)];
        let all = with_quotients(&theirs);
        assert_eq!(all[2], measured("100/pullback-over-forward", "x", 4.0));
        let row = joined(measured("100/pullback-over-forward/lanes", "x", 2.0), all[2].clone());
        assert_eq!(row.ratio, Some(2.0));
    }
}
