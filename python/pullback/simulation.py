"""Simulations: steps and rollouts of a model, with their derivatives, on arrays of NumPy, torch or JAX."""

from __future__ import annotations

from os import PathLike
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _core, _policy
from ._calls import Calls, steps_of
from ._checks import count
from ._derivatives import Derivatives
from .errors import SettingError
from .model import Model
from .names import State
from .settings import NAMES, UNSET, Integrator, Memory, gpu_of, known, pack_memory, resolved
from .watch import Watched

__all__ = ["Simulation", "load"]

A = TypeVar("A")
Doubles = NDArray[np.float64]


class Simulation(Derivatives):
    """Steps and rollouts of a model.

    What is not given is as the scene says.

    Parameters
    ----------
    model : Model
        What is simulated.
    dt : float
        The time of a step [s].
    steps : int
        How many steps a rollout has that does not say so itself.
    substeps : int
        Equal parts that each step is made in.
    integrator : Integrator or str
        How a step is computed.
    memory : Memory or str
        What a rollout keeps for its pullback: `pullback.Binomial(30)`, or a word of scenes, `"dense"`.
    snapshots : {"f64", "f32"}
        In which precision states are kept.
    truncate : int, optional
        Cotangents are dropped at the ends of windows of so many steps, counted from the end.
    clip : float, optional
        The most that the norm of a state's cotangent may be on its way back.
    threads : int
        How many threads a batch of worlds runs on: 1 by default, whatever the scene says, and 0 for one per core. Results do not
        depend on it.
    device : {"cpu", "gpu", "gpu:1", ...}
        Where rollouts and their pullbacks run. Arrays stay in the memory of the CPU, to which each state is copied after its
        step, or the last one alone where `last`. Single steps, tangents and `watch` run on the CPU all the same; problems and
        policies refuse.

    Notes
    -----
    Arguments x, u and theta have the shapes (..., state), (..., control) and (..., params), with the same batch or none. The type
    of the arrays decides: NumPy, torch or JAX; `float64` runs in double precision and `float32` in single. Calls from several
    threads run at the same time.
    """

    def __init__(
        self,
        model: Model,
        *,
        dt: float = UNSET,
        steps: int = UNSET,
        substeps: int = UNSET,
        integrator: Integrator | str = UNSET,
        memory: Memory | str = UNSET,
        snapshots: str = UNSET,
        truncate: int | None = UNSET,
        clip: float | None = UNSET,
        threads: int = 1,
        device: str = "cpu",
    ) -> None:
        if not isinstance(model, Model):
            raise SettingError(f"model is {model!r}: a Model is wanted; `pullback.load(file)` reads one")
        self._settings: dict[str, Any] = resolved(
            model._core.simulated,
            {
                "dt": dt,
                "steps": steps,
                "substeps": substeps,
                "integrator": integrator,
                "memory": memory,
                "snapshots": snapshots,
                "truncate": truncate,
                "clip": clip,
                "threads": threads,
                "device": device,
            },
        )
        s = self._settings
        self.model = model
        self._core = _core.Simulation(
            model._core,
            s["dt"],
            s["substeps"],
            s["integrator"].value,
            pack_memory(s["memory"]),
            str(s["snapshots"]),
            s["truncate"],
            s["clip"],
            s["threads"],
            s["steps"],
            gpu_of(s["device"]),
        )
        self._calls = Calls(model, self._core)

    @property
    def dt(self) -> float:
        """The time of a step [s]."""
        return float(self._settings["dt"])

    @property
    def steps(self) -> int:
        """How many steps a rollout has that does not say so itself."""
        return int(self._settings["steps"])

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, by the names of the parameters. `threads` is 1 unless it was given; 0 is one per core."""
        return dict(self._settings)

    def replace(self, **settings: Any) -> Simulation:
        """The same with other settings: `sim.replace(memory=pullback.Binomial(10))`."""
        known(settings, self._settings)
        return Simulation(self.model, **{**self._settings, **settings})

    @overload
    def step(self, x: State, u: Any = None, theta: Any = None, *, index: Any = 0) -> Doubles: ...
    @overload
    def step(self, x: A, u: Any = None, theta: Any = None, *, index: Any = 0) -> A: ...

    def step(self, x: Any, u: Any = None, theta: Any = None, *, index: Any = 0) -> Any:
        """One step.

        Parameters
        ----------
        x : State or array, shape (..., state)
        u : Control or array, shape (..., control), optional
            By default what the scene says for this step.
        theta : Params or array, shape (..., params), optional
            By default those of the scene.
        index : int or array of int, shape (...)
            The number of the step, or of that of each world, for forces and default controls that depend on time. In compiled
            programs of JAX it may be traced.

        Returns
        -------
        x_next : array like x, shape (..., state)
        """
        return self._calls.run(self._calls.step(index), x, u, theta)

    @overload
    def rollout(
        self, x: State, u: Any = None, theta: Any = None, *, steps: int | None = None, last: bool = False
    ) -> Doubles: ...
    @overload
    def rollout(
        self, x: A, u: Any = None, theta: Any = None, *, steps: int | None = None, last: bool = False
    ) -> A: ...

    def rollout(
        self, x: Any, u: Any = None, theta: Any = None, *, steps: int | None = None, last: bool = False
    ) -> Any:
        """Many steps.

        Parameters
        ----------
        x : State or array, shape (..., state)
        u : array, shape (..., steps, control), or callable, optional
            By default what the scene says. A callable, such as a network of torch, is a policy: from the state before each
            step, shape (..., state), to its control. With `memory=Binomial(s)` such a rollout is s stretches that are run
            again on the way back; other memory than this and `EveryStep()`, `truncate` and `clip` are refused where torch or
            JAX differentiate. (Rollouts of NumPy with a policy have no derivatives, and keep nothing.)
        theta : Params or array, shape (..., params), optional
            By default those of the scene.
        steps : int, optional
            How many; by default as many as u has, or `Simulation.steps`.
        last : bool
            Return the last state alone. With a memory strategy that keeps little, that is what saves memory.

        Returns
        -------
        states : array like x, shape (..., steps + 1, state), or (..., state) where `last`
            From the first to the last.
        """
        if callable(u):
            steps = self.steps if steps is None else count("steps", steps)
            return _policy.rollout(
                self.step, self._calls.sizes[1], self._settings, u, (x, theta), steps, last
            )
        steps = steps_of(u, self.steps) if steps is None else steps
        return self._calls.run(self._calls.rollout(steps, last), x, u, theta)

    def watch(self, x: Any, u: Any = None, theta: Any = None, *, index: Any = None) -> Watched:
        """Looks at states: where bodies and frames are and how they move, what contacts come to, and energy, by name.

        Parameters
        ----------
        x : State or array, shape (..., state)
        u : Control or array, shape (..., control), optional
            For forces of contacts, which are those of the step that begins at x; by default what the scene says for that step. A
            rollout has one state more than controls: `sim.watch(states[:-1], u)`.
        theta : Params or array, shape (..., params), optional
            By default those of the scene.
        index : int or array of int, shape (...), optional
            The number of the step that begins at x, which says what its control is where u is left out, and the time of
            controllers; by default 0. Where the states are those of a rollout: `index=np.arange(len(states))`. Contacts of a
            batch of x ask for it where that makes a difference.

        Returns
        -------
        seen : Watched
            `seen["arm.hand"].position`, `seen.contact("foot", by="ground").normal`, `seen.energy`.
        """
        return Watched(self._calls, (x, u, theta), index)

    def __copy__(self) -> Simulation:
        return Simulation(self.model, **self._settings)

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        return Simulation(self.model, **self._settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.model, self._settings))

    def __repr__(self) -> str:
        s = self._settings
        device = "" if s["device"] == "cpu" else f", on {s['device']}"
        return f"<Simulation of {self.model.name!r}: {s['steps']} steps of {s['dt']} s, {s['integrator'].value}{device}>"


def load(path: str | PathLike[str], **settings: Any) -> Simulation:
    """A simulation of a scene (`.toml`) or of a robot alone (`.urdf`, or `.xml` of MuJoCo).

    A robot alone is in an empty world, in which nothing touches. For ground and contact write a scene beside it, and load that::

        [simulation]
        dt = 0.002                   # [s]
        duration = 1.0               # [s]

        [ground]

        [contact]
        mu = 0.8                     # friction

        [[robots]]
        file = "robot.urdf"          # in the folder of the scene, or below
        base = "free"                # it falls and stands by itself
        position = [0, 0, 0.5]       # [m]

    Parameters
    ----------
    path : str or path
        The file.
    **settings
        Those of `Simulation`, where they differ from what the scene says; and of a robot's file those of `Model.load`:
        `base="free"`, `lenient=True`, `allow`, `packages`.
    """
    known(settings, (*NAMES, *_READING))
    reading = {name: value for name, value in settings.items() if name in _READING}
    model = Model.load(path, **reading)
    return Simulation(model, **{name: value for name, value in settings.items() if name not in _READING})


_READING = ("lenient", "allow", "packages", "base")


def _again(model: Model, settings: dict[str, Any]) -> Simulation:
    return Simulation(model, **settings)
