//! Arrays for NumPy: `numpy.load("x.npz")`. A zip file, stored without compression, of one `.npy` per array.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use npyz::{NpyFile, WriteOptions, WriterBuilder};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// One array to write: its name, its shape (row-major; `&[]` is a scalar) and its values.
pub type Array<'a> = (&'a str, &'a [usize], &'a [f64]);

/// One array as it was read: its name, its shape and its values.
pub type OwnedArray = (String, Vec<usize>, Vec<f64>);

/// Why an `.npz` file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// The number of values is not the product of the shape.
    #[error("array \"{name}\" has {values} values, but its shape {shape:?} asks for another number")]
    Shape {
        /// Name of the array.
        name: String,
        /// The shape it was given.
        shape: Vec<usize>,
        /// How many values there were.
        values: u64,
    },
    /// Two arrays have the same name, or a name is empty or a path.
    #[error("\"{0}\" cannot name an array: names are unique, not empty, and have no \"/\" or \"\\\"")]
    Name(String),
    /// The file could not be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Writing or reading failed.
    #[error("arrays could not be written or read: {0}")]
    Io(#[from] io::Error),
    /// The file is no `.npz`, or an array in it is not of `f64`.
    #[error("this is not an .npz file of f64 arrays: {0}")]
    Format(String),
}

impl From<ZipError> for NpzError {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => NpzError::Io(error),
            other => NpzError::Format(other.to_string()),
        }
    }
}

/// Writes arrays one after another; each value goes straight to `out`, so memory stays small.
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
    names: Vec<String>,
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An empty archive. Call [`finish`](Self::finish) when all arrays are in it.
    pub fn new(out: W) -> Self {
        NpzWriter { zip: ZipWriter::new(out), names: Vec::new() }
    }

    /// Adds an array. The values come in row-major order and are as many as the shape says.
    pub fn array(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) -> Result<(), NpzError> {
        if name.is_empty() || name.contains(['/', '\\', '\0']) || self.names.iter().any(|n| n == name) {
            return Err(NpzError::Name(name.into()));
        }
        self.names.push(name.into());
        let wrong = |values: u64| NpzError::Shape { name: name.into(), shape: shape.into(), values };
        let wide: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
        let count = wide.iter().try_fold(1_u64, |a, &b| a.checked_mul(b)).ok_or_else(|| wrong(0))?;

        // Sizes of 4 GiB and more need zip64, which has to be asked for before the first byte.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(count >= (u32::MAX as u64 - 4096) / 8);
        self.zip.start_file(format!("{name}.npy"), options)?;
        let mut npy = WriteOptions::new()
            .default_dtype()
            .shape(&wide)
            .writer(BufWriter::new(&mut self.zip))
            .begin_nd()?;
        let mut written = 0;
        for value in values {
            written += 1;
            if written > count {
                return Err(wrong(written));
            }
            npy.push(&value)?;
        }
        if written != count {
            return Err(wrong(written));
        }
        npy.finish()?;
        Ok(())
    }

    /// Writes the table of contents and gives back what was written to.
    pub fn finish(self) -> Result<W, NpzError> {
        let mut out = self.zip.finish()?;
        out.flush()?;
        Ok(out)
    }
}

/// Writes an `.npz` file that `numpy.load` reads.
///
/// In a run folder, write through [`NpzWriter`] and [`RunFolder::write`](crate::RunFolder::write) instead: then the
/// file appears whole or not at all.
pub fn write_npz(path: impl AsRef<Path>, arrays: &[Array]) -> Result<(), NpzError> {
    let path = path.as_ref();
    let file = File::create(path).map_err(|source| NpzError::Open { path: path.into(), source })?;
    let mut npz = NpzWriter::new(BufWriter::new(file));
    for (name, shape, values) in arrays {
        npz.array(name, shape, values.iter().copied())?;
    }
    npz.finish()?;
    Ok(())
}

/// Reads every array of an `.npz` file of `f64`: name, shape, values in row-major order, in the file's order.
///
/// For files written here, or by `numpy.savez` (not `savez_compressed`).
pub fn read_npz(path: impl AsRef<Path>) -> Result<Vec<OwnedArray>, NpzError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| NpzError::Open { path: path.into(), source })?;
    let mut zip = ZipArchive::new(BufReader::new(file))?;
    let mut arrays = Vec::new();
    for i in 0..zip.len() {
        let entry = zip.by_index(i)?;
        let name = entry.name().trim_end_matches(".npy").to_owned();
        let npy = NpyFile::new(entry)?;
        if npy.order() != npyz::Order::C {
            return Err(NpzError::Format(format!("array \"{name}\" is not in row-major order")));
        }
        let shape = npy.shape().iter().map(|&n| n as usize).collect();
        let data = npy.data::<f64>().map_err(|e| NpzError::Format(format!("array \"{name}\": {e}")))?;
        arrays.push((name, shape, data.collect::<io::Result<Vec<f64>>>()?));
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn bytes(arrays: &[Array]) -> Result<Vec<u8>, NpzError> {
        let mut npz = NpzWriter::new(Cursor::new(Vec::new()));
        for (name, shape, values) in arrays {
            npz.array(name, shape, values.iter().copied())?;
        }
        Ok(npz.finish()?.into_inner())
    }

    /// The format is numpy's, NEP 1: magic, version, length of the header, a Python literal padded to 64 bytes.
    #[test]
    fn an_array_is_stored_as_nep_1_says() {
        let file = bytes(&[("x", &[2, 1], &[1.0, -2.0])]).expect("memory");
        assert_eq!(&file[..4], b"PK\x03\x04");
        let start = file.windows(6).position(|w| w == b"\x93NUMPY").expect("the magic of .npy");
        let npy = &file[start..];
        assert_eq!(&npy[6..8], &[1, 0], "version 1.0");
        let length = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
        assert_eq!((10 + length) % 16, 0, "data is aligned");
        let header = std::str::from_utf8(&npy[10..10 + length]).expect("ASCII");
        assert!(header.ends_with('\n'));
        let packed: String = header.split_whitespace().collect();
        assert!(packed.contains("'descr':'<f8'") && packed.contains("'fortran_order':False"), "{packed}");
        assert!(packed.contains("'shape':(2,1"), "{packed}");
        let data = &npy[10 + length..10 + length + 16];
        assert_eq!(data, [1.0_f64.to_le_bytes(), (-2.0_f64).to_le_bytes()].concat());
    }

    #[test]
    fn the_same_arrays_give_the_same_bytes() {
        let arrays: [Array; 1] = [("x", &[3], &[1.0, 2.0, 3.0])];
        assert_eq!(bytes(&arrays).expect("memory"), bytes(&arrays).expect("memory"));
    }

    #[test]
    fn wrong_shapes_and_names_are_errors() {
        let shape = bytes(&[("x", &[2, 2], &[1.0, 2.0, 3.0])]).expect_err("three is not four");
        assert!(matches!(shape, NpzError::Shape { values: 3, .. }), "{shape}");
        assert!(matches!(bytes(&[("x", &[1], &[1.0, 2.0])]), Err(NpzError::Shape { .. })));
        assert!(matches!(bytes(&[("x", &[usize::MAX, 3], &[1.0])]), Err(NpzError::Shape { .. })));
        assert!(matches!(bytes(&[("x", &[0], &[]), ("x", &[0], &[])]), Err(NpzError::Name(_))));
        assert!(matches!(bytes(&[("../x", &[0], &[])]), Err(NpzError::Name(_))));
    }
}
