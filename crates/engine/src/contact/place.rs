//! Where a number of a shape comes from: a param, or a constant.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, World};

use crate::error::Error;
use crate::force::Inputs;
use crate::names::Layout;

/// A number among the params, by the key of its block; or a constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    Scalar(String, usize),
    /// A component of a vector.
    Component(String, usize, usize),
    Constant(f64),
}

/// The same in a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    Scalar(Buffer<f64>, usize),
    Component(Buffer<Vec3>, usize, usize),
    Constant(f64),
}

impl Place {
    pub fn find(&self, inputs: &Inputs) -> Result<At, Error> {
        Ok(match self {
            Place::Scalar(key, i) => At::Scalar(inputs.param(key)?, *i),
            Place::Component(key, i, c) => At::Component(inputs.param(key)?, *i, *c),
            Place::Constant(x) => At::Constant(*x),
        })
    }
}

impl Place {
    /// Which of the params it is.
    pub fn number(&self, params: &Layout) -> Option<usize> {
        let start =
            |key: &str| params.ranges().find(|(block, _)| block.key == key).map(|(_, range)| range.start);
        match self {
            Place::Scalar(key, i) => Some(start(key)? + i),
            Place::Component(key, i, c) => Some(start(key)? + 3 * i + c),
            Place::Constant(_) => None,
        }
    }
}

impl At {
    pub fn reads(&self) -> Option<BufferUse> {
        match *self {
            At::Scalar(buffer, _) => Some(buffer.into()),
            At::Component(buffer, ..) => Some(buffer.into()),
            At::Constant(_) => None,
        }
    }

    #[inline(always)]
    pub fn get<L: Lane>(&self, world: &World<'_, L>) -> L {
        match *self {
            At::Scalar(buffer, i) => world.values(buffer).get(i),
            At::Component(buffer, i, c) => {
                let v = world.values(buffer).get(i);
                [v.x, v.y, v.z][c]
            }
            At::Constant(x) => L::from_f64(x),
        }
    }

    #[inline(always)]
    pub fn add<L: Lane>(&self, world: &World<'_, L>, bar: L) {
        let zero = L::from_f64(0.0);
        match *self {
            At::Scalar(buffer, i) => world.bars(buffer).add(i, bar),
            At::Component(buffer, i, c) => {
                let mut v = [zero; 3];
                v[c] = bar;
                world.bars(buffer).add(i, vec3(v[0], v[1], v[2]));
            }
            At::Constant(_) => {}
        }
    }
}
