//! Variables: which numbers of a rollout's start an optimiser may change, and how its own vector z stands for them.

use std::collections::HashSet;

use pullback_engine::names::{Layout, NameError, Quantity};
use pullback_engine::rollout::Coordinate;
use pullback_engine::{Model, Start};
use pullback_scene::{Bounds as Keeping, Invalid, Variable};

use crate::optimise::{Bounds, Transform};

/// The numbers that may change.
#[derive(Clone, Debug)]
pub struct Variables {
    numbers: Vec<Number>,
}

/// One number that may change.
#[derive(Clone, Debug)]
struct Number {
    name: String,
    unit: String,
    coordinate: Coordinate,
    /// Where the search starts, and what the scene says.
    start: f64,
    nominal: f64,
    lower: f64,
    upper: f64,
    map: Map,
}

/// From the optimiser's z to the number.
#[derive(Clone, Debug)]
enum Map {
    /// x = start + size z, projected on bounds.
    Scaled { size: f64 },
    /// x = transform(z), which cannot leave them.
    Transformed(Transform),
}

/// Everything that a rollout starts from, one world.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The first state.
    pub state: Vec<f64>,
    /// The controls of all steps.
    pub controls: Vec<f64>,
    /// The params.
    pub params: Vec<f64>,
}

impl Point {
    /// What a scene starts from.
    pub fn new(model: &Model, steps: usize) -> Point {
        Point {
            state: model.state().values().to_vec(),
            controls: model.controls(steps),
            params: model.params().values().to_vec(),
        }
    }

    /// For a rollout.
    pub fn start(&self) -> Start<'_> {
        Start { states: &self.state, controls: &self.controls, params: &self.params }
    }

    /// One of its numbers.
    pub fn get(&self, coordinate: Coordinate) -> f64 {
        match coordinate {
            Coordinate::State(i) => self.state[i],
            Coordinate::Control(i) => self.controls[i],
            Coordinate::Param(i) => self.params[i],
        }
    }

    /// Sets one of its numbers.
    pub fn set(&mut self, coordinate: Coordinate, value: f64) {
        match coordinate {
            Coordinate::State(i) => self.state[i] = value,
            Coordinate::Control(i) => self.controls[i] = value,
            Coordinate::Param(i) => self.params[i] = value,
        }
    }
}

