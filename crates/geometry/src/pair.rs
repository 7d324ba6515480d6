//! [`Pair`]: what two kinds of shapes do when they meet.

use std::sync::Arc;

use pullback_kernel::prelude::*;

use crate::contact::{Contact, turned};
use crate::core::{self, Core, CoreBar};
use crate::corners::Corners;
use crate::detect;
use crate::feature::Feature;
use crate::kind::Kind;
use crate::rule::{self, Rule};
use crate::topology::Topology;

/// Two kinds of shapes that can touch: which features do, and where.
///
/// Detection decides which features touch; point, normal and gap are then continuous functions of poses and sizes, with
/// their pullback.
#[derive(Clone, Debug)]
pub struct Pair {
    pub(crate) rule: Rule,
    /// In the order of the rule.
    kinds: [Kind; 2],
    topologies: [Arc<Topology>; 2],
    /// Is the rule's first shape the second of the pair?
    pub(crate) swapped: bool,
}

/// A pose with sizes.
pub type Placed<'a, R> = (&'a Pose<R>, &'a [R]);
/// The cotangents of a pose and sizes.
pub type PlacedBar<'a, R> = (&'a mut Pose<R>, &'a mut [R]);

impl Pair {
    /// The pair of two kinds, in this order; `None` if it is not known what they do when they meet.
    pub fn new(a: &Kind, b: &Kind) -> Option<Pair> {
        let (rule, swapped) = match (Rule::of(a, b), Rule::of(b, a)) {
            (Some(rule), _) => (rule, false),
            (None, Some(rule)) => (rule, true),
            (None, None) => return None,
        };
        let kinds = if swapped { [b.clone(), a.clone()] } else { [a.clone(), b.clone()] };
        let topologies = [kinds[0].topology(), kinds[1].topology()];
        Some(Pair { rule, kinds, topologies, swapped })
    }

    pub(crate) fn topologies(&self) -> [&Topology; 2] {
        [&self.topologies[0], &self.topologies[1]]
    }

    /// The most contacts it can have.
    pub fn slots(&self) -> usize {
        self.rule.slots(&self.kinds[0], &self.kinds[1])
    }

    /// Do its features not depend on values? Then slot k is always `Feature(k, 0)`, and nothing has to be detected.
    pub fn fixed(&self) -> bool {
        self.rule.fixed()
    }

    /// Is it a plane with points, or two spheres? Then [`Pair::simple_contact`] gives the same contacts.
    pub fn is_simple(&self) -> bool {
        matches!(self.rule, Rule::PlaneCorners | Rule::SphereSphere)
    }

    /// The rule of a simple pair, as a constant of the code around it.
    #[inline(always)]
    fn simple<R: Real>(&self, slot: usize, a: Placed<'_, R>, b: Placed<'_, R>) -> Contact<R> {
        match self.rule {
            Rule::SphereSphere => rule::contact(Rule::SphereSphere, slot, a, self.core(1, b)),
            _ => rule::contact(Rule::PlaneCorners, slot, a, self.core(1, b)),
        }
    }

    /// Writes the features that are closer than a margin [m], in an order of their own, at most [`Pair::slots`] of them.
    /// Returns how many. It does not allocate.
    pub fn detect(
        &self,
        a: Placed<'_, f64>,
        b: Placed<'_, f64>,
        margin: f64,
        features: &mut [Feature],
    ) -> usize {
        let sizes = if self.swapped { a.1 } else { b.1 };
        self.detect_moved(a, b, margin, self.kinds[1].moved(sizes), features)
    }

    /// [`Pair::detect`], where it is known how far the corners of triangles have [moved](Kind::moved), in whichever shape has
    /// them: then it does not look at each of them.
    pub fn detect_moved(
        &self,
        a: Placed<'_, f64>,
        b: Placed<'_, f64>,
        margin: f64,
        moved: [f64; 3],
        features: &mut [Feature],
    ) -> usize {
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        match self.rule {
            Rule::Convex => detect::convex(self.core(0, a), self.core(1, b), margin, self.slots(), features),
            Rule::Ground => {
                let (a, b) = (self.core(0, a), self.core(1, b));
                detect::ground(a, (b, moved), margin, self.slots(), features)
            }
            Rule::PlaneHull => detect::lowest(self.core(1, b), a.0, margin, self.slots(), features),
            _ => {
                let mut len = 0;
                for slot in 0..self.slots() as u32 {
                    let feature = Feature(slot, 0);
                    if len < features.len() && self.in_order(feature, a, b, [&Corners::ALL; 2]).gap < margin {
                        features[len] = feature;
                        len += 1;
                    }
                }
                len
            }
        }
    }

    /// Where a feature touches.
    #[inline(always)]
    pub fn contact<R: Real>(&self, feature: Feature, a: Placed<'_, R>, b: Placed<'_, R>) -> Contact<R> {
        self.contact_of(feature, a, b, &[Corners::ALL; 2])
    }

