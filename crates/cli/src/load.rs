//! From a file to a problem: a scene, or a robot alone.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use pullback_scene as scene;
use pullback_scene::robot::{Base, Load, Loaded};
use pullback_scene::{Integrator, Invalid};

use pullback_solve::Error;

use crate::folder::Refused;

/// How the file of a robot is read.
#[derive(Args)]
pub struct Reading {
    /// Leave out what is not supported in a robot's file, with warnings
    #[arg(long)]
    lenient: bool,
    /// A further folder that a robot's file may name files in
    #[arg(long, value_name = "FOLDER")]
    allow: Vec<PathBuf>,
    /// Where a package of a robot's file is
    #[arg(long, value_name = "NAME=FOLDER", value_parser = package)]
    package: Vec<(String, PathBuf)>,
    /// How the robot of a robot's file stands in the world; by default as the file says
    #[arg(long, value_enum)]
    base: Option<Stands>,
}

/// How a robot alone is simulated.
#[derive(Args, Default)]
pub struct Timing {
    /// The time step for a robot's file, in seconds; by default that of the file, or 0.001
    #[arg(long, value_name = "SECONDS", value_parser = positive, allow_negative_numbers = true)]
    dt: Option<f64>,
    /// The number of steps for a robot's file; by default two seconds of them
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// The integrator for a robot's file, by its name in scenes; `backward-euler` for what is stiff
    #[arg(long, value_name = "NAME", value_parser = integrator)]
    integrator: Option<Integrator>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Stands {
    /// It can move freely
    Free,
    /// Its root stays where it is
    Fixed,
}

/// How long a robot alone is simulated [s], and the time step where its file gives none [s].
const DURATION: f64 = 2.0;
const DT: f64 = 1e-3;
/// More steps than this are no run of anyone's robot.
const MOST_STEPS: f64 = 1e7;

/// The most lines that are named where warnings are alike.
const MOST_LINES: usize = 8;

impl Reading {
    /// Whether the folders of `--allow` and `--package` are there.
    fn folders_are_there(&self) -> Result<()> {
        let packages = self.package.iter().map(|(name, folder)| (format!("--package {name}="), folder));
        let allowed = self.allow.iter().map(|folder| ("--allow ".to_owned(), folder));
        match packages.chain(allowed).find(|(_, folder)| !folder.is_dir()) {
            None => Ok(()),
            Some((option, folder)) => {
                let option = format!("{option}{}", folder.display());
                let fix = "check the path; one that does not begin with `/` starts where the command is run";
                Err(Refused::new(Path::new(&option), "there is no such folder", fix).into())
            }
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
    number.ok_or_else(|| "write a number of seconds greater than 0, such as 0.0005".into())
}

fn integrator(name: &str) -> Result<Integrator, String> {
    name.parse().map_err(|invalid: Invalid| invalid.fix)
}

fn package(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
            Ok((name.to_owned(), folder.into()))
        }
        _ => Err("write NAME=FOLDER".into()),
    }
}

/// The scene of a file, or the robot of one, as a problem in which nothing may change. Warnings go to stderr.
pub fn simulation(file: &Path, reading: &Reading, timing: &Timing) -> Result<scene::Problem> {
    let (scene, source) = match is_robot(file) {
        true => robot(file, reading, timing)?,
        false => scene_of(file, reading, timing)?,
    };
    warn(&scene);
    Ok(scene::Problem {
        scene,
        variables: Vec::new(),
        losses: Vec::new(),
        optimiser: scene::Optimiser::default(),
        source,
    })
}

/// The problem of a file. Warnings go to stderr.
pub fn problem(file: &Path) -> Result<scene::Problem> {
    if is_robot(file) {
        let what = "a robot alone is no problem: nothing may change, and nothing is to be reached";
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let fix = format!(
            "name it in a problem, with `file = \"{name}\"` in a section `[[robots]]`; or `pullback simulate` it"
        );
        return Err(Refused::new(file, what, fix).into());
    }
    let problem = scene::Problem::load(file)?;
    warn(&problem.scene);
    Ok(problem)
}

impl Timing {
    /// What went wrong in a rollout, for a robot alone with a fix on the command line: its file has no `[simulation]`.
    pub fn fix(&self, file: &Path, error: Error) -> Error {
        let Error::Rollout(mut error) = error else { return error };
        if is_robot(file) {
            error.path.clear();
            let smaller = "take a smaller step with `--dt`, such as `--dt 0.0001`";
            error.fix = match self.integrator.unwrap_or_default().is_implicit() {
                true => smaller.into(),
                false => format!(
                    "{smaller}; or, for what is stiff, as damping on a light link is, `--integrator backward-euler`"
                ),
            };
        }
        Error::Rollout(error)
    }
}

/// URDF and MJCF.
fn is_robot(file: &Path) -> bool {
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("urdf") || end.eq_ignore_ascii_case("xml"))
}

