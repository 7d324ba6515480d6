//! A problem: a scene, what may change in it, what is to be reached, and how.

use std::sync::Arc;

use pullback_engine::rollout::Pushforward;
use pullback_engine::{
    AnyRollout, Error as EngineError, Gradient, Loss, Model, Options, Rollout, Scheme, Step,
};
use pullback_kernel::cuda::Device;
use pullback_kernel::prelude::RunOptions;
use pullback_kernel::program::DeviceError;
use pullback_scene as scene;

use crate::Error;
use crate::loss::Losses;
use crate::optimise::{Failure, Method, Objective, Run, Stopping, standard_errors};
use crate::variables::{Point, Variables};

/// A problem that can be solved, simulated and checked.
pub struct Problem {
    description: scene::Problem,
    model: Model,
    step: Step,
    variables: Variables,
    losses: Losses,
    rollout: AnyRollout,
    /// Made when a Jacobian is first asked for.
    tangents: Option<Pushforward>,
    point: Point,
    run: RunOptions,
}

/// How a Jacobian is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Column by column, on dual numbers.
    Forwards,
    /// Row by row, by pullbacks.
    Backwards,
}

impl Problem {
    /// The problem that a file describes.
    pub fn new(description: scene::Problem) -> Result<Problem, Error> {
        let model = Model::new(&description.scene).map_err(|error| place(&description, error))?;
        Self::with_model(description, model)
    }

    /// The same with a model of one's own: that of the scene, with more forces or constraints.
    pub fn with_model(description: scene::Problem, model: Model) -> Result<Problem, Error> {
        let attach = |invalid| Error::Description(Box::new(description.source.attach(invalid)));
        // A problem without variables and losses can be simulated, and nothing else.
        let only_scene = description.variables.is_empty() && description.losses.is_empty();
        let checked = if only_scene { description.scene.check() } else { description.check() };
        checked.map_err(attach)?;
        let engine = |error| place(&description, error);
        let scene = &description.scene;
        let step = Step::new(&model, Scheme::of(scene)).map_err(engine)?;
        let steps = scene.simulation.steps;
        let variables = Variables::new(&model, steps, &description.variables).map_err(attach)?;
        let losses = Losses::new(scene, &model, &description.losses).map_err(attach)?;
        let rollout = AnyRollout::new(&step, Options::of(scene), None).map_err(engine)?;
        let point = Point::new(&model, steps);
        let run = RunOptions::default();
        Ok(Problem { model, step, variables, losses, rollout, tangents: None, point, run, description })
    }

    /// Adds a loss of one's own.
    pub fn add_loss(&mut self, loss: impl Loss + Send + 'static) {
        self.losses.add(loss);
    }

    /// Runs rollouts on a GPU from now on, in `f64` as on the CPU, or on the CPU again. Jacobians that are cheaper column by column
    /// ([`Problem::way`]) are made on the CPU all the same.
    pub fn set_device(&mut self, device: Option<&Arc<Device>>) -> Result<(), Error> {
        let options = Options::of(&self.description.scene);
        let made = AnyRollout::new(&self.step, options, device);
        self.rollout = made.map_err(|error| place(&self.description, error))?;
        Ok(())
    }

    /// [`Problem::set_device`] with the GPU of this number. What cannot run there is refused without a GPU, too.
    pub fn set_gpu(&mut self, number: usize) -> Result<(), Error> {
        self.step.runs_on_gpu()?;
        let device = Device::new(number).map_err(|error| EngineError::from(DeviceError::Cuda(error)))?;
        self.set_device(Some(&device))
    }

    /// How many threads Jacobians are computed with; 0 for one per core.
    pub fn set_threads(&mut self, threads: usize) {
        self.run.threads = threads;
        self.tangents = None;
    }

