"""Write all audits on one page, failed checks first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core.provenance import say, write_text
from excam.core.tables import read_csv
from excam.excam40k.audits import checks, page
from scripts import run, step

VERSION = 2
PAGE = {
    "result": "results/audits/summary",
    "outputs": ["page"],
    "category": "Audits",
    "inputs": {
        "checks": [
            "results/audits/leaks.csv",
            "results/audits/shortcuts.csv",
            "results/audits/balance.csv",
            "results/audits/inventory.csv",
            "results/audits/licences.csv",
        ]
    },
}


@step
def main(checks_paths: Annotated[Sequence[Path], "<audit>.csv"], page_path: Path) -> None:
    audits = {path.stem: checks.of_frame(read_csv(path, checks.CHECK_SCHEMA)) for path in checks_paths}
    write_text(page_path, page.summary(audits))
    say(f"{page_path}: {page.verdict([check for own in audits.values() for check in own])}")


if __name__ == "__main__":
    run(main)
