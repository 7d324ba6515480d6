//! The CUDA text of steps compiles, without a GPU.

mod common;

use common::{solids, worlds};
use pullback_engine::{Integrator, Model, Scheme, Step};
use pullback_kernel::cuda::{Compile, Target, compile};

/// The world with every force, with every integrator; one that the reversible integrator can run; and soft things.
fn steps() -> Vec<(String, Step)> {
    let mut steps = Vec::new();
    for world in worlds().iter().filter(|world| ["everything", "springs"].contains(&world.name)) {
        for integrator in Integrator::ALL {
            if world.reversible == (integrator == Integrator::ReversibleVerlet) {
                let step = Step::new(&world.model, Scheme::new(integrator, 0.01)).expect("a step");
                steps.push((format!("{} with {}", world.name, integrator.name()), step));
            }
        }
    }
    assert_eq!(steps.len(), Integrator::ALL.len());
    for (name, scene) in solids::all() {
        let model = Model::new(&scene).expect("a model");
        let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 0.01)).expect("a step");
        steps.push((name.to_owned(), step));
    }
    steps
}

#[test]
fn the_text_of_every_step_compiles() {
    if std::env::var_os("PULLBACK_NVRTC_DIR").is_none() {
        assert!(std::env::var_os("CI").is_none(), "`cargo xtask test` sets PULLBACK_NVRTC_DIR");
        return println!("PULLBACK_NVRTC_DIR is not set: not compiled");
    }
    for (name, step) in steps() {
        for source in [step.program().cuda_source::<f32>(Some(3)), step.program().cuda_source::<f64>(None)] {
            let source = source.expect("a text");
            let image = compile(&source, Target::Cubin(90), &Compile::default());
            assert!(!image.unwrap_or_else(|error| panic!("{name}: {error}")).bytes().is_empty());
        }
    }
}
