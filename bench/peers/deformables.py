"""Soft solids and cloth in Newton (`SolverSemiImplicit`): the peer of `cargo xtask bench deformables`.

A block of tetrahedra, or a sheet of triangles with bending, drag and lift, is held at x = 0 and falls under gravity
(-y) for N steps without contact. Everything is f32, on one thread, as Warp's CPU backend is. Meshes, masses, time
step, gravity and stiffness for small strains are those of `bench/src/soft.rs`, which says what differs between the
two sides.

Prints one JSON object a line:

* MODEL/forward: steps a second of `solver.step`, every state kept, launches recorded as a graph and replayed: the
  fastest way to step that Newton has on a CPU;
* MODEL/pullback: steps a second of `Tape.backward` through these steps from the loss, sum |x_N|^2, recorded and
  replayed as well. It reads what the steps have kept, makes no step again, and gives derivatives by the first state
  and all numbers of the material; clearing gradients is not timed;
* MODEL/undamped-gradient-norm, of solids: |d loss / d x_0| without viscosity, in which alone the two sides differ.
  The other side must print the same number, or the two do not compute the same thing.

Arguments leave out other models (`tets-1000`); `--called` replays nothing and calls `solver.step` and `Tape.backward`
themselves.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import newton
import numpy as np
import numpy.typing as npt
import warp as wp

wp.config.log_level = wp.LOG_ERROR  # no banner: the output is for `cargo xtask bench`

SPACING = 0.1  # [m] edge of a cell
TIME_STEP = 1.0 / 60.0 / 32.0  # [s]
GRAVITY = (0.0, -9.81, 0.0)  # [m/s^2]

# Tetrahedra.
DENSITY = 100.0  # [kg/m^3]
MU = 1000.0  # [Pa] as Newton counts: Lame's mu is 3/4 of it,
LAMBDA = 1000.0  # [Pa] and Lame's lambda is LAMBDA - 5/8 MU
DAMPING = 1.0  # [Pa s]

# Cloth.
AREA_DENSITY = 10.0  # [kg/m^2]
CLOTH_MU = 1000.0  # [N/m] Lame's mu times the thickness,
CLOTH_LAMBDA = 1000.0  # [N/m] and Lame's lambda, of plane stress, is CLOTH_LAMBDA - CLOTH_MU
CLOTH_DAMPING = 1.0  # [N s/m]
DRAG = 0.1  # [kg/m^3] at each of the three corners
LIFT = 0.1  # [kg/m^3]
BENDING = 1.0  # [N/m^2]
VELOCITY = (0.1, 0.1, 1.0)  # [m/s] at the start


@dataclass(frozen=True)
class Case:
    """One model: cells along x, y and, for solids, z, and the number of steps of one pass."""

    name: str
    cells: tuple[int, ...]
    steps: int


CASES = [
    Case("tets-100", (5, 2, 2), 200),
    Case("tets-1000", (10, 5, 4), 200),
    Case("tets-10000", (20, 10, 10), 60),
    Case("cloth-64", (8, 4), 200),
    Case("cloth-2048", (32, 32), 100),
    Case("cloth-20000", (100, 100), 30),
]

# Corners of a cell, numbered by bits (1 for x, 2 for y, 4 for z), cut into five; odd cells are mirrored in x.
FIVE = [(0, 5, 3, 6), (1, 3, 0, 5), (2, 0, 3, 6), (4, 6, 5, 0), (7, 5, 6, 3)]


@wp.kernel
def squares(x: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(x[i], x[i]))


def points(cells: tuple[int, ...]) -> list[tuple[float, float, float]]:
    """Points of a grid from the origin, x fastest."""
    nx, ny, nz = (*cells, 0)[:3]
    return [
        (SPACING * i, SPACING * j, SPACING * k)
        for k in range(nz + 1)
        for j in range(ny + 1)
        for i in range(nx + 1)
    ]


def solid(cells: tuple[int, ...], damping: float) -> newton.ModelBuilder:
    """Tetrahedra alone: `add_soft_grid` would add triangles on the surface, which cost time and push nothing, and give
    every point the mass of a whole cell."""
    nx, ny, nz = cells
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=wp.vec3(*GRAVITY))
    for place in points(cells):
        builder.add_particle(wp.vec3(*place), wp.vec3(), 0.0)
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                odd = (i + j + k) % 2
                for a, b, c, d in FIVE:
                    bits = (a ^ 1, c ^ 1, b ^ 1, d ^ 1) if odd else (a, b, c, d)
                    corners = [
                        (i + (at & 1)) + (nx + 1) * ((j + (at >> 1 & 1)) + (ny + 1) * (k + (at >> 2)))
                        for at in bits
                    ]
                    volume = builder.add_tetrahedron(*corners, MU, LAMBDA, damping)
                    for corner in corners:
                        builder.particle_mass[corner] += DENSITY * volume / 4.0
    return hold(builder, nx)


def cloth(cells: tuple[int, ...]) -> newton.ModelBuilder:
    nx, ny = cells
    triangles: list[int] = []
    for j in range(ny):
        for i in range(nx):
            a = i + (nx + 1) * j
            b, c, d = a + 1, a + nx + 2, a + nx + 1
            triangles += [a, b, c, a, c, d]
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=wp.vec3(*GRAVITY))
    builder.add_cloth_mesh(
        pos=wp.vec3(),
        rot=wp.quat_identity(),
        scale=1.0,
        vel=wp.vec3(*VELOCITY),
        vertices=[wp.vec3(*place) for place in points(cells)],
        indices=triangles,
        density=AREA_DENSITY,
        tri_ke=CLOTH_MU,
        tri_ka=CLOTH_LAMBDA,
        tri_kd=CLOTH_DAMPING,
        tri_drag=DRAG,
        tri_lift=LIFT,
        edge_ke=BENDING,
        edge_kd=0.0,
    )
    return hold(builder, nx)


def hold(builder: newton.ModelBuilder, nx: int) -> newton.ModelBuilder:
    """What has no mass does not accelerate: points at x = 0, which are at rest."""
    for at in range(0, builder.particle_count, nx + 1):
        builder.particle_mass[at] = 0.0
        builder.particle_qd[at] = wp.vec3()
    return builder


class Rollout:
    """N steps with every state kept, as the pullback needs them."""

    def __init__(self, builder: newton.ModelBuilder, steps: int, recorded: bool) -> None:
        self.steps = steps
        self.model = builder.finalize(device="cpu", requires_grad=True)
        self.model.particle_grid = None  # particles do not touch each other
        self.solver = newton.solvers.SolverSemiImplicit(self.model, enable_tri_contact=False)
        self.control = self.model.control()
        self.states = [self.model.state() for _ in range(steps + 1)]
        self.loss = wp.zeros(1, dtype=float, requires_grad=True)
        # Kernels are compiled now.
        self.tape = self._taped()
        self.tape.backward(self.loss)
        self.forward: Callable[[], None] = self._steps
        self.pullback: Callable[[], None] = lambda: self.tape.backward(self.loss)
        if recorded:
            self.forward = captured(self._steps)
            self.pullback = captured(self.pullback)

    def _steps(self) -> None:
        for before, after in zip(self.states, self.states[1:]):
            before.clear_forces()
            self.solver.step(before, after, self.control, None, TIME_STEP)

    def _taped(self) -> wp.Tape:
        tape = wp.Tape()
        with tape:
            self._steps()
            last = self.states[-1].particle_q
            wp.launch(squares, dim=self.model.particle_count, inputs=[last, self.loss])
        return tape

    def gradient(self) -> npt.NDArray[np.float64]:
        """d loss / d x_0, of the last pullback."""
        gradient: npt.NDArray[np.float64] = self.states[0].particle_q.grad.numpy().astype(np.float64)
        if not np.isfinite(gradient).all():
            raise ValueError("the gradient is not finite")
        return gradient


def captured(work: Callable[[], None]) -> Callable[[], None]:
    with wp.ScopedCapture(device="cpu") as capture:
        work()
    return lambda: wp.capture_launch(capture.graph)


def best_seconds(
    min_seconds: float, work: Callable[[], None], prepare: Callable[[], None] | None = None
) -> float:
    """The fastest of at least three calls, repeated until `min_seconds` have passed; `prepare` is not timed."""
    best = float("inf")
    calls = 0
    start = time.perf_counter()
    while calls < 3 or time.perf_counter() - start < min_seconds:
        if prepare is not None:
            prepare()
        before = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - before)
        calls += 1
    return best


def row(case: str, unit: str, value: float, **more: int) -> None:
    print(json.dumps({"case": case, "unit": unit, "value": value, **more}), flush=True)


def measure(case: Case, min_seconds: float, recorded: bool) -> None:
    is_solid = len(case.cells) == 3
    builder = solid(case.cells, DAMPING) if is_solid else cloth(case.cells)
    rollout = Rollout(builder, case.steps, recorded)
    expected = rollout.gradient()
    rollout.forward()
    row(f"{case.name}/forward", "steps/s", case.steps / best_seconds(min_seconds, rollout.forward))
    seconds = best_seconds(min_seconds, rollout.pullback, prepare=rollout.tape.zero)
    row(f"{case.name}/pullback", "steps/s", case.steps / seconds)
    if not np.allclose(rollout.gradient(), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()):
        raise ValueError("what was recorded is not what was called")
    if is_solid:
        gradient = Rollout(solid(case.cells, 0.0), case.steps, False).gradient()
        norm = float(np.linalg.norm(gradient))
        row(f"{case.name}/undamped-gradient-norm", "1", norm, steps=case.steps)


def main() -> None:
    parser = argparse.ArgumentParser(description="Soft solids and cloth in Newton.")
    parser.add_argument("models", nargs="*", help="of these alone; else of all")
    parser.add_argument("--quick", action="store_true", help="measure each case for 0.2 s instead of 1 s")
    parser.add_argument("--called", action="store_true", help="replay nothing")
    arguments = parser.parse_args()
    wp.set_device("cpu")
    for case in CASES:
        if not arguments.models or case.name in arguments.models:
            measure(case, 0.2 if arguments.quick else 1.0, not arguments.called)


if __name__ == "__main__":
    main()
