//! Checks of soft solids and sheets. Their points are checked with all other particles.

use std::collections::HashSet;

use super::{MOST, Number, one_or_each, too_many};
use crate::elastic::{LEAST_ACTUATION, SolidMaterial};
use crate::error::Invalid;
use crate::particles::Particles;
use crate::scene::Scene;
use crate::sheet::Sheet;
use crate::solid::{Solid, value_of};
use crate::words;

type Checked = Result<(), Invalid>;

/// A group of particles as files have it.
pub(super) struct Group {
    /// The section that it stands in: `particles[1]`; for points of solids and sheets, `solids[0]` or `sheets[0]`.
    pub section: String,
    /// Whether elements have mass too.
    pub soft: bool,
}

/// What the groups of a scene belong to: each solid and each sheet has one of its own.
pub(super) fn groups(scene: &Scene) -> Result<Vec<Group>, Invalid> {
    let own = |i| Group { section: format!("particles[{i}]"), soft: false };
    let mut groups: Vec<Group> = (0..scene.particles.len()).map(own).collect();
    let solids = scene.solids.iter().enumerate();
    let solids = solids.map(|(i, it)| (format!("solids[{i}]"), &it.name, it.group, it.rest.len()));
    let sheets = scene.sheets.iter().enumerate();
    let sheets = sheets.map(|(i, it)| (format!("sheets[{i}]"), &it.name, it.group, it.rest.len()));
    for (section, name, at, count) in solids.chain(sheets) {
        let invalid = |field: &str, what, fix| Err(Invalid::new(format!("{section}.{field}"), what, fix));
        let (Some(group), Some(of_scene)) = (groups.get_mut(at), scene.particles.get(at)) else {
            let what = format!("there is no group of particles {at}");
            return invalid("group", what, "add its points with it, by `add_solid` or `add_sheet`");
        };
        if group.soft {
            let what = format!("the group {} is that of `{}`", words::quoted(&of_scene.name), group.section);
            return invalid("group", what, "give each solid and each sheet a group of its own");
        }
        if of_scene.name != *name {
            let what = format!(
                "its name is {}, and its points are {}",
                words::quoted(name),
                words::quoted(&of_scene.name)
            );
            return invalid("name", what, "give both the same name");
        }
        let found = of_scene.positions.len();
        if !of_scene.indexed || found != count {
            let what = format!("{} are at rest, and the group has {found}", words::counted(count, "point"));
            return invalid("rest", what, "give one place for each particle of an indexed group");
        }
        *group = Group { section, soft: true };
    }
    Ok(groups)
}

/// Checks all solids and sheets; their groups are checked already.
pub(super) fn all(scene: &Scene) -> Checked {
    let mut total = 0;
    let mut add = |path: &str, count: usize| {
        total += count;
        if total > MOST { Err(too_many(format!("{path}.elements"), total, "elements")) } else { Ok(()) }
    };
    for (i, it) in scene.solids.iter().enumerate() {
        let path = format!("solids[{i}]");
        add(&path, it.elements.len())?;
        solid(&path, it)?;
        masses(&path, &it.point_masses(), &scene.particles[it.group])?;
    }
    for (i, it) in scene.sheets.iter().enumerate() {
        let path = format!("sheets[{i}]");
        add(&path, it.elements.len())?;
        sheet(&path, it)?;
        masses(&path, &it.point_masses(), &scene.particles[it.group])?;
    }
    Ok(())
}

/// What is allowed in meshes, and probably not meant: what several have is said once.
pub(super) fn doubts(scene: &Scene) -> Vec<Invalid> {
    let solids = scene.solids.iter().enumerate();
    let solids = solids.map(|(i, it)| (format!("solids[{i}].mesh"), &it.name, it.mesh().doubts()));
    let sheets = scene.sheets.iter().enumerate();
    let sheets = sheets.map(|(i, it)| (format!("sheets[{i}].mesh"), &it.name, it.mesh().doubts()));
    // With the names of those of which the same is to be said.
    let mut kinds: Vec<(Invalid, Vec<&str>)> = Vec::new();
    for (path, name, found) in solids.chain(sheets) {
        for doubt in found {
            if let Some((_, alike)) = kinds.iter_mut().find(|(other, _)| other.fix == doubt.fix) {
                alike.push(name);
            } else {
                let what = format!("{}: {}", words::quoted(name), doubt.what);
                kinds.push((Invalid::new(path.clone(), what, doubt.fix), Vec::new()));
            }
        }
    }
    let said = |(doubt, alike): (Invalid, Vec<&str>)| match alike.as_slice() {
        [] => doubt,
        _ => Invalid { what: format!("{}; so it is with {}", doubt.what, words::list(&alike)), ..doubt },
    };
    kinds.into_iter().map(said).collect()
}

/// A list of numbers of a solid or sheet: of elements, or of hinges.
struct Numbers<'n> {
    path: &'n str,
    count: usize,
    thing: &'static str,
}

impl Numbers<'_> {
    fn check(&self, field: &str, number: Number, values: &[f64]) -> Checked {
        let path = format!("{}.{field}", self.path);
        one_or_each(&path, values.len(), self.count, self.thing)?;
        number.check_all(&path, values)
    }

    fn check_some(&self, field: &str, number: Number, values: &Option<Vec<f64>>) -> Checked {
        values.as_ref().map_or(Ok(()), |values| self.check(field, number, values))
    }
}

