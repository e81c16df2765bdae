"""The data set for publication: licences kept apart, example tables, card.

This module has what the rest of the package and the workflow need for planning; it loads no library.
"""

from __future__ import annotations

from collections.abc import Mapping

BUILDS = ("all", "permissive")

# The paper's tables of examples, and which datasets each one shows (Tables 8-10).
EXAMPLE_TABLES: Mapping[int, tuple[str, ...]] = {
    8: ("normad", "culturalbench"),
    9: ("include", "globalopinionqa", "nativqa", "blend", "mango"),
    10: ("epic", "calmqa"),
}


def folder_of(licence: str) -> str:
    """Return a licence as the name of a folder and of a configuration: lower case letters, digits, dots, hyphens."""
    return "".join(sign if sign.isalnum() or sign in ".-" else "-" for sign in licence.lower())
