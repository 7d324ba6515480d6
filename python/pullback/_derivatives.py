"""Derivatives of steps and rollouts for NumPy; torch and JAX have their own ways to ask for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import address, empty, flat
from ._calls import Calls, steps_of
from ._checks import count
from ._library import only_numpy
from .errors import SettingError, ShapeError
from .names import State

Doubles = NDArray[np.float64]
#: Of x, u and theta.
Bars = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Derivatives:
    """What a simulation has for NumPy."""

    _calls: Calls

    @property
    def steps(self) -> int:
        """How many steps a rollout has that does not say so itself."""
        raise NotImplementedError

    def step_vjp(
        self, x: State | ArrayLike, u: Any = None, theta: Any = None, *, index: Any = 0
    ) -> tuple[NDArray[Any], Callable[[ArrayLike], Bars]]:
        """One step, and its pullback.

        Returns
        -------
        x_next : ndarray, shape (..., state)
            Read-only: the pullback needs it.
        pullback : callable
            From the cotangent of x_next to those of x, u and theta, shaped like them.
        """
        return self._calls.vjp(self._calls.step(index), x, u, theta)

    def rollout_vjp(
        self,
        x: State | ArrayLike,
        u: Any = None,
        theta: Any = None,
        *,
        steps: int | None = None,
        last: bool = False,
    ) -> tuple[NDArray[Any], Callable[[ArrayLike], Bars]]:
        """Many steps, and their pullback: as `step_vjp`, from the cotangents of all states that `rollout` returns."""
        steps = steps_of(u, self.steps) if steps is None else steps
        return self._calls.vjp(self._calls.rollout(steps, last), x, u, theta)

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
        return self._calls.jvp(self._calls.step(index), (x, u, theta), (x_dot, u_dot, theta_dot))

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
        steps = steps_of(u, self.steps) if steps is None else steps
        operation = self._calls.rollout(steps, last)
        return self._calls.jvp(operation, (x, u, theta), (x_dot, u_dot, theta_dot))

    def gradient(
        self,
        loss: Callable[[NDArray[Any]], tuple[Any, ArrayLike]],
        x: State | ArrayLike,
        u: Any = None,
        theta: Any = None,
        *,
        steps: int | None = None,
        last: bool = False,
    ) -> tuple[Any, Bars]:
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
        found = loss(states)
        if not isinstance(found, tuple) or len(found) != 2:
            raise SettingError(
                f"the loss returns {_in_short(found)}: `return value, states_bar` is wanted, where states_bar is the derivative of "
                f"the value by the states, of shape {states.shape}; torch and JAX find it themselves, in "
                "`loss(sim.rollout(x)).backward()` or `jax.grad`"
            )
        value, states_bar = found
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
        operation = self._calls.step(count("index", index))
        at = self._calls.numbers(operation, x, u, theta)
        x_, u_, theta_ = (flat(argument, np.float64) for argument in at)
        if operation.plan(x_.shape, u_.shape, theta_.shape).out != operation.out:
            raise ShapeError(f"x: shape {operation.x} is wanted, and {x_.shape} was given")
        n = self._calls.model.state_layout.tangent_len
        shapes = (operation.x, (n, n), (n, self._calls.sizes[1]))
        next_, a, b = (empty(shape, np.float64) for shape in shapes)
        found = (address(next_), address(a), address(b))
        self._calls.core.linearise(int(operation.index), (address(x_), address(u_), address(theta_)), found)
        return next_, a, b


def _in_short(found: Any) -> str:
    if isinstance(found, tuple):
        return f"{len(found)} things"
    return f"an array of shape {found.shape}" if getattr(found, "ndim", 0) else f"{found!r}"
