//! A folder of bad files, each with its error in a text file beside it.
//!
//! `PULLBACK_BLESS=1 cargo test -p pullback-scene` writes those texts anew: read what it changed.

use std::collections::BTreeSet;
use std::fs;

use pullback_scene::Error;

/// Bad files of one format.
pub struct Bad {
    /// Where they are.
    pub folder: &'static str,
    /// How their names end.
    pub ending: &'static str,
    /// Errors of files as a whole, which have no line.
    pub without_line: &'static [&'static str],
    /// What is wrong with a file.
    pub error: fn(&str) -> Option<Error>,
}

impl Bad {
    /// The names of all files with an ending, without it.
    pub fn stems(&self, ending: &str) -> BTreeSet<String> {
        let files = fs::read_dir(self.folder).expect("the folder is there");
        files
            .map(|entry| entry.expect("it can be read").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == ending))
            .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
            .collect()
    }

    /// The names of all files.
    pub fn all(&self) -> BTreeSet<String> {
        self.stems(self.ending)
    }

    /// What is wrong with a file.
    pub fn error_of(&self, stem: &str) -> Error {
        let file = format!("{}/{stem}.{}", self.folder, self.ending);
        (self.error)(&file).unwrap_or_else(|| panic!("{stem} is read without an error"))
    }

    /// Every file gives the error beside it, and every error has a file; there are at least so many.
    pub fn gives_its_errors(&self, least: usize) {
        let bless = std::env::var_os("PULLBACK_BLESS").is_some();
        let mut wrong = Vec::new();
        for stem in self.all() {
            let found = format!("{}\n", self.error_of(&stem));
            let file = format!("{}/{stem}.txt", self.folder);
            if bless {
                fs::write(&file, &found).expect("the text can be written");
            }
            let wanted = fs::read_to_string(&file).unwrap_or_default();
            if found != wanted {
                wrong.push(format!("{stem}\nfound:  {found}wanted: {wanted}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(self.all(), self.stems("txt"));
        assert!(self.all().len() >= least);
    }

    /// Every error says what is wrong and how to mend it, in lines that can be read; `also` checks more.
    pub fn names_place_and_fix(&self, also: impl Fn(&str, &str)) {
        for stem in self.all() {
            let error = self.error_of(&stem);
            let text = error.to_string();
            assert!(!error.what.is_empty() && !error.fix.is_empty(), "{text}");
            assert_eq!(error.position.is_none(), self.without_line.contains(&stem.as_str()), "{text}");
            assert!(text.lines().all(|line| line.chars().count() < 300), "{text}");
            also(&stem, &text);
        }
    }
}
