"""What MuJoCo makes of the files in `good`: writes a TOML file beside each.

    pip install mujoco==4.0.0
    python oracle.py
"""

import pathlib

import mujoco
import numpy as np

KINDS = {0: "Free", 1: "Ball", 2: "Slide", 3: "Hinge"}
GEOMS = {0: "Plane", 2: "Sphere", 3: "Capsule", 4: "Ellipsoid", 5: "Cylinder", 6: "Box", 7: "Mesh"}
SIZES = {0: 0, 2: 1, 3: 2, 4: 3, 5: 2, 6: 3, 7: 0}


def numbers(values):
    return "[" + ", ".join(repr(float(value)) for value in np.ravel(values)) + "]"


def matrix(quaternion):
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, np.array(quaternion, dtype=float))
    return flat.reshape(3, 3)


def inertia(model, body):
    """Full inertia in the axes of the body: xx, yy, zz, xy, xz, yz."""
    turn = matrix(model.body_iquat[body])
    full = turn @ np.diag(model.body_inertia[body]) @ turn.T
    return [full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2]]


def bodies(model):
    for body in range(1, model.nbody):
        yield "bodies", {
            "name": repr(model.body(body).name),
            "parent": int(model.body_parentid[body]) - 1,
            "position": numbers(model.body_pos[body]),
            "orientation": numbers(model.body_quat[body]),
            "mass": float(model.body_mass[body]),
            "center": numbers(model.body_ipos[body]),
            "inertia": numbers(inertia(model, body)),
            "moments": numbers(model.body_inertia[body]),
            "axes": numbers(matrix(model.body_iquat[body])),
        }


def joints(model):
    off = model.opt.disableflags
    bit = mujoco.mjtDisableBit
    for joint in range(model.njnt):
        dof, at = model.jnt_dofadr[joint], model.jnt_qposadr[joint]
        kind = KINDS[int(model.jnt_type[joint])]
        scalar = kind in ("Hinge", "Slide")
        limited = bool(model.jnt_limited[joint]) and not off & bit.mjDSBL_LIMIT
        yield "joints", {
            "name": repr(model.joint(joint).name),
            "body": int(model.jnt_bodyid[joint]) - 1,
            "kind": repr(kind),
            "anchor": numbers(model.jnt_pos[joint]),
            "axis": numbers(model.jnt_axis[joint]),
            "reference": float(model.qpos0[at]) if scalar else 0.0,
            "spring_reference": float(model.qpos_spring[at]) if scalar else 0.0,
            "range": numbers(model.jnt_range[joint] if limited else []),
            "armature": float(model.dof_armature[dof]),
            "damping": float(model.dof_damping[dof]),
            "friction": 0.0 if off & bit.mjDSBL_FRICTIONLOSS else float(model.dof_frictionloss[dof]),
            "stiffness": 0.0 if off & bit.mjDSBL_SPRING else float(model.jnt_stiffness[joint]),
            # What limits are made of: 1 / (M^-1)_ii at the references, and the time constant and ratio.
            "inverse_weights": numbers(model.dof_invweight0[dof : dof + {"Free": 6, "Ball": 3}.get(kind, 1)]),
            "solref": numbers(model.jnt_solref[joint]),
        }


def motors(model):
    for motor in range(model.nu):
        tendon = model.actuator_trntype[motor] == mujoco.mjtTrn.mjTRN_TENDON
        target = int(model.actuator_trnid[motor][0])
        count = 1 if tendon else {0: 6, 1: 3}.get(int(model.jnt_type[target]), 1)
        biased = model.actuator_biastype[motor] != mujoco.mjtBias.mjBIAS_NONE
        control, force = model.actuator_ctrllimited[motor], model.actuator_forcelimited[motor]
        yield "motors", {
            "name": repr(model.actuator(motor).name),
            "tendon": str(bool(tendon)).lower(),
            "target": target,
            "gear": numbers(model.actuator_gear[motor][:count]),
            "gain": numbers(model.actuator_gainprm[motor][:3]),
            "bias": numbers(model.actuator_biasprm[motor][:3] * biased),
            "control_range": numbers(model.actuator_ctrlrange[motor] if control else []),
            "force_range": numbers(model.actuator_forcerange[motor] if force else []),
        }


def shapes(model):
    for geom in range(model.ngeom):
        kind = int(model.geom_type[geom])
        position, turn = model.geom_pos[geom].copy(), matrix(model.geom_quat[geom])
        if GEOMS[kind] == "Mesh":
            # Back from the axes of inertia to the frame that the mesh is written in.
            mesh = model.geom_dataid[geom]
            turn = turn @ matrix(model.mesh_quat[mesh]).T
            position -= turn @ model.mesh_pos[mesh]
        touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
        yield "shapes", {
            "name": repr(model.geom(geom).name),
            "body": int(model.geom_bodyid[geom]) - 1,
            "kind": repr(GEOMS[kind]),
            "size": numbers(model.geom_size[geom][: SIZES[kind]]),
            "position": numbers(position),
            "turn": numbers(turn),
            "collides": str(bool(touches) and not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT).lower(),
            "friction": numbers(model.geom_friction[geom]),
        }


def others(model):
    for tendon in range(model.ntendon):
        first, count = model.tendon_adr[tendon], model.tendon_num[tendon]
        yield "tendons", {
            "name": repr(model.tendon(tendon).name),
            "joints": numbers(model.wrap_objid[first : first + count]),
            "factors": numbers(model.wrap_prm[first : first + count]),
            "stiffness": float(model.tendon_stiffness[tendon]),
            "damping": float(model.tendon_damping[tendon]),
            "spring_range": numbers(model.tendon_lengthspring[tendon]),
        }
    for site in range(model.nsite):
        yield "frames", {
            "name": repr(model.site(site).name),
            "body": int(model.site_bodyid[site]) - 1,
            "position": numbers(model.site_pos[site]),
            "turn": numbers(matrix(model.site_quat[site])),
        }
    for key in range(model.nkey):
        yield "keyframes", {
            "name": repr(model.key(key).name),
            "positions": numbers(model.key_qpos[key]),
            "velocities": numbers(model.key_qvel[key]),
            "controls": numbers(model.key_ctrl[key]),
        }


def write(path):
    model = mujoco.MjModel.from_xml_path(str(path))
    lines = [f"# MuJoCo {mujoco.__version__} of {path.name}, by oracle.py"]
    off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    lines += [f"gravity = {numbers([0, 0, 0] if off else model.opt.gravity)}", f"dt = {model.opt.timestep!r}"]
    for part in (bodies, joints, motors, shapes, others):
        for kind, row in part(model):
            lines += ["", f"[[{kind}]]"] + [f"{key} = {value}" for key, value in row.items()]
    path.with_suffix(".toml").write_text("\n".join(lines) + "\n")


for found in sorted((pathlib.Path(__file__).parent / "good").glob("*.xml")):
    write(found)
