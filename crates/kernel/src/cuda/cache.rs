//! Compiled kernels on disk, found by all that they were compiled from.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder of compiled kernels.
///
/// A cache never fails: what cannot be read is compiled again, what cannot be written is not kept. Entries may be
/// removed at any time, by anyone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Default for Cache {
    fn default() -> Self {
        Cache::from_environment()
    }
}

impl Cache {
    /// The folder `PULLBACK_CACHE_DIR`, else `pullback` in the user's cache folder. An empty `PULLBACK_CACHE_DIR`
    /// turns the cache off.
    pub fn from_environment() -> Cache {
        Cache::from_variables(|name| env::var_os(name).map(PathBuf::from))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<PathBuf>) -> Cache {
        if let Some(folder) = variable("PULLBACK_CACHE_DIR") {
            return if folder.as_os_str().is_empty() { Cache::none() } else { Cache::at(folder) };
        }
        // The XDG base directory specification: a relative path is to be ignored.
        let base = variable("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| variable("LOCALAPPDATA").filter(|_| cfg!(windows)))
            .or_else(|| variable("HOME").filter(|path| path.is_absolute()).map(|home| home.join(".cache")));
        Cache { folder: base.map(|base| base.join("pullback")) }
    }

    /// A folder of the caller's choice; made when first written to.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: Some(folder.into()) }
    }

    /// Keeps nothing.
    pub fn none() -> Cache {
        Cache { folder: None }
    }

    /// Where the entries are.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// What was stored under the key, if it is there and whole.
    pub(super) fn load(&self, key: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path(key)?).ok()?;
        decode(&bytes, key).map(<[u8]>::to_vec)
    }

    /// Stores an image; says whether it could.
    pub(super) fn store(&self, key: &str, image: &[u8]) -> bool {
        let Some(path) = self.path(key) else { return false };
        self.write(&path, &encode(key, image)).is_ok()
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:032x}.cuda", fnv(key.as_bytes()))))
    }

    /// Under a name of its own first: others see the whole entry or none.
    fn write(&self, path: &Path, entry: &[u8]) -> std::io::Result<()> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let Some(folder) = path.parent() else { return Ok(()) };
        fs::create_dir_all(folder)?;
        let own = format!("{}.{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let temporary = path.with_extension(own);
        let written = fs::File::create(&temporary)
            .and_then(|mut file| file.write_all(entry))
            .and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            // Nobody is helped by hearing that this failed too.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

/// An entry is a header, the key and the image. The header: this, the lengths of both, the image's hash.
const MAGIC: &[u8; 16] = b"pullback cuda 1\n";
const HEADER: usize = MAGIC.len() + 8 + 8 + 16;

fn header(key: &str, image: &[u8]) -> Vec<u8> {
    let lengths = [key.len() as u64, image.len() as u64].map(u64::to_le_bytes);
    [MAGIC, lengths.as_flattened(), &fnv(image).to_le_bytes()].concat()
}

fn encode(key: &str, image: &[u8]) -> Vec<u8> {
    [&header(key, image), key.as_bytes(), image].concat()
}

/// The entry holds its key: two keys with one hash are a miss, not a wrong kernel.
fn decode<'a>(entry: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let (found, body) = entry.split_at_checked(HEADER)?;
    let image = body.strip_prefix(key.as_bytes())?;
    (found == header(key, image)).then_some(image)
}

