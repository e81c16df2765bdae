"""The paper's claims in words (paper/claims.csv), to stand beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from excam.markdown import escaped
from excam.tables import read_lines

Claims = Mapping[str, Mapping[str, str]]  # by id; each with printed, unit, what, source, contradiction, spec


def read(path: Path) -> Claims:
    """Every claim of the file, in its order."""
    return {line["id"]: line for line in read_lines(path)}


def said(claims: Claims, names: Sequence[str]) -> str:
    """These claims as a Markdown list, each with its place in the paper."""
    return "\n" + "".join(
        f"- The paper: {escaped(claim['what'])}: {escaped(' '.join([claim['printed'], claim['unit']]).strip())}"
        f" ({escaped(claim['source'])}).\n"
        for claim in (claims[name] for name in names)
    )
