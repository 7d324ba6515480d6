"""Operations on arrays of JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _jax_batch as _jax_batch
from ._arrays import empty
from ._jax_primitives import forward_p
from ._library import plain
from ._numpy import Default
from ._operation import Operation, Step
from .errors import DeviceError, DtypeError, SettingError


def forward(operation: Operation, x: Any, u: Any, theta: Any) -> jax.Array:
    """What comes out."""
    dtype = _dtype(x, u, theta)
    # Copies: a compiled program or a way back needs the numbers as they are now, whatever is written to them later.
    numbers = [plain(name, a) for name, a in zip(("x", "u", "theta"), (x, u, theta), strict=True)]
    shaped = [a if hasattr(a, "shape") else jnp.array(a, dtype=dtype) for a in numbers]
    # Before XLA gets to see what there is no memory for.
    empty(operation.plan(*(tuple(a.shape) for a in shaped)).out, dtype)
    given = [
        a if isinstance(a, jax.Array) else jnp.array(values, dtype=dtype)
        for a, values in zip((x, u, theta), shaped, strict=True)
    ]
    _on_the_cpu(given)
    index: tuple[Any, ...] = ()
    if isinstance(operation, Step):
        index, operation = (_numbers(operation.index),), operation.home
    out: jax.Array = forward_p.bind(*given, *index, operation=operation)
    return out


def _dtype(*arguments: Any) -> Any:
    """The type of the arrays of JAX and NumPy; lists, states, params and defaults have it, too."""
    types = {a.dtype for a in arguments if isinstance(a, (jax.Array, np.ndarray))}
    if len(types) > 1 or not types <= {np.dtype(np.float32), np.dtype(np.float64)}:
        names = ", ".join(
            f"{n} has {a.dtype}"
            for n, a in zip(("x", "u", "theta"), arguments, strict=True)
            if isinstance(a, (jax.Array, np.ndarray))
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
