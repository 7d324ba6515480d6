"""What the world is: bodies, joints, shapes, forces, with a name for every number."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import address, empty, flat
from ._checks import count
from ._numpy import real
from .errors import SettingError, ShapeError
from .layout import origin
from .names import Control, Layout, Params, State

__all__ = ["Model"]


class Model:
    """What the world is. Immutable; copies share it.

    Make one with `Model.load` or `Model.parse`. Pickles hold the text that it was made of: meshes and other files that the
    text names are read again where they were.

    Attributes
    ----------
    state_layout, control_layout, params_layout : Layout
        The names of the numbers of states, controls and params.
    """

    def __init__(self, core: _core.Model, file: str = "") -> None:
        if not isinstance(core, _core.Model):
            raise SettingError(
                f"Model({core!r}): a model is read by `pullback.Model.load(file)` or `pullback.Model.parse(text)`; "
                "`pullback.load(file)` reads one and simulates it"
            )
        self._core = core
        #: The file, with the folders in front of it that it was found in.
        self._file = file
        # Layouts hold the core alone: a circle of the two would keep both until the garbage collector comes.
        self.state_layout = Layout(core.state_layout, (core, file), "state")
        self.control_layout = Layout(core.control_layout, (core, file), "control")
        self.params_layout = Layout(core.params_layout, (core, file), "params")

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        lenient: bool = False,
        allow: Sequence[str | PathLike[str]] = (),
        packages: Mapping[str, str | PathLike[str]] | None = None,
        base: str = "as-written",
    ) -> Model:
        """Reads a scene (`.toml`) or a robot (`.urdf`, `.xml` of MuJoCo), which then stands alone in a world.

        Parameters
        ----------
        path : str or path
            The file.
        lenient : bool
            Leave out what is not supported in a robot's file, with `warnings`, instead of refusing it.
        allow : sequence of paths
            Further folders that a robot's file may name files in.
        packages : mapping of names to paths
            Where the packages are that a robot's file names.
        base : {"as-written", "fixed", "free"}
            How a robot stands in the world.

        Raises
        ------
        SceneError
            The first thing that is wrong with the file, with its line and the fix.
        """
        return cls._make(None, path, lenient, allow, packages, base)._warned()

    @classmethod
    def parse(
        cls,
        text: str,
        file: str | PathLike[str] = "scene.toml",
        *,
        lenient: bool = False,
        allow: Sequence[str | PathLike[str]] = (),
        packages: Mapping[str, str | PathLike[str]] | None = None,
        base: str = "as-written",
    ) -> Model:
        """Reads a scene or robot from a text, as `load` does; other files are looked for where `file` would be."""
        return cls._make(text, file, lenient, allow, packages, base)._warned()

    @classmethod
    def _make(
        cls,
        text: str | None,
        file: str | PathLike[str],
        lenient: bool,
        allow: Sequence[str | PathLike[str]],
        packages: Mapping[str, str | PathLike[str]] | None,
        base: str,
    ) -> Model:
        # As they are now: whoever makes it again, from a pickle, may be in another folder.
        places = [(name, os.path.abspath(folder)) for name, folder in (packages or {}).items()]
        folders = [os.path.abspath(folder) for folder in allow]
        core = _core.Model(text, os.fspath(file), lenient, list(folders), list(places), base)
        return cls(core, os.path.abspath(file))

    def _warned(self) -> Model:
        """The same, after its warnings have been given."""
        for warning in self.warnings:
            warnings.warn(warning, stacklevel=4)
        return self

    @property
    def name(self) -> str:
        """What it is called."""
        return self._core.name

    @property
    def description(self) -> str:
        """What it shows."""
        return self._core.description

    @property
    def warnings(self) -> list[str]:
        """What a file says that was left out or is doubtful; reading it warns of each."""
        return self._core.warnings

    @property
    def particles(self) -> int:
        """How many particles there are."""
        return self._core.particles

    @property
    def robots(self) -> list[str]:
        """The names of robots and loose bodies."""
        return self._core.robots

    @property
    def parts(self) -> list[str]:
        """The names of all particles, and of the bodies and frames of all robots: what `Simulation.watch` can look at."""
        return self._core.parts

    @property
    def positions(self) -> int:
        """How many numbers of a state are positions: they come before the velocities."""
        return self._core.positions

    def state(self, values: ArrayLike | None = None) -> State:
        """The state that the scene starts from, or one of these numbers."""
        return State(self, values)

    def params(self, values: ArrayLike | None = None) -> Params:
        """The params that the scene gives, or these numbers."""
        return Params(self, values)

    def control(self, values: ArrayLike | None = None) -> Control:
        """A control that does nothing, or one of these numbers."""
        return Control(self, values)

    def controls(self, steps: int) -> NDArray[np.float64]:
        """The controls that the scene gives, shape (steps, control)."""
        steps, schedule = count("steps", steps), self._schedule
        rows = empty((steps, schedule.shape[1]), np.float64)
        rows[: len(schedule)] = schedule[:steps]
        rows[len(schedule) :] = schedule[-1]
        return rows

    def _controls_at(self, index: NDArray[np.int32]) -> NDArray[np.float64]:
        """The controls that the scene gives in steps of these numbers, shape (*index, control)."""
        rows: NDArray[np.float64] = self._schedule[np.minimum(index, len(self._schedule) - 1)]
        return rows

    @cached_property
    def _schedule(self) -> NDArray[np.float64]:
        """The controls of the first steps; those of the last row are those of all later ones."""
        rows, numbers = self._core.controls()
        return np.array(numbers, dtype=np.float64).reshape(rows, len(self.control_layout))

    def _timed(self, u: Any) -> bool:
        """Does what is applied in a step depend on its number, with this control or, by default, that of the scene?"""
        return self._core.controllers > 0 or (u is None and len(self._schedule) > 1)

    def energy(
        self, x: State | ArrayLike, theta: Params | ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Kinetic and potential energy [J] of states.

        Parameters
        ----------
        x : State or array_like, shape (..., state)
        theta : Params or array_like, shape (..., params), optional
            Those of the scene by default. Its batch is that of x, or one of them has none.

        Returns
        -------
        kinetic, potential : ndarray, shape (...)
        """
        states = flat(real("x", x), np.float64)
        params = flat(real("theta", self.params() if theta is None else theta), np.float64)
        wanted = len(self.state_layout)
        if states.ndim == 0 or states.shape[-1] != wanted:
            raise ShapeError(f"x: shape (..., {wanted}) is wanted, and {states.shape} was given")
        wanted = len(self.params_layout)
        if params.ndim == 0 or params.shape[-1] != wanted:
            raise ShapeError(f"theta: shape (..., {wanted}) is wanted, and {params.shape} was given")
        batch, other = states.shape[:-1], params.shape[:-1]
        if batch and other and batch != other:
            raise ShapeError(
                f"theta: the batch is {other}, and that of x is {batch}; both have the same, or one has none"
            )
        found = empty((math.prod(batch or other), 2), np.float64)
        if not other:
            self._core.energy(address(states), len(found), address(params), address(found))
        else:
            worlds = flat(np.broadcast_to(states, (*other, states.shape[-1])), np.float64)
            rows = zip(worlds.reshape(len(found), -1), params.reshape(len(found), -1), found, strict=True)
            for x_of, theta_of, row in rows:
                self._core.energy(address(x_of), 1, address(theta_of), address(row))
        batch = batch or other
        return found[:, 0].reshape(batch), found[:, 1].reshape(batch)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, origin(self._core, self._file))

    def __repr__(self) -> str:
        sizes = f"{len(self.state_layout)} states, {len(self.control_layout)} controls, {len(self.params_layout)} params"
        return f"<Model {self.name!r}: {sizes}>"


def _again(
    text: str, file: str, lenient: bool, allow: list[str], packages: list[tuple[str, str]], base: str
) -> Model:
    return Model._make(text, file, lenient, allow, dict(packages), base)
