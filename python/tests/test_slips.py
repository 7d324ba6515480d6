"""Slips that everyone makes: messages say what was given and what to write."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import PARTICLES, SCENES, TUMBLING

import pullback
from pullback import losses, optimise


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


def arrays_of(vector: pullback.State) -> list[Any]:
    """In every library that is installed."""
    found: list[Any] = [vector.values]
    if importlib.util.find_spec("torch") is not None:
        found.append(vector.torch())
    if importlib.util.find_spec("jax") is not None:
        found.append(vector.jax())
    return found


def test_what_memory_does_not_hold_is_said(sim: pullback.Simulation) -> None:
    wanted = r"shape \(1000000000000001, 6\) takes [\d,]+ bytes.*fewer steps.*`last=True`"
    for x in (sim.model.state(), *arrays_of(sim.model.state())):
        with pytest.raises(pullback.TooLargeError, match=wanted):
            sim.rollout(x, steps=10**15)
    with pytest.raises(MemoryError):
        sim.rollout_vjp(sim.model.state(), steps=10**18)
    many = np.broadcast_to(sim.model.state().values, (10**13, 6))
    with pytest.raises(pullback.TooLargeError, match="480,000,000,000,000 bytes"):
        sim.step(many)
    driven = pullback.Simulation(pullback.Model.parse(PARTICLES))
    with pytest.raises(pullback.TooLargeError, match="bytes"):
        driven.model.controls(10**15)
    with pytest.raises(pullback.TooLargeError, match="bytes"):
        driven.rollout(driven.model.state(), lambda x: np.zeros(3), steps=10**15)


def test_results_are_shown_in_short(sim: pullback.Simulation) -> None:
    push = [f"initial.ball.{what}" for what in ("position", "velocity")]
    result = pullback.Problem(sim, push, [losses.Position("ball", [0, 0, 1])]).solve()
    text = repr(result)
    assert len(text) < 400
    assert f"value {result.value:.6g} after {len(result.history) - 1} iterations; {result.reason}" in text
    assert "'initial.ball.position.x'" in text
    assert "and 2 more" in text
    own = optimise.minimise(lambda z: (float(z @ z), 2 * z), np.ones(1000))
    assert len(repr(own)) < 400
    assert "and 996 more" in repr(own)


def test_the_package_has_a_version() -> None:
    assert pullback.__version__ == importlib.metadata.version("pullback")
    assert "annotations" not in dir(pullback)


def test_settings_that_make_no_sense(sim: pullback.Simulation) -> None:
    word: Any = "0.1"
    with pytest.raises(pullback.SettingError, match="dt is '0.1': a number is wanted"):
        sim.replace(dt=word)
    with pytest.raises(pullback.SettingError, match="snapshots is 0: a whole number, 1 or more, is wanted"):
        pullback.Binomial(0)
    with pytest.raises(pullback.SettingError, match="bytes is '2 MB'"):
        pullback.Budget("2 MB")  # type: ignore[arg-type]
    assert sim.replace(memory="dense").settings["memory"] == pullback.Dense()
    assert pullback.Simulation(sim.model, memory="every-step").settings["memory"] == pullback.EveryStep()
    for memory in ("binomial", pullback.Dense, 3):
        with pytest.raises(pullback.SettingError, match=r"memory is .*Binomial\(snapshots\).*\"dense\""):
            sim.replace(memory=memory)
    assert sim.settings["threads"] == 1


def test_types_are_those_that_were_given(sim: pullback.Simulation) -> None:
    with pytest.raises(pullback.DtypeError, match="^x has int64: float64 or float32 is wanted"):
        sim.step(np.zeros(6, np.int64))
    for x in arrays_of(sim.model.state())[1:]:
        with pytest.raises(pullback.DtypeError, match=r"^x has (torch\.)?int32: "):
            sim.step((x * 0).int() if hasattr(x, "int") else x.astype("int32"))


def test_states_cannot_be_left_out(sim: pullback.Simulation) -> None:
    none: Any = None
    for call in (
        sim.step,
        sim.rollout,
        sim.step_vjp,
        sim.rollout_vjp,
        sim.step_jvp,
        sim.linearise,
        sim.watch,
    ):
        with pytest.raises(pullback.DtypeError, match=r"x is None: .*left out.*`sim.model.state\(\)`"):
            call(none)
    with pytest.raises(pullback.DtypeError, match="x is None"):
        sim.rollout(none, lambda x: x)
    for theta in arrays_of(sim.model.params())[1:]:  # type: ignore[arg-type]
        with pytest.raises(pullback.DtypeError, match="x is None"):
            sim.step(none, None, theta)


def test_controls_are_no_dictionaries() -> None:
    driven = pullback.Simulation(pullback.Model.parse(PARTICLES))
    for x in (driven.model.state(), *arrays_of(driven.model.state())):
        for call in (driven.step, driven.rollout):
            with pytest.raises(pullback.DtypeError, match=r"u is \{'thruster.*`sim.model.control\(\)`"):
                call(x, {"thruster.force.z": 1.0})


def test_policies_return_controls() -> None:
    driven = pullback.Simulation(pullback.Model.parse(PARTICLES))
    x = driven.model.state().values
    for shape in ((2,), (4, 3), ()):
        with pytest.raises(pullback.ShapeError, match=r"the policy returns shape .*: \(3,\) is wanted"):
            driven.rollout(x, lambda x, shape=shape: np.zeros(shape))
    many = np.stack([x, x])
    with pytest.raises(pullback.ShapeError, match=r"the policy returns shape \(3, 3\): \(2, 3\) is wanted"):
        driven.rollout(many, lambda x: np.zeros((3, 3)))
    assert driven.rollout(many, lambda x: np.zeros(3)).shape == (2, 21, 12)


def test_energy_says_how_arrays_become_those_of_numpy(sim: pullback.Simulation) -> None:
    for x in arrays_of(sim.model.state())[1:]:
        how = r"`x.detach\(\).numpy\(\)`" if hasattr(x, "detach") else r"`np.asarray\(x\)`"
        for ask in (lambda x: sim.watch(x).energy, sim.model.energy):
            with pytest.raises(pullback.DtypeError, match=how):
                ask(x)


def test_names_without_their_beginning(simulations: dict[str, pullback.Simulation]) -> None:
    arm, sliding, tumbling = (simulations[name].model for name in ("arm", "sliding", "tumbling"))
    both = "like it there are `arm.elbow.position`, `arm.elbow.velocity`"
    with pytest.raises(pullback.UnknownNameError, match=both):
        arm.state()["elbow"]
    with pytest.raises(pullback.UnknownNameError, match=both):
        arm.state_layout.select("elbow")
    with pytest.raises(
        pullback.UnknownNameError, match=r"nothing is called `mu`; like it there is `contact.mu`"
    ):
        sliding.params()["mu"]
    with pytest.raises(
        pullback.UnknownNameError, match=r"one of the params, as in `sim.model.params\(\)\['brick.mass'\]`"
    ):
        tumbling.state()["brick.mass"] = 2.0
    with pytest.raises(pullback.UnknownNameError, match="it is part of the state"):
        tumbling.params()["brick.velocity.x"]
    with pytest.raises(pullback.UnknownNameError, match="there is `brick.velocity`"):
        tumbling.state()["initial.brick.velocity"]
    assert "elbow" not in arm.state()
    many = simulations["quadruped"].model.params()
    with pytest.raises(pullback.UnknownNameError, match=r"like it there are (`[\w.]+`(, | )){4}and \d+ more"):
        many["mass"]
