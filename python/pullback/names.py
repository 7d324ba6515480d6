"""Flat vectors with named parts: states, controls and params."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import aligned
from .errors import ShapeError
from .layout import Layout, Quantity

if TYPE_CHECKING:
    import jax
    import torch

    from .model import Model

__all__ = ["Control", "Layout", "Params", "Quantity", "State"]

Self = TypeVar("Self", bound="Named")


class Named:
    """A flat vector whose parts have names.

    Parameters
    ----------
    model : Model
        Whose vector it is.
    values : array_like, optional
        The numbers, in the order of the layout; those of the scene by default. They are copied.

    Attributes
    ----------
    values : ndarray of float64, shape (len(layout),)
        The numbers, aligned to 64 bytes. They may be written to, without any check.
    """

    model: Model
    layout: Layout
    values: NDArray[np.float64]

    def __init__(self, model: Model, values: ArrayLike | None = None) -> None:
        self.model = model
        self.layout = self._layout_of(model)
        numbers = self.layout._core.values() if values is None else values
        given = np.asarray(numbers, dtype=np.float64)
        if given.shape != (len(self.layout),):
            raise ShapeError(
                f"{type(self).__name__}: shape {(len(self.layout),)} is wanted, and {given.shape} was given"
            )
        self.values = aligned(given)

    @staticmethod
    def _layout_of(model: Model) -> Layout:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, name: str) -> Any:
        """The number with this name as a `float`, or the numbers as a view of `values`: (3,), (4,), (count,) or (count, 3)."""
        where, shape = self.layout._find(name)
        return float(self.values[where.start]) if shape == () else self.values[where].reshape(shape)

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        """Sets the numbers with this name; those of a group may be one for all. Refuses what makes no sense."""
        where, shape = self.layout._find(name)
        try:
            numbers = np.broadcast_to(np.asarray(value, dtype=np.float64), shape)
        except ValueError:
            raise ShapeError(f"`{name}`: shape {shape} is wanted, and {np.shape(value)} was given") from None
        self.layout._core.check_set(name, numbers.ravel().tolist())
        self.values[where] = numbers.ravel()

    def __contains__(self, name: object) -> bool:
        return name in self.layout

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.names)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Every name with its value."""
        return ((name, self[name]) for name in self.layout.names)

    def select(self, pattern: str) -> dict[str, Any]:
        """The values whose names match a glob, such as `"*.stiffness"`."""
        wanted = set(self.layout.select(pattern).tolist())
        return {q.name: self[q.name] for q in self.layout.quantities if q.where.start in wanted}

    def check(self) -> None:
        """Raises `RangeError` unless every number is finite and in its range."""
        self.layout._core.check(self.values.tolist())

    def retract(self: Self, tangent: ArrayLike) -> Self:
        """The vector that is reached along a tangent, of shape (layout.tangent_len,): on the manifold."""
        numbers = np.asarray(tangent, dtype=np.float64).tolist()
        return type(self)(self.model, self.layout._core.retract(self.values.tolist(), numbers))

    def _retract_all(self, tangents: NDArray[np.float64]) -> NDArray[np.float64]:
        """The vectors that are reached along tangents, a row for each."""
        reached = self.layout._core.retract_all(self.values.tolist(), tangents.ravel().tolist())
        return np.array(reached).reshape(len(tangents), len(self))

    def difference(self: Self, to: Self) -> NDArray[np.float64]:
        """The tangent that leads from here to another vector: `x.retract(x.difference(y))` is y."""
        return np.array(self.layout._core.difference(self.values.tolist(), to.values.tolist()))

    def to_tangent(self, bars: ArrayLike) -> NDArray[np.float64]:
        """A cotangent of the stored numbers at this vector, as one of tangents."""
        numbers = np.asarray(bars, dtype=np.float64).tolist()
        return np.array(self.layout._core.to_tangent(self.values.tolist(), numbers))

    def torch(self, dtype: torch.dtype | None = None, *, requires_grad: bool = False) -> torch.Tensor:
        """A copy as a torch tensor, `float64` unless another type is asked for."""
        import torch

        copied = torch.from_numpy(self.values.copy()).to(dtype or torch.float64)
        return copied.requires_grad_(requires_grad)

    def jax(self, dtype: Any = None) -> jax.Array:
        """A copy as a JAX array, in the widest type that JAX is set to."""
        import jax.numpy as jnp

        return jnp.array(self.values, dtype=dtype)

    def copy(self: Self) -> Self:
        """Another vector with the same numbers."""
        return type(self)(self.model, self.values)

    __copy__ = copy

    def __deepcopy__(self: Self, memo: dict[int, Any]) -> Self:
        return type(self)(copy.deepcopy(self.model, memo), self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.model, np.array(self.values)))

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and isinstance(other, Named)
            and bool(np.array_equal(self.values, other.values))
        )

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __dlpack__(self, **how: Any) -> Any:
        """The numbers for other libraries, without a copy."""
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()

    def __repr__(self) -> str:
        lines = [f"  {q.name} = {_short(self[q.name])} {q.unit}" for q in self.layout.quantities[:12]]
        more = len(self.layout.quantities) - len(lines)
        tail = [f"  ... and {more} more"] if more > 0 else []
        return "\n".join([f"{type(self).__name__} of {self.model.name!r}:", *lines, *tail])


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=6, separator=", ")


class State(Named):
    """Configuration and velocity of everything: `ball.position` [m], `arm.elbow.velocity` [rad/s]."""

    @staticmethod
    def _layout_of(model: Model) -> Layout:
        return model.state_layout


class Control(Named):
    """What is applied from outside in one step: `thruster.force` [N]."""

    @staticmethod
    def _layout_of(model: Model) -> Layout:
        return model.control_layout


class Params(Named):
    """Every physical number that can be differentiated: `ball.mass` [kg], `gravity` [m/s²]."""

    @staticmethod
    def _layout_of(model: Model) -> Layout:
        return model.params_layout
