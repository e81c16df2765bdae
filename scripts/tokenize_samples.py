"""Tokenise one set for the training of one model, once for every mixture.

Rows that are too long to train on are dropped, whole pairs, and counted here: before a card is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from excam.config import Recipe
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files
from excam.error_reports.judges import report
from excam.excam40k import grounded
from excam.inference import chat
from excam.training import tokens
from scripts import run, step

VERSION = 2


@step
def main(
    weights_path: Annotated[Path, "manifest of the fetched base model"],
    samples_path: Annotated[Path, "<dataset>/<split>.parquet"],
    recipe_json: Annotated[str, "what decides rows, of `training`, as JSON"],
    tokens_path: Path,
    counts_path: Path,
    bases_path: Annotated[Path | None, "of report: grounded: base samples that passages are made of"] = None,
    seed: Annotated[int, "of report: grounded"] = 0,
) -> None:
    files = weights_path.parent / "files"
    recipe = Recipe.model_validate_json(recipe_json)
    samples = record_files.read_samples(samples_path)
    if recipe.report == "grounded":
        bases = {base.id: base for base in record_files.read_bases(_bases_of(bases_path, samples_path))}
        examples = grounded.training_examples(grounded.rows(samples, bases, recipe.evidence, seed))
    else:
        examples = report.training_examples(samples, recipe.report, recipe.labels)
    encoded = tokens.encode(chat.load_tokenizer(files), examples)
    rows = tokens.without_long_rows(encoded, recipe, chat.max_positions(files))
    tables.write_frame(tokens_path, rows)
    counts = tokens.statistics(rows)
    provenance.write_json(counts_path, counts)
    provenance.say(f"{tokens_path}: {counts}")


def _bases_of(bases: Path | None, samples: Path) -> Path:
    """Return the file of base samples. Raise InputInvalid if none is named."""
    if bases is None:
        raise InputInvalid(f"{samples}: no --bases; expected the base samples of these rows for report: grounded")
    return bases


if __name__ == "__main__":
    run(main)
