"""The data set as others get it: licences kept apart, example tables, card, Croissant (spec 64, 77-79).

Here is what the rest of the package and the workflow plan with; it loads no library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from excam.licences import Kind, kind

BUILDS = ("all", "permissive")

# The paper's tables of examples, and which datasets each one shows (Tables 8-10).
EXAMPLE_TABLES: Mapping[int, tuple[str, ...]] = {
    8: ("normad", "culturalbench"),
    9: ("include", "globalopinionqa", "nativqa", "blend", "mango"),
    10: ("epic", "calmqa"),
}


def folder_of(licence: str) -> str:
    """A licence as the name of a folder and of a configuration: lower case; letters, digits, dots, hyphens."""
    return "".join(sign if sign.isalnum() or sign in ".-" else "-" for sign in licence.lower())


def grouped(licences: Iterable[str]) -> dict[Kind, tuple[str, ...]]:
    """The licences of a build by what they ask for (spec 77)."""
    groups: dict[Kind, tuple[str, ...]] = {}
    for licence in sorted(set(licences)):
        groups[kind(licence)] = (*groups.get(kind(licence), ()), licence)
    return groups
