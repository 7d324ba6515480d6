"""Pinocchio's answers about URDF files, in Pullback's coordinates.

Pinocchio has the velocity of a free joint in body axes. With R the rotation of its body and T = diag(R^T, 1, 1, ...)
    v_pin = T v        M = T^T M_pin T        tau = T^T tau_pin
    a_pin = T a - c    c = (w x R^T v_linear, 0, ...), because T changes with time
and T is orthogonal. Continuous joints are (cos, sin) in Pinocchio, and angles here.
"""

from pathlib import Path

import numpy as np
import pinocchio as pin
from quiet import said_by_libraries
from states import Array, Joint, Pose, Unsupported, cross_matrix, moved, rotation

VERSION = f"pin {pin.__version__}"

_KINDS = {"JointModelR": "hinge", "JointModelP": "slide", "JointModelSpherical": "ball", "JointModelFreeFlyer": "free"}


def _kind(shortname: str) -> str:
    if shortname.startswith("JointModelPlanar"):
        raise Unsupported("planar joint")
    for prefix in sorted(_KINDS, key=len, reverse=True):
        if shortname.startswith(prefix):
            return _KINDS[prefix]
    raise Unsupported(f"joint of kind {shortname}")


def first_line(text: str) -> str:
    """The first complaint that is about more than a shape."""
    lines = (line.removeprefix("Error:").strip() for line in text.splitlines() if line.startswith("Error:"))
    return next((line for line in lines if "collision" not in line and "visual" not in line), "")


