"""Whose arrays the arguments of a call are."""

from __future__ import annotations

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
                f"{instead or f'are {calls}'}"
            )
