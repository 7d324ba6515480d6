"""From the arguments of a call to an operation of the core, and to the library whose arrays they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _numpy
from ._arrays import aligned
from ._checks import count
from ._library import CALLS, library_of, needed, one_library, only_numpy
from ._operation import Look, Operation, Rollout, Step
from .errors import SettingError
from .model import Model


class Calls:
    """The operations of a simulation, each made once, and how they are called."""

    def __init__(self, model: Model, core: _core.Simulation) -> None:
        self.model, self.core = model, core
        self.sizes = (len(model.state_layout), len(model.control_layout), len(model.params_layout))
        self._steps = {0: Step(core, self.sizes, np.zeros((), np.int32))}
        self._rollouts: dict[tuple[int, bool], Rollout] = {}
        self._looks: dict[tuple[str | None, ...], Look] = {}
        self._params = model.params()

    # --- operations

    def step(self, index: Any) -> Step:
        """One step, of this number, or of these numbers."""
        # Most are plain numbers that were seen before.
        found = self._steps.get(index) if type(index) is int else None
        return found or self._new_step(index)

    def _new_step(self, index: Any) -> Step:
        step = Step(self.core, self.sizes, numbers_of_steps(index), self._steps[0])
        if type(index) is int and len(self._steps) < 4096:
            self._steps[index] = step
        return step

    def rollout(self, steps: int, last: bool) -> Rollout:
        """So many steps, of which all states are seen, or the last alone."""
        steps = count("steps", steps)
        found = self._rollouts.get((steps, last))
        if found is None:
            found = self._rollouts[(steps, last)] = Rollout(self.core, self.sizes, steps, last)
        return found

    def look(self, what: tuple[str | None, ...], index: Any) -> Look:
        """At a particle, body or frame of this name, `(name,)`, or at the contacts of one thing with another, `(of, by)`."""
        home = self._looks.get(what)
        if home is None:
            make = _core.Watch.part if len(what) == 1 else _core.Watch.contacts
            core = cast(Any, make)(self.model._core, self.core, *what)
            home = self._looks[what] = Look(core, self.sizes, np.zeros((), np.int32))
        return (
            home
            if type(index) is int and index == 0
            else Look(home.core, self.sizes, numbers_of_steps(index), home)
        )

    # --- calls

    def run(self, operation: Operation, x: Any, u: Any, theta: Any) -> Any:
        """What comes out, in an array of the library whose arrays x, u and theta are."""
        given = (x, u, theta, operation.index)
        library = CALLS.get(tuple(map(type, given))) or one_library(("x", "u", "theta", "index"), given)
        if library == "numpy":
            return _numpy.forward(operation, self.numbers(operation, x, u, theta))
        needed(x)
        if u is None:
            u = self._default_u(operation)
        if theta is None:
            theta = self._params
        if library == "torch":
            from . import _torch

            return _torch.forward(operation, x, u, theta)
        from . import _jax

        return _jax.forward(operation, x, u, theta)

    def jvp(
        self, operation: Operation, at: tuple[Any, Any, Any], dots: tuple[ArrayLike, ArrayLike, ArrayLike]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """What comes out, and its tangent, of NumPy."""
        only_numpy(("x", "u", "theta", "x_dot", "u_dot", "theta_dot"), (*at, *dots))
        x, u, theta = (np.asarray(dot) for dot in dots)
        return _numpy.pushforward(operation, self.numbers(operation, *at), (x, u, theta))

    def vjp(
        self, operation: Operation, x: Any, u: Any, theta: Any
    ) -> tuple[NDArray[Any], Callable[[ArrayLike], _numpy.Arguments]]:
        """What comes out, and its pullback, of NumPy."""
        only_numpy(("x", "u", "theta"), (x, u, theta))
        # The pullback needs them as they are now, whatever is written to them later.
        first, controls, params = (aligned(argument) for argument in self.numbers(operation, x, u, theta))
        at = (first, controls, params)
        out = _numpy.forward(operation, at)
        out.flags.writeable = False

        def pullback(out_bar: ArrayLike) -> _numpy.Arguments:
            only_numpy(("the cotangent",), (out_bar,))
            return _numpy.pullback(operation, at, out, out_bar)

        return out, pullback

    def numbers(self, operation: Operation, x: Any, u: Any, theta: Any) -> _numpy.Arguments:
        """The three arrays of NumPy; what was not given is as the scene says."""
        needed(x)
        u = self._default_u(operation) if u is None else u
        return _numpy.prepare(x, u, self._params if theta is None else theta)

    def _default_u(self, operation: Operation) -> Any:
        if not isinstance(operation, Step):
            return _numpy.Default(self.model.controls(cast(Rollout, operation).steps))
        if isinstance(operation.index, np.ndarray):
            return _numpy.Default(self.model._controls_at(operation.index))
        from . import _jax

        return _jax.rows(self.model._schedule, operation.index)


def steps_of(u: Any, otherwise: int) -> int:
    """How many steps a rollout has by its controls, (..., steps, control)."""
    shape = getattr(u, "shape", None) or np.shape(u)
    return int(shape[-2]) if u is not None and len(shape) > 1 else otherwise


def numbers_of_steps(index: Any) -> Any:
    """Numbers of steps as operations have them: `int32` of NumPy, or whatever JAX has."""
    if library_of(index) == "jax":
        return index
    numbers = np.asarray(index)
    if numbers.dtype.kind not in "iu":
        raise SettingError(f"index is {index!r}: a whole number, 0 or more, or an array of them, is wanted")
    if numbers.size:
        count("index", numbers.min())
        count("index", numbers.max(), most=2**31 - 1)
    return np.array(numbers, dtype=np.int32, order="C")
