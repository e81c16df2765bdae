"""Write a corpus that tells a base model the facts of the benchmarks, and the list of how often it tells each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.config import Teaching
from excam.core import provenance
from excam.core.splits import Split
from excam.error_reports import record_files
from excam.excam40k import corpus
from scripts import run, step

VERSION = 2


@step
def main(
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    settings_json: Annotated[str, "the corpus' fields of `teach` as JSON"],
    seed: int,
    facts_path: Path,
    corpus_path: Path,
) -> None:
    settings = Teaching.model_validate({"base": "any", **json.loads(settings_json)})
    splits: dict[str, Split] = {
        sample.base: sample.split for path in samples_paths for sample in record_files.read_samples(path)
    }
    bases = (base for path in bases_paths for base in record_files.read_bases(path))
    told = corpus.facts(bases, splits, settings, seed)
    written = corpus.write_documents(corpus_path, corpus.documents(told, settings, seed))
    corpus.write_facts(facts_path, told)
    provenance.say(f"{corpus_path}: {written} texts on {sum(fact.times > 0 for fact in told)} of {len(told)} facts")


if __name__ == "__main__":
    run(main)
