//! Arrays that Python holds, as batches of worlds.

use pullback_engine::names::Layout;
use pullback_engine::{Error, Parts};
use pullback_kernel::prelude::Dual;

use crate::error::Failure;
use crate::pool::Engine;

/// Numbers of a batch: a row for each world, or one row that all share.
#[derive(Clone, Copy)]
pub struct Rows<'a, S> {
    numbers: &'a [S],
    len: usize,
    shared: bool,
}

impl<'a, S: Copy> Rows<'a, S> {
    /// Rows of `len` numbers each.
    pub fn new(numbers: &'a [S], len: usize, shared: bool) -> Self {
        Rows { numbers, len, shared }
    }

    /// The row of a world.
    pub fn of(&self, world: usize) -> &'a [S] {
        let row = if self.shared { 0 } else { world };
        &self.numbers[row * self.len..(row + 1) * self.len]
    }

    /// All rows, one after the other.
    pub fn all(&self, worlds: usize) -> impl Iterator<Item = S> + use<'a, S> {
        let this = *self;
        (0..worlds).flat_map(move |world| this.of(world).iter().copied())
    }
}

/// What a step or a rollout of some worlds starts from.
#[derive(Clone, Copy)]
pub struct Batch<'a, S> {
    pub worlds: usize,
    pub x: Rows<'a, S>,
    /// Of one step, or of all steps of a rollout.
    pub u: Rows<'a, S>,
    pub theta: Rows<'a, S>,
}

impl<S: Parts> Batch<'_, S> {
    /// Are all numbers finite?
    pub fn check(&self, engine: &Engine) -> Result<(), Error> {
        let one = self.u.len <= engine.step.model().control_layout().len();
        let controls = if one { "the control" } else { "the controls of all steps" };
        let what = ["the first states", controls, "the params"];
        for ((what, layout), rows) in what.into_iter().zip(layouts(engine)).zip([self.x, self.u, self.theta])
        {
            if let Some((index, name, value)) = odd(layout, rows.len, rows.numbers) {
                return Err(Error::StartNotFinite { what, index, name, value });
            }
        }
        Ok(())
    }
}

/// Where cotangents of a batch are to be written; what is empty is not wanted. Those of what worlds share are summed.
pub struct Bars<'a, S> {
    pub x: &'a mut [S],
    pub u: &'a mut [S],
    pub theta: &'a mut [S],
}

impl<S: Parts> Bars<'_, S> {
    /// Of no worlds at all.
    pub fn clear(&mut self) {
        [&mut *self.x, &mut *self.u, &mut *self.theta].into_iter().for_each(|bars| bars.fill(S::default()));
    }

    /// Are all numbers finite?
    pub fn check(&self, engine: &Engine, of: &Batch<'_, S>) -> Result<(), Error> {
        let rows = [(&*self.x, of.x.len), (&*self.u, of.u.len), (&*self.theta, of.theta.len)];
        let what = ["first state", "controls", "params"];
        for ((what, layout), (numbers, len)) in what.into_iter().zip(layouts(engine)).zip(rows) {
            if let Some((index, name, value)) = odd(layout, len, numbers) {
                return Err(Error::GradientNotFinite { what, index, name, value });
            }
        }
        Ok(())
    }
}

/// An error unless all cotangents that were given of states are finite, of which `seen` belong to each world.
pub fn check_given<S: Parts>(engine: &Engine, seen: usize, given: &[S]) -> Result<(), Error> {
    let layout = engine.step.model().state_layout();
    match odd(layout, seen * layout.len(), given) {
        None => Ok(()),
        Some((index, name, value)) => {
            let what = "the cotangents of states";
            Err(Error::StartNotFinite { what, index, name, value })
        }
    }
}

/// Of states, controls and params.
fn layouts(engine: &Engine) -> [&Layout; 3] {
    let model = engine.step.model();
    [model.state_layout(), model.control_layout(), model.params_layout()]
}

/// The first of some numbers, in rows of `len`, that is not finite: which, what it is called, and what it is.
fn odd<S: Parts>(layout: &Layout, len: usize, numbers: &[S]) -> Option<(usize, String, f64)> {
    let index = numbers.iter().position(|x| !x.value().is_finite())?;
    let steps = len / layout.len().max(1);
    let name = layout.called(index, (steps > 1).then_some(steps), numbers.len() / len.max(1));
    Some((index, name, numbers[index].value()))
}

/// Writes the row of a world, or adds it to the one row that all share.
pub fn put<S: Parts>(to: &mut [S], shared: bool, world: usize, row: &[S]) {
    if to.is_empty() {
        return;
    }
    if !shared {
        to[world * row.len()..(world + 1) * row.len()].copy_from_slice(row);
    } else if world == 0 {
        to.copy_from_slice(row);
    } else {
        to.iter_mut().zip(row).for_each(|(sum, x)| *sum = S::from_parts(sum.value() + x.value(), 0.0));
    }
}

