//! The kernels as plain C++, compiled with g++ and run beside Rust.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use libloading::{Library, Symbol};

use super::compare::{Machine, Tolerance, Ulps};
use super::{CheckError, Flat, Shape};

/// How far numbers may be apart where a library's functions are involved, in units in the last place.
const LIBRARY_ULPS: u64 = 4;

/// A folder of its own, removed at the end unless something went wrong.
struct Scratch {
    dir: PathBuf,
    keep: bool,
}

impl Scratch {
    fn new() -> Result<Scratch, CheckError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("pullback-check-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&dir).map_err(|e| tool(&format!("creating {}", dir.display()), &e))?;
        Ok(Scratch { dir, keep: false })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

fn tool(doing: &str, error: &dyn std::error::Error) -> CheckError {
    CheckError::Tool(format!("{doing}: {error}"))
}

/// The kernels as a library.
pub struct Host {
    library: Library,
    _scratch: Scratch,
}

impl Host {
    /// Compiles the text.
    pub fn new(text: &str) -> Result<Host, CheckError> {
        let mut scratch = Scratch::new()?;
        let library = compile(&mut scratch, text)?;
        Ok(Host { library, _scratch: scratch })
    }
}

type ForwardFn<S> = unsafe extern "C" fn(*const S, *const u32, *mut S, *mut u32);
type BackFn<S> = unsafe extern "C" fn(*const S, *const u32, *const S, *mut S);

impl<S: Ulps> Machine<S> for Host {
    const NAME: &'static str = "g++";

    fn tolerance(exact: bool) -> Tolerance {
        Tolerance::Ulps(if exact { 0 } else { LIBRARY_ULPS })
    }

    fn run(
        &self,
        name: &str,
        shape: &Shape,
        inputs: &Flat<S>,
        y_bar: &[S],
    ) -> Result<(Flat<S>, Vec<S>), CheckError> {
        let missing = |e: libloading::Error| tool(name, &e);
        // SAFETY: the types are those of the text that `source` writes.
        let forward: Symbol<ForwardFn<S>> = unsafe { self.library.get(name.as_bytes()) }.map_err(missing)?;
        // SAFETY: as above.
        let back: Symbol<BackFn<S>> =
            unsafe { self.library.get(format!("{name}_back").as_bytes()) }.map_err(missing)?;
        let (x, k) = (inputs.0.as_ptr(), inputs.1.as_ptr());
        let (mut y, mut j) = (vec![S::default(); shape.out_numbers], vec![0; shape.out_indices]);
        let mut x_bar = vec![S::default(); shape.numbers];
        // SAFETY: the buffers have the sizes of the kernel's arguments and result.
        unsafe {
            forward(x, k, y.as_mut_ptr(), j.as_mut_ptr());
            back(x, k, y_bar.as_ptr(), x_bar.as_mut_ptr());
        }
        Ok(((y, j), x_bar))
    }
}

fn compile(scratch: &mut Scratch, text: &str) -> Result<Library, CheckError> {
    let (source, object) = (scratch.dir.join("kernels.cpp"), scratch.dir.join("kernels.so"));
    std::fs::write(&source, text).map_err(|e| tool(&format!("writing {}", source.display()), &e))?;
    let output = Command::new("g++")
        .args([
            "-std=c++17",
            "-O1",
            "-ffp-contract=off",
            "-DPB_HOST",
            "-shared",
            "-fPIC",
            "-w",
            "-fmax-errors=3",
            "-o",
        ])
        .args([&object, &source])
        .output()
        .map_err(|e| tool("starting g++ (apt-get install g++)", &e))?;
    if !output.status.success() {
        scratch.keep = true;
        let log = String::from_utf8_lossy(&output.stderr);
        return Err(CheckError::Refused {
            compiler: "g++",
            source_file: source.display().to_string(),
            log: log.lines().take(60).collect::<Vec<_>>().join("\n"),
        });
    }
    load(&object)
}

fn load(object: &Path) -> Result<Library, CheckError> {
    // SAFETY: our own code without initialisers.
    unsafe { Library::new(object) }.map_err(|e| tool(&format!("loading {}", object.display()), &e))
}
