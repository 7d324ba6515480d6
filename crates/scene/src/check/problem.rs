//! Checks of problems.

use std::collections::HashSet;

use super::robot::{joint, part};
use super::scene::no_particle;
use super::{Number, count};
use crate::contact_loss::{ContactQuantity, Toucher};
use crate::error::Invalid;
use crate::names;
use crate::problem::{
    Bounds, LossKind, LossTerm, Method, Optimiser, Problem, Table, Track, Tracked, Variable, When,
};
use crate::scene::Scene;
use crate::words;

type Checked = Result<(), Invalid>;

/// A problem has something to change and something to reach.
pub(crate) fn complete(problem: &Problem) -> Checked {
    if problem.variables.is_empty() {
        let fix = "add a section `[[variables]]` with a name, such as name = \"initial.ball.velocity\"";
        return Err(Invalid::new("variables", "the problem has no variables", fix));
    }
    if problem.losses.is_empty() {
        let fix = "add a section `[[loss]]` with kind = \"position\", of and target";
        return Err(Invalid::new("loss", "the problem has no loss", fix));
    }
    Ok(())
}

/// Checks what may change.
pub(crate) fn variables(variables: &[Variable]) -> Checked {
    let mut seen = HashSet::new();
    for (i, it) in variables.iter().enumerate() {
        variable(&format!("variables[{i}]"), it)?;
        if !seen.insert(it.name.as_str()) {
            let what = format!("{} stands here for the second time", words::quoted(&it.name));
            return Err(Invalid::new(format!("variables[{i}].name"), what, "keep one of the two"));
        }
    }
    Ok(())
}

fn variable(path: &str, variable: &Variable) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    if variable.name.trim().is_empty() {
        let fix = "write a name such as `ball.mass`, or a glob such as `*.stiffness`";
        return Err(Invalid::new(of("name"), "the name is empty", fix));
    }
    for (field, bound) in [("lower", variable.lower), ("upper", variable.upper)] {
        bound.map_or(Ok(()), |bound| Number::any("bound", "").check(&of(field), bound))?;
    }
    variable.scale.map_or(Ok(()), |scale| Number::positive("scale", "").check(&of("scale"), scale))?;
    if let (Some(lower), Some(upper)) = (variable.lower, variable.upper)
        && lower > upper
    {
        let what = format!("the lower bound {lower} is above the upper bound {upper}");
        return Err(Invalid::new(of("lower"), what, "exchange the two"));
    }
    if variable.bounds == Bounds::Transform {
        transformed(&of("bounds"), variable)?;
    }
    start(&of("start"), variable)
}

/// A transformed variable has bounds to stay inside of, with room between.
fn transformed(path: &str, variable: &Variable) -> Checked {
    match (variable.lower, variable.upper) {
        (None, None) => {
            let fix = "give `lower` or `upper`, or leave `bounds` out";
            Err(Invalid::new(path, "there is nothing to transform: the variable has no bounds", fix))
        }
        (Some(lower), Some(upper)) if lower == upper => {
            let what = format!("there is no room between the bounds: both are {lower}");
            Err(Invalid::new(path, what, "widen them, or leave the variable out"))
        }
        (Some(_), _) | (_, Some(_)) => Ok(()),
    }
}

fn start(path: &str, variable: &Variable) -> Checked {
    let Some(start) = &variable.start else {
        return Ok(());
    };
    if start.is_empty() {
        return Err(Invalid::new(path, "the start is an empty list", "give one number for each component"));
    }
    Number::any("start", "").check_all(path, start)?;
    for (i, &value) in start.iter().enumerate() {
        // A transformed variable can come near its bounds, and is never on them.
        let on_bound = variable.bounds == Bounds::Project;
        let below = |bound: &f64| value < *bound || (value == *bound && !on_bound);
        let above = |bound: &f64| value > *bound || (value == *bound && !on_bound);
        let (side, bound) = match (variable.lower.filter(below), variable.upper.filter(above)) {
            (Some(lower), _) => ("above the lower", lower),
            (None, Some(upper)) => ("below the upper", upper),
            (None, None) => continue,
        };
        let what = format!("the start {value} is not {side} bound {bound}");
        return Err(Invalid::new(format!("{path}[{i}]"), what, "start within the bounds, or widen them"));
    }
    Ok(())
}

/// Checks what is to be small.
pub(crate) fn losses(scene: &Scene, losses: &[LossTerm]) -> Checked {
    losses.iter().enumerate().try_for_each(|(i, term)| loss(&format!("loss[{i}]"), scene, term))
}

