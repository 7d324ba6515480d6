//! Steps and rollouts inside programs that XLA compiles, for JAX: a handler of its foreign function interface.
//!
//! One handler serves all calls. Its only attribute is a list of whole numbers: which simulation, which operation, the number of
//! steps, whether only the last state is seen, and what worlds share. The numbers of single steps are an array, so that they may
//! change inside of a program.

mod api;
mod kind;
mod known;

use std::ffi::{CString, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::batch::{Batch, Shared, Sizes, duals, numbers, numbers_mut};
use crate::compute::caught;
use crate::error::Failure;
use crate::pool::{Engine, Number};
use crate::rollout::{self, Course};
use crate::step::{self, Clock};
use crate::watch::{self, Watched};
use api::{Array, Buffer, CallFrame, ErrorCode, XlaError};
use kind::{Kind, refused};
use known::Callee;
pub use known::xla_number;

/// The handler, for `jax.ffi.register_ffi_target`.
#[pyfunction]
pub fn xla_handler(py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
    let handler = handle as extern "C" fn(*mut CallFrame) -> *mut XlaError as *mut c_void;
    let missing = || Failure::Panic("the handler has no address".into());
    let handler = NonNull::new(handler).ok_or_else(missing)?;
    // SAFETY: the pointer is that of a function, which is always there; nothing is to be freed.
    unsafe { PyCapsule::new_with_pointer(py, handler, c"xla._CUSTOM_CALL_TARGET") }
}

/// What XLA calls.
extern "C" fn handle(frame: *mut CallFrame) -> *mut XlaError {
    // SAFETY: XLA passes a frame that lives until this returns.
    let Some(frame) = (unsafe { frame.as_ref() }) else { give_up("XLA calls without a frame") };
    // SAFETY: as above.
    let result = caught(|| unsafe {
        frame.check()?;
        match frame.answer_metadata()? {
            true => Ok(()),
            false => call(frame),
        }
    });
    let Err(failure) = result else { return std::ptr::null_mut() };
    let (code, message) = told(failure);
    // SAFETY: the frame is XLA's.
    let error = unsafe { frame.error(code, &CString::new(message.replace('\0', " ")).unwrap_or_default()) };
    match error {
        Some(error) => error,
        // A question without an answer has the version 0.0, which XLA refuses.
        None if frame.asks() => std::ptr::null_mut(),
        // Null is success: better no process than one that goes on with numbers that nobody has written.
        None => give_up(&message),
    }
}

/// Where an error cannot be told.
fn give_up(message: &str) -> ! {
    eprintln!("pullback: {message}; XLA has no function to tell it by, and the process ends here");
    std::process::abort()
}

fn told(failure: Failure) -> (ErrorCode, String) {
    match failure {
        Failure::Engine(error) if error.is_of_the_run() => (ErrorCode::Internal, error.to_string()),
        Failure::Engine(error) => (ErrorCode::InvalidArgument, error.to_string()),
        Failure::Setting(message) => (ErrorCode::InvalidArgument, message),
        Failure::Scene(error) | Failure::Rollout(error) => (ErrorCode::InvalidArgument, error.to_string()),
        Failure::Optimiser(message) | Failure::NotFinite(message) | Failure::Panic(message) => {
            (ErrorCode::Internal, message)
        }
        Failure::Python(error) => (ErrorCode::Internal, error.to_string()),
    }
}

/// A call, as its attribute says.
struct Call<'a> {
    engine: Arc<Engine>,
    /// How its worlds are looked at, if they are.
    watched: Option<Arc<Watched>>,
    kind: Kind,
    /// How many steps.
    count: usize,
    /// The numbers of single steps.
    index: &'a [i32],
    last: bool,
    shared: Shared,
    arguments: Vec<&'a Buffer>,
    results: Vec<&'a Buffer>,
}

