//! `<compiler>` and `<option>`: how the rest of the file is meant.

use super::parts::Tree;
use crate::error::Error;
use crate::robot::Options;
use crate::robot::findings::Findings;
use crate::robot::xml::Element;
use crate::words;

/// Where masses come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InertiaFromGeom {
    /// From `<inertial>` only.
    Never,
    /// From geoms, where there are any.
    Always,
    /// From geoms, unless there is an `<inertial>`.
    Auto,
}

/// How the rest of the file is meant.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Angles are in degrees.
    pub degrees: bool,
    /// The axes of Euler angles: 0 to 2, and whether they stay where they were before the turns.
    pub euler: [(usize, bool); 3],
    /// A range alone makes a limit.
    pub autolimits: bool,
    pub inertia_from_geom: InertiaFromGeom,
    /// The groups of geoms that have mass.
    pub inertia_groups: [f64; 2],
    pub balance_inertia: bool,
    pub least_mass: f64,
    pub least_inertia: f64,
    pub total_mass: Option<f64>,
    pub mesh_folder: String,
    pub strip_path: bool,
    pub align_free: bool,
    pub exact_meshes: bool,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            degrees: true,
            euler: [(0, false), (1, false), (2, false)],
            autolimits: true,
            inertia_from_geom: InertiaFromGeom::Auto,
            inertia_groups: [0.0, 5.0],
            balance_inertia: false,
            least_mass: 0.0,
            least_inertia: 0.0,
            total_mass: None,
            mesh_folder: String::new(),
            strip_path: false,
            align_free: false,
            exact_meshes: false,
        }
    }
}

impl Compiler {
    /// All `<compiler>` of a file; of what is said twice, the last.
    pub fn read(tree: &Tree<'_>) -> Result<Self, Error> {
        let mut compiler = Self::default();
        for element in tree.sections("compiler") {
            compiler.read_one(element)?;
        }
        Ok(compiler)
    }

    fn read_one(&mut self, element: Element<'_>) -> Result<(), Error> {
        if let Some("global") = element.text("coordinate") {
            let fix = "save the file with MuJoCo 2.3.3 or older, which makes them local";
            return Err(element.error_at("coordinate", "global coordinates are not read", fix));
        }
        element.choice("coordinate", &[("local", ())])?;
        set(&mut self.degrees, element.choice("angle", &[("degree", true), ("radian", false)])?);
        set(&mut self.autolimits, element.flag("autolimits")?);
        let from = [
            ("false", InertiaFromGeom::Never),
            ("true", InertiaFromGeom::Always),
            ("auto", InertiaFromGeom::Auto),
        ];
        set(&mut self.inertia_from_geom, element.choice("inertiafromgeom", &from)?);
        set(&mut self.inertia_groups, element.numbers("inertiagrouprange")?);
        set(&mut self.balance_inertia, element.flag("balanceinertia")?);
        set(&mut self.least_mass, element.number("boundmass")?);
        set(&mut self.least_inertia, element.number("boundinertia")?);
        if let Some(total) = element.number("settotalmass")? {
            self.total_mass = (total > 0.0).then_some(total);
        }
        let folder = element.text("meshdir").or(element.text("assetdir"));
        set(&mut self.mesh_folder, folder.map(str::to_owned));
        set(&mut self.strip_path, element.flag("strippath")?);
        set(&mut self.align_free, element.flag("alignfree")?);
        set(&mut self.exact_meshes, element.flag("exactmeshinertia")?);
        if let Some(sequence) = element.text("eulerseq") {
            self.euler = euler_sequence(sequence).ok_or_else(|| {
                let what = format!("{} is no sequence of three axes", words::quoted(sequence));
                element.error_at("eulerseq", what, "write three of x, y, z, X, Y and Z, such as \"xyz\"")
            })?;
        }
        Ok(())
    }

    /// An angle of the file [rad].
    pub fn angle(&self, angle: f64) -> f64 {
        if self.degrees { angle * (std::f64::consts::PI / 180.0) } else { angle }
    }
}

fn euler_sequence(text: &str) -> Option<[(usize, bool); 3]> {
    let axes: Option<Vec<(usize, bool)>> =
        text.chars().map(|letter| Some(("xyzXYZ".find(letter)? % 3, letter.is_ascii_uppercase()))).collect();
    axes?.try_into().ok()
}

/// Takes a value that is there.
pub(super) fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// What `<option>` and `<flag>` say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switches {
    pub options: Options,
    pub contact: bool,
    pub limits: bool,
    pub friction: bool,
    pub equality: bool,
    pub springs: bool,
    pub dampers: bool,
    pub clamp_controls: bool,
}

impl Switches {
    /// All `<option>` of a file; of what is said twice, the last.
    pub fn read(tree: &Tree<'_>, findings: &mut Findings) -> Result<Self, Error> {
        let mut switches = Self {
            options: Options::default(),
            contact: true,
            limits: true,
            friction: true,
            equality: true,
            springs: true,
            dampers: true,
            clamp_controls: true,
        };
        for element in tree.sections("option") {
            if let Some(gravity) = element.numbers("gravity")? {
                switches.options.gravity = Some(gravity);
            }
            if let Some(dt) = element.number("timestep")? {
                if dt <= 0.0 {
                    return Err(element.error_at(
                        "timestep",
                        "it is not positive",
                        "write a time such as 0.002 [s]",
                    ));
                }
                switches.options.dt = Some(dt);
            }
            for (medium, name) in
                [("density", "the density of the air"), ("viscosity", "the viscosity of the air")]
            {
                if element.number(medium)?.is_some_and(|value| value != 0.0) {
                    findings.unsupported_at(
                        element,
                        medium,
                        format!("{name}: there are no forces of a fluid"),
                    );
                }
            }
            if element.text("actuatorgroupdisable").is_some_and(|groups| !groups.trim().is_empty()) {
                findings.unsupported_at(
                    element,
                    "actuatorgroupdisable",
                    "groups of actuators cannot be disabled",
                );
            }
        }
        // After the options: a flag wins over a gravity that is written in another `<option>`.
        for element in tree.sections("option") {
            for flag in tree.children(element) {
                switches.read_flags(flag, findings)?;
            }
        }
        Ok(switches)
    }

    fn read_flags(&mut self, flag: Element<'_>, findings: &mut Findings) -> Result<(), Error> {
        let disabled = |name: &str| -> Result<bool, Error> {
            Ok(flag.choice(name, &[("disable", true), ("enable", false)])?.unwrap_or(false))
        };
        if disabled("gravity")? {
            self.options.gravity = Some([0.0; 3]);
        }
        let constraints = disabled("constraint")?;
        self.contact &= !(constraints || disabled("contact")?);
        self.limits &= !(constraints || disabled("limit")?);
        self.friction &= !(constraints || disabled("frictionloss")?);
        self.equality &= !(constraints || disabled("equality")?);
        let passive = disabled("passive")?;
        self.springs &= !(passive || disabled("spring")?);
        self.dampers &= !(passive || disabled("damper")?);
        self.clamp_controls &= !disabled("clampctrl")?;
        if disabled("actuation")? {
            findings.unsupported_at(flag, "actuation", "actuators cannot be disabled");
        }
        Ok(())
    }
}
