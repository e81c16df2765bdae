"""Names of raters, systems and judges: one rule for all files that have some."""

from __future__ import annotations

from collections.abc import Iterable

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.core.text import plain_name, respelled

RESERVED = frozenset(  # what tables call numbers that are of no single rater, system or judge
    {"all", "all people", "always 3", "always a and t", "answers", "chance", "equivalent", "length", "mean of systems"}
    | {"people"}
)


def shown_names(names: Iterable[str], where: str) -> dict[str, str]:
    """Return each name as tables show it (`plain_name`), and say which are read otherwise than written.

    The empty name stays. Raise InputInvalid for any other name without a visible character, and for a reserved one.
    """
    plain_names = {name: plain_name(name) for name in dict.fromkeys(names)}
    if wrong := [name for name, plain in plain_names.items() if (name and not plain) or plain.casefold() in RESERVED]:
        raise InputInvalid(
            f"{where}: a rater, system or judge is called {wrong[0]!a}; expected another name: tables call other "
            f"numbers {', '.join(sorted(RESERVED))}"
        )
    if note := respelled(plain_names):
        say(f"{where}: {note}")
    return plain_names


def shown_name(name: str, where: str) -> str:
    """Return one name as `shown_names` does."""
    return shown_names([name], where)[name]
