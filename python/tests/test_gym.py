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
