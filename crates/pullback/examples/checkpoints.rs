//! The same gradient with every memory: how many steps each makes, and how many bytes it keeps for the way back.

use pullback::engine::rollout::steps_made;
use pullback::prelude::*;

const STEPS: usize = 1000;

/// The mean height of the last particle [m].
struct MeanHeight {
    number: usize,
}

impl Loss for MeanHeight {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        moment.state[self.number] / (STEPS + 1) as f64
    }

    fn pullback(&self, _: &Moment<'_>, bars: &mut Bars<'_>) {
        bars.state[self.number] += 1.0 / (STEPS + 1) as f64;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A chain that hangs between two nails and swings; no force depends on velocities, so that it can run backwards.
    let mut chain = Particles::line("chain", [0.0, 0.0, 2.0], [2.0, 0.0, 2.0], 21, 0.05);
    (chain.fixed[0], chain.fixed[20]) = ([true; 3], [true; 3]);
    let scene = Scene {
        particles: vec![chain],
        springs: vec![Springs::chain("link", 0..21, 800.0, 0.1)],
        ..Scene::default()
    };
    let model = Model::new(&scene)?;
    let step = Step::new(&model, Scheme::new(Integrator::ReversibleVerlet, 0.001))?;
    let (state, params) = (model.state(), model.params());
    let start = Start::new(&state, &[], &params);
    let loss = MeanHeight { number: model.state_layout().find("chain[10].position.z")?.start };

    let state_bytes = 8 * state.values().len();
    let memories = [
        (Memory::EveryStep, Snapshots::F64),
        (Memory::EveryStep, Snapshots::F32),
        (Memory::Binomial { snapshots: 50 }, Snapshots::F64),
        (Memory::Binomial { snapshots: 10 }, Snapshots::F64),
        (Memory::Binomial { snapshots: 5 }, Snapshots::F64),
        (Memory::Dense, Snapshots::F64),
        (Memory::Reversible, Snapshots::F64),
    ];
    println!("{STEPS} steps, {state_bytes} bytes a state");
    println!("{:<32} {:>8} {:>12}  by stiffness", "memory", "steps", "bytes kept");
    let mut reference: Option<Vec<f64>> = None;
    for (memory, snapshots) in memories {
        let mut rollout = Rollout::<f64>::new(&step, Options { memory, snapshots, ..Options::new(STEPS) })?;
        let bars = rollout.gradient(&start, &loss)?.params(0)?;
        let (made, (_, kept)) = (rollout.steps_made(), rollout.bytes());
        let name = format!("{memory:?}{}", if snapshots == Snapshots::F32 { " in f32" } else { "" });
        println!("{name:<32} {made:>8} {kept:>12}  {:.15e}", bars.number("link[0].stiffness")?);

        let reference = reference.get_or_insert_with(|| bars.values().to_vec());
        let scale = reference.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        match snapshots {
            // The same bits, whatever is kept.
            Snapshots::F64 => assert_eq!(bars.values(), reference, "{memory:?}"),
            Snapshots::F32 => {
                let apart = |(a, b): (&f64, &f64)| (a - b).abs() / scale;
                let worst = bars.values().iter().zip(&*reference).map(apart).fold(0.0, f64::max);
                println!("  states rounded to f32 change the gradient by {worst:.1e} of its size");
                assert!(worst > 0.0 && worst < 1e-5);
            }
        }
        if let Memory::Binomial { snapshots } = memory {
            assert_eq!(made, steps_made(STEPS, snapshots), "as few as Revolve promises");
        }
    }

    // A budget that is too small is an error which says what is needed.
    let options = Options { memory: Memory::Budget { bytes: 1000 }, ..Options::new(STEPS) };
    let error = Rollout::<f64>::new(&step, options).err().ok_or("1000 bytes cannot suffice")?;
    println!("budget of 1000 bytes: {error}");
    Ok(())
}