fn loss(path: &str, scene: &Scene, term: &LossTerm) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    Number::not_negative("weight", "").check(&of("weight"), term.weight)?;
    steps(&of("at"), &term.at, scene.simulation.steps)?;
    let count = scene.particle_count();
    match &term.kind {
        LossKind::Position { of: particle, target, axes }
        | LossKind::Velocity { of: particle, target, axes } => {
            if *particle >= count {
                return Err(no_particle(of("of"), *particle, count));
            }
            aim(path, target, axes)
        }
        LossKind::PartPosition { of: what, target, axes }
        | LossKind::PartVelocity { of: what, target, axes } => {
            part(&of("of"), scene, *what)?;
            aim(path, target, axes)
        }
        LossKind::Joint { robot, joint: index, target } => {
            joint(&of("of"), scene, *robot, *index)?;
            Number::any("target", "").check(&of("target"), *target)
        }
        LossKind::Trajectory { data, tracks, .. } => trajectory(&of("data"), scene, data, tracks, &term.at),
        LossKind::Contact { of, with, quantity } => contact(path, scene, (*of, *with), quantity, &term.at),
        LossKind::Effort { actuator } => effort(path, scene, actuator, &term.at),
    }
}

/// Where something should be, along which axes.
fn aim(path: &str, target: &[f64; 3], axes: &[bool; 3]) -> Checked {
    if *axes == [false; 3] {
        let fix = "name at least one of `x`, `y` and `z`";
        return Err(Invalid::new(format!("{path}.axes"), "no axis counts", fix));
    }
    Number::any("target", "").check_vector(&format!("{path}.target"), target)
}

fn steps(path: &str, at: &When, steps: usize) -> Checked {
    let When::Steps(list) = at else {
        return Ok(());
    };
    if list.is_empty() {
        return Err(Invalid::new(
            path,
            "the list of steps is empty",
            "name at least one step, or write `at = \"end\"`",
        ));
    }
    let mut seen = HashSet::new();
    for (i, &step) in list.iter().enumerate() {
        let path = format!("{path}[{i}]");
        if step > steps {
            let what =
                format!("there is no step {step}: the simulation has {}", words::counted(steps, "step"));
            return Err(Invalid::new(
                path,
                what,
                format!("choose from 0 (the initial state) to {steps} (the end)"),
            ));
        }
        if !seen.insert(step) {
            return Err(Invalid::new(path, format!("step {step} stands here twice"), "keep one of the two"));
        }
    }
    Ok(())
}

fn trajectory(path: &str, scene: &Scene, data: &Table, tracks: &[Track], at: &When) -> Checked {
    let invalid = |what: String, fix: &str| Err(Invalid::new(path, what, fix));
    if tracks.is_empty() {
        return invalid("no column is compared".into(), "give at least one column such as `ball.x`");
    }
    let width = data.columns.len();
    if let Some(row) = data.rows.iter().position(|row| row.len() != width) {
        let found = data.rows[row].len();
        return invalid(
            format!("row {row} has {found} values, and there are {width} columns"),
            "fill every row",
        );
    }
    if let Some(row) = data.rows.iter().position(|row| row.iter().any(|value| !value.is_finite())) {
        return invalid(format!("row {row} has a value that is no finite number"), "leave the row out");
    }
    for track in tracks {
        tracked(path, scene, track.of)?;
        if track.column >= width {
            return invalid(format!("there is no column {}", track.column), "columns are counted from 0");
        }
    }
    match at {
        When::Steps(steps) if steps.len() == data.rows.len() => Ok(()),
        When::Steps(_) | When::End | When::Always => {
            invalid("the rows have no steps".into(), "give `at` one step for each row of the table")
        }
    }
}

