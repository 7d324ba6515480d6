"""Operations as autograd functions of torch: gradients, forward-mode tangents, and `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import Function

from ._arrays import too_large
from ._library import plain
from ._operation import ONCE, Operation, Plan, Shape, Three
from ._torch_batch import Dims, front, lift, ranks
from .errors import DeviceError, DtypeError, Error

DOUBLE, SINGLE = torch.float64, torch.float32

#: Is a transform of `torch.func` at work? Functions that know of them cost 20 us more a call.
_transformed: Callable[[], bool] = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)


def forward(operation: Operation, x: Any, u: Any, theta: Any) -> Tensor:
    """What comes out, with its place in the graph."""
    x, u, theta = _prepare(x, u, theta)
    function = Forward if _transformed() else Plain
    out: Tensor = function.apply(x, u, theta, operation)
    return out


def _prepare(x: Any, u: Any, theta: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Contiguous tensors of one type in the memory of the CPU; what is no tensor becomes one."""
    given = (x, u, theta)
    if not (type(x) is type(u) is type(theta) is Tensor):
        dtype = next(a.dtype for a in (x, u, theta) if isinstance(a, Tensor))
        x, u, theta = (
            a if isinstance(a, Tensor) else copied(a, dtype, name)
            for name, a in zip(("x", "u", "theta"), given, strict=True)
        )
    dtype = x.dtype
    if not (x.is_cpu and u.is_cpu and theta.is_cpu):
        where = ", ".join(
            f"{n} is on {a.device}" for n, a in zip(("x", "u", "theta"), (x, u, theta), strict=True)
        )
        raise DeviceError(f"{where}: the cpu is wanted")
    if u.dtype is not dtype or theta.dtype is not dtype or (dtype is not DOUBLE and dtype is not SINGLE):
        types = ", ".join(
            f"{n} has {a.dtype}"
            for n, a, was in zip(("x", "u", "theta"), (x, u, theta), given, strict=True)
            if isinstance(was, (Tensor, np.ndarray))
        )
        raise DtypeError(f"{types}: torch.float64 or torch.float32 is wanted, the same for all")
    return x.contiguous(), u.contiguous(), theta.contiguous()


def copied(a: Any, dtype: torch.dtype, name: str = "x") -> Tensor:
    """A tensor of its own: the way back needs the numbers as they are now, whatever is written to them later.

    An array of NumPy keeps its type, which is to be that of the tensors; lists, states, params and defaults have that of these.
    """
    return torch.tensor(a) if isinstance(a, np.ndarray) else torch.tensor(plain(name, a), dtype=dtype)


def _empty(shape: Shape, dtype: torch.dtype) -> Tensor:
    """A tensor with nothing in it yet."""
    try:
        return torch.empty(shape, dtype=dtype)
    except RuntimeError:
        raise too_large(shape, dtype.itemsize) from None


def _aligned(a: Tensor) -> Tensor:
    """The same numbers at an address of such numbers."""
    return a if a.data_ptr() % a.element_size() == 0 else a.clone()


def _addresses(x: Tensor, u: Tensor, theta: Tensor) -> Three:
    return (x.data_ptr(), u.data_ptr(), theta.data_ptr())


def _plan(operation: Operation, x: Tensor, u: Tensor, theta: Tensor) -> Plan:
    return operation.plan(x.shape, u.shape, theta.shape)


class Forward(Function):
    """(x, u, theta) to states."""

    @staticmethod
    def forward(x: Tensor, u: Tensor, theta: Tensor, operation: Operation) -> Tensor:
        """Runs the operation."""
        plan = operation.plan(x.shape, u.shape, theta.shape)
        out = _empty(plan.out, x.dtype)
        at = (x.data_ptr(), u.data_ptr(), theta.data_ptr())
        if (at[0] | at[1] | at[2]) & 7:
            x, u, theta = _aligned(x), _aligned(u), _aligned(theta)
            at = _addresses(x, u, theta)
        operation.forward(x.dtype is SINGLE, plan, at, out.data_ptr())
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Keeps the arguments and the result, and nothing else."""
        x, u, theta, ctx.operation = inputs
        ctx.save_for_backward(x, u, theta, output)
        ctx.save_for_forward(x, u, theta)

    @staticmethod
    def backward(ctx: Any, out_bar: Tensor) -> tuple[Tensor | None, ...]:
        """Cotangents of the arguments."""
        needs = ctx.needs_input_grad
        wanted = (needs[0], needs[1], needs[2])
        found = iter(Pullback.apply(*ctx.saved_tensors, out_bar, ctx.operation, wanted))
        return (*(next(found) if want else None for want in wanted), None)

    @staticmethod
    def jvp(ctx: Any, x_dot: Any, u_dot: Any, theta_dot: Any, _: Any) -> Tensor:
        """The tangent of the result."""
        at = ctx.saved_tensors
        given = zip(at, (x_dot, u_dot, theta_dot), strict=True)
        dots = [torch.zeros_like(a) if dot is None else dot.to(a.dtype) for a, dot in given]
        out_dot: Tensor = Pushforward.apply(*at, *dots, ctx.operation)
        return out_dot

    @staticmethod
    def vmap(
        info: Any, dims: Dims, x: Tensor, u: Tensor, theta: Tensor, operation: Operation
    ) -> tuple[Tensor, int]:
        """One more batch in front."""
        lifted = lift(info.batch_size, operation, dims[:3], (x, u, theta), all_of_them=False)
        return Forward.apply(*lifted, operation), 0


class Plain(Function):
    """The same without `torch.func`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, u: Tensor, theta: Tensor, operation: Operation) -> Tensor:
        """Runs the operation."""
        out = Forward.forward(x, u, theta, operation)
        ctx.operation = operation
        ctx.save_for_backward(x, u, theta, out)
        ctx.save_for_forward(x, u, theta)
        return out

    @staticmethod
    def backward(ctx: Any, out_bar: Tensor) -> tuple[Tensor | None, ...]:
        """Cotangents of the arguments."""
        needs = ctx.needs_input_grad
        if torch.is_grad_enabled():
            return Forward.backward(ctx, out_bar)
        x, u, theta, out = ctx.saved_tensors
        return (*_pull(x, u, theta, out, out_bar, ctx.operation, (needs[0], needs[1], needs[2])), None)

    jvp = Forward.jvp


