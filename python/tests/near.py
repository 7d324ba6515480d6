"""Points near those that scenes start from, and the ways that lead away from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import pullback

Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def start(sim: pullback.Simulation, steps: int, seed: int = 0) -> Arrays:
    """A state, controls and params near those of the scene."""
    random = np.random.default_rng(seed)
    state = sim.model.state()
    state = state.retract(0.01 * random.standard_normal(state.layout.tangent_len))
    # Where the integrator begins: one of them moves states onto its lattice.
    state = sim.model.state(sim.rollout(state, steps=0, last=True))
    controls = sim.model.controls(steps) + 0.1 * random.standard_normal(
        (steps, len(sim.model.control_layout))
    )
    return state.values, controls, sim.model.params().values


def batch(sim: pullback.Simulation, steps: int, worlds: int) -> Arrays:
    x, u, theta = zip(*(start(sim, steps, seed) for seed in range(worlds)), strict=True)
    return np.stack(x), np.stack(u), np.stack(theta)


def tangents(sim: pullback.Simulation, x: NDArray[Any]) -> NDArray[Any]:
    """Changes of a stored state that are tangents there, as rows: rotations are turned."""
    state, h = sim.model.state(x), 1e-6
    return np.stack(
        [
            (state.retract(h * e).values - state.retract(-h * e).values) / (2 * h)
            for e in np.eye(state.layout.tangent_len)
        ]
    )


def free_params(sim: pullback.Simulation) -> NDArray[Any]:
    """1 for params that can be changed alone: neither numbers of a rotation nor moments of inertia."""
    free = np.ones(len(sim.model.params_layout))
    for quantity in sim.model.params_layout.quantities:
        if quantity.rotation or "inertia" in quantity.name:
            free[quantity.where] = 0.0
    return free
