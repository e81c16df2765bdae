"""Tokenise one set for the training of one model, once for every mixture.

Rows that are too long to train on are dropped, whole pairs, and counted here: before a card is asked for.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam.config import Recipe
from excam.core import provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files
from excam.error_reports.judges import report
from excam.excam40k import grounded
from excam.inference import chat
from excam.training import tokens
from scripts import run

VERSION = 2


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--samples", type=Path, required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--recipe", required=True, help="what decides rows, of `training`, as JSON")
    parser.add_argument("--bases", type=Path, help="of report: grounded: base samples that passages are made of")
    parser.add_argument("--seed", type=int, default=0, help="of report: grounded")
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    files = args.weights.parent / "files"
    recipe = Recipe.model_validate_json(args.recipe)
    samples = record_files.read_samples(args.samples)
    if recipe.report == "grounded":
        bases = {base.id: base for base in record_files.read_bases(_bases_of(args.bases, args.samples))}
        examples = grounded.training_examples(grounded.rows(samples, bases, recipe.evidence, args.seed))
    else:
        examples = report.training_examples(samples, recipe.report, recipe.labels)
    encoded = tokens.encode(chat.load_tokenizer(files), examples)
    rows = tokens.without_long_rows(encoded, recipe, chat.max_positions(files))
    tables.write_frame(args.tokens, rows)
    counts = tokens.statistics(rows)
    provenance.write_json(args.counts, counts)
    provenance.say(f"{args.tokens}: {counts}")


def _bases_of(bases: Path | None, samples: Path) -> Path:
    """Return the file of base samples. Raise InputInvalid if none is named."""
    if bases is None:
        raise InputInvalid(f"{samples}: no --bases; expected the base samples of these rows for report: grounded")
    return bases


if __name__ == "__main__":
    run(main)
