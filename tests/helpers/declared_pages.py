"""The files of the pages that steps declare, to compare with what a command writes."""

import itertools
from pathlib import Path

from excam.core.steps import read_steps

SCRIPTS = Path(__file__).parents[2] / "scripts"


def stems(target: str, *inputs: str) -> set[str]:
    """Return the names, without suffixes, of the files of a target's pages that are made of these inputs alone.

    What a paper prints is not counted as an input.
    """
    names: set[str] = set()
    for step in read_steps(SCRIPTS).values():
        page = step.page
        if page and page.target == target and {n for n in page.inputs if not n.startswith("printed")} <= set(inputs):
            values = [
                dict(zip(page.wildcards, row, strict=True)) for row in itertools.product(*page.wildcards.values())
            ]
            paths = [path for paths in page.files.values() for path in paths]
            names |= {Path(path.format(**wildcards)).stem for path in paths for wildcards in values}
    return names
