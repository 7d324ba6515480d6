"""What is seen of states: where things are and how they move, what contacts come to, and energy.

`sim.watch(x)` looks; what is asked for is computed then, on one thread, in arrays of the library that x is of. torch and JAX
differentiate positions, velocities and forces as they do steps; for NumPy each has a `pullback`. Energy and Jacobians have no
derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _numpy
from ._calls import Calls, numbers_of_steps
from ._library import library_of, needed, one_library, only_numpy
from ._operation import Look
from .errors import SceneError, SettingError, UnknownNameError
from .names import Named

__all__ = ["Contact", "Part", "Watched"]

Bars: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

_NUMPY_HAS = "is `sim.watch` of arrays of NumPy, such as {}"
_OF_ITSELF = "are derivatives of what is seen by themselves, as of steps"


class Watched:
    """States that are looked at; `Simulation.watch` makes it.

    `seen["arm.hand"]` is a `Part`: a particle, a loose body, or a body or frame of a robot. `seen.contact(...)` is a `Contact`.
    """

    def __init__(self, calls: Calls, at: tuple[Any, Any, Any], index: Any) -> None:
        needed(at[0])
        self._calls, self._numbered = calls, index is not None
        # As they are now: what is asked for later is that of the moment of the look.
        self._at = tuple(_kept(name, a) for name, a in zip(("x", "u", "theta"), at, strict=True))
        index = 0 if index is None else index
        self._index = index if type(index) is int else numbers_of_steps(index)

    @property
    def names(self) -> list[str]:
        """The names of all particles, bodies and frames."""
        return self._calls.model.parts

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> Part:
        """A particle, body or frame."""
        if not isinstance(name, str):
            raise UnknownNameError(f"what is seen is asked for by {name!r}: a name is wanted, one of `names`")
        return Part(self, (name,))

    def contact(self, of: str | None = None, by: str | None = None) -> Contact:
        """What the contacts come to of the ground, a robot, a body or a shape with another, or with anything.

        Without names it is all contacts, whose forces on both sides cancel: they have no `force` and no `friction`. Contacts of
        particles are not seen.
        """
        for name in (of, by):
            if not isinstance(name, str | None):
                raise UnknownNameError(f"contacts are asked for by {name!r}: the name of a thing is wanted")
        x, u, _ = self._at
        if not self._numbered and len(np.shape(x)) > 1 and self._calls.model._timed(u):
            raise SettingError(
                "what is applied changes from step to step, and x has a batch: say which steps begin at its states, as "
                "`sim.watch(states, index=np.arange(len(states)))` does for a rollout, or `index=0`"
            )
        return Contact(self, (of, by))

    @property
    def energy(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Kinetic and potential energy [J], shape (...) each: `Model.energy`, which has no derivative, and is of NumPy."""
        x, _, theta = self._at
        only_numpy(("x", "theta"), (x, theta), _NUMPY_HAS)
        return self._calls.model.energy(x, theta)

    def __repr__(self) -> str:
        names = ", ".join(self.names[:6])
        more = f" and {len(self.names) - 6} more" if len(self.names) > 6 else ""
        return f"<Watched {self._calls.model.name!r}: {names}{more}>"


def _kept(name: str, given: Any) -> Any:
    """An argument that nobody writes to later."""
    if given is None or library_of(given) == "jax":
        return given
    if library_of(given) == "torch":
        return given.clone()
    if isinstance(given, (np.ndarray, Named)):
        return given.copy()
    return _numpy.Default(np.array(_numpy.real(name, given)))


class _Seen:
    """Numbers that were seen, one after the other, under names."""

    #: Where each lies, and its shape.
    _fields: dict[str, tuple[slice, tuple[int, ...]]]
    #: Those that have no derivative.
    _counts: tuple[str, ...] = ()
    #: Those that are not there.
    _missing: tuple[str, ...] = ()

    def __init__(self, seen: Watched, what: tuple[str | None, ...]) -> None:
        self._watched = seen
        try:
            self._look: Look = seen._calls.look(what, seen._index)
        except SceneError as error:
            raise UnknownNameError(f"{error.what}; {error.fix}") from None
        self._pull: Any = None
        if one_library(("x", "u", "theta", "index"), (*seen._at, self._look.index)) == "numpy":
            self._out, self._pull = seen._calls.vjp(self._look, *seen._at)
        else:
            self._out = seen._calls.run(self._look, *seen._at)

    def _of(self, field: str) -> Any:
        if field in self._missing:
            raise SettingError(_CANCEL.format(field))
        where, shape = self._fields[field]
        numbers = self._out[..., where]
        if field in self._counts:
            numbers = _constant(numbers)
        return numbers.reshape((*numbers.shape[:-1], *shape))

    def pullback(self, **bars: ArrayLike) -> Bars:
        """From cotangents of what was seen, `pullback(position=bar)`, to those of x, u and theta, shaped like them. For NumPy."""
        if self._pull is None:
            only_numpy(("x", "u", "theta"), self._watched._at, _OF_ITSELF)
        batch = self._out.shape[:-1]
        whole = np.zeros(self._out.shape, self._out.dtype)
        for name, bar in bars.items():
            if name not in self._fields or name in self._counts:
                known = ", ".join(field for field in self._fields if field not in self._counts)
                raise UnknownNameError(f"there is no cotangent of {name!r}; there are: {known}")
            if name in self._missing:
                raise SettingError(_CANCEL.format(name))
            where, shape = self._fields[name]
            given = _numpy.real(f"the cotangent of {name}", bar, (*batch, *shape))
            whole[..., where] = given.reshape((*batch, math.prod(shape)))
        pulled: Bars = self._pull(whole)
        return pulled

    def __repr__(self) -> str:
        lines = [f"  {name} = {self._of(name)}" for name in self._fields if name not in self._missing]
        return "\n".join([f"{type(self).__name__}:", *lines])


