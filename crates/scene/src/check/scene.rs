//! Checks of scenes.

use std::collections::HashMap;

use super::robot::robots;
use super::soft::{self, Group};
use super::soft_contact;
use super::{MOST, Number, attachment, contact, count, length, too_many};
use crate::error::Invalid;
use crate::names::allowed;
use crate::particles::Particles;
use crate::scene::{Actuator, AppliedForce, Oscillation, Scene};
use crate::simulation::{Memory, Simulation};
use crate::springs::Springs;
use crate::words;

type Checked = Result<(), Invalid>;

/// Checks a scene.
pub(crate) fn scene(scene: &Scene) -> Checked {
    simulation(&scene.simulation)?;
    Number::any("gravity", "m/s²").check_vector("world.gravity", &scene.world.gravity)?;
    Number::any("wind", "m/s").check_vector("world.wind", &scene.world.wind)?;
    let groups = soft::groups(scene)?;
    names(scene, &groups)?;
    all_particles(scene, &groups)?;
    soft::all(scene)?;
    all_springs(scene)?;
    let particles = scene.particle_count();
    for (i, force) in scene.forces.iter().enumerate() {
        applied_force(&format!("forces[{i}]"), force, particles)?;
    }
    for (i, actuator) in scene.actuators.iter().enumerate() {
        one_actuator(&format!("actuators[{i}]"), actuator, particles, scene.simulation.steps)?;
    }
    robots(scene)?;
    attachment::all(scene)?;
    soft_contact::check(scene)?;
    contact::all(scene)
}

fn simulation(simulation: &Simulation) -> Checked {
    Number::positive("time step", "s").check("simulation.dt", simulation.dt)?;
    count("simulation.steps", "the number of steps", simulation.steps)?;
    count("simulation.substeps", "the number of substeps", simulation.substeps)?;
    if let Some(truncate) = simulation.truncate {
        count("simulation.truncate", "the number of steps to pull back through", truncate)?;
    }
    if let Some(clip) = simulation.clip {
        Number::positive("greatest norm of a cotangent", "1").check("simulation.clip", clip)?;
    }
    match simulation.memory {
        Memory::Binomial { snapshots } => {
            count("simulation.memory.binomial", "the number of snapshots", snapshots)
        }
        Memory::Budget { bytes: 0 } => Err(Invalid::new(
            "simulation.memory.budget",
            "the budget is 0 bytes",
            "give at least as much memory as one state needs, such as budget = \"2 MB\"",
        )),
        Memory::Budget { .. } | Memory::EveryStep | Memory::Dense | Memory::Reversible => Ok(()),
    }
}

/// Names are legal, and no two things share one.
fn names(scene: &Scene, groups: &[Group]) -> Checked {
    let named = |section: &'static str, i: usize, name| (format!("{section}[{i}].name"), name);
    let particles = scene.particles.iter().zip(groups);
    let particles = particles.map(|(it, group)| (format!("{}.name", group.section), &it.name));
    let springs = scene.springs.iter().enumerate().map(|(i, it)| named("springs", i, &it.name));
    let forces = scene.forces.iter().enumerate().map(|(i, it)| named("forces", i, &it.name));
    let actuators = scene.actuators.iter().enumerate().map(|(i, it)| named("actuators", i, &it.name));
    let materials = scene.materials.iter().enumerate().map(|(i, it)| named("materials", i, &it.name));
    let shapes = scene.shapes.iter().enumerate().map(|(i, it)| named("shapes", i, &it.name));
    let attachments = scene.attachments.iter().enumerate().map(|(i, it)| named("attachments", i, &it.name));
    let motions = scene.motions.iter().enumerate().map(|(i, it)| named("motions", i, &it.name));
    let controllers = scene.controllers.iter().enumerate().map(|(i, it)| named("controllers", i, &it.name));
    let world = materials.chain(shapes).chain(attachments).chain(motions).chain(controllers);
    let mut seen: HashMap<&str, String> = HashMap::new();
    let robots =
        scene.robots.iter().enumerate().map(|(i, it)| (format!("{}.name", scene.robot_section(i)), &it.name));
    for (path, name) in particles.chain(springs).chain(forces).chain(actuators).chain(world).chain(robots) {
        allowed(name).map_err(|invalid| invalid.at(&path))?;
        if name == "contact" && scene.contact.is_some() {
            let what = "the name `contact` is reserved in a scene with a section `[contact]`";
            return Err(Invalid::new(path, what, "choose another name"));
        }
        if let Some(first) = seen.get(name.as_str()) {
            let what =
                format!("the name {} is taken by `{}`", words::quoted(name), first.trim_end_matches(".name"));
            return Err(Invalid::new(path, what, "give each its own name"));
        }
        seen.insert(name, path);
    }
    Ok(())
}

