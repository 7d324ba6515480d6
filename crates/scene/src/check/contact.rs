//! Checks of contact: the model, materials, and shapes of the world.

use super::robot::geometry;
use super::{Number, count};
use crate::contact::{
    Complementarity, Contact, ContactModel, ContactSolver, JointFriction, JointLimits, Penalty,
};
use crate::error::Invalid;
use crate::material::{MaterialPair, Surface};
use crate::robot::{Geometry, Inertial, Joint, Robot, Shape};
use crate::scene::{Ground, Scene};
use crate::words;

type Checked = Result<(), Invalid>;

/// Checks all that is about contact; robots are checked already.
pub(super) fn all(scene: &Scene) -> Checked {
    for (i, material) in scene.materials.iter().enumerate() {
        surface(&format!("materials[{i}]"), &material.surface)?;
    }
    for (i, pair) in scene.material_pairs.iter().enumerate() {
        material_pair(i, pair, scene)?;
    }
    for (i, group) in scene.particles.iter().enumerate() {
        material(&format!("particles[{i}].material"), group.material, scene)?;
    }
    for (i, shape) in scene.shapes.iter().enumerate() {
        world_shape(&format!("shapes[{i}]"), shape, scene)?;
    }
    for (i, robot) in scene.robots.iter().enumerate() {
        materials_of(robot, scene).map_err(|invalid| {
            let path = format!("{}.{}", scene.robot_section(i), invalid.path);
            invalid.at(path)
        })?;
    }
    // What the ground has not is that of `[contact]`, where it is to be mended.
    scene.contact.as_ref().map_or(Ok(()), |it| contact(it, scene))?;
    scene.ground.as_ref().map_or(Ok(()), |it| ground(it, scene))
}

fn contact(contact: &Contact, scene: &Scene) -> Checked {
    let integrator = scene.simulation.integrator;
    if !contact.model.works_with(integrator) {
        let what = format!("`{integrator}` does not make steps with hard contact");
        let fix = "write `integrator = \"semi-implicit-euler\"`, or `model = \"penalty\"` in `[contact]`";
        return Err(Invalid::new("simulation.integrator", what, fix));
    }
    friction("contact.mu", contact.mu)?;
    part("contact.restitution", "restitution", contact.restitution)?;
    if let Some(most) = contact.most_contacts {
        count("contact.most_contacts", "the number of contacts", most)?;
    }
    match &contact.model {
        ContactModel::Complementarity(it) => complementarity(it),
        ContactModel::Penalty(it) => penalty("contact", it),
    }
}

fn complementarity(it: &Complementarity) -> Checked {
    count("contact.iterations", "the number of iterations", it.iterations)?;
    if let Some(fixed) = it.fixed_iterations {
        count("contact.fixed_iterations", "the number of iterations", fixed)?;
        if it.solver != ContactSolver::GaussSeidel {
            let what = "only Gauss-Seidel makes a fixed number of iterations";
            let fix = "add `solver = \"gauss-seidel\"`, or write `iterations`, the most that are made";
            return Err(Invalid::new("contact.fixed_iterations", what, fix));
        }
    }
    Number::positive("tolerance", "").check("contact.tolerance", it.tolerance)?;
    part("contact.stabilisation", "stabilisation", it.stabilisation)?;
    if it.stabilisation == 0.0 {
        let what = "the stabilisation is 0, with which nothing comes nearer than the margin";
        return Err(Invalid::new("contact.stabilisation", what, "write a number above 0, up to 1"));
    }
    Number::not_negative("regularisation", "").check("contact.regularisation", it.regularisation)?;
    Number::not_negative("margin", "m").check("contact.margin", it.margin)
}

fn penalty(path: &str, penalty: &Penalty) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    Number::not_negative("contact stiffness ke", "N/m").check(&of("ke"), penalty.ke)?;
    Number::not_negative("contact damping kd", "N·s/m").check(&of("kd"), penalty.kd)?;
    Number::not_negative("friction slope kf", "N·s/m").check(&of("kf"), penalty.kf)
}

