"""The examples and the code in the documents run."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import pullback

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


LIBRARIES = {
    "torch": "import torch",
    "jax": "import jax",
    "gymnasium": "pullback.gym",
    "matplotlib": "import viz",
}


def run(code: str, folder: Path = ROOT) -> str:
    for library in ("torch", "jax"):
        if f"import {library}" in code and importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-W",
            "ignore::FutureWarning",
            "-W",
            "ignore::DeprecationWarning",
            "-c",
            code,
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_to_their_assertions(example: Path) -> None:
    text = example.read_text()
    assert "\nassert " in text
    assert run(text.replace("Path(__file__)", f"Path({str(example)!r})"))


def blocks(document: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)


def test_the_example_of_the_readme_prints_a_gradient() -> None:
    (example,) = blocks("README.md")
    assert len(example.strip().splitlines()) <= 11
    printed = run(example)
    assert re.fullmatch(r"by mass: -74\.\d+ m²/kg\n", printed), printed


def test_the_python_page(tmp_path: Path) -> None:
    found = blocks("docs/python.md")
    assert len(found) >= 11
    for missing, sign in LIBRARIES.items():
        if importlib.util.find_spec(missing) is None:
            found = [block for block in found if sign not in block]
    # What it writes goes elsewhere.
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    assert run("\n".join(found), tmp_path)
    assert (tmp_path / "dog.html").exists() == any("viz" in block for block in found)


ROBOT = """
<robot name="robot">
  <link name="trunk">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
</robot>
"""


def test_the_scene_of_the_python_page_has_contact(tmp_path: Path) -> None:
    """It can be copied, and the docstring of `load` has the same."""
    (scene,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    (tmp_path / "stand.toml").write_text(scene)
    (tmp_path / "robot.urdf").write_text(ROBOT)
    sim = pullback.load(tmp_path / "stand.toml")
    end = sim.rollout(sim.model.state(), last=True)
    assert sim.watch(end).contact("robot", by="ground").normal == pytest.approx(9.81, rel=0.01)
    told = inspect.getdoc(pullback.load) or ""
    lines = [line.partition("#")[0].strip() for line in scene.splitlines()]
    assert [line for line in lines if line and line not in told] == []


def test_the_python_page_begins_with_a_gradient() -> None:
    first = blocks("docs/python.md")[0]
    assert len(first.strip().splitlines()) <= 11
    assert re.fullmatch(r"by mass: -74\.\d+ m²/kg\n", run(first))
