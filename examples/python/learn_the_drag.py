"""Hybrid physics: a network learns the drag that a model lacks, through the steps of the engine."""

import torch

import pullback

torch.manual_seed(0)

WORLD = """
name = "{name}"
[simulation]
dt = 0.02
steps = 40
integrator = "semi-implicit-euler"
[[particles]]
name = "ball"
position = [0, 0, 0]
mass = 0.1
{drag}
[[actuators]]
name = "residual"
on = "ball"
control = [0, 0, 0]
"""

# %% The world has air; the model of it has none, but a force that something else may decide on.
world = pullback.Simulation(pullback.Model.parse(WORLD.format(name="world", drag="drag = 0.02")))
model = pullback.Simulation(pullback.Model.parse(WORLD.format(name="model", drag="")))
velocity = model.model.state_layout["ball.velocity"]


def thrown(count: int) -> torch.Tensor:
    """First states, shape (count, 6)."""
    x = torch.stack([model.model.state().torch()] * count)
    x[:, velocity] = 8 * (torch.rand(count, 3, dtype=torch.float64) - 0.5)
    return x


train, test = thrown(64), thrown(32)
seen, wanted = world.rollout(train), world.rollout(test)


# %% A force along the velocity, by a factor that a small network makes of the speed.
class Residual(torch.nn.Module):
    """The force that is missing [N], from the state."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)
        ).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Shape (..., 6) to (..., 3)."""
        v = x[..., velocity]
        force: torch.Tensor = -0.1 * self.net(torch.linalg.vector_norm(v, dim=-1, keepdim=True)) * v
        return force


network = Residual()


def error(first: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """The mean squared error of positions over whole flights [m²]."""
    found = model.rollout(first, network)
    return (found - states)[..., :3].square().mean()


# %% The loss goes through forty steps of the engine and forty calls of the network.
optimiser = torch.optim.Adam(network.parameters(), lr=0.03)
lacking = (model.rollout(test) - wanted)[..., :3].square().mean().item()
for _ in range(120):
    optimiser.zero_grad()
    loss = error(train, seen)
    loss.backward()
    optimiser.step()
learnt = error(test, wanted).item()
print(f"without drag {lacking:.4f} m², with what was learnt {learnt:.6f} m²")

# %% On throws that it has not seen, and kept in stretches of ten steps, with the same gradient.
assert learnt < 0.01 * lacking
kept = model.replace(memory=pullback.Binomial(4))
whole = torch.autograd.grad(error(train, seen), list(network.parameters()))
model = kept
again = torch.autograd.grad(error(train, seen), list(network.parameters()))
assert all(torch.equal(a, b) for a, b in zip(whole, again, strict=True))