/// # Safety
///
/// The frame is one of XLA's, for a call to be executed.
unsafe fn call(frame: &CallFrame) -> Result<(), Failure> {
    frame.executes()?;
    // SAFETY: the caller promises it.
    let call = unsafe { read(frame)? };
    match call.arguments.first().map(|x| x.dtype) {
        // SAFETY: of this type they are, and sizes are checked there.
        Some(api::F64) => unsafe { call.run::<f64>() },
        // SAFETY: as above.
        Some(api::F32) => unsafe { call.run::<f32>() },
        _ => Err(refused("float32 or float64 is wanted")),
    }
}

/// # Safety
///
/// As for [`call`].
unsafe fn read(frame: &CallFrame) -> Result<Call<'_>, Failure> {
    // SAFETY: the caller promises it.
    let attribute: &Array =
        unsafe { frame.attribute() }.ok_or_else(|| refused("its attribute is missing"))?;
    if attribute.dtype != api::S64 || attribute.size != 5 {
        return Err(refused("its attribute is no list of 5 numbers"));
    }
    // SAFETY: XLA says that so many numbers are there.
    let &[number, kind, count, last, shared] = (unsafe { numbers::<i64>(attribute.data as usize, 5)? })
    else {
        return Err(refused("its attribute"));
    };
    let callee = usize::try_from(number).ok().and_then(Callee::of);
    // SAFETY: as above.
    let (mut arguments, results) = unsafe { (frame.arguments()?, frame.results()?) };
    let kind = Kind::of(kind).ok_or_else(|| refused("there is no such operation"))?;
    let index = if kind.is_rollout() || arguments.len() < 4 {
        &[]
    } else {
        // SAFETY: as above.
        unsafe { steps(arguments.remove(3))? }
    };
    let dtype = arguments.first().map(|x| x.dtype);
    if arguments.iter().chain(&results).any(|buffer| Some(buffer.dtype) != dtype) {
        return Err(refused("its arrays are of different types"));
    }
    let (engine, watched) =
        match callee.ok_or_else(|| refused("there is no such simulation in this process"))? {
            Callee::Engine(engine) => (engine, None),
            Callee::Watch(watched) => (watched.engine.clone(), Some(watched)),
        };
    if watched.is_some() && kind.is_rollout() {
        return Err(refused("rollouts are not looked at"));
    }
    Ok(Call {
        engine,
        watched,
        kind,
        index,
        count: usize::try_from(count).map_err(|_| refused("a negative number of steps"))?,
        last: last != 0,
        shared: Shared(u8::try_from(shared).map_err(|_| refused("what is shared"))?),
        arguments,
        results,
    })
}

/// The numbers of steps.
///
/// # Safety
///
/// The array is XLA's.
unsafe fn steps(index: &Buffer) -> Result<&[i32], Failure> {
    if index.dtype != api::S32 {
        return Err(refused("its third array is not of numbers of steps, int32"));
    }
    // SAFETY: XLA says that so many are there.
    unsafe { numbers(index.data as usize, index.len()) }
}

