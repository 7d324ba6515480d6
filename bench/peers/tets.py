"""Stable neo-Hookean tetrahedra in NVIDIA Warp: the peer of `cargo xtask bench tets`.

A block of tetrahedra, fixed on its x = 0 face, falls under gravity (-y) for N semi-implicit steps above a ground
with a penalty force and friction. Everything is f32. Warp's CPU backend runs on one thread.

Prints one JSON object a line:

* SIZE/forward: steps a second of recorded launches, the fastest way to step on Warp's CPU backend;
* SIZE/pullback: steps a second of recorded adjoint launches, the fastest way as well (`Tape.backward` runs the same
  adjoints, with more Python in between); setting the loss's cotangent and clearing gradients are not timed;
* SIZE/gradient-norm: |d loss / d x_0| with loss = sum |x_N|^2, where N is the row's "steps". The other side must
  print the same number, or the two do not compute the same thing.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import warp as wp

wp.config.log_level = wp.LOG_ERROR  # no banner: the output is for `cargo xtask bench`

SPACING = 0.1  # [m] edge of a cell
HEIGHT = 0.5  # [m] of the lowest vertices at the start
MASS = 0.1  # [kg] of every vertex
TIME_STEP = 1.0 / 60.0 / 32.0  # [s]

MU = 1000.0  # [Pa] Lame parameters
LAMBDA = 1000.0  # [Pa]
DAMPING = 1.0  # [Pa s]

GROUND = wp.constant(0.01)  # [m] the height below which the ground pushes
GROUND_STIFFNESS = wp.constant(1.0e3)  # [N/m]
FRICTION_STIFFNESS = wp.constant(1.0e3)  # [N s/m]
FRICTION = wp.constant(0.5)
GRAVITY = wp.constant(-9.8)  # [m/s^2] along y


@dataclass(frozen=True)
class Case:
    """One size: cells along x, y and z, five tetrahedra each, and the number of steps of one pass."""

    cells: tuple[int, int, int]
    steps: int


CASES = [
    Case((5, 2, 2), 300),
    Case((10, 5, 4), 200),
    Case((20, 10, 10), 60),
    Case((50, 20, 20), 10),
]

# Corners of a cell in the order of `block`, split into five tetrahedra in two mirrored ways, so that the faces of
# neighbouring cells match.
ODD_CELL = [(0, 1, 4, 3), (2, 3, 6, 1), (5, 4, 1, 6), (7, 6, 3, 4), (4, 1, 6, 3)]
EVEN_CELL = [(1, 2, 5, 0), (3, 0, 7, 2), (4, 7, 0, 5), (6, 5, 2, 7), (5, 2, 7, 0)]


@wp.kernel
def tet_forces(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    corners: wp.array(dtype=wp.vec4i),
    rest_inverse: wp.array(dtype=wp.mat33),
    mu: float,
    lam: float,
    damping: float,
    f: wp.array(dtype=wp.vec3),
):
    """P = mu (1 - 1/(I_C + 1)) F + lam (J - alpha) cof F + damping dF/dt, with alpha = 1 + 3 mu / (4 lam)
    (Smith, de Goes, Kim: Stable Neo-Hookean Flesh Simulation, 2018); corner forces are the columns of -volume P B^T."""
    e = wp.tid()
    q = corners[e]
    b = rest_inverse[e]
    x0 = x[q[0]]
    v0 = v[q[0]]
    F = wp.matrix_from_cols(x[q[1]] - x0, x[q[2]] - x0, x[q[3]] - x0) * b
    F_dot = wp.matrix_from_cols(v[q[1]] - v0, v[q[2]] - v0, v[q[3]] - v0) * b
    volume = 1.0 / (6.0 * wp.determinant(b))

    c0 = wp.vec3(F[0, 0], F[1, 0], F[2, 0])
    c1 = wp.vec3(F[0, 1], F[1, 1], F[2, 1])
    c2 = wp.vec3(F[0, 2], F[1, 2], F[2, 2])
    cofactor = wp.matrix_from_cols(wp.cross(c1, c2), wp.cross(c2, c0), wp.cross(c0, c1))
    J = wp.dot(c0, wp.cross(c1, c2))
    I_C = wp.ddot(F, F)
    alpha = 1.0 + 0.75 * mu / lam

    P = F * (mu * (1.0 - 1.0 / (I_C + 1.0))) + F_dot * damping + cofactor * (lam * (J - alpha))
    H = P * wp.transpose(b) * (-volume)
    f1 = wp.vec3(H[0, 0], H[1, 0], H[2, 0])
    f2 = wp.vec3(H[0, 1], H[1, 1], H[2, 1])
    f3 = wp.vec3(H[0, 2], H[1, 2], H[2, 2])
    wp.atomic_add(f, q[0], -(f1 + f2 + f3))
    wp.atomic_add(f, q[1], f1)
    wp.atomic_add(f, q[2], f2)
    wp.atomic_add(f, q[3], f3)


@wp.kernel
def advance(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    f: wp.array(dtype=wp.vec3),
    inverse_mass: wp.array(dtype=float),
    dt: float,
    x_next: wp.array(dtype=wp.vec3),
    v_next: wp.array(dtype=wp.vec3),
):
    """Ground contact, then v' = v + dt (f/m + g), x' = x + dt v'. An inverse mass of zero holds a vertex still."""
    i = wp.tid()
    p = x[i]
    u = v[i]
    w = inverse_mass[i]
    force = f[i]
    depth = wp.min(p[1] - GROUND, 0.0)
    if depth < 0.0:
        normal = -GROUND_STIFFNESS * depth
        limit = FRICTION * normal
        force = force + wp.vec3(
            wp.clamp(-FRICTION_STIFFNESS * u[0], -limit, limit),
            normal,
            wp.clamp(-FRICTION_STIFFNESS * u[2], -limit, limit),
        )
    gravity = wp.vec3(0.0, 0.0, 0.0)
    if w > 0.0:
        gravity = wp.vec3(0.0, GRAVITY, 0.0)
    u_next = u + (force * w + gravity) * dt
    v_next[i] = u_next
    x_next[i] = p + u_next * dt


