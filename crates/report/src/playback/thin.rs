//! What of a playback goes to the page: no more than it can carry.

use super::{Playback, Surface, solid};
use crate::number::integer;

/// Positions kept for a page, frames times particles: 6 bytes each, 8 as text, so 4 MB.
const BUDGET: usize = 500_000;
/// Fewer frames than this do not look like motion: then particles are left out instead.
const FRAMES: usize = 30;
/// More frames than this are kept only where positions are few: they add to the page, and little to the motion.
const PLENTY: usize = 200;
/// Positions that are few.
const FEW: usize = 150_000;
/// Lines kept for a page.
const LINES: usize = 50_000;
/// Solids kept for a page: more take too long to draw.
const SOLIDS: usize = 1_000;

/// What of a playback goes to the page.
pub(super) struct Thinned {
    pub frames: Vec<usize>,
    pub particles: Vec<usize>,
    pub lines: Vec<[usize; 2]>,
    /// Bodies whose origins are shown: the body, and its particle among those shown.
    pub bodies: Vec<[usize; 2]>,
    /// Surfaces, with corners among the particles that are shown.
    pub surfaces: Vec<Surface>,
    /// Solids of bodies that are shown.
    pub solids: Vec<usize>,
    /// Frames, particles, lines and solids that there were to show.
    pub of: [usize; 4],
}

impl Thinned {
    /// What is shown in part: "200 of 801 frames"; empty where all is.
    pub fn told(&self) -> String {
        let shown = [self.frames.len(), self.particles.len(), self.lines.len(), self.solids.len()];
        let of = shown.into_iter().zip(self.of).zip(["frames", "particles", "lines", "solids"]);
        let told = |((shown, of), what): ((usize, usize), &str)| {
            format!("{} of {} {what}", integer(shown as i64), integer(of as i64))
        };
        of.filter(|((shown, of), _)| shown != of).map(told).collect::<Vec<_>>().join(", ")
    }
}

impl Playback {
    /// As many frames and particles as the page can carry, evenly chosen, first and last frame always.
    pub(super) fn thinned(&self) -> Thinned {
        let frames = self.times.len().min(self.positions.len());
        let particles = self.positions[..frames].iter().map(Vec::len).min().unwrap_or(0);
        let wanted = self.wanted(particles);
        let kept_particles = wanted.len().min(BUDGET / FRAMES.min(frames.max(1)));
        // An orientation takes about as much as two positions.
        let turning = if self.orientations.len() < frames { 0 } else { self.bodies.len() };
        let a_frame = (kept_particles + 2 * turning).max(1);
        let kept_frames = frames.min((BUDGET / a_frame).min(PLENTY.max(FEW / a_frame)).max(1));
        let kept: Vec<usize> = evenly(wanted.len(), kept_particles).into_iter().map(|i| wanted[i]).collect();
        let place = |particle: usize| kept.binary_search(&particle).ok();
        let lines: Vec<[usize; 2]> =
            self.lines.iter().filter_map(|&[a, b]| Some([place(a)?, place(b)?])).collect();
        let lines = evenly(lines.len(), LINES).into_iter().map(|i| lines[i]).collect();
        let turned = self.orientations.iter().take(frames).map(Vec::len).min().unwrap_or(0).min(turning);
        let bodies = self.bodies[..turned].iter().enumerate();
        let bodies: Vec<[usize; 2]> =
            bodies.filter_map(|(body, &particle)| Some([body, place(particle)?])).collect();
        let is_shown = |solid: &usize| solid::is_seen(&self.solids[*solid], &bodies);
        let solids: Vec<usize> = (0..self.solids.len()).filter(is_shown).collect();
        let kept_solids = evenly(solids.len(), SOLIDS).into_iter().map(|i| solids[i]).collect();
        let surfaces = self.surfaces.iter().map(|surface| surface.over(&kept, particles));
        let surfaces = surfaces.filter(|surface| !surface.triangles.is_empty()).collect();
        let of = [frames, wanted.len(), self.lines.len(), solids.len()];
        let frames = evenly(frames, kept_frames);
        Thinned { frames, particles: kept, lines, bodies, surfaces, solids: kept_solids, of }
    }

    /// The particles that are there to be seen: all but those within solids that nothing hangs on.
    fn wanted(&self, particles: usize) -> Vec<usize> {
        let mut seen = vec![true; particles];
        let mut say = |at: usize, is_seen: bool| {
            if let Some(it) = seen.get_mut(at) {
                *it = is_seen;
            }
        };
        self.inner.iter().for_each(|&at| say(at, false));
        let corners = self.surfaces.iter().flat_map(|surface| surface.triangles.iter().flatten());
        corners.chain(self.lines.iter().flatten()).chain(&self.bodies).for_each(|&at| say(at, true));
        (0..particles).filter(|&at| seen[at]).collect()
    }
}

/// The numbers 0 to `of` - 1, or so many of them, evenly spread, with the first and the last; of one, the first.
///
/// ```
/// assert_eq!(pullback_report::evenly(9, 3), [0, 4, 8]);
/// assert_eq!(pullback_report::evenly(2, 3), [0, 1]);
/// ```
pub fn evenly(of: usize, most: usize) -> Vec<usize> {
    match of.min(most) {
        0 => Vec::new(),
        1 => vec![0],
        count => (0..count).map(|i| (i as u128 * (of as u128 - 1) / (count as u128 - 1)) as usize).collect(),
    }
}
