"""Derivatives of what is seen, the numbers of steps, and what is refused."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from conftest import TUMBLING
from test_watch import LINKED, bent

import pullback

#: A foot that slides along the ground, and is pressed down on it by motors whose controls change from step to step.
DRAGGED = """
name = "dragged"
[simulation]
dt = 0.01
steps = 4
[ground]
[contact]
mu = 0.3
[[robots]]
name = "press"
controls = { down = [0, -10, -20, -30], along = [1, 2, 3, 4] }
[[robots.bodies]]
name = "sled"
position = [0, 0, 0.1]
mass = 0.1
inertia = [0.001, 0.001, 0.001]
[[robots.bodies]]
name = "foot"
parent = "sled"
mass = 1
shape = { sphere = 0.1 }
[[robots.joints]]
name = "drag"
body = "sled"
kind = "slide"
axis = [1, 0, 0]
[[robots.joints]]
name = "lift"
body = "foot"
kind = "slide"
axis = [0, 0, 1]
[[robots.motors]]
name = "down"
joint = "lift"
kind = "torque"
[[robots.motors]]
name = "along"
joint = "drag"
kind = "torque"
"""


@pytest.fixture(scope="module")
def dragged() -> pullback.Simulation:
    return pullback.Simulation(pullback.Model.parse(DRAGGED))


def sunk(sim: pullback.Simulation) -> Any:
    """A moving state, where what touches the ground is a millimetre deep in it."""
    x = sim.model.state()
    if sim.model.name == "dragged":
        x["press.lift.position"], x["press.drag.velocity"] = -0.001, 0.5
    elif sim.model.name == "sliding":
        x["boxes.position"] = x["boxes.position"] - [0, 0, 0.001]
    elif sim.model.name != "soft":
        return sim.rollout(x, steps=2, last=True)
    return x.values


TOUCHING: dict[str, list[tuple[str, str | None]]] = {
    "sliding": [("ground", None), ("boxes[0]", "ground")],
    "soft": [("ground", None), ("box", None)],
    "dragged": [("ground", None), ("press.foot", "ground")],
}
CONTACT = ("force", "normal", "friction", "penetration")


def looks(sim: pullback.Simulation) -> list[tuple[tuple[str | None, ...], tuple[str, ...]]]:
    """What can be looked at, a part or the contacts of two things, and what of it has derivatives."""
    of_parts = ("position", "rotation", "velocity", "angular_velocity")
    parts: list[tuple[tuple[str | None, ...], tuple[str, ...]]] = [((n,), of_parts) for n in sim.model.parts]
    return parts + [(pair, CONTACT) for pair in TOUCHING.get(sim.model.name, [])]


def at(seen: Any, what: tuple[str | None, ...]) -> Any:
    return seen[what[0]] if len(what) == 1 else seen.contact(*what)


@pytest.mark.parametrize("which", ["particles", "arm", "tumbling", "sliding", "soft", "dragged"])
def test_pullbacks_are_those_of_differences(
    which: str, simulations: dict[str, pullback.Simulation], dragged: pullback.Simulation
) -> None:
    sim = {**simulations, "dragged": dragged}[which]
    x, theta, u = sunk(sim), sim.model.params().values, sim.model.controls(2)[1]
    random = np.random.default_rng(4)
    x_dot, u_dot = random.standard_normal(len(x)), random.standard_normal(len(u))
    theta_dot = random.standard_normal(len(theta)) * np.abs(theta)
    h = 1e-6
    here = sim.watch(x, u, theta)
    around = [sim.watch(x + s * h * x_dot, u + s * h * u_dot, theta + s * h * theta_dot) for s in (1, -1)]
    nonzero = set()
    for what, names in looks(sim):
        for name in names:
            bar = random.standard_normal(np.shape(getattr(at(here, what), name)))
            x_bar, u_bar, theta_bar = at(here, what).pullback(**{name: bar})
            assert u_bar.shape == u.shape
            ours = x_bar @ x_dot + u_bar @ u_dot + theta_bar @ theta_dot
            ends = [np.sum(bar * getattr(at(seen, what), name)) for seen in around]
            scale = max(abs(ours), abs(ends[0]), 1.0)
            assert ours == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=2e-6 * scale), name
            if ours != 0:
                nonzero.add(name)
            # Each of contact has a derivative of its own, so that nothing is compared with nothing.
            assert ours != 0 or name not in CONTACT, name
            if which == "dragged" and name in ("force", "normal", "friction"):
                assert np.abs(u_bar).sum() > 0, name
    assert {"position", "velocity"} <= nonzero


def test_steps_have_the_controls_of_their_numbers(dragged: pullback.Simulation) -> None:
    states = dragged.rollout(dragged.model.state())
    u = dragged.model.controls(4)

    def normal(*at: Any, **settings: Any) -> Any:
        return dragged.watch(*at, **settings).contact("ground").normal

    wanted = normal(states[:-1], u)
    assert wanted == pytest.approx([9.81, 19.81, 29.81, 39.81], rel=0.05)
    assert normal(states[:-1], index=np.arange(4)).tolist() == wanted.tolist()
    assert [float(normal(states[i], index=i)) for i in range(4)] == wanted.tolist()
    # After the last control that the scene gives, it stays.
    assert normal(states, index=np.arange(5))[4] == pytest.approx(wanted[3], rel=0.05)
    twice = normal(np.stack([states, states]), index=np.stack([np.arange(5)] * 2))
    assert twice[1, :4].tolist() == wanted.tolist()
    with pytest.raises(pullback.SettingError, match=r"index=np.arange\(len\(states\)\)"):
        normal(states)
    assert normal(states, index=0)[1] == pytest.approx(wanted[0], rel=0.05)
    assert dragged.watch(states)["press.foot"].position.shape == (5, 3)
    with pytest.raises(pullback.ShapeError, match=r"the batch is \(4,\)"):
        normal(states, u)
    with pytest.raises(pullback.SettingError, match="whole number"):
        normal(states, index=0.5)


def test_numbers_of_steps_may_be_traced(dragged: pullback.Simulation) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    states = dragged.rollout(dragged.model.state())[:-1]
    wanted = dragged.watch(states, index=np.arange(4)).contact("ground").normal

    normal = jax.jit(lambda x, i: dragged.watch(x, index=i).contact("ground").normal)
    assert [float(normal(x, i)) for i, x in enumerate(jax.numpy.asarray(states))] == wanted.tolist()
    assert np.array_equal(normal(jax.numpy.asarray(states), jax.numpy.arange(4)), wanted)


def test_all_contacts_have_no_force(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["soft"]
    both = sim.watch(sim.model.state()).contact()
    assert both.normal > 0
    assert "force" not in repr(both)
    for field in ("force", "friction"):
        with pytest.raises(
            pullback.SettingError, match=rf"all contacts have no {field}.*contact\('ground'\)"
        ):
            getattr(both, field)
        with pytest.raises(pullback.SettingError, match=f"all contacts have no {field}"):
            both.pullback(**{field: np.zeros(3) if field == "force" else 0.0})


def test_what_is_looked_at_stays_as_it_was(dragged: pullback.Simulation) -> None:
    first = sunk(dragged)
    numbers, at = first.tolist(), np.array(2)
    seen = dragged.watch(numbers, index=at)
    before = float(seen.contact("ground").normal)
    numbers[0], numbers[1], at[...] = 5.0, 5.0, 0
    assert seen.contact("ground", "press.foot").normal == before
    assert seen["press.foot"].position[0] == first[0]
    # A list has the type of the arrays that come with it.
    single = dragged.watch(first.tolist(), None, dragged.model.params().values.astype(np.float32))
    assert single["press.foot"].position.dtype == np.float32
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(first)
    seen = dragged.watch(tensor)
    tensor[0] = 5.0
    assert seen["press.foot"].position[0] == first[0]


def test_counts_have_no_gradient(dragged: pullback.Simulation) -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    touch = dragged.watch(torch.tensor(sunk(dragged), requires_grad=True)).contact("ground")
    assert touch.normal.requires_grad
    assert not touch.count.requires_grad
    assert not touch.sliding.requires_grad

    def both(x: Any) -> Any:
        touch = dragged.watch(x).contact("ground")
        return touch.normal + 0 * touch.count, touch.count

    _, (_, count_dot) = jax.jvp(both, (jax.numpy.asarray(sunk(dragged)),), (jax.numpy.ones(4),))
    assert count_dot == 0


def test_cotangents_that_make_no_sense() -> None:
    sim = pullback.Simulation(pullback.Model.parse(LINKED))
    seen = sim.watch(np.stack([bent(sim).values] * 2))["arm.tip"]
    bar = np.ones((2, 3))
    bar[1, 2] = np.nan
    with pytest.raises(pullback.RangeError, match=r"`position`\[2\] of world 1 is NaN; all must be finite"):
        seen.pullback(position=bar)
    alone = sim.watch(bent(sim))["arm.tip"]
    with pytest.raises(pullback.RangeError, match=r"`velocity`\[0\] is inf"):
        alone.pullback(velocity=[np.inf, 0, 0])
    with pytest.raises(pullback.DtypeError, match="the cotangent of position is .*real numbers are wanted"):
        alone.pullback(position=["a", "b", "c"])
    with pytest.raises(pullback.DtypeError, match="real numbers"):
        alone.pullback(position=np.ones(3) * 1j)
    with pytest.raises(pullback.ShapeError, match="rows of the same length"):
        alone.pullback(rotation=[[1.0], [1.0, 2.0], [3.0]])
    torch = pytest.importorskip("torch")
    with pytest.raises(pullback.DtypeError, match="the cotangent of position is of torch"):
        alone.pullback(position=torch.ones(3))


def test_arguments_that_make_no_sense(dragged: pullback.Simulation) -> None:
    with pytest.raises(pullback.DtypeError, match="x is 'abc': real numbers are wanted"):
        dragged.watch("abc")
    with pytest.raises(pullback.ShapeError, match="rows of the same length"):
        dragged.watch([[1.0], [1.0, 2.0]])
    with pytest.raises(pullback.DtypeError, match="real numbers"):
        dragged.step([1j, 0, 0, 0])
    seen = dragged.watch(sunk(dragged))
    with pytest.raises(pullback.UnknownNameError, match="asked for by 3: the name of a thing is wanted"):
        seen.contact(3)  # type: ignore[arg-type]
    with pytest.raises(pullback.RangeError, match="the control: `press.down.*` is NaN"):
        _ = dragged.watch(sunk(dragged), [np.nan, 0.0]).contact("ground").normal


def test_looks_at_no_worlds(dragged: pullback.Simulation) -> None:
    part = dragged.watch(np.empty((0, 4)))["press.foot"]
    assert part.position.shape == (0, 3)
    x_bar, _, theta_bar = part.pullback(position=np.empty((0, 3)), rotation=np.empty((0, 3, 3)))
    assert x_bar.shape == (0, 4)
    assert not theta_bar.any()


def test_energy_of_several_params(dragged: pullback.Simulation) -> None:
    x, theta = sunk(dragged), np.stack([dragged.model.params().values] * 3)
    theta[1, dragged.model.params_layout["press.foot.mass"]] *= 2
    alone = [dragged.model.energy(x, row) for row in theta]
    together = dragged.watch(x, None, theta).energy
    assert np.array_equal(np.array(together), np.array(alone).T)
    assert together[0][1] != together[0][0]
    each = dragged.model.energy(np.stack([x] * 3), theta)
    assert np.array_equal(each, together)
    with pytest.raises(pullback.ShapeError, match=r"the batch is \(3,\), and that of x is \(2,\)"):
        dragged.model.energy(np.stack([x] * 2), theta)


def test_other_libraries_are_told_what_they_have(dragged: pullback.Simulation) -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    for x in (torch.tensor(sunk(dragged)), jax.numpy.asarray(sunk(dragged))):
        seen = dragged.watch(x)
        with pytest.raises(pullback.DtypeError, match=r"`sim.watch` of arrays of NumPy"):
            _ = seen.energy
        with pytest.raises(pullback.DtypeError, match=r"`sim.watch` of arrays of NumPy"):
            _ = seen["press.foot"].jacobian
        with pytest.raises(pullback.DtypeError, match="derivatives of what is seen"):
            seen["press.foot"].pullback(position=np.ones(3))

    def height(x: Any) -> Any:
        return dragged.watch(x)["press.foot"].position[2]

    with pytest.raises(pullback.Error, match="what is seen can be differentiated once"):
        jax.grad(lambda x: jax.grad(height)(x).sum())(jax.numpy.asarray(sunk(dragged)))


def test_errors_say_in_which_world() -> None:
    sim = pullback.Simulation(pullback.Model.parse(TUMBLING + "[ground]\n[contact]\nmost_contacts = 2\n"))
    states = np.stack([sim.model.state().values] * 3)
    states[2, sim.model.state_layout["brick.position.z"]] = 0.0
    with pytest.raises(pullback.RolloutError, match="more contacts than the 2") as caught:
        _ = sim.watch(states, index=np.array([4, 4, 5])).contact("ground").normal
    assert (caught.value.step, caught.value.world) == (5, 2)


def test_sums_over_worlds_are_of_double_precision(dragged: pullback.Simulation) -> None:
    worlds = 3000
    states = np.tile(sunk(dragged).astype(np.float32), (worlds, 1))
    states[:, 2:] = 0.0
    params = dragged.model.params().values.astype(np.float32)
    part = dragged.watch(states, None, params)["press.foot"]
    one = dragged.watch(states[0], None, params)["press.foot"]
    bar = np.full(3, 0.1, np.float32)
    alone = one.pullback(position=bar)[2].astype(np.float64)
    summed = part.pullback(position=np.tile(bar, (worlds, 1)))[2]
    assert np.abs(alone).max() > 0
    assert np.allclose(summed, worlds * alone, rtol=2e-7)


def test_models_go_when_nobody_holds_them() -> None:
    gc.disable()
    try:
        model = pullback.Model.parse(LINKED)
        layout, gone = model.state_layout, weakref.ref(model)
        del model
        assert gone() is None
        assert "linked" in repr(layout)
        again = pickle.loads(pickle.dumps(layout))
        assert again.names == layout.names
    finally:
        gc.enable()
