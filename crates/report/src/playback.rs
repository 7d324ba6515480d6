//! Trajectories in space, played in the page by a small script of our own.

mod solid;
mod surface;
mod thin;

use std::fmt::Write;

use crate::xml::json_string;

use thin::Thinned;

pub use solid::Solid;
pub use surface::Surface;
pub use thin::evenly;

/// The player. It finds every `figure.pb-player` of the page and reads the JSON inside.
pub(crate) const SCRIPT: &str = concat!(
    include_str!("playback/raster.js"),
    include_str!("playback/skin.js"),
    include_str!("playback.js")
);

/// Integers that stand for a coordinate: 0 to this. -1 is a coordinate that is not finite.
const STEPS: f64 = 32767.0;

/// Points and bodies moving in space, z up. Particles are points; a body is a point that has an orientation, too.
///
/// ```
/// use pullback_report::Playback;
/// let playback = Playback {
///     times: vec![0.0, 0.1],
///     positions: vec![vec![[0.0, 0.0, 1.0]], vec![[0.1, 0.0, 0.9]]],
///     ground: Some(0.0),
///     ..Playback::default()
/// };
/// # let _ = playback;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Playback {
    /// Time of each frame [s], increasing.
    pub times: Vec<f64>,
    /// `positions[frame][particle]` [m]. Where frames differ in length, the shortest counts.
    pub positions: Vec<Vec<[f32; 3]>>,
    /// Pairs of particles joined by a line: springs, edges of a mesh.
    pub lines: Vec<[usize; 2]>,
    /// Height of the ground [m].
    pub ground: Option<f64>,
    /// Points that something should reach [m].
    pub targets: Vec<[f64; 3]>,
    /// Names of particles, from the first on; may be fewer, or none.
    pub names: Vec<String>,
    /// Radii of particles [m], from the first on; those that have none are drawn as small dots.
    pub radii: Vec<f64>,
    /// Bodies: the particle that is each body's origin.
    pub bodies: Vec<usize>,
    /// `orientations[frame][body]`: unit quaternions (w, x, y, z).
    pub orientations: Vec<Vec<[f32; 4]>>,
    /// What is drawn of bodies.
    pub solids: Vec<Solid>,
    /// What is drawn of soft things, instead of their particles.
    pub surfaces: Vec<Surface>,
    /// Particles within soft solids. They are not drawn, and come to the page only where lines or bodies want them.
    pub inner: Vec<usize>,
}

impl Playback {
    /// The figure: a canvas, its controls and its data. Gives a text instead when there is nothing to show.
    pub(crate) fn html(&self) -> String {
        let thinned = self.thinned();
        let Some(bounds) = self.bounds(&thinned) else {
            return "<figure class=\"pb-figure\"><p class=\"pb-muted\">no data to play</p></figure>\n".into();
        };
        let mut out = String::from(CONTROLS);
        let _ = writeln!(out, "<script type=\"application/json\">{}</script>", self.json(&thinned, bounds));
        let told = thinned.told();
        if !told.is_empty() {
            let _ = writeln!(out, "<p class=\"pb-muted\">Shown: {told}.</p>");
        }
        out.push_str("</figure>\n");
        out
    }

    /// The smallest box around all that is shown, low corner and high corner.
    fn bounds(&self, thinned: &Thinned) -> Option<[[f64; 3]; 2]> {
        let shown = thinned
            .frames
            .iter()
            .flat_map(|&f| thinned.particles.iter().map(move |&p| self.positions[f][p].map(f64::from)));
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for point in shown.filter(|p| p.iter().all(|c| c.is_finite())) {
            low = std::array::from_fn(|i| low[i].min(point[i]));
            high = std::array::from_fn(|i| high[i].max(point[i]));
        }
        (low[0] <= high[0]).then_some([low, high])
    }

