//! `[[controllers]]`.

use super::node::{Keys, Node};
use crate::check::Number;
use crate::controller::Controller;
use crate::error::Invalid;

const KEYS: Keys = &[
    ("name", "name = \"legs\""),
    ("drives", "drives = \"gear.actuation\""),
    ("frequency", "frequency = 20"),
    ("sinusoids", "sinusoids = 4"),
    ("frequencies", "frequencies = [5, 10]"),
    ("phases", "phases = [0, 1.57]"),
    ("features", "features = [\"gear[0].position\"]"),
    ("scale", "scale = 0.2"),
    ("weights", "weights = [0.1, 0.2]"),
    ("gains", "gains = [0.1, 0.2]"),
    ("biases", "biases = [0.1, 0.2]"),
];

/// Reads a controller. Whether there are such controls and numbers of the state, a model knows.
pub(super) fn read(node: &Node<'_>) -> Result<Controller, Invalid> {
    let table = node.table(KEYS)?;
    let name = table.name()?;
    let drives = table.need("drives")?.text()?.to_owned();
    let list = |key| table.optional(key, |it| it.numbers()).map(Option::unwrap_or_default);
    let mut controller = Controller::new(name, drives, 0.0, 0);
    match table.one_of(&["frequency", "frequencies"])? {
        Some("frequency") => {
            let frequency = table.need("frequency")?.number()?;
            let count = table.optional("sinusoids", |it| it.whole())?.unwrap_or(2);
            table.refuse("sinusoids of one `frequency`, which are evenly out of phase,", &["phases"])?;
            controller =
                Controller::new(controller.name, controller.drives, frequency, count.min(MOST_SINUSOIDS));
            if count == 0 || count > MOST_SINUSOIDS {
                let fix = format!("write a number from 1 to {MOST_SINUSOIDS}");
                return Err(table.invalid("sinusoids", format!("{count} sinusoids"), fix));
            }
        }
        Some(_) => {
            table.refuse("a list of `frequencies`", &["sinusoids"])?;
            let (frequencies, phases) = (list("frequencies")?, list("phases")?);
            if !phases.is_empty() && phases.len() != frequencies.len() {
                let what = format!("{} phases for {} frequencies", phases.len(), frequencies.len());
                return Err(table.invalid(
                    "phases",
                    what,
                    "give one phase for each frequency, or leave them out",
                ));
            }
            let phase = |i: usize| phases.get(i).copied().unwrap_or(0.0);
            controller.sinusoids = frequencies.iter().enumerate().map(|(i, &f)| [f, phase(i)]).collect();
        }
        None => table.refuse("a controller without `frequency`", &["sinusoids", "phases"])?,
    }
    let texts = |it: &Node<'_>| it.items("a list of names", |name| name.text().map(str::to_owned));
    controller.features = table.optional("features", texts)?.unwrap_or_default();
    if controller.sinusoids.is_empty() && controller.features.is_empty() {
        let what = "a controller that sees neither time nor the state";
        return Err(table.invalid(
            "frequency",
            what,
            "write `frequency = 20`, or `features = [\"ball.position\"]`",
        ));
    }
    controller.scale = table.optional("scale", |it| it.number())?.unwrap_or(1.0);
    Number::any("scale", "1").check("scale", controller.scale).map_err(|it| node.moved(it))?;
    (controller.weights, controller.gains, controller.biases) =
        (list("weights")?, list("gains")?, list("biases")?);
    Ok(controller)
}

/// More sinusoids than this are taken for a slip.
const MOST_SINUSOIDS: usize = 10_000;
