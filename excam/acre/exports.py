"""Rows for other metrics: pairs of instruction and output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from excam.acre.translations import Translated, name


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