impl Variables {
    /// The variables of a problem.
    pub fn new(model: &Model, steps: usize, variables: &[Variable]) -> Result<Variables, Invalid> {
        let nominal = Point::new(model, steps);
        let mut numbers: Vec<Number> = Vec::new();
        let mut seen = HashSet::new();
        for (i, variable) in variables.iter().enumerate() {
            let path = format!("variables[{i}]");
            let found =
                find(model, steps, &variable.name).map_err(|error| error.at(format!("{path}.name")))?;
            let start = start_values(variable, &found, &nominal, &path)?;
            // Zero components of a vector are as large as the others.
            let typical = start.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            for (found, start) in found.into_iter().zip(start) {
                if !seen.insert(found.coordinate) {
                    let what = format!("`{}` is a variable twice", found.name);
                    return Err(Invalid::new(format!("{path}.name"), what, "name it in one of them only"));
                }
                let size = variable.scale.unwrap_or(if typical > 0.0 { typical } else { 1.0 });
                numbers.push(number(variable, found, start, &nominal, size, &path)?);
            }
        }
        Ok(Variables { numbers })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Which number of the start each is.
    pub fn coordinates(&self) -> Vec<Coordinate> {
        self.numbers.iter().map(|number| number.coordinate).collect()
    }

    /// What number `i` is called, and its unit.
    pub fn name(&self, i: usize) -> (&str, &str) {
        (&self.numbers[i].name, &self.numbers[i].unit)
    }

    /// The least and the greatest value of number `i`.
    pub fn range(&self, i: usize) -> (f64, f64) {
        (self.numbers[i].lower, self.numbers[i].upper)
    }

    /// What the scene says of number `i`.
    pub fn nominal(&self, i: usize) -> f64 {
        self.numbers[i].nominal
    }

    /// The optimiser's vector where the search starts.
    pub fn start(&self) -> Vec<f64> {
        self.numbers
            .iter()
            .map(|number| match &number.map {
                Map::Scaled { .. } => 0.0,
                // `Variables::new` has made sure that it lies within.
                Map::Transformed(transform) => transform.inverse(number.start).unwrap_or(0.0),
            })
            .collect()
    }

    /// The bounds of the optimiser's vector.
    pub fn bounds(&self) -> Bounds {
        let bound = |number: &Number, x: f64, none: f64| match number.map {
            Map::Scaled { size } => (x - number.start) / size,
            Map::Transformed(_) => none,
        };
        let lower = self.numbers.iter().map(|n| bound(n, n.lower, f64::NEG_INFINITY)).collect();
        let upper = self.numbers.iter().map(|n| bound(n, n.upper, f64::INFINITY)).collect();
        Bounds::new(lower, upper).unwrap_or_else(|_| Bounds::none(self.len()))
    }

    /// The numbers of z.
    pub fn values(&self, z: &[f64]) -> Vec<f64> {
        let value = |(number, z): (&Number, &f64)| match &number.map {
            Map::Scaled { size } => (number.start + size * z).clamp(number.lower, number.upper),
            Map::Transformed(transform) => transform.value(*z),
        };
        self.numbers.iter().zip(z).map(value).collect()
    }

    /// Sets the numbers of z in a point.
    pub fn apply(&self, z: &[f64], point: &mut Point) {
        for (number, value) in self.numbers.iter().zip(self.values(z)) {
            point.set(number.coordinate, value);
        }
    }

    /// The derivative of each number by its z.
    pub fn slopes(&self, z: &[f64]) -> Vec<f64> {
        let slope = |(number, z): (&Number, &f64)| match &number.map {
            Map::Scaled { size } => *size,
            Map::Transformed(transform) => transform.derivative(*z),
        };
        self.numbers.iter().zip(z).map(slope).collect()
    }
}

/// A number that a name stands for.
struct Found {
    name: String,
    quantity: Quantity,
    coordinate: Coordinate,
}

fn find(model: &Model, steps: usize, name: &str) -> Result<Vec<Found>, Invalid> {
    let in_layout = |layout: &Layout, pattern: &str, prefix: &str, at: &dyn Fn(usize) -> Coordinate| {
        let ranges = layout.select(pattern).map_err(|error| unknown(model, name, prefix, error))?;
        let number = |i: usize| Found {
            name: format!("{prefix}{}", layout.name_of(i)),
            quantity: layout.quantity_of(i).cloned().unwrap_or_else(|| Quantity::new("1", "")),
            coordinate: at(i),
        };
        Ok(ranges.into_iter().flatten().map(number).collect::<Vec<_>>())
    };
    if let Some(pattern) = name.strip_prefix("initial.") {
        return in_layout(model.state_layout(), pattern, "initial.", &Coordinate::State);
    }
    if let Some(pattern) = name.strip_prefix("control.") {
        let layout = model.control_layout();
        let mut all = Vec::new();
        for step in 0..steps {
            let prefix = format!("control[{step}].");
            all.extend(in_layout(layout, pattern, &prefix, &|i| {
                Coordinate::Control(step * layout.len() + i)
            })?);
        }
        return Ok(all);
    }
    in_layout(model.params_layout(), name, "", &Coordinate::Param)
}

/// No number has this name, or none with this index.
fn unknown(model: &Model, name: &str, prefix: &str, error: NameError) -> Invalid {
    const LIST: &str = "`pullback params FILE` lists all names";
    let nearest = match error {
        NameError::Unknown { nearest, .. } => nearest,
        error => return Invalid::new("name", error.to_string(), LIST),
    };
    // The user may have meant a state or a control.
    let fix = if prefix.is_empty() && model.state_layout().select(name).is_ok() {
        format!("the initial state is `initial.{name}`")
    } else if prefix.is_empty() && model.control_layout().select(name).is_ok() {
        format!("controls are `control.{name}`")
    } else if nearest.is_empty() {
        LIST.to_owned()
    } else {
        // Controls of a step are called control[3].thruster.force, and all of them control.thruster.force.
        let prefix = if prefix.starts_with("control[") { "control." } else { prefix };
        let names: Vec<String> = nearest.iter().map(|near| format!("`{prefix}{near}`")).collect();
        format!("did you mean {}? {LIST}", names.join(" or "))
    };
    Invalid::new("name", format!("nothing that may change is called `{name}`"), fix)
}

fn start_values(
    variable: &Variable,
    found: &[Found],
    nominal: &Point,
    path: &str,
) -> Result<Vec<f64>, Invalid> {
    let Some(start) = &variable.start else {
        return Ok(found.iter().map(|found| nominal.get(found.coordinate)).collect());
    };
    match (start.len(), found.len()) {
        (given, wanted) if given == wanted => Ok(start.clone()),
        // One value for all, or one vector for each step.
        (given, wanted) if given > 0 && wanted % given == 0 => {
            Ok(start.iter().copied().cycle().take(wanted).collect())
        }
        (given, wanted) => Err(Invalid::new(
            format!("{path}.start"),
            format!("{given} numbers for a variable that has {wanted}"),
            format!("give {wanted} numbers, or as many as repeat to {wanted}"),
        )),
    }
}

fn number(
    variable: &Variable,
    found: Found,
    start: f64,
    nominal: &Point,
    size: f64,
    path: &str,
) -> Result<Number, Invalid> {
    // What must be greater than zero stays well away from it, unless the problem says otherwise.
    let least = if found.quantity.lower == f64::MIN_POSITIVE { 1e-6 * size } else { found.quantity.lower };
    let lower = variable.lower.unwrap_or(least).max(found.quantity.lower);
    let upper = variable.upper.unwrap_or(f64::INFINITY).min(found.quantity.upper);
    // The key of the file that is in the way.
    let at = |key: &str, what: String, fix: &str| Err(Invalid::new(format!("{path}.{key}"), what, fix));
    let bound = |too_low: bool| match (too_low, variable.lower, variable.upper) {
        (true, Some(_), _) => "lower",
        (false, _, Some(_)) => "upper",
        (_, _, _) if variable.start.is_some() => "start",
        (_, _, _) => "name",
    };
    if lower > upper {
        let what = format!("nothing is between {lower:?} and {upper:?} for `{}`", found.name);
        return at(bound(variable.upper.is_none()), what, "widen the bounds");
    }
    let inside = match variable.bounds {
        Keeping::Project => start >= lower && start <= upper,
        Keeping::Transform => start > lower && start < upper,
    };
    if !inside {
        let strictly = if variable.bounds == Keeping::Transform { "strictly " } else { "" };
        let what = format!(
            "the search for `{}` starts at {start:?}, which is not {strictly}{}",
            found.name,
            match (lower, upper) {
                (lower, f64::INFINITY) => format!("above {lower:?}"),
                (f64::NEG_INFINITY, upper) => format!("below {upper:?}"),
                (lower, upper) => format!("between {lower:?} and {upper:?}"),
            }
        );
        let key = if variable.start.is_some() { "start" } else { bound(start <= lower) };
        return at(key, what, "widen the bounds, or give another `start`");
    }
    let map = match variable.bounds {
        Keeping::Project => Map::Scaled { size },
        Keeping::Transform => match Transform::within(lower, upper, size) {
            Ok(transform) => Map::Transformed(transform),
            Err(error) => return at("bounds", error.to_string(), "give bounds that can be kept"),
        },
    };
    Ok(Number {
        nominal: nominal.get(found.coordinate),
        unit: found.quantity.unit,
        name: found.name,
        coordinate: found.coordinate,
        start,
        lower,
        upper,
        map,
    })
}
