//! What can go wrong with a CUDA device, and what to do about it.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;

/// A failure of a CUDA device, of its compiler, or of how they were asked.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no NVIDIA driver.
    #[error("no CUDA driver: libcuda.so.1 was not found; install the NVIDIA driver, or run on the CPU")]
    NoDriver,

    /// The driver lacks functions that this crate calls.
    #[error(
        "the NVIDIA driver is for CUDA {}.{}, Pullback needs {}.{} or newer; \
         update the driver, or run on the CPU", found.0, found.1, needed.0, needed.1
    )]
    OldDriver {
        /// The CUDA version of the driver, major and minor.
        found: (u32, u32),
        /// The least that will do.
        needed: (u32, u32),
    },

    /// There is no device with that number.
    #[error("no CUDA device {ordinal}: {}", devices(*count))]
    NoDevice {
        /// The number asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },

    /// There is no compiler to make kernels with.
    #[error(
        "no CUDA compiler: {problem}; install NVRTC (part of the CUDA toolkit, or \
         `pip install nvidia-cuda-nvrtc`) and name the folder of libnvrtc.so in PULLBACK_NVRTC_DIR"
    )]
    NoCompiler {
        /// Where it was looked for, or what failed.
        problem: String,
    },

    /// The compiler is there, and too old or too new for the device.
    #[error(
        "NVRTC {}.{} cannot compile for a device of compute capability {}.{}; {}",
        compiler.0, compiler.1, capability / 10, capability % 10,
        "use the NVRTC of a CUDA version that supports it, or run on the CPU"
    )]
    UnsupportedDevice {
        /// NVRTC's version.
        compiler: (u32, u32),
        /// Ten times the major plus the minor compute capability.
        capability: u32,
    },

    /// The source is not valid CUDA C++.
    #[error("the CUDA source does not compile:\n{log}\n{excerpt}")]
    Compile {
        /// What the compiler said.
        log: String,
        /// Numbered lines of the source around the first errors.
        excerpt: String,
    },

    /// The module has no function of that name.
    #[error(
        "no function `{name}` in the CUDA module, which has {}; is it extern \"C\" __global__?",
        list(found)
    )]
    NoFunction {
        /// The name asked for.
        name: String,
        /// The names there are.
        found: Vec<String>,
    },

    /// The device has not enough memory left.
    #[error(
        "out of GPU memory: {asked} bytes were asked for, {free} are free; \
         use fewer worlds or elements, or free other programs' memory"
    )]
    OutOfMemory {
        /// Bytes asked for.
        asked: usize,
        /// Bytes free when asked.
        free: usize,
    },

    /// A range goes past the end of a buffer, or two lengths differ.
    #[error("{doing}: {problem}")]
    Range {
        /// What was being done.
        doing: &'static str,
        /// The numbers that do not fit.
        problem: String,
    },

    /// Arguments that the function does not take.
    #[error("arguments of the CUDA function `{function}`: {problem}")]
    Arguments {
        /// The function's name.
        function: String,
        /// What is wrong with them.
        problem: String,
    },

    /// A function did not start.
    #[error("the CUDA function `{function}` did not start: {problem}")]
    Launch {
        /// The function's name.
        function: String,
        /// Why not, with the shape and the resources of the launch.
        problem: String,
    },

    /// Something other than launches, copies on the device and zeroing, while a graph is captured.
    #[error("{doing} is not possible while a CUDA graph is captured; do it before Graph::capture")]
    WhileCapturing {
        /// What was being done.
        doing: &'static str,
    },

    /// Memory or functions of two devices were mixed.
    #[error(
        "{doing}: its parts belong to two `Device` values; make one with Device::new and use it for \
         all of them"
    )]
    OtherDevice {
        /// What was being done.
        doing: &'static str,
    },

    /// Any other failure that the driver reports.
    #[error("{doing}: CUDA says \"{message}\" ({code}){}", if *lost { LOST } else { "" })]
    Driver {
        /// What was being done.
        doing: &'static str,
        /// The driver's name for it.
        code: String,
        /// The driver's words for it.
        message: String,
        /// A kernel crashed, and nothing more can be done with the device.
        lost: bool,
    },
}

const LOST: &str = "; a kernel that was launched earlier crashed, and this process cannot use the GPU any more; \
                    `compute-sanitizer` finds the kernel and the address";

fn devices(count: usize) -> String {
    match count {
        0 => String::from("there is none; check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or run on the CPU"),
        1 => String::from("there is one, number 0"),
        n => format!("there are {n}, numbers 0 to {}", n - 1),
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { String::from("none") } else { names.join(", ") }
}

impl Error {
    pub(super) fn driver(doing: &'static str, error: DriverError) -> Error {
        Error::Driver {
            doing,
            code: format!("{:?}", error.0),
            message: message(error),
            lost: matches!(
                error.0,
                CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
                    | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
                    | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
                    | CUresult::CUDA_ERROR_INVALID_PC
                    | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
                    | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
                    | CUresult::CUDA_ERROR_LAUNCH_FAILED
                    | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
                    | CUresult::CUDA_ERROR_ASSERT
            ),
        }
    }
}

/// The driver's words for an error.
pub(super) fn message(error: DriverError) -> String {
    error.error_string().map_or_else(|_| String::from("unknown error"), |s| s.to_string_lossy().into_owned())
}

crate::debug_as_display!(Error);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        let said = |error: Error| error.to_string();
        assert_eq!(
            said(Error::NoDriver),
            "no CUDA driver: libcuda.so.1 was not found; install the NVIDIA driver, or run on the CPU"
        );
        assert_eq!(
            said(Error::NoDevice { ordinal: 7, count: 2 }),
            "no CUDA device 7: there are 2, numbers 0 to 1"
        );
        assert_eq!(
            said(Error::OldDriver { found: (12, 2), needed: (12, 8) }),
            "the NVIDIA driver is for CUDA 12.2, Pullback needs 12.8 or newer; update the driver, or run on the CPU"
        );
        assert_eq!(
            said(Error::UnsupportedDevice { compiler: (13, 0), capability: 61 }),
            "NVRTC 13.0 cannot compile for a device of compute capability 6.1; \
             use the NVRTC of a CUDA version that supports it, or run on the CPU"
        );
        assert_eq!(
            said(Error::NoFunction { name: String::from("f"), found: vec![String::from("g")] }),
            "no function `f` in the CUDA module, which has g; is it extern \"C\" __global__?"
        );
    }
}
