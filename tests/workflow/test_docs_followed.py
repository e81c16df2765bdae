"""The pages for users, followed to the letter: every marked block is run, and prints what the page says it prints.

With this repository's own results, where its first command was run here; skipped where it was not, since a model writes
some twenty reports for it (minutes). A new page is a name in `PAGES`; `tests/unit/blocks.py` says how blocks are marked.
"""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "unit"))

from blocks import follow, marked
from checkout import ADAPTER, ROOT, Run, copy_checkout

PAGES = ("docs/tutorial.md", "README.md")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Run:
    """A checkout that users have after the first command."""
    if not (ROOT / ADAPTER / "manifest.json").exists():
        pytest.skip("no results here: the README's first command makes them")
    made = Run(tmp_path_factory.mktemp("docs"))
    copy_checkout(made.folder)
    for name in ("results", ".snakemake"):
        if (ROOT / name).exists():
            (made.folder / name).symlink_to((ROOT / name).resolve())
    return made


@pytest.mark.model
@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_can_be_done(page, place):
    assert follow(ROOT / page, place.folder, place.environment) == sum(one.kind == "run" for one in marked(ROOT / page))


def test_the_tutorial_covers_the_commands_of_users():
    text = "".join(block.text for block in marked(ROOT / "docs/tutorial.md") if block.kind == "run")
    for command in ("score", "explain", "read", "list", "journal", "audit"):
        assert re.search(rf"excam {command}\b", text), command
    assert "excam.load(" in text
