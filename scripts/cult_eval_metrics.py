"""Measure translations with metrics of whole sentences: BLEU, chrF++, BERTScore, MetricX-QE."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from excam.acre import sentence_metrics, translations
from excam.core import tables
from excam.core.provenance import quiet_libraries, say, write_manifest
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, help="manifest of BERTScore's encoder")
    parser.add_argument("--layer", type=int, required=True, help="of the encoder")
    parser.add_argument("--metricx", type=Path, help="manifest of MetricX's weights")
    parser.add_argument("--metrics", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="the signature of each metric")
    args = parser.parse_args(argv)

    quiet_libraries()
    started = time.monotonic()
    rows = translations.from_frame(args.rows)
    weights = {name: path for name, path in (("encoder", args.encoder), ("metricx", args.metricx)) if path}
    folders = {name: (path.parent / "files", path.parent.name) for name, path in weights.items()}
    columns = sentence_metrics.measure(rows, folders.get("encoder"), args.layer, folders.get("metricx"))
    tables.write_frame(args.metrics, sentence_metrics.to_frame(rows, columns))
    write_manifest(
        args.manifest,
        inputs=[args.rows, *weights.values()],
        outputs=[args.metrics],
        settings={"signatures": {name: column.signature for name, column in columns.items()}},
        seconds=time.monotonic() - started,
    )
    say(f"{len(rows)} translations measured: {', '.join(columns)}")


if __name__ == "__main__":
    run(main)