def _pull(
    x: Tensor,
    u: Tensor,
    theta: Tensor,
    out: Tensor,
    out_bar: Tensor,
    operation: Operation,
    wanted: tuple[bool, bool, bool],
) -> list[Tensor | None]:
    """Runs the pullback; none where a cotangent is not wanted."""
    dtype = x.dtype
    bar = _aligned(out_bar.to(dtype).contiguous())
    x, u, theta, out = _aligned(x), _aligned(u), _aligned(theta), _aligned(out)
    bars = [torch.empty_like(a) if want else None for a, want in zip((x, u, theta), wanted, strict=True)]
    p, q, r = (0 if a is None else a.data_ptr() for a in bars)
    plan = operation.plan(x.shape, u.shape, theta.shape)
    operation.pullback(
        dtype is SINGLE,
        plan,
        (x.data_ptr(), u.data_ptr(), theta.data_ptr()),
        out.data_ptr(),
        bar.data_ptr(),
        (p, q, r),
    )
    return bars


class Pullback(Function):
    """Cotangents of those arguments that are wanted."""

    @staticmethod
    def forward(
        x: Tensor,
        u: Tensor,
        theta: Tensor,
        out: Tensor,
        out_bar: Tensor,
        operation: Operation,
        wanted: tuple[bool, bool, bool],
    ) -> tuple[Tensor, ...]:
        """Runs the pullback."""
        bars = _pull(x, u, theta, out, out_bar, operation, wanted)
        return tuple(a for a in bars if a is not None)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        """Keeps nothing: it cannot be differentiated."""

    @staticmethod
    def backward(ctx: Any, *bars: Tensor) -> Any:
        """Refuses."""
        raise Error(ONCE)

    @staticmethod
    def vmap(
        info: Any,
        dims: Dims,
        x: Tensor,
        u: Tensor,
        theta: Tensor,
        out: Tensor,
        out_bar: Tensor,
        operation: Operation,
        wanted: tuple[bool, bool, bool],
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """One more batch in front; what worlds of it share gets a cotangent for each of them."""
        size = info.batch_size
        arguments = (x, u, theta)
        inside = ranks(operation, dims[:3], arguments)
        lifted = lift(size, operation, dims[:3], arguments, all_of_them=True)
        plan = _plan(operation, *lifted)
        out, out_bar = (
            front(size, dim, a).expand(plan.out).contiguous()
            for dim, a in zip(dims[3:5], (out, out_bar), strict=True)
        )
        found = iter(Pullback.apply(*lifted, out, out_bar, operation, wanted))
        inner = max(inside)
        bars = []
        for want, rank in zip(wanted, inside, strict=True):
            if want:
                bar = next(found)
                # What the worlds inside share was given to each of them.
                bars.append(bar.sum(tuple(range(1, 1 + inner))) if rank == 0 and inner > 0 else bar)
        return tuple(bars), (0,) * len(bars)


class Pushforward(Function):
    """The tangent of what comes out."""

    @staticmethod
    def forward(
        x: Tensor,
        u: Tensor,
        theta: Tensor,
        x_dot: Tensor,
        u_dot: Tensor,
        theta_dot: Tensor,
        operation: Operation,
    ) -> Tensor:
        """Runs the pushforward."""
        plan = _plan(operation, x, u, theta)
        out, out_dot = (_empty(plan.out, x.dtype) for _ in range(2))
        dots = tuple(_aligned(a.contiguous()) for a in (x_dot, u_dot, theta_dot))
        x, u, theta = _aligned(x), _aligned(u), _aligned(theta)
        operation.pushforward(
            x.dtype is SINGLE,
            plan,
            _addresses(x, u, theta),
            _addresses(*dots),
            out.data_ptr(),
            out_dot.data_ptr(),
        )
        return out_dot

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Keeps the arguments: it is linear in the tangents."""
        ctx.operation = inputs[6]
        ctx.save_for_backward(*inputs[:3])

    @staticmethod
    def backward(ctx: Any, out_bar: Tensor) -> tuple[Tensor | None, ...]:
        """Cotangents of the tangents; there are no second derivatives by the arguments."""
        if any(ctx.needs_input_grad[:3]):
            Pullback.backward(ctx)
        x, u, theta = ctx.saved_tensors
        out = Forward.apply(x, u, theta, ctx.operation)
        bars = Pullback.apply(x, u, theta, out, out_bar, ctx.operation, (True, True, True))
        return (None, None, None, *bars, None)

    @staticmethod
    def vmap(info: Any, dims: Dims, *inputs: Any) -> tuple[Tensor, int]:
        """One more batch in front, for arguments and tangents alike."""
        operation: Operation = inputs[6]
        at = lift(info.batch_size, operation, dims[:3], inputs[:3], all_of_them=True)
        dots = lift(info.batch_size, operation, dims[3:6], inputs[3:6], all_of_them=True)
        return Pushforward.apply(
            *at, *(d.expand_as(a).contiguous() for a, d in zip(at, dots, strict=True)), operation
        ), 0
