"""Simulations: steps and rollouts of a model, with their derivatives, on arrays of NumPy, torch or JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _numpy
from ._arrays import address, empty, flat
from ._checks import count, real
from ._library import CALLS, library_of, one_library, only_numpy
from ._operation import Operation, Rollout, Step
from .errors import SettingError, ShapeError
from .model import Model
from .names import State
from .settings import Integrator, Memory, pack_memory, unpack_memory

__all__ = ["Simulation", "load"]

A = TypeVar("A")
Doubles = NDArray[np.float64]


class _Unset:
    """What is as the scene says."""

    def __repr__(self) -> str:
        return "as the scene says"


_UNSET: Any = _Unset()


class Simulation:
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
    memory : Memory
        What a rollout keeps for its pullback.
    snapshots : {"f64", "f32"}
        In which precision states are kept.
    truncate : int, optional
        Cotangents are dropped at the ends of windows of so many steps, counted from the end.
    clip : float, optional
        The most that the norm of a state's cotangent may be on its way back.
    threads : int
        How many threads a batch of worlds runs on; 0 for one per core. Results do not depend on it.

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
        dt: float = _UNSET,
        steps: int = _UNSET,
        substeps: int = _UNSET,
        integrator: Integrator | str = _UNSET,
        memory: Memory = _UNSET,
        snapshots: str = _UNSET,
        truncate: int | None = _UNSET,
        clip: float | None = _UNSET,
        threads: int = 1,
    ) -> None:
        if not isinstance(model, Model):
            raise SettingError(f"model is {model!r}: a Model is wanted; `pullback.load(file)` reads one")
        of_scene = model._core.simulated

        def given(value: Any, default: Any) -> Any:
            return default if value is _UNSET else value

        self._settings: dict[str, Any] = {
            "dt": real("dt", given(dt, of_scene[0])),
            "steps": count("steps", given(steps, of_scene[1])),
            "substeps": count("substeps", given(substeps, of_scene[2]), least=1),
            "integrator": Integrator(_integrator(given(integrator, of_scene[3]))),
            "memory": given(memory, unpack_memory(of_scene[4])),
            "snapshots": given(snapshots, of_scene[5]),
            "truncate": _or_none(count, "truncate", given(truncate, of_scene[6])),
            "clip": _or_none(real, "clip", given(clip, of_scene[7])),
            "threads": count("threads", threads, most=1024),
        }
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
        )
        self._sizes = (len(model.state_layout), len(model.control_layout), len(model.params_layout))
        self._steps = {0: Step(self._core, self._sizes, np.zeros((), np.int32))}
        self._rollouts: dict[tuple[int, bool], Rollout] = {}
        self._params = model.params()

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
        """All settings, by the names of the parameters."""
        return dict(self._settings)

    def replace(self, **settings: Any) -> Simulation:
        """The same with other settings: `sim.replace(memory=pullback.Binomial(10))`."""
        _known(settings, self._settings)
        return Simulation(self.model, **{**self._settings, **settings})

    # --- values

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
        return self._run(self._step(index), x, u, theta)

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
            return self._controlled(x, u, theta, self.steps if steps is None else count("steps", steps), last)
        return self._run(self._rollout(u, steps, last), x, u, theta)

    # --- derivatives

    def step_vjp(
        self, x: State | ArrayLike, u: Any = None, theta: Any = None, *, index: Any = 0
    ) -> tuple[NDArray[Any], Callable[[ArrayLike], tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]]:
        """One step, and its pullback.

        Returns
        -------
        x_next : ndarray, shape (..., state)
            Read-only: the pullback needs it.
        pullback : callable
            From the cotangent of x_next to those of x, u and theta, shaped like them.
        """
        return self._vjp(self._step(index), x, u, theta)

    def rollout_vjp(
        self,
        x: State | ArrayLike,
        u: Any = None,
        theta: Any = None,
        *,
        steps: int | None = None,
        last: bool = False,
    ) -> tuple[NDArray[Any], Callable[[ArrayLike], tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]]:
        """Many steps, and their pullback: as `step_vjp`, from the cotangents of all states that `rollout` returns."""
        return self._vjp(self._rollout(u, steps, last), x, u, theta)

    def step_jvp(
        self,
        x: State | ArrayLike,
        u: Any = None,
        theta: Any = None,
        *,
        x_dot: ArrayLike = 0.0,
        u_dot: ArrayLike = 0.0,
        theta_dot: ArrayLike = 0.0,
        index: Any = 0,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """One step, and its derivative along a tangent.

        Parameters
        ----------
        x, u, theta, index
            As for `step`.
        x_dot, u_dot, theta_dot : array_like
            The tangent, shaped like x, u and theta; zero by default.

        Returns
        -------
        x_next, x_next_dot : ndarray, shape (..., state)
        """
        return self._jvp(self._step(index), (x, u, theta), (x_dot, u_dot, theta_dot))

    def rollout_jvp(
        self,
        x: State | ArrayLike,
        u: Any = None,
        theta: Any = None,
        *,
        x_dot: ArrayLike = 0.0,
        u_dot: ArrayLike = 0.0,
        theta_dot: ArrayLike = 0.0,
        steps: int | None = None,
        last: bool = False,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Many steps, and their derivative along a tangent: as `step_jvp`, of all states that `rollout` returns."""
        return self._jvp(self._rollout(u, steps, last), (x, u, theta), (x_dot, u_dot, theta_dot))

    def gradient(
        self,
        loss: Callable[[NDArray[Any]], tuple[Any, ArrayLike]],
        x: State | ArrayLike,
        u: Any = None,
        theta: Any = None,
        *,
        steps: int | None = None,
        last: bool = False,
    ) -> tuple[Any, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """A loss of a rollout, and its gradient.

        Parameters
        ----------
        loss : callable
            From the states of `rollout` to a value and its derivative by the states, shaped like them.
        x, u, theta, steps, last
            As for `rollout`.

        Returns
        -------
        value
            Of the loss.
        x_bar, u_bar, theta_bar : tuple of ndarray
            The gradient by x, u and theta, shaped like them.
        """
        states, pullback = self.rollout_vjp(x, u, theta, steps=steps, last=last)
        value, states_bar = loss(states)
        return value, pullback(states_bar)

    def linearise(
        self, x: State | ArrayLike, u: Any = None, theta: Any = None, *, index: int = 0
    ) -> tuple[Doubles, Doubles, Doubles]:
        """One step of one world, linearised for control: δx_next = A δx + B δu on tangents.

        Returns
        -------
        x_next : ndarray, shape (state,)
        A : ndarray, shape (tangent, tangent)
            With tangent = `model.state_layout.tangent_len`: a rotation counts by its rotation vector [rad].
        B : ndarray, shape (tangent, control)
        """
        only_numpy(("x", "u", "theta"), (x, u, theta))
        operation = self._step(count("index", index))
        at = self._numbers(operation, x, u, theta)
        x_, u_, theta_ = (flat(argument, np.float64) for argument in at)
        if operation.plan(x_.shape, u_.shape, theta_.shape).out != operation.out:
            raise ShapeError(f"x: shape {operation.x} is wanted, and {x_.shape} was given")
        n = self.model.state_layout.tangent_len
        next_, a, b = (empty(shape, np.float64) for shape in (operation.x, (n, n), (n, self._sizes[1])))
        found = (address(next_), address(a), address(b))
        self._core.linearise(int(operation.index), (address(x_), address(u_), address(theta_)), found)
        return next_, a, b

    # --- the way to the core

    def _step(self, index: Any) -> Step:
        # Most are plain numbers that were seen before.
        found = self._steps.get(index) if type(index) is int else None
        return found or self._new_step(index)

    def _new_step(self, index: Any) -> Step:
        home = self._steps[0]
        if library_of(index) == "jax":
            return Step(self._core, self._sizes, index, home)
        numbers = np.asarray(index)
        if numbers.dtype.kind not in "iu":
            raise SettingError(
                f"index is {index!r}: a whole number, 0 or more, or an array of them, is wanted"
            )
        if numbers.size:
            count("index", numbers.min())
            count("index", numbers.max(), most=2**31 - 1)
        step = Step(self._core, self._sizes, np.array(numbers, dtype=np.int32, order="C"), home)
        if type(index) is int and len(self._steps) < 4096:
            self._steps[index] = step
        return step

    def _rollout(self, u: Any, steps: int | None, last: bool) -> Rollout:
        if steps is None:
            shape = getattr(u, "shape", None) or np.shape(u)
            steps = int(shape[-2]) if u is not None and len(shape) > 1 else self.steps
        steps = count("steps", steps)
        found = self._rollouts.get((steps, last))
        if found is None:
            found = self._rollouts[(steps, last)] = Rollout(self._core, self._sizes, steps, last)
        return found

    def _controlled(self, x: Any, policy: Callable[[Any], Any], theta: Any, steps: int, last: bool) -> Any:
        """A rollout in which a policy gives each step its control."""

        def step(x: Any, u: Any, index: Any) -> Any:
            if u is None:
                raise SettingError("the policy returns None: a control is wanted; has it a `return`?")
            return self.step(x, u, theta, index=index)

        # A network of torch tells whose it is; of other functions the arguments do.
        library = one_library(("x", "theta", "u"), (x, theta, policy))
        if library == "numpy":
            states = [np.asarray(x)]
            for index in range(steps):
                states.append(step(states[-1], policy(states[-1]), index))
            return states[-1] if last else np.stack(states, axis=-2)
        cuts = [name for name in ("truncate", "clip") if self._settings[name] is not None]
        if cuts:
            raise SettingError(
                f"{cuts[0]} is {self._settings[cuts[0]]}: a rollout with a policy cuts no gradients; "
                f"use `sim.replace({cuts[0]}=None)`"
            )
        memory = self._settings["memory"]
        if library == "torch":
            from . import _torch

            return _torch.controlled(step, policy, _torch.like(x, theta), steps, last, memory)
        from . import _jax_policy

        return _jax_policy.controlled(step, policy, _jax_policy.like(x, theta), steps, last, memory)

    def _default_u(self, operation: Operation) -> Any:
        if not isinstance(operation, Step):
            return _numpy.Default(self.model.controls(cast(Rollout, operation).steps))
        if isinstance(operation.index, np.ndarray):
            return _numpy.Default(self.model._controls_at(operation.index))
        from . import _jax

        return _jax.rows(self.model._schedule, operation.index)

    def _numbers(self, operation: Operation, x: Any, u: Any, theta: Any) -> _numpy.Arguments:
        u = self._default_u(operation) if u is None else u
        return _numpy.prepare(x, u, self._params if theta is None else theta)

    def _run(self, operation: Operation, x: Any, u: Any, theta: Any) -> Any:
        given = (x, u, theta, operation.index)
        library = CALLS.get(tuple(map(type, given))) or one_library(("x", "u", "theta", "index"), given)
        if library == "numpy":
            return _numpy.forward(operation, self._numbers(operation, x, u, theta))
        if u is None:
            u = self._default_u(operation)
        if theta is None:
            theta = self._params
        if library == "torch":
            from . import _torch

            return _torch.forward(operation, x, u, theta)
        from . import _jax

        return _jax.forward(operation, x, u, theta)

    def _jvp(
        self, operation: Operation, at: tuple[Any, Any, Any], dots: tuple[ArrayLike, ArrayLike, ArrayLike]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        only_numpy(("x", "u", "theta", "x_dot", "u_dot", "theta_dot"), (*at, *dots))
        x, u, theta = (np.asarray(dot) for dot in dots)
        return _numpy.pushforward(operation, self._numbers(operation, *at), (x, u, theta))

    def _vjp(
        self, operation: Operation, x: Any, u: Any, theta: Any
    ) -> tuple[NDArray[Any], Callable[[ArrayLike], _numpy.Arguments]]:
        only_numpy(("x", "u", "theta"), (x, u, theta))
        # The pullback needs them as they are now, whatever is written to them later.
        first, controls, params = (np.array(argument) for argument in self._numbers(operation, x, u, theta))
        at = (first, controls, params)
        out = _numpy.forward(operation, at)
        out.flags.writeable = False

        def pullback(out_bar: ArrayLike) -> _numpy.Arguments:
            only_numpy(("the cotangent",), (out_bar,))
            return _numpy.pullback(operation, at, out, np.asarray(out_bar))

        return out, pullback

    def __copy__(self) -> Simulation:
        return Simulation(self.model, **self._settings)

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        return Simulation(self.model, **self._settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.model, self._settings))

    def __repr__(self) -> str:
        s = self._settings
        return (
            f"<Simulation of {self.model.name!r}: {s['steps']} steps of {s['dt']} s, {s['integrator'].value}>"
        )


def load(path: str | PathLike[str], **settings: Any) -> Simulation:
    """A simulation of a scene (`.toml`) or of a robot alone (`.urdf`, or `.xml` of MuJoCo).

    A robot alone is in an empty world, in which nothing touches: for ground and contact write a scene with `[[robots]]`,
    `[ground]` and `[contact]`.

    Parameters
    ----------
    path : str or path
        The file.
    **settings
        Those of `Simulation`, where they differ from what the scene says; and of a robot's file those of `Model.load`:
        `base="free"`, `lenient=True`, `allow`, `packages`.
    """
    _known(settings, (*_SETTINGS, *_READING))
    reading = {name: value for name, value in settings.items() if name in _READING}
    model = Model.load(path, **reading)
    return Simulation(model, **{name: value for name, value in settings.items() if name not in _READING})


_SETTINGS = ("dt", "steps", "substeps", "integrator", "memory", "snapshots", "truncate", "clip", "threads")
_READING = ("lenient", "allow", "packages", "base")


def _known(settings: Iterable[str], names: Iterable[str]) -> None:
    """`SettingError` unless there are all these settings."""
    unknown = sorted(set(settings) - set(names))
    if unknown:
        raise SettingError(f"there is no setting {unknown[0]!r}; there are: {', '.join(sorted(names))}")


def _or_none(check: Callable[[str, Any], Any], what: str, value: Any) -> Any:
    return None if value is None else check(what, value)


def _integrator(name: Integrator | str) -> Integrator:
    try:
        return Integrator(name)
    except ValueError:
        names = ", ".join(f'"{each.value}"' for each in Integrator)
        raise SettingError(f"there is no integrator {name!r}; there are: {names}") from None


def _again(model: Model, settings: dict[str, Any]) -> Simulation:
    return Simulation(model, **settings)
