//! The joined rows, for people and for programs.

use super::rows::Row;
use serde_json::Value;

/// An aligned table, one row a line.
pub fn table(rows: &[Row]) -> String {
    let heading = ["case", "unit", "pullback", "peer name", "peer", "ratio"].map(str::to_owned);
    let cells: Vec<[String; 6]> = std::iter::once(heading).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    cells.iter().map(|row| line(row, &widths)).collect()
}

/// One JSON object a line.
pub fn json_lines(bench: &str, rows: &[Row]) -> String {
    rows.iter().map(|row| json(bench, row) + "\n").collect()
}

fn cells(row: &Row) -> [String; 6] {
    let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "-".into());
    [
        row.case.clone(),
        row.unit.clone(),
        number(row.pullback),
        or_dash(row.peer.as_ref().map(|peer| peer.name.clone())),
        or_dash(row.peer.as_ref().map(|peer| number(peer.value))),
        or_dash(row.ratio.map(|ratio| format!("{ratio:.2}"))),
    ]
}

/// Names to the left, numbers to the right.
fn line(cells: &[String; 6], w: &[usize; 6]) -> String {
    let [case, unit, pullback, peer_name, peer, ratio] = cells;
    let text = format!(
        "{case:<0$}  {unit:<1$}  {pullback:>2$}  {peer_name:<3$}  {peer:>4$}  {ratio:>5$}",
        w[0], w[1], w[2], w[3], w[4], w[5]
    );
    text + "\n"
}

/// Four digits that count, and no fraction that does not.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor();
    format!("{value:.*}", (3.0 - exponent).clamp(0.0, 12.0) as usize)
}

/// Written by hand to keep the keys in the order in which they are documented.
fn json(bench: &str, row: &Row) -> String {
    let (peer_name, peer) = match &row.peer {
        Some(peer) => (Value::from(peer.name.as_str()), Value::from(peer.value)),
        None => (Value::Null, Value::Null),
    };
    let fields = [
        ("bench", Value::from(bench)),
        ("case", Value::from(row.case.as_str())),
        ("unit", Value::from(row.unit.as_str())),
        ("pullback", Value::from(row.pullback)),
        ("peer_name", peer_name),
        ("peer", peer),
        ("ratio", Value::from(row.ratio)),
    ];
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::rows::PeerValue;
    use super::*;

    fn rows() -> Vec<Row> {
        vec![
            Row {
                case: "10000/forward/lanes".into(),
                unit: "steps/s".into(),
                pullback: 13448.25,
                peer: Some(PeerValue { name: "warp-lang".into(), value: 2689.65 }),
                ratio: Some(5.0),
            },
            Row { case: "10000/saved".into(), unit: "bytes".into(), pullback: 96.0, peer: None, ratio: None },
        ]
    }

    #[test]
    fn the_table_is_aligned() {
        let expected = "\
case                 unit     pullback  peer name  peer  ratio
10000/forward/lanes  steps/s     13448  warp-lang  2690   5.00
10000/saved          bytes       96.00  -             -      -
";
        assert_eq!(table(&rows()), expected);
    }

    #[test]
    fn json_has_every_key_on_every_line() {
        let expected = "\
{\"bench\": \"tets\", \"case\": \"10000/forward/lanes\", \"unit\": \"steps/s\", \"pullback\": 13448.25, \
\"peer_name\": \"warp-lang\", \"peer\": 2689.65, \"ratio\": 5.0}
{\"bench\": \"tets\", \"case\": \"10000/saved\", \"unit\": \"bytes\", \"pullback\": 96.0, \
\"peer_name\": null, \"peer\": null, \"ratio\": null}
";
        assert_eq!(json_lines("tets", &rows()), expected);
    }

    #[test]
    fn each_line_is_json() -> anyhow::Result<()> {
        for line in json_lines("a \"quoted\" name", &rows()).lines() {
            let object: Value = serde_json::from_str(line)?;
            assert_eq!(object["bench"], "a \"quoted\" name");
            assert_eq!(object.as_object().map(serde_json::Map::len), Some(7));
        }
        Ok(())
    }

    #[test]
    fn numbers_show_four_digits() {
        for (value, text) in
            [(92533.4, "92533"), (167.7014, "167.7"), (2.0, "2.000"), (0.012345, "0.01235"), (0.0, "0")]
        {
            assert_eq!(number(value), text);
        }
    }
}
