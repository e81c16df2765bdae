"""What pages of CulT-Eval share: their options, and the study that they show."""

from __future__ import annotations

import argparse
from pathlib import Path

from excam.acre import study
from excam.acre.study import Study


def add_page_options(parser: argparse.ArgumentParser, *outputs: str) -> None:
    """Add the files of a study and the outputs: files, of pictures several."""
    parser.add_argument("--rows", type=Path, nargs="+", required=True, help="translations")
    parser.add_argument("--labels", type=Path, help="of people")
    parser.add_argument("--judged", type=Path, nargs="*", default=[], help="verdicts of judges")
    parser.add_argument("--metrics", type=Path, nargs="*", default=[], help="scores of metrics of whole sentences")
    parser.add_argument("--scores", type=Path, nargs="*", default=[], help="files of `excam score`")
    parser.add_argument("--scored", nargs="*", default=[], help="the name of the metric of each of them")
    for name in outputs:
        parser.add_argument(f"--{name}", type=Path, nargs="+" if name == "pictures" else None, required=True)


def read(args: argparse.Namespace) -> Study:
    """Return the study of the options."""
    scores = dict(zip(args.scored, args.scores, strict=True))
    return study.read(args.rows, args.labels, args.judged, args.metrics, scores)
