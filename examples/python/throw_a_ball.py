"""Throw a ball through the wind so that it lands on a mark: a loss in torch, and plain gradient descent."""

from pathlib import Path

import torch

import pullback

SCENES = Path(__file__).resolve().parents[2] / "scenes"

# %% A scene from a file, its state and params as tensors.
sim = pullback.load(SCENES / "throw.toml")
names = sim.model.state_layout
x = sim.model.state().torch()
theta = sim.model.params().torch(requires_grad=True)
velocity = x[names["ball.velocity"]].clone().requires_grad_()
target = torch.tensor([8.0, 1.0, 0.5], dtype=torch.float64)


# %% The loss is one rollout away.
def miss(velocity: torch.Tensor) -> torch.Tensor:
    """How far the ball is from the mark at the end, squared [m²]."""
    first = torch.cat([x[names["ball.position"]], velocity])
    end = sim.rollout(first, None, theta, last=True)
    return (end[names["ball.position"]] - target).square().sum()


before = miss(velocity)
before.backward()
assert theta.grad is not None
by_mass = theta.grad[sim.model.params_layout["ball.mass"]].item()
print(f"missed by {before.item() ** 0.5:.2f} m; by mass {by_mass:.1f} m²/kg")

# %% Down the gradient.
optimiser = torch.optim.LBFGS([velocity], line_search_fn="strong_wolfe")


def closure() -> torch.Tensor:
    """A value with its gradient, for torch's optimiser."""
    optimiser.zero_grad()
    loss = miss(velocity)
    loss.backward()
    return loss


for _ in range(5):
    optimiser.step(closure)
after = miss(velocity)
print(f"thrown with {velocity.detach().numpy().round(3)} m/s it misses by {after.item() ** 0.5:.1e} m")

# %% It was far off, and is not any more; the gradient by the mass is that of differences.
assert before.item() > 1.0
assert after.item() < 1e-8
with torch.no_grad():
    step = torch.zeros_like(theta)
    step[sim.model.params_layout["ball.mass"]] = 1e-6
    start = sim.model.state().torch()[names["ball.velocity"]]
    theta += step
    ahead = miss(start).item()
    theta -= 2 * step
    behind = miss(start).item()
assert abs(by_mass - (ahead - behind) / 2e-6) < 1e-5 * abs(by_mass)
