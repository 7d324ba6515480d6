//! The part of XLA's foreign function interface that a handler on the CPU needs: structs of `xla/ffi/api/c_api.h`.
//!
//! Structs only grow at their ends, so that what is declared here is a prefix of what XLA passes, in all versions 0.x.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;

/// Types of numbers.
pub const S64: c_int = 5;
pub const F32: c_int = 11;
pub const F64: c_int = 12;

/// The version that is answered where XLA does not tell its own.
const MAJOR: c_int = 0;
const MINOR: c_int = 1;

/// The extension by which XLA asks what a handler is.
const METADATA: c_int = 1;
/// The type of an attribute that is a list of numbers.
const ARRAY: c_int = 1;

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
        let dims = unsafe { crate::batch::numbers::<i64>(self.dims as usize, rank) };
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
    /// If XLA only asks what the handler is: answers, and says true.
    ///
    /// # Safety
    ///
    /// The frame is one of XLA's.
    pub unsafe fn answer_metadata(&mut self) -> bool {
        // SAFETY: extensions are a list of XLA's, or null.
        let Some(extension) = (unsafe { self.extension.as_ref() }) else { return false };
        if extension.kind != METADATA {
            return false;
        }
        // SAFETY: the kind says which struct it is.
        let asked = unsafe { &*self.extension.cast::<MetadataExtension>() };
        // SAFETY: XLA's table of functions, or null.
        let (major, minor) =
            unsafe { self.api.as_ref() }.map_or((MAJOR, MINOR), |api| (api.version.major, api.version.minor));
        // SAFETY: XLA wants it to be written.
        if let Some(metadata) = unsafe { asked.metadata.as_mut() } {
            (metadata.version.major, metadata.version.minor) = (major, minor);
            metadata.traits = 0;
        }
        true
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
    pub unsafe fn arguments(&self) -> Vec<&Buffer> {
        // SAFETY: the caller promises it.
        unsafe { self.arguments.all() }
    }

    /// The results.
    ///
    /// # Safety
    ///
    /// As for [`CallFrame::attribute`].
    pub unsafe fn results(&self) -> Vec<&Buffer> {
        // SAFETY: the caller promises it.
        unsafe { self.results.all() }
    }

    /// An error for XLA.
    ///
    /// # Safety
    ///
    /// As for [`CallFrame::attribute`].
    pub unsafe fn error(&self, code: ErrorCode, message: &CStr) -> *mut XlaError {
        let mut arguments = ErrorArguments {
            size: size_of::<ErrorArguments>(),
            extension: std::ptr::null_mut(),
            message: message.as_ptr(),
            code,
        };
        // SAFETY: XLA's table of functions.
        match unsafe { self.api.as_ref() }.and_then(|api| api.error_create) {
            // SAFETY: XLA copies the message.
            Some(create) => unsafe { create(&mut arguments) },
            None => std::ptr::null_mut(),
        }
    }
}

impl Buffers {
    /// # Safety
    ///
    /// They are XLA's.
    unsafe fn all(&self) -> Vec<&Buffer> {
        let count = usize::try_from(self.count).unwrap_or(0);
        // SAFETY: the caller promises it.
        (0..count).filter_map(|i| unsafe { (*self.items.add(i)).as_ref() }).collect()
    }
}
