//! Numbers that change together: one variable for each axis, which moves all of them by the same amount.
//!
//! With x_i = x + (s_i - s), where s_i are their starts and s that of the first, dL/dx = Σ dL/dx_i.

use pullback_scene::{Invalid, Variable};

use super::find::Found;
use super::{Described, Number, Other, Place, Point, Variables, range};

impl Variables {
    /// Adds a variable for each axis of what was found.
    pub(super) fn add_together(
        &mut self,
        variable: &Variable,
        found: &[Found],
        start: &[f64],
        nominal: &Point,
        size: f64,
        path: &str,
    ) -> Result<(), Invalid> {
        alike(variable, found, path)?;
        let mut axes: Vec<Option<usize>> = Vec::new();
        for it in found {
            if !axes.contains(&it.axis) {
                axes.push(it.axis);
            }
        }
        for axis in axes {
            let mut of_axis = found.iter().zip(start).filter(|(it, _)| it.axis == axis);
            let Some((first, &first_start)) = of_axis.next() else { continue };
            let mut others = Vec::new();
            // Each stays within its own range.
            let (mut lower, mut upper) = range(variable, &first.quantity, size);
            for (it, &start) in of_axis {
                let apart = start - first_start;
                let own = range(variable, &it.quantity, size);
                (lower, upper) = (lower.max(own.0 - apart), upper.min(own.1 - apart));
                others.push(Other { coordinate: it.coordinate, apart });
            }
            let of = Described {
                name: if others.is_empty() { first.name.clone() } else { name(variable, first) },
                unit: first.quantity.unit.clone(),
                range: (lower, upper),
                place: Place::Number(first.coordinate),
                start: first_start,
                nominal: nominal.get(first.coordinate),
            };
            let number = of.number(variable, size, path)?;
            self.numbers.push(Number { others, ..number });
        }
        Ok(())
    }
}

/// What they are called: the name or glob of the problem, with the axis.
fn name(variable: &Variable, first: &Found) -> String {
    let axis = first.axis.and_then(|_| first.name.rsplit_once('.')).map(|(_, axis)| format!(".{axis}"));
    match axis {
        Some(axis) if !variable.name.ends_with(&axis) => format!("{}{axis}", variable.name),
        Some(_) | None => variable.name.clone(),
    }
}

/// Whether it makes sense to change them by the same amount: they are of one kind, and no rotations.
fn alike(variable: &Variable, found: &[Found], path: &str) -> Result<(), Invalid> {
    let at = format!("{path}.together");
    if let Some(turned) = found.iter().find(|it| it.component.is_some()) {
        let whole = turned.name.rsplit_once('.').map_or("", |(whole, _)| whole);
        let what = format!("rotations do not change together, and `{whole}` is one");
        return Err(Invalid::new(at, what, "leave `together` out"));
    }
    let kind = |it: &Found| (it.field.clone(), it.quantity.unit.clone());
    let Some(first) = found.first() else { return Ok(()) };
    if let Some(other) = found.iter().find(|it| kind(it) != kind(first)) {
        let what = format!(
            "`{}` names things of several kinds, such as `{}` and `{}`, which do not change together",
            variable.name, first.name, other.name
        );
        return Err(Invalid::new(at, what, "give each kind a section of its own"));
    }
    Ok(())
}
