"""Do the two oracles agree? Each file is read by the other one, too, where that can read it."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import with_mujoco
import with_pinocchio
from states import VELOCITIES, Array, Joint, Unsupported


def urdf_in_mujoco(path: Path, floating: bool) -> with_mujoco.Robot:
    """MuJoCo reads URDF, with the root welded to the world: a base that moves freely hangs from a joint of our own.

    Shapes are left out: they say nothing of the dynamics, and their meshes may be missing.
    """
    root = ElementTree.parse(path).getroot()
    for element in list(root):
        if element.tag not in ("link", "joint"):
            root.remove(element)
    for link in root.findall("link"):
        for shape in link.findall("visual") + link.findall("collision"):
            link.remove(shape)
    if floating:
        children = {joint.find("child").get("link") for joint in root.findall("joint")}
        base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
        ElementTree.SubElement(root, "link", name="world")
        joint = ElementTree.SubElement(root, "joint", name="root_joint", type="floating")
        ElementTree.SubElement(joint, "parent", link="world")
        ElementTree.SubElement(joint, "child", link=base)
    extension = ElementTree.SubElement(root, "mujoco")
    ElementTree.SubElement(extension, "compiler", fusestatic="false")
    text = ElementTree.tostring(root, encoding="unicode")
    return with_mujoco.Robot(with_mujoco.read(lambda: mujoco.MjModel.from_xml_string(text)))


def mujoco_in_pinocchio(robot: with_mujoco.Robot) -> with_pinocchio.Robot:
    """The model as MuJoCo compiled it, with Pinocchio's algorithms. (Its own reader of MJCF knows too little of it.)

    The joints of a body follow each other: pose = placement T_1 T_2 ..., T = move(anchor) turn move(-anchor).
    """
    m, model = robot.model, pin.Model()
    model.gravity.linear = robot.gravity
    world = pin.SE3.Identity()
    # Of each body: the joint that moves it, and its place in that joint's frame.
    carriers = [(0, world)]
    for body in range(1, m.nbody):
        parent, place = carriers[m.body_parentid[body]]
        place = place * _pose(m.body_quat[body], m.body_pos[body])
        for index in range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body]):
            kind, axis, anchor = robot.joints[index].kind, m.jnt_axis[index], _moved(m.jnt_pos[index])
            if kind == "free":
                place, anchor = world, world
            parent = model.addJoint(parent, _joint_model(kind, axis), place * anchor, f"joint {index}")
            place = anchor.inverse()
        axes = pin.Quaternion(np.roll(m.body_iquat[body], -1)).toRotationMatrix()
        inertia = pin.Inertia(m.body_mass[body], m.body_ipos[body], axes @ np.diag(m.body_inertia[body]) @ axes.T)
        if parent != 0:
            model.appendBodyToJoint(parent, inertia, place)
        name = m.body(body).name or f"body {body}"
        model.addFrame(pin.Frame(name, parent, place, pin.FrameType.BODY), False)
        carriers.append((parent, place))
    model.armature = m.dof_armature.copy()
    return with_pinocchio.Robot(model, m.qpos0.copy())


def _pose(quaternion: Array, position: Array) -> pin.SE3:
    return pin.SE3(pin.Quaternion(np.roll(quaternion, -1)).normalized().toRotationMatrix(), position)


def _moved(by: Array) -> pin.SE3:
    return pin.SE3(np.eye(3), by)


def _joint_model(kind: str, axis: Array) -> pin.JointModel:
    if kind == "hinge":
        return pin.JointModelRevoluteUnaligned(axis)
    if kind == "slide":
        return pin.JointModelPrismaticUnaligned(axis)
    return pin.JointModelSpherical() if kind == "ball" else pin.JointModelFreeFlyer()


def orders(ours: list[Joint], theirs: list[Joint]) -> tuple[list[int], list[int]]:
    """For each number of their q and v, its place in ours, by the names of joints."""
    by_name = {joint.name: joint for joint in ours}
    q_order: list[int] = []
    v_order: list[int] = []
    for joint in theirs:
        same = by_name.get(joint.name)
        if same is None or same.kind != joint.kind:
            raise Unsupported(f"the other oracle has no {joint.kind} `{joint.name}`")
        q_order += range(same.q().start, same.q().stop)
        v_order += range(same.v().start, same.v().stop)
    return q_order, v_order


def difference(ours, theirs, order: tuple[list[int], list[int]], state: dict[str, Array]) -> float:
    """The largest difference between the answers of two oracles, relative to the largest number of each answer.

    Accelerations are compared as forces, M (a - b): what M^-1 makes of rounding is no disagreement.
    """
    if ours.nv != theirs.nv:
        raise Unsupported(f"the other oracle has {theirs.nv} degrees of freedom, not {ours.nv}")
    q_order, v_order = order
    q, v, a, tau = state["q"], state["v"], state["a"], state["tau"]
    one = ours.answer(q, v, a, tau)
    other = theirs.answer(q[q_order], v[v_order], a[v_order], tau[v_order])

    mass, bias = one["mass_matrix"], one["bias"]
    acceleration = np.zeros(ours.nv)
    acceleration[v_order] = other["acceleration"]
    pairs = [
        (mass[np.ix_(v_order, v_order)], other["mass_matrix"]),
        (tau - bias, mass @ acceleration),
        (bias[v_order], other["bias"]),
        (one["inverse_dynamics"][v_order], other["inverse_dynamics"]),
    ]
    of_the_whole = ["kinetic_energy", "gravity_energy", "center_of_mass", "linear_momentum", "angular_momentum"]
    pairs += [(one[key], other[key]) for key in of_the_whole]
    their_poses = {pose.body: pose for pose in theirs.poses(q[q_order])}
    for pose in ours.poses(q):
        if same := their_poses.get(pose.body):
            pairs += [(pose.position, same.position), (pose.rotation, same.rotation)]
            pairs.append((ours.jacobian(q, pose.body)[:, v_order], theirs.jacobian(q[q_order], pose.body)))
    return max(_relative(*pair) for pair in pairs)


def _relative(a, b) -> float:
    scale = max(float(np.abs(a).max()), 1e-3)
    return float(np.abs(a - b).max()) / scale
