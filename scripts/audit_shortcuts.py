"""Check that a classifier cannot predict the label from templates, lead-ins, lengths, letters or copied text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.excam40k.audits import page, shortcuts
from scripts import run, step

VERSION = 4
PAGE = {
    "result": "results/audits/shortcuts",
    "outputs": ["numbers", "page"],
    "local": False,
    "category": "Audits",
    "inputs": {"samples": "all_splits"},
}


@step
def main(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"], numbers_path: Path, page_path: Path
) -> None:
    page.write(shortcuts.audit(page.read_parts(samples_paths)), numbers_path, page_path)


if __name__ == "__main__":
    run(main)
