"""Parts of a loss, for problems that are built in code. Each is weight times a sum of squares.

When something is measured is `at`: `"end"`, `"always"` (every step, times dt), a step, or a list of steps; step 0 is the first
state. What makes no sense is a `SettingError` when the problem is built; what the scene does not have a `SceneError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import count, real
from .errors import SettingError, ShapeError

__all__ = ["Contact", "Effort", "Joint", "Loss", "Position", "Trajectory", "Velocity"]

At: TypeAlias = str | int | Sequence[int] | NDArray[Any]
#: Which axes count: `"xz"`, or `["x", "z"]`.
Axes: TypeAlias = str | Sequence[str]

#: What contacts come to, and how many numbers its target has.
QUANTITIES = {"normal-force": 1, "friction-force": 1, "force": 3, "penetration": 1}


@dataclass(frozen=True)
class Position:
    """Squared distance of a particle, or of the origin of a body or frame, from a point [m]."""

    of: str
    target: ArrayLike
    axes: Axes = "xyz"
    at: At = "end"
    weight: float = 1.0


@dataclass(frozen=True)
class Velocity:
    """Squared difference of a velocity from a given one [m/s]."""

    of: str
    target: ArrayLike
    axes: Axes = "xyz"
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
    target: ArrayLike
    quantity: str = "normal-force"
    by: str | None = None
    axes: Axes = "xyz"
    at: At = "end"
    weight: float = 1.0


@dataclass(frozen=True)
class Effort:
    """Squared controls of an actuator or motor, times dt, over all steps."""

    of: str
    weight: float = 1.0


@dataclass(frozen=True)
class Trajectory:
    """Squared differences from measurements.

    Parameters
    ----------
    of : sequence of str
        What was measured, as columns of data files are called: the name of a particle, a loose body, or a body or frame of a robot,
        with `.x`, `.y`, `.z` [m], `.vx`, `.vy` or `.vz` [m/s]; that of a hinge [rad] or slide [m], with `.velocity` [rad/s, m/s].
    measured : array_like, shape (rows, len(of))
        The measurements.
    at : sequence of int
        The step of each row; step 0 is the first state.
    weight : float
        Its factor.
    """

    of: Sequence[str]
    measured: ArrayLike
    at: Sequence[int] | NDArray[Any]
    weight: float = 1.0


Loss: TypeAlias = Position | Velocity | Joint | Contact | Effort | Trajectory
#: All of them.
KINDS = (Position, Velocity, Joint, Contact, Effort, Trajectory)
Measured: TypeAlias = tuple[
    str, str, str | None, list[float], tuple[bool, bool, bool], list[int] | None, float
]
Recorded: TypeAlias = tuple[list[str], list[float], list[int], float]


def pack(loss: Loss) -> Measured | Recorded:
    """A part of a loss as the core takes it."""
    if not isinstance(loss, KINDS):
        raise SettingError(f"{loss!r} is no loss: one of `pullback.losses` is wanted")
    weight = real("weight", loss.weight)
    match loss:
        case Effort():
            return ("effort", loss.of, None, [], (True, True, True), [], weight)
        case Joint():
            return ("joint", loss.of, None, _target(loss, 1), (True, True, True), _when(loss.at), weight)
        case Contact():
            if loss.quantity not in QUANTITIES:
                names = ", ".join(f'"{name}"' for name in QUANTITIES)
                raise SettingError(f"quantity is {loss.quantity!r}: one of {names} is wanted")
            target = _target(loss, QUANTITIES[loss.quantity])
            return (loss.quantity, loss.of, loss.by, target, _axes(loss.axes), _when(loss.at), weight)
        case Position() | Velocity():
            kind = "position" if isinstance(loss, Position) else "velocity"
            return (kind, loss.of, None, _target(loss, 3), _axes(loss.axes), _when(loss.at), weight)
        case Trajectory():
            return _recorded(loss, weight)


def _recorded(loss: Trajectory, weight: float) -> Recorded:
    columns = [loss.of] if isinstance(loss.of, str) else list(loss.of)
    steps = _steps(loss.at)
    rows = _numbers("measured", loss.measured)
    if rows.shape != (len(steps), len(columns)):
        raise ShapeError(
            f"measured: shape {(len(steps), len(columns))} is wanted, a row for each step in `at` and a column for each of "
            f"{columns}, and {rows.shape} was given"
        )
    return (columns, rows.ravel().tolist(), steps, weight)


def _target(loss: Position | Velocity | Joint | Contact, wanted: int) -> list[float]:
    numbers = _numbers("target", loss.target)
    if numbers.size != wanted or numbers.ndim > 1:
        what = f"the {loss.quantity} of a contact" if isinstance(loss, Contact) else type(loss).__name__
        amount = "one number" if wanted == 1 else f"{wanted} numbers"
        raise SettingError(f"target is {loss.target!r}: {what} has a target of {amount}")
    found: list[float] = numbers.ravel().tolist()
    return found


def _numbers(what: str, given: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError(f"{what} is {given!r}: numbers are wanted") from None


def _axes(axes: Any) -> tuple[bool, bool, bool]:
    names = list(axes) if isinstance(axes, str | list | tuple) else []
    if not names or any(name not in ("x", "y", "z") for name in names) or len(set(names)) != len(names):
        raise SettingError(
            f'axes is {axes!r}: some of "x", "y" and "z" are wanted, such as "xz" or ["x", "z"]'
        )
    return ("x" in names, "y" in names, "z" in names)


def _when(at: Any) -> list[int] | None:
    if isinstance(at, str):
        if at not in ("end", "always"):
            raise SettingError(f'at is {at!r}: "end", "always", a step or a list of steps is wanted')
        return None if at == "end" else []
    return _steps(at) if isinstance(at, Iterable) else [count("at", at)]


def _steps(at: Any) -> list[int]:
    steps = [count("at", step) for step in at] if isinstance(at, Iterable) and not isinstance(at, str) else []
    if not steps:
        raise SettingError(f"at is {at!r}: at least one step is wanted")
    return steps
