"""Index a folder of documents for BM25. The same documents give the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core.provenance import say
from excam.knowledge.index import build
from scripts import run, step

VERSION = 4


@step
def main(folder_path: Path, to_path: Annotated[Path, "index.json of the new index; its folder holds the rest"]) -> None:
    to_path.unlink(missing_ok=True)  # the documents changed: Snakemake asked for this index again
    index = build([folder_path], to_path.parent)
    say(f"calmqa: {len(index.passages)} passages, {index.signature}")


if __name__ == "__main__":
    run(main)
