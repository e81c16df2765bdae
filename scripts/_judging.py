"""Which judge a job asks, or reads, and the passages that it is shown."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from excam.config import Judging
from excam.core.exceptions import InputInvalid
from excam.error_reports import judges
from excam.error_reports.records import Sample, Verdict
from excam.excam40k import shown_evidence
from excam.inference import Flow


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Add what `judge_of` reads."""
    parser.add_argument("--judge", required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--evidence", type=Path, help="passages of these rows, for a judge that reads them")
    parser.add_argument("--judging", default="{}", help="section `judging` as JSON")


def judge_of(args: argparse.Namespace) -> Callable[[Sample], Flow[Verdict]]:
    """Return the function that judges one sample. Raise InputInvalid if passages lack, or nobody reads them."""
    reads = args.judge == "grounded"
    if reads != bool(args.evidence):
        expected = "expected --evidence FILE" if reads else "expected no --evidence: it reads none"
        raise InputInvalid(f"judge {args.judge}: found {args.evidence or 'no passages'}; {expected}")
    if args.evidence:
        return shown_evidence.judging(shown_evidence.read(args.evidence), Judging.model_validate_json(args.judging))
    return judges.load(args.judge).judge
