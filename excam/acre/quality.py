"""ACRE = V x Q (Eq. 1 and 2, whose symbols are lost): quality from two ratings, and the gate before it.

Critics rate 1 to 5, which counts as x/5: with (x - 1)/4 the worst valid translation would tie with an invalid one.
"""

from __future__ import annotations

from collections.abc import Callable

from excam.core.exceptions import InputInvalid, expect_choice

LOWEST, HIGHEST = 1, 5
COMBINATIONS: dict[str, Callable[[float, float], float]] = {  # of fidelity and clarity as shares
    "mean": lambda f, c: (f + c) / 2,
    "weighted": lambda f, c: (2 * f + c) / 3,  # fidelity twice
    "harmonic": lambda f, c: 2 * f * c / (f + c),
    "product": lambda f, c: f * c,
}


def combine(fidelity: float, clarity: float, combination: str = "mean") -> float:
    """Return Q in (0, 1] of two ratings from 1 to 5. Raise InputInvalid for others, or an unknown combination."""
    expect_choice("quality", combination, COMBINATIONS)
    for name, rating in (("fidelity", fidelity), ("clarity", clarity)):
        if not LOWEST <= rating <= HIGHEST:
            raise InputInvalid(f"{name}: found {rating}; expected {LOWEST} to {HIGHEST}")
    return COMBINATIONS[combination](fidelity / HIGHEST, clarity / HIGHEST)
