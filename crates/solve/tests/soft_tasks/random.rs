//! Random numbers: splitmix64 (Steele, Lea and Flood 2014) and the method of Box and Muller (1958).

pub struct Random(pub u64);

impl Random {
    /// Evenly between two numbers.
    pub fn between(&mut self, least: f64, greatest: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let part = ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        least + (greatest - least) * part
    }

    /// Between two numbers, each factor as likely as another.
    pub fn factor(&mut self, least: f64, greatest: f64) -> f64 {
        self.between(least.ln(), greatest.ln()).exp()
    }

    /// Of variance 1, about 0.
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.between(0.0, 1.0), self.between(0.0, 1.0));
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A vector of three such numbers.
    pub fn vector(&mut self) -> [f64; 3] {
        std::array::from_fn(|_| self.normal())
    }
}