    /// What was read.
    pub fn description(&self) -> &scene::Problem {
        &self.description
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The step.
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// What may change.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// What is to be small.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// What the rollout starts from at z.
    pub fn point(&self, z: &[f64]) -> Point {
        let mut point = self.point.clone();
        self.variables.apply(z, &mut point);
        point
    }

    /// The gradient of the loss by everything at z.
    pub fn full_gradient(&mut self, z: &[f64]) -> Result<&Gradient, Error> {
        self.variables.apply(z, &mut self.point);
        let gradient = self.rollout.gradient(&self.point.start(), &self.losses);
        gradient.map_err(|error| place(&self.description, error))
    }

    /// The derivatives of what the last measurement sees, and nothing else, at z; and the norm of the cotangent of each
    /// state, of what moves.
    pub(crate) fn last_measured(&mut self, z: &[f64]) -> Result<(Gradient, Vec<f64>), Error> {
        self.variables.apply(z, &mut self.point);
        let scene = &self.description.scene;
        let moves = moving(scene, &self.model);
        let last = self.losses.last_measured(&moves);
        // What `truncate` and `clip` hide is what is looked for.
        let options = Options { truncate: None, clip: None, ..Options::of(scene) };
        let engine = |error| place(&self.description, error);
        let mut rollout = Rollout::<f64>::new(&self.step, options).map_err(engine)?;
        let gradient = rollout.gradient(&self.point.start(), &last).map_err(engine)?.clone();
        Ok((gradient, last.norms.into_inner()))
    }

    /// Shows each moment of the rollout at z.
    pub fn watch(
        &mut self,
        z: &[f64],
        see: impl FnMut(&pullback_engine::rollout::Moment<'_>),
    ) -> Result<(), Error> {
        self.variables.apply(z, &mut self.point);
        let watched = self.rollout.watch_at(&self.point.start(), |_, _| true, see);
        watched.map_err(|error| place(&self.description, error))
    }

    /// What each sum of squares of the loss comes to at z, in the order of [`Losses::names`].
    pub fn parts(&mut self, z: &[f64]) -> Result<Vec<f64>, Error> {
        self.variables.apply(z, &mut self.point);
        let losses = &self.losses;
        let mut sums = vec![0.0; losses.names().count()];
        let add = |moment: &pullback_engine::rollout::Moment<'_>| {
            sums.iter_mut().zip(losses.parts(moment)).for_each(|(sum, part)| *sum += part);
        };
        let watched = self.rollout.watch_at(&self.point.start(), |_, _| true, add);
        watched.map_err(|error| place(&self.description, error))?;
        Ok(sums)
    }

    /// A minimisation with the optimiser of the problem, at its start.
    pub fn begin(&self) -> Result<Run, Error> {
        self.begin_with(self.description.optimiser.method)
    }

    /// A minimisation with another method.
    pub fn begin_with(&self, method: Method) -> Result<Run, Error> {
        if self.variables.is_empty() {
            return Err(self.nothing("variables", "nothing may change", "add a section [[variables]]"));
        }
        let simulation = &self.description.scene.simulation;
        if matches!(method, Method::LevenbergMarquardt { .. })
            && (simulation.truncate.is_some() || simulation.clip.is_some())
        {
            let path = if simulation.truncate.is_some() { "simulation.truncate" } else { "simulation.clip" };
            let what = "levenberg-marquardt takes whole derivatives, which this would change";
            return Err(self.nothing(path, what, "leave it out, or take another method"));
        }
        let optimiser = &self.description.optimiser;
        let stopping = Stopping {
            iterations: optimiser.iterations,
            tolerance: optimiser.tolerance,
            step_tolerance: optimiser.tolerance,
            target: optimiser.target,
            ..Stopping::default()
        };
        let run = Run::new(method, &self.variables.start(), self.variables.bounds(), stopping)?;
        Ok(run.with_fingerprint(self.fingerprint()))
    }

    fn nothing(&self, path: &str, what: &str, fix: &str) -> Error {
        Error::Description(Box::new(self.description.source.error(path, what, fix)))
    }

    /// The standard error of each variable at z, in its own unit, if measurements are fitted: how far the noise that the fit
    /// leaves may have carried it. Infinite where the measurements do not determine it.
    pub fn standard_errors(&mut self, z: &[f64]) -> Result<Option<Vec<f64>>, Error> {
        let fits = |term: &scene::LossTerm| matches!(term.kind, scene::LossKind::Trajectory { .. });
        let few = self.variables.len() <= MOST_FITTED;
        if !few || !self.losses.is_least_squares() || !self.description.losses.iter().any(fits) {
            return Ok(None);
        }
        let (residuals, jacobian) = self.jacobian_by(self.way(), z).map_err(crate::optimise::Error::from)?;
        let errors = standard_errors(&residuals, &jacobian, self.variables.len());
        let slopes = self.variables.slopes(z);
        Ok(errors.map(|errors| errors.iter().zip(slopes).map(|(error, slope)| error * slope.abs()).collect()))
    }

    /// What a saved run must agree in to be resumed: everything that its numbers depend on.
    pub fn fingerprint(&self) -> String {
        let mut all = self.description.source.text().to_owned();
        if all.is_empty() {
            all = format!("{:?}", self.description);
        }
        for term in &self.description.losses {
            if let scene::LossKind::Trajectory { data, .. } = &term.kind {
                all += &format!("{data:?}");
            }
        }
        // Robots may come from files of their own.
        if !self.description.scene.robots.is_empty() {
            all += &format!("{:?}", self.description.scene.robots);
        }
        format!("pullback {} {:016x}", env!("CARGO_PKG_VERSION"), fnv(all.as_bytes()))
    }

    /// Residuals and their Jacobian by z, row by row, computed the given way.
    pub fn jacobian_by(&mut self, way: Way, z: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Failure> {
        if !self.losses.is_least_squares() {
            return Err(Failure::NotLeastSquares);
        }
        self.variables.apply(z, &mut self.point);
        let (mut residuals, mut jacobian) = (Vec::new(), Vec::new());
        match way {
            Way::Forwards => self.jacobian_by_pushforward(&mut residuals, &mut jacobian)?,
            Way::Backwards => self.jacobian_by_pullback(&mut residuals, &mut jacobian)?,
        }
        Ok((residuals, self.variables.pull_rows(z, &jacobian)))
    }

    /// The cheaper way to the Jacobian.
    pub fn way(&self) -> Way {
        match self.variables.stored() * PUSHFORWARD <= self.losses.residual_count() * PULLBACK {
            true => Way::Forwards,
            false => Way::Backwards,
        }
    }

    fn jacobian_by_pushforward(
        &mut self,
        residuals: &mut Vec<f64>,
        jacobian: &mut Vec<f64>,
    ) -> Result<(), EngineError> {
        let (coordinates, steps) = (self.variables.coordinates(), self.description.scene.simulation.steps);
        let n = coordinates.len();
        let tangents = self
            .tangents
            .get_or_insert_with(|| Pushforward::new(&self.step, steps, coordinates.clone(), self.run));
        let losses = &self.losses;
        jacobian.resize(losses.residual_count() * n, 0.0);
        let mut first = 0;
        tangents.run(&self.point.start(), |moment, tangent| {
            if tangent.direction == 0 {
                first = residuals.len();
                losses.residuals(moment, &mut |r| residuals.push(r));
            }
            let mut row = first;
            losses.residual_tangents(moment, tangent, &mut |r_dot| {
                jacobian[row * n + tangent.direction] = r_dot;
                row += 1;
            });
        })
    }

    fn jacobian_by_pullback(
        &mut self,
        residuals: &mut Vec<f64>,
        jacobian: &mut Vec<f64>,
    ) -> Result<(), EngineError> {
        let coordinates = self.variables.coordinates();
        for k in 0..self.losses.residual_count() {
            let gradient = self.rollout.gradient(&self.point.start(), &self.losses.residual(k))?;
            residuals.push(gradient.value());
            jacobian.extend(coordinates.iter().map(|c| by(gradient, *c)));
        }
        Ok(())
    }
}

/// The derivative by one number.
pub(crate) fn by(gradient: &Gradient, coordinate: pullback_engine::rollout::Coordinate) -> f64 {
    use pullback_engine::rollout::Coordinate;
    match coordinate {
        Coordinate::State(i) => gradient.states[i],
        Coordinate::Control(i) => gradient.controls[i],
        Coordinate::Param(i) => gradient.params[i],
    }
}

/// The most variables whose standard errors are computed.
const MOST_FITTED: usize = 200;
/// A forward pass on dual numbers costs about this many plain ones, and a pullback from kept states this many.
const PUSHFORWARD: usize = 3;
const PULLBACK: usize = 4;

impl Objective for Problem {
    fn dimension(&self) -> usize {
        self.variables.len()
    }

    fn value(&mut self, z: &[f64]) -> Result<f64, Failure> {
        self.variables.apply(z, &mut self.point);
        let values = self.rollout.value(&self.point.start(), &self.losses)?;
        Ok(values.iter().sum())
    }

    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, Failure> {
        self.variables.apply(z, &mut self.point);
        let full = self.rollout.gradient(&self.point.start(), &self.losses)?;
        let stored: Vec<f64> = self.variables.coordinates().iter().map(|c| by(full, *c)).collect();
        gradient.copy_from_slice(&self.variables.pull_rows(z, &stored));
        Ok(full.value())
    }

    fn residuals(&mut self, z: &[f64], residuals: &mut Vec<f64>) -> Result<(), Failure> {
        if !self.losses.is_least_squares() {
            return Err(Failure::NotLeastSquares);
        }
        self.variables.apply(z, &mut self.point);
        let losses = &self.losses;
        let see = |moment: &pullback_engine::rollout::Moment<'_>| {
            losses.residuals(moment, &mut |r| residuals.push(r))
        };
        self.rollout.watch_at(&self.point.start(), |_, _| true, see).map_err(Failure::from)
    }

    fn jacobian(
        &mut self,
        z: &[f64],
        residuals: &mut Vec<f64>,
        jacobian: &mut Vec<f64>,
    ) -> Result<(), Failure> {
        (*residuals, *jacobian) = self.jacobian_by(self.way(), z)?;
        Ok(())
    }
}

/// A rollout that blows up is a point without a value; another point may have one.
impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        match error.is_of_the_run() {
            true => Failure::not_finite(format!("the rollout ({error})")),
            false => Failure::fatal(error),
        }
    }
}

