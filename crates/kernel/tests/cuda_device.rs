//! The CUDA device: its errors and its compiler anywhere, everything else on a machine with a GPU.
//!
//! On a GPU machine without Rust, the compiled test runs as it is, and prints what it measured:
//! `PULLBACK_NVRTC_DIR=... ./cuda_device-HASH --nocapture`.

use std::env;
use std::error::Error as AnyError;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pullback_kernel::cuda::{
    Arguments, Cache, Compile, Device, Error, Function, Graph, Image, Memory, Module, Shape, Source, Target,
    compile,
};

type Check = Result<(), Box<dyn AnyError>>;

const KERNELS: &str = r#"
extern "C" __global__ void axpy(double* y, const double* x, double a, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void add(unsigned* x, unsigned a, unsigned long long n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) x[i] += a;
}

struct Numbers { float a; double b; unsigned c[3]; };

extern "C" __global__ void take(double* out, Numbers numbers, float d) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        out[0] = numbers.a; out[1] = numbers.b; out[2] = numbers.c[2]; out[3] = d;
    }
}

// Keeps 160 numbers of a thread at a time: more registers than a block of 1024 threads can have.
extern "C" __global__ void heavy(float* y, const float* x, unsigned rounds, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v[160];
#pragma unroll
    for (int k = 0; k < 160; ++k) v[k] = x[(i + k) % n];
#pragma unroll 1
    for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
        for (int k = 0; k < 160; ++k) v[k] = v[k] + v[(k + 7) % 160];
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 160; ++k) sum += (k % 3) * v[k];
    y[i] = sum;
}

// What is lost when a product is rounded before it is added.
extern "C" __global__ void lost(float* y, float a, float b, float rounded) {
    if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = a * b - rounded;
}
"#;

