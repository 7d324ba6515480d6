"""The robots that the oracles are asked about, as files below the folder of models."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """A file, and how it is meant: URDF has no word for a base that moves freely."""

    name: str
    file: str
    floating: bool = False

    @property
    def format(self) -> str:
        return "urdf" if self.file.endswith(".urdf") else "mjcf"


def _named(prefix: str, folder: str, files: str, suffix: str = ".xml") -> list[Model]:
    return [Model(f"{prefix}_{file.rsplit('/', 1)[-1]}", f"{folder}/{file}{suffix}") for file in files.split()]


_BULLET = "pybullet"
_ROBOTS = "example-robot-data/robots"

FLOATING = {
    "laikago": f"{_BULLET}/laikago/laikago_toes_zup.urdf",
    "laikago_yup": f"{_BULLET}/laikago/laikago.urdf",
    "a1": f"{_BULLET}/a1/a1.urdf",
    "aliengo": f"{_BULLET}/aliengo/aliengo.urdf",
    "mini_cheetah": f"{_BULLET}/mini_cheetah/mini_cheetah.urdf",
    "minitaur": f"{_BULLET}/quadruped/minitaur.urdf",
    "vision60": f"{_BULLET}/quadruped/vision60.urdf",
    "spirit40": f"{_BULLET}/quadruped/spirit40.urdf",
    "racecar": f"{_BULLET}/racecar/racecar.urdf",
    "husky": f"{_BULLET}/husky/husky.urdf",
    "r2d2": f"{_BULLET}/r2d2.urdf",
    "bike": f"{_BULLET}/bicycle/bike.urdf",
    "bullet_humanoid": f"{_BULLET}/humanoid/humanoid.urdf",
    "solo": f"{_ROBOTS}/solo_description/robots/solo.urdf",
    "solo12": f"{_ROBOTS}/solo_description/robots/solo12.urdf",
    "bolt": f"{_ROBOTS}/bolt_description/robots/bolt.urdf",
    "anymal": f"{_ROBOTS}/anymal_b_simple_description/robots/anymal.urdf",
    "anymal_kinova": f"{_ROBOTS}/anymal_b_simple_description/robots/anymal-kinova.urdf",
    "anymal_c": f"{_ROBOTS}/anymal_c_simple_description/urdf/anymal.urdf",
    "hyq": f"{_ROBOTS}/hyq_description/robots/hyq_no_sensors.urdf",
    "go1": f"{_ROBOTS}/go1_description/urdf/go1.urdf",
    "go2": f"{_ROBOTS}/go2_description/urdf/go2.urdf",
    "b1": f"{_ROBOTS}/b1_description/urdf/b1.urdf",
    "g1": f"{_ROBOTS}/g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": f"{_ROBOTS}/talos_data/robots/talos_full_v2.urdf",
    "talos_reduced": f"{_ROBOTS}/talos_data/robots/talos_reduced.urdf",
    "icub": f"{_ROBOTS}/icub_description/robots/icub.urdf",
    "romeo": f"{_ROBOTS}/romeo_description/urdf/romeo_small.urdf",
    "simple_humanoid": f"{_ROBOTS}/simple_humanoid_description/urdf/simple_humanoid.urdf",
    "human": f"{_ROBOTS}/human_description/robots/human.urdf",
    "iris": f"{_ROBOTS}/iris_description/robots/iris.urdf",
    "borinot": f"{_ROBOTS}/borinot_description/urdf/borinot_flying_arm_2.urdf",
    "hextilt": f"{_ROBOTS}/hextilt_description/urdf/hextilt_flying_arm_5.urdf",
}

FIXED = {
    "cartpole": f"{_BULLET}/cartpole.urdf",
    "pendulum5": f"{_BULLET}/pendulum5.urdf",
    "two_joint_robot": f"{_BULLET}/TwoJointRobot_w_fixedJoints.urdf",
    "spherical_joint_limit": f"{_BULLET}/spherical_joint_limit.urdf",
    "kuka_iiwa": f"{_BULLET}/kuka_iiwa/model.urdf",
    "bullet_panda": f"{_BULLET}/franka_panda/panda.urdf",
    "xarm6": f"{_BULLET}/xarm/xarm6_robot.urdf",
    "panda": f"{_ROBOTS}/panda_description/urdf/panda.urdf",
    "ur3": f"{_ROBOTS}/ur_description/urdf/ur3_robot.urdf",
    "ur5": f"{_ROBOTS}/ur_description/urdf/ur5_robot.urdf",
    "ur10": f"{_ROBOTS}/ur_description/urdf/ur10_robot.urdf",
    "kinova": f"{_ROBOTS}/kinova_description/robots/kinova.urdf",
    "xarm7": f"{_ROBOTS}/xarm_description/urdf/xarm7.urdf",
    "z1": f"{_ROBOTS}/z1_description/urdf/z1.urdf",
    "so101": f"{_ROBOTS}/so_arm_description/urdf/so101.urdf",
    "allegro": f"{_ROBOTS}/allegro_hand_description/urdf/allegro_right_hand.urdf",
    "baxter": f"{_ROBOTS}/baxter_description/urdf/baxter.urdf",
    "tiago": f"{_ROBOTS}/tiago_description/robots/tiago.urdf",
    "double_pendulum": f"{_ROBOTS}/double_pendulum_description/urdf/double_pendulum.urdf",
    "double_pendulum_continuous": f"{_ROBOTS}/double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "finger_edu": f"{_ROBOTS}/finger_edu_description/robots/finger_edu.urdf",
    "twodofs": f"{_ROBOTS}/asr_twodof_description/urdf/TwoDofs.urdf",
}

_GYMNASIUM = """ant half_cheetah hopper humanoid humanoidstandup inverted_double_pendulum inverted_pendulum point
pusher pusher_v5 reacher swimmer walker2d walker2d_v5"""

_DM_CONTROL = """acrobot ball_in_cup cartpole cheetah dog finger fish hopper humanoid humanoid_CMU lqr manipulator
pendulum point_mass quadruped reacher stacker swimmer walker"""

_BRAX = """double_pendulum double_prismatic nonzero_joint_ref prismaversal_2dof_joint prismaversal_3dof_joint
single_pendulum_motor single_pendulum_position single_pendulum_position_frclimit single_pendulum_velocity
single_spherical_pendulum single_spherical_pendulum_motor single_spherical_pendulum_position
single_universal_pendulum triple_pendulum_motor triple_prismatic world_body_transform world_fromto"""

MODELS = [
    *(Model(name, file, floating=True) for name, file in FLOATING.items()),
    *(Model(name, file) for name, file in FIXED.items()),
    *_named("gymnasium", "gymnasium", _GYMNASIUM),
    *_named("dm_control", "dm_control/suite", _DM_CONTROL),
    *_named("brax", "brax/test_data", _BRAX),
]
