"""docs/specification.md equals what docs/specification.csv gives, and what it names is there; `REWRITE_DOCS=1` rewrites it."""

import csv
import os
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import typer.main
from typer.core import TyperGroup

from excam.cli import app

ROOT = Path(__file__).parents[2]
DATA, PAGE = ROOT / "docs/specification.csv", ROOT / "docs/specification.md"
STATES = ("works", "differs", "partial", "missed", "not built")
LAST, PROMISES = 160, 34
HEAD = """# Specification

What the five documents describe (rows 1 to 153), what is ours (154 to 160), and what the software promises about itself. This
page lists what does not hold to the letter. `docs/specification.csv` has every row, with the tests or the command that show
it. On 29 November a reader who had written none of the rows compared each with code and tests, and broke the code where a
test was in doubt. [Reading the paper](reading-the-paper.md) gives the reasons behind ExCAM's rows.
"""
with DATA.open(encoding="utf-8", newline="") as stream:
    ROWS = list(csv.DictReader(stream))


def written() -> str:
    counts = Counter(row["state"] for row in ROWS)
    parts = [HEAD, "\n", ", ".join(f"{counts[state]} {state}" for state in STATES), ".\n"]
    for document in dict.fromkeys(row["document"] for row in ROWS):
        rows = [row for row in ROWS if row["document"] == document]
        exceptions = [row for row in rows if row["why"]]
        parts.append(f"\n## {document}\n\n{len(rows) - len(exceptions)} of {len(rows)} rows work.\n")
        lines = [f"|{row['row']}|{row['what']}|{row['state']}: {row['why']}|\n" for row in exceptions]
        parts += ["\n|row|what|state|\n|---|---|---|\n", *lines] if lines else []
    return "".join(parts)


def test_the_page_is_the_data():
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(written(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == written(), "run: python tests/records.py"


def test_every_row_is_there_once():
    numbers = [*map(str, range(1, LAST + 1)), *(f"P{number}" for number in range(1, PROMISES + 1))]
    assert [row["row"] for row in ROWS] == numbers


def test_a_row_names_what_shows_it_and_why_it_is_not_whole():
    for row in ROWS:
        assert row["state"] in STATES, row
        assert bool(row["why"]) == (row["state"] != "works"), row
        assert "|" not in "".join(row.values()), row
        needs = row["why"].startswith("needs ")  # a card, or files that were not at hand
        assert needs or row["state"] != "partial", row
        for shown in row["shown"].split(", "):
            program, *words = shown.split()
            if program == "excam":
                command = typer.main.get_command(app)
                while isinstance(command, TyperGroup):
                    command = command.get_command(None, words.pop(0))
                command.make_context("excam", words)
            elif program == "python":
                assert find_spec(words[1]), row
            else:
                file, name = shown.split("::")
                assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), row
