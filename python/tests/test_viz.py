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
    assert norms.get_xlabel() == "time [s]"
    counted = viz.gradient_norms(problem.check().norms)
    assert counted.get_xlabel() == "step"
    assert np.asarray(counted.lines[0].get_xdata())[-1] == 240
    known = viz.gradient_norms(problem.check())
    assert known.get_xlabel() == "time [s]"
    assert np.asarray(known.lines[0].get_xdata())[-1] == pytest.approx(1.2)
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.savefig(tmp_path / "states.png")
    assert (tmp_path / "states.png").stat().st_size > 1000
    with pytest.raises(pullback.ShapeError, match=r"states: shape \(steps \+ 1, 6\) is wanted"):
        viz.trajectory(problem.simulation, states[0])
    matplotlib.pyplot.close("all")


def test_bodies_are_shown_by_their_positions(simulations: dict[str, pullback.Simulation]) -> None:
    from pullback import viz

    for name, wanted in (("tumbling", 3), ("sliding", 6), ("particles", 3), ("arm", 2)):
        sim = simulations[name]
        axes = viz.trajectory(sim, sim.rollout(sim.model.state()))
        labels = [str(line.get_label()) for line in axes.lines]
        assert len(labels) == wanted, labels
        assert not any("orientation" in label or "nail" in label for label in labels)
        assert len({line.get_color() for line in axes.lines}) == len({label[:8] for label in labels})
    chain = pullback.load(SCENES / "chain.toml", steps=5)
    group = viz.trajectory(chain, chain.rollout(chain.model.state()), "chain.position")
    assert [line.get_linestyle() for line in group.lines[:4]] == ["-", "--", ":", "-"]
    assert len({line.get_color() for line in group.lines[:6]}) == 2
    quadruped = simulations["quadruped"]
    crowd = viz.trajectory(quadruped, quadruped.rollout(quadruped.model.state()))
    legend = crowd.get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 12
    assert legend.get_title().get_text() == f"and {len(crowd.lines) - 12} more"
    still = np.stack([simulations["arm"].model.state().values] * 2)
    assert len(viz.trajectory(simulations["arm"], still).lines) == 2
    matplotlib.pyplot.close("all")


def test_pages_play_states_back(simulations: dict[str, pullback.Simulation], tmp_path: Path) -> None:
    from pullback import viz

    for name, sim in simulations.items():
        states = sim.rollout(sim.model.state())
        file = viz.page(sim, states, tmp_path / f"{name}.html")
        html = file.read_text(encoding="utf-8")
        assert html.startswith("<!doctype html>") or html.startswith("<!DOCTYPE html>")
        assert "<canvas" in html
        assert f"{len(states) - 1} steps" in html
    sim = simulations["particles"]
    states = sim.rollout(sim.model.state())
    plain = viz.page(sim, states, tmp_path / "plain.html").read_text()
    assert viz.page(sim, states[::-1].copy(), tmp_path / "other.html").read_text() != plain
    assert viz.page(sim, states[:1], tmp_path / "one.html").read_text() != plain
    pushed = viz.page(sim, states, tmp_path / "pushed.html", u=np.ones((20, 3))).read_text()
    assert pushed != plain
    with pytest.raises(pullback.ShapeError, match=r"u: shape \(20, 3\) is wanted, and \(3,\) was given"):
        viz.page(sim, states, tmp_path / "wrong.html", u=np.ones(3))
    with pytest.raises(pullback.ShapeError, match=r"states: shape \(steps \+ 1, 12\) is wanted"):
        viz.page(sim, states[0], tmp_path / "wrong.html")
    with pytest.raises(pullback.RangeError, match=r"states\[0, 0\] is nan: all must be finite"):
        viz.page(sim, np.full_like(states, np.nan), tmp_path / "wrong.html")
    odd = sim.model.controls(20)
    odd[7, 2] = np.nan
    with pytest.raises(pullback.RangeError, match=r"u\[7, 2\] is nan: all must be finite"):
        viz.page(sim, states, tmp_path / "wrong.html", u=odd)
    assert not (tmp_path / "wrong.html").exists()
