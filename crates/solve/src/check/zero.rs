//! Why a derivative by a number of contacts is exactly zero.

use pullback_engine::rollout::Coordinate;
use pullback_engine::{ContactWatch, Scheme};

use super::Audit;
use crate::Error;
use crate::problem::Problem;

/// A variable whose derivative is zero.
struct Zero {
    name: String,
    /// Its number among the params.
    param: usize,
    /// How many contacts that read it bore a load, and how many of them slid, over all steps.
    touching: f64,
    sliding: f64,
}

/// The reasons that the contacts of the motion at z give, for variables that were looked at.
pub(super) fn reasons(
    problem: &mut Problem,
    z: &[f64],
    audit: &[Audit],
) -> Result<Vec<(String, String)>, Error> {
    let mut zeros = zeros(problem, audit);
    if zeros.is_empty() {
        return Ok(Vec::new());
    }
    let scheme = Scheme::of(&problem.description().scene);
    let params: Vec<usize> = zeros.iter().map(|zero| zero.param).collect();
    let mut watch = ContactWatch::of_params(problem.model(), &scheme, &params)?;
    let mut result = Ok(());
    problem.watch(z, |moment| {
        if moment.last || result.is_err() {
            return;
        }
        result = watch.run(moment.time, moment.state, moment.control, moment.params);
        for (k, zero) in zeros.iter_mut().enumerate() {
            zero.touching += watch.touching(k).count;
            zero.sliding += watch.touching(k).sliding;
        }
    })?;
    result?;
    let values = problem.point(z).params;
    // What particles touch is not watched.
    let scene = &problem.description().scene;
    let (all_is_seen, pairs) = (scene.particles.is_empty(), !scene.material_pairs.is_empty());
    let reason = |zero: Zero| {
        let why = match zero.touching > 0.0 {
            true => zero.why(values[zero.param]),
            false if !all_is_seen => None,
            false if pairs && zero.is_of_surface() => {
                Some("nothing that reads it touches; pairs of materials have numbers of their own")
            }
            false => Some("nothing that it belongs to touches"),
        };
        why.map(|why| (zero.name, why.to_owned()))
    };
    Ok(zeros.into_iter().filter_map(reason).collect())
}

/// Numbers of contacts among the variables that were looked at, whose derivative is exactly zero.
fn zeros(problem: &Problem, audit: &[Audit]) -> Vec<Zero> {
    let variables = problem.variables();
    let found = |it: &Audit| {
        let at = (0..variables.len()).find(|&i| variables.name(i).0 == it.name)?;
        match *variables.coordinates_of(at).first()? {
            Coordinate::Param(param) if problem.model().contacts_read(param) => {
                Some(Zero { name: it.name.clone(), param, touching: 0.0, sliding: 0.0 })
            }
            Coordinate::Param(_) | Coordinate::State(_) | Coordinate::Control(_) => None,
        }
    };
    audit.iter().filter(|it| it.derivative == 0.0).filter_map(found).collect()
}

impl Zero {
    /// Is it a number that pairs of materials have too?
    fn is_of_surface(&self) -> bool {
        ["mu", "restitution", "ke", "kd", "kf"].contains(&self.name.rsplit('.').next().unwrap_or_default())
    }

    /// The reason, where contacts read it.
    fn why(&self, value: f64) -> Option<&'static str> {
        match self.name.rsplit('.').next().unwrap_or_default() {
            "mu" | "kd" | "kf" | "ke" if value == 0.0 => Some(
                "it is 0, where its mean with another surface has no finite slope, and what rests has no friction: start from a \
                 little more",
            ),
            "mu" if self.sliding == 0.0 => Some("what touches sticks: friction is nowhere at its limit"),
            "restitution" if value == 0.0 => {
                Some("it is 0, and at 0 nothing bounces: start from a little more")
            }
            "restitution" => Some("nothing bounces, or all that it meets bounces more"),
            "kd" => Some("what touches neither approaches nor leaves, or the loss does not see it"),
            "kf" if self.sliding >= self.touching => {
                Some("all that touches slides: friction is at its limit everywhere, and that is mu's")
            }
            "kf" => Some("what touches does not move along its surface, or the loss does not see it"),
            _ => Some("it touches, and nothing that the loss sees depends on it"),
        }
    }
}
