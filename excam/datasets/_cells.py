"""From the cells of a source to the fields of a base sample: clean text, stable ids, one name per country."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f]")  # C0 without tab and newline
_COUNTRIES = {
    "bosnia herzegovina": "Bosnia and Herzegovina",
    "britain": "United Kingdom",
    "czech rep.": "Czechia",
    "czech republic": "Czechia",
    "great britain": "United Kingdom",
    "hong kong sar": "Hong Kong",
    "ivory coast": "Côte d’Ivoire",
    "macau sar": "Macau",
    "palest. ter.": "Palestinian Territories",
    "russian federation": "Russia",
    "s. africa": "South Africa",
    "s. korea": "South Korea",
    "taiwan roc": "Taiwan",
    "turkiye": "Turkey",
    "türkiye": "Turkey",
    "uk": "United Kingdom",
    "united states of america": "United States",
    "us": "United States",
    "usa": "United States",
    "viet nam": "Vietnam",
}


def clean(value: str) -> str:
    """Stripped, line ends as newline, other C0 control characters as spaces; nothing else is touched."""
    return _CONTROLS.sub(" ", value.replace("\r\n", "\n")).strip()


def text(row: Mapping[str, Any], column: str) -> str:
    """A cell as clean text; empty where the column is absent or the cell null."""
    value = row.get(column)
    return "" if value is None else clean(str(value))


def digest(*parts: str) -> str:
    """16 hexadecimal characters of a SHA-256: an id where the source has none, and a fixed shuffling key."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def identifier(dataset: str, *parts: str) -> str:
    """`<dataset>/<part>:<part>` in [A-Za-z0-9_.:-]; where characters had to go, a digest keeps ids apart.

    Empty when a part is empty: `gather` drops such a row as "no-id".
    """
    if not all(parts):
        return ""
    raw = ":".join(parts)
    safe = re.sub(r"[^A-Za-z0-9_.:-]", "-", raw)
    return f"{dataset}/{safe}" if safe == raw else f"{dataset}/{safe[:60]}.{digest(*parts)}"


def country_name(label: str) -> str:
    """One readable name per country (ExCAM App. E): "hong_kong" -> "Hong Kong", "Britain" -> "United Kingdom"."""
    name = label.replace("_", " ").strip()
    if name.islower():
        name = re.sub(r"\b(And|Of|The)\b", lambda word: word[0].lower(), name.title())
    return _COUNTRIES.get(name.lower(), name)


def others(options: Iterable[str], answer: str) -> tuple[str, ...]:
    """Distinct options that do not say the same as the answer (case, spaces and a final full stop aside)."""
    seen = {_wording(answer)}
    return tuple(
        option for option in options if option and not (_wording(option) in seen or seen.add(_wording(option)))
    )


def _wording(option: str) -> str:
    return " ".join(option.casefold().split()).rstrip(".")
