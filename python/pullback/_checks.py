"""Numbers that people give, and what is said of those that make no sense."""

from __future__ import annotations

import operator
from typing import Any

from .errors import SettingError

#: The most that the core can count to.
MOST = 2**63 - 1


def count(what: str, number: Any, *, least: int = 0, most: int = MOST) -> int:
    """A whole number, of Python or NumPy; `SettingError` says what was given and what is wanted."""
    try:
        found = least - 1 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        found = least - 1
    if found < least:
        raise SettingError(f"{what} is {number!r}: a whole number, {least} or more, is wanted")
    if found > most:
        raise SettingError(f"{what} is {number!r}: a whole number, {most} or less, is wanted")
    return found


def real(what: str, number: Any) -> float:
    """A number."""
    try:
        # `float` reads texts as well.
        if isinstance(number, (str, bytes, bytearray)):
            raise TypeError
        return float(number)
    except (TypeError, ValueError):
        raise SettingError(f"{what} is {number!r}: a number is wanted") from None
