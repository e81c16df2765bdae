"""Write a corpus that tells a base model the facts of the benchmarks, and the list of how often it tells each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.config import Teaching
from excam.core import provenance
from excam.core.splits import Split
from excam.error_reports import record_files
from excam.excam40k import corpus
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--settings", required=True, help="the corpus' fields of `teach` as JSON")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--facts", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    args = parser.parse_args(argv)

    settings = Teaching.model_validate({"base": "any", **json.loads(args.settings)})
    splits: dict[str, Split] = {
        sample.base: sample.split for path in args.samples for sample in record_files.read_samples(path)
    }
    bases = (base for path in args.bases for base in record_files.read_bases(path))
    told = corpus.facts(bases, splits, settings, args.seed)
    written = corpus.write_documents(args.corpus, corpus.documents(told, settings, args.seed))
    corpus.write_facts(args.facts, told)
    provenance.say(f"{args.corpus}: {written} texts on {sum(fact.times > 0 for fact in told)} of {len(told)} facts")


if __name__ == "__main__":
    run(main)
