"""Steps and rollouts inside programs of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from near import batch, free_params, start, tangents

import pullback
from pullback import _core

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
check_grads = pytest.importorskip("jax.test_util").check_grads


@pytest.fixture(autouse=True)
def double() -> Any:
    with jax.enable_x64(True):
        yield


def arrays(*numbers: Any) -> list[Any]:
    return [jnp.asarray(a) for a in numbers]


def test_results_are_those_of_numpy_to_the_last_bit(sim: pullback.Simulation) -> None:
    x, u, theta = batch(sim, 3, 2)
    states, pull = sim.rollout_vjp(x, u, theta[0])
    bar = np.cos(np.arange(states.size)).reshape(states.shape)
    wanted = pull(bar)
    for run in (sim.rollout, jax.jit(sim.rollout)):
        found, transposed = jax.vjp(run, *arrays(x, u, theta[0]))
        assert np.array_equal(found, states)
        bars = transposed(jnp.asarray(bar))
        assert all(np.array_equal(a, b) for a, b in zip(bars, wanted, strict=True))


def test_a_gradient_is_of_what_was_given(simulations: dict[str, pullback.Simulation]) -> None:
    """Whatever is written later to arrays, states and params that were mixed with those of JAX."""
    sim = simulations["particles"]
    x, u, theta = start(sim, 3)
    bar = jnp.ones((4, 12))

    def gradient(later: Any) -> Any:
        # Aligned to 64 bytes, JAX would take them as they are.
        controls, state, params = sim.model.controls(3), sim.model.state(x), sim.model.params(theta)
        controls[...] = u
        _, first = jax.vjp(lambda x: sim.rollout(x, controls, params), jnp.array(x))
        _, second = jax.vjp(lambda theta: sim.rollout(state, controls, theta), jnp.array(theta))
        later(controls, state, params)
        return [first(bar)[0], second(bar)[0]]

    def write(controls: Any, state: Any, params: Any) -> None:
        controls[...] = 0.5
        state.values[...] = 0.5
        params.values[...] = 0.5

    wanted = gradient(lambda *_: None)
    assert all(np.array_equal(a, b) for a, b in zip(gradient(write), wanted, strict=True))


def test_nothing_is_computed_twice(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x, u, theta = arrays(*start(sim, 2))
    for loss in (
        lambda x: sim.step(x, u[0], theta).sum(),
        lambda x: sim.rollout(x, u, theta).sum(),
        lambda x: jax.lax.scan(lambda x, u: (sim.step(x, u, theta), None), x, u)[0].sum(),
    ):
        program = str(jax.make_jaxpr(jax.grad(loss))(x))
        assert program.count("pullback_forward") == 1
        assert program.count("pullback_pullback") == 1
        assert "pullback_pushforward" not in program


def test_check_grads(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 2)
    ways, free = jnp.asarray(tangents(sim, x)), jnp.asarray(free_params(sim))

    def at(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
        return x + a @ ways, u + b, theta * (1 + c * free)

    def step(a: Any, b: Any, c: Any) -> Any:
        x, u, theta = at(a, b, c)
        return sim.step(x, u[0], theta)

    def rollout(a: Any, b: Any, c: Any) -> Any:
        return sim.rollout(*at(a, b, c))

    zeros = (jnp.zeros(len(ways)), jnp.zeros(u.shape), jnp.zeros(theta.shape))
    for f in (step, rollout):
        scale = float(jnp.max(jnp.abs(f(*zeros)))) + 1.0
        check_grads(f, zeros, order=1, modes=("fwd", "rev"), eps=1e-6, atol=1e-5 * scale, rtol=1e-4)


def test_scan_is_a_rollout(sim: pullback.Simulation) -> None:
    x, u, theta = arrays(*start(sim, 4))

    def scan(x: Any, u: Any, theta: Any) -> Any:
        def body(x: Any, at: Any) -> tuple[Any, Any]:
            u, index = at
            x = sim.step(x, u, theta, index=index)
            return x, x

        return jnp.concatenate([x[None], jax.lax.scan(body, x, (u, jnp.arange(4)))[1]])

    scanned = jax.jit(scan)

    assert np.array_equal(scanned(x, u, theta), sim.rollout(x, u, theta))
    bar = jnp.cos(jnp.arange(5 * len(x), dtype=jnp.float64)).reshape(5, -1)
    ours = jax.vjp(sim.rollout, x, u, theta)[1](bar)
    theirs = jax.vjp(scanned, x, u, theta)[1](bar)
    for a, b in zip(ours, theirs, strict=True):
        assert np.allclose(a, b, rtol=1e-10, atol=1e-10 * (1 + float(jnp.max(jnp.abs(b), initial=0.0))))


def test_numbers_of_steps_may_be_traced_and_batched(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["driven"]
    x, u, theta = arrays(*batch(sim, 1, 3))
    u, numbers = u[:, 0], jnp.array([4, 0, 9])
    wanted = np.stack(
        [sim.step(np.array(x[i]), np.array(u[i]), np.array(theta[i]), index=[4, 0, 9][i]) for i in range(3)]
    )

    def step(x: Any, u: Any, theta: Any, index: Any) -> Any:
        return sim.step(x, u, theta, index=index)

    assert np.array_equal(jax.jit(step)(x, u, theta, numbers), wanted)
    assert np.array_equal(jax.jit(jax.vmap(step))(x, u, theta, numbers), wanted)
    only = jax.vmap(step, (None, None, None, 0))(x[0], u[0], theta[0], numbers)
    assert np.array_equal(only[2], sim.step(x[0], u[0], theta[0], index=9))
    nested = jax.vmap(step, (None, None, 0, None))(x, u, theta, numbers)
    assert np.array_equal(nested[1, 2], sim.step(x[2], u[2], theta[1], index=9))
    crossed = jax.vmap(jax.vmap(step, (0, 0, None, None)), (None, None, 0, 0))(x, u, theta, numbers)
    assert np.array_equal(crossed[2, 1], sim.step(x[1], u[1], theta[2], index=9))
    scene = jax.jit(lambda x, index: sim.step(x, index=index))(x[0], jnp.int32(7))
    assert np.array_equal(scene, sim.step(x[0], index=7)), "the scene's control of this step"

    def loss(theta: Any, x: Any, u: Any, index: Any) -> Any:
        return jnp.sin(step(x, u, theta, index)).sum()

    each = jax.jit(jax.vmap(jax.grad(loss)))(theta, x, u, numbers)
    for i in range(3):
        assert np.allclose(
            each[i], jax.grad(loss)(theta[i], x[i], u[i], [4, 0, 9][i]), rtol=1e-13, atol=1e-13
        )
    inner = jax.grad(loss)(theta[0], x, u, numbers)
    assert np.allclose(
        inner, sum(jax.grad(loss)(theta[0], x[i], u[i], numbers[i]) for i in range(3)), rtol=1e-12
    )
    with pytest.raises(pullback.SettingError, match="index has float64: whole numbers are wanted"):
        jax.jit(step)(x, u, theta, jnp.ones(3))
    with pytest.raises((ValueError, RuntimeError), match="index is -2: a whole number from 0"):
        jax.jit(step)(x, u, theta, jnp.array([1, -2, 3])).block_until_ready()


def test_a_policy_in_the_loop(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["driven"].replace(steps=11)
    weights = 0.1 * jnp.cos(jnp.arange(36.0)).reshape(12, 3)
    x = jnp.stack([sim.model.state().jax()] * 2) + jnp.arange(2.0)[:, None] * 0.01
    theta = sim.model.params().jax()

    def by_hand(weights: Any, theta: Any) -> Any:
        states = [x]
        for index in range(11):
            states.append(sim.step(states[-1], jnp.tanh(states[-1] @ weights), theta, index=index))
        return jnp.stack(states, axis=-2)

    def rollout(sim: Any, last: bool = False) -> Any:
        return lambda weights, theta: sim.rollout(x, lambda x: jnp.tanh(x @ weights), theta, last=last)

    def gradients(run: Any) -> Any:
        def loss(weights: Any, theta: Any) -> Any:
            states = run(weights, theta)
            return jnp.square(states[..., -1, :] if states.ndim == 3 else states).sum()

        return jax.grad(loss, (0, 1))(weights, theta)

    states, reference = by_hand(weights, theta), gradients(by_hand)
    for memory in (pullback.EveryStep(), pullback.Binomial(1), pullback.Binomial(3), pullback.Binomial(50)):
        kept = sim.replace(memory=memory)
        assert np.array_equal(rollout(kept)(weights, theta), states)
        assert np.array_equal(jax.jit(rollout(kept, last=True))(weights, theta), states[:, -1])
        for last in (False, True):
            for a, b in zip(gradients(rollout(kept, last)), reference, strict=True):
                assert np.allclose(a, b, rtol=1e-10, atol=1e-12)
    assert str(jax.make_jaxpr(rollout(sim))(weights, theta)).count("pullback_forward") == 1, "one scan"
    # What is run again is kept once for a stretch, not for every step.
    program = str(
        jax.make_jaxpr(lambda *at: gradients(rollout(sim.replace(memory=pullback.Binomial(3)), True)))()
    )
    assert "remat" in program or "checkpoint" in program
    assert rollout(sim)(weights, theta).shape == (2, 12, 12)
    assert sim.rollout(x, lambda x: x[..., :3], steps=0).shape == (2, 1, 12)
    alone = [
        sim.rollout(first, lambda x: jnp.tanh(x @ weights), theta)
        for first in (sim.model.state(), sim.model.state().values, sim.model.state().jax())
    ]
    assert all(isinstance(found, jax.Array) and np.array_equal(found, alone[0]) for found in alone)
    assert np.allclose(alone[0], states[0], rtol=1e-12, atol=1e-12)
    with pytest.raises(pullback.SettingError, match="EveryStep"):
        rollout(sim.replace(memory=pullback.Dense()))(weights, theta)
    for cut in ({"truncate": 4}, {"clip": 0.1}):
        with pytest.raises(pullback.SettingError, match=f"{next(iter(cut))} is .*: a rollout with a policy"):
            rollout(sim.replace(**cut))(weights, theta)


# Compiling takes most of the time, and shapes are all that matters here.
@pytest.mark.parametrize("world", ["particles", "rod", "sliding"])
def test_vmap_is_a_batch(simulations: dict[str, pullback.Simulation], world: str) -> None:
    sim = simulations[world]
    x, u, theta = arrays(*batch(sim, 2, 3))
    wanted = sim.rollout(x, u, theta)
    assert np.array_equal(jax.vmap(sim.rollout)(x, u, theta), wanted)
    assert np.array_equal(
        jax.jit(jax.vmap(sim.rollout, (0, None, None)))(x, u[0], theta[0]), sim.rollout(x, u[0], theta[0])
    )
    assert np.array_equal(
        jax.vmap(sim.rollout, (1, None, None))(x.T, u[0], theta[0]), sim.rollout(x, u[0], theta[0])
    )
    nested = jax.vmap(jax.vmap(sim.rollout, (0, None, None)), (None, None, 0))(x, u[0], theta)
    assert np.array_equal(nested[1, 2], sim.rollout(x[2], u[0], theta[1]))

    def loss(theta: Any, x: Any) -> Any:
        return jnp.sin(sim.rollout(x, u[0], theta)).sum()

    each = jax.jit(jax.vmap(jax.grad(loss), (None, 0)))(theta[0], x)
    one = jax.jit(jax.grad(loss))
    for i in range(3):
        assert np.allclose(
            each[i], one(theta[0], x[i]), rtol=1e-13, atol=1e-13 * (1 + float(jnp.max(jnp.abs(each[i]))))
        )
    inner = jax.vmap(jax.grad(loss), (0, None))(theta, x)
    assert np.allclose(inner[1], jax.grad(loss)(theta[1], x), rtol=1e-12, atol=1e-12)
    jacobian = jax.jacfwd(sim.step, argnums=2)(x[0], u[0, 0], theta[0])
    assert np.allclose(
        jacobian, jax.jacrev(sim.step, argnums=2)(x[0], u[0, 0], theta[0]), rtol=1e-8, atol=1e-7
    )


def test_single_precision(sim: pullback.Simulation) -> None:
    x, u, theta = (a.astype(np.float32) for a in start(sim, 2))
    if sim.settings["integrator"] == "reversible-verlet":
        for run in (sim.step, sim.rollout):
            with pytest.raises((ValueError, RuntimeError), match="needs double precision"):
                jax.block_until_ready(run(jnp.asarray(x)))
        return
    wanted = sim.rollout(x, u, theta)
    found = jax.jit(sim.rollout)(*arrays(x, u, theta))
    assert found.dtype == jnp.float32
    assert np.array_equal(found, wanted)


def test_errors_come_through_xla(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x, u, theta = arrays(*start(sim, 1))
    with pytest.raises(pullback.ShapeError, match=r"x: shape \(\.\.\., 12\) is wanted"):
        jax.jit(sim.step)(x[:3])
    with pytest.raises(pullback.DtypeError, match="float64 or float32 is wanted"):
        sim.step(x.astype(jnp.int32))
    with pytest.raises(
        (ValueError, RuntimeError), match="the first states: `ball.position.z` is NaN; all must be finite"
    ):
        jax.jit(sim.step)(x.at[2].set(jnp.nan)).block_until_ready()
    wild = sim.replace(dt=10.0, integrator="explicit-euler")
    with pytest.raises((ValueError, RuntimeError), match=r"step \d+.*(finite|NaN|infinite)"):
        jax.jit(lambda x: wild.rollout(x, steps=2000))(x).block_until_ready()
    assert np.all(np.isfinite(jax.jit(sim.step)(x)))
    with pytest.raises(pullback.Error, match="gradient of a gradient"):
        jax.grad(lambda x: jax.grad(lambda y: sim.step(y, u[0], theta).sum())(x).sum())(x)


def test_a_panic_is_an_error_of_xla(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x = sim.model.state().jax()
    step = jax.jit(sim.step)
    wanted = np.asarray(step(x))
    _core.panic_next()
    with pytest.raises((ValueError, RuntimeError), match="this is a bug in Pullback.*index out of bounds"):
        step(x).block_until_ready()
    assert np.array_equal(step(x), wanted), "the next call is as good as new"


def test_types_are_those_of_the_arrays(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x, u, theta = arrays(*start(sim, 1))
    single = x.astype(jnp.float32)
    calls: list[Any] = [
        lambda: sim.step(single, u[0]),
        lambda: sim.step(single, np.asarray(u[0])),
        lambda: sim.step(single, None, sim.model.params().values),
    ]
    for wrong in calls:
        with pytest.raises(pullback.DtypeError, match="x has float32, .* has float64.*the same for all"):
            wrong()
    assert sim.step(single, [0.0, 0.0, 0.0], sim.model.params()).dtype == jnp.float32
    calls = [
        lambda: sim.step_vjp(x),
        lambda: sim.rollout_vjp(np.asarray(x), None, theta),
        lambda: sim.gradient(lambda states: (0.0, states), x),
        lambda: sim.linearise(x),
    ]
    for wrong in calls:
        with pytest.raises(pullback.DtypeError, match="is of jax: an array of NumPy is wanted here"):
            wrong()
    for cut in ({"truncate": 4}, {"clip": 0.5}):
        cutting = sim.replace(**cut)
        with pytest.raises((ValueError, RuntimeError), match="has no forward mode"):
            jax.block_until_ready(jax.jvp(cutting.rollout, (x,), (x,)))
        assert np.all(np.isfinite(jax.grad(lambda x, sim=cutting: sim.rollout(x).sum())(x)))


def test_other_devices_are_refused(
    simulations: dict[str, pullback.Simulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    sim = simulations["particles"]
    x, u, theta = arrays(*start(sim, 1))
    for f in (sim.step, jax.grad(lambda x: sim.step(x).sum()), jax.vmap(sim.step)):
        given = x[None] if f is not sim.step and f.__name__ != "<lambda>" else x
        with pytest.raises(pullback.DeviceError, match="compiled for cuda: the cpu is wanted"):
            jax.jit(f).trace(given).lower(lowering_platforms=("cuda",))

    class Elsewhere:
        platform = "cuda"

        def __str__(self) -> str:
            return "CudaDevice(id=0)"

    monkeypatch.setattr(type(x), "devices", lambda self: {Elsewhere()})
    with pytest.raises(pullback.DeviceError, match=r"x is on CudaDevice\(id=0\): the cpu is wanted"):
        sim.step(x, u[0], theta)


def test_a_compiled_program_outlives_its_simulation() -> None:
    from conftest import PARTICLES

    sim = pullback.Simulation(pullback.Model.parse(PARTICLES))
    x = sim.model.state().jax()
    wanted = np.asarray(sim.step(x))
    compiled = jax.jit(sim.step).lower(x).compile()
    del sim
    jax.clear_caches()
    assert np.array_equal(compiled(x), wanted)


def test_arrays_are_shared_with_jax(simulations: dict[str, pullback.Simulation]) -> None:
    state = simulations["particles"].model.state()
    shared = jax.dlpack.from_dlpack(state)
    assert shared.unsafe_buffer_pointer() == state.values.__array_interface__["data"][0]
