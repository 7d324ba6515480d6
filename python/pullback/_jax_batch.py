"""Batches of JAX's `vmap`: one more axis in front of those that the arguments of a primitive have."""

from __future__ import annotations

from typing import Any, TypeAlias

import jax.numpy as jnp
from jax.interpreters import batching

from ._jax_primitives import forward_p, inputs, plan_of, pullback_p, pushforward_p
from ._operation import Operation, Shape

Dims: TypeAlias = tuple[int | None, ...]


def _lift(
    operation: Operation, size: int, arguments: Any, dims: Dims, *, all_of_them: bool
) -> tuple[list[Any], list[int]]:
    """Arguments with a new axis of the batch in front, and how many axes of the batch each has inside of it."""
    bases = (operation.x, operation.u, operation.theta)
    front = [a if d is None else jnp.moveaxis(a, d, 0) for a, d in zip(arguments, dims, strict=True)]
    given = list(zip(front, bases, dims, strict=True))
    ranks = [a.ndim - len(base) - (dim is not None) for a, base, dim in given]
    inner = max(ranks)
    batch = next(
        a.shape[dim is not None : (dim is not None) + inner]
        for (a, _, dim), rank in zip(given, ranks, strict=True)
        if rank == inner
    )
    lifted = []
    for (a, base, dim), rank in zip(given, ranks, strict=True):
        if dim is None and rank == 0 and not all_of_them:
            lifted.append(a)
        elif dim is None:
            lifted.append(jnp.broadcast_to(a, (size, *batch, *base)))
        elif rank == 0 and inner > 0:
            spread = a.reshape(size, *(1,) * inner, *base)
            lifted.append(jnp.broadcast_to(spread, (size, *batch, *base)))
        else:
            lifted.append(a)
    return lifted, ranks


def _lift_index(operation: Operation, size: int, at: list[Any], index: Any, dims: Dims) -> list[Any]:
    """The numbers of steps: they are those of the last axes of the batch, so that only a new axis of theirs counts."""
    if not index or dims[0] is None:
        return list(index)
    front = jnp.moveaxis(index[0], dims[0], 0)
    batch = plan_of(operation, at).out[: -len(operation.out)]
    spread = front.reshape(size, *(1,) * (len(batch) - front.ndim), *front.shape[1:])
    return [jnp.broadcast_to(spread, batch)]


def _lift_all(
    operation: Operation, arguments: Any, dims: Dims, *, all_of_them: bool
) -> tuple[list[Any], list[int]]:
    """What goes in, with a new axis in front."""
    size = next(int(a.shape[d]) for a, d in zip(arguments, dims, strict=True) if d is not None)
    n = inputs(operation)
    # Where only the numbers of steps, or what came out, have the axis, the rest gets it.
    every = all_of_them or all(d is None for d in dims[:3])
    at, ranks = _lift(operation, size, arguments[:3], dims[:3], all_of_them=every)
    return [*at, *_lift_index(operation, size, at, arguments[3:n], dims[3:n])], ranks


def _in_front(a: Any, dim: int | None, shape: Shape) -> Any:
    return jnp.broadcast_to(a, shape) if dim is None else jnp.moveaxis(a, dim, 0)


def _batch_forward(arguments: Any, dims: Dims, *, operation: Operation) -> tuple[Any, int]:
    at, _ = _lift_all(operation, arguments, dims, all_of_them=False)
    return forward_p.bind(*at, operation=operation), 0


def _batch_pullback(arguments: Any, dims: Dims, *, operation: Operation) -> tuple[list[Any], list[int]]:
    at, ranks = _lift_all(operation, arguments, dims, all_of_them=True)
    shape, n = plan_of(operation, at).out, inputs(operation)
    out, out_bar = (_in_front(a, d, shape) for a, d in zip(arguments[n:], dims[n:], strict=True))
    bars = pullback_p.bind(*at, out, out_bar, operation=operation)
    inner = tuple(range(1, 1 + max(ranks)))
    # What the worlds inside share was given to each of them.
    summed = [bar.sum(inner) if rank == 0 and inner else bar for bar, rank in zip(bars, ranks, strict=True)]
    return summed, [0, 0, 0]


def _batch_pushforward(arguments: Any, dims: Dims, *, operation: Operation) -> tuple[Any, int]:
    at, _ = _lift_all(operation, arguments, dims, all_of_them=True)
    shape, n = plan_of(operation, at).out, inputs(operation)
    out = _in_front(arguments[n], dims[n], shape)
    size = at[0].shape[0]
    dots, _ = _lift(operation, size, arguments[n + 1 :], dims[n + 1 :], all_of_them=True)
    dots = [jnp.broadcast_to(dot, a.shape) for a, dot in zip(at, dots, strict=False)]
    return pushforward_p.bind(*at, out, *dots, operation=operation), 0


batching.primitive_batchers[forward_p] = _batch_forward
batching.primitive_batchers[pullback_p] = _batch_pullback
batching.primitive_batchers[pushforward_p] = _batch_pushforward
