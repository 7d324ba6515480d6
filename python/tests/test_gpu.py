"""Rollouts on a GPU against those on the CPU; where there is none, what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import SCENES
from near import batch, start

import pullback

STEPS = 9

#: Some of the worlds of all tests: of kernels, and of operations that run on the CPU in between.
ON_GPU = ["particles", "soft", "elastic", "attached", "touching", "arm"]


def on_gpu(sim: pullback.Simulation, integrator: str = "semi-implicit-euler") -> pullback.Simulation:
    try:
        return sim.replace(device="gpu", integrator=integrator)
    except pullback.GpuError as error:
        if not str(error).startswith(("no CUDA driver", "no CUDA device")):
            raise
        pytest.skip(str(error))


def on_cpu(sim: pullback.Simulation) -> pullback.Simulation:
    return sim.replace(integrator="semi-implicit-euler")


def close(found: Any, wanted: Any, within: float) -> None:
    scale = np.abs(wanted).max()
    assert scale > 0
    assert np.abs(np.asarray(found) - wanted).max() <= within * scale


def test_devices_are_checked(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    assert sim.settings["device"] == "cpu"
    for device in ["cuda", "gpu:", "gpu:x", "gpu:" + 30 * "9", "cpu:0", 0, None]:
        with pytest.raises(pullback.SettingError, match='"cpu" is wanted, or "gpu"'):
            sim.replace(device=device)


def test_what_cannot_run_on_a_gpu_is_refused_without_one(simulations: dict[str, pullback.Simulation]) -> None:
    with pytest.raises(pullback.SettingError, match="reversible steps run on the CPU"):
        simulations["reversible"].replace(device="gpu")
    with pytest.raises(pullback.SettingError, match="hard contact runs on the CPU"):
        simulations["sliding"].replace(device="gpu", integrator="semi-implicit-euler")


def test_a_gpu_that_is_not_there_is_an_error(simulations: dict[str, pullback.Simulation]) -> None:
    with pytest.raises(pullback.GpuError, match=r"no CUDA d(river|evice 1000)"):
        on_cpu(simulations["particles"]).replace(device="gpu:1000")
    with pytest.raises(pullback.GpuError, match=r"no CUDA d(river|evice 1000)"):
        pullback.Problem.load(SCENES / "throw.toml", device="gpu:1000")
    with pytest.raises(pullback.SettingError, match='"cpu" is wanted, or "gpu"'):
        pullback.Problem.load(SCENES / "throw.toml", device="cuda")


@pytest.mark.parametrize("which", ON_GPU)
@pytest.mark.parametrize("memory", [pullback.EveryStep(), pullback.Binomial(2), pullback.Dense()])
def test_numpy(simulations: dict[str, pullback.Simulation], which: str, memory: Any) -> None:
    gpu, cpu = on_gpu(simulations[which]).replace(memory=memory), on_cpu(simulations[which])
    for at in (start(cpu, STEPS), batch(cpu, STEPS, 3)):
        wanted = cpu.rollout(*at)
        close(gpu.rollout(*at), wanted, 1e-12)
        assert np.array_equal(gpu.rollout(*at, last=True), gpu.rollout(*at)[..., -1, :])
        bars = np.random.default_rng(1).standard_normal(wanted.shape)
        for found, exact in zip(gpu.rollout_vjp(*at)[1](bars), cpu.rollout_vjp(*at)[1](bars), strict=True):
            if exact.size:
                close(found, exact, 1e-10)


@pytest.mark.parametrize("which", ["implicit", "elastic", "attached", "touching"])
@pytest.mark.parametrize("memory", [pullback.EveryStep(), pullback.Binomial(2), pullback.Dense()])
def test_implicit_steps(simulations: dict[str, pullback.Simulation], which: str, memory: Any) -> None:
    rule = "backward-euler"
    gpu, cpu = (
        on_gpu(simulations[which], rule).replace(memory=memory),
        simulations[which].replace(integrator=rule),
    )
    for at in (start(cpu, STEPS), batch(cpu, STEPS, 3)):
        wanted = cpu.rollout(*at)
        close(gpu.rollout(*at), wanted, 1e-9)
        bars = np.random.default_rng(1).standard_normal(wanted.shape)
        for found, exact in zip(gpu.rollout_vjp(*at)[1](bars), cpu.rollout_vjp(*at)[1](bars), strict=True):
            if exact.size:
                close(found, exact, 1e-7)


def test_problems(simulations: dict[str, pullback.Simulation]) -> None:
    sims = on_gpu(simulations["particles"]), on_cpu(simulations["particles"])
    loss = [pullback.losses.Position("ball", [1, 0, 1])]
    gpu, cpu = (pullback.Problem(sim, ["ball.mass", "initial.ball.velocity"], loss) for sim in sims)
    (value, found), (wanted, exact) = gpu.gradient(gpu.start), cpu.gradient(cpu.start)
    assert value == pytest.approx(wanted, rel=1e-12)
    close(found, exact, 1e-10)
    assert gpu.solve().value == pytest.approx(cpu.solve().value, abs=1e-12)
    of_file = pullback.Problem.load(SCENES / "throw.toml", device="gpu")
    assert of_file.solve().value < 1e-12
    assert repr(of_file.simulation).endswith(", on gpu>")


@pytest.mark.parametrize("which", ON_GPU)
def test_torch(simulations: dict[str, pullback.Simulation], which: str) -> None:
    torch = pytest.importorskip("torch")
    gpu, cpu = on_gpu(simulations[which]), on_cpu(simulations[which])
    at = [torch.tensor(a, requires_grad=True) for a in start(cpu, STEPS)]
    found, wanted = (torch.autograd.grad(sim.rollout(*at).square().sum(), at) for sim in (gpu, cpu))
    for a, b in zip(found, wanted, strict=True):
        if b.numel():
            close(a, b.numpy(), 1e-10)
    single = [torch.tensor(a, dtype=torch.float32, requires_grad=True) for a in start(cpu, STEPS)]
    (by_theta,) = torch.autograd.grad(gpu.rollout(*single, last=True).square().sum(), single[2:])
    (exact,) = torch.autograd.grad(cpu.rollout(*at, last=True).square().sum(), at[2:])
    assert by_theta.dtype == torch.float32
    close(by_theta, exact.numpy(), 2e-3)


@pytest.mark.parametrize("which", ON_GPU)
def test_jax(simulations: dict[str, pullback.Simulation], which: str) -> None:
    jax = pytest.importorskip("jax")
    gpu, cpu = on_gpu(simulations[which]), on_cpu(simulations[which])
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        at = [jax.numpy.asarray(a) for a in start(cpu, STEPS)]

        def gradient(sim: pullback.Simulation) -> Any:
            return jax.jit(jax.grad(lambda *at: (sim.rollout(*at) ** 2).sum(), argnums=(0, 1, 2)))(*at)

        for a, b in zip(gradient(gpu), gradient(cpu), strict=True):
            if b.size:
                close(a, np.asarray(b), 1e-10)


def test_policies_are_refused(simulations: dict[str, pullback.Simulation]) -> None:
    sim = on_gpu(simulations["particles"])
    x, u, theta = start(sim, STEPS)
    with pytest.raises(pullback.SettingError, match="steps on the CPU"):
        sim.rollout(x, lambda x: u[0], theta, steps=2)
    assert repr(sim).endswith(", on gpu>")


@pytest.mark.parametrize("last", [False, True])
def test_what_is_not_finite_is_named(simulations: dict[str, pullback.Simulation], last: bool) -> None:
    sims = [on_gpu(simulations["particles"]), on_cpu(simulations["particles"])]
    x, u, theta = start(sims[1], STEPS)
    x[:] = 1e200
    errors = []
    for sim in sims:
        with pytest.raises(pullback.RolloutError) as caught:
            sim.rollout(x, u, theta, last=last)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
