"""Languages and cultures as they are compared: however they are spelled, a name becomes one key."""

from __future__ import annotations

import unicodedata

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


def culture_key(name: str) -> str:
    """Return a culture's name without case, underscores and double blanks: South_Korea is South Korea."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().replace("_", " ").split())
