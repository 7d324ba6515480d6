"""Operations on NumPy arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._arrays import address, empty, flat
from ._library import AS_NUMPY, library_of, with_names
from ._operation import Operation, Plan, Three
from .errors import DtypeError, ShapeError

Array: TypeAlias = NDArray[Any]
Arguments: TypeAlias = tuple[Array, Array, Array]

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


def prepare(x: Any, u: Any, theta: Any) -> Arguments:
    """Contiguous arrays of one type, `float64` or `float32`."""
    arrays = [
        argument if isinstance(argument, np.ndarray) else real(name, argument)
        for name, argument in (("x", x), ("u", u), ("theta", theta))
    ]
    given = {array.dtype for array, argument in zip(arrays, (x, u, theta), strict=True) if _typed(argument)}
    if len(given) > 1 or not given <= {DOUBLE, SINGLE}:
        names = ", ".join(
            f"{name} has {argument.dtype}"
            for name, argument in zip(("x", "u", "theta"), (x, u, theta), strict=True)
            if _typed(argument)
        )
        raise DtypeError(f"{names}: float64 or float32 is wanted, the same for all")
    wanted = given.pop() if given else DOUBLE
    x, u, theta = (flat(array, wanted) for array in arrays)
    return x, u, theta


def real(what: str, given: Any, shape: tuple[int, ...] | None = None) -> Array:
    """What someone gave as an array of real numbers, of a shape; an error of ours says what it is where it is none."""
    library = library_of(given)
    if library != "numpy":
        raise DtypeError(
            f"{what} is of {library}: an array of NumPy is wanted, such as {AS_NUMPY[library].format('x')}"
        )
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {given!r}: rows of the same length are wanted") from None
    if shape is not None and array.shape != shape:
        raise ShapeError(f"{what}: shape {shape} is wanted, and {array.shape} was given")
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"{what} is {given!r}: real numbers are wanted{with_names(given)}")
    return array


def _typed(argument: Any) -> bool:
    # Lists, defaults, and states and params, which are double, become what the arrays are.
    return isinstance(argument, np.ndarray)


class Default:
    """An argument that was not given, and takes the type of those that were."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype, copy=copy)


def forward(operation: Operation, at: Arguments) -> Array:
    """What comes out."""
    plan, out = _plan(operation, at)
    operation.forward(out.dtype == SINGLE, plan, _addresses(at), address(out))
    return out


def pullback(operation: Operation, at: Arguments, out: Array, out_bar: Any) -> Arguments:
    """Cotangents of the arguments."""
    plan, _ = _plan(operation, at)
    bar = flat(real("the cotangent", out_bar, out.shape), out.dtype)
    x, u, theta = (empty(argument.shape, out.dtype) for argument in at)
    bars = (address(x), address(u), address(theta))
    operation.pullback(out.dtype == SINGLE, plan, _addresses(at), address(out), address(bar), bars)
    return x, u, theta


def pushforward(operation: Operation, at: Arguments, dots: Arguments) -> tuple[Array, Array]:
    """What comes out, and its tangent."""
    plan, out = _plan(operation, at)
    out_dot = empty(plan.out, out.dtype)
    given = tuple(
        flat(np.broadcast_to(np.asarray(dot, dtype=out.dtype), argument.shape), out.dtype)
        for dot, argument in zip(dots, at, strict=True)
    )
    operation.pushforward(
        out.dtype == SINGLE, plan, _addresses(at), _addresses(given), address(out), address(out_dot)
    )
    return out, out_dot


def _plan(operation: Operation, at: Arguments) -> tuple[Plan, Array]:
    plan = operation.plan(at[0].shape, at[1].shape, at[2].shape)
    return plan, empty(plan.out, at[0].dtype)


def _addresses(at: tuple[Array, ...]) -> Three:
    x, u, theta = at
    return (address(x), address(u), address(theta))
