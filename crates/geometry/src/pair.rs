//! [`Pair`]: what two kinds of shapes do when they meet.

use std::sync::Arc;

use pullback_kernel::prelude::*;

use crate::contact::{Contact, turned};
use crate::core::{self, Core, CoreBar};
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
    rule: Rule,
    /// In the order of the rule.
    kinds: [Kind; 2],
    topologies: [Arc<Topology>; 2],
    /// Is the rule's first shape the second of the pair?
    swapped: bool,
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
        let (a, b) = if self.swapped { (b, a) } else { (a, b) };
        match self.rule {
            Rule::Convex => detect::convex(self.core(0, a), self.core(1, b), margin, self.slots(), features),
            Rule::Ground => detect::ground(self.core(0, a), self.core(1, b), margin, self.slots(), features),
            Rule::PlaneHull => detect::lowest(self.core(1, b), a.0, margin, self.slots(), features),
            _ => {
                let mut len = 0;
                for slot in 0..self.slots() as u32 {
                    let feature = Feature(slot, 0);
                    if len < features.len() && self.in_order(feature, a, b).gap < margin {
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
        // One call, so that it is compiled once.
        let (first, second) = if self.swapped { (b, a) } else { (a, b) };
        let contact = self.in_order(feature, first, second);
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
        let (first, second) = if self.swapped { (b, a) } else { (a, b) };
        let (first_bar, second_bar) = if self.swapped { (b_bar, a_bar) } else { (a_bar, b_bar) };
        let bar = if self.swapped { turned(*bar) } else { *bar };
        self.in_order_pullback(feature, first, second, bar, first_bar, second_bar);
    }

    #[inline(always)]
    fn core<'a, R>(&'a self, which: usize, at: Placed<'a, R>) -> Core<'a, R> {
        Core { kind: &self.kinds[which], topology: &self.topologies[which], pose: at.0, sizes: at.1 }
    }

    #[inline(always)]
    fn in_order<R: Real>(&self, feature: Feature, a: Placed<'_, R>, b: Placed<'_, R>) -> Contact<R> {
        match self.rule {
            Rule::Convex | Rule::Ground => core::contact(feature, self.core(0, a), self.core(1, b)),
            _ => rule::contact(self.rule, feature.0 as usize, a, self.core(1, b)),
        }
    }

    #[inline(always)]
    fn in_order_pullback<R: Real>(
        &self,
        feature: Feature,
        a: Placed<'_, R>,
        b: Placed<'_, R>,
        bar: Contact<R>,
        a_bar: PlacedBar<'_, R>,
        b_bar: PlacedBar<'_, R>,
    ) {
        let b_bar = CoreBar { pose: b_bar.0, sizes: b_bar.1 };
        match self.rule {
            Rule::Convex | Rule::Ground => {
                let a_bar = CoreBar { pose: a_bar.0, sizes: a_bar.1 };
                core::pullback(feature, self.core(0, a), self.core(1, b), bar, a_bar, b_bar);
            }
            _ => rule::pullback(self.rule, feature.0 as usize, a, self.core(1, b), bar, a_bar, b_bar),
        }
    }
}
