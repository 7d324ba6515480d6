//! State, control and params: one flat vector each, with named parts.

use std::marker::PhantomData;
use std::sync::Arc;

use pullback_scene::words::glob;

use super::find::NameError;
use super::{Layout, Part};

/// A flat vector whose parts have names. `K` says what it is of.
#[derive(Debug)]
pub struct Named<K> {
    layout: Arc<Layout>,
    values: Vec<f64>,
    kind: PhantomData<fn() -> K>,
}

/// Why four zeros are no rotation.
pub(crate) const NO_ROTATION: &str =
    "the four numbers of a rotation (w, x, y, z) cannot all be 0: no turn is 1, 0, 0, 0";

impl<K> Clone for Named<K> {
    fn clone(&self) -> Self {
        Named { layout: self.layout.clone(), values: self.values.clone(), kind: PhantomData }
    }
}

impl<K> PartialEq for Named<K> {
    fn eq(&self, other: &Self) -> bool {
        self.layout == other.layout && self.values == other.values
    }
}

/// Names of states.
#[derive(Debug)]
pub enum OfState {}
/// Names of controls.
#[derive(Debug)]
pub enum OfControl {}
/// Names of params.
#[derive(Debug)]
pub enum OfParams {}

/// Configuration and velocity of everything: `ball.position` [m], `ball.velocity` [m/s].
pub type State = Named<OfState>;
/// What is applied from outside in one step: `thruster.force` [N].
pub type Control = Named<OfControl>;
/// Every physical number that can be differentiated: `ball.mass` [kg], `gravity` [m/s²].
pub type Params = Named<OfParams>;

impl<K> Named<K> {
    /// The values that the layout starts from.
    pub fn new(layout: &Arc<Layout>) -> Self {
        Named { layout: layout.clone(), values: layout.values(), kind: PhantomData }
    }

    /// All zero: where gradients start.
    pub fn zeros(layout: &Arc<Layout>) -> Self {
        Named { layout: layout.clone(), values: vec![0.0; layout.len()], kind: PhantomData }
    }

    /// From the numbers, in the layout's order.
    pub fn from_values(layout: &Arc<Layout>, values: Vec<f64>) -> Result<Self, NameError> {
        if values.len() != layout.len() {
            let (name, wanted, found) = ("the whole vector".to_owned(), layout.len(), values.len());
            return Err(NameError::Length { name, wanted, found });
        }
        Ok(Named { layout: layout.clone(), values, kind: PhantomData })
    }

    /// Where the names lie.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// All numbers.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All numbers, to change.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The numbers with this name.
    pub fn get(&self, name: &str) -> Result<&[f64], NameError> {
        Ok(&self.values[self.layout.find(name)?])
    }

    /// The one number with this name.
    pub fn number(&self, name: &str) -> Result<f64, NameError> {
        match self.get(name)? {
            [number] => Ok(*number),
            many => Err(NameError::Length { name: name.to_owned(), wanted: many.len(), found: 1 }),
        }
    }

    /// Sets the numbers with this name, if they make sense.
    pub fn set(&mut self, name: &str, values: &[f64]) -> Result<(), NameError> {
        let range = self.layout.find(name)?;
        if range.len() != values.len() {
            let (wanted, found) = (range.len(), values.len());
            return Err(NameError::Length { name: name.to_owned(), wanted, found });
        }
        for (i, &value) in range.clone().zip(values) {
            self.check_number(i, value)?;
        }
        self.values[range].copy_from_slice(values);
        Ok(())
    }

    /// The values whose names match a glob (`"*.stiffness"`), with their names.
    pub fn select(&self, pattern: &str) -> Result<Vec<(String, &[f64])>, NameError> {
        let found: Vec<_> = self.iter().filter(|(name, _)| glob(pattern, name)).collect();
        if found.is_empty() {
            // The exact name of a group or a component, or an error that says what is near.
            let range = self.layout.find(pattern)?;
            return Ok(vec![(pattern.to_owned(), &self.values[range])]);
        }
        Ok(found)
    }

    /// All values, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (String, &[f64])> {
        self.layout.parts().map(|part| (part.name(), &self.values[part.range()]))
    }

    /// All values, with what is known of them.
    pub fn parts(&self) -> impl Iterator<Item = (Part<'_>, &[f64])> {
        self.layout.parts().map(|part| (part, &self.values[part.range()]))
    }

    /// Is every number finite, and in its range?
    pub fn check(&self) -> Result<(), NameError> {
        for (block, range) in self.layout.ranges() {
            for i in range {
                if let Some(why) = block.quantity.refuses(self.values[i]) {
                    return Err(NameError::Range {
                        name: self.layout.name_of(i),
                        value: self.values[i],
                        why,
                    });
                }
            }
        }
        match self.layout.zero_rotation(&self.values) {
            None => Ok(()),
            Some(i) => {
                let name = self.layout.name_of(i);
                Err(NameError::Range { name, value: 0.0, why: NO_ROTATION.to_owned() })
            }
        }
    }

    fn check_number(&self, i: usize, value: f64) -> Result<(), NameError> {
        match self.layout.part_of(i).and_then(|part| part.block.quantity.refuses(value)) {
            Some(why) => Err(NameError::Range { name: self.layout.name_of(i), value, why }),
            None => Ok(()),
        }
    }

    /// Moves along a tangent, of [`Layout::tangent_len`] numbers: on the manifold where values lie on one.
    pub fn retract(&mut self, tangent: &[f64]) -> Result<(), NameError> {
        self.check_tangent(tangent.len())?;
        let (layout, mut at) = (self.layout.clone(), 0);
        for part in layout.parts() {
            let space = part.quantity().space;
            let n = space.tangent_numbers(part.range().len());
            space.retract(&mut self.values[part.range()], &tangent[at..at + n]);
            at += n;
        }
        Ok(())
    }

    /// The tangent that leads from here to `other`.
    pub fn difference(&self, other: &Self) -> Result<Vec<f64>, NameError> {
        if other.values.len() != self.values.len() {
            let (name, wanted) = ("the other vector".to_owned(), self.values.len());
            return Err(NameError::Length { name, wanted, found: other.values.len() });
        }
        let (mut tangent, mut at) = (vec![0.0; self.layout.tangent_len()], 0);
        for part in self.layout.parts() {
            let (space, range) = (part.quantity().space, part.range());
            let n = space.tangent_numbers(range.len());
            let (from, to) = (&self.values[range.clone()], &other.values[range]);
            space.difference(from, to, &mut tangent[at..at + n]);
            at += n;
        }
        Ok(tangent)
    }

    /// A cotangent of the stored numbers here, as one of tangents.
    pub fn to_tangent(&self, bars: &[f64]) -> Result<Vec<f64>, NameError> {
        if bars.len() != self.values.len() {
            let (name, wanted) = ("the cotangent".to_owned(), self.values.len());
            return Err(NameError::Length { name, wanted, found: bars.len() });
        }
        let (mut tangent, mut at) = (vec![0.0; self.layout.tangent_len()], 0);
        for part in self.layout.parts() {
            let (space, range) = (part.quantity().space, part.range());
            let n = space.tangent_numbers(range.len());
            space.to_tangent(&self.values[range.clone()], &bars[range], &mut tangent[at..at + n]);
            at += n;
        }
        Ok(tangent)
    }

    fn check_tangent(&self, found: usize) -> Result<(), NameError> {
        let wanted = self.layout.tangent_len();
        match found == wanted {
            true => Ok(()),
            false => Err(NameError::Length { name: "the tangent".to_owned(), wanted, found }),
        }
    }
}
