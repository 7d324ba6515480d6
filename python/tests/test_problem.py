"""Problems, losses, optimisers and checks."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import ROD, SCENES, SLIDING

import pullback
from pullback import losses, optimise


@pytest.fixture
def throw() -> pullback.Problem:
    return pullback.Problem.load(SCENES / "throw.toml")


def test_a_problem_file_is_solved(throw: pullback.Problem) -> None:
    assert throw.names == ["initial.ball.velocity.x", "initial.ball.velocity.y", "initial.ball.velocity.z"]
    assert throw.units == ["m/s"] * 3
    result = throw.solve()
    assert result.value < 1e-12
    assert result.value < 1e-12 * result.history[0].value
    assert "Converged" in result.reason or result.reason
    ball = throw.rollout(result.z)[-1, throw.model.state_layout["ball.position"]]
    assert np.allclose(ball, [8, 1, 0.5], atol=1e-6)
    assert result.values["initial.ball.velocity.x"] == pytest.approx(7.957, abs=1e-3)
    assert throw.value(result.z) == result.value


def test_gradients_are_those_of_rollouts_to_the_last_bit(throw: pullback.Problem) -> None:
    """The engine's own gradient of a loss, against the pullback of states that Python asks for."""
    z = throw.start
    value, x_bar, u_bar, theta_bar = throw.full_gradient(z)
    x, u, theta = throw.point(z)
    where, target = throw.model.state_layout["ball.position"], np.array([8, 1, 0.5])

    def loss(states: np.ndarray) -> tuple[float, np.ndarray]:
        bar = np.zeros_like(states)
        miss = states[-1, where] - target
        bar[-1, where] = 2 * miss
        return float(np.sum(miss**2)), bar

    ours, bars = throw.simulation.gradient(loss, x, u, theta)
    assert ours == pytest.approx(value, rel=1e-15)
    assert np.array_equal(bars[0], x_bar.values)
    assert np.array_equal(bars[2], theta_bar.values)
    assert bars[1].shape == u_bar.shape == (240, 0)
    assert theta_bar["ball.mass"] != 0.0


def test_the_gradient_is_checked(throw: pullback.Problem) -> None:
    health = throw.check()
    assert health.right
    assert len(health.audit) == 3
    assert all(audit.error < 1e-5 and audit.derivative != 0 for audit in health.audit)
    assert health.growth["verdict"] == "steady"
    assert health.norms.shape == (241,)
    assert health.energy["conserved"] is False
    z = throw.start
    value, gradient = throw.gradient(z)
    assert health.value == value
    h = 1e-6
    for i in range(3):
        e = h * np.eye(3)[i]
        assert gradient[i] == pytest.approx((throw.value(z + e) - throw.value(z - e)) / (2 * h), rel=1e-6)
    residuals, jacobian = throw.jacobian(z)
    assert np.sum(residuals**2) == pytest.approx(value, rel=1e-14)
    assert np.allclose(2 * residuals @ jacobian, gradient, rtol=1e-10)
    assert sum(throw.parts(z).values()) == pytest.approx(value, rel=1e-14)


def test_a_problem_is_built_in_code() -> None:
    rod = pullback.Simulation(pullback.Model.parse(ROD, "rod.xml"), dt=0.01, steps=50, integrator="rk4")
    motor = rod.model.control_layout.names[0]
    hinge = rod.model.state_layout.names[0].removesuffix(".position")
    problem = pullback.Problem(
        rod,
        [pullback.Variable(f"control.{motor}", lower=-5, upper=5)],
        [losses.Joint(hinge, 0.3), losses.Effort(motor.removesuffix(".control"), weight=1e-4)],
        method=optimise.LBFGS(),
        iterations=200,
    )
    assert len(problem.names) == 50
    assert problem.check().right
    result = problem.solve()
    assert problem.rollout(result.z)[-1, 0] == pytest.approx(0.3, abs=1e-2)
    with pytest.raises(pullback.SceneError, match="there is no"):
        pullback.Problem(rod, ["gravity"], [losses.Joint("elbow", 0.3)])
    with pytest.raises(TypeError, match="built in code"):
        pickle.dumps(problem)


def test_losses_of_contacts() -> None:
    sim = pullback.Simulation(pullback.Model.parse(SLIDING))
    force = losses.Contact("boxes[0]", 12.0, by="ground")
    problem = pullback.Problem(
        sim, ["boxes*.mass"], [force, losses.Velocity("boxes[1]", [0, 0, 0], axes="xy", weight=0.1)]
    )
    health = problem.check()
    assert health.right
    assert any(audit.derivative != 0 for audit in health.audit)


def test_runs_are_saved_and_resumed(throw: pullback.Problem, tmp_path: Path) -> None:
    run = throw.begin(optimise.Adam(rate=0.1))
    for _ in range(3):
        assert run.iterate()
    run.save(tmp_path / "run.json")
    again = pullback.Problem.load(SCENES / "throw.toml").resume(tmp_path / "run.json")
    for _ in range(3):
        run.iterate()
        again.iterate()
    assert np.array_equal(run.best[0], again.best[0])
    assert [record.value for record in run.history] == [record.value for record in again.history]
    with pytest.raises(pullback.OptimiserError, match="another problem"):
        pullback.Problem.load(SCENES / "bounce.toml").resume(tmp_path / "run.json")
    copied = pickle.loads(pickle.dumps(throw))
    assert copied.gradient(throw.start)[0] == throw.gradient(throw.start)[0]


@pytest.mark.parametrize("method", [optimise.LBFGS(), optimise.CmaEs(sigma=0.5, seed=1)])
def test_functions_of_ones_own(method: optimise.Method) -> None:
    def valley(z: np.ndarray) -> tuple[float, np.ndarray]:
        x, y = z
        off = y - x * x
        return (1 - x) ** 2 + 100 * off**2, np.array([-2 * (1 - x) - 400 * x * off, 200 * off])

    result = optimise.minimise(valley, [-1.2, 1.0], method, iterations=5000)
    assert np.allclose(result.z, [1, 1], atol=1e-4)
    held = optimise.minimise(valley, [-1.2, 1.0], upper=[0.5, np.inf])
    assert held.z[0] == 0.5

    def broken(z: np.ndarray) -> tuple[float, np.ndarray]:
        raise ZeroDivisionError("of one's own")

    with pytest.raises(ZeroDivisionError, match="of one's own"):
        optimise.minimise(broken, [1.0])
    with pytest.raises(pullback.Error, match="3 numbers, and 1 are wanted"):
        optimise.minimise(lambda z: (1.0, [1.0, 2.0, 3.0]), [1.0])


def test_what_goes_wrong_is_named(throw: pullback.Problem) -> None:
    with pytest.raises(pullback.ShapeError, match="z: 3 numbers are wanted, and 2 were given"):
        throw.value([1.0, 2.0])
    with pytest.raises(pullback.SceneError, match="fix: add"):
        pullback.Problem.parse("name = 'nothing'")
    with pytest.raises(pullback.SceneError, match="nothing that may change is called `ball.weight`"):
        pullback.Problem(throw.simulation, ["ball.weight"], [losses.Position("ball", [0, 0, 0])])
    with pytest.raises(pullback.RolloutError):
        fast = throw.simulation.replace(dt=50.0, integrator="explicit-euler", steps=500)
        problem = pullback.Problem(fast, ["ball.mass"], [losses.Position("ball", [0, 0, 0])])
        problem.value(problem.start)
