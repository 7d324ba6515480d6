//! Numbers for people: four significant digits, a true minus sign, powers of ten as they are written by hand.

/// Powers of ten at and above which a number is written as m×10ⁿ; below the lower one too.
const PLAIN: std::ops::Range<i32> = -3..5;

/// A number as a person would write it: four significant digits, no trailing zeros.
///
/// Whole numbers below a million are written in full. `human(0.00001234)` is "1.234×10⁻⁵".
pub fn human(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "−∞".into() };
    }
    if value == 0.0 {
        return "0".into();
    }
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return integer(value as i64);
    }
    // Rounding first, so that 9.9999 counts as 10.
    let rounded = format!("{value:.3e}");
    let (mantissa, exponent) = rounded.split_once('e').expect("LowerExp always writes an e");
    let exponent: i32 = exponent.parse().expect("LowerExp writes a whole exponent");
    if PLAIN.contains(&exponent) {
        let decimals = (3 - exponent).max(0) as usize;
        let rounded: f64 = rounded.parse().expect("what LowerExp wrote is a number");
        minus(trim(&format!("{rounded:.decimals$}")))
    } else {
        format!("{}×{}", minus(trim(mantissa)), power_of_ten(exponent))
    }
}

/// A whole number with its digits in groups of three, from five digits on: "12 345" (thin spaces).
pub(crate) fn integer(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::from(if value < 0 { "−" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && digits.len() > 4 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// A number with this many decimals, with a true minus sign; never "−0".
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    minus(if is_zero { text.trim_start_matches('-') } else { &text })
}

/// 10ⁿ with a raised exponent; "1" and "10" for the small ones.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        _ => {
            let raised = exponent.to_string();
            let raised = raised.chars().map(|c| c.to_digit(10).map_or('⁻', |d| RAISED[d as usize]));
            "10".chars().chain(raised).collect()
        }
    }
}

/// A number of bytes: "812 B", "1.4 MB".
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 999.5 {
            return format!("{} {unit}", human((value * 10.0).round() / 10.0));
        }
        value /= 1000.0;
    }
    format!("{} TB", human(value))
}

fn trim(decimal: &str) -> &str {
    if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal }
}

fn minus(text: &str) -> String {
    text.replacen('-', "−", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (std::f64::consts::PI, "3.142"),
            (9.99996, "10"),
            (0.001, "0.001"),
            (0.0012345, "0.001234"),
            (0.00099999, "0.001"),
            (1.234e-5, "1.234×10⁻⁵"),
            (-1e-12, "−1×10⁻¹²"),
            (12345.6, "12350"),
            (99999.7, "1×10⁵"),
            (123456.0, "123\u{2009}456"),
            (6.02214e23, "6.022×10²³"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "∞"),
            (f64::NEG_INFINITY, "−∞"),
            (f64::MIN_POSITIVE, "2.225×10⁻³⁰⁸"),
            (f64::MAX, "1.798×10³⁰⁸"),
        ];
        for (value, text) in cases {
            assert_eq!(human(value), text, "{value:e}");
        }
    }

    #[test]
    fn integers_are_grouped_from_five_digits_on() {
        assert_eq!(integer(1234), "1234");
        assert_eq!(integer(-12345), "−12\u{2009}345");
        assert_eq!(integer(i64::MIN), "−9\u{2009}223\u{2009}372\u{2009}036\u{2009}854\u{2009}775\u{2009}808");
    }

    #[test]
    fn fixed_never_writes_minus_zero() {
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(-1.5, 1), "−1.5");
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes(812), "812 B");
        assert_eq!(bytes(1_440_000), "1.4 MB");
        assert_eq!(bytes(999_999), "1 MB");
    }
}
