"""Models, names, states and params."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import ARM, PARTICLES, ROD, SCENES

import pullback


@pytest.fixture
def model() -> pullback.Model:
    return pullback.Model.parse(PARTICLES)


def test_names_lead_to_numbers(model: pullback.Model) -> None:
    x, theta = model.state(), model.params()
    assert x["ball.position"].tolist() == [0.3, 0.0, 1.0]
    assert x["ball.velocity.y"] == 0.5
    assert theta["ball.mass"] == 0.2
    assert theta["band.stiffness"] == 20.0
    assert theta["gravity"].tolist() == [0.0, 0.0, -9.81]
    assert x.values[model.state_layout["ball.velocity"]].tolist() == [1.0, 0.5, 0.0]
    assert model.controls(3).tolist() == [[0.1, 0.0, 0.2]] * 3


def test_names_can_be_set(model: pullback.Model) -> None:
    theta = model.params()
    theta["ball.mass"] = 0.4
    theta["gravity"] = [0, 0, -1.62]
    theta["gravity.x"] = 0.5
    assert theta["ball.mass"] == 0.4
    assert theta["gravity"].tolist() == [0.5, 0.0, -1.62]
    assert model.params()["ball.mass"] == 0.2, "the model does not change"
    theta["gravity"][1] = 3.0
    assert theta["gravity.y"] == 3.0, "vectors are views"


def test_groups_are_rows() -> None:
    model = pullback.load(SCENES / "chain.toml").model
    x, theta = model.state(), model.params()
    rows = x["chain.position"]
    assert rows.ndim == 2
    assert rows.shape[1] == 3
    assert rows[2].tolist() == x["chain[2].position"].tolist()
    assert theta["chain.mass"].shape == (rows.shape[0],)
    theta["chain.mass"] = 0.5
    assert set(theta["chain.mass"].tolist()) == {0.5}
    assert len(theta.select("chain*.mass")) == rows.shape[0]


def test_quantities_say_what_numbers_mean(model: pullback.Model) -> None:
    found = {quantity.name: quantity for quantity in model.params_layout.quantities}
    assert found["ball.mass"].unit == "kg"
    assert found["ball.mass"].lower > 0
    assert "ball.mass" in model.params_layout
    assert "ball.weight" not in model.params_layout
    assert model.state_layout.name_of(2) == "ball.position.z"
    assert list(model.params()) == model.params_layout.names


def test_wrong_names_and_values_are_refused(model: pullback.Model) -> None:
    theta = model.params()
    with pytest.raises(pullback.UnknownNameError, match="did you mean `ball.mass`|nearest"):
        theta["ball.mas"]
    with pytest.raises(LookupError):
        theta["ball.mas"] = 1.0
    with pytest.raises(pullback.RangeError, match="`ball.mass` cannot be -1: it must be greater than 0"):
        theta["ball.mass"] = -1.0
    with pytest.raises(pullback.RangeError, match="finite"):
        theta["gravity"] = [0, 0, np.nan]
    with pytest.raises(pullback.ShapeError, match=r"`gravity`: shape \(3,\) is wanted, and \(2,\) was given"):
        theta["gravity"] = [0, 0]
    theta.values[model.params_layout["ball.mass"]] = -1.0
    with pytest.raises(pullback.RangeError, match="ball.mass"):
        theta.check()
    with pytest.raises(pullback.ShapeError, match="State"):
        model.state([1.0, 2.0])


def test_robots_are_loaded_from_their_files(tmp_path: Path) -> None:
    rod = pullback.Model.parse(ROD, "rod.xml")
    assert list(rod.params().select("*.rod.mass").values()) == [2.0]
    arm = pullback.Model.parse(ARM, "arm.urdf")
    assert arm.params()["arm.upper.mass"] == 1.5
    assert arm.state_layout.names == [
        "arm.shoulder.position",
        "arm.elbow.position",
        "arm.shoulder.velocity",
        "arm.elbow.velocity",
    ]
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    assert pullback.load(file, dt=0.002).dt == 0.002
    free = pullback.Model.load(file, base="free")
    assert len(free.state_layout) == len(arm.state_layout) + 13


def test_errors_of_files_name_the_line_and_the_fix() -> None:
    wrong = PARTICLES.replace('ends = ["ball", "nail"]', 'ends = ["bal", "nail"]')
    with pytest.raises(pullback.SceneError, match="there is no particle `bal`") as raised:
        pullback.Model.parse(wrong, "wrong.toml")
    error = raised.value
    assert isinstance(error, ValueError)
    assert (error.file, error.path) == ("wrong.toml", "springs[0].ends[0]")
    assert error.line == 2 + wrong[: wrong.index("ends =")].count("\n") - 1
    assert error.fix is not None
    assert "ball" in error.fix
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), error.line)
    with pytest.raises(pullback.SceneError):
        pullback.load("nowhere.toml")
    with pytest.raises(pullback.SettingError, match="there is no base"):
        pullback.Model.parse(ROD, "rod.xml", base="floating")


def test_models_states_and_simulations_can_be_pickled_and_copied(sim: pullback.Simulation) -> None:
    state = sim.model.state()
    state.values[0] += 0.25
    reference = sim.rollout(state, steps=3)
    for again in (pickle.loads(pickle.dumps((sim, state))), copy.deepcopy((sim, state))):
        sim_again, state_again = again
        assert state_again == state
        assert sim_again.settings == sim.settings
        assert np.array_equal(sim_again.rollout(state_again, steps=3), reference)
    other = copy.copy(state)
    other.values[0] = 7.0
    assert state.values[0] != 7.0
    assert copy.copy(sim.model) is sim.model


def test_a_pickle_knows_where_files_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is made and read: a name without its folders means what it meant when the file was read."""
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    (there / "parts").mkdir(parents=True)
    elsewhere.mkdir()
    (there / "parts" / "rod.xml").write_text(ROD)
    scene = 'name = "hall"\n[simulation]\ndt = 0.01\nsteps = 5\n[[robots]]\nname = "rod"\nfile = "parts/rod.xml"\n'
    data = "time,ball.x\n0.01,0.1\n0.02,0.2\n"
    (there / "fall.csv").write_text(data)
    fall = (
        PARTICLES + '\n[[variables]]\nname = "ball.mass"\nlower = 0.01\n'
        '[[loss]]\nkind = "trajectory"\ndata = "fall.csv"\n'
    )
    (there / "fall.toml").write_text(fall)
    monkeypatch.chdir(there)
    model = pullback.Model.parse(scene)
    problem = pullback.Problem.load("fall.toml")
    robot = pullback.Model.load("parts/rod.xml", packages={"rods": "parts"}, allow=["parts"])
    monkeypatch.chdir(elsewhere)
    pickled = pickle.dumps((model, problem, robot))
    monkeypatch.chdir(tmp_path)
    model_again, problem_again, robot_again = pickle.loads(pickled)
    assert model_again.state() == model.state()
    assert problem_again.value(problem.start) == problem.value(problem.start)
    assert robot_again._core.origin[3:5] == ([there / "parts"], [("rods", there / "parts")])
    again = pickle.loads(pickle.dumps(model_again))
    assert again.params() == model.params()


