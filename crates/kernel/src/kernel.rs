//! Kernels as types, and the types that kernels take.

use crate::cuda::{Definition, Source};
use crate::scalar::{Dual, Local, Real};

/// A type that a kernel can take or return, named at `f64`: `Vec3<f64>` stands for `Vec3<R>` with any scalar.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument or a result of a kernel",
    note = "kernels take the scalar, vectors and matrices, arrays and tuples of these, structs with `#[derive(Value)]`, \
            `usize` indices and enums with `#[derive(Kind)]`"
)]
pub trait Argument: 'static {
    /// The type at the scalar `R`.
    type With<R: Real>: Local<R>;

    /// Values and tangents side by side.
    fn dual<R: Real>(value: Self::With<R>, tangent: Self::With<R>) -> Self::With<Dual<R>>;

    /// The inverse of [`Argument::dual`].
    fn parts<R: Real>(dual: Self::With<Dual<R>>) -> (Self::With<R>, Self::With<R>);

    /// Calls `visit` with each number, in order; indices and kinds have none.
    fn each<R: Real>(value: &mut Self::With<R>, visit: &mut impl FnMut(&mut R));

    /// How many numbers there are; of a tuple, in each of its members.
    fn lens() -> Vec<usize> {
        let mut len = 0;
        Self::each::<f64>(&mut Self::With::<f64>::zero(), &mut |_| len += 1);
        vec![len]
    }

    /// Replaces each index and kind, in order, by what `visit` makes of it; of a kind, `visit` is also told how many
    /// there are.
    fn each_index<R: Real>(_value: &mut Self::With<R>, _visit: &mut impl FnMut(Option<u32>, usize) -> usize) {
    }

    /// The type's name in C++, where the scalar is `R`; its definition is added to the source.
    fn c_type(source: &mut Source) -> String;
}

/// `T` at the scalar `R`.
pub type With<T, R> = <T as Argument>::With<R>;

/// A type that buffers hold: an [`Argument`] that consists of numbers.
///
/// # Safety
/// `With<R>` has the layout of `[R; LEN]` for every scalar.
pub unsafe trait Value: Argument {
    /// How many numbers.
    const LEN: usize;
}

/// The numbers of a value.
#[inline(always)]
pub fn numbers<T: Value, R: Real>(value: &With<T, R>) -> &[R] {
    // SAFETY: a `Value` at `R` has the layout of `[R; LEN]`.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast::<R>(), T::LEN) }
}

/// The numbers of a value, to change.
#[inline(always)]
pub fn numbers_mut<T: Value, R: Real>(value: &mut With<T, R>) -> &mut [R] {
    // SAFETY: a `Value` at `R` has the layout of `[R; LEN]`, and any numbers make a value.
    unsafe { std::slice::from_raw_parts_mut((&raw mut *value).cast::<R>(), T::LEN) }
}

/// An index, or a fieldless enum that kernels can `match` on: an index with names.
pub trait Kind: Argument + Copy + Send + Sync {
    /// How many there are.
    const COUNT: u32;
    /// Its place.
    fn index(self) -> u32;
    /// The one at a place; the first where there is none.
    fn at<R: Real>(index: u32) -> With<Self, R>;
}

impl Kind for usize {
    const COUNT: u32 = u32::MAX;
    #[inline(always)]
    fn index(self) -> u32 {
        self as u32
    }
    #[inline(always)]
    fn at<R: Real>(index: u32) -> usize {
        index as usize
    }
}

