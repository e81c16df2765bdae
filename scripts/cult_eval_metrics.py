"""Measure translations with metrics of whole sentences: BLEU, chrF++, BERTScore, MetricX-QE."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from excam.acre import sentence_metrics, translations
from excam.core import tables
from excam.core.provenance import quiet_libraries, say, write_manifest
from scripts import run, step

VERSION = 1


@step
def main(
    rows_path: Path,
    layer: Annotated[int, "of the encoder"],
    metrics_path: Path,
    manifest_path: Annotated[Path, "the signature of each metric"],
    encoder_path: Annotated[Path | None, "manifest of BERTScore's encoder"] = None,
    metricx_path: Annotated[Path | None, "manifest of MetricX's weights"] = None,
) -> None:
    quiet_libraries()
    started = time.monotonic()
    rows = translations.from_frame(rows_path)
    weights = {name: path for name, path in (("encoder", encoder_path), ("metricx", metricx_path)) if path}
    folders = {name: (path.parent / "files", path.parent.name) for name, path in weights.items()}
    columns = sentence_metrics.measure(rows, folders.get("encoder"), layer, folders.get("metricx"))
    tables.write_frame(metrics_path, sentence_metrics.to_frame(rows, columns))
    write_manifest(
        manifest_path,
        inputs=[rows_path, *weights.values()],
        outputs=[metrics_path],
        settings={"signatures": {name: column.signature for name, column in columns.items()}},
        seconds=time.monotonic() - started,
    )
    say(f"{len(rows)} translations measured: {', '.join(columns)}")


if __name__ == "__main__":
    run(main)