/// A cache in a folder that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = env::temp_dir().join(format!("pullback-cuda-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        Scratch(folder)
    }

    fn options(&self) -> Compile {
        Compile { cache: Cache::at(&self.0), ..Compile::default() }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The first device, or `None` after a line that says why.
fn gpu() -> Result<Option<Arc<Device>>, Error> {
    match Device::new(0) {
        Err(error @ (Error::NoDriver | Error::NoDevice { count: 0, .. })) => {
            println!("skipped, since there is no GPU: {error}");
            Ok(None)
        }
        device => device.map(Some),
    }
}

/// Whether NVRTC is there, or a line that says why not. Whoever named its folder wants it found.
fn nvrtc() -> Result<bool, Error> {
    match Target::for_capability((9, 0)) {
        Err(error @ Error::NoCompiler { .. }) if env::var_os("PULLBACK_NVRTC_DIR").is_none() => {
            println!("skipped: {error}");
            Ok(false)
        }
        target => target.map(|_| true),
    }
}

#[test]
fn without_a_driver_the_error_says_what_to_do() {
    // Not Device::new on a machine with a GPU: it would disturb the measurements below.
    match Device::count() {
        Err(Error::NoDriver) => assert_eq!(
            Device::new(0).expect_err("there is no driver").to_string(),
            "no CUDA driver: libcuda.so.1 was not found; install the NVIDIA driver, or run on the CPU"
        ),
        Err(error) => println!("there is a driver: {error}"),
        Ok(count) => println!("there are {count} GPUs"),
    }
}

#[test]
fn a_device_that_does_not_exist_is_an_error() {
    for ordinal in [1000, usize::MAX] {
        let error = Device::new(ordinal).expect_err("no machine has so many");
        assert!(matches!(error, Error::NoDriver | Error::NoDevice { .. }), "{error}");
    }
}

#[test]
fn compiles_without_a_gpu_and_finds_it_again() -> Check {
    if !nvrtc()? {
        return Ok(());
    }
    let scratch = Scratch::new("compile");
    for target in [Target::Ptx(90), Target::Cubin(90)] {
        let first = compile(KERNELS, target, &scratch.options())?;
        let second = compile(KERNELS, target, &scratch.options())?;
        println!("{target:?}: compiled in {:.4} s, found in {:.4} s", first.seconds(), second.seconds());
        assert!(!first.cached() && second.cached());
        assert_eq!(first.bytes(), second.bytes());
        assert_eq!(second.target(), target);
        match target {
            Target::Ptx(_) => {
                let text = std::str::from_utf8(first.bytes())?;
                assert!(
                    text.contains(".target sm_90") && text.contains(".entry axpy") && text.ends_with('\0')
                );
            }
            Target::Cubin(_) => assert_eq!(&first.bytes()[..4], b"\x7fELF"),
        }
    }
    let other = Compile { fmad: true, ..scratch.options() };
    assert!(!compile(KERNELS, Target::Ptx(90), &other)?.cached());
    assert!(!compile(KERNELS, Target::Ptx(90), &Compile { cache: Cache::none(), ..other })?.cached());
    Ok(())
}

#[test]
fn a_damaged_entry_is_compiled_again() -> Check {
    if !nvrtc()? {
        return Ok(());
    }
    let scratch = Scratch::new("damaged");
    let first = compile(KERNELS, Target::Ptx(90), &scratch.options())?;
    let entry = fs::read_dir(&scratch.0)?.next().ok_or("the cache is empty")??.path();
    let whole = fs::read(&entry)?;
    let mut flipped = whole.clone();
    let last = flipped.len() - 100;
    flipped[last] ^= 4;
    for damaged in [&whole[..whole.len() / 2], &[], &flipped] {
        fs::write(&entry, damaged)?;
        let again = compile(KERNELS, Target::Ptx(90), &scratch.options())?;
        assert!(!again.cached());
        assert_eq!(again.bytes(), first.bytes());
        assert_eq!(fs::read(&entry)?, whole, "the entry was not put right");
    }
    assert!(compile(KERNELS, Target::Ptx(90), &scratch.options())?.cached());
    Ok(())
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() -> Check {
    if !nvrtc()? {
        return Ok(());
    }
    let scratch = Scratch::new("unwritable");
    fs::write(&scratch.0, "a file where the folder should be")?;
    for _ in 0..2 {
        assert!(!compile(KERNELS, Target::Ptx(90), &scratch.options())?.cached());
    }
    fs::remove_file(&scratch.0)?;
    Ok(())
}

#[test]
fn the_prelude_of_kernels_compiles() -> Check {
    if !nvrtc()? {
        return Ok(());
    }
    let image = compile(
        Source::new().text(),
        Target::Cubin(90),
        &Compile { cache: Cache::none(), ..Compile::default() },
    )?;
    println!("the prelude compiled in {:.3} s", image.seconds());
    Ok(())
}

#[test]
fn a_source_that_does_not_compile_is_shown() -> Check {
    if !nvrtc()? {
        return Ok(());
    }
    let options = Compile { cache: Cache::none(), ..Compile::default() };
    let wrong = KERNELS.replace("v[k] = x[(i + k) % n];", "v[k] = x[(i + k) % m];");
    let line = 1 + wrong.lines().position(|line| line.contains("% m]")).ok_or("the line")?;
    let error = compile(&wrong, Target::Ptx(90), &options).expect_err("m is unknown");
    let said = error.to_string();
    println!("{said}");
    assert!(said.contains("identifier \"m\" is undefined"), "{said}");
    assert!(
        said.contains(&format!(">{line:5} |     for (int k = 0; k < 160; ++k) v[k] = x[(i + k) % m];")),
        "{said}"
    );
    let zero = compile("a\0b", Target::Ptx(90), &options).expect_err("a zero byte");
    assert!(zero.to_string().contains("zero byte"), "{zero}");
    let arguments = vec![String::from("--no-such-argument")];
    let error =
        compile(KERNELS, Target::Ptx(90), &Compile { arguments, ..options }).expect_err("an argument");
    assert!(error.to_string().contains("no-such-argument"), "{error}");
    Ok(())
}

/// One test, since the parts measure time and free memory.
#[test]
fn on_a_gpu() -> Check {
    let Some(device) = gpu()? else { return Ok(()) };
    let (major, minor) = device.compute_capability();
    println!(
        "{}: compute capability {major}.{minor}, {} multiprocessors, {} bytes, {} free",
        device.name(),
        device.multiprocessors(),
        device.total_memory(),
        device.free_memory()?
    );
    let scratch = Scratch::new("gpu");
    let module = compiles_once(&device, &scratch)?;
    memory_holds_what_was_written(&device)?;
    odd_counts(&device, &module)?;
    arguments_arrive_and_are_checked(&device, &module)?;
    heavy_function(&device, &module)?;
    contraction_can_be_turned_off(&device, &scratch)?;
    assembly_runs_too(&device)?;
    errors(&device, &module)?;
    graph_runs_many_times(&device, &module)?;
    graph_keeps_what_it_uses(&device, &module)?;
    capture_ends_cleanly(&device, &module)?;
    threads_take_turns(&device, &module)?;
    copy_bandwidth(&device)?;
    // In a process of its own, which it spoils.
    let crash = ["a_crash_of_a_kernel_is_an_error", "--exact", "--nocapture"];
    let status = Command::new(env::current_exe()?).args(crash).env("PULLBACK_TEST_CRASH", "1").status()?;
    assert!(status.success());
    Ok(())
}

fn compiles_once(device: &Arc<Device>, scratch: &Scratch) -> Result<Arc<Module>, Box<dyn AnyError>> {
    let first = Module::compile(device, KERNELS, &scratch.options())?;
    let second = Module::compile(device, KERNELS, &scratch.options())?;
    println!("first: {first:?}\nsecond: {second:?}");
    assert!(!first.cached() && second.cached());
    assert!(second.seconds() < first.seconds());
    let mut names = second.functions()?;
    names.sort();
    assert_eq!(names, ["add", "axpy", "heavy", "lost", "take"]);
    Ok(second)
}

fn memory_holds_what_was_written(device: &Arc<Device>) -> Check {
    let numbers: Vec<f32> = (0..1001).map(|i| i as f32).collect();
    let memory = Memory::from_slice(device, &numbers)?;
    assert_eq!(memory.to_vec()?, numbers);
    assert!(memory.address() != 0 && memory.len() == 1001 && !memory.is_empty());

    memory.write_at(10, &[-1.0, -2.0])?;
    let mut part = [0.0; 4];
    memory.read_at(9, &mut part)?;
    assert_eq!(part, [9.0, -1.0, -2.0, 12.0]);

    let copy = Memory::<f32>::zeroed(device, 1001)?;
    assert_eq!(copy.to_vec()?, vec![0.0; 1001]);
    copy.copy_from(&memory)?;
    copy.zero_at(0..9)?;
    copy.copy_at(500, &memory, 0..3)?;
    // Within one buffer, too.
    copy.copy_at(1000, &copy, 11..12)?;
    let got = copy.to_vec()?;
    assert_eq!(got[..12], [[0.0; 9].as_slice(), &[9.0, -1.0, -2.0]].concat());
    assert_eq!(got[499..504], [499.0, 0.0, 1.0, 2.0, 503.0]);
    assert_eq!(got[1000], -2.0);
    copy.zero()?;
    assert_eq!(copy.to_vec()?, vec![0.0; 1001]);

    let empty = Memory::<f64>::from_slice(device, &[])?;
    empty.zero()?;
    empty.copy_from(&Memory::zeroed(device, 0)?)?;
    assert!(empty.is_empty() && empty.to_vec()?.is_empty());

    for error in [
        memory.write(&[0.0]).expect_err("too few"),
        memory.write_at(1000, &[0.0; 2]).expect_err("past the end"),
        memory.read_at(usize::MAX, &mut [0.0; 2]).expect_err("past the end"),
        memory.zero_at(0..1002).expect_err("past the end"),
        memory.copy_from(&Memory::zeroed(device, 1000)?).expect_err("too few"),
        memory.copy_at(1, &memory, 0..2).expect_err("they overlap"),
    ] {
        assert!(matches!(error, Error::Range { .. }), "{error}");
    }
    Ok(())
}

fn odd_counts(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    let axpy = module.function("axpy")?;
    println!("{axpy:?}");
    for count in [0, 1, 31, 32, 33, 255, 257, 1000, 4223, 4225, 100_003, 3_000_001] {
        let x: Vec<f64> = (0..count + 1).map(|i| i as f64).collect();
        let (from, to) = (Memory::from_slice(device, &x)?, Memory::from_slice(device, &x)?);
        let arguments = Arguments::new().pointer(&to).pointer(&from).f64(2.0).u32(count as u32);
        // SAFETY: the kernel touches the first `count` numbers of both.
        unsafe { axpy.launch(count, &arguments)? };
        let got = to.to_vec()?;
        assert!((0..count).all(|i| got[i] == 3.0 * i as f64), "{count}");
        assert_eq!(got[count], count as f64, "past the end");
    }
    Ok(())
}

fn arguments_arrive_and_are_checked(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    let take = module.function("take")?;
    let out = Memory::<f64>::zeroed(device, 5)?;
    // As C++ lays it out: a float, 4 bytes of padding, a double, three unsigned, 4 bytes of padding.
    let mut numbers = [0u8; 32];
    numbers[..4].copy_from_slice(&1.5f32.to_ne_bytes());
    numbers[8..16].copy_from_slice(&2.5f64.to_ne_bytes());
    numbers[24..28].copy_from_slice(&7u32.to_ne_bytes());
    let arguments = Arguments::new().pointer_at(&out, 1).bytes(&numbers).f32(0.25);
    // SAFETY: the kernel writes 4 numbers.
    unsafe { take.launch(1, &arguments)? };
    assert_eq!(out.to_vec()?, [0.0, 1.5, 2.5, 7.0, 0.25]);

    let other = Memory::<f64>::zeroed(&Device::new(0)?, 5)?;
    for wrong in [
        Arguments::new(),
        Arguments::new().pointer(&out).bytes(&numbers),
        Arguments::new().pointer(&out).bytes(&numbers).f64(0.25),
        Arguments::new().pointer(&out).bytes(&numbers).f32(0.25).f32(0.25),
        Arguments::new().pointer_at(&out, 6).bytes(&numbers).f32(0.25),
        Arguments::new().pointer(&other).bytes(&numbers).f32(0.25),
    ] {
        // SAFETY: does not run.
        let error = unsafe { take.launch(1, &wrong) }.expect_err("wrong arguments");
        println!("{error}");
        assert!(matches!(&error, Error::Arguments { function, .. } if function == "take"), "{error}");
    }
    assert!(matches!(out.copy_from(&other), Err(Error::OtherDevice { .. })));
    Ok(())
}

fn heavy_function(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    const COUNT: usize = 10_007;
    const ROUNDS: u32 = 3;
    let heavy = module.function("heavy")?;
    println!("{heavy:?}, at most {} threads", heavy.most_threads());
    assert!(heavy.registers() >= 128, "{heavy:?}");
    assert!(heavy.block() <= heavy.most_threads() && heavy.most_threads() < 1024, "{heavy:?}");

    // Small integers: no rounding, whatever the order.
    let x: Vec<f32> = (0..COUNT).map(|i| (i % 13) as f32).collect();
    let (from, to) = (Memory::from_slice(device, &x)?, Memory::zeroed(device, COUNT)?);
    let arguments = Arguments::new().pointer(&to).pointer(&from).u32(ROUNDS).u32(COUNT as u32);
    // SAFETY: the kernel touches the first `COUNT` numbers of both.
    unsafe { heavy.launch(COUNT, &arguments)? };
    let got: Vec<f32> = to.to_vec()?;
    for (i, got) in got.into_iter().enumerate() {
        let mut v: [f32; 160] = std::array::from_fn(|k| x[(i + k) % COUNT]);
        for _ in 0..ROUNDS {
            for k in 0..160 {
                v[k] += v[(k + 7) % 160];
            }
        }
        let expected: f32 = (0..160).map(|k| (k % 3) as f32 * v[k]).sum();
        assert_eq!(got, expected, "{i}");
    }

    let shape = Shape { blocks: [1, 1, 1], threads: [1024, 1, 1], shared_bytes: 0 };
    // SAFETY: as above; it does not start.
    let error = unsafe { heavy.launch_shape(shape, &arguments) }.expect_err("too many threads of a block");
    println!("{error}");
    assert!(matches!(&error, Error::Launch { function, .. } if function == "heavy"), "{error}");
    device.synchronize()?;
    Ok(())
}

fn contraction_can_be_turned_off(device: &Arc<Device>, scratch: &Scratch) -> Check {
    let (a, b) = (1.0f32 + f32::EPSILON, 1.0f32 - f32::EPSILON);
    for fmad in [false, true] {
        let module = Module::compile(device, KERNELS, &Compile { fmad, ..scratch.options() })?;
        let y = Memory::<f32>::zeroed(device, 1)?;
        let arguments = Arguments::new().pointer(&y).f32(a).f32(b).f32(a * b);
        // SAFETY: the kernel writes one number.
        unsafe { module.function("lost")?.launch(1, &arguments)? };
        assert_eq!(y.to_vec()?[0] != 0.0, fmad, "fmad = {fmad}");
    }
    Ok(())
}

fn assembly_runs_too(device: &Arc<Device>) -> Check {
    let options = Compile { cache: Cache::none(), ..Compile::default() };
    let image = compile(KERNELS, Target::Ptx(75), &options)?;
    let module = Module::load(device, &image)?;
    println!("assembly for 7.5: {module:?}");
    check_add(device, &module.function("add")?)
}

fn errors(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    let error = Module::compile(
        device,
        "__global__ void f( {",
        &Compile { cache: Cache::none(), ..Compile::default() },
    )
    .expect_err("syntax");
    assert!(matches!(&error, Error::Compile { log, .. } if log.contains("kernels.cu(1): error")), "{error}");

    let error = module.function("no_such").expect_err("there is none");
    println!("{error}");
    assert!(matches!(&error, Error::NoFunction { found, .. } if found.len() == 5), "{error}");
    assert!(matches!(module.function("a\0b"), Err(Error::NoFunction { .. })));

    for length in [device.total_memory(), usize::MAX / 2] {
        let error = Memory::<f64>::zeroed(device, length).expect_err("more than there is");
        println!("{error}");
        let Error::OutOfMemory { asked, free } = error else { panic!("{error}") };
        assert!(asked > free && free > 0);
    }
    // And nothing is broken by it.
    check_add(device, &module.function("add")?)
}

fn image(device: &Device) -> Result<Image, Error> {
    let options = Compile { cache: Cache::none(), ..Compile::default() };
    compile(KERNELS, Target::for_capability(device.compute_capability())?, &options)
}

/// Adds on a few numbers, to see that the device still works.
fn check_add(device: &Arc<Device>, add: &Function) -> Check {
    let x = Memory::from_slice(device, &[1u32, 2, 3])?;
    // SAFETY: the kernel touches three numbers.
    unsafe { add.launch(3, &Arguments::new().pointer(&x).u32(10).u64(3))? };
    assert_eq!(x.to_vec()?, [11, 12, 13]);
    Ok(())
}

fn graph_runs_many_times(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    const COUNT: usize = 10_000;
    const RUNS: u32 = 10_000;
    const WARM_UP: u32 = 1_000;
    let add = module.function("add")?;
    let x = Memory::<u32>::zeroed(device, COUNT)?;
    let with = |a| Arguments::new().pointer(&x).u32(a).u64(COUNT as u64);
    let arguments = [1, 2, 3].map(with);
    let graph = Graph::capture(device, || {
        // SAFETY: the kernel touches the first `COUNT` numbers.
        arguments.iter().try_for_each(|arguments| unsafe { add.launch(COUNT, arguments) })
    })?;
    assert_eq!(graph.nodes(), 3);
    assert!(x.to_vec()?.iter().all(|x| *x == 0), "captured launches must not run");

    // The driver takes what it needs to queue many.
    (0..WARM_UP).try_for_each(|_| graph.launch())?;
    device.synchronize()?;
    let before = device.free_memory()?;
    let seconds = device.time(|| (0..RUNS).try_for_each(|_| graph.launch()))?;
    let after = device.free_memory()?;
    assert!(x.to_vec()?.iter().all(|x| *x == 6 * (WARM_UP + RUNS)));
    assert_eq!(before, after, "free memory before and after");

    let apart = device.time(|| {
        (0..RUNS).try_for_each(|_| {
            // SAFETY: as above.
            arguments.iter().try_for_each(|arguments| unsafe { add.launch(COUNT, arguments) })
        })
    })?;
    println!(
        "a graph of 3 launches: {:.2} us, the launches alone: {:.2} us; {before} bytes free before, {after} after",
        1e6 * seconds / f64::from(RUNS),
        1e6 * apart / f64::from(RUNS)
    );
    Ok(())
}

fn graph_keeps_what_it_uses(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    const COUNT: usize = 1 << 24;
    device.synchronize()?;
    let before = device.free_memory()?;
    let out = Memory::<u32>::zeroed(device, 4)?;
    let graph = {
        let image =
            compile(KERNELS, Target::for_capability(device.compute_capability())?, &Compile::default())?;
        let add = Module::load(device, &image)?.function("add")?;
        let scratch = Memory::<u32>::zeroed(device, COUNT)?;
        Graph::capture(device, || {
            scratch.zero()?;
            let arguments = Arguments::new().pointer(&scratch).u32(5).u64(COUNT as u64);
            // SAFETY: the kernel touches the first `COUNT` numbers.
            unsafe { add.launch(COUNT, &arguments)? };
            out.copy_at(0, &scratch, COUNT - 4..COUNT)
        })?
    };
    // The module, the function, the arguments and the scratch memory have been dropped.
    let other = Memory::from_slice(device, &vec![9u32; COUNT])?;
    for _ in 0..3 {
        out.zero()?;
        graph.launch()?;
        assert_eq!(out.to_vec()?, [5; 4]);
    }
    assert!(other.to_vec()?.iter().all(|x| *x == 9), "the graph's memory was given to another");
    println!("{graph:?}");
    drop((graph, other, out));
    let after = device.free_memory()?;
    println!("{before} bytes free before a graph with its memory, {after} after it");
    assert!(before.saturating_sub(after) < COUNT, "the memory was not freed");
    check_add(device, &module.function("add")?)
}

fn capture_ends_cleanly(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    let add = module.function("add")?;
    let x = Memory::<u32>::zeroed(device, 3)?;
    let arguments = Arguments::new().pointer(&x).u32(1).u64(3);
    // SAFETY: the kernel touches three numbers.
    let launch = || unsafe { add.launch(3, &arguments) };
    let refused: [&dyn Fn() -> Result<(), Error>; 8] = [
        &|| x.to_vec().map(drop),
        &|| x.write(&[1, 2, 3]),
        &|| Memory::<u32>::zeroed(device, 1).map(drop),
        &|| device.synchronize(),
        &|| device.free_memory().map(drop),
        &|| device.time(|| Ok(())).map(drop),
        &|| module.function("add").map(drop),
        &|| Graph::capture(device, || Ok(())).map(drop),
    ];
    for refused in refused {
        let error = Graph::capture(device, || launch().and_then(|()| refused())).expect_err("not in a graph");
        println!("{error}");
        assert!(matches!(error, Error::WhileCapturing { .. }), "{error}");
        check_add(device, &add)?;
    }
    let shape = Shape { blocks: [1, 1, 1], threads: [4096, 1, 1], shared_bytes: 0 };
    // SAFETY: as above; it does not start.
    let error =
        Graph::capture(device, || unsafe { add.launch_shape(shape, &arguments) }).expect_err("threads");
    assert!(matches!(error, Error::Launch { .. }), "{error}");
    check_add(device, &add)?;

    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        Graph::capture(device, || {
            launch()?;
            panic!("this panic is part of the test")
        })
    }));
    assert!(panicked.is_err());
    check_add(device, &add)?;

    // Memory, modules and graphs dropped inside are destroyed after.
    let image = image(device)?;
    let inside = (
        Memory::<u32>::zeroed(device, 1 << 24)?,
        Module::load(device, &image)?,
        Graph::capture(device, || Ok(()))?,
    );
    let before = device.free_memory()?;
    let graph = Graph::capture(device, || {
        drop(inside);
        launch()
    })?;
    assert!(device.free_memory()? > before, "the memory was not freed");
    // An error swallowed inside leaves a graph of the rest.
    let lenient = Graph::capture(device, || {
        assert!(x.to_vec().is_err());
        launch()
    })?;
    let empty = Graph::capture(device, || Ok(()))?;
    assert_eq!((graph.nodes(), lenient.nodes(), empty.nodes()), (1, 1, 0));
    for graph in [&graph, &empty, &lenient] {
        graph.launch()?;
    }
    assert_eq!(x.to_vec()?, [2; 3], "captured launches must run when their graph does, and only then");
    Ok(())
}

