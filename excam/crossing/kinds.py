"""Kinds of cultural errors, under which the labels of all row sets are grouped, and how each label is read."""

from __future__ import annotations

from collections.abc import Mapping

OTHER = "other"
KINDS: Mapping[str, str] = {  # name -> what is wrong, in our words; the order of the tables
    "factual": "a wrong fact about a culture",
    "omission": "something that belongs there is missing",
    "stereotype": "people are homogenized or stigmatized",
    "norm": "a norm, a role, a practice or a symbol is misrepresented",
    "opinion": "what people of a culture think is misrepresented",
    "wrong sense": "a wrong meaning or referent, also irony that is taken literally",
    "literal": "rendered word by word, so that the meaning is lost",
    "neutral": "what is specific to the culture is flattened",
    "over-interpretation": "background or a judgement is added that is not there",
    "register": "politeness or the relation of the speakers is changed",
    "wrong language": "the answer is in another language than the question",
    OTHER: "an error that fits none of these",
}

_OF_REPORTS = {  # how the type of an error of ExCAM40k begins, the longest first
    "incorrect": "factual",
    "overgeneral": "stereotype",
    "stereotyp": "stereotype",
    "misrepresented opinion": "opinion",
    "misrepresent": "norm",
    "misread irony": "wrong sense",
}
OF_TRANSLATIONS = {  # errors of CulT-Eval
    "omission": "omission",
    "literalization": "literal",
    "sense-error": "wrong sense",
    "neutralization": "neutral",
    "mis-substitution": "wrong sense",
    "pragmatic-shift": "register",
    "over-interpretation": "over-interpretation",
}


def of_report(error_type: str) -> str:
    """Return the kind of an error of ExCAM40k by its type, which a generator may word in any way."""
    name = error_type.strip().casefold()
    return next((kind for begin, kind in _OF_REPORTS.items() if name.startswith(begin)), OTHER)
