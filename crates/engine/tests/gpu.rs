//! Rollouts on a GPU against those on the CPU. Where there is no GPU they cannot be made, and tests say so; that the text of steps compiles is
//! tested by `cuda.rs`.
//!
//! On a GPU machine without Rust, the compiled test runs as it is, and prints what it measured: `./gpu-HASH --nocapture`. What takes longest is
//! compiling CUDA text on one core: with `GPU_SHARE=0/8` and so on eight processes have an eighth of the worlds each.

mod common;

use std::sync::Arc;

use common::{Everywhere, Seldom, World, controls, solids, varied, worlds};
use pullback_engine::{
    Error, GpuRollout, Gradient, Integrator, Loss, Memory, Model, Options, Parts, Rollout, Scheme, Start,
    Step,
};
use pullback_kernel::cuda::{self, Device};
use pullback_kernel::program::DeviceFloat;
use pullback_scene::robot::Load;
use pullback_scene::{Particles, Robot, Scene};

const STEPS: usize = 7;
const WORLDS: usize = 5;

/// The first device, or `None` after a line that says why.
fn gpu() -> Option<Arc<Device>> {
    match Device::new(0) {
        Err(error @ (cuda::Error::NoDriver | cuda::Error::NoDevice { count: 0, .. })) => {
            println!("skipped, since there is no GPU: {error}");
            None
        }
        device => Some(device.expect("a device that works")),
    }
}

fn step(world: &World, integrator: Integrator, substeps: usize) -> Step {
    Step::new(&world.model, Scheme { integrator, dt: 0.01, substeps }).expect("a step")
}

/// Every world with semi-implicit steps and the implicit ones that tests run it with, and some with the other explicit integrators.
fn combinations() -> Vec<(World, Integrator)> {
    let integrators = [
        Integrator::SemiImplicitEuler,
        Integrator::ExplicitEuler,
        Integrator::RungeKutta4,
        Integrator::VelocityVerlet,
        Integrator::BackwardEuler,
        Integrator::ImplicitMidpoint,
    ];
    let wanted = |world: &World, integrator: Integrator| {
        let thorough = world.name == "everything" || solids::THOROUGH.contains(&world.name);
        let usual = integrator == Integrator::SemiImplicitEuler || integrator.is_implicit();
        world.differenced().contains(&integrator) && (thorough || usual)
    };
    let of = |integrator| {
        worlds().into_iter().filter(move |world| wanted(world, integrator)).map(move |w| (w, integrator))
    };
    integrators.into_iter().flat_map(of).collect()
}

/// Which of all combinations this process tests.
fn share() -> (usize, usize) {
    let Ok(text) = std::env::var("GPU_SHARE") else { return (0, 1) };
    let (k, n) = text.split_once('/').expect("GPU_SHARE is k/n");
    (k.parse().expect("a number"), n.parse().expect("a number"))
}

/// What rollouts start from.
struct Begin {
    states: Vec<f64>,
    controls: Vec<f64>,
    params: Vec<f64>,
}

impl Begin {
    fn of(world: &World, worlds: usize) -> Self {
        let (state, params) = (world.model.state(), world.model.params());
        let [states, controls, params] =
            [state.values(), &controls(world, STEPS), params.values()].map(|numbers| varied(numbers, worlds));
        Begin { states, controls, params }
    }

    fn start(&self) -> Start<'_> {
        Start { states: &self.states, controls: &self.controls, params: &self.params }
    }
}

fn parts(g: &Gradient) -> [&[f64]; 5] {
    [&g.values, &g.states, &g.controls, &g.params, &g.norms]
}

/// How far apart two gradients are, each part relative to its largest number.
fn apart(a: &Gradient, b: &Gradient) -> f64 {
    let of = |(a, b): (&[f64], &[f64])| {
        assert_eq!(a.len(), b.len());
        let scale = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert!(a.iter().chain(b).all(|x| x.is_finite()));
        let most = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if most == 0.0 { 0.0 } else { most / scale }
    };
    parts(a).into_iter().zip(parts(b)).map(of).fold(0.0, f64::max)
}

fn on_cpu(step: &Step, options: Options, begin: &Begin, loss: &dyn Loss) -> Gradient {
    let mut rollout = Rollout::<f64>::new(step, options).expect("a rollout");
    rollout.gradient(&begin.start(), loss).expect("a gradient").clone()
}

