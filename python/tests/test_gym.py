"""The vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback

gymnasium = pytest.importorskip("gymnasium")


def reward(x: Any, u: Any) -> Any:
    return -(x[..., 0] ** 2) - 0.01 * (u**2).sum(-1)


def environment(simulations: dict[str, pullback.Simulation], **more: Any) -> Any:
    from pullback.gym import VectorEnv

    return VectorEnv(simulations["rod"].replace(steps=5), 3, reward, spread=0.1, **more)


def test_it_steps_as_the_simulation_does(simulations: dict[str, pullback.Simulation]) -> None:
    env = environment(simulations)
    assert env.single_action_space.low.tolist() == [-5.0]
    first, _ = env.reset(seed=7)
    assert np.array_equal(first, environment(simulations).reset(seed=7)[0])
    assert not np.array_equal(first, env.reset(seed=8)[0])
    first, _ = env.reset(seed=7)
    actions = np.array([[1.0], [0.5], [-2.0]])
    after, rewards, ended, truncated, info = env.step(actions)
    sim = env.simulation
    assert np.array_equal(after, sim.step(first, actions))
    assert np.array_equal(rewards, reward(after, actions))
    assert not ended.any()
    assert not truncated.any()
    bar = np.cos(np.arange(6.0)).reshape(3, 2)
    wanted = sim.step_vjp(first, actions)[1](bar)
    assert all(np.array_equal(a, b) for a, b in zip(info["pullback"](bar), wanted, strict=True))
    assert env.observation_space.contains(after)


def test_worlds_that_are_over_begin_anew(simulations: dict[str, pullback.Simulation]) -> None:
    env = environment(simulations, terminated=lambda x, u: x[:, 0] > 0.2)
    env.reset(seed=1)
    begun = 0
    still = np.zeros((3, 1))
    over = np.zeros(3, dtype=bool)
    for _ in range(20):
        after, rewards, ended, truncated, info = env.step(np.full((3, 1), 5.0))
        if over.any():
            begun += int(over.sum())
            assert (rewards[over] == 0).all()
            assert (np.abs(after[over]) < 0.6).all()
            assert (info["pullback"](np.ones((3, 2)))[0][over] == 0).all()
            assert not (ended | truncated)[over].any()
        over = ended | truncated
    assert begun > 3
    assert env.step(still)[0].shape == (3, 2)


def test_time_goes_on_for_each_world(simulations: dict[str, pullback.Simulation]) -> None:
    """Forces that swing, and worlds that began at other times."""
    from pullback.gym import VectorEnv

    sim = simulations["driven"].replace(steps=6)
    env = VectorEnv(sim, 3, reward, terminated=lambda x, u: x[:, 2] < 0.99, spread=0.1)
    env.reset(seed=3)
    random = np.random.default_rng(0)
    apart = 0
    over = np.zeros(3, dtype=bool)
    for _ in range(20):
        before, numbers, u = env.state, env.steps, random.standard_normal((3, 3))
        after, _, ended, truncated, info = env.step(u)
        bars = info["pullback"](np.ones((3, 12)))
        for i in np.flatnonzero(~over):
            wanted, pull = sim.step_vjp(before[i], u[i], index=int(numbers[i]))
            assert np.array_equal(after[i], wanted)
            assert np.array_equal(bars[0][i], pull(np.ones(12))[0])
        assert np.array_equal(env.transition(before, u, index=numbers)[0][~over], after[~over])
        apart += len(set(numbers.tolist())) > 1
        assert (env.steps[over] == 0).all()
        over = ended | truncated
    assert apart > 3


def test_worlds_that_are_over_need_not_go_on() -> None:
    """A world ends where the engine cannot make another step."""
    from pullback.gym import VectorEnv

    # Beyond 4,096 m this integrator makes no step.
    scene = """
    [simulation]
    dt = 0.01
    steps = 100
    integrator = "reversible-verlet"
    [[particles]]
    name = "ball"
    position = [0, 0, 1]
    mass = 1
    [[actuators]]
    name = "thruster"
    on = "ball"
    """
    sim = pullback.Simulation(pullback.Model.parse(scene))
    env = VectorEnv(sim, 2, lambda x, u: x[:, 0], terminated=lambda x, u: x[:, 0] > 4094.0)
    env.reset(seed=0)
    env._x[1, sim.model.state_layout["ball.position.x"]] = 4093.0
    env._x[1, sim.model.state_layout["ball.velocity.x"]] = 200.0
    u = np.zeros((2, 3))
    _, _, ended, _, _ = env.step(u)
    assert ended.tolist() == [False, True]
    with pytest.raises(pullback.RolloutError, match="beyond 4096 m"):
        sim.step(env.state)
    after, rewards, ended, _, _ = env.step(u)
    assert np.array_equal(after[1], sim.model.state().values)
    assert rewards[1] == 0.0
    assert not ended.any()


def test_many_worlds_begin_at_once(simulations: dict[str, pullback.Simulation]) -> None:
    from pullback.gym import VectorEnv

    class Counting(pullback.State):
        calls = 0

        def retract(self, tangent: Any) -> Any:
            Counting.calls += 1
            return super().retract(tangent)

    sim = simulations["rod"]
    env = VectorEnv(sim, 50, reward, spread=0.1)
    env._first = Counting(sim.model)
    first, _ = env.reset(seed=4)
    assert Counting.calls == 0
    random = gymnasium.utils.seeding.np_random(4)[0]
    for world in range(50):
        tangent = 0.1 * random.standard_normal(2)
        assert np.array_equal(first[world], sim.model.state().retract(tangent).values)


def test_wrong_settings_are_refused(simulations: dict[str, pullback.Simulation]) -> None:
    from pullback.gym import VectorEnv

    with pytest.raises(pullback.SettingError, match="no controls"):
        VectorEnv(simulations["tumbling"], 2, reward)
    with pytest.raises(pullback.SettingError, match="num_envs is 0"):
        VectorEnv(simulations["rod"], 0, reward)
    env = environment(simulations)
    env.reset(seed=1)
    with pytest.raises(pullback.ShapeError, match=r"actions: shape \(3, 1\) is wanted"):
        env.step(np.zeros((3, 2)))


def test_a_transition_has_a_graph(simulations: dict[str, pullback.Simulation]) -> None:
    torch = pytest.importorskip("torch")
    env = environment(simulations)
    x = torch.tensor(env.reset(seed=1)[0])
    u = torch.zeros((3, 1), dtype=torch.float64, requires_grad=True)
    after, rewards = env.transition(x, u)
    (by_u,) = torch.autograd.grad(rewards.sum(), u)
    h = 1e-6
    ahead, behind = (env.transition(x, u.detach() + s)[1] for s in (h, -h))
    assert torch.allclose(by_u[:, 0], (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-9)
    assert after.shape == (3, 2)


def test_slips_are_told(simulations: dict[str, pullback.Simulation]) -> None:
    from pullback.gym import VectorEnv

    rod = simulations["rod"]
    env = VectorEnv(rod, 3, reward)
    with pytest.raises(pullback.Error, match=r"step before reset: .*env.reset\(seed=0\)") as raised:
        env.step(np.zeros((3, 1)))
    assert isinstance(raised.value, gymnasium.error.ResetNeeded)
    for spread in (-1, [0.1, np.nan]):
        with pytest.raises(
            pullback.SettingError, match="spread is .*: standard deviations are wanted, 0 or more"
        ):
            VectorEnv(rod, 3, reward, spread=spread)
    size = len(rod.model.params_layout)
    with pytest.raises(
        pullback.ShapeError, match=rf"theta: .* or \(3, {size}\) is wanted, and \(4, {size}\) was given"
    ):
        VectorEnv(rod, 3, reward, theta=np.ones((4, size)))


def test_functions_that_return_the_wrong_shape_are_named(simulations: dict[str, pullback.Simulation]) -> None:
    from pullback.gym import VectorEnv

    sim = simulations["rod"].replace(steps=5)
    still = np.zeros((3, 1))
    wanted: list[tuple[Any, type[Exception], str]] = [
        (np.zeros((3, 1)), pullback.ShapeError, r"returns shape \(3, 1\): \(3,\) is wanted"),
        (np.zeros(2), pullback.ShapeError, r"returns shape \(2,\)"),
        (None, pullback.SettingError, "returns None.*`return`"),
    ]

    def returns(found: Any) -> Any:
        return lambda x, u: found

    for found, kind, message in wanted:
        env = VectorEnv(sim, 3, returns(found))
        x, _ = env.reset(seed=0)
        with pytest.raises(kind, match=f"reward {message}"):
            env.step(still)
        with pytest.raises(kind, match=f"reward {message}"):
            env.transition(x, still)
        env = VectorEnv(sim, 3, reward, terminated=returns(found))
        env.reset(seed=0)
        with pytest.raises(kind, match=f"terminated {message}"):
            env.step(still)
    env = VectorEnv(sim, 3, lambda x, u: "much")
    env.reset(seed=0)
    with pytest.raises(pullback.DtypeError, match="reward returns 'much'"):
        env.step(still)
    # One for all worlds.
    env = VectorEnv(sim, 3, lambda x, u: 1.0)
    env.reset(seed=0)
    assert env.step(still)[1].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(pullback.TooLargeError, match="bytes"):
        VectorEnv(sim, 10**15, reward)
