"""What tests share: worlds of every kind."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import pullback

ROOT = Path(__file__).resolve().parents[2]
SCENES = ROOT / "scenes"

ROD = """
<mujoco>
  <worldbody>
    <body name="rod" pos="0 0 2">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="sphere" size="0.1" pos="0 0 -0.5" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" ctrlrange="-5 5" ctrllimited="true"/></actuator>
</mujoco>
"""

ARM = """
<robot name="arm">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.2"/><mass value="1.5"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="fore">
    <inertial><origin xyz="0 0 -0.15"/><mass value="0.8"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/></joint>
</robot>
"""

#: A ball on a spring with drag, and a thruster.
PARTICLES = """
name = "particles"
[simulation]
dt = 0.01
steps = 20
integrator = "rk4"
[world]
wind = [0.5, 0, 0]
[[particles]]
name = "ball"
position = [0.3, 0, 1]
velocity = [1, 0.5, 0]
mass = 0.2
drag = 0.01
[[particles]]
name = "nail"
position = [0, 0, 2]
mass = 1
fixed = true
[[springs]]
name = "band"
ends = ["ball", "nail"]
stiffness = 20
rest_length = 0.8
[[actuators]]
name = "thruster"
on = "ball"
control = [0.1, 0, 0.2]
"""

#: Stiff springs, solved for.
IMPLICIT = (
    PARTICLES.replace('"rk4"', '"backward-euler"')
    .replace("stiffness = 20", "stiffness = 2000")
    .replace('name = "particles"', 'name = "implicit"')
)

#: A force that swings, controls that change from step to step, and steps of two parts: every step is another.
DRIVEN = (
    PARTICLES.replace('name = "particles"', 'name = "driven"')
    .replace('integrator = "rk4"', 'integrator = "rk4"\nsubsteps = 2')
    .replace(
        "control = [0.1, 0, 0.2]", f"controls = {[[0.1 * i, 0.3 - 0.02 * i * i, 0.2] for i in range(20)]}"
    )
    + """
