"""Index a folder of documents for BM25. The same documents give the same bytes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import say
from excam.knowledge.index import build
from scripts import run

VERSION = 4


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True, help="index.json of the new index; its folder holds the rest")
    args = parser.parse_args(argv)

    args.to.unlink(missing_ok=True)  # the documents changed: Snakemake asked for this index again
    index = build([args.folder], args.to.parent)
    say(f"calmqa: {len(index.passages)} passages, {index.signature}")


if __name__ == "__main__":
    run(main)
