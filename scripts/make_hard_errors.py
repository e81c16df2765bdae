"""Right pairs of a benchmark with options -> their wrong twins (spec 20, 21)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, tables
from excam.construction import hard
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--errors", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    bases = {base.id: base for base in tables.read_bases(args.bases)}
    wrong, dropped = hard.hard_errors(tables.read_samples(args.samples), bases, args.seed)
    tables.write_samples(args.errors, wrong)
    provenance.write_json(args.counts, {"kept": len(wrong), "dropped": dict(dropped)})


if __name__ == "__main__":
    run(main)
