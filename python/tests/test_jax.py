"""Steps and rollouts inside programs of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from near import batch, free_params, start, tangents

import pullback

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
        def body(x: Any, u: Any) -> tuple[Any, Any]:
            x = sim.step(x, u, theta)
            return x, x

        return jnp.concatenate([x[None], jax.lax.scan(body, x, u)[1]])

    scanned = jax.jit(scan)

    assert np.array_equal(scanned(x, u, theta), sim.rollout(x, u, theta))
    bar = jnp.cos(jnp.arange(5 * len(x), dtype=jnp.float64)).reshape(5, -1)
    ours = jax.vjp(sim.rollout, x, u, theta)[1](bar)
    theirs = jax.vjp(scanned, x, u, theta)[1](bar)
    for a, b in zip(ours, theirs, strict=True):
        assert np.allclose(a, b, rtol=1e-10, atol=1e-10 * (1 + float(jnp.max(jnp.abs(b), initial=0.0))))


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
        (ValueError, RuntimeError), match="the first states: number 2 is NaN; all must be finite"
    ):
        jax.jit(sim.step)(x.at[2].set(jnp.nan)).block_until_ready()
    wild = sim.replace(dt=10.0, integrator="explicit-euler")
    with pytest.raises(Exception, match="step "):
        jax.jit(lambda x: wild.rollout(x, steps=2000))(x).block_until_ready()
    assert np.all(np.isfinite(jax.jit(sim.step)(x)))
    with pytest.raises(pullback.Error, match="gradient of a gradient"):
        jax.grad(lambda x: jax.grad(lambda y: sim.step(y, u[0], theta).sum())(x).sum())(x)


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
