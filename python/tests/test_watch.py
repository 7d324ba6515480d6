"""Looking at states: bodies, frames, contacts, energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import SLIDING

import pullback

LINKED = """
name = "linked"
[simulation]
dt = 0.01
steps = 20
[[particles]]
name = "ball"
position = [1, 2, 3]
velocity = [0.1, 0.2, 0.3]
mass = 1
[[robots]]
name = "arm"
[[robots.bodies]]
name = "upper"
mass = 1
shape = { sphere = 0.1 }
position = [0, 0, 1]
[[robots.bodies]]
name = "fore"
parent = "upper"
position = [0.5, 0, 0]
mass = 1
shape = { sphere = 0.1 }
[[robots.joints]]
name = "shoulder"
body = "upper"
kind = "hinge"
axis = [0, 0, 1]
[[robots.joints]]
name = "elbow"
body = "fore"
kind = "hinge"
axis = [0, 0, 1]
[[robots.frames]]
name = "tip"
body = "fore"
position = [0.25, 0, 0]
"""


@pytest.fixture(scope="module")
def linked() -> pullback.Simulation:
    return pullback.Simulation(pullback.Model.parse(LINKED))


def bent(sim: pullback.Simulation, a: float = 0.4, b: float = 0.7) -> pullback.State:
    x = sim.model.state()
    x["arm.shoulder.position"], x["arm.elbow.position"] = a, b
    x["arm.shoulder.velocity"], x["arm.elbow.velocity"] = 2.0, -3.0
    return x


def tip(a: float, b: float) -> np.ndarray:
    return np.array(
        [0.5 * math.cos(a) + 0.25 * math.cos(a + b), 0.5 * math.sin(a) + 0.25 * math.sin(a + b), 1.0]
    )


def test_parts_are_where_geometry_says(linked: pullback.Simulation) -> None:
    seen = linked.watch(bent(linked))
    assert seen.names == list(seen) == ["ball", "arm.upper", "arm.fore", "arm.tip"]
    assert np.allclose(seen["arm.tip"].position, tip(0.4, 0.7), rtol=1e-14)
    turn = np.array([[math.cos(1.1), -math.sin(1.1), 0], [math.sin(1.1), math.cos(1.1), 0], [0, 0, 1]])
    assert np.allclose(seen["arm.tip"].rotation, turn, rtol=1e-14, atol=1e-15)
    assert np.allclose(seen["arm.tip"].angular_velocity, [0, 0, -1.0])
    h = 1e-6
    moved = (tip(0.4 + 2 * h, 0.7 - 3 * h) - tip(0.4 - 2 * h, 0.7 + 3 * h)) / (2 * h)
    assert np.allclose(seen["arm.tip"].velocity, moved, atol=1e-9)
    assert seen["ball"].position.tolist() == [1, 2, 3]
    assert seen["ball"].velocity.tolist() == [0.1, 0.2, 0.3]
    assert np.array_equal(seen["ball"].rotation, np.eye(3))
    kinetic, potential = seen.energy
    assert (kinetic, potential) == linked.model.energy(bent(linked))


def test_jacobians_take_velocities_to_those_of_parts(sim: pullback.Simulation) -> None:
    x = sim.rollout(sim.model.state(), steps=3, last=True)
    for name in sim.model.parts:
        part = sim.watch(x)[name]
        jacobian = part.jacobian
        velocities = x[sim.model.positions :]
        assert jacobian.shape == (6, len(velocities))
        wanted = np.concatenate([part.velocity, part.angular_velocity])
        assert np.allclose(jacobian @ velocities, wanted, atol=1e-12)


def test_what_is_looked_at_stays_as_it_was(linked: pullback.Simulation) -> None:
    x = bent(linked)
    seen = linked.watch(x)
    x["arm.shoulder.position"] = 2.0
    assert np.allclose(seen["arm.tip"].position, tip(0.4, 0.7))


def test_batches_are_worlds_alone(linked: pullback.Simulation) -> None:
    states = linked.rollout(bent(linked))
    thetas = np.stack([linked.model.params().values] * 2)
    thetas[1, linked.model.params_layout["arm.fore.placement"].start] += 0.1
    whole = linked.watch(states)["arm.tip"]
    assert whole.position.shape == (21, 3)
    assert whole.jacobian.shape == (21, 6, 5)
    for t in (0, 20):
        alone = linked.watch(states[t])["arm.tip"]
        assert np.array_equal(whole.position[t], alone.position)
        assert np.array_equal(whole.jacobian[t], alone.jacobian)
    two = linked.watch(states[3], None, thetas)["arm.tip"]
    assert two.jacobian.shape == (2, 6, 5)
    assert not np.array_equal(two.position[0], two.position[1])
    x_bar, _, theta_bar = two.pullback(position=np.ones((2, 3)))
    ones = [linked.watch(states[3], None, theta)["arm.tip"].pullback(position=np.ones(3)) for theta in thetas]
    assert np.allclose(x_bar, ones[0][0] + ones[1][0], rtol=1e-15)
    assert np.array_equal(theta_bar[1], ones[1][2])
    single = linked.watch(states[3].astype(np.float32))["arm.tip"].position
    assert single.dtype == np.float32
    assert np.allclose(single, whole.position[3], atol=1e-6)


def test_contacts_bear_the_weight() -> None:
    sim = pullback.Simulation(pullback.Model.parse(SLIDING))
    x = sim.model.state()
    x["boxes.velocity"] = 0.0
    seen = sim.watch(x)
    one, ground = seen.contact("boxes[0]", by="ground"), seen.contact("ground")
    assert one.normal == pytest.approx(9.81, rel=1e-3)
    assert one.force == pytest.approx([0, 0, 9.81], rel=1e-3, abs=1e-9)
    assert ground.force[2] == pytest.approx(-2 * 9.81, rel=1e-3)
    assert (one.count, one.sliding) == (4, 0)
    assert seen.contact("boxes[0]", by="boxes[1]").normal == 0.0
    moving = sim.watch(sim.model.state()).contact("boxes[0]")
    assert moving.friction == pytest.approx(0.3 * moving.normal, rel=1e-3)
    assert moving.sliding == 4
    assert seen.contact().normal == pytest.approx(2 * 9.81, rel=1e-3)
    with pytest.raises(pullback.UnknownNameError, match="there is no cotangent of 'count'"):
        one.pullback(count=1.0)


PRESSED = """
name = "pressed"
[simulation]
dt = 0.01
steps = 10
[ground]
[contact]
[[robots]]
name = "press"
[[robots.bodies]]
name = "foot"
position = [0, 0, 0.1]
mass = 1
shape = { sphere = 0.1 }
[[robots.joints]]
name = "lift"
body = "foot"
kind = "slide"
axis = [0, 0, 1]
[[robots.motors]]
name = "motor"
joint = "lift"
kind = "torque"
"""


def test_forces_are_those_of_the_step_with_its_control() -> None:
    """A foot that is pressed down, by a motor."""
    sim = pullback.Simulation(pullback.Model.parse(PRESSED))
    x = sim.model.state()
    presses = np.array([[0.0], [-10.0], [-20.0]])
    normals = [float(sim.watch(x, u, index=7).contact("ground").normal) for u in presses]
    assert normals == pytest.approx([9.81, 19.81, 29.81], rel=1e-2)
    at_once = sim.watch(np.stack([x.values] * 3), presses, index=np.arange(3)).contact("ground").normal
    assert at_once.tolist() == normals
    assert sim.watch(x).contact("ground").normal == normals[0]
    press = sim.watch(x, [-5.0]).contact("ground")
    assert press.pullback(normal=1.0)[1][0] == pytest.approx(-1.0, rel=1e-2)


def test_names_that_are_not_there(linked: pullback.Simulation) -> None:
    seen = linked.watch(bent(linked))
    with pytest.raises(
        pullback.UnknownNameError, match=r"there is no body or frame `arm.tib`.*did you mean `arm.tip`"
    ):
        seen["arm.tib"]
    with pytest.raises(pullback.UnknownNameError, match="a name is wanted"):
        seen[0]  # type: ignore[index]
    with pytest.raises(pullback.SettingError, match="without contacts"):
        seen.contact()
    with pytest.raises(pullback.ShapeError, match=r"the cotangent of position: shape \(3,\) is wanted"):
        seen["ball"].pullback(position=[1.0, 2.0])
    with pytest.raises(pullback.RangeError, match="`ball.velocity.y` is nan|`ball.velocity.y` is NaN"):
        x = bent(linked)
        x.values[linked.model.state_layout["ball.velocity.y"]] = np.nan
        _ = linked.watch(x)["ball"].position
    assert "arm.upper" in repr(seen)
    assert "position = [1. 2. 3.]" in repr(seen["ball"])


def test_torch_differentiates_it(linked: pullback.Simulation) -> None:
    torch = pytest.importorskip("torch")
    x = bent(linked).torch().requires_grad_()
    theta = linked.model.params().torch(requires_grad=True)
    part = linked.watch(x, None, theta)["arm.tip"]
    (part.position.sum() + part.rotation[0, 1] + part.velocity[0]).backward()
    one = np.ones(3)
    turn, along = np.zeros((3, 3)), np.array([1.0, 0, 0])
    turn[0, 1] = 1.0
    bars = linked.watch(bent(linked))["arm.tip"].pullback(position=one, rotation=turn, velocity=along)
    assert x.grad is not None
    assert theta.grad is not None
    assert np.array_equal(x.grad.numpy(), bars[0])
    assert np.array_equal(theta.grad.numpy(), bars[2])

    def position(x: Any) -> Any:
        return linked.watch(x)["arm.tip"].position

    plain = x.detach()
    back, ahead = torch.func.jacrev(position)(plain), torch.func.jacfwd(position)(plain)
    assert torch.allclose(back, ahead, rtol=1e-14)
    assert torch.equal(torch.func.vmap(position)(torch.stack([plain, plain + 0.1]))[0], position(plain))
    with pytest.raises(pullback.DtypeError, match="of torch"):
        _ = linked.watch(plain).energy
    # Through a whole rollout: as by hand.
    first = bent(linked).torch(requires_grad=True)
    linked.watch(linked.rollout(first))["arm.tip"].position[-1].sum().backward()
    states, pull = linked.rollout_vjp(bent(linked))
    states_bar = np.zeros_like(states)
    states_bar[-1] = linked.watch(states[-1])["arm.tip"].pullback(position=one)[0]
    assert first.grad is not None
    assert np.array_equal(first.grad.numpy(), pull(states_bar)[0])


def test_jax_differentiates_it(
    linked: pullback.Simulation, simulations: dict[str, pullback.Simulation]
) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    x = bent(linked).jax()

    def position(x: Any) -> Any:
        return linked.watch(x)["arm.tip"].position

    assert np.array_equal(jax.jit(position)(x), linked.watch(bent(linked))["arm.tip"].position)
    back, ahead = jax.jit(jax.jacrev(position))(x), jax.jacfwd(position)(x)
    assert np.allclose(back, ahead, rtol=1e-14)
    assert np.abs(back).sum() > 1
    both = jax.vmap(position)(jax.numpy.stack([x, x + 0.1]))
    assert np.array_equal(both[0], position(x))
    sliding = simulations["sliding"]
    at = sliding.model.state().jax()
    bars = jax.grad(lambda x: sliding.watch(x).contact("boxes[0]").friction)(at)
    wanted = sliding.watch(sliding.model.state()).contact("boxes[0]").pullback(friction=1.0)[0]
    assert np.array_equal(bars, wanted)
    assert np.abs(wanted).sum() > 0