    fn json(&self, thinned: &Thinned, bounds: [[f64; 3]; 2]) -> String {
        let lines: Vec<String> = thinned.lines.iter().map(|[a, b]| format!("{a},{b}")).collect();
        let times: Vec<f64> = thinned.frames.iter().map(|&f| self.times[f]).collect();
        let names = thinned.particles.iter().map(|&p| self.names.get(p).map_or("", String::as_str));
        let names: Vec<String> =
            if self.names.is_empty() { Vec::new() } else { names.map(json_string).collect() };
        let radii = thinned.particles.iter().map(|&p| self.radii.get(p).copied().unwrap_or(0.0));
        let radii: Vec<f64> = if self.radii.is_empty() { Vec::new() } else { radii.collect() };
        let (forms, solids) = solid::json(thinned.solids.iter().map(|&i| &self.solids[i]), &thinned.bodies);
        format!(
            "{{\"times\":{},\"particles\":{},\"low\":{},\"high\":{},\"lines\":[{}],\"ground\":{},\"targets\":[{}],\
             \"names\":[{}],\"radii\":{},\"positions\":\"{}\",\"bodies\":[{}],\"turns\":\"{}\",\"forms\":[{}],\
             \"solids\":[{}],\"surfaces\":[{}]}}",
            numbers(&times),
            thinned.particles.len(),
            numbers(&bounds[0]),
            numbers(&bounds[1]),
            lines.join(","),
            number(self.ground.unwrap_or(f64::NAN)),
            self.targets.iter().map(|t| numbers(t)).collect::<Vec<_>>().join(","),
            names.join(","),
            numbers(&radii),
            base64(&self.quantised(thinned, bounds)),
            thinned.bodies.iter().map(|[_, particle]| particle.to_string()).collect::<Vec<_>>().join(","),
            base64(&self.turns(thinned)),
            forms.join(","),
            solids.join(","),
            thinned.surfaces.iter().map(Surface::json).collect::<Vec<_>>().join(","),
        )
    }

    /// Orientations as 16-bit integers, -1 to 1 as -32767 to 32767, little-endian: w, x, y, z of each body, frame after
    /// frame.
    fn turns(&self, thinned: &Thinned) -> Vec<u8> {
        let of = |&frame: &usize| thinned.bodies.iter().map(move |&[body, _]| self.orientations[frame][body]);
        let numbers = thinned.frames.iter().flat_map(of).flatten();
        numbers.flat_map(|x| ((f64::from(x) * STEPS).round() as i16).to_le_bytes()).collect()
    }

    /// Coordinates as 16-bit integers between the corners of the box, little-endian: x, y, z of each particle, frame
    /// after frame. The error is below 1/65000 of the box, less than a pixel.
    fn quantised(&self, thinned: &Thinned, [low, high]: [[f64; 3]; 2]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(6 * thinned.frames.len() * thinned.particles.len());
        for &frame in &thinned.frames {
            for &particle in &thinned.particles {
                let point = self.positions[frame][particle].map(f64::from);
                for i in 0..3 {
                    let part = (point[i] - low[i]) / (high[i] - low[i]).max(1e-30);
                    let step =
                        if point.iter().all(|c| c.is_finite()) { (part * STEPS).round() as i16 } else { -1 };
                    bytes.extend(step.to_le_bytes());
                }
            }
        }
        bytes
    }
}

