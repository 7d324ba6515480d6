"""A vector environment of Gymnasium over any scene: all worlds step at once in the engine, and gradients come along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from ._arrays import empty
from ._checks import count
from ._numpy import Default
from .errors import DtypeError, Error, SettingError, ShapeError
from .names import Params
from .simulation import Simulation

__all__ = ["ResetNeededError", "VectorEnv"]

Doubles: TypeAlias = NDArray[np.float64]
#: From the state after a step (..., state) and its control (..., control) to a reward, or to whether all is over (...).
Judge: TypeAlias = Callable[[Any, Any], Any]


class ResetNeededError(Error, gymnasium.error.ResetNeeded):
    """A step of worlds that have not begun."""


class VectorEnv(gymnasium.vector.VectorEnv):
    """Many worlds of one scene.

    An observation is a state, an action a control. A world that is over is reset in its next step (`AutoresetMode.NEXT_STEP`).

    Parameters
    ----------
    simulation : Simulation
        What is simulated; `simulation.steps` is how long an episode may be.
    num_envs : int
        How many worlds.
    reward : callable
        From the state after a step, shape (..., state), and its control, shape (..., control), to a reward, shape (...).
        Written with operators and methods that NumPy and torch share, it serves `transition` as well.
    terminated : callable, optional
        From the same to whether an episode is over.
    spread : float or array_like, shape (tangent,), optional
        How far first states lie from that of the scene: standard deviations in the tangent space.
    theta : Params or array_like, shape (params,) or (num_envs, params), optional
        Params, for instance randomised ones; those of the scene by default.

    Notes
    -----
    `info["pullback"]` of a step takes a cotangent of the observations, shape (num_envs, state), to those of the states before,
    of the actions and of the params: (num_envs, state), (num_envs, control) and like theta. `transition` is the same step for
    torch and JAX.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        simulation: Simulation,
        num_envs: int,
        reward: Judge,
        *,
        terminated: Judge | None = None,
        spread: ArrayLike = 0.0,
        theta: Params | ArrayLike | None = None,
    ) -> None:
        super().__init__()
        num_envs = count("num_envs", num_envs, least=1)
        model = simulation.model
        if len(model.control_layout) == 0:
            raise SettingError(f"the scene {model.name!r} has no controls, and so no actions")
        self.simulation, self.num_envs = simulation, num_envs
        self._reward, self._terminated = reward, terminated
        self._theta = _params(simulation, theta, num_envs)
        self._first = model.state()
        self._spread = _deviations(spread, model.state_layout.tangent_len)
        lower, upper = _limits(simulation)
        size = len(model.state_layout)
        self._x: Doubles = empty((num_envs, size), np.float64)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.single_action_space = gymnasium.spaces.Box(lower, upper, dtype=np.float64)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._over = np.ones(num_envs, dtype=bool)
        self._begun = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Doubles, dict[str, Any]]:
        """All worlds from the beginning."""
        if seed is not None or self._np_random is None:
            first = seed[0] if isinstance(seed, list) else seed
            self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(first)
        self._begin(np.ones(self.num_envs, dtype=bool))
        self._over[:] = False
        self._begun = True
        return self._x.copy(), {}

    def step(
        self, actions: Any
    ) -> tuple[Doubles, Doubles, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One step of all worlds; those that are over begin anew instead."""
        if not self._begun:
            raise ResetNeededError("step before reset: `observations, info = env.reset(seed=0)` comes first")
        u = np.asarray(actions, dtype=np.float64)
        wanted = (self.num_envs, len(self.simulation.model.control_layout))
        if u.shape != wanted:
            raise ShapeError(f"actions: shape {wanted} is wanted, and {u.shape} was given")
        began = self._over.copy()
        # Before the step: from where it is over a world might not get any further.
        self._begin(began)
        first = self._x[began]
        after, pullback = self.simulation.step_vjp(self._x, u, self._theta, index=self._steps)
        self._x = np.array(after)
        self._steps[~began] += 1
        reward = np.where(began, 0.0, self._judged("reward", self._reward(self._x, u), np.float64))
        ended = np.zeros(self.num_envs, dtype=bool)
        if self._terminated is not None:
            ended = self._judged("terminated", self._terminated(self._x, u), np.bool_) & ~began
        self._x[began] = first
        truncated = (self._steps >= self.simulation.steps) & ~ended & ~began
        self._over = ended | truncated
        return self._x.copy(), reward, ended, truncated, {"pullback": _cut(pullback, began)}

    def transition(self, x: Any, u: Any, theta: Any = None, *, index: Any = 0) -> tuple[Any, Any]:
        """The state after a step and its reward, of arrays of NumPy, torch or JAX, with their place in a graph.

        `index` is the number of the step, or of that of each world, for forces that depend on time; `steps` has those of `step`.
        """
        after = self.simulation.step(x, u, Default(self._theta) if theta is None else theta, index=index)
        reward = self._reward(after, u)
        _fits("reward", reward, tuple(after.shape[:-1]))
        return after, reward

    def _judged(self, what: str, found: Any, dtype: type[np.generic]) -> NDArray[Any]:
        """What a function of one's own says of each world."""
        _fits(what, found, (self.num_envs,))
        try:
            return np.asarray(found, dtype=dtype)
        except (TypeError, ValueError):
            raise DtypeError(f"{what} returns {found!r}: a number for each world is wanted") from None

    @property
    def steps(self) -> NDArray[np.int64]:
        """How many steps each world has made since it began, shape (num_envs,)."""
        return np.array(self._steps)

    @property
    def state(self) -> Doubles:
        """The states of all worlds, shape (num_envs, state)."""
        return np.array(self._x)

    def _begin(self, which: NDArray[np.bool_]) -> None:
        """First states for these worlds."""
        self._steps[which] = 0
        worlds = np.count_nonzero(which)
        if worlds:
            tangents = self._spread * self.np_random.standard_normal((worlds, len(self._spread)))
            self._x[which] = self._first._retract_all(tangents)


def _fits(what: str, found: Any, wanted: tuple[int, ...]) -> None:
    """`ShapeError` unless a function of one's own returns a number for each world, or one for all."""
    if found is None:
        raise SettingError(f"{what} returns None: a number for each world is wanted; has it a `return`?")
    shape = tuple(np.shape(found))
    if shape not in ((), wanted):
        raise ShapeError(f"{what} returns shape {shape}: {wanted} is wanted, a number for each world")


def _params(simulation: Simulation, theta: Params | ArrayLike | None, num_envs: int) -> Doubles:
    """Params of all worlds, or of each."""
    params = np.asarray(simulation.model.params() if theta is None else theta, dtype=np.float64)
    size = len(simulation.model.params_layout)
    if params.shape not in ((size,), (num_envs, size)):
        raise ShapeError(
            f"theta: shape ({size},), the same for all worlds, or ({num_envs}, {size}) is wanted, and {params.shape} was given"
        )
    return params


def _deviations(spread: ArrayLike, size: int) -> Doubles:
    """A standard deviation for each direction of the tangent space."""
    numbers = np.asarray(spread, dtype=np.float64)
    if numbers.shape not in ((), (1,), (size,)):
        raise ShapeError(f"spread: a number or shape ({size},) is wanted, and {numbers.shape} was given")
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise SettingError(f"spread is {spread!r}: standard deviations are wanted, 0 or more")
    return np.broadcast_to(numbers, (size,))


def _cut(
    pullback: Callable[[ArrayLike], tuple[Any, Any, Any]], began: NDArray[np.bool_]
) -> Callable[..., Any]:
    """A pullback that knows which worlds have begun anew: nothing before reaches them."""

    def cut(observation_bar: ArrayLike) -> tuple[Any, Any, Any]:
        return pullback(np.where(began[:, None], 0.0, np.asarray(observation_bar, dtype=np.float64)))

    return cut


def _limits(simulation: Simulation) -> tuple[Doubles, Doubles]:
    """The least and the greatest controls."""
    lower, upper = (np.empty(len(simulation.model.control_layout)) for _ in range(2))
    for quantity in simulation.model.control_layout.quantities:
        lower[quantity.where], upper[quantity.where] = quantity.lower, quantity.upper
    return lower, upper