_CANCEL = (
    "all contacts have no {}: what one thing does to another is undone by what that does to it; name what it is on, as in "
    "`seen.contact('ground')`"
)


def _constant(numbers: Any) -> Any:
    """The same without a place in the graph of torch or JAX."""
    library = library_of(numbers)
    if library == "torch":
        return numbers.detach()
    if library == "jax":
        import jax

        return jax.lax.stop_gradient(numbers)
    return numbers


class Part(_Seen):
    """A particle, body or frame, in the axes of the world. A body's origin is that of its frame, not its centre of mass."""

    _fields = {  # noqa: RUF012
        "position": (slice(0, 3), (3,)),
        "rotation": (slice(3, 12), (3, 3)),
        "velocity": (slice(12, 15), (3,)),
        "angular_velocity": (slice(15, 18), (3,)),
    }

    @property
    def position(self) -> Any:
        """Where its origin is [m], shape (..., 3)."""
        return self._of("position")

    @property
    def rotation(self) -> Any:
        """The matrix that takes its axes to those of the world, shape (..., 3, 3); of a particle, the identity."""
        return self._of("rotation")

    @property
    def velocity(self) -> Any:
        """The velocity of its origin [m/s], shape (..., 3)."""
        return self._of("velocity")

    @property
    def angular_velocity(self) -> Any:
        """Its angular velocity [rad/s], shape (..., 3)."""
        return self._of("angular_velocity")

    @property
    def jacobian(self) -> NDArray[Any]:
        """Velocity of the origin, then angular velocity, by the velocities of the state: shape (..., 6, velocities). Of NumPy."""
        x, u, theta = self._watched._at
        only_numpy(("x", "u", "theta"), (x, u, theta), _NUMPY_HAS)
        calls, batch = self._watched._calls, self._out.shape[:-1]
        # Each world has its own, also where they share x.
        whole = np.broadcast_to(np.asarray(x, dtype=self._out.dtype), (*batch, calls.sizes[0]))
        _, pull = calls.vjp(self._look, whole, u, theta)
        rows = []
        for row in range(12, 18):
            bar = np.zeros(self._out.shape, self._out.dtype)
            bar[..., row] = 1.0
            rows.append(pull(bar)[0][..., calls.model.positions :])
        return np.stack(rows, axis=-2)


class Contact(_Seen):
    """What contacts come to in the step that begins at the state, with substeps in the first of them.

    With hard contact forces are impulses over the time of the step. Of all contacts, without names, there are no `force` and no
    `friction`.
    """

    _fields = {  # noqa: RUF012
        "force": (slice(0, 3), (3,)),
        "normal": (slice(3, 4), ()),
        "friction": (slice(4, 5), ()),
        "penetration": (slice(5, 6), ()),
        "count": (slice(6, 7), ()),
        "sliding": (slice(7, 8), ()),
    }
    _counts = ("count", "sliding")

    def __init__(self, seen: Watched, what: tuple[str | None, ...]) -> None:
        self._missing = ("force", "friction") if what == (None, None) else ()
        super().__init__(seen, what)

    @property
    def force(self) -> Any:
        """The sum of the forces on what was named first, in the axes of the world [N], shape (..., 3)."""
        return self._of("force")

    @property
    def normal(self) -> Any:
        """The sum of the forces across the surfaces [N], shape (...)."""
        return self._of("normal")

    @property
    def friction(self) -> Any:
        """The size of the sum of the forces along the surfaces [N], shape (...)."""
        return self._of("friction")

    @property
    def penetration(self) -> Any:
        """The root of the sum of squared depths [m], shape (...); of one contact, its depth."""
        return self._of("penetration")

    @property
    def count(self) -> Any:
        """How many contacts bear a force, shape (...). It has no derivative."""
        return self._of("count")

    @property
    def sliding(self) -> Any:
        """How many of them slide, shape (...). It has no derivative."""
        return self._of("sliding")
