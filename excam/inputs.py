"""Names of files that people give, as inputs of the workflow's rules; a name that no rule can carry is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from excam.exceptions import InputInvalid
from excam.hostile import BIDI, CONTROLS, TAGS

UNCARRIED = {  # what no name may hold -> why; everything else passes, as shell commands quote every name
    "[{}]": "Snakemake takes it for a wildcard",
    rf"[\t\n\r\u2028\u2029\ud800-\udfff]|{CONTROLS}|{BIDI}|{TAGS}": "no terminal and no record shows it as it is",
    "^-": "programs take the name for an option",
}


def input_names(where: str, files: Iterable[Path]) -> list[str]:
    """Return the paths of `files` as names of a rule's inputs, sorted. `where`: the key that names their folder.

    Raises InputInvalid for a path that holds what is in `UNCARRIED`.
    """
    names = sorted(map(str, files))
    for name in names:
        for pattern, why in UNCARRIED.items():
            if found := re.search(pattern, name):
                raise InputInvalid(
                    f"{where}: {name!r}: has {found[0]!r} in its path; expected none, as {why}; rename it"
                )
    return names
