"""Rows for other metrics: pairs of instruction and output, and wrong translations as soft errors with explanations.

Others read files of these rows; nothing here knows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from excam.acre.errors import primary
from excam.acre.translations import Translated, name

MINOR = ("neutralization", "pragmatic-shift", "over-interpretation")  # the meaning is there; other errors are major


def instruction(one: Translated) -> str:
    """Return what a translator was asked."""
    return f"Translate into English: {one.item.source}"


def pairs(rows: Sequence[Translated]) -> list[dict[str, Any]]:
    """Return the rows as instruction-output pairs, without reference or explication."""
    return [
        {
            "id": one.id,
            "instruction": instruction(one),
            "output": one.translation,
            "system": name(one),
            "language": "English",
            "culture": "China",
        }
        for one in rows
    ]


def soft_errors(rows: Sequence[Translated]) -> list[dict[str, Any]]:
    """Return the labelled wrong translations as rows with an error: severity, type, and an explanation.

    The explanation is the explication; the right text is the reference. An omission marks nothing in the output.
    """
    found = []
    for one in rows:
        if one.label is None or one.label.correct:
            continue
        error = primary(one.label.errors)
        explanation = f"{one.item.term}: {one.item.explication}"
        found.append(
            {
                "id": one.id,
                "question": instruction(one),
                "answer": one.item.reference,
                "wrong": one.translation,
                "type": error,
                "severity": "minor" if error in MINOR else "major",
                "explanation": explanation,
                "language": "English",
                "culture": "China",
            }
        )
    return found


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
