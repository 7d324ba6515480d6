//! f64 in JSON with the same bits after a round trip.
//!
//! JSON has no infinities and no NaN. They are written as the strings "inf", "-inf" and "nan:" with the bits in
//! hexadecimal; every other number is written as a number, with as many digits as it takes.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// One number; use as `#[serde(with = "exact")]`.
pub(super) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Exact(*number).serialize(serializer)
}

/// See [`serialize`].
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Exact::deserialize(deserializer)?.0)
}

/// Lists of numbers; use as `#[serde(with = "exact::list")]`.
pub(super) mod list {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        numbers: &[f64],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|&number| Exact(number)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<Exact>::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|number| number.0).collect())
    }
}

/// A number that may be missing; use as `#[serde(with = "exact::option")]`.
pub(super) mod option {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        number: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        number.map(Exact).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Exact>::deserialize(deserializer)?.map(|number| number.0))
    }
}

struct Exact(f64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = self.0;
        if number.is_finite() {
            serializer.serialize_f64(number)
        } else if number.is_nan() {
            serializer.serialize_str(&format!("nan:{:016x}", number.to_bits()))
        } else {
            serializer.serialize_str(if number > 0.0 { "inf" } else { "-inf" })
        }
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor)
    }
}

struct ExactVisitor;

impl Visitor<'_> for ExactVisitor {
    type Value = Exact;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"nan:\" with 16 hexadecimal digits")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Exact, E> {
        Ok(Exact(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Exact, E> {
        Ok(Exact(number as f64))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Exact, E> {
        Ok(Exact(number as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Exact, E> {
        let number = match text {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            _ => text
                .strip_prefix("nan:")
                .and_then(|bits| u64::from_str_radix(bits, 16).ok())
                .map(f64::from_bits)
                .filter(|number| number.is_nan()),
        };
        number.map(Exact).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::Exact;

    #[test]
    fn every_kind_of_number_keeps_its_bits() {
        let mut bits = vec![0, 1, 1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0xfff8_0000_0000_0123];
        bits.extend([f64::MAX, f64::MIN_POSITIVE, 0.1, 1.0 / 3.0, -2.0, 1e22, 5e-324].map(f64::to_bits));
        // A walk over the bit patterns that meets every exponent.
        bits.extend((0..20_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        for bits in bits {
            let text = serde_json::to_string(&Exact(f64::from_bits(bits))).expect("numbers can be written");
            let back: Exact = serde_json::from_str(&text).expect("and read");
            assert_eq!(back.0.to_bits(), bits, "{text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["\"nan\"", "\"nan:0000000000000000\"", "\"infinity\"", "null", "[1]"] {
            assert!(serde_json::from_str::<Exact>(text).is_err(), "{text}");
        }
    }
}
