"""Languages as they are compared."""

from __future__ import annotations

from excam.core.exceptions import InputInvalid
from excam.core.language_identity import language_code


def language_key(name: str) -> str:
    """Return the ISO 639 code of a language; a name that is not known in lower case, "" for none."""
    if not name.strip():
        return ""
    try:
        return language_code(name)
    except InputInvalid:
        return name.strip().casefold()
