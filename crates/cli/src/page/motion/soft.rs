//! What soft things look like in a playback.

use std::ops::Range;

use pullback_report::Surface;
use pullback_scene::Scene;

/// Soft solids and sheets: their names, and their particles.
pub fn things(scene: &Scene) -> Vec<(&str, Range<usize>)> {
    let solids = scene.solids.iter().map(|solid| (solid.name.as_str(), particles(scene, solid.group)));
    let sheets = scene.sheets.iter().map(|sheet| (sheet.name.as_str(), particles(scene, sheet.group)));
    solids.chain(sheets).collect()
}

/// The particles of a group.
fn particles(scene: &Scene, group: usize) -> Range<usize> {
    let first = scene.particles.iter().take(group).map(|it| it.positions.len()).sum();
    first..first + scene.particles.get(group).map_or(0, |it| it.positions.len())
}

/// The surfaces of soft solids, and sheets.
pub fn surfaces(scene: &Scene) -> Vec<Surface> {
    let solids = scene.solids.iter().map(|solid| {
        let (surface, first) = (solid.mesh().surface(), particles(scene, solid.group).start);
        let particle = |i: u32| first + surface.points[i as usize] as usize;
        Surface {
            triangles: surface.mesh.elements.iter().map(|t| t.map(particle)).collect(),
            two_sided: false,
        }
    });
    let sheets = scene.sheets.iter().map(|sheet| {
        let first = particles(scene, sheet.group).start;
        Surface {
            triangles: sheet.elements.iter().map(|t| t.map(|i| first + i as usize)).collect(),
            two_sided: true,
        }
    });
    solids.chain(sheets).collect()
}

/// The particles of soft solids that are not on their surfaces.
pub fn inner(scene: &Scene) -> Vec<usize> {
    let of = |solid: &pullback_scene::Solid| {
        let all = particles(scene, solid.group);
        let mut is_inner = vec![true; all.len()];
        solid.mesh().surface().points.iter().for_each(|&i| is_inner[i as usize] = false);
        all.zip(is_inner).filter_map(|(p, inner)| inner.then_some(p)).collect::<Vec<_>>()
    };
    scene.solids.iter().flat_map(of).collect()
}
