//! A loss that is a kernel of the position and velocity of a particle, or of a loose body.

use std::marker::PhantomData;

use pullback_engine::Model;
use pullback_engine::names::NameError;
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_kernel::prelude::*;
use pullback_scene::When;

/// The sum of a kernel f(position, velocity) of one particle, or of the origin of a loose body, over some moments, times
/// a weight.
///
/// ```
/// use pullback_kernel::prelude::*;
/// use pullback_engine::Model;
/// use pullback_scene::{Particles, Scene, When};
/// use pullback_solve::loss::KernelLoss;
///
/// /// How far a particle is below a roof of height 2 m, squared.
/// #[kernel]
/// fn below_roof<R: Real>(x: Vec3<R>, v: Vec3<R>) -> R {
///     let gap = 2.0 - x.z;
///     gap * gap
/// }
///
/// let scene = Scene { particles: vec![Particles::single("ball", [0.0; 3], 1.0)], ..Scene::default() };
/// let loss = KernelLoss::<below_roof>::new(&Model::new(&scene)?, "ball", When::End, 1.0)?;
/// # Ok::<(), pullback_engine::Error>(())
/// ```
pub struct KernelLoss<K> {
    /// Where its position and its velocity begin in a state.
    numbers: [usize; 2],
    at: When,
    weight: f64,
    kernel: PhantomData<fn() -> K>,
}

impl<K: Kernel<Arguments = (Vec3, Vec3), Output = f64>> KernelLoss<K> {
    /// Of the particle or loose body with this name, at these moments, with this weight. `Always` is after every step,
    /// times dt.
    pub fn new(model: &Model, name: &str, at: When, weight: f64) -> Result<Self, NameError> {
        let find = |what: &str| {
            let found = model.state_layout().find(&format!("{name}.{what}"))?;
            match found.len() {
                3 => Ok(found.start),
                found => Err(NameError::Length { name: name.to_owned(), wanted: 3, found }),
            }
        };
        let numbers = [find("position")?, find("velocity")?];
        Ok(KernelLoss { numbers, at, weight, kernel: PhantomData })
    }

    fn arguments(&self, moment: &Moment<'_>) -> (Vec3, Vec3) {
        let vector = |at: usize| {
            let numbers = moment.state.get(at..at + 3).unwrap_or(&[0.0; 3]);
            Vec3 { x: numbers[0], y: numbers[1], z: numbers[2] }
        };
        (vector(self.numbers[0]), vector(self.numbers[1]))
    }

    /// How much it counts at a moment.
    fn factor(&self, moment: &Moment<'_>) -> f64 {
        let counts = match &self.at {
            When::End => moment.last,
            // The time of a step.
            When::Always if moment.step > 0 => return self.weight * moment.time / moment.step as f64,
            When::Always => false,
            When::Steps(steps) => steps.contains(&moment.step),
        };
        if counts { self.weight } else { 0.0 }
    }
}

impl<K: Kernel<Arguments = (Vec3, Vec3), Output = f64>> Loss for KernelLoss<K> {
    fn looks(&self, step: usize, last: bool) -> bool {
        match &self.at {
            When::End => last,
            When::Always => step > 0,
            When::Steps(steps) => steps.contains(&step),
        }
    }

    fn value(&self, moment: &Moment<'_>) -> f64 {
        match self.factor(moment) {
            0.0 => 0.0,
            factor => factor * K::forward::<f64>(self.arguments(moment)),
        }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        let factor = self.factor(moment);
        if factor == 0.0 {
            return;
        }
        let (x_bar, v_bar) = K::pullback::<f64>(self.arguments(moment), factor);
        for (at, bar) in self.numbers.into_iter().zip([x_bar, v_bar]) {
            if let Some(numbers) = bars.state.get_mut(at..at + 3) {
                numbers.iter_mut().zip([bar.x, bar.y, bar.z]).for_each(|(sum, bar)| *sum += bar);
            }
        }
    }
}
