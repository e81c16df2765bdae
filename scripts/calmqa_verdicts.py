"""Say of every claim whether the passages support it: by overlap, or as a model said in its transcript."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from excam.calmqa import asks, stages
from excam.core.provenance import say
from excam.inference import transcript
from scripts import run

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="the verifier: a model's key, or rules")
    parser.add_argument("--claims", type=Path, required=True)
    parser.add_argument("--evidence", type=Path, required=True)
    parser.add_argument("--verdicts", choices=["binary", "trinary"], default="binary")
    parser.add_argument("--transcript", type=Path, help="of the verifier; without it, by overlap of words")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)

    asked = stages.to_verify(stages.read_claims(args.claims), args.evidence)
    flow = asks.verify_trinary if args.verdicts == "trinary" else asks.verify
    said = transcript.replay(flow, asked, args.transcript) if args.transcript else None
    rows = stages.verdict_rows(asked, said, "overlap" if said is None else args.name)
    stages.write(args.to, "verdicts", rows)
    say(f"calmqa: verdicts: {dict(sorted(Counter(row['verdict'] for row in rows).items()))}")


if __name__ == "__main__":
    run(main)
