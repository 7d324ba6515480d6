//! Amounts of memory in words: `2 MB`.

use crate::words;

/// Units, with the bytes of each.
const UNITS: [(&str, f64); 7] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1024.0 * 1024.0),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
];

/// The bytes of `2 MB`, `1.5 GiB` or `4096`; else what is wrong, and the fix.
pub(super) fn parse(text: &str) -> Result<usize, (String, String)> {
    let unit_at = text.find(|c: char| c.is_alphabetic() && c != 'e').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let (number, unit) = (number.trim(), unit.trim());
    let names = UNITS.map(|(name, _)| name);
    let Ok(value) = number.parse::<f64>() else {
        return Err(no_amount(text));
    };
    let factor = match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => *factor,
        None if unit.is_empty() => 1.0,
        None => {
            let what = format!("there is no unit {}", words::quoted(unit));
            return Err((
                what,
                words::suggest(unit, &names, format!("the units are {}", words::list(&names))),
            ));
        }
    };
    let bytes = value * factor;
    if (0.0..9e18).contains(&bytes) { Ok(bytes as usize) } else { Err(no_amount(text)) }
}

fn no_amount(text: &str) -> (String, String) {
    (format!("{} is no amount of memory", words::quoted(text)), "write it like `budget = \"2 MB\"`".into())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn amounts() {
        for (text, bytes) in [
            ("2 MB", 2_000_000),
            ("2MB", 2_000_000),
            ("1.5 KiB", 1536),
            ("1e3 kB", 1_000_000),
            ("3 GiB", 3 << 30),
            ("4096", 4096),
            ("7 B", 7),
            ("0 MB", 0),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn no_amounts() {
        for text in
            ["", "MB", "-1 MB", "nan", "inf", "NaN MB", "1e300 GB", "2 TB", "2 mb", "two MB", "1 2 MB", "é"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("2 mb").is_err_and(|(_, fix)| fix.contains("did you mean `MB`")));
    }
}