@dataclass(frozen=True)
class Mesh:
    """Vertices [m], corner indices, and the inverse of each tetrahedron's rest edges [1/m]."""

    vertices: npt.NDArray[np.float32]
    corners: npt.NDArray[np.int32]
    rest_inverse: npt.NDArray[np.float32]


def block(cells: tuple[int, int, int]) -> Mesh:
    """A grid of cells, each cut into five tetrahedra of positive volume; x runs fastest."""
    nx, ny, nz = cells
    vertices = np.array(
        [
            (i * SPACING, HEIGHT + j * SPACING, k * SPACING)
            for k in range(nz + 1)
            for j in range(ny + 1)
            for i in range(nx + 1)
        ],
        np.float32,
    )

    def index(i: int, j: int, k: int) -> int:
        return (nx + 1) * ((ny + 1) * k + j) + i

    tets: list[list[int]] = []
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                cell = [
                    index(i + di, j + dj, k + dk)
                    for dj in (0, 1)
                    for di, dk in ((0, 0), (1, 0), (1, 1), (0, 1))
                ]
                split = ODD_CELL if (i ^ j ^ k) & 1 else EVEN_CELL
                tets += [[cell[corner] for corner in tet] for tet in split]
    corners = np.array(tets, np.int32)
    inverted = np.linalg.det(rest_edges(vertices, corners)) < 0
    corners[inverted] = corners[inverted][:, [0, 2, 1, 3]]
    rest_inverse = np.linalg.inv(rest_edges(vertices, corners)).astype(np.float32)
    return Mesh(vertices, corners, rest_inverse)


