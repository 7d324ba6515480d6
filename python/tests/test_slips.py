"""Slips that everyone makes: messages say what was given and what to write."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from conftest import PARTICLES, SCENES, TUMBLING

import pullback
from pullback import losses


@pytest.fixture(scope="module")
def sim() -> pullback.Simulation:
    return pullback.load(SCENES / "throw.toml", steps=5)


def test_a_model_is_not_made_of_a_path() -> None:
    core: Any = "x.toml"
    with pytest.raises(pullback.SettingError, match=r"Model\('x.toml'\).*`pullback.Model.load\(file\)`"):
        pullback.Model(core)


def test_names_are_no_numbers(sim: pullback.Simulation) -> None:
    x: Any = sim.model.state()
    with pytest.raises(pullback.UnknownNameError, match=r"0 is no name.*'ball.position'.*`x.values\[0\]`"):
        x[0]
    with pytest.raises(pullback.UnknownNameError, match="is no name"):
        x[0] = 1.0
    layout: Any = sim.model.params_layout
    with pytest.raises(pullback.UnknownNameError, match=r"slice\(0, 3, None\) is no name"):
        layout[0:3]


def test_a_loss_gives_its_derivative_too(sim: pullback.Simulation) -> None:
    loss: Any = lambda states: float(states[-1, 2])  # noqa: E731
    with pytest.raises(
        pullback.SettingError, match=r"the loss returns .*`return value, states_bar`.*\(6, 6\)"
    ):
        sim.gradient(loss, sim.model.state())
    whole: Any = lambda states: states  # noqa: E731
    with pytest.raises(pullback.SettingError, match=r"returns an array of shape \(6, 6\)"):
        sim.gradient(whole, sim.model.state())


def test_variables_and_losses_are_lists(sim: pullback.Simulation) -> None:
    near = losses.Position("ball", [0, 0, 0])
    name: Any = "ball.mass"
    with pytest.raises(
        pullback.SettingError, match=r"variables is 'ball.mass': a list is wanted, as in \['ball.mass'\]"
    ):
        pullback.Problem(sim, name, [near])
    one: Any = near
    with pytest.raises(pullback.SettingError, match=r"loss is Position\(.*a list is wanted"):
        pullback.Problem(sim, ["ball.mass"], one)
    variable: Any = pullback.Variable("ball.mass")
    with pytest.raises(pullback.SettingError, match="variables is Variable"):
        pullback.Problem(sim, variable, [near])
    wrong: Any = [3]
    with pytest.raises(pullback.SettingError, match="3 is no variable"):
        pullback.Problem(sim, wrong, [near])


def test_numbers_that_are_none_are_named(sim: pullback.Simulation) -> None:
    theta = sim.model.params().values
    theta[sim.model.params_layout["ball.mass"]] = np.nan
    with pytest.raises(pullback.RangeError, match="the params: `ball.mass` is NaN"):
        sim.rollout(sim.model.state(), None, theta)
    many = np.stack([sim.model.state().values] * 3)
    many[2, 4] = np.inf
    with pytest.raises(pullback.RangeError, match="the first states: `ball.velocity.y` of world 2 is inf"):
        sim.step(many)
    driven = pullback.Simulation(pullback.Model.parse(PARTICLES))
    u = driven.model.controls(20)
    u[7, 1] = np.nan
    with pytest.raises(pullback.RangeError, match="`thruster.force.y` of step 7 is NaN"):
        driven.rollout(driven.model.state(), u)
    states, pull = sim.rollout_vjp(sim.model.state())
    bar = np.zeros_like(states)
    bar[3, 1] = np.nan
    wanted = "the cotangents of states: `ball.position.y` of step 3 is NaN"
    with pytest.raises(pullback.RangeError, match=wanted):
        pull(bar)
    with pytest.raises(pullback.RangeError, match=wanted):
        sim.replace(memory=pullback.Binomial(2)).rollout_vjp(sim.model.state())[1](bar)
    with pytest.raises(pullback.RangeError, match="states: `ball.velocity.x` is inf"):
        sim.step_vjp(sim.model.state())[1](np.array([0, 0, 0, np.inf, 0, 0]))
    # Numbers that are finite, and too large for their gradient.
    huge = np.full_like(states, 1e308)
    with pytest.raises(pullback.RolloutError, match="not finite|the gradient by `ball"):
        pull(huge)


def test_budgets_do_not_contradict_themselves(sim: pullback.Simulation) -> None:
    for steps in (1, 5, 240):
        with pytest.raises(pullback.SettingError, match="10 bytes do not suffice") as raised:
            sim.replace(steps=steps, memory=pullback.Budget(10))
        words = str(raised.value).replace(",", "").split()
        needed, everything = (int(word) for word in words if word.isdigit() and word != "10")
        assert needed <= everything
        assert (needed < everything) == (steps > 2)
        assert sim.replace(steps=steps, memory=pullback.Budget(needed)).rollout_vjp(
            sim.model.state(), steps=steps
        )


def test_layouts_are_pickled_and_shown(sim: pullback.Simulation) -> None:
    layout = sim.model.params_layout
    again = pickle.loads(pickle.dumps(layout))
    assert again.names == layout.names
    assert again["ball.mass"] == layout["ball.mass"]
    assert (
        repr(sim.model.state_layout)
        == "<Layout of the state of 'throw': 6 numbers: ball.position, ball.velocity>"
    )
    assert "and" in repr(pullback.load(SCENES / "quadruped.toml").model.params_layout)


def test_checks_are_summed_up() -> None:
    problem = pullback.Problem.load(SCENES / "hover.toml")
    health = problem.check()
    text = str(health)
    assert len(health.audit) > 5
    assert len(text.splitlines()) < 20
    assert f"{len(health.audit)} derivatives beside differences: {len(health.audit)} right" in text
    assert "the worst 5:" in text
    assert health.growth["sentence"] in text
    worst = max(health.audit, key=lambda audit: audit.error)
    assert worst.name in text
    assert len(health.table().splitlines()) == len(health.audit) + 1
    assert repr(health) == text
    few = pullback.Problem.load(SCENES / "throw.toml").check()
    assert "all of them:" in str(few)


def test_measurements_of_bodies_are_fitted() -> None:
    """A trajectory of a loose body is what losses of its position and velocity are."""
    sim = pullback.Simulation(pullback.Model.parse(TUMBLING))
    columns = ["brick.x", "brick.z", "brick.vy"]
    measured = np.array([[0.1, 2.0, 0.3], [0.2, 1.5, -0.3]])
    steps = [5, 20]
    changing = ["initial.brick.velocity", "initial.brick.angular_velocity", "brick.mass"]
    fits = pullback.Problem(sim, changing, [losses.Trajectory(columns, measured, steps)])
    z = fits.start
    part = sim.watch(fits.rollout(z))["brick"]
    seen = np.stack([part.position[:, 0], part.position[:, 2], part.velocity[:, 1]], axis=1)[steps]
    assert fits.value(z) == pytest.approx(float(np.sum((seen - measured) ** 2)), rel=1e-12)
    health = fits.check()
    assert health.right
    assert any(audit.derivative != 0 for audit in health.audit)
    with pytest.raises(pullback.SceneError, match=r"there is no body or frame `brik`.*columns are"):
        pullback.Problem(sim, changing, [losses.Trajectory(["brik.x"], [[1.0]], [5])])
    with pytest.raises(pullback.SceneError, match="hinge"):
        pullback.Problem(sim, changing, [losses.Trajectory(["brick"], [[1.0]], [5])])


@pytest.mark.parametrize(
    ("column", "wanted"), [("brick.w", "brick.x"), ("brick.velocity", "brick.vx"), ("brick.turn.x", "brick")]
)
def test_columns_of_a_loose_body(
    column: str, wanted: str, simulations: dict[str, pullback.Simulation]
) -> None:
    sim = simulations["tumbling"]
    term = pullback.losses.Trajectory([column], np.zeros((1, 1)), [1])
    variable = pullback.Variable("initial.brick.velocity")
    with pytest.raises(pullback.SceneError, match=f"`{wanted}`") as caught:
        pullback.Problem(sim, [variable], [term])
    assert "there is no robot" not in str(caught.value)


def test_parts_of_a_loose_body(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["tumbling"]
    with pytest.raises(pullback.UnknownNameError, match="`brick` is a loose body, and has no body or frame"):
        sim.watch(sim.model.state())["brick.hand"]
