//! Which numbers the name of a variable stands for.

use pullback_engine::Model;
use pullback_engine::names::{Layout, NameError, Quantity, Space};
use pullback_engine::rollout::Coordinate;
use pullback_scene::Invalid;

/// A number that a name stands for.
pub(super) struct Found {
    pub name: String,
    pub quantity: Quantity,
    pub coordinate: Coordinate,
    /// Which number of a quaternion it is, if it is one.
    pub component: Option<usize>,
    /// What follows the name of the thing: `velocity` of `ball.velocity.x`.
    pub field: String,
    /// Which number it is of those that make a value, if there are several: 0 for x.
    pub axis: Option<usize>,
}

/// The numbers that a name or a glob stands for.
pub(super) fn find(model: &Model, steps: usize, name: &str) -> Result<Vec<Found>, Invalid> {
    let in_layout = |layout: &Layout, pattern: &str, prefix: &str, at: &dyn Fn(usize) -> Coordinate| {
        let ranges = layout.select(pattern).map_err(|error| unknown(model, name, prefix, error))?;
        let number = |i: usize| {
            let block = layout.ranges().find(|(_, range)| range.contains(&i));
            let place = block.as_ref().map(|(block, range)| (block, (i - range.start) % block.numbers));
            Found {
                name: format!("{prefix}{}", layout.name_of(i)),
                coordinate: at(i),
                component: place
                    .filter(|(block, _)| block.quantity.space == Space::Rotation)
                    .map(|(_, number)| number),
                field: place.map_or(String::new(), |(block, _)| block.field.clone()),
                axis: place.filter(|(block, _)| block.numbers > 1).map(|(_, number)| number),
                quantity: layout.quantity_of(i).cloned().unwrap_or_else(|| Quantity::new("1", "")),
            }
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
