//! Random numbers whose state can be saved.

use serde::{Deserialize, Serialize};

use super::exact;

/// xoshiro256++ (Blackman and Vigna, 2019), seeded with splitmix64, and normal numbers by Box and Muller (1958).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Random {
    state: [u64; 4],
    /// The second number of the last pair.
    #[serde(with = "exact::option")]
    spare: Option<f64>,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut counter = seed;
        let state = [(); 4].map(|()| split_mix(&mut counter));
        Random { state, spare: None }
    }

    /// A number with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // √(−2 ln u) (cos 2πv, sin 2πv), with u in (0, 1].
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }
}

fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *counter;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the authors' C program from the state 1, 2, 3, 4.
    #[test]
    fn numbers_are_those_of_xoshiro() {
        let mut random = Random { state: [1, 2, 3, 4], spare: None };
        let numbers = [(); 6].map(|()| random.next());
        let expected = [
            41943041,
            58720359,
            3588806011781223,
            3591011842654386,
            9228616714210784205,
            9973669472204895162,
        ];
        assert_eq!(numbers, expected);
    }

    /// The first numbers of splitmix64 from the seed 1234567.
    #[test]
    fn seeds_are_those_of_splitmix() {
        let mut counter = 1234567;
        let numbers = [(); 3].map(|()| split_mix(&mut counter));
        assert_eq!(numbers, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut random = Random::new(7);
        let count = 200_000;
        let mut moments = [0.0; 4];
        for _ in 0..count {
            let x = random.normal();
            for (power, moment) in moments.iter_mut().enumerate() {
                *moment += x.powi(power as i32 + 1) / count as f64;
            }
        }
        // Standard errors are √(Var xᵏ / count), with Var = 1, 2, 15, 96; five of them are allowed.
        for ((moment, expected), variance) in
            moments.iter().zip([0.0, 1.0, 0.0, 3.0]).zip([1.0, 2.0, 15.0, 96.0f64])
        {
            assert!((moment - expected).abs() < 5.0 * (variance / count as f64).sqrt(), "{moments:?}");
        }
    }
}
