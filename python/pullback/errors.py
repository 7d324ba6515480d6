"""What can go wrong: one tree of exceptions under `Error`.

Each also is the built-in exception that Python programs expect: a wrong name is a `LookupError`, a wrong value a
`ValueError`.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "DeviceError",
    "DtypeError",
    "Error",
    "GpuError",
    "OptimiserError",
    "PanicError",
    "RangeError",
    "RolloutError",
    "SceneError",
    "SettingError",
    "ShapeError",
    "TooLargeError",
    "UnknownNameError",
]


class Error(Exception):
    """Anything that Pullback refuses or fails to do.

    What is known beyond the message is in attributes, such as `RolloutError.step`; they are `None` where
    nothing is known.
    """

    def __init__(self, message: str, **known: Any) -> None:
        super().__init__(message)
        self.__dict__.update(known)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (type(self), str(self), dict(self.__dict__)))


class SceneError(Error, ValueError):
    """A scene, problem or robot makes no sense; the message names the place and the fix."""

    #: The file, as it was named.
    file: str | None = None
    #: Where in it, counted from 1.
    line: int | None = None
    column: int | None = None
    #: The key, such as `springs[2].ends[1]`.
    path: str | None = None
    #: What is wrong, and what to do about it.
    what: str | None = None
    fix: str | None = None


class UnknownNameError(Error, LookupError):
    """Nothing is called so; the message has the nearest names."""


class RangeError(Error, ValueError):
    """A number that is not finite, or outside its range: a mass of -1."""


class ShapeError(Error, ValueError):
    """An array of another shape than is wanted; the message has both."""


class DtypeError(Error, TypeError):
    """Numbers of another type than `float64` or `float32`, or of two types in one call."""


class DeviceError(Error, TypeError):
    """An array that is not in the memory of the CPU."""


class GpuError(Error, RuntimeError):
    """There is no GPU, or it cannot run this; the message says what to install, or what runs on the CPU alone."""


class SettingError(Error, ValueError):
    """A time step, integrator, memory strategy or other setting that makes no sense."""


class TooLargeError(Error, MemoryError):
    """More memory is needed than there is."""


class RolloutError(Error, ArithmeticError):
    """A rollout went wrong on its way: a number that is not finite, a step without a solution."""

    #: In which step, counted from 0.
    step: int | None = None
    #: In which world of a batch.
    world: int | None = None


class OptimiserError(Error, RuntimeError):
    """An optimiser cannot go on."""


class PanicError(Error, RuntimeError):
    """A bug in Pullback; the message says where."""


def _again(kind: type[Error], message: str, known: dict[str, Any]) -> Error:
    return kind(message, **known)