/// What `#[kernel]` makes of a function: its passes for any scalar, and its CUDA text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    note = "kernels call kernels and builtins: mark the function with `#[kernel]`"
)]
pub trait Kernel: Send + Sync + 'static {
    /// The tuple of arguments, at `f64`.
    type Arguments: Argument;
    /// The result, at `f64`.
    type Output: Argument;
    /// The function's name.
    const NAME: &'static str;
    /// The names of its arguments.
    const ARGUMENTS: &'static [&'static str];
    /// For each argument, the arguments whose cotangents need its value in the pullback, bit by bit; where there is none, all do.
    const READS: &'static [u32] = &[];
    /// Whether the kernel says `#[kernel(pullback = ...)]`.
    const NAMES_ITS_PULLBACK: bool = false;
    /// Is it compiled for lanes? See [`Once`].
    const LANES: bool = true;

    /// y = f(x)
    fn forward<R: Real>(arguments: With<Self::Arguments, R>) -> With<Self::Output, R>;

    /// x_bar = (∂f/∂x)ᵀ y_bar
    fn pullback<R: Real>(
        arguments: With<Self::Arguments, R>,
        out_bar: With<Self::Output, R>,
    ) -> With<Self::Arguments, R>;

    /// The pullback that the macro writes, also where the kernel names another.
    #[inline(always)]
    fn derived_pullback<R: Real>(
        arguments: With<Self::Arguments, R>,
        out_bar: With<Self::Output, R>,
    ) -> With<Self::Arguments, R> {
        Self::pullback::<R>(arguments, out_bar)
    }

    /// (y, y_dot) = (f(x), ∂f/∂x x_dot)
    #[inline(always)]
    fn pushforward<R: Real>(
        arguments: With<Self::Arguments, R>,
        tangents: With<Self::Arguments, R>,
    ) -> (With<Self::Output, R>, With<Self::Output, R>) {
        let dual = <Self::Arguments as Argument>::dual::<R>(arguments, tangents);
        <Self::Output as Argument>::parts::<R>(Self::forward::<Dual<R>>(dual))
    }

    /// Its CUDA text.
    fn definition() -> &'static Definition;
}

/// A kernel that runs once, or seldom: sweeps compute one element after the other, and are compiled for that alone, in a fraction of the
/// time. `p.map::<Once<prepare>>(...)`.
pub struct Once<K>(std::marker::PhantomData<fn() -> K>);

impl<K: Kernel> Kernel for Once<K> {
    type Arguments = K::Arguments;
    type Output = K::Output;
    const NAME: &'static str = K::NAME;
    const ARGUMENTS: &'static [&'static str] = K::ARGUMENTS;
    const READS: &'static [u32] = K::READS;
    const NAMES_ITS_PULLBACK: bool = K::NAMES_ITS_PULLBACK;
    const LANES: bool = false;

    #[inline(always)]
    fn forward<R: Real>(arguments: With<K::Arguments, R>) -> With<K::Output, R> {
        K::forward::<R>(arguments)
    }
    #[inline(always)]
    fn pullback<R: Real>(
        arguments: With<K::Arguments, R>,
        out_bar: With<K::Output, R>,
    ) -> With<K::Arguments, R> {
        K::pullback::<R>(arguments, out_bar)
    }
    #[inline(always)]
    fn derived_pullback<R: Real>(
        arguments: With<K::Arguments, R>,
        out_bar: With<K::Output, R>,
    ) -> With<K::Arguments, R> {
        K::derived_pullback::<R>(arguments, out_bar)
    }
    fn definition() -> &'static Definition {
        K::definition()
    }
}

impl Argument for f64 {
    type With<R: Real> = R;
    #[inline(always)]
    fn dual<R: Real>(value: R, tangent: R) -> Dual<R> {
        Dual { value, tangent }
    }
    #[inline(always)]
    fn parts<R: Real>(dual: Dual<R>) -> (R, R) {
        (dual.value, dual.tangent)
    }
    #[inline(always)]
    fn each<R: Real>(value: &mut R, visit: &mut impl FnMut(&mut R)) {
        visit(value);
    }
    fn c_type(_: &mut Source) -> String {
        "R".into()
    }
}

// SAFETY: one number is one number.
unsafe impl Value for f64 {
    const LEN: usize = 1;
}

