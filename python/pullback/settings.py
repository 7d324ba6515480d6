"""How a simulation runs: integrators, and what rollouts keep for the way back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from ._checks import count, real
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

    def __post_init__(self) -> None:
        count("snapshots", self.snapshots, least=1)


@dataclass(frozen=True)
class Budget:
    """Keeps as many states as fit into so many bytes, everything else that a rollout needs included."""

    bytes: int

    def __post_init__(self) -> None:
        count("bytes", self.bytes)


@dataclass(frozen=True)
class Dense:
    """Keeps all that the pullback reads, of each step; nothing is computed again."""


@dataclass(frozen=True)
class Reversible:
    """Keeps the last state alone; steps are run backwards, with `Integrator.REVERSIBLE_VERLET`."""


Memory: TypeAlias = EveryStep | Binomial | Budget | Dense | Reversible

#: Those that files have as a word.
_WORDS: dict[str, Memory] = {"every-step": EveryStep(), "dense": Dense(), "reversible": Reversible()}


def memory_of(given: Memory | str) -> Memory:
    """A memory strategy, or that of its word in files."""
    found = _WORDS.get(given) if isinstance(given, str) else given
    if not isinstance(found, Memory):
        words = ", ".join(f'"{word}"' for word in _WORDS)
        raise SettingError(
            f"memory is {given!r}: EveryStep(), Binomial(snapshots), Budget(bytes), Dense() or Reversible() of `pullback` is "
            f"wanted, or one of the words {words}"
        )
    return found


def pack_memory(memory: Memory) -> tuple[str, int]:
    """A memory strategy as the core takes it."""
    match memory:
        case EveryStep():
            return ("every-step", 0)
        case Binomial(snapshots):
            return ("binomial", operator.index(snapshots))
        case Budget(bytes=size):
            return ("budget", operator.index(size))
        case Dense():
            return ("dense", 0)
        case Reversible():
            return ("reversible", 0)


def unpack_memory(packed: tuple[str, int]) -> Memory:
    """A memory strategy from what the core says."""
    name, number = packed
    if name in _WORDS:
        return _WORDS[name]
    return Binomial(number) if name == "binomial" else Budget(number)


class _Unset:
    """What is as the scene says."""

    def __repr__(self) -> str:
        return "as the scene says"


UNSET: Any = _Unset()

#: What a simulation may be told.
NAMES = (
    "dt",
    "steps",
    "substeps",
    "integrator",
    "memory",
    "snapshots",
    "truncate",
    "clip",
    "threads",
    "device",
)


def resolved(of_scene: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """All settings, checked: those that were given, and for the others what the core says that the scene has."""
    dt, steps, substeps, integrator, memory, snapshots, truncate, clip = of_scene
    scene = {
        "dt": dt,
        "steps": steps,
        "substeps": substeps,
        "integrator": integrator,
        "memory": unpack_memory(memory),
        "snapshots": snapshots,
        "truncate": truncate,
        "clip": clip,
        "threads": 1,
        "device": "cpu",
    }
    s = {name: scene[name] if given[name] is UNSET else given[name] for name in NAMES}
    return {
        "dt": real("dt", s["dt"]),
        "steps": count("steps", s["steps"]),
        "substeps": count("substeps", s["substeps"], least=1),
        "integrator": _integrator(s["integrator"]),
        "memory": memory_of(s["memory"]),
        "snapshots": s["snapshots"],
        "truncate": _or_none(count, "truncate", s["truncate"]),
        "clip": _or_none(real, "clip", s["clip"]),
        "threads": count("threads", s["threads"], most=1024),
        "device": device_of(s["device"]),
    }


def gpu_of(device: str) -> int | None:
    """The number of the GPU that a device is, if it is one."""
    kind, _, number = device.partition(":")
    return int(number or 0) if kind == "gpu" else None


def known(settings: Iterable[str], names: Iterable[str]) -> None:
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


def device_of(device: Any) -> str:
    """A device as it is named, if it is one."""
    if isinstance(device, str):
        kind, colon, number = device.partition(":")
        if device == "cpu" or (
            kind == "gpu" and (not colon or (number.isascii() and number.isdigit() and len(number) < 9))
        ):
            return device
    raise SettingError(
        f'device is {device!r}: "cpu" is wanted, or "gpu", or a GPU by its number, such as "gpu:1"'
    )
