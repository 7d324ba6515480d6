"""Plots with matplotlib: trajectories, losses, and how gradients grow on their way back; and pages that play states back in 3-D."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import address, flat
from .errors import RangeError, ShapeError
from .health import Health
from .layout import Layout
from .names import Params
from .optimise import Record, Result
from .simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["gradient_norms", "losses", "page", "trajectory"]

#: More lines than this are not told apart in a legend.
MOST_NAMED = 12
#: Along x, y and z.
STYLES = ("-", "--", ":")


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
        What is shown, such as `"ball.position"`. By default the positions of what moves: particles and loose bodies along the axes
        of the world, and joints, without rotations.
    ax : Axes, optional
        Where to draw; on new axes by default.

    Returns
    -------
    Axes
        With a colour for each thing, and along x, y and z lines that are whole, dashed and dotted.
    """
    layout = simulation.model.state_layout
    numbers = _states(simulation, states)
    if names is None:
        shown = _moving(layout, simulation.model.positions, numbers)
    else:
        shown = [names] if isinstance(names, str) else list(names)
    axes = _axes(ax)
    times = simulation.dt * np.arange(len(numbers))
    units = set()
    lines = 0
    for name in shown:
        where = layout[name]
        color = None
        for column in range(where.start, where.stop):
            axis = layout.name_of(column).rpartition(".")[2]
            style = STYLES["xyz".index(axis)] if axis in ("x", "y", "z") else "-"
            label = layout.name_of(column) if lines < MOST_NAMED else None
            # Along y and z the colour is that along x.
            color = color if axis in ("y", "z") else None
            (line,) = axes.plot(times, numbers[:, column], style, color=color, label=label)
            color = line.get_color()
            lines += 1
        units |= {q.unit for q in layout.quantities if q.where.start <= where.start < q.where.stop}
    axes.set_xlabel("time [s]")
    axes.set_ylabel(" or ".join(f"[{unit}]" for unit in sorted(units)))
    more = lines - MOST_NAMED
    axes.legend(fontsize="small", title=f"and {more} more" if more > 0 else None)
    return axes


def page(
    simulation: Simulation,
    states: ArrayLike,
    path: str | PathLike[str],
    *,
    u: ArrayLike | None = None,
    theta: Params | ArrayLike | None = None,
) -> Path:
    """Writes a page that plays states back in 3-D, with plots of them, for any browser: one file, as `pullback simulate` writes it.

    Parameters
    ----------
    simulation : Simulation
        Whose states they are.
    states : array_like, shape (steps + 1, state)
        As `Simulation.rollout` returns them, or others that are a step apart.
    path : str or path
        The file, `motion.html`; one that is there is written over.
    u : array_like, shape (steps, control), optional
        The controls of the steps, for their plot and for forces of contacts; by default what the scene says.
    theta : Params or array_like, shape (params,), optional
        The params; by default those of the scene.

    Returns
    -------
    Path
        The file.
    """
    model = simulation.model
    numbers = flat(_states(simulation, states), np.float64)
    steps = len(numbers) - 1
    controls = flat(_plain(model.controls(steps) if u is None else u), np.float64)
    params = flat(_plain(model.params() if theta is None else theta), np.float64)
    wanted = {"u": (steps, len(model.control_layout)), "theta": (len(model.params_layout),)}
    for name, given in (("u", controls), ("theta", params)):
        if given.shape != wanted[name]:
            raise ShapeError(f"{name}: shape {wanted[name]} is wanted, and {given.shape} was given")
    for name, given in (("states", numbers), ("u", controls), ("theta", params)):
        if not np.isfinite(given).all():
            row = np.argwhere(~np.isfinite(given))[0].tolist()
            raise RangeError(f"{name}{row} is {given[tuple(row)]}: all must be finite")
    where = address(controls) if controls.size else 0
    html = _core.page(model._core, simulation._core, len(numbers), address(numbers), where, address(params))
    file = Path(path)
    file.write_text(html, encoding="utf-8")
    return file


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
    norms: ArrayLike | Health, dt: float | None = None, ax: Axes | None = None, *, label: str | None = None
) -> Axes:
    """The norm of the cotangent of each state over time: does the gradient explode or vanish on its way back?

    Parameters
    ----------
    norms : Health, or array_like, shape (steps + 1,)
        What `Problem.check` found, or norms as in `Health.norms`, or the rows of a cotangent, shape (steps + 1, state).
    dt : float, optional
        The time of a step [s]; of a `Health` it is known. Without it steps are counted.
    ax, label
        Where to draw, and under which name.
    """
    if isinstance(norms, Health):
        dt = norms.energy["times"][-1] / max(len(norms.norms) - 1, 1) if dt is None else dt
        norms = norms.norms
    numbers = np.asarray(norms, dtype=np.float64)
    if numbers.ndim == 2:
        numbers = np.linalg.norm(numbers, axis=1)
    axes = _axes(ax)
    axes.semilogy(
        (1 if dt is None else dt) * np.arange(len(numbers)),
        np.where(numbers > 0, numbers, np.nan),
        label=label or "|x_bar|",
    )
    axes.set_xlabel("step" if dt is None else "time [s]")
    axes.set_ylabel("norm of the cotangent")
    axes.legend(fontsize="small")
    return axes


def _plain(values: Any) -> NDArray[np.float64]:
    """Numbers of any library."""
    return np.asarray(values.detach() if hasattr(values, "detach") else values, dtype=np.float64)


def _states(simulation: Simulation, states: Any) -> NDArray[np.float64]:
    """The states of one world."""
    numbers, wanted = _plain(states), len(simulation.model.state_layout)
    if numbers.ndim != 2 or numbers.shape[1] != wanted or len(numbers) == 0:
        raise ShapeError(f"states: shape (steps + 1, {wanted}) is wanted, and {numbers.shape} was given")
    return numbers


def _moving(layout: Layout, positions: int, states: NDArray[np.float64]) -> list[str]:
    """The names of positions that change; of all, if none does. Rotations say nothing to the eye."""
    shown = [q for q in layout.quantities if q.where.stop <= positions and not q.rotation]
    moving = [q for q in shown if (states[:, q.where] != states[0, q.where]).any()]
    return [q.name for q in moving or shown]


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="constrained").add_subplot()
    return ax
