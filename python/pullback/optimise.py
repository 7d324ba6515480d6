"""Optimisers: the methods of the engine, for problems and for functions of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._checks import count, real
from .errors import SettingError, ShapeError

if TYPE_CHECKING:
    from .problem import Problem

__all__ = [
    "LBFGS",
    "Adam",
    "CmaEs",
    "GradientDescent",
    "LevenbergMarquardt",
    "Method",
    "Record",
    "Result",
    "Run",
    "minimise",
]

Doubles: TypeAlias = NDArray[np.float64]

#: How many values of a result are shown.
FIRST = 4


@dataclass(frozen=True)
class GradientDescent:
    """The simplest thing, to compare with."""

    rate: float = 0.01
    momentum: float = 0.0


@dataclass(frozen=True)
class Adam:
    """For gradients that are noisy or jump (Kingma and Ba 2015)."""

    rate: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999


@dataclass(frozen=True)
class LBFGS:
    """For smooth losses, with bounds: the first thing to try (Byrd, Lu, Nocedal and Zhu 1995)."""

    history: int = 10


@dataclass(frozen=True)
class LevenbergMarquardt:
    """For sums of squares of few variables: fits to data. Problems only."""

    damping: float = 1e-3


@dataclass(frozen=True)
class CmaEs:
    """Needs values only: for many minima, plateaus, noise (Hansen 2016)."""

    sigma: float = 0.3
    population: int | None = None
    seed: int = 0


Method: TypeAlias = GradientDescent | Adam | LBFGS | LevenbergMarquardt | CmaEs

_NAMES: dict[type, str] = {
    GradientDescent: "gradient-descent",
    Adam: "adam",
    LBFGS: "l-bfgs",
    LevenbergMarquardt: "levenberg-marquardt",
    CmaEs: "cma-es",
}


#: Settings that are counts, and their least values.
_COUNTS = {"history": 1, "population": 4, "seed": 0}


def pack(method: Method) -> tuple[str, dict[str, float], dict[str, int]]:
    """A method as the core takes it."""
    if type(method) not in _NAMES:
        names = ", ".join(f"{kind.__name__}()" for kind in _NAMES)
        raise SettingError(f"method is {method!r}: one of {names} of `pullback.optimise` is wanted")
    given = {key: value for key, value in asdict(method).items() if value is not None}
    counts = {
        key: count(key, value, least=_COUNTS[key], most=2**64 - 1)
        for key, value in given.items()
        if key in _COUNTS
    }
    return _NAMES[type(method)], {k: real(k, v) for k, v in given.items() if k not in _COUNTS}, counts


@dataclass(frozen=True)
class Record:
    """One line of the history of a run.

    Attributes
    ----------
    iteration : int
        0 is the start.
    value, best : float
        Where the method stands, and the best so far.
    gradient_norm : float or None
        The ∞-norm of the projected gradient, where the method has one.
    step : float
        The length of the step that led there.
    counts : tuple of int
        How many values, gradients and Jacobians were asked for so far.
    """

    iteration: int
    value: float
    best: float
    gradient_norm: float | None
    step: float
    counts: tuple[int, int, int]


@dataclass(frozen=True, repr=False)
class Result:
    """What a minimisation came to.

    Attributes
    ----------
    z : ndarray, shape (variables,)
        The best point.
    value : float
        The loss there.
    values : dict of str to float
        The variables there by name, in their own units; empty for functions of one's own.
    reason : str
        Why it ended, in a sentence.
    history : list of Record
        One for the start, and one for each iteration.
    """

    z: Doubles
    value: float
    values: dict[str, float]
    reason: str
    history: list[Record]

    def __repr__(self) -> str:
        first = dict(islice(self.values.items(), FIRST)) or self.z[:FIRST].tolist()
        more = len(self.z) - len(first)
        return (
            f"<Result: value {self.value:.6g} after {max(len(self.history) - 1, 0)} iterations; {self.reason} "
            f"{'values' if self.values else 'z'} {first}{f' and {more} more' if more > 0 else ''}>"
        )


class Run:
    """A minimisation: data, advanced one iteration at a time.

    It can be looked at, saved and resumed after any of them; a resumed run gives the same bits.
    """

    def __init__(self, core: _core.Run, advance: Callable[[], bool], problem: Problem | None = None) -> None:
        self._core = core
        self._advance = advance
        self._problem = problem

    def iterate(self) -> bool:
        """One iteration; false once the run has stopped."""
        return not self._advance()

    def finish(self) -> Result:
        """Iterates until it has stopped."""
        while self.iterate():
            pass
        return self.result

    @property
    def best(self) -> tuple[Doubles, float]:
        """The best point so far, and its value."""
        z, value = self._core.best
        return np.array(z), value

    @property
    def stopped(self) -> str | None:
        """Why it ended, if it has."""
        return self._core.stopped

    @property
    def history(self) -> list[Record]:
        """One record for the start, and one for each iteration."""
        return [Record(*record) for record in self._core.history]

    @property
    def result(self) -> Result:
        """What it has come to."""
        z, value = self.best
        values = {} if self._problem is None else self._problem.values(z)
        return Result(z, value, values, self.stopped or "it has not ended", self.history)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the run; a process that dies leaves the old one or the new one. `Problem.resume` reads it."""
        self._core.save(path)


def minimise(
    gradient: Callable[[Doubles], tuple[float, ArrayLike]],
    start: ArrayLike,
    method: Method | None = None,
    *,
    value: Callable[[Doubles], float] | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    iterations: int = 1000,
    tolerance: float = 1e-6,
    target: float | None = None,
    patience: int | None = None,
) -> Result:
    """Makes a function of one's own small.

    Parameters
    ----------
    gradient : callable
        From z, shape (n,), to a value and its gradient, shape (n,).
    start : array_like, shape (n,)
        Where to begin; scaled so that 1 is a typical change.
    method : Method, optional
        `LBFGS()` by default.
    value : callable, optional
        From z to the value alone, where that is cheaper.
    lower, upper : array_like, shape (n,), optional
        Bounds.
    iterations, tolerance, target, patience
        When to stop: after so many iterations; when the projected gradient is so small; at such a value; after so many
        iterations without improvement.
    """

    def both(z: list[float]) -> tuple[float, list[float]]:
        found, slope = gradient(np.array(z))
        return float(found), np.asarray(slope, dtype=np.float64).ravel().tolist()

    def alone(z: list[float]) -> float:
        return float(gradient(np.array(z))[0] if value is None else value(np.array(z)))

    def bounds(what: str, given: ArrayLike | None) -> list[float] | None:
        if given is None:
            return None
        numbers = np.asarray(given, dtype=np.float64)
        try:
            spread: list[float] = np.broadcast_to(numbers, first.shape).tolist()
        except ValueError:
            raise ShapeError(
                f"{what}: a number or shape {first.shape} is wanted, and {numbers.shape} was given"
            ) from None
        return spread

    first = np.asarray(start, dtype=np.float64).ravel()
    packed = pack(LBFGS() if method is None else method)
    core = _core.Run(
        packed,
        first.tolist(),
        bounds("lower", lower),
        bounds("upper", upper),
        count("iterations", iterations),
        real("tolerance", tolerance),
        None if target is None else real("target", target),
        None if patience is None else count("patience", patience),
    )
    return Run(core, lambda: core.iterate_on(alone, both)).finish()


def advance(core: _core.Run, problem: Any) -> Callable[[], bool]:
    """One iteration of a run on a problem of the core."""
    return lambda: core.iterate(problem)