fn friction(path: &str, mu: f64) -> Checked {
    Number::not_negative("coefficient of friction mu", "").check(path, mu)
}

/// A number from 0 to 1.
fn part(path: &str, word: &'static str, value: f64) -> Checked {
    Number::any(word, "").check(path, value)?;
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(Invalid::new(path, format!("the {word} is {value}"), "write a number from 0 to 1")),
    }
}

/// What is said of a surface, or of a pair.
fn surface(path: &str, surface: &Surface) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    let &Surface { mu, restitution, ke, kd, kf } = surface;
    friction(&of("mu"), mu.unwrap_or(0.0))?;
    part(&of("restitution"), "restitution", restitution.unwrap_or(0.0))?;
    let [ke, kd, kf] = [ke, kd, kf].map(|value| value.unwrap_or(0.0));
    penalty(path, &Penalty { ke, kd, kf })
}

fn material_pair(i: usize, pair: &MaterialPair, scene: &Scene) -> Checked {
    let path = format!("material_pairs[{i}]");
    let between = format!("{path}.between");
    pair.between.iter().try_for_each(|&at| material(&between, Some(at), scene))?;
    let same = |before: &MaterialPair| {
        let [a, b] = before.between;
        pair.between == [a, b] || pair.between == [b, a]
    };
    if scene.material_pairs[..i].iter().any(same) {
        let [a, b] = pair.between.map(|at| words::quoted(&scene.materials[at].name));
        let what = format!("the pair of {a} and {b} stands here for the second time");
        return Err(Invalid::new(between, what, "keep one of the two"));
    }
    surface(&path, &pair.surface)
}

/// A material that is there; can only fail in code.
fn material(path: &str, material: Option<usize>, scene: &Scene) -> Checked {
    let count = scene.materials.len();
    match material {
        Some(at) if at >= count => {
            let what = format!("there is no material {at}");
            Err(Invalid::new(path, what, format!("there are {count}, counted from 0")))
        }
        Some(_) | None => Ok(()),
    }
}

fn world_shape(path: &str, shape: &Shape, scene: &Scene) -> Checked {
    let of = |field: &str| format!("{path}.{field}");
    if shape.body.is_some() {
        let what = "a shape of the world is on a body";
        return Err(Invalid::new(of("body"), what, "leave the body out, or give the shape to the robot"));
    }
    shape.placement.check(&words::quoted(&shape.name)).map_err(|invalid| invalid.at(of("position")))?;
    material(&of("material"), shape.material, scene)?;
    if let Geometry::Mesh(mesh) = &shape.geometry
        && mesh.triangles.is_none()
    {
        let what = "the mesh has no triangles";
        return Err(Invalid::new(of("shape.mesh"), what, "read them, by `Triangles::parse`"));
    }
    geometry(shape).map_err(|invalid| {
        let path = of(&invalid.path);
        invalid.at(path)
    })
}

/// Shapes of a robot name materials that are there.
fn materials_of(robot: &Robot, scene: &Scene) -> Checked {
    let mut shapes = robot.shapes.iter().enumerate();
    shapes.try_for_each(|(i, shape)| material(&format!("shapes[{i}].material"), shape.material, scene))
}

fn ground(ground: &Ground, scene: &Scene) -> Checked {
    Number::any("height", "m").check("ground.height", ground.height)?;
    surface("ground", &ground.surface())?;
    material("ground.material", ground.material, scene)
}

/// What is allowed, and probably not meant.
pub(super) fn doubts(scene: &Scene) -> impl Iterator<Item = Invalid> + use<> {
    [nothing_touches(scene), falls_through(scene), light_bodies(scene), light_points(scene)]
        .into_iter()
        .flatten()
}

