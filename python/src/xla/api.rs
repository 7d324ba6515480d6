//! The part of XLA's foreign function interface that a handler on the CPU needs: structs of `xla/ffi/api/c_api.h`.
//!
//! Structs only grow at their ends, and say how long they are. What is declared here is a prefix of what XLA passes in versions
//! 0.x; where structs lie inside of others they have exactly this length, or what comes after them would lie elsewhere.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::offset_of;

use super::refused;
use crate::error::Failure;

/// Types of numbers.
pub const S32: c_int = 4;
pub const S64: c_int = 5;
pub const F32: c_int = 11;
pub const F64: c_int = 12;

/// The version of the interface that is written down here. XLA refuses handlers of versions that it no longer has.
const MAJOR: c_int = 0;
const MINOR: c_int = 1;

/// The extension by which XLA asks what a handler is.
const METADATA: c_int = 1;
/// The type of an attribute that is a list of numbers.
const ARRAY: c_int = 1;
/// The type of an argument or result that is an array.
const BUFFER: c_int = 1;
/// The stage in which results are made.
const EXECUTE: c_int = 3;

/// An error that XLA has made; its inside is XLA's.
#[repr(C)]
pub struct XlaError {
    _private: [u8; 0],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub enum ErrorCode {
    InvalidArgument = 3,
    Internal = 13,
}

#[repr(C)]
struct Extension {
    size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct Version {
    size: usize,
    extension: *mut Extension,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    size: usize,
    version: Version,
    traits: u32,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct ErrorArguments {
    size: usize,
    extension: *mut Extension,
    message: *const c_char,
    code: ErrorCode,
}

#[repr(C)]
struct Api {
    size: usize,
    extension: *mut Extension,
    version: Version,
    internal: *const c_void,
    error_create: Option<unsafe extern "C" fn(*mut ErrorArguments) -> *mut XlaError>,
}

/// An array.
#[repr(C)]
pub struct Buffer {
    size: usize,
    extension: *mut Extension,
    pub dtype: c_int,
    pub data: *mut c_void,
    rank: i64,
    dims: *const i64,
}

impl Buffer {
    /// How many numbers.
    pub fn len(&self) -> usize {
        let rank = usize::try_from(self.rank).unwrap_or(0);
        // SAFETY: XLA says that there are so many.
        let dims = unsafe { crate::batch::numbers::<i64>(self.dims as usize, rank) }.unwrap_or_default();
        dims.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).product()
    }
}

/// Arguments or results.
#[repr(C)]
struct Buffers {
    size: usize,
    extension: *mut Extension,
    count: i64,
    types: *const c_int,
    items: *const *mut Buffer,
}

#[repr(C)]
struct Attributes {
    size: usize,
    extension: *mut Extension,
    count: i64,
    types: *const c_int,
    names: *const *mut c_void,
    items: *const *mut c_void,
}

/// A list of numbers.
#[repr(C)]
pub struct Array {
    pub dtype: c_int,
    pub size: usize,
    pub data: *mut c_void,
}

/// A call.
#[repr(C)]
pub struct CallFrame {
    size: usize,
    extension: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Buffers,
    results: Buffers,
    attributes: Attributes,
    _pinned: PhantomData<*mut ()>,
}

impl CallFrame {
    /// An error unless the structs are as long as those that are written down here.
    ///
    /// # Safety
    ///
    /// The frame is one of XLA's.
    pub unsafe fn check(&self) -> Result<(), Failure> {
        at_least("frame", size_of::<CallFrame>(), self.size)?;
        exactly("arguments", size_of::<Buffers>(), self.arguments.size)?;
        exactly("results", size_of::<Buffers>(), self.results.size)?;
        exactly("attributes", size_of::<Attributes>(), self.attributes.size)?;
        // SAFETY: XLA's table of functions, or null.
        let Some(api) = (unsafe { self.api.as_ref() }) else { return Ok(()) };
        at_least("table of functions", size_of::<Api>(), api.size)?;
        exactly("version", size_of::<Version>(), api.version.size)
    }

    /// Does XLA only ask what the handler is?
    pub fn asks(&self) -> bool {
        // SAFETY: extensions are a list of XLA's, or null.
        unsafe { self.extension.as_ref() }.is_some_and(|extension| extension.kind == METADATA)
    }

