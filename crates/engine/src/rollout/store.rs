//! Where states and values are kept: as they are, or rounded to single precision.

use pullback_scene::Snapshots;

use crate::error::Error;
use crate::stepper::Parts;

/// Is there so much memory?
pub fn room(bytes: usize) -> Result<(), Error> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| Error::TooLarge { bytes })
}

/// Numbers, in rows one after the other.
pub enum Store {
    /// As they are.
    F64(Vec<f64>),
    /// Rounded to single precision.
    F32(Vec<f32>),
}

impl Store {
    /// Room for `rows` rows of `len` numbers, if there is so much.
    pub fn new(precision: Snapshots, rows: usize, len: usize) -> Result<Store, Error> {
        let numbers = rows.saturating_mul(len);
        room(numbers.saturating_mul(Self::bytes_per_number(precision)))?;
        Ok(match precision {
            Snapshots::F64 => Store::F64(vec![0.0; numbers]),
            Snapshots::F32 => Store::F32(vec![0.0; numbers]),
        })
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Store::F64(store) => size_of_val(&store[..]),
            Store::F32(store) => size_of_val(&store[..]),
        }
    }

    /// How many bytes a number takes.
    pub fn bytes_per_number(precision: Snapshots) -> usize {
        match precision {
            Snapshots::F64 => 8,
            Snapshots::F32 => 4,
        }
    }

    /// Keeps numbers, from place `at` on.
    pub fn put<S: Parts>(&mut self, at: usize, numbers: &[S]) {
        let len = numbers.len();
        match self {
            Store::F64(store) => {
                store[at..at + len].iter_mut().zip(numbers).for_each(|(to, from)| *to = from.value());
            }
            Store::F32(store) => {
                store[at..at + len].iter_mut().zip(numbers).for_each(|(to, from)| *to = from.value() as f32);
            }
        }
    }

    /// Gives them back.
    pub fn get<S: Parts>(&self, at: usize, numbers: &mut [S]) {
        let len = numbers.len();
        match self {
            Store::F64(store) => {
                let row = &store[at..at + len];
                numbers.iter_mut().zip(row).for_each(|(to, from)| *to = S::from_parts(*from, 0.0));
            }
            Store::F32(store) => {
                let row = &store[at..at + len];
                numbers.iter_mut().zip(row).for_each(|(to, from)| *to = S::from_parts(f64::from(*from), 0.0));
            }
        }
    }
}
