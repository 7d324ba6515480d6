"""Whose arrays the arguments of a call are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import DtypeError

#: By the type of an argument.
_KNOWN: dict[type, str] = {np.ndarray: "numpy", type(None): "numpy"}
#: By the types of all arguments of a call.
CALLS: dict[tuple[type, ...], str] = {}


def library_of(argument: Any) -> str:
    """Whose array it is: "torch", "jax", or else "numpy"."""
    found = _KNOWN.get(type(argument))
    if found is None:
        roots = {kind.__module__.partition(".")[0] for kind in type(argument).__mro__}
        found = "torch" if "torch" in roots else "jax" if roots & {"jax", "jaxlib"} else "numpy"
        _KNOWN[type(argument)] = found
    return found


#: How an array of a library becomes one of NumPy.
AS_NUMPY = {"torch": "`{}.detach().numpy()`", "jax": "`np.asarray({})`"}


def needed(x: Any) -> None:
    """`DtypeError` for a state that was left out."""
    if x is None:
        raise DtypeError(
            "x is None: a state cannot be left out, as u and theta can; that of the scene is `sim.model.state()`"
        )


def plain(name: str, argument: Any) -> Any:
    """The numbers of a state, of params or of a default, and whatever else might be numbers; texts and dictionaries are none."""
    if isinstance(argument, (Mapping, str, bytes)):
        raise DtypeError(f"{name} is {argument!r}: real numbers are wanted{with_names(argument)}")
    return getattr(argument, "values", argument)


def with_names(argument: Any) -> str:
    """What to write in place of a dictionary."""
    known = "; by name they are set in `sim.model.control()`, `sim.model.state()` and `sim.model.params()`"
    return known if isinstance(argument, Mapping) else ""


def one_library(names: tuple[str, ...], arguments: tuple[Any, ...]) -> str:
    """Whose arrays they are; those of NumPy may be among those of others."""
    types = tuple(map(type, arguments))
    found = CALLS.get(types)
    if found is None:
        others = {library_of(argument) for argument in arguments} - {"numpy"}
        if len(others) > 1:
            given = ", ".join(f"{n} is of {library_of(a)}" for n, a in zip(names, arguments, strict=True))
            raise DtypeError(f"{given}: torch or JAX is wanted, not both")
        found = CALLS[types] = others.pop() if others else "numpy"
    return found


def only_numpy(names: tuple[str, ...], arguments: tuple[Any, ...], instead: str | None = None) -> None:
    """`DtypeError` unless all are of NumPy, which says what there is for others."""
    for name, argument in zip(names, arguments, strict=True):
        library = library_of(argument)
        if library != "numpy":
            package = "torch.func" if library == "torch" else "jax"
            calls = f"`{package}.vjp` and `{package}.jvp` of `sim.step` and `sim.rollout`"
            raise DtypeError(
                f"{name} is of {library}: an array of NumPy is wanted here; for those of {library} there "
                f"{f'are {calls}' if instead is None else instead.format(AS_NUMPY[library].format(name))}"
            )