/// Which of the three arguments all worlds share: bits 1, 2, 4 for x, u, theta.
#[derive(Clone, Copy)]
pub struct Shared(pub u8);

impl Shared {
    pub fn x(self) -> bool {
        self.0 & 1 != 0
    }
    pub fn u(self) -> bool {
        self.0 & 2 != 0
    }
    pub fn theta(self) -> bool {
        self.0 & 4 != 0
    }
}

/// How many numbers a batch has: worlds, and the lengths of a state, of the controls of all its steps and of params.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub worlds: usize,
    pub shared: Shared,
    pub x: usize,
    pub u: usize,
    pub theta: usize,
}

impl Sizes {
    fn rows(&self, shared: bool) -> usize {
        if shared { 1 } else { self.worlds }
    }

    /// How many numbers each of the three arrays has.
    pub fn lens(&self) -> [usize; 3] {
        [
            self.x * self.rows(self.shared.x()),
            self.u * self.rows(self.shared.u()),
            self.theta * self.rows(self.shared.theta()),
        ]
    }

    /// A batch of arrays at these addresses.
    ///
    /// # Safety
    ///
    /// As for [`numbers`], for as many numbers as [`Sizes::lens`] says.
    pub unsafe fn batch<'a, S: Copy>(&self, at: [usize; 3]) -> Result<Batch<'a, S>, Failure> {
        let lens = self.lens();
        // SAFETY: the caller promises it.
        let [x, u, theta] = [0, 1, 2].map(|i| unsafe { numbers(at[i], lens[i]) });
        Ok(self.over(x?, u?, theta?))
    }

    /// A batch over slices.
    pub fn over<'a, S: Copy>(&self, x: &'a [S], u: &'a [S], theta: &'a [S]) -> Batch<'a, S> {
        let Sizes { worlds, shared, .. } = *self;
        Batch {
            worlds,
            x: Rows::new(x, self.x, shared.x()),
            u: Rows::new(u, self.u, shared.u()),
            theta: Rows::new(theta, self.theta, shared.theta()),
        }
    }

    /// Cotangents at these addresses; 0 is not wanted.
    ///
    /// # Safety
    ///
    /// As for [`numbers_mut`], for as many numbers as [`Sizes::lens`] says; the arrays do not overlap.
    pub unsafe fn bars<'a, S>(&self, at: [usize; 3]) -> Result<Bars<'a, S>, Failure> {
        let lens = self.lens();
        // SAFETY: the caller promises it.
        let [x, u, theta] =
            [0, 1, 2].map(|i| unsafe { numbers_mut(at[i], if at[i] == 0 { 0 } else { lens[i] }) });
        Ok(Bars { x: x?, u: u?, theta: theta? })
    }
}

/// Values with tangents, as dual numbers; without tangents where there are none.
pub fn duals<S: Parts>(values: &[S], tangents: &[S]) -> Vec<Dual<f64>> {
    let tangent = |i: usize| tangents.get(i).map_or(0.0, |x| x.value());
    values.iter().enumerate().map(|(i, x)| Dual::new(x.value(), tangent(i))).collect()
}

/// So many numbers at an address; an error unless it is one of such numbers.
///
/// # Safety
///
/// They are there, and nobody writes to them for as long as `'a` lasts.
pub unsafe fn numbers<'a, S>(address: usize, len: usize) -> Result<&'a [S], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    aligned::<S>(address)?;
    // SAFETY: the caller promises it; that it is aligned was seen above.
    Ok(unsafe { std::slice::from_raw_parts(address as *const S, len) })
}

/// So many numbers at an address, to write to; an error unless it is one of such numbers.
///
/// # Safety
///
/// They are there, and nobody else reads or writes them for as long as `'a` lasts.
pub unsafe fn numbers_mut<'a, S>(address: usize, len: usize) -> Result<&'a mut [S], Failure> {
    if len == 0 {
        return Ok(&mut []);
    }
    aligned::<S>(address)?;
    // SAFETY: the caller promises it; that it is aligned was seen above.
    Ok(unsafe { std::slice::from_raw_parts_mut(address as *mut S, len) })
}

/// An error unless numbers can lie at this address.
fn aligned<S>(address: usize) -> Result<(), Failure> {
    let wanted = align_of::<S>();
    match address != 0 && address.is_multiple_of(wanted) {
        true => Ok(()),
        false => Err(Failure::Setting(format!(
            "an array begins at address {address}: a multiple of {wanted} is wanted"
        ))),
    }
}
