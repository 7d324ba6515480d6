//! An axis: from values to pixels, and the ticks that a person would choose.

use crate::number::{fixed, human, integer, power_of_ten};

/// Beyond this a value counts as infinite, so that the width of a range never overflows.
const LARGEST: f64 = 1e300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Log,
}

impl Scale {
    /// Can this value be drawn?
    pub(crate) fn takes(self, value: f64) -> bool {
        value.abs() <= LARGEST && (self == Scale::Linear || value >= 1.0 / LARGEST)
    }
}

/// The values that an axis shows, from `lo` to `hi`, `lo < hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) scale: Scale,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// All values are whole numbers (iterations): ticks at fractions would be nonsense.
    pub(crate) whole: bool,
}

impl Range {
    /// The range of all drawable values; `None` when there is none. A constant gets room on both sides.
    pub(crate) fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Option<Range> {
        let (mut lo, mut hi, mut whole) = (f64::INFINITY, f64::NEG_INFINITY, true);
        for value in values.filter(|&v| scale.takes(v)) {
            lo = lo.min(value);
            hi = hi.max(value);
            whole &= value.fract() == 0.0;
        }
        let widest = lo.abs().max(hi.abs());
        if lo > hi {
            return None;
        }
        let (lo, hi) = match scale {
            // Narrower than what f64 can tell apart, with some ticks between, counts as constant.
            Scale::Linear if widest < 1e-300 => (-1.0, 1.0),
            Scale::Linear if hi - lo <= 1e-12 * widest => (lo - 0.1 * widest, hi + 0.1 * widest),
            Scale::Log if hi <= lo * (1.0 + 1e-12) => (lo / 2.0, hi * 2.0),
            Scale::Linear | Scale::Log => (lo, hi),
        };
        Some(Range { scale, lo, hi, whole })
    }

    /// The same with room at both ends.
    pub(crate) fn padded(self, part: f64) -> Range {
        match self.scale {
            Scale::Linear => {
                let room = part * (self.hi - self.lo);
                Range { lo: self.lo - room, hi: self.hi + room, ..self }
            }
            Scale::Log => {
                let room = (part * (self.hi.ln() - self.lo.ln())).exp();
                Range { lo: (self.lo / room).max(1.0 / LARGEST), hi: (self.hi * room).min(LARGEST), ..self }
            }
        }
    }

    /// The same down to zero, where that is near: heights are then seen for what they are.
    pub(crate) fn down_to_zero(self, before: Range) -> Range {
        let is_near = self.scale == Scale::Linear && before.lo >= 0.0 && before.lo <= 0.3 * before.hi;
        Range { lo: if is_near { 0.0 } else { self.lo }, ..self }
    }

    /// Where a value lies: 0 at `lo`, 1 at `hi`.
    pub(crate) fn part(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.lo) / (self.hi - self.lo),
            Scale::Log => (value.ln() - self.lo.ln()) / (self.hi.ln() - self.lo.ln()),
        }
    }

    /// About `count` ticks.
    pub(crate) fn ticks(&self, count: usize) -> Ticks {
        match self.scale {
            Scale::Linear => linear_ticks(self, count.max(2)),
            Scale::Log => log_ticks(self, count.max(2)),
        }
    }
}

/// Ticks of an axis, all inside its range.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) labelled: Vec<(f64, String)>,
    /// Lines between, without a label.
    pub(crate) minor: Vec<f64>,
    /// Labels are to be multiplied by ten to this power.
    pub(crate) power: i32,
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten (Heckbert, "Nice numbers for graph labels", 1990).
fn linear_ticks(range: &Range, count: usize) -> Ticks {
    let rough = (range.hi - range.lo) / count as f64;
    let mut exponent = rough.log10().floor() as i32;
    let mantissa = rough / 10_f64.powi(exponent);
    let mut nice = match mantissa {
        m if m < 1.5 => 1,
        m if m < 3.5 => 2,
        m if m < 7.5 => 5,
        _ => 10,
    };
    if nice == 10 {
        (nice, exponent) = (1, exponent + 1);
    }
    if range.whole && exponent < 0 {
        (nice, exponent) = (1, 0);
    }
    let step = f64::from(nice) * 10_f64.powi(exponent);
    let first = (range.lo / step - 1e-6).ceil();
    let last = (range.hi / step + 1e-6).floor();

    let widest = range.lo.abs().max(range.hi.abs());
    let power = if (1e-3..1e7).contains(&widest) { 0 } else { 3 * (widest.log10() / 3.0).floor() as i32 };
    let decimals = (power - exponent).max(0) as usize;
    let label = |multiple: f64| {
        let value = multiple * f64::from(nice) * 10_f64.powi(exponent - power);
        if decimals == 0 { integer(value.round() as i64) } else { fixed(value, decimals) }
    };
    let labelled = (0..=(last - first) as usize)
        .map(|i| first + i as f64)
        .map(|multiple| (multiple * step, label(multiple)))
        .collect();
    Ticks { labelled, minor: Vec::new(), power }
}

