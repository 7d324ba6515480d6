"""Batches of torch's `vmap`: one more axis in front of those that the arguments of an operation have."""

from __future__ import annotations

from typing import TypeAlias

from torch import Tensor

from ._operation import Operation

Dims: TypeAlias = tuple[int | None, ...]


def ranks(operation: Operation, dims: Dims, arguments: tuple[Tensor, ...]) -> list[int]:
    """How many axes of the batch each has inside of the new one."""
    bases = (operation.x, operation.u, operation.theta)
    given = zip(arguments, bases, dims, strict=True)
    return [a.ndim - len(base) - (dim is not None) for a, base, dim in given]


def front(size: int, dim: int | None, a: Tensor) -> Tensor:
    """The new axis in front."""
    return a.unsqueeze(0).expand(size, *a.shape) if dim is None else a.movedim(dim, 0)


def lift(
    size: int, operation: Operation, dims: Dims, arguments: tuple[Tensor, ...], *, all_of_them: bool
) -> list[Tensor]:
    """Arguments with a new axis of the batch in front; those that all worlds share may stay as they are."""
    inside = ranks(operation, dims, arguments)
    inner = max(inside)
    batch = next(
        (
            tuple(a.shape[(dim is not None) : (dim is not None) + inner])
            if dim in (None, 0)
            else tuple(a.movedim(dim, 0).shape[1 : 1 + inner])
            for a, dim, rank in zip(arguments, dims, inside, strict=True)
            if rank == inner
        ),
        (),
    )
    lifted = []
    for a, dim, rank in zip(arguments, dims, inside, strict=True):
        if dim is None and rank == 0 and not all_of_them:
            lifted.append(a)
            continue
        moved = front(size, dim, a)
        if rank == 0 and inner > 0:
            base = moved.shape[1:]
            moved = moved.reshape(size, *(1,) * inner, *base).expand(size, *batch, *base)
        lifted.append(moved.contiguous())
    return lifted