impl Argument for usize {
    type With<R: Real> = usize;
    #[inline(always)]
    fn dual<R: Real>(value: usize, _: usize) -> usize {
        value
    }
    #[inline(always)]
    fn parts<R: Real>(dual: usize) -> (usize, usize) {
        (dual, dual)
    }
    fn each<R: Real>(_: &mut usize, _: &mut impl FnMut(&mut R)) {}
    fn each_index<R: Real>(value: &mut usize, visit: &mut impl FnMut(Option<u32>, usize) -> usize) {
        *value = visit(None, *value);
    }
    fn c_type(_: &mut Source) -> String {
        "unsigned".into()
    }
}

impl<T: Argument, const N: usize> Argument for [T; N] {
    type With<R: Real> = [T::With<R>; N];
    #[inline(always)]
    fn dual<R: Real>(value: Self::With<R>, tangent: Self::With<R>) -> Self::With<Dual<R>> {
        let mut dual = [T::With::<Dual<R>>::zero(); N];
        for i in 0..N {
            dual[i] = T::dual::<R>(value[i], tangent[i]);
        }
        dual
    }
    #[inline(always)]
    fn parts<R: Real>(dual: Self::With<Dual<R>>) -> (Self::With<R>, Self::With<R>) {
        let (mut value, mut tangent) = ([T::With::<R>::zero(); N], [T::With::<R>::zero(); N]);
        for i in 0..N {
            (value[i], tangent[i]) = T::parts::<R>(dual[i]);
        }
        (value, tangent)
    }
    #[inline(always)]
    fn each<R: Real>(value: &mut Self::With<R>, visit: &mut impl FnMut(&mut R)) {
        for i in 0..N {
            T::each::<R>(&mut value[i], visit);
        }
    }
    fn each_index<R: Real>(value: &mut Self::With<R>, visit: &mut impl FnMut(Option<u32>, usize) -> usize) {
        for i in 0..N {
            T::each_index::<R>(&mut value[i], visit);
        }
    }
    fn c_type(source: &mut Source) -> String {
        format!("pb_array<{}, {N}>", T::c_type(source))
    }
}

// SAFETY: an array lays its elements side by side.
unsafe impl<T: Value, const N: usize> Value for [T; N] {
    const LEN: usize = N * T::LEN;
}

impl Argument for () {
    type With<R: Real> = ();
    #[inline(always)]
    fn dual<R: Real>((): (), (): ()) {}
    #[inline(always)]
    fn parts<R: Real>((): ()) -> ((), ()) {
        ((), ())
    }
    fn each<R: Real>((): &mut (), _: &mut impl FnMut(&mut R)) {}
    fn c_type(_: &mut Source) -> String {
        "pb_tuple<>".into()
    }
}

macro_rules! tuples {
    ($($($name:ident $i:tt),+;)*) => {$(
        impl<$($name: Argument),+> Argument for ($($name,)+) {
            type With<R: Real> = ($($name::With<R>,)+);
            #[inline(always)]
            fn dual<R: Real>(value: Self::With<R>, tangent: Self::With<R>) -> Self::With<Dual<R>> {
                ($($name::dual::<R>(value.$i, tangent.$i),)+)
            }
            #[inline(always)]
            fn parts<R: Real>(dual: Self::With<Dual<R>>) -> (Self::With<R>, Self::With<R>) {
                let parts = ($($name::parts::<R>(dual.$i),)+);
                (($(parts.$i.0,)+), ($(parts.$i.1,)+))
            }
            #[inline(always)]
            fn each<R: Real>(value: &mut Self::With<R>, visit: &mut impl FnMut(&mut R)) {
                $($name::each::<R>(&mut value.$i, visit);)+
            }
            fn lens() -> Vec<usize> {
                vec![$($name::lens().iter().sum()),+]
            }
            fn each_index<R: Real>(
                value: &mut Self::With<R>,
                visit: &mut impl FnMut(Option<u32>, usize) -> usize,
            ) {
                $($name::each_index::<R>(&mut value.$i, visit);)+
            }
            fn c_type(source: &mut Source) -> String {
                let types = [$($name::c_type(source)),+];
                format!("pb_tuple<{}>", types.join(", "))
            }
        }
    )*};
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11;
}
