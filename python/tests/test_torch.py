"""Steps and rollouts as autograd functions of torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from near import batch, free_params, start, tangents

import pullback

torch = pytest.importorskip("torch")
func = torch.func


def tensors(*arrays: Any, grad: bool = True, dtype: Any = torch.float64) -> list[Any]:
    return [torch.tensor(a, dtype=dtype, requires_grad=grad) for a in arrays]


def test_results_are_those_of_numpy_to_the_last_bit(sim: pullback.Simulation) -> None:
    x, u, theta = batch(sim, 3, 2)
    states, pull = sim.rollout_vjp(x, u, theta[0])
    bar = np.cos(np.arange(states.size)).reshape(states.shape)
    bars = pull(bar)
    given = tensors(x, u, theta[0])
    out = sim.rollout(given[0], given[1], given[2])
    assert isinstance(out, torch.Tensor)
    assert np.array_equal(out.detach().numpy(), states)
    out.backward(torch.from_numpy(bar))
    for tensor, wanted in zip(given, bars, strict=True):
        assert np.array_equal(tensor.grad.numpy(), wanted)
    step = sim.step(given[0], given[1][:, 0], given[2])
    assert np.array_equal(step.detach().numpy(), states[:, 1])


def test_a_gradient_is_of_what_was_given(simulations: dict[str, pullback.Simulation]) -> None:
    """Whatever is written later to arrays, states and params that were mixed with tensors."""
    sim = simulations["particles"]
    x, u, theta = start(sim, 3)

    def gradient(later: Any) -> Any:
        controls, state, params = u.copy(), sim.model.state(x), sim.model.params(theta)
        leaves = tensors(x, theta)
        first = sim.rollout(leaves[0], controls, params)
        second = sim.rollout(state, controls, leaves[1])
        later(controls, state, params)
        (first.sin() * second).sum().backward()
        return [leaf.grad for leaf in leaves]

    def write(controls: Any, state: Any, params: Any) -> None:
        controls[...] = 0.5
        state.values[...] = 0.5
        params["ball.mass"] = 5.0

    wanted = gradient(lambda *_: None)
    assert all(torch.equal(a, b) for a, b in zip(gradient(write), wanted, strict=True))


def test_tensors_may_lie_anywhere(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    given = start(sim, 2)

    def moved(a: Any) -> Any:
        room = bytearray(b"." + a.tobytes())
        tensor = torch.from_numpy(np.frombuffer(room, a.dtype, offset=1).reshape(a.shape))
        assert tensor.data_ptr() % 8 == 1
        return tensor.requires_grad_()

    at, elsewhere = tensors(*given), [moved(a) for a in given]
    results = []
    for arguments in (at, elsewhere):
        out = sim.rollout(*arguments)
        dot = func.jvp(sim.rollout, tuple(arguments), tuple(torch.ones_like(a) for a in arguments))[1]
        results.append([out, dot, *torch.autograd.grad(out.sin().sum(), arguments)])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_worlds_of_a_batch_have_steps_of_their_own(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["driven"]
    x, u, theta = tensors(*batch(sim, 1, 3))
    u = u[:, 0]
    numbers = torch.tensor([4, 0, 9])
    together = sim.step(x, u, theta, index=numbers)
    alone = torch.stack([sim.step(x[i], u[i], theta[i], index=int(numbers[i])) for i in range(3)])
    assert torch.equal(together, alone)
    assert not torch.equal(together, sim.step(x, u, theta))
    bars = [torch.autograd.grad(out.sin().sum(), (x, theta)) for out in (together, alone)]
    assert all(torch.equal(a, b) for a, b in zip(*bars, strict=True))
    late = func.vmap(lambda x, u, theta: sim.step(x, u, theta, index=9))(x, u, theta)
    assert torch.equal(late[2], alone[2])
    nested = func.vmap(lambda theta: sim.step(x, u, theta, index=numbers))(theta)
    assert torch.equal(nested[1, 2], sim.step(x[2], u[2], theta[1], index=9))


@pytest.mark.parametrize("worlds", [None, 2])
def test_gradcheck(sim: pullback.Simulation, worlds: int | None) -> None:
    """By differences of the stored numbers, along directions that stay where the engine looks."""
    if worlds is None:
        x, u, theta = start(sim, 2)
    else:
        x, u, theta = batch(sim, 2, worlds)
        theta = theta[0]
    base = tensors(x, u, theta, grad=False)
    ways = torch.tensor(tangents(sim, x.reshape(-1, x.shape[-1])[0]))
    free = torch.tensor(free_params(sim))
    zeros = [
        torch.zeros(shape, dtype=torch.float64)
        for shape in ((*x.shape[:-1], len(ways)), theta.shape, u.shape)
    ]
    # Without controls there is nothing to differentiate by.
    given = [z.requires_grad_() for z in zeros if z.numel()]

    def at(a: Any, c: Any, b: Any = 0.0) -> tuple[Any, Any, Any]:
        return base[0] + a @ ways, base[1] + b, base[2] * (1 + c * free)

    def step(*moved: Any) -> Any:
        x, u, theta = at(*moved)
        return sim.step(x, u[..., 0, :], theta)

    def rollout(*moved: Any) -> Any:
        return sim.rollout(*at(*moved))

    settings: dict[str, Any] = {"nondet_tol": 0.0, "fast_mode": True}
    for f in (step, rollout):
        assert torch.autograd.gradcheck(f, given, check_forward_ad=True, **settings)


def test_func_transforms_agree(sim: pullback.Simulation) -> None:
    x, u, theta = tensors(*start(sim, 1), grad=False)
    u = u[0]

    def f(x: Any, u: Any, theta: Any) -> Any:
        return sim.step(x, u, theta)

    rev = func.jacrev(f, argnums=(0, 1, 2))(x, u, theta)
    fwd = func.jacfwd(f, argnums=(0, 1, 2))(x, u, theta)
    for a, b in zip(rev, fwd, strict=True):
        assert torch.allclose(a, b, rtol=1e-8, atol=1e-8 * (1 + float(b.abs().max()) if b.numel() else 1.0))
    out, pull = func.vjp(f, x, u, theta)
    bar = torch.cos(torch.arange(out.numel(), dtype=torch.float64))
    dots = [torch.sin(torch.arange(a.numel(), dtype=torch.float64)).reshape(a.shape) for a in (x, u, theta)]
    _, out_dot = func.jvp(f, (x, u, theta), tuple(dots))
    backwards = sum((a * b).sum() for a, b in zip(pull(bar), dots, strict=True))
    assert torch.allclose(
        (bar * out_dot).sum(), backwards, rtol=1e-9, atol=1e-9 * float((bar * out_dot).abs().sum())
    )


def test_vmap_is_a_batch(sim: pullback.Simulation) -> None:
    x, u, theta = tensors(*batch(sim, 2, 3), grad=False)
    wanted = sim.rollout(x, u, theta)
    assert torch.equal(func.vmap(sim.rollout)(x, u, theta), wanted)
    shared = func.vmap(lambda x: sim.rollout(x, u[0], theta[0]))(x)
    assert torch.equal(shared, sim.rollout(x, u[0], theta[0]))
    moved = func.vmap(lambda x: sim.rollout(x, u[0], theta[0]), in_dims=1)(x.T.contiguous())
    assert torch.equal(moved, shared)
    nested = func.vmap(func.vmap(lambda x, t: sim.rollout(x, u[0], t), (0, None)), (None, 0))(x, theta)
    assert nested.shape[:2] == (3, 3)
    assert torch.equal(nested[1, 2], sim.rollout(x[2], u[0], theta[1]))

    def loss(theta: Any, x: Any) -> Any:
        return sim.rollout(x, u[0], theta).sin().sum()

    each = func.vmap(func.grad(loss), (None, 0))(theta[0], x)
    for i in range(3):
        assert torch.equal(each[i], func.grad(loss)(theta[0], x[i]))
    inner = func.vmap(func.grad(loss), (0, None))(theta, x)
    assert inner.shape == theta.shape
    assert torch.allclose(inner[1], func.grad(loss)(theta[1], x), rtol=1e-12, atol=1e-12)


def test_single_precision(sim: pullback.Simulation) -> None:
    x, u, theta = tensors(*start(sim, 2), dtype=torch.float32)
    if sim.settings["integrator"] == "reversible-verlet":
        for run in (sim.step, sim.rollout):
            with pytest.raises(pullback.SettingError, match="needs double precision"):
                run(x)
        return
    out = sim.rollout(x, u, theta)
    assert out.dtype is torch.float32
    out.sum().backward()
    assert x.grad.dtype is torch.float32
    numpy = sim.rollout(*(a.detach().numpy() for a in (x, u, theta)))
    assert np.array_equal(out.detach().numpy(), numpy)
    assert sim.step(x).dtype is torch.float32, "defaults take the type of what is given"


def test_a_policy_in_the_loop(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"].replace(steps=12)
    torch.manual_seed(0)
    policy = torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).double()
    x = torch.stack([sim.model.state().torch()] * 3) + 0.01 * torch.arange(3).reshape(3, 1)
    theta = sim.model.params().torch(requires_grad=True)

    def gradients(states: Any) -> list[Any]:
        loss = (states[..., -1, :] if states.ndim == 3 else states).square().sum()
        return [loss, *torch.autograd.grad(loss, [theta, *policy.parameters()])]

    by_hand = x
    states = [x]
    for index in range(12):
        by_hand = sim.step(by_hand, policy(by_hand), theta, index=index)
        states.append(by_hand)
    reference = gradients(torch.stack(states, dim=1))
    assert float(reference[2].abs().sum()) > 0
    for memory in (pullback.EveryStep(), pullback.Binomial(3), pullback.Binomial(5)):
        fused = sim.replace(memory=memory)
        for found in (fused.rollout(x, policy, theta), fused.rollout(x, policy, theta, last=True)):
            for a, b in zip(gradients(found), reference, strict=True):
                assert torch.equal(a, b), memory
    with pytest.raises(pullback.SettingError, match="EveryStep"):
        sim.replace(memory=pullback.Dense()).rollout(x, policy, theta)
    for cut in ({"truncate": 4}, {"clip": 0.1}):
        with pytest.raises(pullback.SettingError, match=f"{next(iter(cut))} is .*: a rollout with a policy"):
            sim.replace(**cut).rollout(x, policy, theta)


def test_a_policy_of_torch_makes_a_rollout_of_torch(simulations: dict[str, pullback.Simulation]) -> None:
    """Also where the state is none."""
    sim = simulations["driven"].replace(steps=5)
    torch.manual_seed(0)
    policy = torch.nn.Linear(12, 3).double()
    wanted = sim.rollout(sim.model.state().torch(), policy)
    theta = sim.model.params().torch(requires_grad=True)
    for found in (
        sim.rollout(sim.model.state(), policy),
        sim.rollout(sim.model.state().values, policy, theta),
        sim.rollout(sim.model.state(), lambda x: policy(x), theta),
    ):
        assert isinstance(found, torch.Tensor)
        assert torch.equal(found, wanted)
        assert torch.autograd.grad(found.sin().sum(), policy.weight)[0].abs().sum() > 0
    x = sim.model.state().torch()
    for index in range(5):
        x = sim.step(x, policy(x), index=index)
    assert torch.equal(wanted[-1], x)


def test_wrong_tensors_are_refused(simulations: dict[str, pullback.Simulation]) -> None:
    sim = simulations["particles"]
    x, u, theta = tensors(*start(sim, 1))
    with pytest.raises(
        pullback.DtypeError, match=r"x has torch.int64.*torch.float64 or torch.float32 is wanted"
    ):
        sim.step(x.to(torch.int64))
    with pytest.raises(pullback.DtypeError, match="the same for all"):
        sim.step(x.float(), u[0], theta)
    with pytest.raises(pullback.ShapeError, match=r"x: shape \(\.\.\., 12\) is wanted, and \(3,\) was given"):
        sim.step(x[:3])
    with pytest.raises(pullback.DeviceError, match="x is on meta"):
        sim.step(x.to("meta"))
    with pytest.raises(pullback.RolloutError):
        sim.replace(dt=10.0, integrator="explicit-euler").rollout(x, steps=2000)
    with pytest.raises(pullback.Error, match="gradient of a gradient"):
        out = sim.step(x, u[0], theta).sum()
        (first,) = torch.autograd.grad(out, x, create_graph=True)
        first.sum().backward()
    single = x.detach().float()
    calls: list[Any] = [
        lambda: sim.step(single, sim.model.controls(1)[0]),
        lambda: sim.step(single, None, sim.model.params().values),
        lambda: sim.rollout(single, sim.model.controls(3)),
    ]
    for wrong in calls:
        with pytest.raises(pullback.DtypeError, match="has torch.float64.*the same for all"):
            wrong()
    assert sim.step(single, [0.0, 0.0, 0.0], sim.model.params()).dtype is torch.float32
    calls = [
        lambda: sim.step_vjp(x),
        lambda: sim.rollout_vjp(x.detach().numpy(), None, theta),
        lambda: sim.step_jvp(sim.model.state(), x_dot=x),
        lambda: sim.gradient(lambda states: (0.0, states), x),
        lambda: sim.linearise(x),
        lambda: sim.step_vjp(sim.model.state())[1](x),
    ]
    for wrong in calls:
        with pytest.raises(pullback.DtypeError, match="is of torch: an array of NumPy is wanted here"):
            wrong()
    for cut in ({"truncate": 4}, {"clip": 0.5}):
        with pytest.raises(pullback.SettingError, match="has no forward mode"):
            func.jacfwd(sim.replace(**cut).rollout)(x.detach())
    mixed = sim.step(x, sim.model.controls(1)[0], sim.model.params())
    assert torch.equal(
        mixed, sim.step(x, torch.from_numpy(sim.model.controls(1)[0]), sim.model.params().torch())
    )


def test_arrays_are_shared_with_torch(simulations: dict[str, pullback.Simulation]) -> None:
    state = simulations["particles"].model.state()
    tensor = torch.from_dlpack(state)
    tensor[0] = 42.0
    assert state.values[0] == 42.0
    assert tensor.data_ptr() == state.values.__array_interface__["data"][0]
