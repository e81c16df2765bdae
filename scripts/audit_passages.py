"""Check that the passages before rows hold the fact where they are said to, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.error_reports import record_files
from excam.excam40k import shown_evidence
from excam.excam40k.audits import page, passages
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/audits/passages",
    "outputs": ["numbers", "page"],
    "category": "Audits",
    "target": "paper",
    "inputs": {"evidence": "evidence", "bases": "bases"},
}


@step
def main(
    evidence_paths: Annotated[Sequence[Path], "evidence/<dataset>/<split>.parquet"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    bases = {base.id: base for path in bases_paths for base in record_files.read_bases(path)}
    shown = {f"{path.parent.name}/{path.stem}": [*shown_evidence.read(path).values()] for path in evidence_paths}
    page.write(passages.audit(shown, bases), numbers_path, page_path)


if __name__ == "__main__":
    run(main)
