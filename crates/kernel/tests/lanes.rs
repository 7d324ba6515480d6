//! Lanes against scalars: every operation of every lane type gives the scalar's bits.

use pullback_kernel::scalar::lanes::{Dispatch, Driver, Isa, Lane, Portable, Width};
use pullback_kernel::scalar::{Blend, Dual, Float, Local, Mask, Real};

const NAMES: [&str; 33] = [
    "add",
    "sub",
    "mul",
    "div",
    "neg",
    "sqrt",
    "abs",
    "floor",
    "min",
    "max",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan2",
    "exp",
    "ln",
    "tanh",
    "powf",
    "select",
    "lt",
    "le",
    "eq",
    "and",
    "or",
    "not",
    "mask select",
    "blend",
    "mask zero",
    "constant",
    "plus",
    "product and sum",
];

fn operations<R: Real>(a: R, b: R) -> [R; 33] {
    let (lt, le, eq) = (Real::lt(a, b), Real::le(a, b), Real::eq(a, b));
    let small = Real::lt(a.abs(), R::from_f64(1.0));
    let bit = |mask: R::Mask| <R as Real>::select(mask, R::from_f64(1.0), R::from_f64(0.0));
    [
        a + b,
        a - b,
        a * b,
        a / b,
        -a,
        a.sqrt(),
        a.abs(),
        a.floor(),
        Real::min(a, b),
        Real::max(a, b),
        a.sin(),
        a.cos(),
        a.tan(),
        a.asin(),
        a.acos(),
        a.atan2(b),
        a.exp(),
        a.ln(),
        a.tanh(),
        a.powf(b),
        <R as Real>::select(lt, a, b),
        bit(lt),
        bit(le),
        bit(eq),
        bit(le & small),
        bit(lt | small),
        bit(!lt),
        bit(Mask::select(small, lt, eq)),
        bit(<R::Mask as Blend<R>>::select(small, le, !le)),
        bit(<R::Mask as Local<R>>::zero()),
        R::from_f64(0.1),
        Local::<R>::plus(a, <R as Local<R>>::zero()),
        // A fused multiply-add would give other bits.
        a * b + a,
    ]
}

/// Pairs of special values, then random ones; a multiple of 16 of them.
fn pairs<S: Float>() -> (Vec<S>, Vec<S>) {
    let tiny = if S::EPSILON > 1e-10 { 1e-40 } else { 1e-310 };
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.5,
        -2.5,
        1e10,
        -1e10,
        1e30,
        tiny,
        -tiny,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -f64::NAN,
    ];
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for x in special {
        for y in special {
            a.push(S::from_f64(x));
            b.push(S::from_f64(y));
        }
    }
    let mut random = Random(1);
    while a.len() < 1024 {
        let scale = [1.0, 1.0, 10.0, 1e4][a.len() % 4];
        a.push(S::from_f64(scale * random.next()));
        b.push(S::from_f64(scale * random.next()));
    }
    (a, b)
}

/// Numbers between -1 and 1 (splitmix64).
struct Random(u64);
impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
    }
}

/// Runs `driver` on every lane type that this machine has, and checks that all answers are that of one lane.
fn same_on_all<S: Dispatch + Float, D: Driver<S, Output = Vec<S>> + Copy>(
    driver: D,
    label: impl Fn(usize) -> String,
) {
    let expected = driver.run::<S>();
    let check = |answer: Vec<S>, lanes: &str| {
        assert_eq!(answer.len(), expected.len(), "{lanes}");
        for i in 0..answer.len() {
            let (got, want) = (answer[i].to_f64(), expected[i].to_f64());
            let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
            assert!(same, "{} {lanes}: {}: {got:?} is not {want:?}", S::C_NAME, label(i));
        }
    };
    check(driver.run::<Portable<S, 4>>(), "portable 4");
    check(driver.run::<Portable<S, 8>>(), "portable 8");
    check(driver.run::<Portable<S, 16>>(), "portable 16");
    for isa in Isa::available() {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            check(S::dispatch(driver, isa, width), &format!("{} {width:?}", isa.name()));
        }
    }
}

#[derive(Clone, Copy)]
struct Operations<'a, S>(&'a [S], &'a [S]);

impl<S: Float> Driver<S> for Operations<'_, S> {
    type Output = Vec<S>;
    type Home = Self;
    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) -> Vec<S> {
        let count = self.0.len();
        let mut results = vec![S::default(); NAMES.len() * count];
        for i in (0..count).step_by(L::WIDTH) {
            // SAFETY: the count is a multiple of every width, so all lanes are inside the vectors.
            unsafe {
                let a = L::load(self.0.as_ptr().add(i));
                let b = L::load(self.1.as_ptr().add(i));
                for (k, result) in operations(a, b).into_iter().enumerate() {
                    result.store(results.as_mut_ptr().add(k * count + i));
                }
            }
        }
        results
    }
}

#[derive(Clone, Copy)]
struct Duals<'a, S>(&'a [S], &'a [S]);

impl<S: Float> Driver<S> for Duals<'_, S> {
    type Output = Vec<S>;
    type Home = Self;
    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) -> Vec<S> {
        let count = self.0.len();
        let mut results = vec![S::default(); 2 * NAMES.len() * count];
        for i in (0..count).step_by(L::WIDTH) {
            // SAFETY: the count is a multiple of every width, so all lanes are inside the vectors.
            unsafe {
                let a = L::load(self.0.as_ptr().add(i));
                let b = L::load(self.1.as_ptr().add(i));
                let duals = operations(Dual::new(a, L::from_f64(0.25)), Dual::new(b, L::from_f64(-1.5)));
                for (k, result) in duals.into_iter().enumerate() {
                    result.value.store(results.as_mut_ptr().add(2 * k * count + i));
                    result.tangent.store(results.as_mut_ptr().add((2 * k + 1) * count + i));
                }
            }
        }
        results
    }
}

