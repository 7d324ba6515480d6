//! The memory of contacts and of the equations for their impulses. Contacts are in the order of their islands.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{Lane, carve};

use super::islands::{Islands, Room};
use super::krylov::{Krylov, VECTORS};
use super::solver::{Problems, Work};

/// What the forward pass leaves of contacts.
pub(crate) struct Found<'a, L: Lane> {
    pub frames: &'a mut [Mat3<L>],
    /// From the origins of the trees of both sides.
    pub arms: [&'a mut [Vec3<L>]; 2],
    /// In the frames.
    pub impulses: &'a mut [Vec3<L>],
    /// Relative velocities without impulses, the normal ones from the least that they may be.
    pub free: &'a mut [Vec3<L>],
    /// Rows of both sides.
    pub y: [&'a mut [Vec3<L>]; 2],
}

impl<'a, L: Lane> Found<'a, L> {
    pub fn numbers(capacity: usize, way: usize) -> usize {
        capacity * (Mat3::<f64>::LEN + (4 + 2 * way) * Vec3::<f64>::LEN)
    }

    #[inline(always)]
    pub fn carve(capacity: usize, way: usize, mut memory: &'a mut [L]) -> Self {
        let memory = &mut memory;
        Found {
            frames: carve::<Mat3, L>(memory, capacity),
            arms: [carve::<Vec3, L>(memory, capacity), carve::<Vec3, L>(memory, capacity)],
            impulses: carve::<Vec3, L>(memory, capacity),
            free: carve::<Vec3, L>(memory, capacity),
            y: [carve::<Vec3, L>(memory, capacity * way), carve::<Vec3, L>(memory, capacity * way)],
        }
    }
}

/// The equations for impulses, and what solving them takes.
pub(crate) struct Equations<'a, L: Lane> {
    pub a: &'a mut [Mat3<L>],
    pub mu: &'a mut [L],
    pub rho: &'a mut [L],
    work: Work<'a, L>,
}

impl<'a, L: Lane> Equations<'a, L> {
    pub fn numbers(room: &Room) -> usize {
        let matrices = 2 * room.blocks + 2 * room.contacts;
        let vectors = 3 * room.contacts + VECTORS * iterated(room);
        matrices * Mat3::<f64>::LEN + 2 * room.contacts + vectors * Vec3::<f64>::LEN
    }

    #[inline(always)]
    pub fn carve(room: &Room, scratch: &mut &'a mut [L]) -> Self {
        let capacity = room.contacts;
        Equations {
            a: carve::<Mat3, L>(scratch, room.blocks),
            mu: carve::<f64, L>(scratch, capacity),
            rho: carve::<f64, L>(scratch, capacity),
            work: Work {
                matrix: carve::<Mat3, L>(scratch, room.blocks),
                by_p: carve::<Mat3, L>(scratch, capacity),
                by_w: carve::<Mat3, L>(scratch, capacity),
                step: carve::<Vec3, L>(scratch, capacity),
                best: carve::<Vec3, L>(scratch, capacity),
                kept: carve::<Vec3, L>(scratch, capacity),
                krylov: Krylov { vectors: [(); VECTORS].map(|()| carve::<Vec3, L>(scratch, iterated(room))) },
            },
        }
    }

    /// What is to be solved, and what to work with.
    #[inline(always)]
    pub fn problems(self, islands: &'a Islands<'a>, free: &'a [Vec3<L>]) -> (Problems<'a, L>, Work<'a, L>) {
        (Problems { islands, a: self.a, b: free, mu: self.mu, rho: self.rho }, self.work)
    }
}

/// How many contacts may be in islands whose equations are solved by iterations.
fn iterated(room: &Room) -> usize {
    if room.is_sparse() { room.contacts } else { 0 }
}
