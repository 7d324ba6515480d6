"""Rollouts with a policy in the loop: a function from states to controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import empty
from ._library import needed, one_library
from .errors import SettingError, ShapeError

#: A step of x, u and theta, with its number as `index`.
Stepping = Callable[..., Any]


def rollout(
    stepping: Stepping,
    controls: int,
    settings: dict[str, Any],
    policy: Callable[[Any], Any],
    at: tuple[Any, Any],
    steps: int,
    last: bool,
) -> Any:
    """A rollout from x, with theta, in which a policy gives each step its control, in the library whose arrays they are."""
    x, theta = at
    needed(x)
    if settings["device"] != "cpu":
        raise SettingError(
            f'device is {settings["device"]!r}: a rollout with a policy steps on the CPU; use `sim.replace(device="cpu")`, or a '
            "[[controllers]] of the scene, whose network runs on the GPU"
        )
    if not last:
        # Before many steps are made whose states there is no memory for, of which single precision takes the least.
        empty((steps + 1, *np.shape(x)), np.float32)
    worlds = np.shape(theta)[:-1]

    def step(x: Any, u: Any, index: Any) -> Any:
        if u is None:
            raise SettingError("the policy returns None: a control is wanted; has it a `return`?")
        given, batch = tuple(np.shape(u)), tuple(np.shape(x))[:-1]
        if given not in ((controls,), (*batch, controls), (*worlds, controls)):
            raise ShapeError(f"the policy returns shape {given}: {(*batch, controls)} is wanted")
        return stepping(x, u, theta, index=index)

    # A network of torch tells whose it is; of other functions the arguments do.
    library = one_library(("x", "theta", "u"), (x, theta, policy))
    if library == "numpy":
        states = [np.asarray(x)]
        for index in range(steps):
            states.append(step(states[-1], policy(states[-1]), index))
        return states[-1] if last else np.stack(states, axis=-2)
    for cut in ("truncate", "clip"):
        if settings[cut] is not None:
            raise SettingError(
                f"{cut} is {settings[cut]}: a rollout with a policy cuts no gradients; use `sim.replace({cut}=None)`"
            )
    if library == "torch":
        from . import _torch_policy as of_library
    else:
        from . import _jax_policy as of_library  # type: ignore[no-redef]
    return of_library.controlled(step, policy, of_library.like(x, theta), steps, last, settings["memory"])