[[forces]]
name = "gusts"
on = "ball"
force = [0.8, -0.3, 0.5]
frequency = 7.3
phase = 0.4
"""
)

#: Steps that can be made backwards to the bit, on a lattice.
REVERSIBLE = (
    PARTICLES.replace('name = "particles"', 'name = "reversible"')
    .replace('"rk4"', '"reversible-verlet"')
    .replace("drag = 0.01\n", "")
)

#: A loose body that turns in the air.
TUMBLING = """
name = "tumbling"
[simulation]
dt = 0.01
steps = 20
[[bodies]]
name = "brick"
position = [0, 0, 2]
velocity = [0.3, 0, 0.5]
angular_velocity = [1, 2, 0.5]
shape = { box = [0.1, 0.2, 0.05] }
mass = 1.5
"""

#: Two boxes that slide on the ground: hard contact with friction.
SLIDING = """
name = "sliding"
[simulation]
dt = 0.005
steps = 20
[contact]
mu = 0.3
[ground]
[[bodies]]
name = "boxes"
positions = [[0, 0, 0.1], [0.7, 0, 0.1]]
velocities = [[1, 0.2, 0], [0, 0.5, 0]]
shape = { box = [0.1, 0.1, 0.1] }
mass = 1
"""

#: A box and a particle on springs and dampers, with friction.
SOFT = """
name = "soft"
[simulation]
dt = 0.002
steps = 20
[contact]
model = "penalty"
mu = 0.3
kd = 40
kf = 40
[ground]
[[bodies]]
name = "box"
position = [0, 0, 0.099]
velocity = [1, 0.2, 0]
shape = { box = [0.1, 0.1, 0.1] }
mass = 1
[[particles]]
name = "ball"
position = [1, 0, -0.001]
velocity = [0.5, 0.3, -0.5]
mass = 0.1
"""


#: A soft block with a controller, and a sheet in the wind that is held at a corner.
ELASTIC = """
name = "elastic"
[simulation]
dt = 0.002
steps = 20
[world]
wind = [1, -2, 0.5]
[[solids]]
name = "block"
mesh = { block = [0.2, 0.2, 0.2], cells = [1, 1, 1] }
position = [0, 0, 1]
velocity = [0.5, 0, -1]
young = 2e4
poisson = 0.3
density = 800
viscosity = 15
actuation = { control = 0.1 }
[[sheets]]
name = "flag"
mesh = { sheet = [0.4, 0.2], cells = [2, 1] }
position = [1, 0, 1]
thickness = 0.01
young = 1e4
poisson = 0.3
density = 300
drag = 0.5
lift = 0.2
fixed = [0]
[[controllers]]
name = "heart"
drives = "block.actuation"
frequency = 20
weights = [0.4, -0.2]
scale = 0.2
"""


#: A sheet that an arm holds fast and by a spring, and a corner of it that is led: its velocity is a control.
ATTACHED = """
name = "attached"
[simulation]
dt = 0.002
steps = 20
[[robots]]
name = "arm"
position = [0, 0, 1]
velocities = { shoulder = 1 }
[[robots.bodies]]
name = "upper"
center = [0.2, 0, 0]
mass = 0.5
inertia = [0.01, 0.02, 0.02]
[[robots.joints]]
name = "shoulder"
body = "upper"
kind = "hinge"
axis = [0, 1, 0]
[[sheets]]
name = "flag"
mesh = { sheet = [0.4, 0.2], cells = [2, 1] }
position = [0.6, 0, 1]
thickness = 0.01
young = 1e4
poisson = 0.3
density = 300
[[attachments]]
name = "hem"
points = "flag[0]"
body = "arm.upper"
[[attachments]]
name = "band"
points = "flag[3]"
body = "arm.upper"
stiffness = 50
damping = 0.1
[[motions]]
name = "lead"
points = "flag[5]"
control = [0.1, 0, 0.3]
amplitude = [0, 0.02, 0]
frequency = 3
"""


#: Two sheets that are nearer to each other than the thickness: they push, and rub.
TOUCHING = """
name = "touching"
[simulation]
dt = 0.002
steps = 20
[soft_contact]
thickness = 0.05
ke = 100
kd = 0.3
kf = 2
mu = 0.4
[[sheets]]
name = "low"
mesh = { sheet = [0.4, 0.2], cells = [1, 1] }
thickness = 0.01
young = 1e4
poisson = 0.3
density = 300
fixed = [0]
[[sheets]]
name = "high"
mesh = { sheet = [0.4, 0.2], cells = [1, 1] }
position = [0.07, 0.04, 0.03]
velocity = [0.5, -0.3, -0.4]
thickness = 0.01
young = 1e4
poisson = 0.3
density = 300
"""

#: The same in steps of backward Euler: sparse Cholesky factors, and the stiffness of pairs.
STIFF = (
    TOUCHING.replace('name = "touching"', 'name = "stiff"')
    .replace("dt = 0.002", 'dt = 0.01\nintegrator = "backward-euler"')
    .replace("kd = 0.3\n", "")
    + ELASTIC[ELASTIC.index("[[solids]]") : ELASTIC.index("[[sheets]]")]
    + ELASTIC[ELASTIC.index("[[controllers]]") :]
)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what was left out because torch is not installed, and how it is run."""
    if importlib.util.find_spec("torch") is not None:
        return
    text = (Path(__file__).parent / "test_torch.py").read_text()
    functions = len(re.findall(r"^def test_", text, re.MULTILINE))
    others = sum("torch" in str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
    # The file that needs it as a whole is among those that were skipped.
    message = f"torch is not installed: {functions} functions of test_torch.py and {max(others - 1, 0)} other tests were LEFT OUT"
    terminalreporter.section("LEFT OUT", yellow=True, bold=True)
    terminalreporter.line(f"{message}; they run with: PULLBACK_TEST_TORCH=1 cargo xtask test --only python")


def worlds() -> dict[str, pullback.Simulation]:
    """One simulation of every kind of body."""
    parse = pullback.Model.parse
    rod = parse(ROD, "rod.xml")
    arm = parse(ARM, "arm.urdf")
    return {
        "particles": pullback.Simulation(parse(PARTICLES)),
        "implicit": pullback.Simulation(parse(IMPLICIT)),
        "driven": pullback.Simulation(parse(DRIVEN)),
        "reversible": pullback.Simulation(parse(REVERSIBLE)),
        "rod": pullback.Simulation(rod, dt=0.01, steps=20),
        "arm": pullback.Simulation(arm, dt=0.005, steps=20, integrator="rk4"),
        "tumbling": pullback.Simulation(parse(TUMBLING)),
        "sliding": pullback.Simulation(parse(SLIDING)),
        "soft": pullback.Simulation(parse(SOFT)),
        "elastic": pullback.Simulation(parse(ELASTIC)),
        "attached": pullback.Simulation(parse(ATTACHED)),
        "touching": pullback.Simulation(parse(TOUCHING)),
        "stiff": pullback.Simulation(parse(STIFF)),
        "quadruped": pullback.load(SCENES / "quadruped.toml", steps=5),
    }


@pytest.fixture(scope="session")
def simulations() -> dict[str, pullback.Simulation]:
    """One simulation of every kind of body, by name."""
    return worlds()


@pytest.fixture(
    params=[
        "particles",
        "implicit",
        "driven",
        "reversible",
        "rod",
        "arm",
        "tumbling",
        "sliding",
        "soft",
        "elastic",
        "attached",
        "touching",
        "stiff",
        "quadruped",
    ]
)
def sim(request: pytest.FixtureRequest, simulations: dict[str, pullback.Simulation]) -> pullback.Simulation:
    """Each of them in turn."""
    return simulations[request.param]
