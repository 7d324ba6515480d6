//! The kernels compiled for CUDA, by NVRTC, which needs no GPU.

use std::ffi::{CString, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::{CheckError, NVRTC_DIR};

const OPTIONS: [&str; 4] =
    ["--gpu-architecture=compute_90", "--fmad=false", "--std=c++17", "--disable-warnings"];

/// The size of the PTX; none where [`NVRTC_DIR`] is not set, which is an error on CI.
pub fn compile_where_present(text: &str) -> Result<Option<usize>, CheckError> {
    match (std::env::var_os(NVRTC_DIR), std::env::var_os("CI")) {
        (Some(dir), _) => compile(&dir, text).map(Some),
        (None, Some(_)) => Err(CheckError::Tool(format!(
            "{NVRTC_DIR} does not say where libnvrtc.so.13 is; `cargo xtask test` installs it and sets the variable"
        ))),
        (None, None) => Ok(None),
    }
}

type Program = *mut c_void;

fn compile(dir: &OsString, text: &str) -> Result<usize, CheckError> {
    let dir = PathBuf::from(dir);
    // NVRTC looks for its builtins where the system looks for libraries, unless they are there already.
    let _builtins = open(&dir.join("libnvrtc-builtins.so.13.0"))?;
    let library = open(&dir.join("libnvrtc.so.13"))?;
    let nvrtc = Nvrtc { library: &library };
    let source = CString::new(text).map_err(|e| CheckError::Tool(e.to_string()))?;
    let name = c"kernels.cu";
    let mut program: Program = ptr::null_mut();

    type Create = unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int;
    let create: Create = nvrtc.get("nvrtcCreateProgram")?;
    // SAFETY: as nvrtc.h declares it; there are no headers.
    let status =
        unsafe { create(&raw mut program, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null()) };
    nvrtc.expect("nvrtcCreateProgram", status)?;

    let options: Vec<CString> = OPTIONS.iter().filter_map(|option| CString::new(*option).ok()).collect();
    let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
    let compile: Compile = nvrtc.get("nvrtcCompileProgram")?;
    // SAFETY: as nvrtc.h declares it, and the options outlive the call.
    let status = unsafe { compile(program, pointers.len() as c_int, pointers.as_ptr()) };
    if status != 0 {
        let log = nvrtc.text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")?;
        let kept = std::env::temp_dir().join("pullback-check-kernels.cu");
        std::fs::write(&kept, text).map_err(|e| CheckError::Tool(e.to_string()))?;
        return Err(CheckError::Refused {
            compiler: "NVRTC",
            source_file: kept.display().to_string(),
            log: log.lines().take(60).collect::<Vec<_>>().join("\n"),
        });
    }
    let ptx = nvrtc.text(program, "nvrtcGetPTXSize", "nvrtcGetPTX")?;
    type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
    let destroy: Destroy = nvrtc.get("nvrtcDestroyProgram")?;
    // SAFETY: made by nvrtcCreateProgram, and used no more.
    let status = unsafe { destroy(&raw mut program) };
    nvrtc.expect("nvrtcDestroyProgram", status)?;
    Ok(ptx.len())
}

fn open(path: &Path) -> Result<Library, CheckError> {
    // SAFETY: NVIDIA's library, whose initialisers touch nothing of ours.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }
        .map_err(|e| CheckError::Tool(format!("loading {} (named by {NVRTC_DIR}): {e}", path.display())))
}

struct Nvrtc<'a> {
    library: &'a Library,
}

impl Nvrtc<'_> {
    fn get<F: Copy>(&self, name: &str) -> Result<F, CheckError> {
        // SAFETY: callers give the type that nvrtc.h declares.
        let symbol = unsafe { self.library.get::<F>(name.as_bytes()) };
        symbol.map(|f| *f).map_err(|e| CheckError::Tool(format!("{name}: {e}")))
    }

    fn expect(&self, name: &str, status: c_int) -> Result<(), CheckError> {
        if status == 0 {
            Ok(())
        } else {
            Err(CheckError::Tool(format!("{name} failed with status {status}")))
        }
    }

    /// A text that NVRTC holds: its size by one function, itself by another.
    fn text(&self, program: Program, size: &str, get: &str) -> Result<String, CheckError> {
        let size_of: unsafe extern "C" fn(Program, *mut usize) -> c_int = self.get(size)?;
        let copy: unsafe extern "C" fn(Program, *mut c_char) -> c_int = self.get(get)?;
        let mut length = 0;
        // SAFETY: as nvrtc.h declares it.
        let status = unsafe { size_of(program, &raw mut length) };
        self.expect(size, status)?;
        let mut bytes = vec![0_u8; length];
        // SAFETY: the buffer has the size that NVRTC asked for.
        let status = unsafe { copy(program, bytes.as_mut_ptr().cast()) };
        self.expect(get, status)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
    }
}