/// Twice: the second must not see anything of the first, which looks elsewhere.
fn on_gpu<S: DeviceFloat + Parts>(
    step: &Step,
    options: Options,
    device: &Arc<Device>,
    begin: &Begin,
    loss: &dyn Loss,
) -> Gradient {
    let mut rollout = GpuRollout::<S>::new(step, options, device).expect("a rollout");
    rollout.gradient(&begin.start(), &Everywhere).expect("a gradient");
    rollout.gradient(&begin.start(), &Seldom { says_so: true }).expect("a gradient");
    let value = rollout.value(&begin.start(), loss).expect("a value").to_vec();
    let gradient = rollout.gradient(&begin.start(), loss).expect("a gradient");
    assert_eq!(gradient.values, value);
    gradient.clone()
}

#[test]
fn gradients_agree_with_those_of_the_cpu() {
    let Some(device) = gpu() else { return };
    let (mut worst, mut unsolved) = ([[0.0f64; 2]; 2], 0);
    // A robot that has no freedom.
    let mut table = worlds().into_iter().find(|world| world.name == "ground").expect("a world");
    let mut scene =
        Scene { particles: vec![Particles::single("ball", [0.0, 0.0, 2.0], 0.5)], ..Scene::default() };
    let text = "<robot name='table'><link name='top'><inertial><mass value='1'/>\
                <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>";
    scene.robots = vec![Robot::parse(text, "table.urdf", &Load::default()).expect("a table").robot];
    (table.name, table.model) = ("a table", Model::new(&scene).expect("a table"));
    let (k, n) = share();
    let all = combinations().into_iter().chain([(table, Integrator::SemiImplicitEuler)]);
    for (world, integrator) in all.skip(k).step_by(n) {
        let step = step(&world, integrator, 2);
        if world.hard {
            continue;
        }
        for worlds in [1, WORLDS] {
            let (begin, options) = (Begin::of(&world, worlds), Options { worlds, ..Options::new(STEPS) });
            let exact = Rollout::<f64>::new(&step, options)
                .and_then(|mut rollout| rollout.gradient(&begin.start(), &Everywhere).cloned());
            let exact = match exact {
                // Varied numbers of contact that is damped: implicit steps may have no solution, wherever they run.
                Err(error @ Error::NotConverged { .. }) => {
                    let mut gpu = GpuRollout::<f64>::new(&step, options, &device).expect("a rollout");
                    let found =
                        gpu.gradient(&begin.start(), &Everywhere).expect_err("no solution here either");
                    assert!(matches!(found, Error::NotConverged { .. }), "{found}, and not {error}");
                    println!("{} with {}, {worlds} worlds: {found}", world.name, integrator.name());
                    unsolved += 1;
                    continue;
                }
                exact => exact.expect("a gradient"),
            };
            let double = apart(&exact, &on_gpu::<f64>(&step, options, &device, &begin, &Everywhere));
            let single = apart(&exact, &on_gpu::<f32>(&step, options, &device, &begin, &Everywhere));
            let name = format!("{} with {}, {worlds} worlds", world.name, integrator.name());
            println!("{name}: {double:.1e} in f64, {single:.1e} in f32");
            // Implicit steps end where rounding does, which differs.
            let implicit = usize::from(integrator.is_implicit());
            let [within, roughly] = [[1e-11, 2e-3], [1e-11, 5e-3]][implicit];
            assert!(double < within && single < roughly, "{name}");
            let worst = &mut worst[implicit];
            *worst = [worst[0].max(double), worst[1].max(single)];
        }
    }
    assert!(unsolved <= 3, "{unsolved} worlds without a solution");
    for (steps, [double, single]) in ["explicit", "implicit"].into_iter().zip(worst) {
        println!("the most of {steps} steps: {double:.1e} in f64, {single:.1e} in f32");
    }
}

