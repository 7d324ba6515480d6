//! Broken copies of good files.

use std::time::{Duration, Instant};

use pullback_scene::robot::{Geometry, Load, Loaded};
use pullback_scene::{Error, Robot};

/// No file may take longer.
pub const LONGEST: Duration = Duration::from_secs(5);

/// A number that no good file has: where it is found, a file from elsewhere was read.
pub const CANARY: f64 = 918_273.645;

/// Marsaglia, Xorshift RNGs, 2003.
pub struct Random(pub u64);

impl Random {
    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// One of a few.
    pub fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// The start and end of something that starts with one of `open` and ends with `close`.
fn piece(text: &str, random: &mut Random, open: &str, close: &str) -> Option<(usize, usize)> {
    let starts: Vec<usize> = text.match_indices(open).map(|(at, _)| at).collect();
    let start = *starts.get(random.below(starts.len()))?;
    let end = start + open.len() + text[start + open.len()..].find(close)? + close.len();
    Some((start, end))
}

/// What is changed.
pub struct Format<'f> {
    /// The attribute that names files.
    pub file: &'f str,
    /// How elements start and end.
    pub elements: &'f [(&'f str, &'f str)],
    /// Names of files that are elsewhere.
    pub elsewhere: &'f [String],
}

/// One change of many kinds.
pub fn change(text: &mut String, random: &mut Random, format: &Format<'_>) {
    let numbers = [
        "1e308",
        "-1e308",
        "1e-320",
        "nan",
        "inf",
        "-0",
        "99999999999999999999",
        "0x10",
        "1,5",
        "",
        "1e",
        "--1",
    ];
    let names: Vec<&str> = format.elsewhere.iter().map(String::as_str).collect();
    match random.below(10) {
        // A value becomes another.
        0 | 1 => {
            if let Some((start, end)) = piece(text, random, "=\"", "\"") {
                let value = if random.below(2) == 0 {
                    random.of(&numbers).to_owned()
                } else {
                    format!("{0} {0} {0}", random.of(&numbers))
                };
                text.replace_range(start..end, &format!("=\"{value}\""));
            }
        }
        // A file becomes one from elsewhere.
        2 | 3 => {
            let attribute = format!(" {}=\"", format.file);
            if let Some((start, end)) = piece(text, random, &attribute, "\"") {
                text.replace_range(start..end, &format!("{attribute}{}\"", random.of(&names)));
            }
        }
        // An attribute is lost, or written twice.
        4 => {
            if let Some((start, end)) = piece(text, random, " ", "\"") {
                let again = text[start..end].to_owned();
                text.replace_range(start..end, if random.below(2) == 0 { "" } else { &again });
                text.insert_str(start, if random.below(2) == 0 { "" } else { &again });
            }
        }
        // An element is lost, written twice, or put into another.
        5 | 6 => {
            let (open, close) = format.elements[random.below(format.elements.len())];
            if let Some((start, end)) = piece(text, random, open, close) {
                let copy = text[start..end].to_owned();
                let times = [0, 2, 2, 50][random.below(4)];
                text.replace_range(start..end, &copy.repeat(times));
                if random.below(3) == 0
                    && let Some((_, at)) = piece(text, random, "<", ">")
                {
                    text.insert_str(at, &copy);
                }
            }
        }
        // A name becomes another of the file.
        7 => {
            let other = piece(text, random, "=\"", "\"").map(|(start, end)| text[start..end].to_owned());
            if let (Some(other), Some((start, end))) = (other, piece(text, random, "=\"", "\"")) {
                text.replace_range(start..end, &other);
            }
        }
        // The end is lost.
        8 => {
            let mut end = random.below(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        // A byte becomes another.
        _ => {
            let at = random.below(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                let with = random
                    .of(&["<", ">", "\"", "&", "/", "\u{0}", "é", " ", "9", "-", "]]>", "<!--", "<?", "\n"]);
                text.replace_range(at..at + 1, with);
            }
        }
    }
}

/// How broken files end.
#[derive(Debug, Default)]
pub struct Tally {
    /// Files with an error.
    pub errors: usize,
    /// Files that are robots still.
    pub read: usize,
    /// Files from elsewhere that were refused by name.
    pub refused: usize,
}

impl Tally {
    /// Reads a broken file: an error that says how to mend it, or a robot; in time, and with nothing from elsewhere.
    pub fn read(&mut self, case: &str, text: String, file: &std::path::Path, load: &Load) -> Option<Robot> {
        let before = Instant::now();
        let result = Robot::parse(text, file, load);
        assert!(before.elapsed() < LONGEST, "{case}: {:?}", before.elapsed());
        match result {
            Ok(loaded) => {
                self.read += 1;
                assert!(loaded.robot.check().is_ok(), "{case}");
                assert!(!holds_canary(&loaded), "{case}: a mesh from elsewhere was read");
                let elsewhere = loaded.robot.bodies.iter().any(|body| body.name.starts_with("root:"));
                assert!(!elsewhere, "{case}: a part from elsewhere was read");
                self.refused += loaded.warnings.iter().filter(|warning| outside(warning)).count();
                Some(loaded.robot)
            }
            Err(error) => {
                self.errors += 1;
                assert!(!error.fix.is_empty() && !error.what.is_empty(), "{case}: {error}");
                let text = error.to_string();
                assert!(!text.contains("root:") && !text.contains(&CANARY.to_string()), "{case}: {error}");
                self.refused += usize::from(outside(&error));
                None
            }
        }
    }
}

fn outside(error: &Error) -> bool {
    error.what.contains("outside")
}

/// Whether a mesh from elsewhere was read.
pub fn holds_canary(loaded: &Loaded) -> bool {
    loaded.robot.shapes.iter().any(|shape| match &shape.geometry {
        Geometry::Mesh(mesh) => {
            let near = |x: &f64| (x / CANARY - 1.0).abs() < 1e-3;
            mesh.triangles.as_ref().is_some_and(|mesh| mesh.vertices.iter().flatten().any(near))
        }
        _ => false,
    })
}
