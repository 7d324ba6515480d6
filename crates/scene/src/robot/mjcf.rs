//! MJCF, the format of MuJoCo, as its compiler understands it.
//!
//! Read in this order: `parts` puts included files into one tree; `schema` refuses what MJCF does not have; `compiler`
//! says how the rest is meant, `class` what elements start from; `body` walks the tree of bodies with `joint`, `geom` and
//! `site`, `inertia` sums masses; `dofs` gives the inertia that joints feel; then `tendon`, `motor`, `contact`, `keyframe`.

mod actuator;
mod asset;
mod body;
mod class;
mod compiler;
mod contact;
mod geom;
mod inertia;
mod joint;
mod keyframe;
mod mesh_inertia;
mod motor;
mod parts;
mod range;
mod schema;
mod shell;
mod site;
mod tendon;
mod turn;

use std::path::Path;

use self::asset::Assets;
use self::body::{Bodies, Reader, names};
use self::class::Classes;
use self::compiler::{Compiler, Switches};
use self::motor::Surroundings;
use self::parts::{Texts, Tree};
use super::dofs::{Dofs, USUAL_LIMIT};
use super::files::{Files, Load};
use super::findings::Findings;
use super::load::Loaded;
use super::xml::{self, Xml};
use super::xml_text::Text;
use super::{Limit, Robot};
use crate::error::Error;

/// Reads a robot.
pub(crate) fn read(text: &Text, files: &mut Files, load: &Load) -> Result<Loaded, Error> {
    let main = Xml::parse(text)?;
    let texts = Texts::gather(text, files)?;
    let parsed = texts.parse()?;
    let tree = Tree::new(&main, &texts, &parsed)?;
    schema::check(&tree)?;
    let mut findings = Findings::new(load.lenient);
    let (robot, bodies) = robot(&tree, files, load, &mut findings)?;
    // First what is not supported: without it, what is left may be wrong.
    let warnings = findings.finish(text.file())?;
    robot.check().map_err(|invalid| {
        let of_bodies: Vec<_> = bodies.parts.iter().map(|part| part.element).collect();
        let of_joints: Vec<_> = bodies.joints.iter().map(|part| part.element).collect();
        xml::attach(invalid, tree.root(), &of_bodies, &of_joints)
    })?;
    Ok(Loaded { robot, warnings })
}

fn robot<'x>(
    tree: &Tree<'x>,
    files: &mut Files,
    load: &Load,
    findings: &mut Findings,
) -> Result<(Robot, Bodies<'x>), Error> {
    let compiler = Compiler::read(tree)?;
    let switches = Switches::read(tree, findings)?;
    let classes = Classes::read(tree, &compiler)?;
    let assets = Assets::read(tree, (&compiler, &classes), files, load.meshes)?;
    let reader = Reader { tree, classes: &classes, switches: &switches, assets, base: load.base };
    let mut bodies = reader.read(findings)?;
    let mut robot = Robot {
        name: name(tree),
        bodies: bodies.finish(&compiler)?,
        options: switches.options,
        touches_base: true,
        frames: std::mem::take(&mut bodies.frames),
        ..Robot::default()
    };
    let joint_names = names(bodies.joints.iter().map(|part| part.joint.name.as_str()), "joint");
    robot.joints = bodies.joints.iter().map(|part| part.joint.clone()).collect();
    robot.joints.iter_mut().zip(joint_names).for_each(|(joint, name)| joint.name = name);
    let dofs = Dofs::new(&robot).ok_or_else(|| {
        tree.root().error("too many joints hang from each other", "divide the robot, or nest its bodies less")
    })?;
    springs_and_limits(&mut robot, &bodies, &dofs, &switches);
    let tendons = tendon::read(tree, &classes, (&compiler, &switches), &robot.joints, findings)?;
    let tendon_names = names(tendons.tendons.iter().map(|tendon| tendon.name.as_str()), "tendon");
    robot.tendons = tendons.tendons;
    let surroundings = Surroundings {
        compiler: &compiler,
        switches: &switches,
        classes: &classes,
        robot: &robot,
        dofs: &dofs,
        joints: &bodies.joints,
        joints_left_out: &bodies.left_out,
        tendons_left_out: &tendons.left_out,
    };
    let motors = surroundings.motors(tree, findings)?;
    robot.tendons.iter_mut().zip(tendon_names).for_each(|(tendon, name)| tendon.name = name);
    robot.motors = motors.motors;
    name_motors(&mut robot);
    contact::read(tree, &bodies.geoms, &mut robot, findings)?;
    robot.keyframes = keyframe::read(tree, &bodies.layout, &motors.of_actuator, findings)?;
    if !switches.contact {
        robot.contact_pairs.clear();
    }
    robot.shapes = bodies.geoms.iter().map(|part| part.shape.clone()).collect();
    robot.shapes.iter_mut().for_each(|shape| shape.collides &= switches.contact);
    report_equalities(tree, &switches, findings);
    Ok((robot, bodies))
}

