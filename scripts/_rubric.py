"""What jobs of the rubric share: the manual of the configuration, with its weights, and the responses."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from excam.rubric import changes, responses
from excam.rubric.manual import Rubric
from excam.rubric.responses import Response


def add_rubric_options(parser: argparse.ArgumentParser) -> None:
    """Add --rubric, --base and --responses, read by `rubric_of` and `responses_of`."""
    parser.add_argument("--rubric", required=True, help="version of the manual, or the .yaml file of a study's version")
    parser.add_argument("--base", required=True, help="weights of the base as JSON, null for the plain mean")
    parser.add_argument("--responses", type=Path, nargs="+", required=True, help="what is rated, as JSON Lines")


def rubric_of(args: argparse.Namespace) -> Rubric:
    """Return the manual of the options."""
    return changes.opened(args.rubric).with_weights(json.loads(args.base))


def responses_of(args: argparse.Namespace) -> Sequence[Response]:
    """Return the responses of the options."""
    return responses.read(args.responses)
