"""What a check of a problem finds: are its gradients right, and of use?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Audit", "Health"]

Doubles: TypeAlias = NDArray[np.float64]

#: How many rows a summary has.
WORST = 5


@dataclass(frozen=True)
class Audit:
    """A derivative beside a difference, in the variable's unit; `verdict` is `"right"`, `"WRONG"` or `"unclear"`."""

    name: str
    unit: str
    derivative: float
    difference: float
    error: float
    doubt: float
    verdict: str


@dataclass(frozen=True, repr=False)
class Health:
    """What a check of a problem found; printed, its summary. `table()` is the whole audit as text.

    Attributes
    ----------
    audit : list of Audit
        The gradient by some variables, beside finite differences.
    zeros : dict of str to str
        Why derivatives by numbers of contacts are zero, where that can be told.
    reach : float or None
        The longest step, in scaled variables, up to which the gradient is of use.
    energy : dict
        `times` [s], `kinetic` and `potential` [J], whether it is `conserved`, and its `drift` [J].
    growth : dict
        How gradients grow on their way back: `rate` [1/s], `total` factor, `verdict` and a `sentence` for people.
    norms : ndarray, shape (steps + 1,)
        Of the cotangent of each state.
    value : float
        The loss.
    """

    audit: list[Audit]
    zeros: dict[str, str]
    reach: float | None
    energy: dict[str, Any]
    growth: dict[str, Any]
    norms: Doubles
    value: float

    @property
    def right(self) -> bool:
        """Is no derivative wrong."""
        return all(audit.verdict != "WRONG" for audit in self.audit)

    @classmethod
    def of(cls, found: tuple[Any, ...]) -> Health:
        """From what the core says."""
        audit, zeros, reach, energy, growth, norms, value = found
        times, kinetic, potential, conserved, drift = energy
        rate, total, verdict, sentence = growth
        return cls(
            [Audit(*one) for one in audit],
            dict(zeros),
            reach,
            {
                "times": np.array(times),
                "kinetic": np.array(kinetic),
                "potential": np.array(potential),
                "conserved": conserved,
                "drift": drift,
            },
            {"rate": rate, "total": total, "verdict": verdict, "sentence": sentence},
            np.array(norms),
            value,
        )

    def table(self) -> str:
        """Every derivative beside its difference, a row for each."""
        return _table(self.audit)

    def __str__(self) -> str:
        """What a person wants to know first: how many are right, the worst of them, and what else was found."""
        count = {verdict: 0 for verdict in ("right", "WRONG", "unclear")}
        for one in self.audit:
            count[one.verdict] = count.get(one.verdict, 0) + 1
        verdicts = ", ".join(f"{number} {verdict}" for verdict, number in count.items() if number)
        worst = sorted(
            self.audit, key=lambda one: (one.verdict == "right", one.verdict != "WRONG", -one.error)
        )[:WORST]
        lines = [f"loss {self.value:.6g}; {len(self.audit)} derivatives beside differences: {verdicts}"]
        lines.append(f"the worst {len(worst)}:" if len(worst) < len(self.audit) else "all of them:")
        lines.append(_table(worst))
        lines += [f"{name} has no effect: {why}" for name, why in list(self.zeros.items())[:WORST]]
        if len(self.zeros) > WORST:
            lines.append(f"and {len(self.zeros) - WORST} more have none (`zeros`)")
        if self.reach is not None:
            lines.append(f"the gradient is of use up to steps of {self.reach:.3g} in scaled variables")
        kept = "should be kept" if self.energy["conserved"] else "need not be kept"
        lines.append(f"energy {kept}, and changes by {self.energy['drift']:.3g} J")
        lines.append(f"on their way back: {self.growth['sentence']}")
        return "\n".join(lines)

    __repr__ = __str__


def _table(audit: list[Audit]) -> str:
    """Rows of derivatives and differences, in columns."""
    width = max((len(f"{one.name} [{one.unit}]") for one in audit), default=8)
    lines = [f"  {'variable':<{width}}  {'derivative':>13}  {'difference':>13}  {'error':>9}  verdict"]
    for one in audit:
        name = f"{one.name} [{one.unit}]"
        lines.append(
            f"  {name:<{width}}  {one.derivative:>13.6g}  {one.difference:>13.6g}  {one.error:>9.1e}  {one.verdict}"
        )
    return "\n".join(lines)
