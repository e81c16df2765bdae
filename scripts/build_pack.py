"""State the facts of benchmarks as documents, and make a knowledge pack of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.core.provenance import say, write_text
from excam.error_reports import record_files
from excam.excam40k.culture_documents import knowledge_documents
from excam.knowledge.index import build
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--licences", nargs="+", required=True, help="DATASET=LICENCE")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--facts", type=Path, required=True, help="the documents, JSON Lines")
    parser.add_argument("--pack", type=Path, required=True, help="folder")
    args = parser.parse_args(argv)

    licences = dict(one.split("=", 1) for one in args.licences)
    documents = [
        document
        for path in args.bases
        for document in knowledge_documents(
            record_files.read_bases(path), licences[path.name.removesuffix(".bases.jsonl")], args.seed
        )
    ]
    write_text(args.facts, "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents))
    (args.pack / "index.json").unlink(missing_ok=True)  # the facts changed: Snakemake asked for this pack again
    pack = build([args.facts], args.pack)
    say(f"{args.pack}: {len(documents)} facts, {len(pack.passages)} passages, {pack.signature}")


if __name__ == "__main__":
    run(main)
