"""Operations as primitives of JAX: calls of the engine inside compiled programs.

Three primitives close the circle: the tangent of `forward` is `pushforward`, which is linear in tangents; its transpose is
`pullback`, which is linear in cotangents; and the transpose of that is `pushforward` again. So `jit`, `grad`, `jvp`, `vmap`
and `scan` work in any order. What a step is of, x, u, theta and its number, and what came of it go from each to the next, so that
nothing is computed twice.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import mlir

from . import _core
from ._operation import ONCE, Operation, Plan, Rollout, Shape, Step
from .errors import DeviceError, Error

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


def _call(
    what: int, operation: Operation, arguments: tuple[Any, ...], results: list[tuple[Shape, Any]]
) -> list[jax.Array]:
    """A call of the engine."""
    plan = plan_of(operation, arguments)
    steps, last = (operation.steps, operation.last) if isinstance(operation, Rollout) else (1, False)
    kind = what + (3 if isinstance(operation, Rollout) else 0)
    attribute = np.array([_core.xla_number(operation.core), kind, steps, last, plan.shared], dtype=np.int64)
    shapes = [_struct(shape, dtype) for shape, dtype in results]
    made = jax.ffi.ffi_call(_TARGET, shapes, vmap_method="sequential")(*arguments, call=attribute)
    return list(made)


def plan_of(operation: Operation, arguments: Any) -> Plan:
    return operation.plan(*(a.shape for a in arguments[:3]))


def inputs(operation: Operation) -> int:
    """How many arguments a forward pass has: x, u, theta and, of a step, its number."""
    return 4 if isinstance(operation, Step) else 3


def _out(operation: Operation, arguments: Any) -> tuple[Shape, Any]:
    return plan_of(operation, arguments).out, arguments[0].dtype


def _run_forward(*at: Any, operation: Operation) -> jax.Array:
    return _call(_FORWARD, operation, at, [_out(operation, at)])[0]


def _run_pullback(*arguments: Any, operation: Operation) -> list[jax.Array]:
    """Of what goes in, what came out and its cotangent."""
    shapes = [(a.shape, a.dtype) for a in arguments[:3]]
    return _call(_PULLBACK, operation, arguments, shapes)


def _run_pushforward(*arguments: Any, operation: Operation) -> jax.Array:
    """Of what goes in, what comes out, which only the transpose needs, and tangents."""
    n = inputs(operation)
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
    raise Error(ONCE)


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
    n = inputs(operation) + 1
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
ad.primitive_jvps[pushforward_p] = _linear(pushforward_p, lambda operation: inputs(operation) + 1)
ad.primitive_jvps[pullback_p] = _linear(pullback_p, lambda operation: inputs(operation) + 1)
ad.primitive_transposes[pushforward_p] = _transpose_pushforward
ad.primitive_transposes[pullback_p] = _transpose_pullback
