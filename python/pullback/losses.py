"""Parts of a loss, for problems that are built in code. Each is weight times a sum of squares.

When something is measured is `at`: `"end"`, `"always"` (every step, times dt), a step, or a list of steps; step 0 is the first
state. Measurements in a CSV file (`trajectory`) are for problem files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Contact", "Effort", "Joint", "Loss", "Position", "Velocity"]

At: TypeAlias = str | int | Sequence[int]


@dataclass(frozen=True)
class Position:
    """Squared distance of a particle, or of the origin of a body or frame, from a point [m]."""

    of: str
    target: Sequence[float]
    axes: str = "xyz"
    at: At = "end"
    weight: float = 1.0


@dataclass(frozen=True)
class Velocity:
    """Squared difference of a velocity from a given one [m/s]."""

    of: str
    target: Sequence[float]
    axes: str = "xyz"
    at: At = "end"
    weight: float = 1.0


@dataclass(frozen=True)
class Joint:
    """Squared difference of the position of a hinge [rad] or slide [m] from a given one."""

    of: str
    target: float
    at: At = "end"
    weight: float = 1.0


@dataclass(frozen=True)
class Contact:
    """Squared difference of what contacts come to from what they should.

    `quantity` is `"normal-force"`, `"friction-force"`, `"force"` (a vector) [N] or `"penetration"` [m]; `of` and `by` name the
    ground, a robot, a body or a shape, and without `by` all that touches counts.
    """

    of: str
    target: float | Sequence[float]
    quantity: str = "normal-force"
    by: str | None = None
    axes: str = "xyz"
    at: At = "end"
    weight: float = 1.0


@dataclass(frozen=True)
class Effort:
    """Squared controls of an actuator or motor, times dt, over all steps."""

    of: str
    weight: float = 1.0


Loss: TypeAlias = Position | Velocity | Joint | Contact | Effort
Packed: TypeAlias = tuple[str, str, str | None, list[float], tuple[bool, bool, bool], list[int] | None, float]


def pack(loss: Loss) -> Packed:
    """A part of a loss as the core takes it."""
    axes = "xyz" if isinstance(loss, (Joint, Effort)) else loss.axes
    used = ("x" in axes, "y" in axes, "z" in axes)
    match loss:
        case Effort():
            return ("effort", loss.of, None, [], used, [], loss.weight)
        case Joint():
            return ("joint", loss.of, None, [float(loss.target)], used, _when(loss.at), loss.weight)
        case Contact():
            target = loss.target if isinstance(loss.target, Sequence) else [loss.target]
            numbers = [float(x) for x in target]
            return (loss.quantity, loss.of, loss.by, numbers, used, _when(loss.at), loss.weight)
        case Position() | Velocity():
            kind = "position" if isinstance(loss, Position) else "velocity"
            numbers = [float(x) for x in loss.target]
            return (kind, loss.of, None, numbers, used, _when(loss.at), loss.weight)


def _when(at: At) -> list[int] | None:
    if isinstance(at, str):
        return None if at == "end" else []
    return [at] if isinstance(at, int) else list(at)
