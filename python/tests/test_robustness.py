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
from typing import Any

import numpy as np
import pytest
from conftest import PARTICLES, ROOT, SCENES

import pullback
from pullback import _core


def members() -> list[tuple[str, Any]]:
    """Everything that Python can call in the core, with the least that it takes."""
    sim = pullback.load(SCENES / "throw.toml")
    problem = pullback.Problem.load(SCENES / "throw.toml")
    run = problem.begin()
    three = (0, 0, 0)
    z = problem.start.tolist()
    method: Any = ("adam", {}, {})
    arguments: dict[str, tuple[Any, ...]] = {
        "Layout.find": ("ball.mass",),
        "Layout.select": ("*",),
        "Layout.name_of": (0,),
        "Layout.check": ([],),
        "Layout.check_set": ("ball.mass", [1.0]),
        "Layout.retract": ([], []),
        "Layout.retract_all": ([], [1.0]),
        "Layout.difference": ([], []),
        "Layout.to_tangent": ([], []),
        "Model.energy": (0, 0, 0, 0),
        "Simulation.step": (False, 0, 0, (0, 0), three, 0),
        "Simulation.step_pullback": (False, 0, 0, (0, 0), three, 0, 0, three),
        "Simulation.step_pushforward": (False, 0, 0, (0, 0), three, three, 0, 0),
        "Simulation.rollout": (False, 0, 0, 0, True, three, 0),
        "Simulation.rollout_pullback": (False, 0, 0, 0, True, three, 0, 0, three),
        "Simulation.rollout_pushforward": (False, 0, 0, 0, True, three, three, 0, 0),
        "Simulation.linearise": (0, three, three),
        "Watch.step": (False, 0, 0, (0, 0), three, 0),
        "Watch.step_pullback": (False, 0, 0, (0, 0), three, 0, 0, three),
        "Watch.step_pushforward": (False, 0, 0, (0, 0), three, three, 0, 0),
        "Watch.part": (sim.model._core, sim._core, "ball"),
        "Watch.contacts": (sim.model._core, sim._core, None, None),
        "page": (sim.model._core, sim._core, 0, 0, 0, 0),
        "Problem.begin": (None,),
        "Problem.of": (sim.model._core, sim._core, 1, [], [], method, (1, 0.0, None)),
        "Run.load": ("nowhere.json", ""),
        "Run.save": ("nowhere/run.json",),
        "Run.iterate": (problem._core,),
        "Run.iterate_on": (lambda z: 0.0, lambda z: (0.0, z)),
        "command": (["pullback", "--version"],),
        "xla_number": (sim._core,),
    }
    for name in ("value", "values", "point", "gradient", "full_gradient", "jacobian", "parts", "check"):
        arguments[f"Problem.{name}"] = (z,)
    arguments["Problem.standard_errors"] = (z,)
    made = {
        "Layout": (sim.model.params_layout._core, lambda: sim.model._core.state_layout),
        "Model": (sim.model._core, lambda: _core.Model("", "scene.toml", False, [], [], "fixed")),
        "Simulation": (
            sim._core,
            lambda: _core.Simulation(
                sim.model._core, 0.1, 1, "rk4", ("dense", 0), "f64", None, None, 1, 5, None
            ),
        ),
        "Watch": (
            _core.Watch.part(sim.model._core, sim._core, "ball"),
            lambda: _core.Watch.part(sim.model._core, sim._core, "ball"),
        ),
        "Problem": (problem._core, lambda: _core.Problem("", "problem.toml")),
        "Run": (run._core, lambda: _core.Run(method, [1.0], None, None, 1, 0.0, None, None)),
    }
    found: list[tuple[str, Any]] = []
    for kind, (instance, make) in made.items():
        found.append((kind, make))
        for name, member in vars(type(instance)).items():
            whole = f"{kind}.{name}"
            if name == "__len__":
                found.append((whole, lambda it=instance: len(it)))
            elif name.startswith("__"):
                continue
            elif callable(member) or isinstance(member, staticmethod):
                given = arguments.pop(whole, ())
                found.append((whole, lambda it=instance, name=name, given=given: getattr(it, name)(*given)))
            else:
                found.append((whole, lambda it=instance, name=name: getattr(it, name)))
    for name in ("command", "page", "xla_number"):
        given = arguments.pop(name)
        found.append((name, lambda name=name, given=given: getattr(_core, name)(*given)))
    assert not arguments, "all of them are there"
    return found