class Robot:
    """A model of Pinocchio that speaks Pullback's coordinates; of hinges and slides it sees q minus a reference."""

    def __init__(self, model: pin.Model, reference: Array | None = None) -> None:
        self.model = model
        self.data = model.createData()
        self.nv: int = model.nv
        self.gravity: Array = np.array(model.gravity.linear)
        self.joints: list[Joint] = []
        q_index = 0
        for index in range(1, model.njoints):
            joint = self._joint(index, q_index)
            self.joints.append(joint)
            q_index = joint.q().stop
        self.nq = q_index
        self.reference = np.zeros(self.nq) if reference is None else reference
        self.links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY and frame.name != "universe"]
        self.total_mass = float(sum(inertia.mass for inertia in model.inertias[1:]))

    @classmethod
    def from_urdf(cls, path: Path, floating: bool) -> "Robot":
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        with said_by_libraries() as said:
            try:
                model = pin.buildModelFromUrdf(str(path), *root)
            except ValueError as error:
                raise Unsupported(first_line(said()) or str(error)) from error
        return cls(model)

    def _joint(self, index: int, q_index: int) -> Joint:
        joint = self.model.joints[index]
        kind = _kind(joint.shortname())
        body = next((f.name for f in self.model.frames if f.type == pin.FrameType.BODY and f.parentJoint == index), "")
        limits = None
        if kind in ("hinge", "slide") and joint.nq == 1:
            low, high = self.model.lowerPositionLimit[joint.idx_q], self.model.upperPositionLimit[joint.idx_q]
            limits = (float(low), float(high)) if low < high else None
        return Joint(self.model.names[index], kind, body, q_index, joint.idx_v, limits)

    def _frame(self, link: str) -> int:
        """A joint may have the same name."""
        return self.model.getFrameId(link, pin.FrameType.BODY)

    def position(self, q: Array) -> Array:
        """Pinocchio's configuration: quaternions (x, y, z, w), continuous joints (cos, sin)."""
        out = np.zeros(self.model.nq)
        for index, joint in enumerate(self.joints, start=1):
            theirs, ours = self.model.joints[index], q[joint.q()]
            if joint.kind in ("hinge", "slide"):
                ours = ours - self.reference[joint.q()]
            if joint.kind == "free":
                ours = np.concatenate([ours[:3], ours[4:], ours[3:4]])
            elif joint.kind == "ball":
                ours = np.roll(ours, -1)
            elif theirs.nq == 2:
                ours = np.array([np.cos(ours[0]), np.sin(ours[0])])
            out[theirs.idx_q : theirs.idx_q + theirs.nq] = ours
        return out

    def _free(self) -> list[Joint]:
        return [joint for joint in self.joints if joint.kind == "free"]

    def velocity_map(self, q: Array) -> Array:
        """T."""
        t = np.eye(self.nv)
        for joint in self._free():
            linear = slice(joint.v_index, joint.v_index + 3)
            t[linear, linear] = rotation(q[joint.q()][3:]).T
        return t

    def drift(self, q: Array, v: Array) -> Array:
        """c."""
        c = np.zeros(self.nv)
        for joint in self._free():
            linear, angular = v[joint.v()][:3], v[joint.v()][3:]
            c[joint.v_index : joint.v_index + 3] = np.cross(angular, rotation(q[joint.q()][3:]).T @ linear)
        return c

    def mass_matrix(self, q: Array) -> Array:
        t = self.velocity_map(q)
        m = np.array(pin.crba(self.model, self.data, self.position(q)))
        # Only the upper triangle is sure to be filled.
        m = np.triu(m) + np.triu(m, 1).T
        return t.T @ m @ t

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        t = self.velocity_map(q)
        return t.T @ pin.rnea(self.model, self.data, self.position(q), t @ v, t @ a - self.drift(q, v))

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        t = self.velocity_map(q)
        return t.T @ (pin.aba(self.model, self.data, self.position(q), t @ v, t @ tau) + self.drift(q, v))

    def acceleration_derivatives(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
        """da/dq, da/dv, da/dtau of  a = T^T (f(q, T v, T tau) + c(q, v)),  with f Pinocchio's forward dynamics.

        When a free body is turned by d in body axes, R^T x changes by [R^T x]x d and R x by -R [x]x d.
        """
        t, c = self.velocity_map(q), self.drift(q, v)
        pin.computeABADerivatives(self.model, self.data, self.position(q), t @ v, t @ tau)
        f_q, f_v = np.array(self.data.ddq_dq), np.array(self.data.ddq_dv)
        f_tau = np.triu(self.data.Minv) + np.triu(self.data.Minv, 1).T
        a = np.array(self.data.ddq) + c
        dc_dq, dc_dv = np.zeros((self.nv, self.nv)), np.zeros((self.nv, self.nv))
        dtv_dq, dtt_dq, dta_dq = (np.zeros((self.nv, self.nv)) for _ in range(3))
        for joint in self._free():
            i = joint.v_index
            linear, angular = slice(i, i + 3), slice(i + 3, i + 6)
            r = rotation(q[joint.q()][3:])
            body_velocity, turn = cross_matrix(r.T @ v[linear]), cross_matrix(v[angular])
            dtv_dq[linear, angular] = body_velocity
            dtt_dq[linear, angular] = cross_matrix(r.T @ tau[linear])
            dta_dq[linear, angular] = -r @ cross_matrix(a[linear])
            dc_dq[linear, angular] = turn @ body_velocity
            dc_dv[linear, linear] = turn @ r.T
            dc_dv[linear, angular] = -body_velocity
        da_dq = t.T @ (f_q @ t + f_v @ dtv_dq + f_tau @ dtt_dq + dc_dq) + dta_dq
        return da_dq, t.T @ (f_v @ t + dc_dv), t.T @ f_tau @ t

    def derivative_error(self, q: Array, v: Array, tau: Array) -> float:
        """The largest error of da/dq, da/dv and da/dtau against differences of `acceleration`, relative to the largest
        number of each or of the acceleration: a derivative may well be zero."""
        da_dq, da_dv, da_dtau = self.acceleration_derivatives(q, v, tau)

        def difference(at, h: float) -> Array:
            # Fourth order: the error is far below what a wrong term would give.
            columns = []
            for unit in np.eye(self.nv):
                near, far = at(h * unit) - at(-h * unit), at(2 * h * unit) - at(-2 * h * unit)
                columns.append((8.0 * near - far) / (12.0 * h))
            return np.stack(columns, axis=1)

        pairs = [
            (da_dq, difference(lambda d: self.acceleration(moved(self.joints, q, d), v, tau), 1e-4)),
            (da_dv, difference(lambda d: self.acceleration(q, v + d, tau), 1e-2)),
            (da_dtau, difference(lambda d: self.acceleration(q, v, tau + d), 1e-2)),
        ]
        least = np.abs(self.acceleration(q, v, tau)).max()
        return max(float(np.abs(exact - near).max() / max(np.abs(exact).max(), least)) for exact, near in pairs)

    def answer(self, q: Array, v: Array, a: Array, tau: Array) -> dict[str, object]:
        """Everything of one state but derivatives, poses and Jacobians."""
        position, velocity = self.position(q), self.velocity_map(q) @ v
        momentum = pin.computeCentroidalMomentum(self.model, self.data, position, velocity)
        mass = self.mass_matrix(q)
        return {
            "mass_matrix": mass,
            "bias": self.inverse_dynamics(q, v, np.zeros(self.nv)),
            "acceleration": self.acceleration(q, v, tau),
            "inverse_dynamics": self.inverse_dynamics(q, v, a),
            # Pinocchio's own counts the armature of some joints only.
            "kinetic_energy": 0.5 * float(v @ mass @ v),
            "gravity_energy": pin.computePotentialEnergy(self.model, self.data, position),
            "center_of_mass": np.array(pin.centerOfMass(self.model, self.data, position)),
            "linear_momentum": np.array(momentum.linear),
            "angular_momentum": np.array(momentum.angular),
        }

    def poses(self, q: Array) -> list[Pose]:
        """Of every link."""
        pin.framesForwardKinematics(self.model, self.data, self.position(q))
        placed = ((link.name, self.data.oMf[self._frame(link.name)]) for link in self.links)
        return [Pose(name, np.array(pose.translation), np.array(pose.rotation)) for name, pose in placed]

    def jacobian(self, q: Array, link: str) -> Array:
        """Velocity of the link's origin, then angular velocity, both in world axes, by v."""
        world_axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        j = pin.computeFrameJacobian(self.model, self.data, self.position(q), self._frame(link), world_axes)
        # With one degree of freedom Pinocchio returns a row of six.
        return np.reshape(j, (6, self.nv)) @ self.velocity_map(q)
