//! Measuring rollouts: one number of the last state with its gradient, errors against a truth, and orders of convergence.

#![allow(dead_code)]

use pullback_engine::rollout::{Bars, Moment};
use pullback_engine::{Gradient, Integrator, Loss, Model, Options, Rollout, Scheme, Start, Step};

/// The order of each integrator, as its documentation says.
pub fn order(integrator: Integrator) -> f64 {
    match integrator {
        Integrator::ExplicitEuler | Integrator::SemiImplicitEuler | Integrator::BackwardEuler => 1.0,
        Integrator::VelocityVerlet | Integrator::ReversibleVerlet | Integrator::ImplicitMidpoint => 2.0,
        Integrator::RungeKutta4 => 4.0,
    }
}

/// The integrators that can run a model: all, or those without the reversible one.
pub fn integrators(reversible: bool) -> Vec<Integrator> {
    let can = |integrator: &Integrator| reversible || *integrator != Integrator::ReversibleVerlet;
    Integrator::ALL.into_iter().filter(can).collect()
}

/// One number of the last state.
pub struct LastNumber(pub usize);

impl Loss for LastNumber {
    fn value(&self, m: &Moment<'_>) -> f64 {
        if m.last { m.state[self.0] } else { 0.0 }
    }
    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        if m.last {
            bars.state[self.0] += 1.0;
        }
    }
}

/// The gradient of a loss, from the state and params that the model starts with.
pub fn gradient(model: &Model, scheme: Scheme, steps: usize, loss: &dyn Loss) -> Gradient {
    let step = Step::new(model, scheme).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let (state, params, controls) = (model.state(), model.params(), model.controls(steps));
    rollout.gradient(&Start::new(&state, &controls, &params), loss).expect("a gradient").clone()
}

/// A smooth function of the last state: Σ w sin(x).
struct Smooth;

fn weight(i: usize) -> f64 {
    1.0 + 0.1 * (i % 7) as f64
}

impl Loss for Smooth {
    fn value(&self, m: &Moment<'_>) -> f64 {
        let sum = || m.state.iter().enumerate().map(|(i, x)| weight(i) * x.sin()).sum();
        if m.last { sum() } else { 0.0 }
    }
    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        if m.last {
            (0..m.state.len()).for_each(|i| bars.state[i] += weight(i) * m.state[i].cos());
        }
    }
}

/// The last state after a second, and the gradient of [`Smooth`] by everything.
pub fn measure(model: &Model, integrator: Integrator, steps: usize, substeps: usize) -> [Vec<f64>; 2] {
    let scheme = Scheme { integrator, dt: 1.0 / steps as f64, substeps };
    let step = Step::new(model, scheme).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let mut last = Vec::new();
    rollout.watch(&Start::new(&state, &[], &params), |m| last = m.state.to_vec()).expect("a rollout");
    let g = gradient(model, scheme, steps, &Smooth);
    [last, [g.states, g.params].concat()]
}

/// How far two vectors are from each other.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// How far a measured order may be from the stated one.
const TOLERANCE: f64 = 0.15;

/// State and gradient come nearer to the truth at an order: with steps, and with steps half as long.
pub fn has_order(name: &str, order: f64, [coarse, fine, truth]: [&[Vec<f64>; 2]; 3]) {
    for (what, i) in [("state", 0), ("gradient", 1)] {
        let (before, after) = (distance(&coarse[i], &truth[i]), distance(&fine[i], &truth[i]));
        let measured = (before / after).log2();
        assert!(
            (measured - order).abs() < TOLERANCE,
            "{name}: order {measured:.3} of the {what}, from {before:.2e} to {after:.2e}"
        );
    }
}

/// A world whose last state is known in closed form.
pub struct Problem<'a> {
    /// What it is about.
    pub name: &'a str,
    /// The model, with the values at which the closed form is taken.
    pub model: Model,
    /// When the last state is [s].
    pub time: f64,
    /// Which number of the last state is known.
    pub measured: &'a str,
    /// The numbers of the first state and params that it depends on, by name.
    pub by: &'a [&'a str],
    /// The number, from these.
    pub exact: &'a dyn Fn(&[f64]) -> f64,
}

impl Problem<'_> {
    fn inputs(&self) -> Vec<f64> {
        let (state, params) = (self.model.state(), self.model.params());
        let one = |name: &&str| state.number(name).or_else(|_| params.number(name)).expect("a name");
        self.by.iter().map(one).collect()
    }

    /// The value, and then its derivatives, by the closed form.
    pub fn truth(&self) -> Vec<f64> {
        let inputs = self.inputs();
        let mut all = vec![(self.exact)(&inputs)];
        all.extend((0..inputs.len()).map(|i| derivative(self.exact, &inputs, i)));
        all
    }

    /// The value, and then its derivatives, by a rollout of so many steps.
    pub fn measure(&self, integrator: Integrator, steps: usize) -> Vec<f64> {
        let index = self.model.state_layout().find(self.measured).expect("a name").start;
        let scheme = Scheme::new(integrator, self.time / steps as f64);
        let g = gradient(&self.model, scheme, steps, &LastNumber(index));
        let (state, params) = (g.state(0).expect("a world"), g.params(0).expect("a world"));
        let one = |name: &&str| state.number(name).or_else(|_| params.number(name)).expect("a name");
        [g.value()].into_iter().chain(self.by.iter().map(one)).collect()
    }

    /// Value and derivatives come nearer to the closed form at the integrator's order, each: steps as many as `steps`,
    /// and twice as many. Where the integrator is exact, errors stay at `rounding` from the beginning.
    pub fn converges(&self, integrator: Integrator, steps: usize, rounding: f64) {
        let truth = self.truth();
        let (coarse, fine) = (self.measure(integrator, steps), self.measure(integrator, 2 * steps));
        for i in 0..truth.len() {
            let what = if i == 0 { "the value" } else { self.by[i - 1] };
            let name = format!("{} with {}, {what}", self.name, integrator.name());
            let scale = truth[i].abs().max(1.0);
            let (before, after) = ((coarse[i] - truth[i]).abs() / scale, (fine[i] - truth[i]).abs() / scale);
            if before <= rounding && after <= rounding {
                continue;
            }
            let measured = (before / after).log2();
            assert!(
                measured > order(integrator) - 0.2 && after < 0.2,
                "{name}: order {measured:.3}, from {before:.2e} to {after:.2e}, truth {}",
                truth[i]
            );
        }
    }
}

/// ∂f/∂x_i of a smooth function, by central differences with the errors of orders 2 and 4 taken out (Richardson): nine
/// digits and more.
pub fn derivative(f: &dyn Fn(&[f64]) -> f64, x: &[f64], i: usize) -> f64 {
    let difference = |h: f64| {
        let at = |d: f64| {
            let mut x = x.to_vec();
            x[i] += d;
            f(&x)
        };
        (at(h) - at(-h)) / (2.0 * h)
    };
    let h = 2e-3 * x[i].abs().max(0.1);
    let [a, b, c] = [difference(h), difference(h / 2.0), difference(h / 4.0)];
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}
