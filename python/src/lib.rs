//! The compiled half of the Python package: the engine on arrays that Python holds.
//!
//! Everything here is private to the package (`pullback._core`). Arrays come as addresses of contiguous numbers whose sizes the
//! package has checked; names, shapes, defaults and documentation are the business of the Python half.

mod batch;
mod calls;
mod command;
mod compute;
mod describe;
mod error;
mod layout;
mod model;
mod page;
mod pool;
mod problem;
mod rollout;
mod run;
mod simulation;
mod source;
mod step;
mod watch;
mod xla;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::compute::panic_next;
    #[pymodule_export]
    use crate::layout::Layout;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::page::page;
    #[pymodule_export]
    use crate::pool::forked;
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::simulation::Simulation;
    #[pymodule_export]
    use crate::watch::Watch;
    #[pymodule_export]
    use crate::xla::{xla_handler, xla_number};
}
