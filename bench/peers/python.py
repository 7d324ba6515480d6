"""What calls from Python cost: the Python side of `cargo xtask bench python`.

One step of a double pendulum by torch (with a graph), by NumPy, and in a `scan` that JAX compiled, and a step of the gradient of
such a `scan`, in microseconds; rollouts of 4,096
pendulums by torch, and their gradients, in nanoseconds a step of one world. One thread, f64, as on the Rust side.

Prints one JSON object a line.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import jax
import torch

import pullback

SCENE = Path(__file__).resolve().parents[2] / "scenes/pendulum.toml"
WORLDS, STEPS, SCANNED, PULLED = 4096, 20, 10_000, 1000


def best(min_seconds: float, work: Callable[[], object]) -> float:
    """Seconds of one call: the fastest of many repeats of calls that take a millisecond together."""
    calls = 1
    while seconds(calls, work) < 1e-3:
        calls *= 2
    fastest = float("inf")
    start = time.perf_counter()
    while time.perf_counter() - start < min_seconds:
        fastest = min(fastest, seconds(calls, work) / calls)
    return fastest


def seconds(calls: int, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return time.perf_counter() - start


def row(case: str, unit: str, value: float) -> None:
    print(json.dumps({"case": case, "unit": unit, "value": value}), flush=True)


def one(sim: pullback.Simulation, limit: float) -> None:
    """One world."""
    x = sim.model.state().torch(requires_grad=True)
    theta = sim.model.params().torch(requires_grad=True)
    u = torch.zeros(len(sim.model.control_layout), dtype=torch.float64)
    row("pendulum/torch-step", "us", 1e6 * best(limit, lambda: sim.step(x, u, theta)))
    state, params, control = sim.model.state().values, sim.model.params().values, u.numpy()
    row("pendulum/numpy-step", "us", 1e6 * best(limit, lambda: sim.step(state, control, params)))
    row("pendulum/angle-after-a-step", "1", float(sim.step(state)[0]))
    jax.config.update("jax_enable_x64", True)
    first, numbers = sim.model.state().jax(), sim.model.params().jax()

    def scan(x: jax.Array, theta: jax.Array, length: int = SCANNED) -> jax.Array:
        return jax.lax.scan(lambda x, _: (sim.step(x, control, theta), None), x, length=length)[0]

    compiled = jax.jit(scan)
    compiled(first, numbers).block_until_ready()
    each = best(limit, lambda: compiled(first, numbers).block_until_ready()) / SCANNED
    row("pendulum/jax-scan-step", "us", 1e6 * each)
    gradient = jax.jit(jax.grad(lambda x, theta: scan(x, theta, PULLED)[0], (0, 1)))
    jax.block_until_ready(gradient(first, numbers))
    each = best(limit, lambda: jax.block_until_ready(gradient(first, numbers))) / PULLED
    row("pendulum/jax-scan-gradient", "us", 1e6 * each)


def many(sim: pullback.Simulation, limit: float) -> None:
    """A batch."""
    x = torch.stack([sim.model.state().torch()] * WORLDS).requires_grad_()
    theta = torch.stack([sim.model.params().torch()] * WORLDS).requires_grad_()
    each = 1e9 / (WORLDS * STEPS)
    row("4096 pendulums/rollout", "ns/step of one", each * best(limit, lambda: sim.rollout(x, None, theta, steps=STEPS)))

    # The cotangent of one number of each last state, made once: what torch does for a loss is not ours to measure.
    bar = torch.zeros(WORLDS, STEPS + 1, x.shape[-1], dtype=torch.float64)
    bar[:, -1, 0] = 1.0

    def gradient() -> None:
        torch.autograd.grad(sim.rollout(x, None, theta, steps=STEPS), (x, theta), bar)

    row("4096 pendulums/gradient", "ns/step of one", each * best(limit, gradient))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    limit = 0.2 if parser.parse_args().quick else 1.0
    torch.set_num_threads(1)
    sim = pullback.load(SCENE)
    one(sim, limit)
    many(sim, limit)


if __name__ == "__main__":
    main()