/// Warnings to stderr, those that differ in names and places only as one.
fn warn(scene: &scene::Scene) {
    let mut kinds: Vec<Vec<&scene::Error>> = Vec::new();
    for warning in &scene.warnings {
        match kinds.iter_mut().find(|alike| is_like(alike[0], warning)) {
            Some(alike) => alike.push(warning),
            None => kinds.push(vec![warning]),
        }
    }
    for alike in kinds {
        eprintln!("warning: {}", alike[0]);
        let lines: Vec<String> =
            alike[1..].iter().filter_map(|it| it.position).map(|at| at.line.to_string()).collect();
        let shown = lines[..lines.len().min(MOST_LINES)].join(", ");
        let etc = if lines.len() > MOST_LINES { ", ..." } else { "" };
        let line = if lines.len() == 1 { "line" } else { "lines" };
        match (alike.len() - 1, lines.is_empty()) {
            (0, _) => {}
            (more, true) => eprintln!("  ... and {more} more like it"),
            (more, false) => eprintln!("  ... and {more} more like it, at {line} {shown}{etc}"),
        }
    }
}

/// Do they say the same, but for what stands in quotes?
fn is_like(a: &scene::Error, b: &scene::Error) -> bool {
    let plain = |text: &str| text.split('"').step_by(2).collect::<String>();
    a.file == b.file && a.fix == b.fix && plain(&a.path) == plain(&b.path) && plain(&a.what) == plain(&b.what)
}

fn scene_of(file: &Path, reading: &Reading, timing: &Timing) -> Result<(scene::Scene, scene::Source)> {
    let given = [
        (reading.lenient, "--lenient", "write `lenient = true` in the section `[[robots]]`"),
        (!reading.allow.is_empty(), "--allow", "write `allow = [\"FOLDER\"]` in the section `[[robots]]`"),
        (
            !reading.package.is_empty(),
            "--package",
            "write `packages = { NAME = \"FOLDER\" }` in the section `[[robots]]`",
        ),
        (reading.base.is_some(), "--base", "write `base = \"free\"` in the section `[[robots]]`"),
        (timing.dt.is_some(), "--dt", "write `dt` in the section `[simulation]`"),
        (timing.steps.is_some(), "--steps", "write `steps` in the section `[simulation]`"),
        (timing.integrator.is_some(), "--integrator", "write `integrator` in the section `[simulation]`"),
    ];
    if let Some((_, option, fix)) = given.into_iter().find(|(given, ..)| *given) {
        let what = format!("`{option}` is for files of robots, and this is a scene");
        return Err(Refused::new(file, what, fix.to_owned()).into());
    }
    let source = scene::Source::read(file)?;
    Ok((scene::Scene::from_source(&source)?, source))
}

/// The time step, steps and integrator of a robot alone; `usual` is the time step where none is asked for.
fn simulated(file: &Path, timing: &Timing, usual: f64) -> Result<scene::Simulation> {
    let dt = timing.dt.unwrap_or(usual);
    let steps = timing.steps.map_or((DURATION / dt).round().max(1.0), |steps| steps as f64);
    if steps > MOST_STEPS {
        let what = format!("{steps} steps are too many: the most is {MOST_STEPS}");
        return Err(Refused::new(file, what, "take a larger `--dt`, or fewer `--steps`").into());
    }
    let integrator = timing.integrator.unwrap_or_default();
    Ok(scene::Simulation { dt, steps: steps as usize, integrator, ..scene::Simulation::default() })
}

/// A robot alone in a world with the gravity and the time step of its file, for two seconds.
pub fn alone(loaded: Loaded) -> scene::Scene {
    let Loaded { mut robot, warnings } = loaded;
    robot.name = plain(&robot.name);
    let options = robot.options;
    let of_file = options.dt.filter(|dt| *dt > 0.0 && DURATION / dt <= MOST_STEPS);
    let dt = of_file.unwrap_or(DT);
    let steps = (DURATION / dt).round().max(1.0) as usize;
    scene::Scene {
        name: robot.name.clone(),
        world: scene::World {
            gravity: options.gravity.unwrap_or(scene::World::default().gravity),
            ..scene::World::default()
        },
        robots: vec![robot],
        simulation: scene::Simulation { dt, steps, ..scene::Simulation::default() },
        warnings,
        ..scene::Scene::default()
    }
}

/// The robot of a file, alone.
fn robot(file: &Path, reading: &Reading, timing: &Timing) -> Result<(scene::Scene, scene::Source)> {
    reading.folders_are_there()?;
    let load = Load {
        lenient: reading.lenient,
        allow: reading.allow.clone(),
        packages: reading.package.clone(),
        base: match reading.base {
            None => Base::AsWritten,
            Some(Stands::Free) => Base::Free,
            Some(Stands::Fixed) => Base::Fixed,
        },
        ..Load::default()
    };
    let mut all = alone(scene::Robot::load(file, &load)?);
    all.simulation = simulated(file, timing, all.simulation.dt)?;
    // The file stands for errors of what is checked now; it has no keys of scenes.
    let source = scene::Source::new("", file);
    all.check().map_err(|invalid| source.attach(invalid))?;
    Ok((all, source))
}

/// The name of a robot as names are written in scenes.
fn plain(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(legal).collect();
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() || first == '_' => name,
        Some(_) => format!("_{name}"),
        None => "robot".into(),
    }
}
