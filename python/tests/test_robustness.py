"""Interrupts, panics, threads, failures on the way, the command line."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import PARTICLES, ROOT, SCENES

import pullback
from pullback import _core


def test_a_panic_is_an_exception() -> None:
    with pytest.raises(pullback.PanicError, match="this is a bug in Pullback.*index out of bounds") as raised:
        _core.panic()
    assert isinstance(raised.value, pullback.Error)


def test_a_rollout_that_blows_up_says_where() -> None:
    sim = pullback.Simulation(
        pullback.Model.parse(PARTICLES), dt=10.0, integrator="explicit-euler", steps=2000
    )
    with pytest.raises(pullback.RolloutError, match="step ") as raised:
        sim.rollout(sim.model.state())
    error = raised.value
    assert isinstance(error, ArithmeticError)
    assert error.step is not None
    assert error.world is None
    x = np.stack([sim.model.state().values] * 3)
    with pytest.raises(pullback.RolloutError) as raised:
        sim.rollout(x)
    assert raised.value.world == 0
    assert np.all(np.isfinite(sim.step(x))), "the next call is as good as new"


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises, also where this process was told to ignore it, as in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("backwards", [False, True])
def test_ctrl_c_ends_a_long_call(backwards: bool) -> None:
    sim = pullback.load(SCENES / "chain.toml", memory=pullback.Binomial(3))
    x = sim.model.state()
    sent: list[float] = []

    def send() -> None:
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        if backwards:
            _, pull = sim.rollout_vjp(x, steps=2000)
            while True:
                pull(np.ones((2001, len(x))))
        else:
            sim.rollout(x, steps=50_000_000, last=True)
    late = time.monotonic() - sent[0]
    thread.join()
    assert late < 0.5
    assert np.all(np.isfinite(sim.step(x)))


def test_threads_run_at_the_same_time() -> None:
    sim = pullback.load(SCENES / "chain.toml")
    x, counted = sim.model.state(), [0]
    done = threading.Event()

    def compute() -> None:
        sim.rollout(x, steps=20_000, last=True)
        done.set()

    thread = threading.Thread(target=compute)
    thread.start()
    while not done.is_set():
        counted[0] += 1
        time.sleep(0.001)
    thread.join()
    assert counted[0] > 5, "the lock is released while the engine computes"


def test_threads_do_not_disturb_each_other() -> None:
    sim = pullback.load(SCENES / "chain.toml")
    starts = [sim.model.state() for _ in range(4)]
    for i, state in enumerate(starts):
        state.values[0] += 0.01 * i
    alone = [sim.rollout(state, steps=50) for state in starts]
    found = [state.values for state in starts]

    def compute(i: int) -> None:
        for _ in range(20):
            found[i] = sim.rollout(starts[i], steps=50)

    threads = [threading.Thread(target=compute, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[i], alone[i]) for i in range(4))


def test_a_problem_can_be_looked_at_while_it_works() -> None:
    """Whoever has the problem asks for signals now and then, and so for the lock of the interpreter."""
    problem = pullback.Problem.load(SCENES / "tumble.toml")
    run = problem.begin()
    done = threading.Event()

    def work() -> None:
        for _ in range(6):
            run.iterate()
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    looked = 0
    while not done.is_set():
        assert len(problem.names) == 3
        assert run.best[0].shape == (3,)
        assert problem.values(problem.start)
        looked += 1
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert looked > 0


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pullback", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_the_command_line(tmp_path: Path) -> None:
    done = run("params", "scenes/throw.toml", "*.mass")
    assert done.returncode == 0, done.stderr
    assert "ball.mass" in done.stdout
    assert run("--version").stdout.startswith("pullback ")
    assert run("solve", "nowhere.toml").returncode == 2
    assert "Usage: pullback" in run("--help").stdout
    assert run("fly").returncode == 2


@pytest.mark.parametrize("scene", ["throw", "pendulum", "tumble", "golf"])
def test_results_are_those_of_the_rust_engine_to_the_last_bit(scene: str, tmp_path: Path) -> None:
    done = run("simulate", f"scenes/{scene}.toml", "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    sim = pullback.load(SCENES / f"{scene}.toml")
    states = sim.rollout(sim.model.state())
    rust = np.load(tmp_path / "run" / "trajectory.npz")
    assert rust["time"].shape == (sim.steps + 1,)
    compared = 0
    for name in rust.files:
        if name in sim.model.state_layout:
            ours = states[:, sim.model.state_layout[name]]
        elif name in ("position", "velocity") and sim.model.particles:
            begin = 0 if name == "position" else sim.model.positions
            ours = states[:, begin : begin + 3 * sim.model.particles]
        else:
            continue
        compared += ours.shape[1]
        assert np.array_equal(ours, rust[name].reshape(ours.shape)), name
    assert compared == states.shape[1]


@pytest.mark.usefixtures("ctrl_c")
def test_interrupting_another_thread_is_left_to_python() -> None:
    # A signal is handled by the main thread, whichever thread computes.
    sim = pullback.load(SCENES / "chain.toml")
    done = threading.Event()

    def compute() -> None:
        sim.rollout(sim.model.state(), steps=5000, last=True)
        done.set()

    thread = threading.Thread(target=compute)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        _thread.interrupt_main()
        time.sleep(5.0)
    thread.join()
    assert done.is_set()
