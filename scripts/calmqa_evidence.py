"""Find passages for every claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.calmqa import stages
from excam.knowledge import index as packs
from scripts import run, step

VERSION = 2


@step
def main(
    claims_path: Path,
    index_path: Annotated[Path, "index.json"],
    passages: Annotated[int, "at most so many for a claim"],
    to_path: Path,
) -> None:
    index = packs.open_index(index_path.parent)
    stages.write(to_path, "evidence", stages.evidence_rows(stages.read_claims(claims_path), index, passages))


if __name__ == "__main__":
    run(main)