fn threads_take_turns(device: &Arc<Device>, module: &Arc<Module>) -> Check {
    const TIMES: u32 = 200;
    let add = module.function("add")?;
    let work = |slow: bool| -> Result<(), Error> {
        let x = Memory::<u32>::zeroed(device, 1000)?;
        let arguments = Arguments::new().pointer(&x).u32(1).u64(1000);
        // SAFETY: the kernel touches 1000 numbers.
        let launch = || unsafe { add.launch(1000, &arguments) };
        for i in 0..TIMES {
            let graph = Graph::capture(device, || {
                if slow && i % 50 == 0 {
                    thread::sleep(Duration::from_millis(5));
                }
                launch()
            })?;
            assert_eq!(graph.nodes(), 1, "another thread's launch went into this graph");
            launch()?;
            graph.launch()?;
        }
        assert_eq!(x.to_vec()?, vec![2 * TIMES; 1000]);
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || work(i == 0))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("the thread's assertions hold"))
    })?;
    Ok(())
}

fn copy_bandwidth(device: &Arc<Device>) -> Check {
    const BYTES: usize = 1 << 30;
    let (from, to) = (Memory::<u32>::zeroed(device, BYTES / 4)?, Memory::<u32>::zeroed(device, BYTES / 4)?);
    to.copy_from(&from)?;
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        best = best.min(device.time(|| to.copy_from(&from))?);
    }
    let rate = 2.0 * BYTES as f64 / best * 1e-9;
    println!("copy of 1 GiB on the device: {:.1} us, {rate:.0} GB/s read and written", 1e6 * best);
    assert!(rate > 1.0, "events measured nothing plausible");
    Ok(())
}

/// Does nothing but in the process that `on_a_gpu` starts for it.
#[test]
fn a_crash_of_a_kernel_is_an_error() -> Check {
    if env::var_os("PULLBACK_TEST_CRASH").is_none() {
        return Ok(());
    }
    let device = Device::new(0)?;
    let options = Compile { cache: Cache::none(), ..Compile::default() };
    let module = Module::compile(&device, KERNELS, &options)?;
    let memory = Memory::<u32>::zeroed(&device, 1)?;
    // SAFETY: none: address 0x10 is nobody's. The device reports it.
    unsafe { module.function("add")?.launch(1, &Arguments::new().u64(0x10).u32(1).u64(1))? };
    let error = device.synchronize().expect_err("it crashed");
    println!("{error}");
    assert!(matches!(error, Error::Driver { lost: true, .. }), "{error}");
    let error = memory.to_vec().expect_err("the device cannot be used any more");
    assert!(matches!(error, Error::Driver { .. }), "{error}");
    Ok(())
}
