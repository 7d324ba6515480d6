"""How a simulation runs: integrators, and what rollouts keep for the way back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ._checks import count
from .errors import SettingError

__all__ = ["Binomial", "Budget", "Dense", "EveryStep", "Integrator", "Memory", "Reversible"]


class Integrator(str, Enum):
    """How a step is computed. Functions take the name in files as well: `"rk4"`."""

    #: Position and velocity advance with the old velocity and acceleration.
    EXPLICIT_EULER = "explicit-euler"
    #: The velocity first, then the position with the new velocity: what scenes have by default.
    SEMI_IMPLICIT_EULER = "semi-implicit-euler"
    #: The classical method of order 4.
    RUNGE_KUTTA_4 = "rk4"
    #: Symmetric, of order 2.
    VELOCITY_VERLET = "velocity-verlet"
    #: Verlet that can be run backwards to the bit; needed by `Reversible`.
    REVERSIBLE_VERLET = "reversible-verlet"
    #: Symmetric, of order 2, for stiff springs.
    IMPLICIT_MIDPOINT = "implicit-midpoint"
    #: Damps what is stiff.
    BACKWARD_EULER = "backward-euler"


@dataclass(frozen=True)
class EveryStep:
    """Keeps the state before each step: n states, 2n - 1 steps for n steps and their way back."""


@dataclass(frozen=True)
class Binomial:
    """Keeps so many states, placed so that the fewest steps are computed again."""

    snapshots: int


@dataclass(frozen=True)
class Budget:
    """Keeps as many states as fit into so many bytes, everything else that a rollout needs included."""

    bytes: int


@dataclass(frozen=True)
class Dense:
    """Keeps all that the pullback reads, of each step; nothing is computed again."""


@dataclass(frozen=True)
class Reversible:
    """Keeps the last state alone; steps are run backwards, with `Integrator.REVERSIBLE_VERLET`."""


Memory: TypeAlias = EveryStep | Binomial | Budget | Dense | Reversible


def pack_memory(memory: Memory) -> tuple[str, int]:
    """A memory strategy as the core takes it."""
    match memory:
        case EveryStep():
            return ("every-step", 0)
        case Binomial(snapshots):
            return ("binomial", count("snapshots", snapshots))
        case Budget(bytes=size):
            return ("budget", count("bytes", size))
        case Dense():
            return ("dense", 0)
        case Reversible():
            return ("reversible", 0)
    raise SettingError(
        f"memory is {memory!r}: EveryStep(), Binomial(snapshots), Budget(bytes), Dense() or Reversible() is wanted"
    )


def unpack_memory(packed: tuple[str, int]) -> Memory:
    """A memory strategy from what the core says."""
    name, number = packed
    plain: dict[str, Memory] = {"every-step": EveryStep(), "dense": Dense(), "reversible": Reversible()}
    if name in plain:
        return plain[name]
    return Binomial(number) if name == "binomial" else Budget(number)
