"""Measure what a base model knows, fact by fact: how much likelier the right answer is than each wrong one."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core import provenance, tables
from excam.error_reports import record_files
from excam.excam40k import knowledge
from excam.inference import transcript
from scripts import run, step
from scripts._asking import Asker, AskingOptions

VERSION = 2


@step
def main(
    asking: AskingOptions,
    name: Annotated[str, "the model's, for progress lines"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    samples_paths: Annotated[Sequence[Path], "the test sets: their facts are asked"],
    transcript_path: Path,
    knowledge_path: Path,
    manifest_path: Path,
) -> None:
    started = time.monotonic()
    asker = Asker(asking, name, f"knowledge of {name}")
    judged = {sample.base for path in samples_paths for sample in record_files.read_samples(path)}
    bases = [base for path in bases_paths for base in record_files.read_bases(path) if base.id in judged and base.wrong]
    ask = asker.ask_with_progress(f"asking {name}, facts", len(bases))
    preferences, entries = transcript.record(knowledge.preference, bases, ask)
    transcript.write(transcript_path, entries)
    tables.write_frame(knowledge_path, knowledge.table(bases, preferences))
    provenance.write_manifest(
        manifest_path,
        inputs=[*bases_paths, *samples_paths, *filter(None, [asking.weights_path])],
        outputs=[transcript_path, knowledge_path],
        settings=json.loads(asking.model),
        seconds=time.monotonic() - started,
        **asker.facts(answer for entry in entries for exchange in entry.rounds for answer in exchange.answers),
    )


if __name__ == "__main__":
    run(main)
