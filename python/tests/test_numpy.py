"""Steps and rollouts on NumPy arrays, and their derivatives."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from near import batch, free_params, start
from numpy.typing import NDArray

import pullback


def loss(states: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """A smooth function of all states, and its derivative."""
    weights = np.cos(np.arange(states.size)).reshape(states.shape)
    return float(np.sum(weights * np.sin(states))), weights * np.cos(states)


def test_a_rollout_is_its_steps(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 4)
    states = sim.rollout(x, u, theta)
    assert states.shape == (5, len(x))
    assert np.array_equal(states[0], x)
    for index in range(4):
        x = sim.step(x, u[index], theta, index=index)
        assert np.array_equal(states[index + 1], x)
    assert np.array_equal(sim.rollout(states[0], u, theta, last=True), x)


def test_what_the_scene_says_is_the_default(sim: pullback.Simulation) -> None:
    x = sim.rollout(sim.model.state(), steps=0, last=True)
    states = sim.rollout(x, steps=4)
    assert np.array_equal(states, sim.rollout(x, sim.model.controls(4), sim.model.params()))
    for index in range(4):
        assert np.array_equal(sim.step(states[index], index=index), states[index + 1])
    if len(sim.model.control_layout):
        assert np.array_equal(sim.model.controls(1000)[:4], sim.model.controls(4))
        assert np.array_equal(sim.model.controls(1000)[-1], sim.model.controls(21)[-1])


def test_a_late_step_costs_what_an_early_one_does(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["driven"]
    x = sim.model.state()

    def fastest(index: int) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            sim.step(x, index=index)
            times.append(time.perf_counter() - start)
        return min(times)

    assert fastest(1_000_000) < 20 * fastest(1)


def test_worlds_of_a_batch_have_steps_of_their_own(sim: pullback.Simulation) -> None:
    x, u, theta = batch(sim, 1, 4)
    numbers = np.array([[3, 0], [11, 3]])
    shaped = [a.reshape(2, 2, -1) for a in (x, u[:, 0], theta)]
    alone = [sim.step_vjp(x[i], u[i, 0], theta[i], index=int(n)) for i, n in enumerate(numbers.ravel())]
    bar = np.cos(np.arange(x.size)).reshape(2, 2, -1)
    found, pull = sim.step_vjp(*shaped, index=numbers)
    bars = pull(bar)
    dots = [np.sin(np.arange(a.size)).reshape(a.shape) for a in shaped]
    tangents = sim.step_jvp(*shaped, x_dot=dots[0], u_dot=dots[1], theta_dot=dots[2], index=numbers)[1]
    for i, n in enumerate(numbers.ravel()):
        at = np.unravel_index(i, (2, 2))
        assert np.array_equal(found[at], alone[i][0])
        assert all(np.array_equal(a[at], b) for a, b in zip(bars, alone[i][1](bar[at]), strict=True))
        x_dot, u_dot, theta_dot = (dot[at] for dot in dots)
        one = sim.step_jvp(
            x[i], u[i, 0], theta[i], x_dot=x_dot, u_dot=u_dot, theta_dot=theta_dot, index=int(n)
        )
        assert np.array_equal(tangents[at], one[1])
    assert np.array_equal(sim.step(x, u[:, 0], theta), sim.step(x, u[:, 0], theta, index=[0, 0, 0, 0]))
    by_scene = sim.step(x, None, theta, index=[0, 5, 2, 30])
    assert np.array_equal(by_scene[1], sim.step(x[1], None, theta[1], index=5))
    with pytest.raises(pullback.ShapeError, match=r"index: one number or shape \(4,\).*and \(3,\) was given"):
        sim.step(x, u[:, 0], theta, index=[1, 2, 3])


def test_gradients_are_right(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 3)
    value, (x_bar, u_bar, theta_bar) = sim.gradient(loss, x, u, theta)
    assert value == loss(sim.rollout(x, u, theta))[0]
    state = sim.model.state(x)

    def along(t: float, x_dot: NDArray[Any], u_dot: NDArray[Any], theta_dot: NDArray[Any]) -> float:
        moved = state.retract(t * x_dot).values
        return loss(sim.rollout(moved, u + t * u_dot, theta + t * theta_dot))[0]

    random = np.random.default_rng(1)
    still = (np.zeros(state.layout.tangent_len), np.zeros(u.shape), np.zeros(theta.shape))
    in_tangents = (state.to_tangent(x_bar), u_bar, theta_bar)
    flat = free_params(sim)
    for which, bar in enumerate(in_tangents):
        if bar.size == 0:
            continue
        direction = random.standard_normal(bar.shape)
        if which == 2:
            direction *= flat * np.maximum(np.abs(theta), 1e-2)
        dots = [direction if i == which else zero for i, zero in enumerate(still)]
        derivative = float(np.sum(bar * direction))
        difference = richardson(lambda t, dots=dots: along(t, *dots))
        assert derivative != 0.0
        assert derivative == pytest.approx(difference, rel=2e-6, abs=1e-7 * (1.0 + abs(value)))


def richardson(f: Any, h: float = 1e-4) -> float:
    """The derivative at 0 by differences, with an error of h⁴."""

    def central(h: float) -> float:
        return float((f(h) - f(-h)) / (2 * h))

    return (4 * central(h / 2) - central(h)) / 3


def test_tangents_and_cotangents_agree(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 3)
    random = np.random.default_rng(2)
    dots = [random.standard_normal(a.shape) for a in (x, u, theta)]
    states, states_dot = sim.rollout_jvp(x, u, theta, x_dot=dots[0], u_dot=dots[1], theta_dot=dots[2])
    primal, pullback_ = sim.rollout_vjp(x, u, theta)
    assert np.allclose(states, primal, rtol=1e-14, atol=1e-15)
    bar = random.standard_normal(states.shape)
    bars = pullback_(bar)
    forwards, backwards = (
        np.sum(bar * states_dot),
        sum(np.sum(a * b) for a, b in zip(bars, dots, strict=True)),
    )
    scale = np.abs(bar * states_dot).sum()
    assert forwards == pytest.approx(backwards, rel=1e-9, abs=1e-11 * scale)
    step, step_dot = sim.step_jvp(x, u[0], theta, x_dot=dots[0], u_dot=dots[1][0], theta_dot=dots[2])
    assert np.array_equal(step, states[1])
    assert np.array_equal(step_dot, states_dot[1])
    next_, step_pullback = sim.step_vjp(x, u[0], theta)
    assert np.array_equal(next_, primal[1])
    one = step_pullback(bar[1])
    through = sim.rollout_vjp(x, u[:1], theta)[1](np.stack([np.zeros_like(bar[1]), bar[1]]))
    assert all(np.array_equal(a, b.reshape(a.shape)) for a, b in zip(one, through, strict=True))


def test_what_changes_between_calls_is_seen(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 2)
    dots = np.random.default_rng(5).standard_normal((2, len(theta)))
    fresh = [sim.replace().rollout_jvp(x, u, theta, theta_dot=dot)[1] for dot in dots]
    for dot, wanted in zip(dots, fresh, strict=True):
        assert np.array_equal(sim.rollout_jvp(x, u, theta, theta_dot=dot)[1], wanted)
    gravity = sim.model.params(theta)
    gravity["gravity"] = [0.1, 0.2, -3.0]
    for params in (theta, gravity.values, theta):
        assert np.array_equal(sim.step(x, u[0], params), sim.replace().step(x, u[0], params))


def test_a_pullback_is_of_what_was_given(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x, u, theta = start(sim, 3)
    wanted = sim.rollout_vjp(x, u, theta)[1](np.ones((4, 12)))
    states, pull = sim.rollout_vjp(x, u, theta)
    for array in (x, u, theta):
        array[...] = 0.5
    with pytest.raises(ValueError, match="read-only"):
        states[1] = 0.0
    assert all(np.array_equal(a, b) for a, b in zip(pull(np.ones((4, 12))), wanted, strict=True))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_may_lie_anywhere(simulations: dict[str, pullback.Simulation], dtype: Any) -> None:
    sim = simulations["particles"]
    given = [a.astype(dtype) for a in start(sim, 3)]

    def moved(a: NDArray[Any]) -> NDArray[Any]:
        return np.frombuffer(b"." + a.tobytes(), dtype, offset=1).reshape(a.shape)

    assert not moved(given[0]).flags.aligned
    states, pull = sim.rollout_vjp(*given)
    found, pull_found = sim.rollout_vjp(*map(moved, given))
    assert np.array_equal(found, states)
    bar = np.ones_like(states)
    assert all(np.array_equal(a, b) for a, b in zip(pull_found(moved(bar)), pull(bar), strict=True))
    dot = np.ones_like(given[2])
    pushed = [sim.rollout_jvp(*given, theta_dot=d)[1] for d in (dot, moved(dot))]
    assert np.array_equal(pushed[0], pushed[1])
    if dtype is np.float64:
        for f in (sim.model.energy, lambda x: sim.linearise(x)[1]):
            assert np.array_equal(f(moved(given[0])), f(given[0]))


def test_the_core_refuses_addresses_of_other_numbers(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x, u, theta = start(sim, 1)
    numbers = np.zeros(100)
    index = np.zeros((), np.int32)

    def where(a: NDArray[Any]) -> int:
        return int(a.__array_interface__["data"][0])

    at = (where(x), where(u), where(theta))
    clock = (where(index), 1)
    sim._core.step(False, 1, 0, clock, at, where(numbers))
    calls: list[Any] = [
        lambda: sim._core.step(False, 1, 0, clock, (at[0] + 1, *at[1:]), where(numbers)),
        lambda: sim._core.step(False, 1, 0, clock, at, where(numbers) + 4),
        lambda: sim._core.step(False, 1, 0, (clock[0] + 2, 1), at, where(numbers)),
        lambda: sim._core.step(False, 1, 0, clock, at, 0),
        lambda: sim.model._core.energy(at[0] + 3, 1, at[2], where(numbers)),
    ]
    for wrong in calls:
        with pytest.raises(
            pullback.SettingError, match="an array begins at address .* a multiple of [48] is"
        ):
            wrong()


def test_memory_changes_no_bit(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 12)
    reference = sim.gradient(loss, x, u, theta)
    for memory in (pullback.Binomial(3), pullback.Budget(10_000_000), pullback.Dense()):
        value, bars = sim.replace(memory=memory).gradient(loss, x, u, theta)
        assert value == reference[0]
        assert all(np.array_equal(a, b) for a, b in zip(bars, reference[1], strict=True)), memory


def test_worlds_of_a_batch_are_as_alone(sim: pullback.Simulation) -> None:
    x, u, theta = batch(sim, 4, 3)
    alone = [sim.gradient(loss, x[i], u[i], theta[i]) for i in range(3)]
    bar = np.stack([loss(sim.rollout(x[i], u[i], theta[i]))[1] for i in range(3)])
    for threads in (1, 2):
        states, pullback_ = sim.replace(threads=threads).rollout_vjp(x, u, theta)
        bars = pullback_(bar)
        for i in range(3):
            assert np.array_equal(states[i], sim.rollout(x[i], u[i], theta[i]))
            assert all(np.array_equal(a[i], b) for a, b in zip(bars, alone[i][1], strict=True))


def test_what_worlds_share_gets_the_sum(sim: pullback.Simulation) -> None:
    x, u, theta = batch(sim, 3, 4)
    states, pullback_ = sim.rollout_vjp(x, u[0], theta[0])
    bar = np.cos(np.arange(states.size)).reshape(states.shape)
    x_bar, u_bar, theta_bar = pullback_(bar)
    full = sim.rollout_vjp(x, np.stack([u[0]] * 4), np.stack([theta[0]] * 4))[1](bar)
    assert np.array_equal(x_bar, full[0])
    assert u_bar.shape == u[0].shape
    assert theta_bar.shape == theta[0].shape
    assert np.allclose(u_bar, full[1].sum(0), rtol=1e-12, atol=1e-12)
    assert np.allclose(theta_bar, full[2].sum(0), rtol=1e-12, atol=1e-12)
    nested = sim.rollout(x.reshape(2, 2, -1), u[0], theta[0])
    assert np.array_equal(nested.reshape(states.shape), states)


def test_single_precision_is_single(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 3)
    singles = [a.astype(np.float32) for a in (x, u, theta)]
    if sim.settings["integrator"] == "reversible-verlet":
        calls: list[Any] = [
            lambda: sim.rollout(*singles),
            lambda: sim.step(singles[0], singles[1][0], singles[2]),
            lambda: sim.step_jvp(singles[0], singles[1][0], singles[2]),
        ]
        for run in calls:
            with pytest.raises(pullback.SettingError, match="needs double precision"):
                run()
        return
    states, pullback_ = sim.rollout_vjp(*singles)
    assert states.dtype == np.float32
    double = sim.rollout(*(a.astype(np.float64) for a in singles))
    assert np.allclose(states, double, rtol=2e-4, atol=2e-4)
    # Were it computed in double precision and rounded, it would be so after many steps, too.
    longer = sim.rollout(singles[0], None, singles[2])
    rounded = sim.rollout(
        *(a.astype(np.float64) for a in (singles[0], sim.model.controls(sim.steps), singles[2]))
    )
    assert not np.array_equal(longer, rounded.astype(np.float32))
    assert all(bar.dtype == np.float32 for bar in pullback_(np.ones_like(states)))


def test_the_reversible_integrator(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["reversible"]
    reference = sim.gradient(loss, sim.model.state())
    value, bars = sim.replace(memory=pullback.Reversible()).gradient(loss, sim.model.state())
    assert value == reference[0]
    assert all(np.array_equal(a, b) for a, b in zip(bars, reference[1], strict=True))
    states, dots = sim.rollout_jvp(sim.model.state(), x_dot=np.ones(12))
    assert np.array_equal(states, sim.rollout(sim.model.state()))
    assert np.all(np.isfinite(dots))
    with pytest.raises(pullback.SettingError, match="reversible-verlet"):
        simulations["particles"].replace(memory=pullback.Reversible())


def test_a_step_begins_where_a_rollout_does(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["reversible"]
    x, u, theta = start(sim, 1)
    x = x + 1e-13 * np.arange(1, len(x) + 1)
    states, pull = sim.rollout_vjp(x, u, theta)
    assert not np.array_equal(states[0], x), "the lattice is coarser than that"
    next_, pull_step = sim.step_vjp(x, u[0], theta)
    assert np.array_equal(next_, states[1])
    bar = np.cos(np.arange(len(x)))
    through = pull(np.stack([np.zeros_like(bar), bar]))
    assert all(np.array_equal(a, b.reshape(a.shape)) for a, b in zip(pull_step(bar), through, strict=True))
    assert np.array_equal(sim.linearise(x, u[0], theta)[0], states[1])
    far = x.copy()
    far[0] = 5000.0
    calls: list[Any] = [lambda: sim.step(far, u[0], theta), lambda: sim.rollout(far, u, theta)]
    for run in calls:
        with pytest.raises(pullback.RolloutError, match="beyond 4096 m"):
            run()


def test_truncation_and_clipping_are_those_of_the_engine(simulations: dict[str, pullback.Simulation]) -> None:
    for changes in ({"truncate": 4}, {"clip": 0.5}):
        sim = simulations["particles"].replace(**changes)
        x, u, theta = start(sim, 10)
        along = sim.gradient(loss, x, u, theta)
        again = sim.replace(memory=pullback.Binomial(10)).gradient(loss, x, u, theta)
        whole = simulations["particles"].gradient(loss, x, u, theta)
        assert all(np.array_equal(a, b) for a, b in zip(along[1], again[1], strict=True))
        assert not np.array_equal(along[1][0], whole[1][0])


@pytest.mark.parametrize("cut", [{"truncate": 4}, {"clip": 0.5}])
def test_cut_gradients_have_no_forward_mode(simulations: dict[str, pullback.Simulation], cut: Any) -> None:
    sim = simulations["particles"].replace(**cut)
    x, u, theta = start(sim, 10)
    with pytest.raises(
        pullback.SettingError, match=f"a rollout with {next(iter(cut))}=.* has no forward mode"
    ):
        sim.rollout_jvp(x, u, theta, x_dot=np.ones_like(x))
    assert np.all(np.isfinite(sim.step_jvp(x, u[0], theta, x_dot=np.ones_like(x))[1])), "a step cuts nothing"


def test_linearisation_is_the_derivative(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 1)
    next_, a, b = sim.linearise(x, u[0], theta)
    assert np.array_equal(next_, sim.step(x, u[0], theta)) or np.allclose(
        next_, sim.step(x, u[0], theta), rtol=1e-14
    )
    state, reached = sim.model.state(x), sim.model.state(next_)
    direction = np.random.default_rng(3).standard_normal(state.layout.tangent_len)

    def moved(t: float, i: int) -> float:
        to = sim.model.state(sim.step(state.retract(t * direction).values, u[0], theta))
        return float(reached.difference(to)[i])

    for i in range(0, len(direction), 5):
        assert a[i] @ direction == pytest.approx(richardson(lambda t, i=i: moved(t, i)), rel=1e-6, abs=1e-6)
    assert b.shape == (len(direction), u.shape[1])


def test_no_steps_and_no_worlds(sim: pullback.Simulation) -> None:
    x, u, theta = start(sim, 2)
    for memory in (pullback.EveryStep(), pullback.Binomial(2)):
        still, pull = sim.replace(memory=memory).rollout_vjp(x, u[:0], theta)
        assert np.array_equal(still, x[None])
        x_bar, u_bar, theta_bar = pull(np.ones((1, len(x))))
        assert np.array_equal(x_bar, np.ones(len(x)))
        assert u_bar.shape == (0, u.shape[1])
        assert not theta_bar.any()
    none, pull = sim.rollout_vjp(np.empty((0, len(x))), u, theta)
    assert none.shape == (0, 3, len(x))
    bars = pull(none)
    assert bars[0].shape == (0, len(x))
    assert not bars[2].any()
    assert sim.step_jvp(np.empty((0, len(x))), u[0], theta)[1].shape == (0, len(x))


def test_wrong_arrays_are_refused(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x, u, theta = start(sim, 3)
    with pytest.raises(
        pullback.ShapeError, match=r"x: shape \(\.\.\., 12\) is wanted, and \(11,\) was given"
    ):
        sim.step(x[:-1])
    with pytest.raises(pullback.ShapeError, match=r"u: shape \(\.\.\., 3, 3\) is wanted"):
        sim.rollout(x, u[:, :2], theta)
    with pytest.raises(
        pullback.ShapeError, match=r"theta: the batch is \(5,\), and that of another argument is \(4,\)"
    ):
        sim.step(np.stack([x] * 4), u[0], np.stack([theta] * 5))
    with pytest.raises(pullback.DtypeError, match="x has int64.*float64 or float32 is wanted"):
        sim.step(x.astype(np.int64))
    with pytest.raises(pullback.DtypeError, match="the same for all"):
        sim.step(x.astype(np.float32), u[0], theta)
    with pytest.raises(
        pullback.RangeError, match="the first states: `nail.position.x` is NaN; all must be finite"
    ):
        sim.step(np.where(np.arange(12) == 3, np.nan, x))
    for index in (-1, 1.5, "one", True, [0, -2], None):
        with pytest.raises(pullback.SettingError, match="index is .*: a whole number, 0 or more"):
            sim.step(x, index=index)
    with pytest.raises(pullback.SettingError, match="index is"):
        sim.step(x, index=2**62)
    assert np.array_equal(sim.step(x, index=np.int64(3)), sim.step(x, index=3))
    with pytest.raises(pullback.SettingError, match="there is no integrator 'rk5'"):
        sim.replace(integrator="rk5")
    with pytest.raises(pullback.SettingError, match="dt is -1"):
        sim.replace(dt=-1)
    with pytest.raises(pullback.SettingError, match="there is no setting 'step'"):
        sim.replace(step=3)
    for setting in ("steps", "substeps", "threads", "truncate"):
        for wrong in (-1, 2.5, "two", 2**70):
            with pytest.raises(pullback.SettingError, match=f"{setting} is .*: a whole number"):
                sim.replace(**{setting: wrong})
        assert sim.replace(**{setting: np.int64(2)}).settings[setting] == 2
    for setting in ("dt", "clip"):
        with pytest.raises(pullback.SettingError, match=f"{setting} is 'long': a number is wanted"):
            sim.replace(**{setting: "long"})
    counts: list[Any] = [-1, 1.5, 2**70]
    for wrong in counts:
        with pytest.raises(pullback.SettingError, match="steps is .*: a whole number"):
            sim.rollout(x, steps=wrong)
        with pytest.raises(pullback.SettingError, match="steps is .*: a whole number"):
            sim.rollout(x, lambda x: x[..., :3], steps=wrong)
        with pytest.raises(pullback.SettingError, match="steps is .*: a whole number"):
            sim.model.controls(wrong)
    assert sim.replace(memory=pullback.Binomial(np.int64(3))).rollout(x, steps=np.int64(2)).shape == (3, 12)
    assert np.array_equal(sim.step(x.tolist()), sim.step(x)), "lists are arrays"
    assert np.array_equal(sim.step(x[::-1][::-1]), sim.step(x)), "strides do not matter"
