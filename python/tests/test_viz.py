"""Plots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import SCENES

import pullback

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_plots_show_what_they_say(tmp_path: Path) -> None:
    from pullback import viz

    problem = pullback.Problem.load(SCENES / "throw.toml")
    result = problem.solve()
    states = problem.rollout(result.z)
    axes = viz.trajectory(problem.simulation, states, ["ball.position", "ball.velocity.z"])
    assert [line.get_label() for line in axes.lines] == [f"ball.position.{a}" for a in "xyz"] + [
        "ball.velocity.z"
    ]
    assert np.array_equal(axes.lines[2].get_ydata(), states[:, 2])
    assert np.asarray(axes.lines[0].get_xdata())[-1] == pytest.approx(1.2)
    assert axes.get_ylabel() == "[m] or [m/s]"
    assert len(viz.trajectory(problem.simulation, states).lines) == 3
    shown = viz.losses(result)
    assert np.asarray(shown.lines[1].get_ydata())[-1] == result.value
    norms = viz.gradient_norms(problem.check().norms, problem.simulation.dt)
    assert len(np.asarray(norms.lines[0].get_ydata())) == 241
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.savefig(tmp_path / "states.png")
    assert (tmp_path / "states.png").stat().st_size > 1000
    with pytest.raises(pullback.ShapeError, match=r"states: shape \(steps \+ 1, 6\) is wanted"):
        viz.trajectory(problem.simulation, states[0])
    matplotlib.pyplot.close("all")