/// Bodies with shapes fall through the ground if the scene has no model of contact.
fn falls_through(scene: &Scene) -> Option<Invalid> {
    let of_robot = scene.robots.iter().position(has_still_shape);
    let (path, what) = match (&scene.ground, scene.shapes.iter().position(|shape| shape.collides), of_robot) {
        (Some(_), _, _) => ("ground".to_owned(), "the ground"),
        (None, Some(i), _) => (format!("shapes[{i}]"), "the shapes of the world"),
        (None, None, Some(i)) => (scene.robot_section(i), "the shapes that its file fixes to the world"),
        (None, None, None) => return None,
    };
    let on_body = |robot: &Robot| robot.shapes.iter().any(|shape| shape.collides && shape.body.is_some());
    // The ground holds particles by itself.
    let soft = scene.ground.is_none() && (!scene.solids.is_empty() || !scene.sheets.is_empty());
    let bodies = scene.robots.iter().any(on_body);
    if scene.contact.is_some() || !(bodies || soft) {
        return None;
    }
    let who = if bodies { "bodies" } else { "solids and sheets" };
    let what = format!("{who} pass through {what}: the scene has no model of contact");
    Some(Invalid::new(path, what, "add `[contact]`"))
}

/// A model of contact that nothing needs is probably not all that was to be written.
fn nothing_touches(scene: &Scene) -> Option<Invalid> {
    let contact = scene.contact?;
    if can_touch(scene, &contact) || holds_joints(scene, &contact) {
        return None;
    }
    let (what, fix) = if scene.ground.is_some() && !scene.particles.is_empty() {
        let what = "there is nothing that could touch but particles and the ground, which holds them without it, by its own numbers";
        (what, "leave `[contact]` out, or add `[[shapes]]` or bodies with shapes that collide")
    } else {
        let fix = "add `[ground]`, `[[shapes]]` or bodies with shapes that collide, or leave `[contact]` out";
        ("there is nothing that could touch", fix)
    };
    Some(Invalid::new("contact", what, fix))
}

/// Springs and dampers that are too much for something in one step: explicit steps overshoot, and may blow up. A step changes the normal
/// velocity by n kd dt/m of itself, the sliding one by n kf dt/m, and the depth by n ke dt²/m, where n points touch. Above 1 they change
/// their sign in every step.
fn too_stiff(path: &str, of: impl Iterator<Item = Stiff>) -> Option<Invalid> {
    let mut all: Vec<Stiff> = of.filter(|it| it.ratio > 1.0).collect();
    all.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let Stiff { who, on, key, value, unit, formula, ratio } = all.first()?;
    let what = format!(
        "{who} is too light for {key} = {value} {unit}: {formula} is {ratio:.2}{on}, and above 1 contact chatters or blows up"
    );
    // Whoever mends one number meets the next otherwise.
    let mut below: Vec<(&str, f64)> = Vec::new();
    for it in &all {
        let least = it.value / it.ratio;
        match below.iter_mut().find(|(key, _)| *key == it.key) {
            Some((_, most)) => *most = most.min(least),
            None => below.push((it.key, least)),
        }
    }
    let below = below.iter().map(|(key, most)| format!("`{key}` below {}", significant(*most)));
    let below = below.collect::<Vec<_>>().join(", ");
    Some(Invalid::new(path, what, format!("take {below}, a smaller `dt`, or more `substeps`")))
}

/// The length of an explicit step [s]; none for an implicit one, which nothing is too stiff for.
fn explicit_step(scene: &Scene) -> Option<f64> {
    let simulation = &scene.simulation;
    (!simulation.integrator.is_implicit()).then(|| simulation.dt / simulation.substeps.max(1) as f64)
}

fn is_penalty(contact: &Contact) -> bool {
    matches!(contact.model, ContactModel::Penalty(_))
}

/// Loose bodies that are too light.
fn light_bodies(scene: &Scene) -> Option<Invalid> {
    let (dt, _) = (explicit_step(scene)?, scene.contact.filter(is_penalty)?);
    let loose = scene.robots.iter().filter(|robot| robot.loose);
    let all = loose.flat_map(|robot| {
        let shapes = robot.shapes.iter().filter(|shape| shape.collides);
        shapes
            .filter_map(|shape| Some((&robot.bodies.get(shape.body?)?.inertial, shape)))
            .flat_map(|(inertial, shape)| stiffness(scene, inertial, shape, dt))
    });
    too_stiff("contact.model", all)
}

