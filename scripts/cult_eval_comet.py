"""Measure translations with COMET, in the environment of envs/mt.yaml: it needs other releases than ours."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from excam.acre import comet, sentence_metrics, translations
from excam.core import tables
from excam.core.provenance import write_manifest
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--comet", type=Path, required=True, help="folder with a converted checkpoint")
    parser.add_argument("--metrics", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="the signature")
    args = parser.parse_args(argv)

    started = time.monotonic()
    rows = translations.from_frame(args.rows)
    column = comet.measure(rows, args.comet)
    tables.write_frame(args.metrics, sentence_metrics.to_frame(rows, {"comet": column}))
    write_manifest(
        args.manifest,
        inputs=[args.rows, args.comet / comet.WEIGHTS],
        outputs=[args.metrics],
        settings={"signatures": {"comet": column.signature}},
        seconds=time.monotonic() - started,
    )


if __name__ == "__main__":
    run(main)
