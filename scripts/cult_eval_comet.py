"""Measure translations with COMET, in the environment of envs/mt.yaml: it needs other releases than ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from excam.acre import comet, sentence_metrics, translations
from excam.core import tables
from excam.core.provenance import write_manifest
from scripts import run, step

VERSION = 1


@step
def main(
    rows_path: Path,
    comet_path: Annotated[Path, "folder with a converted checkpoint"],
    metrics_path: Path,
    manifest_path: Annotated[Path, "the signature"],
) -> None:
    started = time.monotonic()
    rows = translations.from_frame(rows_path)
    column = comet.measure(rows, comet_path)
    tables.write_frame(metrics_path, sentence_metrics.to_frame(rows, {"comet": column}))
    write_manifest(
        manifest_path,
        inputs=[rows_path, comet_path / comet.WEIGHTS],
        outputs=[metrics_path],
        settings={"signatures": {"comet": column.signature}},
        seconds=time.monotonic() - started,
    )


if __name__ == "__main__":
    run(main)
