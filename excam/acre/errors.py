"""The seven errors in the translation of a culture-loaded expression, in the order of their priority (§4.3).

The paper states the order only as "from omission to over-interpretation": it is taken as the order of its list.
"""

from __future__ import annotations

from collections.abc import Collection

from excam.core.exceptions import InputInvalid

ERRORS = {  # name -> what it is, in our words
    "omission": "the expression is not rendered at all, or by an empty word",
    "literalization": "rendered word by word, so that the conventional meaning is lost",
    "sense-error": "a wrong meaning or referent, by misunderstanding",
    "neutralization": "the function is there, but what is specific to the culture is flattened",
    "mis-substitution": "replaced by something of the target culture that is not equivalent",
    "pragmatic-shift": "politeness, register or the relation of the speakers is changed",
    "over-interpretation": "background or a judgement is added that the source does not have",
}


def primary(errors: Collection[str]) -> str | None:
    """Return the error of the highest priority, None if there is none. Raise InputInvalid for an unknown error."""
    if unknown := sorted(set(errors) - ERRORS.keys()):
        raise InputInvalid(f"errors: found {unknown[0]}; expected of {', '.join(ERRORS)}")
    return next((name for name in ERRORS if name in errors), None)
