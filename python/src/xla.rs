//! Steps and rollouts inside programs that XLA compiles, for JAX: a handler of its foreign function interface.
//!
//! One handler serves all calls. Its only attribute is a list of whole numbers: which simulation, which operation, the number of the
//! step or of steps, whether only the last state is seen, and what worlds share.

mod api;

use std::ffi::{CString, c_void};
use std::ptr::NonNull;
use std::sync::{Arc, RwLock};

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::batch::{Batch, Shared, Sizes, duals, numbers, numbers_mut};
use crate::compute::caught;
use crate::error::Failure;
use crate::pool::{Engine, Number};
use crate::rollout::{self, Course};
use crate::simulation::Simulation;
use crate::step;
use api::{Array, Buffer, CallFrame, ErrorCode, XlaError};

/// Simulations that compiled programs call. They stay: a compiled program may outlive every other trace of its simulation.
static KNOWN: RwLock<Vec<Arc<Engine>>> = RwLock::new(Vec::new());

/// The number by which compiled programs call a simulation.
#[pyfunction]
pub fn xla_number(simulation: &Bound<'_, Simulation>) -> usize {
    let engine = &simulation.get().0;
    let mut known = KNOWN.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    known.iter().position(|it| Arc::ptr_eq(it, engine)).unwrap_or_else(|| {
        known.push(engine.clone());
        known.len() - 1
    })
}

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
    let Some(frame) = (unsafe { frame.as_mut() }) else { return std::ptr::null_mut() };
    // SAFETY: as above.
    if unsafe { frame.answer_metadata() } {
        return std::ptr::null_mut();
    }
    // SAFETY: as above.
    let result = caught(|| unsafe { call(frame) });
    match result {
        Ok(()) => std::ptr::null_mut(),
        Err(failure) => {
            let (code, message) = told(failure);
            let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
            // SAFETY: the frame has XLA's table of functions.
            unsafe { frame.error(code, &message) }
        }
    }
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
    kind: Kind,
    /// The number of the step, or of steps.
    count: usize,
    last: bool,
    shared: Shared,
    arguments: Vec<&'a Buffer>,
    results: Vec<&'a Buffer>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Step,
    StepPullback,
    StepPushforward,
    Rollout,
    RolloutPullback,
    RolloutPushforward,
}

impl Kind {
    fn of(number: i64) -> Option<Kind> {
        use Kind::*;
        let all = [Step, StepPullback, StepPushforward, Rollout, RolloutPullback, RolloutPushforward];
        usize::try_from(number).ok().and_then(|i| all.get(i).copied())
    }

    fn is_rollout(self) -> bool {
        matches!(self, Kind::Rollout | Kind::RolloutPullback | Kind::RolloutPushforward)
    }
}

fn refused(what: &str) -> Failure {
    Failure::Setting(format!("a call from XLA does not fit: {what}"))
}

/// # Safety
///
/// The frame is one of XLA's, for a call to be executed.
unsafe fn call(frame: &CallFrame) -> Result<(), Failure> {
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
    let &[number, kind, count, last, shared] = (unsafe { numbers::<i64>(attribute.data as usize, 5) }) else {
        return Err(refused("its attribute"));
    };
    let known = KNOWN.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let engine = usize::try_from(number).ok().and_then(|i| known.get(i).cloned());
    // SAFETY: as above.
    let (arguments, results) = unsafe { (frame.arguments(), frame.results()) };
    let dtype = arguments.first().map(|x| x.dtype);
    if arguments.iter().chain(&results).any(|buffer| Some(buffer.dtype) != dtype) {
        return Err(refused("its arrays are of different types"));
    }
    Ok(Call {
        engine: engine.ok_or_else(|| refused("there is no such simulation in this process"))?,
        kind: Kind::of(kind).ok_or_else(|| refused("there is no such operation"))?,
        count: usize::try_from(count).map_err(|_| refused("a negative number of steps"))?,
        last: last != 0,
        shared: Shared(u8::try_from(shared).map_err(|_| refused("what is shared"))?),
        arguments,
        results,
    })
}

impl Call<'_> {
    fn course(&self) -> Course {
        Course { steps: self.count, last: self.last }
    }

    /// How many numbers there are of what, checked against the arrays.
    fn sizes(&self) -> Result<Sizes, Failure> {
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
        let worlds = out / (seen * x).max(1);
        let sizes = Sizes { worlds, shared: self.shared, x, u: u * steps, theta };
        let (lens, out) = (sizes.lens(), worlds * seen * x);
        let wanted: Vec<usize> = match a {
            3 => [&lens[..], &[out]].concat(),
            5 => [&lens[..], &[out, out], &lens[..]].concat(),
            _ => [&lens[..], &lens[..], &[out]].concat(),
        };
        let found: Vec<usize> = self.arguments.iter().chain(&self.results).map(|it| it.len()).collect();
        match wanted == found {
            true => Ok(sizes),
            false => {
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
        let engine = &*self.engine;
        let at = || -> Batch<'_, S> { sizes.over(argument(0), argument(1), argument(2)) };
        // SAFETY: as above.
        let bars = || unsafe { sizes.bars::<S>([0, 1, 2].map(|i| self.results[i].data as usize)) };
        let with = || [0, 1, 2].map(|i| duals(argument(i), argument(i + 3)));
        match self.kind {
            Kind::Step => step::forward(engine, &at(), self.count, result(0))?,
            Kind::Rollout => rollout::forward(engine, &at(), self.course(), result(0))?,
            Kind::StepPullback => {
                let next = (argument(3), argument(4));
                step::pullback(engine, &at(), self.count, next, &mut bars(), self.shared)?;
            }
            Kind::RolloutPullback => {
                let states = (argument(3), argument(4));
                rollout::pullback(engine, &at(), self.course(), states, &mut bars(), self.shared)?;
            }
            Kind::StepPushforward => {
                let with = with();
                let (at, mut next) =
                    (sizes.over(&with[0], &with[1], &with[2]), vec![S::default(); result(0).len()]);
                step::pushforward(engine, &at, self.count, &mut next, result(0))?;
            }
            Kind::RolloutPushforward => {
                let with = with();
                let (at, mut states) =
                    (sizes.over(&with[0], &with[1], &with[2]), vec![S::default(); result(0).len()]);
                rollout::pushforward(engine, &at, self.course(), &mut states, result(0))?;
            }
        }
        Ok(())
    }
}
