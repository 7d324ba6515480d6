"""Plots with matplotlib: trajectories, losses, and how gradients grow on their way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import ArrayLike

from .errors import ShapeError
from .optimise import Record, Result
from .simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["gradient_norms", "losses", "trajectory"]


def trajectory(
    simulation: Simulation,
    states: ArrayLike,
    names: Sequence[str] | str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Numbers of states over time.

    Parameters
    ----------
    simulation : Simulation
        Whose states they are.
    states : array_like, shape (steps + 1, state)
        As `Simulation.rollout` returns them; tensors of torch and arrays of JAX as well.
    names : str or sequence of str, optional
        What is shown, such as `"ball.position"`; all positions by default.
    ax : Axes, optional
        Where to draw; on new axes by default.

    Returns
    -------
    Axes
    """
    layout = simulation.model.state_layout
    numbers = np.asarray(states.detach() if hasattr(states, "detach") else states)
    if numbers.ndim != 2 or numbers.shape[1] != len(layout):
        raise ShapeError(f"states: shape (steps + 1, {len(layout)}) is wanted, and {numbers.shape} was given")
    if names is None:
        shown = [
            quantity.name
            for quantity in layout.quantities
            if quantity.where.stop <= simulation.model.positions
        ]
    else:
        shown = [names] if isinstance(names, str) else list(names)
    axes = _axes(ax)
    times = simulation.dt * np.arange(len(numbers))
    units = set()
    for name in shown:
        where = layout[name]
        for column in range(where.start, where.stop):
            axes.plot(times, numbers[:, column], label=layout.name_of(column))
        units |= {q.unit for q in layout.quantities if q.where.start <= where.start < q.where.stop}
    axes.set_xlabel("time [s]")
    axes.set_ylabel(" or ".join(f"[{unit}]" for unit in sorted(units)))
    axes.legend(fontsize="small")
    return axes


def losses(result: Result | Sequence[Record], ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """The loss over the iterations of a minimisation: where it stands, and the best so far."""
    history = result.history if isinstance(result, Result) else list(result)
    axes = _axes(ax)
    iterations = [record.iteration for record in history]
    axes.semilogy(iterations, [record.value for record in history], ".", alpha=0.5)
    axes.semilogy(iterations, [record.best for record in history], label=label or "best")
    axes.set_xlabel("iteration")
    axes.set_ylabel("loss")
    axes.legend(fontsize="small")
    return axes


def gradient_norms(
    norms: ArrayLike, dt: float = 1.0, ax: Axes | None = None, *, label: str | None = None
) -> Axes:
    """The norm of the cotangent of each state over time: does the gradient explode or vanish on its way back?

    Parameters
    ----------
    norms : array_like, shape (steps + 1,)
        As in `Health.norms`, or of the rows of a cotangent, shape (steps + 1, state).
    dt : float
        The time of a step [s].
    ax, label
        Where to draw, and under which name.
    """
    numbers = np.asarray(norms, dtype=np.float64)
    if numbers.ndim == 2:
        numbers = np.linalg.norm(numbers, axis=1)
    axes = _axes(ax)
    axes.semilogy(
        dt * np.arange(len(numbers)), np.where(numbers > 0, numbers, np.nan), label=label or "|x_bar|"
    )
    axes.set_xlabel("time [s]")
    axes.set_ylabel("norm of the cotangent")
    axes.legend(fontsize="small")
    return axes


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        ax = plt.figure(layout="constrained").add_subplot()
    return ax
