"""Arrays of NumPy at addresses that the core can use, and that other libraries can share."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import TooLargeError

#: JAX and SIMD want arrays that begin at multiples of so many bytes, and copy others.
ALIGNMENT = 64

Number = TypeVar("Number", bound=np.generic)


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array with nothing in it yet, aligned to 64 bytes."""
    wanted = np.dtype(dtype)
    size = wanted.itemsize * math.prod(shape)
    try:
        room = np.empty(size + ALIGNMENT, np.uint8)
    except (MemoryError, ValueError):
        raise too_large(shape, wanted.itemsize) from None
    start = -address(room) % ALIGNMENT
    return room[start : start + size].view(wanted).reshape(shape)


def too_large(shape: tuple[int, ...], itemsize: int) -> TooLargeError:
    """What is said of an array that there is no memory for."""
    return TooLargeError(
        f"an array of shape {tuple(shape)} takes {itemsize * math.prod(shape):,} bytes, more than there are; fewer steps or worlds "
        "take less, and a rollout with `last=True` returns its last state alone"
    )


def aligned(values: NDArray[Number]) -> NDArray[Number]:
    """A copy that is aligned to 64 bytes."""
    copied = empty(values.shape, values.dtype)
    copied[...] = values
    return copied


def flat(values: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Contiguous numbers of a type, at an address of such numbers; what is so already is not copied."""
    try:
        array = np.ascontiguousarray(values, dtype=dtype)
    except MemoryError:
        raise too_large(np.shape(values), np.dtype(dtype).itemsize) from None
    return array if array.flags.aligned else aligned(array)


def address(array: NDArray[Any]) -> int:
    """Where an array begins."""
    where: int = array.__array_interface__["data"][0]
    return where
