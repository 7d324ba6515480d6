//! A loss that is a kernel of a particle's position and velocity.

use std::marker::PhantomData;

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_kernel::prelude::*;
use pullback_scene::When;

/// The sum of a kernel f(position, velocity) of one particle over some moments, times a weight.
///
/// ```
/// use pullback_kernel::prelude::*;
/// use pullback_scene::When;
/// use pullback_solve::loss::KernelLoss;
///
/// /// How far a particle is below a roof of height 2 m, squared.
/// #[kernel]
/// fn below_roof<R: Real>(x: Vec3<R>, v: Vec3<R>) -> R {
///     let gap = 2.0 - x.z;
///     gap * gap
/// }
///
/// let loss = KernelLoss::<below_roof>::new(0, When::End, 1.0);
/// ```
pub struct KernelLoss<K> {
    particle: usize,
    at: When,
    weight: f64,
    kernel: PhantomData<fn() -> K>,
}

impl<K: Kernel<Arguments = (Vec3, Vec3), Output = f64>> KernelLoss<K> {
    /// Of particle number `particle`, at these moments, with this weight. `Always` is after every step.
    pub fn new(particle: usize, at: When, weight: f64) -> Self {
        KernelLoss { particle, at, weight, kernel: PhantomData }
    }

    fn arguments(&self, moment: &Moment<'_>) -> (Vec3, Vec3) {
        let vector = |at: usize| {
            let numbers = moment.state.get(at..at + 3).unwrap_or(&[0.0; 3]);
            Vec3 { x: numbers[0], y: numbers[1], z: numbers[2] }
        };
        (vector(3 * self.particle), vector(moment.state.len() / 2 + 3 * self.particle))
    }

    fn counts(&self, moment: &Moment<'_>) -> bool {
        match &self.at {
            When::End => moment.last,
            When::Always => moment.step > 0,
            When::Steps(steps) => steps.contains(&moment.step),
        }
    }
}

impl<K: Kernel<Arguments = (Vec3, Vec3), Output = f64>> Loss for KernelLoss<K> {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if !self.counts(moment) {
            return 0.0;
        }
        self.weight * K::forward::<f64>(self.arguments(moment))
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if !self.counts(moment) {
            return;
        }
        let (x_bar, v_bar) = K::pullback::<f64>(self.arguments(moment), self.weight);
        let half = bars.state.len() / 2;
        for (at, bar) in [(3 * self.particle, x_bar), (half + 3 * self.particle, v_bar)] {
            if let Some(numbers) = bars.state.get_mut(at..at + 3) {
                numbers.iter_mut().zip([bar.x, bar.y, bar.z]).for_each(|(sum, bar)| *sum += bar);
            }
        }
    }
}
