//! Variables: which numbers of a rollout's start an optimiser may change, and how its own vector z stands for them.
//!
//! A number is one variable, or many that change together are. A rotation, which is stored as a unit quaternion, is three: it is turned.

mod find;
mod rotation;
mod together;

use std::collections::HashSet;

use pullback_engine::names::Quantity;
use pullback_engine::rollout::Coordinate;
use pullback_engine::{Model, Start};
use pullback_scene::robot::orientation;
use pullback_scene::{Bounds as Keeping, Invalid, Variable};

use crate::optimise::{Bounds, Transform};
use find::{Found, find};
use rotation::Rotation;

/// The numbers that may change.
#[derive(Clone, Debug)]
pub struct Variables {
    numbers: Vec<Number>,
    rotations: Vec<Rotation>,
}

/// One number that may change.
#[derive(Clone, Debug)]
struct Number {
    name: String,
    unit: String,
    place: Place,
    /// Where the search starts, and what the scene says.
    start: f64,
    nominal: f64,
    lower: f64,
    upper: f64,
    map: Map,
    /// Those that change by the same amount.
    others: Vec<Other>,
}

/// A number of the start that changes by the same amount as another.
#[derive(Clone, Copy, Debug)]
struct Other {
    coordinate: Coordinate,
    /// How much more it is.
    apart: f64,
}