fn all_particles(scene: &Scene, groups: &[Group]) -> Checked {
    if scene.particles.is_empty() && scene.robots.is_empty() {
        let fix =
            "add a section `[[particles]]` with name, position and mass, or `[[bodies]]` or `[[robots]]`";
        return Err(Invalid::new("particles", "the scene has no particles and no bodies", fix));
    }
    let mut total = 0;
    for (group, Group { section, soft }) in scene.particles.iter().zip(groups) {
        particles(section, group, *soft)?;
        total += group.positions.len();
        if total > MOST {
            return Err(too_many(format!("{section}.positions"), total, "particles"));
        }
    }
    Ok(())
}

/// Checks a group. Points of soft things may have no mass of their own.
fn particles(path: &str, group: &Particles, soft: bool) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    let count = group.positions.len();
    if count == 0 {
        return Err(Invalid::new(
            of("positions"),
            "the group is empty",
            "give at least one position, or leave it out",
        ));
    }
    if !group.indexed && count != 1 {
        let what = format!("a single particle has {count} positions");
        return Err(Invalid::new(of("positions"), what, "give one position, or make it an indexed group"));
    }
    length(of("velocities"), group.velocities.len(), count, "particle")?;
    length(of("masses"), group.masses.len(), count, "particle")?;
    length(of("fixed"), group.fixed.len(), count, "particle")?;
    Number::any("position", "m").check_vectors(&of("positions"), &group.positions)?;
    Number::any("velocity", "m/s").check_vectors(&of("velocities"), &group.velocities)?;
    let mass = if soft { Number::not_negative("mass", "kg") } else { Number::positive("mass", "kg") };
    mass.check_all(&of("masses"), &group.masses)?;
    if let Some(drag) = &group.drag {
        length(of("drag"), drag.len(), count, "particle")?;
        Number::not_negative("drag", "kg/m").check_all(&of("drag"), drag)?;
    }
    let Some(radii) = &group.radii else {
        return Ok(());
    };
    length(of("radii"), radii.len(), count, "particle")?;
    Number::positive("radius", "m").check_all(&of("radii"), radii)
}

fn all_springs(scene: &Scene) -> Checked {
    let positions: Vec<[f64; 3]> =
        scene.particles.iter().flat_map(|group| group.positions.iter().copied()).collect();
    let mut total = 0;
    for (i, group) in scene.springs.iter().enumerate() {
        springs(&format!("springs[{i}]"), group, scene, &positions)?;
        total += group.ends.len();
        if total > MOST {
            return Err(too_many(format!("springs[{i}].ends"), total, "springs"));
        }
    }
    Ok(())
}

