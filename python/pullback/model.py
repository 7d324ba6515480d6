"""What the world is: bodies, joints, shapes, forces, with a name for every number."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import address, aligned
from .errors import ShapeError
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

    def __init__(self, core: _core.Model) -> None:
        self._core = core
        self.state_layout = Layout(core.state_layout)
        self.control_layout = Layout(core.control_layout)
        self.params_layout = Layout(core.params_layout)

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
        return cls._make(None, path, lenient, allow, packages, base)

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
        return cls._make(text, file, lenient, allow, packages, base)

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
        places = [(name, os.fspath(folder)) for name, folder in (packages or {}).items()]
        folders = [os.fspath(folder) for folder in allow]
        return cls(_core.Model(text, os.fspath(file), lenient, list(folders), list(places), base))

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
        """What files of robots say that was left out or is doubtful."""
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
        given = np.array(self._core.controls(steps), dtype=np.float64)
        return aligned(given.reshape(steps, len(self.control_layout)))

    def energy(
        self, x: State | ArrayLike, theta: Params | ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Kinetic and potential energy [J] of states.

        Parameters
        ----------
        x : State or array_like, shape (..., state)
        theta : Params or array_like, shape (params,), optional
            Those of the scene by default.

        Returns
        -------
        kinetic, potential : ndarray, shape (...)
        """
        states = np.ascontiguousarray(np.asarray(x, dtype=np.float64))
        params = np.ascontiguousarray(np.asarray(self.params() if theta is None else theta, dtype=np.float64))
        wanted = len(self.state_layout)
        if states.ndim == 0 or states.shape[-1] != wanted:
            raise ShapeError(f"x: shape (..., {wanted}) is wanted, and {states.shape} was given")
        if params.shape != (len(self.params_layout),):
            raise ShapeError(
                f"theta: shape ({len(self.params_layout)},) is wanted, and {params.shape} was given"
            )
        batch = states.shape[:-1]
        count = int(np.prod(batch))
        found = np.array(self._core.energy(address(states), count, address(params))).reshape(count, 2)
        return found[:, 0].reshape(batch), found[:, 1].reshape(batch)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        text, file, lenient, allow, packages, base = self._core.origin
        places = [(name, os.path.abspath(folder)) for name, folder in packages]
        folders = [os.path.abspath(folder) for folder in allow]
        return (_again, (text, os.path.abspath(file), lenient, folders, places, base))

    def __repr__(self) -> str:
        sizes = f"{len(self.state_layout)} states, {len(self.control_layout)} controls, {len(self.params_layout)} params"
        return f"<Model {self.name!r}: {sizes}>"


def _again(
    text: str, file: str, lenient: bool, allow: list[str], packages: list[tuple[str, str]], base: str
) -> Model:
    return Model(_core.Model(text, file, lenient, list(allow), list(packages), base))
