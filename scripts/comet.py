"""Score translations with COMET, in an environment of its own (`envs/mt.yaml`): import nothing that it lacks."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from excam.acre import comet, sentence_metrics, translations
from excam.core import tables
from excam.core.provenance import write_manifest
from scripts import step


@step(version=2)
def cult_eval_comet(
    rows_path: Path,
    comet_path: Annotated[Path, "folder with a converted checkpoint"],
    metrics_path: Path,
    manifest_path: Annotated[Path, "the signature"],
) -> None:
    """Measure translations with COMET, in the environment of envs/mt.yaml: it needs other releases than ours."""
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