fn springs(path: &str, group: &Springs, scene: &Scene, positions: &[[f64; 3]]) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    let count = group.ends.len();
    if count == 0 {
        return Err(Invalid::new(
            of("ends"),
            "there are no springs in this group",
            "give ends, or leave it out",
        ));
    }
    if !group.indexed && count != 1 {
        let what = format!("a single spring has {count} pairs of ends");
        return Err(Invalid::new(of("ends"), what, "give one pair, or make it an indexed group"));
    }
    for (i, &pair) in group.ends.iter().enumerate() {
        ends(pair, scene, positions).map_err(|invalid| {
            invalid.at(if group.indexed { format!("{path}.ends[{i}]") } else { of("ends") })
        })?;
    }
    length(of("stiffness"), group.stiffness.len(), count, "spring")?;
    length(of("rest_lengths"), group.rest_lengths.len(), count, "spring")?;
    Number::not_negative("stiffness", "N/m").check_all(&of("stiffness"), &group.stiffness)?;
    Number::not_negative("rest length", "m").check_all(&of("rest_lengths"), &group.rest_lengths)?;
    let Some(damping) = &group.damping else {
        return Ok(());
    };
    length(of("damping"), damping.len(), count, "spring")?;
    Number::not_negative("damping", "N·s/m").check_all(&of("damping"), damping)
}

/// The ends of a spring are two particles in two places: else it has no direction.
fn ends([a, b]: [usize; 2], scene: &Scene, positions: &[[f64; 3]]) -> Checked {
    for end in [a, b] {
        if end >= positions.len() {
            return Err(no_particle("", end, positions.len()));
        }
    }
    let name = |index| words::quoted(&scene.particle_name(index));
    if a == b {
        let what = format!("both ends are {}", name(a));
        return Err(Invalid::new("", what, "join two different particles"));
    }
    if positions[a] == positions[b] {
        let what =
            format!("{} and {} are in one place, so that the spring has no direction", name(a), name(b));
        return Err(Invalid::new("", what, "move one of the two"));
    }
    Ok(())
}

/// An index that no particle has; can only happen in code.
pub(super) fn no_particle(path: impl Into<String>, index: usize, count: usize) -> Invalid {
    let fix = "particles are counted from 0 over all groups in order";
    let what = format!(
        "there is no particle {index}: there {}",
        match count {
            1 => "is 1".into(),
            _ => format!("are {count}"),
        }
    );
    Invalid::new(path, what, fix)
}

fn applied_force(path: &str, force: &AppliedForce, particles: usize) -> Checked {
    let on = format!("{path}.on");
    if force.on.is_empty() {
        return Err(Invalid::new(on, "the force acts on nothing", "name at least one particle"));
    }
    if force.on.len() > MOST {
        return Err(too_many(on, force.on.len(), "targets"));
    }
    if let Some(&index) = force.on.iter().find(|&&index| index >= particles) {
        return Err(no_particle(on, index, particles));
    }
    Number::any("force", "N").check_vector(&format!("{path}.force"), &force.force)?;
    force.oscillation.as_ref().map_or(Ok(()), |it| oscillation(path, it))
}

pub(super) fn oscillation(path: &str, it: &Oscillation) -> Checked {
    Number::positive("frequency", "Hz").check(&format!("{path}.frequency"), it.frequency)?;
    Number::any("phase", "rad").check(&format!("{path}.phase"), it.phase)
}

fn one_actuator(path: &str, actuator: &Actuator, particles: usize, steps: usize) -> Checked {
    if actuator.on >= particles {
        return Err(no_particle(format!("{path}.on"), actuator.on, particles));
    }
    controls(path, &actuator.control, steps, "N")
}

/// Controls that are vectors: one for all steps, or one for each.
pub(super) fn controls(path: &str, given: &[[f64; 3]], steps: usize, unit: &'static str) -> Checked {
    let path = format!("{path}.controls");
    let found = given.len();
    if found != 1 && found != steps {
        let what = format!(
            "there are {}, and the simulation has {}",
            words::counted(found, "control"),
            words::counted(steps, "step")
        );
        return Err(Invalid::new(path, what, "give one control for all steps, or one for each step"));
    }
    Number::any("control", unit).check_vectors(&path, given)
}