/// The model's name, or that of its file.
fn name(tree: &Tree<'_>) -> String {
    let root = tree.root();
    let stem = Path::new(root.file()).file_stem().unwrap_or_default().to_string_lossy();
    root.text("model").filter(|name| !name.trim().is_empty()).unwrap_or(&stem).to_owned()
}

/// Springs by time constant, as MuJoCo makes them, and the penalties of limits, made in the same way.
fn springs_and_limits(robot: &mut Robot, bodies: &Bodies<'_>, dofs: &Dofs, switches: &Switches) {
    for (at, (joint, part)) in robot.joints.iter_mut().zip(&bodies.joints).enumerate() {
        if part.spring_damper.is_none() && joint.range.is_none() {
            continue;
        }
        let inertia = dofs.of_joint(at, joint.kind);
        let penalty = |times| Limit::by_time(inertia, times);
        if let Some(times) = part.spring_damper {
            let Limit { stiffness, damping } = penalty(times);
            joint.stiffness = if switches.springs { stiffness } else { 0.0 };
            joint.damping = if switches.dampers { damping } else { 0.0 };
        }
        if joint.range.is_some() {
            joint.limit = match part.limit {
                [time, ratio] if time > 0.0 && ratio > 0.0 => penalty([time, ratio]),
                // Negative numbers are stiffness and damping for each inertia themselves.
                [stiffness, damping] if stiffness < 0.0 && damping <= 0.0 => {
                    Limit { stiffness: -stiffness * inertia, damping: -damping * inertia }
                }
                _ => penalty(USUAL_LIMIT),
            };
        }
    }
}

/// Motors without a name are called like what they pull at.
fn name_motors(robot: &mut Robot) {
    let taken: Vec<String> = robot.motors.iter().map(|motor| motor.name.clone()).collect();
    let mut given: Vec<String> = Vec::with_capacity(taken.len());
    for motor in &robot.motors {
        let usual = motor::usual_name(motor, robot);
        let free = !taken.contains(&usual) && !given.contains(&usual);
        given.push(if motor.name.is_empty() && free { usual } else { motor.name.clone() });
    }
    let all = names(given.iter().map(String::as_str), "motor");
    robot.motors.iter_mut().zip(all).for_each(|(motor, name)| motor.name = name);
}

/// Constraints between bodies are not supported, and neither is what bends.
fn report_equalities(tree: &Tree<'_>, switches: &Switches, findings: &mut Findings) {
    for section in tree.sections("equality").into_iter().filter(|_| switches.equality) {
        for element in tree.children(section) {
            if element.text("active") != Some("false") {
                let kind = element.name();
                findings.unsupported(element, format!("the constraint `<{kind}>` is not supported"));
            }
        }
    }
    for section in tree.sections("deformable") {
        for element in tree.children(section).into_iter().filter(|element| element.name() == "flex") {
            findings.unsupported(element, "soft bodies are not supported");
        }
    }
}
