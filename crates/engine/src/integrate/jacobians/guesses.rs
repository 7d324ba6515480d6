//! First guesses of implicit steps in which soft surfaces may not go through each other.

use pullback_kernel::prelude::Vec3;
use pullback_kernel::program::AccessError;

use super::Jacobians;

/// First guesses of worlds in which surfaces meet on the way to the last one.
#[derive(Clone, Copy)]
enum Guess {
    /// As far on that way as nothing meets.
    Reached,
    /// Half as far.
    Half,
    /// Nothing moves but what is led.
    Still,
    /// What is free goes along with what is led or fixed near it: between two of them, more with the nearer one.
    Along,
    /// The same, and far more with the nearer one.
    AlongNearest,
}

/// In this order, until nothing meets: where nothing is led, the first is one.
const GUESSES: [Guess; 7] =
    [Guess::Reached, Guess::Half, Guess::Half, Guess::Half, Guess::Still, Guess::Along, Guess::AlongNearest];

impl Jacobians {
    /// Makes a first guess z of the unknowns of all worlds, from `state`, numbers of all worlds' one after the other, one that no soft surfaces
    /// meet on the way to: see [`Guess`]. Says which world has none, and what holds it.
    pub fn hold_back(
        &mut self,
        z: &mut [f64],
        still: &[f64],
        state: impl Fn(usize) -> f64,
        (state_len, rounding): (usize, f64),
    ) -> Result<Result<(), (usize, [u32; 4])>, AccessError> {
        self.note(still, state, state_len)?;
        for guess in GUESSES.map(Some).into_iter().chain([None]) {
            match self.hold_back_once(z, still, guess, rounding)? {
                None => break,
                Some(held) if guess.is_none() => return Ok(Err(held)),
                Some(_) if self.led.is_empty() => break,
                // What is led goes its way, however little the others do.
                Some(_) => {}
            }
        }
        Ok(Ok(()))
    }

    /// Notes where all particles are before a step.
    fn note(
        &mut self,
        still: &[f64],
        state: impl Fn(usize) -> f64,
        state_len: usize,
    ) -> Result<(), AccessError> {
        self.write_unknowns(still)?;
        self.derivative.forward();
        let Jacobians { derivative, coupling: Some(coupling), led, factors, .. } = self else {
            return Ok(());
        };
        for world in 0..factors.len() {
            let number = |i: usize| state(world * state_len + i);
            let x = |i: usize| Vec3 { x: number(3 * i), y: number(3 * i + 1), z: number(3 * i + 2) };
            coupling.note(derivative, world, led.iter().map(|&i| (i, x(i))))?;
        }
        Ok(())
    }

    /// Tries a guess, and makes the next for worlds for which it is none. Says what holds one of them.
    fn hold_back_once(
        &mut self,
        z: &mut [f64],
        still: &[f64],
        next: Option<Guess>,
        rounding: f64,
    ) -> Result<Option<(usize, [u32; 4])>, AccessError> {
        self.write_unknowns(z)?;
        self.derivative.forward();
        let Jacobians { derivative, coupling: Some(coupling), given, free, size, way, .. } = self else {
            return Ok(None);
        };
        let (size, mut held) = (*size, None);
        for (world, z) in z.chunks_exact_mut(size).enumerate() {
            let gone = coupling.reach_of_first(derivative, world, rounding)?;
            let (Some(pair), Some(next)) = (gone.held, next) else {
                held = held.or(gone.held.map(|pair| (world, pair)));
                continue;
            };
            held = held.or(Some((world, pair)));
            let part = match next {
                Guess::Reached => gone.part,
                Guess::Half => 0.5,
                Guess::Still | Guess::Along | Guess::AlongNearest => 0.0,
            };
            let still = &still[world * size..(world + 1) * size];
            z.iter_mut().zip(still).for_each(|(z, still)| *z = *still + part * (*z - *still));
            let power = match next {
                Guess::Reached | Guess::Half | Guess::Still => continue,
                Guess::Along => 4,
                Guess::AlongNearest => 8,
            };
            let law = coupling.read(derivative, world)?;
            for (i, free) in free.iter().enumerate().filter(|(_, free)| **free != [0.0; 3]) {
                let Vec3 { x, y, z: up } = coupling.along(law, world, given, (i, power));
                for (k, along) in [x, y, up].into_iter().enumerate() {
                    z[3 * i + k] += free[k] * along / *way;
                }
            }
        }
        Ok(held)
    }
}