fn solid(path: &str, solid: &Solid) -> Checked {
    solid.mesh().check().map_err(|invalid| of_mesh(path, invalid))?;
    let of_elements = Numbers { path, count: solid.elements.len(), thing: "element" };
    stiffness(&of_elements, &solid.mu, &solid.lambda, (2.0 / 3.0, "-2/3 mu"))?;
    of_elements.check("density", Number::not_negative("density", "kg/m³"), &solid.density)?;
    of_elements.check("actuation", Number::any("actuation", "1"), &solid.actuation)?;
    let too_small = |&a: &f64| solid.material != SolidMaterial::NeoHookean && a < LEAST_ACTUATION;
    if let Some(at) = solid.actuation.iter().position(too_small) {
        let what = format!("an actuation of {} asks for no volume, or less", solid.actuation[at]);
        let fix = format!("give one from {LEAST_ACTUATION} on, or make it of the material \"neo-hookean\"");
        return Err(Invalid::new(format!("{path}.actuation[{at}]"), what, fix));
    }
    of_elements.check_some("viscosity", Number::not_negative("viscosity", "Pa·s"), &solid.viscosity)
}

fn sheet(path: &str, sheet: &Sheet) -> Checked {
    sheet.mesh().check().map_err(|invalid| of_mesh(path, invalid))?;
    let of_elements = Numbers { path, count: sheet.elements.len(), thing: "element" };
    of_elements.check("thickness", Number::positive("thickness", "m"), &sheet.thickness)?;
    stiffness(&of_elements, &sheet.mu, &sheet.lambda, (1.0, "-mu"))?;
    of_elements.check("density", Number::not_negative("density", "kg/m³"), &sheet.density)?;
    of_elements.check("actuation", Number::any("actuation", "1"), &sheet.actuation)?;
    of_elements.check_some("viscosity", Number::not_negative("viscosity", "Pa·s"), &sheet.viscosity)?;
    of_elements.check_some("drag", Number::not_negative("drag", "kg/m³"), &sheet.drag)?;
    of_elements.check_some("lift", Number::not_negative("lift", "kg/m³"), &sheet.lift)?;
    hinges(path, sheet)?;
    let of_hinges = Numbers { path, count: sheet.hinges.len(), thing: "hinge" };
    of_hinges.check("bending", Number::not_negative("flexural rigidity", "N·m"), &sheet.bending)?;
    let damping = Number::not_negative("damping of the bending", "N·m·s");
    of_hinges.check_some("bending_damping", damping, &sheet.bending_damping)?;
    of_hinges.check_some("rest_angles", Number::any("angle", "rad"), &sheet.rest_angles)?;
    of_hinges.check("fold", Number::any("fold", "rad"), &sheet.fold)
}

/// What is wrong with a mesh, at the field that has it.
fn of_mesh(path: &str, invalid: Invalid) -> Invalid {
    let field = match invalid.path.strip_prefix("points") {
        Some(rest) => format!("{path}.rest{rest}"),
        None => format!("{path}.{}", invalid.path),
    };
    invalid.at(field)
}

/// Matter resists shear, and being compressed: lambda is above some part of -mu.
fn stiffness(of: &Numbers<'_>, mu: &[f64], lambda: &[f64], (part, bound): (f64, &str)) -> Checked {
    of.check("mu", Number::positive("shear modulus mu", "Pa"), mu)?;
    of.check("lambda", Number::any("parameter lambda", "Pa"), lambda)?;
    let soft = |&i: &usize| value_of(lambda, i) + part * value_of(mu, i) <= 0.0;
    let Some(i) = (0..mu.len().max(lambda.len())).find(soft) else {
        return Ok(());
    };
    let (mu, at) = (value_of(mu, i), if lambda.len() == 1 { 0 } else { i });
    let what =
        format!("with mu = {mu} Pa, lambda = {} Pa does not resist being compressed", value_of(lambda, i));
    Err(Invalid::new(format!("{}.lambda[{at}]", of.path), what, format!("give a lambda above {bound}")))
}

/// Hinges are between two triangles. Can only fail in code.
fn hinges(path: &str, sheet: &Sheet) -> Checked {
    let sorted = |mut corners: [u32; 3]| {
        corners.sort_unstable();
        corners
    };
    let wrong = sheet.hinges.iter().position(|hinge| {
        let [a, b] = hinge.edge;
        !(0..2).all(|i| {
            let element = sheet.elements.get(hinge.triangles[i] as usize);
            element.is_some_and(|&corners| sorted(corners) == sorted([a, b, hinge.opposite[i]]))
        })
    });
    if let Some(at) = wrong {
        let what = "this is no edge between two triangles of the sheet";
        return Err(Invalid::new(format!("{path}.hinges[{at}]"), what, "take some of `SheetMesh::hinges`"));
    }
    let mut seen = HashSet::new();
    let again = sheet.hinges.iter().position(|hinge| {
        let [a, b] = hinge.edge;
        !seen.insert([a.min(b), a.max(b)])
    });
    match again {
        Some(at) => {
            let what = "a hinge before has this edge already";
            Err(Invalid::new(format!("{path}.hinges[{at}]"), what, "take each of `SheetMesh::hinges` once"))
        }
        None => Ok(()),
    }
}

/// What moves has mass: that of the elements around it, or its own.
fn masses(path: &str, of_elements: &[f64], group: &Particles) -> Checked {
    let without = |&i: &usize| of_elements[i] + group.masses[i] == 0.0 && group.fixed[i] != [true; 3];
    match (0..of_elements.len()).find(without) {
        Some(i) => {
            let what = format!("`{}[{i}]` moves, and has no mass", group.name);
            let fix = "give the elements around it a density, or it a mass of its own, or fix it";
            Err(Invalid::new(format!("{path}.masses[{i}]"), what, fix))
        }
        None => Ok(()),
    }
}
