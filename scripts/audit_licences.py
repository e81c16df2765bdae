"""Write the licence ledger: licence and source of every row, and which rows may be combined."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core.provenance import read_json
from excam.core.tables import write_frame
from excam.excam40k.audits import licences, page
from scripts import run, step

VERSION = 3
PAGE = {
    "result": "results/audits/licences",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "inputs": {"samples": "all_splits", "sources": "source_manifests"},
    "settings": {"licences": "licences"},
    "more": {"ledger": "results/audits/licences.parquet"},
}


@step
def main(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    sources_paths: Annotated[Sequence[Path], "<dataset>/manifest.json"],
    licences_json: Annotated[str, "of the loaders: licence, terms, module by dataset"],
    ledger_path: Path,
    numbers_path: Path,
    page_path: Path,
) -> None:
    manifests = {path.parent.name: read_json(path) for path in sources_paths}
    lines = licences.ledger(page.read_parts(samples_paths), manifests)
    write_frame(ledger_path, lines)
    expected = {dataset: licences.Licensed(*fields) for dataset, fields in json.loads(licences_json).items()}
    page.write(licences.audit(lines, expected, manifests), numbers_path, page_path)


if __name__ == "__main__":
    run(main)
