"""Derive six aligned instances of each scenario: multiple choice, true and false, in both languages."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.core.provenance import say
from excam.macaron import derive, scenarios
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=Path, required=True)
    parser.add_argument("--orders", choices=("shuffled", "given"), required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--instances", type=Path, required=True)
    args = parser.parse_args(argv)

    found = scenarios.read(args.scenarios)
    made = derive.instances(found, args.seed, args.orders)
    tables.write_frame(args.instances, derive.to_frame(made))
    say(f"macaron: {len(made)} instances of {len(found)} scenarios")


if __name__ == "__main__":
    run(main)
