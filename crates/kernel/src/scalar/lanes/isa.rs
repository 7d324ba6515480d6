//! The instruction sets that lanes can use, and the dispatch that gives loops over lanes their features.

use std::marker::PhantomData;
use std::sync::OnceLock;

use super::Lane;
#[cfg(not(target_arch = "x86_64"))]
use super::Portable;
use super::register::Register;
use crate::scalar::{Dual, Real};

/// Environment variable that lowers the instruction set: `portable`, `avx2` or `avx512`.
///
/// It cannot raise it above what the machine has; that, and any other text, is ignored.
pub const ISA_VARIABLE: &str = "PULLBACK_ISA";

/// An instruction set, each with everything that the ones before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// Whatever the compiler was told that the machine has.
    Portable,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F, VL, DQ and BW.
    Avx512,
}

impl Isa {
    const ALL: [Isa; 3] = [Isa::Portable, Isa::Avx2, Isa::Avx512];

    /// The best that this machine has, unless `PULLBACK_ISA` names a lower one. Decided once in a process.
    pub fn detect() -> Isa {
        static ISA: OnceLock<Isa> = OnceLock::new();
        *ISA.get_or_init(|| machine().lowered(std::env::var(ISA_VARIABLE).ok().as_deref()))
    }

    /// Everything up to [`Isa::detect`], lowest first.
    pub fn available() -> Vec<Isa> {
        Isa::ALL.into_iter().filter(|isa| *isa <= Isa::detect()).collect()
    }

    /// Its name, as in `PULLBACK_ISA`.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    fn lowered(self, wish: Option<&str>) -> Isa {
        match Isa::ALL.into_iter().find(|isa| Some(isa.name()) == wish) {
            Some(isa) => isa.min(self),
            None => self,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn machine() -> Isa {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw");
    match (avx2, avx512) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        (false, _) => Isa::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn machine() -> Isa {
    Isa::Portable
}

/// How many lanes to run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// One: for what is left over, or cannot be batched.
    One,
    /// 256 bits: 8 `f32` or 4 `f64`. Usually the fastest, also with AVX-512, which doubles the registers.
    Narrow,
    /// 512 bits: 16 `f32` or 8 `f64`; [`Width::Narrow`] where there are no such registers.
    Wide,
}

/// A loop over lanes, for any lane type.
pub trait Driver<S: Real> {
    /// What the loop answers.
    type Output;
    /// Whose loop it is: compiled code lies in the module of this type, so that modules are compiled side by side.
    type Home;

    /// Runs the loop with lanes of type `L`.
    ///
    /// Mark the implementation `#[inline(always)]`, and everything that it calls in the loop: a function that
    /// is not inlined into [`Dispatch::dispatch`], and any closure, is compiled without the features.
    fn run<L: Lane<Element = S>>(self) -> Self::Output;
}

/// A number that [`Driver`]s can be run on, itself one lane: `f32` and `f64` with lanes, duals of them one at a time.
pub trait Dispatch: Lane<Element = Self> {
    /// Runs `driver` with the lanes of `isa` and `width`, under the target features that they need.
    ///
    /// An `isa` above [`Isa::detect`] is lowered to it.
    fn dispatch<D: Driver<Self>>(driver: D, isa: Isa, width: Width) -> D::Output;

    /// The same with one lane: compiled for fewer instruction sets, where speed matters less than the time that takes.
    fn dispatch_one<D: Driver<Self>>(driver: D, isa: Isa) -> D::Output;

    /// How many lanes that are.
    fn lanes(isa: Isa, width: Width) -> usize {
        Self::dispatch(Lanes, isa, width)
    }
}

/// Answers how many lanes there are.
struct Lanes;

impl<S: Real> Driver<S> for Lanes {
    type Output = usize;
    type Home = Lanes;

    #[inline(always)]
    fn run<L: Lane<Element = S>>(self) -> usize {
        L::WIDTH
    }
}

/// A part of a loop over lanes that is compiled as a function of its own: it is called with [`Lane::apart`].
///
/// It is worth it where a part is long and called from several places, or would make a function so long that it takes minutes
/// to compile.
pub trait Apart {
    /// What it answers.
    type Output;

    /// Runs it.
    ///
    /// Mark the implementation `#[inline(always)]`, as that of [`Driver::run`].
    fn run(self) -> Self::Output;
}

/// A whole loop, with its lanes.
struct Whole<S, L, D>(D, PhantomData<(S, L)>);

impl<S: Real, L: Lane<Element = S>, D: Driver<S>> Apart for Whole<S, L, D> {
    type Output = D::Output;

    #[inline(always)]
    fn run(self) -> D::Output {
        self.0.run::<L>()
    }
}

#[inline(always)]
fn whole<L: Lane, D: Driver<L::Element>>(driver: D) -> Whole<L::Element, L, D> {
    Whole(driver, PhantomData)
}

/// Entry points of loops and of their parts. They are methods because the compiler puts a method's code into the module of its
/// type, and code of different modules is compiled in parallel, and again only where something has changed.
trait Place {
    #[inline(never)]
    fn with_portable<A: Apart>(part: A) -> A::Output {
        part.run()
    }

    /// # Safety
    /// The machine has AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn with_avx2<A: Apart>(part: A) -> A::Output {
        part.run()
    }

    /// # Safety
    /// The machine has these parts of AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    unsafe fn with_avx512<A: Apart>(part: A) -> A::Output {
        part.run()
    }
}

