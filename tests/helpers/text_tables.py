"""Tables of texts that tests read: `tests/fixtures/tables/NAME.yaml` beside `test_NAME.py`, a key for each table."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "fixtures/tables"


@cache
def _tables(name: str) -> dict[str, Any]:
    return yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def table(test_file: str, name: str) -> Any:
    """Return a table of a test's file: rows as lists, or what the file has under that name."""
    return _tables(Path(test_file).stem.removeprefix("test_"))[name]