/// Something that touches, and what it should come to.
fn contact(
    path: &str,
    scene: &Scene,
    (of, with): (Toucher, Option<Toucher>),
    quantity: &ContactQuantity,
    at: &When,
) -> Checked {
    let field = |field: &str| format!("{path}.{field}");
    if scene.contact.is_none() {
        let fix = "add a section `[contact]`";
        return Err(Invalid::new(field("kind"), "nothing touches: the scene has no contact", fix));
    }
    for (key, toucher) in [("of", Some(of)), ("with", with)] {
        if let Some(toucher) = toucher.filter(|it| !scene.has_toucher(*it)) {
            return Err(names::missing(field(key), toucher));
        }
    }
    if let (When::Steps(steps), true) = (at, quantity.is_of_a_step())
        && let Some(i) = steps.iter().position(|step| *step == 0)
    {
        let what = "no step ends with the initial state, and forces are those of the step that ends";
        return Err(Invalid::new(format!("{path}.at[{i}]"), what, "choose from 1, the first step, on"));
    }
    let number = |target: f64| Number::any("target", "").check(&field("target"), target);
    match quantity {
        ContactQuantity::Force { target, axes } => aim(path, target, axes),
        ContactQuantity::NormalForce { target }
        | ContactQuantity::FrictionForce { target }
        | ContactQuantity::Penetration { target } => number(*target),
    }
}

/// What a column is of is there.
fn tracked(path: &str, scene: &Scene, of: Tracked) -> Checked {
    match of {
        Tracked::Particle { particle, .. } if particle >= scene.particle_count() => {
            Err(no_particle(path, particle, scene.particle_count()))
        }
        Tracked::Particle { axis, .. } | Tracked::Part { axis, .. } if axis > 2 => {
            Err(Invalid::new(path, format!("there is no axis {axis}"), "axes are 0, 1 and 2"))
        }
        Tracked::Particle { .. } => Ok(()),
        Tracked::Part { of, .. } => part(path, scene, of),
        Tracked::Joint { robot, joint: index } => joint(path, scene, robot, index),
    }
}

fn effort(path: &str, scene: &Scene, actuator: &str, at: &When) -> Checked {
    let motors = scene
        .robots
        .iter()
        .flat_map(|robot| robot.motors.iter().map(move |motor| format!("{}.{}", robot.name, motor.name)));
    let names: Vec<String> = scene.actuators.iter().map(|it| it.name.clone()).chain(motors).collect();
    if !names.iter().any(|name| name == actuator) {
        let (word, all) = match scene.robots.is_empty() {
            true => ("actuator", "actuators"),
            false => ("actuator or motor", "actuators and motors"),
        };
        let what = format!("there is no {word} {}", words::quoted(actuator));
        let fix = match names.as_slice() {
            [] => "add a section `[[actuators]]` with this name".into(),
            names => words::suggest(actuator, names, format!("the {all} are {}", words::list(names))),
        };
        return Err(Invalid::new(format!("{path}.of"), what, fix));
    }
    match at {
        When::Always => Ok(()),
        When::End | When::Steps(_) => {
            let what = "effort is the sum over all steps";
            Err(Invalid::new(format!("{path}.at"), what, "write `at = \"always\"`, or leave `at` out"))
        }
    }
}

/// Checks how the loss is made small.
pub(crate) fn optimiser(optimiser: &Optimiser) -> Checked {
    let of = |field: &str| format!("optimiser.{field}");
    count(&of("iterations"), "the number of iterations", optimiser.iterations)?;
    Number::not_negative("tolerance", "").check(&of("tolerance"), optimiser.tolerance)?;
    optimiser.target.map_or(Ok(()), |target| Number::any("target", "").check(&of("target"), target))?;
    let below_one = |field: &'static str, value: f64| {
        Number::any("number", "").check(&of(field), value)?;
        if (0.0..1.0).contains(&value) {
            return Ok(());
        }
        Err(Invalid::new(of(field), format!("{field} is {value}"), "write a number from 0 up to, but not, 1"))
    };
    match optimiser.method {
        Method::GradientDescent { rate, momentum } => {
            Number::positive("rate", "").check(&of("rate"), rate)?;
            below_one("momentum", momentum)
        }
        Method::Adam { rate, beta1, beta2 } => {
            Number::positive("rate", "").check(&of("rate"), rate)?;
            below_one("beta1", beta1)?;
            below_one("beta2", beta2)
        }
        Method::Lbfgs { history } => count(&of("history"), "the number of remembered steps", history),
        Method::LevenbergMarquardt { damping } => {
            Number::positive("damping", "").check(&of("damping"), damping)
        }
        Method::CmaEs { sigma, population, seed: _ } => {
            Number::positive("spread sigma", "").check(&of("sigma"), sigma)?;
            match population {
                Some(points @ 0..4) => {
                    let what = format!("the population is {points}");
                    Err(Invalid::new(of("population"), what, "write 4 or more, or leave it out"))
                }
                Some(points) => count(&of("population"), "the population", points),
                None => Ok(()),
            }
        }
    }
}