/// FNV-1a of 128 bits: the same on every machine and of every Rust, and enough, since entries hold their keys.
fn fnv(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// A folder that goes away with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let folder = env::temp_dir().join(format!("pullback-cache-{name}-{}", process::id()));
            let _ = fs::remove_dir_all(&folder);
            Scratch(folder)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_stored_is_found_under_its_key_alone() {
        let scratch = Scratch::new("roundtrip");
        let cache = Cache::at(&scratch.0);
        assert_eq!(cache.load("key"), None);
        assert!(cache.store("key", b"image"));
        assert_eq!(cache.load("key").as_deref(), Some(&b"image"[..]));
        assert_eq!(cache.load("keys"), None);
        assert!(cache.store("key", b"another"));
        assert_eq!(cache.load("key").as_deref(), Some(&b"another"[..]));
        assert!(cache.store("empty", b""));
        assert_eq!(cache.load("empty").as_deref(), Some(&b""[..]));
    }

    #[test]
    fn another_key_with_the_same_hash_is_a_miss() {
        let scratch = Scratch::new("collision");
        let cache = Cache::at(&scratch.0);
        assert!(cache.store("a", b"image"));
        let (a, b) = (cache.path("a").expect("a folder"), cache.path("b").expect("a folder"));
        fs::rename(a, b).expect("rename");
        assert_eq!(cache.load("b"), None);
    }

    #[test]
    fn every_damaged_entry_is_ignored_and_rewritten() {
        let scratch = Scratch::new("damage");
        let cache = Cache::at(&scratch.0);
        let path = cache.path("key").expect("a folder");
        assert!(cache.store("key", b"image"));
        let entry = fs::read(&path).expect("the entry");
        for length in 0..entry.len() {
            fs::write(&path, &entry[..length]).expect("write");
            assert_eq!(cache.load("key"), None, "{length} bytes");
        }
        for place in 0..entry.len() {
            let mut damaged = entry.clone();
            damaged[place] ^= 1;
            fs::write(&path, &damaged).expect("write");
            assert_eq!(cache.load("key"), None, "byte {place}");
        }
        fs::write(&path, [&entry[..], b"more"].concat()).expect("write");
        assert_eq!(cache.load("key"), None);
        assert!(cache.store("key", b"image"));
        assert_eq!(cache.load("key").as_deref(), Some(&b"image"[..]));
    }

    #[test]
    fn readers_see_whole_entries_while_others_write() {
        let scratch = Scratch::new("atomic");
        let cache = Cache::at(&scratch.0);
        let images: Vec<Vec<u8>> = (1..=4u8).map(|i| vec![i; 20_000 * usize::from(i)]).collect();
        assert!(cache.store("key", &images[0]));
        thread::scope(|scope| {
            for image in &images {
                scope.spawn(|| (0..50).for_each(|_| assert!(cache.store("key", image))));
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let found = cache.load("key").expect("an entry is always there, and whole");
                        assert!(images.contains(&found));
                    }
                });
            }
        });
        let left = fs::read_dir(&scratch.0).expect("the folder").count();
        assert_eq!(left, 1, "temporary files stayed behind");
    }

    #[test]
    fn a_folder_that_cannot_be_is_no_error() {
        let scratch = Scratch::new("unwritable");
        fs::write(&scratch.0, "a file where the folder should be").expect("write");
        let cache = Cache::at(scratch.0.join("below"));
        assert!(!cache.store("key", b"image"));
        assert_eq!(cache.load("key"), None);
        assert!(!Cache::none().store("key", b"image"));
        assert_eq!(Cache::none().load("key"), None);
        fs::remove_file(&scratch.0).expect("remove");
    }

    #[test]
    fn the_folder_comes_from_the_environment() {
        let with = |variables: &[(&str, &str)]| {
            Cache::from_variables(|name| {
                variables.iter().find(|(n, _)| *n == name).map(|(_, value)| PathBuf::from(value))
            })
        };
        assert_eq!(with(&[("HOME", "/home/a")]), Cache::at("/home/a/.cache/pullback"));
        assert_eq!(with(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "/c")]), Cache::at("/c/pullback"));
        assert_eq!(
            with(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "c")]),
            Cache::at("/home/a/.cache/pullback")
        );
        assert_eq!(with(&[("PULLBACK_CACHE_DIR", "/p"), ("XDG_CACHE_HOME", "/c")]), Cache::at("/p"));
        assert_eq!(with(&[("PULLBACK_CACHE_DIR", ""), ("HOME", "/home/a")]), Cache::none());
        assert_eq!(with(&[]), Cache::none());
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // The offset basis, and the published test vector of "a".
        assert_eq!(fnv(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
