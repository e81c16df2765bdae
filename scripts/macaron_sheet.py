"""Turn a written answer sheet into answers, as if a model had given them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.macaron import answers, derive
from scripts import run, step

VERSION = 1


@step
def main(
    name: Annotated[str, "of the sheet"],
    instances_path: Path,
    sheet_path: Annotated[Path, "a CSV file of scenario, format, lang, answer"],
    answers_path: Path,
) -> None:
    instances = derive.read(instances_path)
    answered = answers.read_sheet(sheet_path, instances)
    tables.write_frame(answers_path, answers.to_frame(instances, name, "written", answered))


if __name__ == "__main__":
    run(main)
