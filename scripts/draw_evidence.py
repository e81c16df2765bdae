"""Draw the passages that a judge is shown before the rows of one set."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.config import Judging
from excam.core.provenance import say
from excam.error_reports import record_files
from excam.excam40k import shown_evidence
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=Path, required=True, help="<dataset>/<split>.parquet")
    parser.add_argument(
        "--among", type=Path, required=True, help="rows that hold these; passages are made of their facts"
    )
    parser.add_argument("--bases", type=Path, required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--judging", required=True, help="section `judging` as JSON")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--evidence", type=Path, required=True)
    args = parser.parse_args(argv)

    bases = {base.id: base for base in record_files.read_bases(args.bases)}
    wanted = {sample.id for sample in record_files.read_samples(args.samples)}
    among = record_files.read_samples(args.among)
    shares = Judging.model_validate_json(args.judging).evidence
    shown = [row for row in shown_evidence.drawn(among, bases, shares, args.seed) if row.id in wanted]
    shown_evidence.write(args.evidence, shown)
    counts = Counter(row.kind for row in shown)
    say(f"{args.evidence}: passages of {len(shown)} rows: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    run(main)