def rest_edges(vertices: npt.NDArray[np.float32], corners: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """Edges from corner 0 to the other three, as the columns of one matrix a tetrahedron."""
    return np.stack([vertices[corners[:, c]] - vertices[corners[:, 0]] for c in (1, 2, 3)], axis=-1)


class Rollout:
    """N steps with every state kept, as the pullback needs them."""

    def __init__(self, mesh: Mesh, steps: int) -> None:
        self.steps = steps
        self.vertex_count = len(mesh.vertices)
        self.tet_count = len(mesh.corners)
        inverse_mass = np.full(self.vertex_count, 1.0 / MASS, np.float32)
        inverse_mass[mesh.vertices[:, 0] == 0.0] = 0.0
        self.inverse_mass = wp.array(inverse_mass, dtype=float)
        self.corners = wp.array(mesh.corners, dtype=wp.vec4i)
        self.rest_inverse = wp.array(mesh.rest_inverse, dtype=wp.mat33)
        self.x = [wp.array(mesh.vertices, dtype=wp.vec3, requires_grad=True) for _ in range(steps + 1)]
        self.v = [self._zeros() for _ in range(steps + 1)]
        self.f = [self._zeros() for _ in range(steps)]
        self.recorded = [self._record_step(i, adjoint=False) for i in range(steps)]
        self.recorded_pullback = [self._record_step(i, adjoint=True) for i in range(steps)]

    def _zeros(self) -> wp.array:
        return wp.zeros(self.vertex_count, dtype=wp.vec3, requires_grad=True)

    def _record_step(self, i: int, adjoint: bool) -> tuple[wp.Launch, wp.Launch]:
        x, v, f = self.x[i], self.v[i], self.f[i]
        x_next, v_next = self.x[i + 1], self.v[i + 1]
        forces = wp.launch(
            tet_forces,
            dim=self.tet_count,
            inputs=[x, v, self.corners, self.rest_inverse, MU, LAMBDA, DAMPING],
            outputs=[f],
            adj_inputs=[x.grad, v.grad, None, None, 0.0, 0.0, 0.0] if adjoint else [],
            adj_outputs=[f.grad] if adjoint else [],
            adjoint=adjoint,
            record_cmd=True,
        )
        advanced = wp.launch(
            advance,
            dim=self.vertex_count,
            inputs=[x, v, f, self.inverse_mass, TIME_STEP],
            outputs=[x_next, v_next],
            adj_inputs=[x.grad, v.grad, f.grad, None, 0.0] if adjoint else [],
            adj_outputs=[x_next.grad, v_next.grad] if adjoint else [],
            adjoint=adjoint,
            record_cmd=True,
        )
        return forces, advanced

    def forward(self) -> None:
        for f, (forces, advanced) in zip(self.f, self.recorded):
            f.zero_()
            forces.launch()
            advanced.launch()

    def seed(self) -> None:
        """Clear every gradient and set x_bar = d loss / d x_N = 2 x_N."""
        for array in (*self.x, *self.v, *self.f):
            array.grad.zero_()
        self.x[self.steps].grad.assign(2.0 * self.x[self.steps].numpy())

    def pullback(self) -> None:
        for forces, advanced in reversed(self.recorded_pullback):
            advanced.launch()
            forces.launch()


def best_seconds(min_seconds: float, work: Callable[[], None], prepare: Callable[[], None] | None = None) -> float:
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


def measure(case: Case, min_seconds: float) -> None:
    mesh = block(case.cells)
    size = len(mesh.corners)
    rollout = Rollout(mesh, case.steps)

    rollout.forward()
    row(f"{size}/forward", "steps/s", case.steps / best_seconds(min_seconds, rollout.forward))

    seconds = best_seconds(min_seconds, rollout.pullback, prepare=rollout.seed)
    row(f"{size}/pullback", "steps/s", case.steps / seconds)

    gradient = rollout.x[0].grad.numpy().astype(np.float64)
    row(f"{size}/gradient-norm", "1", float(np.linalg.norm(gradient)), steps=case.steps)


def main() -> None:
    parser = argparse.ArgumentParser(description="Stable neo-Hookean tetrahedra in Warp.")
    parser.add_argument("--quick", action="store_true", help="measure each case for 0.2 s instead of 1 s")
    quick: bool = parser.parse_args().quick
    wp.set_device("cpu")
    for case in CASES:
        measure(case, 0.2 if quick else 1.0)


if __name__ == "__main__":
    main()
