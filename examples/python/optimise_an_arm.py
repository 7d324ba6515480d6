"""Torques that swing an arm to a pose and bring it to rest there: a problem that is built in code."""

import numpy as np

import pullback
from pullback import losses, optimise

ARM = """
<mujoco>
  <option timestep="0.02"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.4" mass="1"/>
      <body name="fore" pos="0 0 -0.4">
        <joint name="elbow" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3" mass="0.5"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder" ctrlrange="-12 12" ctrllimited="true"/>
    <motor name="elbow" joint="elbow" ctrlrange="-6 6" ctrllimited="true"/>
  </actuator>
</mujoco>
"""

# %% Sixty steps, two torques each: 120 variables.
sim = pullback.Simulation(pullback.Model.parse(ARM, "arm.xml"), steps=60)
robot = sim.model.robots[0]
problem = pullback.Problem(
    sim,
    [pullback.Variable(f"control.{name}") for name in sim.model.control_layout.names],
    [
        losses.Joint(f"{robot}.shoulder", 2.0),
        losses.Joint(f"{robot}.elbow", -1.0),
        losses.Velocity(f"{robot}.fore", [0, 0, 0], weight=0.1),
        losses.Effort(f"{robot}.shoulder", weight=1e-5),
        losses.Effort(f"{robot}.elbow", weight=1e-5),
    ],
    method=optimise.LBFGS(history=20),
    iterations=300,
)
assert len(problem.names) == 120

# %% Is the gradient right? Before anything is built on it.
health = problem.check()
print(f"gradients are {health.growth['sentence']}")
assert health.right

# %% Solve it, and look at where the arm ends.
result = problem.solve()
end = problem.rollout(result.z)[-1]
torques = np.array(list(result.values.values()))
print(
    f"loss {result.history[0].value:.3g} -> {result.value:.3g} in {len(result.history) - 1} iterations: {result.reason}"
)
print(f"ends at {end[:2].round(3)} rad; torques up to {np.abs(torques).max():.1f} N·m")
assert result.value < 1e-2 * result.history[0].value
assert np.allclose(end[:2], [2.0, -1.0], atol=0.05)
assert np.abs(torques).max() <= 12.0
