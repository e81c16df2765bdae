"""Draw who rates which response; write the campaign with the rater's form, and the page that needs no server."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.annotation import page
from excam.annotation.campaign import write
from excam.core.provenance import say, write_text
from excam.rubric import campaign
from scripts import run
from scripts._rubric import add_rubric_options, responses_of, rubric_of

VERSION = 5


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_rubric_options(parser)
    parser.add_argument("--raters", nargs="+", required=True, help="the evaluator, then the validators")
    parser.add_argument("--overlap", type=float, required=True, help="share of responses that validators rate too")
    parser.add_argument("--calibration", type=int, required=True, help="responses that all rate first")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    evaluator, *validators = args.raters
    drawn = campaign.drawn(
        responses_of(args), evaluator, validators, args.overlap, args.calibration, rubric_of(args), args.seed
    )
    write(args.campaign, drawn)
    write_text(args.page, page.write(drawn))
    say(f"rubric: {len(drawn.tasks)} responses for {len(args.raters)} raters")


if __name__ == "__main__":
    run(main)
