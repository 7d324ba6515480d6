//! Sites: named frames on bodies.

use super::compiler::{Compiler, set};
use super::{geom, turn};
use crate::error::Error;
use crate::robot::orientation::IDENTITY;
use crate::robot::xml::Element;
use crate::robot::{Frame, Placement};

/// What a class or an element says of where a site is.
#[derive(Clone, Copy, Debug)]
pub(super) struct SiteSpec {
    placement: Placement,
    from_to: Option<[f64; 6]>,
}

impl Default for SiteSpec {
    fn default() -> Self {
        Self { placement: Placement { position: [0.0; 3], orientation: IDENTITY }, from_to: None }
    }
}

impl SiteSpec {
    /// Takes over what an element says.
    pub fn read(&mut self, element: Element<'_>, compiler: &Compiler) -> Result<(), Error> {
        set(&mut self.placement.position, element.numbers("pos")?);
        set(&mut self.placement.orientation, turn::read(element, compiler)?);
        self.from_to = element.numbers("fromto")?.or(self.from_to);
        Ok(())
    }

    /// The frame of a site that has a name: nothing can be said of others.
    pub fn build(
        &self,
        element: Element<'_>,
        body: Option<usize>,
        frame: &Placement,
    ) -> Result<Option<Frame>, Error> {
        let own = match self.from_to {
            Some(ends) => geom::between(ends, element)?.0,
            None => self.placement,
        };
        let name = element.text("name").filter(|name| !name.is_empty());
        Ok(name.map(|name| Frame { name: name.to_owned(), body, placement: frame.compose(&own) }))
    }
}
