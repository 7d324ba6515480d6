"""Find the length and the damping of a pendulum from what an encoder recorded, with the optimisers of the engine."""

import numpy as np

import pullback
from pullback import losses, optimise

ROD = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body name="rod" pos="0 0 2">
      <joint name="hinge" axis="0 1 0" damping="0.05"/>
      <geom type="sphere" size="0.05" pos="0 0 -0.5" mass="1"/>
    </body>
  </worldbody>
</mujoco>
"""

# %% A pendulum of 0.63 m with a damping of 0.12 N·m·s/rad swings, and an encoder with some noise looks on.
sim = pullback.Simulation(pullback.Model.parse(ROD, "rod.xml"), steps=300, integrator="rk4")
model = sim.model
truth = model.params()
truth["rod.rod.center"] = [0, 0, -0.63]
truth["rod.hinge.damping"] = 0.12
x = model.state()
x["rod.hinge.position"] = 1.0
measured = sim.rollout(x, None, truth)[:, 0] + 0.002 * np.random.default_rng(0).standard_normal(301)


# %% The loss is the sum of squares of what the model gets wrong; its gradient by two of the params.
def loss(z: np.ndarray) -> tuple[float, np.ndarray]:
    """Of a length [m] and a damping [N·m·s/rad]."""
    theta = model.params()
    theta["rod.rod.center.z"] = -z[0]
    theta["rod.hinge.damping"] = z[1]

    def squares(states: np.ndarray) -> tuple[float, np.ndarray]:
        wrong = states[:, 0] - measured
        bar = np.zeros_like(states)
        bar[:, 0] = 2 * wrong
        return float(wrong @ wrong), bar

    value, (_, _, theta_bar) = sim.gradient(squares, x, None, theta)
    by = model.params(theta_bar)
    return value, np.array([-by["rod.rod.center.z"], by["rod.hinge.damping"]])


start = np.array([0.5, 0.05])
value, gradient = loss(start)
result = optimise.minimise(loss, start, lower=[0.1, 0.0], upper=[2.0, 1.0])
length, friction = result.z
print(f"length {length:.4f} m, damping {friction:.4f} N·m·s/rad, loss {value:.3g} -> {result.value:.3g}")
print(result.reason)

# %% The gradient was right, and what was put in comes out.
h = 1e-6
for i in range(2):
    e = h * np.eye(2)[i]
    difference = (loss(start + e)[0] - loss(start - e)[0]) / (2 * h)
    assert abs(gradient[i] - difference) < 1e-5 * abs(difference)
assert abs(length - 0.63) < 2e-3
assert abs(friction - 0.12) < 2e-3
assert result.value < 1e-3 * value

# %% The same as a problem of the engine: Levenberg and Marquardt's method for sums of squares, with standard errors.
problem = pullback.Problem(
    sim,
    [
        pullback.Variable("rod.rod.center.z", lower=-2.0, upper=-0.1),
        pullback.Variable("rod.hinge.damping", lower=0.0, upper=1.0),
        pullback.Variable("initial.rod.hinge.position", start=1.0),
    ],
    [losses.Trajectory(["rod.hinge"], measured[:, None], range(301))],
    method=optimise.LevenbergMarquardt(),
)
found = problem.solve()
errors = problem.standard_errors(found.z)
assert errors is not None
for name, true in (("rod.rod.center.z", -0.63), ("rod.hinge.damping", 0.12)):
    print(f"{name}: {found.values[name]:.4f} +- {errors[name]:.4f}")
    assert abs(found.values[name] - true) < 4 * errors[name]
