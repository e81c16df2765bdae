"""Names of cultures: countries, their adjectives and other names, so that India, Indian and INDIA are the same."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from excam.core.package_tables import table_rows


@cache
def _countries() -> dict[str, str]:
    """Return the plain name of a country by every plain name of it; a line has country, adjective, other names."""
    names: dict[str, str] = {}
    for country, adjective, *others in table_rows("excam.core", "countries.tsv"):
        for name in (country, adjective, *(others[0].split(";") if others else ())):
            names.setdefault(_plain(name), _plain(country))
    return names


@cache
def names() -> frozenset[str]:
    """Return every name of a country and every adjective, without case."""
    return frozenset(_countries())


@lru_cache(maxsize=4096)
def culture_key(name: str) -> str:
    """Return a name by which cultures are compared: its country's where it is one, else without case and underscores.

    South_Korea and Korean are "south korea"; Bavarian is "bavarian"; "" is a culture that nobody named.
    """
    plain = _plain(name)
    return _countries().get(plain) or _countries().get(plain.removesuffix(" culture"), plain)


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().replace("_", " ").split())