/// Points of soft things that are too light, each by itself.
fn light_points(scene: &Scene) -> Option<Invalid> {
    let dt = explicit_step(scene)?;
    // Points touch by springs, whatever the model of contact is.
    let of_robots = scene.robots.iter().flat_map(|robot| &robot.shapes);
    let shapes: Vec<&Shape> = scene.shapes.iter().chain(of_robots).filter(|shape| shape.collides).collect();
    let touches = |material: Option<usize>| {
        let ground = scene.ground.as_ref().map(|ground| ("ground", scene.touch_of_ground(ground)));
        let of_shape = |shape: &&Shape| ("contact", scene.touch_with_points(shape, material));
        let shapes = shapes.iter().filter(|_| scene.contact.is_some()).map(of_shape);
        ground.into_iter().chain(shapes).collect::<Vec<_>>()
    };
    let solids = scene.solids.iter().map(|it| (&it.name, it.group, it.point_masses()));
    let sheets = scene.sheets.iter().map(|it| (&it.name, it.group, it.point_masses()));
    let lightest = |(name, group, masses): (&String, usize, Vec<f64>)| {
        let points = scene.particles.get(group)?;
        let all = masses.iter().zip(&points.masses).zip(&points.fixed);
        let moving = all.filter(|(_, fixed)| **fixed != [true; 3]).map(|((a, b), _)| a + b);
        let mass = moving.filter(|mass| *mass > 0.0).min_by(f64::total_cmp)?;
        Some((format!("a point of `{name}`"), mass, points.material))
    };
    let mut all: Vec<(&str, Stiff)> = Vec::new();
    for (who, mass, material) in solids.chain(sheets).filter_map(lightest) {
        let of = |key, value, unit, formula, per: f64| Stiff {
            who: format!("{who} of {} kg", significant(mass)),
            on: String::new(),
            key,
            value,
            unit,
            formula,
            ratio: value * per,
        };
        for (path, touch) in touches(material) {
            all.extend([
                (path, of("kf", touch.kf, "N·s/m", "kf dt/m", dt / mass)),
                (path, of("kd", touch.kd, "N·s/m", "kd dt/m", dt / mass)),
                (path, of("ke", touch.ke, "N/m", "ke dt²/m", dt * dt / mass)),
            ]);
        }
    }
    let (path, _) = all.iter().max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))?;
    let path = *path;
    let of_path = all.into_iter().filter(|(of, _)| *of == path).map(|(_, stiff)| stiff);
    let mut doubt = too_stiff(path, of_path)?;
    if path == "contact" && !scene.contact.as_ref().is_some_and(is_penalty) {
        let place = "in a material of `[[materials]]` that both the shape and the points have, or in `[contact]` with `model = \"penalty\"`";
        doubt.fix = format!("{}; {place}", doubt.fix);
    }
    Some(doubt)
}

/// The first three digits, wherever they begin.
fn significant(x: f64) -> String {
    let digits = (2.0 - x.log10().floor()).clamp(0.0, 12.0) as i32;
    let scale = 10f64.powi(digits);
    // Not above it, but for rounding.
    format!("{}", (x * scale * (1.0 + 1e-9)).floor() / scale)
}

/// A number of a penalty, and what it comes to for something in one step.
struct Stiff {
    who: String,
    /// How many points bear it, if that counts.
    on: String,
    key: &'static str,
    value: f64,
    unit: &'static str,
    formula: &'static str,
    ratio: f64,
}

