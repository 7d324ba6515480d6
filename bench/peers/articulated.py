"""Dynamics of robots without contact in Pinocchio: the peer of `cargo xtask bench articulated`.

Panda with a fixed base (9 degrees of freedom), Laikago and Talos with a free one (18 and 50), each in the first state
of its file in PULLBACK_ORACLE_DIR. One thread, f64.

Prints one JSON object a line:

* MODEL/forward-dynamics, MODEL/inverse-dynamics: microseconds of `aba` and `rnea`;
* MODEL/jacobians: microseconds of `computeABADerivatives`, forward dynamics with its derivatives by q, v and tau;
* MODEL/acceleration-norm, MODEL/derivative-norm: |a| and the Frobenius norm of da/dq, in Pullback's coordinates. The
  other side must print the same numbers, or the two do not compute the same thing.

What a call from Python costs, measured as the same call on an empty model, is subtracted.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "crates/engine/tests/oracle"))

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
from with_pinocchio import Robot  # noqa: E402

MODELS = ["panda", "laikago", "talos"]


def folder(variable: str) -> Path:
    if variable not in os.environ:
        sys.exit(f"{variable} is not set; `cargo xtask oracle` says what it should be")
    return Path(os.environ[variable])


def best_microseconds(min_seconds: float, work: Callable[[], object]) -> float:
    """Of one call: the fastest of many repeats of calls that take a millisecond together."""
    calls = 1
    while seconds(calls, work) < 1e-3:
        calls *= 2
    best = float("inf")
    start = time.perf_counter()
    while time.perf_counter() - start < min_seconds:
        best = min(best, seconds(calls, work) / calls)
    return best * 1e6


def seconds(calls: int, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return time.perf_counter() - start


def row(case: str, unit: str, value: float) -> None:
    print(json.dumps({"case": case, "unit": unit, "value": value}), flush=True)


def measure(name: str, min_seconds: float) -> None:
    answers = json.loads((folder("PULLBACK_ORACLE_DIR") / f"{name}.json").read_text())
    robot = Robot.from_urdf(folder("PULLBACK_MODELS_DIR") / answers["file"], answers["floating"])
    q, v, a, tau = (np.array(answers["states"][0][key]) for key in ("q", "v", "a", "tau"))
    model, data, t = robot.model, robot.data, robot.velocity_map(q)
    position, velocity, force, acceleration = robot.position(q), t @ v, t @ tau, t @ a - robot.drift(q, v)
    empty, nothing = pin.Model(), np.zeros(0)
    empty_data = empty.createData()

    overhead = best_microseconds(min_seconds, lambda: pin.aba(empty, empty_data, nothing, nothing, nothing))
    passes: list[tuple[str, Callable[[], object]]] = [
        ("forward-dynamics", lambda: pin.aba(model, data, position, velocity, force)),
        ("inverse-dynamics", lambda: pin.rnea(model, data, position, velocity, acceleration)),
        ("jacobians", lambda: pin.computeABADerivatives(model, data, position, velocity, force)),
    ]
    for name_of_pass, work in passes:
        row(f"{name}/{name_of_pass}", "us", best_microseconds(min_seconds, work) - overhead)
    row(f"{name}/acceleration-norm", "1", float(np.linalg.norm(robot.acceleration(q, v, tau))))
    row(f"{name}/derivative-norm", "1", float(np.linalg.norm(robot.acceleration_derivatives(q, v, tau)[0])))


def main() -> None:
    parser = argparse.ArgumentParser(description="Dynamics of robots in Pinocchio.")
    parser.add_argument("--quick", action="store_true", help="measure each case for 0.2 s instead of 1 s")
    quick: bool = parser.parse_args().quick
    for name in MODELS:
        measure(name, 0.2 if quick else 1.0)


if __name__ == "__main__":
    main()
