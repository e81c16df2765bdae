"""Write the coverage of the benchmark: scenarios and instances by country (Table 2), scenarios by tag."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from excam.core import tables
from excam.core.provenance import write_text
from excam.macaron import derive, pages, scenarios
from scripts import run

VERSION = 1
PAGE = {
    "result": "results/macaron/coverage",
    "outputs": ["numbers", "page"],
    "target": "macaron",
    "category": "Macaron",
    "inputs": {"scenarios": "macaron_scenarios", "instances": "macaron_instances"},
}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenarios", type=Path, required=True)
    parser.add_argument("--instances", type=Path, required=True)
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    lines, page = pages.coverage(scenarios.read(args.scenarios), [asdict(one) for one in derive.read(args.instances)])
    tables.write_lines(args.numbers, pages.COVERAGE, lines)
    write_text(args.page, page)


if __name__ == "__main__":
    run(main)
