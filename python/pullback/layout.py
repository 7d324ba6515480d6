"""Where each name lies in a flat vector, and what it means."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import UnknownNameError

__all__ = ["Layout", "Quantity"]

#: How many names an error has.
SHOWN = 4


@dataclass(frozen=True)
class Quantity:
    """What a named value means.

    Attributes
    ----------
    name : str
        Its whole name.
    unit : str
        `"N/m"`; `"1"` for a number without a unit.
    doc : str
        A sentence about it.
    lower, upper : float
        The least and the greatest value that make sense.
    rotation : bool
        Is it a unit quaternion (w, x, y, z)? A tangent of it is a rotation vector [rad], of three numbers.
    where : slice
        Where its numbers lie in the flat vector.
    """

    name: str
    unit: str
    doc: str
    lower: float
    upper: float
    rotation: bool
    where: slice


class Layout:
    """Where each name lies in a flat vector.

    `layout["ball.position"]` is a slice, good for arrays of NumPy, torch and JAX alike: `states[..., layout["ball.position"]]`.
    """

    def __init__(self, core: _core.Layout, model: tuple[_core.Model, str], of: str) -> None:
        self._core, self._of = core, of
        #: Whose it is, and the file of that.
        self._model, self._file = model
        self._found: dict[str, tuple[slice, tuple[int, ...]]] = {}
        self._parts: list[Quantity] | None = None

    def __len__(self) -> int:
        """How many numbers a vector has."""
        return len(self._core)

    @property
    def tangent_len(self) -> int:
        """How many numbers a tangent has: three for a rotation, which is stored as four."""
        return self._core.tangent_len

    def __getitem__(self, name: str) -> slice:
        """Where a name lies: a value (`chain[3].mass`), a number of it (`ball.position.z`), or a whole group (`chain.mass`)."""
        return self._find(name)[0]

    def __contains__(self, name: object) -> bool:
        """Is there such a name?"""
        try:
            return isinstance(name, str) and self._core.find(name) is not None
        except LookupError:
            return False

    def select(self, pattern: str) -> NDArray[np.intp]:
        """Indices of all numbers whose names match a glob, such as `"*.stiffness"`."""
        try:
            found = self._core.select(pattern)
        except UnknownNameError as error:
            raise self._unknown(pattern, error) from None
        return np.concatenate([np.arange(start, stop, dtype=np.intp) for start, stop in found])

    def name_of(self, index: int) -> str:
        """The name of a number, with its axis: `ball.position.z`."""
        if not 0 <= index < len(self):
            raise IndexError(f"there are {len(self)} numbers, and no number {index}")
        return self._core.name_of(index)

    @property
    def quantities(self) -> list[Quantity]:
        """Every named value with its unit, meaning and range, in order."""
        if self._parts is None:
            self._parts = [
                Quantity(name, unit, doc, lower, upper, rotation, slice(start, stop))
                for name, start, stop, unit, doc, lower, upper, rotation in self._core.parts()
            ]
        return list(self._parts)

    @property
    def names(self) -> list[str]:
        """The name of every value, in order."""
        return [quantity.name for quantity in self.quantities]

    def _find(self, name: str) -> tuple[slice, tuple[int, ...]]:
        found = self._found.get(name) if isinstance(name, str) else None
        if found is None:
            if not isinstance(name, str):
                raise self._no_name(name)
            try:
                start, stop, shape = self._core.find(name)
            except UnknownNameError as error:
                raise self._unknown(name, error) from None
            found = self._found[name] = (slice(start, stop), tuple(shape))
        return found

    def _unknown(self, name: str, error: UnknownNameError) -> UnknownNameError:
        """The same error, with names that have this one in them, and with whose it is if it is another vector's."""
        said = str(error)
        for of, is_it in {
            "state": "part of the state",
            "control": "part of the control",
            "params": "one of the params",
        }.items():
            with suppress(UnknownNameError):
                if of != self._of and getattr(self._model, f"{of}_layout").find(name):
                    said += f"; it is {is_it}, as in `sim.model.{of}()[{name!r}]`"
        near = [one for one in self.names if (name in one or one in name) and f"`{one}`" not in said]
        if near:
            more = f" and {len(near) - SHOWN} more" if len(near) > SHOWN else ""
            said += f"; like it there {'is' if len(near) == 1 else 'are'} `{'`, `'.join(near[:SHOWN])}`{more}"
        return UnknownNameError(said)

    def _no_name(self, given: Any) -> UnknownNameError:
        example = f", such as {self.names[0]!r}" if self.names else ""
        return UnknownNameError(
            f"{given!r} is no name: numbers of the {self._of} have names{example}; by their places they are in `values`, as in "
            f"`{'x' if self._of == 'state' else self._of}.values[{given!r}]`"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self._of, *origin(self._model, self._file)))

    def __copy__(self) -> Layout:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Layout:
        return self

    def __repr__(self) -> str:
        names = ", ".join(self.names[:6])
        more = f" and {len(self.names) - 6} more" if len(self.names) > 6 else ""
        return f"<Layout of the {self._of} of {self._model.name!r}: {len(self)} numbers{': ' if names else ''}{names}{more}>"


def origin(model: _core.Model, file: str) -> tuple[Any, ...]:
    """What a model was made of, with the file where it is."""
    text, _, lenient, allow, packages, base = model.origin
    return (text, file, lenient, allow, packages, base)


def _again(of: str, *made_of: Any) -> Layout:
    from .model import _again

    layout: Layout = getattr(_again(*made_of), f"{of}_layout")
    return layout