const CONTROLS: &str = "<figure class=\"pb-figure pb-player\">\n\
    <canvas tabindex=\"0\" role=\"img\" aria-label=\"Trajectories in space. Space plays and pauses, arrow keys turn, \
    plus and minus zoom, comma and full stop step, Home resets the view.\"></canvas>\n\
    <div class=\"pb-controls\">\n\
    <button type=\"button\" class=\"pb-play\" aria-label=\"play\">\u{25b6}</button>\n\
    <input type=\"range\" min=\"0\" max=\"1000\" value=\"0\" step=\"any\" aria-label=\"time\">\n\
    <output class=\"pb-time\"></output>\n\
    <label>speed <select><option value=\"0.1\">0.1\u{d7}</option><option value=\"0.25\">0.25\u{d7}</option>\
    <option value=\"0.5\">0.5\u{d7}</option><option value=\"1\" selected>1\u{d7}</option>\
    <option value=\"2\">2\u{d7}</option><option value=\"5\">5\u{d7}</option></select></label>\n\
    <button type=\"button\" class=\"pb-reset\">reset view</button>\n\
    </div>\n\
    <p class=\"pb-muted pb-hint\">Drag to turn, click and roll the wheel to zoom; space plays, arrow keys turn, + and \u{2212} \
    zoom.</p>\n\
    <noscript><p>Playing needs JavaScript; everything else on this page does not.</p></noscript>\n";

/// JSON knows no NaN: what is not finite becomes null.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "null".into() }
}

fn numbers(values: &[f64]) -> String {
    format!("[{}]", values.iter().map(|&v| number(v)).collect::<Vec<_>>().join(","))
}

