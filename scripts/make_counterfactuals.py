"""Make rows in which the words that a judge flagged are corrected, from its judgements and the gold rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from excam.core import provenance, tables
from excam.excam40k import counterfactuals
from excam.excam40k.construction.spans import Mode
from scripts import run, step

VERSION = 1


@step
def main(
    judgements_paths: Sequence[Path],
    samples_paths: Annotated[Sequence[Path], "the rows that were judged"],
    spans: Annotated[Mode, "how differences became gold spans"],
    counterfactuals_path: Path,
    rows_path: Annotated[Path, "what became of every judged row"],
    counts_path: Path,
) -> None:
    judgements = pl.concat([tables.read_frame(path) for path in judgements_paths])
    samples = pl.concat([tables.read_frame(path) for path in samples_paths])
    rows, made = counterfactuals.make_counterfactuals(judgements, samples, spans)
    judged = counterfactuals.rows_frame(rows)
    tables.write_frame(rows_path, judged)
    tables.write_frame(counterfactuals_path, counterfactuals.counterfactuals_frame(made))
    inputs = {str(path): provenance.sha256(path) for path in (*judgements_paths, *samples_paths)}
    provenance.write_json(counts_path, counterfactuals.counts(judged.iter_rows(named=True)) | {"inputs": inputs})


if __name__ == "__main__":
    run(main)
