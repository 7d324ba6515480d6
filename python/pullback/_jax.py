"""Operations as primitives of JAX: calls of the engine inside compiled programs.

Three primitives close the circle: the tangent of `forward` is `pushforward`, which is linear in tangents; its transpose is
`pullback`, which is linear in cotangents; and the transpose of that is `pushforward` again. So `jit`, `grad`, `jvp`, `vmap`
and `scan` work in any order. What a step is of, x, u, theta and its number, and what came of it go from each to the next, so that
nothing is computed twice.
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
from ._numpy import Default
from ._operation import Operation, Plan, Rollout, Shape, Step
from .errors import DeviceError, DtypeError, Error, SettingError

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
    dtype = _dtype(x, u, theta)
    # Copies: a compiled program or a way back needs the numbers as they are now, whatever is written to them later.
    given = [a if isinstance(a, jax.Array) else jnp.array(_values(a), dtype=dtype) for a in (x, u, theta)]
    _on_the_cpu(given)
    operation.plan(*(a.shape for a in given))
    index: tuple[Any, ...] = ()
    if isinstance(operation, Step):
        index, operation = (_numbers(operation.index),), operation.home
    out: jax.Array = forward_p.bind(*given, *index, operation=operation)
    return out


def _values(a: Any) -> Any:
    return getattr(a, "values", a)


def _dtype(*arguments: Any) -> Any:
    """The type of the arrays of JAX and NumPy; lists, states, params and defaults have it, too."""
    types = {a.dtype for a in arguments if isinstance(a, (jax.Array, np.ndarray))}
    if len(types) > 1 or not types <= {np.dtype(np.float32), np.dtype(np.float64)}:
        names = ", ".join(
            f"{n} has {getattr(_values(a), 'dtype', 'no type')}"
            for n, a in zip(("x", "u", "theta"), arguments, strict=True)
        )
        raise DtypeError(f"{names}: float64 or float32 is wanted, the same for all")
    return types.pop() if types else jnp.result_type(float)


def _on_the_cpu(arguments: list[Any]) -> None:
    for name, a in zip(("x", "u", "theta"), arguments, strict=True):
        where = () if isinstance(a, jax.core.Tracer) else a.devices()
        for device in where:
            if device.platform != "cpu":
                raise DeviceError(f"{name} is on {device}: the cpu is wanted, as `jax.device_put` has it")


def _numbers(index: Any) -> Any:
    """The numbers of steps, as XLA passes them."""
    if not jnp.issubdtype(jnp.result_type(index), jnp.integer):
        raise SettingError(f"index has {jnp.result_type(index)}: whole numbers are wanted")
    return jnp.asarray(index, dtype=jnp.int32)


def rows(schedule: Any, index: Any) -> Any:
    """The rows of these numbers; the last is that of all later ones, too."""
    return Default(jnp.asarray(schedule)[jnp.minimum(index, len(schedule) - 1)])


def _call(
    what: int, operation: Operation, arguments: tuple[Any, ...], results: list[tuple[Shape, Any]]
) -> list[jax.Array]:
    """A call of the engine."""
    plan = _plan(operation, arguments)
    steps, last = (operation.steps, operation.last) if isinstance(operation, Rollout) else (1, False)
    kind = what + (3 if isinstance(operation, Rollout) else 0)
    attribute = np.array([_core.xla_number(operation.core), kind, steps, last, plan.shared], dtype=np.int64)
    shapes = [_struct(shape, dtype) for shape, dtype in results]
    made = jax.ffi.ffi_call(_TARGET, shapes, vmap_method="sequential")(*arguments, call=attribute)
    return list(made)


def _plan(operation: Operation, arguments: Any) -> Plan:
    return operation.plan(*(a.shape for a in arguments[:3]))


def _inputs(operation: Operation) -> int:
    """How many arguments a forward pass has: x, u, theta and, of a step, its number."""
    return 4 if isinstance(operation, Step) else 3


def _out(operation: Operation, arguments: Any) -> tuple[Shape, Any]:
    return _plan(operation, arguments).out, arguments[0].dtype


def _run_forward(*at: Any, operation: Operation) -> jax.Array:
    return _call(_FORWARD, operation, at, [_out(operation, at)])[0]


def _run_pullback(*arguments: Any, operation: Operation) -> list[jax.Array]:
    """Of what goes in, what came out and its cotangent."""
    shapes = [(a.shape, a.dtype) for a in arguments[:3]]
    return _call(_PULLBACK, operation, arguments, shapes)


def _run_pushforward(*arguments: Any, operation: Operation) -> jax.Array:
    """Of what goes in, what comes out, which only the transpose needs, and tangents."""
    n = _inputs(operation)
    at, dots = arguments[:n], arguments[n + 1 :]
    return _call(_PUSHFORWARD, operation, (*at, *dots), [_out(operation, at)])[0]


def _shaped(shape: Shape, dtype: Any) -> Any:
    return jax.core.ShapedArray(shape, dtype)


def _abstract_forward(*at: Any, operation: Operation) -> Any:
    return _shaped(*_out(operation, at))


def _abstract_pullback(*arguments: Any, operation: Operation) -> Any:
    return [_shaped(a.shape, a.dtype) for a in arguments[:3]]


def _abstract_pushforward(*arguments: Any, operation: Operation) -> Any:
    return _shaped(*_out(operation, arguments))


def _elsewhere(ctx: Any, *_: Any, **__: Any) -> Any:
    wanted = ", ".join(ctx.module_context.platforms)
    raise DeviceError(
        f"a program is compiled for {wanted}: the cpu is wanted, as `jax.jit` on arrays there has it"
    )


def _register(primitive: Any, run: Any, abstract: Any) -> None:
    primitive.def_impl(run)
    primitive.def_abstract_eval(abstract)
    lowering = mlir.lower_fun(run, multiple_results=primitive.multiple_results)
    mlir.register_lowering(primitive, _elsewhere)
    mlir.register_lowering(primitive, lowering, platform="cpu")


_register(forward_p, _run_forward, _abstract_forward)
_register(pullback_p, _run_pullback, _abstract_pullback)
_register(pushforward_p, _run_pushforward, _abstract_pushforward)

# --- derivatives


def _given(tangents: Any, like: Any) -> list[Any]:
    """Tangents, with zeros where there are none."""
    return [jnp.zeros_like(a) if type(t) is ad.Zero else t for t, a in zip(tangents, like, strict=True)]


def _jvp_forward(at: Any, tangents: Any, *, operation: Operation) -> tuple[Any, Any]:
    out = forward_p.bind(*at, operation=operation)
    return out, pushforward_p.bind(*at, out, *_given(tangents[:3], at[:3]), operation=operation)


def _second(*_: Any, **__: Any) -> Any:
    raise Error("a gradient of a gradient is not there: differentiate `sim.step` or `sim.rollout` once")


def _linear(primitive: Any, fixed: Any) -> Any:
    """The tangent of a map that is linear in all arguments but the first ones."""

    def jvp(primals: Any, tangents: Any, *, operation: Operation) -> tuple[Any, Any]:
        n = fixed(operation)
        if any(type(t) is not ad.Zero for t in tangents[:n]):
            _second()
        dots = _given(tangents[n:], primals[n:])
        bind = primitive.bind
        return bind(*primals, operation=operation), bind(*primals[:n], *dots, operation=operation)

    return jvp


def _transpose_pushforward(out_bar: Any, *arguments: Any, operation: Operation) -> list[Any]:
    n = _inputs(operation) + 1
    at, dots = arguments[:n], arguments[n:]
    if any(ad.is_undefined_primal(a) for a in at):
        _second()
    if type(out_bar) is ad.Zero:
        return [None] * len(arguments)
    bars = pullback_p.bind(*at, out_bar, operation=operation)
    return [None] * n + [
        bar if ad.is_undefined_primal(dot) else None for bar, dot in zip(bars, dots, strict=True)
    ]


def _transpose_pullback(bars: Any, *arguments: Any, operation: Operation) -> list[Any]:
    at = arguments[:-1]
    if any(ad.is_undefined_primal(a) for a in at):
        _second()
    dots = _given(bars, at[:3])
    return [None] * len(at) + [pushforward_p.bind(*at, *dots, operation=operation)]


ad.primitive_jvps[forward_p] = _jvp_forward
ad.primitive_jvps[pushforward_p] = _linear(pushforward_p, lambda operation: _inputs(operation) + 1)
ad.primitive_jvps[pullback_p] = _linear(pullback_p, lambda operation: _inputs(operation) + 1)
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


def _lift_index(operation: Operation, size: int, at: list[Any], index: Any, dims: Dims) -> list[Any]:
    """The numbers of steps: they are those of the last axes of the batch, so that only a new axis of theirs counts."""
    if not index or dims[0] is None:
        return list(index)
    front = jnp.moveaxis(index[0], dims[0], 0)
    batch = _plan(operation, at).out[: -len(operation.out)]
    spread = front.reshape(size, *(1,) * (len(batch) - front.ndim), *front.shape[1:])
    return [jnp.broadcast_to(spread, batch)]


def _lift_all(
    operation: Operation, arguments: Any, dims: Dims, *, all_of_them: bool
) -> tuple[list[Any], list[int]]:
    """What goes in, with a new axis in front."""
    size = next(int(a.shape[d]) for a, d in zip(arguments, dims, strict=True) if d is not None)
    n = _inputs(operation)
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
    shape, n = _plan(operation, at).out, _inputs(operation)
    out, out_bar = (_in_front(a, d, shape) for a, d in zip(arguments[n:], dims[n:], strict=True))
    bars = pullback_p.bind(*at, out, out_bar, operation=operation)
    inner = tuple(range(1, 1 + max(ranks)))
    # What the worlds inside share was given to each of them.
    summed = [bar.sum(inner) if rank == 0 and inner else bar for bar, rank in zip(bars, ranks, strict=True)]
    return summed, [0, 0, 0]


def _batch_pushforward(arguments: Any, dims: Dims, *, operation: Operation) -> tuple[Any, int]:
    at, _ = _lift_all(operation, arguments, dims, all_of_them=True)
    shape, n = _plan(operation, at).out, _inputs(operation)
    out = _in_front(arguments[n], dims[n], shape)
    size = at[0].shape[0]
    dots, _ = _lift(operation, size, arguments[n + 1 :], dims[n + 1 :], all_of_them=True)
    dots = [jnp.broadcast_to(dot, a.shape) for a, dot in zip(at, dots, strict=False)]
    return pushforward_p.bind(*at, out, *dots, operation=operation), 0


batching.primitive_batchers[forward_p] = _batch_forward
batching.primitive_batchers[pullback_p] = _batch_pullback
batching.primitive_batchers[pushforward_p] = _batch_pushforward