def test_tangents_lie_on_the_manifold(simulations: dict[str, pullback.Simulation]) -> None:
    x = simulations["tumbling"].model.state()
    assert len(x.layout) == 13
    assert x.layout.tangent_len == 12
    tangent = np.linspace(-0.1, 0.2, 12)
    moved = x.retract(tangent)
    assert np.linalg.norm(moved["brick.orientation"]) == pytest.approx(1.0, abs=1e-15)
    assert np.allclose(x.difference(moved), tangent, atol=1e-14)


def test_energy_is_kept_by_a_falling_body(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["tumbling"]
    fine = sim.replace(dt=1e-4, integrator="rk4")
    states = fine.rollout(sim.model.state(), steps=100)
    kinetic, potential = sim.model.energy(states)
    total = kinetic + potential
    assert np.ptp(kinetic) > 1e-3
    assert np.ptp(total) < 1e-9
    with pytest.raises(pullback.ShapeError, match="x: shape"):
        sim.model.energy([1.0])


def test_arrays_are_shared_without_copies(model: pullback.Model) -> None:
    x = model.state()
    assert x.values.__array_interface__["data"][0] % 64 == 0
    view = np.from_dlpack(x)
    view[0] = 42.0
    assert x.values[0] == 42.0
    assert np.asarray(x).__array_interface__["data"] == x.values.__array_interface__["data"]
    states = pullback.Simulation(model).rollout(x, steps=3)
    assert states.__array_interface__["data"][0] % 64 == 0