/// Base 64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swarm(frames: usize, particles: usize) -> Playback {
        let position = |f: usize, p: usize| [f as f32, p as f32, (f + p) as f32];
        Playback {
            times: (0..frames).map(|f| f as f64 * 0.01).collect(),
            positions: (0..frames).map(|f| (0..particles).map(|p| position(f, p)).collect()).collect(),
            ..Playback::default()
        }
    }

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let cases = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|t| base64(t.as_bytes()));
        assert_eq!(cases, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn coordinates_are_quantised_within_the_box() {
        let mut playback = swarm(2, 1);
        playback.positions = vec![vec![[-1.0, 0.0, 5.0]], vec![[3.0, 0.0, 6.0]]];
        let thinned = playback.thinned();
        let bounds = playback.bounds(&thinned).expect("points");
        assert_eq!(bounds, [[-1.0, 0.0, 5.0], [3.0, 0.0, 6.0]]);
        let bytes = playback.quantised(&thinned, bounds);
        let steps: Vec<i16> = bytes.chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
        assert_eq!(steps, [0, 0, 0, 32767, 0, 32767]);
        playback.positions[1][0][1] = f32::NAN;
        let bytes = playback.quantised(&thinned, bounds);
        assert_eq!(&bytes[6..], [255; 6], "all of a point that is not finite is marked");
    }

    #[test]
    fn pages_stay_small_and_keep_both_ends() {
        for (frames, particles) in [(100_000, 10), (200, 50_000), (1, 1_000), (3, 3)] {
            let playback = swarm(frames, particles);
            let thinned = playback.thinned();
            assert_eq!((thinned.frames[0], thinned.frames.last()), (0, Some(&(frames - 1))));
            assert!(
                thinned.frames.windows(2).all(|w| w[0] < w[1])
                    && thinned.particles.windows(2).all(|w| w[0] < w[1])
            );
            let html = playback.html();
            assert!(html.len() < 5_000_000, "{frames} x {particles}: {} bytes", html.len());
            assert_eq!(html.contains("Shown: "), frames * particles > 500_000, "{frames} x {particles}");
        }
    }

    #[test]
    fn lines_follow_their_particles() {
        let mut playback = swarm(60, 50_000);
        playback.lines = vec![[0, 49_999], [0, 1], [7, 70_000]];
        let thinned = playback.thinned();
        assert_eq!(thinned.particles.len(), 16_666);
        assert_eq!(
            thinned.lines,
            [[0, 16_665]],
            "a line to a particle that is left out, or is none, is left out"
        );
    }

    #[test]
    fn bodies_have_orientations_and_solids() {
        let mut playback = swarm(2, 3);
        playback.bodies = vec![1, 2];
        playback.orientations = vec![vec![[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, -1.0]]; 2];
        playback.solids = [(1, 0.5), (7, 0.5), (0, 0.5), (0, 0.25)]
            .map(|(body, half)| Solid::cuboid([half; 3]).on(body))
            .to_vec();
        let thinned = playback.thinned();
        assert_eq!(thinned.bodies, [[0, 1], [1, 2]]);
        let steps: Vec<i16> =
            playback.turns(&thinned).chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
        assert_eq!(steps[..8], [32767, 0, 0, 0, 0, 32767, 0, -32767]);
        let html = playback.html();
        assert!(html.contains("\"bodies\":[1,2]"), "{html}");
        assert_eq!(html.matches("\"body\"").count(), 3, "a solid of no body is left out");
        assert_eq!(html.matches("\"corners\"").count(), 2, "what is formed alike is told once");
        assert!(html.contains("{\"body\":1,\"form\":0,\"color\":null},{\"body\":0,\"form\":0,"), "{html}");
        assert!(html.contains("\"unit\":1e-5,\"corners\":[-50000,"), "{html}");
        let many = vec![Solid::cuboid([0.5; 3]); 1_500];
        let many = Playback { solids: many, ..playback.clone() }.html();
        assert!(many.contains("Shown: 1000 of 1500 solids.") && many.matches("\"body\"").count() == 1_000);
        // What has no area, and corners that are not there, would stop the player.
        for faces in [vec![], vec![vec![0, 1]], vec![vec![0, 1, 99]]] {
            playback.solids = vec![Solid { faces, ..Solid::cuboid([0.5; 3]) }];
            assert!(playback.html().contains("\"forms\":[],\"solids\":[]"));
        }
        playback.solids = vec![Solid::cuboid([0.5; 3])];
        // Without orientations bodies are points.
        playback.orientations.pop();
        assert!(playback.thinned().bodies.is_empty());
        assert!(!playback.html().contains("\"corners\""));
    }

    #[test]
    fn surfaces_follow_their_particles_and_inner_ones_stay_out() {
        let mut playback = swarm(2, 6);
        playback.surfaces =
            vec![Surface { triangles: vec![[1, 3, 5], [1, 5, 9]], two_sided: true }, Surface::default()];
        playback.inner = vec![0, 2, 4, 77];
        playback.lines = vec![[4, 5]];
        let thinned = playback.thinned();
        assert_eq!(thinned.particles, [1, 3, 4, 5], "what a line holds to is there");
        let html = playback.html();
        assert!(
            html.contains("\"surfaces\":[{\"two_sided\":true,\"triangles\":[0,1,3]}]}"),
            "only one that is there: {html}"
        );
        assert!(html.contains("\"lines\":[2,3]") && !html.contains("Shown: "), "{html}");
    }

    #[test]
    fn large_surfaces_become_coarse() {
        let n = 300;
        let mut playback = swarm(100, n * n);
        let cells = (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| i * n + j));
        let triangles = cells.flat_map(|a| [[a, a + n, a + n + 1], [a, a + n + 1, a + 1]]).collect();
        playback.surfaces = vec![Surface { triangles, two_sided: false }];
        let thinned = playback.thinned();
        let triangles = &thinned.surfaces[0].triangles;
        assert!(triangles.len() > 20_000 && triangles.len() < 50_000, "{}", triangles.len());
        assert!(triangles.iter().flatten().all(|&corner| corner < thinned.particles.len()));
        assert!(playback.html().len() < 6_000_000);
    }

    #[test]
    fn nothing_to_play_says_so() {
        assert!(Playback::default().html().contains("no data"));
        let mut lost = swarm(2, 1);
        lost.positions = vec![vec![[f32::NAN; 3]]; 2];
        assert!(lost.html().contains("no data"));
    }

    #[test]
    fn names_cannot_end_the_script() {
        let mut playback = swarm(2, 1);
        playback.names = vec!["</script><script>alert(1)</script>".into()];
        let html = playback.html();
        assert_eq!(html.matches("</script").count(), 1, "only our own");
        assert_eq!(crate::xml::first_fault(&html), None);
    }
}