def test_no_panic_crosses_the_boundary() -> None:
    called = members()
    assert {"Model.name", "Layout.__len__", "Problem.variables", "Run.history"} <= {
        name for name, _ in called
    }
    for name, call in called:
        _core.panic_next()
        with pytest.raises(pullback.PanicError, match="this is a bug in Pullback.*index out of") as raised:
            call()
            pytest.fail(f"{name} did not panic")
        assert isinstance(raised.value, pullback.Error), name
    sim = pullback.load(SCENES / "throw.toml")
    assert np.all(np.isfinite(sim.step(sim.model.state()))), "the next call is as good as new"


FORKED = """
import multiprocessing
import numpy as np
import pullback

sim = pullback.load("scenes/throw.toml", threads=2, steps=5)
x = np.stack([sim.model.state().values] * 64)

def rollout(_):
    states, pull = sim.rollout_vjp(x)
    return [states, *pull(np.ones_like(states)), sim.rollout_jvp(x, x_dot=x)[1], *again.rollout_vjp(x)[1](states)]

again = sim.replace(memory=pullback.Binomial(2))
wanted = rollout(None)
with multiprocessing.get_context("fork").Pool(2) as pool:
    for found in pool.map_async(rollout, range(4)).get(timeout=60):
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
assert all(np.array_equal(a, b) for a, b in zip(rollout(None), wanted, strict=True))
print("the same")
"""


def test_a_process_that_is_forked_off_has_threads_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=120,
    )
    assert done.stdout == "the same\n", done.stderr


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


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_long_look() -> None:
    sim = pullback.load(SCENES / "quadruped.toml")
    worlds = 100_000
    seen = sim.watch(np.tile(sim.model.state().values, (worlds, 1))).contact("dog")
    sent: list[float] = []

    def send() -> None:
        time.sleep(0.5)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            seen.pullback(normal=np.ones(worlds))
    late = time.monotonic() - sent[0]
    thread.join()
    assert late < 0.5


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_long_page(tmp_path: Path) -> None:
    from pullback import viz

    sim = pullback.load(SCENES / "quadruped.toml")
    states = np.tile(sim.model.state().values, (300_000, 1))
    sent: list[float] = []

    def send() -> None:
        time.sleep(1.0)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        viz.page(sim, states, tmp_path / "long.html")
    late = time.monotonic() - sent[0]
    thread.join()
    assert late < 0.5
    assert not (tmp_path / "long.html").exists()


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


@pytest.mark.parametrize("scene", ["throw", "pendulum", "tumble", "golf", "jelly", "flag-pole"])
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


def test_cotangents_have_the_shape_of_what_they_are_of() -> None:
    throw = pullback.load(SCENES / "throw.toml")
    x = throw.model.state()
    states, pullback_of = throw.rollout_vjp(x)
    assert pullback_of(np.ones(states.shape))[0].shape == (states.shape[-1],)
    for bar in (np.ones(states.shape[-1]), np.ones((len(states), 1)), 1.0, None):
        with pytest.raises(pullback.ShapeError, match="the cotangent: shape .* is wanted"):
            pullback_of(bar)  # type: ignore[arg-type]


def test_a_policy_that_forgets_its_control_is_told() -> None:
    throw = pullback.load(SCENES / "throw.toml")
    with pytest.raises(pullback.SettingError, match="the policy returns None"):
        throw.rollout(throw.model.state(), lambda x: None, steps=2)


def test_files_are_no_models_and_settings_have_names() -> None:
    with pytest.raises(pullback.SettingError, match="a Model is wanted; `pullback.load"):
        pullback.Simulation("throw.toml")  # type: ignore[arg-type]
    with pytest.raises(pullback.SettingError, match="there is no setting 'integratr'"):
        pullback.load("throw.toml", integratr="rk4")


def test_doubts_of_a_scene_are_warnings(tmp_path: Path) -> None:
    file = tmp_path / "ball.toml"
    ball = '[[bodies]]\nname = "ball"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, 1]\n'
    wall = '[[shapes]]\nname = "floor"\nshape = { plane = true }\n'
    file.write_text(f"[simulation]\ndt = 0.01\nsteps = 2\n{wall}{ball}")
    with pytest.warns(UserWarning, match="no model of contact"):
        sim = pullback.load(file)
    assert len(sim.model.warnings) == 1


def test_how_a_robots_file_is_read_can_be_said_to_load(tmp_path: Path) -> None:
    file = tmp_path / "stick.urdf"
    file.write_text(
        '<robot name="stick"><link name="stick"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    assert len(pullback.load(file, base="free", dt=0.01).model.state_layout) == 13
