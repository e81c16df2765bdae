"""What the licences of the benchmarks ask. This is our interpretation, not legal advice.

The SPDX list and the category of each licence are those of the package license-expression. The terms of Creative
Commons are in the identifier itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from functools import cache
from typing import Literal, get_args

Term = Literal["attribution", "non-commercial", "share-alike", "no-derivatives"]
TERMS: tuple[Term, ...] = get_args(Term)
_RESTRICTIONS = TERMS[1:]
_OF_A_CATEGORY: Mapping[str, tuple[Term, ...]] = {  # categories that say what may be done with the data, and with what
    "Public Domain": (),
    "Permissive": ("attribution",),
    "Copyleft Limited": ("attribution", "share-alike"),
    "Copyleft": ("attribution", "share-alike"),
}
_CREATIVE_COMMONS: Mapping[str, Term] = dict(zip(("BY", "NC", "SA", "ND"), TERMS, strict=True))


def is_named(licence: str) -> bool:
    """Return whether it is an SPDX identifier, or a name of one's own as SPDX writes it: `LicenseRef-NAME`."""
    return licence in _categories() or (licence.startswith("LicenseRef-") and len(licence) > len("LicenseRef-"))


def terms(licence: str, stated: Collection[Term] = ()) -> frozenset[Term] | None:
    """Return what a licence asks; None if that is not known.

    `stated` is what somebody who read the licence says. It counts where the list does not tell, and nowhere else.
    """
    category = _categories().get(licence, "")
    if category and licence.startswith("CC-") and category != "Public Domain":
        return frozenset(_CREATIVE_COMMONS[part] for part in licence.split("-") if part in _CREATIVE_COMMONS)
    if category in _OF_A_CATEGORY:
        return frozenset(_OF_A_CATEGORY[category])
    return frozenset(stated) if stated and is_named(licence) else None


def licence_kind(licence: str, stated: Collection[Term] = ()) -> str:
    """Return the restrictions of a licence in words, such as "non-commercial share-alike", or "permissive".

    "unrestricted as stated" if only somebody's words say so; "unknown terms" if it is known by name only, "unknown" for
    a text that names no licence.
    """
    conditions = terms(licence, stated)
    if conditions is None:
        return "unknown terms" if is_named(licence) else "unknown"
    restrictions = " ".join(term for term in _RESTRICTIONS if term in conditions)
    return restrictions or ("permissive" if is_permissive(licence) else "unrestricted as stated")


def is_permissive(licence: str) -> bool:
    """Return whether it asks at most attribution: no limit on commercial use or on derived data.

    Only a licence of the SPDX list can be, never one whose terms were stated.
    """
    conditions = terms(licence)
    return conditions is not None and conditions.isdisjoint(_RESTRICTIONS)


def may_be_adapted(licence: str, stated: Collection[Term] = ()) -> bool:
    """Return whether rows derived from data under it may be passed on: not under a licence without derivatives."""
    return "no-derivatives" not in (terms(licence, stated) or ())


def expected_instead(licence: str) -> str:
    """Return what to write for a licence whose terms are not known: its terms, or an identifier that is one."""
    if is_named(licence):
        return f"its `terms` as you read them, some of {', '.join(TERMS)}"
    lower = {identifier.lower(): identifier for identifier in _categories()}
    close = [lower[name] for name in difflib.get_close_matches(licence.lower(), lower, n=3, cutoff=0.7)]
    examples = ", ".join(close) or "CC-BY-4.0, CC0-1.0, MIT"
    return f"an identifier of https://spdx.org/licenses such as {examples}, or LicenseRef-NAME and its `terms`"


@cache
def _categories() -> Mapping[str, str]:
    """Return the category of every licence of the SPDX list, deprecated identifiers too."""
    from license_expression import get_license_index

    return {
        identifier: entry["category"]
        for entry in get_license_index()
        for identifier in (entry["spdx_license_key"], *entry["other_spdx_license_keys"])
        if identifier and not entry["is_exception"] and not identifier.startswith("LicenseRef-")
    }
