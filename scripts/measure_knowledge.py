"""Measure what a base model knows, fact by fact: how much likelier the right answer is than each wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import tables
from excam.error_reports import record_files
from excam.excam40k import knowledge
from scripts import run, step
from scripts._asking import RecordedOptions, Recorder

VERSION = 2


@step
def main(
    asking: RecordedOptions,
    name: Annotated[str, "the model's, for progress lines"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    samples_paths: Annotated[Sequence[Path], "the test sets: their facts are asked"],
    knowledge_path: Path,
) -> None:
    asker = Recorder(asking, name, f"knowledge of {name}")
    judged = {sample.base for path in samples_paths for sample in record_files.read_samples(path)}
    bases = [base for path in bases_paths for base in record_files.read_bases(path) if base.id in judged and base.wrong]
    preferences = asker.record(f"asking {name}, facts", knowledge.preference, bases)
    tables.write_frame(knowledge_path, knowledge.table(bases, preferences))
    asker.write_manifest([*bases_paths, *samples_paths], [knowledge_path])


if __name__ == "__main__":
    run(main)
