"""Draw the passages that a judge is shown before the rows of one set."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from excam.config import Judging
from excam.core.provenance import say
from excam.error_reports import record_files
from excam.excam40k import shown_evidence
from scripts import run, step

VERSION = 1


@step
def main(
    samples_path: Annotated[Path, "<dataset>/<split>.parquet"],
    among_path: Annotated[Path, "rows that hold these; passages are made of their facts"],
    bases_path: Annotated[Path, "<dataset>.bases.jsonl"],
    judging: Annotated[str, "section `judging` as JSON"],
    seed: int,
    evidence_path: Path,
) -> None:
    bases = {base.id: base for base in record_files.read_bases(bases_path)}
    wanted = {sample.id for sample in record_files.read_samples(samples_path)}
    among = record_files.read_samples(among_path)
    shares = Judging.model_validate_json(judging).evidence
    shown = [row for row in shown_evidence.drawn(among, bases, shares, seed) if row.id in wanted]
    shown_evidence.write(evidence_path, shown)
    counts = Counter(row.kind for row in shown)
    say(f"{evidence_path}: passages of {len(shown)} rows: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    run(main)
