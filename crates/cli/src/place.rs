//! Where rollouts run.

use pullback_solve::{Error, Problem};

/// The CPU, or a GPU by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(Option<usize>);

/// The place that a word names.
pub fn parse(word: &str) -> Result<Place, String> {
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let place = match word.split_once(':') {
        None if word == "cpu" => Some(Place(None)),
        None if word == "gpu" => Some(Place(Some(0))),
        Some(("gpu", text)) => number(text).map(|number| Place(Some(number))),
        None | Some(_) => None,
    };
    place.ok_or_else(|| "write `cpu`, or `gpu`, or a GPU by its number, such as `gpu:1`".into())
}

impl Place {
    /// Has a problem run its rollouts there.
    pub fn take(self, problem: &mut Problem) -> Result<(), Error> {
        self.0.map_or(Ok(()), |number| problem.set_gpu(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_names() {
        for (word, wanted) in [
            ("cpu", Some(None)),
            ("gpu", Some(Some(0))),
            ("gpu:0", Some(Some(0))),
            ("gpu:12", Some(Some(12))),
        ] {
            assert_eq!(parse(word).ok(), wanted.map(Place), "{word}");
        }
        for word in ["", "GPU", "cuda", "gpu:", "gpu:x", "gpu:+1", "gpu:99999999999999999999999", "cpu:0"] {
            assert!(parse(word).is_err(), "{word}");
        }
    }
}
