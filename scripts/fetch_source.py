"""Fetch one benchmark's files, pinned, and write the manifest last."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Annotated

from excam.config import Dataset
from excam.core import provenance
from excam.core.source_tables import every_pattern
from excam.excam40k import datasets
from excam.excam40k.invented import files as invented
from excam.inference import sources
from scripts import run, step

VERSION = 2


@step
def main(
    dataset: str,
    source_json: Annotated[str, "the entry of config.yaml as JSON"],
    manifest_path: Path,
    module: Annotated[str | None, "file of a benchmark that is not in the package"] = None,
) -> None:
    started = time.monotonic()
    benchmark, folder = datasets.load(dataset, module), manifest_path.parent / "files"
    source = Dataset.model_validate(json.loads(source_json))
    manifest_path.unlink(missing_ok=True)  # if it exists, the files are those it names
    if source.invented:
        shutil.rmtree(folder, ignore_errors=True)
        facts = invented.write(dataset, source.invented.peoples, source.invented.seed, folder)
    else:
        facts = sources.fetch_dataset(dataset, source, every_pattern(benchmark.SOURCE.files), folder)
    provenance.write_manifest(
        manifest_path,
        inputs=[],
        outputs=sources.matching_files(folder, ["**/*"]),
        settings=json.loads(source_json),
        seconds=time.monotonic() - started,
        licence=benchmark.SOURCE.licence,
        rows=datasets.read(dataset, folder, {}, module).rows,
        **facts,
    )


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "0")  # the only programs that may ask the hub
    run(main)
