"""A thousand balls with masses of their own, thrown at once: one batch in the engine, a gradient for every world."""

from pathlib import Path

import numpy as np

import pullback

SCENES = Path(__file__).resolve().parents[2] / "scenes"
WORLDS = 1000

# %% What worlds share is given once: the first state. Each has its own params.
sim = pullback.load(SCENES / "throw.toml", threads=0)
names = sim.model.state_layout
theta = np.tile(sim.model.params().values, (WORLDS, 1))
mass = sim.model.params_layout["ball.mass"].start
theta[:, mass] = np.linspace(0.02, 0.2, WORLDS)

# %% All worlds, and how each height at the end depends on everything in its world.
states, pullback_ = sim.rollout_vjp(sim.model.state(), None, theta)
height = names["ball.position.z"].start
bar = np.zeros_like(states)
bar[:, -1, height] = 1.0
x_bar, _, theta_bar = pullback_(bar)
print(f"heights from {states[:, -1, height].min():.2f} m to {states[:, -1, height].max():.2f} m")
print(f"by mass from {theta_bar[:, mass].min():.1f} m/kg to {theta_bar[:, mass].max():.1f} m/kg")

# %% A world of a batch has the same bits as alone; the first state, which all share, has the sum of their gradients.
assert states.shape == (WORLDS, sim.steps + 1, len(names))
assert theta_bar.shape == theta.shape
assert x_bar.shape == (len(names),)
for world in (0, 499, 999):
    alone, pull = sim.rollout_vjp(sim.model.state(), None, theta[world])
    assert np.array_equal(alone, states[world])
    assert np.array_equal(pull(bar[world])[2], theta_bar[world])

# %% Neighbours are differences of each other.
slope = np.gradient(states[:, -1, height], theta[:, mass])
assert np.allclose(slope[1:-1], theta_bar[1:-1, mass], rtol=2e-2)
