"""Ask Pinocchio and MuJoCo about the dynamics of robots: ask.py MODELS OUT [NAME...]

Writes OUT/NAME.json for every model of models.py that an oracle can read, as README.md says, and OUT/skipped.json with
the reason for each other one. Fails when the two oracles disagree, or when Pinocchio's derivatives, converted to
Pullback's coordinates, are not those of its accelerations.
"""

import json
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import with_mujoco
import with_pinocchio
from agree import difference, mujoco_in_pinocchio, orders, urdf_in_mujoco
from models import MODELS, Model
from states import Array, Unsupported, random_q

STATES = 3
MANY_DOFS = 60  # above this many, one state
JACOBIANS = 3
ORACLES_AGREE = 1e-11
DERIVATIVES_AGREE = 1e-7


@dataclass
class Row:
    """What the table says of a model; the errors are the worst of its states."""

    name: str
    oracle: str
    nv: int
    states: int
    oracles: float | None = None
    derivatives: float | None = None
    why_not: str = ""

    def text(self) -> str:
        def number(x: float | None) -> str:
            return "-" if x is None else f"{x:.0e}"

        numbers = f"{self.nv:>4} {self.states:>6} {number(self.oracles):>8} {number(self.derivatives):>11}"
        return f"{self.name:<42} {self.oracle:<13} {numbers}  {self.why_not}".rstrip()

    def complaints(self) -> list[str]:
        out = []
        if self.oracles is not None and not self.oracles < ORACLES_AGREE:
            out.append(f"{self.name}: the oracles disagree by {self.oracles:.1e}")
        if self.derivatives is not None and not self.derivatives < DERIVATIVES_AGREE:
            out.append(f"{self.name}: derivatives are off by {self.derivatives:.1e}")
        return out


HEADER = f"{'model':<42} {'oracle':<13} {'nv':>4} {'states':>6} {'oracles':>8} {'derivatives':>11}"


def ask_pinocchio(model: Model, path: Path, rng: np.random.Generator) -> tuple[dict[str, object], Row]:
    """URDF: answers of Pinocchio, compared with MuJoCo where it takes the file."""
    robot = with_pinocchio.Robot.from_urdf(path, model.floating)
    states = random_states(robot, rng)
    moving = [link.name for link in robot.links if link.parentJoint > 0]
    bodies = [moving[k] for k in spread(len(moving), JACOBIANS)]
    answers = []
    for state in states:
        q = state["q"]
        jacobians = [{"body": body, "jacobian": robot.jacobian(q, body)} for body in bodies]
        answers.append(answer(robot, state) | {"jacobians": jacobians} | derivatives(robot, state))
    row = Row(model.name, with_pinocchio.VERSION, robot.nv, len(states))
    row.derivatives = max(robot.derivative_error(s["q"], s["v"], s["tau"]) for s in states)
    try:
        other = urdf_in_mujoco(path, model.floating)
        order = orders(robot.joints, other.joints)
        row.oracles = max(difference(robot, other, order, state) for state in states)
    except Unsupported as why:
        row.why_not = str(why)
    return head(model, robot, with_pinocchio.VERSION) | {"states": answers}, row


def ask_mujoco(model: Model, path: Path, rng: np.random.Generator) -> tuple[dict[str, object], Row]:
    """MJCF: answers of MuJoCo, compared with Pinocchio, which adds derivatives."""
    robot = with_mujoco.Robot.from_mjcf(path)
    states = random_states(robot, rng)
    other = mujoco_in_pinocchio(robot)
    bodies = [robot.moving[k] for k in spread(len(robot.moving), JACOBIANS)]
    answers = []
    for state in states:
        q, v = state["q"], state["v"]
        control, activation = robot.random_control(rng), rng.uniform(0.0, 1.0, robot.model.na)
        jacobians = [
            {"body": robot.model.body(b).name, "body_index": b - 1, "jacobian": robot.jacobian(q, b)} for b in bodies
        ]
        driven = robot.drive(q, v, control, activation)
        answers.append(answer(robot, state) | {"jacobians": jacobians} | driven | derivatives(other, state))
    row = Row(model.name, with_mujoco.VERSION, robot.nv, len(states))
    row.derivatives = max(other.derivative_error(s["q"], s["v"], s["tau"]) for s in states)
    same_order = (list(range(robot.nq)), list(range(robot.nv)))
    row.oracles = max(difference(robot, other, same_order, state) for state in states)
    extra = {"notes": robot.notes(), "motors": robot.motors(), "states": answers}
    return head(model, robot, with_mujoco.VERSION) | extra, row


def random_states(robot, rng: np.random.Generator) -> list[dict[str, Array]]:
    if robot.nv == 0:
        raise Unsupported("nothing moves")
    states = []
    for _ in range(STATES if robot.nv <= MANY_DOFS else 1):
        q = random_q(robot.joints, rng)
        v, a, tau = rng.standard_normal((3, robot.nv))
        check_definite(robot.mass_matrix(q))
        states.append({"q": q, "v": v, "a": a, "tau": tau})
    return states


def check_definite(mass: Array) -> None:
    scale = np.sqrt(np.diag(mass))
    if not (scale > 0.0).all() or np.linalg.eigvalsh(mass / np.outer(scale, scale)).min() < 1e-10:
        raise Unsupported("its mass matrix is not positive definite: a moving link without mass or inertia")


def spread(count: int, wanted: int) -> list[int]:
    """A few indices from 0 to count - 1, the last one among them: far from the root there is most to see."""
    return sorted({max(round((k + 1) * count / wanted) - 1, 0) for k in range(wanted)})


def answer(robot, state: dict[str, Array]) -> dict[str, object]:
    bodies = [pose.json() for pose in robot.poses(state["q"])]
    return state | robot.answer(**state) | {"bodies": bodies}


def derivatives(robot: with_pinocchio.Robot, state: dict[str, Array]) -> dict[str, object]:
    values = robot.acceleration_derivatives(state["q"], state["v"], state["tau"])
    return dict(zip(("da_dq", "da_dv", "da_dtau"), values))


def head(model: Model, robot, version: str) -> dict[str, object]:
    return {
        "model": model.name,
        "file": model.file,
        "format": model.format,
        "floating": model.floating,
        "oracle": version,
        "nq": robot.nq,
        "nv": robot.nv,
        "gravity": robot.gravity,
        "mass": robot.total_mass,
        "joints": [joint.json() for joint in robot.joints],
    }


def main() -> None:
    models, out, names = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    skipped: dict[str, str] = {}
    wrong: list[str] = []
    print(HEADER)
    for model in MODELS:
        if names and model.name not in names:
            continue
        # Of its own seed: a new model in the list leaves the states of the others as they are.
        rng = np.random.default_rng(zlib.crc32(model.name.encode()))
        ask = ask_pinocchio if model.format == "urdf" else ask_mujoco
        try:
            answers, row = ask(model, models / model.file, rng)
        except Unsupported as why:
            skipped[model.name] = str(why)
            continue
        text = json.dumps(answers, default=lambda array: array.tolist(), allow_nan=False)
        (out / f"{model.name}.json").write_text(text)
        wrong += row.complaints()
        print(row.text(), flush=True)
    (out / "skipped.json").write_text(json.dumps(skipped, indent=1))
    for name, why in skipped.items():
        print(f"skipped {name}: {why}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