impl<T: ?Sized> Place for T {}

/// Runs a part with the instructions that one lane is run with.
#[inline(always)]
pub(super) fn apart_one<A: Apart>(part: A) -> A::Output {
    match Isa::detect() {
        Isa::Portable => A::with_portable(part),
        // SAFETY: the machine has what `Isa::detect` found.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::Avx512 => unsafe { A::with_avx2(part) },
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx2 | Isa::Avx512 => unreachable!("x86-64 only, and `Isa::detect` says so"),
    }
}

/// Runs a part with the best instructions that registers of a kind are run with.
#[inline(always)]
pub(super) fn apart<R: Register, A: Apart>(part: A) -> A::Output {
    if const { matches!(R::ISA, Isa::Portable) } {
        return A::with_portable(part);
    }
    #[cfg(target_arch = "x86_64")]
    {
        if const { matches!(R::ISA, Isa::Avx2) } && Isa::detect() < Isa::Avx512 {
            // SAFETY: registers are there only where the machine has their instructions.
            return unsafe { A::with_avx2(part) };
        }
        // SAFETY: these registers are, or `Isa::detect` found them.
        unsafe { A::with_avx512(part) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("all registers are portable")
}

// Every arm compiles every kernel once more, so there are no more of them than are worth it.
macro_rules! dispatch {
    ($float:ident, $lanes:literal, $narrow:ident, $wide:ident) => {
        impl Dispatch for $float {
            fn dispatch<D: Driver<Self>>(driver: D, isa: Isa, width: Width) -> D::Output {
                match (isa.min(Isa::detect()), width) {
                    // An x86-64 without AVX2 is rare, and arrays compile slowly: one by one there.
                    #[cfg(target_arch = "x86_64")]
                    (Isa::Portable, _) => D::Home::with_portable(whole::<$float, D>(driver)),
                    #[cfg(not(target_arch = "x86_64"))]
                    (Isa::Portable, Width::One) => D::Home::with_portable(whole::<$float, D>(driver)),
                    #[cfg(target_arch = "x86_64")]
                    (Isa::Avx2 | Isa::Avx512, Width::One) => {
                        // SAFETY: the machine has what `Isa::detect` found.
                        unsafe { D::Home::with_avx2(whole::<$float, D>(driver)) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    (Isa::Avx2, Width::Narrow | Width::Wide) => {
                        // SAFETY: the machine has what `Isa::detect` found.
                        unsafe { D::Home::with_avx2(whole::<super::avx2::$narrow, D>(driver)) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    (Isa::Avx512, Width::Narrow) => {
                        // SAFETY: the machine has what `Isa::detect` found.
                        unsafe { D::Home::with_avx512(whole::<super::avx2::$narrow, D>(driver)) }
                    }
                    #[cfg(target_arch = "x86_64")]
                    (Isa::Avx512, Width::Wide) => {
                        // SAFETY: the machine has what `Isa::detect` found.
                        unsafe { D::Home::with_avx512(whole::<super::avx512::$wide, D>(driver)) }
                    }
                    #[cfg(not(target_arch = "x86_64"))]
                    (Isa::Portable, Width::Narrow | Width::Wide) => {
                        D::Home::with_portable(whole::<Portable<$float, $lanes>, D>(driver))
                    }
                    #[cfg(not(target_arch = "x86_64"))]
                    (Isa::Avx2 | Isa::Avx512, _) => unreachable!("x86-64 only, and `Isa::detect` says so"),
                }
            }

            fn dispatch_one<D: Driver<Self>>(driver: D, isa: Isa) -> D::Output {
                match isa.min(Isa::detect()) {
                    Isa::Portable => D::Home::with_portable(whole::<$float, D>(driver)),
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 | Isa::Avx512 => {
                        // SAFETY: the machine has what `Isa::detect` found.
                        unsafe { D::Home::with_avx2(whole::<$float, D>(driver)) }
                    }
                    #[cfg(not(target_arch = "x86_64"))]
                    Isa::Avx2 | Isa::Avx512 => unreachable!("x86-64 only, and `Isa::detect` says so"),
                }
            }
        }
    };
}
dispatch!(f32, 8, F32x8, F32x16);
dispatch!(f64, 4, F64x4, F64x8);

macro_rules! dispatch_one {
    ($($dual:ty),*) => {$(
        impl Dispatch for $dual {
            fn dispatch<D: Driver<Self>>(driver: D, isa: Isa, _: Width) -> D::Output {
                Self::dispatch_one(driver, isa)
            }
            fn dispatch_one<D: Driver<Self>>(driver: D, isa: Isa) -> D::Output {
                match isa.min(Isa::detect()) {
                    Isa::Portable => D::Home::with_portable(whole::<$dual, D>(driver)),
                    // Without its instruction a multiply-add is a call.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 | Isa::Avx512 => {
                        // SAFETY: the machine has what `Isa::detect` found.
                        unsafe { D::Home::with_avx2(whole::<$dual, D>(driver)) }
                    }
                    #[cfg(not(target_arch = "x86_64"))]
                    Isa::Avx2 | Isa::Avx512 => unreachable!("x86-64 only, and `Isa::detect` says so"),
                }
            }
        }
    )*};
}
dispatch_one!(Dual<f32>, Dual<f64>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_only_lowers() {
        assert_eq!(Isa::Avx512.lowered(Some("avx2")), Isa::Avx2);
        assert_eq!(Isa::Avx512.lowered(Some("portable")), Isa::Portable);
        assert_eq!(Isa::Avx2.lowered(Some("avx512")), Isa::Avx2);
        assert_eq!(Isa::Avx2.lowered(Some("AVX 2")), Isa::Avx2);
        assert_eq!(Isa::Avx2.lowered(None), Isa::Avx2);
    }

    #[test]
    fn widths() {
        for isa in Isa::available() {
            assert_eq!(f32::lanes(isa, Width::One), 1);
            assert_eq!(f64::lanes(isa, Width::One), 1);
            let one_by_one = cfg!(target_arch = "x86_64") && isa == Isa::Portable;
            let narrow = if one_by_one { (1, 1) } else { (8, 4) };
            assert_eq!((f32::lanes(isa, Width::Narrow), f64::lanes(isa, Width::Narrow)), narrow);
            let wide = if isa == Isa::Avx512 { (16, 8) } else { narrow };
            assert_eq!((f32::lanes(isa, Width::Wide), f64::lanes(isa, Width::Wide)), wide);
        }
    }

    #[test]
    fn too_much_is_lowered() {
        let best = f32::dispatch(Lanes, Isa::detect(), Width::Wide);
        assert_eq!(f32::dispatch(Lanes, Isa::Avx512, Width::Wide), best);
    }
}