    /// If XLA only asks what the handler is: answers, and says true.
    ///
    /// # Safety
    ///
    /// The frame is one of XLA's.
    pub unsafe fn answer_metadata(&self) -> Result<bool, Failure> {
        if !self.asks() {
            return Ok(false);
        }
        // SAFETY: the kind says which struct it is; its length is the first that is looked at.
        let asked = unsafe { &*self.extension.cast::<MetadataExtension>() };
        at_least("question", size_of::<MetadataExtension>(), asked.base.size)?;
        // SAFETY: XLA wants it to be written.
        let metadata = unsafe { asked.metadata.as_mut() };
        let metadata = metadata.ok_or_else(|| refused("there is no room for the answer"))?;
        // XLA does not count what comes after the last field.
        at_least("answer", offset_of!(Metadata, traits) + size_of::<u32>(), metadata.size)?;
        exactly("version", size_of::<Version>(), metadata.version.size)?;
        (metadata.version.major, metadata.version.minor) = (MAJOR, MINOR);
        metadata.traits = 0;
        Ok(true)
    }

    /// An error unless results are to be made now.
    pub fn executes(&self) -> Result<(), Failure> {
        match self.stage {
            EXECUTE => Ok(()),
            other => Err(refused(&format!("it is of stage {other}, and {EXECUTE} is wanted"))),
        }
    }

    /// The only attribute, if it is a list of numbers.
    ///
    /// # Safety
    ///
    /// The frame is one of XLA's, for a call to be executed.
    pub unsafe fn attribute(&self) -> Option<&Array> {
        let Attributes { count, types, items, .. } = self.attributes;
        // SAFETY: XLA says that there is one.
        unsafe { (count == 1 && *types == ARRAY).then(|| (*items).cast::<Array>().as_ref()).flatten() }
    }

    /// The arguments.
    ///
    /// # Safety
    ///
    /// As for [`CallFrame::attribute`].
    pub unsafe fn arguments(&self) -> Result<Vec<&Buffer>, Failure> {
        // SAFETY: the caller promises it.
        unsafe { self.arguments.all() }
    }

    /// The results.
    ///
    /// # Safety
    ///
    /// As for [`CallFrame::attribute`].
    pub unsafe fn results(&self) -> Result<Vec<&Buffer>, Failure> {
        // SAFETY: the caller promises it.
        unsafe { self.results.all() }
    }

    /// An error for XLA, never null; `None` where XLA has no function to make one.
    ///
    /// # Safety
    ///
    /// The frame is one of XLA's.
    pub unsafe fn error(&self, code: ErrorCode, message: &CStr) -> Option<*mut XlaError> {
        if self.size < offset_of!(CallFrame, context) {
            return None;
        }
        let mut arguments = ErrorArguments {
            size: size_of::<ErrorArguments>(),
            extension: std::ptr::null_mut(),
            message: message.as_ptr(),
            code,
        };
        // SAFETY: XLA's table of functions.
        let api = unsafe { self.api.as_ref() }.filter(|api| api.size >= size_of::<Api>())?;
        // SAFETY: XLA copies the message.
        let error = unsafe { api.error_create?(&mut arguments) };
        (!error.is_null()).then_some(error)
    }
}

impl Buffers {
    /// # Safety
    ///
    /// They are XLA's.
    unsafe fn all(&self) -> Result<Vec<&Buffer>, Failure> {
        let count = usize::try_from(self.count).map_err(|_| refused("a negative number of arrays"))?;
        let buffer = |i: usize| -> Result<&Buffer, Failure> {
            // SAFETY: the caller promises it: there are so many types, and so many items of these types.
            let (kind, buffer) = unsafe { (*self.types.add(i), (*self.items.add(i)).as_ref()) };
            let buffer = buffer.filter(|_| kind == BUFFER).ok_or_else(|| refused("an array is missing"))?;
            at_least("array", size_of::<Buffer>(), buffer.size)?;
            Ok(buffer)
        };
        let mut all = Vec::with_capacity(count);
        for i in 0..count {
            all.push(buffer(i)?);
        }
        Ok(all)
    }
}

fn at_least(what: &str, wanted: usize, found: usize) -> Result<(), Failure> {
    match found >= wanted {
        true => Ok(()),
        false => Err(refused(&format!("its {what} has {found} bytes, and at least {wanted} are wanted"))),
    }
}

fn exactly(what: &str, wanted: usize, found: usize) -> Result<(), Failure> {
    match found == wanted {
        true => Ok(()),
        false => Err(refused(&format!("its {what}: {wanted} bytes are wanted, and there are {found}"))),
    }
}
