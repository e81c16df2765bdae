"""The examples and prompts that the paper prints, read from its text at test time; nothing of it is kept here."""

import re
from functools import cache
from pathlib import Path

SEEDS = next((folder for up in Path(__file__).parents if (folder := up / "shared/seeds").is_dir()), Path("no papers"))
TAG = re.compile(r"</?\w+[^<>]*>")
QUOTES = str.maketrans("‘’“”„", '\'\'"""')


@cache
def paper() -> str:
    """The text of the paper. Fails where the folder of papers is there and this one is not."""
    (path,) = SEEDS.glob("000_*.txt")
    return path.read_text(encoding="utf-8")


def table(number: int) -> dict[str, tuple[str, ...]]:
    """The rows of a table, by their first cell. A row is a line, cells are divided by tabs; the last is the caption."""
    before, caption, _ = paper().partition(f"\nTable {number}: ")
    assert caption, f"no Table {number}"
    cells = [line.split("\t") for line in before.rstrip().rpartition("\n\n")[2].split("\n")]
    assert len({len(row) for row in cells}) == 1, f"Table {number}: rows of different widths"
    assert len(cells) > 1, f"Table {number}: no rows"
    return {row[0]: tuple(spaced(TAG.sub(" ", cell)) for cell in row[1:]) for row in cells[1:]}


def spaced(text: str) -> str:
    """The text on one line: our copy of the paper has other line breaks."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """On one line and with straight quotes: the copy has no others where the sources have."""
    return spaced(re.sub(r",,\s*|``", '"', text).translate(QUOTES))


def after(heading: str) -> str:
    """The paragraph that follows a line of the figures."""
    paragraphs = re.findall(rf"^{re.escape(heading)}\n\n(.+)$", paper(), re.M)
    assert paragraphs, f"nothing follows {heading!r}"
    assert len(set(paragraphs)) == 1, f"{heading!r}: {len(paragraphs)} different ones"
    return paragraphs[0]
