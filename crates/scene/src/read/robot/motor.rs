//! `[[robots.motors]]` and `[[robots.tendons]]`.

use super::{joint_of, name};
use crate::error::Invalid;
use crate::read::node::{Keys, Node, Table};
use crate::robot::{Motor, Robot, Tendon, Transmission};

const KEYS: Keys = &[
    ("name", "name = \"motor\""),
    ("joint", "joint = \"elbow\""),
    ("tendon", "tendon = \"cable\""),
    ("kind", "kind = \"torque\""),
    ("kp", "kp = 100"),
    ("kd", "kd = 10"),
    ("gain", "gain = [1, 0, 0]"),
    ("bias", "bias = [0, 0, 0]"),
    ("gear", "gear = 1"),
    ("control_range", "control_range = [-1, 1]"),
    ("force_range", "force_range = [-50, 50]"),
];

const TENDON_KEYS: Keys = &[
    ("name", "name = \"cable\""),
    ("joints", "joints = { left = 1, right = -1 }"),
    ("stiffness", "stiffness = 10"),
    ("damping", "damping = 0.1"),
    ("spring_range", "spring_range = [0, 0]"),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Torque,
    Position,
    Velocity,
    General,
}

const KINDS: [(&str, Kind); 4] = [
    ("torque", Kind::Torque),
    ("position", Kind::Position),
    ("velocity", Kind::Velocity),
    ("general", Kind::General),
];

pub(super) fn tendon(node: &Node<'_>, robot: &Robot) -> Result<Tendon, Invalid> {
    let table = node.table(TENDON_KEYS)?;
    let names: Vec<&str> = robot.joints.iter().map(|joint| joint.name.as_str()).collect();
    let joint = |(key, value): (&str, Node<'_>)| {
        let found =
            crate::names::choose("joint", key, &numbered(&names)).map_err(|invalid| value.moved(invalid))?;
        Ok((found, value.number()?))
    };
    let joints = table.need("joints")?;
    let number = |key| table.optional(key, |it| it.number());
    Ok(Tendon {
        name: name(&table)?,
        joints: joints.entries()?.into_iter().map(joint).collect::<Result<_, Invalid>>()?,
        stiffness: number("stiffness")?.unwrap_or(0.0),
        damping: number("damping")?.unwrap_or(0.0),
        spring_range: table
            .optional("spring_range", |it| it.array("a list of two numbers"))?
            .unwrap_or_default(),
    })
}

fn numbered<'n>(names: &[&'n str]) -> Vec<(&'n str, usize)> {
    names.iter().enumerate().map(|(i, name)| (*name, i)).collect()
}

pub(super) fn read(node: &Node<'_>, robot: &Robot) -> Result<Motor, Invalid> {
    let table = node.table(KEYS)?;
    let name = name(&table)?;
    let transmission = transmission(&table, robot)?;
    let (gain, bias) = law(&table)?;
    let range = |key| table.optional(key, |it| it.array("a list of two numbers"));
    Ok(Motor {
        name,
        transmission,
        gain,
        bias,
        control_range: range("control_range")?,
        force_range: range("force_range")?,
        controls: Vec::new(),
    })
}

/// What the motor pulls at, and with which gears.
fn transmission(table: &Table<'_>, robot: &Robot) -> Result<Transmission, Invalid> {
    let gear = table.get("gear");
    if table.need_one_of(&["joint", "tendon"])? == "tendon" {
        let names: Vec<&str> = robot.tendons.iter().map(|tendon| tendon.name.as_str()).collect();
        let tendon = table.need("tendon")?.choose("tendon", &numbered(&names))?;
        return Ok(Transmission::Tendon { tendon, gear: gear.map_or(Ok(1.0), |it| it.number())? });
    }
    let joint = joint_of(&table.need("joint")?, robot)?;
    let gear = match gear {
        Some(node) if node.len().is_ok() => node.numbers()?,
        Some(node) => vec![node.number()?],
        None => vec![1.0],
    };
    Ok(Transmission::Joint { joint, gear })
}

/// The gain and bias of a motor, of which force = (g0 + g1 l + g2 l') · control + b0 + b1 l + b2 l'.
fn law(table: &Table<'_>) -> Result<([f64; 3], [f64; 3]), Invalid> {
    let kind = table.need("kind")?.choose("kind of motor", &KINDS)?;
    let number = |key| table.need(key)?.number();
    let vector = |key| table.optional(key, |it| it.vector());
    Ok(match kind {
        Kind::Torque => {
            table.refuse("a motor of kind `torque`", &["kp", "kd", "gain", "bias"])?;
            ([1.0, 0.0, 0.0], [0.0; 3])
        }
        Kind::Position => {
            table.refuse("a motor of kind `position`", &["gain", "bias"])?;
            let (kp, kd) = (number("kp")?, table.optional("kd", |it| it.number())?.unwrap_or(0.0));
            ([kp, 0.0, 0.0], [0.0, -kp, -kd])
        }
        Kind::Velocity => {
            table.refuse("a motor of kind `velocity`", &["kp", "gain", "bias"])?;
            let kd = number("kd")?;
            ([kd, 0.0, 0.0], [0.0, 0.0, -kd])
        }
        Kind::General => {
            table.refuse("a motor of kind `general`", &["kp", "kd"])?;
            (vector("gain")?.unwrap_or([1.0, 0.0, 0.0]), vector("bias")?.unwrap_or([0.0; 3]))
        }
    })
}
