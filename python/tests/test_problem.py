"""Problems, losses, optimisers and checks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

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
    assert "gradient" in result.reason
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
        sim, ["boxes*.mass"], [force, losses.Velocity("boxes[1]", [0, 0, 0], axes=["x", "y"], weight=0.1)]
    )
    health = problem.check()
    assert health.right
    assert any(audit.derivative != 0 for audit in health.audit)
    both = pullback.Problem(sim, [pullback.Variable("boxes*.mass", together=True)], [force])
    assert both.names == ["boxes*.mass"]
    assert both.check().right


def test_measurements_are_fitted() -> None:
    """What a data file gives, from arrays: the loss, its residuals, and standard errors."""
    rod = pullback.Simulation(pullback.Model.parse(ROD, "rod.xml"), dt=0.01, steps=60, integrator="rk4")
    x = rod.model.state()
    truth = rod.model.params()
    truth["rod.hinge.damping"] = 0.3
    x["rod.hinge.position"] = 1.0
    initial = pullback.Variable("initial.rod.hinge.position", start=1.0)
    steps = np.arange(0, 61, 5)
    noise = 1e-3 * np.cos(np.arange(26.0)).reshape(13, 2)
    measured = rod.rollout(x, None, truth)[steps] + noise
    part = losses.Trajectory(["rod.hinge", "rod.hinge.velocity"], measured, steps)
    problem = pullback.Problem(
        rod, ["rod.hinge.damping", initial], [part], method=optimise.LevenbergMarquardt()
    )
    z = problem.start
    states = problem.rollout(z)
    assert problem.value(z) == pytest.approx(float(np.sum((states[steps] - measured) ** 2)), rel=1e-12)
    assert problem.check().right
    assert len(problem.jacobian(z)[0]) == 26
    result = problem.solve()
    assert result.values["rod.hinge.damping"] == pytest.approx(0.3, abs=5e-3)
    errors = problem.standard_errors(result.z)
    assert errors is not None
    assert 0 < errors["rod.hinge.damping"] < 0.01
    ball = pullback.load(SCENES / "throw.toml")
    heights = ball.rollout(ball.model.state())[[10, 20]][:, ball.model.state_layout["ball.position.z"]]
    fits = pullback.Problem(
        ball,
        ["ball.mass"],
        [losses.Trajectory(["ball.z"], heights, [10, 20]), losses.Position("ball", [0, 0, 0])],
    )
    assert fits.parts(fits.start)["trajectory in measurements"] == 0.0
    for wrong, message in (
        (losses.Trajectory(["ball.z"], [1.0, 2.0], [10, 20]), r"shape \(2, 1\) is wanted.*\(2,\) was given"),
        (losses.Trajectory(["ball.z"], [[1.0]], [10, 20]), r"\(2, 1\) is wanted.*\(1, 1\) was given"),
    ):
        with pytest.raises(pullback.ShapeError, match=message):
            pullback.Problem(ball, ["ball.mass"], [wrong])
    with pytest.raises(pullback.SceneError, match="there is no particle `bal`"):
        pullback.Problem(ball, ["ball.mass"], [losses.Trajectory(["bal.z"], [[1.0]], [10])])


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            losses.Position("boxes[0]", [0, 0, 0], at="allways"),
            r"at is 'allways': \"end\", \"always\", a step",
        ),
        (losses.Position("boxes[0]", [0, 0, 0], at=[]), r"at is \[\]: at least one step is wanted"),
        (losses.Position("boxes[0]", [0, 0, 0], at=-1), "at is -1: a whole number, 0 or more, is wanted"),
        (losses.Position("boxes[0]", [0, 0, 0], at=[1, 2.5]), "at is 2.5: a whole number"),  # type: ignore[list-item]
        (losses.Position("boxes[0]", [0, 0, 0], at=None), "at is None: a whole number"),  # type: ignore[arg-type]
        (losses.Position("boxes[0]", [0, 0]), r"target is \[0, 0\]: Position has a target of 3 numbers"),
        (losses.Position("boxes[0]", "here"), "target is 'here': numbers are wanted"),
        (losses.Position("boxes[0]", [0, 0, 0], axes="xq"), r"axes is 'xq': some of \"x\", \"y\" and \"z\""),
        (losses.Position("boxes[0]", [0, 0, 0], axes=["x", "xy"]), r"axes is \['x', 'xy'\]: some of"),
        (losses.Position("boxes[0]", [0, 0, 0], axes=[]), r"axes is \[\]"),
        (losses.Position("boxes[0]", [0, 0, 0], axes=3), "axes is 3"),  # type: ignore[arg-type]
        (losses.Position("boxes[0]", [0, 0, 0], axes=""), "axes is ''"),
        (losses.Position("boxes[0]", [0, 0, 0], weight="big"), "weight is 'big': a number is wanted"),  # type: ignore[arg-type]
        (
            losses.Contact("boxes[0]", 1.0, quantity="position"),
            "quantity is 'position': one of \"normal-force\"",
        ),
        (losses.Contact("boxes[0]", [1, 2, 3]), "the normal-force of a contact has a target of one number"),
        (
            losses.Contact("boxes[0]", 1.0, quantity="force"),
            "the force of a contact has a target of 3 numbers",
        ),
        ("position", "'position' is no loss"),
    ],
)
def test_losses_that_make_no_sense_are_refused(part: Any, message: str) -> None:
    sim = pullback.Simulation(pullback.Model.parse(SLIDING))
    with pytest.raises(pullback.SettingError, match=message):
        pullback.Problem(sim, ["boxes*.mass"], [part])


def test_numbers_of_numpy_are_numbers() -> None:
    sim = pullback.Simulation(pullback.Model.parse(SLIDING))

    def value(target: Any, at: Any) -> float:
        problem = pullback.Problem(sim, ["boxes*.mass"], [losses.Position("boxes[0]", target, at=at)])
        return problem.value(problem.start)

    assert value(np.array([1.0, 2.0, 3.0]), np.int64(4)) == value([1, 2, 3], 4)
    assert value((1, 2, 3), np.array([4, 5])) == value([1, 2, 3], [4, 5])
    assert value([1, 2, 3], range(4, 6)) == value([1, 2, 3], [4, 5])
    force = losses.Contact("boxes[0]", np.array([1.0, 0.0, 2.0]), quantity="force", by="ground", axes="zx")
    assert pullback.Problem(sim, ["boxes*.mass"], [force]).check().right


def test_methods_that_make_no_sense_are_refused(throw: pullback.Problem) -> None:
    wrong: list[tuple[Any, str]] = [
        ("adam", r"method is 'adam': one of GradientDescent\(\), Adam\(\)"),
        (optimise.LBFGS(history=-1), "history is -1: a whole number, 1 or more"),
        (optimise.LBFGS(history=2.5), "history is 2.5"),  # type: ignore[arg-type]
        (optimise.CmaEs(seed=-1), "seed is -1: a whole number, 0 or more"),
        (
            optimise.CmaEs(seed=2**64),
            "seed is 18446744073709551616: a whole number, 18446744073709551615 or less",
        ),
        (optimise.CmaEs(population=2), "population is 2: a whole number, 4 or more"),
        (optimise.Adam(rate="fast"), "rate is 'fast': a number is wanted"),  # type: ignore[arg-type]
    ]
    for method, message in wrong:
        for call in (
            lambda method=method: throw.solve(method),
            lambda method=method: optimise.minimise(lambda z: (0.0, z), [1.0], method),
            lambda method=method: pullback.Problem(
                throw.simulation, ["ball.mass"], [losses.Position("ball", [0, 0, 0])], method=method
            ),
        ):
            with pytest.raises(pullback.SettingError, match=message):
                call()
    for iterations in (-1, 1.5):
        with pytest.raises(pullback.SettingError, match="iterations is .*: a whole number"):
            optimise.minimise(lambda z: (0.0, z), [1.0], iterations=iterations)  # type: ignore[arg-type]
        with pytest.raises(pullback.SettingError, match="iterations is .*: a whole number"):
            pullback.Problem(
                throw.simulation,
                ["ball.mass"],
                [losses.Position("ball", [0, 0, 0])],
                iterations=iterations,  # type: ignore[arg-type]
            )
    with pytest.raises(pullback.SettingError, match="patience is -3"):
        optimise.minimise(lambda z: (0.0, z), [1.0], patience=-3)
    with pytest.raises(pullback.ShapeError, match=r"lower: a number or shape \(1,\) is wanted, and \(2,\)"):
        optimise.minimise(lambda z: (0.0, z), [1.0], lower=[0.0, 1.0])


def test_a_seed_has_all_its_bits(throw: pullback.Problem) -> None:
    def second(seed: int) -> float:
        run = throw.begin(optimise.CmaEs(seed=seed))
        run.iterate()
        return run.history[-1].value

    assert second(2**53) != second(2**53 + 1)
    assert second(2**64 - 1) != second(2**64 - 2)
    assert second(np.int64(5)) == second(5)


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