#[test]
fn every_memory_gives_the_same_bits() {
    let Some(device) = gpu() else { return };
    let wanted = |(world, integrator): &(World, Integrator)| {
        let by_hand = "sheets that touch each other";
        [Integrator::SemiImplicitEuler, Integrator::BackwardEuler].contains(integrator)
            && ["everything", "a sheet", by_hand].contains(&world.name)
    };
    for (world, integrator) in combinations().into_iter().filter(wanted) {
        for (worlds, substeps) in [(1, 1), (1, 3), (WORLDS, 2)] {
            let (step, begin) = (step(&world, integrator, substeps), Begin::of(&world, worlds));
            let losses: [&dyn Loss; 3] = [&Everywhere, &Seldom { says_so: true }, &Seldom { says_so: false }];
            for (i, loss) in losses.into_iter().enumerate() {
                // With a cotangent that is clipped and dropped on its way.
                for (truncate, clip) in [(None, None), (Some(5), None), (Some(5), Some(2.0))] {
                    let options = Options { worlds, truncate, clip, ..Options::new(STEPS) };
                    let first = on_gpu::<f64>(&step, options, &device, &begin, loss);
                    let name = format!("{}, loss {i}, {options:?}", world.name);
                    assert!(apart(&on_cpu(&step, options, &begin, loss), &first) < 1e-11, "{name}");
                    let (all, kept) =
                        GpuRollout::<f64>::new(&step, options, &device).expect("a rollout").bytes();
                    for memory in [
                        Memory::Binomial { snapshots: 1 },
                        Memory::Binomial { snapshots: 3 },
                        Memory::Budget { bytes: all },
                        // A third of the states.
                        Memory::Budget { bytes: all - 2 * kept / 3 },
                        Memory::Dense,
                    ] {
                        let options = Options { memory, ..options };
                        let other = on_gpu::<f64>(&step, options, &device, &begin, loss);
                        assert_eq!(parts(&other), parts(&first), "{name} and {memory:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_not_finite_is_named_as_on_the_cpu() {
    let Some(device) = gpu() else { return };
    let world = worlds().into_iter().find(|world| world.name == "springs").expect("a world");
    let step = step(&world, Integrator::SemiImplicitEuler, 1);
    let mut begin = Begin::of(&world, 1);
    let last = begin.states.len() - 1;
    // Squares of distances are too large after a step.
    begin.states[last] = 1e200;
    let mut cpu = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
    let mut gpu = GpuRollout::<f64>::new(&step, Options::new(STEPS), &device).expect("a rollout");
    let wanted = cpu.gradient(&begin.start(), &Seldom { says_so: true }).expect_err("not finite").to_string();
    for loss in [&Seldom { says_so: true } as &dyn Loss, &Everywhere] {
        let found = gpu.gradient(&begin.start(), loss).expect_err("not finite").to_string();
        assert_eq!(found, wanted);
        println!("{found}");
    }
    // And a position in the first step, which nobody may look at before the last.
    begin.states[last] = f64::MAX;
    begin.states[last / 2] = f64::MAX;
    let wanted = cpu.watch(&begin.start(), |_| ()).expect_err("not finite").to_string();
    println!("{wanted}");
    for looks in [|_, last| last, |_, _| true] as [fn(usize, bool) -> bool; 2] {
        let found = gpu.watch_at(&begin.start(), looks, |_| ()).expect_err("not finite").to_string();
        assert_eq!(found, wanted);
    }
    let found = gpu.value(&begin.start(), &Seldom { says_so: true }).expect_err("not finite").to_string();
    assert_eq!(found, wanted);
    // And the next one is as if nothing had been.
    let begin = Begin::of(&world, 1);
    let after = gpu.gradient(&begin.start(), &Everywhere).expect("a gradient");
    assert!(apart(&on_cpu(&step, Options::new(STEPS), &begin, &Everywhere), after) < 1e-11);
}

#[test]
fn what_runs_on_the_cpu_alone_is_refused() {
    let find = |name: &str| worlds().into_iter().find(|world| world.name == name).expect("a world");
    let (springs, explicit) = (find("springs"), Integrator::SemiImplicitEuler);
    for name in ["springs", "a hinge", "sheets that touch each other"] {
        for integrator in [explicit, Integrator::BackwardEuler, Integrator::ImplicitMidpoint] {
            step(&find(name), integrator, 1).runs_on_gpu().expect("such steps run");
        }
    }
    let hard = worlds().into_iter().find(|world| world.hard).expect("hard contact");
    for (step, wanted) in [
        (
            &step(&springs, Integrator::ReversibleVerlet, 1),
            "the integrator is reversible-verlet: on a GPU it is another one: reversible steps run on the CPU",
        ),
        (
            &step(&hard, explicit, 1),
            "the model of contact is complementarity: on a GPU it is `penalty`: hard contact runs on the CPU",
        ),
    ] {
        let error = step.runs_on_gpu().expect_err("refused").to_string();
        assert_eq!(error, wanted);
        if let Some(device) = gpu() {
            let made = GpuRollout::<f64>::new(step, Options::new(STEPS), &device);
            assert_eq!(made.err().expect("refused").to_string(), error);
        }
    }
    let Some(device) = gpu() else { return };
    let small = Options { memory: Memory::Budget { bytes: 100 }, ..Options::new(STEPS) };
    let error = GpuRollout::<f64>::new(&step(&springs, explicit, 1), small, &device).err().expect("refused");
    assert!(matches!(error, Error::Budget { bytes: 100, .. }), "{error}");
}
