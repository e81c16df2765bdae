"""Turn a written answer sheet into answers, as if a model had given them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.core import tables
from excam.macaron import answers, derive
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="of the sheet")
    parser.add_argument("--instances", type=Path, required=True)
    parser.add_argument("--sheet", type=Path, required=True, help="a CSV file of scenario, format, lang, answer")
    parser.add_argument("--answers", type=Path, required=True)
    args = parser.parse_args(argv)

    instances = derive.read(args.instances)
    given = answers.read_sheet(args.sheet, instances)
    tables.write_frame(args.answers, answers.to_frame(instances, args.name, "written", given))


if __name__ == "__main__":
    run(main)