/// Which number of the start it is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Number(Coordinate),
    /// The first of the three that turn a rotation, whose quaternion begins there; the two others follow.
    Turn {
        rotation: usize,
        first: Coordinate,
    },
    /// One of the others.
    TurnToo,
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
        let mut all = Variables { numbers: Vec::new(), rotations: Vec::new() };
        let mut seen = HashSet::new();
        for (i, variable) in variables.iter().enumerate() {
            let path = format!("variables[{i}]");
            let found =
                find(model, steps, &variable.name).map_err(|error| error.at(format!("{path}.name")))?;
            let start = start_values(variable, &found, &nominal, &path)?;
            if let Some(found) = found.iter().find(|found| !seen.insert(found.coordinate)) {
                let what = format!("`{}` is a variable twice", found.name);
                return Err(Invalid::new(format!("{path}.name"), what, "name it in one of them only"));
            }
            all.add(variable, &found, &start, &nominal, &path)?;
        }
        Ok(all)
    }

    /// Adds the numbers that a variable stands for.
    fn add(
        &mut self,
        variable: &Variable,
        found: &[Found],
        start: &[f64],
        nominal: &Point,
        path: &str,
    ) -> Result<(), Invalid> {
        // Zero components of a vector are as large as the others.
        let flat = found.iter().zip(start).filter(|(found, _)| found.component.is_none());
        let typical = flat.fold(0.0, |most: f64, (_, x)| most.max(x.abs()));
        let size = variable.scale.unwrap_or(if typical > 0.0 { typical } else { 1.0 });
        if variable.together {
            return self.add_together(variable, found, start, nominal, size, path);
        }
        let mut k = 0;
        while k < found.len() {
            let number = &found[k];
            match number.component {
                None => {
                    let (place, value) = (Place::Number(number.coordinate), nominal.get(number.coordinate));
                    let (name, unit) = (number.name.clone(), number.quantity.unit.clone());
                    let range = range(variable, &number.quantity, size);
                    let of = Described { name, unit, range, place, start: start[k], nominal: value };
                    self.numbers.push(of.number(variable, size, path)?);
                    k += 1;
                }
                Some(0) if k + 4 <= found.len() && found[k + 3].component == Some(3) => {
                    self.add_rotation(variable, &found[k..k + 4], &start[k..k + 4], nominal, path)?;
                    k += 4;
                }
                Some(_) => {
                    let whole = number.name.rsplit_once('.').map_or("", |(whole, _)| whole);
                    let what = format!("`{}` cannot change alone: the four make a rotation", number.name);
                    return Err(Invalid::new(format!("{path}.name"), what, format!("name `{whole}`")));
                }
            }
        }
        Ok(())
    }

    /// Adds the three variables that turn a rotation.
    fn add_rotation(
        &mut self,
        variable: &Variable,
        found: &[Found],
        start: &[f64],
        nominal: &Point,
        path: &str,
    ) -> Result<(), Invalid> {
        let name = found[0].name.strip_suffix(".w").unwrap_or(&found[0].name).to_owned();
        let four = |of: &dyn Fn(usize) -> f64| -> [f64; 4] { std::array::from_fn(of) };
        let Some(start) = orientation::normalised(four(&|i| start[i])) else {
            let what = format!("the search for `{name}` starts at no rotation");
            return Err(Invalid::new(format!("{path}.start"), what, "give a quaternion (w, x, y, z)"));
        };
        let rotation = Rotation { name, start, nominal: four(&|i| nominal.get(found[i].coordinate)) };
        let quantity = Quantity::new("rad", "how far it is turned");
        let size = variable.scale.unwrap_or(1.0);
        let range = range(variable, &quantity, size);
        let nominal = rotation.nominal_turn();
        for (axis, word) in ["x", "y", "z"].into_iter().enumerate() {
            let first = found[0].coordinate;
            let place = match axis {
                0 => Place::Turn { rotation: self.rotations.len(), first },
                _ => Place::TurnToo,
            };
            let name = format!("{}.turn.{word}", rotation.name);
            let unit = quantity.unit.clone();
            let of = Described { name, unit, range, place, start: 0.0, nominal: nominal[axis] };
            self.numbers.push(of.number(variable, size, path)?);
        }
        self.rotations.push(rotation);
        Ok(())
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The numbers of the start that they change, in order: those of each variable, and four for the three that turn a rotation.
    pub fn coordinates(&self) -> Vec<Coordinate> {
        (0..self.len()).flat_map(|i| self.coordinates_of(i)).collect()
    }

    /// The numbers of the start that number `i` changes; of the three that turn a rotation the first has all four.
    pub fn coordinates_of(&self, i: usize) -> Vec<Coordinate> {
        let number = &self.numbers[i];
        match number.place {
            Place::Number(coordinate) => {
                let others = number.others.iter().map(|other| other.coordinate);
                std::iter::once(coordinate).chain(others).collect()
            }
            Place::Turn { first, .. } => (0..4).map(|i| beyond(first, i)).collect(),
            Place::TurnToo => Vec::new(),
        }
    }

    /// How many numbers of the start they change.
    pub(crate) fn stored(&self) -> usize {
        let of = |number: &Number| match number.place {
            Place::Number(_) => 1 + number.others.len(),
            Place::Turn { .. } => 4,
            Place::TurnToo => 0,
        };
        self.numbers.iter().map(of).sum()
    }

    /// Is number `i` a control?
    pub fn is_control(&self, i: usize) -> bool {
        matches!(self.numbers[i].place, Place::Number(Coordinate::Control(_)))
    }

    /// The rotations at z: what each is called, and its quaternion (w, x, y, z). Its variables say only how far it is turned
    /// from the start.
    pub fn rotations(&self, z: &[f64]) -> Vec<(&str, [f64; 4])> {
        let values = self.values(z);
        let turns = self.numbers.iter().enumerate().filter_map(|(i, number)| match number.place {
            Place::Turn { rotation, .. } => Some((&self.rotations[rotation], turn(&values, i))),
            Place::Number(_) | Place::TurnToo => None,
        });
        turns.map(|(rotation, turn)| (rotation.name.as_str(), rotation.at(turn))).collect()
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
        let values = self.values(z);
        for (i, number) in self.numbers.iter().enumerate() {
            match number.place {
                Place::Number(coordinate) => {
                    point.set(coordinate, values[i]);
                    number.others.iter().for_each(|it| point.set(it.coordinate, values[i] + it.apart));
                }
                Place::Turn { rotation, first } => {
                    let q = self.rotations[rotation].at(turn(&values, i));
                    q.iter().enumerate().for_each(|(k, x)| point.set(beyond(first, k), *x));
                }
                Place::TurnToo => {}
            }
        }
    }

    /// Rows of derivatives by z, from rows of derivatives by [`Variables::coordinates`].
    pub fn pull_rows(&self, z: &[f64], rows: &[f64]) -> Vec<f64> {
        let (values, slopes) = (self.values(z), self.slopes(z));
        let mut out = Vec::with_capacity(rows.len());
        for row in rows.chunks_exact(self.stored().max(1)) {
            let mut at = 0;
            for (i, number) in self.numbers.iter().enumerate() {
                match number.place {
                    Place::Number(_) => {
                        let many = 1 + number.others.len();
                        out.push(row[at..at + many].iter().sum::<f64>() * slopes[i]);
                        at += many;
                    }
                    Place::Turn { rotation, .. } => {
                        let bar = std::array::from_fn(|k| row[at + k]);
                        let bar = self.rotations[rotation].pull(turn(&values, i), bar);
                        out.extend((0..3).map(|k| bar[k] * slopes[i + k]));
                        at += 4;
                    }
                    Place::TurnToo => {}
                }
            }
        }
        out
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

/// The turn whose first variable is number `i`.
fn turn(values: &[f64], i: usize) -> [f64; 3] {
    std::array::from_fn(|k| values[i + k])
}

/// The coordinate that lies `by` after another.
fn beyond(first: Coordinate, by: usize) -> Coordinate {
    match first {
        Coordinate::State(i) => Coordinate::State(i + by),
        Coordinate::Control(i) => Coordinate::Control(i + by),
        Coordinate::Param(i) => Coordinate::Param(i + by),
    }
}

/// What the scene says. A control beyond its motor's range acts as the end of the range, and starts there.
fn nominal_start(found: &Found, nominal: &Point) -> f64 {
    let (value, q) = (nominal.get(found.coordinate), &found.quantity);
    match found.coordinate {
        Coordinate::Control(_) => value.max(q.lower).min(q.upper),
        Coordinate::State(_) | Coordinate::Param(_) => value,
    }
}

fn start_values(
    variable: &Variable,
    found: &[Found],
    nominal: &Point,
    path: &str,
) -> Result<Vec<f64>, Invalid> {
    let Some(start) = &variable.start else {
        return Ok(found.iter().map(|found| nominal_start(found, nominal)).collect());
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

/// The least and the greatest value that a number may have.
fn range(variable: &Variable, quantity: &Quantity, size: f64) -> (f64, f64) {
    // What must be greater than zero stays well away from it, unless the problem says otherwise.
    let least = if quantity.lower == f64::MIN_POSITIVE { 1e-6 * size } else { quantity.lower };
    let lower = variable.lower.unwrap_or(least).max(quantity.lower);
    (lower, variable.upper.unwrap_or(f64::INFINITY).min(quantity.upper))
}

/// A variable, before it is known that its start is within its range.
struct Described {
    name: String,
    unit: String,
    range: (f64, f64),
    place: Place,
    start: f64,
    nominal: f64,
}

impl Described {
    fn number(self, variable: &Variable, size: f64, path: &str) -> Result<Number, Invalid> {
        let Described { name, unit, range: (lower, upper), place, start, nominal } = self;
        // The key of the file that is in the way.
        let at = |key: &str, what: String, fix: &str| Err(Invalid::new(format!("{path}.{key}"), what, fix));
        let bound = |too_low: bool| match (too_low, variable.lower, variable.upper) {
            (true, Some(_), _) => "lower",
            (false, _, Some(_)) => "upper",
            (_, _, _) if variable.start.is_some() => "start",
            (_, _, _) => "name",
        };
        if lower > upper {
            let what = format!("nothing is between {lower:?} and {upper:?} for `{}`", name);
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
                name,
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
        Ok(Number { name, unit, place, start, nominal, lower, upper, map, others: Vec::new() })
    }
}
