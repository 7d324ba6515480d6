"""Rollouts of JAX with a policy in the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .errors import SettingError
from .settings import Binomial, EveryStep, Memory


def like(x: Any, other: Any) -> jax.Array:
    """A state as an array of JAX, of the type of another one if there is one."""
    given = (a for a in (x, other) if isinstance(a, (jax.Array, np.ndarray)))
    dtype = next((a.dtype for a in given), jnp.result_type(float))
    return x if isinstance(x, jax.Array) else jnp.array(getattr(x, "values", x), dtype=dtype)


def controlled(
    step: Callable[[Any, Any, Any], Any],
    policy: Callable[[Any], Any],
    x: jax.Array,
    steps: int,
    last: bool,
    memory: Memory,
) -> jax.Array:
    """A rollout in which a policy gives each step its control, from the state before it: one `scan`.

    With `EveryStep` JAX keeps what it needs of every step. With `Binomial(s)` the rollout is s stretches, of which the first
    states are kept; on the way back each is run again.
    """

    def body(x: Any, index: Any) -> tuple[Any, Any]:
        x = step(x, policy(x), index)
        return x, None if last else x

    def stretch(x: Any, numbers: Any) -> tuple[Any, Any]:
        return jax.lax.scan(body, x, numbers)

    numbers = jnp.arange(steps, dtype=jnp.int32)
    if isinstance(memory, EveryStep):
        end, states = stretch(x, numbers)
    elif isinstance(memory, Binomial):
        length = max(-(-steps // max(memory.snapshots, 1)), 1)
        whole = steps // length * length
        again = jax.checkpoint(stretch)
        end, states = jax.lax.scan(again, x, numbers[:whole].reshape(-1, length))
        end, rest = again(end, numbers[whole:])
        if not last:
            states = jnp.concatenate([states.reshape(whole, *x.shape), rest])
    else:
        raise SettingError(
            f"a rollout with a policy keeps EveryStep() or Binomial(snapshots), not {memory!r}"
        )
    return end if last else jnp.moveaxis(jnp.concatenate([x[None], states]), 0, -2)