    /// [`Pair::contact`], with the sizes of these corners of each shape: of the feature's own ([`Pair::corners`]), or all.
    #[inline(always)]
    pub fn contact_of<R: Real>(
        &self,
        feature: Feature,
        a: Placed<'_, R>,
        b: Placed<'_, R>,
        [of_a, of_b]: &[Corners; 2],
    ) -> Contact<R> {
        // One call, so that it is compiled once.
        let (first, second) = if self.swapped { (b, a) } else { (a, b) };
        let corners = if self.swapped { [of_b, of_a] } else { [of_a, of_b] };
        let contact = self.in_order(feature, first, second, corners);
        if self.swapped { turned(contact) } else { contact }
    }

    /// [`Pair::contact`] of a pair that [is simple](Pair::is_simple), in a slot: a small part of its code, for loops over lanes.
    #[inline(always)]
    pub fn simple_contact<R: Real>(&self, slot: usize, a: Placed<'_, R>, b: Placed<'_, R>) -> Contact<R> {
        let (first, second) = if self.swapped { (b, a) } else { (a, b) };
        let contact = self.simple(slot, first, second);
        if self.swapped { turned(contact) } else { contact }
    }

    /// The pullback of [`Pair::simple_contact`].
    #[inline(always)]
    pub fn simple_pullback<R: Real>(
        &self,
        slot: usize,
        a: Placed<'_, R>,
        b: Placed<'_, R>,
        bar: &Contact<R>,
        a_bar: PlacedBar<'_, R>,
        b_bar: PlacedBar<'_, R>,
    ) {
        let (first, second) = if self.swapped { (b, a) } else { (a, b) };
        let (first_bar, second_bar) = if self.swapped { (b_bar, a_bar) } else { (a_bar, b_bar) };
        let bar = if self.swapped { turned(*bar) } else { *bar };
        let (second, second_bar) =
            (self.core(1, second), CoreBar { pose: second_bar.0, sizes: second_bar.1 });
        match self.rule {
            Rule::SphereSphere => {
                rule::pullback(Rule::SphereSphere, slot, first, second, bar, first_bar, second_bar);
            }
            _ => rule::pullback(Rule::PlaneCorners, slot, first, second, bar, first_bar, second_bar),
        }
    }

    /// From the cotangent of a contact to those of poses and sizes, which are added to.
    #[inline(always)]
    pub fn pullback<R: Real>(
        &self,
        feature: Feature,
        a: Placed<'_, R>,
        b: Placed<'_, R>,
        bar: &Contact<R>,
        a_bar: PlacedBar<'_, R>,
        b_bar: PlacedBar<'_, R>,
    ) {
        self.pullback_of(feature, [a, b], &[Corners::ALL; 2], bar, a_bar, b_bar);
    }

    /// The pullback of [`Pair::contact_of`]: cotangents of sizes are those of the same corners.
    #[inline(always)]
    pub fn pullback_of<R: Real>(
        &self,
        feature: Feature,
        [a, b]: [Placed<'_, R>; 2],
        [of_a, of_b]: &[Corners; 2],
        bar: &Contact<R>,
        a_bar: PlacedBar<'_, R>,
        b_bar: PlacedBar<'_, R>,
    ) {
        let (first, second) = if self.swapped { ((b, of_b), (a, of_a)) } else { ((a, of_a), (b, of_b)) };
        let (first_bar, second_bar) = if self.swapped { (b_bar, a_bar) } else { (a_bar, b_bar) };
        let bar = if self.swapped { turned(*bar) } else { *bar };
        self.in_order_pullback(feature, first, second, bar, first_bar, second_bar);
    }

    #[inline(always)]
    fn core<'a, R>(&'a self, which: usize, at: Placed<'a, R>) -> Core<'a, R> {
        self.core_of(which, at, &Corners::ALL)
    }

    /// With the sizes of these corners.
    #[inline(always)]
    fn core_of<'a, R>(&'a self, which: usize, at: Placed<'a, R>, corners: &'a Corners) -> Core<'a, R> {
        let (kind, topology) = (&self.kinds[which], &self.topologies[which]);
        Core { kind, topology, pose: at.0, sizes: at.1, corners }
    }

    #[inline(always)]
    fn in_order<R: Real>(
        &self,
        feature: Feature,
        a: Placed<'_, R>,
        b: Placed<'_, R>,
        [of_a, of_b]: [&Corners; 2],
    ) -> Contact<R> {
        let second = self.core_of(1, b, of_b);
        match self.rule {
            Rule::Convex | Rule::Ground => core::contact(feature, self.core_of(0, a, of_a), second),
            _ => rule::contact(self.rule, feature.0 as usize, a, second),
        }
    }

    #[inline(always)]
    fn in_order_pullback<R: Real>(
        &self,
        feature: Feature,
        (a, of_a): (Placed<'_, R>, &Corners),
        (b, of_b): (Placed<'_, R>, &Corners),
        bar: Contact<R>,
        a_bar: PlacedBar<'_, R>,
        b_bar: PlacedBar<'_, R>,
    ) {
        let (b, b_bar) = (self.core_of(1, b, of_b), CoreBar { pose: b_bar.0, sizes: b_bar.1 });
        match self.rule {
            Rule::Convex | Rule::Ground => {
                let a_bar = CoreBar { pose: a_bar.0, sizes: a_bar.1 };
                core::pullback(feature, self.core_of(0, a, of_a), b, bar, a_bar, b_bar);
            }
            _ => rule::pullback(self.rule, feature.0 as usize, a, b, bar, a_bar, b_bar),
        }
    }
}
