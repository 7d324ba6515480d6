//! NVIDIA's run-time compiler.
//!
//! Loaded here rather than by cudarc, which takes the first `libnvrtc.so` of any version that the system has, panics
//! where there is none, and knows no `PULLBACK_NVRTC_DIR`.

use std::env;
use std::ffi::{CString, OsStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use super::compile::{Target, excerpt};
use super::error::Error;

/// The name of the source in the compiler's messages.
pub(super) const NAME: &str = "kernels.cu";

/// `nvrtcProgram`: opaque.
type Program = *mut std::ffi::c_void;
/// `nvrtcResult`: 0 is success.
type Status = c_int;
type GetSize = unsafe extern "C" fn(Program, *mut usize) -> Status;
type GetBytes = unsafe extern "C" fn(Program, *mut c_char) -> Status;

/// The loaded compiler.
pub(super) struct Nvrtc {
    pub(super) version: (u32, u32),
    /// What it can compile machine code for.
    pub(super) architectures: Vec<u32>,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    log: (GetSize, GetBytes),
    cubin: (GetSize, GetBytes),
    ptx: (GetSize, GetBytes),
    /// The functions above are in there.
    _libraries: Vec<Library>,
}

impl Nvrtc {
    pub(super) fn get() -> Result<&'static Nvrtc, Error> {
        // Failures are not remembered: the next call may find another environment.
        static LOADED: OnceLock<Nvrtc> = OnceLock::new();
        if let Some(nvrtc) = LOADED.get() {
            return Ok(nvrtc);
        }
        let nvrtc = open().map_err(|problem| Error::NoCompiler { problem })?;
        Ok(LOADED.get_or_init(|| nvrtc))
    }

    pub(super) fn compile(
        &self,
        source: &str,
        target: Target,
        arguments: &[String],
    ) -> Result<Vec<u8>, Error> {
        let invalid = |log: &str| Error::Compile { log: String::from(log), excerpt: String::new() };
        let text = CString::new(source).map_err(|_| invalid("the source has a zero byte"))?;
        let name = CString::new(NAME).map_err(|_| invalid("the name has a zero byte"))?;
        let arguments: Vec<CString> = arguments
            .iter()
            .map(|argument| CString::new(argument.as_str()))
            .collect::<Result<_, _>>()
            .map_err(|_| invalid("an argument has a zero byte"))?;
        let pointers: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let mut program = Created { nvrtc: self, raw: std::ptr::null_mut() };
        let none = std::ptr::null();
        // SAFETY: the strings end with a zero and outlive the program, which is destroyed when dropped.
        let created =
            unsafe { (self.create)(&raw mut program.raw, text.as_ptr(), name.as_ptr(), 0, none, none) };
        if created != 0 {
            return Err(invalid(&format!("NVRTC failed to start, with status {created}")));
        }
        // SAFETY: the program lives; there are as many arguments as said.
        let status = unsafe { (self.compile)(program.raw, pointers.len() as c_int, pointers.as_ptr()) };
        if status != 0 {
            let log = program.get(self.log).unwrap_or_default();
            let log = String::from_utf8_lossy(&log).trim_end_matches(['\0', '\n']).to_string();
            let log = if log.is_empty() { format!("NVRTC's status is {status}") } else { log };
            let excerpt = excerpt(source, &log);
            return Err(Error::Compile { log, excerpt });
        }
        let image = match target {
            Target::Cubin(_) => program.get(self.cubin),
            Target::Ptx(_) => program.get(self.ptx),
        };
        image.map_err(|status| invalid(&format!("NVRTC gave no result, with status {status}")))
    }
}

/// A program that is destroyed when dropped.
struct Created<'a> {
    nvrtc: &'a Nvrtc,
    raw: Program,
}

impl Created<'_> {
    fn get(&self, (size, bytes): (GetSize, GetBytes)) -> Result<Vec<u8>, Status> {
        let mut length = 0;
        // SAFETY: the program lives; the size is written.
        let status = unsafe { size(self.raw, &raw mut length) };
        let mut result = vec![0u8; length];
        if status == 0 && length > 0 {
            // SAFETY: there is room for the bytes.
            let status = unsafe { bytes(self.raw, result.as_mut_ptr().cast()) };
            return if status == 0 { Ok(result) } else { Err(status) };
        }
        if status == 0 { Ok(result) } else { Err(status) }
    }
}

impl Drop for Created<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: made by this compiler, and not used after.
            let _ = unsafe { (self.nvrtc.destroy)(&raw mut self.raw) };
        }
    }
}