impl Call<'_> {
    fn course(&self) -> Course {
        Course { steps: self.count, last: self.last }
    }

    /// How many numbers there are of what, checked against the arrays.
    fn sizes(&self) -> Result<Sizes, Failure> {
        if self.kind.is_rollout() != self.index.is_empty() {
            return Err(refused("the numbers of its steps"));
        }
        let [x, u, theta] = self.engine.lens();
        let steps = if self.kind.is_rollout() { self.count } else { 1 };
        let seen = if self.kind.is_rollout() { self.course().seen() } else { 1 };
        let (a, r) = match self.kind {
            Kind::Step | Kind::Rollout => (3, 1),
            Kind::StepPullback | Kind::RolloutPullback => (5, 3),
            Kind::StepPushforward | Kind::RolloutPushforward => (6, 1),
        };
        if self.arguments.len() != a || self.results.len() != r {
            return Err(refused("another number of arrays is wanted"));
        }
        let out = if a == 5 { self.arguments[3].len() } else { self.results[0].len() };
        let each = self.watched.as_ref().map_or(seen * x, |watched| watched.seen());
        let worlds = out / each.max(1);
        let sizes = Sizes { worlds, shared: self.shared, x, u: u * steps, theta };
        let (lens, out) = (sizes.lens(), worlds * each);
        let argument = |i: usize| if a == 5 && i >= 3 { out } else { lens[i % 3] };
        let result = |i: usize| if a == 5 { lens[i] } else { out };
        let wanted = || (0..a).map(argument).chain((0..r).map(result));
        let found = || self.arguments.iter().chain(&self.results).map(|it| it.len());
        match wanted().eq(found()) {
            true => Ok(sizes),
            false => {
                let (wanted, found): (Vec<_>, Vec<_>) = (wanted().collect(), found().collect());
                Err(refused(&format!("arrays of {wanted:?} numbers are wanted, and {found:?} were given")))
            }
        }
    }

    /// # Safety
    ///
    /// The arrays are of this type of numbers.
    unsafe fn run<S: Number>(&self) -> Result<(), Failure> {
        let sizes = self.sizes()?;
        // SAFETY: XLA says that so many numbers are there, which was checked to be as many as are wanted; nobody else uses them
        // until this returns, and results do not overlap.
        let argument =
            |i: usize| unsafe { numbers::<S>(self.arguments[i].data as usize, self.arguments[i].len()) };
        // SAFETY: as above.
        let result =
            |i: usize| unsafe { numbers_mut::<S>(self.results[i].data as usize, self.results[i].len()) };
        let (engine, clock) = (&*self.engine, Clock::new(self.index)?);
        let at: Batch<'_, S> = sizes.over(argument(0)?, argument(1)?, argument(2)?);
        // SAFETY: as above.
        let bars = || unsafe { sizes.bars::<S>([0, 1, 2].map(|i| self.results[i].data as usize)) };
        let with = || -> Result<[_; 3], Failure> {
            let of = |i: usize| Ok::<_, Failure>(duals(argument(i)?, argument(i + 3)?));
            Ok([of(0)?, of(1)?, of(2)?])
        };
        if let Some(watched) = &self.watched {
            return match self.kind {
                Kind::StepPullback => {
                    Ok(watch::pullback(watched, &at, clock, argument(4)?, &mut bars()?, self.shared)?)
                }
                Kind::StepPushforward => {
                    let dots: Batch<'_, S> = sizes.over(argument(3)?, argument(4)?, argument(5)?);
                    let (seen_dot, mut seen) = (result(0)?, vec![S::default(); self.results[0].len()]);
                    Ok(watch::pushforward(watched, &at, &dots, clock, &mut seen, seen_dot)?)
                }
                Kind::Step | Kind::Rollout | Kind::RolloutPullback | Kind::RolloutPushforward => {
                    Ok(watch::forward(watched, &at, clock, result(0)?)?)
                }
            };
        }
        match self.kind {
            Kind::Step => step::forward(engine, &at, clock, result(0)?)?,
            Kind::Rollout => rollout::forward(engine, &at, self.course(), result(0)?)?,
            Kind::StepPullback => {
                let next = (argument(3)?, argument(4)?);
                step::pullback(engine, &at, clock, next, &mut bars()?, self.shared)?;
            }
            Kind::RolloutPullback => {
                let states = (argument(3)?, argument(4)?);
                rollout::pullback(engine, &at, self.course(), states, &mut bars()?, self.shared)?;
            }
            Kind::StepPushforward => {
                let (with, dots) = (with()?, result(0)?);
                let (at, mut next) =
                    (sizes.over(&with[0], &with[1], &with[2]), vec![S::default(); dots.len()]);
                step::pushforward(engine, &at, clock, &mut next, dots)?;
            }
            Kind::RolloutPushforward => {
                engine.has_tangents()?;
                let (with, dots) = (with()?, result(0)?);
                let (at, mut states) =
                    (sizes.over(&with[0], &with[1], &with[2]), vec![S::default(); dots.len()]);
                rollout::pushforward(engine, &at, self.course(), &mut states, dots)?;
            }
        }
        Ok(())
    }
}
