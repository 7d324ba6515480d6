//! Contacts on other scalars than `f64`: single precision, and lanes of worlds, whose branches differ from lane to lane.

use crate::common::{Placed, Random, features, solids, state};
use pullback_geometry::{Contact, Feature, Kind, Pair};
use pullback_kernel::prelude::*;
use pullback_kernel::scalar::lanes::{Dispatch, Driver, Lane};

/// A contact and the cotangents of both shapes, as numbers.
fn run<R: Real, const SIMPLE: bool>(pair: &Pair, feature: Feature, x: &[R], sizes: [usize; 2]) -> Vec<R> {
    let vector = |x: &[R]| Vec3 { x: x[0], y: x[1], z: x[2] };
    let pose = |x: &[R]| Pose {
        rotation: Mat3 { x: vector(x), y: vector(&x[3..]), z: vector(&x[6..]) },
        position: vector(&x[9..]),
    };
    let (a, b) = x.split_at(12 + sizes[0]);
    let (pose_a, pose_b) = (pose(a), pose(b));
    let number = R::from_f64;
    let bar = Contact {
        point: Vec3 { x: number(0.3), y: number(-0.7), z: number(0.2) },
        normal: Vec3 { x: number(0.9), y: number(-0.4), z: number(0.6) },
        gap: number(1.1),
    };
    let zero = pose(&[number(0.0); 12]);
    let (mut a_bar, mut b_bar) = ((zero, vec![number(0.0); sizes[0]]), (zero, vec![number(0.0); sizes[1]]));
    let (at_a, at_b) = ((&pose_a, &a[12..]), (&pose_b, &b[12..]));
    let into = ((&mut a_bar.0, &mut a_bar.1[..]), (&mut b_bar.0, &mut b_bar.1[..]));
    let contact = if SIMPLE {
        let slot = feature.0 as usize;
        pair.simple_pullback(slot, at_a, at_b, &bar, into.0, into.1);
        pair.simple_contact(slot, at_a, at_b)
    } else {
        pair.pullback(feature, at_a, at_b, &bar, into.0, into.1);
        pair.contact(feature, at_a, at_b)
    };
    let mut out = vec![contact.gap];
    let mut push = |v: Vec3<R>| out.extend([v.x, v.y, v.z]);
    push(contact.point);
    push(contact.normal);
    for bar in [&a_bar, &b_bar] {
        push(bar.0.rotation.x);
        push(bar.0.rotation.y);
        push(bar.0.rotation.z);
        push(bar.0.position);
    }
    out.extend(a_bar.1.iter().chain(&b_bar.1));
    out
}

fn flat(state: &[Placed; 2]) -> Vec<f64> {
    let mut x = Vec::new();
    for Placed { pose, sizes } in state {
        for v in [pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.position] {
            x.extend([v.x, v.y, v.z]);
        }
        x.extend(sizes);
    }
    x
}

/// A different state in each lane.
struct Worlds<'a> {
    pair: &'a Pair,
    feature: Feature,
    states: &'a [Vec<f64>],
    sizes: [usize; 2],
}

impl Driver<f64> for Worlds<'_> {
    type Output = Vec<Vec<f64>>;
    type Home = Self;
    #[inline(always)]
    fn run<L: Lane<Element = f64>>(self) -> Vec<Vec<f64>> {
        let load = |i: usize| {
            let numbers: [f64; 16] = std::array::from_fn(|lane| self.states[lane][i]);
            // SAFETY: a lane type has at most 16 lanes.
            unsafe { L::load(numbers.as_ptr()) }
        };
        let x: Vec<L> = (0..self.states[0].len()).map(load).collect();
        let out = run::<L, true>(self.pair, self.feature, &x, self.sizes);
        (0..L::WIDTH).map(|lane| out.iter().map(|x| x.lane(lane)).collect()).collect()
    }
}

/// All pairs that are simple, 16 worlds at a time: each lane has the bits that it has alone, and by all rules.
#[test]
fn lanes_have_the_same_bits() {
    let mut kinds = solids();
    kinds.push(Kind::Plane);
    for a in &kinds {
        for b in &kinds {
            let Some(pair) = Pair::new(a, b).filter(Pair::is_simple) else { continue };
            let mut random = Random::seeded(55);
            for _ in 0..20 {
                let states: Vec<Vec<f64>> = (0..16).map(|_| flat(&state([a, b], &mut random))).collect();
                let sizes = [a.sizes(), b.sizes()];
                for slot in 0..pair.slots() as u32 {
                    let feature = Feature(slot, 0);
                    for isa in Isa::available() {
                        for width in [Width::Narrow, Width::Wide] {
                            let worlds = Worlds { pair: &pair, feature, states: &states, sizes };
                            for (lane, found) in f64::dispatch(worlds, isa, width).iter().enumerate() {
                                let alone = run::<f64, false>(&pair, feature, &states[lane], sizes);
                                assert_eq!(found, &alone, "{}-{} lane {lane}", a.name(), b.name());
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn single_precision_is_near() {
    let mut kinds = solids();
    kinds.push(Kind::Plane);
    for a in &kinds {
        for b in &kinds {
            let Some(pair) = Pair::new(a, b) else { continue };
            let mut random = Random::seeded(66);
            let (mut near, mut all) = (0, 0);
            for _ in 0..100 {
                let at = state([a, b], &mut random);
                for feature in features(&pair, &at, 0.2) {
                    let x = flat(&at);
                    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
                    let sizes = [a.sizes(), b.sizes()];
                    let (double, single) = (
                        run::<f64, false>(&pair, feature, &x, sizes),
                        run::<f32, false>(&pair, feature, &single, sizes),
                    );
                    let scale = double.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
                    let close = |(x, y): (&f64, &f32)| (x - f64::from(*y)).abs() < 1e-3 * scale;
                    assert!(single.iter().all(|x| x.is_finite()));
                    near += usize::from(double.iter().zip(&single).all(close));
                    all += 1;
                }
            }
            // The rest are on the other side of a branch, or ill-conditioned.
            assert!(all > 20 && near * 100 > all * 97, "{}-{}: {near} of {all}", a.name(), b.name());
        }
    }
}
