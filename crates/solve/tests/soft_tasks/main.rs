//! Problems with soft bodies whose answers are known, and bodies that are driven to a mark: `scenes/beam-lame.toml`, `ball-mass.toml`,
//! `cloth-velocities.toml`, `cloth-throw.toml`, `walker.toml` and `gear.toml`, and random instances of them.
//!
//! `PULLBACK_BLESS=1 cargo test -p pullback-solve --test soft_tasks` writes the recordings of the first three anew. What is ignored
//! takes minutes in a release: `cargo xtask study soft` runs it, and writes what it prints to `docs/soft-tasks.md`.

mod control;
mod identify;
mod instance;
#[path = "../promises/mod.rs"]
mod promises;
mod random;
mod recordings;

/// Of each kind, or as many as `SOFT_INSTANCES` says.
fn instances() -> u64 {
    std::env::var("SOFT_INSTANCES").map_or(20, |number| number.parse().expect("a number of instances"))
}

/// Prints a row of the document, and to those who wait that it is done.
fn row(task: &str, words: &[String]) {
    println!("soft|{task}|{}", words.join("|"));
    eprintln!("{task}: {}", words.join(", "));
}
