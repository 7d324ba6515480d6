//! OBJ, of Wavefront: corners `v x y z` and faces `f 1 2/5 3//7 -1`; everything else is for looks.

use super::{Triangles, wrong};
use crate::source::Unread;
use crate::words;

const FACE: &str = "write faces as `f 1 2 3`, counted from 1, or from -1 backwards";

pub(super) fn read(bytes: &[u8]) -> Result<Triangles, Unread> {
    let mut mesh = Triangles::default();
    let mut farthest = Farthest::default();
    let mut joined = Vec::new();
    for (at, raw) in bytes.split(|&byte| byte == b'\n').enumerate() {
        // A line that ends with a backslash goes on in the next.
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        joined.extend_from_slice(raw);
        if joined.last() == Some(&b'\\') {
            joined.pop();
            joined.push(b' ');
            continue;
        }
        // Names and comments may have any encoding; they are not looked at.
        let line = String::from_utf8_lossy(&joined);
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let corner = point(words, at + 1)?;
                mesh.corner(corner, at + 1)?;
            }
            Some("f") => face(&mut mesh, words, at + 1, &mut farthest)?,
            Some(_) | None => {}
        }
        joined.clear();
    }
    if farthest.corner as usize > mesh.vertices.len() {
        let what = format!("there is no corner {}: there are {}", farthest.corner, mesh.vertices.len());
        return Err(wrong(farthest.line, what, FACE));
    }
    Ok(mesh)
}

/// The corner with the largest number, from 1, that a face has, and its line. It may be written later than its faces.
#[derive(Default)]
struct Farthest {
    corner: u64,
    line: usize,
}

/// The first three numbers; a weight or a colour may follow.
fn point<'a>(mut words: impl Iterator<Item = &'a str>, line: usize) -> Result<[f64; 3], Unread> {
    let mut corner = [0.0; 3];
    for x in &mut corner {
        *x = words.next().and_then(|word| word.parse().ok()).ok_or_else(|| {
            wrong(line, "this corner has no three numbers", "write corners as `v 0.1 0.2 0.3`")
        })?;
    }
    Ok(corner)
}

fn face<'a>(
    mesh: &mut Triangles,
    words: impl Iterator<Item = &'a str>,
    line: usize,
    farthest: &mut Farthest,
) -> Result<(), Unread> {
    let mut corners = Vec::new();
    for word in words {
        let index: i64 =
            word.split('/').next().and_then(|index| index.parse().ok()).ok_or_else(|| {
                wrong(line, format!("{} is no corner of a face", words::quoted(word)), FACE)
            })?;
        let count = mesh.vertices.len() as i64;
        let from_zero = if index < 0 { count.saturating_add(index) } else { index - 1 };
        let corner = u32::try_from(from_zero).map_err(|_| {
            wrong(line, format!("there is no corner {index}: there are {count} so far"), FACE)
        })?;
        if u64::from(corner) + 1 > farthest.corner {
            *farthest = Farthest { corner: u64::from(corner) + 1, line };
        }
        corners.push(corner);
    }
    // Points and lines have no triangles.
    mesh.fan(&corners, line)
}
