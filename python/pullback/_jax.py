"""Operations as primitives of JAX: calls of the engine inside compiled programs.

Three primitives close the circle: the tangent of `forward` is `pushforward`, which is linear in tangents; its transpose is
`pullback`, which is linear in cotangents; and the transpose of that is `pushforward` again. So `jit`, `grad`, `jvp`, `vmap`
and `scan` work in any order.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import batching, mlir

from . import _core
from ._operation import Operation, Rollout, Shape
from .errors import DtypeError, Error

Dims: TypeAlias = tuple[int | None, ...]

_TARGET = "pullback"
_FORWARD, _PULLBACK, _PUSHFORWARD = 0, 1, 2

jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(), platform="cpu")

# What JAX has for those who extend it has no types.
ad: Any = _ad
_struct: Any = jax.ShapeDtypeStruct
forward_p: Any = Primitive("pullback_forward")
pullback_p: Any = Primitive("pullback_pullback")
pullback_p.multiple_results = True
pushforward_p: Any = Primitive("pullback_pushforward")


def forward(operation: Operation, x: Any, u: Any, theta: Any) -> jax.Array:
    """What comes out."""
    given = [getattr(a, "values", a) for a in (x, u, theta)]
    types = {a.dtype for a in given if isinstance(a, jax.Array)}
    if len(types) > 1 or not types <= {np.dtype(np.float32), np.dtype(np.float64)}:
        names = ", ".join(
            f"{n} has {jnp.result_type(a)}" for n, a in zip(("x", "u", "theta"), given, strict=True)
        )
        raise DtypeError(f"{names}: float64 or float32 is wanted, the same for all")
    dtype = types.pop()
    x, u, theta = (jnp.asarray(a, dtype=dtype) for a in given)
    operation.plan(x.shape, u.shape, theta.shape)
    out: jax.Array = forward_p.bind(x, u, theta, operation=operation)
    return out


def _call(
    what: int, operation: Operation, arguments: tuple[Any, ...], results: list[tuple[Shape, Any]]
) -> list[jax.Array]:
    """A call of the engine."""
    x, u, theta = arguments[:3]
    plan = operation.plan(x.shape, u.shape, theta.shape)
    rollout = isinstance(operation, Rollout)
    count = operation.steps if isinstance(operation, Rollout) else operation.attributes["index"]
    last = operation.last if isinstance(operation, Rollout) else False
    kind = what + (3 if rollout else 0)
    attribute = np.array([_core.xla_number(operation.core), kind, count, last, plan.shared], dtype=np.int64)
    shapes = [_struct(shape, dtype) for shape, dtype in results]
    made = jax.ffi.ffi_call(_TARGET, shapes, vmap_method="sequential")(*arguments, call=attribute)
    return list(made)


def _out(operation: Operation, x: Any, u: Any, theta: Any) -> tuple[Shape, Any]:
    return operation.plan(x.shape, u.shape, theta.shape).out, x.dtype


def _run_forward(x: Any, u: Any, theta: Any, *, operation: Operation) -> jax.Array:
    return _call(_FORWARD, operation, (x, u, theta), [_out(operation, x, u, theta)])[0]


def _run_pullback(
    x: Any, u: Any, theta: Any, out: Any, out_bar: Any, *, operation: Operation
) -> list[jax.Array]:
    shapes = [(a.shape, a.dtype) for a in (x, u, theta)]
    return _call(_PULLBACK, operation, (x, u, theta, out, out_bar), shapes)


def _run_pushforward(*arguments: Any, operation: Operation) -> jax.Array:
    return _call(_PUSHFORWARD, operation, arguments, [_out(operation, *arguments[:3])])[0]


def _shaped(shape: Shape, dtype: Any) -> Any:
    return jax.core.ShapedArray(shape, dtype)


def _abstract_forward(x: Any, u: Any, theta: Any, *, operation: Operation) -> Any:
    return _shaped(*_out(operation, x, u, theta))


def _abstract_pullback(x: Any, u: Any, theta: Any, out: Any, out_bar: Any, *, operation: Operation) -> Any:
    return [_shaped(a.shape, a.dtype) for a in (x, u, theta)]


def _abstract_pushforward(*arguments: Any, operation: Operation) -> Any:
    return _shaped(*_out(operation, *arguments[:3]))


def _register(primitive: Any, run: Any, abstract: Any) -> None:
    primitive.def_impl(run)
    primitive.def_abstract_eval(abstract)
    lowering = mlir.lower_fun(run, multiple_results=primitive.multiple_results)
    mlir.register_lowering(primitive, lowering, platform="cpu")


_register(forward_p, _run_forward, _abstract_forward)
_register(pullback_p, _run_pullback, _abstract_pullback)
_register(pushforward_p, _run_pushforward, _abstract_pushforward)

# --- derivatives


def _given(tangents: Any, like: Any) -> list[Any]:
    """Tangents, with zeros where there are none."""
    return [jnp.zeros_like(a) if type(t) is ad.Zero else t for t, a in zip(tangents, like, strict=True)]


def _jvp_forward(primals: Any, tangents: Any, *, operation: Operation) -> tuple[Any, Any]:
    out = forward_p.bind(*primals, operation=operation)
    return out, pushforward_p.bind(*primals, *_given(tangents, primals), operation=operation)


def _second(*_: Any, **__: Any) -> Any:
    raise Error("a gradient of a gradient is not there: differentiate `sim.step` or `sim.rollout` once")


def _jvp_pushforward(primals: Any, tangents: Any, *, operation: Operation) -> tuple[Any, Any]:
    if any(type(t) is not ad.Zero for t in tangents[:3]):
        _second()
    dots = _given(tangents[3:], primals[3:])
    bind = pushforward_p.bind
    return bind(*primals, operation=operation), bind(*primals[:3], *dots, operation=operation)


def _jvp_pullback(primals: Any, tangents: Any, *, operation: Operation) -> tuple[Any, Any]:
    if any(type(t) is not ad.Zero for t in tangents[:4]):
        _second()
    bar = _given(tangents[4:], primals[4:])
    bind = pullback_p.bind
    return bind(*primals, operation=operation), bind(*primals[:4], *bar, operation=operation)


def _transpose_pushforward(out_bar: Any, *arguments: Any, operation: Operation) -> list[Any]:
    at, dots = arguments[:3], arguments[3:]
    if any(ad.is_undefined_primal(a) for a in at):
        _second()
    if type(out_bar) is ad.Zero:
        return [None] * 6
    out = forward_p.bind(*at, operation=operation)
    bars = pullback_p.bind(*at, out, out_bar, operation=operation)
    return [None] * 3 + [
        bar if ad.is_undefined_primal(dot) else None for bar, dot in zip(bars, dots, strict=True)
    ]


def _transpose_pullback(bars: Any, *arguments: Any, operation: Operation) -> list[Any]:
    at = arguments[:3]
    if any(ad.is_undefined_primal(a) for a in arguments[:4]):
        _second()
    dots = _given(bars, at)
    return [None] * 4 + [pushforward_p.bind(*at, *dots, operation=operation)]


ad.primitive_jvps[forward_p] = _jvp_forward
ad.primitive_jvps[pushforward_p] = _jvp_pushforward
ad.primitive_jvps[pullback_p] = _jvp_pullback
ad.primitive_transposes[pushforward_p] = _transpose_pushforward
ad.primitive_transposes[pullback_p] = _transpose_pullback

# --- batches


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


def _size(arguments: Any, dims: Dims) -> int:
    return next(int(a.shape[d]) for a, d in zip(arguments, dims, strict=True) if d is not None)


def _in_front(a: Any, dim: int | None, shape: Shape) -> Any:
    return jnp.broadcast_to(a, shape) if dim is None else jnp.moveaxis(a, dim, 0)


def _batch_forward(arguments: Any, dims: Dims, *, operation: Operation) -> tuple[Any, int]:
    at, _ = _lift(operation, _size(arguments, dims), arguments, dims, all_of_them=False)
    return forward_p.bind(*at, operation=operation), 0


def _batch_pullback(arguments: Any, dims: Dims, *, operation: Operation) -> tuple[list[Any], list[int]]:
    size = _size(arguments, dims)
    at, ranks = _lift(operation, size, arguments[:3], dims[:3], all_of_them=True)
    shape = _out(operation, *at)[0]
    out, out_bar = (_in_front(a, d, shape) for a, d in zip(arguments[3:], dims[3:], strict=True))
    bars = pullback_p.bind(*at, out, out_bar, operation=operation)
    inner = tuple(range(1, 1 + max(ranks)))
    # What the worlds inside share was given to each of them.
    summed = [bar.sum(inner) if rank == 0 and inner else bar for bar, rank in zip(bars, ranks, strict=True)]
    return summed, [0, 0, 0]


def _batch_pushforward(arguments: Any, dims: Dims, *, operation: Operation) -> tuple[Any, int]:
    size = _size(arguments, dims)
    at, _ = _lift(operation, size, arguments[:3], dims[:3], all_of_them=True)
    dots, _ = _lift(operation, size, arguments[3:], dims[3:], all_of_them=True)
    dots = [jnp.broadcast_to(dot, a.shape) for a, dot in zip(at, dots, strict=True)]
    return pushforward_p.bind(*at, *dots, operation=operation), 0


batching.primitive_batchers[forward_p] = _batch_forward
batching.primitive_batchers[pullback_p] = _batch_pullback
batching.primitive_batchers[pushforward_p] = _batch_pushforward
