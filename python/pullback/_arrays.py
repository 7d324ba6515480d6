"""Arrays of NumPy at addresses that the core can use, and that other libraries can share."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

#: JAX and SIMD want arrays that begin at multiples of so many bytes, and copy others.
ALIGNMENT = 64

Number = TypeVar("Number", bound=np.generic)


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array with nothing in it yet, aligned to 64 bytes."""
    wanted = np.dtype(dtype)
    size = wanted.itemsize
    for length in shape:
        size *= length
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -address(room) % ALIGNMENT
    return room[start : start + size].view(wanted).reshape(shape)


def aligned(values: NDArray[Number]) -> NDArray[Number]:
    """A copy that is aligned to 64 bytes."""
    copied = empty(values.shape, values.dtype)
    copied[...] = values
    return copied


def flat(values: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Contiguous numbers of a type, at an address of such numbers; what is so already is not copied."""
    array = np.ascontiguousarray(values, dtype=dtype)
    return array if array.flags.aligned else aligned(array)


def address(array: NDArray[Any]) -> int:
    """Where an array begins."""
    where: int = array.__array_interface__["data"][0]
    return where
