"""Unpack the robots of downloaded wheels: unpack_models.py WHEELS OUT.

Only what describes a robot is taken, so that 300 MB of wheels leave about 90 MB of files.
"""

import re
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """Where a wheel keeps its robots, and the folder of OUT that they go to; `files` matches the path below."""

    wheel: str
    inside: str
    out: str
    files: str


MESHES = r"obj|stl|msh|skn|png"

SOURCES = [
    # Without a thousand random things to grasp.
    Source("pybullet", "pybullet_data/", "pybullet", rf"(?!random_urdfs/).*\.(urdf|xml|{MESHES})"),
    # Its 400 MB of meshes stay in the wheel. A package:// of its files is a path below the folder of models.
    Source("example_robot_data", "cmeel.prefix/share/", ".", r"example-robot-data/robots/.*\.urdf"),
    Source("gymnasium", "gymnasium/envs/mujoco/assets/", "gymnasium", r".*\.xml"),
    Source("dm_control", "dm_control/suite/", "dm_control/suite", rf"(?!all_domains).*\.(xml|{MESHES})"),
    Source("brax", "brax/", "brax", rf"(envs|test_data)/.*\.(xml|{MESHES})"),
]


def unpack(source: Source, wheels: Path, out: Path) -> int:
    found = sorted(wheels.glob(f"{source.wheel}-*.whl"))
    if len(found) != 1:
        sys.exit(f"{wheels} should hold one wheel of {source.wheel}, and holds {len(found)}")
    count = 0
    with zipfile.ZipFile(found[0]) as archive:
        for info in archive.infolist():
            name = info.filename
            below = name.removeprefix(source.inside)
            if below == name or not re.fullmatch(source.files, below, re.IGNORECASE):
                continue
            target = out / source.out / below
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(info))
            count += 1
    if count == 0:
        sys.exit(f"{found[0].name} holds nothing below {source.inside}; has it moved?")
    return count


def main() -> None:
    wheels, out = Path(sys.argv[1]), Path(sys.argv[2])
    for source in SOURCES:
        print(f"{unpack(source, wheels, out)} files of {source.wheel}")


if __name__ == "__main__":
    main()
