"""Pullback: simulate a world, write a loss over what happened, and get the gradient of that loss by anything in the world.

>>> import pullback
>>> sim = pullback.load("scenes/throw.toml")           # doctest: +SKIP
>>> states = sim.rollout(sim.model.state())            # doctest: +SKIP

A `Model` is what the world is, a `State` its positions and velocities, `Params` its physical numbers, a `Simulation` makes
steps and rollouts of it. Words and units are those of the documentation: SI units, quaternions (w, x, y, z).
"""

import os as _os
from importlib import metadata as _metadata

from . import _core, losses, optimise
from .errors import (
    DeviceError,
    DtypeError,
    Error,
    GpuError,
    OptimiserError,
    PanicError,
    RangeError,
    RolloutError,
    SceneError,
    SettingError,
    ShapeError,
    TooLargeError,
    UnknownNameError,
)
from .model import Model
from .names import Control, Layout, Params, Quantity, State
from .problem import Problem, Variable
from .settings import Binomial, Budget, Dense, EveryStep, Integrator, Memory, Reversible
from .simulation import Simulation, load

__all__ = [
    "Binomial",
    "Budget",
    "Control",
    "Dense",
    "DeviceError",
    "DtypeError",
    "Error",
    "EveryStep",
    "GpuError",
    "Integrator",
    "Layout",
    "Memory",
    "Model",
    "OptimiserError",
    "PanicError",
    "Params",
    "Problem",
    "Quantity",
    "RangeError",
    "Reversible",
    "RolloutError",
    "SceneError",
    "SettingError",
    "ShapeError",
    "Simulation",
    "State",
    "TooLargeError",
    "UnknownNameError",
    "Variable",
    "load",
    "losses",
    "optimise",
]

#: That of the package as it is installed.
__version__ = _metadata.version("pullback")

if hasattr(_os, "register_at_fork"):
    # A process that is forked off has not the threads of the other one.
    _os.register_at_fork(after_in_child=_core.forked)
