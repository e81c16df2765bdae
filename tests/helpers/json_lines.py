"""Files of JSON Lines for tests: any rows, also those that no program of ours writes."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write_rows(path: Path, rows: Iterable[Any], **how: Any) -> Path:
    """Write a line for each row; `how` goes to `json.dumps`. Return the path."""
    path.write_text("".join(json.dumps(row, **how) + "\n" for row in rows), encoding="utf-8")
    return path
