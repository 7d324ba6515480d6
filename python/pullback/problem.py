"""Problems: a scene with what may change and what is to be small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, losses, optimise
from ._checks import count, real
from .errors import SettingError
from .health import Audit, Health
from .model import Model
from .names import Params, State
from .settings import device_of, gpu_of
from .simulation import Simulation

__all__ = ["Audit", "Health", "Problem", "Variable"]

Doubles: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Variable:
    """Something that may change.

    Parameters
    ----------
    name : str
        A param or a glob (`ball.mass`, `*.stiffness`); `initial.` before a name of the state; `control.` before one of controls,
        in all steps.
    lower, upper : float, optional
        Bounds of each number, in its unit.
    transform : bool
        Keep bounds by a coordinate that cannot leave them, instead of putting values back on them.
    scale : float, optional
        The size of a typical change, in its unit.
    start : float or sequence of float, optional
        Where the search starts; at the scene's value by default.
    together : bool
        Let all that the name stands for change by the same amount, axis by axis: one variable for each axis.
    """

    name: str
    lower: float | None = None
    upper: float | None = None
    transform: bool = False
    scale: float | None = None
    start: float | Sequence[float] | None = None
    together: bool = False


class Problem:
    """A scene with what may change and what is to be small.

    The vector z stands for the variables, scaled so that 1 is a typical change.

    Parameters
    ----------
    simulation : Simulation
        What is simulated, and for how many steps.
    variables : sequence of Variable or str
        What may change.
    loss : sequence of losses
        What is to be small: the sum of these.
    method : Method, optional
        `LBFGS()` by default.
    iterations, tolerance, target
        When `solve` stops: after so many iterations; when the projected gradient or a step is so small; at such a loss.
    """

    def __init__(
        self,
        simulation: Simulation,
        variables: Sequence[Variable | str],
        loss: Sequence[losses.Loss],
        *,
        method: optimise.Method | None = None,
        iterations: int = 100,
        tolerance: float = 1e-10,
        target: float | None = None,
    ) -> None:
        changing = [_variable(v) for v in _listed("variables", variables, (str, Variable))]
        self._core = _core.Problem.of(
            simulation.model._core,
            simulation._core,
            simulation.steps,
            [
                (v.name, v.lower, v.upper, v.transform, v.scale, _numbers(v.start), v.together)
                for v in changing
            ],
            [losses.pack(term) for term in _listed("loss", loss, losses.KINDS)],
            optimise.pack(optimise.LBFGS() if method is None else method),
            (
                count("iterations", iterations),
                real("tolerance", tolerance),
                None if target is None else real("target", target),
            ),
        )
        self.simulation = simulation

    @classmethod
    def load(cls, path: str | PathLike[str], *, device: str = "cpu") -> Problem:
        """Reads a problem file: a scene with `[[variables]]`, `[[loss]]` and, if wanted, `[optimiser]`.

        Rollouts run on `device`, as those of a `Simulation` do.
        """
        return cls._of(_core.Problem(None, path, gpu_of(device_of(device))), Model.load(path), device)

    @classmethod
    def parse(cls, text: str, file: str | PathLike[str] = "problem.toml", *, device: str = "cpu") -> Problem:
        """A problem from the text of a file; data files are looked for where `file` would be."""
        return cls._of(_core.Problem(text, file, gpu_of(device_of(device))), Model.parse(text, file), device)

    @classmethod
    def _of(cls, core: _core.Problem, model: Model, device: str) -> Problem:
        problem = cls.__new__(cls)
        problem._core = core
        problem.simulation = Simulation(model, device=device)
        return problem

    @property
    def model(self) -> Model:
        """The model."""
        return self.simulation.model

    @property
    def names(self) -> list[str]:
        """The name of each variable."""
        return [name for name, *_ in self._core.variables()]

    @property
    def units(self) -> list[str]:
        """The unit of each variable."""
        return [unit for _, unit, *_ in self._core.variables()]

    @property
    def start(self) -> Doubles:
        """Where the search starts, shape (variables,)."""
        return np.array(self._core.start()[0])

    @property
    def bounds(self) -> tuple[Doubles, Doubles]:
        """The bounds of z."""
        _, lower, upper = self._core.start()
        return np.array(lower), np.array(upper)

    def values(self, z: ArrayLike) -> dict[str, float]:
        """The variables at z by name, in their own units."""
        return dict(zip(self.names, self._core.values(_list(z)), strict=True))

    def point(self, z: ArrayLike) -> tuple[State, Doubles, Params]:
        """First state, controls (steps, control) and params at z."""
        state, controls, params = self._core.point(_list(z))
        shape = (self.simulation.steps, len(self.model.control_layout))
        return self.model.state(state), np.array(controls).reshape(shape), self.model.params(params)

    def rollout(self, z: ArrayLike) -> Doubles:
        """All states at z, shape (steps + 1, state)."""
        x, u, theta = self.point(z)
        return self.simulation.rollout(x, u, theta)

    def value(self, z: ArrayLike) -> float:
        """The loss at z."""
        return self._core.value(_list(z))

    def gradient(self, z: ArrayLike) -> tuple[float, Doubles]:
        """The loss at z, and its gradient by z."""
        value, gradient = self._core.gradient(_list(z))
        return value, np.array(gradient)

    def full_gradient(self, z: ArrayLike) -> tuple[float, State, Doubles, Params]:
        """The loss at z, and its gradient by the first state, the controls (steps, control) and the params, with names."""
        value, state, controls, params, _ = self._core.full_gradient(_list(z))
        shape = (self.simulation.steps, len(self.model.control_layout))
        return value, self.model.state(state), np.array(controls).reshape(shape), self.model.params(params)

    def jacobian(self, z: ArrayLike) -> tuple[Doubles, Doubles]:
        """Residuals at z, whose squares sum up to the loss, and their Jacobian by z."""
        residuals, rows = self._core.jacobian(_list(z))
        return np.array(residuals), np.array(rows).reshape(len(residuals), -1)

    def parts(self, z: ArrayLike) -> dict[str, float]:
        """What each part of the loss comes to at z."""
        return dict(self._core.parts(_list(z)))

    def standard_errors(self, z: ArrayLike) -> dict[str, float] | None:
        """The standard error of each variable at z, in its unit, where measurements are fitted."""
        found = self._core.standard_errors(_list(z))
        return None if found is None else dict(zip(self.names, found, strict=True))

    def check(self, z: ArrayLike | None = None) -> Health:
        """Holds the gradient against finite differences, and looks at energy and at how gradients grow."""
        return Health.of(self._core.check(_list(self.start if z is None else z)))

    def begin(self, method: optimise.Method | None = None) -> optimise.Run:
        """A minimisation with the problem's optimiser, or with another method, at its start."""
        core = self._core.begin(None if method is None else optimise.pack(method))
        return optimise.Run(core, optimise.advance(core, self._core), self)

    def resume(self, path: str | PathLike[str]) -> optimise.Run:
        """A minimisation that `Run.save` wrote; that of another problem is refused."""
        core = _core.Run.load(path, self._core.fingerprint)
        return optimise.Run(core, optimise.advance(core, self._core), self)

    def solve(self, method: optimise.Method | None = None) -> optimise.Result:
        """Makes the loss small."""
        return self.begin(method).finish()

    def __reduce__(self) -> tuple[Any, ...]:
        text = self._core.source
        if not text:
            raise TypeError(
                "a problem that was built in code cannot be pickled; build it again, or write it as a file"
            )
        return (Problem.parse, (text, self.model._file))

    def __repr__(self) -> str:
        return f"<Problem {self.model.name!r}: {len(self.names)} variables, {self._core.method}>"


def _listed(what: str, given: Any, one: type | tuple[type, ...]) -> Sequence[Any]:
    """`SettingError` for one thing where a list of them is wanted."""
    if isinstance(given, one) or not isinstance(given, Iterable):
        raise SettingError(f"{what} is {given!r}: a list is wanted, as in [{given!r}]")
    return list(given)


def _variable(given: Variable | str) -> Variable:
    if not isinstance(given, (Variable, str)):
        raise SettingError(f"{given!r} is no variable: a name or a `pullback.Variable` is wanted")
    return Variable(given) if isinstance(given, str) else given


def _list(z: ArrayLike) -> list[float]:
    numbers: list[float] = np.asarray(z, dtype=np.float64).ravel().tolist()
    return numbers


def _numbers(start: float | Sequence[float] | None) -> list[float] | None:
    if start is None:
        return None
    return _list(start)
