"""MuJoCo's answers about MJCF files. Its coordinates are Pullback's.

Contacts, limits, dry friction and equalities are off; springs, dampers and motors are given apart, not as part of the
acceleration.
"""

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
from quiet import said_by_libraries
from states import Array, Joint, Pose, Unsupported

# By default a warning is a line in a file of the working directory.
mujoco.set_mju_user_warning(lambda text: None)

VERSION = f"mujoco {mujoco.__version__}"

_OFF = (
    mujoco.mjtDisableBit.mjDSBL_CONTACT
    | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    | mujoco.mjtDisableBit.mjDSBL_EQUALITY
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
)

_KINDS = {
    mujoco.mjtJoint.mjJNT_HINGE: "hinge",
    mujoco.mjtJoint.mjJNT_SLIDE: "slide",
    mujoco.mjtJoint.mjJNT_BALL: "ball",
    mujoco.mjtJoint.mjJNT_FREE: "free",
}


def read(model: Callable[[], mujoco.MjModel]) -> mujoco.MjModel:
    """A model, or why MuJoCo refuses it; without its warnings."""
    with said_by_libraries():
        try:
            return model()
        except ValueError as error:
            raise Unsupported(" ".join(str(error).removeprefix("Error:").split())) from error


class Robot:
    """A model of MuJoCo without constraints."""

    def __init__(self, model: mujoco.MjModel) -> None:
        model.opt.disableflags = int(model.opt.disableflags) | int(_OFF)
        model.opt.enableflags = int(model.opt.enableflags) | int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        self.model = model
        self.data = mujoco.MjData(model)
        self.nq: int = model.nq
        self.nv: int = model.nv
        weightless = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        self.gravity: Array = np.zeros(3) if weightless else np.array(model.opt.gravity)
        self.joints = [self._joint(index) for index in range(model.njnt)]
        # What is welded to the world has mass, too, but does not move.
        self.moving = [index for index in range(1, model.nbody) if model.body_weldid[index] != 0]
        self.total_mass = float(model.body_mass[self.moving].sum())

    @classmethod
    def from_mjcf(cls, path: Path) -> "Robot":
        return cls(read(lambda: mujoco.MjModel.from_xml_path(str(path))))

    def _joint(self, index: int) -> Joint:
        joint = self.model.joint(index)
        limits = tuple(float(x) for x in joint.range) if joint.limited[0] else None
        body = self.model.body(int(joint.bodyid[0])).name
        kind = _KINDS[mujoco.mjtJoint(int(joint.type[0]))]
        return Joint(joint.name, kind, body, int(joint.qposadr[0]), int(joint.dofadr[0]), limits)

    def set_state(self, q: Array, v: Array) -> None:
        self.data.qpos[:] = q
        self.data.qvel[:] = v
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)

    def mass_matrix(self, q: Array) -> Array:
        self.set_state(q, np.zeros(self.nv))
        return self._mass_matrix()

    def _mass_matrix(self) -> Array:
        m = np.zeros((self.nv, self.nv))
        mujoco.mj_fullM(self.model, self.data, m)
        return m

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        self.set_state(q, v)
        out = np.zeros(self.nv)
        mujoco.mj_mulM(self.model, self.data, out, a)
        return out + self.data.qfrc_bias

    def acceleration(self, q: Array, v: Array, tau: Array) -> Array:
        self.set_state(q, v)
        out = np.zeros((1, self.nv))
        mujoco.mj_solveM(self.model, self.data, out, (tau - self.data.qfrc_bias)[None])
        return out[0]

    def notes(self) -> list[str]:
        """What of the file these answers leave out, or what a reader might not expect."""
        m, out = self.model, []
        if m.opt.density or m.opt.viscosity:
            out.append("fluid")
        if m.nflex or m.nplugin:
            raise Unsupported("flexible bodies or plug-ins")
        if m.na:
            out.append("activations")
        if m.nmocap:
            out.append("mocap bodies")
        if (m.body_gravcomp != 0).any():
            out.append("gravity compensation")
        if m.ntendon:
            out.append("tendons" if (m.tendon_armature == 0).all() else "tendons with armature")
        if (m.dof_armature != 0).any():
            out.append("armature")
        if m.neq:
            out.append("equalities")
        return out

    def motors(self) -> list[str]:
        return [self.model.actuator(index).name for index in range(self.model.nu)]

    def random_control(self, rng: np.random.Generator) -> Array:
        """A little beyond their ranges, so that clamping is seen."""
        limited = self.model.actuator_ctrllimited.astype(bool)
        low = np.where(limited, self.model.actuator_ctrlrange[:, 0], -1.0)
        high = np.where(limited, self.model.actuator_ctrlrange[:, 1], 1.0)
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        return middle + half * rng.uniform(-1.2, 1.2, self.model.nu)

    def _center_of_mass(self) -> Array:
        return self.model.body_mass[self.moving] @ self.data.xipos[self.moving] / self.total_mass

    def _momentum(self) -> tuple[Array, Array]:
        """Linear, and angular about the centre of mass, of all moving bodies, in world axes."""
        linear, angular, center = np.zeros(3), np.zeros(3), self._center_of_mass()
        for body in self.moving:
            velocity = np.zeros(6)
            mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
            axes = self.data.ximat[body].reshape(3, 3)
            p = self.model.body_mass[body] * velocity[3:]
            linear += p
            angular += axes @ (self.model.body_inertia[body] * (axes.T @ velocity[:3]))
            angular += np.cross(self.data.xipos[body] - center, p)
        return linear, angular

    def _weights(self) -> Array:
        return -self.model.body_mass[:, None] * self.gravity

    def answer(self, q: Array, v: Array, a: Array, tau: Array) -> dict[str, object]:
        """Everything of one state but derivatives, poses, Jacobians and what drives the joints."""
        acceleration = self.acceleration(q, v, tau)
        inverse_dynamics = self.inverse_dynamics(q, v, a)
        mujoco.mj_energyVel(self.model, self.data)
        linear, angular = self._momentum()
        return {
            "mass_matrix": self._mass_matrix(),
            "bias": self.data.qfrc_bias.copy(),
            "acceleration": acceleration,
            "inverse_dynamics": inverse_dynamics,
            "kinetic_energy": float(self.data.energy[1]),
            "gravity_energy": float((self._weights() * self.data.xipos)[self.moving].sum()),
            "center_of_mass": self._center_of_mass(),
            "linear_momentum": linear,
            "angular_momentum": angular,
        }

    def poses(self, q: Array) -> list[Pose]:
        """Of every body but the world."""
        self.set_state(q, np.zeros(self.nv))
        name, position, axes = lambda body: self.model.body(body).name, self.data.xpos, self.data.xmat
        bodies = range(1, self.model.nbody)
        return [Pose(name(body), position[body].copy(), axes[body].reshape(3, 3).copy()) for body in bodies]

    def jacobian(self, q: Array, body: str | int) -> Array:
        """Velocity of the body's origin, then angular velocity, both in world axes, by v. Bodies may have no name."""
        self.set_state(q, np.zeros(self.nv))
        jacobian = np.zeros((6, self.nv))
        mujoco.mj_jacBody(self.model, self.data, jacobian[:3], jacobian[3:], self.model.body(body).id)
        return jacobian

    def drive(self, q: Array, v: Array, control: Array, activation: Array) -> dict[str, object]:
        """Springs, dampers and motors."""
        m, d = self.model, self.data
        d.ctrl[:], d.act[:] = control, activation
        self.set_state(q, v)
        mujoco.mj_fwdActuation(m, d)
        mujoco.mj_energyPos(m, d)
        # MuJoCo's potential energy counts springs, and what is welded to the world.
        spring_energy = float(d.energy[0]) - float((self._weights() * d.xipos)[1:].sum())
        return {
            "spring_energy": spring_energy,
            "spring_force": d.qfrc_spring.copy(),
            "damper_force": d.qfrc_damper.copy(),
            "control": control,
            "activation": activation,
            "motor_force": d.actuator_force.copy(),
            "motor_joint_force": d.qfrc_actuator.copy(),
        }
