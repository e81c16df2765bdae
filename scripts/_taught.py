"""The judgements of trained systems, joined with what their bases were taught and what they know."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from excam.core import paths, provenance, tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files
from excam.error_reports.evaluation import known_facts
from excam.excam40k import corpus


def add_study_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `Study` reads, and --seed."""
    parser.add_argument("--judgements", type=Path, nargs="+", required=True, help="of adapters, on every test set")
    parser.add_argument("--knowledge", type=Path, nargs="+", required=True, help="facts.parquet of each base")
    parser.add_argument("--facts", type=Path, nargs="+", required=True, help="facts.csv of each taught base")
    parser.add_argument("--manifests", type=Path, nargs="+", required=True, help="of the taught bases")
    parser.add_argument("--bases", type=Path, nargs="+", required=True, help="<dataset>.bases.jsonl")
    parser.add_argument("--weights", nargs="+", required=True, help="MODEL=NAME of the weights that it uses")
    parser.add_argument("--seed", type=int, required=True)


class Study:
    """What the options name. A base that was not taught is judged by the facts of the first that was.

    Raises InputInvalid for a base that was taught other facts than its list of facts says.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.weights = dict(entry.split("=") for entry in args.weights)
        self._judgements = {paths.Cell.from_path(path): path for path in args.judgements}
        self._knowledge = {paths.axes(path)["model"]: tables.read_frame(path) for path in args.knowledge}
        _refuse_other_corpus(args.manifests, {paths.axes(path)["model"]: path for path in args.facts})
        self._taught = {paths.axes(path)["model"]: corpus.read_taught(path) for path in args.facts}
        bases = (base for path in args.bases for base in record_files.read_bases(path))
        self._answers = {base.id: base.answer for base in bases}

    def rows(self, model: str, trained_on: str, dataset: str = paths.ALL) -> pl.DataFrame:
        """Return the judgements of one adapter on one test set or on all, as `known_facts.with_facts` does."""
        found = [
            tables.read_frame(path)
            for cell, path in self._judgements.items()
            if (cell.model, cell.trained_on) == (model, trained_on) and dataset in (paths.ALL, cell.dataset)
        ]
        base = self.weights[model]
        taught = self._taught.get(base) or next(iter(self._taught.values()))
        return known_facts.with_facts(found, taught, self._knowledge[base], self._answers)


def _refuse_other_corpus(manifests: Iterable[Path], facts: Mapping[str, Path]) -> None:
    for manifest in manifests:
        listed = facts[paths.axes(manifest)["model"]]
        found = provenance.sha256(listed)
        if found not in provenance.read_json(manifest, "inputs")["inputs"].values():
            raise InputInvalid(
                f"{manifest}: this base was taught another corpus: none of its inputs is {listed} "
                f"(sha256 {found[:12]}); delete {manifest} and run again"
            )
