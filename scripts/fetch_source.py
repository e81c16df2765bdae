"""Fetch one benchmark's files, pinned, and write the manifest last."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from excam.config import Dataset
from excam.core import provenance
from excam.core.source_tables import every_pattern
from excam.excam40k import datasets
from excam.excam40k.invented import files as invented
from excam.inference import sources
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--module", help="file of a benchmark that is not in the package")
    parser.add_argument("--source", required=True, help="the entry of config.yaml as JSON")
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    benchmark, folder = datasets.load(args.dataset, args.module), args.manifest.parent / "files"
    source = Dataset.model_validate(json.loads(args.source))
    args.manifest.unlink(missing_ok=True)  # if it exists, the files are those it names
    if source.invented:
        shutil.rmtree(folder, ignore_errors=True)
        facts = invented.write(args.dataset, source.invented.peoples, source.invented.seed, folder)
    else:
        facts = sources.fetch_dataset(args.dataset, source, every_pattern(benchmark.SOURCE.files), folder)
    provenance.write_manifest(
        args.manifest,
        inputs=[],
        outputs=sources.matching_files(folder, ["**/*"]),
        settings=json.loads(args.source),
        seconds=time.monotonic() - started,
        licence=benchmark.SOURCE.licence,
        rows=datasets.read(args.dataset, folder, {}, args.module).rows,
        **facts,
    )


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "0")  # the only programs that may ask the hub
    run(main)
