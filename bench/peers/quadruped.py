"""Laikago standing on four toes in MuJoCo: the peer of `cargo xtask bench quadruped`.

The robot of bench/src/robots.rs, `standing`: a free base, twelve servos, toes that are spheres on a plane, nothing else that
touches; steps of 1 ms, friction 1. One thread, f64, with elliptic cones.

Prints one JSON object a line:

* laikago/forward: microseconds a step of `mujoco.rollout`, by the faster one of the solvers Newton and PGS;
  laikago/forward/SOLVER each of them;
* laikago/pullback: microseconds of `mjd_transitionFD`, the Jacobians of a step by forward differences;
* laikago/lanes: worlds a second, which is one over the time of a step;
* laikago/height: where the base comes to rest. The other side must be near it.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
sys.dont_write_bytecode = True

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
from mujoco import rollout  # noqa: E402

KP, KD, HEIGHT = 50.0, 3.0, 0.46
HIP, UPPER, KNEE = 0.2, 0.0, -0.5
SETTLE, STEPS = 2000, 1000
SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "pgs": mujoco.mjtSolver.mjSOL_PGS}


def row(case: str, unit: str, value: float) -> None:
    print(json.dumps({"case": case, "unit": unit, "value": value}), flush=True)


def best_seconds(min_seconds: float, work: Callable[[], object]) -> float:
    """Of one call: the fastest of many."""
    best, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < min_seconds:
        before = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - before)
    return best


def standing() -> mujoco.MjModel:
    if "PULLBACK_MODELS_DIR" not in os.environ:
        sys.exit("PULLBACK_MODELS_DIR is not set; `cargo xtask oracle` says what it should be")
    file = Path(os.environ["PULLBACK_MODELS_DIR"]) / "pybullet/laikago/laikago_toes_zup.urdf"
    text = re.sub(r"<visual>.*?</visual>", "", file.read_text(), flags=re.S)
    text = re.sub(r"<collision>(?:(?!</collision>).)*?<mesh.*?</collision>", "", text, flags=re.S)
    spec = mujoco.MjSpec.from_string(text)
    root = spec.worldbody.first_body()
    if not any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in root.joints):
        root.add_freejoint()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[10, 10, 0.1])
    spec.option.timestep = 1e-3
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_HINGE:
            servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            servo.gainprm[0], servo.biastype = KP, mujoco.mjtBias.mjBIAS_AFFINE
            servo.biasprm[1], servo.biasprm[2] = -KP, -KD
    return spec.compile()


def settled(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    data.qpos[2] = HEIGHT
    data.qpos[7:] = np.tile([HIP, UPPER, KNEE], 4)
    data.ctrl[:] = data.qpos[7:]
    for _ in range(SETTLE):
        mujoco.mj_step(model, data)
    return data


def measure(model: mujoco.MjModel, min_seconds: float) -> tuple[float, float]:
    """Seconds of a step, and of its Jacobians."""
    data = settled(model)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    control, scratch = np.tile(data.ctrl, (1, STEPS, 1)), mujoco.MjData(model)
    forward = best_seconds(min_seconds, lambda: rollout.rollout(model, scratch, state[None], control)) / STEPS
    size = 2 * model.nv + model.na
    a, b = np.zeros((size, size)), np.zeros((size, model.nu))
    jacobians = best_seconds(
        min_seconds, lambda: mujoco.mjd_transitionFD(model, data, 1e-6, False, a, b, None, None)
    )
    return forward, jacobians


def main() -> None:
    parser = argparse.ArgumentParser(description="A standing quadruped in MuJoCo.")
    parser.add_argument("--quick", action="store_true", help="measure each case for 0.2 s instead of 1 s")
    quick: bool = parser.parse_args().quick
    model = standing()
    row("laikago/height", "m", float(settled(model).qpos[2]))
    times = {}
    for name, solver in SOLVERS.items():
        model.opt.solver = solver
        times[name] = measure(model, 0.2 if quick else 1.0)
        row(f"laikago/forward/{name}", "us", 1e6 * times[name][0])
    forward = min(forward for forward, _ in times.values())
    row("laikago/forward", "us", 1e6 * forward)
    row("laikago/pullback", "us", 1e6 * min(jacobians for _, jacobians in times.values()))
    for lanes in (8, 16):
        row(f"laikago/lanes/{lanes}", "worlds/s", 1.0 / forward)
        row(f"laikago/lanes-gradient/{lanes}", "worlds/s", 1.0 / forward)


if __name__ == "__main__":
    main()