/// Ticks at powers of ten; where the range is short at 2 and 5 times these too; where it is very short as if linear.
fn log_ticks(range: &Range, count: usize) -> Ticks {
    let inside = |v: &f64| (range.lo * (1.0 - 1e-9)..=range.hi * (1.0 + 1e-9)).contains(v);
    let (first, last) = (range.lo.log10().floor() as i32, range.hi.log10().ceil() as i32);
    let decades = range.hi.log10() - range.lo.log10();
    let multiples = |of: &'static [i32]| {
        (first..=last)
            .flat_map(move |d| of.iter().map(move |&m| f64::from(m) * 10_f64.powi(d)))
            .filter(inside)
    };
    if decades < 2.5 {
        let labelled: Vec<f64> = multiples(&[1, 2, 5]).collect();
        if labelled.len() < 3 {
            let linear = Range { scale: Scale::Linear, whole: false, ..*range };
            return linear_ticks(&linear, count);
        }
        let minor = multiples(&[3, 4, 6, 7, 8, 9]).collect();
        return Ticks { labelled: labelled.iter().map(|&v| (v, human(v))).collect(), minor, power: 0 };
    }
    // Powers of ten may stand closer than other labels: the eye counts them.
    let stride = ((decades / (1.6 * count as f64)).ceil() as i32).max(1);
    let powers: Vec<i32> =
        (first..=last).filter(|d| d.rem_euclid(stride) == 0 && inside(&10_f64.powi(*d))).collect();
    let plain = powers.iter().all(|d| (-3..=4).contains(d));
    let label = |d: i32| if plain { human(10_f64.powi(d)) } else { power_of_ten(d) };
    let minor = if stride == 1 && decades < 5.0 {
        multiples(&[2, 3, 4, 5, 6, 7, 8, 9]).collect()
    } else {
        Vec::new()
    };
    Ticks { labelled: powers.iter().map(|&d| (10_f64.powi(d), label(d))).collect(), minor, power: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64], count: usize) -> (String, i32) {
        let ticks = Range::of(scale, values.iter().copied()).expect("values").ticks(count);
        (ticks.labelled.into_iter().map(|t| t.1).collect::<Vec<_>>().join(" "), ticks.power)
    }

    #[test]
    fn linear_ticks_are_round() {
        let cases: [(&[f64], usize, &str, i32); 9] = [
            (&[0.0, 10.0], 5, "0 2 4 6 8 10", 0),
            (&[-0.13, 0.42], 5, "−0.1 0.0 0.1 0.2 0.3 0.4", 0),
            (&[0.0, 7.0], 14, "0 1 2 3 4 5 6 7", 0),
            (
                &[0.0, 250_000.0],
                5,
                "0 50\u{2009}000 100\u{2009}000 150\u{2009}000 200\u{2009}000 250\u{2009}000",
                0,
            ),
            (&[0.0, 3e-5], 3, "0 10 20 30", -6),
            (&[0.0, 4e9], 4, "0 1 2 3 4", 9),
            (&[1000.001, 1000.004], 3, "1000.001 1000.002 1000.003 1000.004", 0),
            (&[5.0, 5.0], 4, "5", 0),
            (&[0.5, 0.5], 2, "0.45 0.50 0.55", 0),
        ];
        for (values, count, text, power) in cases {
            assert_eq!(labels(Scale::Linear, values, count), (text.into(), power), "{values:?}");
        }
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        let cases: [(&[f64], usize, &str); 7] = [
            (&[1e-3, 1e3], 8, "0.001 0.01 0.1 1 10 100 1000"),
            (&[1e-9, 1.0], 5, "10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 1"),
            (&[1e-6, 1.0], 5, "10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1"),
            (&[0.3, 30.0], 5, "0.5 1 2 5 10 20"),
            (&[1.01, 1.04], 3, "1.01 1.02 1.03 1.04"),
            (&[0.0, -5.0, 1.0, 1e4], 5, "1 10 100 1000 10\u{2009}000"),
            (&[7.0], 5, "4 6 8 10 12 14"),
        ];
        for (values, count, text) in cases {
            assert_eq!(labels(Scale::Log, values, count).0, text, "{values:?}");
        }
    }

    #[test]
    fn ticks_lie_inside_and_increase_whatever_the_range() {
        let ends = [-1e299, -3.0, -1e-9, 0.0, 1e-305, 1e-20, 0.7, 0.7 + 1e-9, 12.0, 1e15, 9e299];
        for scale in [Scale::Linear, Scale::Log] {
            for (a, b) in ends.iter().flat_map(|&a| ends.map(|b| (a, b))) {
                let Some(range) = Range::of(scale, [a, b].into_iter()) else { continue };
                assert!(range.lo < range.hi, "{scale:?} {a} {b}");
                let ticks: Vec<f64> = range.ticks(6).labelled.iter().map(|t| t.0).collect();
                assert!((1..=30).contains(&ticks.len()), "{scale:?} {a} {b}: {ticks:?}");
                assert!(ticks.windows(2).all(|w| w[0] < w[1]), "{scale:?} {a} {b}: {ticks:?}");
                assert!(
                    ticks.iter().all(|&t| (-0.01..=1.01).contains(&range.part(t))),
                    "{scale:?} {a} {b}: {ticks:?}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_drawn_makes_no_range() {
        let nothing = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        assert_eq!(Range::of(Scale::Linear, nothing.into_iter()), None);
        assert_eq!(Range::of(Scale::Log, [0.0, -1.0].into_iter()), None);
        assert_eq!(Range::of(Scale::Linear, std::iter::empty()), None);
    }

    #[test]
    fn parts_run_from_0_to_1() {
        let log = Range { scale: Scale::Log, lo: 0.01, hi: 100.0, whole: false };
        assert!((log.part(1.0) - 0.5).abs() < 1e-12 && (log.part(10.0) - 0.75).abs() < 1e-12);
        let linear = Range { scale: Scale::Linear, lo: -1.0, hi: 3.0, whole: false };
        assert_eq!((linear.part(-1.0), linear.part(0.0), linear.part(3.0)), (0.0, 0.25, 1.0));
    }
}
