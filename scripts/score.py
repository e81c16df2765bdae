"""Read a transcript into judgements. No model is needed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from excam import judges, tables
from excam.inference import transcript
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument(
        "--end-token", choices=["yes", "no"], required=True, help="does the token that ends a turn count towards p(R)?"
    )
    parser.add_argument("--judgements", type=Path, required=True)
    args = parser.parse_args(argv)

    samples = tables.read_samples(args.samples)
    verdicts = transcript.replay(judges.load(args.judge).judge, samples, args.transcript)
    if args.end_token == "no":  # noqa: S105 - no password
        verdicts = [replace(verdict, certainty=verdict.certainty_without_end) for verdict in verdicts]
    tables.write_judgements(args.judgements, samples, verdicts)


if __name__ == "__main__":
    run(main)