/// The numbers with which a shape of a loose body touches the ground, or its like where there is none.
fn stiffness(scene: &Scene, inertial: &Inertial, shape: &Shape, dt: f64) -> [Stiff; 3] {
    let touch = match &scene.ground {
        Some(ground) => scene.touch_with_ground(shape, ground),
        None => scene.touch_between(shape, shape),
    };
    let (mass, arm, points) = (inertial.mass, least_arm(&shape.geometry), bearing_points(&shape.geometry));
    let inertia = inertial.inertia[..3].iter().copied().fold(0.0, f64::max);
    let sliding = 1.0 / mass + if inertia > 0.0 { arm * arm / inertia } else { 0.0 };
    let of = |key, value, unit, formula, per: f64| Stiff {
        who: format!("a body of {mass} kg"),
        on: format!(" on n = {points} of its points"),
        key,
        value,
        unit,
        formula,
        ratio: value * per,
    };
    [
        of("kf", touch.kf, "N·s/m", "n kf dt (1/m + r²/I)", points * dt * sliding),
        of("kd", touch.kd, "N·s/m", "n kd dt/m", points * dt / mass),
        of("ke", touch.ke, "N/m", "n ke dt²/m", points * dt * dt / mass),
    ]
}

/// How many points of a shape bear it where it lies on flat ground; of a mesh, at least.
fn bearing_points(geometry: &Geometry) -> f64 {
    match geometry {
        Geometry::Sphere { .. } | Geometry::Ellipsoid { .. } => 1.0,
        Geometry::Capsule { .. } => 2.0,
        Geometry::Cylinder { .. } | Geometry::Plane | Geometry::Mesh(_) | Geometry::Heights(_) => 3.0,
        Geometry::Box { .. } => 4.0,
    }
}

/// How far from its middle a shape touches at least [m].
fn least_arm(geometry: &Geometry) -> f64 {
    let least = |sides: &[f64; 3]| sides.iter().copied().fold(f64::INFINITY, f64::min);
    match geometry {
        Geometry::Sphere { radius }
        | Geometry::Capsule { radius, .. }
        | Geometry::Cylinder { radius, .. } => *radius,
        Geometry::Box { half_sides } => least(half_sides),
        Geometry::Ellipsoid { half_axes } => least(half_axes),
        Geometry::Plane | Geometry::Mesh(_) | Geometry::Heights(_) => 0.0,
    }
}

/// Whether hard contact holds a joint by its limit or its friction.
fn holds_joints(scene: &Scene, contact: &Contact) -> bool {
    let ContactModel::Complementarity(law) = &contact.model else { return false };
    let limits = |joint: &Joint| law.joint_limits == JointLimits::Hard && joint.range.is_some();
    let friction = |joint: &Joint| law.joint_friction == JointFriction::Hard && joint.friction != 0.0;
    scene.robots.iter().flat_map(|robot| &robot.joints).any(|joint| limits(joint) || friction(joint))
}

/// Whether a robot's file fixes a shape to the world that collides.
fn has_still_shape(robot: &Robot) -> bool {
    robot.shapes.iter().any(|shape| shape.collides && shape.body.is_none())
}

/// Whether anything could touch by this model of contact: bodies with shapes, particles, and what these meet.
fn can_touch(scene: &Scene, contact: &Contact) -> bool {
    let solid = |shape: &&Shape| shape.collides;
    let bodies = |robot: &Robot| {
        let mut bodies: Vec<usize> =
            robot.shapes.iter().filter(solid).filter_map(|shape| shape.body).collect();
        bodies.sort_unstable();
        bodies.dedup();
        bodies.len()
    };
    let with_itself = |robot: &Robot| robot.loose || robot.self_collision.unwrap_or(contact.self_collision);
    let moving: Vec<&Robot> = scene.robots.iter().filter(|robot| bodies(robot) > 0).collect();
    let still = scene.ground.is_some()
        || scene.shapes.iter().any(|shape| shape.collides)
        || scene.robots.iter().any(has_still_shape);
    let penalty = matches!(contact.model, ContactModel::Penalty(_));
    let mut shapes = scene.shapes.iter().chain(scene.robots.iter().flat_map(|robot| &robot.shapes));
    if !scene.particles.is_empty() && shapes.any(|shape| shape.collides) {
        return true;
    }
    match moving.as_slice() {
        [] => penalty && scene.ground.is_some() && !scene.particles.is_empty(),
        [one] => still || (with_itself(one) && bodies(one) > 1),
        [_, _, ..] => true,
    }
}