fn operations_are_the_scalars<S: Dispatch + Float>() {
    let (a, b) = pairs::<S>();
    let count = a.len();
    same_on_all(Operations(&a, &b), |i| {
        format!("{}({:?}, {:?})", NAMES[i / count], a[i % count], b[i % count])
    });
    same_on_all(Duals(&a, &b), |i| {
        format!("dual {}({:?}, {:?})", NAMES[i / count / 2], a[i % count], b[i % count])
    });
}

#[test]
fn operations_are_the_scalars_f32() {
    operations_are_the_scalars::<f32>();
}

#[test]
fn operations_are_the_scalars_f64() {
    operations_are_the_scalars::<f64>();
}

/// Signs are bits: also that of a NaN, also that of a zero.
#[derive(Clone, Copy)]
struct Signs;

impl<S: Float> Driver<S> for Signs {
    type Output = ();
    type Home = Self;
    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        for x in [0.0, 1.0, f64::NAN, f64::INFINITY] {
            let (plus, minus) = (L::from_f64(x), -L::from_f64(x));
            let (twice, abs) = (-minus, minus.abs());
            for i in 0..L::WIDTH {
                assert_ne!(
                    plus.lane(i).to_f64().is_sign_negative(),
                    minus.lane(i).to_f64().is_sign_negative()
                );
                assert_eq!(
                    plus.lane(i).to_f64().is_sign_negative(),
                    twice.lane(i).to_f64().is_sign_negative()
                );
                assert!(abs.lane(i).to_f64().is_sign_positive());
            }
        }
    }
}

/// `first`, `any`, `all`, `splat` and `lane`, which have no scalar counterpart.
#[derive(Clone, Copy)]
struct Masks;

impl<S: Float> Driver<S> for Masks {
    type Output = ();
    type Home = Self;
    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        for count in 0..20 {
            let mask = L::first(count);
            let ones = <L as Real>::select(mask, L::from_f64(1.0), L::from_f64(0.0));
            for i in 0..L::WIDTH {
                assert_eq!(ones.lane(i).to_f64(), f64::from(u8::from(i < count)));
            }
            assert_eq!(mask.any(), count > 0);
            assert_eq!(mask.all(), count >= L::WIDTH);
            assert_eq!((!mask).any(), count < L::WIDTH);
            assert_eq!((!mask).all(), count == 0);
        }
        for bit in [false, true] {
            assert_eq!(L::Mask::splat(bit).any(), bit);
            assert_eq!(L::Mask::splat(bit).all(), bit);
        }
    }
}

#[test]
fn masks_and_signs() {
    for isa in Isa::available() {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            f32::dispatch(Masks, isa, width);
            f64::dispatch(Masks, isa, width);
            f32::dispatch(Signs, isa, width);
            f64::dispatch(Signs, isa, width);
        }
    }
    Driver::<f32>::run::<Portable<f32, 16>>(Masks);
    Driver::<f64>::run::<Portable<f64, 8>>(Masks);
    Driver::<f64>::run::<Portable<f64, 8>>(Signs);
}

/// Rows in an order and at offsets that no alignment helps, some of them the same.
#[derive(Clone, Copy)]
struct Rows;

impl<S: Float> Driver<S> for Rows {
    type Output = ();
    type Home = Self;
    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) {
        const ROWS: [usize; 16] = [35, 3, 60, 7, 21, 99, 14, 28, 90, 47, 53, 11, 70, 74, 83, 66];
        let mut source = [S::default(); 103];
        for i in 0..source.len() {
            source[i] = S::from_f64(i as f64 + 0.5);
        }
        let mut twice = ROWS;
        twice[L::WIDTH - 1] = ROWS[0];
        for rows in [ROWS, twice] {
            // SAFETY: the last row ends at 103.
            let loaded = unsafe { L::load_rows(source.as_ptr(), &rows) };
            for c in 0..4 {
                for l in 0..L::WIDTH {
                    assert_eq!(loaded[c].lane(l).to_f64(), source[rows[l] + c].to_f64());
                }
            }
            // Different numbers in each lane, so that the order of the stores shows in rows that are the same.
            let mut numbers = [S::default(); 16];
            for l in 0..16 {
                numbers[l] = S::from_f64(1000.0 * l as f64);
            }
            let mut values = loaded;
            let mut target = [S::from_f64(-1.0); 103];
            let mut expected = target;
            // SAFETY: 16 numbers are enough for any width, and the last row ends at 103.
            unsafe {
                for c in 0..4 {
                    values[c] = loaded[c] + L::load(numbers.as_ptr());
                }
                L::store_rows(values, target.as_mut_ptr(), &rows);
            }
            for l in 0..L::WIDTH {
                for c in 0..4 {
                    expected[rows[l] + c] = values[c].lane(l);
                }
            }
            for i in 0..target.len() {
                assert_eq!(target[i].to_f64(), expected[i].to_f64(), "{i}");
            }
        }
    }
}

#[test]
fn rows_round_trip() {
    for isa in Isa::available() {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            f32::dispatch(Rows, isa, width);
            f64::dispatch(Rows, isa, width);
        }
    }
    Driver::<f32>::run::<Portable<f32, 16>>(Rows);
    Driver::<f32>::run::<Portable<f32, 4>>(Rows);
    Driver::<f64>::run::<Portable<f64, 8>>(Rows);
}
