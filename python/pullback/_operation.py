"""Steps and rollouts as maps (x, u, theta) to states, on addresses: what the back ends for NumPy, torch and JAX share."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from . import _core
from ._arrays import address
from .errors import ShapeError

Shape: TypeAlias = tuple[int, ...]
Three: TypeAlias = tuple[int, int, int]

#: What is said where a second derivative is asked for.
ONCE = (
    "a gradient of a gradient is not there: steps, rollouts and what is seen can be differentiated once, "
    "and again by differences"
)

#: Bits of `Plan.shared`, for x, u and theta.
BITS = (1, 2, 4)


class Plan(NamedTuple):
    """What the shapes of a call come to."""

    #: How many worlds.
    worlds: int
    #: Which arguments all worlds share.
    shared: int
    #: The shape of what comes out.
    out: Shape


class Operation:
    """A map from x, u and theta to states, for any batch of worlds.

    Arguments are (*batch, state), (*batch, *steps, control) and (*batch, params); each may lack the batch, and is the same for all
    worlds then.
    """

    #: Of steps alone, which have numbers.
    index: Any = None
    #: Shapes of one world.
    x: Shape
    u: Shape
    theta: Shape
    out: Shape

    def __init__(self, core: _core.Simulation | _core.Watch) -> None:
        self.core: Any = core
        self._plans: dict[tuple[Shape, Shape, Shape], Plan] = {}

    def plan(self, x: Shape, u: Shape, theta: Shape) -> Plan:
        """What these shapes come to; `ShapeError` if they do not fit."""
        found = self._plans.get((x, u, theta))
        if found is None:
            found = self._plans[(x, u, theta)] = self._new_plan(x, u, theta)
        return found

    def _new_plan(self, *given: Shape) -> Plan:
        batch: Shape = ()
        shared = 0
        for bit, name, shape, wanted in zip(BITS, "xuθ", given, (self.x, self.u, self.theta), strict=True):
            name = "theta" if name == "θ" else name
            if tuple(shape[len(shape) - len(wanted) :]) != wanted:
                raise ShapeError(f"{name}: shape {_text(wanted)} is wanted, and {tuple(shape)} was given")
            leading = tuple(shape[: len(shape) - len(wanted)])
            if leading == ():
                shared |= bit
            elif batch == ():
                batch = leading
            elif batch != leading:
                raise ShapeError(
                    f"{name}: the batch is {leading}, and that of another argument is {batch}; "
                    "all have the same, or none"
                )
        worlds = 1
        for length in batch:
            worlds *= length
        if batch == ():
            shared = 0
        return Plan(worlds, shared, (*batch, *self.out))

    def forward(self, single: bool, plan: Plan, at: Three, out: int) -> None:
        """Writes what comes out."""
        raise NotImplementedError

    def pullback(self, single: bool, plan: Plan, at: Three, out: int, out_bar: int, bars: Three) -> None:
        """Writes cotangents of the arguments, of one of what came out."""
        raise NotImplementedError

    def pushforward(self, single: bool, plan: Plan, at: Three, dots: Three, out: int, out_dot: int) -> None:
        """Writes what comes out, and its tangent."""
        raise NotImplementedError


class Step(Operation):
    """One step: x_next = step(x, u, theta)."""

    #: The numbers of the step, `int32`, of all worlds, or of each in the last axes of the batch; of JAX where JAX has them.
    index: Any
    #: The step with another index, which JAX has as an argument, is the same operation.
    home: Step

    def __init__(
        self, core: _core.Simulation | _core.Watch, sizes: Three, index: Any, home: Step | None = None
    ) -> None:
        super().__init__(core)
        self.index, self.home = index, home or self
        self._clock = (address(index), index.size) if isinstance(index, np.ndarray) else (0, 0)
        self.x, self.u, self.theta = ((size,) for size in sizes)
        self.out = self.x

    def _new_plan(self, *given: Shape) -> Plan:
        plan = super()._new_plan(*given)
        batch, inner = plan.out[:-1], tuple(self.index.shape)
        if inner != batch[len(batch) - len(inner) :]:
            raise ShapeError(
                f"index: one number or shape {batch}, that of the batch, is wanted, and {inner} was given"
            )
        return plan

    def forward(self, single: bool, plan: Plan, at: Three, out: int) -> None:
        """Writes x_next."""
        self.core.step(single, plan.worlds, plan.shared, self._clock, at, out)

    def pullback(self, single: bool, plan: Plan, at: Three, out: int, out_bar: int, bars: Three) -> None:
        """Writes cotangents of x, u and theta."""
        self.core.step_pullback(single, plan.worlds, plan.shared, self._clock, at, out, out_bar, bars)

    def pushforward(self, single: bool, plan: Plan, at: Three, dots: Three, out: int, out_dot: int) -> None:
        """Writes x_next and its tangent."""
        self.core.step_pushforward(single, plan.worlds, plan.shared, self._clock, at, dots, out, out_dot)


class Look(Step):
    """What is seen of the world before a step, as a map of x, u and theta like the step itself."""

    core: Any

    def __init__(self, core: _core.Watch, sizes: Three, index: Any, home: Look | None = None) -> None:
        super().__init__(core, sizes, index, home)
        self.out = (len(core),)


class Rollout(Operation):
    """Many steps: all states from the first to the last, or the last alone."""

    def __init__(self, core: _core.Simulation, sizes: Three, steps: int, last: bool) -> None:
        super().__init__(core)
        self.steps, self.last = steps, last
        self.x, self.u, self.theta = (sizes[0],), (steps, sizes[1]), (sizes[2],)
        self.out = self.x if last else (steps + 1, sizes[0])

    def forward(self, single: bool, plan: Plan, at: Three, out: int) -> None:
        """Writes states."""
        self.core.rollout(single, plan.worlds, plan.shared, self.steps, self.last, at, out)

    def pullback(self, single: bool, plan: Plan, at: Three, out: int, out_bar: int, bars: Three) -> None:
        """Writes cotangents of x, u and theta."""
        self.core.rollout_pullback(
            single, plan.worlds, plan.shared, self.steps, self.last, at, out, out_bar, bars
        )

    def pushforward(self, single: bool, plan: Plan, at: Three, dots: Three, out: int, out_dot: int) -> None:
        """Writes states and their tangents."""
        self.core.rollout_pushforward(
            single, plan.worlds, plan.shared, self.steps, self.last, at, dots, out, out_dot
        )


def _text(wanted: Shape) -> str:
    return "(..., " + ", ".join(map(str, wanted)) + ")"