/// Finds the compiler: in `PULLBACK_NVRTC_DIR` if that is set, else where the system looks, else where CUDA installs.
fn open() -> Result<Nvrtc, String> {
    if let Some(folder) = env::var_os("PULLBACK_NVRTC_DIR").filter(|folder| !folder.is_empty()) {
        return open_in(Path::new(&folder)).map_err(|problem| format!("PULLBACK_NVRTC_DIR: {problem}"));
    }
    for name in NAMES {
        if let Ok(library) = load(name.as_ref()) {
            return bind(vec![library]);
        }
    }
    let installed = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    for root in installed.chain([PathBuf::from("/usr/local/cuda")]) {
        for folder in FOLDERS {
            if let Ok(nvrtc) = open_in(&root.join(folder)) {
                return Ok(nvrtc);
            }
        }
    }
    Err(format!("{} was not found on the library path, nor under CUDA_HOME or /usr/local/cuda", NAMES[0]))
}

#[cfg(not(windows))]
pub(super) const NAMES: &[&str] = &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
#[cfg(windows)]
pub(super) const NAMES: &[&str] = &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"];
#[cfg(not(windows))]
const FOLDERS: &[&str] = &["lib64", "lib"];
#[cfg(windows)]
const FOLDERS: &[&str] = &["bin", "bin/x64"];

fn open_in(folder: &Path) -> Result<Nvrtc, String> {
    let name = NAMES.iter().find(|name| folder.join(name).exists());
    let name = name.ok_or_else(|| format!("{} holds no {}", folder.display(), NAMES[0]))?;
    let mut libraries = builtins(folder);
    let path = folder.join(name);
    libraries.push(load(path.as_os_str()).map_err(|error| format!("{}: {error}", path.display()))?);
    bind(libraries)
}

/// NVRTC loads a second library by name when it first compiles, and finds it if it has been loaded from anywhere.
fn builtins(folder: &Path) -> Vec<Library> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libnvrtc-builtins.so") || name.starts_with("nvrtc-builtins64_")
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(named);
    paths.filter_map(|path| load(path.as_os_str()).ok()).collect()
}

fn load(path: &OsStr) -> Result<Library, libloading::Error> {
    // SAFETY: NVIDIA's libraries do nothing when loaded.
    unsafe { Library::new(path) }
}

/// Takes the functions from the last library.
fn bind(libraries: Vec<Library>) -> Result<Nvrtc, String> {
    let library = libraries.last().ok_or("no library")?;
    let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status = symbol(library, "nvrtcVersion")?;
    let count: unsafe extern "C" fn(*mut c_int) -> Status = symbol(library, "nvrtcGetNumSupportedArchs")?;
    let list: unsafe extern "C" fn(*mut c_int) -> Status = symbol(library, "nvrtcGetSupportedArchs")?;
    let (mut major, mut minor, mut number) = (0, 0, 0);
    // SAFETY: both write the numbers that they are given.
    let status = unsafe { version(&raw mut major, &raw mut minor) | count(&raw mut number) };
    let mut architectures = vec![0; number.unsigned_abs() as usize];
    // SAFETY: there is room for as many as there are.
    let status = status | unsafe { list(architectures.as_mut_ptr()) };
    if status != 0 {
        return Err(String::from("NVRTC does not say which devices it compiles for"));
    }
    let pair = |size, bytes| Ok::<_, String>((symbol(library, size)?, symbol(library, bytes)?));
    Ok(Nvrtc {
        version: (major.unsigned_abs(), minor.unsigned_abs()),
        architectures: architectures.into_iter().map(i32::unsigned_abs).collect(),
        create: symbol(library, "nvrtcCreateProgram")?,
        destroy: symbol(library, "nvrtcDestroyProgram")?,
        compile: symbol(library, "nvrtcCompileProgram")?,
        log: pair("nvrtcGetProgramLogSize", "nvrtcGetProgramLog")?,
        cubin: pair("nvrtcGetCUBINSize", "nvrtcGetCUBIN")?,
        ptx: pair("nvrtcGetPTXSize", "nvrtcGetPTX")?,
        _libraries: libraries,
    })
}

fn symbol<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
    // SAFETY: each caller asks for the type that nvrtc.h declares for the name.
    let symbol = unsafe { library.get::<F>(name) };
    symbol.map(|symbol| *symbol).map_err(|error| format!("NVRTC has no {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_folder_is_named() {
        let problem = open_in(Path::new("/nowhere")).err().expect("there is no such folder");
        assert!(problem.starts_with("/nowhere holds no "), "{problem}");
    }
}
