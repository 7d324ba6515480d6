//! STL, binary and text: loose triangles, whose corners are merged where they are exactly equal.

use std::collections::HashMap;

use super::tokens::Tokens;
use super::{DAMAGED, Triangles, wrong};
use crate::source::Unread;

/// Bytes before the triangles, and of each triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn read(bytes: &[u8]) -> Result<Triangles, Unread> {
    let triangles = bytes.get(80..HEADER).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
    let wanted = triangles.map(|count| HEADER + TRIANGLE * count as usize);
    // Binary files may start with "solid" as text files do, so that the length decides.
    if wanted == Some(bytes.len()) || !bytes.trim_ascii_start().starts_with(b"solid") {
        return match wanted {
            Some(wanted) if wanted <= bytes.len() => binary(&bytes[HEADER..wanted]),
            Some(_) | None => Err(Unread::new(
                "this is no STL: it neither starts with `solid`, nor has the length that it says",
                DAMAGED,
            )),
        };
    }
    text(bytes)
}

/// Corners by their exact position.
#[derive(Default)]
struct Merge {
    mesh: Triangles,
    known: HashMap<[u64; 3], u32>,
}

impl Merge {
    fn corner(&mut self, corner: [f64; 3], line: usize) -> Result<u32, Unread> {
        // -0 and 0 are the same place.
        let key = corner.map(|x| (x + 0.0).to_bits());
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let new = self.mesh.corner(corner, line)?;
        self.known.insert(key, new);
        Ok(new)
    }
}

/// Each triangle: its normal, which is not used, three corners, all in 32 bits, and two bytes for colours.
fn binary(bytes: &[u8]) -> Result<Triangles, Unread> {
    let mut merge = Merge::default();
    for triangle in bytes.chunks_exact(TRIANGLE) {
        let number = |at: usize| {
            let start = 12 + 4 * at;
            f64::from(f32::from_le_bytes(std::array::from_fn(|i| triangle[start + i])))
        };
        let mut corners = [0; 3];
        for (at, corner) in corners.iter_mut().enumerate() {
            *corner = merge.corner([number(3 * at), number(3 * at + 1), number(3 * at + 2)], 0)?;
        }
        merge.mesh.fan(&corners, 0)?;
    }
    Ok(merge.mesh)
}

fn text(bytes: &[u8]) -> Result<Triangles, Unread> {
    let mut merge = Merge::default();
    let mut tokens = Tokens::new(bytes);
    let mut corners = Vec::new();
    // What has begun and not ended.
    let [mut solid, mut facet, mut in_loop] = [false; 3];
    while let Some(word) = tokens.next() {
        match word.to_ascii_lowercase().as_str() {
            word @ ("solid" | "endsolid") => {
                solid = word == "solid";
                tokens.skip_line();
            }
            "facet" => {
                facet = true;
                tokens.skip_line();
            }
            "endfacet" => facet = false,
            "outer" => {
                corners.clear();
                in_loop = true;
            }
            "vertex" => {
                let corner = tokens.point()?;
                corners.push(merge.corner(corner, tokens.line)?);
            }
            "endloop" if corners.len() < 3 => {
                let what = "a triangle has fewer than three corners";
                return Err(wrong(tokens.line, what, DAMAGED));
            }
            "endloop" => {
                merge.mesh.fan(&corners, tokens.line)?;
                in_loop = false;
            }
            _ => {}
        }
    }
    if solid || facet || in_loop {
        return Err(wrong(tokens.line, "the file ends too early", DAMAGED));
    }
    Ok(merge.mesh)
}
