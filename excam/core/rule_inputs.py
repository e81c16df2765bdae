"""File names of users as inputs of workflow rules; names that Snakemake or a shell cannot handle are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from excam.core.exceptions import InputInvalid
from excam.core.sanitize import BIDI, CONTROLS, TAGS

FORBIDDEN = {  # forbidden pattern -> reason; other names are safe because shell commands quote them
    "[{}]": "Snakemake takes it for a wildcard",
    rf"[\t\n\r\u2028\u2029\ud800-\udfff]|{CONTROLS}|{BIDI}|{TAGS}": "no terminal and no record shows it as it is",
    "^-": "programs take the name for an option",
}


def input_names(where: str, files: Iterable[Path]) -> list[str]:
    """Return the paths of `files` as sorted input names of a rule. `where` is the configuration key of their folder.

    Raise InputInvalid for a path that matches a pattern of `FORBIDDEN`.
    """
    names = sorted(map(str, files))
    for name in names:
        for pattern, why in FORBIDDEN.items():
            if match := re.search(pattern, name):
                raise InputInvalid(
                    f"{where}: {name!r}: has {match[0]!r} in its path; expected none, as {why}; rename it"
                )
    return names
