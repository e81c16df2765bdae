"""What pages of Macaron share: their options, and the systems that they show."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.macaron import answers, derive
from excam.macaron.answers import System


def add_page_options(parser: argparse.ArgumentParser, *outputs: str) -> None:
    """Add --answers, --instances and the outputs: files, of pictures several."""
    parser.add_argument("--answers", type=Path, nargs="+", required=True, help="of each model and mode")
    parser.add_argument("--instances", type=Path, required=True)
    for name in outputs:
        parser.add_argument(f"--{name}", type=Path, nargs="+" if name == "pictures" else None, required=True)


def systems(args: argparse.Namespace) -> Sequence[System]:
    """Return each model and mode with its answers."""
    return answers.join(derive.read(args.instances), args.answers)
