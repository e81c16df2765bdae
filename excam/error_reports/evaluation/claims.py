"""The claims of the paper's text (paper/claims.csv), to print beside our numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from excam.core.tables import read_lines
from excam.pages.markdown import escape

Claims = Mapping[str, Mapping[str, str]]  # by id; each with printed, unit, what, source, contradiction, spec


def read(path: Path) -> Claims:
    """Return all claims of the file, in their order."""
    return {line["id"]: line for line in read_lines(path)}


def claims_list(claims: Claims, names: Sequence[str]) -> str:
    """Return these claims as a Markdown list, each with its place in the paper."""
    return "\n" + "".join(
        f"- The paper: {escape(claim['what'])}: {escape(' '.join([claim['printed'], claim['unit']]).strip())}"
        f" ({escape(claim['source'])}).\n"
        for claim in (claims[name] for name in names)
    )
