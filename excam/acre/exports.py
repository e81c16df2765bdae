"""Rows for other metrics: pairs of instruction and output, and wrong translations as soft errors with explanations.

Others read files of these rows; nothing here knows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from excam.acre.errors import primary
from excam.acre.translations import Translated, name

MINOR = ("neutralization", "pragmatic-shift", "over-interpretation")  # the meaning is there; other errors are major


def instruction(row: Translated) -> str:
    """Return what a translator was asked."""
    return f"Translate into {row.item.target_language}: {row.item.source}"


def pairs(rows: Sequence[Translated]) -> list[dict[str, Any]]:
    """Return the rows as instruction-output pairs, without reference or explication."""
    return [
        {
            "id": row.id,
            "instruction": instruction(row),
            "output": row.translation,
            "system": name(row),
            "language": row.item.target_language,
            "culture": "China",
        }
        for row in rows
    ]


def soft_errors(rows: Sequence[Translated]) -> list[dict[str, Any]]:
    """Return the labelled wrong translations as rows with an error: severity, type, and an explanation.

    The explanation is the explication; the right text is the reference. An omission marks nothing in the output.
    """
    error_rows = []
    for row in rows:
        if row.label is None or row.label.correct:
            continue
        error = primary(row.label.errors)
        explanation = f"{row.item.term}: {row.item.explication}"
        error_rows.append(
            {
                "id": row.id,
                "question": instruction(row),
                "answer": row.item.reference,
                "wrong": row.translation,
                "type": error,
                "severity": "minor" if error in MINOR else "major",
                "explanation": explanation,
                "language": row.item.target_language,
                "culture": "China",
            }
        )
    return error_rows
