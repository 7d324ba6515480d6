"""Random states in Pullback's coordinates, and how they are moved along their tangents.

A joint's position and velocity are, by kind:
  hinge, slide  one number [rad or m]                           its rate
  ball          unit quaternion (w, x, y, z)                    angular velocity in body axes
  free          position in world axes, then quaternion         velocity of the body frame's origin in world axes,
                                                                then angular velocity in body axes
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

POSITIONS = {"hinge": 1, "slide": 1, "ball": 4, "free": 7}
VELOCITIES = {"hinge": 1, "slide": 1, "ball": 3, "free": 6}


class Unsupported(Exception):
    """The oracle cannot answer for this model, or Pullback's tests cannot use the answer."""


@dataclass(frozen=True)
class Joint:
    """A joint, the body that it moves, and where its numbers stand in q and v."""

    name: str
    kind: str
    body: str
    q_index: int
    v_index: int
    range: tuple[float, float] | None = None

    def q(self) -> slice:
        return slice(self.q_index, self.q_index + POSITIONS[self.kind])

    def v(self) -> slice:
        return slice(self.v_index, self.v_index + VELOCITIES[self.kind])

    def json(self) -> dict[str, object]:
        names = {"name": self.name, "kind": self.kind, "body": self.body}
        return names | {"q_index": self.q_index, "v_index": self.v_index}


@dataclass(frozen=True)
class Pose:
    """Where a body is: its origin in the world, and the rotation matrix that takes its axes to the world's."""

    body: str
    position: Array
    rotation: Array

    def json(self) -> dict[str, object]:
        return {"name": self.body, "position": self.position, "rotation": self.rotation}


def random_quaternion(rng: np.random.Generator) -> Array:
    quaternion = rng.standard_normal(4)
    return quaternion / np.linalg.norm(quaternion)


def random_position(joint: Joint, rng: np.random.Generator) -> Array:
    """Inside the joint's range, and about one radian or metre from zero."""
    if joint.kind == "free":
        return np.concatenate([rng.uniform(-1.0, 1.0, 3), random_quaternion(rng)])
    if joint.kind == "ball":
        return random_quaternion(rng)
    low, high = joint.range or (-1.0, 1.0)
    if max(low, -1.0) < min(high, 1.0):
        low, high = max(low, -1.0), min(high, 1.0)
    return rng.uniform(low, high, 1)


def random_q(joints: list[Joint], rng: np.random.Generator) -> Array:
    return np.concatenate([random_position(joint, rng) for joint in joints])


def cross_matrix(a: Array) -> Array:
    """[a]x, with [a]x b = a x b."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation(quaternion: Array) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    w, u = quaternion[0], quaternion[1:]
    return np.eye(3) + 2.0 * w * cross_matrix(u) + 2.0 * cross_matrix(u) @ cross_matrix(u)


def quaternion_product(a: Array, b: Array) -> Array:
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def turned(quaternion: Array, angle: Array) -> Array:
    """The orientation turned by a rotation vector in body axes: q exp(angle/2)."""
    length = np.linalg.norm(angle)
    half = np.concatenate([[np.cos(length / 2.0)], 0.5 * np.sinc(length / (2.0 * np.pi)) * angle])
    return quaternion_product(quaternion, half)


def moved(joints: list[Joint], q: Array, tangent: Array) -> Array:
    """The positions moved along a tangent, which is laid out as a velocity."""
    out = q.copy()
    for joint in joints:
        position, delta = out[joint.q()], tangent[joint.v()]
        if joint.kind == "free":
            out[joint.q()] = np.concatenate([position[:3] + delta[:3], turned(position[3:], delta[3:])])
        elif joint.kind == "ball":
            out[joint.q()] = turned(position, delta)
        else:
            out[joint.q()] = position + delta
    return out
