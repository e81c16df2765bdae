"""Parse a transcript into judgements. No model is needed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.error_reports import record_files
from excam.inference import transcript
from scripts import run
from scripts._judging import add_judging_options, judge_of

VERSION = 3


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_judging_options(parser)
    parser.add_argument("--transcript", type=Path, required=True)
    parser.add_argument(
        "--end-token", choices=["yes", "no"], required=True, help="does the token that ends a turn count towards p(R)?"
    )
    parser.add_argument("--judgements", type=Path, required=True)
    args = parser.parse_args(argv)

    samples = record_files.read_samples(args.samples)
    verdicts = transcript.replay(judge_of(args), samples, args.transcript)
    end_token = args.end_token == "yes"  # noqa: S105 - no password
    record_files.write_judgements(args.judgements, samples, verdicts, end_token=end_token)


if __name__ == "__main__":
    run(main)
