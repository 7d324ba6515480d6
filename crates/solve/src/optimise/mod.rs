//! Optimisers: pure algorithms over an [`Objective`], without any physics.
//!
//! A [`Run`] is a minimisation as data. It is advanced one iteration at a time, can be saved after any of them, and
//! goes on after [`Run::load`] with the same bits as if it had never stopped:
//!
//! ```
//! use pullback_solve::optimise::{Bounds, Failure, Method, Objective, Run, Stopping};
//!
//! struct Bowl;
//! impl Objective for Bowl {
//!     fn dimension(&self) -> usize {
//!         2
//!     }
//!     fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
//!         Ok((z[0] - 1.0).powi(2) + 10.0 * z[1].powi(2))
//!     }
//!     fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
//!         gradient.copy_from_slice(&[2.0 * (z[0] - 1.0), 20.0 * z[1]]);
//!         self.value(z)
//!     }
//! }
//!
//! let bounds = Bounds::new(vec![f64::NEG_INFINITY, 0.5], vec![f64::INFINITY; 2])?;
//! let mut run = Run::new(Method::lbfgs(), &[3.0, 2.0], bounds, Stopping::default())?;
//! while !run.iterate(&mut Bowl)?.stopped {}
//! let (z, value) = run.best();
//! assert!((z[0] - 1.0).abs() < 1e-6 && z[1] == 0.5 && (value - 2.5).abs() < 1e-10);
//! println!("{}", run.stopped().expect("the loop ended"));
//! # Ok::<(), pullback_solve::optimise::Error>(())
//! ```
//!
//! | method | needs | use it when |
//! |---|---|---|
//! | [`Method::LevenbergMarquardt`] | residuals and their Jacobian | the value is a sum of squares of few variables: fits |
//! | [`Method::Lbfgs`] | gradient | the value is smooth and exact: the first thing to try |
//! | [`Method::Adam`] | gradient | gradients are noisy or jump |
//! | [`Method::GradientDescent`] | gradient | the simplest thing, to compare with |
//! | [`Method::CmaEs`] | value | gradients are useless: many local minima, or noise |
//!
//! The linear algebra is our own, small and sequential. That of a library sums in an order which depends on the
//! instruction set, and at times on where memory lies, so a resumed run would not give the same bits.

mod adam;
mod algorithm;
mod bounds;
mod cauchy;
mod cma_es;
mod compact;
mod dense;
mod eigen;
mod error;
mod exact;
mod fit;
mod gradient_descent;
mod lbfgs;
mod levenberg_marquardt;
mod line_search;
mod method;
mod objective;
mod random;
mod run;
mod save;
mod scaling;
mod stopping;
mod transform;
mod vector;

pub use bounds::Bounds;
pub use error::Error;
pub use fit::standard_errors;
pub use objective::{Counts, Failure, Objective};
pub use pullback_scene::Method;
pub use run::{Progress, Record, Run};
pub use scaling::Scaling;
pub use stopping::{Reason, Stopping};
pub use transform::Transform;