/// An error of the engine, with the place in the file that it is about.
fn place(description: &scene::Problem, error: EngineError) -> Error {
    let source = &description.source;
    let (path, fix) = match &error {
        EngineError::Scene(invalid) => return Error::Description(Box::new(source.attach(invalid.clone()))),
        EngineError::TooLarge { .. } => {
            ("simulation.memory", "take fewer steps, or memory = { binomial = 30 }".to_owned())
        }
        EngineError::Budget { needed, .. } => (
            "simulation.memory",
            format!("take {{ budget = \"{needed} B\" }} or more, or {{ binomial = 10 }}"),
        ),
        EngineError::Reversible(_) if description.scene.simulation.memory == scene::Memory::Reversible => {
            ("simulation.memory", "take another memory, or make the scene reversible".to_owned())
        }
        EngineError::Reversible(_) => {
            ("simulation.integrator", "take another integrator, or leave these forces out".to_owned())
        }
        EngineError::OffLattice { .. } => {
            let fix = "take another integrator, or move the scene nearer to the origin";
            return Error::Rollout(Box::new(source.error("simulation.integrator", error.to_string(), fix)));
        }
        EngineError::ContactNotSolved { .. } => {
            let fix = "write a larger `regularisation`, ten times as much say, or more `iterations`; or differentiate \
                       the sweeps as far as they get, with `solver = \"gauss-seidel\"` and `gradient = \"reverse\"`";
            return Error::Rollout(Box::new(source.error("contact", error.to_string(), fix)));
        }
        EngineError::TooManyContacts { .. } => {
            let fix = "write a larger number of `most_contacts`";
            return Error::Rollout(Box::new(source.error("contact", error.to_string(), fix)));
        }
        EngineError::TooManySoftContacts { .. } => {
            let fix = "write a larger number of `most`";
            return Error::Rollout(Box::new(source.error("soft_contact", error.to_string(), fix)));
        }
        error if error.is_of_the_run() => {
            let fix = match description.scene.simulation.integrator.is_implicit() {
                // Damping begins with a jump of the force, where a step may have no solution.
                true if damps(&description.scene) => {
                    "write `kd = 0` in `[contact]`, and in materials, if soft things touch shapes: damping of contact begins with a jump, where \
                     an implicit step may have no solution; or take a smaller `dt`, or more `substeps`"
                }
                true => "take a smaller `dt`, or more `substeps`: what is stiff or fast needs many",
                false => {
                    "take a smaller `dt`, or more `substeps`: stiff, light or small things want short steps (soft elements less than \
                     sound takes through them); or `integrator = \"backward-euler\"`"
                }
            };
            return Error::Rollout(Box::new(source.error("simulation.dt", error.to_string(), fix)));
        }
        _ => return Error::Engine(error),
    };
    Error::Description(Box::new(source.error(path, error.to_string(), fix)))
}

/// Do soft things touch shapes whose contact is damped?
fn damps(scene: &scene::Scene) -> bool {
    let is_soft = !scene.solids.is_empty() || !scene.sheets.is_empty();
    let mut shapes = scene.shapes.iter().chain(scene.robots.iter().flat_map(|robot| &robot.shapes));
    let damped =
        |shape: &scene::robot::Shape| shape.collides && scene.touch_with_points(shape, None).kd > 0.0;
    is_soft && scene.contact.is_some() && shapes.any(damped)
}

/// Which numbers of a state are not held in place: positions, then velocities.
fn moving(scene: &scene::Scene, model: &Model) -> Vec<bool> {
    let particles = scene.particles.iter().flat_map(|group| group.fixed.iter().flatten().map(|fixed| !fixed));
    let particles: Vec<bool> = particles.collect();
    let mut moves = vec![true; model.state_layout().len()];
    for start in [0, model.positions()] {
        moves.iter_mut().skip(start).zip(&particles).for_each(|(moves, free)| *moves = *free);
    }
    moves
}

/// FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
