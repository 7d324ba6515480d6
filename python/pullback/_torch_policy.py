"""Rollouts of torch with a policy in the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ._torch import DOUBLE, copied
from .errors import SettingError
from .settings import Binomial, EveryStep, Memory


def like(x: Any, other: Any) -> Tensor:
    """A state as a tensor, of the type of another one if there is one."""
    dtype = other.dtype if isinstance(other, Tensor) else DOUBLE
    return x if isinstance(x, Tensor) else copied(x, dtype)


def controlled(
    step: Callable[[Tensor, Tensor, int], Tensor],
    policy: Callable[[Tensor], Tensor],
    x: Tensor,
    steps: int,
    last: bool,
    memory: Memory,
) -> Tensor:
    """A rollout in which a policy gives each step its control, from the state before it.

    With `EveryStep` torch keeps the graph of every step. With `Binomial(s)` the rollout is s stretches, of which the first
    states are kept; on the way back each is run again.
    """

    def stretch(x: Tensor, begin: int, end: int) -> list[Tensor]:
        states = []
        for index in range(begin, end):
            x = step(x, policy(x), index)
            states.append(x)
        return states

    if isinstance(memory, EveryStep):
        states = stretch(x, 0, steps)
    elif isinstance(memory, Binomial):
        states, length, here = [], max(-(-steps // max(memory.snapshots, 1)), 1), x
        for begin in range(0, steps, length):
            made = checkpoint(stretch, here, begin, min(begin + length, steps), use_reentrant=False)
            here = made[-1]
            states.extend(made[-1:] if last else made)
    else:
        raise SettingError(
            f"a rollout with a policy keeps EveryStep() or Binomial(snapshots), not {memory!r}"
        )
    if last:
        return states[-1] if states else x
    return torch.stack([x, *states], dim=-2)
